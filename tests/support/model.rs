//! A scripted model: Chat Completions over 127.0.0.1, each answer written by the test.
//!
//! Every request is checked before the test sees it, by what real servers insist on: a history that
//! one of them would refuse fails the test that caused it, whatever the test is about. A request that
//! no test took fails the test, too.

mod check;

use super::PATIENCE;
use base64::{Engine, engine::general_purpose::STANDARD};
use check::check;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

pub struct Model {
    address: SocketAddr,
    asked: Receiver<Result<Asked, String>>,
    /// Set once a test wants to answer for the classifier of mode `auto`. Until then it puts everything to the person.
    classifies: Arc<AtomicBool>,
    classified: Receiver<Asked>,
    ended: Arc<AtomicBool>,
    abandoned: bool,
}

impl Model {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, asked) = channel();
        let (for_classifier, classified) = channel();
        let classifies = Arc::new(AtomicBool::new(false));
        let wants = Arc::clone(&classifies);
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::Acquire) {
                    break;
                }
                let (sender, for_classifier) = (sender.clone(), for_classifier.clone());
                let wants = Arc::clone(&wants);
                std::thread::spawn(move || serve(stream, &sender, &for_classifier, &wants));
            }
        });
        Self {
            address,
            asked,
            classifies,
            classified,
            ended,
            abandoned: false,
        }
    }

    /// What goes into `base_url`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The next request. Fails the test if none comes or if it is not valid.
    #[track_caller]
    pub fn next(&self) -> Asked {
        match self.asked.recv_timeout(PATIENCE) {
            Ok(Ok(asked)) => asked,
            Ok(Err(fault)) => {
                panic!("the server asked the model what no provider accepts: {fault}")
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                panic!("the model was not asked")
            }
        }
    }

    /// From now on, the test answers for the classifier.
    pub fn classify(&self) {
        self.classifies.store(true, Ordering::Release);
    }

    /// The next request to the classifier.
    #[track_caller]
    pub fn next_for_classifier(&self) -> Asked {
        let asked = self.classified.recv_timeout(PATIENCE);
        asked.expect("the classifier was not asked")
    }

    /// Checks that the classifier was not asked. Means something only after a round trip to the server.
    #[track_caller]
    pub fn assert_classifier_not_asked(&self) {
        if let Ok(asked) = self.classified.try_recv() {
            panic!("the classifier was asked: {:#}", asked.body);
        }
    }

    /// The next request, or none if the server is killed before it asks.
    #[track_caller]
    pub fn next_while(&self, alive: impl Fn() -> bool) -> Option<Asked> {
        /// How often the server is looked at; its death is no event here.
        const LOOK: Duration = Duration::from_millis(2);
        let until = Instant::now() + PATIENCE;
        while alive() {
            match self.asked.recv_timeout(LOOK) {
                Ok(Ok(asked)) => return Some(asked),
                // It may have died while it asked.
                Ok(Err(fault)) => assert!(!alive(), "the server asked wrongly: {fault}"),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    assert!(Instant::now() < until, "the model was not asked");
                }
            }
        }
        None
    }

    /// Ends, whatever was still asked.
    pub fn abandon(mut self) {
        self.abandoned = true;
    }

    /// Checks that no request is waiting. Means something only after a round trip to the server.
    #[track_caller]
    pub fn assert_not_asked(&self) {
        match self.asked.try_recv() {
            Ok(Ok(asked)) => panic!("the model was asked: {:#}", asked.body),
            Ok(Err(fault)) => panic!("the model was asked, and wrongly: {fault}"),
            Err(_) => {}
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        // Wakes the listener, which then sees that it has ended.
        drop(TcpStream::connect(self.address));
        if !std::thread::panicking() && !self.abandoned {
            self.assert_not_asked();
        }
    }
}

/// Reads one request and hands it over with its connection.
fn serve(
    stream: io::Result<TcpStream>,
    sender: &Sender<Result<Asked, String>>,
    for_classifier: &Sender<Asked>,
    wants: &AtomicBool,
) {
    let read = stream.and_then(read_request);
    let asked = match read {
        Ok(Some(asked)) => match check(&asked.body) {
            Ok(()) if asked.is_for_classifier() => {
                if wants.load(Ordering::Acquire) {
                    // A test that has ended listens no more.
                    return drop(for_classifier.send(asked));
                }
                let mut asked = asked;
                asked.say("ESCALATE: the script says so");
                return asked.end();
            }
            Ok(()) => Ok(asked),
            Err(fault) => Err(format!("{fault}\n{:#}", asked.body)),
        },
        // A connection without a request is not a request.
        Ok(None) => return,
        Err(error) => Err(error.to_string()),
    };
    // A test that has ended listens no more.
    let _ = sender.send(asked);
}

fn read_request(stream: TcpStream) -> io::Result<Option<Asked>> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" => break,
            text => head.push(text.to_owned()),
        }
    }
    let header = |name: &str| {
        let mut fields = head.iter().filter_map(|it| it.split_once(':'));
        fields
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
    };
    let n_bytes = header("content-length")
        .and_then(|it| it.parse().ok())
        .ok_or(io::ErrorKind::InvalidData)?;
    let mut body = vec![0; n_bytes];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body)?;
    let asked = Asked {
        line: head[0].clone(),
        key: header("authorization"),
        body,
        stream,
        begun: false,
        called: 0,
    };
    Ok(Some(asked))
}

/// One request, and the way to answer it. Dropping it breaks the answer off.
pub struct Asked {
    /// The request line.
    pub line: String,
    /// The `authorization` header.
    pub key: Option<String>,
    pub body: Value,
    stream: TcpStream,
    begun: bool,
    called: u64,
}

impl Asked {
    fn is_for_classifier(&self) -> bool {
        let first = &self.messages()[0];
        first["role"] == "system"
            && text_of(&first["content"]).starts_with("You review one action of a coding agent")
    }

    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().unwrap()
    }

    /// The text of the last message, which must be a person's.
    #[track_caller]
    pub fn last_prompt(&self) -> String {
        let last = self.messages().last().unwrap();
        assert_eq!(last["role"], "user", "{last:#}");
        text_of(&last["content"])
    }

    /// The results that stand at the end, in order; their pictures may stand behind them.
    pub fn results(&self) -> Vec<String> {
        let mut results: Vec<String> = self
            .messages()
            .iter()
            .rev()
            .skip_while(|it| it["role"] == "user" && it["content"].is_array())
            .take_while(|it| it["role"] == "tool")
            .map(|it| text_of(&it["content"]))
            .collect();
        results.reverse();
        results
    }

    /// The only result at the end.
    #[track_caller]
    pub fn result(&self) -> String {
        let mut results = self.results();
        assert_eq!(results.len(), 1, "{:#}", self.body);
        results.remove(0)
    }

    /// All pictures of the request: the text in front of each, its media type and its bytes.
    pub fn pictures(&self) -> Vec<(String, String, Vec<u8>)> {
        let mut pictures = Vec::new();
        let mut label = "";
        let contents = self
            .messages()
            .iter()
            .filter_map(|it| it["content"].as_array());
        for part in contents.flatten() {
            match part["image_url"]["url"].as_str() {
                None => label = part["text"].as_str().unwrap(),
                Some(url) => {
                    let (kind, data) = data_url(url).unwrap();
                    pictures.push((label.to_owned(), kind, data));
                }
            }
        }
        pictures
    }

    /// Says a piece of text.
    pub fn say(&mut self, text: &str) -> &mut Self {
        self.delta(json!({"content": text}))
    }

    /// Thinks aloud.
    pub fn think(&mut self, text: &str) -> &mut Self {
        self.delta(json!({"reasoning_content": text}))
    }

    /// Calls a tool; the arguments come in two pieces, as real servers send them.
    pub fn call(&mut self, tool: &str, arguments: Value) -> &mut Self {
        let arguments = arguments.to_string();
        let middle = (0..=arguments.len() / 2)
            .rev()
            .find(|it| arguments.is_char_boundary(*it))
            .unwrap_or(0);
        let (head, tail) = arguments.split_at(middle);
        self.call_with_id(&format!("call_{}", self.called), tool, &[head, tail])
    }

    pub fn call_with_id(&mut self, id: &str, tool: &str, arguments: &[&str]) -> &mut Self {
        let index = self.called;
        self.called += 1;
        let function = json!({"name": tool, "arguments": ""});
        self.delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}));
        for piece in arguments {
            self.delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
        }
        self
    }

    /// Says what it cost.
    pub fn usage(&mut self, prompt: u64, completion: u64) -> &mut Self {
        let usage = json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion});
        self.event(
            &json!({"object": "chat.completion.chunk", "choices": [], "usage": usage}).to_string(),
        )
    }

    /// Ends the answer, with its calls if it made some.
    pub fn end(mut self) {
        let reason = if self.called > 0 {
            "tool_calls"
        } else {
            "stop"
        };
        self.finish(reason).event("[DONE]");
        self.write(b"0\r\n\r\n");
    }

    /// Ends the answer for another reason.
    pub fn end_for(mut self, reason: &str) {
        self.finish(reason).event("[DONE]");
        self.write(b"0\r\n\r\n");
    }

    pub fn finish(&mut self, reason: &str) -> &mut Self {
        self.chunk(json!({"delta": {}, "finish_reason": reason}))
    }

    /// Closes the connection in the middle of the answer.
    pub fn cut(mut self) {
        self.begin();
    }

    /// Reports an error in the stream and ends it.
    pub fn fail_in_stream(mut self, message: &str) {
        self.event(&json!({"error": {"message": message, "type": "server_error"}}).to_string());
        self.write(b"0\r\n\r\n");
    }

    /// Answers with an HTTP error.
    pub fn fail(mut self, status: u16, message: &str) {
        let body = json!({"error": {"message": message}}).to_string();
        let head = format!(
            "HTTP/1.1 {status} No\r\ncontent-type: application/json\r\nconnection: close\r\n"
        );
        self.write(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// Waits until the server has hung up.
    #[track_caller]
    pub fn wait_until_hung_up(self) {
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        match (&self.stream).read(&mut [0; 64]) {
            Ok(0) => {}
            Ok(_) => panic!("the server sent more on a connection that was answered"),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            Err(error) => panic!("the server did not hang up: {error}"),
        }
    }

    fn delta(&mut self, delta: Value) -> &mut Self {
        self.chunk(json!({"delta": delta, "finish_reason": null}))
    }

    fn chunk(&mut self, mut choice: Value) -> &mut Self {
        choice["index"] = json!(0);
        let model = &self.body["model"];
        let chunk = json!({"id": "chat-1", "object": "chat.completion.chunk", "model": model, "choices": [choice]});
        self.event(&chunk.to_string())
    }

    /// These bytes and nothing after them.
    pub fn raw(mut self, bytes: &[u8]) {
        self.write(bytes);
    }

    /// One server-sent event, in an HTTP chunk of its own.
    pub fn event(&mut self, data: &str) -> &mut Self {
        self.begin();
        let event = format!("data: {data}\n\n");
        self.write(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
        self
    }

    fn begin(&mut self) {
        if !self.begun {
            self.begun = true;
            self.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\
                  connection: close\r\n\r\n",
            );
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        // A server that has hung up is what some tests are about; the others see the missing words.
        let _ = self.stream.write_all(bytes);
        let _ = self.stream.flush();
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// The media type and the bytes of a `data:` URL.
pub fn data_url(url: &str) -> Option<(String, Vec<u8>)> {
    let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some((kind.to_owned(), STANDARD.decode(data).ok()?))
}

/// A content that is a string or parts of text and pictures.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|it| it["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        other => panic!("no text: {other}"),
    }
}
