//! stdin and stdout without the standard library's buffers.
//!
//! Both ends bring their own buffering, so each read and write here is one system call. Some launchers
//! hand over descriptors with `O_NONBLOCK` set; clearing the flag would change it for whoever shares the
//! descriptor, so a call that would block waits for the descriptor instead.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

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
    /// A duplicate of `fd`, which is meant to be stdout.
    pub(super) fn open(fd: BorrowedFd<'_>) -> io::Result<Stdout> {
        Ok(Stdout(fd.try_clone_to_owned()?.into()))
    }

    /// Writes what can be written without blocking, possibly nothing, whether or not the descriptor is set
    /// to block. Errors where the system cannot do that for this kind of file.
    #[cfg(target_os = "linux")]
    pub(super) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let part = libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        // SAFETY: `part` points to `bytes.len()` bytes that live through the call, and the kernel only
        // reads them; one is the number of parts; the descriptor is our own.
        // The offset -1 means "as `write` does"; RWF_NOWAIT makes this one call non-blocking.
        let written = unsafe { libc::pwritev2(self.0.as_raw_fd(), &part, 1, -1, libc::RWF_NOWAIT) };
        match usize::try_from(written) {
            Ok(written) => Ok(written),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
                error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                error => Err(error),
            },
        }
    }

    /// Elsewhere there is no such call.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn write_now(&self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
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
