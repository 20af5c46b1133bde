//! A session's messages, numbered: what was said from its first day on, also what a summary stands for now.
//!
//! The numbers are counted from 1 in the order in which the log holds the messages' first records. They never change: not by what
//! comes later, not by an answer that does not count any more, not by a summary. A fork counts its copied part the same.

mod fork;
mod search;

pub use fork::{Fork, fork_at};
pub use search::{Hit, Words};

use crate::redact::redact;
use crate::text::visible_line;
use protocol::record::{Kept, NativeRecord, Record};
use protocol::session::CallId;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// From 1.
    pub number: u64,
    pub role: Role,
    /// The tool of a result; none where the log does not hold its call.
    pub tool: Option<String>,
    /// What was said. Of an answer also its calls, a line each: the tool's name and its arguments as the model wrote them.
    pub text: String,
    /// The number of the summary that stands for it now ([`Record::Compacted`]).
    pub compacted_by: Option<u64>,
    /// An answer that broke off and was asked for again: the person has seen it, the model never does.
    pub is_void: bool,
    /// Where its first record stands among the records.
    pub at: usize,
}

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
    /// The result of a call.
    Tool,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A title as it is kept: one line that shows what it holds, without secrets. None: nothing is left of it.
pub fn title(text: &str) -> Option<String> {
    /// Characters.
    const MOST: usize = 200;
    let words: Vec<&str> = text.split_whitespace().collect();
    let title = visible_line(&redact(&words.join(" ")), MOST);
    Some(title).filter(|it| !it.is_empty())
}

/// What can be found of a record: what is part of a message. The answer of a command would only repeat what was looked for.
pub fn text_of(record: Record) -> Option<String> {
    Some(match record {
        Record::User { text, .. }
        | Record::Assistant { text, .. }
        | Record::Result { text, .. } => text,
        Record::Call {
            tool, arguments, ..
        } => format!("{tool} {arguments}"),
        Record::Started { .. }
        | Record::Forked { .. }
        | Record::Title { .. }
        | Record::Void { .. }
        | Record::Unsigned { .. }
        | Record::Decision { .. }
        | Record::Classified { .. }
        | Record::Remembered { .. }
        | Record::Forgot { .. }
        | Record::Edit { .. }
        | Record::Command { .. }
        | Record::Replayed { .. }
        | Record::Told { .. }
        | Record::Compacted { .. }
        | Record::Checklist { .. }
        | Record::Goal { .. }
        | Record::Style { .. }
        | Record::Mode { .. }
        | Record::Model { .. }
        | Record::Reasoning { .. }
        | Record::Usage { .. }
        | Record::Carried(_)
        | Record::Ended { .. } => return None,
    })
}

/// The messages of a session, in their order. A result without its call is none.
pub fn messages<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<Message> {
    let mut archive = Archive::default();
    for (at, record) in records.enumerate() {
        archive.take(at, record);
    }
    archive.messages
}

#[derive(Default)]
struct Archive {
    messages: Vec<Message>,
    /// What the model is still sent, as [`crate::context`] holds it: the prompts and answers, the oldest first.
    live: Vec<Live>,
    /// Each call: its tool, and the message of its answer.
    calls: Vec<(CallId, String, usize)>,
}

struct Live {
    what: What,
    /// Its message, and those of its results.
    messages: Vec<usize>,
}

#[derive(PartialEq)]
enum What {
    Prompt,
    Answer(u64),
}

impl Archive {
    fn take(&mut self, at: usize, record: &Record) {
        match record {
            Record::User { text, .. } => {
                let message = self.push(at, Role::User, None, text.clone());
                self.live.push(Live {
                    what: What::Prompt,
                    messages: vec![message],
                });
            }
            Record::Assistant { answer, text, .. } => {
                let message = self.answer(at, *answer);
                add(&mut self.messages[message].text, text);
            }
            Record::Call {
                answer,
                call,
                tool,
                arguments,
                native,
                ..
            } => {
                let message = self.answer(at, *answer);
                let line = call_line(tool, arguments, native.as_ref());
                add(&mut self.messages[message].text, &line);
                self.calls.push((*call, tool.clone(), message));
            }
            Record::Result { call, text, .. } => self.result(at, *call, text),
            Record::Void { answer } => self.void(*answer),
            Record::Compacted { id, kept, .. } => self.compact(*id, *kept),
            Record::Started { .. }
            | Record::Forked { .. }
            | Record::Title { .. }
            | Record::Unsigned { .. }
            | Record::Decision { .. }
            | Record::Classified { .. }
            | Record::Remembered { .. }
            | Record::Forgot { .. }
            | Record::Edit { .. }
            | Record::Command { .. }
            | Record::Replayed { .. }
            | Record::Told { .. }
            | Record::Checklist { .. }
            | Record::Goal { .. }
            | Record::Style { .. }
            | Record::Mode { .. }
            | Record::Model { .. }
            | Record::Reasoning { .. }
            | Record::Usage { .. }
            | Record::Carried(_)
            | Record::Ended { .. } => {}
        }
    }

    fn push(&mut self, at: usize, role: Role, tool: Option<String>, text: String) -> usize {
        self.messages.push(Message {
            number: self.messages.len() as u64 + 1,
            role,
            tool,
            text,
            compacted_by: None,
            is_void: false,
            at,
        });
        self.messages.len() - 1
    }

    /// The message of an answer, made if it is new. Records of an answer stand together, its results aside.
    fn answer(&mut self, at: usize, number: u64) -> usize {
        if let Some(Live { what, messages }) = self.live.last()
            && *what == What::Answer(number)
            && let Some(message) = messages.first()
        {
            return *message;
        }
        let message = self.push(at, Role::Assistant, None, String::new());
        self.live.push(Live {
            what: What::Answer(number),
            messages: vec![message],
        });
        message
    }

    fn result(&mut self, at: usize, call: CallId, text: &str) {
        let found = self.calls.iter().rfind(|(id, ..)| *id == call);
        let Some((_, tool, answer)) = found.cloned() else {
            return;
        };
        let message = self.push(at, Role::Tool, Some(tool), text.to_owned());
        let is_it = |it: &&mut Live| it.messages.first() == Some(&answer);
        match self.live.iter_mut().find(is_it) {
            Some(live) => live.messages.push(message),
            // Its answer was summarised while it ran.
            None => self.messages[message].compacted_by = self.messages[answer].compacted_by,
        }
    }

    fn void(&mut self, number: u64) {
        let is_it = self.live.last().is_some_and(|it| {
            let called = |message: &usize| self.calls.iter().any(|(.., it)| it == message);
            it.what == What::Answer(number) && !it.messages.iter().any(called)
        });
        if is_it && let Some(live) = self.live.pop() {
            for message in live.messages {
                self.messages[message].is_void = true;
            }
        }
    }

    fn compact(&mut self, id: u64, kept: Kept) {
        let end = self.live.len();
        let start = match kept {
            Kept::Nothing | Kept::Prompts(0) => end,
            Kept::Answer(number) => {
                let is_it = |it: &Live| it.what == What::Answer(number);
                self.live.iter().position(is_it).unwrap_or(end)
            }
            Kept::Prompts(n) => {
                let n = usize::try_from(n).unwrap_or(usize::MAX);
                let prompts = self.live.iter().enumerate().rev();
                let prompts = prompts.filter(|(_, it)| it.what == What::Prompt);
                prompts.take(n).last().map_or(end, |(at, _)| at)
            }
        };
        for live in self.live.drain(..start) {
            for message in live.messages {
                self.messages[message].compacted_by = Some(id);
            }
        }
    }
}

/// A call as the archive's text has it.
fn call_line(tool: &str, arguments: &str, native: Option<&NativeRecord>) -> String {
    match native {
        Some(it) => format!("[{} {}]", it.tool, it.input),
        None => format!("[{tool} {arguments}]"),
    }
}

/// Adds a part of an answer on a line of its own.
fn add(text: &mut String, part: &str) {
    if !text.is_empty() && !text.ends_with('\n') && !part.is_empty() {
        text.push('\n');
    }
    text.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::record::Trigger;
    use protocol::session::TurnId;
    use protocol::tool::Outcome;

    pub(super) fn user(text: &str) -> Record {
        Record::User {
            turn: TurnId(0),
            text: text.into(),
            pictures: Vec::new(),
        }
    }
    pub(super) fn said(answer: u64, text: &str) -> Record {
        Record::Assistant {
            answer,
            text: text.into(),
            thought: String::new(),
            raw: None,
            cut: false,
        }
    }
    pub(super) fn call(answer: u64, call: u64) -> Record {
        Record::Call {
            answer,
            call: CallId(call),
            id: "x".into(),
            tool: "read_file".into(),
            arguments: format!("{{\"path\":\"{call}\"}}"),
            native: None,
        }
    }
    pub(super) fn result(call: u64) -> Record {
        Record::Result {
            call: CallId(call),
            outcome: Outcome::Success,
            text: format!("result {call}"),
            shown: None,
            title: None,
            duration_ms: None,
            exit_code: None,
            pictures: Vec::new(),
            fuzzy: false,
        }
    }
    fn compacted(id: u64, kept: Kept) -> Record {
        Record::Compacted {
            id,
            trigger: Trigger::Person,
            summary: "s".into(),
            kept,
        }
    }
    fn log() -> Vec<Record> {
        vec![
            user("one"),
            said(0, "I read."),
            call(0, 0),
            call(0, 1),
            result(1),
            result(0),
            said(1, "half"),
            Record::Void { answer: 1 },
            said(2, "whole"),
            user("two"),
            said(3, "done"),
        ]
    }

    fn shown(records: &[Record]) -> String {
        let lines = messages(records.iter()).into_iter().map(|it| {
            let tool = it.tool.map(|it| format!(" {it}")).unwrap_or_default();
            let by = it.compacted_by.map(|it| format!(" c{it}"));
            let void = if it.is_void { " void" } else { "" };
            let (role, text) = (it.role.name(), it.text.replace('\n', " / "));
            let by = by.unwrap_or_default();
            format!("{} {role}{tool}{by}{void}: {text}\n", it.number)
        });
        lines.collect()
    }

    #[test]
    fn prompts_answers_and_results_are_numbered_as_they_came() {
        assert_eq!(
            shown(&log()),
            r#"1 user: one
2 assistant: I read. / [read_file {"path":"0"}] / [read_file {"path":"1"}]
3 tool read_file: result 1
4 tool read_file: result 0
5 assistant void: half
6 assistant: whole
7 user: two
8 assistant: done
"#
        );
    }

    #[test]
    fn numbers_stay_whatever_is_appended() {
        let all = log();
        let whole = messages(all.iter());
        for end in 0..all.len() {
            for (before, after) in messages(all[..end].iter()).iter().zip(&whole) {
                assert_eq!((before.number, before.at), (after.number, after.at));
            }
        }
    }

    #[test]
    fn a_message_knows_the_summary_that_stands_for_it() {
        let by = |records: &[Record]| -> Vec<Option<u64>> {
            messages(records.iter())
                .iter()
                .map(|it| it.compacted_by)
                .collect()
        };
        let mut records = log();
        records.push(compacted(1, Kept::Prompts(1)));
        let c1 = Some(1);
        // A void answer is in no request, so no summary stands for it.
        assert_eq!(by(&records), [c1, c1, c1, c1, None, c1, None, None]);
        records.extend([user("three"), said(4, "x"), compacted(2, Kept::Answer(4))]);
        let c2 = Some(2);
        assert_eq!(by(&records)[6..], [c2, c2, c2, None]);
        // A prompt that was summarised before is not counted again.
        records.push(compacted(3, Kept::Prompts(1)));
        assert_eq!(by(&records)[6..], [c2, c2, c2, Some(3)]);
        records.extend([user("four"), compacted(4, Kept::Nothing)]);
        assert_eq!(by(&records)[10], Some(4));
    }

    #[test]
    fn a_result_goes_where_its_answer_went() {
        let records = [
            user("a"),
            call(0, 0),
            compacted(1, Kept::Nothing),
            result(0),
        ];
        let all = messages(records.iter());
        assert_eq!(all[2].compacted_by, Some(1));
        let all = [result(7)];
        assert_eq!(messages(all.iter()), []);
    }
}
