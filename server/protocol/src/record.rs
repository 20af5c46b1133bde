//! The session log: one JSON line a record, appended and never rewritten.
//!
//! Records are facts, not inputs: resuming folds them into a session, so no old log depends on how
//! today's code decides. The format is versioned and kept for ever (spec 13.2).

mod carried;

pub use carried::{Carried, Filled, OpenCall, Tokens, Used};

use crate::approval::{OptionId, Rule};
use crate::checklist::Task;
use crate::config::Reasoning;
use crate::goal::Goal;
use crate::session::{CallId, Mode, TurnId};
use crate::tool::{Outcome, Picture};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The version that this build writes. A log with a greater one is refused, not half-read.
pub const VERSION: u32 = 1;

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Format version.
    pub v: u32,
    /// Counted from 0, without gaps.
    pub seq: u64,
    /// Milliseconds since the Unix epoch.
    pub time: u64,
    #[serde(flatten)]
    pub record: Record,
}

/// A fact about a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The session began.
    Started {
        session: String,
        cwd: PathBuf,
        mode: Mode,
        model: String,
    },
    /// The session goes on from a part of another one, whose records follow; `message` is the last of them, as the archive
    /// numbers them.
    Forked { session: String, message: u64 },
    /// The person gave the session a title.
    Title { title: String },
    /// A turn began or was steered: what the person wrote.
    User {
        turn: TurnId,
        text: String,
        /// What they put beside it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<Picture>,
    },
    /// What the model said, up to its next call or the end of its answer. `cut` marks text that
    /// was broken off by a cancel or a fault. `answer` counts the model's answers: parts with one
    /// number belong to one message of the history.
    Assistant {
        answer: u64,
        text: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        thought: String,
        /// The provider's own items, which it wants back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<serde_json::Value>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
    /// What stands here of an answer does not count: it broke off without a call, and the model was asked again. The person has seen
    /// it; the model never does.
    Void { answer: u64 },
    /// The provider refused its own items of earlier answers (`raw`), and none of those that stand before this is sent again. `answer`
    /// is the one that was refused for it.
    Unsigned { answer: u64 },
    /// The model asked for a tool. `id` is the provider's own; `arguments` is as the model wrote it, where `native` does not say otherwise.
    Call {
        answer: u64,
        call: CallId,
        id: String,
        tool: String,
        arguments: String,
        /// Where the model called a tool of its provider's, which `tool` stands for: what it wrote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<NativeRecord>,
    },
    /// The person, or the mode in their stead, decided.
    Decision {
        call: CallId,
        option: OptionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<Rule>,
    },
    /// The classifier of mode `auto` allowed a call, or put it to the person, and why.
    Classified {
        call: CallId,
        allowed: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// An answer for always could not be kept, and counts for this session. Without a rule it held a secret, and counts
    /// no longer than the session is open.
    Remembered {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<Rule>,
    },
    /// The person took a remembered answer of this session back.
    Forgot { rule: Rule },
    /// A call is about to change these files, all of them or none. Written ahead: whoever finds no result
    /// of the call behind it learns from the files themselves how far it came.
    Edit {
        call: CallId,
        files: Vec<EditedFile>,
        /// What takes it back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkpoint: Option<String>,
    },
    /// How a call ended: exactly one for each call.
    Result {
        call: CallId,
        outcome: Outcome,
        text: String,
        /// What the person saw of it, where that is another text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
        /// The call in one line, once it was planned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Only for calls that ran (spec 0.1).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// Only for commands that ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// What the model was shown beside the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<Picture>,
        /// A change was made at a place that is not written quite as the model wrote it (spec 1.3).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fuzzy: bool,
    },
    /// The person gave a command that Undine answers by itself, such as `/checkpoints`. The model sees neither.
    Command { text: String, answer: String },
    /// An action that had been stored for approval ran, because the person approved it. `approval` is its id
    /// there; `call` is new. It belongs to a turn of its own, in which no model is asked.
    Replayed {
        approval: String,
        turn: TurnId,
        call: CallId,
        tool: String,
        arguments: serde_json::Value,
        outcome: Outcome,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
    /// What the model is told when it is asked next: something that happened without it.
    /// `answer` is the first one that can know of it.
    Told { answer: u64, text: String },
    /// From here on the model is sent a summary in the place of older history (spec 12.3). Nothing of it is deleted.
    Compacted {
        /// Counted from 1 over the session's whole life; a person reads `c1`.
        id: u64,
        trigger: Trigger,
        summary: String,
        kept: Kept,
    },
    /// The checklist is this now, whole (spec 10).
    Checklist { tasks: Vec<Task> },
    /// The goal is this now; none: it was met or given up (spec 23).
    Goal {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goal: Option<Goal>,
    },
    /// Answers are written in this style from here on; none: in that of the configuration (spec 22).
    Style {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        style: Option<String>,
    },
    /// The mode was changed.
    Mode { mode: Mode },
    /// Another model answers from here on: provider/model.
    Model { model: String },
    /// The person has chosen how hard a model thinks in this session; without a level it thinks as configured.
    Reasoning {
        model: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        level: Option<Reasoning>,
    },
    /// What an answer took, in tokens; the parts are disjoint (spec 26).
    Usage {
        /// The model that gave it: provider/model.
        model: String,
        purpose: Purpose,
        input: u64,
        #[serde(default, skip_serializing_if = "is_zero")]
        cached: u64,
        #[serde(default, skip_serializing_if = "is_zero")]
        cache_write: u64,
        output: u64,
        #[serde(default, skip_serializing_if = "is_zero")]
        reasoning: u64,
    },
    /// A turn ended.
    Ended { turn: TurnId, reason: EndReason },
    /// What still counts of records that are left out here. It stands in snapshots, and never in a log.
    Carried(Box<Carried>),
}

impl Record {
    /// The fact without what it would allow from now on, for a log that others may have written. None: nothing of it
    /// is left.
    pub fn without_answers(self) -> Option<Self> {
        let kept = match self {
            Self::Remembered { .. } => return None,
            Self::Decision {
                call, option, note, ..
            } => Self::Decision {
                call,
                option,
                note,
                rule: None,
            },
            Self::Started { .. }
            | Self::Forked { .. }
            | Self::Title { .. }
            | Self::User { .. }
            | Self::Assistant { .. }
            | Self::Void { .. }
            | Self::Unsigned { .. }
            | Self::Compacted { .. }
            | Self::Checklist { .. }
            | Self::Goal { .. }
            | Self::Style { .. }
            | Self::Call { .. }
            | Self::Classified { .. }
            | Self::Forgot { .. }
            | Self::Edit { .. }
            | Self::Result { .. }
            | Self::Command { .. }
            | Self::Told { .. }
            | Self::Replayed { .. }
            | Self::Mode { .. }
            | Self::Model { .. }
            | Self::Reasoning { .. }
            | Self::Usage { .. }
            | Self::Ended { .. }
            // It has no answers: a snapshot keeps them as records of their own.
            | Self::Carried(_) => self,
        };
        Some(kept)
    }
}

/// Why older history was summarised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The person asked for it.
    Person,
    /// The model asked for it.
    Model,
    /// The window was as full as the configuration allows.
    Threshold,
    /// The provider said that the conversation is too long, or an answer stopped because the window was full.
    Overflow,
}

/// What of the history stays as it is behind a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// So many of the person's messages, the newest, with all that came after the first of them and what the model was told right before it.
    Prompts(u32),
    /// This answer and all that came after it.
    Answer(u64),
    Nothing,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What a model was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// An answer of the conversation: its tokens fill the window.
    Answer,
    /// A verdict of the classifier of mode `auto`.
    Classifier,
    /// A summary in the place of what does not fit any more.
    Compaction,
    /// Work of a subagent.
    Subagent,
    /// Anything else beside the conversation.
    Other,
}

/// A call of a provider's own tool, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NativeRecord {
    /// The tool's name at its provider.
    pub tool: String,
    /// JSON text.
    pub input: String,
}

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum EndReason {
    /// The model had nothing more to do.
    Done,
    /// The model's answer reached its output cap.
    MaxTokens,
    /// The model refused.
    Refusal,
    /// The person cancelled.
    Cancelled,
    /// The provider or the server failed; `message` was shown to the person.
    Failed { message: String },
}

/// A file of an edit. A move is two of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedFile {
    pub path: PathBuf,
    /// SHA-256 of the text before, in hexadecimal digits; missing: there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The same of the text after; missing: there is no file then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// How far an edit came with a file, as the file itself tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    AtOld,
    AtNew,
    /// It holds another text: someone has changed it since, or writing it was cut off.
    AtOther,
}

impl EditedFile {
    /// `now` is the hash of the present text; `None`: there is no file.
    pub fn stands(&self, now: Option<&str>) -> Stands {
        if now == self.after.as_deref() {
            Stands::AtNew
        } else if now == self.before.as_deref() {
            Stands::AtOld
        } else {
            Stands::AtOther
        }
    }
}
