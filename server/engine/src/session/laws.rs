//! The laws of `step`, held against random input.
//!
//! A driver keeps its own small picture of the world: what it was asked to do and what it answered.
//! Inputs are drawn from what is due and, often, from what makes no sense. After each step the
//! effects are checked against the picture. Break the code once and one of these goes red.

use super::*;
use crate::checklist::Edit;
use crate::policy::{self, Gate, Hold, Verdict};
use crate::provider::{
    Feature, Learned, Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Refusal,
    StopReason, ToolCall, Usage,
};
use crate::rounds::rounds;
use fastrand::Rng;
use protocol::acp::ToolKind;
use protocol::approval::OptionId;
use protocol::config::{Compaction, Reasoning, Safety};
use protocol::record::Stands;
use protocol::session::{PromptId, SideId};
use protocol::tool::{Access, Outcome, Place, Reading, Risk};
use std::collections::{HashMap, HashSet};

pub(crate) fn settings() -> Settings {
    Settings {
        provider: "p".into(),
        model: "m".into(),
        reasoning: Some(Reasoning::Max),
        natives: Vec::new(),
        learned: Learned::default(),
        window: None,
        compaction: Compaction::default(),
        compacts_itself: false,
        cache_key: String::new(),
        system: System::default(),
        tools: Vec::new(),
        max_tokens: None,
        temperature: None,
        queued_prompts: 3,
        edit_rounds: 2,
        turn_answers: 6,
        continuations: 2,
        goal_turns: 2,
        guidance: true,
        retries: Retries {
            most: 2,
            first_ms: 500,
            longest_ms: 60_000,
            spread: 0,
        },
        attended: true,
        safety: Safety::default(),
        standing: Vec::new(),
        can_hold: false,
        role: Role::Person,
    }
}

#[derive(Default)]
struct World {
    records: Vec<Record>,
    stream: Option<StreamId>,
    timer: Option<TimerId>,
    /// The summary that is awaited, and how many were since the model was asked.
    side: Option<SideId>,
    n_sides: u32,
    /// The person is shown that the model is asked again.
    retrying: bool,
    /// What the model may be asked without asking for the next answer: the refusals that this answer met.
    n_asked: u32,
    /// The request at hand, and what is known not to be taken.
    request: Option<ModelRequest>,
    /// What the host keeps.
    learned: Learned,
    /// Calls by what is due next.
    planning: HashSet<CallId>,
    asking: HashMap<CallId, Planned>,
    saving: HashSet<CallId>,
    queueing: HashSet<CallId>,
    classifying: HashSet<CallId>,
    can_hold: bool,
    /// Calls of approved actions, with what was shown and the mode of the day.
    replays: HashMap<CallId, (String, Mode)>,
    replays_due: HashSet<String>,
    /// Approvals whose action was recorded.
    replayed: HashSet<String>,
    attended: bool,
    running: HashMap<CallId, Planned>,
    last_plan: HashMap<CallId, Planned>,
    /// Calls whose last plan was allowed by a decision or the policy, by hash.
    allowed: HashMap<CallId, String>,
    recorded: HashSet<CallId>,
    results: HashSet<CallId>,
    /// Calls that got their result in the step at hand.
    just_ended: Vec<CallId>,
    sent: HashSet<PromptId>,
    answered: HashSet<PromptId>,
    turns: u64,
    /// How many questions were asked beside the conversation.
    sides: u64,
    /// Questions beside the conversation that have no answer.
    asked_sides: HashSet<SideId>,
    /// The session's own rules as the records tell them, and those that were given for always.
    rules: Vec<Rule>,
    standing: Vec<Rule>,
}

impl World {
    /// Checks one step's effects. `before` is the input that caused them.
    fn take(&mut self, mode: Mode, input: &Input, effects: &[Effect]) {
        if let Input::Planned(call, Ok(plan)) = input
            && self.planning.remove(call)
        {
            self.last_plan.insert(*call, plan.clone());
        }
        if let Input::Replay(it) = input {
            assert!(self.replays_due.insert(it.approval.clone()));
        }
        let mut ended = false;
        for effect in effects {
            match effect {
                Effect::Append(record) => self.append(record, &mut ended),
                Effect::WakeAfter { timer, ms } => {
                    assert_eq!(self.stream, None, "it waits while the model answers");
                    assert_eq!(self.timer.replace(*timer), None, "two waits");
                    assert!(*ms <= 60_000, "a wait without end");
                    assert_eq!(self.recorded, self.results, "it waits with an open call");
                }
                Effect::StopTimer(timer) => {
                    assert_eq!(self.timer.take(), Some(*timer), "nobody waits for it");
                }
                Effect::AskSide {
                    side,
                    about,
                    request,
                } => {
                    assert_eq!(side.0, self.sides, "a number that was taken");
                    self.sides += 1;
                    self.asked_sides.insert(*side);
                    if *about != Aside::Summary {
                        continue;
                    }
                    assert_eq!(self.stream, None, "it summarises while the model answers");
                    assert_eq!(self.timer, None, "it summarises during a wait");
                    assert_eq!(
                        self.recorded, self.results,
                        "it summarises while a call is at work"
                    );
                    assert_eq!(self.side.replace(*side), None, "two summaries at once");
                    assert!(!ended, "a summary after the turn's end");
                    valid(request);
                    self.n_sides += 1;
                    assert!(self.n_sides <= 12, "it is summarised without end");
                }
                Effect::StopSide(side) => {
                    assert!(self.asked_sides.remove(side), "nobody was asked that");
                    self.side.take_if(|it| it == side);
                }
                Effect::AnswerAside { .. } => {}
                Effect::Learned(learned) => {
                    assert_ne!(*learned, Learned::default());
                    let begins = !matches!(
                        input,
                        Input::Model(
                            _,
                            ModelEvent::Failed(_) | ModelEvent::Usage(_) | ModelEvent::Raw(_)
                        )
                    );
                    assert!(begins, "learned although the model has not answered");
                    let known = &self.request.as_ref().unwrap().learned;
                    assert!(
                        learned.beyond(known) == Learned::default(),
                        "learned what was sent"
                    );
                    assert_eq!(learned.beyond(&self.learned), *learned, "learned twice");
                    self.learned.extend(learned);
                }
                Effect::Show(Update::Retrying(retrying)) => {
                    assert!(!ended, "an update after the turn's end");
                    self.retrying = retrying.is_some();
                }
                Effect::Show(_) => {
                    assert!(
                        !ended
                            || matches!(
                                input,
                                Input::SetMode(_) | Input::Command { .. } | Input::EditChecklist(_)
                            ),
                        "an update after the turn's end"
                    );
                }
                Effect::AskModel { stream, request } => {
                    assert_eq!(self.stream, None, "a second live stream");
                    assert_eq!(
                        self.recorded, self.results,
                        "the model was asked while a call had no result"
                    );
                    assert_eq!(self.timer, None, "the model was asked during a wait");
                    assert_eq!(
                        self.side, None,
                        "the model was asked before the summary came"
                    );
                    self.n_sides = 0;
                    self.stream = Some(*stream);
                    ended = false;
                    valid(request);
                    self.request = Some(*request.clone());
                    self.n_asked += 1;
                    // Two waits, four refusals, one refused signature, ten overflows.
                    assert!(
                        self.n_asked <= 1 + 2 + 4 + 1 + 10,
                        "one answer was asked for without end"
                    );
                }
                Effect::StopModel(stream) => {
                    assert_eq!(
                        self.stream.take(),
                        Some(*stream),
                        "a stream was stopped that is not live"
                    );
                }
                Effect::PlanCall { call, .. } => {
                    if let Input::Replay(it) = input {
                        let of_replay = (it.shown.clone(), it.mode);
                        assert!(self.replays.insert(*call, of_replay).is_none());
                        assert!(!it.is_done && !self.replayed.contains(&it.approval));
                    }
                    assert!(
                        self.recorded.contains(call) || self.replays.contains_key(call),
                        "a call was planned before it was recorded"
                    );
                    assert!(!self.results.contains(call));
                    self.running.remove(call);
                    assert!(self.planning.insert(*call));
                }
                Effect::AskPerson { call, question } => {
                    assert!(self.attended, "nobody was there to be asked");
                    assert!(!self.replays.contains_key(call));
                    let plan = self.last_plan[call].clone();
                    assert_eq!(question.accesses, plan.accesses);
                    assert!(self.asking.insert(*call, plan).is_none(), "asked twice");
                }
                Effect::QueueApproval { call, action } => {
                    assert!(
                        !self.attended,
                        "an action was stored although somebody could be asked"
                    );
                    assert!(!self.replays.contains_key(call));
                    assert_eq!(action.plan, self.last_plan[call]);
                    let accesses = &action.plan.accesses;
                    assert!(policy::is_replayable(accesses));
                    let verdict = self.decide(mode, accesses);
                    assert!(
                        matches!(verdict, Verdict::Ask(_) | Verdict::Classify),
                        "only what is asked about is stored"
                    );
                    assert!(self.queueing.insert(*call), "stored twice");
                }
                Effect::EndReplay { approval, end } => {
                    assert!(
                        self.replays_due.remove(approval),
                        "an approval has two ends"
                    );
                    let ran = matches!(end, ReplayEnd::Ran { .. });
                    assert_eq!(
                        ran,
                        self.replayed.contains(approval),
                        "told other than recorded"
                    );
                }
                Effect::SaveFirst(call) => {
                    let said = matches!(input, Input::Decided(it, decision) if it == call && decision.option == OptionId::Save);
                    assert!(said && self.asking.remove(call).is_some());
                    assert!(!self.last_plan[call].unsaved.is_empty());
                    assert!(self.saving.insert(*call), "saved twice at once");
                }
                Effect::StopAsking(call) => {
                    assert!(
                        self.asking.remove(call).is_some(),
                        "a question was withdrawn that was not open"
                    );
                }
                Effect::RunCall { call, hold } => self.run(*call, *hold, mode, input),
                Effect::AskClassifier { call, request } => {
                    let accesses = &self.last_plan[call].accesses;
                    let verdict = self.decide(mode, accesses);
                    assert_eq!(verdict, Verdict::Classify, "nothing else is reviewed");
                    assert!(!self.replays.contains_key(call));
                    assert!(self.classifying.insert(*call), "reviewed twice at once");
                    valid(request);
                }
                Effect::StopClassifier(call) => {
                    assert!(self.classifying.remove(call), "nobody reviewed it");
                }
                Effect::KeepRule(rule) => {
                    let said =
                        matches!(input, Input::Decided(_, it) if it.option == OptionId::Always);
                    assert!(said, "nobody said always");
                    self.standing.push(rule.clone());
                }
                Effect::StopCall(call) => {
                    let known = self.planning.remove(call)
                        | self.running.remove(call).is_some()
                        | self.queueing.remove(call)
                        | self.saving.remove(call);
                    assert!(known, "a call was stopped that was not at work");
                }
                Effect::Answer { prompts, .. } => {
                    ended = true;
                    for prompt in prompts {
                        assert!(self.sent.contains(prompt), "an unknown prompt was answered");
                        assert!(self.answered.insert(*prompt), "a prompt was answered twice");
                    }
                }
            }
        }
    }

    fn append(&mut self, record: &Record, ended: &mut bool) {
        match record {
            Record::Call { call, .. } => {
                assert!(self.recorded.insert(*call), "a call was recorded twice")
            }
            Record::Result { call, .. } => {
                assert!(self.recorded.contains(call));
                assert!(self.results.insert(*call), "a call has two results");
                self.just_ended.push(*call);
            }
            Record::Ended { .. } => {
                assert_eq!(
                    self.recorded, self.results,
                    "a turn ended with an open call"
                );
                assert_eq!(self.timer, None, "a turn ended and waits");
                assert_eq!(self.side, None, "a turn ended before its summary came");
                assert!(!self.retrying, "a turn ended and seems to wait");
                self.turns += 1;
                self.n_asked = 0;
                self.n_sides = 0;
                *ended = true;
            }
            Record::Replayed { approval, call, .. } => {
                assert!(!self.recorded.contains(call));
                assert!(
                    self.replayed.insert(approval.clone()),
                    "an approved action was recorded twice"
                );
                self.just_ended.push(*call);
            }
            Record::Decision { option, rule, .. } if *option != OptionId::Always => {
                self.rules.extend(rule.clone());
            }
            Record::Remembered { rule } => self.rules.extend(rule.clone()),
            Record::Forgot { rule } => self.rules.retain(|it| it != rule),
            Record::User { .. } => *ended = false,
            Record::Started { .. }
            | Record::Forked { .. }
            | Record::Title { .. }
            | Record::Compacted { .. }
            | Record::Checklist { .. }
            | Record::Goal { .. }
            | Record::Style { .. }
            | Record::Assistant { .. }
            | Record::Void { .. }
            | Record::Unsigned { .. }
            | Record::Decision { .. }
            | Record::Command { .. }
            | Record::Told { .. }
            | Record::Classified { .. }
            | Record::Edit { .. }
            | Record::Mode { .. }
            | Record::Model { .. }
            | Record::Reasoning { .. }
            | Record::Usage { .. } => {}
            Record::Carried(_) => panic!("a log never carries"),
        }
        self.records.push(record.clone());
    }

    fn decide(&self, mode: Mode, accesses: &[Access]) -> Verdict {
        let all: Vec<Rule> = self.rules.iter().chain(&self.standing).cloned().collect();
        let gate = Gate {
            mode,
            safety: &Safety::default(),
            remembered: &all,
            can_hold: self.can_hold,
        };
        gate.decide("t", accesses)
    }

    /// `RunCall` follows only a plan that the policy allows, a review or a decision that allows it.
    fn run(&mut self, call: CallId, hold: Hold, mode: Mode, input: &Input) {
        let plan = self.last_plan[&call].clone();
        let decided = match input {
            Input::Decided(it, decision) if *it == call => {
                assert!(self.asking.remove(&call).is_some());
                decision.option.allows() && decision.option != OptionId::Save
            }
            Input::Saved(it, Ok(())) if *it == call => {
                let verdict = self.decide(mode, &plan.accesses);
                let is_held = matches!(verdict, Verdict::Allow(now) if now != hold);
                assert!(!is_held, "a stricter mode does not hold it");
                self.saving.remove(&call)
            }
            _ => false,
        };
        if let Some((shown, today)) = self.replays.get(&call) {
            assert_eq!(
                *shown, plan.shown,
                "an approval was good for something else"
            );
            let verdict = self.decide(mode.min(*today), &plan.accesses);
            assert!(
                !matches!(verdict, Verdict::Deny(_)),
                "an approval weakened a denial"
            );
            self.allowed.insert(call, plan.shown.clone());
        }
        let today = self.replays.get(&call).map_or(mode, |it| it.1);
        let verdict = self.decide(mode.min(today), &plan.accesses);
        assert!(
            !matches!(verdict, Verdict::Deny(_)),
            "a denial was weakened"
        );
        let by_policy = verdict == Verdict::Allow(hold);
        let again = self.allowed.get(&call) == Some(&plan.shown);
        let reviewed = match input {
            Input::Classified(it, Ok(said)) if *it == call => {
                assert!(self.classifying.remove(&call));
                said.text == "ALLOW" || (said.text.is_empty() && said.thought == "ALLOW")
            }
            _ => false,
        };
        assert!(
            decided || by_policy || again || reviewed,
            "a call ran that nobody allowed"
        );
        assert!(!self.results.contains(&call));
        if let Verdict::Allow(most) = verdict {
            assert_eq!(hold, most, "a read ran as more than that");
        }
        if hold == Hold::AsConfigured {
            self.allowed.insert(call, plan.shown.clone());
        }
        self.asking.remove(&call);
        assert!(
            self.running.insert(call, plan).is_none(),
            "a call ran twice at once"
        );
    }

    fn settle(&mut self, input: &Input, effects: &[Effect]) {
        match input {
            Input::Decided(call, _) => drop(self.asking.remove(call)),
            Input::Finished(call, Finished::Done { .. }) => drop(self.running.remove(call)),
            Input::Finished(call, Finished::Moved) => {
                // Planned anew or refused, either way it does not run any more.
                self.running.remove(call);
            }
            Input::Planned(call, _) => drop(self.planning.remove(call)),
            Input::Queued(call, _) => drop(self.queueing.remove(call)),
            Input::Saved(call, _) => drop(self.saving.remove(call)),
            Input::Classified(call, _) => drop(self.classifying.remove(call)),
            Input::Side(side, _) => drop(self.asked_sides.remove(side)),
            Input::Model(stream, ModelEvent::Ended(_) | ModelEvent::Failed(_))
                if self.stream == Some(*stream)
                    && !effects
                        .iter()
                        .any(|it| matches!(it, Effect::AskModel { .. })) =>
            {
                self.stream = None;
            }
            Input::Prompt { .. }
            | Input::Cancel
            | Input::CancelPrompt(_)
            | Input::SetMode(_)
            | Input::Command { .. }
            | Input::Tell(_)
            | Input::EditChecklist(_)
            | Input::Spent { .. }
            | Input::Rewritten(..)
            | Input::Reasoning { .. }
            | Input::Remember(_)
            | Input::Forget(_)
            | Input::Replay(_)
            | Input::Model(..)
            | Input::Output(..)
            | Input::Compact { .. }
            | Input::AskAside { .. }
            | Input::DropAside(_)
            | Input::Goal(_)
            | Input::Style(_)
            | Input::Woke(_) => {}
        }
    }
}

/// A request that every provider takes: it begins with the person, roles alternate, and each call
/// has its result right behind it.
pub(super) fn valid(request: &ModelRequest) {
    let mut open: Vec<String> = Vec::new();
    let mut last = "";
    assert!(matches!(request.messages.first(), Some(Message::User(_))));
    for message in &request.messages {
        match message {
            Message::User(_) => {
                assert!(open.is_empty() && last != "user");
                last = "user";
            }
            Message::Assistant { calls, text, .. } => {
                assert!(open.is_empty());
                assert!(
                    !calls.is_empty() || !text.is_empty(),
                    "an empty answer in the history"
                );
                open = calls.iter().map(|it| it.id.clone()).collect();
                last = "assistant";
            }
            Message::Results(results) => {
                let ids: Vec<String> = results.iter().map(|it| it.id.clone()).collect();
                assert_eq!(ids, open);
                open.clear();
                last = "results";
            }
        }
    }
    assert!(open.is_empty(), "a call without its result");
}

fn plan(rng: &mut Rng) -> Planned {
    let path: PathBuf = format!("/p/{}", rng.u8(0..3)).into();
    let place = [
        Place::Project,
        Place::External,
        Place::Protected,
        Place::AddedDir,
        Place::Scratchpad,
        Place::Memory,
    ][rng.usize(0..6)];
    let access = match rng.u8(0..4) {
        0 => Access::Read { path, place },
        1 => Access::Write { path, place },
        2 => Access::Run {
            command: format!("c{}", rng.u8(0..2)),
            cwd: "/p".into(),
            place,
            reading: Reading {
                risk: [Risk::Read, Risk::Change, Risk::Run, Risk::Install][rng.usize(0..4)],
                forbidden: (rng.u8(0..9) == 0).then(|| "no".to_owned()),
                canonical: rng.bool().then(|| "c".to_owned()),
                program: None,
                in_scratchpad: rng.u8(0..9) == 0,
                steered: rng.u8(0..9) == 0,
            },
        },
        _ => Access::Ask,
    };
    Planned {
        title: "t".into(),
        kind: ToolKind::Other,
        accesses: vec![access],
        preview: Vec::new(),
        shown: format!("h{}", rng.u8(0..2)),
        unsaved: (rng.u8(0..3) == 0)
            .then(|| "a".to_owned())
            .into_iter()
            .collect(),
    }
}

fn pick<T: Copy + Ord>(rng: &mut Rng, from: impl Iterator<Item = T>) -> Option<T> {
    let mut all: Vec<T> = from.collect();
    all.sort_unstable();
    if all.is_empty() {
        None
    } else {
        Some(all[rng.usize(0..all.len())])
    }
}

fn model_event(rng: &mut Rng, ids: &mut u64) -> ModelEvent {
    match rng.u8(0..10) {
        0..=2 => ModelEvent::Text("x".into()),
        3 => ModelEvent::Thought("y".into()),
        4..=6 => {
            *ids += 1;
            let id = if rng.u8(0..8) == 0 {
                "same".to_owned()
            } else {
                format!("id{ids}")
            };
            let (name, arguments) = match rng.u8(0..6) {
                0 => (
                    "task_create",
                    r#"{"tasks":[{"subject":"a","active_form":"b","status":"in_progress"}]}"#,
                ),
                1 => (
                    "task_update",
                    r#"{"updates":[{"id":1,"status":"completed"}]}"#,
                ),
                _ => (
                    "t",
                    ["{}", "", "{\"a\":1}", "[1]", "{broken"][rng.usize(0..5)],
                ),
            };
            let arguments = arguments.to_owned();
            ModelEvent::Call(ToolCall {
                id,
                name: name.into(),
                arguments,
                native: None,
            })
        }
        7 if rng.bool() => ModelEvent::Usage(Usage {
            // More than the threshold, now and then.
            input: [0, 60_000][rng.usize(0..2)],
            output: 1,
            ..Usage::default()
        }),
        7 => ModelEvent::Raw(serde_json::json!({"n": rng.u8(..)})),
        8 if rng.u8(0..6) == 0 => ModelEvent::Ended(StopReason::WindowFull),
        8 => ModelEvent::Ended(StopReason::EndTurn),
        _ => ModelEvent::Failed(failure(rng)),
    }
}

fn failure(rng: &mut Rng) -> ModelError {
    let kinds = [
        ModelErrorKind::Cut,
        ModelErrorKind::Overloaded,
        ModelErrorKind::BadRequest,
        ModelErrorKind::Signature,
        ModelErrorKind::Quota,
        ModelErrorKind::Protocol,
        ModelErrorKind::ContextOverflow,
    ];
    let mut error = ModelError::new(kinds[rng.usize(0..kinds.len())], "no");
    error.is_final = rng.u8(0..6) == 0;
    error.retry_after_ms = rng.bool().then(|| rng.u64(..));
    if error.kind == ModelErrorKind::BadRequest {
        error.refusal = Some(match rng.u8(0..3) {
            0 => Refusal::Drop(Feature::ALL[rng.usize(0..Feature::ALL.len())]),
            1 => Refusal::Level { highest: None },
            _ => Refusal::MaxTokens(rng.u32(0..9)),
        });
    }
    error
}

fn input(rng: &mut Rng, world: &World, prompts: &mut u64, ids: &mut u64) -> Input {
    let any_call = CallId(rng.u64(0..world.recorded.len() as u64 + 2));
    match rng.u8(0..64) {
        60 => Input::AskAside {
            ticket: rng.u64(..),
            question: "q".into(),
        },
        61..=62 => {
            let texts = ["MET", "NOT_MET: x", "IMPOSSIBLE: x", "hm", ""];
            let answer = SideAnswer {
                text: texts[rng.usize(0..texts.len())].into(),
                ..SideAnswer::default()
            };
            let failed = ModelError::new(ModelErrorKind::Cut, "no");
            let side = SideId(rng.u64(0..world.sides + 1));
            match rng.u8(0..6) {
                0 => Input::Side(side, Err(failed)),
                _ => Input::Side(side, Ok(answer)),
            }
        }
        63 => Input::Goal((rng.u8(0..4) > 0).then(|| "g".into())),
        54 if rng.bool() => {
            *prompts += 1;
            Input::Compact {
                prompt: PromptId(*prompts),
                text: "/compact".into(),
                focus: rng.bool().then(|| "f".into()),
            }
        }
        54..=59 => {
            let side = match (world.side, rng.u8(0..9)) {
                (Some(side), 1..) => side,
                _ => SideId(rng.u64(0..9)),
            };
            Input::Side(side, summary(rng))
        }
        51..=53 => Input::Woke(match (world.timer, rng.u8(0..9)) {
            (Some(timer), 1..) => timer,
            _ => TimerId(rng.u64(0..9)),
        }),
        47..=50 => {
            let call = pick(rng, world.saving.iter().copied()).unwrap_or(any_call);
            let failed = NotSaved {
                why: "no".into(),
                left: vec!["a".into()],
            };
            Input::Saved(call, if rng.bool() { Ok(()) } else { Err(failed) })
        }
        42..=44 => {
            let call = pick(rng, world.classifying.iter().copied()).unwrap_or(any_call);
            let (text, thought) = [
                ("ALLOW", ""),
                ("", "ALLOW"),
                ("ESCALATE: x", ""),
                ("ALLOW.", ""),
            ][rng.usize(0..4)];
            Input::Classified(
                call,
                match rng.u8(0..6) {
                    0 => Err("no".into()),
                    _ => Ok(SideAnswer {
                        model: "p/judge".into(),
                        usage: rng.bool().then(Usage::default),
                        text: text.into(),
                        thought: thought.into(),
                        cut: false,
                        called: Vec::new(),
                    }),
                },
            )
        }
        45 => Input::Forget(Rule::EditProject),
        // Seldom, or hardly anything would be asked.
        46 if rng.u8(0..4) == 0 => Input::Remember(Rule::EditProject),
        40 if rng.bool() => Input::EditChecklist(match rng.u8(0..3) {
            0 => Edit::Add("c".into()),
            1 => Edit::Done(rng.u64(1..4)),
            _ => Edit::Clear,
        }),
        40 => Input::Tell("told".into()),
        41 if rng.bool() => Input::Spent {
            purpose: Purpose::Subagent,
            model: "p/other".into(),
            tokens: Usage::default(),
        },
        41 => Input::Command {
            text: "/c".into(),
            answer: "done".into(),
        },
        0..=3 => {
            *prompts += 1;
            Input::Prompt {
                prompt: PromptId(*prompts),
                text: "p".into(),
                pictures: Vec::new(),
            }
        }
        4 => Input::Cancel,
        5 => Input::CancelPrompt(PromptId(rng.u64(0..*prompts + 2))),
        6 => Input::SetMode(Mode::ALL[rng.usize(0..4)]),
        7 => Input::Output(any_call, "o".into()),
        8 => Input::Model(StreamId(rng.u64(0..9)), model_event(rng, ids)),
        9 if rng.bool() => Input::Rewritten(any_call, serde_json::json!({"a": 1})),
        9 => Input::Planned(any_call, Ok(plan(rng))),
        10 => Input::Decided(any_call, decision(rng)),
        11 if rng.bool() => Input::Queued(any_call, Ok("q".into())),
        11 => Input::Finished(any_call, Finished::Moved),
        12..=24 => match world.stream {
            Some(stream) => Input::Model(stream, model_event(rng, ids)),
            None => Input::Cancel,
        },
        25..=31 => match pick(rng, world.planning.iter().copied()) {
            Some(call) if rng.u8(0..9) == 0 => Input::Planned(call, Err("no".into())),
            Some(call) => Input::Planned(call, Ok(plan(rng))),
            None => Input::SetMode(Mode::Ask),
        },
        32 if rng.bool() => {
            *prompts += 1;
            Input::Replay(Box::new(Replay {
                // Now and then one that ran already.
                approval: match world.replayed.iter().min() {
                    Some(it) if rng.u8(0..4) == 0 => it.clone(),
                    Some(_) | None => format!("r{prompts}"),
                },
                tool: "t".into(),
                arguments: serde_json::json!({}),
                title: "t".into(),
                shown: format!("h{}", rng.u8(0..2)),
                mode: Mode::ALL[rng.usize(0..4)],
                is_done: rng.u8(0..6) == 0,
            }))
        }
        32..=33 if !world.queueing.is_empty() => {
            let call = pick(rng, world.queueing.iter().copied()).unwrap_or(any_call);
            let stored = rng.bool().then(|| "q".to_owned());
            Input::Queued(call, stored.ok_or_else(|| "the disk is full.".to_owned()))
        }
        32..=35 => match pick(rng, world.asking.keys().copied()) {
            Some(call) => Input::Decided(call, decision(rng)),
            None => Input::Output(any_call, "o".into()),
        },
        _ => match pick(rng, world.running.keys().copied()) {
            Some(call) if rng.u8(0..3) == 0 => Input::Finished(call, Finished::Moved),
            Some(call) => Input::Finished(
                call,
                Finished::Done {
                    outcome: Outcome::Success,
                    text: "r".into(),
                    shown: None,
                    duration_ms: 1,
                    exit_code: None,
                    images: Vec::new(),
                    fuzzy: false,
                },
            ),
            None => Input::Output(any_call, "o".into()),
        },
    }
}

fn summary(rng: &mut Rng) -> Result<SideAnswer, ModelError> {
    match rng.u8(0..4) {
        0 => Err(failure(rng)),
        1 => Ok(SideAnswer::default()),
        _ => Ok(SideAnswer {
            model: "p/m".into(),
            usage: rng.bool().then(Usage::default),
            text: "s".into(),
            ..SideAnswer::default()
        }),
    }
}

fn decision(rng: &mut Rng) -> Decision {
    Decision {
        option: OptionId::ALL[rng.usize(0..OptionId::ALL.len())],
        note: None,
    }
}

/// Runs one random life of a session; answers how many turns it had.
fn life(mut rng: Rng, steps: usize) -> u64 {
    let mode = Mode::ALL[rng.usize(0..4)];
    let attended = rng.bool();
    let can_hold = rng.bool();
    let compaction = Compaction {
        auto_threshold_tokens: rng.bool().then_some(50_000),
        ..Compaction::default()
    };
    let settings = || Settings {
        attended,
        can_hold,
        // How long a list was left alone is not written down.
        guidance: false,
        compaction: compaction.clone(),
        ..settings()
    };
    let (mut session, effects) = Session::new("s".into(), "/p".into(), mode, settings());
    let mut world = World {
        attended,
        can_hold,
        ..World::default()
    };
    world
        .records
        .extend(effects.into_iter().filter_map(|it| match it {
            Effect::Append(record) => Some(record),
            _ => None,
        }));
    let (mut prompts, mut ids) = (0, 0);
    for _ in 0..steps {
        let input = input(&mut rng, &world, &mut prompts, &mut ids);
        if let Input::Prompt { prompt, .. } | Input::Compact { prompt, .. } = &input {
            world.sent.insert(*prompt);
        }
        // The stream that ends is silent before its effects are looked at.
        if let Input::Model(stream, ModelEvent::Ended(_) | ModelEvent::Failed(_)) = &input
            && world.stream == Some(*stream)
        {
            world.stream = None;
        }
        if let Input::Side(side, _) = &input
            && world.side == Some(*side)
        {
            world.side = None;
        }
        if let Input::Woke(timer) = &input
            && world.timer == Some(*timer)
        {
            world.timer = None;
        }
        if let Input::Model(_, event) = &input
            && matches!(event, ModelEvent::Ended(_) | ModelEvent::Call(_))
        {
            world.n_asked = 0;
        }
        // What a running call writes down, the host writes for it.
        if rng.u8(0..4) == 0
            && let Some(call) = pick(&mut rng, world.running.keys().copied())
        {
            world.records.push(Record::Edit {
                call,
                files: Vec::new(),
                checkpoint: None,
            });
        }
        let effects = session.step(input.clone());
        // A change of mode is judged by the new one.
        world.take(session.mode(), &input, &effects);
        world.settle(&input, &effects);
        for call in std::mem::take(&mut world.just_ended) {
            world.planning.remove(&call);
            world.asking.remove(&call);
            world.queueing.remove(&call);
            world.saving.remove(&call);
            world.running.remove(&call);
        }
    }
    // Whenever it dies, its log folds into a session whose next request is valid.
    let resumed = |world: &World| {
        let settings = Settings {
            learned: world.learned.clone(),
            ..settings()
        };
        Session::resume(&world.records, settings, |_| Stands::AtOther)
    };
    valid(&asked(&mut resumed(&world).0));
    // The log of a session at rest tells all that the session knows.
    let effects = session.step(Input::Cancel);
    world.take(session.mode(), &Input::Cancel, &effects);
    assert!(world.replays_due.is_empty(), "an approval has no end");
    let (mut resumed, repairs) = resumed(&world);
    assert_eq!(repairs, [], "a session at rest needed repair");
    assert_eq!(resumed.mode(), session.mode());
    assert_eq!(resumed.checklist(), session.checklist());
    if rng.u8(0..20) == 0 {
        condense::laws::hold(&world.records, &mut rng);
    }
    assert_eq!(asked(&mut resumed), asked(&mut session));
    world.turns
}

/// The request that a prompt to a session at rest causes, be it behind a summary. What is known of earlier summaries ends with
/// the process.
fn asked(session: &mut Session) -> ModelRequest {
    session.compaction = Default::default();
    let mut effects = session.step(Input::Prompt {
        prompt: PromptId(u64::MAX),
        text: "again".into(),
        pictures: Vec::new(),
    });
    if let Some(Effect::AskSide { side, .. }) = effects.last() {
        let answer = SideAnswer {
            text: "s".into(),
            ..SideAnswer::default()
        };
        effects = session.step(Input::Side(*side, Ok(answer)));
    }
    match effects.into_iter().next_back() {
        Some(Effect::AskModel { request, .. }) => *request,
        other => panic!("no request but {other:?}"),
    }
}

#[test]
fn a_million_random_steps_keep_every_law() {
    let (mut lives, mut turns) = (0, 0);
    for (_, rng) in rounds(0, 5_000) {
        lives += 1;
        turns += life(rng, 220);
    }
    assert!(turns > lives, "the inputs hardly made a turn: {turns}");
}
