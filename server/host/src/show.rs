//! The engine's updates as ACP's, without secrets. Only changes of files are shown as they are (engine/src/redact.rs).

use crate::event::SessionKey;
use crate::tools;
use engine::provider::{Image, Usage};
use engine::redact::{redact_inert, redact_json, redact_string};
use engine::session::{CallChange, CallContent, CallStatus, Preview, Update};
use engine::text::{visible, visible_line};
use engine::usage::{Bill, dollars, filled};
use protocol::acp::{self, SessionUpdate};
use protocol::checklist::{Task, TaskStatus};
use protocol::session::{CallId, Mode};
use protocol::tool::Outcome;
use serde_json::{Map, Value, json};

/// The most characters of a tool's name that are shown: a model may call what does not exist.
const MAX_TOOL_NAME: usize = 100;

/// A notification's params, or `None` for what has no place in ACP.
pub fn notification(session: &SessionKey, update: Update) -> Option<acp::SessionNotification> {
    Some(acp::SessionNotification::new(
        session_id(session),
        session_update(update)?,
    ))
}

pub fn session_id(session: &SessionKey) -> acp::SessionId {
    acp::SessionId::new(session.clone())
}

pub fn call_id(call: CallId) -> acp::ToolCallId {
    acp::ToolCallId::new(call.to_string())
}

fn session_update(update: Update) -> Option<SessionUpdate> {
    Some(match update {
        Update::User(it) => SessionUpdate::UserMessageChunk(chunk(it)),
        // Its bytes are on the disk: see `user_picture`.
        Update::UserPicture(it) => SessionUpdate::UserMessageChunk(chunk(it.to_string())),
        Update::Text(it) => SessionUpdate::AgentMessageChunk(chunk(it)),
        Update::Thought(it) => SessionUpdate::AgentThoughtChunk(chunk(it)),
        Update::Call {
            call,
            tool,
            mut arguments,
        } => {
            redact_json(&mut arguments);
            SessionUpdate::ToolCall(
                acp::ToolCall::new(call_id(call), visible_line(&tool, MAX_TOOL_NAME))
                    .kind(tools::kind(&tool))
                    .status(acp::ToolCallStatus::Pending)
                    .raw_input(Some(arguments))
                    .meta(meta(json!({"tool": tool}))),
            )
        }
        Update::CallChanged(call, change) => {
            SessionUpdate::ToolCallUpdate(call_update(call, change))
        }
        Update::Mode(mode) => {
            SessionUpdate::CurrentModeUpdate(acp::CurrentModeUpdate::new(mode.id()))
        }
        Update::Checklist(tasks) => {
            SessionUpdate::Plan(acp::Plan::new(tasks.iter().filter_map(entry).collect()))
        }
        // ACP has no word for it: a paragraph of the agent's that front ends may tell by its mark.
        Update::Notice(text) => {
            let mark = json!({"undine": {"notice": true}});
            let mark = mark.as_object().cloned();
            SessionUpdate::AgentMessageChunk(chunk(format!("\n\n{text}\n\n")).meta(mark))
        }
        // What it costs, the session and the catalogue know.
        Update::Usage(_) => return None,
        // It has a method of its own.
        Update::Retrying(_) => return None,
    })
}

/// A picture of the person's with its bytes in base64.
pub fn user_picture(session: &SessionKey, image: &Image) -> acp::SessionNotification {
    let image = acp::ImageContent::new(&*image.data, &*image.picture.media_type);
    let chunk = acp::ContentChunk::new(acp::ContentBlock::Image(image));
    let update = SessionUpdate::UserMessageChunk(chunk);
    acp::SessionNotification::new(session_id(session), update)
}

/// The answer to a side question, for an editor that asked by a prompt: marked, because it is no part of the transcript.
pub fn aside(session: &SessionKey, text: String) -> acp::SessionNotification {
    let update = SessionUpdate::AgentMessageChunk(chunk(text).meta(meta(json!({"btw": true}))));
    acp::SessionNotification::new(session_id(session), update)
}

/// A task as ACP shows it: it knows neither blocked nor deleted ones.
fn entry(task: &Task) -> Option<acp::PlanEntry> {
    let status = match task.status {
        TaskStatus::Pending | TaskStatus::Blocked => acp::PlanEntryStatus::Pending,
        TaskStatus::InProgress => acp::PlanEntryStatus::InProgress,
        TaskStatus::Completed => acp::PlanEntryStatus::Completed,
        TaskStatus::Deleted => return None,
    };
    let mut text = match task.status {
        TaskStatus::InProgress => task.active_form.clone(),
        TaskStatus::Blocked => format!("{} (blocked)", task.subject),
        TaskStatus::Pending | TaskStatus::Completed | TaskStatus::Deleted => task.subject.clone(),
    };
    redact_string(&mut text);
    let priority = acp::PlanEntryPriority::Medium;
    Some(acp::PlanEntry::new(text, priority, status))
}

fn chunk(mut text: String) -> acp::ContentChunk {
    redact_string(&mut text);
    acp::ContentChunk::new(acp::ContentBlock::from(text))
}

/// A call's change; also what a permission request shows of the call.
pub fn call_update(call: CallId, change: CallChange) -> acp::ToolCallUpdate {
    let CallChange {
        status,
        title,
        kind,
        content,
        duration_ms,
        exit_code,
        images,
        fuzzy,
    } = change;
    let mut fields = acp::ToolCallUpdateFields::new();
    fields.title = title;
    fields.kind = kind;
    fields.status = status.map(|it| match it {
        CallStatus::Waiting => acp::ToolCallStatus::Pending,
        CallStatus::Running => acp::ToolCallStatus::InProgress,
        CallStatus::Done(Outcome::Success) => acp::ToolCallStatus::Completed,
        CallStatus::Done(Outcome::Error | Outcome::Cancelled) => acp::ToolCallStatus::Failed,
    });
    let locations: Vec<acp::ToolCallLocation> = content
        .iter()
        .filter_map(|it| match it {
            CallContent::Preview(Preview::Diff { path, .. } | Preview::Hunks { path, .. }) => {
                Some(acp::ToolCallLocation::new(path.clone()))
            }
            CallContent::Preview(Preview::Command { .. } | Preview::Text(_))
            | CallContent::Text(_)
            | CallContent::Image(_) => None,
        })
        .collect();
    fields.locations = (!locations.is_empty()).then_some(locations);
    let content: Vec<acp::ToolCallContent> = content.into_iter().map(shown).collect();
    fields.content = (!content.is_empty()).then_some(content);
    let mut extra = Map::new();
    if let Some(it) = duration_ms {
        extra.insert("durationMs".to_owned(), json!(it));
    }
    if let Some(it) = exit_code {
        extra.insert("exitCode".to_owned(), json!(it));
    }
    if images > 0 {
        extra.insert("images".to_owned(), json!(images));
    }
    if fuzzy {
        extra.insert("fuzzy".to_owned(), json!(true));
    }
    if status == Some(CallStatus::Done(Outcome::Cancelled)) {
        extra.insert("cancelled".to_owned(), json!(true));
    }
    let meta = if extra.is_empty() {
        None
    } else {
        meta(Value::Object(extra))
    };
    acp::ToolCallUpdate::new(call_id(call), fields).meta(meta)
}

fn shown(content: CallContent) -> acp::ToolCallContent {
    match content {
        CallContent::Preview(Preview::Diff { path, old, new }) => {
            acp::ToolCallContent::Diff(acp::Diff::new(path, new).old_text(old))
        }
        // Exact, as a diff is: the person decides on each letter.
        CallContent::Preview(Preview::Hunks { text: it, .. }) => text(it),
        CallContent::Preview(Preview::Command { line, cwd }) => {
            let (line, cwd) = (redact_inert(&line), cwd.display().to_string());
            text(format!("{}\n(in {})", visible(&line), visible(&cwd)))
        }
        CallContent::Preview(Preview::Text(it)) => text(visible(&redact_inert(&it)).into_owned()),
        CallContent::Text(mut it) => {
            redact_string(&mut it);
            text(it)
        }
        CallContent::Image(Image { picture, data }) => {
            let image = acp::ImageContent::new(&*data, picture.media_type);
            acp::ToolCallContent::from(acp::ContentBlock::Image(image))
        }
    }
}

fn text(text: String) -> acp::ToolCallContent {
    acp::ToolCallContent::from(acp::ContentBlock::from(text))
}

/// Previews as plain text, each behind a line break; secrets of commands are masked, a change is exact. `most` is the most lines of a change.
pub fn plain(previews: &[Preview], context: usize, most: usize) -> String {
    let mut text = String::new();
    for preview in previews {
        match preview {
            Preview::Text(it) => text.push_str(&format!("\n{}", redact_inert(it))),
            Preview::Command { line, cwd } => {
                text.push_str(&format!("\n{}\nin {}", redact_inert(line), cwd.display()))
            }
            Preview::Hunks { text: hunks, .. } => {
                let mut lines = hunks.lines();
                let first: Vec<&str> = lines.by_ref().take(most).collect();
                text.push_str(&format!("\n{}", first.join("\n")));
                if lines.next().is_some() {
                    text.push_str("\n...");
                }
            }
            Preview::Diff { path, old, new } => {
                let name = path.display().to_string();
                let old = old.as_deref().unwrap_or_default();
                let diff = engine::text::unified(old, new, &name, &name, context, most);
                text.push_str(&format!("\n{}", diff.text.trim_end()));
                if diff.truncated {
                    text.push_str(&format!(
                        "\n... (+{} -{} lines in all)",
                        diff.added, diff.removed
                    ));
                }
            }
        }
    }
    visible(&text).into_owned()
}

/// `_meta.undine`, where our own fields ride.
pub fn meta(value: Value) -> Option<acp::Meta> {
    Some(Map::from_iter([("undine".to_owned(), value)]))
}

/// ACP counts what fills the window and what the session has cost; the parts of the last answer ride beside it.
pub fn usage_update(last: &Usage, window: Option<u64>, bill: &Bill) -> SessionUpdate {
    let Usage {
        input,
        cached,
        cache_write,
        output,
        reasoning,
    } = *last;
    let mut extra = json!({"input": input, "cached": cached, "cacheWrite": cache_write, "output": output, "reasoning": reasoning});
    let unpriced: Vec<&str> = bill.unpriced().collect();
    if !unpriced.is_empty() {
        extra["unpriced"] = json!(unpriced);
    }
    if let Some(total) = bill.total {
        extra["cost"] = json!(dollars(total));
    }
    let cost = bill.total.map(|it| acp::Cost::new(it, "USD"));
    // A window that is not known is 0.
    let update = acp::UsageUpdate::new(filled(last), window.unwrap_or(0));
    SessionUpdate::UsageUpdate(update.cost(cost).meta(meta(extra)))
}

pub fn modes(mode: Mode) -> acp::SessionModeState {
    let modes = Mode::ALL
        .into_iter()
        .map(|it| {
            acp::SessionMode::new(it.id(), it.id().replace('_', " "))
                .description(Some(it.description().to_owned()))
        })
        .collect();
    acp::SessionModeState::new(mode.id(), modes)
}
