//! Sees whether any process of a command still lives, without guessing or waiting for a time.
//!
//! The command holds a named pipe open; the kernel tells when its last holder is gone.

use super::PATIENCE;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub struct Witness {
    path: PathBuf,
    reader: File,
}

impl Witness {
    /// To put before a command line: from then on the shell and all it starts hold the pipe.
    pub const HOLD: &str = "exec 9>alive; echo held >&9; ";

    /// A pipe `alive` in this folder, which must be the command's.
    pub fn new(folder: &Path) -> Self {
        let path = folder.join("alive");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let reader = OpenOptions::new()
            .read(true)
            .custom_flags(nix::libc::O_NONBLOCK)
            .open(&path)
            .unwrap();
        Self { path, reader }
    }

    /// Waits until the command holds the pipe.
    #[track_caller]
    pub fn wait_until_held(&mut self) {
        assert!(
            self.wait(PollFlags::POLLIN, PATIENCE),
            "the command did not begin"
        );
        let mut held = [0; 5];
        self.reader.read_exact(&mut held).unwrap();
        assert_eq!(&held, b"held\n");
    }

    /// Waits until nobody lives any more, whether or not anybody ever did.
    #[track_caller]
    pub fn assert_gone_within(&self, time: Duration) {
        // A pipe that nobody has held yet says nothing; one that we let go of says that it is alone.
        drop(OpenOptions::new().write(true).open(&self.path).unwrap());
        assert!(
            self.wait(PollFlags::POLLHUP, time),
            "a process of the command is left"
        );
    }

    fn wait(&self, flag: PollFlags, time: Duration) -> bool {
        let until = Instant::now() + time;
        let wanted = flag & PollFlags::POLLIN;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            let mut fds = [PollFd::new(self.reader.as_fd(), wanted)];
            let n_ready = poll(&mut fds, PollTimeout::try_from(left).unwrap());
            if n_ready == Ok(1) {
                return fds[0].revents().unwrap().contains(flag);
            }
        }
        false
    }
}
