//! One turn as it is shown, and the answers to what the server asks meanwhile.

use super::Options;
use super::editor::{Editor, Heard};
use super::screen::{Screen, Status};
use crate::handlers::failing;
use protocol::acp;
use protocol::approval::OptionId;
use serde_json::Value;
use std::collections::HashMap;
use std::env;
use std::io::{self, IsTerminal};
use std::time::Duration;

/// For tests: `no` refuses whatever is asked, when no person is.
const ANSWER: &str = "UNDINE_DEMO_ANSWER";

/// Who answers questions.
pub enum Person {
    AtTerminal,
    /// Nobody; the answer, and why it is given.
    Absent {
        allows: bool,
        why: &'static str,
    },
}

impl Person {
    pub fn of(options: &Options) -> Self {
        let refuses = env::var_os(ANSWER).is_some_and(|it| it == "no");
        let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        match (refuses, options.yes, at_terminal) {
            (true, _, _) => Self::Absent {
                allows: false,
                why: "answered by UNDINE_DEMO_ANSWER",
            },
            (false, true, _) => Self::Absent {
                allows: true,
                why: "answered by --yes",
            },
            (false, false, true) => Self::AtTerminal,
            (false, false, false) => Self::Absent {
                allows: true,
                why: "answered by itself: this is no terminal",
            },
        }
    }
}

/// One turn as it is shown.
pub struct Turn {
    pub screen: Screen,
    person: Person,
    patience: Duration,
    calls: HashMap<acp::ToolCallId, Call>,
}

/// What is known of a call.
#[derive(Default)]
struct Call {
    title: String,
    kind: acp::ToolKind,
    diff: Option<acp::Diff>,
    is_diff_shown: bool,
}

impl Turn {
    /// `patience` is the longest silence of the server.
    pub fn new(screen: Screen, person: Person, patience: Duration) -> Self {
        Self {
            screen,
            person,
            patience,
            calls: HashMap::new(),
        }
    }

    /// Shows the turn until its prompt is answered; then how. The outer error is the demonstration's own.
    pub fn follow(
        &mut self,
        editor: &mut Editor,
        prompt: u64,
    ) -> Result<Result<(), String>, String> {
        loop {
            match editor.next(self.patience)? {
                Heard::Update(update) => self.update(*update)?,
                Heard::Question { id, request } => {
                    let option = self.ask(*request)?;
                    editor.answer(&id, &option)?;
                }
                Heard::Form(question) => {
                    self.screen.note(&format!(
                        "A question that this editor does not answer: {question}"
                    ))?;
                }
                Heard::Retry(retry) => self.screen.note(&failing::in_words(&retry))?,
                Heard::Message(text) => self.screen.note(&text)?,
                Heard::Answered(id, answer) if id == prompt => return Ok(answer.and_then(stopped)),
                Heard::Answered(_, _) => {}
            }
        }
    }

    fn update(&mut self, update: acp::SessionUpdate) -> Result<(), String> {
        match update {
            acp::SessionUpdate::AgentMessageChunk(chunk) => match chunk.content {
                acp::ContentBlock::Text(text) => self.screen.text(&text.text),
                _ => Ok(()),
            },
            acp::SessionUpdate::ToolCall(call) => {
                let known = Call {
                    title: call.title,
                    kind: call.kind,
                    ..Call::default()
                };
                self.calls.insert(call.tool_call_id, known);
                Ok(())
            }
            acp::SessionUpdate::ToolCallUpdate(update) => self.changed(update),
            // Thoughts, plans and what else there is have no place on this page.
            _ => Ok(()),
        }
    }

    fn changed(&mut self, update: acp::ToolCallUpdate) -> Result<(), String> {
        let acp::ToolCallUpdate {
            tool_call_id,
            fields,
            meta,
            ..
        } = update;
        let call = self.calls.entry(tool_call_id).or_default();
        call.take_in(&fields);
        let ended = match fields.status {
            Some(acp::ToolCallStatus::Completed) => Status::Done,
            Some(acp::ToolCallStatus::Failed) => Status::Failed,
            Some(_) | None => return Ok(()),
        };
        let own = meta
            .and_then(|mut it| it.remove("undine"))
            .unwrap_or_default();
        let status = match own["exitCode"].as_i64() {
            Some(code) => Status::Exited(code),
            None => ended,
        };
        // A change that nobody was asked about is shown when it is made.
        if let Some(diff) = call
            .diff
            .take()
            .filter(|_| ended == Status::Done && !call.is_diff_shown)
        {
            self.screen
                .diff(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text)?;
        }
        let took = own["durationMs"].as_u64().map(Duration::from_millis);
        self.screen.call(status, &call.title, took)?;
        if ended == Status::Failed || call.kind == acp::ToolKind::Execute {
            self.screen
                .output(&text(fields.content.unwrap_or_default()))?;
        }
        Ok(())
    }

    /// Shows what is asked about and gets an answer.
    fn ask(
        &mut self,
        request: acp::RequestPermissionRequest,
    ) -> Result<acp::PermissionOption, String> {
        let acp::RequestPermissionRequest {
            tool_call,
            mut options,
            ..
        } = request;
        // The project is gone when the demonstration ends; nothing about it is worth keeping.
        options.retain(|it| OptionId::from_id(&it.option_id.0) != Some(OptionId::Always));
        let call = self.calls.entry(tool_call.tool_call_id).or_default();
        call.take_in(&tool_call.fields);
        self.screen.question(&call.title)?;
        match &call.diff {
            Some(diff) => {
                self.screen
                    .diff(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text)?;
                call.is_diff_shown = true;
            }
            // Whole, because the title may leave out what matters: more lines, or the folder.
            None => self
                .screen
                .block(&text(tool_call.fields.content.unwrap_or_default()))?,
        }
        let names: Vec<&str> = options.iter().map(|it| it.name.as_str()).collect();
        let chosen = match self.person {
            Person::AtTerminal => match self.screen.ask(&names)? {
                Some(number) => options.get(number),
                None => first(&options, false),
            },
            Person::Absent { allows, why } => {
                self.screen.offer(&names)?;
                let chosen = first(&options, allows);
                let name = chosen.map(|it| it.name.as_str()).unwrap_or_default();
                self.screen
                    .line(&self.screen.colours.dim(&format!("  {name} ({why})")))?;
                chosen
            }
        };
        chosen
            .cloned()
            .ok_or_else(|| "The server asked a question that has no such answer.".to_owned())
    }
}

impl Call {
    fn take_in(&mut self, fields: &acp::ToolCallUpdateFields) {
        if let Some(title) = &fields.title {
            self.title.clone_from(title);
        }
        if let Some(kind) = fields.kind {
            self.kind = kind;
        }
        let diff = fields.content.iter().flatten().find_map(|it| match it {
            acp::ToolCallContent::Diff(diff) => Some(diff.clone()),
            _ => None,
        });
        if diff.is_some() {
            self.diff = diff;
        }
    }
}

/// The first option that allows, or the first that does not.
fn first(options: &[acp::PermissionOption], allows: bool) -> Option<&acp::PermissionOption> {
    use acp::PermissionOptionKind::{AllowAlways, AllowOnce};
    options
        .iter()
        .find(|it| matches!(it.kind, AllowOnce | AllowAlways) == allows)
}

fn text(content: Vec<acp::ToolCallContent>) -> String {
    let texts = content.into_iter().filter_map(|it| match it {
        acp::ToolCallContent::Content(acp::Content {
            content: acp::ContentBlock::Text(text),
            ..
        }) => Some(text.text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A turn that did not end by itself is an error.
fn stopped(answer: Value) -> Result<(), String> {
    match answer["stopReason"].as_str() {
        Some("end_turn") => Ok(()),
        Some(reason) => Err(format!("it was stopped ({reason}).")),
        None => Err("its answer has no reason.".to_owned()),
    }
}
