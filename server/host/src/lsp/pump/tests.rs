//! What can be seen only from inside the process; the rest is asked of a real one in `tests/pump.rs`.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::{Front, Limits, serve_on};
use crate::lsp::types::{InitializeParams, InitializeResult};
use crate::lsp::{Answer, Id, LanguageServer, LspService, Out, Result};

const PATIENCE: Duration = Duration::from_secs(60);

/// Never says `initialize`, so every request of its is refused.
struct Flood {
    frame: Vec<u8>,
    sent: Sender<()>,
}

impl Read for Flood {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        into[..self.frame.len()].copy_from_slice(&self.frame);
        match self.sent.send(()) {
            Ok(()) => Ok(self.frame.len()),
            // The test has ended.
            Err(_) => Ok(0),
        }
    }
}

/// Reads nothing until it is told to.
struct Blocked(Receiver<()>);

impl Write for Blocked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Disconnected means: from now on.
        let _ = self.0.recv();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Nobody;

impl Front for Nobody {
    fn wait_for_room(&mut self) {}

    fn answer(&mut self, _: Answer) {}

    fn cancel(&mut self, _: &Id, _: &str) -> bool {
        false
    }
}

impl LanguageServer for Nobody {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        Ok(InitializeResult::default())
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn an_editor_that_floods_and_never_reads_is_slowed_down_until_it_does() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
    let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
    let (sent, sendings) = channel();
    let (unblock, blocked) = channel();
    let out = Out::to(Blocked(blocked)).unwrap();
    let service = LspService::build_with_lifecycle_methods(|_| Nobody)
        .finish()
        .0;
    let limits = Limits {
        max_open_requests: 100,
        ..Limits::default()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let served = runtime.spawn(serve_on(
        Flood { frame, sent },
        service,
        Nobody,
        out,
        limits,
    ));

    let mut n_sent = 0;
    // That something does not happen has no event; a pump without bounds would be past the mark in far
    // less than this.
    while let Ok(()) = sendings.recv_timeout(Duration::from_millis(300)) {
        n_sent += 1;
        // A hundred wait, and a first batch of up to 64 KiB is in the writer's hands.
        assert!(n_sent < 1_000, "the reader goes on reading");
    }
    assert!(n_sent >= 100, "only {n_sent}");
    drop(unblock);
    for _ in 0..10_000 {
        assert_ne!(
            sendings.recv_timeout(PATIENCE),
            Err(RecvTimeoutError::Timeout)
        );
    }
    drop(sendings);
    let code = runtime.block_on(async { tokio::time::timeout(PATIENCE, served).await });
    assert_eq!(code.unwrap().unwrap().unwrap(), 1);
}
