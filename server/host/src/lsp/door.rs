//! The LSP door: from the router's handlers into the main loop's inbox.
//!
//! Each handler is one line, made from the method table: it puts an event into the inbox at its
//! first poll, in the editor's order, and waits for the reply. Nothing is decided here.

use super::pump::Front;
use super::{
    Answer, Error, ErrorCode, Id, LanguageServer, LspService, Result, current_message_repaired,
    current_request_id,
};
use protocol::methods::{ClientNotification, ClientRequest, LspNotification, LspRequest, Request};
use protocol::{client_notifications, client_requests, lsp, lsp_notifications, lsp_requests};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

/// What the editor says, in its order.
#[allow(
    clippy::large_enum_variant,
    reason = "moved once, never stored in bulk"
)]
pub enum FrontEvent {
    Request {
        id: Id,
        request: Incoming,
        reply: Reply,
    },
    Notice(Notice),
    Answer(Answer),
    /// The editor wants this open agent request ended; the loop answers it.
    Cancel(Id),
}

#[allow(
    clippy::large_enum_variant,
    reason = "moved once, never stored in bulk"
)]
pub enum Incoming {
    Initialize(Box<lsp::InitializeParams>),
    Shutdown,
    Agent(ClientRequest),
    Lsp(LspRequest),
}

pub enum Notice {
    Initialized,
    Agent(ClientNotification),
    /// `repaired`: a text in it is not exactly what the editor has.
    Lsp {
        notice: LspNotification,
        repaired: bool,
    },
}

/// Answers one request. Dropped unanswered, it says that the handler failed.
#[derive(Debug)]
pub struct Reply(oneshot::Sender<Result<Value>>);

impl Reply {
    /// A reply and what it will be.
    pub fn new() -> (Self, impl Future<Output = Result<Value>> + Send + 'static) {
        let (reply, answer) = oneshot::channel();
        let answer = async move {
            answer.await.unwrap_or_else(|_| {
                Err(super::error(
                    ErrorCode::InternalError,
                    "Undine failed while it handled this request; its log says more. It goes on with the next.",
                ))
            })
        };
        (Self(reply), answer)
    }

    /// Answers with the result type of the method.
    pub fn send<R: Request>(self, result: Result<R::Result>) {
        self.send_value(result.and_then(|it| {
            serde_json::to_value(it)
                .map_err(|error| super::error(ErrorCode::InternalError, error.to_string()))
        }));
    }

    pub fn send_value(self, result: Result<Value>) {
        // A handler that was cancelled by the editor does not wait any more.
        let _ = self.0.send(result);
    }
}

/// The handlers' end of the inbox.
pub struct Door {
    inbox: mpsc::Sender<FrontEvent>,
}

impl Door {
    /// Puts a request into the inbox now, and answers when the loop has.
    fn request(&self, request: Incoming) -> impl Future<Output = Result<Value>> + Send + 'static {
        let (reply, answer) = Reply::new();
        // The pump sets it around the first poll of every request's handler, which is where we are.
        let id = current_request_id().unwrap_or(Id::Null);
        self.push(FrontEvent::Request { id, request, reply });
        answer
    }

    fn notice(&self, notice: Notice) {
        self.push(FrontEvent::Notice(notice));
    }

    fn push(&self, event: FrontEvent) {
        // There is room: the pump's thread is the only one that fills this inbox, and it waits for
        // room before each message.
        if self.inbox.try_send(event).is_err() {
            tracing::error!("the inbox was full or closed; a message of the editor is lost");
        }
    }
}

impl LanguageServer for Door {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let answer = self.request(Incoming::Initialize(Box::new(params))).await?;
        serde_json::from_value(answer)
            .map_err(|error| super::error(ErrorCode::InternalError, error.to_string()))
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        self.notice(Notice::Initialized);
    }

    async fn shutdown(&self) -> Result<()> {
        self.request(Incoming::Shutdown).await.map(drop)
    }
}

/// The router with every method of the table, and the receiver of what it takes in. `room` messages
/// may wait.
pub fn service(
    room: usize,
    runtime: Handle,
) -> (LspService<Door>, DoorFront, mpsc::Receiver<FrontEvent>) {
    let (inbox, events) = mpsc::channel(room);
    let front = DoorFront {
        inbox: inbox.clone(),
        runtime,
    };
    let mut builder = LspService::build_with_lifecycle_methods(|_| Door { inbox });
    macro_rules! agent_requests {
        ($enum:ident, $rows:ident, $sender:ident; $($(#[$doc:meta])* $name:ident = $method:literal: $params:ty => $result:ty,)*) => {
            $(builder = builder.custom_method($method, async |door: &Door, params: $params| {
                door.request(Incoming::Agent(ClientRequest::$name(params))).await
            });)*
        };
    }
    macro_rules! agent_notifications {
        ($enum:ident, $rows:ident, $sender:ident; $($(#[$doc:meta])* $name:ident = $method:literal: $params:ty,)*) => {
            $(builder = builder.custom_method($method, async |door: &Door, params: $params| {
                door.notice(Notice::Agent(ClientNotification::$name(params)));
            });)*
        };
    }
    macro_rules! lsp_side {
        (LspRequest; $($name:ident = $method:literal: $params:ty,)*) => {
            $(builder = builder.custom_method($method, async |door: &Door, params: $params| {
                door.request(Incoming::Lsp(LspRequest::$name(params))).await
            });)*
        };
        (LspNotification; $($name:ident = $method:literal: $params:ty,)*) => {
            $(builder = builder.custom_method($method, async |door: &Door, params: $params| {
                let repaired = current_message_repaired();
                door.notice(Notice::Lsp { notice: LspNotification::$name(params), repaired });
            });)*
        };
    }
    client_requests!(agent_requests);
    client_notifications!(agent_notifications);
    lsp_requests!(lsp_side);
    lsp_notifications!(lsp_side);
    let (service, _) = builder.finish();
    (service, front, events)
}

/// The pump's way into the inbox.
pub struct DoorFront {
    inbox: mpsc::Sender<FrontEvent>,
    runtime: Handle,
}

impl Front for DoorFront {
    fn wait_for_room(&mut self) {
        // A permit that is dropped leaves its room; nobody else can take it.
        let _ = self.runtime.block_on(self.inbox.reserve());
    }

    fn answer(&mut self, answer: Answer) {
        let _ = self.inbox.try_send(FrontEvent::Answer(answer));
    }

    fn cancel(&mut self, id: &Id, method: &str) -> bool {
        // A prompt has a turn behind it, which must end in order before the answer; a side question a model that is stopped.
        let ours = [
            <protocol::methods::Prompt as Request>::METHOD,
            <protocol::methods::Btw as Request>::METHOD,
        ]
        .contains(&method);
        if ours {
            let _ = self.inbox.try_send(FrontEvent::Cancel(id.clone()));
        }
        ours
    }
}

/// JSON-RPC's RequestCancelled of LSP, for a prompt that was withdrawn.
pub fn cancelled() -> Error {
    Error::request_cancelled()
}
