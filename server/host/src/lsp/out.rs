//! Everything that goes to the editor, in the order it was said.
//!
//! [`Out`] is called synchronously and never blocks on the editor. A writer thread owns stdout, takes
//! whatever is ready and writes it at once, so a burst costs few system calls and a lone message waits
//! for nothing. There is no timer.
//!
//! Only streamed text is ever merged, and only while the editor is behind: a [`Chunk`] that finds more
//! than [`BEHIND`] bytes waiting, the last of them a chunk of its session and kind, becomes part of
//! it. So a slow editor gets fewer and longer notifications whose text, joined, is the same.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::jsonrpc::{Error, Id};

use super::{ErrorCode, error, stdio};

/// A handle to the editor's end. Cheap to clone; the writer thread ends with the last one, after it has
/// written what they queued.
#[derive(Clone)]
pub struct Out(Arc<Owner>);

/// A piece of streamed text.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// ACP's session id.
    pub session: &'a Arc<str>,
    /// Whose text it is.
    pub kind: ChunkKind,
    /// Any text; where it is cut means nothing.
    pub text: &'a str,
}

/// Whose text a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// The answer: ACP's `agent_message_chunk`.
    Agent,
    /// The model's thinking: ACP's `agent_thought_chunk`.
    Thought,
}

/// Above this many unwritten bytes [`Out::room`] waits.
pub const HIGH_WATER: usize = 1024 * 1024;

/// Above this many unwritten bytes the editor counts as behind, and chunks are merged. One write's worth:
/// a writer that keeps up never has more than that in front of it.
pub const BEHIND: usize = WRITE;

/// The most that is written at once; what a pipe holds by default.
const WRITE: usize = 64 * 1024;

impl Out {
    /// Writes to the process's stdout. Call it once.
    pub fn stdout() -> io::Result<Out> {
        Out::to(stdio::Stdout::open()?)
    }

    /// Writes to `sink`, from a thread of its own. Fails if there can be no thread.
    pub fn to(sink: impl Write + Send + 'static) -> io::Result<Out> {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            room: Notify::new(),
            gone: CancellationToken::new(),
        });
        let own = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("lsp-writer".into())
            .spawn(move || own.write_to(sink))?;
        Ok(Out(Arc::new(Owner(shared))))
    }

    /// Sends a notification. Params that cannot be JSON (a map whose keys are no strings) are a fault of
    /// ours: it is logged and nothing is sent.
    pub fn notify(&self, method: &str, params: &impl Serialize) {
        #[derive(Serialize)]
        struct Notification<'a, P> {
            jsonrpc: &'a str,
            method: &'a str,
            params: &'a P,
        }
        self.send(
            method,
            None,
            &Notification {
                jsonrpc: "2.0",
                method,
                params,
            },
        );
    }

    /// Sends a request. The answer, if one comes, is given to `Front::answer` under the same `id`, which
    /// must not be in use.
    pub fn request(&self, id: i64, method: &str, params: &impl Serialize) {
        #[derive(Serialize)]
        struct Request<'a, P> {
            jsonrpc: &'a str,
            id: i64,
            method: &'a str,
            params: &'a P,
        }
        self.send(
            method,
            None,
            &Request {
                jsonrpc: "2.0",
                id,
                method,
                params,
            },
        );
    }

    /// Answers a request of the editor. Handlers need not: what they return is sent by the pump.
    pub fn reply(&self, id: &Id, result: Result<&impl Serialize, &Error>) {
        self.reply_holding(id, result, None);
    }

    /// As [`Out::reply`]; `held` is given back when it is the reply's turn to be written, or never will be.
    pub(super) fn reply_holding(
        &self,
        id: &Id,
        result: Result<&impl Serialize, &Error>,
        held: Option<OwnedSemaphorePermit>,
    ) {
        #[derive(Serialize)]
        struct Done<'a> {
            jsonrpc: &'a str,
            id: &'a Id,
            result: &'a RawValue,
        }
        #[derive(Serialize)]
        struct Failed<'a> {
            jsonrpc: &'a str,
            id: &'a Id,
            error: &'a Error,
        }
        let failed = |error: &Error, held| {
            self.send(
                "a reply",
                held,
                &Failed {
                    jsonrpc: "2.0",
                    id,
                    error,
                },
            );
        };
        match result.map(serde_json::value::to_raw_value) {
            Ok(Ok(result)) => self.send(
                "a reply",
                held,
                &Done {
                    jsonrpc: "2.0",
                    id,
                    result: &result,
                },
            ),
            Ok(Err(fault)) => {
                let what = format!("the result of this request is no JSON: {fault}");
                failed(&error(ErrorCode::InternalError, what), held);
            }
            Err(error) => failed(error, held),
        }
    }

    /// Sends a piece of streamed text as one `session/update`, or as part of the one before it if the
    /// editor is behind. Empty text sends nothing.
    pub fn chunk(&self, chunk: Chunk<'_>) {
        if chunk.text.is_empty() {
            return;
        }
        let mut queue = self.0.0.lock();
        if queue.gone {
            return;
        }
        let behind = queue.unwritten() > BEHIND;
        if !(behind && queue.open.as_ref().is_some_and(|it| it.takes(&chunk))) {
            queue.close();
            queue.open_for(&chunk);
        }
        write_escaped(&mut queue.text, chunk.text);
        self.0.0.wake(queue);
    }

    /// Resolves when less than [`HIGH_WATER`] is unwritten, or when the editor is gone. Whoever produces a
    /// stream awaits it before each piece: so an editor that does not read stops the stream, not the
    /// memory.
    pub async fn room(&self) {
        loop {
            let mut freed = std::pin::pin!(self.0.0.room.notified());
            // Registered before the look at the queue, so that no wake-up falls between the two.
            freed.as_mut().enable();
            {
                let mut queue = self.0.0.lock();
                if queue.gone || queue.unwritten() < HIGH_WATER {
                    return;
                }
                queue.wanted = true;
            }
            freed.await;
        }
    }

    /// Blocks until all is written. False if that takes longer than `timeout` or the editor is gone. For
    /// the end of the process.
    pub fn flush(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut queue = self.0.0.lock();
        loop {
            if queue.gone {
                return false;
            }
            if queue.unwritten() == 0 {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            (queue, _) = self
                .0
                .0
                .emptied
                .wait_timeout(queue, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Resolves when the editor has closed its end (EPIPE). From then on everything is thrown away.
    pub async fn gone(&self) {
        self.0.0.gone.cancelled().await;
    }

    /// How many bytes wait to be written.
    pub fn unwritten(&self) -> usize {
        self.0.0.lock().unwritten()
    }

    fn send(&self, what: &str, held: Option<OwnedSemaphorePermit>, message: &impl Serialize) {
        let body = match serde_json::to_vec(message) {
            Ok(body) => body,
            Err(fault) => {
                tracing::error!(what, %fault, "not sent, because it is no JSON");
                return;
            }
        };
        let mut queue = self.0.0.lock();
        if queue.gone {
            return;
        }
        queue.close();
        frame(&mut queue.bytes, &body, b"");
        if let Some(held) = held {
            let end = queue.bytes.len();
            queue.held.push((end, held));
        }
        self.0.0.wake(queue);
    }
}

/// Ends the writer when the last [`Out`] goes.
struct Owner(Arc<Shared>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.filled.notify_one();
    }
}

struct Shared {
    /// A lock, because a chunk is merged in place into what is already queued, which a channel's sender
    /// cannot reach, and because the loop must be able to queue without ever waiting for the editor. It
    /// is held for copying one message and never across a call that blocks.
    queue: Mutex<Queue>,
    /// For the writer: there is something to write, or nothing ever again.
    filled: Condvar,
    /// For [`Out::flush`]: there is nothing left.
    emptied: Condvar,
    /// For [`Out::room`].
    room: Notify,
    gone: CancellationToken,
}

#[derive(Default)]
struct Queue {
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
    gone: bool,
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
    fn unwritten(&self) -> usize {
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
            frame(&mut self.bytes, &self.text, br#""}}}}"#);
            self.text.clear();
        }
    }
}

impl Shared {
    /// The state behind the lock is whole after every statement, so a panic elsewhere is no reason to
    /// stop talking.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the writer if it sleeps. While it works it looks again by itself.
    fn wake(&self, mut queue: MutexGuard<'_, Queue>) {
        let idle = std::mem::take(&mut queue.idle);
        drop(queue);
        if idle {
            self.filled.notify_one();
        }
    }

    /// The writer thread.
    fn write_to(&self, mut sink: impl Write) {
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Condvar, Mutex};
    use std::time::Duration;

    use futures_util::FutureExt;
    use serde_json::{Value, json};
    use tokio::sync::Semaphore;
    use tower_lsp_server::jsonrpc::Id;

    use super::{BEHIND, Chunk, ChunkKind, HIGH_WATER, Out};
    use crate::lsp::{Frame, Frames};

    const PATIENCE: Duration = Duration::from_secs(60);

    /// An editor's end of the pipe, which reads only while it is told to.
    #[derive(Clone, Default)]
    struct Editor(Arc<(Mutex<State>, Condvar)>);

    #[derive(Default)]
    struct State {
        reads: bool,
        gone: bool,
        got: Vec<u8>,
        writes: usize,
    }

    impl Editor {
        fn set(&self, change: impl FnOnce(&mut State)) {
            change(&mut self.0.0.lock().unwrap());
            self.0.1.notify_all();
        }

        /// Reads to the end of what was sent.
        fn messages(&self, out: &Out) -> Vec<Value> {
            self.set(|it| it.reads = true);
            assert!(out.flush(PATIENCE));
            let got = self.0.0.lock().unwrap().got.clone();
            let mut frames = Frames::new(&*got, u64::MAX);
            let mut messages = Vec::new();
            loop {
                match frames.next().unwrap() {
                    Frame::Body(body) => messages.push(serde_json::from_slice(&body).unwrap()),
                    Frame::End => return messages,
                    wrong @ (Frame::Garbage(_) | Frame::TooBig { .. }) => panic!("{wrong:?}"),
                }
            }
        }
    }

    impl io::Write for Editor {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let state = self.0.0.lock().unwrap();
            let wait = |it: &mut State| !it.reads && !it.gone;
            let mut state = self.0.1.wait_while(state, wait).unwrap();
            if state.gone {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            state.writes += 1;
            // A pipe takes what fits.
            let n = bytes.len().min(50_000);
            state.got.extend_from_slice(&bytes[..n]);
            self.0.1.notify_all();
            Ok(n)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn start() -> (Editor, Out, Arc<str>) {
        let editor = Editor::default();
        let out = Out::to(editor.clone()).unwrap();
        (editor, out, "s".into())
    }

    fn chunk(out: &Out, session: &Arc<str>, kind: ChunkKind, text: &str) {
        out.chunk(Chunk {
            session,
            kind,
            text,
        });
    }

    /// Puts more than [`BEHIND`] bytes before a writer that cannot write.
    fn fall_behind(out: &Out) {
        out.notify("much", &json!(["x".repeat(BEHIND)]));
    }

    #[test]
    fn every_kind_of_message_has_its_shape() {
        let (editor, out, session) = start();
        out.notify("a/b", &json!({ "x": 1 }));
        out.request(7, "a/c", &json!([]));
        out.reply(&"id".into(), Ok(&Value::Null));
        out.reply(&Id::Null, Err::<&(), _>(&crate::lsp::Error::parse_error()));
        chunk(
            &out,
            &session,
            ChunkKind::Agent,
            "\"quoted\"\u{1}\u{1F600}\r\n\t\\",
        );
        chunk(&out, &session, ChunkKind::Thought, "hm");
        chunk(&out, &session, ChunkKind::Thought, "");
        let lines: Vec<String> = editor.messages(&out).iter().map(Value::to_string).collect();
        expect_test::expect![[r#"
            {"jsonrpc":"2.0","method":"a/b","params":{"x":1}}
            {"jsonrpc":"2.0","id":7,"method":"a/c","params":[]}
            {"jsonrpc":"2.0","id":"id","result":null}
            {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}
            {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\"quoted\"\u0001😀\r\n\t\\"}}}}
            {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}}}
        "#]]
        .assert_eq(&format!("{}\n", lines.join("\n")));
    }

    #[test]
    fn a_result_that_is_no_json_becomes_an_error() {
        let (editor, out, _) = start();
        let result = std::collections::BTreeMap::from([((1, 2), 3)]);
        out.notify("dropped", &result);
        out.reply(&1.into(), Ok(&result));
        let messages = editor.messages(&out);
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0]["error"]["code"], -32603);
    }

    #[test]
    fn chunks_are_merged_only_while_the_editor_is_behind() {
        let (editor, out, session) = start();
        let send = || (0..100).for_each(|_| chunk(&out, &session, ChunkKind::Agent, "ab"));
        send();
        assert!(out.unwritten() < BEHIND);
        fall_behind(&out);
        send();
        out.notify("between", &json!({}));
        send();
        chunk(&out, &session, ChunkKind::Thought, "hm");
        chunk(&out, &"t".into(), ChunkKind::Thought, "hm");
        send();
        let lengths: Vec<usize> = editor
            .messages(&out)
            .iter()
            .filter_map(|it| it["params"]["update"]["content"]["text"].as_str())
            .map(str::len)
            .collect();
        let mut expected = vec![2; 100];
        expected.extend([200, 200, 2, 2, 200]);
        assert_eq!(lengths, expected);
    }

    #[test]
    fn an_editor_that_keeps_up_gets_every_chunk_as_it_was() {
        let (editor, out, session) = start();
        editor.set(|it| it.reads = true);
        for _ in 0..2_000 {
            chunk(&out, &session, ChunkKind::Agent, "x");
            assert!(out.flush(PATIENCE));
        }
        assert_eq!(editor.messages(&out).len(), 2_000);
    }

    #[test]
    fn what_was_queued_while_the_editor_slept_is_written_at_once() {
        let (editor, out, _) = start();
        for i in 0..1_000 {
            out.notify("n", &json!({ "i": i }));
        }
        assert_eq!(editor.messages(&out).len(), 1_000);
        assert!(editor.0.0.lock().unwrap().writes < 10);
    }

    /// Law: with neighbouring chunks of one session and kind joined, what arrives is what was sent.
    #[test]
    fn joined_text_and_order_are_what_was_sent() {
        let mut random = fastrand::Rng::with_seed(17);
        let sessions: [Arc<str>; 2] = ["a\"".into(), "b".into()];
        let mut merged = 0;
        for round in 0..150 {
            let (editor, out, _) = start();
            let mut sent: Vec<(String, String)> = Vec::new();
            for i in 0..random.usize(0..120) {
                match random.u8(0..10) {
                    0 => editor.set(|it| it.reads = random.bool()),
                    1 => {
                        out.notify("n", &json!({ "i": i }));
                        sent.push(("n".into(), i.to_string()));
                    }
                    2 => {
                        out.request(i as i64, "r", &json!({ "i": i }));
                        sent.push(("r".into(), i.to_string()));
                    }
                    _ => {
                        let session = random.choice(&sessions).unwrap();
                        let (kind, name) = match random.u8(0..4) {
                            0 => (ChunkKind::Thought, "agent_thought_chunk"),
                            _ => (ChunkKind::Agent, "agent_message_chunk"),
                        };
                        let most = if random.u8(0..8) == 0 { 20_000 } else { 12 };
                        let text: String = (0..random.usize(1..most))
                            .map(|_| random.char(..))
                            .collect();
                        chunk(&out, session, kind, &text);
                        sent.push((format!("{session} {name}"), text));
                    }
                }
            }
            let got: Vec<(String, String)> = editor
                .messages(&out)
                .iter()
                .map(|it| match it["method"].as_str().unwrap() {
                    "session/update" => {
                        let (params, update) = (&it["params"], &it["params"]["update"]);
                        let (session, kind) = (&params["sessionId"], &update["sessionUpdate"]);
                        let name =
                            format!("{} {}", session.as_str().unwrap(), kind.as_str().unwrap());
                        (name, update["content"]["text"].as_str().unwrap().to_owned())
                    }
                    other => (other.to_owned(), it["params"]["i"].to_string()),
                })
                .collect();
            merged += sent.len() - got.len();
            assert!(joined(got) == joined(sent), "seed 17, round {round}");
        }
        assert!(
            merged > 100,
            "the law was never put to the test: {merged} merged"
        );
    }

    fn joined(messages: Vec<(String, String)>) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (name, text) in messages {
            match all.last_mut() {
                Some(last) if last.0 == name && name.contains(' ') => last.1.push_str(&text),
                Some(_) | None => all.push((name, text)),
            }
        }
        all
    }

    #[test]
    fn a_stream_gets_room_when_the_editor_has_read() {
        let (editor, out, _) = start();
        assert!(out.room().now_or_never().is_some());
        out.notify("much", &json!(["x".repeat(HIGH_WATER)]));
        let mut room = Box::pin(out.room());
        assert!((&mut room).now_or_never().is_none());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        editor.set(|it| it.reads = true);
        runtime.block_on(async { tokio::time::timeout(PATIENCE, room).await.unwrap() });
        assert!(out.unwritten() < HIGH_WATER);
    }

    #[test]
    fn an_editor_that_is_gone_stops_nobody() {
        let (editor, out, session) = start();
        out.notify("much", &json!(["x".repeat(2 * HIGH_WATER)]));
        let slots = Arc::new(Semaphore::new(1));
        let held = Arc::clone(&slots).try_acquire_owned().unwrap();
        out.reply_holding(&1.into(), Ok(&()), Some(held));
        let room = out.room();
        editor.set(|it| it.gone = true);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let all = async { tokio::join!(room, out.gone(), slots.acquire()).2.map(drop) };
        runtime.block_on(async { tokio::time::timeout(PATIENCE, all).await.unwrap().unwrap() });
        out.notify("more", &json!({}));
        chunk(&out, &session, ChunkKind::Agent, "more");
        assert_eq!(out.unwritten(), 0);
        assert!(!out.flush(PATIENCE));
    }

    #[test]
    fn a_flush_that_takes_too_long_says_so() {
        let (_editor, out, _) = start();
        out.notify("n", &json!({}));
        assert!(!out.flush(Duration::from_millis(1)));
    }

    #[test]
    fn the_last_handle_leaves_nothing_unwritten() {
        let (editor, out, _) = start();
        editor.set(|it| it.reads = true);
        for i in 0..100 {
            out.clone().notify("n", &json!({ "i": i }));
        }
        drop(out);
        // The writer's own end of the editor is dropped when its thread ends.
        let (lock, changed) = &*editor.0;
        let whole = |it: &mut State| !it.got.ends_with(br#"{"i":99}}"#);
        let (_whole, late) = changed
            .wait_timeout_while(lock.lock().unwrap(), PATIENCE, whole)
            .unwrap();
        assert!(!late.timed_out());
    }
}
