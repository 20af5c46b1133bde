//! Where a command's output goes: the one place to know what kind of stream it is.
//!
//! A pseudo-terminal, so that programs write lines when they have them and not when a buffer is full; or a pipe that
//! is both stdout and stderr, so that their order is kept.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, OutputModes, Winsize};
use rustix::termios::{tcgetattr, tcsetattr, tcsetwinsize};
use tokio::io::AsyncReadExt;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

use crate::process::Streams;

/// Wide enough that tables and compilers' messages are not cut or wrapped; a person's window is seldom larger.
const WINDOW: Winsize = Winsize {
    ws_row: 40,
    ws_col: 120,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// What Ctrl-D sends: the end of what a person types.
const END_OF_INPUT: &[u8] = b"\x04";

/// The end we read from.
#[derive(Debug)]
pub(super) enum Output {
    Pipe(pipe::Receiver),
    Terminal(AsyncFd<OwnedFd>),
}

/// The ends the command writes to. To be dropped once it was started, or reading never ends.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) stdout: Stdio,
    pub(super) stderr: Stdio,
    /// What they became: a system without a free terminal gives pipes.
    pub(super) streams: Streams,
}

impl Output {
    pub(super) fn open(wanted: Streams) -> io::Result<(Self, Ends)> {
        match wanted {
            // Before anything was started, so nothing runs twice.
            Streams::Terminal => open_terminal().or_else(|_| open_pipe()),
            Streams::Pipe => open_pipe(),
        }
    }

    /// Reads what is there; 0 at the end. May be dropped while it waits, nothing is lost then.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.read(buffer).await,
            Self::Terminal(terminal) => {
                let read = |fd: &OwnedFd| Ok(rustix::io::read(fd, &mut *buffer)?);
                match terminal.async_io(Interest::READABLE, read).await {
                    // Nobody has the far end open any more.
                    Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(0),
                    read => read,
                }
            }
        }
    }

    /// Types the end of input, as a person does who has nothing to say to a program that waits. A pipe needs none.
    pub(super) fn end_input(&self) {
        match self {
            Self::Pipe(_) => {}
            // A full queue holds ends enough, and without a far end nobody reads.
            Self::Terminal(terminal) => drop(rustix::io::write(terminal, END_OF_INPUT)),
        }
    }
}

fn open_pipe() -> io::Result<(Output, Ends)> {
    let (reader, writer) = io::pipe()?;
    // Only the reading end becomes non-blocking: the two are different open files.
    let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
    let ends = Ends {
        stdout: writer.try_clone()?.into(),
        stderr: writer.into(),
        streams: Streams::Pipe,
    };
    Ok((Output::Pipe(pipe), ends))
}

fn open_terminal() -> io::Result<(Output, Ends)> {
    #[cfg(target_os = "linux")]
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let ours = openpt(flags)?;
    // Elsewhere a launcher that starts this moment may inherit it, and keeps it from its command.
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(name, theirs, Mode::empty())?;
    let mut modes = tcgetattr(&theirs)?;
    // What is typed is not shown, and a line's end is not made CR LF: what is read is what was written.
    modes.local_modes.remove(LocalModes::ECHO);
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(&theirs, OptionalActions::Now, &modes)?;
    tcsetwinsize(&theirs, WINDOW)?;
    rustix::fs::fcntl_setfl(&ours, OFlags::RDWR | OFlags::NONBLOCK)?;
    // SAFETY: an OwnedFd keeps its one descriptor open until it is dropped, which AsyncFd does after it has taken it
    // off the reactor.
    let ours = unsafe { AsyncFd::register_with_interest(ours, Interest::READABLE)? };
    let output = Output::Terminal(ours);
    output.end_input();
    let ends = Ends {
        stdout: theirs.try_clone()?.into(),
        stderr: theirs.into(),
        streams: Streams::Terminal,
    };
    Ok((output, ends))
}
