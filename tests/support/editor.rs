//! A scripted editor: the real binary over stdio, typed by `protocol`.
//!
//! Its own loop answers what an editor answers by itself (edits, saves, registrations), by the script
//! that the test gave it; all else is kept until the test takes it. What nobody took when the editor
//! is closed fails the test. Every wait is for an event and has one bound.

mod buffers;
mod connection;
mod documents;
mod setup;
mod turn;

pub use buffers::{Buffer, Encoding, OnEdit};
pub use connection::RpcError;
pub use setup::Setup;
pub use turn::{Turn, text_of_call};

use super::workspace::{Workspace, uri};
use connection::Connection;
use nix::unistd::Pid;
use protocol::acp;
use protocol::methods::{self, Notification, Request};
use serde_json::{Value, json};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A request that is open.
#[derive(Debug)]
pub struct Pending<R> {
    pub id: i64,
    request: PhantomData<R>,
}

/// A request of the server, to be answered.
#[derive(Debug)]
pub struct Asking<R: Request> {
    pub id: Value,
    pub params: R::Params,
}

pub struct Editor {
    server: Child,
    connection: Connection,
    root: PathBuf,
    /// What the server answered to `initialize`.
    pub initialized: Value,
    /// Messages of these methods may be left unread.
    ignored: Vec<&'static str>,
    ended: Option<ExitStatus>,
}

impl Editor {
    /// Starts a server and initializes it.
    #[track_caller]
    pub fn start(setup: &Setup, workspace: &Workspace) -> Self {
        let mut editor = Self::spawn(setup, workspace);
        editor.initialize(setup);
        editor
    }

    /// Starts a server and says nothing to it yet.
    pub fn spawn(setup: &Setup, workspace: &Workspace) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undine"));
        command
            .arg("lsp")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", workspace.outside("home"))
            .env("TMPDIR", workspace.outside("tmp"))
            .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
            .env("UNDINE_DATA_DIR", workspace.outside("data"))
            .env("TMPDIR", workspace.outside("tmp"))
            .env("UNDINE_NO_KEYRING", "1")
            .args(&setup.arguments)
            .envs(setup.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(workspace.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let connection = Connection::new(&mut server);
        let ignored = vec![
            "window/logMessage",
            "$/progress",
            "undine/review/changed",
            "undine/process/changed",
            "undine/retry",
        ];
        Self {
            server,
            connection,
            root: workspace.root(),
            initialized: Value::Null,
            ignored,
            ended: None,
        }
    }

    #[track_caller]
    pub fn initialize(&mut self, setup: &Setup) {
        let root = uri(&self.root);
        let mut folders = vec![json!({"uri": root, "name": "project"})];
        folders.extend(
            setup
                .also_open
                .iter()
                .map(|it| json!({"uri": uri(it), "name": "also"})),
        );
        let id = self.raw_request(
            "initialize",
            json!({
                "processId": setup.process_id.unwrap_or(std::process::id()),
                "clientInfo": {"name": "scripted editor"},
                "rootUri": root,
                "workspaceFolders": folders,
                "initializationOptions": setup.options,
                "capabilities": setup.capabilities(),
            }),
        );
        self.initialized = self.raw_answer(id).unwrap();
        let chosen = self.initialized["capabilities"]["positionEncoding"]
            .as_str()
            .unwrap_or("utf-16");
        assert!(
            setup.encodings.contains(&chosen),
            "{chosen} was not offered"
        );
        self.connection.state().encoding = Encoding::named(chosen);
        self.raw_notify("initialized", json!({}));
    }

    // Talking.

    pub fn request<R: Request>(&self, params: R::Params) -> Pending<R> {
        let id = self.raw_request(R::METHOD, serde_json::to_value(params).unwrap());
        Pending {
            id,
            request: PhantomData,
        }
    }

    pub fn raw_request(&self, method: &str, params: Value) -> i64 {
        self.connection.state().request(method, params)
    }

    /// Waits for the answer.
    #[track_caller]
    pub fn answer<R: Request>(&self, pending: &Pending<R>) -> Result<R::Result, RpcError> {
        let result = self.raw_answer(pending.id)?;
        Ok(serde_json::from_value(result.clone())
            .unwrap_or_else(|it| panic!("{}: {it}: {result:#}", R::METHOD)))
    }

    #[track_caller]
    pub fn raw_answer(&self, id: i64) -> Result<Value, RpcError> {
        let message = self.take(&format!("the answer to request {id}"), |it| {
            is_answer(it, id)
        });
        connection::outcome(message)
    }

    /// Asks and waits.
    #[track_caller]
    pub fn ask<R: Request>(&self, params: R::Params) -> Result<R::Result, RpcError> {
        let pending = self.request::<R>(params);
        self.answer(&pending)
    }

    pub fn notify<N: Notification>(&self, params: N::Params) {
        self.raw_notify(N::METHOD, serde_json::to_value(params).unwrap());
    }

    pub fn raw_notify(&self, method: &str, params: Value) {
        self.connection.state().notify(method, params);
    }

    /// Sends bytes as they are.
    pub fn raw_bytes(&self, bytes: Vec<u8>) {
        self.connection.state().send_bytes(bytes);
    }

    /// Cancels a request of ours.
    pub fn cancel_request(&self, id: i64) {
        self.raw_notify("$/cancelRequest", json!({"id": id}));
    }

    /// The next request of this kind from the server.
    #[track_caller]
    pub fn expect<R: Request>(&self) -> Asking<R> {
        let mut message = self.expect_raw(R::METHOD);
        let params = message["params"].take();
        let params = serde_json::from_value(params.clone())
            .unwrap_or_else(|it| panic!("{}: {it}: {params:#}", R::METHOD));
        Asking {
            id: message["id"].take(),
            params,
        }
    }

    /// The next request or notification of this method from the server.
    #[track_caller]
    pub fn expect_raw(&self, method: &str) -> Value {
        self.take(method, |it| it["method"] == method)
    }

    pub fn reply<R: Request>(&self, asking: &Asking<R>, result: &R::Result) {
        self.raw_reply(&asking.id, serde_json::to_value(result).unwrap());
    }

    pub fn raw_reply(&self, id: &Value, result: Value) {
        self.connection
            .state()
            .send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// Answers a request of the server with a whole message, but for its id.
    pub fn raw_message(&self, id: &Value, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        message["id"] = id.clone();
        self.connection.state().send(&message);
    }

    /// Waits until the server has withdrawn this request of its own.
    #[track_caller]
    pub fn expect_withdrawn(&self, id: &Value) {
        self.take("the question's $/cancelRequest", |it| {
            it["method"] == "$/cancelRequest" && it["params"]["id"] == *id
        });
        let error = json!({"code": -32800, "message": "cancelled"});
        self.connection
            .state()
            .send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    /// Waits for the first unread message that fits and takes it.
    #[track_caller]
    pub fn take(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.connection.take(what, fits)
    }

    /// Waits for a `$/progress` whose value fits; answers the value.
    #[track_caller]
    pub fn take_progress(&self, fits: impl Fn(&Value) -> bool) -> Value {
        let fits = |it: &Value| it["method"] == "$/progress" && fits(&it["params"]["value"]);
        self.take("$/progress", fits)["params"]["value"].take()
    }

    /// A round trip: what the server sent before its answer has arrived when this returns.
    #[track_caller]
    pub fn round_trip(&self) {
        let params = acp::ListSessionsRequest::new().cwd(self.root.clone());
        self.ask::<methods::ListSessions>(params).unwrap();
    }

    /// Checks that nothing of this method is unread.
    #[track_caller]
    pub fn assert_none(&self, method: &str) {
        let state = self.connection.state();
        let left: Vec<&Value> = state
            .unread
            .iter()
            .filter(|it| it["method"] == method)
            .collect();
        assert!(left.is_empty(), "{left:#?}");
    }

    /// How many unread messages fit.
    pub fn count(&self, fits: impl Fn(&Value) -> bool) -> usize {
        self.connection
            .state()
            .unread
            .iter()
            .filter(|it| fits(it))
            .count()
    }

    /// Counts messages that fit as read.
    pub fn forget(&self, fits: impl Fn(&Value) -> bool) {
        self.connection.state().unread.retain(|it| !fits(it));
    }

    /// Lets messages of this method be left unread.
    pub fn ignore(&mut self, method: &'static str) {
        self.ignored.push(method);
    }

    /// The contrary of [`ignore`](Self::ignore).
    pub fn keep(&mut self, method: &str) {
        self.ignored.retain(|it| *it != method);
    }

    // The end.

    /// Kills the server without a warning.
    pub fn kill(&mut self) {
        self.server.kill().unwrap();
        self.ended = Some(self.server.wait().unwrap());
        self.connection.wait_until_gone();
        // Whatever it was about to be told is moot.
        self.connection.state().unread.clear();
    }

    /// Kills the server as soon as it has sent `n` more messages.
    pub fn kill_after(&self, n: u64) {
        let server = Pid::from_raw(self.pid().try_into().unwrap());
        self.connection.state().kill_after = Some((n, server));
    }

    /// False once the server's streams have ended.
    pub fn is_alive(&self) -> bool {
        self.connection.state().open_streams > 0
    }

    /// Waits for a message that fits and takes it; none if the server is gone before.
    #[track_caller]
    pub fn take_while_alive(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let (mut state, at) = self.connection.wait_while_alive(what, fits)?;
        state.unread.remove(at)
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.server.id()
    }

    /// Closes the server's stdin.
    pub fn hang_up(&self) {
        self.connection.state().hang_up();
    }

    /// Waits until the server has exited; answers its exit code.
    #[track_caller]
    pub fn wait_for_exit(&mut self) -> Option<i32> {
        self.connection.wait_until_gone();
        let status = self.server.wait().unwrap();
        self.ended = Some(status);
        status.code()
    }

    pub fn stderr(&self) -> String {
        self.connection.state().stderr.clone()
    }

    /// Ends the server as an editor does, and checks that it went well and left nothing unread.
    #[track_caller]
    pub fn finish(&mut self) {
        if self.ended.is_none() {
            let id = self.raw_request("shutdown", Value::Null);
            self.raw_answer(id).unwrap();
            self.raw_notify("exit", Value::Null);
            let begun = Instant::now();
            assert_eq!(
                self.wait_for_exit(),
                Some(0),
                "the exit code after shutdown and exit"
            );
            assert!(
                begun.elapsed() < Duration::from_secs(5),
                "the server took long to exit"
            );
        }
        let state = self.connection.state();
        let left: Vec<&Value> = state
            .unread
            .iter()
            .filter(|it| !self.is_ignored(it))
            .collect();
        assert!(left.is_empty(), "nobody read {left:#?}");
        assert!(!state.stderr.contains("panicked"), "the server panicked");
        assert!(state.faults.is_empty(), "{:#?}", state.faults);
    }

    fn is_ignored(&self, message: &Value) -> bool {
        message["method"]
            .as_str()
            .is_some_and(|it| self.ignored.contains(&it))
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let ended = match std::thread::panicking() {
            true => None,
            false => match catch_unwind(AssertUnwindSafe(|| self.finish())) {
                Ok(()) => return,
                Err(panic) => Some(panic),
            },
        };
        let _ = self.server.kill();
        let _ = self.server.wait();
        let state = self.connection.state();
        let (log, stderr) = (state.log.join("\n"), state.stderr.clone());
        drop(state);
        eprintln!("--- conversation ---\n{log}\n--- stderr ---\n{stderr}");
        if let Some(panic) = ended {
            resume_unwind(panic);
        }
    }
}

fn is_answer(message: &Value, id: i64) -> bool {
    message.get("method").is_none() && message["id"] == id
}
