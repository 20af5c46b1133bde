//! Runs commands so that nothing of them outlives what it should.
//!
//! `sh -c LINE` runs under a [`launcher`], which ends the whole tree when the command is over, when it
//! is told to, and when this server is gone. No decisions: whether a command may run, what its
//! environment is and how long it may take is said by the caller.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(unix)]
pub mod background;
pub mod capture;
pub mod children;
pub mod clean;
#[cfg(unix)]
mod control;
pub mod environment;
pub mod launcher;
mod log;
#[cfg(unix)]
mod output;
pub mod parent;
#[cfg(any(windows, test))]
pub mod powershell;
#[cfg(unix)]
mod run;
pub mod sandbox;
#[cfg(not(unix))]
mod run {
    //! Honest about what is missing.

    use tokio_util::sync::CancellationToken;

    use super::children::Place;
    use super::{Command, Outcome, RunError};

    /// # Errors
    /// Always: commands are not built for this system yet.
    pub async fn run(
        _: Command,
        _: Place,
        _: CancellationToken,
        _: impl FnMut(&str) + Send,
    ) -> Result<Outcome, RunError> {
        Err(RunError::Unsupported)
    }
}

pub use capture::Captured;
pub use children::{Children, Place};
pub use run::{Heard, follow, run};
pub use sandbox::Sandbox;

/// One command line for the shell, and all it needs to run.
#[derive(Debug, Clone)]
pub struct Command {
    /// What `sh -c` gets.
    pub line: String,
    /// Must exist.
    pub folder: PathBuf,
    /// The whole environment, see [`environment::scrubbed`]. Nothing else of ours is inherited.
    pub environment: Vec<(OsString, OsString)>,
    pub streams: Streams,
    /// What it is kept from; nothing, if missing.
    pub sandbox: Option<Sandbox>,
    pub limits: Limits,
}

/// What a command's stdin, stdout and stderr are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Streams {
    /// Nothing to read; stdout and stderr are one pipe. There is no terminal.
    #[default]
    Pipe,
    /// A pseudo-terminal of its own, 120 by 40, where nobody types: the input is always at its end. A pipe where the
    /// system has no terminal left.
    Terminal,
}

/// Bounds of one command.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How long it may run; zero ends it at once.
    pub timeout: Duration,
    /// How long those that are asked to end (TERM) may take before they are killed.
    pub grace: Duration,
    /// Bytes of output that are kept; half of them from each end.
    pub n_output: usize,
}

/// Spec 5.1 and 0.6.
impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            grace: Duration::from_millis(200),
            n_output: 256 * 1024,
        }
    }
}

/// How a command went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub output: Captured,
    pub end: End,
    /// From the start until the command's own process ended or was told to.
    pub duration: Duration,
}

/// Why a command is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The shell's exit code, 0 to 255.
    Exited(i32),
    /// A signal nobody here sent killed the shell; its number.
    Signalled(i32),
    /// It took longer than [`Limits::timeout`], and was ended with all it started.
    TimedOut,
    /// The call's token, or the end of the server, ended it with all it started.
    Cancelled,
}

/// A command that never ran. Worded for a model.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{} is not a folder; choose one that exists to run the command in", .0.display())]
    NoFolder(PathBuf),
    #[error("the command was not started: {0}; it did not run, so it can be tried again")]
    NotStarted(#[source] std::io::Error),
    #[error("commands cannot be run on this system yet; use the file tools instead")]
    Unsupported,
}
