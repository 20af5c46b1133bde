//! The table: every method that crosses the wire, with its types and its one line of documentation.
//!
//! The server's dispatch, `protocol.md` and both editors' types come from it. A method without a
//! handler does not compile; a method that is missing from the documentation fails a test.
//!
//! Each list is a macro that hands its rows to another macro, so that the host can register and
//! match exactly what stands here.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Requests of the agent that an editor sends.
#[macro_export]
macro_rules! client_requests {
    ($callback:ident) => {
        $callback! {
            ClientRequest, CLIENT_REQUESTS, Client;
            /// Opens a new session in a folder.
            NewSession = "session/new": $crate::acp::NewSessionRequest => $crate::acp::NewSessionResponse,
            /// Opens a session from its log and replays it by `session/update`.
            LoadSession = "session/load": $crate::acp::LoadSessionRequest => $crate::acp::LoadSessionResponse,
            /// Messages of an open session, before one or the newest.
            SessionMessages = "undine/session/messages": $crate::messages::MessagesParams => $crate::messages::MessagesResult,
            /// Opens a session from its log and replays nothing.
            ResumeSession = "session/resume": $crate::acp::ResumeSessionRequest => $crate::acp::ResumeSessionResponse,
            /// Ends a session's work and lets it go; its log stays.
            CloseSession = "session/close": $crate::acp::CloseSessionRequest => $crate::acp::CloseSessionResponse,
            /// Removes a session with all that belongs to it. One that another process has open stays.
            DeleteSession = "session/delete": $crate::acp::DeleteSessionRequest => $crate::acp::DeleteSessionResponse,
            /// Makes a new session of a part of another one, up to one of its messages.
            ForkSession = "undine/session/fork": $crate::sessions::ForkSessionParams => $crate::sessions::ForkSessionResult,
            /// Gives a session a title.
            RenameSession = "undine/session/rename": $crate::sessions::RenameSessionParams => $crate::sessions::RenameSessionResult,
            /// A session as Markdown or as JSON lines.
            ExportSession = "undine/session/export": $crate::sessions::ExportSessionParams => $crate::sessions::ExportSessionResult,
            /// Looks for words in the sessions of a folder.
            SearchSessions = "undine/session/search": $crate::sessions::SearchSessionsParams => $crate::sessions::SearchSessionsResult,
            /// Looks for words in earlier prompts: those of a session first, then those of the folder's last sessions.
            SearchPrompts = "undine/prompts": $crate::sessions::SearchPromptsParams => $crate::sessions::SearchPromptsResult,
            /// Lists the sessions of a folder, newest first.
            ListSessions = "session/list": $crate::acp::ListSessionsRequest => $crate::acp::ListSessionsResponse,
            /// Runs one turn. The answer comes when the turn has ended, and says why. A prompt that
            /// is sent while a turn runs steers that turn at its next tool boundary.
            Prompt = "session/prompt": $crate::acp::PromptRequest => $crate::acp::PromptResponse,
            /// Sets how much the session may do without asking.
            SetMode = "session/set_mode": $crate::acp::SetSessionModeRequest => $crate::acp::SetSessionModeResponse,
            /// Sets the model of a session, or how hard it thinks; from the next answer on.
            SetConfigOption = "session/set_config_option": $crate::acp::SetSessionConfigOptionRequest => $crate::acp::SetSessionConfigOptionResponse,
            /// Lists the agent's changes that the person has not judged yet.
            ListReview = "undine/review/list": $crate::hunks::ListReviewParams => $crate::hunks::ReviewList,
            /// Keeps or reverts changes by hunk, file, turn or session. A revert that is asked for
            /// while a turn runs waits for its next tool boundary.
            ResolveReview = "undine/review/resolve": $crate::hunks::ResolveReviewParams => $crate::hunks::ResolveReviewResult,
            /// A file's text without the agent's unreviewed changes.
            ReviewBase = "undine/review/base": $crate::hunks::ReviewBaseParams => $crate::hunks::ReviewBaseResult,
            /// Lists what files were before they were changed, newest first.
            ListCheckpoints = "undine/checkpoint/list": $crate::checkpoint::ListCheckpointsParams => $crate::checkpoint::ListCheckpointsResult,
            /// Makes a checkpoint of files.
            CreateCheckpoint = "undine/checkpoint/create": $crate::checkpoint::CreateCheckpointParams => $crate::checkpoint::CreateCheckpointResult,
            /// Gives the files of a checkpoint back what they were, all or none.
            RestoreCheckpoint = "undine/checkpoint/restore": $crate::checkpoint::RestoreCheckpointParams => $crate::checkpoint::RestoreCheckpointResult,
            /// Lists what the person has answered so that it is not asked again.
            ListRules = "undine/permission/rules": $crate::permission::ListRulesParams => $crate::permission::RuleList,
            /// Takes such an answer back; answers what is left.
            ForgetRule = "undine/permission/forget": $crate::permission::ForgetRuleParams => $crate::permission::RuleList,
            /// Lists what is kept over sessions: global facts, then private, then shared ones.
            ListMemory = "undine/memory/list": $crate::memory::ListMemoryParams => $crate::memory::MemoryList,
            /// Keeps a fact; answers what is kept then.
            AddMemory = "undine/memory/add": $crate::memory::AddMemoryParams => $crate::memory::MemoryList,
            /// Removes a fact; answers what is kept then.
            RemoveMemory = "undine/memory/remove": $crate::memory::RemoveMemoryParams => $crate::memory::MemoryList,
            /// Lists a session's processes in the background, oldest first.
            ListProcesses = "undine/process/list": $crate::process::ListProcessesParams => $crate::process::ProcessList,
            /// The newest output of a process in the background.
            ReadProcess = "undine/process/read": $crate::process::ReadProcessParams => $crate::process::ReadProcessResult,
            /// Ends a process in the background with all it has started.
            StopProcess = "undine/process/stop": $crate::process::StopProcessParams => $crate::process::StopProcessResult,
            /// Moves the commands that a session's turn waits for to the background; they go on.
            DetachProcess = "undine/process/detach": $crate::process::DetachProcessParams => $crate::process::ProcessList,
            /// Moves the subagents that a session's turn waits for to the background; they go on.
            DetachAgent = "undine/agent/detach": $crate::agent::DetachAgentParams => $crate::agent::AgentList,
            /// Tells where the providers' keys are, never what they are.
            AuthStatus = "undine/auth/status": $crate::auth::AuthStatusParams => $crate::auth::AuthStatus,
            /// Stores a provider's key in the system's keyring; it counts for the next request.
            SetKey = "undine/auth/set": $crate::auth::SetKeyParams => $crate::auth::ProviderKey,
            /// Takes a provider's key out of the system's keyring.
            ClearKey = "undine/auth/clear": $crate::auth::ClearKeyParams => $crate::auth::ClearKeyResult,
            /// Lists the models that can be chosen, by provider, with their windows and prices.
            ListModels = "undine/models": $crate::models::ListModelsParams => $crate::models::ModelList,
            /// The tokens a session has used, by model, and what they cost.
            SessionUsage = "undine/usage": $crate::usage::UsageParams => $crate::usage::UsageReport,
            /// What fills a session's window, part by part.
            SessionContext = "undine/context": $crate::context::ContextParams => $crate::context::ContextReport,
            /// Asks something beside the conversation, at any time. Nothing of it is kept in the session.
            Btw = "undine/btw": $crate::btw::BtwParams => $crate::btw::BtwResult,
            /// Forgets what was asked beside a session, so that the next such question is asked without it.
            ClearBtw = "undine/btw/clear": $crate::btw::ClearBtwParams => $crate::btw::ClearBtwResult,
        }
    };
}

/// Notifications of the agent that an editor sends.
#[macro_export]
macro_rules! client_notifications {
    ($callback:ident) => {
        $callback! {
            ClientNotification, CLIENT_NOTIFICATIONS, Client;
            /// Ends the running turn; every running and queued prompt of the session is answered
            /// with the stop reason `cancelled`.
            Cancel = "session/cancel": $crate::acp::CancelNotification,
        }
    };
}

/// Requests of the agent that the server sends.
#[macro_export]
macro_rules! server_requests {
    ($callback:ident) => {
        $callback! {
            ServerRequest, SERVER_REQUESTS, Server;
            /// Asks whether a planned call may run.
            RequestPermission = "session/request_permission": $crate::acp::RequestPermissionRequest => $crate::acp::RequestPermissionResponse,
            /// Puts the model's questions to the person.
            CreateElicitation = "elicitation/create": $crate::acp::CreateElicitationRequest => $crate::acp::CreateElicitationResponse,
            /// Asks the editor to save a document: one that was clean before the agent edited it, or one that the person wants saved before a command runs.
            SaveDocument = "undine/document/save": $crate::document::SaveDocumentParams => $crate::document::SaveDocumentResult,
            /// Asks what the person has selected, because a prompt mentions `@selection`.
            Selection = "undine/selection": $crate::seen::SelectionParams => $crate::seen::SelectionResult,
            /// Asks for the problems that the editor shows: because a prompt mentions `@diagnostics`, and around an edit of the agent's.
            Diagnostics = "undine/diagnostics": $crate::seen::DiagnosticsParams => $crate::seen::DiagnosticsResult,
            /// Asks where the workspace's symbols of a name are, because a prompt mentions `@symbol:name`.
            Symbols = "undine/symbols": $crate::seen::SymbolsParams => $crate::seen::SymbolsResult,
        }
    };
}

/// Notifications of the agent that the server sends.
#[macro_export]
macro_rules! server_notifications {
    ($callback:ident) => {
        $callback! {
            ServerNotification, SERVER_NOTIFICATIONS, Server;
            /// Something in a session changed.
            Update = "session/update": $crate::acp::SessionNotification,
            /// The unreviewed changes of these files are others now, or stand elsewhere.
            ReviewChanged = "undine/review/changed": $crate::hunks::ReviewList,
            /// A session's processes in the background are these now.
            ProcessesChanged = "undine/process/changed": $crate::process::ProcessList,
            /// The model failed and is asked again, or that is over. Show it beside the session, with a countdown; it is no part of the
            /// transcript.
            Retry = "undine/retry": $crate::retry::RetryParams,
            /// A piece of the answer to a side question.
            BtwChunk = "undine/btw/chunk": $crate::btw::BtwChunk,
        }
    };
}

/// LSP requests that the server serves, `initialize` and `shutdown` aside.
#[macro_export]
macro_rules! lsp_requests {
    ($callback:ident) => {
        $callback! {
            LspRequest;
            CodeAction = "textDocument/codeAction": $crate::lsp::CodeActionParams,
            CodeActionResolve = "codeAction/resolve": $crate::lsp::CodeAction,
            ExecuteCommand = "workspace/executeCommand": $crate::lsp::ExecuteCommandParams,
            CodeLens = "textDocument/codeLens": $crate::lsp::CodeLensParams,
            InlayHint = "textDocument/inlayHint": $crate::lsp::InlayHintParams,
            Diagnostic = "textDocument/diagnostic": $crate::lsp::DocumentDiagnosticParams,
            TextDocumentContent = "workspace/textDocumentContent": $crate::lsp::TextDocumentContentParams,
        }
    };
}

/// LSP notifications that the server takes in.
#[macro_export]
macro_rules! lsp_notifications {
    ($callback:ident) => {
        $callback! {
            LspNotification;
            DidOpen = "textDocument/didOpen": $crate::lsp::DidOpenTextDocumentParams,
            DidChange = "textDocument/didChange": $crate::lsp::DidChangeTextDocumentParams,
            DidSave = "textDocument/didSave": $crate::lsp::DidSaveTextDocumentParams,
            DidClose = "textDocument/didClose": $crate::lsp::DidCloseTextDocumentParams,
            DidChangeConfiguration = "workspace/didChangeConfiguration": $crate::lsp::DidChangeConfigurationParams,
            DidChangeWorkspaceFolders = "workspace/didChangeWorkspaceFolders": $crate::lsp::DidChangeWorkspaceFoldersParams,
            CancelProgress = "window/workDoneProgress/cancel": $crate::lsp::WorkDoneProgressCancelParams,
            SetTrace = "$/setTrace": $crate::lsp::SetTraceParams,
        }
    };
}

/// A request's name and types.
pub trait Request {
    const METHOD: &'static str;
    type Params: DeserializeOwned + Serialize + Send + 'static;
    type Result: DeserializeOwned + Serialize + Send + 'static;
}

/// A notification's name and type.
pub trait Notification {
    const METHOD: &'static str;
    type Params: DeserializeOwned + Serialize + Send + 'static;
}

/// One row of the agent's methods, for generators and tests.
pub struct Row {
    /// The row's name here, and the constant's in the editors.
    pub name: &'static str,
    pub method: &'static str,
    pub doc: &'static str,
    pub sender: Sender,
    /// Schema of the params.
    pub params: fn(&mut SchemaGenerator) -> Schema,
    /// Schema of the result; none for a notification.
    pub result: Option<fn(&mut SchemaGenerator) -> Schema>,
}

/// Who sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    Client,
    Server,
}

/// The agent's methods, in the order of the documentation.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [
        CLIENT_REQUESTS,
        CLIENT_NOTIFICATIONS,
        SERVER_REQUESTS,
        SERVER_NOTIFICATIONS,
    ]
    .into_iter()
    .flatten()
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

macro_rules! define_requests {
    ($enum:ident, $rows:ident, $sender:ident; $($(#[doc = $doc:literal])* $name:ident = $method:literal: $params:ty => $result:ty,)*) => {
        $($(#[doc = $doc])*
        pub struct $name;
        impl Request for $name {
            const METHOD: &'static str = $method;
            type Params = $params;
            type Result = $result;
        })*

        /// A request of this list, parsed.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "moved once, never stored in bulk")]
        pub enum $enum { $($(#[doc = $doc])* $name($params),)* }

        pub const $rows: &[Row] = &[$(Row {
            name: stringify!($name),
            method: $method,
            doc: concat!($($doc),*),
            sender: Sender::$sender,
            params: schema::<$params>,
            result: Some(schema::<$result>),
        }),*];
    };
}

macro_rules! define_notifications {
    ($enum:ident, $rows:ident, $sender:ident; $($(#[doc = $doc:literal])* $name:ident = $method:literal: $params:ty,)*) => {
        $($(#[doc = $doc])*
        pub struct $name;
        impl Notification for $name {
            const METHOD: &'static str = $method;
            type Params = $params;
        })*

        /// A notification of this list, parsed.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "moved once, never stored in bulk")]
        pub enum $enum { $($(#[doc = $doc])* $name($params),)* }

        pub const $rows: &[Row] = &[$(Row {
            name: stringify!($name),
            method: $method,
            doc: concat!($($doc),*),
            sender: Sender::$sender,
            params: schema::<$params>,
            result: None,
        }),*];
    };
}

macro_rules! define_lsp {
    ($enum:ident; $($name:ident = $method:literal: $params:ty,)*) => {
        /// A message of this list, parsed.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "moved once, never stored in bulk")]
        pub enum $enum { $($name($params),)* }

        impl $enum {
            pub const METHODS: &[&str] = &[$($method),*];
        }
    };
}

client_requests!(define_requests);
client_notifications!(define_notifications);
server_requests!(define_requests);
server_notifications!(define_notifications);
lsp_requests!(define_lsp);
lsp_notifications!(define_lsp);
