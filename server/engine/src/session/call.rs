//! One tool call: planned, judged, perhaps asked about, run, and given exactly one result.

use super::Session;
use super::effect::{CallChange, CallContent, CallStatus, Decision, Effect, Update};
use crate::context::{Held, MAX_PICTURES, Sight};
use crate::policy::{self, Verdict};
use crate::provider::{Image, ToolCall};
use protocol::acp::ToolKind;
use protocol::approval::{ApprovalOption, OptionId, Rule};
use protocol::record::Record;
use protocol::session::CallId;
use protocol::tool::{Access, Outcome};
use serde_json::Value;
use std::path::PathBuf;

/// What a call would do, once its arguments have been read. Nothing has happened yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// One line for the person, such as "Edit src/main.rs".
    pub title: String,
    pub kind: ToolKind,
    pub accesses: Vec<Access>,
    pub preview: Vec<Preview>,
    /// Hash of everything that the person is shown. An approval is good for this and nothing else.
    pub shown: String,
}

/// What the person is shown of a plan.
#[derive(Clone, Debug, PartialEq)]
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
}

/// What is put to the person.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub title: String,
    pub kind: ToolKind,
    pub accesses: Vec<Access>,
    pub preview: Vec<Preview>,
    pub options: Vec<ApprovalOption>,
    /// How often the call had been planned anew before this. With the call it names the question: an answer
    /// to an earlier one, which showed something else, is not an answer to this.
    pub round: u32,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
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

/// Why open calls are closed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    ByPerson,
    /// The provider failed; nobody wanted the calls to end.
    ByFault,
}

#[derive(Debug)]
pub(super) struct Call {
    call: ToolCall,
    arguments: Value,
    stage: Stage,
    /// The last plan's title.
    title: Option<String>,
    /// How often it was planned anew.
    rounds: u32,
    /// The hash that was allowed, by the policy or the person.
    allowed: Option<String>,
}

#[derive(Debug)]
enum Stage {
    Planning,
    /// The options are those that the person was offered; the mode may change meanwhile.
    Asking {
        plan: Planned,
        options: Vec<ApprovalOption>,
    },
    Running {
        shown: String,
    },
}

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
        self.insert(
            id,
            Call {
                call,
                arguments: shown,
                stage: Stage::Planning,
                title: None,
                rounds: 0,
                allowed: None,
            },
        );
        match parsed {
            Ok(arguments) if arguments.is_object() => {
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

    fn insert(&mut self, id: CallId, call: Call) {
        if let Some(turn) = &mut self.turn {
            turn.calls.insert(id, call);
        }
    }

    fn call_mut(&mut self, id: CallId) -> Option<&mut Call> {
        self.turn.as_mut()?.calls.get_mut(&id)
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
            ..
        }) = self.call_mut(id)
        else {
            return;
        };
        if let Ok(plan) = &plan {
            *title = Some(plan.title.clone());
        }
        let allowed = allowed.clone();
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
        match policy::decide(self.mode, &self.rules, &plan.accesses) {
            Verdict::Allow => self.run(id, plan.shown, out),
            // What was shown and allowed before is allowed again; anything else is asked about.
            Verdict::Ask if allowed.as_deref() == Some(plan.shown.as_str()) => {
                self.run(id, plan.shown, out);
            }
            Verdict::Ask => self.ask_person(id, plan, out),
            Verdict::Deny(reason) => {
                self.refuse(id, &reason, out);
                self.advance(out);
            }
        }
    }

    fn ask_person(&mut self, id: CallId, plan: Planned, out: &mut Vec<Effect>) {
        let options = self.options(&plan.accesses);
        let Some(call) = self.call_mut(id) else {
            return;
        };
        let question = Box::new(Question {
            title: plan.title.clone(),
            kind: plan.kind,
            accesses: plan.accesses.clone(),
            preview: plan.preview.clone(),
            options: options.clone(),
            round: call.rounds,
        });
        call.stage = Stage::Asking { plan, options };
        out.push(Effect::Show(status(id, CallStatus::Waiting)));
        out.push(Effect::AskPerson { call: id, question });
    }

    /// The answers that a person can give, each with the rule it would add.
    fn options(&self, accesses: &[Access]) -> Vec<ApprovalOption> {
        let mut options = vec![ApprovalOption {
            id: OptionId::Once,
            label: "Allow once".to_owned(),
            rule: None,
        }];
        if let Some(rule) = policy::session_rule(self.mode, &self.rules, accesses) {
            let label = session_label(&rule);
            options.push(ApprovalOption {
                id: OptionId::Session,
                label,
                rule: Some(rule),
            });
        }
        options.push(ApprovalOption {
            id: OptionId::No,
            label: "No".to_owned(),
            rule: None,
        });
        options
    }

    pub(super) fn decided(&mut self, id: CallId, decision: Decision, out: &mut Vec<Effect>) {
        let Some(Call {
            stage: Stage::Asking { plan, options },
            ..
        }) = self.call_mut(id)
        else {
            return;
        };
        let shown = plan.shown.clone();
        // An option that was not offered is a no.
        let (option, rule) = match options.iter().find(|it| it.id == decision.option) {
            Some(it) => (it.id, it.rule.clone()),
            None => (OptionId::No, None),
        };
        out.push(Effect::Append(Record::Decision {
            call: id,
            option,
            note: decision.note.clone(),
            rule: rule.clone(),
        }));
        if !option.allows() {
            let text = match decision.note.as_deref().map(str::trim) {
                Some(note) if !note.is_empty() => format!("Denied by the person: {note}"),
                Some(_) | None => {
                    "Denied by the person. Nothing was done; do not try it again unasked."
                        .to_owned()
                }
            };
            self.refuse(id, &text, out);
            return self.advance(out);
        }
        self.run(id, shown, out);
        if let Some(rule) = rule {
            self.rules.push(rule);
            self.rejudge(out);
        }
    }

    /// Judges open questions anew, after a new rule or another mode: what is allowed now runs, what is
    /// denied now is refused, and neither need be asked any more.
    pub(super) fn rejudge(&mut self, out: &mut Vec<Effect>) {
        let Some(turn) = &self.turn else { return };
        let judged: Vec<(CallId, String, Verdict)> = turn
            .calls
            .iter()
            .filter_map(|(id, call)| match &call.stage {
                Stage::Asking { plan, .. } => {
                    let verdict = policy::decide(self.mode, &self.rules, &plan.accesses);
                    Some((*id, plan.shown.clone(), verdict))
                }
                Stage::Planning | Stage::Running { .. } => None,
            })
            .collect();
        for (id, shown, verdict) in judged {
            match verdict {
                Verdict::Ask => {}
                Verdict::Allow => {
                    out.push(Effect::StopAsking(id));
                    self.run(id, shown, out);
                }
                Verdict::Deny(reason) => {
                    out.push(Effect::StopAsking(id));
                    self.refuse(id, &reason, out);
                }
            }
        }
        self.advance(out);
    }

    fn run(&mut self, id: CallId, shown: String, out: &mut Vec<Effect>) {
        let Some(call) = self.call_mut(id) else {
            return;
        };
        call.allowed = Some(shown.clone());
        call.stage = Stage::Running { shown };
        out.push(Effect::Show(status(id, CallStatus::Running)));
        out.push(Effect::RunCall(id));
    }

    pub(super) fn output(&mut self, id: CallId, text: String, out: &mut Vec<Effect>) {
        let Some(Call {
            stage: Stage::Running { .. },
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
        let Stage::Running { shown } = &call.stage else {
            return;
        };
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
                self.close(id, outcome, text, images, change, out);
                self.advance(out);
            }
            Finished::Moved if call.rounds < rounds => {
                call.rounds += 1;
                call.allowed = Some(shown.clone());
                call.stage = Stage::Planning;
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
                    "Not applied: the text kept changing while it was being edited ({tries} tries). \
                     Read the file again before you go on."
                );
                self.refuse(id, &text, out);
                self.advance(out);
            }
        }
    }

    /// Ends a call that did not run, with an error for the model.
    fn refuse(&mut self, id: CallId, text: &str, out: &mut Vec<Effect>) {
        let change = CallChange {
            status: Some(CallStatus::Done(Outcome::Error)),
            content: vec![CallContent::Text(text.to_owned())],
            ..CallChange::default()
        };
        self.close(id, Outcome::Error, text.to_owned(), Vec::new(), change, out);
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
                Stage::Asking { .. } => (Effect::StopAsking(id), false),
                Stage::Planning => (Effect::StopCall(id), false),
                // An edit that the editor has in hand, or half a command: nobody can say.
                Stage::Running { .. } => (Effect::StopCall(id), true),
            };
            out.push(stop);
            let (text, content) = match (why, ran) {
                // The person knows.
                (Stop::ByPerson, false) => (CANCELLED, Vec::new()),
                (Stop::ByPerson, true) => (CUT_OFF, Vec::new()),
                (Stop::ByFault, false) => (GIVEN_UP, vec![CallContent::Text(GIVEN_UP.to_owned())]),
                (Stop::ByFault, true) => {
                    (BROKEN_OFF, vec![CallContent::Text(BROKEN_OFF.to_owned())])
                }
            };
            let change = CallChange {
                status: Some(CallStatus::Done(Outcome::Cancelled)),
                content,
                ..CallChange::default()
            };
            self.close(
                id,
                Outcome::Cancelled,
                text.to_owned(),
                Vec::new(),
                change,
                out,
            );
        }
    }

    fn close(
        &mut self,
        id: CallId,
        outcome: Outcome,
        text: String,
        images: Vec<Image>,
        change: CallChange,
        out: &mut Vec<Effect>,
    ) {
        let Some(call) = self.turn.as_mut().and_then(|it| it.calls.remove(&id)) else {
            return;
        };
        let shown = match change.content.as_slice() {
            [CallContent::Text(shown), ..] if *shown != text => Some(shown.clone()),
            _ => None,
        };
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
        let held = images.into_iter().map(|it| Held {
            picture: it.picture,
            sight: Sight::Seen(it.data),
        });
        self.remember_result(id, text, held.collect(), outcome);
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

/// What "for this session" would allow, in words: it can be more than the one thing that is shown.
fn session_label(rule: &Rule) -> String {
    match rule {
        Rule::Run { .. } => "Allow this command for this session".to_owned(),
        Rule::EditProject => "Allow all edits in the project for this session".to_owned(),
        Rule::ExternalFolder { writes: false, .. } => {
            "Allow reading in this folder for this session".to_owned()
        }
        Rule::ExternalFolder { writes: true, .. } => {
            "Allow reading and edits in this folder for this session".to_owned()
        }
    }
}

fn status(id: CallId, status: CallStatus) -> Update {
    Update::CallChanged(
        id,
        CallChange {
            status: Some(status),
            ..CallChange::default()
        },
    )
}
