//! Whether a planned call runs: what the policy says, and where that is not the last word, the classifier or the person.
//!
//! Each way ends in a run, a refusal, or a question that stays open; a new rule or another mode judges what is open
//! anew.

use super::Session;
use super::call::{Action, Call, Planned, Question, Stage, status};
use super::classifier::{self, Judgement};
use super::effect::{CallStatus, Decision, Effect, SideAnswer};
use super::role::{self, Role};
use super::unsaved;
use crate::policy::{self, Gate, Hold, Verdict};
use protocol::approval::{ApprovalOption, OptionId, Rule};
use protocol::record::{Purpose, Record};
use protocol::session::{CallId, Mode};
use protocol::tool::Access;

impl Session {
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

    /// Puts a call to the classifier, unless it is too long for them or speaks to them.
    pub(super) fn ask_classifier(&mut self, id: CallId, plan: Planned, out: &mut Vec<Effect>) {
        let Some(call) = self.call(id) else { return };
        let tool = &call.call.name;
        let arguments = call.rewritten.as_ref().unwrap_or(&call.arguments);
        if let Some(reason) = classifier::not_for_classifier(tool, arguments, &plan) {
            return self.escalate(id, plan, reason, out);
        }
        // The answer that asks for the call is still coming, or stands last in the history.
        let said = match &self.turn {
            Some(turn) if !turn.text.is_empty() => turn.text.as_str(),
            Some(_) | None => classifier::last_said(&self.history),
        };
        let (wishes, said) = (
            role::wishes(&self.settings.role, &self.history),
            role::said(&self.settings.role, &self.history, said),
        );
        let request = classifier::request(
            &self.settings.model,
            self.settings.reasoning,
            wishes,
            &said,
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
        review: Result<SideAnswer, String>,
        out: &mut Vec<Effect>,
    ) {
        // It was paid for, whether somebody still waits for it or not.
        if let Ok(SideAnswer {
            model,
            usage: Some(usage),
            ..
        }) = &review
        {
            self.used(model, Purpose::Classifier, *usage, out);
        }
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

    /// The classifier has not allowed a call: the person decides, if they can.
    fn escalate(&mut self, id: CallId, plan: Planned, reason: String, out: &mut Vec<Effect>) {
        out.push(Effect::Append(Record::Classified {
            call: id,
            allowed: false,
            reason: Some(reason.clone()),
        }));
        self.ask_somebody(id, plan, Some(reason), out);
    }

    pub(super) fn ask_somebody(
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
        let is_for_later = match self.settings.role {
            Role::Person => policy::is_replayable(&plan.accesses),
            // It will be gone by then (spec 9.11).
            Role::Agent { .. } => false,
        };
        if !is_for_later {
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
                // The person need not wait for the classifier any more, nor answer what the classifier may.
                Verdict::Ask(reason) if matches!(stop, Effect::StopClassifier(_)) => {
                    out.push(stop);
                    self.ask_somebody(id, plan, reason, out);
                }
                Verdict::Ask(_) | Verdict::Classify => {}
            }
        }
        self.advance(out);
    }
}

/// What a remembered answer would allow, in words: it can be more than the one thing that is shown.
fn label(rule: &Rule) -> &'static str {
    match rule {
        Rule::Run { .. } => "this command",
        Rule::EditProject => "all edits in the project",
        Rule::ExternalFolder { writes: false, .. } => "reading in this folder",
        Rule::ExternalFolder { writes: true, .. } => "reading and edits in this folder",
    }
}
