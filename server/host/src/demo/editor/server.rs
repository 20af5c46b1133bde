//! The server as a child process, and JSON-RPC messages over its stdin and stdout (LSP 3.18, "Base Protocol").

use crate::lsp::{Frame, Frames};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of one message; those of the sample have some thousands.
const MESSAGE_LIMIT: u64 = 64 * 1024 * 1024;

/// Lines of the server's stderr that are kept, and bytes of one line.
const LAST_WORDS: usize = 20;
const LINE_LIMIT: u64 = 64 * 1024;

/// How long a server may take to end once it was told to.
const LEAVE: Duration = Duration::from_secs(5);

pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    words: Receiver<String>,
}

/// Why no message came.
pub enum Silence {
    /// None within the time.
    Late,
    /// The server has closed its stdout; the sentence says how it ended.
    Over(String),
}

impl Server {
    /// Starts a server; its three standard streams are set here.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (to_us, messages) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::Builder::new()
                .name("demo-read".to_owned())
                .spawn(move || listen(stdout, &to_us))?;
        }
        let (say, words) = channel();
        if let Some(stderr) = child.stderr.take() {
            thread::Builder::new()
                .name("demo-stderr".to_owned())
                .spawn(move || overhear(stderr, &say))?;
        }
        let stdin = child.stdin.take();
        Ok(Self {
            child,
            stdin,
            messages,
            words,
        })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends one message.
    pub fn send(&mut self, message: &Value) -> io::Result<()> {
        let body = message.to_string();
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
        stdin.flush()
    }

    /// The next message, if one comes in time.
    pub fn next(&mut self, patience: Duration) -> Result<Value, Silence> {
        match self.messages.recv_timeout(patience) {
            Ok(message) => Ok(message),
            Err(RecvTimeoutError::Timeout) => Err(Silence::Late),
            Err(RecvTimeoutError::Disconnected) => Err(Silence::Over(self.last_words())),
        }
    }

    /// Waits for the server to end by itself, for a while; ends it otherwise. Whether it ended by itself.
    pub fn leave(&mut self) -> bool {
        self.stdin = None;
        let deadline = Instant::now() + LEAVE;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(Some(_)) => return true,
                // There is no event for the end of a child without a signal handler.
                Ok(None) => thread::sleep(Duration::from_millis(2)),
                Err(_) => break,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        false
    }

    /// How the server ended and what it said last on stderr.
    fn last_words(&mut self) -> String {
        let how = match self.leave() {
            true => self
                .child
                .wait()
                .map_or_else(|error| error.to_string(), |it| it.to_string()),
            false => "it closed its output but went on".to_owned(),
        };
        // The channel closes with the server's stderr; a grandchild may hold that open.
        let mut last = VecDeque::new();
        while let Ok(line) = self.words.recv_timeout(Duration::from_millis(200)) {
            last.push_back(line);
            if last.len() > LAST_WORDS {
                last.pop_front();
            }
        }
        match last.back() {
            Some(line) => format!("{how}; its last words: {line}"),
            None => how,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Hands on every message until the stream ends. What is no JSON ends it too: our own server never sends such.
fn listen(stdout: impl Read, to_us: &Sender<Value>) {
    let mut frames = Frames::new(stdout, MESSAGE_LIMIT);
    while let Ok(Frame::Body(body)) = frames.next() {
        let Ok(message) = serde_json::from_slice(&body) else {
            return;
        };
        if to_us.send(message).is_err() {
            return;
        }
    }
}

/// Hands on stderr's lines. Always reads on, so that the server never blocks on it.
fn overhear(stderr: impl Read, say: &Sender<String>) {
    let mut reader = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match (&mut reader).take(LINE_LIMIT).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let line = String::from_utf8_lossy(&line).trim().to_owned();
                if !line.is_empty() {
                    let _ = say.send(line);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shell(script: &str) -> Server {
        Server::start(Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn a_message_comes_back_whole() {
        let mut server = shell("cat");
        let message = json!({"method": "x", "params": "ä\r\n"});
        server.send(&message).unwrap();
        assert!(
            server
                .next(Duration::from_secs(10))
                .is_ok_and(|it| it == message)
        );
        assert!(server.leave());
    }

    #[test]
    fn the_end_of_a_server_is_told_with_its_last_words() {
        let mut server = shell("echo first >&2; echo no config >&2; exit 3");
        let Err(Silence::Over(how)) = server.next(Duration::from_secs(10)) else {
            panic!("it did not end")
        };
        assert_eq!(how, "exit status: 3; its last words: no config");
    }

    #[test]
    fn a_silent_server_is_not_waited_for_for_ever() {
        let mut server = shell("exec sleep 60");
        assert!(matches!(
            server.next(Duration::from_millis(20)),
            Err(Silence::Late)
        ));
    }
}
