//! An action that was stored while nobody could be asked, and that the person approves later (spec 3.7).
//!
//! It runs as a call of its own, in a turn without a model: planned on the files of today, judged by today's mode,
//! and run only if it would do what the person was shown. What it did is told to the model by the next request.

use super::call::{Call, Closed, Planned, Ran, Stage};
use super::effect::{Effect, Update};
use super::{Session, Untold};
use crate::provider::ToolCall;
use protocol::record::Record;
use protocol::session::{CallId, Mode};
use protocol::tool::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A stored action that the person approves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// Its id in the queue.
    pub approval: String,
    pub tool: String,
    pub arguments: Value,
    pub title: String,
    /// The hash of what the person was shown.
    pub shown: String,
    /// The mode of today's configuration. The stricter one of it and the session's counts.
    pub mode: Mode,
    /// Its effect was found to be there: it ran before, and the server died before it could say so.
    pub is_done: bool,
}

/// What became of an approved action.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayEnd {
    /// It ran, now or before.
    Ran { outcome: Outcome, text: String },
    /// Nothing was done, and why.
    Refused(String),
    /// Nothing was done: it would do something else by now than what was shown. This is what.
    Changed { call: CallId, plan: Box<Planned> },
}

/// Who wants a call.
#[derive(Debug)]
pub(super) enum Origin {
    Model,
    Replay(Approved),
}

#[derive(Clone, Debug)]
pub(super) struct Approved {
    id: String,
    mode: Mode,
    /// What it would do now, if that was not shown.
    changed: Option<Box<Planned>>,
}

impl Origin {
    /// For an approved action, the mode of today's configuration.
    pub(super) fn mode(&self) -> Option<Mode> {
        match self {
            Self::Model => None,
            Self::Replay(approved) => Some(approved.mode),
        }
    }
}

/// What the person and the model hear of an action whose effect was there already.
const DONE_BEFORE: &str =
    "It had been done before: the server stopped before it could be noted. Nothing was done now.";

impl Session {
    /// Whether the session's log says that an approved action ran.
    pub fn has_replayed(&self, approval: &str) -> bool {
        self.replayed.contains_key(approval)
    }

    pub(super) fn replay(&mut self, replay: Replay, out: &mut Vec<Effect>) {
        let approval = replay.approval.clone();
        let end = match self.replayed.get(&approval) {
            Some(outcome) => ReplayEnd::Ran {
                outcome: *outcome,
                text: DONE_BEFORE.to_owned(),
            },
            None if self.turn.is_some() => ReplayEnd::Refused(
                "The session is in the middle of a turn; approve when that has ended.".to_owned(),
            ),
            None if replay.is_done => self.record_done(replay, out),
            None => return self.open_replay(replay, out),
        };
        out.push(Effect::EndReplay { approval, end });
    }

    fn open_replay(&mut self, replay: Replay, out: &mut Vec<Effect>) {
        self.open_turn();
        let call = self.next_call();
        let Replay {
            approval,
            tool,
            arguments,
            title,
            shown,
            mode,
            is_done: _,
        } = replay;
        let asked = ToolCall {
            id: approval.clone(),
            name: tool.clone(),
            arguments: arguments.to_string(),
            native: None,
        };
        let approved = Approved {
            id: approval,
            mode,
            changed: None,
        };
        self.insert(
            call,
            Call {
                call: asked,
                arguments: arguments.clone(),
                rewritten: None,
                stage: Stage::Planning,
                origin: Origin::Replay(approved),
                title: Some(title),
                rounds: 0,
                not_saved: Vec::new(),
                allowed: Some(super::call::Allowed {
                    shown,
                    hold: crate::policy::Hold::AsConfigured,
                }),
            },
        );
        out.push(Effect::Show(Update::Call {
            call,
            tool: tool.clone(),
            arguments: arguments.clone(),
        }));
        out.push(Effect::PlanCall {
            call,
            tool,
            arguments,
        });
    }

    fn record_done(&mut self, replay: Replay, out: &mut Vec<Effect>) -> ReplayEnd {
        let (outcome, text) = (Outcome::Success, DONE_BEFORE.to_owned());
        self.remember_replay(&replay.approval, &replay.title, outcome, &text);
        let record = Record::Replayed {
            approval: replay.approval,
            turn: self.next_turn(),
            call: self.next_call(),
            tool: replay.tool,
            arguments: replay.arguments,
            outcome,
            text: text.clone(),
            shown: None,
            title: replay.title,
            duration_ms: None,
            exit_code: None,
        };
        out.push(Effect::Append(record));
        ReplayEnd::Ran { outcome, text }
    }

    /// The plan is another than the one that was shown.
    pub(super) fn replay_changed(&mut self, id: CallId, plan: Planned, out: &mut Vec<Effect>) {
        if let Some(Call {
            origin: Origin::Replay(approved),
            ..
        }) = self.call_mut(id)
        {
            approved.changed = Some(Box::new(plan));
        }
        self.refuse(
            id,
            "Not done: it would do something else by now than what was shown.",
            out,
        );
        self.advance(out);
    }

    pub(super) fn close_replay(
        &mut self,
        approved: &Approved,
        call: Call,
        closed: Closed,
        out: &mut Vec<Effect>,
    ) {
        let shown = closed.shown();
        let Closed {
            id,
            outcome,
            text,
            // What is kept for later reads nothing.
            images: _,
            change,
            ran,
        } = closed;
        let end = match (&approved.changed, ran) {
            (Some(plan), _) => ReplayEnd::Changed {
                call: id,
                plan: plan.clone(),
            },
            (None, Ran::No) => ReplayEnd::Refused(text.clone()),
            (None, Ran::Yes) => ReplayEnd::Ran {
                outcome,
                text: text.clone(),
            },
        };
        if ran == Ran::Yes
            && let Some(turn) = self.turn()
        {
            let title = call.title.unwrap_or_default();
            self.remember_replay(&approved.id, &title, outcome, &text);
            out.push(Effect::Append(Record::Replayed {
                approval: approved.id.clone(),
                turn,
                call: id,
                tool: call.call.name,
                arguments: call.arguments,
                outcome,
                text,
                shown,
                title,
                duration_ms: change.duration_ms,
                exit_code: change.exit_code,
            }));
        }
        out.push(Effect::Show(Update::CallChanged(id, change)));
        out.push(Effect::EndReplay {
            approval: approved.id.clone(),
            end,
        });
    }

    /// Tells the model, when it is asked next, what an approved action did.
    pub(super) fn remember_replay(
        &mut self,
        approval: &str,
        title: &str,
        outcome: Outcome,
        text: &str,
    ) {
        let how = match outcome {
            Outcome::Success => "it was done",
            Outcome::Error => "it was tried and ended with an error",
            Outcome::Cancelled => "it was begun and cancelled",
        };
        self.replayed.insert(approval.to_owned(), outcome);
        self.untold.push(Untold {
            answer: self.next.answer,
            text: format!("[The person has approved {approval}, \"{title}\", and {how}:]\n{text}"),
        });
    }
}
