//! A session and what the host holds for it: its log, its plans, and who waits for its prompts.

use crate::event::SessionKey;
use crate::lsp::{Id, Reply};
use crate::models::Choice;
use crate::plan::{Accepted, Given, Lines, Plan, TextHash};
use crate::scratchpad::Scratchpad;
use crate::store::Log;
use crate::store::learned::ModelKey;
use crate::trace::Trace;
use crate::workspace::Workspace;
use crate::worktree::Checkout;
use engine::agents::{Kind, Kinds, Progress, Roster};
use engine::command_files::CommandFile;
use engine::context::instructions::Further;
use engine::context::project::InstructionFile;
use engine::provider::Image;
use engine::redact::Stream;
use engine::session::{Effect, Input, Session, Settings, Update};
use engine::trace::Act;
use protocol::approval::Rule;
use protocol::config::{Config, Hook};
use protocol::session::{AgentId, CallId, PromptId, TurnId};
use protocol::summary::Summary;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;

pub struct OpenSession {
    pub key: SessionKey,
    pub session: Session,
    pub log: Log,
    /// A failed append was reported.
    pub log_failed: bool,
    pub workspace: Arc<Workspace>,
    pub scratchpad: Option<Scratchpad>,
    /// With the person's choice in it.
    pub config: Arc<Config>,
    /// What the person has chosen for this session.
    pub choice: Choice,
    /// What files told the model.
    pub told: Told,
    /// Planned calls that may run.
    pub plans: HashMap<CallId, Plan>,
    /// Calls of which the person wants only a part, also when they are planned anew.
    pub accepted: HashMap<CallId, Accepted>,
    /// Calls whose work is under way.
    pub running: HashSet<CallId>,
    /// What tells that their work is over, also when it was cancelled.
    pub working: HashMap<CallId, Working>,
    /// What the model knows of files; see `write_file`.
    pub seen: Arc<HashMap<PathBuf, TextHash>>,
    /// What it was given to read in this turn.
    pub given: Arc<Given>,
    pub waiting: HashMap<PromptId, Waiter>,
    /// The subagents that work for it, and those that can be gone on with.
    pub roster: Roster,
    /// What it is to its parent, where it is a subagent itself.
    pub child: Option<Box<Child>>,
    /// The model that was asked last.
    pub asked: Option<ModelKey>,
    /// What is shown of the answer that streams.
    pub streaming: Streaming,
    /// Where what happens to the session is written, if the person wants that.
    pub trace: Option<Trace>,
    /// Prompts that wait until what they mention is looked up, and those behind them.
    pub unsent: VecDeque<Unsent>,
    /// Side questions that are being answered, by their tickets.
    pub asides: HashMap<u64, AsideWaiter>,
    pub run: RunClock,
    next_prompt: u64,
    next_ticket: u64,
}

/// The work of a call that runs.
pub struct Working {
    /// The call in one line.
    pub title: String,
    /// Its other end goes with the work.
    pub ended: oneshot::Receiver<()>,
}

/// Who waits for the answer to a side question.
pub struct AsideWaiter {
    pub asker: AsideAsker,
    /// The answer as it streams, without secrets.
    pub stream: Stream,
}

pub enum AsideAsker {
    /// `undine/btw`; `token` names the question in its chunks.
    Request {
        id: Id,
        reply: Reply,
        token: Option<String>,
    },
    /// A prompt, `/btw`.
    Prompt { id: Id, reply: Reply },
}

impl AsideAsker {
    /// The request that is answered.
    pub fn id(&self) -> &Id {
        match self {
            Self::Request { id, .. } | Self::Prompt { id, .. } => id,
        }
    }
}

/// What only the host knows of a run: its time, and the lines that its edits changed.
#[derive(Default)]
pub struct RunClock {
    began: Option<(TurnId, Instant)>,
    lines: Lines,
}

impl RunClock {
    /// A prompt of this turn was taken.
    pub fn begins(&mut self, turn: TurnId) {
        if self.began.is_none_or(|(it, _)| it != turn) {
            self.began = Some((turn, Instant::now()));
            self.lines = Lines::default();
        }
    }

    pub fn changed(&mut self, lines: Lines) {
        self.lines.added += lines.added;
        self.lines.removed += lines.removed;
    }
}

/// What a person sends.
pub struct Said {
    /// Embedded files are quoted in it; links are named, for the model to read.
    pub text: String,
    pub pictures: Vec<Image>,
}

/// A prompt that is about to be sent.
pub struct Unsent {
    pub number: u64,
    pub id: Id,
    pub reply: Reply,
    /// What the person wrote.
    pub said: Said,
    /// What it mentions; none as long as that is not looked up.
    pub mentioned: Option<String>,
}

/// What the model is told of files that may change at any time: looked at before each prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// How to work in the project.
    pub files: Vec<InstructionFile>,
    pub further: Further,
    /// Who can work for it.
    pub kinds: Arc<Kinds>,
    /// Folders of skills outside the project, resolved.
    pub skill_folders: Arc<[PathBuf]>,
    /// Commands that files define.
    pub commands: Vec<CommandFile>,
    /// The person's, and the project's that they trust.
    pub hooks: Arc<[Hook]>,
}

/// A subagent, as the session it works for has it.
pub struct Child {
    pub parent: SessionKey,
    pub id: AgentId,
    pub kind: Arc<Kind>,
    /// What it is called; never empty.
    pub label: String,
    /// The call that it works for, of which what it changes is a part, and that call's turn.
    pub call: CallId,
    pub turn: TurnId,
    /// Who waits for the report; nobody, where it works in the background.
    pub reply: Option<oneshot::Sender<Result<String, String>>>,
    /// What it is to do once it may work.
    pub task: Option<String>,
    /// What the person wrote to the parent before.
    pub wishes: Vec<String>,
    /// Counts its pieces of work.
    pub work: u64,
    /// What it has reported, while its changes are brought into the project.
    pub report: Option<String>,
    /// Its checkout was named to the model and the person, and stays on the disk.
    pub is_named: bool,
    /// Where it works, if that is not the project.
    pub checkout: Option<Box<Checkout>>,
    /// It has worked as long as it may, so many seconds, and is being stopped.
    pub timed_out: Option<u64>,
    pub progress: Progress,
    /// When it was shown last what it does.
    pub shown: Option<Instant>,
    /// It will be shown soon.
    pub is_due: bool,
}

/// The text that streams to the person, without secrets. One at a time: an answer's text and its thoughts alternate.
#[derive(Default)]
pub struct Streaming {
    stream: Stream,
    is_thought: bool,
}

impl Streaming {
    /// What can be shown, in order, of an update that is a piece of text; any other comes back as it is.
    pub fn take(&mut self, update: Update) -> Vec<Update> {
        let (text, is_thought) = match &update {
            Update::Text(text) => (text, false),
            Update::Thought(text) => (text, true),
            Update::User(_)
            | Update::UserPicture(_)
            | Update::Call { .. }
            | Update::CallChanged(..)
            | Update::Mode(_)
            | Update::Checklist(_)
            | Update::Notice(_)
            | Update::Usage(_)
            | Update::Retrying(_) => return vec![update],
        };
        let before = match is_thought == self.is_thought {
            true => None,
            false => self.end(),
        };
        self.is_thought = is_thought;
        let shown = self.stream.push(text);
        let now = self.update(shown);
        before.into_iter().chain(now).collect()
    }

    /// What was held back, when nothing more of the text comes.
    pub fn end(&mut self) -> Option<Update> {
        let rest = self.stream.end();
        self.update(rest)
    }

    fn update(&self, text: String) -> Option<Update> {
        match text.is_empty() {
            true => None,
            false if self.is_thought => Some(Update::Thought(text)),
            false => Some(Update::Text(text)),
        }
    }
}

/// Who waits for a prompt.
pub enum Waiter {
    /// A `session/prompt` request.
    Request { id: Id, reply: Reply },
    /// A task that a code action started.
    Task(TaskView),
    /// The session that it works for.
    Parent,
}

/// What an editor without a chat sees of a task.
pub struct TaskView {
    pub title: String,
    /// The progress token, where the editor shows progress.
    pub token: Option<String>,
    /// The answer so far.
    pub answer: String,
}

impl OpenSession {
    pub fn new(
        key: SessionKey,
        session: Session,
        log: Log,
        workspace: Arc<Workspace>,
        scratchpad: Option<Scratchpad>,
        config: Arc<Config>,
    ) -> Self {
        Self {
            key,
            session,
            log,
            log_failed: false,
            workspace,
            scratchpad,
            config,
            choice: Choice::default(),
            told: Told::default(),
            plans: HashMap::new(),
            accepted: HashMap::new(),
            running: HashSet::new(),
            working: HashMap::new(),
            seen: Arc::default(),
            given: Arc::default(),
            waiting: HashMap::new(),
            roster: Roster::default(),
            child: None,
            asked: None,
            streaming: Streaming::default(),
            trace: None,
            unsent: VecDeque::new(),
            asides: HashMap::new(),
            run: RunClock::default(),
            next_prompt: 0,
            next_ticket: 0,
        }
    }

    /// A new side question's.
    pub fn next_ticket(&mut self) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        ticket
    }

    /// What the run took that ended just now.
    pub fn summary(&self) -> Summary {
        let spent = self.session.last_run();
        let elapsed = self.run.began.map(|(_, it)| it.elapsed());
        let duration_ms = elapsed.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
        let Lines { added, removed } = self.run.lines;
        let tokens = &spent.tokens;
        let sum = |parts: &[u64]| parts.iter().copied().fold(0, u64::saturating_add);
        Summary {
            text: spent.line(duration_ms, (added, removed)),
            duration_ms,
            input: sum(&[tokens.input, tokens.cached, tokens.cache_write]),
            output: sum(&[tokens.output, tokens.reasoning]),
            added,
            removed,
            interrupted: spent.interrupted,
        }
    }

    /// Lets the session take something in. All that changes it goes through here and the next two, so that it is in its
    /// trace.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        let Some(trace) = &mut self.trace else {
            return self.session.step(input);
        };
        let effects = self.session.step(input.clone());
        trace.record(Act::Step(input), &effects);
        effects
    }

    /// As [`Session::configure`].
    pub fn configure(&mut self, settings: Settings) -> Vec<Effect> {
        let Some(trace) = &mut self.trace else {
            return self.session.configure(settings);
        };
        let effects = self.session.configure(settings.clone());
        trace.record(Act::Configure(Box::new(settings)), &effects);
        effects
    }

    /// As [`Session::set_standing`].
    pub fn set_standing(&mut self, standing: Vec<Rule>) {
        if let Some(trace) = &mut self.trace {
            trace.record(Act::Standing(standing.clone()), &[]);
        }
        self.session.set_standing(standing);
    }

    pub fn next_prompt(&mut self) -> PromptId {
        let id = PromptId(self.next_prompt);
        self.next_prompt += 1;
        id
    }

    /// Nothing is in the model's hands or a tool's: files may change under the session now.
    pub fn is_at_boundary(&self) -> bool {
        self.running.is_empty() && !self.session.is_answering()
    }

    /// The prompt that a request waits for.
    pub fn prompt_of(&self, request: &Id) -> Option<PromptId> {
        self.waiting
            .iter()
            .find_map(|(prompt, waiter)| match waiter {
                Waiter::Request { id, .. } if id == request => Some(*prompt),
                Waiter::Request { .. } | Waiter::Task(_) | Waiter::Parent => None,
            })
    }

    /// The prompt of the task that a progress token stands for.
    pub fn prompt_of_token(&self, token: &str) -> Option<PromptId> {
        self.waiting
            .iter()
            .find_map(|(prompt, waiter)| match waiter {
                Waiter::Task(view) if view.token.as_deref() == Some(token) => Some(*prompt),
                Waiter::Task(_) | Waiter::Request { .. } | Waiter::Parent => None,
            })
    }
}
