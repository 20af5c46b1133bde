//! A small web server over 127.0.0.1 that answers each path with what the test has put there, and counts.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a path answers.
#[derive(Clone, Debug)]
pub enum Page {
    Text(u16, String),
    /// Nothing, ever.
    Silence,
}

#[derive(Default)]
struct State {
    pages: BTreeMap<String, Page>,
    /// Path and the line of its key, in the order of requests.
    asked: Vec<(String, String)>,
    /// Connections that are never answered.
    held: Vec<TcpStream>,
}

pub struct Web {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Web {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<Mutex<State>>::default();
        let shared = state.clone();
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { address, state }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Puts a page at a path, without its query.
    pub fn put(&self, path: &str, page: Page) {
        let mut state = self.state.lock().unwrap();
        state.pages.insert(path.to_owned(), page);
    }

    /// Puts JSON at a path.
    pub fn put_json(&self, path: &str, json: &serde_json::Value) {
        self.put(path, Page::Text(200, json.to_string()));
    }

    /// How often a path was asked for.
    pub fn count(&self, path: &str) -> usize {
        let state = self.state.lock().unwrap();
        state.asked.iter().filter(|(it, _)| it == path).count()
    }

    /// The line of the key that came with the last request for a path; empty: none did.
    pub fn key(&self, path: &str) -> String {
        let state = self.state.lock().unwrap();
        let mut asked = state.asked.iter().rev();
        asked.find(|(it, _)| it == path).unwrap().1.clone()
    }
}

fn serve(stream: TcpStream, shared: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let path = line.split(' ').nth(1).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default().to_owned();
        let mut key = String::new();
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header).unwrap_or(0) == 0 {
                return;
            }
            let header = header.trim_end();
            if header.is_empty() {
                break;
            }
            let name = header.split(':').next().unwrap_or_default();
            if ["authorization", "x-api-key", "x-goog-api-key"]
                .contains(&name.to_ascii_lowercase().as_str())
            {
                key = header.to_owned();
            }
        }
        let page = {
            let mut state = shared.lock().unwrap();
            state.asked.push((path.clone(), key));
            let missing = Page::Text(404, "{}".to_owned());
            let page = state.pages.get(&path).cloned().unwrap_or(missing);
            if matches!(page, Page::Silence) {
                state.held.push(stream.try_clone().unwrap());
            }
            page
        };
        let Page::Text(status, body) = page else {
            return;
        };
        let answer = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if (&stream).write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
