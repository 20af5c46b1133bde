//! The law of wires: whatever happened in a session, its next request is one that every provider takes.
//!
//! Random lives: models of all formats answer with whatever servers are known to make of theirs, are cut, refused, cancelled
//! and exchanged for each other; calls end in all ways; the session is folded from its log now and then. Each request that
//! is due, and the request that each other model would get in its place, is written by its codec and held against what
//! the servers of that format refuse (`rules.rs`). And while nothing but the conversation grows, a request goes on
//! with what the one before it said, or no provider would find its cache again.

mod rules;
mod speak;
mod streams;

use super::{Effect, Finished, Input, Planned, Session, Settings, SideAnswer, condense, laws};
use crate::context;
use crate::provider::{
    Decoder, Endpoint, Feature, Image, Learned, ModelError, ModelErrorKind, ModelEvent, NativeTool,
    Refusal, StopReason, ToolSpec, Wire,
};
use crate::rounds::rounds;
use fastrand::Rng;
use protocol::acp::ToolKind;
use protocol::record::{Record, Stands};
use protocol::session::{CallId, Mode, PromptId, SideId, StreamId, TimerId};
use protocol::tool::{Access, Outcome, Picture, Place};
use rules::House;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A model: its provider's name, its own, its format, its address, and whose ways its server has.
type Known = (
    &'static str,
    &'static str,
    Wire,
    &'static str,
    House,
    &'static [NativeTool],
);

const MODELS: &[Known] = &[
    (
        "a",
        "claude-opus-5-5",
        Wire::Messages,
        "https://api.anthropic.com",
        House::Plain,
        &[NativeTool::TextEditor, NativeTool::Bash],
    ),
    (
        "r",
        "gpt-6",
        Wire::Responses,
        "https://api.openai.com/v1",
        House::Plain,
        &[NativeTool::ApplyPatch],
    ),
    (
        "c",
        "gpt-4o",
        Wire::ChatCompletions,
        "https://api.openai.com/v1",
        House::OpenAi,
        &[],
    ),
    (
        "m",
        "mistral-large",
        Wire::ChatCompletions,
        "https://api.mistral.ai/v1",
        House::Mistral,
        &[],
    ),
    (
        "o",
        "deepseek/r",
        Wire::ChatCompletions,
        "https://openrouter.ai/api/v1",
        House::Plain,
        &[],
    ),
    (
        "g",
        "gemini-3-pro",
        Wire::GenerateContent,
        "https://generativelanguage.googleapis.com",
        House::Signed,
        &[],
    ),
    (
        "h",
        "gemini-2.5-flash",
        Wire::GenerateContent,
        "https://generativelanguage.googleapis.com",
        House::Plain,
        &[],
    ),
    (
        "l",
        "qwen3",
        Wire::Ollama,
        "http://127.0.0.1:11434",
        House::Plain,
        &[],
    ),
];

fn settings(known: &Known) -> Settings {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "d".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    let names = [
        "read_file",
        "write_file",
        "edit_file",
        "execute_command",
        "apply_patch",
    ];
    Settings {
        provider: known.0.to_owned(),
        model: known.1.to_owned(),
        natives: known.5.to_vec(),
        tools: names.map(tool).to_vec(),
        window: Some(32_000),
        cache_key: "key".to_owned(),
        turn_answers: 6,
        ..laws::settings()
    }
}

/// A session, its world, and what was said to the model last.
struct Life {
    rng: Rng,
    session: Session,
    known: &'static Known,
    /// What this model has refused.
    learned: BTreeMap<&'static str, Learned>,
    records: Vec<Record>,
    stream: Option<(StreamId, Box<dyn Decoder>)>,
    timer: Option<TimerId>,
    side: Option<SideId>,
    planning: Vec<CallId>,
    running: Vec<CallId>,
    n_prompts: u64,
    n_said: u64,
    /// The conversation of the request before, and whether nothing but growth has happened to it since.
    before: Option<(&'static str, Value)>,
    n_requests: u64,
}

impl Life {
    fn new(mut rng: Rng) -> Life {
        let known = &MODELS[rng.usize(0..MODELS.len())];
        let (session, effects) =
            Session::new("s".into(), "/p".into(), Mode::FullAccess, settings(known));
        let mut life = Life {
            rng,
            session,
            known,
            learned: BTreeMap::new(),
            records: Vec::new(),
            stream: None,
            timer: None,
            side: None,
            planning: Vec::new(),
            running: Vec::new(),
            n_prompts: 0,
            n_said: 0,
            before: None,
            n_requests: 0,
        };
        life.take(effects);
        life
    }

    fn step(&mut self, input: Input) {
        let effects = self.session.step(input);
        self.take(effects);
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Append(record) => {
                    if let Record::Void { .. }
                    | Record::Unsigned { .. }
                    | Record::Compacted { .. }
                    | Record::Model { .. } = record
                    {
                        self.before = None;
                    }
                    self.records.push(record);
                }
                Effect::AskModel { stream, request } => {
                    self.stream = Some((stream, self.known.2.provider().decoder()));
                    let built = self.written(self.known);
                    let of_effect = body(self.known, &request);
                    assert_eq!(built, of_effect, "it is asked for what the history holds");
                    self.holds();
                    self.n_requests += 1;
                }
                Effect::StopModel(_) => self.stream = None,
                Effect::WakeAfter { timer, .. } => self.timer = Some(timer),
                Effect::StopTimer(_) => self.timer = None,
                Effect::AskSide { side, request, .. } => {
                    self.side = Some(side);
                    let fault = rules::check(
                        self.known.2,
                        self.known.4,
                        &body(self.known, &request),
                        false,
                    );
                    assert_eq!(fault, Ok(()), "nobody takes the question for a summary");
                }
                Effect::StopSide(_) => self.side = None,
                Effect::Learned(news) => {
                    let learned = self.learned.entry(self.known.0).or_default();
                    learned.extend(&news);
                }
                Effect::PlanCall { call, .. } => self.planning.push(call),
                Effect::RunCall { call, .. } => self.running.push(call),
                Effect::StopCall(call) => {
                    self.planning.retain(|it| *it != call);
                    self.running.retain(|it| *it != call);
                }
                _ => {}
            }
        }
    }

    /// The body that a model gets now.
    fn written(&mut self, known: &'static Known) -> Value {
        let mut settings = match known.0 == self.known.0 {
            true => self.session.settings.clone(),
            false => settings(known),
        };
        // Of what it has refused in this very answer the session knows alone.
        if known.0 == self.known.0 {
            let request = self.session.request();
            settings.learned = request.learned;
        }
        let is_asked = |it: &context::Entry| matches!(it, context::Entry::Answer(answer) if answer.text.is_empty() && answer.calls.is_empty() && answer.raw.is_none());
        let history = match self.session.history.split_last() {
            Some((last, before)) if is_asked(last) => before,
            _ => &self.session.history[..],
        };
        let mut request = context::build(&settings, history);
        let turn = self.session.turn.as_ref();
        if known.0 == self.known.0
            && let Some(tokens) = turn.and_then(|it| it.tightness.squeezed)
        {
            context::squeeze(&mut request, tokens);
        }
        body(known, &request)
    }

    /// The law.
    fn holds(&mut self) {
        for known in MODELS {
            let body = self.written(known);
            // The model that paused goes on in its own words.
            let turn = self.session.turn.as_ref();
            let may_go_on =
                known.0 == self.known.0 && turn.is_some_and(|it| it.stop == StopReason::Paused);
            if let Err(fault) = rules::check(known.2, known.4, &body, may_go_on) {
                panic!(
                    "{} would refuse this: {fault}\n{}",
                    known.1,
                    rules::conversation(known.2, &body)
                );
            }
        }
        let now = rules::conversation(self.known.2, &self.written(self.known));
        if let Some((of, before)) = &self.before
            && *of == self.known.0
        {
            assert!(
                rules::goes_on(before, &now),
                "{}: this was said\n{before:#}\nand this is no continuation\n{now:#}",
                self.known.1
            );
        }
        // What is cut to fit is cut anew each time.
        let turn = self.session.turn.as_ref();
        let is_squeezed = turn.is_some_and(|it| it.tightness.squeezed.is_some());
        self.before = (!is_squeezed).then_some((self.known.0, now));
    }

    /// Something happens.
    fn happen(&mut self) {
        match self.rng.u8(0..40) {
            0..=3 => {
                self.n_prompts += 1;
                let texts = ["p", "do it\n"];
                let text = texts[self.rng.usize(0..texts.len())].to_owned();
                let prompt = PromptId(self.n_prompts);
                // One that waits would push an older one out of the history later.
                let pictures = match self.session.turn() {
                    None => self.pictures(),
                    Some(_) => Vec::new(),
                };
                self.step(Input::Prompt {
                    prompt,
                    text,
                    pictures,
                });
            }
            4 => self.step(Input::Cancel),
            5 => self.step(Input::Tell("told".into())),
            6 if self.rng.bool() => {
                self.n_prompts += 1;
                self.step(Input::Compact {
                    prompt: PromptId(self.n_prompts),
                    text: "/compact".into(),
                    focus: None,
                });
            }
            6 => self.exchange(),
            7 => self.restart(),
            8..=9 => {
                if let Some(timer) = self.timer.take() {
                    self.step(Input::Woke(timer));
                }
            }
            10..=12 => self.refuse(),
            13..=26 => self.answer(),
            27..=31 => self.plan(),
            32 => self.summarise(),
            _ => self.finish(),
        }
    }

    /// A summary comes, or does not.
    fn summarise(&mut self) {
        let Some(side) = self.side.take() else { return };
        let answer = match self.rng.u8(0..5) {
            0 => Err(ModelError::new(ModelErrorKind::ContextOverflow, "no")),
            1 => Ok(SideAnswer::default()),
            _ => Ok(SideAnswer {
                text: "summary".into(),
                ..SideAnswer::default()
            }),
        };
        self.step(Input::Side(side, answer));
    }

    /// The person takes another model, in the middle of whatever goes on.
    fn exchange(&mut self) {
        self.known = &MODELS[self.rng.usize(0..MODELS.len())];
        let mut settings = settings(self.known);
        settings.learned = self.learned.get(self.known.0).cloned().unwrap_or_default();
        let effects = self.session.configure(settings);
        self.before = None;
        // Its decoder is that of who was asked: an answer of the one before is not in this one's format.
        if self.stream.is_some() {
            self.take(effects);
            return self.step(Input::Cancel);
        }
        self.take(effects);
    }

    /// The server dies, and another one takes the session up.
    fn restart(&mut self) {
        self.stream = None;
        self.timer = None;
        self.side = None;
        self.planning.clear();
        self.running.clear();
        self.before = None;
        let settings = self.session.settings.clone();
        let (session, effects) = Session::resume(&self.records, settings, |_| Stands::AtOther);
        self.session = session;
        self.take(effects);
    }

    /// The provider answers with an error in the place of an answer.
    fn refuse(&mut self) {
        let Some((stream, _)) = self.stream.take() else {
            return;
        };
        let kinds = [
            ModelErrorKind::Cut,
            ModelErrorKind::Overloaded,
            ModelErrorKind::BadRequest,
            ModelErrorKind::BadRequest,
            ModelErrorKind::Pictures,
            ModelErrorKind::Signature,
            ModelErrorKind::Quota,
            ModelErrorKind::Unreachable,
            ModelErrorKind::ContextOverflow,
            ModelErrorKind::ContextOverflow,
        ];
        let mut error = ModelError::new(kinds[self.rng.usize(0..kinds.len())], "no");
        if error.kind == ModelErrorKind::BadRequest {
            let feature = Feature::ALL[self.rng.usize(0..Feature::ALL.len())];
            error.refusal = Some(match self.rng.bool() {
                true => Refusal::Drop(feature),
                false => Refusal::Level { highest: None },
            });
        }
        // Pictures and natives leave the history, or come back in another form.
        self.before = None;
        self.step(Input::Model(stream, ModelEvent::Failed(error)));
    }

    /// The model answers, or begins to.
    fn answer(&mut self) {
        let Some((stream, mut decoder)) = self.stream.take() else {
            return;
        };
        self.n_said += 1;
        let bytes = speak::answer(self.known.2, self.known.4, &mut self.rng, self.n_said);
        let mut events = Vec::new();
        let cut = match self.rng.u8(0..5) {
            0 => self.rng.usize(0..=bytes.len()),
            _ => bytes.len(),
        };
        decoder.feed(&bytes[..cut], &mut events);
        decoder.end(&mut events);
        let is_last = |it: &ModelEvent| matches!(it, ModelEvent::Ended(_) | ModelEvent::Failed(_));
        assert!(events.iter().filter(|it| is_last(it)).count() == 1);
        // The person may stop it within.
        let stopped = match self.rng.u8(0..8) {
            0 => self.rng.usize(0..events.len()),
            _ => events.len(),
        };
        events.truncate(stopped);
        let is_over = events.last().is_some_and(is_last);
        for event in events {
            self.step(Input::Model(stream, event));
            // Somebody speaks or a call ends while it goes on.
            match self.rng.u8(0..12) {
                0 => {
                    self.n_prompts += 1;
                    let prompt = PromptId(self.n_prompts);
                    let text = "steer".to_owned();
                    let pictures = Vec::new();
                    self.step(Input::Prompt {
                        prompt,
                        text,
                        pictures,
                    });
                }
                1 => self.plan(),
                2 => self.finish(),
                _ => {}
            }
        }
        if !is_over {
            self.step(Input::Cancel);
        }
    }

    fn plan(&mut self) {
        if self.planning.is_empty() {
            return;
        }
        let at = self.rng.usize(0..self.planning.len());
        let call = self.planning.remove(at);
        let planned = Planned {
            title: "t".into(),
            kind: ToolKind::Read,
            accesses: vec![Access::Read {
                path: "/p/a".into(),
                place: Place::Project,
            }],
            preview: Vec::new(),
            shown: "h".into(),
            unsaved: Vec::new(),
        };
        let plan = match self.rng.u8(0..5) {
            0 => Err("bad arguments".to_owned()),
            _ => Ok(planned),
        };
        self.step(Input::Planned(call, plan));
    }

    fn finish(&mut self) {
        if self.running.is_empty() {
            return;
        }
        let at = self.rng.usize(0..self.running.len());
        let call = self.running.remove(at);
        let texts = ["r", "", " \n", "done\n"];
        let images = self.pictures();
        let outcome = match self.rng.u8(0..4) {
            0 => Outcome::Error,
            _ => Outcome::Success,
        };
        let text = texts[self.rng.usize(0..texts.len())].to_owned();
        self.step(Input::Finished(
            call,
            Finished::Done {
                outcome,
                text,
                shown: None,
                duration_ms: 1,
                exit_code: None,
                images,
                fuzzy: false,
            },
        ));
    }
}

impl Life {
    /// None, mostly.
    fn pictures(&mut self) -> Vec<Image> {
        let picture = Image {
            picture: Picture {
                name: ["a.png", ""][self.rng.usize(0..2)].to_owned(),
                media_type: "image/png".to_owned(),
                bytes: 8,
                sha256: "0".repeat(64),
            },
            data: "iVBORw0KGgo=".into(),
        };
        let n_pictures = [0, 0, 0, 1, 2][self.rng.usize(0..5)];
        // An older one leaves the history for a newer one.
        if n_pictures > 0 {
            self.before = None;
        }
        vec![picture; n_pictures]
    }
}

/// The body of a request as this model's codec writes it.
fn body(known: &Known, request: &crate::provider::ModelRequest) -> Value {
    let endpoint = Endpoint {
        base_url: known.3.to_owned(),
        key: None,
        extra_headers: Vec::new(),
    };
    let request = known.2.provider().request(&endpoint, request);
    serde_json::from_slice(&request.body).expect("a body is JSON")
}

#[test]
fn whatever_happened_every_provider_takes_the_next_request() {
    let mut n_requests = 0;
    for (_, rng) in rounds(0, 60) {
        let mut life = Life::new(rng);
        for _ in 0..150 {
            life.happen();
        }
        condense::laws::hold(&life.records, &mut life.rng);
        n_requests += life.n_requests;
    }
    assert!(n_requests > 600, "hardly a request: {n_requests}");
}
