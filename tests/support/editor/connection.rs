//! The editor's own loop: reads what the server says, answers what an editor answers by itself, and
//! keeps the rest for the test.

use super::buffers::{Buffer, Encoding, OnEdit};
use crate::support::PATIENCE;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use protocol::lsp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The most bytes of one message that a failure prints.
const SHOWN: usize = 2_000;

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Value,
}

/// What an answer says.
pub fn outcome(mut message: Value) -> Result<Value, RpcError> {
    match message.get_mut("error") {
        None => Ok(message["result"].take()),
        Some(error) => Err(RpcError {
            code: error["code"].as_i64().unwrap(),
            message: error["message"].as_str().unwrap().to_owned(),
            data: error["data"].take(),
        }),
    }
}

pub struct Connection {
    shared: Arc<Shared>,
}

/// A lock and no channel: the loop applies edits while the test waits for something else, such as the
/// model, and the test types into the same buffers.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

pub struct State {
    /// Written by a thread of its own, so that a server which does not read never blocks a test. None
    /// once stdin is closed.
    out: Option<Sender<Vec<u8>>>,
    pub unread: VecDeque<Value>,
    /// What the server did that no server may.
    pub faults: Vec<String>,
    pub log: Vec<String>,
    pub stderr: String,
    /// Streams of the server that are still open.
    pub open_streams: u32,
    last_id: i64,
    /// The server is killed when so many more messages of it have come.
    pub kill_after: Option<(u64, Pid)>,
    pub encoding: Encoding,
    pub buffers: BTreeMap<String, Buffer>,
    pub script: VecDeque<OnEdit>,
    /// Says that it saves, and does not.
    pub forgets_to_save: bool,
    /// Says that it does not save.
    pub refuses_to_save: bool,
    pub edits: Vec<lsp::ApplyWorkspaceEditParams>,
    /// What was announced of each session's commands.
    pub commands: Vec<Value>,
    /// The test answers for the problems that the editor finds; else it finds none.
    pub asks_for_problems: bool,
}

impl Connection {
    pub fn new(server: &mut Child) -> Self {
        let (out, to_write) = channel::<Vec<u8>>();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                out: Some(out),
                unread: VecDeque::new(),
                faults: Vec::new(),
                log: Vec::new(),
                stderr: String::new(),
                open_streams: 2,
                last_id: 0,
                kill_after: None,
                encoding: Encoding::Utf16,
                buffers: BTreeMap::new(),
                script: VecDeque::new(),
                forgets_to_save: false,
                refuses_to_save: false,
                edits: Vec::new(),
                commands: Vec::new(),
                asks_for_problems: false,
            }),
            changed: Condvar::new(),
        });
        let mut stdin = server.stdin.take().unwrap();
        std::thread::spawn(move || {
            // A server that is gone reads no more; the test sees that by other means.
            while to_write
                .recv()
                .is_ok_and(|it| stdin.write_all(&it).and_then(|()| stdin.flush()).is_ok())
            {
            }
        });
        let stdout = BufReader::new(server.stdout.take().unwrap());
        let heard = Arc::clone(&shared);
        std::thread::spawn(move || heard.read(stdout));
        let stderr = BufReader::new(server.stderr.take().unwrap());
        let heard = Arc::clone(&shared);
        std::thread::spawn(move || {
            for line in stderr.split(b'\n') {
                let Ok(line) = line else { break };
                heard.lock().stderr += &(String::from_utf8_lossy(&line) + "\n");
            }
            heard.stream_ended();
        });
        Self { shared }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    /// Waits for the first unread message that fits and takes it.
    #[track_caller]
    pub fn take(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let (mut state, at) = self.wait(what, fits);
        state.unread.remove(at).unwrap()
    }

    /// Waits for the first unread message that fits; answers its place.
    #[track_caller]
    pub fn wait(
        &self,
        what: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> (MutexGuard<'_, State>, usize) {
        self.wait_while_alive(what, fits)
            .unwrap_or_else(|| panic!("{what} did not come; the server is gone"))
    }

    /// As [`wait`](Self::wait); none if the server is gone before.
    #[track_caller]
    pub fn wait_while_alive(
        &self,
        what: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Option<(MutexGuard<'_, State>, usize)> {
        let until = Instant::now() + PATIENCE;
        let mut state = self.shared.lock();
        loop {
            if let Some(at) = state.unread.iter().position(&fits) {
                return Some((state, at));
            }
            if state.open_streams == 0 {
                return None;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(state);
                panic!("{what} did not come");
            }
            state = self
                .shared
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Waits until the server's streams have ended.
    #[track_caller]
    pub fn wait_until_gone(&self) {
        let until = Instant::now() + PATIENCE;
        let mut state = self.shared.lock();
        while state.open_streams > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(state);
                panic!("the server did not exit");
            }
            state = self
                .shared
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that failed while it held the lock still wants to print what is in it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, mut stdout: BufReader<ChildStdout>) {
        while let Some(body) = read_frame(&mut stdout) {
            let mut state = self.lock();
            state.burn();
            match body {
                Ok(message) => state.heard(message),
                Err(fault) => state.faults.push(fault),
            }
            drop(state);
            self.changed.notify_all();
        }
        self.stream_ended();
    }

    fn stream_ended(&self) {
        self.lock().open_streams -= 1;
        self.changed.notify_all();
    }
}

/// One message; none at the end. Anything on stdout that is no frame is a fault.
fn read_frame(stdout: &mut BufReader<ChildStdout>) -> Option<Result<Value, String>> {
    let mut n_bytes = None;
    loop {
        let mut line = String::new();
        match stdout.read_line(&mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        if line == "\r\n" {
            break;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", n)) => n_bytes = n.parse::<usize>().ok(),
            Some(_) | None => return Some(Err(format!("this is no header: {line:?}"))),
        }
    }
    let Some(n_bytes) = n_bytes else {
        return Some(Err("a frame has no length".to_owned()));
    };
    let mut body = vec![0; n_bytes];
    stdout.read_exact(&mut body).ok()?;
    Some(
        serde_json::from_slice(&body)
            .map_err(|it| format!("{it}: {}", String::from_utf8_lossy(&body))),
    )
}

impl State {
    pub fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.note("-->", &body);
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
    }

    pub fn send_bytes(&mut self, bytes: Vec<u8>) {
        if let Some(out) = &self.out {
            let _ = out.send(bytes);
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
        id
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
    }

    pub fn hang_up(&mut self) {
        self.out = None;
    }

    /// Counts a message, and kills the server if it was the last one it was to send.
    fn burn(&mut self) {
        if let Some((left, server)) = &mut self.kill_after {
            *left = left.saturating_sub(1);
            if *left == 0 {
                // Not reaped before the editor ends it, so that the id is nobody else's.
                kill(*server, Signal::SIGKILL).unwrap();
            }
        }
    }

    fn note(&mut self, direction: &str, body: &str) {
        let end = (0..=SHOWN.min(body.len()))
            .rev()
            .find(|it| body.is_char_boundary(*it))
            .unwrap_or(0);
        let more = if end < body.len() { " ..." } else { "" };
        self.log.push(format!("{direction} {}{more}", &body[..end]));
    }

    fn heard(&mut self, message: Value) {
        self.note("<--", &message.to_string());
        let id = message["id"].clone();
        let result = match message["method"].as_str() {
            Some("workspace/applyEdit") => {
                let params = serde_json::from_value(message["params"].clone()).unwrap();
                return self.edit(id, params);
            }
            Some("undine/document/save") => {
                let uri = message["params"]["uri"].as_str().unwrap();
                if !self.buffers.contains_key(uri) {
                    self.faults
                        .push(format!("asked to save {uri}, which is not open"));
                }
                let saved =
                    !self.refuses_to_save && (self.forgets_to_save || self.save(&uri.to_owned()));
                json!({"saved": saved})
            }
            // Comes with every edit of an open document.
            Some("undine/diagnostics") if !self.asks_for_problems => json!({"files": []}),
            // Comes with every session, and few tests are about it.
            Some("session/update")
                if message["params"]["update"]["sessionUpdate"] == "available_commands_update" =>
            {
                return self.commands.push(message);
            }
            Some("client/registerCapability" | "window/workDoneProgress/create") => Value::Null,
            Some(_) | None => return self.unread.push_back(message),
        };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }
}
