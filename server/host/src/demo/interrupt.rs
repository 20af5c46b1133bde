//! What is left of the demonstration when a person breaks it off: nothing.

use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

/// How a person or a system asks a program to end.
const SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// Waits for one of the signals beside everything else.
#[derive(Default)]
pub struct Interrupt {
    came: AtomicBool,
    /// The server's process id, 0 when there is none. The one thing that the waiting thread must know of the others,
    /// which may be in the middle of a read when the signal comes and hear no message.
    server: AtomicI32,
}

impl Interrupt {
    /// From now on a signal ends the server, removes `folder` if there is one, and ends the process. To be called while
    /// the process has one thread: those that come later inherit what this sets.
    pub fn watch(folder: Option<PathBuf>) -> io::Result<Arc<Self>> {
        let signals: SigSet = SIGNALS.into_iter().collect();
        signals.thread_block()?;
        let interrupt = Arc::new(Self::default());
        let watched = interrupt.clone();
        thread::Builder::new()
            .name("demo-signals".to_owned())
            .spawn(move || {
                let Ok(signal) = signals.wait() else { return };
                watched.came.store(true, Ordering::SeqCst);
                let server = watched.server.load(Ordering::SeqCst);
                if server > 0 {
                    // It may have ended by the same signal. What it had started ends with it.
                    let _ = kill(Pid::from_raw(server), Signal::SIGKILL);
                }
                if let Some(folder) = folder {
                    remove(&folder);
                }
                process::exit(128 + signal as i32)
            })?;
        Ok(interrupt)
    }

    /// Names the process that is to end too; `None` when it has ended.
    pub fn ends(&self, server: Option<u32>) {
        let id = server.and_then(|it| i32::try_from(it).ok()).unwrap_or(0);
        self.server.store(id, Ordering::SeqCst);
    }

    /// Does not return when a signal has come: what goes wrong from then on is no news, and the process is about to end.
    pub fn give_way(&self) {
        while self.came.load(Ordering::SeqCst) {
            thread::park();
        }
    }
}

/// Removes a folder in which a killed process may have been about to make one more file.
fn remove(folder: &Path) {
    for _ in 0..100 {
        match fs::remove_dir_all(folder) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => return,
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Lets a child be interrupted although this process waits for its signals in its own way.
pub fn interruptible(command: &mut Command) -> &mut Command {
    let unblock = || {
        let signals: SigSet = SIGNALS.into_iter().collect();
        signals.thread_unblock().map_err(io::Error::from)
    };
    // SAFETY: between fork and exec only async-signal-safe functions may be called; this calls `sigemptyset`,
    // `sigaddset` and `pthread_sigmask`, which are, and takes neither locks nor memory.
    unsafe { command.pre_exec(unblock) }
}
