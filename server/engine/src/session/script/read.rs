//! The words of a script's inputs.
//!
//! ```text
//! prompt "text" [with a.png,b.png]    prompts are numbered from 0
//! cancel    cancel-prompt 0    mode ask
//! command "text" "answer"       tell "what happened without the model"
//! model text "…"                of the newest stream; of another: model #0 text "…"
//! model thought "…"    model usage <input> <output>    model raw <json>
//! model call <tool> <arguments to the line's end>
//! model call-as <provider's id> <tool> <arguments>
//! model end [end_turn | tool_calls | max_tokens | refusal | <other>]    model fail "message"
//! model fail-as <kind> "message" [after <ms>] [final] [refusing <feature> | level [<highest>] | above <tokens>]
//! woke <timer>
//! planned write /p/a and run "make" in /q as "h"
//! planned run reading "ls"      or changing, networking, installing: what its text tells
//! planned run "ls" unsaved a.rs,b.rs    saved    not-saved a.rs "why"
//! planned-error "…"    decided save | once | session | always | no ["note"]    output "…"
//! nobody                        can be asked from now on
//! classifier "ALLOW" ["thought"]    no-classifier "why"
//! remember                      an answer for always, to all edits, could not be kept
//! forget                        the session's own answer to all edits is taken back
//! standing    taken-back        all edits are allowed for always, and no more
//! floor <the least about installs>    can-hold
//! queued <id>    not-queued "…"
//! approve <id> <tool> <arguments> in <mode> [done] shown write /p/a as "h"
//! finished ok | error | cancelled "text"    finished moved
//! limits queued_prompts=1 …    use-model <name>
//! goal "condition"    no-goal    btw <ticket> "question"    drop-btw <ticket>
//! side <number> "answer" [called tools]    side-fails <number> "why"
//! restart                       the server dies, and another folds the log
//! clock <milliseconds>    unguided
//! todos add Text    todos rm 1    todos done 1    todos clear
//! load                          shows the log, as to an editor
//! new-session
//! ```
//! What is about a call is about the newest one, or about the one whose number stands behind the
//! verb. The project is `/p`, Undine's own folder `/u`, and all else is outside. A plan shows its
//! accesses and, after `as`, whatever else is to make a difference.

use crate::provider::{
    Feature, Image, ModelError, ModelErrorKind, ModelEvent, Refusal, StopReason, ToolCall, Usage,
};
use crate::session::{Decision, Finished, NotSaved, Planned, Preview, Replay};
use protocol::acp::ToolKind;
use protocol::approval::OptionId;
use protocol::config::Reasoning;
use protocol::session::{CallId, Mode, StreamId};
use protocol::tool::{Access, Outcome, Picture, Place, Reading, Risk};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(super) struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { rest: line.trim() }
    }

    pub(super) fn word(&mut self) -> &'a str {
        let (word, rest) = self.split();
        self.rest = rest;
        word
    }

    /// A quoted text, written as in JSON.
    pub(super) fn text(&mut self) -> String {
        let mut texts = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
        let Some(Ok(text)) = texts.next() else {
            panic!("a text in quotes should stand at {:?}", self.rest);
        };
        let read = texts.byte_offset();
        self.rest = self.rest[read..].trim_start();
        text
    }

    /// The pictures of a prompt.
    pub(super) fn pictures(&mut self) -> Vec<Image> {
        if !self.took("with") {
            return Vec::new();
        }
        let names = self.names().into_iter();
        let image = |name: String| Image {
            picture: Picture {
                sha256: name.clone(),
                name,
                media_type: "image/png".to_owned(),
                bytes: 3,
            },
            data: "AAAA".into(),
        };
        names.map(image).collect()
    }

    pub(super) fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    /// All that is left.
    pub(super) fn rest(&mut self) -> &'a str {
        std::mem::take(&mut self.rest)
    }

    pub(super) fn number(&mut self) -> u64 {
        let word = self.word();
        word.parse()
            .unwrap_or_else(|_| panic!("{word:?} should be a number"))
    }

    /// `name=7`, if there is one more.
    pub(super) fn setting(&mut self) -> Option<(&'a str, u32)> {
        let (name, value) = self.split().0.split_once('=')?;
        self.word();
        Some((name, value.parse().expect("a limit is a number")))
    }

    pub(super) fn mode(&mut self) -> Mode {
        let word = self.word();
        Mode::from_id(word).unwrap_or_else(|| panic!("there is no mode {word:?}"))
    }

    /// `#7`, if it is there.
    pub(super) fn stream(&mut self) -> Option<StreamId> {
        let number = self.split().0.strip_prefix('#')?;
        self.word();
        Some(StreamId(number.parse().expect("a stream is a number")))
    }

    /// A call's number, if it is there.
    pub(super) fn call(&mut self, newest: CallId) -> CallId {
        let Ok(number) = self.split().0.parse() else {
            return newest;
        };
        self.word();
        CallId(number)
    }

    pub(super) fn model_event(&mut self, next_call: &mut u64) -> ModelEvent {
        match self.word() {
            "text" => ModelEvent::Text(self.text()),
            "thought" => ModelEvent::Thought(self.text()),
            "usage" => ModelEvent::Usage(Usage {
                input: self.number(),
                output: self.number(),
                ..Usage::default()
            }),
            "raw" => ModelEvent::Raw(serde_json::from_str::<Value>(self.rest()).expect("raw JSON")),
            "call" => {
                let id = format!("c{next_call}");
                *next_call += 1;
                self.tool_call(id)
            }
            "call-as" => {
                let id = self.word().to_owned();
                self.tool_call(id)
            }
            "end" => ModelEvent::Ended(match self.word() {
                "" | "end_turn" => StopReason::EndTurn,
                "tool_calls" => StopReason::ToolCalls,
                "max_tokens" => StopReason::MaxTokens,
                "window_full" => StopReason::WindowFull,
                "refusal" => StopReason::Refusal,
                "paused" => StopReason::Paused,
                other => StopReason::Other(other.to_owned()),
            }),
            "fail" => ModelEvent::Failed(ModelError::new(ModelErrorKind::Overloaded, self.text())),
            "fail-as" => ModelEvent::Failed(self.failure()),
            other => panic!("a model does not {other:?}"),
        }
    }

    pub(super) fn failure(&mut self) -> ModelError {
        let kind = match self.word() {
            "unreachable" => ModelErrorKind::Unreachable,
            "auth" => ModelErrorKind::Auth,
            "quota" => ModelErrorKind::Quota,
            "rate-limit" => ModelErrorKind::RateLimit,
            "overloaded" => ModelErrorKind::Overloaded,
            "context-overflow" => ModelErrorKind::ContextOverflow,
            "bad-request" => ModelErrorKind::BadRequest,
            "signature" => ModelErrorKind::Signature,
            "cut" => ModelErrorKind::Cut,
            "limit" => ModelErrorKind::Limit,
            "protocol" => ModelErrorKind::Protocol,
            other => panic!("there is no failure {other:?}"),
        };
        let mut error = ModelError::new(kind, self.text());
        while !self.is_over() {
            match self.word() {
                "after" => error.retry_after_ms = Some(self.number()),
                "final" => error.is_final = true,
                "refusing" => error.refusal = Some(self.refusal()),
                other => panic!("a failure is not {other:?}"),
            }
        }
        error
    }

    fn refusal(&mut self) -> Refusal {
        match self.word() {
            "level" => Refusal::Level {
                highest: (!self.is_over()).then(|| self.word()).map(|name| {
                    let mut levels = Reasoning::ALL.into_iter();
                    levels.find(|it| it.id() == name).expect("a level")
                }),
            },
            "above" => Refusal::MaxTokens(self.number() as u32),
            name => Refusal::Drop(Feature::from_name(name).expect("a feature")),
        }
    }

    fn tool_call(&mut self, id: String) -> ModelEvent {
        ModelEvent::Call(ToolCall {
            id,
            name: self.word().to_owned(),
            arguments: self.rest().to_owned(),
            native: None,
        })
    }

    pub(super) fn plan(&mut self) -> Planned {
        let mut accesses = vec![self.access()];
        while self.took("and") {
            accesses.push(self.access());
        }
        let also = match self.took("as") {
            true => self.text(),
            false => String::new(),
        };
        let unsaved = match self.took("unsaved") {
            true => self.names(),
            false => Vec::new(),
        };
        let (title, kind) = title(&accesses[0]);
        Planned {
            unsaved,
            title,
            kind,
            shown: format!("{accesses:?}{also}"),
            preview: accesses
                .iter()
                .filter_map(|it| preview(it, &also))
                .collect(),
            accesses,
        }
    }

    fn names(&mut self) -> Vec<String> {
        self.word().split(',').map(str::to_owned).collect()
    }

    pub(super) fn not_saved(&mut self) -> NotSaved {
        NotSaved {
            left: self.names(),
            why: self.text(),
        }
    }

    pub(super) fn replay(&mut self) -> Replay {
        let (approval, tool) = (self.word().to_owned(), self.word().to_owned());
        let arguments = self
            .word()
            .parse()
            .expect("arguments are JSON without blanks");
        assert!(self.took("in"), "the mode stands behind `in`");
        let mode = self.mode();
        let is_done = self.took("done");
        assert!(self.took("shown"), "the plan stands behind `shown`");
        let plan = self.plan();
        Replay {
            approval,
            tool,
            arguments,
            title: plan.title,
            shown: plan.shown,
            mode,
            is_done,
        }
    }

    fn access(&mut self) -> Access {
        match self.word() {
            "read" => {
                let (path, place) = self.path();
                Access::Read { path, place }
            }
            "write" => {
                let (path, place) = self.path();
                Access::Write { path, place }
            }
            "run" => {
                let risk = self.risk();
                let command = self.text();
                let (cwd, place) = match self.took("in") {
                    true => self.path(),
                    false => ("/p".into(), Place::Project),
                };
                Access::Run {
                    reading: reading(risk, &command),
                    command,
                    cwd,
                    place,
                }
            }
            "ask" => Access::Ask,
            other => panic!("a plan does not {other:?}"),
        }
    }

    /// What the shell reader would say of a command: `run` if nothing is said.
    fn risk(&mut self) -> Risk {
        for (word, risk) in RISKS {
            if self.took(word) {
                return risk;
            }
        }
        Risk::Run
    }

    fn path(&mut self) -> (PathBuf, Place) {
        let path = Path::new(self.word());
        let place = if path.starts_with("/p") {
            Place::Project
        } else if path.starts_with("/added") {
            Place::AddedDir
        } else if path.starts_with("/scratch") {
            Place::Scratchpad
        } else if path.starts_with("/u") {
            Place::Protected
        } else {
            Place::External
        };
        (path.to_owned(), place)
    }

    pub(super) fn decision(&mut self) -> Decision {
        let word = self.word();
        let option =
            OptionId::from_id(word).unwrap_or_else(|| panic!("there is no option {word:?}"));
        let note = (!self.rest.is_empty()).then(|| self.text());
        Decision { option, note }
    }

    pub(super) fn finished(&mut self) -> Finished {
        let outcome = match self.word() {
            "ok" => Outcome::Success,
            "error" => Outcome::Error,
            "cancelled" => Outcome::Cancelled,
            "moved" => return Finished::Moved,
            other => panic!("a call does not end {other:?}"),
        };
        Finished::Done {
            outcome,
            text: self.text(),
            shown: None,
            duration_ms: 7,
            exit_code: None,
            images: Vec::new(),
            fuzzy: false,
        }
    }

    fn took(&mut self, word: &str) -> bool {
        let (next, rest) = self.split();
        let is_next = next == word;
        if is_next {
            self.rest = rest;
        }
        is_next
    }

    fn split(&self) -> (&'a str, &'a str) {
        match self.rest.split_once(char::is_whitespace) {
            Some((word, rest)) => (word, rest.trim_start()),
            None => (self.rest, ""),
        }
    }
}

fn title(access: &Access) -> (String, ToolKind) {
    match access {
        Access::Read { path, .. } => (format!("Read {}", path.display()), ToolKind::Read),
        Access::Write { path, .. } => (format!("Edit {}", path.display()), ToolKind::Edit),
        Access::Run { command, .. } => (format!("Run {command}"), ToolKind::Execute),
        Access::Ask
        | Access::Memory { .. }
        | Access::Web { .. }
        | Access::Agent { .. }
        | Access::Mcp { .. }
        | Access::Computer { .. } => ("Ask".to_owned(), ToolKind::Other),
    }
}

const RISKS: [(&str, Risk); 4] = [
    ("reading", Risk::Read),
    ("changing", Risk::Change),
    ("networking", Risk::Network),
    ("installing", Risk::Install),
];

fn reading(risk: Risk, command: &str) -> Reading {
    Reading {
        risk,
        forbidden: command
            .contains("rm -rf /")
            .then(|| "it is the end".to_owned()),
        canonical: Some(command.to_owned()),
        program: None,
        in_scratchpad: false,
        steered: false,
    }
}

fn preview(access: &Access, new: &str) -> Option<Preview> {
    match access {
        Access::Write { path, .. } => Some(Preview::Diff {
            path: path.clone(),
            old: None,
            new: new.to_owned(),
        }),
        Access::Run { command, cwd, .. } => Some(Preview::Command {
            line: command.clone(),
            cwd: cwd.clone(),
        }),
        Access::Read { .. }
        | Access::Ask
        | Access::Memory { .. }
        | Access::Web { .. }
        | Access::Agent { .. }
        | Access::Mcp { .. }
        | Access::Computer { .. } => None,
    }
}
