//! Writes reviews to the disk beside the main loop, in the order in which they were given.

use super::News;
use super::shelf::Shelf;
use crate::apply::Exact;
use crate::event::Event;
use engine::review::Ledger;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// The way to the thread that writes. It ends with this.
#[derive(Debug)]
pub struct Keeper {
    jobs: Sender<Job>,
    /// Jobs that are not done. A number and no message, so that the loop need not wait to learn that there are none.
    n_open: Arc<AtomicUsize>,
}

/// A ledger, and how its accepted text lay on the disk.
pub type Kept = (Ledger, Option<Exact>);

#[derive(Debug)]
enum Job {
    /// `None`: nothing is left to review.
    File(PathBuf, Option<Box<Kept>>),
    News(String, Vec<News>),
    Limit(u64),
    Flush(Sender<()>),
    Tell(oneshot::Sender<()>),
}

impl Keeper {
    /// Fails if there can be no thread.
    pub fn start(shelf: Shelf, inbox: mpsc::Sender<Event>) -> std::io::Result<Self> {
        let (jobs, to_do) = channel();
        let n_open = Arc::<AtomicUsize>::default();
        std::thread::Builder::new()
            .name("review-keeper".into())
            .spawn({
                let n_open = n_open.clone();
                move || keep(&shelf, &to_do, &n_open, &inbox)
            })?;
        Ok(Self { jobs, n_open })
    }

    /// A ledger's clone costs little; its text is made and written beside the loop.
    pub fn file(&self, path: PathBuf, ledger: Option<Kept>) {
        self.give(Job::File(path, ledger.map(Box::new)));
    }

    pub fn news(&self, session: String, news: Vec<News>) {
        self.give(Job::News(session, news));
    }

    fn give(&self, job: Job) {
        self.n_open.fetch_add(1, Ordering::Relaxed);
        // The thread is there as long as this is.
        let _ = self.jobs.send(job);
    }

    /// Told when what was given is written; `None`: it is.
    pub fn idle(&self) -> Option<oneshot::Receiver<()>> {
        if self.n_open.load(Ordering::Acquire) == 0 {
            return None;
        }
        let (done, is_done) = oneshot::channel();
        let _ = self.jobs.send(Job::Tell(done));
        Some(is_done)
    }

    /// The most bytes of all records.
    pub fn limit(&self, n_bytes: u64) {
        let _ = self.jobs.send(Job::Limit(n_bytes));
    }

    /// Waits until what was given is written, but no longer than this.
    pub fn flush(&self, patience: Duration) {
        let (done, is_done) = channel();
        let _ = self.jobs.send(Job::Flush(done));
        let _ = is_done.recv_timeout(patience);
    }
}

fn keep(shelf: &Shelf, jobs: &Receiver<Job>, n_open: &AtomicUsize, inbox: &mpsc::Sender<Event>) {
    let mut limit = u64::MAX;
    while let Ok(first) = jobs.recv() {
        // Of what has come meanwhile, only the newest state of each file counts.
        let mut files: HashMap<PathBuf, Option<Box<Kept>>> = HashMap::new();
        let mut news: HashMap<String, Vec<News>> = HashMap::new();
        let mut flushed = Vec::new();
        let mut waiting = Vec::new();
        let mut n_done = 0;
        for job in std::iter::once(first).chain(jobs.try_iter()) {
            n_done += usize::from(matches!(job, Job::File(..) | Job::News(..)));
            match job {
                Job::File(path, ledger) => drop(files.insert(path, ledger)),
                Job::News(session, all) => drop(news.insert(session, all)),
                Job::Limit(n_bytes) => limit = n_bytes,
                Job::Flush(done) => flushed.push(done),
                Job::Tell(done) => waiting.push(done),
            }
        }
        let mut faults = Vec::new();
        let has_written = files.values().any(Option::is_some);
        for (path, ledger) in files {
            let end = match ledger {
                Some(kept) => shelf.write(&path, &kept.0, kept.1),
                None => shelf.remove(&path),
            };
            faults.extend(end.err());
        }
        for (session, news) in news {
            faults.extend(shelf.write_news(&session, &news).err());
        }
        n_open.fetch_sub(n_done, Ordering::Release);
        for done in waiting {
            // Who waited may be gone.
            let _ = done.send(());
        }
        if let Some(fault) = faults.first() {
            tell(
                inbox,
                format!(
                    "Reviews of the agent's changes cannot be saved ({fault}); they go on, but will be gone when the editor closes."
                ),
            );
        }
        if has_written {
            for path in shelf.sweep(limit) {
                tell(
                    inbox,
                    format!(
                        "The review of {} will be gone when the editor closes, because all reviews together exceed review_bytes under [limits].",
                        path.display()
                    ),
                );
            }
        }
        for done in flushed {
            // Who waited may have lost patience.
            let _ = done.send(());
        }
    }
}

fn tell(inbox: &mpsc::Sender<Event>, text: String) {
    // Never waits: the loop may be waiting for this thread. A loop that is gone tells nobody.
    let _ = inbox.try_send(Event::Warn(text));
}
