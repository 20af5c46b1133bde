//! This program in the editor's place: a front of the main loop without a wire.
//!
//! Requests go straight into the loop's inbox. What the loop says comes through the same writer as for an editor,
//! into a pipe that is read here, so that answers and updates keep their order.

use crate::cli::{Front, ROOM};
use crate::lsp::{
    Answer, Error, ErrorCode, Frame, Frames, FrontEvent, Id, Incoming, Notice, Out, Reply, error,
};
use crate::workspace::uri_of;
use protocol::acp;
use protocol::lsp;
use protocol::methods::{self, ClientNotification, ClientRequest, Notification};
use protocol::retry::{Retry, RetryParams};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::path::Path;
use std::thread;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

pub struct Console {
    events: mpsc::Sender<FrontEvent>,
    out: Out,
    heard: mpsc::Receiver<Value>,
    n_requests: i64,
}

/// What the loop says.
pub enum Heard {
    Update(Box<acp::SessionUpdate>),
    /// The model is asked again; `None`: that is over.
    Retry(Option<Retry>),
    /// `window/showMessage`
    Message(String),
    /// The answer to a request of ours; the error is a sentence for the person.
    Answer(i64, Result<Value, String>),
}

/// The loop has ended.
const OVER: &str = "The server has ended; its log says why.";

impl Console {
    /// A console, and what the main loop needs of it.
    pub fn open() -> io::Result<(Self, Front)> {
        let (reader, writer) = io::pipe()?;
        let out = Out::to_fd(writer)?;
        let (events, front_events) = mpsc::channel(ROOM);
        let (said, heard) = mpsc::channel(ROOM);
        thread::Builder::new()
            .name("console-reader".to_owned())
            .spawn(move || forward(reader, &said))?;
        let front = Front {
            out: out.clone(),
            events: front_events,
            attended: false,
        };
        let console = Self {
            events,
            out,
            heard,
            n_requests: 0,
        };
        Ok((console, front))
    }

    /// Says what this front is: it takes these methods and can do nothing that an editor can.
    pub async fn introduce(&mut self, root: &Path, methods: &[&str]) -> Result<(), String> {
        let uri = uri_of(root);
        let params = json!({
            "processId": null,
            "clientInfo": {"name": "undine"},
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": "project"}],
            "capabilities": {"experimental": {"agent": {
                "protocolVersion": 1,
                "clientCapabilities": {},
                "methods": methods,
            }}},
        });
        let params = lsp::InitializeParams::deserialize(params)
            .map_err(|error| format!("The introduction cannot be written ({error})."))?;
        let id = self.send(Incoming::Initialize(Box::new(params))).await;
        loop {
            if let Heard::Answer(answered, answer) = self.next().await?
                && answered == id
            {
                answer?;
                break;
            }
        }
        self.notice(Notice::Initialized).await;
        Ok(())
    }

    /// Sends a request; its answer is heard under the id that is returned.
    pub async fn request(&mut self, request: ClientRequest) -> i64 {
        self.send(Incoming::Agent(request)).await
    }

    async fn send(&mut self, request: Incoming) -> i64 {
        self.n_requests += 1;
        let id = self.n_requests;
        let (reply, answer) = Reply::new();
        let event = FrontEvent::Request {
            id: Id::Number(id),
            request,
            reply,
        };
        // A loop that is gone is noticed by the next wait.
        let _ = self.events.send(event).await;
        let out = self.out.clone();
        tokio::spawn(async move {
            let answer = answer.await;
            out.reply(&Id::Number(id), answer.as_ref());
        });
        id
    }

    /// Ends the session's turn.
    pub async fn cancel(&self, session: &acp::SessionId) {
        let params = acp::CancelNotification::new(session.clone());
        self.notice(Notice::Agent(ClientNotification::Cancel(params)))
            .await;
    }

    async fn notice(&self, notice: Notice) {
        // A loop that is gone is noticed by the next wait.
        let _ = self.events.send(FrontEvent::Notice(notice)).await;
    }

    /// What the loop says next that concerns the person.
    pub async fn next(&mut self) -> Result<Heard, String> {
        loop {
            let message = self.heard.recv().await.ok_or(OVER)?;
            let id = message["id"].as_i64();
            match (message["method"].as_str(), id) {
                (Some(method), None) => {
                    if let Some(heard) = notified(method, &message["params"])? {
                        return Ok(heard);
                    }
                }
                (Some(method), Some(id)) => self.decline(id, method).await,
                (None, Some(id)) => return Ok(Heard::Answer(id, answer_in(message))),
                (None, None) => tracing::warn!(%message, "the loop said what is no message"),
            }
        }
    }

    /// Nothing that was not declared should be asked; whoever does must not wait.
    async fn decline(&self, id: i64, method: &str) {
        let text = format!("There is no editor to answer {method}.");
        let result = Err(error(ErrorCode::MethodNotFound, text));
        let _ = self
            .events
            .send(FrontEvent::Answer(Answer { id, result }))
            .await;
    }
}

/// Reads the loop's messages until it ends.
fn forward(reader: io::PipeReader, said: &mpsc::Sender<Value>) {
    let mut frames = Frames::new(reader, u64::MAX);
    loop {
        let body = match frames.next() {
            Ok(Frame::Body(body)) => body,
            Ok(Frame::End) | Err(_) => return,
            Ok(Frame::Garbage(what)) => {
                tracing::error!(what, "our own message cannot be read");
                continue;
            }
            Ok(Frame::TooBig { .. }) => return,
        };
        match serde_json::from_slice(&body) {
            Ok(message) => {
                if said.blocking_send(message).is_err() {
                    return;
                }
            }
            Err(error) => tracing::error!(%error, "our own message cannot be read"),
        }
    }
}

fn notified(method: &str, params: &Value) -> Result<Option<Heard>, String> {
    if method == methods::Update::METHOD {
        let update = acp::SessionNotification::deserialize(params)
            .map_err(|error| format!("An update cannot be read ({error})."))?;
        return Ok(Some(Heard::Update(Box::new(update.update))));
    }
    if method == methods::Retry::METHOD {
        let params = RetryParams::deserialize(params)
            .map_err(|error| format!("A notification cannot be read ({error})."))?;
        return Ok(Some(Heard::Retry(params.retry)));
    }
    if method == "window/showMessage" {
        let text = params["message"].as_str().unwrap_or_default();
        return Ok(Some(Heard::Message(text.to_owned())));
    }
    Ok(None)
}

fn answer_in(mut message: Value) -> Result<Value, String> {
    match message.get("error") {
        Some(error) => Err(match Error::deserialize(error) {
            Ok(error) => error.message.into_owned(),
            Err(_) => error.to_string(),
        }),
        None => Ok(message["result"].take()),
    }
}

/// A person or the system wants the program to end. What ignores the end of its terminal goes on doing so.
pub struct Interrupt {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupt {
    /// From now on these signals do not end the process.
    pub fn watch() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
