//! What a person sees of a subagent's work while they wait for it: which tools run, whether it thinks or replies, how many
//! tokens it took. Never its words (spec 9.10).

use crate::provider::Usage;
use crate::session::{CallStatus, Retrying, Update};
use crate::text::visible_line;
use protocol::session::CallId;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The most characters of a call.
const MAX_CALL: usize = 100;
/// The most calls that are shown at once.
const MAX_CALLS: usize = 5;

#[derive(Debug, Default)]
pub struct Progress {
    doing: Doing,
    /// Calls that are open.
    calls: BTreeMap<CallId, Call>,
    n_ended: u64,
    n_tokens: u64,
}

#[derive(Debug)]
struct Call {
    title: String,
    waits: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doing {
    #[default]
    Begins,
    Thinks,
    Replies,
    Calls,
    /// The model failed and is asked again.
    Retries,
}

impl Progress {
    /// Takes in what would be shown of a session of the person's; true if there is something new to show.
    pub fn take(&mut self, update: &Update) -> bool {
        let before = self.doing;
        match update {
            Update::Text(_) => self.doing = Doing::Replies,
            Update::Thought(_) => self.doing = Doing::Thinks,
            Update::Call { call, tool, .. } => {
                self.doing = Doing::Calls;
                let title = visible_line(tool, MAX_CALL);
                self.calls.insert(
                    *call,
                    Call {
                        title,
                        waits: false,
                    },
                );
                return true;
            }
            Update::CallChanged(call, change) => {
                let is_over = matches!(change.status, Some(CallStatus::Done(_)));
                if is_over {
                    self.n_ended += u64::from(self.calls.remove(call).is_some());
                    return true;
                }
                let Some(it) = self.calls.get_mut(call) else {
                    return false;
                };
                if let Some(title) = &change.title {
                    it.title = visible_line(title, MAX_CALL);
                }
                if let Some(status) = change.status {
                    it.waits = status == CallStatus::Waiting;
                }
                return change.title.is_some() || change.status.is_some();
            }
            Update::Retrying(Some(Retrying { .. })) => self.doing = Doing::Retries,
            Update::Retrying(None)
            | Update::User(_)
            | Update::UserPicture(_)
            | Update::Mode(_)
            | Update::Checklist(_)
            | Update::Notice(_)
            | Update::Usage(_) => return false,
        }
        self.doing != before
    }

    /// Takes in what an answer took.
    pub fn used(&mut self, tokens: &Usage) {
        let Usage {
            input,
            cached,
            cache_write,
            output,
            reasoning,
        } = tokens;
        self.n_tokens += input + cached + cache_write + output + reasoning;
    }

    /// As it is shown now.
    pub fn text(&self, label: &str) -> String {
        let calls = match self.n_ended {
            0 => String::new(),
            1 => ", 1 call".to_owned(),
            n => format!(", {n} calls"),
        };
        let mut text = format!("{label}{calls}, {} tokens", self.n_tokens);
        for call in self.calls.values().take(MAX_CALLS) {
            let mark = if call.waits {
                " (waits for an answer)"
            } else {
                ""
            };
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}{mark}", call.title);
        }
        if self.calls.is_empty() {
            text.push_str(match self.doing {
                Doing::Begins | Doing::Calls => "",
                Doing::Thinks => "\nthinking",
                Doing::Replies => "\nreplying",
                Doing::Retries => "\nthe model is asked again",
            });
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::CallChange;
    use protocol::tool::Outcome;

    #[test]
    fn it_says_what_is_done_and_nothing_that_was_said() {
        let mut progress = Progress::default();
        assert_eq!(progress.text("x"), "x, 0 tokens");
        assert!(progress.take(&Update::Thought("secret".into())));
        assert!(!progress.take(&Update::Thought("more".into())));
        assert_eq!(progress.text("x"), "x, 0 tokens\nthinking");
        let call = CallId(0);
        let begins = Update::Call {
            call,
            tool: "read_file".into(),
            arguments: serde_json::json!({"path": "secret"}),
        };
        assert!(progress.take(&begins));
        let changed = |change: CallChange| Update::CallChanged(call, change);
        assert!(progress.take(&changed(CallChange {
            title: Some("Read a.rs".into()),
            status: Some(CallStatus::Waiting),
            ..CallChange::default()
        })));
        progress.used(&Usage {
            input: 40,
            output: 2,
            ..Usage::default()
        });
        assert_eq!(
            progress.text("x"),
            "x, 42 tokens\nRead a.rs (waits for an answer)"
        );
        assert!(progress.take(&changed(CallChange {
            status: Some(CallStatus::Done(Outcome::Success)),
            ..CallChange::default()
        })));
        assert!(progress.take(&Update::Text("secret".into())));
        assert_eq!(progress.text("x"), "x, 1 call, 42 tokens\nreplying");
    }
}
