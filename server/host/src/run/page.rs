//! What a person sees of a run: the answer on stdout, everything else on stderr.

use super::{Heard, say};
use crate::handlers::failing;
use engine::text::{visible, visible_line};
use protocol::acp::{self, SessionUpdate, ToolCallId, ToolCallStatus};
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};

/// The most characters of a reason that are shown; the session's log has the rest.
const MAX_REASON: usize = 200;

#[derive(Default)]
pub struct Page {
    /// The answer stands in the middle of a line.
    is_in_line: bool,
    titles: HashMap<ToolCallId, String>,
    /// Stdout is for something else.
    is_silent: bool,
}

impl Page {
    /// One without the answer.
    pub fn silent() -> Self {
        Self {
            is_silent: true,
            ..Self::default()
        }
    }

    /// Shows what concerns the person. The error is a sentence for them.
    pub fn show(&mut self, heard: Heard) -> Result<(), String> {
        match heard {
            Heard::Update(update) => self.update(*update),
            Heard::Message(text) => {
                say(&format!("undine: {text}"));
                Ok(())
            }
            Heard::Retry(Some(retry)) => {
                self.end()?;
                say(&failing::in_words(&retry));
                Ok(())
            }
            Heard::Retry(None) | Heard::Answer(_, _) => Ok(()),
        }
    }

    /// Ends the answer's last line.
    pub fn end(&mut self) -> Result<(), String> {
        match self.is_in_line {
            true => self.text("\n"),
            false => Ok(()),
        }
    }

    fn update(&mut self, update: SessionUpdate) -> Result<(), String> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => match chunk.content {
                acp::ContentBlock::Text(text) => self.text(&text.text),
                // A model says text so far.
                _ => Ok(()),
            },
            SessionUpdate::ToolCall(call) => {
                self.titles.insert(call.tool_call_id, call.title);
                // What is said next is another part of the answer.
                self.end()
            }
            SessionUpdate::ToolCallUpdate(update) => {
                self.call(update);
                Ok(())
            }
            // Thoughts, usage and what else there is have no place here.
            _ => Ok(()),
        }
    }

    fn call(&mut self, update: acp::ToolCallUpdate) {
        let acp::ToolCallUpdate {
            tool_call_id,
            fields,
            meta,
            ..
        } = update;
        let title = self.titles.entry(tool_call_id).or_default();
        if let Some(new) = fields.title {
            *title = new;
        }
        let own = meta
            .and_then(|mut it| it.remove("undine"))
            .unwrap_or_default();
        let line = match (fields.status, own["exitCode"].as_i64()) {
            (Some(ToolCallStatus::Completed), Some(code)) => format!("exit {code:<2} {title}"),
            (Some(ToolCallStatus::Completed), None) => format!("done    {title}"),
            (Some(ToolCallStatus::Failed), _) => {
                let reason = reason(fields.content.unwrap_or_default());
                format!("failed  {title}: {}", visible_line(&reason, MAX_REASON))
            }
            (Some(_) | None, _) => return,
        };
        say(&line);
    }

    /// Whole for another program; for a terminal, without what would move its cursor or hide something.
    fn text(&mut self, text: &str) -> Result<(), String> {
        if self.is_silent {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let written = match out.is_terminal() {
            true => out.write_all(visible(text).as_bytes()),
            false => out.write_all(text.as_bytes()),
        };
        written
            .and_then(|()| out.flush())
            .map_err(|error| format!("The answer cannot be written to stdout ({error})."))?;
        if let Some(last) = text.chars().next_back() {
            self.is_in_line = last != '\n';
        }
        Ok(())
    }
}

/// What a call gave, as the person reads it.
pub fn reason(content: Vec<acp::ToolCallContent>) -> String {
    let texts = content.into_iter().find_map(|it| match it {
        acp::ToolCallContent::Content(acp::Content {
            content: acp::ContentBlock::Text(text),
            ..
        }) => Some(text.text),
        _ => None,
    });
    texts.unwrap_or_else(|| "cancelled".to_owned())
}
