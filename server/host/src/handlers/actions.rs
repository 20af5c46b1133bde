//! Code actions and commands: how an editor without our plugin starts tasks and answers questions.

use super::answers::in_order;
use super::checkpoints::Wanted;
use super::review_actions::{self, SOURCE};
use super::virtual_documents;
use crate::event::SessionKey;
use crate::lsp::{Error, Reply};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::session_host::{TaskView, Waiter};
use crate::workspace::path_of;
use engine::context::instructions::{Place, Task, task_prompt};
use engine::session::Decision;
use engine::text::position::offset;
use protocol::approval::OptionId;
use protocol::hunks::ReviewAction;
use protocol::lsp;
use protocol::session::CallId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Where a task is to work: the argument of its command.
#[derive(Debug, Deserialize, Serialize)]
struct Target {
    uri: lsp::Uri,
    range: lsp::Range,
    #[serde(default)]
    diagnostics: Vec<lsp::Diagnostic>,
}

/// The argument of `undine.permission.answer`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionAnswer {
    session_id: String,
    tool_call_id: String,
    option_id: String,
    /// Which question of the call this answers; the first, if missing.
    #[serde(default)]
    round: u32,
}

impl Host {
    pub(crate) fn code_actions(&mut self, params: lsp::CodeActionParams) -> Result<Value, Error> {
        let only: Option<Vec<String>> = params
            .context
            .only
            .as_ref()
            .map(|it| it.iter().map(kind_name).collect());
        let wanted = |kind: &str| {
            only.as_ref().is_none_or(|only| {
                only.iter().any(|it| {
                    it.is_empty()
                        || kind == it
                        || kind
                            .strip_prefix(it.as_str())
                            .is_some_and(|rest| rest.starts_with('.'))
                })
            })
        };
        let uri = params.text_document.uri;
        let mut actions = Vec::new();
        // A question that waits comes first.
        for ((session, call), question) in &self.asking.questions {
            for option in in_order(&question.options) {
                let title = format!("{}: {}", option.label, question.title);
                let argument = json!({"sessionId": &**session, "toolCallId": call.to_string(), "optionId": option.id.id(), "round": question.round});
                actions.push(self.action(
                    "undine.permission",
                    &title,
                    "undine.permission.answer",
                    argument,
                    Vec::new(),
                ));
            }
        }
        actions.retain(|_| wanted("undine.permission"));
        if wanted(review_actions::KIND) {
            let is_named = only.as_ref().is_some_and(|it| {
                it.iter()
                    .any(|it| !it.is_empty() && review_actions::KIND.starts_with(it.as_str()))
            });
            actions.extend(self.review_actions(
                &uri,
                &params.range,
                &params.context.diagnostics,
                is_named,
            ));
        }
        // What we say about our own changes is no problem to be fixed.
        let problems: Vec<lsp::Diagnostic> = params
            .context
            .diagnostics
            .into_iter()
            .filter(|it| it.source.as_deref() != Some(SOURCE))
            .collect();
        for task in Task::ALL {
            let kind = match task {
                Task::Fix => "quickfix",
                Task::Explain => "undine.ask",
                Task::Tests | Task::Document | Task::Todo => "refactor.rewrite",
            };
            if !wanted(kind) {
                continue;
            }
            let diagnostics = if task == Task::Fix {
                problems.clone()
            } else {
                Vec::new()
            };
            let title = match (task, diagnostics.len()) {
                (Task::Fix, 0) => "Fix the problems here with Undine",
                (Task::Todo, _) if !self.mentions_todo(&uri, params.range) => continue,
                _ => task.title(),
            };
            let target = Target {
                uri: uri.clone(),
                range: params.range,
                diagnostics: diagnostics.clone(),
            };
            let argument = serde_json::to_value(target).unwrap_or_default();
            actions.push(self.action(kind, title, task.command(), argument, diagnostics));
        }
        Ok(Value::Array(actions))
    }

    /// A code action, or a bare command for an editor that knows no more.
    pub(super) fn action(
        &self,
        kind: &str,
        title: &str,
        command: &str,
        argument: Value,
        diagnostics: Vec<lsp::Diagnostic>,
    ) -> Value {
        let command = json!({"title": title, "command": command, "arguments": [argument]});
        if !self.client.action_literals {
            return command;
        }
        let mut action = json!({"title": title, "kind": kind, "command": command});
        if !diagnostics.is_empty() {
            action["diagnostics"] = json!(diagnostics);
        }
        if self.client.action_tags && kind != "undine.permission" {
            action["tags"] = json!([1]);
        }
        action
    }

    /// Editors resolve every action, also those that are whole already.
    pub(crate) fn resolved(&mut self, mut action: lsp::CodeAction) -> Result<Value, Error> {
        if let Some(data) = action.data.take() {
            action.edit = Some(self.revert_edit(data)?);
        }
        serde_json::to_value(action).map_err(|error| invalid(error.to_string()))
    }

    pub(crate) fn execute_command(&mut self, params: lsp::ExecuteCommandParams, reply: Reply) {
        let argument = params
            .arguments
            .and_then(|it| it.into_iter().next())
            .unwrap_or_default();
        match params.command.as_str() {
            // These are answered when they are done.
            review_actions::KEEP => self.review_command(ReviewAction::Keep, argument, reply),
            review_actions::REVERT => self.review_command(ReviewAction::Revert, argument, reply),
            other => reply.send_value(self.execute(other, argument).map(|()| Value::Null)),
        }
    }

    fn execute(&mut self, command: &str, argument: Value) -> Result<(), Error> {
        let bad = |error| bad_argument(command, error);
        if let Some(task) = Task::from_command(command) {
            let target: Target = serde_json::from_value(argument).map_err(bad)?;
            return self.start_task(task, target);
        }
        match command {
            "undine.task.cancel" => {
                let sessions: Vec<SessionKey> =
                    match argument.get("sessionId").and_then(Value::as_str) {
                        Some(id) => self
                            .sessions
                            .keys()
                            .filter(|it| &***it == id)
                            .cloned()
                            .collect(),
                        None => self.sessions.keys().cloned().collect(),
                    };
                for session in sessions {
                    self.cancel_session(&session);
                }
                Ok(())
            }
            virtual_documents::DIFF => self.show_turn_diff(argument),
            "undine.permission.answer" => {
                let answer: PermissionAnswer = serde_json::from_value(argument).map_err(bad)?;
                self.answer_permission(&answer)
            }
            "undine.checkpoint.restore" => {
                let wanted: Wanted = match argument {
                    Value::Null => Wanted::default(),
                    some => serde_json::from_value(some).map_err(bad)?,
                };
                self.restore_by_command(wanted)
            }
            other => Err(invalid(format!("There is no command {other}."))),
        }
    }

    fn answer_permission(&mut self, answer: &PermissionAnswer) -> Result<(), Error> {
        let moot = || invalid("That question is not open any more; nothing was done.");
        let call = CallId::parse(&answer.tool_call_id).ok_or_else(moot)?;
        let option = OptionId::from_id(&answer.option_id).ok_or_else(moot)?;
        let key = (SessionKey::from(answer.session_id.as_str()), call);
        // A call whose text moved is asked about again and shows something else than before.
        if self.asking.questions.get(&key).map(|it| it.round) != Some(answer.round) {
            return Err(moot());
        }
        self.decide(key, Decision { option, note: None });
        Ok(())
    }

    fn start_task(&mut self, task: Task, target: Target) -> Result<(), Error> {
        let path = path_of(&target.uri)
            .ok_or_else(|| invalid("Undine works on files; save the document first."))?;
        let key = self.session_for_tasks(&path)?;
        let text = task_prompt(task, &self.target_place(&key, &path, &target));
        let title = task.title().to_owned();
        let token = self.client.progress.then(|| {
            self.next_token += 1;
            format!("undine-task-{}", self.next_token)
        });
        if let Some(token) = &token {
            let id = self.asking.open(crate::asking::Pending::Ignored);
            self.out.request(
                id,
                "window/workDoneProgress/create",
                &json!({"token": token}),
            );
            let value = json!({"kind": "begin", "title": title, "cancellable": true});
            self.out
                .notify("$/progress", &json!({"token": token, "value": value}));
        }
        self.send_prompt(
            &key,
            text,
            Waiter::Task(TaskView {
                title,
                token,
                answer: String::new(),
            }),
        );
        Ok(())
    }

    /// The session in which tasks of a project run; the folder that holds the file is the project.
    pub(super) fn session_for_tasks(
        &mut self,
        path: &std::path::Path,
    ) -> Result<SessionKey, Error> {
        let root = self
            .roots
            .iter()
            .find(|it| path.starts_with(it.canonicalize().as_ref().unwrap_or(it)))
            .or(self.roots.first())
            .cloned()
            .or_else(|| path.parent().map(PathBuf::from))
            .ok_or_else(|| invalid("The file lies in no folder."))?;
        let fits = |key: &SessionKey| {
            let root = root.canonicalize();
            self.sessions
                .get(key)
                .is_some_and(|it| root.as_ref().is_ok_and(|root| it.workspace.root() == root))
        };
        if let Some(key) = self.task_session.clone().filter(fits) {
            return Ok(key);
        }
        let key = self.start_session(&root, &[])?;
        self.task_session = Some(key.clone());
        Ok(key)
    }

    fn target_place(&self, key: &SessionKey, path: &std::path::Path, target: &Target) -> Place {
        let file = match self.sessions.get(key) {
            Some(open) => open.workspace.classify(path.to_path_buf()).shown,
            None => path.display().to_string(),
        };
        let range = target.range;
        // A selection that ends at a line's start does not hold that line.
        let last = if range.end.character == 0 && range.end.line > range.start.line {
            range.end.line
        } else {
            range.end.line + 1
        };
        let diagnostics = target
            .diagnostics
            .iter()
            .map(|it| {
                let message = match &it.message {
                    lsp::Message::String(text) => text.clone(),
                    lsp::Message::MarkupContent(markup) => markup.value.clone(),
                };
                (it.range.start.line + 1, message)
            })
            .collect();
        Place {
            file,
            lines: (range.start.line + 1, last),
            selection: self.text_in(&target.uri, range),
            diagnostics,
        }
    }

    fn text_in(&self, uri: &lsp::Uri, range: lsp::Range) -> String {
        use crate::documents::Content;
        let Some(Content::Text(rope)) = self.documents.content(uri) else {
            return String::new();
        };
        let at = |it: lsp::Position| offset(rope, it.line, it.character, self.client.encoding);
        let (start, end) = (at(range.start), at(range.end));
        if start < end {
            rope.byte_slice(start..end).to_string()
        } else {
            String::new()
        }
    }

    fn mentions_todo(&self, uri: &lsp::Uri, range: lsp::Range) -> bool {
        let start = lsp::Position {
            line: range.start.line,
            character: 0,
        };
        let end = lsp::Position {
            line: range.end.line,
            character: u32::MAX,
        };
        self.text_in(uri, lsp::Range { start, end })
            .contains("TODO")
    }
}

pub(super) fn bad_argument(command: &str, error: serde_json::Error) -> Error {
    invalid(format!(
        "The argument of {command} is not understood ({error})."
    ))
}

fn kind_name(kind: &lsp::CodeActionKind) -> String {
    serde_json::to_value(kind)
        .ok()
        .and_then(|it| it.as_str().map(str::to_owned))
        .unwrap_or_default()
}
