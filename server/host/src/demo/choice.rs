//! Which model answers in the demonstration: the one that is configured, one of Ollama's, or the rehearsal model.

use crate::store::Folders;
use engine::config::{Layer, Origin};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Where Ollama listens unless it was told otherwise.
pub const OLLAMA: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 11434);

/// How long a running Ollama may take to say what models it has.
const LOOK: Duration = Duration::from_millis(300);

/// Bytes of its answer that are read.
const TAGS_LIMIT: usize = 4 << 20;

#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// In the configuration, or on the command line: `provider/name`.
    Configured(String),
    /// A model of an Ollama on this machine.
    Ollama(String),
    Rehearsal,
}

impl Choice {
    /// `asked` is what the command line names; `rehearsal` there always means the rehearsal model.
    pub fn make(asked: Option<&str>, folders: &Folders) -> Self {
        match asked.map(str::to_owned).or_else(|| configured(folders)) {
            Some(model) if model == "rehearsal" || model.starts_with("rehearsal/") => {
                Self::Rehearsal
            }
            Some(model) => Self::Configured(model),
            None => ollama(OLLAMA).map_or(Self::Rehearsal, Self::Ollama),
        }
    }

    /// The first line of the demonstration.
    pub fn sentence(&self) -> String {
        match self {
            Self::Configured(model) => format!("Model: {model}"),
            Self::Ollama(name) => format!(
                "Model: ollama/{name}, found on this machine. Configure another to see that one."
            ),
            Self::Rehearsal => {
                "Model: the built-in rehearsal model, a script; no model was asked. \
                                Configure one to see a real one."
                    .to_owned()
            }
        }
    }
}

/// The model in the person's configuration. What is wrong with that file, the server says.
fn configured(folders: &Folders) -> Option<String> {
    let text = fs::read_to_string(folders.config.join("config.toml")).ok()?;
    let value = toml::from_str::<Value>(&text).ok()?;
    let resolved = engine::config::resolve(&[Layer::new(Origin::UserFile, value)]);
    let config = resolved.config;
    let provider = config.default_model.provider;
    if provider.is_empty() {
        return None;
    }
    let name = match config.default_model.name.as_str() {
        "" => config
            .providers
            .get(&provider)
            .and_then(|it| it.default_model.clone())
            .unwrap_or_default(),
        name => name.to_owned(),
    };
    Some(format!("{provider}/{name}"))
}

/// The first model of a running Ollama (its `GET /api/tags`), asked in HTTP/1.0 so that the answer comes in one piece.
fn ollama(address: SocketAddr) -> Option<String> {
    let deadline = Instant::now() + LOOK;
    let mut stream = TcpStream::connect_timeout(&address, LOOK).ok()?;
    stream.set_write_timeout(Some(LOOK)).ok()?;
    stream
        .write_all(format!("GET /api/tags HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes())
        .ok()?;
    let mut answer = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        let left = deadline
            .checked_duration_since(Instant::now())
            .filter(|it| !it.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        match stream.read(&mut buffer).ok()? {
            0 => break,
            n => answer.extend_from_slice(&buffer[..n]),
        }
        if answer.len() > TAGS_LIMIT {
            return None;
        }
    }
    let text = String::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    if head.split(' ').nth(1) != Some("200") {
        return None;
    }
    let tags: Value = serde_json::from_str(body).ok()?;
    tags["models"][0]["name"]
        .as_str()
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    fn folders(config: &str) -> (tempfile::TempDir, Folders) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.toml"), config).unwrap();
        let folders = Folders {
            config: folder.path().to_owned(),
            data: folder.path().to_owned(),
        };
        (folder, folders)
    }

    #[test]
    fn the_command_line_wins_over_the_configuration() {
        let (_folder, folders) =
            folders("[default_model]\nprovider = \"ollama\"\nname = \"qwen3\"\n");
        assert_eq!(
            Choice::make(None, &folders),
            Choice::Configured("ollama/qwen3".to_owned())
        );
        assert_eq!(
            Choice::make(Some("x/y"), &folders),
            Choice::Configured("x/y".to_owned())
        );
        assert_eq!(Choice::make(Some("rehearsal"), &folders), Choice::Rehearsal);
    }

    #[test]
    fn a_configuration_without_a_model_or_that_cannot_be_read_names_none() {
        for text in ["", "[safety]\nmode = \"ask\"\n", "no toml"] {
            let (_folder, folders) = folders(text);
            assert_eq!(configured(&folders), None, "{text}");
        }
    }

    /// Asks a listener that answers with this, or never when there is nothing to answer.
    fn asked(answer: Option<&'static str>) -> Option<String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let n_read = stream.read(&mut request).unwrap();
            assert!(request[..n_read].starts_with(b"GET /api/tags "));
            match answer {
                Some(answer) => stream.write_all(answer.as_bytes()).unwrap(),
                // Until the other side has had enough.
                None => drop(stream.read(&mut request)),
            }
        });
        let found = ollama(address);
        server.join().unwrap();
        found
    }

    #[test]
    fn the_first_model_of_an_ollama_is_taken_and_anything_else_is_none() {
        let models =
            "HTTP/1.0 200 OK\r\n\r\n{\"models\":[{\"name\":\"qwen3:8b\"},{\"name\":\"other\"}]}";
        assert_eq!(asked(Some(models)), Some("qwen3:8b".to_owned()));
        assert_eq!(asked(Some("HTTP/1.0 200 OK\r\n\r\n{\"models\":[]}")), None);
        assert_eq!(asked(Some("HTTP/1.0 404 Not Found\r\n\r\n{}")), None);
        assert_eq!(asked(None), None);
    }
}
