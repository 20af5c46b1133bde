//! One conversation as a state machine.
//!
//! [`Session::step`] never fails and never panics; what no longer makes sense (a word of an aborted
//! stream, a second decision) is dropped. Its laws stand in `session/laws.rs`.

mod approving;
mod call;
mod checklist;
mod classifier;
mod compacting;
mod condense;
mod effect;
mod ending;
mod failing;
mod fold;
pub mod goals;
mod own_tools;
mod replay;
mod role;
mod side_questions;
mod turn;
mod unsaved;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod script;
#[cfg(test)]
mod wires;

#[cfg(test)]
pub(crate) use laws::settings as settings_of_tests;

pub use call::{Action, Finished, Planned, Preview, Question};
pub use classifier::time_for_classifier;
pub use condense::condense;
pub use effect::{
    Aside, CallChange, CallContent, CallStatus, Decision, Effect, Input, PromptEnd, Retrying,
    SideAnswer, Update,
};
pub use ending::Spent;
pub use fold::{Fold, replay};
pub use replay::{Replay, ReplayEnd};
pub use role::Role;
pub use side_questions::Answered;
pub use unsaved::{NotSaved, named};

use crate::context::Entry;
use crate::context::budget::{self, Measured};
use crate::context::instructions::System;
use crate::policy;
use crate::provider::{Learned, ModelError, NativeTool, ToolSpec, Usage};
use crate::usage::{self, Tally};
use protocol::approval::Rule;
use protocol::checklist::Task;
use protocol::config::{Compaction, Reasoning, Safety};
use protocol::goal::Goal;
use protocol::record::{Purpose, Record};
use protocol::session::{CallId, Mode, SideId, StreamId, TimerId, TurnId};
use protocol::tool::{Access, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

/// What fills the window, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// The last answer's tokens.
    Counted(Usage),
    /// Behind a summary: tokens of the history. What every request has beside it comes on top.
    Estimated(u64),
}

/// What a session is opened with. The host may replace it between turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The provider's name here.
    pub provider: String,
    /// The model's name at its provider.
    pub model: String,
    /// How hard it thinks.
    pub reasoning: Option<Reasoning>,
    /// The provider's own tools that may be offered.
    pub natives: Vec<NativeTool>,
    /// What this model at this address does not take, as far as it is known.
    pub learned: Learned,
    /// Tokens the model can read and write together, where known.
    pub window: Option<u64>,
    /// When older history is summarised.
    pub compaction: Compaction,
    /// The provider knows how to summarise by itself.
    pub compacts_itself: bool,
    /// The same for all requests of the session.
    pub cache_key: String,
    pub system: System,
    pub tools: Vec<ToolSpec>,
    pub max_tokens: Option<u32>,
    pub temperature: Option<f64>,
    /// Prompts that may wait (`[limits] queued_prompts`).
    pub queued_prompts: usize,
    /// Rounds in which an edit is planned anew (`[limits] edit_rounds`).
    pub edit_rounds: u32,
    /// Model answers in one turn (`[limits] turn_answers`).
    pub turn_answers: u32,
    /// How often a reply that was cut is gone on with (`[limits] continuations`).
    pub continuations: u32,
    /// Turns towards a goal without a message of the person's (`[goal] max_turns`); 0: without end.
    pub goal_turns: u32,
    /// The model is guided step by step and reminded of its checklist (spec 22.2).
    pub guidance: bool,
    /// How a model that fails is asked again.
    pub retries: Retries,
    /// Whose conversation it is.
    pub role: Role,
    /// Somebody can be asked. Without a person, what needs an answer is stored for later or refused (spec 19.9).
    pub attended: bool,
    /// What the person has configured of what may be done without asking. The mode is the session's own.
    pub safety: Safety,
    /// Answers that the person gave for always.
    pub standing: Vec<Rule>,
    /// Whether this system can hold a command to reading.
    pub can_hold: bool,
}

/// How a model that fails is asked again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retries {
    /// Waits for one answer (`[limits] model_retries`).
    pub most: u32,
    /// The first wait, milliseconds; each further one is twice as long (`[limits] model_retry_ms`).
    pub first_ms: u64,
    /// The longest wait that a provider may ask for, milliseconds (`[limits] model_retry_max_secs`).
    pub longest_ms: u64,
    /// What is added to waits that no provider asked for, percent. Drawn for each session, so that not all who were refused at once
    /// come back at once.
    pub spread: u32,
}

impl Settings {
    /// The model as the configuration and the log write it: provider/model.
    pub fn model_id(&self) -> String {
        match self.provider.as_str() {
            "" => self.model.clone(),
            provider => format!("{provider}/{}", self.model),
        }
    }
}

/// One conversation's whole state.
#[derive(Debug)]
pub struct Session {
    mode: Mode,
    settings: Settings,
    rules: Vec<Rule>,
    /// What the model has seen and said.
    history: Vec<Entry>,
    turn: Option<turn::Turn>,
    queue: VecDeque<turn::Queued>,
    /// Approvals whose action ran in this session, by id, and how it ended.
    replayed: BTreeMap<String, Outcome>,
    /// What the model is told when it is asked next.
    untold: Vec<Untold>,
    /// Mode `read_only`, in which the session still is, has denied the model something.
    has_blocked: bool,
    /// What was used since the session began.
    tally: Tally,
    /// What fills the window.
    last: Option<Last>,
    /// Which answer those are of, while it is in the history.
    measured: Option<Measured>,
    /// What the model means to do (spec 10).
    checklist: Vec<Task>,
    /// Answers in a row that have left it as it is.
    stale: u32,
    /// What time it is, milliseconds since the Unix epoch.
    now: u64,
    /// What is known of summaries that were made, or could not be.
    compaction: compacting::State,
    /// What must hold before it stops by itself (spec 23).
    goal: Option<Goal>,
    /// The style that was chosen for this session.
    style: Option<String>,
    /// Turns towards the goal, in a row, in which no tool was called.
    idle_turns: u32,
    /// Side questions that were answered, the newest last.
    asides: VecDeque<side_questions::Exchange>,
    /// Those that are being answered, each with its ticket.
    sides: BTreeMap<SideId, (u64, String)>,
    /// What the run used that ended last.
    last_run: Spent,
    next: Counters,
}

/// What the model is told when the session leaves `read_only` after that.
const UNBLOCKED: &str = "The session has left read_only mode. What was denied to you because of that mode is no longer denied for that reason.";

/// And when it is back before the model was told.
const BLOCKED_AGAIN: &str =
    "The session is in read_only mode again, and what that mode denied is denied again.";

#[derive(Debug)]
struct Untold {
    /// The first answer that can know of it.
    answer: u64,
    text: String,
}

#[derive(Debug, Default)]
struct Counters {
    call: u64,
    stream: u64,
    turn: u64,
    answer: u64,
    timer: u64,
    /// Of the last compaction.
    compaction: u64,
    side: u64,
}

impl Counters {
    fn take(counter: &mut u64) -> u64 {
        let value = *counter;
        *counter += 1;
        value
    }
}

impl Session {
    /// A new session. The first effect it causes is the record of its beginning.
    pub fn new(id: String, cwd: PathBuf, mode: Mode, settings: Settings) -> (Self, Vec<Effect>) {
        let started = Record::Started {
            session: id,
            cwd,
            mode,
            model: settings.model_id(),
        };
        (Self::empty(mode, settings), vec![Effect::Append(started)])
    }

    fn empty(mode: Mode, settings: Settings) -> Self {
        Self {
            mode,
            settings,
            rules: Vec::new(),
            history: Vec::new(),
            turn: None,
            queue: VecDeque::new(),
            untold: Vec::new(),
            has_blocked: false,
            replayed: BTreeMap::new(),
            tally: Tally::default(),
            last: None,
            measured: None,
            checklist: Vec::new(),
            stale: 0,
            now: 0,
            compaction: compacting::State::default(),
            goal: None,
            style: None,
            idle_turns: 0,
            asides: VecDeque::new(),
            sides: BTreeMap::new(),
            last_run: Spent::default(),
            next: Counters::default(),
        }
    }

    /// Says what time it is, in milliseconds since the Unix epoch: there is no clock in here. It stamps the checklist and decides
    /// nothing.
    pub fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// The session was not written here: whoever wrote its prompts, it was not the person, and the classifier of mode
    /// `auto` does not go by them.
    pub fn doubt_prompts(&mut self) {
        for entry in &mut self.history {
            if let Entry::User(said) = entry {
                *entry = Entry::Told(std::mem::take(&mut said.text));
            }
        }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Replaces model, prompt, tools and limits. A running turn goes on with the new ones at its
    /// next answer.
    pub fn configure(&mut self, settings: Settings) -> Vec<Effect> {
        let model = settings.model_id();
        let is_other = model != self.settings.model_id();
        self.settings = settings;
        if !is_other {
            return Vec::new();
        }
        self.resume_compacting();
        vec![Effect::Append(Record::Model { model })]
    }

    /// The model that answers next, as provider/model.
    pub fn model_id(&self) -> String {
        self.settings.model_id()
    }

    /// Tokens of its window, where known.
    pub fn window(&self) -> Option<u64> {
        self.settings.window
    }

    /// How hard it thinks.
    pub fn reasoning(&self) -> Option<Reasoning> {
        self.settings.reasoning
    }

    /// What the session has used since it began.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The tokens of the last answer, which fill the window.
    pub fn last_usage(&self) -> Option<Usage> {
        self.last.map(|it| match it {
            Last::Counted(tokens) => tokens,
            Last::Estimated(history) => Usage {
                input: budget::of_frame(&self.settings).saturating_add(history),
                ..Usage::default()
            },
        })
    }

    /// Counts and records what an answer took, and shows it.
    fn used(&mut self, model: &str, purpose: Purpose, tokens: Usage, out: &mut Vec<Effect>) {
        self.count(model, purpose, tokens);
        out.push(Effect::Append(usage::record(model, purpose, &tokens)));
        // What was asked beside the conversation changes the cost and not the window.
        out.push(Effect::Show(Update::Usage(
            self.last_usage().unwrap_or_default(),
        )));
    }

    fn count(&mut self, model: &str, purpose: Purpose, tokens: Usage) {
        self.tally.add(model, tokens);
        self.spend_on_tasks(&tokens);
        match purpose {
            Purpose::Answer => {
                self.last = Some(Last::Counted(tokens));
                self.measured = self.newest_answer().map(|answer| Measured {
                    answer,
                    tokens: usage::filled(&tokens),
                });
            }
            Purpose::Classifier | Purpose::Compaction | Purpose::Subagent | Purpose::Other => {}
        }
    }

    /// Takes in one thing that happened; answers with what to do about it, in order.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Prompt {
                prompt,
                text,
                pictures,
            } => self.prompt(prompt, text, pictures, &mut effects),
            Input::Cancel => self.cancel(&mut effects),
            Input::CancelPrompt(prompt) => self.cancel_prompt(prompt, &mut effects),
            Input::SetMode(mode) => self.set_mode(mode, &mut effects),
            Input::Command { text, answer } => self.command(text, answer, &mut effects),
            Input::Tell(text) => self.tell_next(text, &mut effects),
            Input::EditChecklist(edit) => self.edit_checklist(&edit, &mut effects),
            Input::Spent {
                model,
                purpose,
                tokens,
            } => {
                self.used(&model, purpose, tokens, &mut effects);
            }
            Input::Model(stream, event) => self.model(stream, event, &mut effects),
            Input::Rewritten(call, arguments) => self.rewritten(call, arguments, &mut effects),
            Input::Planned(call, plan) => self.planned(call, plan, &mut effects),
            Input::Decided(call, decision) => self.decided(call, decision, &mut effects),
            Input::Saved(call, end) => self.saved(call, end, &mut effects),
            Input::Classified(call, review) => self.classified(call, review, &mut effects),
            Input::Compact {
                prompt,
                text,
                focus,
            } => self.compact(prompt, text, focus, &mut effects),
            Input::Side(side, answer) => self.side_answered(side, answer, &mut effects),
            Input::AskAside { ticket, question } => self.ask_aside(ticket, question, &mut effects),
            Input::DropAside(ticket) => self.drop_aside(ticket, &mut effects),
            Input::Goal(condition) => self.set_goal(condition, &mut effects),
            Input::Style(style) => {
                effects.push(Effect::Append(Record::Style {
                    style: style.clone(),
                }));
                self.style = style;
            }
            Input::Reasoning { model, level } => {
                effects.push(Effect::Append(Record::Reasoning { model, level }));
            }
            Input::Remember(rule) => {
                effects.push(Effect::Append(Record::Remembered {
                    rule: Some(rule.clone()),
                }));
                self.rules.push(rule);
            }
            Input::Forget(rule) => self.forget(&rule, &mut effects),
            Input::Queued(call, stored) => self.queued(call, stored, &mut effects),
            Input::Replay(replay) => self.replay(*replay, &mut effects),
            Input::Output(call, text) => self.output(call, text, &mut effects),
            Input::Finished(call, finished) => self.finished(call, finished, &mut effects),
            Input::Woke(timer) => self.woke(timer, &mut effects),
        }
        effects
    }

    /// An answer beside the conversation. One that nobody waits for any more is dropped.
    fn side_answered(
        &mut self,
        side: SideId,
        answer: Result<SideAnswer, ModelError>,
        out: &mut Vec<Effect>,
    ) {
        if self.is_goal_check(side) {
            self.goal_checked(answer, out);
        } else if self.is_summary(side) {
            self.summarised(side, answer, out);
        } else {
            self.aside_answered(side, answer, out);
        }
    }

    fn set_mode(&mut self, mode: Mode, out: &mut Vec<Effect>) {
        if self.mode == mode {
            return;
        }
        let note = self.enter(mode);
        out.push(Effect::Append(Record::Mode { mode }));
        out.push(Effect::Show(Update::Mode(mode)));
        if let Some(note) = note {
            self.tell_next(note.to_owned(), out);
        }
        self.rejudge(out);
    }

    /// Changes the mode; answers with what the model is to be told of what `read_only` has denied it.
    fn enter(&mut self, mode: Mode) -> Option<&'static str> {
        let has_blocked = std::mem::take(&mut self.has_blocked);
        self.mode = mode;
        match mode {
            Mode::Ask | Mode::Auto | Mode::FullAccess => has_blocked.then_some(UNBLOCKED),
            Mode::ReadOnly => {
                let is_due = self.untold.iter().any(|it| it.text == UNBLOCKED);
                is_due.then_some(BLOCKED_AGAIN)
            }
        }
    }

    /// Tells the model something when it is asked next.
    fn tell_next(&mut self, text: String, out: &mut Vec<Effect>) {
        let answer = self.next.answer;
        self.is_to_tell(answer, &text);
        out.push(Effect::Append(Record::Told { answer, text }));
    }

    fn is_to_tell(&mut self, answer: u64, text: &str) {
        self.has_blocked |= text == BLOCKED_AGAIN;
        let text = text.to_owned();
        self.untold.push(Untold { answer, text });
    }

    /// Whether files are put into a checkpoint before this call changes them: a rule of the person's says it, or the
    /// option for all calls.
    pub fn wants_checkpoint(&self, tool: &str, accesses: &[Access]) -> bool {
        let safety = &self.settings.safety;
        policy::checkpoint(&safety.rules, tool, accesses).unwrap_or(safety.checkpoint_on_mutation)
    }

    /// Replaces the answers that count for always: the person's file is another than it was.
    pub fn set_standing(&mut self, standing: Vec<Rule>) {
        self.settings.standing = standing;
    }

    /// What the session was told not to ask about again. What counts for always is not among it.
    pub fn remembered(&self) -> &[Rule] {
        &self.rules
    }

    fn forget(&mut self, rule: &Rule, out: &mut Vec<Effect>) {
        let n_before = self.rules.len();
        self.rules.retain(|it| it != rule);
        if self.rules.len() < n_before {
            out.push(Effect::Append(Record::Forgot { rule: rule.clone() }));
        }
    }

    /// The person sees a command's answer in its place; the model never sees it.
    fn command(&mut self, text: String, answer: String, out: &mut Vec<Effect>) {
        // What was said before it stands before it.
        self.flush(false, out);
        out.push(Effect::Append(Record::Command {
            text,
            answer: answer.clone(),
        }));
        out.push(Effect::Show(Update::Text(answer)));
    }

    /// Puts what happened without the model before the prompt, or behind the results, that it is told with.
    fn tell(&mut self) {
        self.tell_before(u64::MAX);
    }

    /// Only what the answer with this number can know of.
    fn tell_before(&mut self, answer: u64) {
        let untold = self.untold.extract_if(.., |it| it.answer <= answer);
        self.history.extend(untold.map(|it| Entry::Told(it.text)));
    }

    fn next_call(&mut self) -> CallId {
        CallId(Counters::take(&mut self.next.call))
    }

    fn next_stream(&mut self) -> StreamId {
        StreamId(Counters::take(&mut self.next.stream))
    }

    fn next_turn(&mut self) -> TurnId {
        TurnId(Counters::take(&mut self.next.turn))
    }

    fn next_timer(&mut self) -> TimerId {
        TimerId(Counters::take(&mut self.next.timer))
    }

    fn next_answer(&mut self) -> u64 {
        Counters::take(&mut self.next.answer)
    }

    /// What the model said last, whole; empty if it has said nothing since it was last told anything.
    pub fn last_said(&self) -> &str {
        match self.history.last() {
            Some(Entry::Answer(answer)) => &answer.text,
            Some(Entry::User(_) | Entry::Told(_) | Entry::Summary(_)) | None => "",
        }
    }

    /// What the person wrote, oldest first: what work for them may go by.
    pub fn wishes(&self) -> Vec<String> {
        role::wishes(&self.settings.role, &self.history)
            .into_iter()
            .map(str::to_owned)
            .collect()
    }

    /// The running turn, or none.
    pub fn turn(&self) -> Option<TurnId> {
        self.turn.as_ref().map(|it| it.id)
    }

    /// Whether the model is at work.
    pub fn is_answering(&self) -> bool {
        self.turn.as_ref().is_some_and(|it| it.stream.is_some())
    }

    /// The running turn's open calls, for whoever needs to see the state from outside.
    pub fn open_calls(&self) -> impl Iterator<Item = CallId> + '_ {
        self.turn.iter().flat_map(|it| it.calls.keys().copied())
    }

    /// What the model has said since the last record, as an editor shows it.
    pub fn unrecorded(&self) -> Vec<Update> {
        let Some(turn) = &self.turn else {
            return Vec::new();
        };
        let thought = Some(&turn.thought).filter(|it| !it.is_empty());
        let text = Some(&turn.text).filter(|it| !it.is_empty());
        let thought = thought.cloned().map(Update::Thought);
        let text = text.cloned().map(Update::Text);
        thought.into_iter().chain(text).collect()
    }
}

/// Open calls by id; a call leaves when its result is recorded.
type Calls = BTreeMap<CallId, call::Call>;
