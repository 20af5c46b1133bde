//! A scripted model over 127.0.0.1, each answer written by the test, in the wire format that it is asked in.
//!
//! Every request is checked before the test sees it, by what real servers insist on: a history that
//! one of them would refuse fails the test that caused it, whatever the test is about. A request that
//! no test took fails the test, too.

mod check;
mod dialect;

use super::PATIENCE;
use base64::{Engine, engine::general_purpose::STANDARD};
use dialect::Dialect;
pub use dialect::{OLLAMA_CONTEXT, Said};
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub struct Model {
    address: SocketAddr,
    asked: Receiver<Result<Asked, String>>,
    /// Set once a test wants to answer for the classifier of mode `auto`. Until then it puts everything to the person.
    classifies: Arc<AtomicBool>,
    classified: Receiver<Asked>,
    /// The request lines of what was asked beside conversations.
    asides: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
    abandoned: bool,
}

impl Model {
    pub fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap())
    }

    /// At an address that others know already.
    pub fn start_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, asked) = channel();
        let (for_classifier, classified) = channel();
        let classifies = Arc::new(AtomicBool::new(false));
        let wants = Arc::clone(&classifies);
        let asides = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asides);
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::Acquire) {
                    break;
                }
                let (sender, for_classifier) = (sender.clone(), for_classifier.clone());
                let (wants, noted) = (Arc::clone(&wants), Arc::clone(&noted));
                std::thread::spawn(move || serve(stream, &sender, &for_classifier, &wants, &noted));
            }
        });
        Self {
            address,
            asked,
            classifies,
            classified,
            asides,
            ended,
            abandoned: false,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
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

    /// The request lines of what was asked beside conversations.
    pub fn asides(&self) -> Vec<String> {
        self.asides.lock().unwrap().clone()
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
    asides: &Mutex<Vec<String>>,
) {
    let read = stream.and_then(read_request);
    let asked = match read {
        // What is asked beside the conversation answers itself.
        Ok(Some(asked)) if asked.aside.is_some() => {
            asides.lock().unwrap().push(asked.line.clone());
            if let Some((status, body)) = asked.aside.clone() {
                asked.refuse(status, &[], &body);
            }
            return;
        }
        Ok(Some(asked)) => match asked.dialect.check(&asked.body) {
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
    let body: Value = if head[0].starts_with("GET ") {
        Value::Null
    } else {
        let n_bytes = header("content-length")
            .and_then(|it| it.parse().ok())
            .ok_or(io::ErrorKind::InvalidData)?;
        let mut body = vec![0; n_bytes];
        reader.read_exact(&mut body)?;
        serde_json::from_slice(&body)?
    };
    let path = head[0].split(' ').nth(1).unwrap_or_default();
    let asked = Asked {
        line: head[0].clone(),
        key: header("authorization"),
        dialect: dialect::of(path, &body),
        aside: dialect::aside(path, &body),
        head,
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
    /// The request's head, line by line.
    head: Vec<String>,
    pub body: Value,
    dialect: Box<dyn Dialect>,
    /// The status and the body that answer it, if it is asked beside the conversation.
    aside: Option<(u16, Value)>,
    stream: TcpStream,
    begun: bool,
    called: u64,
}

impl Asked {
    fn is_for_classifier(&self) -> bool {
        let system = self.dialect.system(&self.body);
        system.starts_with("You review one action of a coding agent")
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.iter().filter_map(|it| it.split_once(':'));
        let found = fields.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    /// The messages, of the formats that call them so.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().unwrap()
    }

    /// The instructions.
    pub fn system(&self) -> String {
        self.dialect.system(&self.body)
    }

    /// The conversation, whatever the format.
    pub fn turns(&self) -> Vec<Said> {
        self.dialect.turns(&self.body)
    }

    /// The text of the last message, which must be a person's.
    #[track_caller]
    pub fn last_prompt(&self) -> String {
        match self.turns().pop() {
            Some(Said::User(text)) => text,
            other => panic!("the last message is not a person's: {other:#?}"),
        }
    }

    /// The results that stand at the end, in order; their pictures may stand behind them.
    pub fn results(&self) -> Vec<String> {
        let mut turns = self.turns();
        let n_pictures = self.pictures().len();
        if n_pictures > 0 && matches!(turns.last(), Some(Said::User(_))) {
            turns.pop();
        }
        let mut results = Vec::new();
        while let Some(Said::Result(_, text)) = turns.pop() {
            results.push(text);
        }
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
        self.dialect.pictures(&self.body)
    }

    /// Says a piece of text.
    pub fn say(&mut self, text: &str) -> &mut Self {
        let said = self.dialect.say(text);
        self.send(&said)
    }

    /// Thinks aloud.
    pub fn think(&mut self, text: &str) -> &mut Self {
        let said = self.dialect.think(text);
        self.send(&said)
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
        self.called += 1;
        let said = self.dialect.call(id, tool, arguments);
        self.send(&said)
    }

    /// Says what it cost.
    pub fn usage(&mut self, prompt: u64, completion: u64) -> &mut Self {
        let said = self.dialect.usage(prompt, completion);
        self.send(&said)
    }

    /// Ends the answer, with its calls if it made some. One that has said nothing is told so by [`end_for`](Self::end_for): the
    /// server asks once more for what is empty, and most tests are not about that.
    pub fn end(mut self) {
        if !self.begun {
            self.say("ok");
        }
        let said = self.dialect.end(None);
        self.send(&said).write(b"0\r\n\r\n");
    }

    /// Ends the answer for another reason.
    pub fn end_for(mut self, reason: &str) {
        let said = self.dialect.end(Some(reason));
        self.send(&said).write(b"0\r\n\r\n");
    }

    /// Closes the connection in the middle of the answer.
    pub fn cut(mut self) {
        self.begin();
    }

    /// Reports an error in the stream and ends it.
    pub fn fail_in_stream(mut self, message: &str) {
        let said = self.dialect.fail(message);
        self.send(&said).write(b"0\r\n\r\n");
    }

    /// Answers with an HTTP error.
    pub fn fail(self, status: u16, message: &str) {
        self.fail_with(status, message, &[]);
    }

    /// As [`fail`](Self::fail), with more headers.
    pub fn fail_with(self, status: u16, message: &str, headers: &[(&str, &str)]) {
        let body = self.dialect.error(status, message);
        self.refuse(status, headers, &body);
    }

    /// Answers with an HTTP error and this body.
    pub fn refuse(mut self, status: u16, headers: &[(&str, &str)], body: &Value) {
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} No\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}"
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

    /// These bytes and nothing after them.
    pub fn raw(mut self, bytes: &[u8]) {
        self.write(bytes);
    }

    /// One server-sent event, in an HTTP chunk of its own.
    pub fn event(&mut self, data: &str) -> &mut Self {
        self.send(&format!("data: {data}\n\n"))
    }

    /// A piece of the stream as it is, in an HTTP chunk of its own.
    pub fn send(&mut self, piece: &str) -> &mut Self {
        self.begin();
        if !piece.is_empty() {
            self.write(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes());
        }
        self
    }

    fn begin(&mut self) {
        if !self.begun {
            self.begun = true;
            let kind = self.dialect.content_type();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
            );
            self.write(head.as_bytes());
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
pub fn text_of(content: &Value) -> String {
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
