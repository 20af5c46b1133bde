//! The rehearsal model: a script behind the real wire, so that everything else in a demonstration is real.
//!
//! Serves `POST /v1/chat/completions` as a stream (OpenAI's Chat Completions over HTTP/1.1 with server-sent events) on a
//! loopback port of its own, to our own server and nobody else. What it says is in `script`. It ends when it is dropped.

mod http;
mod script;

use http::Request;
use script::Reply;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use script::MODEL;

/// Longest wait for a client's bytes, and for it to take ours.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running rehearsal model.
pub struct Rehearsal {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Rehearsal {
    /// Starts it. `pause` is what it waits between two pieces of a text.
    pub fn start(pause: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let over = Arc::new(AtomicBool::new(false));
        let seen = over.clone();
        let thread = thread::Builder::new()
            .name("rehearsal".to_owned())
            .spawn(move || {
                // One at a time: one session asks one question at a time.
                for stream in listener.incoming() {
                    if seen.load(Ordering::Relaxed) {
                        return;
                    }
                    // A client that goes away in the middle has its reasons.
                    let _ = stream.and_then(|it| serve(it, pause, &seen));
                }
            })?;
        Ok(Self {
            address,
            over,
            thread: Some(thread),
        })
    }

    /// The base URL of the API, to which `/chat/completions` is added.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for a connection.
        if TcpStream::connect_timeout(&self.address, PATIENCE).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn serve(mut stream: TcpStream, pause: Duration, over: &AtomicBool) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let reply = match http::read(&mut stream)? {
        Ok(request) => answer(&request),
        Err(why) => Err(why),
    };
    match reply {
        Ok(reply) => stream_reply(&mut stream, &reply, pause, over),
        Err(why) => refuse(&mut stream, &why),
    }
}

fn answer(request: &Request) -> Result<Reply, String> {
    if request.line != "POST /v1/chat/completions HTTP/1.1" {
        return Err(format!("{:?} is not served here", request.line));
    }
    let body: Value = serde_json::from_slice(&request.body)
        .map_err(|error| format!("the body is no JSON ({error})"))?;
    script::reply(&body)
}

fn refuse(stream: &mut TcpStream, why: &str) -> io::Result<()> {
    let body = json!({"error": {"message": why, "type": "invalid_request_error", "code": null}})
        .to_string();
    write!(
        stream,
        "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn stream_reply(
    stream: &mut TcpStream,
    reply: &Reply,
    pause: Duration,
    over: &AtomicBool,
) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
    )?;
    for chunk in chunks(reply) {
        if over.load(Ordering::Relaxed) {
            return Ok(());
        }
        stream.write_all(format!("data: {chunk}\n\n").as_bytes())?;
        thread::sleep(pause);
    }
    stream.write_all(b"data: [DONE]\n\n")
}

/// The chunks of a stream, as OpenAI cuts them: the role, text in small pieces, a call by its name and then its
/// arguments in pieces, the reason, the usage.
fn chunks(reply: &Reply) -> Vec<Value> {
    let choice = |delta: Value, reason: Value| {
        json!({
            "id": "rehearsal", "object": "chat.completion.chunk", "created": 0, "model": MODEL,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        })
    };
    let mut chunks = vec![choice(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
    )];
    for piece in pieces(&reply.text) {
        chunks.push(choice(json!({"content": piece}), Value::Null));
    }
    let reason = match &reply.call {
        None => "stop",
        Some(call) => {
            let arguments = call.arguments.to_string();
            let function = json!({"name": call.tool, "arguments": ""});
            let start =
                json!({"index": 0, "id": call.id, "type": "function", "function": function});
            chunks.push(choice(json!({"tool_calls": [start]}), Value::Null));
            for piece in pieces(&arguments) {
                let more = json!({"index": 0, "function": {"arguments": piece}});
                chunks.push(choice(json!({"tool_calls": [more]}), Value::Null));
            }
            "tool_calls"
        }
    };
    chunks.push(choice(json!({}), json!(reason)));
    // A script reads and writes no tokens.
    let usage = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
    chunks.push(json!({"id": "rehearsal", "object": "chat.completion.chunk", "model": MODEL, "choices": [], "usage": usage}));
    chunks
}

/// A text in pieces that end after a blank, about a token or two long.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::provider::{
        Content, Endpoint, Message, ModelEvent, ModelRequest, StopReason, ToolSpec, Wire,
    };
    use std::io::Read;

    fn exchange(rehearsal: &Rehearsal, request: &str) -> String {
        let mut stream = TcpStream::connect(rehearsal.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The engine's own codec asks and reads.
    #[test]
    fn the_engine_understands_it() {
        let rehearsal = Rehearsal::start(Duration::ZERO).unwrap();
        let endpoint = Endpoint {
            base_url: rehearsal.base_url(),
            key: None,
            extra_headers: Vec::new(),
        };
        let tool = ToolSpec {
            name: "read_file".to_owned(),
            description: String::new(),
            parameters: json!({}),
        };
        let request = ModelRequest {
            model: MODEL.to_owned(),
            system: "Be brief.".to_owned(),
            messages: vec![Message::User(vec![Content::Text(
                "`sh t.sh` and `a.sh`".to_owned(),
            )])],
            tools: vec![tool],
            ..ModelRequest::default()
        };
        let provider = Wire::ChatCompletions.provider();
        let asked = provider.request(&endpoint, &request);
        assert_eq!(
            asked.url,
            format!("{}/chat/completions", rehearsal.base_url())
        );
        let body = String::from_utf8(asked.body).unwrap();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let answer = exchange(&rehearsal, &(head + &body));
        let (head, stream) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");

        let mut events = Vec::new();
        let mut decoder = provider.decoder();
        decoder.feed(stream.as_bytes(), &mut events);
        decoder.end(&mut events);
        let text: String = events
            .iter()
            .filter_map(|it| {
                if let ModelEvent::Text(it) = it {
                    Some(it.as_str())
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(text, "First I read a.sh, as it stands in the editor.");
        let Some(ModelEvent::Call(call)) =
            events.iter().find(|it| matches!(it, ModelEvent::Call(_)))
        else {
            panic!("no call in {events:?}")
        };
        assert_eq!(
            (call.name.as_str(), call.arguments.as_str()),
            ("read_file", r#"{"path":"a.sh"}"#)
        );
        assert_eq!(
            events.last(),
            Some(&ModelEvent::Ended(StopReason::ToolCalls))
        );
    }

    #[test]
    fn what_is_no_valid_request_is_answered_with_400_and_the_reason() {
        let rehearsal = Rehearsal::start(Duration::ZERO).unwrap();
        let post = |body: &str| {
            let head = format!(
                "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let answer = exchange(&rehearsal, &(head + body));
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            format!("{} {body}\n", head.lines().next().unwrap())
        };
        let other = exchange(&rehearsal, "GET /v1/models HTTP/1.1\r\n\r\n");
        let answers = [
            post("{"),
            post(r#"{"model": "x"}"#),
            post(r#"{"model": "rehearsal-1", "stream": true, "messages": []}"#),
        ];
        expect_test::expect![[r#"
            HTTP/1.1 400 Bad Request {"error":{"message":"the body is no JSON (EOF while parsing an object at line 1 column 1)","type":"invalid_request_error","code":null}}
            HTTP/1.1 400 Bad Request {"error":{"message":"there is no model \"x\"; there is rehearsal-1","type":"invalid_request_error","code":null}}
            HTTP/1.1 400 Bad Request {"error":{"message":"there is nothing to answer","type":"invalid_request_error","code":null}}
        "#]]
        .assert_eq(&answers.concat());
        assert!(other.starts_with("HTTP/1.1 400 "), "{other}");
    }

    #[test]
    fn a_dropped_rehearsal_serves_nobody_any_more() {
        let rehearsal = Rehearsal::start(Duration::ZERO).unwrap();
        let address = rehearsal.address;
        drop(rehearsal);
        assert!(TcpStream::connect(address).is_err());
    }
}
