//! One tool call: planned, run if it may (`approving.rs`), and given exactly one result.

use super::Session;
use super::effect::{CallChange, CallContent, CallStatus, Effect, Update};
use super::replay::Origin;
use crate::context::{Held, MAX_PICTURES};
use crate::policy::{Hold, Verdict};
use crate::provider::{Image, ToolCall, native};
use crate::text::visible_line;
use protocol::acp::ToolKind;
use protocol::approval::ApprovalOption;
use protocol::record::Record;
use protocol::session::CallId;
use protocol::session::Mode;
use protocol::tool::{Access, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// What a call would do, once its arguments have been read. Nothing has happened yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// One line for the person, such as "Edit src/main.rs".
    pub title: String,
    pub kind: ToolKind,
    pub accesses: Vec<Access>,
    pub preview: Vec<Preview>,
    /// Hash of everything that the person is shown. An approval is good for this and nothing else.
    pub shown: String,
    /// Names of documents with edits that only the editor has, which a command would not see. They are no part of
    /// the hash: an approval is as good once they are saved.
    pub unsaved: Vec<String>,
}

/// What the person is shown of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Preview {
    /// A file before (`None`: it is new) and after.
    Diff {
        path: PathBuf,
        old: Option<String>,
        new: String,
    },
    /// A file that is too large to be shown whole: the changed places as text, perhaps not all of them; the
    /// text says so then.
    Hunks {
        path: PathBuf,
        text: String,
    },
    Command {
        line: String,
        cwd: PathBuf,
    },
    /// Words that are sent to a model or to another machine, whole.
    Text(String),
}

/// What is put to the person.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub title: String,
    pub kind: ToolKind,
    pub accesses: Vec<Access>,
    pub preview: Vec<Preview>,
    pub options: Vec<ApprovalOption>,
    /// Why the person is asked, where the mode alone does not say it.
    pub reason: Option<String>,
    /// What the command would not see, and what became of saving it.
    pub note: Option<String>,
    /// How often the call had been planned anew, or saving had failed, before this. With the call it names the question: an answer
    /// to an earlier one, which showed something else, is not an answer to this.
    pub round: u32,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Finished {
    Done {
        outcome: Outcome,
        /// For the model.
        text: String,
        /// For the person, if that is another text.
        shown: Option<String>,
        duration_ms: u64,
        exit_code: Option<i32>,
        /// For the model and the person.
        images: Vec<Image>,
        /// A change was made at a place that is not written quite as the model wrote it (spec 1.3).
        fuzzy: bool,
    },
    /// What the plan was made on has changed since; nothing was done.
    Moved,
}

/// What is stored of a call until the person approves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    pub tool: String,
    pub arguments: Value,
    pub plan: Planned,
}

/// Whether a call that is closed had begun to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    Yes,
    No,
}

/// Why open calls are closed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    ByPerson,
    /// The provider failed; nobody wanted the calls to end.
    ByFault,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) call: ToolCall,
    pub(super) arguments: Value,
    /// What a hook made of them, for the plan at hand.
    pub(super) rewritten: Option<Value>,
    pub(super) stage: Stage,
    pub(super) origin: Origin,
    /// The last plan's title.
    pub(super) title: Option<String>,
    /// How often it was planned anew.
    pub(super) rounds: u32,
    /// Why documents were not saved before it, each time that this was tried.
    pub(super) not_saved: Vec<String>,
    /// What was allowed, by the policy or the person.
    pub(super) allowed: Option<Allowed>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Allowed {
    /// The plan's hash.
    pub(super) shown: String,
    /// What it was allowed under. What ran unasked because it was held is not allowed without that.
    pub(super) hold: Hold,
}

#[derive(Debug)]
pub(super) enum Stage {
    Planning,
    /// The classifier of mode `auto` looks at it.
    Classifying {
        plan: Planned,
    },
    /// The options are those that the person was offered; the mode may change meanwhile.
    Asking {
        plan: Planned,
        options: Vec<ApprovalOption>,
        reason: Option<String>,
    },
    /// The person has said yes; documents are being saved first. The reason is that of the question.
    Saving {
        plan: Planned,
        reason: Option<String>,
    },
    /// It is being stored, because nobody can be asked.
    Queueing,
    Running,
}

/// The most characters of a tool's name, which a model may have made up.
const MOST_NAME: usize = 64;

impl Session {
    pub(super) fn open_call(&mut self, id: CallId, call: ToolCall, out: &mut Vec<Effect>) {
        let parsed = match call.arguments.trim() {
            "" => Ok(Value::Object(serde_json::Map::new())),
            text => serde_json::from_str::<Value>(text),
        };
        let shown = parsed.as_ref().cloned().unwrap_or(Value::Null);
        out.push(Effect::Show(Update::Call {
            call: id,
            tool: call.name.clone(),
            arguments: shown.clone(),
        }));
        let tool = call.name.clone();
        let answer = native::answer(&call);
        self.insert(
            id,
            Call {
                call,
                arguments: shown,
                rewritten: None,
                stage: Stage::Planning,
                origin: Origin::Model,
                title: None,
                rounds: 0,
                not_saved: Vec::new(),
                allowed: None,
            },
        );
        if let Some(native::Answer { text, is_error }) = answer {
            let outcome = match is_error {
                true => Outcome::Error,
                false => Outcome::Success,
            };
            return self.settle(id, outcome, &text, out);
        }
        match parsed {
            Ok(arguments) if arguments.is_object() => {
                if let Some(answered) = self.own_tool(&tool, &arguments, out) {
                    if let Some(call) = self.call_mut(id) {
                        call.title = Some(answered.title.clone());
                    }
                    let title = CallChange {
                        title: Some(answered.title),
                        ..CallChange::default()
                    };
                    out.push(Effect::Show(Update::CallChanged(id, title)));
                    return self.settle(id, answered.outcome, &answered.text, out);
                }
                out.push(Effect::PlanCall {
                    call: id,
                    tool,
                    arguments,
                });
            }
            Ok(_) => self.refuse(
                id,
                "The arguments are not a JSON object; send the call again with an object.",
                out,
            ),
            Err(error) => {
                let text = format!(
                    "The arguments are not valid JSON ({error}); nothing was done. Send the call again."
                );
                self.refuse(id, &text, out);
            }
        }
    }

    pub(super) fn insert(&mut self, id: CallId, call: Call) {
        if let Some(turn) = &mut self.turn {
            turn.calls.insert(id, call);
        }
    }

    pub(super) fn call(&self, id: CallId) -> Option<&Call> {
        self.turn.as_ref()?.calls.get(&id)
    }

    pub(super) fn call_mut(&mut self, id: CallId) -> Option<&mut Call> {
        self.turn.as_mut()?.calls.get_mut(&id)
    }

    /// The person sees that it is not what the model asked for, and the model hears of it.
    pub(super) fn rewritten(&mut self, id: CallId, arguments: Value, out: &mut Vec<Effect>) {
        let Some(call) = self.call_mut(id) else {
            return;
        };
        if !matches!(call.stage, Stage::Planning) || call.arguments == arguments {
            return;
        }
        let tool = visible_line(&call.call.name, MOST_NAME);
        let text = format!("A hook changed the arguments of {tool}, which are now: {arguments}");
        call.rewritten = Some(arguments);
        out.push(Effect::Show(Update::Notice(text.clone())));
        self.tell_next(format!("[{text}]"), out);
    }

    pub(super) fn planned(
        &mut self,
        id: CallId,
        plan: Result<Planned, String>,
        out: &mut Vec<Effect>,
    ) {
        let Some(Call {
            stage: Stage::Planning,
            allowed,
            title,
            origin,
            call,
            ..
        }) = self.call_mut(id)
        else {
            return;
        };
        if let Ok(plan) = &plan {
            *title = Some(plan.title.clone());
        }
        let (allowed, today, tool) = (allowed.clone(), origin.mode(), call.name.clone());
        let plan = match plan {
            Ok(plan) => plan,
            Err(text) => {
                self.refuse(id, &text, out);
                return self.advance(out);
            }
        };
        out.push(Effect::Show(Update::CallChanged(
            id,
            CallChange {
                title: Some(plan.title.clone()),
                kind: Some(plan.kind),
                content: plan
                    .preview
                    .iter()
                    .cloned()
                    .map(CallContent::Preview)
                    .collect(),
                ..CallChange::default()
            },
        )));
        let mode = today.map_or(self.mode, |it: Mode| it.min(self.mode));
        match self.judge(mode, &tool, &plan.accesses) {
            Verdict::Deny(reason) => {
                self.refuse(id, &reason, out);
                self.advance(out);
            }
            // What was shown and allowed before is allowed again; anything else is asked about.
            Verdict::Classify | Verdict::Ask(_) if was_allowed(&allowed, &plan) => {
                self.run(id, plan.shown, Hold::AsConfigured, out);
            }
            Verdict::Allow(hold) if was_allowed(&allowed, &plan) => {
                self.run(id, plan.shown, hold, out);
            }
            // Who approves sees whatever is another change than the one that was stored, in every mode.
            Verdict::Allow(_) | Verdict::Classify | Verdict::Ask(_) if today.is_some() => {
                self.replay_changed(id, plan, out);
            }
            Verdict::Allow(hold) => self.run(id, plan.shown, hold, out),
            Verdict::Classify => self.ask_classifier(id, plan, out),
            Verdict::Ask(reason) => self.ask_somebody(id, plan, reason, out),
        }
    }

    pub(super) fn run(&mut self, id: CallId, shown: String, hold: Hold, out: &mut Vec<Effect>) {
        let Some(call) = self.call_mut(id) else {
            return;
        };
        call.allowed = Some(Allowed { shown, hold });
        call.stage = Stage::Running;
        out.push(Effect::Show(status(id, CallStatus::Running)));
        out.push(Effect::RunCall { call: id, hold });
    }

    pub(super) fn output(&mut self, id: CallId, text: String, out: &mut Vec<Effect>) {
        let Some(Call {
            stage: Stage::Running | Stage::Saving { .. },
            ..
        }) = self.call_mut(id)
        else {
            return;
        };
        let content = vec![CallContent::Text(text)];
        let change = CallChange {
            content,
            ..CallChange::default()
        };
        out.push(Effect::Show(Update::CallChanged(id, change)));
    }

    pub(super) fn finished(&mut self, id: CallId, finished: Finished, out: &mut Vec<Effect>) {
        let rounds = self.settings.edit_rounds;
        let Some(call) = self.call_mut(id) else {
            return;
        };
        if !matches!(call.stage, Stage::Running) {
            return;
        }
        match finished {
            Finished::Done {
                outcome,
                text,
                shown,
                duration_ms,
                exit_code,
                images,
                fuzzy,
            } => {
                let shown = shown.unwrap_or_else(|| text.clone());
                // The person is shown no more of them than the model is.
                let seen = &images[images.len().saturating_sub(MAX_PICTURES)..];
                let mut content = vec![CallContent::Text(shown)];
                content.extend(seen.iter().cloned().map(CallContent::Image));
                let change = CallChange {
                    status: Some(CallStatus::Done(outcome)),
                    content,
                    duration_ms: Some(duration_ms),
                    exit_code,
                    images: images.len(),
                    fuzzy,
                    ..CallChange::default()
                };
                let closed = Closed {
                    id,
                    outcome,
                    text,
                    images,
                    change,
                    ran: Ran::Yes,
                };
                self.close(closed, out);
                self.advance(out);
            }
            Finished::Moved if call.rounds < rounds => {
                call.rounds += 1;
                call.stage = Stage::Planning;
                call.rewritten = None;
                let (tool, arguments) = (call.call.name.clone(), call.arguments.clone());
                out.push(Effect::PlanCall {
                    call: id,
                    tool,
                    arguments,
                });
            }
            Finished::Moved => {
                let tries = rounds.saturating_add(1);
                let text = format!(
                    "Not applied: in {tries} tries the text was another than planned each time, or the editor left the edit undone. \
                     Read the file again before you go on."
                );
                self.refuse(id, &text, out);
                self.advance(out);
            }
        }
    }

    /// Ends a call that did not run, with an error for the model.
    pub(super) fn refuse(&mut self, id: CallId, text: &str, out: &mut Vec<Effect>) {
        self.settle(id, Outcome::Error, text, out);
    }

    /// Ends a call that did not run.
    fn settle(&mut self, id: CallId, outcome: Outcome, text: &str, out: &mut Vec<Effect>) {
        let change = CallChange {
            status: Some(CallStatus::Done(outcome)),
            content: vec![CallContent::Text(text.to_owned())],
            ..CallChange::default()
        };
        let closed = Closed {
            id,
            outcome,
            text: text.to_owned(),
            images: Vec::new(),
            change,
            ran: Ran::No,
        };
        self.close(closed, out);
    }

    /// Closes all open calls as cancelled, and stops what they were doing.
    pub(super) fn close_calls(&mut self, why: Stop, out: &mut Vec<Effect>) {
        let Some(turn) = &self.turn else { return };
        let open: Vec<CallId> = turn.calls.keys().copied().collect();
        for id in open {
            let Some(call) = self.call_mut(id) else {
                continue;
            };
            let (stop, ran) = match call.stage {
                Stage::Asking { .. } => (Effect::StopAsking(id), Ran::No),
                Stage::Classifying { .. } => (Effect::StopClassifier(id), Ran::No),
                Stage::Planning | Stage::Queueing | Stage::Saving { .. } => {
                    (Effect::StopCall(id), Ran::No)
                }
                // An edit that the editor has in hand, or half a command: nobody can say.
                Stage::Running => (Effect::StopCall(id), Ran::Yes),
            };
            out.push(stop);
            let (text, content) = match (why, ran) {
                // The person knows.
                (Stop::ByPerson, Ran::No) => (CANCELLED, Vec::new()),
                (Stop::ByPerson, Ran::Yes) => (CUT_OFF, Vec::new()),
                (Stop::ByFault, Ran::No) => {
                    (GIVEN_UP, vec![CallContent::Text(GIVEN_UP.to_owned())])
                }
                (Stop::ByFault, Ran::Yes) => {
                    (BROKEN_OFF, vec![CallContent::Text(BROKEN_OFF.to_owned())])
                }
            };
            let change = CallChange {
                status: Some(CallStatus::Done(Outcome::Cancelled)),
                content,
                ..CallChange::default()
            };
            let closed = Closed {
                id,
                outcome: Outcome::Cancelled,
                text: text.to_owned(),
                images: Vec::new(),
                change,
                ran,
            };
            self.close(closed, out);
        }
    }

    fn close(&mut self, closed: Closed, out: &mut Vec<Effect>) {
        let id = closed.id;
        let Some(call) = self.turn.as_mut().and_then(|it| it.calls.remove(&id)) else {
            return;
        };
        if let Origin::Replay(approved) = &call.origin {
            let approved = approved.clone();
            return self.close_replay(&approved, call, closed, out);
        }
        if closed.change.duration_ms.is_some() {
            self.note_evidence(id, call.title.as_deref(), closed.outcome);
        }
        let shown = closed.shown();
        let Closed {
            id,
            outcome,
            text,
            images,
            change,
            ran: _,
        } = closed;
        out.push(Effect::Append(Record::Result {
            call: id,
            outcome,
            text: text.clone(),
            shown,
            title: call.title,
            duration_ms: change.duration_ms,
            exit_code: change.exit_code,
            pictures: images.iter().map(|it| it.picture.clone()).collect(),
            fuzzy: change.fuzzy,
        }));
        out.push(Effect::Show(Update::CallChanged(id, change)));
        let held = images.into_iter().map(Held::seen);
        self.remember_result(id, text, held.collect(), outcome);
    }
}

/// Whether this very plan was allowed, and without more hold than the person has configured.
fn was_allowed(allowed: &Option<Allowed>, plan: &Planned) -> bool {
    let same = |it: &Allowed| it.shown == plan.shown && it.hold == Hold::AsConfigured;
    allowed.as_ref().is_some_and(same)
}

/// How a call ended.
pub(super) struct Closed {
    pub id: CallId,
    pub outcome: Outcome,
    /// For the model.
    pub text: String,
    pub images: Vec<Image>,
    pub change: CallChange,
    pub ran: Ran,
}

impl Closed {
    /// What the person sees of it, if that is another text.
    pub fn shown(&self) -> Option<String> {
        match self.change.content.as_slice() {
            [CallContent::Text(shown), ..] if *shown != self.text => Some(shown.clone()),
            _ => None,
        }
    }
}

/// What the model is told of a call that was cancelled before it ran.
pub(super) const CANCELLED: &str = "Cancelled by the person before it ran; nothing was done.";
/// What the model is told of a call that was cancelled while it ran.
pub(super) const CUT_OFF: &str = "Cancelled by the person while it ran, so it may be done in part. Look at the present state before you go on.";
/// What the model is told of a call that had not run when its answer broke off.
const GIVEN_UP: &str = "Not run, because the answer that asked for it broke off; nothing was done.";
/// What the model is told of a call that ran when its answer broke off.
const BROKEN_OFF: &str = "Stopped while it ran, because the answer that asked for it broke off, so it may be done in part. Look at the present state before you go on.";

pub(super) fn status(id: CallId, status: CallStatus) -> Update {
    Update::CallChanged(
        id,
        CallChange {
            status: Some(status),
            ..CallChange::default()
        },
    )
}
