//! Reads the editor's messages and starts their handlers, in the order they came.
//!
//! One thread reads stdin. It polls each handler once itself, which is when a handler puts its event into
//! the main loop's inbox: so the inbox has the editor's order by construction, and no handler can be
//! overtaken. What is not finished by then waits on the runtime and holds nobody up.
//!
//! Not decided here: what a method does, and how an agent's request is cancelled ([`Front::cancel`]).

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tower_lsp_server::ExitedError;
use tower_lsp_server::jsonrpc::{Request, Response};
use tower_service::Service;

use super::frame::{Frame, Frames, SKIP_FACTOR};
use super::message::{Answer, Message};
use super::{Error, ErrorCode, Id, LanguageServer, LspService, Out, code, current, error, stdio};

/// What the pump needs of the main loop. Called on the reader's thread.
pub trait Front: Send + 'static {
    /// Blocks while the inbox is full. The editor's pipe then fills up, so an editor that sends faster
    /// than we work is slowed down instead of remembered.
    fn wait_for_room(&mut self);

    /// Takes the answer to a request made with [`Out::request`], in order with everything else that the
    /// editor said.
    fn answer(&mut self, answer: Answer);

    /// Hears that the editor wants this open request cancelled. True: the main loop ends it itself, its
    /// handler stays. False: its handler is dropped at once and -32800 is sent.
    fn cancel(&mut self, id: &Id, method: &str) -> bool;
}

/// How much the editor may ask for.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest message, in bytes. A larger one is answered with -32600 and skipped.
    pub max_message_bytes: usize,
    /// The most requests at once, each counted until it is its reply's turn to be written, so that an
    /// editor that never reads is bounded, too. More are answered with -32803.
    pub max_open_requests: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_message_bytes: 256 * 1024 * 1024,
            max_open_requests: 512,
        }
    }
}

/// Serves the editor on stdin until it says `exit` or is gone, and returns the process's exit code: 0 if
/// `shutdown` came first, else 1 (LSP 3.18, "Exit Notification").
///
/// Handlers that are still open at that moment are neither waited for nor stopped: the caller stops its
/// work, calls [`Out::flush`] and ends the process. It must end it with `process::exit`, since the reader
/// may still sit in a read of stdin. Must be awaited within a runtime that has time enabled; fails only
/// if there can be no thread or no stdin.
pub async fn serve<S: LanguageServer>(
    service: LspService<S>,
    front: impl Front,
    out: Out,
    limits: Limits,
) -> io::Result<i32> {
    serve_on(stdio::Stdin::open()?, service, front, out, limits).await
}

/// As [`serve`], on any input.
pub async fn serve_on<S: LanguageServer>(
    input: impl Read + Send + 'static,
    service: LspService<S>,
    front: impl Front,
    out: Out,
    limits: Limits,
) -> io::Result<i32> {
    let (ended, end) = oneshot::channel();
    let open = Arc::new(Open::default());
    let shared = Arc::clone(&open);
    let reader = Reader {
        frames: Frames::new(input, limits.max_message_bytes as u64),
        service,
        front,
        out: out.clone(),
        open,
        limits,
        slots: Arc::new(Semaphore::new(limits.max_open_requests)),
        refusals: Arc::new(Semaphore::new(limits.max_open_requests)),
        runtime: Handle::current(),
        last_id: 0,
    };
    std::thread::Builder::new()
        .name("lsp-reader".into())
        .spawn(move || {
            // The receiver is gone only when the editor was gone first.
            let _ = ended.send(reader.run());
        })?;
    let end = tokio::select! {
        biased;
        // A reader that ends without a word has panicked: nobody listens to the editor any more.
        end = end => end.unwrap_or(End::Unreadable),
        () = out.gone() => End::Gone,
    };
    Ok(match end {
        End::Exit | End::Gone if shared.shut_down.load(Ordering::Acquire) => 0,
        End::Exit | End::Gone | End::Unreadable => 1,
    })
}

/// Why the reader has ended.
enum End {
    /// The editor said so.
    Exit,
    /// The editor closed its end.
    Gone,
    /// The input makes no sense any more.
    Unreadable,
}

struct Reader<I, S, F> {
    frames: Frames<I>,
    service: LspService<S>,
    front: F,
    out: Out,
    open: Arc<Open>,
    limits: Limits,
    /// One for each open request, given back when its reply is written.
    slots: Arc<Semaphore>,
    /// One for each refusal not yet written. When they run out the reader waits for the editor to read:
    /// refusing costs no slot, so nothing else bounds an editor that only writes.
    refusals: Arc<Semaphore>,
    runtime: Handle,
    last_id: i64,
}

impl<I: Read, S: LanguageServer, F: Front> Reader<I, S, F> {
    fn run(mut self) -> End {
        let runtime = self.runtime.clone();
        // Handlers spawn and sleep during their first poll, too.
        let _runtime = runtime.enter();
        loop {
            self.front.wait_for_room();
            let body = match self.frames.next() {
                Ok(Frame::Body(body)) if body.is_empty() => continue,
                Ok(Frame::Body(body)) => body,
                Ok(Frame::Garbage(what)) => {
                    self.refuse(&Id::Null, &error(ErrorCode::ParseError, what));
                    continue;
                }
                Ok(Frame::TooBig { bytes, skipped }) => {
                    self.refuse(&Id::Null, &self.too_big(bytes, skipped));
                    if skipped {
                        continue;
                    }
                    return End::Unreadable;
                }
                Ok(Frame::End) => return End::Gone,
                Err(error) => {
                    tracing::warn!(%error, "reading from the editor");
                    return End::Gone;
                }
            };
            let (message, repaired) = match Message::parse(&body) {
                Ok(parsed) => parsed,
                Err(fault) => {
                    self.frames.resync(&body);
                    let what = format!("this message is no JSON: {fault}");
                    self.refuse(&Id::Null, &error(ErrorCode::ParseError, what));
                    continue;
                }
            };
            // It may be large, and what was read from it is a copy.
            drop(body);
            match message {
                Message::Request { method, .. } | Message::Notice { method, .. }
                    if method == "exit" =>
                {
                    return End::Exit;
                }
                Message::Request { id, method, params } => {
                    self.request(id, method, params, repaired)
                }
                Message::Notice { method, params } if method == "$/cancelRequest" => {
                    self.cancel(&method, params);
                }
                Message::Notice { method, params } => self.notice(method, params, repaired),
                Message::Answer(answer) => self.front.answer(answer),
                Message::Ignored(why) => tracing::debug!(why, "ignored a message"),
                Message::Invalid { id, error } => self.refuse(&id, &error),
            }
        }
    }

    fn request(&mut self, id: Id, method: String, params: Option<Value>, repaired: bool) {
        if let Err(error) = self.may_start(&id, &method) {
            return self.refuse(&id, &error);
        }
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            let most = self.limits.max_open_requests;
            let what = format!("{most} requests are open; ask again when one of them is answered");
            return self.refuse(&id, &error(code::REQUEST_FAILED, what));
        };
        if method == "shutdown" {
            self.open.shut_down.store(true, Ordering::Release);
        }
        let inner = self.next_id();
        let call = Call {
            id,
            method,
            slot,
            open: Arc::clone(&self.open),
            out: self.out.clone(),
        };
        let request = build(call.method.clone(), params, Some(inner));
        match self.start(Some(call.id.clone()), repaired, request) {
            Started::Done(response) => call.finish(response),
            Started::Panicked => call.panicked(),
            Started::Open(handler) => {
                self.open.insert(&call, inner);
                self.runtime.spawn(async move {
                    match AssertUnwindSafe(handler).catch_unwind().await {
                        Ok(response) => call.finish(response),
                        Err(_) => call.panicked(),
                    }
                });
            }
        }
    }

    fn notice(&mut self, method: String, params: Option<Value>, repaired: bool) {
        /// A handler that waits longer than this for anything is wrong, and is given up.
        const BUDGET: Duration = Duration::from_secs(2);
        if !self.open.initialized.load(Ordering::Acquire) {
            return tracing::debug!(method, "dropped: it came before `initialize` was answered");
        }
        let request = build(method.clone(), params, None);
        match self.start(None, repaired, request) {
            Started::Done(_) => {}
            Started::Panicked => tracing::error!(method, "the handler of a notice panicked"),
            Started::Open(handler) => {
                tracing::warn!(
                    method,
                    "the handler of a notice waits; later messages overtake it"
                );
                self.runtime.spawn(async move {
                    let handler = AssertUnwindSafe(handler).catch_unwind();
                    match tokio::time::timeout(BUDGET, handler).await {
                        Ok(Ok(_)) => {}
                        Ok(Err(_)) => tracing::error!(method, "the handler of a notice panicked"),
                        Err(_) => tracing::error!(method, "gave up the handler of a notice"),
                    }
                });
            }
        }
    }

    fn cancel(&mut self, method: &str, params: Option<Value>) {
        let id = params.and_then(|mut it| serde_json::from_value(it.get_mut("id")?.take()).ok());
        let id: Id = id.unwrap_or_default();
        let Some(open) = self.open.get(&id) else {
            // It was answered already, or never asked. Neither is a fault of the editor.
            return tracing::debug!(%id, "cancelled a request that is not open");
        };
        if self.front.cancel(&id, &open.method) {
            return;
        }
        let params = json!({ "id": open.inner });
        // Ends the handler, whose task then sends -32800. Finished at its first poll.
        let request = build(method.to_owned(), Some(params), None);
        match self.start(None, false, request) {
            Started::Done(_) => {}
            Started::Panicked | Started::Open(_) => {
                tracing::error!("the router's cancel did not finish")
            }
        }
    }

    /// Whether a request may be handed to the router now. It checks most of this itself, but would run a
    /// second `initialize` beside an unanswered first one, and hold two requests with one id apart only
    /// by refusing what a panic has left behind, too.
    fn may_start(&self, id: &Id, method: &str) -> Result<(), Error> {
        if self.open.get(id).is_some() {
            let what = format!("request {id} is still open; give every request an id of its own");
            return Err(error(ErrorCode::InvalidRequest, what));
        }
        if self.open.shut_down.load(Ordering::Acquire) {
            let what = "the server is shut down; only `exit` may follow";
            return Err(error(ErrorCode::InvalidRequest, what));
        }
        if self.open.initialized.load(Ordering::Acquire) {
            return Ok(());
        }
        if method != "initialize" {
            let what =
                "the server is not initialized; send `initialize` and wait for its answer first";
            return Err(error(code::NOT_INITIALIZED, what));
        }
        if self.open.has("initialize") {
            let what = "`initialize` was sent already; wait for its answer";
            return Err(error(ErrorCode::InvalidRequest, what));
        }
        Ok(())
    }

    /// Calls the handler and polls it once.
    fn start(&mut self, id: Option<Id>, repaired: bool, request: Request) -> Started {
        let service = &mut self.service;
        current::during(id, repaired, || {
            let first_poll = || {
                let mut handler = service.call(request);
                match (&mut handler).now_or_never() {
                    Some(response) => Started::Done(response),
                    None => Started::Open(handler),
                }
            };
            // The service keeps no state of ours between calls that a panic could leave half done.
            catch_unwind(AssertUnwindSafe(first_poll)).unwrap_or(Started::Panicked)
        })
    }

    /// Answers what no handler will.
    fn refuse(&self, id: &Id, error: &Error) {
        let held = match Arc::clone(&self.refusals).try_acquire_owned() {
            Ok(held) => Some(held),
            // Waits for the writer, which gives back all it holds when the editor is gone. An error
            // would mean a closed semaphore, and nobody closes it.
            Err(_) => self
                .runtime
                .block_on(Arc::clone(&self.refusals).acquire_owned())
                .ok(),
        };
        self.out.reply_holding(id, Err::<&(), _>(error), held);
    }

    fn too_big(&self, bytes: u64, skipped: bool) -> Error {
        let limit = self.limits.max_message_bytes;
        let what = if skipped {
            format!(
                "a message of {bytes} bytes is over the limit of {limit} and was skipped; send less at \
                 once, or leave the file on disk and close it in the editor"
            )
        } else {
            format!(
                "a message of {bytes} bytes is over {SKIP_FACTOR} times the limit of {limit}, so its \
                 Content-Length must be wrong; the server ends, start it again"
            )
        };
        error(ErrorCode::InvalidRequest, what)
    }

    /// An id for the router. The editor's own would do for most editors, but the router can only cancel
    /// numbers of 32 bits and strings, and it never forgets the id of a handler that panicked. A number
    /// comes again after two billion requests.
    fn next_id(&mut self) -> i64 {
        self.last_id = (self.last_id + 1) & i64::from(i32::MAX);
        self.last_id
    }
}

type Outcome = Result<Option<Response>, ExitedError>;

enum Started {
    Done(Outcome),
    Open(BoxFuture<'static, Outcome>),
    Panicked,
}

fn build(method: String, params: Option<Value>, id: Option<i64>) -> Request {
    let mut request = Request::build(method);
    if let Some(params) = params {
        request = request.params(params);
    }
    if let Some(id) = id {
        request = request.id(id);
    }
    request.finish()
}

/// A request on its way to its reply.
struct Call {
    id: Id,
    method: String,
    slot: OwnedSemaphorePermit,
    open: Arc<Open>,
    out: Out,
}

impl Call {
    fn finish(self, outcome: Outcome) {
        let result = match outcome {
            Ok(Some(response)) => response
                .into_parts()
                .1
                .map_err(|error| self.in_a_sentence(error)),
            // The router is silent about unknown methods that start with `$/`. LSP allows that for
            // notices only ("$ Notifications and Requests").
            Ok(None) => Err(error(
                ErrorCode::MethodNotFound,
                format!("there is no method {}", self.method),
            )),
            Err(ExitedError { .. }) => {
                Err(error(ErrorCode::InvalidRequest, "the server has exited"))
            }
        };
        if self.method == "initialize" && result.is_ok() {
            // Before the reply is sent, so that whatever the editor sends next finds it set.
            self.open.initialized.store(true, Ordering::Release);
        }
        self.reply(result);
    }

    /// The router's own errors name their code and no more; a person who reads the editor's log needs to
    /// know what happened and what to do. Errors of our handlers have other codes and are sentences.
    fn in_a_sentence(&self, error: Error) -> Error {
        let method = &self.method;
        let text = match error.code {
            ErrorCode::MethodNotFound => format!(
                "There is no method {method}; the answer to initialize says what is served."
            ),
            ErrorCode::InvalidRequest if self.open.shut_down.load(Ordering::Acquire) => {
                format!("The server was shut down, so {method} is not served; start it anew.")
            }
            ErrorCode::InvalidRequest if method == "initialize" => {
                "The server is initialized; start another one for another editor.".to_owned()
            }
            ErrorCode::InvalidRequest => {
                format!("{method} is a notification; send it without an id.")
            }
            ErrorCode::RequestCancelled => format!("The request {method} was cancelled."),
            _ => return error,
        };
        super::error(error.code, text)
    }

    fn panicked(self) {
        tracing::error!(method = self.method, "a handler panicked");
        let what = format!(
            "the server failed while answering {}; its log says where",
            self.method
        );
        self.reply(Err(error(ErrorCode::InternalError, what)));
    }

    fn reply(self, result: Result<Value, Error>) {
        // Before the reply is sent: whoever has read it may use the id again.
        self.open.remove(&self.id);
        self.out
            .reply_holding(&self.id, result.as_ref(), Some(self.slot));
    }
}

/// What the reader and the waiting requests know of each other.
#[derive(Default)]
struct Open {
    /// A lock and not a message to the reader, because the reader is in a read of stdin when a request
    /// ends, and the id must be free before the reply is sent. Held for one look-up.
    requests: Mutex<HashMap<Id, OpenRequest>>,
    initialized: AtomicBool,
    shut_down: AtomicBool,
}

#[derive(Clone)]
struct OpenRequest {
    method: Arc<str>,
    inner: i64,
}

impl Open {
    fn insert(&self, call: &Call, inner: i64) {
        let method = call.method.as_str().into();
        self.lock()
            .insert(call.id.clone(), OpenRequest { method, inner });
    }

    fn remove(&self, id: &Id) {
        self.lock().remove(id);
    }

    fn get(&self, id: &Id) -> Option<OpenRequest> {
        self.lock().get(id).cloned()
    }

    fn has(&self, method: &str) -> bool {
        self.lock().values().any(|it| &*it.method == method)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, OpenRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
