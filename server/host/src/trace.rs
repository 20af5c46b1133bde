//! Writes a session's trace into a file of its own, where the person wants one (`[trace] record`).
//!
//! What is written, and that no secret is in it, is the engine's business (`engine/src/trace.rs`). The file is its
//! owner's only and is never read by a session.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::provider::ModelEvent;
use engine::session::{Effect, Input};
use engine::trace::{Act, Line, Recorder};
use protocol::session::StreamId;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A trace that is being written.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    /// Missing once writing has failed.
    file: Option<File>,
    recorder: Recorder,
    /// What came for the answer that streams, in the pieces that it came in.
    bytes: Option<(StreamId, Vec<Vec<u8>>)>,
}

impl Trace {
    /// Begins the trace of a session: `traces/<session>-<time>.jsonl` below the data folder, the time in milliseconds.
    pub fn begin(data: &Path, session: &str, now_ms: u64) -> io::Result<Self> {
        let folder = data.join("traces");
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let path = folder.join(format!("{session}-{now_ms}.jsonl"));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let mut trace = Self {
            path,
            file: Some(file),
            recorder: Recorder::default(),
            bytes: None,
        };
        trace.write(&[Recorder::header(env!("CARGO_PKG_VERSION"))]);
        Ok(trace)
    }

    /// Writes what was done to the session, and what it answered.
    pub fn record(&mut self, act: Act, effects: &[Effect]) {
        let ended = match &act {
            Act::Step(Input::Model(stream, ModelEvent::Ended(_) | ModelEvent::Failed(_))) => {
                Some(*stream)
            }
            Act::Step(_)
            | Act::New { .. }
            | Act::Resume { .. }
            | Act::Doubt
            | Act::Configure(_)
            | Act::Standing(_) => None,
        };
        let lines = self.recorder.record(act, effects);
        self.write(&lines);
        if let Some((stream, pieces)) = self.bytes.take_if(|it| Some(it.0) == ended) {
            let chunks = pieces.iter().map(|it| BASE64_STANDARD.encode(it));
            let line = self
                .recorder
                .bytes(stream, &pieces.concat(), chunks.collect());
            self.write(&[line]);
        }
    }

    /// Takes what a model's server sent; written when the answer is over. Of one that is cancelled nothing is.
    pub fn took(&mut self, stream: StreamId, bytes: Vec<u8>) {
        match &mut self.bytes {
            Some((of, pieces)) if *of == stream => pieces.push(bytes),
            Some(_) | None => self.bytes = Some((stream, vec![bytes])),
        }
    }

    fn write(&mut self, lines: &[Line]) {
        let Some(file) = &mut self.file else {
            return;
        };
        let mut text = Vec::new();
        let made = lines.iter().try_for_each(|it| {
            serde_json::to_writer(&mut text, it)?;
            text.push(b'\n');
            Ok::<_, io::Error>(())
        });
        // At once, so that what a dying server did last is in it.
        if let Err(error) = made.and_then(|()| file.write_all(&text)) {
            tracing::warn!(%error, path = %self.path.display(), "the trace ends here");
            self.file = None;
        }
    }
}
