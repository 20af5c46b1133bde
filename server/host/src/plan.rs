//! A tool call ready to run: what it would do, and the work as a one-shot closure.

use crate::documents::Snapshot;
use crate::event::{Editor, Event, SessionKey};
use crate::memory::Memory;
use crate::process::Children;
use crate::process::background::Jobs;
use crate::process::sandbox::{self, Sandbox};
use crate::store::answers::Answers;
use crate::store::checkpoints::{Action, Checkpoints};
use crate::store::journal::Journals;
use crate::unsaved::Unsaved;
use crate::workspace::{self, FilePath, Workspace};
use engine::agents::{Kind, Kinds};
use engine::policy::Hold;
use engine::policy::shell::{Shell, Surroundings};
use engine::provider::Image;
use engine::redact::redact;
use engine::session::{Planned, Preview};
use engine::text::{Encoding, visible_line};
use futures_util::future::BoxFuture;
use protocol::acp::ToolKind;
use protocol::config::{Edits, Exec, Filesystem, Limits, Network};
use protocol::hunks::ProposedHunk;
use protocol::record::EditedFile;
use protocol::review::Author;
use protocol::session::CallId;
use protocol::tool::{Access, Outcome, Place};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// SHA-256 of a text that the model has seen.
pub type TextHash = [u8; 32];

pub fn text_hash(text: &str) -> TextHash {
    Sha256::digest(text.as_bytes()).into()
}

/// The world as a tool sees it while it plans. Cheap to clone; documents are as of its making.
#[derive(Clone)]
pub struct World {
    pub session: SessionKey,
    /// This call, of that session.
    pub call: CallId,
    /// Whose work this is: what it changes is this author's. A subagent works for a call of another session.
    pub author: Author,
    pub workspace: Arc<Workspace>,
    pub documents: Snapshot,
    /// Files that this session has read or written, as they were then.
    pub seen: Arc<HashMap<PathBuf, TextHash>>,
    pub given: Arc<Given>,
    /// The session's log; none: the call is of no session.
    pub log: Option<Arc<Path>>,
    pub editor: Editor,
    pub encoding: Encoding,
    /// The editor applies `documentChanges` with versions.
    pub versioned_edits: bool,
    pub file_operations: FileOperations,
    pub limits: Arc<Limits>,
    pub edits: Edits,
    pub exec: Exec,
    pub network: Network,
    pub filesystem: Filesystem,
    pub locks: Arc<Locks>,
    pub children: Arc<Children>,
    /// Commands that run, of all sessions.
    pub jobs: Jobs,
    pub journals: Journals,
    pub checkpoints: Arc<Checkpoints>,
    /// Whether an agent's change to files first makes a checkpoint of them (`[safety] checkpoint_on_mutation`).
    pub checkpoint_first: bool,
    /// What the model asked for: a checkpoint records it.
    pub action: Option<Arc<Action>>,
    /// What is kept over sessions; missing where that is switched off.
    pub memory: Option<Memory>,
    /// Answers of the person's that count for later questions too.
    pub answers: Answers,
    /// Somebody can be asked.
    pub attended: bool,
    /// The kinds of subagents that the session can start.
    pub kinds: Arc<Kinds>,
    /// Whose call it is, where that is a subagent.
    pub agent: Option<Arc<Kind>>,
    /// Folders of skills outside the project, resolved: what is in them may be read as if it were the project's.
    pub skill_folders: Arc<[PathBuf]>,
    /// Names of environment variables that hold keys, beside the well-known ones.
    pub key_variables: Arc<[String]>,
}

impl World {
    /// What a command that runs in this folder is kept from. Held to reading, it writes nothing and reaches nobody,
    /// whatever the options allow.
    pub fn sandbox(&self, folder: &FilePath, hold: Hold) -> Option<Sandbox> {
        if hold == Hold::ReadOnly {
            return Some(Sandbox {
                network: false,
                files: sandbox::Files::Nothing,
                protected: self.workspace.own_folders(),
            });
        }
        let files = match self.filesystem {
            Filesystem::Open => sandbox::Files::Free,
            Filesystem::Project => {
                let mut places = self.workspace.roots().to_vec();
                places.extend(self.workspace.others().map(Path::to_path_buf));
                places.extend(self.workspace.scratchpad().map(Path::to_path_buf));
                places.push(folder.real.clone());
                let temporary = std::env::temp_dir();
                places.push(temporary.canonicalize().unwrap_or(temporary));
                sandbox::Files::Below(places)
            }
        };
        let network = self.network == Network::Allow;
        if network && files == sandbox::Files::Free {
            return None;
        }
        Some(Sandbox {
            network,
            files,
            protected: self.workspace.own_folders(),
        })
    }
}

impl World {
    /// Where a file lies for reading: the person's skills are there to be read (spec 21.2).
    pub fn place_to_read(&self, file: &FilePath) -> Place {
        match self
            .skill_folders
            .iter()
            .any(|it| file.real.starts_with(it))
        {
            true => Place::AddedDir,
            false => file.place,
        }
    }

    /// Where a command line is read, for a folder that it would run in.
    pub fn surroundings(&self, folder: &FilePath) -> Surroundings {
        let own = self.workspace.roots().iter().map(PathBuf::as_path);
        let all = own
            .chain(self.workspace.others())
            .chain(self.workspace.scratchpad());
        Surroundings {
            shell: if cfg!(windows) {
                Shell::PowerShell
            } else {
                Shell::Posix
            },
            cwd: folder.real.clone(),
            home: workspace::home(),
            roots: all.map(Path::to_path_buf).collect(),
            scratchpad: self.workspace.scratchpad().map(Path::to_path_buf),
            protected: self.workspace.protected().collect(),
        }
    }
}

/// What an editor does to whole files in a workspace edit, beside changing texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileOperations {
    pub delete: bool,
    pub rename: bool,
}

/// What the model was given to read in this turn, so that it is not sent twice (spec 1.1). Whatever takes
/// results out of the model's sight must begin another.
///
/// A lock and no message, because the calls of one message run at the same time, and the second must know of
/// the first before the loop has heard of its end.
#[derive(Debug, Default)]
pub struct Given(Mutex<HashMap<View, TextHash>>);

/// What of a file a call asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    pub path: PathBuf,
    pub range: Option<(i64, i64)>,
    pub is_numbered: bool,
}

impl Given {
    /// The most views that are remembered.
    const MOST: usize = 128;

    /// Whether this very text was given for this view before; from now on it was.
    pub fn again(&self, view: View, text: TextHash) -> bool {
        // A poisoned map is still a map.
        let mut given = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match given.get_mut(&view) {
            Some(before) => std::mem::replace(before, text) == text,
            None => {
                if given.len() < Self::MOST {
                    given.insert(view, text);
                }
                false
            }
        }
    }
}

/// One at a time for each file. A lock and no message, because the waiting is done by tasks, which
/// must not hold the loop up, and because the lock must outlive an edit's many steps.
#[derive(Debug, Default)]
pub struct Locks(Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>);

impl Locks {
    /// Waits for the turn of several files. In one order for all, so that no two wait for each other.
    pub async fn files<'a>(
        &self,
        paths: impl Iterator<Item = &'a Path>,
    ) -> Vec<tokio::sync::OwnedMutexGuard<()>> {
        let sorted: std::collections::BTreeSet<_> = paths.collect();
        let mut turns = Vec::with_capacity(sorted.len());
        for path in sorted {
            turns.push(self.file(path).await);
        }
        turns
    }

    /// Waits for the file's turn. The guard ends it.
    pub async fn file(&self, path: &Path) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            // A poisoned map is still a map.
            let mut locks = self
                .0
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            locks.retain(|_, it| Arc::strong_count(it) > 1);
            locks.entry(path.to_path_buf()).or_default().clone()
        };
        lock.lock_owned().await
    }
}

/// The most characters of a title (spec 19.7 shows details up to 200; a preview has the rest).
const MAX_TITLE: usize = 200;

/// What a call would do.
pub struct Plan {
    title: String,
    kind: ToolKind,
    accesses: Vec<Access>,
    preview: Vec<Preview>,
    shown: String,
    action: Option<Arc<Action>>,
    hunks: Vec<ProposedHunk>,
    files: Files,
    unsaved: Vec<Unsaved>,
    work: Work,
}

/// The part of a plan's hunks that the person wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// Their ids.
    pub hunks: Vec<String>,
    /// Why not the others, in the person's words.
    pub note: Option<String>,
}

/// Asked for seldom, and costs a hash of every text.
type Files = Box<dyn Fn() -> Vec<EditedFile> + Send + Sync>;

type Work = Box<dyn FnOnce(Run) -> BoxFuture<'static, Result<Done, String>> + Send>;

/// What running work may use beside its plan.
pub struct Run {
    /// The world as it is now, not as it was when the plan was made.
    pub world: World,
    pub token: CancellationToken,
    pub output: Output,
    /// Missing where all of it is wanted.
    pub accepted: Option<Accepted>,
    /// What a command is held to beside its sandbox.
    pub hold: Hold,
}

/// Where running work says what the person may see of it.
#[derive(Clone)]
pub struct Output {
    pub session: SessionKey,
    pub call: CallId,
    pub inbox: mpsc::Sender<Event>,
}

impl Output {
    pub async fn say(&self, text: String) {
        // A loop that is gone needs no words.
        let _ = self
            .inbox
            .send(Event::Output(self.session.clone(), self.call, text))
            .await;
    }
}

/// How work went; an `Err` beside it is a text for the model.
#[derive(Debug, PartialEq)]
pub enum Done {
    Success {
        /// For the model.
        text: String,
        /// For the person, if that is another text.
        shown: Option<String>,
        exit_code: Option<i32>,
        /// Files whose text the model knows now.
        saw: Vec<(PathBuf, TextHash)>,
        /// Whether a change was made at a place that is not written quite as the model wrote it (spec 1.3).
        fuzzy: bool,
        /// For the model and the person.
        images: Vec<Image>,
        lines: Lines,
    },
    Cancelled,
    /// What the plan was made on has changed; nothing was done.
    Moved,
}

/// Lines of files that came and went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    pub added: u64,
    pub removed: u64,
}

impl Done {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Success {
            text: text.into(),
            shown: None,
            exit_code: None,
            saw: Vec::new(),
            fuzzy: false,
            images: Vec::new(),
            lines: Lines::default(),
        }
    }
}

/// What the loop hears of finished work.
pub struct WorkEnd {
    pub done: Result<Done, String>,
    pub duration_ms: u64,
}

impl WorkEnd {
    /// What an edit did.
    pub fn lines(&self) -> Lines {
        match &self.done {
            Ok(Done::Success { lines, .. }) => *lines,
            Ok(Done::Cancelled | Done::Moved) | Err(_) => Lines::default(),
        }
    }

    /// Splits into what the session hears and what the model knows now.
    pub fn into_finished(self) -> (engine::session::Finished, Vec<(PathBuf, TextHash)>) {
        use engine::session::Finished;
        let duration_ms = self.duration_ms;
        match self.done {
            Ok(Done::Moved) => (Finished::Moved, Vec::new()),
            Ok(Done::Success {
                text,
                shown,
                exit_code,
                saw,
                fuzzy,
                images,
                lines: _,
            }) => {
                let outcome = Outcome::Success;
                (
                    Finished::Done {
                        outcome,
                        text,
                        shown,
                        duration_ms,
                        exit_code,
                        images,
                        fuzzy,
                    },
                    saw,
                )
            }
            Ok(Done::Cancelled) => {
                let (outcome, text) = (Outcome::Cancelled, "Cancelled.".to_owned());
                (
                    Finished::Done {
                        outcome,
                        text,
                        shown: None,
                        duration_ms,
                        exit_code: None,
                        images: Vec::new(),
                        fuzzy: false,
                    },
                    Vec::new(),
                )
            }
            Err(text) => {
                let outcome = Outcome::Error;
                (
                    Finished::Done {
                        outcome,
                        text,
                        shown: None,
                        duration_ms,
                        exit_code: None,
                        images: Vec::new(),
                        fuzzy: false,
                    },
                    Vec::new(),
                )
            }
        }
    }
}

impl Plan {
    /// Begins a plan; `then` ends it. What a title names may come from the model or from a file's name, so
    /// only the start of its first line is taken, with nothing hidden and no secret in it.
    pub fn build(title: String) -> PlanBuilder {
        PlanBuilder {
            title: visible_line(&redact(&title), MAX_TITLE),
            accesses: Vec::new(),
            preview: Vec::new(),
            shown: None,
            hunks: Vec::new(),
            files: Box::new(Vec::new),
            unsaved: Vec::new(),
        }
    }

    /// What the engine judges and the person is shown.
    pub fn planned(&self) -> Planned {
        Planned {
            title: self.title.clone(),
            kind: self.kind,
            accesses: self.accesses.clone(),
            preview: self.preview.clone(),
            shown: self.shown.clone(),
            unsaved: self.unsaved.iter().map(|it| it.shown.clone()).collect(),
        }
    }

    /// What it touches.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// Documents that it would not see as they are.
    pub fn unsaved(&self) -> &[Unsaved] {
        &self.unsaved
    }

    /// What it makes of which files, for what must be known again later.
    pub fn files(&self) -> Vec<EditedFile> {
        (self.files)()
    }

    /// The kind is the tool's; whoever called the tool sets it.
    pub fn of_kind(mut self, kind: ToolKind) -> Plan {
        self.kind = kind;
        self
    }

    /// What the model asked for, as it wrote it.
    pub fn of_action(mut self, action: Arc<Action>) -> Plan {
        self.action = Some(action);
        self
    }

    pub fn action(&self) -> Option<Arc<Action>> {
        self.action.clone()
    }

    /// What it would change, place by place, for a person who wants only a part of it.
    pub fn hunks(&self) -> &[ProposedHunk] {
        &self.hunks
    }

    /// Starts the work.
    pub fn run(self, run: Run) -> BoxFuture<'static, Result<Done, String>> {
        (self.work)(run)
    }
}

pub struct PlanBuilder {
    title: String,
    accesses: Vec<Access>,
    preview: Vec<Preview>,
    shown: Option<String>,
    hunks: Vec<ProposedHunk>,
    files: Files,
    unsaved: Vec<Unsaved>,
}

impl PlanBuilder {
    pub fn reads(self, file: &FilePath) -> Self {
        self.reads_at(file, file.place)
    }

    /// As [`reads`](Self::reads), of a file that is judged as if it lay elsewhere.
    pub fn reads_at(mut self, file: &FilePath, place: Place) -> Self {
        self.accesses.push(Access::Read {
            path: file.real.clone(),
            place,
        });
        self
    }

    pub fn writes(mut self, file: &FilePath) -> Self {
        self.accesses.push(Access::Write {
            path: file.real.clone(),
            place: file.place,
        });
        self
    }

    pub fn access(mut self, access: Access) -> Self {
        self.accesses.push(access);
        self
    }

    pub fn preview(mut self, preview: Preview) -> Self {
        self.preview.push(preview);
        self
    }

    pub fn hunks(mut self, hunks: Vec<ProposedHunk>) -> Self {
        self.hunks = hunks;
        self
    }

    /// What it makes of which files.
    pub fn edits(mut self, files: impl Fn() -> Vec<EditedFile> + Send + Sync + 'static) -> Self {
        self.files = Box::new(files);
        self
    }

    /// Documents that it would not see as they are.
    pub fn unsaved(mut self, unsaved: Vec<Unsaved>) -> Self {
        self.unsaved = unsaved;
        self
    }

    /// What the person is shown, where the accesses alone do not say everything. An approval is bound to its hash.
    pub fn shown(mut self, all: String) -> Self {
        self.shown = Some(all);
        self
    }

    pub fn then<F>(self, work: impl FnOnce(Run) -> F + Send + 'static) -> Plan
    where
        F: Future<Output = Result<Done, String>> + Send + 'static,
    {
        let shown = self
            .shown
            .unwrap_or_else(|| format!("{}\n{:?}", self.title, self.accesses));
        // It is kept with the approval, and may hold a secret.
        let shown = text_hash(&shown)
            .iter()
            .map(|it| format!("{it:02x}"))
            .collect();
        Plan {
            title: self.title,
            kind: ToolKind::Other,
            accesses: self.accesses,
            preview: self.preview,
            shown,
            action: None,
            hunks: self.hunks,
            files: self.files,
            unsaved: self.unsaved,
            work: Box::new(move |run| Box::pin(work(run))),
        }
    }
}
