//! A headless editor: an LSP client with one open document, and the agent's methods.
//!
//! It does what the server asks of an editor (edits, saves) by itself and hands everything that a person should see or
//! decide to its caller. Every wait is bounded; what goes wrong is one sentence for the person.

mod buffer;
mod server;

pub use buffer::Buffer;
pub use server::Server;

use engine::text::Encoding;
use protocol::acp;
use protocol::lsp;
use protocol::methods::{self, Notification, Request};
use protocol::retry::{Retry, RetryParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use server::Silence;
use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the server may take for a request that is no turn.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Editor {
    server: Server,
    pub buffer: Buffer,
    encoding: Encoding,
    n_requests: u64,
    /// What came while a request was waited for.
    heard: VecDeque<Heard>,
}

/// What the server says that concerns a person.
pub enum Heard {
    Update(Box<acp::SessionUpdate>),
    /// Answer it with [`Editor::answer`].
    Question {
        id: Value,
        request: Box<acp::RequestPermissionRequest>,
    },
    /// A form, which a headless editor declines.
    Form(String),
    /// The model is asked again.
    Retry(Retry),
    /// `window/showMessage`.
    Message(String),
    /// A response to one of our requests, by its id.
    Answered(u64, Result<Value, String>),
}

impl Editor {
    /// Introduces the editor to a server and opens the document. `options` are the editor's settings.
    pub fn open(
        server: Server,
        folder: &Path,
        buffer: Buffer,
        options: Value,
    ) -> Result<Self, String> {
        let mut editor = Self {
            server,
            buffer,
            encoding: Encoding::Utf16,
            n_requests: 0,
            heard: VecDeque::new(),
        };
        let answer: lsp::InitializeResult =
            editor.call("initialize", &introduction(folder, options))?;
        editor.encoding = match answer.capabilities.position_encoding {
            Some(lsp::PositionEncodingKind::UTF8) => Encoding::Utf8,
            Some(lsp::PositionEncodingKind::UTF32) => Encoding::Utf32,
            Some(lsp::PositionEncodingKind::UTF16 | lsp::PositionEncodingKind::Custom(_))
            | None => Encoding::Utf16,
        };
        editor.tell("initialized", &json!({}))?;
        let document = lsp::TextDocumentItem {
            uri: editor.buffer.uri.clone(),
            language_id: lsp::LanguageKind::ShellScript,
            version: editor.buffer.version,
            text: editor.buffer.text(),
        };
        editor.tell(
            "textDocument/didOpen",
            &lsp::DidOpenTextDocumentParams {
                text_document: document,
            },
        )?;
        Ok(editor)
    }

    /// Opens a session that asks before every change and every command, whatever the configuration says.
    pub fn new_session(&mut self, folder: &Path) -> Result<acp::SessionId, String> {
        let opened = self.request::<methods::NewSession>(acp::NewSessionRequest::new(folder))?;
        let mode = acp::SetSessionModeRequest::new(
            opened.session_id.clone(),
            protocol::session::Mode::Ask.id(),
        );
        self.request::<methods::SetMode>(mode)?;
        Ok(opened.session_id)
    }

    /// Begins a turn; its end comes as [`Heard::Answered`] with the id that is returned.
    pub fn prompt(&mut self, session: &acp::SessionId, text: &str) -> Result<u64, String> {
        let prompt = vec![acp::ContentBlock::Text(acp::TextContent::new(text))];
        let params = acp::PromptRequest::new(session.clone(), prompt);
        self.send_request(methods::Prompt::METHOD, &params)
    }

    /// The next thing that concerns the person. An error when nothing comes for `patience`.
    pub fn next(&mut self, patience: Duration) -> Result<Heard, String> {
        let heard = self.hear_until(Instant::now() + patience)?;
        heard.ok_or_else(|| {
            format!(
                "The server said nothing for {} seconds.",
                patience.as_secs()
            )
        })
    }

    fn hear_until(&mut self, deadline: Instant) -> Result<Option<Heard>, String> {
        if let Some(heard) = self.heard.pop_front() {
            return Ok(Some(heard));
        }
        loop {
            let message = match self
                .server
                .next(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(message) => message,
                Err(Silence::Late) => return Ok(None),
                Err(Silence::Over(how)) => return Err(over(&how)),
            };
            if let Some(heard) = self.take_in(message)? {
                return Ok(Some(heard));
            }
        }
    }

    /// Answers a question with one of its options.
    pub fn answer(
        &mut self,
        question: &Value,
        option: &acp::PermissionOption,
    ) -> Result<(), String> {
        let outcome = acp::SelectedPermissionOutcome::new(option.option_id.clone());
        let answer =
            acp::RequestPermissionResponse::new(acp::RequestPermissionOutcome::Selected(outcome));
        self.respond(question, &answer)
    }

    /// Ends the server the way LSP asks for: `shutdown`, `exit`, and its stdin is closed.
    pub fn close(mut self) -> Result<(), String> {
        self.call::<Value>("shutdown", &Value::Null)?;
        self.tell("exit", &Value::Null)?;
        match self.server.leave() {
            true => Ok(()),
            false => Err("The server did not end when it was told to; it was killed.".to_owned()),
        }
    }

    fn request<R: Request>(&mut self, params: R::Params) -> Result<R::Result, String> {
        self.call(R::METHOD, &params)
    }

    /// Sends a request and waits for its answer; what else concerns the person is kept for [`Editor::next`].
    fn call<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, String> {
        let id = self.send_request(method, params)?;
        let mut meanwhile = VecDeque::new();
        let deadline = Instant::now() + PATIENCE;
        let answer = loop {
            match self.hear_until(deadline)? {
                Some(Heard::Answered(answered, answer)) if answered == id => break answer,
                Some(other) => meanwhile.push_back(other),
                None => {
                    return Err(format!(
                        "The server did not answer {method} within {} seconds.",
                        PATIENCE.as_secs()
                    ));
                }
            }
        };
        self.heard.extend(meanwhile);
        let value = answer.map_err(|why| format!("The server refused {method}: {why}"))?;
        serde_json::from_value(value)
            .map_err(|error| format!("The answer to {method} cannot be read ({error})."))
    }

    fn take_in(&mut self, message: Value) -> Result<Option<Heard>, String> {
        let id = message.get("id").filter(|it| !it.is_null());
        match (message["method"].as_str(), id) {
            (Some(method), Some(id)) => self.asked(method, id, message.get("params")),
            (Some(method), None) => notified(method, message.get("params")),
            (None, Some(id)) => Ok(id
                .as_u64()
                .map(|id| Heard::Answered(id, answer_in(&message)))),
            (None, None) => Err(format!(
                "The server reported an error: {}.",
                error_in(&message["error"])
            )),
        }
    }

    /// Serves a request of the server.
    fn asked(
        &mut self,
        method: &str,
        id: &Value,
        params: Option<&Value>,
    ) -> Result<Option<Heard>, String> {
        if method == methods::RequestPermission::METHOD {
            return Ok(Some(Heard::Question {
                id: id.clone(),
                request: Box::new(read(method, params)?),
            }));
        }
        if method == methods::CreateElicitation::METHOD {
            self.respond(
                id,
                &acp::CreateElicitationResponse::new(acp::ElicitationAction::Decline),
            )?;
            let text = params
                .and_then(|it| it["message"].as_str())
                .unwrap_or("a question")
                .to_owned();
            return Ok(Some(Heard::Form(text)));
        }
        if method == methods::SaveDocument::METHOD {
            let params: protocol::document::SaveDocumentParams = read(method, params)?;
            let saved = params.uri == self.buffer.uri && self.save()?;
            self.respond(id, &protocol::document::SaveDocumentResult { saved })?;
            return Ok(None);
        }
        match method {
            "workspace/applyEdit" => {
                let params: lsp::ApplyWorkspaceEditParams = read(method, params)?;
                let result = self.apply(&params.edit)?;
                self.respond(id, &result)?;
            }
            "client/registerCapability"
            | "client/unregisterCapability"
            | "window/workDoneProgress/create" => {
                self.respond(id, &Value::Null)?;
            }
            _ => {
                let error =
                    json!({"code": -32601, "message": format!("this editor has no {method}")});
                self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
            }
        }
        Ok(None)
    }

    /// Applies an edit to the buffer and reports the change, as editors do, before the answer.
    fn apply(
        &mut self,
        edit: &lsp::WorkspaceEdit,
    ) -> Result<lsp::ApplyWorkspaceEditResult, String> {
        let changes = match self.buffer.apply(edit, self.encoding) {
            Ok(changes) => changes,
            Err(why) => {
                return Ok(lsp::ApplyWorkspaceEditResult {
                    failure_reason: Some(why),
                    ..Default::default()
                });
            }
        };
        let document = lsp::VersionedTextDocumentIdentifier {
            version: self.buffer.version,
            text_document_identifier: lsp::TextDocumentIdentifier {
                uri: self.buffer.uri.clone(),
            },
        };
        let content_changes = changes
            .into_iter()
            .map(lsp::TextDocumentContentChangeEvent::TextDocumentContentChangePartial)
            .collect();
        let params = lsp::DidChangeTextDocumentParams {
            text_document: document,
            content_changes,
        };
        self.tell("textDocument/didChange", &params)?;
        Ok(lsp::ApplyWorkspaceEditResult {
            applied: true,
            ..Default::default()
        })
    }

    fn save(&mut self) -> Result<bool, String> {
        if self.buffer.save().is_err() {
            return Ok(false);
        }
        let text_document = lsp::TextDocumentIdentifier {
            uri: self.buffer.uri.clone(),
        };
        self.tell(
            "textDocument/didSave",
            &lsp::DidSaveTextDocumentParams {
                text_document,
                text: None,
            },
        )?;
        Ok(true)
    }

    fn send_request(&mut self, method: &str, params: &impl Serialize) -> Result<u64, String> {
        self.n_requests += 1;
        let id = self.n_requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    fn tell(&mut self, method: &str, params: &impl Serialize) -> Result<(), String> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn respond(&mut self, id: &Value, result: &impl Serialize) -> Result<(), String> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let Err(error) = self.server.send(message) else {
            return Ok(());
        };
        loop {
            match self.server.next(LAST_WORDS) {
                // It went away in the middle; how it ended says more than a broken pipe.
                Err(Silence::Over(how)) => return Err(over(&how)),
                Ok(_) => {}
                Err(Silence::Late) => {
                    return Err(format!("The server cannot be written to ({error})."));
                }
            }
        }
    }
}

/// How long a server that reads no more may take to be seen ending.
const LAST_WORDS: Duration = Duration::from_secs(1);

fn over(how: &str) -> String {
    format!("The server ended before its work was done ({how}).")
}

/// The params of `initialize`: what this editor can, in LSP's terms and in the agent's.
fn introduction(folder: &Path, options: Value) -> lsp::InitializeParams {
    let agent_methods: Vec<&str> = [
        methods::Update::METHOD,
        methods::RequestPermission::METHOD,
        methods::CreateElicitation::METHOD,
        methods::SaveDocument::METHOD,
        methods::Retry::METHOD,
    ]
    .into();
    let agent = json!({"agent": {"protocolVersion": 1, "clientCapabilities": {}, "methods": agent_methods}});
    let capabilities = lsp::ClientCapabilities {
        workspace: Some(lsp::WorkspaceClientCapabilities {
            apply_edit: Some(true),
            workspace_edit: Some(lsp::WorkspaceEditClientCapabilities {
                document_changes: Some(true),
                ..Default::default()
            }),
            workspace_folders: Some(true),
            ..Default::default()
        }),
        text_document: Some(lsp::TextDocumentClientCapabilities {
            synchronization: Some(lsp::TextDocumentSyncClientCapabilities {
                did_save: Some(true),
                ..Default::default()
            }),
            ..Default::default()
        }),
        general: Some(lsp::GeneralClientCapabilities {
            position_encodings: Some(vec![lsp::PositionEncodingKind::UTF8]),
            ..Default::default()
        }),
        experimental: Some(agent),
        ..Default::default()
    };
    let name = folder
        .file_name()
        .map(|it| it.to_string_lossy().into_owned())
        .unwrap_or_default();
    let root = lsp::WorkspaceFolder {
        uri: crate::workspace::uri_of(folder),
        name,
    };
    lsp::InitializeParams {
        process_id: i32::try_from(std::process::id()).ok(),
        client_info: Some(lsp::ClientInfo {
            name: "undine demo".to_owned(),
            version: None,
        }),
        capabilities,
        initialization_options: Some(options),
        workspace_folders_initialize_params: lsp::WorkspaceFoldersInitializeParams {
            workspace_folders: Some(lsp::WorkspaceFolders::WorkspaceFolderList(vec![root])),
        },
        ..Default::default()
    }
}

fn notified(method: &str, params: Option<&Value>) -> Result<Option<Heard>, String> {
    if method == methods::Update::METHOD {
        let params: acp::SessionNotification = read(method, params)?;
        return Ok(Some(Heard::Update(Box::new(params.update))));
    }
    if method == methods::Retry::METHOD {
        let params: RetryParams = read(method, params)?;
        return Ok(params.retry.map(Heard::Retry));
    }
    let text = params.and_then(|it| it["message"].as_str());
    match (method, text) {
        ("window/showMessage", Some(text)) => Ok(Some(Heard::Message(text.to_owned()))),
        _ => Ok(None),
    }
}

fn read<T: DeserializeOwned>(method: &str, params: Option<&Value>) -> Result<T, String> {
    T::deserialize(params.unwrap_or(&Value::Null))
        .map_err(|error| format!("The server's {method} cannot be read ({error})."))
}

fn answer_in(message: &Value) -> Result<Value, String> {
    match message.get("error") {
        Some(error) => Err(error_in(error)),
        None => Ok(message.get("result").cloned().unwrap_or_default()),
    }
}

fn error_in(error: &Value) -> String {
    error["message"]
        .as_str()
        .map_or_else(|| error.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::Command;

    /// Opens an editor on a shell script that plays the server.
    fn opened(script: &str) -> Result<Editor, String> {
        let server = Server::start(Command::new("sh").args(["-c", script])).unwrap();
        let buffer = Buffer::open(PathBuf::from("/p/a.sh"), "one\n");
        Editor::open(server, Path::new("/p"), buffer, Value::Null)
    }

    fn frame(message: Value) -> String {
        let body = message.to_string();
        format!(
            "printf 'Content-Length: {}\\r\\n\\r\\n%s' '{body}'; ",
            body.len()
        )
    }

    fn greeting() -> String {
        frame(
            json!({"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {"positionEncoding": "utf-8"}}}),
        )
    }

    #[test]
    fn a_server_that_dies_is_told_in_one_sentence() {
        let why = opened("echo no such option >&2; exit 2").err();
        let expected = "The server ended before its work was done (exit status: 2; its last words: no such option).";
        assert_eq!(why.as_deref(), Some(expected));
    }

    #[test]
    fn a_server_that_refuses_to_start_is_quoted() {
        let refusal = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32803, "message": "No folder is open."}});
        let why = opened(&(frame(refusal) + "cat >&2")).err();
        assert_eq!(
            why.as_deref(),
            Some("The server refused initialize: No folder is open.")
        );
    }

    #[test]
    fn a_silent_server_ends_the_wait_and_a_stale_edit_changes_nothing() {
        let edit = json!({"documentChanges": [{"textDocument": {"uri": "file:///p/a.sh", "version": 7}, "edits": []}]});
        let apply = json!({"jsonrpc": "2.0", "id": 1, "method": "workspace/applyEdit", "params": {"edit": edit}});
        let message = json!({"jsonrpc": "2.0", "method": "window/showMessage", "params": {"type": 3, "message": "hello"}});
        let mut editor =
            opened(&(greeting() + &frame(apply) + &frame(message) + "cat >&2")).unwrap();
        assert!(matches!(editor.next(PATIENCE), Ok(Heard::Message(it)) if it == "hello"));
        assert_eq!(
            (editor.buffer.text().as_str(), editor.buffer.version),
            ("one\n", 1)
        );
        let why = editor.next(Duration::from_millis(20)).err();
        assert_eq!(
            why.as_deref(),
            Some("The server said nothing for 0 seconds.")
        );
    }
}
