//! Records back into a session, and into what an editor shows.

use super::call::CANCELLED;
use super::effect::{CallChange, CallContent, CallStatus, Effect, Update};
use super::{Session, Settings};
use crate::context::{Asked, Entry};
use crate::provider::{ToolCall, ToolResult};
use protocol::record::{EndReason, Record};
use protocol::session::{CallId, Mode, TurnId};
use protocol::tool::Outcome;
use std::collections::BTreeMap;

/// What the model is told of a call that the server's death cut off.
const INTERRUPTED: &str =
    "Unknown: the server stopped while this ran. Look at the present state before you go on.";

impl Session {
    /// Folds a session's records. What its last owner left open is closed by the effects, so that
    /// the next request to the model is valid.
    pub fn resume(records: &[Record], settings: Settings) -> (Self, Vec<Effect>) {
        let mut session = Self::empty(Mode::default(), settings);
        let mut open: BTreeMap<CallId, (usize, usize)> = BTreeMap::new();
        let mut turn: Option<TurnId> = None;
        for record in records {
            match record {
                Record::Started { mode, .. } | Record::Mode { mode } => session.mode = *mode,
                Record::User { turn: id, text } => {
                    turn = Some(*id);
                    session.next.turn = session.next.turn.max(id.0 + 1);
                    session.history.push(Entry::User(text.clone()));
                }
                Record::Assistant {
                    answer,
                    text,
                    thought,
                    ..
                } => {
                    let at = session.answer_entry(*answer);
                    if let Some(Entry::Answer {
                        text: said,
                        thought: thoughts,
                        ..
                    }) = session.history.get_mut(at)
                    {
                        said.push_str(text);
                        thoughts.push_str(thought);
                    }
                }
                Record::Call {
                    answer,
                    call,
                    id,
                    tool,
                    arguments,
                } => {
                    session.next.call = session.next.call.max(call.0 + 1);
                    let at = session.answer_entry(*answer);
                    if let Some(Entry::Answer { calls, .. }) = session.history.get_mut(at) {
                        open.insert(*call, (at, calls.len()));
                        calls.push(Asked {
                            id: *call,
                            call: ToolCall {
                                id: id.clone(),
                                name: tool.clone(),
                                arguments: arguments.clone(),
                            },
                            result: None,
                        });
                    }
                }
                Record::Decision { rule, .. } => session.rules.extend(rule.clone()),
                Record::Result {
                    call,
                    outcome,
                    text,
                    ..
                } => {
                    if let Some(place) = open.remove(call) {
                        session.set_result(place, text.clone(), *outcome);
                    }
                }
                Record::Ended { .. } => turn = None,
            }
        }
        let mut effects = Vec::new();
        for (call, place) in open {
            session.set_result(place, INTERRUPTED.to_owned(), Outcome::Cancelled);
            effects.push(Effect::Append(Record::Result {
                call,
                outcome: Outcome::Cancelled,
                text: INTERRUPTED.to_owned(),
                duration_ms: None,
            }));
        }
        if let Some(turn) = turn {
            let reason = EndReason::Failed {
                message: "the server stopped".to_owned(),
            };
            effects.push(Effect::Append(Record::Ended { turn, reason }));
        }
        (session, effects)
    }

    /// The history's entry for an answer, made if it is new.
    fn answer_entry(&mut self, number: u64) -> usize {
        self.next.answer = self.next.answer.max(number + 1);
        let last = self.history.len().checked_sub(1);
        if let Some(at) = last
            && matches!(&self.history[at], Entry::Answer { number: it, .. } if *it == number)
        {
            return at;
        }
        self.history.push(Entry::Answer {
            number,
            text: String::new(),
            thought: String::new(),
            calls: Vec::new(),
        });
        self.history.len() - 1
    }

    fn set_result(&mut self, (at, index): (usize, usize), text: String, outcome: Outcome) {
        if let Some(Entry::Answer { calls, .. }) = self.history.get_mut(at)
            && let Some(asked) = calls.get_mut(index)
        {
            let id = asked.call.id.clone();
            asked.result = Some(ToolResult {
                id,
                text,
                is_error: outcome != Outcome::Success,
            });
        }
    }
}

/// What an editor shows of a session that it loads.
pub fn replay(records: &[Record]) -> Vec<Update> {
    let mut updates = Vec::new();
    for record in records {
        match record {
            Record::User { text, .. } => updates.push(Update::User(text.clone())),
            Record::Assistant { text, thought, .. } => {
                if !thought.is_empty() {
                    updates.push(Update::Thought(thought.clone()));
                }
                if !text.is_empty() {
                    updates.push(Update::Text(text.clone()));
                }
            }
            Record::Call {
                call,
                tool,
                arguments,
                ..
            } => updates.push(Update::Call {
                call: *call,
                tool: tool.clone(),
                arguments: serde_json::from_str(arguments).unwrap_or_default(),
            }),
            Record::Result {
                call,
                outcome,
                text,
                duration_ms,
            } => {
                let shown = if text == CANCELLED {
                    Vec::new()
                } else {
                    vec![CallContent::Text(text.clone())]
                };
                updates.push(Update::CallChanged(
                    *call,
                    CallChange {
                        status: Some(CallStatus::Done(*outcome)),
                        content: shown,
                        duration_ms: *duration_ms,
                        ..CallChange::default()
                    },
                ));
            }
            Record::Started { .. }
            | Record::Decision { .. }
            | Record::Mode { .. }
            | Record::Ended { .. } => {}
        }
    }
    updates
}
