//! The numbers of a session's messages, counted on the way through its log: a part of it can be shown without the whole in memory.
//!
//! They are counted from 1: each prompt, each answer with its calls, each result. Nothing that comes later changes them.

use protocol::record::Record;
use protocol::session::CallId;
use std::collections::HashSet;

/// What of a record its message's number depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Prompt,
    /// A part of this answer.
    Answer(u64),
    /// A call of this answer.
    Call(u64, CallId),
    Result(CallId),
    /// The answer that this names does not count.
    Void,
    /// It belongs to no message.
    Other,
}

impl Mark {
    pub fn of(record: &Record) -> Self {
        match record {
            Record::User { .. } => Self::Prompt,
            Record::Assistant { answer, .. } => Self::Answer(*answer),
            Record::Call { answer, call, .. } => Self::Call(*answer, *call),
            Record::Result { call, .. } => Self::Result(*call),
            Record::Void { .. } => Self::Void,
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
            | Record::Compacted { .. }
            | Record::Checklist { .. }
            | Record::Goal { .. }
            | Record::Style { .. }
            | Record::Mode { .. }
            | Record::Model { .. }
            | Record::Reasoning { .. }
            | Record::Usage { .. }
            | Record::Carried(_)
            | Record::Ended { .. } => Self::Other,
        }
    }

    /// Of a line of the log, by its fields `type`, `answer` and `call`.
    pub fn of_fields(kind: &str, answer: Option<u64>, call: Option<u64>) -> Self {
        match (kind, answer, call) {
            ("user", ..) => Self::Prompt,
            ("assistant", Some(answer), _) => Self::Answer(answer),
            ("call", Some(answer), Some(call)) => Self::Call(answer, CallId(call)),
            ("result", _, Some(call)) => Self::Result(CallId(call)),
            ("void", ..) => Self::Void,
            (..) => Self::Other,
        }
    }
}

/// Counts on.
#[derive(Debug, Default)]
pub struct Numbers {
    /// Messages so far.
    count: u64,
    /// The answer whose parts still come.
    answer: Option<u64>,
    /// Calls without a result.
    open: HashSet<CallId>,
}

impl Numbers {
    /// The next record; true: a message begins with it.
    pub fn take(&mut self, mark: Mark) -> bool {
        let begins = match mark {
            Mark::Prompt => {
                self.answer = None;
                true
            }
            Mark::Answer(number) => self.answer.replace(number) != Some(number),
            Mark::Call(number, call) => {
                self.open.insert(call);
                self.answer.replace(number) != Some(number)
            }
            Mark::Result(call) => self.open.remove(&call),
            Mark::Void => {
                self.answer = None;
                false
            }
            Mark::Other => false,
        };
        self.count += u64::from(begins);
        begins
    }

    /// Messages so far, which is the number of the last one.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_an_answer_with_its_calls_and_each_result_count_one() {
        let mut numbers = Numbers::default();
        let marks = [
            (Mark::Other, 0),
            (Mark::Prompt, 1),
            (Mark::Answer(0), 2),
            (Mark::Call(0, CallId(0)), 2),
            (Mark::Call(0, CallId(1)), 2),
            (Mark::Result(CallId(1)), 3),
            (Mark::Result(CallId(0)), 4),
            (Mark::Result(CallId(9)), 4),
            (Mark::Answer(1), 5),
            (Mark::Void, 5),
            (Mark::Answer(2), 6),
        ];
        for (at, (mark, count)) in marks.into_iter().enumerate() {
            numbers.take(mark);
            assert_eq!(numbers.count(), count, "{at}");
        }
    }
}
