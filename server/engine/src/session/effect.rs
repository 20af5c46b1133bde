//! What can happen to a session, and what it may ask of the world.

use super::call::{Action, Finished, Planned, Preview, Question};
use super::replay::{Replay, ReplayEnd};
use super::side_questions::Answered;
use super::unsaved::NotSaved;
use crate::checklist::Edit;
use crate::policy::Hold;
use crate::provider::{Image, Learned, ModelError, ModelEvent, ModelRequest, StopReason, Usage};
use protocol::acp::ToolKind;
use protocol::approval::{OptionId, Rule};
use protocol::checklist::Task;
use protocol::config::Reasoning;
use protocol::record::{Purpose, Record};
use protocol::session::{CallId, Mode, PromptId, SideId, StreamId, TimerId};
use protocol::tool::{Outcome, Picture};
use serde::{Deserialize, Serialize};

/// Everything that can happen to a session. Each names what it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// The person sent a prompt. `prompt` is new to the session.
    Prompt {
        prompt: PromptId,
        text: String,
        pictures: Vec<Image>,
    },
    /// The person ended the turn: every running and queued prompt.
    Cancel,
    /// The person withdrew one prompt.
    CancelPrompt(PromptId),
    SetMode(Mode),
    /// The person gave a command and the host has answered it.
    Command {
        text: String,
        answer: String,
    },
    /// Something happened that the model is to be told when it is asked next.
    Tell(String),
    /// The person changed the checklist.
    EditChecklist(Edit),
    /// The host asked a model something for the person, beside the conversation.
    Spent {
        /// provider/model.
        model: String,
        purpose: Purpose,
        tokens: Usage,
    },
    Model(StreamId, ModelEvent),
    /// A hook gave a call that is being planned other arguments. They count for its plan, which follows; the model's own
    /// stay what is recorded, and what it is planned anew from.
    Rewritten(CallId, serde_json::Value),
    /// A call's plan, or what was wrong with its arguments (read by the model).
    Planned(CallId, Result<Planned, String>),
    Decided(CallId, Decision),
    /// Whether the documents are saved now that a call waits for.
    Saved(CallId, Result<(), NotSaved>),
    /// What the classifier answered, or why there is no answer.
    Classified(CallId, Result<SideAnswer, String>),
    /// The person wants older history summarised, with this in focus; `text` is the prompt that says so.
    Compact {
        prompt: PromptId,
        text: String,
        focus: Option<String>,
    },
    /// The person asks something beside the conversation; `ticket` is new to the session.
    AskAside {
        ticket: u64,
        question: String,
    },
    /// Nobody waits for that answer any more.
    DropAside(u64),
    /// The goal is this from now on; none: there is none.
    Goal(Option<String>),
    /// Answers are written in this style from now on. [`Session::configure`](super::Session::configure) has it already.
    Style(Option<String>),
    /// What a model answered that was asked beside the conversation.
    Side(SideId, Result<SideAnswer, ModelError>),
    /// The person chose how hard a model thinks. [`Session::configure`](super::Session::configure) has it already.
    Reasoning {
        model: String,
        level: Option<Reasoning>,
    },
    /// An answer for always could not be kept: it counts for this session.
    Remember(Rule),
    /// The person takes a remembered answer of this session back.
    Forget(Rule),
    /// What became of storing a call for later approval: the approval's id, or why it was not stored (read by
    /// the model).
    Queued(CallId, Result<String, String>),
    /// The person approves an action that was stored.
    Replay(Box<Replay>),
    /// A running call said something for the person.
    Output(CallId, String),
    Finished(CallId, Finished),
    /// A wait is over.
    Woke(TimerId),
}

/// The person's answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub option: OptionId,
    /// Why not, in the person's words.
    pub note: Option<String>,
}

/// What a model was asked for beside the conversation: without tools, and never a part of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// A summary in the place of older history.
    Summary,
    /// Whether the goal is met.
    Goal,
    /// A side question of the person's, by its ticket. Its answer is shown as it streams, and calls in it are noted.
    Question(u64),
}

impl Aside {
    /// As the log counts its tokens.
    pub fn purpose(self) -> Purpose {
        match self {
            Self::Summary => Purpose::Compaction,
            Self::Goal | Self::Question(_) => Purpose::Other,
        }
    }
}

/// The answer of a model that was asked beside the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideAnswer {
    /// provider/model.
    pub model: String,
    /// The tokens it took, where its provider tells.
    pub usage: Option<Usage>,
    pub text: String,
    /// What it thought, where its provider tells.
    pub thought: String,
    /// It reached the most that it may write.
    pub cut: bool,
    /// Tools that it called in vain, by name.
    pub called: Vec<String>,
}

/// Everything that may be asked of the world. The host performs them in order; `Append` stands
/// before the effect that depends on it.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Append(Record),
    Show(Update),
    AskModel {
        stream: StreamId,
        request: Box<ModelRequest>,
    },
    StopModel(StreamId),
    /// Answered by [`Input::Woke`] after so many milliseconds.
    WakeAfter {
        timer: TimerId,
        ms: u64,
    },
    /// Nobody waits any more.
    StopTimer(TimerId),
    /// The model that was asked last does not take this: it refused it, and has begun to answer without. Only what is news.
    Learned(Learned),
    PlanCall {
        call: CallId,
        tool: String,
        arguments: serde_json::Value,
    },
    AskPerson {
        call: CallId,
        question: Box<Question>,
    },
    /// Asks the classifier of mode `auto`. Answered by [`Input::Classified`].
    AskClassifier {
        call: CallId,
        request: Box<ModelRequest>,
    },
    /// The classifier need not answer any more.
    StopClassifier(CallId),
    /// Asks a model beside the conversation. Answered by [`Input::Side`].
    AskSide {
        side: SideId,
        about: Aside,
        request: Box<ModelRequest>,
    },
    /// That answer is not waited for any more.
    StopSide(SideId),
    /// Answers a side question: exactly one for each [`Input::AskAside`] that was not dropped. The error is for the person.
    AnswerAside {
        ticket: u64,
        answered: Result<Answered, String>,
    },
    /// The person said "always": the answer is to be kept. If it cannot be, [`Input::Remember`] says so.
    KeepRule(Rule),
    /// Nobody can be asked: the action is to be stored, until the person approves it. Answered by
    /// [`Input::Queued`].
    QueueApproval {
        call: CallId,
        action: Box<Action>,
    },
    /// The documents that a plan has named as unsaved are to be saved; the call waits for it. Answered by
    /// [`Input::Saved`].
    SaveFirst(CallId),
    /// The question is moot.
    StopAsking(CallId),
    RunCall {
        call: CallId,
        hold: Hold,
    },
    StopCall(CallId),
    /// Answers an approval of a stored action: exactly one for each [`Input::Replay`].
    EndReplay {
        approval: String,
        end: ReplayEnd,
    },
    /// Answers prompts. No update of their turn follows.
    Answer {
        prompts: Vec<PromptId>,
        end: PromptEnd,
    },
}

/// How a prompt is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptEnd {
    /// The turn that took it ended by itself.
    Ended(StopReason),
    /// The person ended the turn.
    Cancelled,
    /// The person withdrew this prompt: answered with LSP's RequestCancelled.
    Withdrawn,
    /// Too many prompts were waiting; this one was not taken.
    Dropped { limit: usize },
    /// The provider failed.
    Failed(ModelError),
    /// The turn was stopped for having asked the model this often.
    TooManyAnswers(u32),
}

/// What an editor shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// What the person wrote: only when a session is replayed, and for prompts that were queued.
    User(String),
    /// A picture beside it: in the same places.
    UserPicture(Picture),
    Text(String),
    Thought(String),
    /// A call appeared.
    Call {
        call: CallId,
        tool: String,
        arguments: serde_json::Value,
    },
    /// A call changed; what is missing stays as it was.
    CallChanged(CallId, CallChange),
    Mode(Mode),
    /// The checklist, whole. Those that were deleted are not shown.
    Checklist(Vec<Task>),
    /// Something the person is to know in its place of the transcript; the model never hears of it.
    Notice(String),
    /// The tokens of the last answer. What the session has used in all is asked of it.
    Usage(Usage),
    /// The model is asked again; `None`: that is over, in whatever way.
    Retrying(Option<Retrying>),
}

/// Why and when the model is asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retrying {
    /// What happened, in a sentence for the person.
    pub why: String,
    /// Which try of `of` this is, counted from 1.
    pub attempt: u32,
    pub of: u32,
    /// 0: it is being asked already.
    pub after_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallChange {
    pub status: Option<CallStatus>,
    pub title: Option<String>,
    pub kind: Option<ToolKind>,
    pub content: Vec<CallContent>,
    /// Only for calls that ran (spec 0.1).
    pub duration_ms: Option<u64>,
    pub exit_code: Option<i32>,
    /// How many pictures the result has. Not all of them need be in `content`.
    pub images: usize,
    /// A change was made at a place that is not written quite as the model wrote it.
    pub fuzzy: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CallContent {
    Preview(Preview),
    Text(String),
    Image(Image),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStatus {
    /// The person is being asked.
    Waiting,
    Running,
    Done(Outcome),
}
