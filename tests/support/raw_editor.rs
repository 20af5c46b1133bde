//! An editor that may be as rude as it likes: it writes any bytes, reads when it wants, and closes what it
//! wants. Every wait is for an event and ends the test when the event does not come.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

/// No wait is longer. Generous, because a loaded machine is not a fault.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct RawEditor {
    server: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    messages: Option<Receiver<Value>>,
    /// Messages that came while another was waited for.
    unread: VecDeque<Value>,
    /// Disconnected when the server's stderr ends, which is when it has exited.
    alive: Receiver<()>,
    last_id: i64,
}

impl RawEditor {
    /// Starts the server and initializes it.
    pub fn start() -> RawEditor {
        let mut editor = RawEditor::spawn(&[]);
        editor.read();
        editor.initialize();
        editor
    }

    /// Starts the server and nothing more: its output is not read yet.
    pub fn spawn(environment: &[(&str, &str)]) -> RawEditor {
        let mut server = Command::new(probe_server())
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the probe server does not start");
        let mut stderr = server.stderr.take().unwrap();
        let (ended, alive) = channel();
        std::thread::spawn(move || {
            // Panics are asked for here, so what is printed is of no interest; that it ends is.
            let _ = stderr.read_to_end(&mut Vec::new());
            drop(ended);
        });
        RawEditor {
            stdin: server.stdin.take(),
            stdout: server.stdout.take(),
            server,
            messages: None,
            unread: VecDeque::new(),
            alive,
            last_id: 0,
        }
    }

    pub fn initialize(&mut self) {
        let id = self.request(
            "initialize",
            json!({ "processId": null, "rootUri": null, "capabilities": {} }),
        );
        assert_eq!(self.reply(id), json!({ "result": { "capabilities": {} } }));
        self.notify("initialized", json!({}));
    }

    /// Begins to read what the server says.
    pub fn read(&mut self) {
        let stdout = self.stdout.take().expect("reads already");
        let (send, receive) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(message) = read_message(&mut stdout) {
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        self.messages = Some(receive);
    }

    /// Closes the end of stdout that the server writes to.
    pub fn close_stdout(&mut self) {
        self.stdout = None;
    }

    /// Ends the server's stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// A writer of its own for a thread that may block.
    pub fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().unwrap()
    }

    pub fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin
            .write_all(bytes)
            .and_then(|()| stdin.flush())
            .expect("the server reads no more");
    }

    pub fn send(&mut self, message: &Value) {
        self.write(&frame(message));
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub fn cancel(&mut self, id: &Value) {
        self.notify("$/cancelRequest", json!({ "id": id }));
    }

    /// The reply to a request, without what is the same in each: `{"result": …}` or `{"error": …}`.
    pub fn reply(&mut self, id: Value) -> Value {
        let mut reply = self.wait_for(&format!("the reply to {id}"), |it| {
            it.get("method").is_none() && it["id"] == id
        });
        let fields = reply.as_object_mut().unwrap();
        assert_eq!(fields.shift_remove("jsonrpc"), Some(json!("2.0")));
        fields.shift_remove("id");
        reply
    }

    /// The code of the error that answers a request, or 0 for a result.
    pub fn code(&mut self, id: Value) -> i64 {
        self.reply(id)["error"]["code"].as_i64().unwrap_or(0)
    }

    /// Sends a request and waits for its result.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.reply(id)["result"].take()
    }

    /// The next notification or request of this method.
    pub fn told(&mut self, method: &str) -> Value {
        self.wait_for(method, |it| it["method"] == method)
    }

    /// The next message, whatever it is.
    pub fn next(&mut self) -> Value {
        self.wait_for("anything", |_| true)
    }

    /// Everything that came since, up to the reply to an echo sent now.
    pub fn until_echo(&mut self) -> Vec<Value> {
        let id = self.request("probe/echo", json!({}));
        let reply = self.wait_for("the echo", |it| it["id"] == id);
        assert_eq!(reply["result"], json!({}));
        self.unread.drain(..).collect()
    }

    fn wait_for(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(found) = self.unread.iter().position(&is_it) {
            return self.unread.remove(found).unwrap();
        }
        let messages = self.messages.as_ref().expect("does not read");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match messages.recv_timeout(left) {
                Ok(message) if is_it(&message) => return message,
                Ok(message) => self.unread.push_back(message),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("{what} did not come; unread: {:?}", self.unread)
                }
                Err(RecvTimeoutError::Disconnected) => panic!("the server ended before {what}"),
            }
        }
    }

    /// Waits for the server to end.
    pub fn exit_code(&mut self) -> Option<i32> {
        match self.alive.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Disconnected) => self.server.wait().unwrap().code(),
            Ok(()) | Err(RecvTimeoutError::Timeout) => panic!("the server does not end"),
        }
    }
}

impl Drop for RawEditor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn read_message(stdout: &mut impl BufRead) -> Option<Value> {
    let mut header = String::new();
    stdout.read_line(&mut header).ok().filter(|n| *n > 0)?;
    let length = header
        .strip_prefix("Content-Length: ")
        .expect("the server's framing is exact");
    let mut blank = String::new();
    stdout.read_line(&mut blank).ok()?;
    assert_eq!(blank, "\r\n");
    let mut body = vec![0; length.trim_end().parse().unwrap()];
    stdout.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("the server writes JSON"))
}

/// The server to test, which `cargo test` builds beside the directory of the tests. `cargo test --test …`
/// alone does not, and would silently test what an earlier build left there.
fn probe_server() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let server = tests
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/probe-server");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let changed = ["server/host/src/lsp", "tests/support/probe_server.rs"]
        .map(|it| last_change(&root.join(it)))
        .into_iter()
        .max();
    assert!(
        server.exists() && Some(last_change(&server)) >= changed,
        "the probe server is older than its source; run `cargo build --examples` first"
    );
    server
}

/// When a file was written, or the latest Rust file in a directory.
fn last_change(path: &Path) -> SystemTime {
    if let Ok(entries) = path.read_dir() {
        let inside = entries.map(|it| it.unwrap().path());
        let sources =
            inside.filter(|it| it.is_dir() || it.extension().is_some_and(|it| it == "rs"));
        return sources
            .map(|it| last_change(&it))
            .max()
            .unwrap_or(SystemTime::UNIX_EPOCH);
    }
    path.metadata().and_then(|it| it.modified()).unwrap()
}
