//! The examples of `protocol.md` are messages that the wire's types read and write unchanged.
//!
//! The words after ```` ```json ```` say what an example is: a type's name, or `request`, `response`,
//! `notification` and a method for a whole message, or `error` for the error of a response.

use super::read;
use protocol::{acp, lsp};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Reads a value as a type and writes it again.
type RoundTrip = fn(Value) -> Result<Value, serde_json::Error>;

fn round_trip<T: DeserializeOwned + Serialize>(value: Value) -> Result<Value, serde_json::Error> {
    serde_json::to_value(serde_json::from_value::<T>(value)?)
}

/// A method with the types of its params and its result.
struct Method {
    name: &'static str,
    params: RoundTrip,
    result: Option<RoundTrip>,
    /// The types by name.
    types: Vec<(String, RoundTrip)>,
}

macro_rules! from_rows {
    ($enum:ident, $rows:ident, $sender:ident; $($(#[doc = $doc:literal])* $name:ident = $method:literal: $params:ty => $result:ty,)*) => {
        vec![$(Method {
            name: $method,
            params: round_trip::<$params>,
            result: Some(round_trip::<$result>),
            types: vec![
                (<$params>::schema_name().into_owned(), round_trip::<$params>),
                (<$result>::schema_name().into_owned(), round_trip::<$result>),
            ],
        }),*]
    };
    ($enum:ident, $rows:ident, $sender:ident; $($(#[doc = $doc:literal])* $name:ident = $method:literal: $params:ty,)*) => {
        vec![$(Method {
            name: $method,
            params: round_trip::<$params>,
            result: None,
            types: vec![(<$params>::schema_name().into_owned(), round_trip::<$params>)],
        }),*]
    };
}

/// The table's methods, and those of LSP that the document shows.
fn methods() -> Vec<Method> {
    let lsp = |name, params, result| Method {
        name,
        params,
        result,
        types: Vec::new(),
    };
    let mut methods = vec![
        lsp(
            "initialize",
            round_trip::<lsp::InitializeParams>,
            Some(round_trip::<lsp::InitializeResult>),
        ),
        lsp("initialized", round_trip::<lsp::InitializedParams>, None),
        lsp("$/cancelRequest", round_trip::<lsp::CancelParams>, None),
        lsp(
            "textDocument/didOpen",
            round_trip::<lsp::DidOpenTextDocumentParams>,
            None,
        ),
        lsp(
            "textDocument/didChange",
            round_trip::<lsp::DidChangeTextDocumentParams>,
            None,
        ),
        lsp(
            "textDocument/didSave",
            round_trip::<lsp::DidSaveTextDocumentParams>,
            None,
        ),
        lsp(
            "workspace/applyEdit",
            round_trip::<lsp::ApplyWorkspaceEditParams>,
            Some(round_trip::<lsp::ApplyWorkspaceEditResult>),
        ),
        lsp(
            "window/showMessageRequest",
            round_trip::<lsp::ShowMessageRequestParams>,
            Some(round_trip::<Option<lsp::MessageActionItem>>),
        ),
    ];
    // What rides in `_meta`, which no row tells of.
    let proposed = protocol::hunks::ProposedHunk::schema_name().into_owned();
    let round_trip: RoundTrip = round_trip::<protocol::hunks::ProposedHunk>;
    methods[0].types.push((proposed, round_trip));
    methods.extend(protocol::client_requests!(from_rows));
    methods.extend(protocol::client_notifications!(from_rows));
    methods.extend(protocol::server_requests!(from_rows));
    methods.extend(protocol::server_notifications!(from_rows));
    methods
}

/// A fenced block: its line in the document, the words after `json`, and its text.
pub struct Example {
    pub line: usize,
    pub label: String,
    pub text: String,
}

pub fn examples(document: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(label) = line.trim().strip_prefix("```json") else {
            continue;
        };
        let text: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|it| it.trim() != "```")
            .collect();
        examples.push(Example {
            line: at + 1,
            label: label.trim().to_owned(),
            text: text.join("\n"),
        });
    }
    examples
}

#[test]
fn generated_examples_of_the_document_survive_a_round_trip() {
    let methods = methods();
    let examples = examples(&read("protocol.md"));
    assert!(
        examples.len() > 20,
        "only {} examples were found",
        examples.len()
    );
    let mut wrong = Vec::new();
    for Example { line, label, text } in examples {
        let checked = serde_json::from_str(&text)
            .map_err(|it| it.to_string())
            .and_then(|it| check(&methods, &label, it));
        if let Err(error) = checked {
            wrong.push(format!("protocol.md:{line} ({label}): {error}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn generated_an_example_that_is_no_longer_true_is_found() {
    let methods = methods();
    let wrong = |label: &str, value: Value| check(&methods, label, value).is_err();
    assert!(wrong("PromptRequest", json!({"sessionId": "s"})));
    assert!(wrong(
        "PromptRequest",
        json!({"sessionId": "s", "prompt": [], "colour": "red"})
    ));
    assert!(wrong(
        "request session/prompt",
        json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {}})
    ));
    assert!(wrong(
        "response session/cancel",
        json!({"jsonrpc": "2.0", "id": 1, "result": null})
    ));
    assert!(wrong("", json!({})));
    assert!(!wrong(
        "PromptRequest",
        json!({"sessionId": "s", "prompt": []})
    ));
}

fn check(methods: &[Method], label: &str, example: Value) -> Result<(), String> {
    let words: Vec<&str> = label.split(' ').collect();
    let method = |name: &str| {
        methods
            .iter()
            .find(|it| it.name == name)
            .ok_or_else(|| format!("there is no method {name}"))
    };
    match words.as_slice() {
        ["request", name] => {
            message(&example, &["jsonrpc", "id", "method", "params"])?;
            same(&example["method"], &json!(name))?;
            stays(method(name)?.params, &example["params"])?;
            capabilities(&example)
        }
        ["notification", name] => {
            message(&example, &["jsonrpc", "method", "params"])?;
            same(&example["method"], &json!(name))?;
            stays(method(name)?.params, &example["params"])
        }
        ["response", name] => {
            message(&example, &["jsonrpc", "id", "result"])?;
            let result = method(name)?
                .result
                .ok_or_else(|| format!("{name} is a notification"))?;
            stays(result, &example["result"])?;
            capabilities(&example)
        }
        ["error"] => {
            message(&example, &["jsonrpc", "id", "error"])?;
            let error = &example["error"];
            if error["code"] == -32803 && !error["data"]["kind"].is_string() {
                return Err("data has no kind".to_owned());
            }
            stays(round_trip::<acp::Error>, error)
        }
        [name] => {
            let types = methods.iter().flat_map(|it| &it.types);
            let (_, read) = types
                .into_iter()
                .find(|(it, _)| it == name)
                .ok_or("say what the example is after ```json")?;
            stays(*read, &example)
        }
        _ => Err("say what the example is after ```json".to_owned()),
    }
}

/// What LSP leaves open in `initialize`, and ACP has types for.
fn capabilities(message: &Value) -> Result<(), String> {
    for (pointer, read) in [
        (
            "/params/capabilities/experimental/agent/clientCapabilities",
            round_trip::<acp::ClientCapabilities> as RoundTrip,
        ),
        (
            "/result/capabilities/experimental/agent/agentCapabilities",
            round_trip::<acp::AgentCapabilities>,
        ),
    ] {
        // Both types write out their defaults, so that only reading can be checked.
        if let Some(value) = message.pointer(pointer) {
            read(value.clone()).map_err(|it| format!("{pointer}: {it}"))?;
        }
    }
    Ok(())
}

fn message(example: &Value, keys: &[&str]) -> Result<(), String> {
    let found: Vec<&str> = example
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect();
    same(&json!(found), &json!(keys))
}

fn stays(read: RoundTrip, example: &Value) -> Result<(), String> {
    let after = read(example.clone()).map_err(|it| it.to_string())?;
    same(&after, example)
}

fn same(found: &Value, expected: &Value) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{found} is not {expected}"))
    }
}
