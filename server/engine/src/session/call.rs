//! One tool call: planned, judged, perhaps asked about, run, and given exactly one result.

use super::Session;
use super::classifier::{self, Judgement};
use super::effect::{CallChange, CallContent, CallStatus, Classified, Decision, Effect, Update};
use super::replay::Origin;
use super::unsaved::{self, NotSaved};
use crate::context::{Held, MAX_PICTURES, Sight};
use crate::policy::{self, Gate, Hold, Verdict};
use crate::provider::{Image, ToolCall};
use protocol::acp::ToolKind;
use protocol::approval::{ApprovalOption, OptionId, Rule};
use protocol::record::Record;
use protocol::session::CallId;
use protocol::session::Mode;
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
    /// Names of documents with edits that only the editor has, which a command would not see. They are no part of
    /// the hash: an approval is as good once they are saved.
    pub unsaved: Vec<String>,
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
    /// Why the person is asked, where the mode alone does not say it.
    pub reason: Option<String>,
    /// What the command would not see, and what became of saving it.
    pub note: Option<String>,
    /// How often the call had been planned anew, or saving had failed, before this. With the call it names the question: an answer
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
    /// The reviewer of mode `auto` looks at it.
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
                origin: Origin::Model,
                title: None,
                rounds: 0,
                not_saved: Vec::new(),
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

    pub(super) fn insert(&mut self, id: CallId, call: Call) {
        if let Some(turn) = &mut self.turn {
            turn.calls.insert(id, call);
        }
    }

    fn call(&self, id: CallId) -> Option<&Call> {
        self.turn.as_ref()?.calls.get(&id)
    }

    pub(super) fn call_mut(&mut self, id: CallId) -> Option<&mut Call> {
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

    /// What the policy says of a call now.
    pub(super) fn judge(&self, mode: Mode, tool: &str, accesses: &[Access]) -> Verdict {
        let remembered = self.all_remembered();
        self.gate(mode, &remembered).decide(tool, accesses)
    }

    fn all_remembered(&self) -> Vec<Rule> {
        let all = self.rules.iter().chain(&self.settings.standing);
        all.cloned().collect()
    }

    fn gate<'a>(&'a self, mode: Mode, remembered: &'a [Rule]) -> Gate<'a> {
        Gate {
            mode,
            safety: &self.settings.safety,
            remembered,
            can_hold: self.settings.can_hold,
        }
    }

    /// Puts a call to the reviewer, unless it is too long for them or speaks to them.
    fn ask_classifier(&mut self, id: CallId, plan: Planned, out: &mut Vec<Effect>) {
        let Some(call) = self.call(id) else { return };
        let (tool, arguments) = (&call.call.name, &call.arguments);
        if let Some(reason) = classifier::not_for_reviewer(tool, arguments, &plan) {
            return self.escalate(id, plan, reason, out);
        }
        // The answer that asks for the call is still coming, or stands last in the history.
        let said = match &self.turn {
            Some(turn) if !turn.text.is_empty() => turn.text.as_str(),
            Some(_) | None => classifier::last_said(&self.history),
        };
        let request = classifier::request(
            &self.settings.model,
            &self.history,
            said,
            tool,
            arguments,
            &plan,
        );
        if let Some(call) = self.call_mut(id) {
            call.stage = Stage::Classifying { plan };
        }
        let request = Box::new(request);
        out.push(Effect::AskClassifier { call: id, request });
    }

    pub(super) fn classified(
        &mut self,
        id: CallId,
        review: Result<Classified, String>,
        out: &mut Vec<Effect>,
    ) {
        let Some(Call {
            stage: Stage::Classifying { plan },
            ..
        }) = self.call_mut(id)
        else {
            return;
        };
        let plan = plan.clone();
        let review = match review {
            Ok(said) => classifier::read(&said.text, &said.thought),
            Err(why) => Judgement::Escalate(format!("The classifier could not be asked: {why}")),
        };
        match review {
            Judgement::Allow => {
                out.push(Effect::Append(Record::Classified {
                    call: id,
                    allowed: true,
                    reason: None,
                }));
                self.run(id, plan.shown, Hold::AsConfigured, out);
            }
            Judgement::Escalate(reason) => self.escalate(id, plan, reason, out),
        }
    }

    /// The reviewer has not allowed a call: the person decides, if they can.
    fn escalate(&mut self, id: CallId, plan: Planned, reason: String, out: &mut Vec<Effect>) {
        out.push(Effect::Append(Record::Classified {
            call: id,
            allowed: false,
            reason: Some(reason.clone()),
        }));
        self.ask_somebody(id, plan, Some(reason), out);
    }

    fn ask_somebody(
        &mut self,
        id: CallId,
        plan: Planned,
        reason: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        match self.settings.attended {
            true => self.ask_person(id, plan, reason, out),
            false => self.set_aside(id, plan, reason, out),
        }
    }

    fn ask_person(
        &mut self,
        id: CallId,
        plan: Planned,
        reason: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        let tool = self.call(id).map(|it| it.call.name.clone());
        let mut options = self.options(&tool.unwrap_or_default(), &plan.accesses);
        if !plan.unsaved.is_empty() {
            unsaved::offer(&mut options);
        }
        let Some(call) = self.call_mut(id) else {
            return;
        };
        let n_not_saved = u32::try_from(call.not_saved.len()).unwrap_or(u32::MAX);
        let question = Box::new(Question {
            title: plan.title.clone(),
            kind: plan.kind,
            accesses: plan.accesses.clone(),
            preview: plan.preview.clone(),
            options: options.clone(),
            reason: reason.clone(),
            note: unsaved::note(call.not_saved.last().map(String::as_str), &plan.unsaved),
            round: call.rounds.saturating_add(n_not_saved),
        });
        call.stage = Stage::Asking {
            plan,
            options,
            reason,
        };
        out.push(Effect::Show(status(id, CallStatus::Waiting)));
        out.push(Effect::AskPerson { call: id, question });
    }

    /// Nobody can be asked: stores the call if it can be made later, and refuses it otherwise.
    fn set_aside(
        &mut self,
        id: CallId,
        plan: Planned,
        reason: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        if !policy::is_replayable(&plan.accesses) {
            let why = reason.map(|it| format!(" ({it})")).unwrap_or_default();
            let text = format!(
                "Not done: \"{}\" needs the person's approval{why}, nobody can be asked in this run, and it is of no \
                 use later. Go on without it, or say what you would need.",
                plan.title
            );
            self.refuse(id, &text, out);
            return self.advance(out);
        }
        let Some(call) = self.call_mut(id) else {
            return;
        };
        call.stage = Stage::Queueing;
        let action = Box::new(Action {
            tool: call.call.name.clone(),
            arguments: call.arguments.clone(),
            plan,
        });
        out.push(Effect::Show(status(id, CallStatus::Waiting)));
        out.push(Effect::QueueApproval { call: id, action });
    }

    pub(super) fn queued(
        &mut self,
        id: CallId,
        stored: Result<String, String>,
        out: &mut Vec<Effect>,
    ) {
        let Some(Call {
            stage: Stage::Queueing,
            ..
        }) = self.call_mut(id)
        else {
            return;
        };
        let text = match stored {
            Ok(approval) => format!(
                "Approval required ({approval}): nothing was done. Nobody can be asked in this run, so the action is \
                 kept; the person runs it later with `undine approve {approval}`. Do not try it another way; go on \
                 with what does not need it, and say at the end what waits."
            ),
            Err(why) => format!(
                "Not done: it needs the person's approval, nobody can be asked in this run, and {why}"
            ),
        };
        self.refuse(id, &text, out);
        self.advance(out);
    }

    /// The answers that a person can give, each with the rule it would add.
    fn options(&self, tool: &str, accesses: &[Access]) -> Vec<ApprovalOption> {
        let mut options = vec![ApprovalOption {
            id: OptionId::Once,
            label: "Allow once".to_owned(),
            rule: None,
        }];
        let remembered = self.all_remembered();
        if let Some(rule) = self.gate(self.mode, &remembered).rule_for(tool, accesses) {
            let what = label(&rule);
            options.push(ApprovalOption {
                id: OptionId::Session,
                label: format!("Allow {what} for this session"),
                rule: Some(rule.clone()),
            });
            options.push(ApprovalOption {
                id: OptionId::Always,
                label: format!("Always allow {what}"),
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
            stage:
                Stage::Asking {
                    plan,
                    options,
                    reason,
                },
            ..
        }) = self.call_mut(id)
        else {
            return;
        };
        let (plan, reason) = (plan.clone(), reason.clone());
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
        if option == OptionId::Save {
            return self.save_first(id, plan, reason, out);
        }
        self.run(id, plan.shown, Hold::AsConfigured, out);
        if let Some(rule) = rule {
            match option {
                // Not the session's own: what is taken out of the person's file ends here too.
                OptionId::Always => {
                    self.settings.standing.push(rule.clone());
                    out.push(Effect::KeepRule(rule));
                }
                OptionId::Session | OptionId::Once | OptionId::Save | OptionId::No => {
                    self.rules.push(rule)
                }
            }
            self.rejudge(out);
        }
    }

    fn save_first(
        &mut self,
        id: CallId,
        plan: Planned,
        reason: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        if let Some(call) = self.call_mut(id) {
            call.stage = Stage::Saving { plan, reason };
            out.push(Effect::SaveFirst(id));
        }
    }

    /// The call runs when all is saved; else the question is put again.
    pub(super) fn saved(&mut self, id: CallId, end: Result<(), NotSaved>, out: &mut Vec<Effect>) {
        let Some(call) = self.call(id) else {
            return;
        };
        let Stage::Saving { plan, reason } = &call.stage else {
            return;
        };
        let (mut plan, reason) = (plan.clone(), reason.clone());
        let tool = call.call.name.clone();
        // The mode may be another than when the person said yes.
        let hold = match self.judge(self.mode, &tool, &plan.accesses) {
            Verdict::Allow(hold) => hold,
            Verdict::Ask(_) | Verdict::Classify => Hold::AsConfigured,
            Verdict::Deny(why) => {
                self.refuse(id, &why, out);
                return self.advance(out);
            }
        };
        match end {
            Ok(()) => {
                // In the place of what was waited for.
                let content = plan.preview.into_iter().map(CallContent::Preview);
                let change = CallChange {
                    content: content.collect(),
                    ..CallChange::default()
                };
                out.push(Effect::Show(Update::CallChanged(id, change)));
                self.run(id, plan.shown, hold, out);
            }
            Err(NotSaved { why, left }) => {
                if let Some(call) = self.call_mut(id) {
                    call.not_saved.push(why);
                }
                plan.unsaved = left;
                self.ask_somebody(id, plan, reason, out);
            }
        }
    }

    /// Judges open questions anew, after a new rule or another mode: what is allowed now runs, what is
    /// denied now is refused, and neither need be asked any more.
    pub(super) fn rejudge(&mut self, out: &mut Vec<Effect>) {
        let Some(turn) = &self.turn else { return };
        let judged: Vec<(CallId, Effect, Planned, Verdict)> = turn
            .calls
            .iter()
            .filter_map(|(id, call)| {
                let (stop, plan) = match &call.stage {
                    // Whatever else is allowed by now, the person wants it saved first.
                    Stage::Saving { plan, .. } => (Effect::StopCall(*id), plan),
                    Stage::Asking { plan, .. } => (Effect::StopAsking(*id), plan),
                    Stage::Classifying { plan } => (Effect::StopClassifier(*id), plan),
                    Stage::Planning | Stage::Queueing | Stage::Running => return None,
                };
                let verdict = self.judge(self.mode, &call.call.name, &plan.accesses);
                Some((*id, stop, plan.clone(), verdict))
            })
            .collect();
        for (id, stop, plan, verdict) in judged {
            match verdict {
                Verdict::Allow(_) | Verdict::Ask(_) if matches!(stop, Effect::StopCall(_)) => {}
                Verdict::Allow(hold) => {
                    out.push(stop);
                    self.run(id, plan.shown, hold, out);
                }
                Verdict::Deny(reason) => {
                    out.push(stop);
                    self.refuse(id, &reason, out);
                }
                // The person need not wait for the reviewer any more, nor answer what the reviewer may.
                Verdict::Ask(reason) if matches!(stop, Effect::StopClassifier(_)) => {
                    out.push(stop);
                    self.ask_somebody(id, plan, reason, out);
                }
                Verdict::Ask(_) | Verdict::Classify => {}
            }
        }
        self.advance(out);
    }

    fn run(&mut self, id: CallId, shown: String, hold: Hold, out: &mut Vec<Effect>) {
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
        let change = CallChange {
            status: Some(CallStatus::Done(Outcome::Error)),
            content: vec![CallContent::Text(text.to_owned())],
            ..CallChange::default()
        };
        let closed = Closed {
            id,
            outcome: Outcome::Error,
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
        let held = images.into_iter().map(|it| Held {
            picture: it.picture,
            sight: Sight::Seen(it.data),
        });
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

/// What a remembered answer would allow, in words: it can be more than the one thing that is shown.
fn label(rule: &Rule) -> &'static str {
    match rule {
        Rule::Run { .. } => "this command",
        Rule::EditProject => "all edits in the project",
        Rule::ExternalFolder { writes: false, .. } => "reading in this folder",
        Rule::ExternalFolder { writes: true, .. } => "reading and edits in this folder",
    }
}

pub(super) fn status(id: CallId, status: CallStatus) -> Update {
    Update::CallChanged(
        id,
        CallChange {
            status: Some(status),
            ..CallChange::default()
        },
    )
}
