//! A language server with nothing but transport: every promise of the pump can be asked of it.
//!
//! It is built as the real one is: handlers put events into an inbox and wait for the reply, one loop owns
//! the state and never awaits while it works. What a method does is said at `Ask`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::lsp::types::{
    DidChangeTextDocumentParams, DidOpenTextDocumentParams, InitializeParams, InitializeResult,
    InitializedParams, TextDocumentContentChangeEvent,
};
use host::lsp::{
    Answer, Chunk, ChunkKind, Error, ErrorCode, Front, Id, LanguageServer, Limits, LspService, Out,
    Result, current_message_repaired, current_request_id, error, serve,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("no runtime");
    let code = runtime.block_on(run());
    std::process::exit(code);
}

async fn run() -> i32 {
    let (inbox, events) = mpsc::channel(1_000);
    let out = Out::stdout().expect("no writer");
    let (service, _) = LspService::build_with_lifecycle_methods(|_| Probe {
        inbox: inbox.clone(),
    })
    .custom_method("textDocument/didOpen", Probe::did_open)
    .custom_method("textDocument/didChange", Probe::did_change)
    .custom_method("probe/note", Probe::note)
    .custom_method("probe/ping", Probe::ping)
    .custom_method("probe/slowNote", Probe::slow_note)
    .custom_method("probe/badNote", Probe::bad_note)
    .custom_method("probe/log", async |it: &Probe, _: Value| {
        it.ask(Ask::Log).await
    })
    .custom_method("probe/echo", async |it: &Probe, what| {
        it.ask(Ask::Echo(what)).await
    })
    .custom_method("probe/ask", async |it: &Probe, what| {
        it.ask(Ask::Editor(what)).await
    })
    .custom_method("probe/agent", async |it: &Probe, _: Value| {
        it.ask(Ask::Agent).await
    })
    .custom_method("probe/opened", async |it: &Probe, _: Value| {
        it.ask(Ask::Opened).await
    })
    .custom_method("probe/flood", async |it: &Probe, flood| {
        it.ask(Ask::Flood(flood)).await
    })
    .custom_method("probe/sleep", Probe::sleep)
    .custom_method("probe/spin", Probe::spin)
    .custom_method("probe/panic", Probe::panic)
    .custom_method("probe/panicLater", Probe::panic_later)
    .finish();
    let front = ProbeFront {
        inbox,
        runtime: Handle::current(),
    };
    let limits = Limits {
        max_message_bytes: from_env("PROBE_MAX_BYTES", Limits::default().max_message_bytes),
        ..Limits::default()
    };
    let mut state = State {
        out: out.clone(),
        log: Vec::new(),
        opened: 0,
        repaired: false,
        notes: 0,
        asks: 0,
        asked: HashMap::new(),
        agents: HashMap::new(),
    };
    tokio::spawn(async move {
        let mut events: mpsc::Receiver<Event> = events;
        while let Some(event) = events.recv().await {
            state.handle(event);
        }
    });
    let code = serve(service, front, out.clone(), limits)
        .await
        .expect("no reader");
    out.flush(Duration::from_secs(1));
    code
}

fn from_env(name: &str, otherwise: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(otherwise)
}

/// What can wake the loop.
enum Event {
    Request {
        id: Option<Id>,
        ask: Ask,
        reply: oneshot::Sender<Result<Value>>,
    },
    Opened {
        chars: usize,
        repaired: bool,
    },
    Changed {
        version: i32,
        repaired: bool,
    },
    Note,
    Ping(Value),
    Answer(Answer),
    Cancel(Id),
}

/// What the loop is asked.
enum Ask {
    Initialize,
    Shutdown,
    /// All versions seen by `didChange`, in order.
    Log,
    /// The params.
    Echo(Value),
    /// Asks the editor `probe/question` and returns what it answers.
    Editor(Value),
    /// Stays open until it is cancelled; then the loop answers it.
    Agent,
    /// What the loop knows of documents and notices.
    Opened,
    /// Streams.
    Flood(Flood),
}

/// Sends `n` messages, awaiting room before each. The result is sent first.
#[derive(Deserialize)]
struct Flood {
    n: u64,
    /// Sends text chunks instead of notifications.
    #[serde(default)]
    chunks: bool,
}

struct State {
    out: Out,
    log: Vec<i32>,
    opened: usize,
    repaired: bool,
    notes: u64,
    asks: i64,
    asked: HashMap<i64, oneshot::Sender<Result<Value>>>,
    agents: HashMap<Id, oneshot::Sender<Result<Value>>>,
}

impl State {
    fn handle(&mut self, event: Event) {
        match event {
            Event::Request { id, ask, reply } => self.request(id, ask, reply),
            Event::Opened { chars, repaired } => {
                self.opened = chars;
                self.repaired |= repaired;
            }
            Event::Changed { version, repaired } => {
                self.log.push(version);
                self.repaired |= repaired;
            }
            Event::Note => self.notes += 1,
            Event::Ping(what) => self.out.notify("probe/pong", &what),
            Event::Answer(answer) => match self.asked.remove(&answer.id) {
                Some(reply) => drop(reply.send(answer.result)),
                None => self
                    .out
                    .notify("probe/unexpected", &json!({ "id": answer.id })),
            },
            Event::Cancel(id) => {
                if let Some(reply) = self.agents.remove(&id) {
                    let _ = reply.send(Ok(json!({ "stopReason": "cancelled" })));
                }
            }
        }
    }

    fn request(&mut self, id: Option<Id>, ask: Ask, reply: oneshot::Sender<Result<Value>>) {
        let result = match ask {
            Ask::Initialize => json!({ "capabilities": {} }),
            Ask::Shutdown => Value::Null,
            Ask::Log => json!(self.log),
            Ask::Echo(what) => what,
            Ask::Opened => json!({
                "chars": self.opened,
                "repaired": self.repaired,
                "notes": self.notes,
            }),
            Ask::Editor(what) => {
                self.asks += 1;
                self.out.request(self.asks, "probe/question", &what);
                self.asked.insert(self.asks, reply);
                return;
            }
            Ask::Agent => {
                let id = id.expect("a request has an id");
                self.out.notify("probe/agentStarted", &json!({ "id": id }));
                self.agents.insert(id, reply);
                return;
            }
            Ask::Flood(flood) => {
                tokio::spawn(stream(self.out.clone(), flood));
                Value::Null
            }
        };
        let _ = reply.send(Ok(result));
    }
}

async fn stream(out: Out, flood: Flood) {
    let session: Arc<str> = "flood".into();
    let start = (Instant::now(), cpu());
    for i in 0..flood.n {
        out.room().await;
        if flood.chunks {
            let text = format!("{i},");
            let (session, kind) = (&session, ChunkKind::Agent);
            out.chunk(Chunk {
                session,
                kind,
                text: &text,
            });
        } else {
            out.notify("probe/flooded", &json!({ "i": i }));
        }
    }
    let took = start.0.elapsed().as_secs_f64();
    out.notify(
        "probe/floodEnd",
        &json!({ "seconds": took, "cpu": cpu() - start.1 }),
    );
}

/// CPU seconds of this process so far.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after_name
        .split(' ')
        .skip(11)
        .take(2)
        .filter_map(|it| it.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

struct ProbeFront {
    inbox: mpsc::Sender<Event>,
    runtime: Handle,
}

impl ProbeFront {
    fn put(&self, event: Event) {
        self.inbox
            .try_send(event)
            .expect("there was room, and only the reader fills the inbox");
    }
}

impl Front for ProbeFront {
    fn wait_for_room(&mut self) {
        if self.inbox.capacity() == 0 {
            drop(self.runtime.block_on(self.inbox.reserve()));
        }
    }

    fn answer(&mut self, answer: Answer) {
        self.put(Event::Answer(answer));
    }

    fn cancel(&mut self, id: &Id, method: &str) -> bool {
        let ours = method == "probe/agent";
        if ours {
            self.put(Event::Cancel(id.clone()));
        }
        ours
    }
}

struct Probe {
    inbox: mpsc::Sender<Event>,
}

impl LanguageServer for Probe {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        let told = self.ask(Ask::Initialize).await?;
        serde_json::from_value(told).map_err(|it| error(ErrorCode::InternalError, it.to_string()))
    }

    async fn initialized(&self, _: InitializedParams) {}

    async fn shutdown(&self) -> Result<()> {
        self.ask(Ask::Shutdown).await.map(drop)
    }
}

#[derive(Deserialize)]
struct Wait {
    #[serde(default)]
    ms: u64,
}

impl Wait {
    fn time(&self) -> Duration {
        Duration::from_millis(self.ms)
    }
}

impl Probe {
    async fn ask(&self, ask: Ask) -> Result<Value> {
        let (reply, answer) = oneshot::channel();
        let id = current_request_id();
        self.put(Event::Request { id, ask, reply });
        answer
            .await
            .unwrap_or_else(|_| Err(Error::internal_error()))
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.put(Event::Opened {
            chars: params.text_document.text.chars().count(),
            repaired: current_message_repaired(),
        });
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let _: Vec<TextDocumentContentChangeEvent> = params.content_changes;
        self.put(Event::Changed {
            version: params.text_document.version,
            repaired: current_message_repaired(),
        });
    }

    async fn note(&self, _: Value) {
        self.put(Event::Note);
    }

    async fn ping(&self, what: Value) {
        self.put(Event::Ping(what));
    }

    /// Waits, which a notice must not do.
    async fn slow_note(&self, wait: Wait) {
        tokio::time::sleep(wait.time()).await;
        self.put(Event::Note);
    }

    async fn bad_note(&self, _: Value) {
        panic!("as asked");
    }

    async fn sleep(&self, wait: Wait) -> Result<Value> {
        tokio::time::sleep(wait.time()).await;
        Ok(json!({ "slept": wait.ms }))
    }

    /// Burns CPU where it may be burnt.
    async fn spin(&self, wait: Wait) -> Result<Value> {
        let spin = tokio::task::spawn_blocking(move || {
            let start = Instant::now();
            while start.elapsed() < wait.time() {
                std::hint::spin_loop();
            }
        });
        spin.await.map_err(|_| Error::internal_error())?;
        Ok(Value::Null)
    }

    async fn panic(&self, _: Value) -> Result<Value> {
        panic!("as asked");
    }

    async fn panic_later(&self, _: Value) -> Result<Value> {
        tokio::task::yield_now().await;
        panic!("as asked");
    }

    fn put(&self, event: Event) {
        self.inbox
            .try_send(event)
            .expect("there was room, and only the reader fills the inbox");
    }
}
