//! Everything that goes to the editor, in the order it was said.
//!
//! [`Out`] is called synchronously and never blocks on the editor. A writer thread owns stdout, takes
//! whatever is ready and writes it at once, so a burst costs few system calls and a lone message waits
//! for nothing. There is no timer.
//!
//! Only streamed text is ever merged, and only while the editor is behind: a [`Chunk`] that finds more
//! than [`BEHIND`] bytes waiting, the last of them a chunk of its session and kind, becomes part of
//! it. So a slow editor gets fewer and longer notifications whose text, joined, is the same.

mod queue;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use engine::redact::redact;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use self::queue::Shared;
use super::stdio::Stdout;
use super::{Error, ErrorCode, Id, error};

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
        Out::to_fd(io::stdout())
    }

    /// Writes to a pipe or socket, which is duplicated. A lone message does not even go through the
    /// thread where the system can write without blocking.
    pub fn to_fd(fd: impl AsFd) -> io::Result<Out> {
        let quick = Stdout::open(fd.as_fd())?;
        Out::start(Stdout::open(fd.as_fd())?, Some(quick))
    }

    /// Writes to `sink`, from a thread of its own. Fails if there can be no thread.
    pub fn to(sink: impl Write + Send + 'static) -> io::Result<Out> {
        Out::start(sink, None)
    }

    fn start(sink: impl Write + Send + 'static, quick: Option<Stdout>) -> io::Result<Out> {
        let shared = Arc::new(Shared::new(quick));
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

    /// As [`request`](Self::request), for one that LSP gives no params: `null` in their place is no JSON-RPC.
    pub fn request_bare(&self, id: i64, method: &str) {
        let request = serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method});
        self.send(method, None, &request);
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
            let message = redact(&error.message).into_owned().into();
            let error = &Error {
                message,
                ..error.clone()
            };
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
        if !queue.gone {
            queue.push_chunk(&chunk);
            self.0.0.see_to(queue);
        }
    }

    /// Resolves when less than [`HIGH_WATER`] is unwritten, or when the editor is gone. Whoever produces a
    /// stream awaits it before each piece: so an editor that does not read stops the stream, not the
    /// memory.
    pub async fn room(&self) {
        self.0.0.room().await;
    }

    /// Blocks until all is written. False if that takes longer than `timeout` or the editor is gone. For
    /// the end of the process.
    pub fn flush(&self, timeout: Duration) -> bool {
        self.0.0.flush(timeout)
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
        if !queue.gone {
            queue.push(&body, held);
            self.0.0.see_to(queue);
        }
    }
}

/// Ends the writer when the last [`Out`] goes.
struct Owner(Arc<Shared>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.close();
    }
}
