//! Commands that run in tasks of their own, so that whoever waits for one can let it go on in the background.
//!
//! A [`Job`] is one command; [`Jobs`] knows those of all sessions. A job in the foreground keeps its output in memory
//! and ends with whoever waits for it. In the background it writes a log, and ends by itself, by [`Job::stop`] or
//! with the server. How it ended is what its launcher says; its number is never looked up or signalled from here,
//! so it makes no difference who has that number later.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, SystemTime};

use protocol::process::ProcessState;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::process::capture::{Capture, Captured};
use crate::process::children::Place;
use crate::process::clean::clean;
use crate::process::log::Log;
pub use crate::process::log::Piece;
use crate::process::{Command, End, Heard, follow};

/// Most bytes of a log (spec 0.6).
const LOG_BYTES: u64 = 64 * 1024 * 1024;

/// Logs of servers that are gone are kept this long.
const LOG_DAYS: u64 = 7;

/// Ended jobs of one session that are remembered.
const MOST_ENDED: usize = 64;

/// What may run as long as it likes: until another end, some years.
pub const NO_TIMEOUT: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Told of each session whose jobs in the background are others now.
pub type OnChange = Box<dyn Fn(&Arc<str>) + Send + Sync>;

/// All jobs. Cheap to clone.
///
/// A lock and no message, because the jobs' own tasks, tools and the loop look at them, and none of them may wait
/// for another.
#[derive(Clone)]
pub struct Jobs {
    folder: PathBuf,
    jobs: Arc<Mutex<Vec<Arc<Job>>>>,
    on_change: Arc<OnChange>,
    swept: Arc<Once>,
}

/// One command. Shared between its task and all who look at it.
pub struct Job {
    /// The session it belongs to.
    pub owner: Arc<str>,
    /// The tool call that began it.
    pub call: String,
    pub line: String,
    pub folder: PathBuf,
    /// Milliseconds since the Unix epoch.
    pub time: u64,
    started: Instant,
    stop: CancellationToken,
    progress: watch::Sender<Progress>,
    /// A lock, because the output comes in one task and is read in others.
    kept: Mutex<Kept>,
}

/// How far a job is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// The number of its process, once it has begun.
    pub pid: Option<i32>,
    /// Grows with each piece of output.
    pub n_bytes: u64,
    pub is_background: bool,
    /// How it ended, and after how long; or why it never ran, as a sentence without its dot.
    pub over: Option<Result<(End, Duration), String>>,
}

#[derive(Debug)]
struct Kept {
    output: Output,
    /// How far the model has read.
    read_to: u64,
}

#[derive(Debug)]
enum Output {
    Memory(Capture),
    Log(Log),
    /// It has been handed out.
    Gone,
}

/// A job that ends when this is dropped.
pub struct Foreground {
    pub job: Arc<Job>,
    guard: DropGuard,
}

impl Foreground {
    /// From now on it goes on without anybody waiting for it.
    pub fn let_go(self) -> Arc<Job> {
        self.guard.disarm();
        self.job
    }
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs").finish_non_exhaustive()
    }
}

impl Jobs {
    /// Logs will lie in this folder, which may be missing.
    pub fn new(folder: PathBuf, on_change: OnChange) -> Self {
        Self {
            folder,
            jobs: Arc::default(),
            on_change: Arc::new(on_change),
            swept: Arc::new(Once::new()),
        }
    }

    /// Starts a command in a task of its own, in the foreground.
    pub fn start(
        &self,
        owner: Arc<str>,
        call: String,
        command: Command,
        place: Place,
    ) -> Foreground {
        let stop = CancellationToken::new();
        let job = Arc::new(Job {
            owner,
            call,
            line: command.line.clone(),
            folder: command.folder.clone(),
            time: now_ms(),
            started: Instant::now(),
            stop: stop.clone(),
            progress: watch::Sender::new(Progress::default()),
            kept: Mutex::new(Kept {
                output: Output::Memory(Capture::new(command.limits.n_output)),
                read_to: 0,
            }),
        });
        self.all().push(job.clone());
        let (jobs, running) = (self.clone(), job.clone());
        tokio::spawn(async move {
            // Also when the task is dropped with the runtime, or panics: whoever waits must hear of an end.
            let ending = Ending(jobs, running.clone());
            let ended = follow(command, place, running.stop.clone(), |it| running.hear(it)).await;
            ending.with(ended.map_err(|error| error.to_string()));
        });
        Foreground {
            job,
            guard: stop.drop_guard(),
        }
    }

    /// Moves a job to the background: its output goes to a log from now on, what it has said so far first. Answers
    /// false for one that is over or there already.
    ///
    /// # Errors
    /// If the log cannot be made; the job stays where it is.
    pub fn detach(&self, job: &Arc<Job>) -> io::Result<bool> {
        let progress = job.progress();
        let Some(pid) = progress.pid else {
            return Ok(false);
        };
        {
            let mut kept = job.kept();
            if job.is_over() || !matches!(kept.output, Output::Memory(_)) {
                return Ok(false);
            }
            let path = self.folder.join(format!("bg-{pid}-{}.log", job.time));
            let mut log = Log::create(path, LOG_BYTES)?;
            if let Output::Memory(capture) = std::mem::replace(&mut kept.output, Output::Gone) {
                log.append(&capture.into_bytes());
            }
            kept.output = Output::Log(log);
            // While nobody else can say that it is over: it is then forgotten or in the list, and not both.
            job.progress.send_modify(|it| it.is_background = true);
        }
        self.swept.call_once(|| {
            let jobs = self.clone();
            drop(tokio::task::spawn_blocking(move || jobs.sweep()));
        });
        self.forget_old(&job.owner);
        (self.on_change)(&job.owner);
        Ok(true)
    }

    /// A session's jobs in the background, oldest first.
    pub fn list(&self, owner: &str) -> Vec<Arc<Job>> {
        let all = self.all();
        let own = all.iter().filter(|it| &*it.owner == owner);
        own.filter(|it| it.progress().is_background)
            .cloned()
            .collect()
    }

    /// A session's jobs that somebody waits for.
    pub fn foreground(&self, owner: &str) -> Vec<Arc<Job>> {
        let all = self.all();
        let own = all.iter().filter(|it| &*it.owner == owner);
        own.filter(|it| !it.progress().is_background)
            .cloned()
            .collect()
    }

    /// A session's job by `bg-1234` or `1234`. Of two with one number, the newer: the older is over.
    pub fn find(&self, owner: &str, id: &str) -> Option<Arc<Job>> {
        let id = id.trim();
        let number = id.strip_prefix("bg-").unwrap_or(id);
        let pid: i32 = number.parse().ok()?;
        let own = self.list(owner).into_iter().rev();
        own.into_iter().find(|it| it.progress().pid == Some(pid))
    }

    /// Removes logs of servers that are long gone.
    fn sweep(&self) {
        let live: HashSet<PathBuf> = self.all().iter().filter_map(|it| it.log()).collect();
        let oldest = SystemTime::now() - Duration::from_secs(LOG_DAYS * 24 * 3600);
        for entry in std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
        {
            let is_old = entry
                .metadata()
                .and_then(|it| it.modified())
                .is_ok_and(|it| it < oldest);
            let path = entry.path();
            if is_old && path.extension().is_some_and(|it| it == "log") && !live.contains(&path) {
                // Another server may sweep as well.
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn forget_old(&self, owner: &Arc<str>) {
        let mut all = self.all();
        let is_ended = |it: &Arc<Job>| it.owner == *owner && it.progress().over.is_some();
        let n_ended = all.iter().filter(|it| is_ended(it)).count();
        let mut n_extra = n_ended.saturating_sub(MOST_ENDED);
        all.retain(|it| {
            let is_extra = n_extra > 0 && is_ended(it);
            n_extra -= usize::from(is_extra);
            !is_extra
        });
    }

    fn over(&self, job: &Arc<Job>, how: Result<(End, Duration), String>) {
        {
            let mut kept = job.kept();
            match &mut kept.output {
                Output::Log(log) => log.close(),
                Output::Memory(_) | Output::Gone => {}
            }
            job.progress.send_modify(|it| it.over = Some(how));
        }
        if job.progress().is_background {
            (self.on_change)(&job.owner);
        } else {
            self.all().retain(|it| !Arc::ptr_eq(it, job));
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        // A poisoned list is still a list.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that a job is over, once.
struct Ending(Jobs, Arc<Job>);

impl Ending {
    fn with(self, how: Result<(End, Duration), String>) {
        self.0.over(&self.1, how);
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if self.1.progress().over.is_none() {
            self.0.over(&self.1, Ok((End::Cancelled, self.1.age())));
        }
    }
}

impl Progress {
    /// How it is now, as far as that is known.
    pub fn state(&self) -> ProcessState {
        match &self.over {
            None => ProcessState::Running,
            Some(Ok((End::Exited(_), _))) | Some(Err(_)) => ProcessState::Exited,
            Some(Ok((End::Signalled(_), _))) => ProcessState::Killed,
            Some(Ok((End::TimedOut | End::Cancelled, _))) => ProcessState::Stopped,
        }
    }
}

impl Job {
    /// `bg-1234`.
    pub fn id(&self) -> String {
        format!("bg-{}", self.progress().pid.unwrap_or(0))
    }

    pub fn progress(&self) -> Progress {
        self.progress.borrow().clone()
    }

    /// To wait for what happens.
    pub fn watch(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    pub fn is_over(&self) -> bool {
        self.progress.borrow().over.is_some()
    }

    /// Since its start.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Ends all of it, if it still runs, and waits until it has ended.
    pub async fn stop(&self) {
        self.stop.cancel();
        // The sender is in this very job.
        let _ = self.watch().wait_for(|it| it.over.is_some()).await;
    }

    /// Its log, once it is in the background.
    pub fn log(&self) -> Option<PathBuf> {
        match &self.kept().output {
            Output::Log(log) => Some(log.path().to_owned()),
            Output::Memory(_) | Output::Gone => None,
        }
    }

    /// Why output is missing from its log, if it is.
    pub fn trouble(&self) -> Option<String> {
        match &self.kept().output {
            Output::Log(log) => log.trouble().map(str::to_owned),
            Output::Memory(_) | Output::Gone => None,
        }
    }

    /// All it said in the foreground, bounded and clean; nothing the second time.
    pub fn take_captured(&self) -> Captured {
        match std::mem::replace(&mut self.kept().output, Output::Gone) {
            Output::Memory(capture) => capture.finish(),
            Output::Log(_) | Output::Gone => Capture::new(0).finish(),
        }
    }

    /// The newest bytes said in the foreground.
    pub fn last(&self, most: usize) -> Vec<u8> {
        match &self.kept().output {
            Output::Memory(capture) => capture.last(most),
            Output::Log(_) | Output::Gone => Vec::new(),
        }
    }

    /// What is new since the model last read; read from now on.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn read_on(&self, most: usize) -> io::Result<Piece> {
        let mut kept = self.kept();
        let from = kept.read_to;
        let piece = kept.log()?.newest(from, most)?;
        kept.read_to = piece.end;
        Ok(piece)
    }

    /// The newest output from a place on, for whoever counts by himself.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn newest(&self, from: u64, most: usize) -> io::Result<Piece> {
        self.kept().log()?.newest(from, most)
    }

    /// How far the model has read.
    pub fn read_to(&self) -> u64 {
        self.kept().read_to
    }

    /// Waits until plain text stands in the output from a place on, or the job is over. True when it was found.
    /// May be dropped while it waits.
    pub async fn wait_for(&self, text: &str, from: u64) -> bool {
        /// Read at once.
        const WINDOW: usize = 256 * 1024;
        // Escape sequences may stand within.
        let overlap = 4 * text.len() as u64 + 256;
        let mut watch = self.watch();
        let mut at = from;
        loop {
            // Before the look: what is said after it, wakes.
            let is_over = watch.borrow_and_update().over.is_some();
            loop {
                let begin = at.saturating_sub(overlap).max(from);
                let read = self
                    .kept()
                    .log()
                    .and_then(|it| it.oldest(begin, WINDOW + overlap as usize));
                let Ok(piece) = read else { break };
                if holds(&piece.bytes, text) {
                    return true;
                }
                if piece.end <= at {
                    break;
                }
                at = piece.end;
            }
            if is_over || watch.changed().await.is_err() {
                return false;
            }
        }
    }

    fn hear(&self, heard: Heard<'_>) {
        match heard {
            Heard::Started(pid) => self.progress.send_modify(|it| it.pid = Some(pid)),
            Heard::Output(chunk) => {
                match &mut self.kept().output {
                    Output::Memory(capture) => capture.push(chunk),
                    Output::Log(log) => log.append(chunk),
                    Output::Gone => {}
                }
                self.progress
                    .send_modify(|it| it.n_bytes += chunk.len() as u64);
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What was kept before a panic is still output.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether output holds a text, as it is or as a person would see it. Much output has nothing to be cleaned.
fn holds(bytes: &[u8], text: &str) -> bool {
    let output = String::from_utf8_lossy(bytes);
    let is_plain = [b'\x1b', b'\x08', b'\x07', b'\r']
        .iter()
        .all(|it| !bytes.contains(it));
    output.contains(text) || (!is_plain && clean(&output).contains(text))
}

impl Kept {
    fn log(&mut self) -> io::Result<&mut Log> {
        match &mut self.output {
            Output::Log(log) => Ok(log),
            Output::Memory(_) | Output::Gone => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX))
}
