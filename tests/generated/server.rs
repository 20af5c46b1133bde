//! The server answers `initialize` as `protocol.md` says it does.

use super::examples::{self, Example};
use super::read;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

#[test]
fn generated_the_server_answers_initialize_as_the_document_shows() {
    let examples = examples::examples(&read("protocol.md"));
    let example = |label: &str| -> Value {
        let found: Option<&Example> = examples.iter().find(|it| it.label == label);
        serde_json::from_str(&found.expect("the document shows initialize").text).unwrap()
    };
    let mut request = example("request initialize");
    // The editor of the example does not run here.
    request["params"]["processId"] = Value::Null;
    let mut answer = exchange(&request);
    let mut shown = example("response initialize");
    for message in [&mut answer, &mut shown] {
        message["result"]["serverInfo"]["version"] = json!("any");
    }
    assert_eq!(answer, shown);
}

/// Sends one request to a new server and reads one message.
fn exchange(request: &Value) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_undine"))
        .arg("lsp")
        .env("UNDINE_CONFIG_DIR", folder.path().join("config"))
        .env("UNDINE_DATA_DIR", folder.path().join("data"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let body = request.to_string();
    write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert!(
            output.read_line(&mut line).unwrap() > 0,
            "the server ended without an answer"
        );
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap()
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).unwrap();
    // The end of stdin ends the server.
    drop(input);
    server.wait().unwrap();
    serde_json::from_slice(&body).unwrap()
}
