//! What a run says to other programs: versioned JSON, an object at the end or a line for each event.
//!
//! Fields are only ever added within a version. Nothing but this is written to stdout.

use super::{Heard, say};
use crate::run::page::reason;
use engine::redact::redact_inert;
use protocol::acp::{self, SessionUpdate, ToolCallStatus};
use protocol::usage::UsageReport;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// The version of the lines.
const VERSION: u32 = 1;

/// One line.
#[derive(Serialize)]
struct Line<'a> {
    v: u32,
    #[serde(flatten)]
    event: Event<'a>,
}

/// What happened.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event<'a> {
    SessionStarted {
        session_id: &'a str,
    },
    /// A piece of the answer.
    Text {
        text: &'a str,
    },
    /// A piece of what the model thinks.
    Thought {
        text: &'a str,
    },
    /// The model calls a tool.
    Call {
        call_id: &'a str,
        title: &'a str,
        arguments: Option<&'a Value>,
    },
    /// That call has ended.
    CallEnded {
        call_id: &'a str,
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// The checklist, whole.
    Plan {
        entries: Vec<PlanLine<'a>>,
    },
    /// The model is asked again.
    Retry {
        text: String,
    },
    /// Something the person is to know.
    Message {
        text: &'a str,
    },
    Result(&'a Ended),
}

#[derive(Serialize)]
struct PlanLine<'a> {
    text: &'a str,
    status: &'a acp::PlanEntryStatus,
}

/// How the run ended: the last line, and the only object of the JSON format.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Ended {
    /// Missing where no session was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// ACP's stop reason, or `failed` or `timed_out`.
    pub stop_reason: String,
    /// What went wrong, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The last answer.
    pub text: String,
    /// The same, read, where a schema was given and it fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    pub duration_ms: u64,
    /// Files with changes that nobody has judged yet.
    pub changed_files: Vec<String>,
    /// Actions that wait for an approval.
    pub waiting: Vec<Waiting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageReport>,
}

/// An action that waits for an approval.
#[derive(Clone, Debug, Serialize)]
pub struct Waiting {
    pub id: String,
    pub title: String,
}

/// The lines of a run.
#[derive(Default)]
pub struct Report {
    /// Missing where only the end is written.
    pub is_stream: bool,
}

impl Report {
    pub fn started(&self, session: &str) -> Result<(), String> {
        self.line(Event::SessionStarted {
            session_id: session,
        })
    }

    pub fn show(&self, heard: &Heard) -> Result<(), String> {
        match heard {
            Heard::Update(update) => self.update(update),
            Heard::Message(text) => self.line(Event::Message { text }),
            Heard::Retry(Some(retry)) => self.line(Event::Retry {
                text: crate::handlers::failing::in_words(retry),
            }),
            Heard::Retry(None) | Heard::Answer(..) => Ok(()),
        }
    }

    fn update(&self, update: &SessionUpdate) -> Result<(), String> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => match &chunk.content {
                acp::ContentBlock::Text(it) => self.line(Event::Text { text: &it.text }),
                _ => Ok(()),
            },
            SessionUpdate::AgentThoughtChunk(chunk) => match &chunk.content {
                acp::ContentBlock::Text(it) => self.line(Event::Thought { text: &it.text }),
                _ => Ok(()),
            },
            SessionUpdate::ToolCall(call) => self.line(Event::Call {
                call_id: &call.tool_call_id.0,
                title: &call.title,
                arguments: call.raw_input.as_ref(),
            }),
            SessionUpdate::ToolCallUpdate(update) => {
                let ok = match update.fields.status {
                    Some(ToolCallStatus::Completed) => true,
                    Some(ToolCallStatus::Failed) => false,
                    Some(_) | None => return Ok(()),
                };
                let own = update.meta.as_ref().and_then(|it| it.get("undine"));
                let own = own.cloned().unwrap_or_default();
                self.line(Event::CallEnded {
                    call_id: &update.tool_call_id.0,
                    ok,
                    title: update.fields.title.as_deref(),
                    text: update.fields.content.clone().map(reason),
                    exit_code: own["exitCode"].as_i64(),
                    duration_ms: own["durationMs"].as_u64(),
                })
            }
            SessionUpdate::Plan(plan) => self.line(Event::Plan {
                entries: plan
                    .entries
                    .iter()
                    .map(|it| PlanLine {
                        text: &it.content,
                        status: &it.status,
                    })
                    .collect(),
            }),
            // Front ends need the rest.
            _ => Ok(()),
        }
    }

    /// Writes how it ended.
    pub fn end(&self, ended: &Ended) -> Result<(), String> {
        match self.is_stream {
            true => self.line(Event::Result(ended)),
            false => print(ended),
        }
    }

    fn line(&self, event: Event<'_>) -> Result<(), String> {
        match self.is_stream {
            true => print(&Line { v: VERSION, event }),
            false => Ok(()),
        }
    }
}

/// Writes one line to stdout.
pub fn print(value: &impl Serialize) -> Result<(), String> {
    let failed = |error: io::Error| format!("The answer cannot be written to stdout ({error}).");
    let text = serde_json::to_string(value)
        .map_err(|error| format!("The answer cannot be written ({error})."))?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", redact_inert(&text)).map_err(failed)?;
    out.flush().map_err(failed)
}

/// Names on stderr what waits for an approval.
pub fn tell_what_waits(waiting: &[Waiting]) {
    if waiting.is_empty() {
        return;
    }
    say("Waiting for your approval:");
    for it in waiting {
        say(&format!("  {}  (undine approve {})", it.title, it.id));
    }
}
