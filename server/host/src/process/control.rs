//! The server's end of a launcher's control channel.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;

use crate::process::launcher::Report;

/// Dropping it ends the command: the launcher sees its channel closed.
#[derive(Debug)]
pub(super) struct Control {
    stream: UnixStream,
    /// The beginning of a report, while the rest has not arrived.
    received: Vec<u8>,
}

impl Control {
    /// Our end, and the launcher's as its stdin.
    pub(super) fn open() -> io::Result<(Self, Stdio)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let control = Self {
            stream: UnixStream::from_std(ours)?,
            received: Vec::new(),
        };
        Ok((control, Stdio::from(OwnedFd::from(theirs))))
    }

    /// Asks the launcher to end the tree.
    pub(super) fn stop(&self) {
        // The first byte ever written fits; if the launcher is gone, there is nobody to ask.
        let _ = self.stream.try_write(b".");
    }

    /// The next report; `None` when the launcher has ended. May be dropped while it waits, nothing is
    /// lost then.
    pub(super) async fn report(&mut self) -> Option<Report> {
        loop {
            if let Some((bytes, rest)) = self.received.split_first_chunk::<{ Report::LEN }>() {
                let report = Report::from_bytes(*bytes);
                self.received = rest.to_vec();
                return report;
            }
            let mut buffer = [0; 4 * Report::LEN];
            match self.stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(n_read) => self.received.extend_from_slice(&buffer[..n_read]),
            }
        }
    }
}
