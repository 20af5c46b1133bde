//! A small process between the server and each command, which ends the command's whole tree.
//!
//! It is our own executable again, with a hidden first argument. Its stdin is one end of a socket
//! pair, the control channel; its stdout and stderr are the command's. When the other end of the
//! channel closes (the server ended in whatever way, `kill -9` included) or a byte arrives, it ends
//! the tree. It is a child subreaper, so that also those who left the process group and lost their
//! parents stay in its tree.
//!
//! A foreground command owns its tree: what it left in the background ends with it.
//!
//! The channel is stdin and not descriptor 3 because the server can then start launchers without
//! running code of its own after a fork, and std takes its fast path (`posix_spawn`).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::process::sandbox::Sandbox;

#[cfg(unix)]
mod stage;
#[cfg(unix)]
mod tree;

/// The hidden first argument. Underscores, so that no subcommand will ever collide with it.
const FLAG: &str = "__launch";

/// The exit code of a command that cannot be confined as wanted, and was not run (spec 7.2).
pub const CANNOT_CONFINE: i32 = 126;

/// How what such a command says instead begins.
pub const NOT_CONFINED: &str = "The command was not run: it was to be confined, and ";

/// Which executable serves as the launcher.
#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
}

impl Launcher {
    /// This executable.
    ///
    /// On Linux through `/proc`, which is the file we were started from even when an upgrade has
    /// replaced it since: server and launcher are always of one build.
    ///
    /// # Errors
    /// When the system does not tell where the executable is.
    pub fn own() -> std::io::Result<Self> {
        let link = Path::new("/proc/self/exe");
        let program = if cfg!(target_os = "linux") && link.exists() {
            link.to_owned()
        } else {
            std::env::current_exe()?
        };
        Ok(Self { program })
    }

    /// Another executable whose `main` begins with [`run_if_asked`]; for tests.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
        }
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// The launcher's arguments: on which terms to start what.
    pub(super) fn arguments(terms: &Terms, command: &[&OsStr]) -> Vec<OsString> {
        let terms = serde_json::to_string(terms).unwrap_or_default();
        let mut arguments = vec![OsString::from(FLAG), OsString::from(terms)];
        arguments.extend(command.iter().map(OsString::from));
        arguments
    }
}

/// Kills all that runs below a launcher which does not do so itself, because something stopped it. While it lives,
/// stopped or not, nobody below it gets away: orphans come to it. Gives up after a while on who cannot be killed.
#[cfg(unix)]
pub(super) async fn end_below(launcher: nix::unistd::Pid) {
    const ROUND: std::time::Duration = std::time::Duration::from_millis(5);
    const ROUNDS: usize = 40;
    for _ in 0..ROUNDS {
        if !tree::kill_below(launcher) {
            return;
        }
        tokio::time::sleep(ROUND).await;
    }
}

/// On which terms a launcher runs its command. Between two processes of one build, and never kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Terms {
    /// Milliseconds that those asked to end may take.
    pub(super) grace: u64,
    /// Whether its stdout is a terminal that is to be the command's own.
    pub(super) terminal: bool,
    pub(super) sandbox: Option<Sandbox>,
}

/// Becomes the launcher if the arguments say so, and then never returns.
///
/// Must be the first thing in `main`: before a second thread, a runtime or the command line's parser.
pub fn run_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(FLAG)) {
        return;
    }
    #[cfg(unix)]
    {
        let terms = arguments
            .next()
            .and_then(|it| serde_json::from_str(it.to_str()?).ok());
        let command: Vec<OsString> = arguments.collect();
        // Without terms nobody knows how the command is to be confined: it does not run.
        std::process::exit(terms.map_or(126, |terms| stage::launch(&terms, &command)));
    }
    #[cfg(not(unix))]
    std::process::exit(126);
}

/// What the launcher says on the control channel: five bytes, a tag and a number in little endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// There is a process for the command; its id, which is also its group's.
    Started(i32),
    /// The command's own process ended with this code. Its tree may still be ending.
    Exited(i32),
    /// The command's own process was killed by this signal.
    Signalled(i32),
    /// The process could not become the command, with the system's error number.
    NotStarted(i32),
}

impl Report {
    pub(super) const LEN: usize = 5;

    fn to_bytes(self) -> [u8; Self::LEN] {
        let (tag, number) = match self {
            Self::Started(pid) => (b's', pid),
            Self::Exited(code) => (b'e', code),
            Self::Signalled(signal) => (b'k', signal),
            Self::NotStarted(error) => (b'n', error),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [tag, a, b, c, d]
    }

    /// `None` for bytes no launcher writes.
    pub(super) fn from_bytes([tag, a, b, c, d]: [u8; Self::LEN]) -> Option<Self> {
        let number = i32::from_le_bytes([a, b, c, d]);
        match tag {
            b's' => Some(Self::Started(number)),
            b'e' => Some(Self::Exited(number)),
            b'k' => Some(Self::Signalled(number)),
            b'n' => Some(Self::NotStarted(number)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Launcher, Report};

    #[test]
    fn a_report_survives_the_channel() {
        for report in [
            Report::Started(77),
            Report::Exited(-1),
            Report::Signalled(9),
            Report::NotStarted(i32::MAX),
        ] {
            assert_eq!(Report::from_bytes(report.to_bytes()), Some(report));
        }
        assert_eq!(Report::from_bytes([b'x', 0, 0, 0, 0]), None);
    }

    #[test]
    fn our_own_launcher_is_this_very_program() {
        let launcher = Launcher::own().unwrap();
        let listed = std::process::Command::new(launcher.program())
            .arg("--list")
            .output()
            .unwrap();
        assert!(
            String::from_utf8_lossy(&listed.stdout)
                .contains("our_own_launcher_is_this_very_program")
        );
    }
}
