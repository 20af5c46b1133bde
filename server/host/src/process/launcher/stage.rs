//! The launcher's life: prepare, start the command, wait, end the tree, leave.
//!
//! One thread and no runtime. Everything it waits for (the channel, a child's end, being told to
//! end) wakes one `pselect`: the signals are blocked except while it sleeps there, so that none can
//! fall between looking and sleeping.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::select::{FdSet, pselect};
use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, sigaction, sigprocmask,
};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, dup2_stdin, getpid, getppid, setsid};

use super::tree;
use super::{Report, Terms};
use crate::process::sandbox::Files;

/// How long what was sent KILL may take to be gone. Who has not ended by then cannot be ended by us:
/// a process of another user, or one inside a hanging kernel call.
const KILL_WAIT: Duration = Duration::from_secs(1);

/// After KILL, how long to wait for ends before looking for newcomers.
const KILL_ROUND: Duration = Duration::from_millis(20);

/// Set when somebody sends the launcher itself a signal to end.
static ASKED_TO_END: AtomicBool = AtomicBool::new(false);

/// Runs the command and returns the launcher's own exit code, which says nothing about the command's.
pub(super) fn launch(terms: &Terms, command: &[OsString]) -> i32 {
    let Ok(mut control) = prepare() else {
        return 126;
    };
    if is_closed(&control) {
        return 0;
    }
    // Gone again when this function returns, which is after the tree has ended.
    let temporary = temporary(terms);
    let place = temporary.as_ref().map(tempfile::TempDir::path);
    let shell = match start(terms, command, place, &control) {
        Ok(pid) => pid,
        Err(error) => {
            report(
                &mut control,
                Report::NotStarted(error.raw_os_error().unwrap_or(0)),
            );
            return 127;
        }
    };
    let mut children = Children { shell, end: None };
    loop {
        children.reap();
        if children.end.is_some() || ASKED_TO_END.load(Ordering::Relaxed) {
            break;
        }
        if sleep(Some(control.as_fd()), None) {
            break;
        }
    }
    // The code is known before the tree is gone, and the server need not wait to know it.
    let early = children.end;
    if let Some(end) = early {
        report(&mut control, end);
    }
    children.end_all(Duration::from_millis(terms.grace));
    if let (None, Some(end)) = (early, children.end) {
        report(&mut control, end);
    }
    0
}

/// For a command that may write nothing: a folder of its own, so that what needs a temporary file to read (a large
/// `sort`, a here-document of bash's) works. Without one such a command fails, and nothing else is lost.
fn temporary(terms: &Terms) -> Option<tempfile::TempDir> {
    let sandbox = terms.sandbox.as_ref()?;
    match sandbox.files {
        Files::Nothing => {
            // Canonical, because macOS confines by such paths alone.
            let folder = std::env::temp_dir().canonicalize().ok()?;
            let mut builder = tempfile::Builder::new();
            builder.prefix("undine-read-").tempdir_in(folder).ok()
        }
        Files::Free | Files::Below(_) => None,
    }
}

/// Takes the control channel from stdin and makes this process what a launcher is.
fn prepare() -> io::Result<UnixStream> {
    // Duplicated with CLOEXEC and above the standard three: no command ever inherits it.
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    dup2_stdin(File::open("/dev/null")?)?;
    // A session of its own: no controlling terminal, so nothing can prompt on one, and a terminal's
    // Ctrl-C for the server is not one for us.
    let _ = setsid();
    tree::adopt();
    catch_signals()?;
    Ok(control)
}

fn catch_signals() -> io::Result<()> {
    extern "C" fn wake(_: libc::c_int) {}
    extern "C" fn end(_: libc::c_int) {
        ASKED_TO_END.store(true, Ordering::Relaxed);
    }
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    let wake = SigAction::new(
        SigHandler::Handler(wake),
        SaFlags::SA_NOCLDSTOP,
        SigSet::empty(),
    );
    let end = SigAction::new(SigHandler::Handler(end), SaFlags::empty(), SigSet::empty());
    let mut blocked = SigSet::empty();
    for signal in Signal::iterator() {
        let action = match signal {
            Signal::SIGCHLD => wake,
            Signal::SIGTERM | Signal::SIGINT | Signal::SIGHUP => end,
            // Writing to a server that is gone must not kill us before the tree is.
            Signal::SIGPIPE | Signal::SIGKILL | Signal::SIGSTOP => continue,
            // What the server or its editor ignored would be ignored in every command, for good.
            _ => default,
        };
        if action != default {
            blocked.add(signal);
        }
        // SAFETY: the handlers do nothing but store into an atomic, which is async-signal-safe.
        let _ = unsafe { sigaction(signal, &action) };
    }
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&blocked), None)?;
    Ok(())
}

/// Starts the command as leader of a new group; with a terminal, of a new session whose terminal that is.
///
/// The new process itself reports that it is there, before it becomes the command: the first thing
/// the command does may be to kill the launcher.
fn start(
    terms: &Terms,
    command: &[OsString],
    temporary: Option<&Path>,
    control: &UnixStream,
) -> io::Result<Pid> {
    let [program, arguments @ ..] = command else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let launcher = getpid();
    let channel = control.as_raw_fd();
    let mut command = confined(terms, temporary, program);
    command.args(arguments);
    if let Some(place) = temporary {
        command.env("TMPDIR", place);
    }
    let sandbox = terms.sandbox.as_ref();
    let confinement = sandbox.map(|it| confine::prepare(it, temporary));
    let has_terminal = terms.terminal;
    if has_terminal {
        command.stdin(Stdio::from(io::stdout().as_fd().try_clone_to_owned()?));
    } else {
        command.process_group(0);
    }
    // SAFETY: between fork and exec the closure makes a few system calls and allocates nothing. The
    // channel is open until `launch` returns, which is after the fork.
    unsafe {
        command.pre_exec(move || {
            // Handlers do not outlive the exec, but what is blocked stays so.
            sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
            tree::die_with_launcher();
            // The launcher may have ended before the line above.
            if getppid() != launcher {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            if has_terminal {
                setsid()?;
                rustix::process::ioctl_tiocsctty(BorrowedFd::borrow_raw(libc::STDIN_FILENO))?;
            }
            let started = Report::Started(getpid().as_raw()).to_bytes();
            nix::unistd::write(BorrowedFd::borrow_raw(channel), &started)?;
            if let Some(prepared) = &confinement
                && let Err(why) = prepared
                    .as_ref()
                    .map_err(String::clone)
                    .and_then(confine::enter)
            {
                refuse(&why);
            }
            Ok(())
        });
    }
    Ok(Pid::from_raw(command.spawn()?.id().cast_signed()))
}

/// The program as it is started: on macOS by way of the one that confines it.
fn confined(terms: &Terms, temporary: Option<&Path>, program: &OsString) -> Command {
    #[cfg(target_os = "macos")]
    if let Some(sandbox) = &terms.sandbox {
        use crate::process::sandbox::macos;
        let mut command = Command::new(macos::PROGRAM);
        command
            .args(macos::arguments(sandbox, temporary))
            .arg(program);
        return command;
    }
    // Elsewhere it confines itself, see `confine::enter`.
    let _ = (terms, temporary);
    Command::new(program)
}

/// Ends the command's process before it is the command.
fn refuse(why: &str) -> ! {
    // The process has one thread, so that memory may be had also after the fork.
    let text = format!("{}{why}.\n", super::NOT_CONFINED);
    let _ = io::stderr().write_all(text.as_bytes());
    // SAFETY: the call ends the process and does nothing else.
    unsafe { libc::_exit(super::CANNOT_CONFINE) }
}

#[cfg(target_os = "linux")]
mod confine {
    use std::path::Path;

    use crate::process::sandbox::{Sandbox, linux::Prepared};

    pub(super) fn prepare(sandbox: &Sandbox, temporary: Option<&Path>) -> Result<Prepared, String> {
        Prepared::new(sandbox, temporary)
    }

    pub(super) fn enter(prepared: &Prepared) -> Result<(), String> {
        prepared.enter()
    }
}

/// By another program, which is started in the command's place; here is only seen to it that it can be.
#[cfg(target_os = "macos")]
mod confine {
    use std::path::Path;

    use crate::process::sandbox::{Kernel, Sandbox};

    pub(super) fn prepare(sandbox: &Sandbox, _: Option<&Path>) -> Result<(), String> {
        sandbox.judge(Kernel::look()).map_err(|it| it.to_string())?;
        // Names there differ by more than case, so a folder that is not there could come under another name.
        for folder in sandbox.shields() {
            let _ = std::fs::create_dir_all(folder);
        }
        Ok(())
    }

    pub(super) fn enter(_: &()) -> Result<(), String> {
        Ok(())
    }
}

/// Nothing is confined here, so nothing runs that is to be.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod confine {
    use std::path::Path;

    use crate::process::sandbox::{Kernel, Sandbox};

    pub(super) fn prepare(sandbox: &Sandbox, _: Option<&Path>) -> Result<(), String> {
        sandbox.judge(Kernel::look()).map_err(|it| it.to_string())
    }

    pub(super) fn enter(_: &()) -> Result<(), String> {
        Err("this system is not supported".to_owned())
    }
}

/// A server that is gone cannot be told: what follows is then to end the tree, and it does.
fn report(control: &mut UnixStream, report: Report) {
    let _ = control.write_all(&report.to_bytes());
}

fn is_closed(control: &UnixStream) -> bool {
    sleep(Some(control.as_fd()), Some(Duration::ZERO))
}

/// Sleeps until the channel has something to say, a signal arrives or time is up. True for the
/// channel: the server asks to stop, or is gone.
fn sleep(control: Option<BorrowedFd<'_>>, timeout: Option<Duration>) -> bool {
    let mut set = FdSet::new();
    if let Some(control) = control {
        set.insert(control);
    }
    let timeout =
        timeout.map(|it| TimeSpec::nanoseconds(i64::try_from(it.as_nanos()).unwrap_or(i64::MAX)));
    match pselect(None, &mut set, None, None, &timeout, &SigSet::empty()) {
        Ok(n_ready) => n_ready > 0,
        // A signal; who slept looks at what it was.
        Err(_) => false,
    }
}

/// The launcher's children: the command's own process and the orphans it adopted.
struct Children {
    shell: Pid,
    /// How the command's own process ended, once it was reaped.
    end: Option<Report>,
}

impl Children {
    /// Takes leave of whoever has ended. True when nobody is left.
    fn reap(&mut self) -> bool {
        loop {
            let (pid, end) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) => (pid, Report::Exited(code)),
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, Report::Signalled(signal as i32)),
                Ok(WaitStatus::StillAlive) => return false,
                // Stopped or traced ones are not asked for.
                Ok(_) => continue,
                Err(nix::errno::Errno::EINTR) => continue,
                Err(_) => return !tree::has_strays(self.shell),
            };
            if pid == self.shell {
                self.end = Some(end);
            }
        }
    }

    /// Ends everybody: asks with TERM, and after `grace` no longer asks.
    fn end_all(&mut self, grace: Duration) {
        let mut asked = HashSet::new();
        let patient_until = Instant::now() + grace;
        while !self.reap() {
            let now = Instant::now();
            // Again and again: somebody may have forked while the list was made.
            let wait = if now < patient_until {
                tree::ask(self.shell(), &mut asked);
                patient_until - now
            } else if now < patient_until + KILL_WAIT {
                tree::kill(self.shell());
                KILL_ROUND
            } else {
                return;
            };
            // A closed channel stays readable, so only children and time are waited for here.
            sleep(None, Some(wait.min(tree::LOOK_AGAIN)));
        }
    }

    fn shell(&self) -> tree::Shell {
        tree::Shell {
            pid: self.shell,
            reaped: self.end.is_some(),
        }
    }
}
