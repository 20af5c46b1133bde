//! Where a command's output goes: the one place to know what kind of stream it is.
//!
//! Today a pipe that is both stdout and stderr, so that their order is kept. A pseudo-terminal would
//! be opened here: its far end for both, and EIO on reading as the end.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// The end we read from.
#[derive(Debug)]
pub(super) struct Output {
    pipe: pipe::Receiver,
}

/// The ends the command writes to. To be dropped once it was started, or reading never ends.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) stdout: Stdio,
    pub(super) stderr: Stdio,
}

impl Output {
    pub(super) fn open() -> io::Result<(Self, Ends)> {
        let (reader, writer) = io::pipe()?;
        // Only the reading end becomes non-blocking: the two are different open files.
        let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let ends = Ends {
            stdout: writer.try_clone()?.into(),
            stderr: writer.into(),
        };
        Ok((Self { pipe }, ends))
    }

    /// Reads what is there; 0 at the end. May be dropped while it waits, nothing is lost then.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pipe.read(buffer).await
    }
}
