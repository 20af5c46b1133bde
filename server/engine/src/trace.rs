//! Traces: what happened to a session, written so that it can be run again (`[trace] record`, `undine replay`).
//!
//! A trace is a file of lines. Each but the first is something that was done to a session, and the effects that this had;
//! a trace that is run again tells at which line today's build does another thing.
//!
//! Two wishes are at odds. A trace is handed on, so no secret may be in it; and a session that is given masked texts may
//! do another thing than the one that was given the secrets. So the effects in a trace are not those of the live
//! session. Beside it runs a second one, the shadow, which is given just what is written: each act is masked, made
//! JSON of, and read back before the shadow takes it. A trace is therefore whole in itself, and a replay by the same build
//! always agrees, whatever was masked. Where the shadow does something of another kind than the live session, the
//! line says so (`live_differs`): from there on the secrets mattered, and the trace shows only how far the two went
//! together.
//!
//! - A secret can come in pieces that are none by themselves. So a streamed answer goes through the masking stream that
//!   the screen has (`redact/stream.rs`), and what that holds back is written before the next other event.
//! - A model's bytes cannot be masked at all without becoming others. They are written when the answer is over, and
//!   left out if they, or the answer in them, have a secret.
//! - Pictures are named, and their bytes left out.
//! - An effect is written as text: whole where it is short, else its start and a hash.

use crate::provider::ModelEvent;
use crate::redact::{self, redact, redact_json};
use crate::session::Session;
use crate::session::{Effect, Input, Settings};
use protocol::approval::Rule;
use protocol::record::{Record, Stands};
use protocol::session::{Mode, StreamId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;

/// The format's version. A line of another one is not read.
pub const VERSION: u32 = 1;

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "line")]
pub enum Line {
    /// The first.
    Header {
        version: u32,
        /// Undine's own version.
        build: String,
    },
    Act {
        act: Act,
        effects: Vec<String>,
        /// The live session did something of another kind.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        live_differs: bool,
    },
    /// What a model's server sent for an answer, in the pieces that it came in, each base64. Behind the answer's end.
    Bytes {
        stream: StreamId,
        /// Missing where they are left out.
        chunks: Option<Vec<String>>,
    },
}

/// Something that is done to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    New {
        id: String,
        cwd: PathBuf,
        mode: Mode,
        settings: Box<Settings>,
    },
    Resume {
        records: Vec<Record>,
        settings: Box<Settings>,
        /// How far cut-off edits had come, in the order in which it was asked.
        stands: Vec<Standing>,
    },
    /// The session was not written here.
    Doubt,
    Configure(Box<Settings>),
    /// The answers for always.
    Standing(Vec<Rule>),
    Step(Input),
}

/// How far an edit came with a file ([`Stands`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    AtOld,
    AtNew,
    AtOther,
}

impl From<Stands> for Standing {
    fn from(it: Stands) -> Self {
        match it {
            Stands::AtOld => Self::AtOld,
            Stands::AtNew => Self::AtNew,
            Stands::AtOther => Self::AtOther,
        }
    }
}

impl From<Standing> for Stands {
    fn from(it: Standing) -> Self {
        match it {
            Standing::AtOld => Self::AtOld,
            Standing::AtNew => Self::AtNew,
            Standing::AtOther => Self::AtOther,
        }
    }
}

/// Makes the lines of a trace while a session lives.
#[derive(Debug, Default)]
pub struct Recorder {
    shadow: Option<Session>,
    settings: Option<Settings>,
    standing: Vec<Rule>,
    streaming: Streaming,
}

/// The answer that streams.
#[derive(Debug, Default)]
struct Streaming {
    of: Option<StreamId>,
    text: redact::Stream,
    thought: redact::Stream,
    /// All of it, to see whether it has a secret.
    said: String,
}

impl Recorder {
    /// The first line.
    pub fn header(build: &str) -> Line {
        Line::Header {
            version: VERSION,
            build: build.to_owned(),
        }
    }

    /// The lines of an act that the live session has answered with these effects.
    pub fn record(&mut self, act: Act, live: &[Effect]) -> Vec<Line> {
        let mut lines = Vec::new();
        let act = match act {
            Act::Step(Input::Model(stream, event)) => {
                if self.streaming.of != Some(stream) {
                    self.flush(&mut lines);
                    self.streaming = Streaming {
                        of: Some(stream),
                        ..Streaming::default()
                    };
                }
                match event {
                    ModelEvent::Text(text) => {
                        self.end_thought(&mut lines);
                        self.streaming.said.push_str(&text);
                        let shown = self.streaming.text.push(&text);
                        self.piece(ModelEvent::Text(shown), &mut lines);
                        return lines;
                    }
                    ModelEvent::Thought(text) => {
                        self.end_text(&mut lines);
                        self.streaming.said.push_str(&text);
                        let shown = self.streaming.thought.push(&text);
                        self.piece(ModelEvent::Thought(shown), &mut lines);
                        return lines;
                    }
                    ModelEvent::Call(call) => {
                        self.flush(&mut lines);
                        self.streaming.said.push_str(&call.arguments);
                        Act::Step(Input::Model(stream, ModelEvent::Call(call)))
                    }
                    event @ (ModelEvent::Usage(_)
                    | ModelEvent::Raw(_)
                    | ModelEvent::Ended(_)
                    | ModelEvent::Failed(_)) => {
                        self.flush(&mut lines);
                        Act::Step(Input::Model(stream, event))
                    }
                }
            }
            // Looked up before each prompt, and seldom another.
            Act::Configure(settings) if self.settings.as_ref() == Some(&*settings) => return lines,
            Act::Standing(rules) if self.standing == rules => return lines,
            other @ (Act::New { .. }
            | Act::Resume { .. }
            | Act::Doubt
            | Act::Configure(_)
            | Act::Standing(_)
            | Act::Step(_)) => {
                self.flush(&mut lines);
                other
            }
        };
        match &act {
            Act::New { settings, .. } | Act::Resume { settings, .. } | Act::Configure(settings) => {
                self.standing.clone_from(&settings.standing);
                self.settings = Some(Settings::clone(settings));
            }
            Act::Standing(rules) => {
                self.standing.clone_from(rules);
                if let Some(settings) = &mut self.settings {
                    settings.standing.clone_from(rules);
                }
            }
            Act::Doubt | Act::Step(_) => {}
        }
        self.take(act, Some(live), &mut lines);
        lines
    }

    /// The lines of an answer's bytes, once it is over. `chunks` are the bytes, and the same as base64.
    pub fn bytes(&mut self, stream: StreamId, bytes: &[u8], chunks: Vec<String>) -> Line {
        let raw = String::from_utf8_lossy(bytes);
        let is_known = self.streaming.of == Some(stream);
        let has_secret = is_secret(&raw) || is_secret(&self.streaming.said);
        let chunks = (is_known && !has_secret).then_some(chunks);
        Line::Bytes { stream, chunks }
    }

    fn piece(&mut self, event: ModelEvent, lines: &mut Vec<Line>) {
        let is_empty = match &event {
            ModelEvent::Text(text) | ModelEvent::Thought(text) => text.is_empty(),
            ModelEvent::Call(_)
            | ModelEvent::Usage(_)
            | ModelEvent::Raw(_)
            | ModelEvent::Ended(_)
            | ModelEvent::Failed(_) => false,
        };
        if let (false, Some(stream)) = (is_empty, self.streaming.of) {
            self.take(Act::Step(Input::Model(stream, event)), None, lines);
        }
    }

    fn flush(&mut self, lines: &mut Vec<Line>) {
        self.end_text(lines);
        self.end_thought(lines);
    }

    fn end_text(&mut self, lines: &mut Vec<Line>) {
        let rest = self.streaming.text.end();
        self.piece(ModelEvent::Text(rest), lines);
    }

    fn end_thought(&mut self, lines: &mut Vec<Line>) {
        let rest = self.streaming.thought.end();
        self.piece(ModelEvent::Thought(rest), lines);
    }

    /// Has the shadow do what is written.
    fn take(&mut self, act: Act, live: Option<&[Effect]>, lines: &mut Vec<Line>) {
        let Some(act) = written(act) else {
            return;
        };
        let effects = perform(&mut self.shadow, act.clone());
        let kinds = |it: &[Effect]| it.iter().map(std::mem::discriminant).collect::<Vec<_>>();
        let live_differs = live.is_some_and(|live| kinds(live) != kinds(&effects));
        lines.push(Line::Act {
            act,
            effects: effects.iter().map(brief).collect(),
            live_differs,
        });
    }
}

fn is_secret(text: &str) -> bool {
    matches!(redact(text), std::borrow::Cow::Owned(_))
}

/// An act as it stands in the trace. One that JSON cannot hold is none; there should be none such.
fn written(mut act: Act) -> Option<Act> {
    if let Act::Step(Input::Model(_, ModelEvent::Call(call))) = &mut act {
        // JSON within JSON: masked as such, so that it stays JSON.
        match serde_json::from_str::<Value>(&call.arguments) {
            Ok(mut arguments) => {
                let before = arguments.clone();
                redact_json(&mut arguments);
                if arguments != before {
                    call.arguments = arguments.to_string();
                }
            }
            Err(_) => call.arguments = redact(&call.arguments).into_owned(),
        }
    }
    let mut value = serde_json::to_value(act).ok()?;
    redact::redact_strings(&mut value);
    serde_json::from_value(value).ok()
}

fn perform(session: &mut Option<Session>, act: Act) -> Vec<Effect> {
    match (act, session) {
        (
            Act::New {
                id,
                cwd,
                mode,
                settings,
            },
            session,
        ) => {
            let (new, effects) = Session::new(id, cwd, mode, *settings);
            *session = Some(new);
            effects
        }
        (
            Act::Resume {
                records,
                settings,
                stands,
            },
            session,
        ) => {
            let stands = RefCell::new(stands.into_iter());
            let next = || stands.borrow_mut().next().unwrap_or(Standing::AtOther);
            let (resumed, effects) = Session::resume(&records, *settings, |_| next().into());
            *session = Some(resumed);
            effects
        }
        (Act::Doubt, Some(session)) => {
            session.doubt_prompts();
            Vec::new()
        }
        (Act::Configure(settings), Some(session)) => session.configure(*settings),
        (Act::Standing(rules), Some(session)) => {
            session.set_standing(rules);
            Vec::new()
        }
        (Act::Step(input), Some(session)) => session.step(input),
        // A trace that begins in the middle.
        (Act::Doubt | Act::Configure(_) | Act::Standing(_) | Act::Step(_), None) => Vec::new(),
    }
}

/// An effect as text, by which two can be compared.
fn brief(effect: &Effect) -> String {
    /// The most bytes of one that is written whole.
    const WHOLE: usize = 1000;
    const START: usize = 200;
    let text = format!("{effect:?}");
    if text.len() <= WHOLE {
        return text;
    }
    let hash = Sha256::digest(text.as_bytes());
    let hash: String = hash.iter().map(|it| format!("{it:02x}")).collect();
    let start = &text[..text.floor_char_boundary(START)];
    format!("{start}… ({} bytes, SHA-256 {hash})", text.len())
}

/// How a trace ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The build that wrote it.
    pub build: String,
    /// Acts in all.
    pub acts: usize,
    /// Acts before the first that had other effects.
    pub agreed: usize,
    pub difference: Option<Difference>,
    /// The first line, counted from 1, at which the live session had done something of another kind.
    pub live_differs: Option<usize>,
}

/// The first act that had other effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// From 1.
    pub line: usize,
    pub act: String,
    /// The first effect that is another: as it was, and as it is. `None`: there was none.
    pub was: Option<String>,
    pub is: Option<String>,
}

/// A trace that cannot be run: a sentence for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl std::error::Error for Unreadable {}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs a trace again. A last line that was cut off is passed over.
pub fn replay(text: &str) -> Result<Replayed, Unreadable> {
    let mut replayed = Replayed {
        build: String::new(),
        acts: 0,
        agreed: 0,
        difference: None,
        live_differs: None,
    };
    let mut session = None;
    let mut lines = text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let line = match serde_json::from_str(line) {
            Ok(it) => it,
            Err(_) if lines.peek().is_none() && at > 0 && !text.ends_with('\n') => break,
            Err(error) => {
                return Err(Unreadable(format!(
                    "Line {} is no line of a trace of this version ({error}).",
                    at + 1
                )));
            }
        };
        match (at, line) {
            (0, Line::Header { version, build }) if version == VERSION => replayed.build = build,
            (0, Line::Header { version, build }) => {
                return Err(Unreadable(format!(
                    "The trace was written by Undine {build} in format {version}; this one reads format {VERSION}."
                )));
            }
            (0, Line::Act { .. } | Line::Bytes { .. }) => {
                return Err(Unreadable("It does not begin as a trace does.".to_owned()));
            }
            (_, Line::Header { .. } | Line::Bytes { .. }) => {}
            (
                _,
                Line::Act {
                    act,
                    effects,
                    live_differs,
                },
            ) => {
                replayed.acts += 1;
                if live_differs {
                    replayed.live_differs.get_or_insert(at + 1);
                }
                // After the first difference all others may follow from it.
                if replayed.difference.is_some() {
                    continue;
                }
                let name = format!("{act:?}");
                let now = perform(&mut session, act);
                let now: Vec<String> = now.iter().map(brief).collect();
                if now == effects {
                    replayed.agreed += 1;
                    continue;
                }
                let n_same = now.iter().zip(&effects).take_while(|(a, b)| a == b).count();
                replayed.difference = Some(Difference {
                    line: at + 1,
                    act: name[..name.floor_char_boundary(200)].to_owned(),
                    was: effects.get(n_same).cloned(),
                    is: now.get(n_same).cloned(),
                });
            }
        }
    }
    match replayed.build.is_empty() {
        true => Err(Unreadable("The trace is empty.".to_owned())),
        false => Ok(replayed),
    }
}

#[cfg(test)]
mod tests;
