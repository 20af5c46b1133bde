//! What is queued for the editor, and the thread that writes it.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::{BEHIND, Chunk, ChunkKind, HIGH_WATER, WRITE};
use crate::lsp::stdio::Stdout;

/// The queue, and who waits for it.
pub(super) struct Shared {
    /// A lock, because a chunk is merged in place into what is already queued, which a channel's sender
    /// cannot reach, and because the loop must be able to queue without ever waiting for the editor. It
    /// is held for copying one message and never across a call that blocks.
    queue: Mutex<Queue>,
    /// For the writer: there is something to write, or nothing ever again.
    filled: Condvar,
    /// For `flush`: there is nothing left.
    emptied: Condvar,
    /// For `room`.
    room: Notify,
    pub(super) gone: CancellationToken,
}

#[derive(Default)]
pub(super) struct Queue {
    /// Whole messages, framed.
    bytes: Vec<u8>,
    /// What to give back when `bytes` has been written up to there.
    held: Vec<(usize, OwnedSemaphorePermit)>,
    /// The chunk behind `bytes` that may still grow, and its notification so far: `text` ends within the
    /// JSON string that is the chunk's text.
    open: Option<OpenChunk>,
    text: Vec<u8>,
    /// What the writer has taken and not yet written.
    taken: usize,
    /// The writer sleeps and must be woken.
    idle: bool,
    /// Somebody waits for room.
    wanted: bool,
    closed: bool,
    pub(super) gone: bool,
    /// A second way to the editor, past the thread.
    quick: Option<Stdout>,
    /// When something was last put before an idle writer.
    last: Option<Instant>,
}

struct OpenChunk {
    session: Arc<str>,
    kind: ChunkKind,
}

impl OpenChunk {
    fn takes(&self, chunk: &Chunk<'_>) -> bool {
        self.kind == chunk.kind && self.session == *chunk.session
    }
}

impl Queue {
    /// Appends a message's content. `held` is given back when it is its turn to be written.
    pub(super) fn push(&mut self, body: &[u8], held: Option<OwnedSemaphorePermit>) {
        self.close();
        frame(&mut self.bytes, body, b"");
        if let Some(held) = held {
            self.held.push((self.bytes.len(), held));
        }
    }

    /// Appends a chunk, or makes it part of the last message if the editor is behind and that is a chunk
    /// of its kind.
    pub(super) fn push_chunk(&mut self, chunk: &Chunk<'_>) {
        let behind = self.unwritten() > BEHIND;
        if !(behind && self.open.as_ref().is_some_and(|it| it.takes(chunk))) {
            self.close();
            self.open_for(chunk);
        }
        write_escaped(&mut self.text, chunk.text);
    }

    pub(super) fn unwritten(&self) -> usize {
        self.taken + self.bytes.len() + self.text.len()
    }

    fn open_for(&mut self, chunk: &Chunk<'_>) {
        let kind = match chunk.kind {
            ChunkKind::Agent => "agent_message_chunk",
            ChunkKind::Thought => "agent_thought_chunk",
        };
        let text = &mut self.text;
        text.extend_from_slice(
            br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":""#,
        );
        write_escaped(text, chunk.session);
        text.extend_from_slice(br#"","update":{"sessionUpdate":""#);
        text.extend_from_slice(kind.as_bytes());
        text.extend_from_slice(br#"","content":{"type":"text","text":""#);
        self.open = Some(OpenChunk {
            session: Arc::clone(chunk.session),
            kind: chunk.kind,
        });
    }

    /// Ends the chunk that may still grow: something else comes behind it, or it is written.
    fn close(&mut self) {
        if self.open.take().is_some() {
            frame(&mut self.bytes, &self.text, CHUNK_END);
            self.text.clear();
        }
    }

    /// Writes all there is at once if that cannot block, which saves a lone message the way through the
    /// thread: two switches and most of its CPU. Only for an idle writer: then nothing is in its hands,
    /// `bytes` is all that is unwritten, and it cannot take any while we hold the lock, so the order is
    /// kept. What is not taken at once stays at the front for the thread. True if nothing is left.
    fn write_quickly(&mut self) -> bool {
        /// The lock is held meanwhile, so no more than this is copied.
        const MOST: usize = 16 * 1024;
        /// Messages that come closer than this are a burst, which the thread writes together for less.
        const BURST: Duration = Duration::from_micros(10);
        if self.quick.is_none() {
            return false;
        }
        let now = Instant::now();
        let last = self.last.replace(now);
        if last.is_some_and(|it| now.duration_since(it) < BURST) {
            return false;
        }
        self.close();
        if self.bytes.len() > MOST {
            return false;
        }
        self.held.clear();
        match self.quick.as_ref().map(|it| it.write_now(&self.bytes)) {
            Some(Ok(written)) => drop(self.bytes.drain(..written)),
            // This kind of stdout cannot do it, or the editor is gone: the thread finds out and tells.
            Some(Err(_)) | None => self.quick = None,
        }
        self.bytes.is_empty()
    }
}

const CHUNK_END: &[u8] = br#""}}}}"#;

impl Shared {
    /// `quick` leads to the same place as the sink of [`Shared::write_to`].
    pub(super) fn new(quick: Option<Stdout>) -> Shared {
        Shared {
            queue: Mutex::new(Queue {
                quick,
                ..Queue::default()
            }),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            room: Notify::new(),
            gone: CancellationToken::new(),
        }
    }

    /// The state behind the lock is whole after every statement, so a panic elsewhere is no reason to
    /// stop talking.
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After something was pushed: sees to it that it is written.
    pub(super) fn see_to(&self, mut queue: MutexGuard<'_, Queue>) {
        // A writer that works looks again by itself.
        if queue.idle && !queue.write_quickly() {
            queue.idle = false;
            drop(queue);
            self.filled.notify_one();
        }
    }

    /// Lets the writer end when it has written what is queued.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    pub(super) async fn room(&self) {
        loop {
            let mut freed = std::pin::pin!(self.room.notified());
            // Registered before the look at the queue, so that no wake-up falls between the two.
            freed.as_mut().enable();
            {
                let mut queue = self.lock();
                if queue.gone || queue.unwritten() < HIGH_WATER {
                    return;
                }
                queue.wanted = true;
            }
            freed.await;
        }
    }

    pub(super) fn flush(&self, timeout: Duration) -> bool {
        let unwritten = |it: &mut Queue| !it.gone && it.unwritten() > 0;
        let (queue, late) = self
            .emptied
            .wait_timeout_while(self.lock(), timeout, unwritten)
            .unwrap_or_else(PoisonError::into_inner);
        !late.timed_out() && !queue.gone
    }

    /// The writer thread.
    pub(super) fn write_to(&self, mut sink: impl Write) {
        let mut batch = Batch::default();
        while self.take(&mut batch) {
            let written = self.write(&batch.bytes, &mut batch.held, &mut sink);
            if let Err(error) = written {
                tracing::info!(%error, "the editor does not read any more");
                let mut queue = self.lock();
                *queue = Queue {
                    gone: true,
                    ..Queue::default()
                };
                drop(queue);
                self.gone.cancel();
                self.emptied.notify_all();
                self.room.notify_waiters();
                return;
            }
        }
    }

    /// Waits for something to write and takes all of it. False if nothing will come any more.
    fn take(&self, batch: &mut Batch) -> bool {
        /// A buffer that one big message has blown up is given back.
        const KEPT: usize = 4 * WRITE;
        batch.bytes.clear();
        batch.bytes.shrink_to(KEPT);
        batch.held.clear();
        let mut queue = self.lock();
        while queue.bytes.is_empty() && queue.open.is_none() {
            if queue.closed {
                return false;
            }
            queue.idle = true;
            queue = self
                .filled
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
        queue.idle = false;
        queue.close();
        queue.text.shrink_to(KEPT);
        std::mem::swap(&mut queue.bytes, &mut batch.bytes);
        std::mem::swap(&mut queue.held, &mut batch.held);
        queue.taken = batch.bytes.len();
        true
    }

    fn write(
        &self,
        bytes: &[u8],
        held: &mut Vec<(usize, OwnedSemaphorePermit)>,
        sink: &mut impl Write,
    ) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let end = bytes.len().min(done + WRITE);
            // Before the write and not after it: an editor may act on a reply while this thread still
            // returns from the call, and must not be told then that too many requests are open.
            let given_back = held.partition_point(|(at, _)| *at <= end);
            held.drain(..given_back);
            match sink.write(&bytes[done..end]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if done == bytes.len() {
                sink.flush()?;
            }
            let mut queue = self.lock();
            queue.taken = bytes.len() - done;
            let unwritten = queue.unwritten();
            let freed = queue.wanted && unwritten < HIGH_WATER;
            if freed {
                queue.wanted = false;
            }
            drop(queue);
            if freed {
                self.room.notify_waiters();
            }
            if unwritten == 0 {
                self.emptied.notify_all();
            }
        }
        Ok(())
    }
}

/// What the writer has in hand.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    held: Vec<(usize, OwnedSemaphorePermit)>,
}

/// Appends one message, given in two parts.
fn frame(to: &mut Vec<u8>, start: &[u8], end: &[u8]) {
    // Writing to a Vec cannot fail.
    let _ = write!(to, "Content-Length: {}\r\n\r\n", start.len() + end.len());
    to.extend_from_slice(start);
    to.extend_from_slice(end);
}

/// Appends `text` as it stands within a JSON string, without the quotes (RFC 8259, 7).
fn write_escaped(to: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut kept = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0..0x20 => b'u',
            _ => continue,
        };
        to.extend_from_slice(&text.as_bytes()[kept..at]);
        to.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            let (high, low) = (usize::from(byte >> 4), usize::from(byte & 0xF));
            to.extend_from_slice(&[b'0', b'0', HEX[high], HEX[low]]);
        }
        kept = at + 1;
    }
    to.extend_from_slice(&text.as_bytes()[kept..]);
}
