//! `initialize`, `initialized`, `shutdown`, and the configuration.

use super::{review_actions, virtual_documents};
use crate::client::{Client, encoding_kind};
use crate::event::Event;
use crate::lsp::{Error, Reply};
use crate::main_loop::Host;
use crate::process::parent;
use crate::process::sandbox::{self, Kernel};
use crate::scratchpad;
use crate::surfaces::Surface;
use crate::workspace::path_of;
use crate::worktree;
use engine::config::{Layer, Origin, Resolved};
use engine::context::instructions::Task;
use protocol::lsp;
use protocol::methods::{self, Notification, Request, Row};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

impl Host {
    pub(crate) fn initialize(&mut self, params: lsp::InitializeParams, reply: Reply) {
        self.client = Client::new(&params.capabilities).named(params.client_info.as_ref());
        self.roots = roots(&params);
        if let Some(pid) = params.process_id.and_then(|it| u32::try_from(it).ok()) {
            let inbox = self.inbox.clone();
            self.runtime.spawn(async move {
                parent::gone(pid).await;
                // A loop that is gone has ended already.
                let _ = inbox.send(Event::ParentGone).await;
            });
        }
        let value = params.initialization_options.unwrap_or_default();
        self.layers.editor = Some(Layer {
            trusted: self.client.trusted_settings,
            ..Layer::new(Origin::Editor, value)
        });
        let problem = self.read_user_file();
        self.said.extend(problem);
        self.limits = self.resolve(None).config.limits;
        reply.send_value(Ok(self.initialize_result()));
        let (days, worktree_days) = (self.limits.scratchpad_days, self.limits.worktree_days);
        let folders = self.folders.clone();
        self.runtime.spawn_blocking(move || {
            scratchpad::sweep(&std::env::temp_dir(), days, SystemTime::now());
            worktree::sweep(&folders, worktree_days, SystemTime::now());
        });
    }

    fn initialize_result(&self) -> Value {
        let mut commands: Vec<&str> = Task::ALL.iter().map(|it| it.command()).collect();
        commands.extend([
            "undine.task.cancel",
            review_actions::KEEP,
            review_actions::REVERT,
            virtual_documents::DIFF,
            "undine.permission.answer",
            "undine.checkpoint.restore",
        ]);
        let mut answer = json!({
            "capabilities": {
                "positionEncoding": encoding_kind(self.client.encoding),
                "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
                "codeActionProvider": {
                    "codeActionKinds": ["quickfix", "refactor.rewrite", "undine.ask", "undine.review", "undine.permission"],
                },
                "executeCommandProvider": {"commands": commands},
                "workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}},
                "experimental": {"agent": {
                    "protocolVersion": 1,
                    "agentCapabilities": {
                        "loadSession": true,
                        "promptCapabilities": {"embeddedContext": true, "image": true},
                        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
                    },
                    "methods": methods::rows().filter(|it| it.sender == methods::Sender::Client).map(|it: &Row| it.method).collect::<Vec<_>>(),
                }},
            },
            "serverInfo": {"name": "undine", "version": env!("CARGO_PKG_VERSION")},
        });
        let capabilities = &mut answer["capabilities"];
        for surface in Surface::ALL {
            let name = surface.name();
            if surface.serves(&self.client) {
                tracing::info!(name, "serves the editor");
                advertise(surface, capabilities);
            } else {
                let (needs, instead) = (surface.needs(), surface.instead());
                tracing::info!(name, needs, instead, "does not serve the editor");
            }
        }
        answer
    }

    pub(crate) fn initialized(&mut self) {
        // Problems that were met before the editor could show anything.
        for text in std::mem::take(&mut self.said) {
            self.warn_once(text);
        }
        let resolved = self.resolve(self.roots.first().cloned().as_deref());
        self.report(&resolved);
        for root in self.roots.clone() {
            if let Ok(root) = root.canonicalize() {
                self.report_cut_off(&root);
            }
        }
    }

    /// Reads the user's `config.toml`; answers what is wrong with it.
    pub(crate) fn read_user_file(&mut self) -> Option<String> {
        self.layers.read_user_file(&self.folders.config)
    }

    pub(crate) fn shutdown(&mut self, reply: Reply) {
        self.cancel_all();
        reply.send_value(Ok(Value::Null));
    }

    /// Ends every turn.
    pub(crate) fn cancel_all(&mut self) {
        let sessions: Vec<_> = self.sessions.keys().cloned().collect();
        for session in sessions {
            self.cancel_errands(&session);
            self.step(&session, engine::session::Input::Cancel);
        }
    }

    /// The configuration for a project.
    pub(crate) fn resolve(&self, root: Option<&Path>) -> Resolved {
        self.layers.resolve(root)
    }

    /// Tells the person what was left out of the configuration, and what of it this system cannot do.
    pub(crate) fn report(&mut self, resolved: &Resolved) {
        if let Some(text) = sandbox::warning(&resolved.config.safety, Kernel::look()) {
            self.warn_once(text);
        }
        for problem in resolved.problems.iter().take(MAX_PROBLEMS) {
            self.warn_once(problem.text.clone());
        }
        let more = resolved.problems.len().saturating_sub(MAX_PROBLEMS);
        if more > 0 {
            self.warn_once(format!("The configuration has {more} more such problems."));
        }
        let decided: Vec<&str> = resolved.decided_by(Origin::ProjectFile).collect();
        if !decided.is_empty() {
            let decided = decided.join(", ");
            self.tell_once(format!("The project's .undine/config.toml sets {decided}."));
        }
    }

    pub(crate) fn did_change_configuration(&mut self, params: lsp::DidChangeConfigurationParams) {
        let value = match params.settings {
            Value::Object(mut table) => table.remove("undine").unwrap_or(Value::Object(table)),
            other => other,
        };
        // Some editors send this at their start whether they have settings or not; what they said at
        // `initialize` still counts.
        if says_nothing(&value) {
            return;
        }
        self.layers.editor = Some(Layer {
            trusted: self.client.trusted_settings,
            ..Layer::new(Origin::Editor, value)
        });
        self.limits = self.resolve(None).config.limits;
        let keys: Vec<_> = self.sessions.keys().cloned().collect();
        for key in keys {
            self.configure(&key);
        }
    }

    pub(crate) fn did_change_folders(&mut self, params: lsp::DidChangeWorkspaceFoldersParams) {
        let removed: Vec<PathBuf> = params
            .event
            .removed
            .iter()
            .filter_map(|it| path_of(&it.uri))
            .collect();
        self.roots.retain(|it| !removed.contains(it));
        self.roots
            .extend(params.event.added.iter().filter_map(|it| path_of(&it.uri)));
        let keys: Vec<_> = self.sessions.keys().cloned().collect();
        for key in keys {
            self.configure(&key);
        }
    }
}

/// What the server says of a surface that serves this editor.
fn advertise(surface: Surface, capabilities: &mut Value) {
    match surface {
        Surface::ResolvedEdits => {
            capabilities["codeActionProvider"]["resolveProvider"] = json!(true)
        }
        Surface::PulledDiagnostics => {
            capabilities["diagnosticProvider"] = json!({"identifier": "undine", "interFileDependencies": false, "workspaceDiagnostics": false});
        }
        Surface::Lenses => capabilities["codeLensProvider"] = json!({"resolveProvider": false}),
        Surface::Hints => capabilities["inlayHintProvider"] = json!({"resolveProvider": false}),
        Surface::VirtualDocuments => {
            capabilities["workspace"]["textDocumentContent"] =
                json!({"schemes": virtual_documents::SCHEMES});
        }
        // Code actions are there for every editor; the others are sent and not asked for.
        Surface::Plugin
        | Surface::Actions
        | Surface::EditsInActions
        | Surface::PublishedDiagnostics
        | Surface::DiffFile
        | Surface::Annotations => {}
    }
}

fn says_nothing(settings: &Value) -> bool {
    match settings {
        Value::Null => true,
        Value::Object(table) => table.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The editor's folders; the first is the project.
fn roots(params: &lsp::InitializeParams) -> Vec<PathBuf> {
    // As JSON, since the older ways to name one root are deprecated fields of the types.
    let params = serde_json::to_value(params).unwrap_or_default();
    let uri = |it: &Value| path_of(&lsp::Uri::from(it.as_str()?.to_owned()));
    let folders = params["workspaceFolders"].as_array().into_iter().flatten();
    let mut roots: Vec<PathBuf> = folders.filter_map(|it| uri(&it["uri"])).collect();
    if roots.is_empty() {
        roots.extend(
            uri(&params["rootUri"]).or_else(|| params["rootPath"].as_str().map(PathBuf::from)),
        );
    }
    roots
}

/// The most problems of a configuration that are told one by one: a file can come with a repository.
const MAX_PROBLEMS: usize = 10;

/// A session that is not open.
pub(super) fn unknown_session(id: &str) -> Error {
    crate::perform::invalid(format!(
        "No session {id} is open; open one with {} or {}.",
        methods::NewSession::METHOD,
        methods::LoadSession::METHOD
    ))
}

/// The name of what the editor may hear of sessions.
pub(super) const UPDATE: &str = <methods::Update as Notification>::METHOD;
