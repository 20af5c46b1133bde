//! stdin and stdout without the standard library's buffers.
//!
//! Both ends bring their own buffering, so each read and write here is one system call. Some launchers
//! hand over descriptors with `O_NONBLOCK` set; clearing the flag would change it for whoever shares the
//! descriptor, so a call that would block waits for the descriptor instead.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The process's stdin.
pub(super) struct Stdin(File);

impl Stdin {
    pub(super) fn open() -> io::Result<Stdin> {
        let own = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Stdin(own.into()))
    }
}

impl io::Read for Stdin {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(self.0.as_fd(), PollFlags::POLLIN)?;
                }
                done => return done,
            }
        }
    }
}

/// The process's stdout. The protocol owns it: nothing else may print.
pub(super) struct Stdout(File);

impl Stdout {
    pub(super) fn open() -> io::Result<Stdout> {
        let own = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Stdout(own.into()))
    }
}

impl io::Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(self.0.as_fd(), PollFlags::POLLOUT)?;
                }
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn wait(fd: BorrowedFd<'_>, what: PollFlags) -> io::Result<()> {
    match poll(&mut [PollFd::new(fd, what)], PollTimeout::NONE) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
