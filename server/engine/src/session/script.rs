//! Plays: what happens to a session, line by line, and all that it asks for in return.
//!
//! `check(script, expect)` runs a script against a fresh session in `ask` mode. A line of the script
//! is `> ` and an input, in the words of `script/read.rs`; the expectation has one paragraph an
//! input, in the words of `script/print.rs`, where inputs in a row that cause nothing share one.
//! Every request to the model is also held against the law of valid requests. Not printed is only
//! the record of the session's beginning.

mod agents;
mod approvals;
mod calls;
mod cancelling;
mod checklist;
mod commands;
mod compacting;
mod edits;
mod ending;
mod failures;
mod late;
mod modes;
mod print;
mod read;
mod refusals;
mod remembered;
mod requests;
mod resuming;
mod retries;
mod steering;
mod turns;
mod unattended;
mod unsaved;

use super::{Effect, Input, Retries, Role, Session, Settings, SideAnswer, laws, replay};
use crate::provider::{ModelError, ModelErrorKind, Usage};
use expect_test::Expect;
use protocol::approval::Rule;
use protocol::config::Floor;
use protocol::record::{EditedFile, Purpose, Record, Stands};
use protocol::session::{CallId, Mode, PromptId, SideId, StreamId, TimerId};
use read::Words;

fn check(script: &str, expect: Expect) {
    expect.assert_eq(&print_of(script));
}

/// All that a script causes.
fn print_of(script: &str) -> String {
    let mut play = Play::new();
    let lines = script.lines().map(str::trim).filter(|it| !it.is_empty());
    for line in lines {
        let Some(input) = line.strip_prefix("> ") else {
            panic!("{line:?} is no input; begin it with `> `");
        };
        let mut words = Words::new(input);
        play.act(&mut words);
        let unread = words.rest();
        assert!(unread.is_empty(), "{line:?}: nobody reads {unread:?}");
    }
    play.printed()
}

/// A session, its log, and what a script may leave out because it is plain.
struct Play {
    session: Session,
    settings: Settings,
    records: Vec<Record>,
    /// What each input caused.
    paragraphs: Vec<String>,
    /// The stream that was asked for last.
    stream: StreamId,
    /// What was asked last beside the conversation.
    side: SideId,
    /// The call that was recorded last.
    call: CallId,
    next_prompt: u64,
    /// Counts the calls, for the provider's ids of them.
    next_call: u64,
}

impl Play {
    fn new() -> Self {
        let settings = Settings {
            queued_prompts: 32,
            edit_rounds: 3,
            turn_answers: 200,
            continuations: 4,
            goal_turns: 50,
            attended: true,
            retries: Retries::default(),
            ..laws::settings()
        };
        let (session, effects) = begin(settings.clone());
        let mut play = Self {
            session,
            settings,
            records: Vec::new(),
            paragraphs: Vec::new(),
            stream: StreamId(0),
            side: SideId(0),
            call: CallId(0),
            next_prompt: 0,
            next_call: 0,
        };
        play.note(&effects);
        play
    }

    fn act(&mut self, words: &mut Words<'_>) {
        match words.word() {
            // What the host does to a session beside its inputs.
            "limits" => {
                while let Some((name, value)) = words.setting() {
                    match name {
                        "queued_prompts" => self.settings.queued_prompts = value as usize,
                        "edit_rounds" => self.settings.edit_rounds = value,
                        "continuations" => self.settings.continuations = value,
                        "goal_turns" => self.settings.goal_turns = value,
                        "turn_answers" => self.settings.turn_answers = value,
                        "model_retries" => {
                            self.settings.retries = Retries {
                                most: value,
                                first_ms: 500,
                                longest_ms: 60_000,
                                spread: 0,
                            };
                        }
                        "spread" => self.settings.retries.spread = value,
                        "window" => self.settings.window = Some(value.into()),
                        "recoveries" => {
                            self.settings.compaction.max_truncation_recoveries = value;
                        }
                        other => panic!("there is no limit {other:?}"),
                    }
                }
                self.session.configure(self.settings.clone());
            }
            "nobody" => {
                self.settings.attended = false;
                self.session.configure(self.settings.clone());
            }
            "agent" => {
                let wishes = vec![words.text()];
                self.settings.role = Role::Agent { wishes };
                self.session.configure(self.settings.clone());
            }
            "standing" => {
                self.settings.standing.push(Rule::EditProject);
                self.session.configure(self.settings.clone());
            }
            "taken-back" => {
                self.settings.standing.clear();
                self.session.set_standing(Vec::new());
            }
            "floor" => {
                self.settings.safety.system_installs = match words.word() {
                    "allow" => Floor::Allow,
                    "auto" => Floor::Auto,
                    "ask" => Floor::Ask,
                    "deny" => Floor::Deny,
                    other => panic!("there is no floor {other:?}"),
                };
                self.session.configure(self.settings.clone());
            }
            "unguided" => {
                self.settings.guidance = false;
                self.session.configure(self.settings.clone());
            }
            "clock" => self.session.set_now(words.number()),
            "can-hold" => {
                self.settings.can_hold = true;
                self.session.configure(self.settings.clone());
            }
            "use-model" => {
                self.settings.model = words.word().to_owned();
                let effects = self.session.configure(self.settings.clone());
                self.take(&effects);
            }
            "restart" => {
                let (session, effects) =
                    Session::resume(&self.records, self.settings.clone(), stands);
                self.session = session;
                self.take(&effects);
            }
            "new-session" => {
                let (session, effects) = begin(self.settings.clone());
                self.session = session;
                self.records.clear();
                self.take(&effects);
            }
            // The host writes down which files the call is about to change. Their names say how far that comes.
            "writes" => {
                let mut files = Vec::new();
                for name in words.rest().split_whitespace() {
                    files.push(EditedFile {
                        path: format!("/p/{name}").into(),
                        before: Some("old".to_owned()),
                        after: Some("new".to_owned()),
                    });
                }
                self.records.push(Record::Edit {
                    call: self.call,
                    files,
                    checkpoint: None,
                });
            }
            "load" => {
                let shown: Vec<Effect> = replay(&self.records)
                    .into_iter()
                    .map(Effect::Show)
                    .collect();
                self.print(&shown);
            }
            verb => {
                let input = self.input(verb, words);
                let effects = self.session.step(input);
                self.take(&effects);
            }
        }
    }

    fn input(&mut self, verb: &str, words: &mut Words<'_>) -> Input {
        match verb {
            "prompt" => {
                let prompt = PromptId(self.next_prompt);
                self.next_prompt += 1;
                Input::Prompt {
                    prompt,
                    text: words.text(),
                    pictures: words.pictures(),
                }
            }
            "cancel" => Input::Cancel,
            "cancel-prompt" => Input::CancelPrompt(PromptId(words.number())),
            "command" => Input::Command {
                text: words.text(),
                answer: words.text(),
            },
            "tell" => Input::Tell(words.text()),
            "todos" => match crate::checklist::read(words.rest()) {
                Ok(Some(edit)) => Input::EditChecklist(edit),
                other => panic!("no change of the checklist: {other:?}"),
            },
            "spent" => Input::Spent {
                purpose: Purpose::Subagent,
                model: words.word().to_owned(),
                tokens: Usage {
                    input: words.number(),
                    output: words.number(),
                    ..Usage::default()
                },
            },
            "compact" => {
                let prompt = PromptId(self.next_prompt);
                self.next_prompt += 1;
                Input::Compact {
                    prompt,
                    text: "/compact".to_owned(),
                    focus: (!words.is_over()).then(|| words.text()),
                }
            }
            "summary" => Input::Side(
                self.side,
                Ok(SideAnswer {
                    model: "p/m".to_owned(),
                    text: words.text(),
                    ..SideAnswer::default()
                }),
            ),
            "no-summary" => Input::Side(self.side, Err(words.failure())),
            "mode" => Input::SetMode(words.mode()),
            "model" => {
                let stream = words.stream().unwrap_or(self.stream);
                let event = words.model_event(&mut self.next_call);
                Input::Model(stream, event)
            }
            "rewritten" => {
                let arguments = serde_json::from_str(&words.text()).unwrap();
                Input::Rewritten(self.call, arguments)
            }
            "planned" => Input::Planned(words.call(self.call), Ok(words.plan())),
            "planned-error" => Input::Planned(words.call(self.call), Err(words.text())),
            "decided" => Input::Decided(words.call(self.call), words.decision()),
            "classifier" => {
                let text = words.text();
                let thought = match words.is_over() {
                    true => String::new(),
                    false => words.text(),
                };
                Input::Classified(
                    self.call,
                    Ok(SideAnswer {
                        text,
                        thought,
                        ..SideAnswer::default()
                    }),
                )
            }
            "no-classifier" => Input::Classified(self.call, Err(words.text())),
            "remember" => Input::Remember(Rule::EditProject),
            "forget" => Input::Forget(Rule::EditProject),
            "saved" => Input::Saved(words.call(self.call), Ok(())),
            "not-saved" => Input::Saved(words.call(self.call), Err(words.not_saved())),
            "queued" => Input::Queued(words.call(self.call), Ok(words.word().to_owned())),
            "not-queued" => Input::Queued(words.call(self.call), Err(words.text())),
            "approve" => {
                let replay = words.replay();
                // Replays count with the calls, though no record opens them.
                self.call = CallId(self.session.next.call);
                Input::Replay(Box::new(replay))
            }
            "side" => {
                let side = SideId(words.number());
                let text = words.text();
                let called = words.rest().split_whitespace().map(str::to_owned);
                Input::Side(
                    side,
                    Ok(SideAnswer {
                        text,
                        called: called.collect(),
                        ..SideAnswer::default()
                    }),
                )
            }
            "side-fails" => {
                let side = SideId(words.number());
                let error = ModelError::new(ModelErrorKind::Overloaded, words.text());
                Input::Side(side, Err(error))
            }
            "goal" => Input::Goal(Some(words.text())),
            "no-goal" => Input::Goal(None),
            "btw" => Input::AskAside {
                ticket: words.number(),
                question: words.text(),
            },
            "drop-btw" => Input::DropAside(words.number()),
            "output" => Input::Output(words.call(self.call), words.text()),
            "woke" => Input::Woke(TimerId(words.number())),
            "finished" => Input::Finished(words.call(self.call), words.finished()),
            other => panic!("there is no input {other:?}"),
        }
    }

    fn take(&mut self, effects: &[Effect]) {
        self.note(effects);
        self.print(effects);
    }

    /// Keeps the log and what is newest, as the host would.
    fn note(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Append(record) => {
                    if let Record::Call { call, .. } = record {
                        self.call = *call;
                    }
                    self.records.push(record.clone());
                }
                Effect::AskModel { stream, request } => {
                    self.stream = *stream;
                    laws::valid(request);
                }
                Effect::AskSide { side, request, .. } => {
                    self.side = *side;
                    laws::valid(request);
                }
                Effect::Show(_)
                | Effect::StopModel(_)
                | Effect::WakeAfter { .. }
                | Effect::StopTimer(_)
                | Effect::Learned(_)
                | Effect::PlanCall { .. }
                | Effect::AskPerson { .. }
                | Effect::QueueApproval { .. }
                | Effect::SaveFirst(_)
                | Effect::EndReplay { .. }
                | Effect::StopAsking(_)
                | Effect::RunCall { .. }
                | Effect::AskClassifier { .. }
                | Effect::StopClassifier(_)
                | Effect::StopSide(_)
                | Effect::AnswerAside { .. }
                | Effect::KeepRule(_)
                | Effect::StopCall(_)
                | Effect::Answer { .. } => {}
            }
        }
    }

    fn print(&mut self, effects: &[Effect]) {
        let lines = effects
            .iter()
            .map(|it| print::effect(it).trim_end().to_owned() + "\n");
        self.paragraphs.push(lines.collect());
    }

    /// A paragraph an input. Inputs in a row that cause nothing share one.
    fn printed(&self) -> String {
        let mut printed: Vec<String> = Vec::new();
        for run in self
            .paragraphs
            .chunk_by(|a, b| a.is_empty() && b.is_empty())
        {
            printed.push(match run {
                [one] if !one.is_empty() => one.clone(),
                [_] => "(nothing)\n".to_owned(),
                silent => format!("(nothing, {} times)\n", silent.len()),
            });
        }
        printed.join("\n")
    }
}

fn stands(file: &EditedFile) -> Stands {
    let name = file.path.file_name().unwrap().to_str().unwrap();
    file.stands(Some(name))
}

fn begin(settings: Settings) -> (Session, Vec<Effect>) {
    Session::new("s".into(), "/p".into(), Mode::Ask, settings)
}

/// Scripts begin with `append started`, which [`check`] leaves out.
#[test]
fn a_session_begins_with_its_record() {
    let (_, effects) = Session::new("s-1".into(), "/p".into(), Mode::Auto, laws::settings());
    let started = Record::Started {
        session: "s-1".into(),
        cwd: "/p".into(),
        mode: Mode::Auto,
        model: "p/m".into(),
    };
    assert_eq!(effects, [Effect::Append(started)]);
}
