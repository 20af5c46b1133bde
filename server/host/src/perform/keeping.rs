//! What is kept of a session beside its log, and what becomes of a log that another process writes.

use crate::event::SessionKey;
use crate::main_loop::Host;
use crate::store::snapshot;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

impl Host {
    /// Writes the snapshot of a log up to so many bytes, in a task. Without it the session opens as well, only later.
    pub(super) fn write_snapshot(&self, log: PathBuf, until: u64) {
        let place = self.folders.snapshot(&log);
        self.runtime
            .spawn_blocking(move || write(&place, &log, until));
    }

    /// At the end of the process: snapshots of all sessions in which something happened since the last one. What takes longer is left.
    pub(crate) fn write_snapshots(&self, patience: Duration) {
        let sessions = self.sessions.values();
        let due = sessions.filter(|it| it.log.is_behind());
        let due: Vec<(PathBuf, PathBuf, u64)> = due
            .map(|it| {
                let log = it.log.path().to_path_buf();
                (self.folders.snapshot(&log), log, it.log.end().bytes)
            })
            .collect();
        if due.is_empty() {
            return;
        }
        let (done, wait) = mpsc::channel();
        std::thread::spawn(move || {
            due.iter()
                .for_each(|(place, log, until)| write(place, log, *until));
            // Whoever waited may have gone.
            let _ = done.send(());
        });
        // Either it is done or it is given up.
        let _ = wait.recv_timeout(patience);
    }

    pub(super) fn say_conflict(&mut self, session: &SessionKey, old: &Path) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let text = format!(
            "Another process has written into {}, so this session goes on in {}. Close it in the other one; what is written here from now on is not listed.",
            old.display(),
            open.log.path().display()
        );
        self.show_error(&text);
    }
}

fn write(place: &Path, log: &Path, until: u64) {
    if let Err(error) = snapshot::write(place, log, until) {
        tracing::warn!(%error, log = %log.display(), "the session's snapshot was not written");
    }
}
