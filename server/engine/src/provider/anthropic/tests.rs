//! The codec against small streams made by hand, recorded ones, and whole requests.

mod prefix;
mod recorded;
mod refusals;
mod request;
mod stream;

use serde_json::Value;

use super::Messages;
use super::decode::MessagesDecoder;
use crate::provider::cuts::{self, is_last};
use crate::provider::{
    Endpoint, HttpRequest, ModelEvent, ModelRequest, Provider as _, Secret, ToolSpec,
};

/// Decodes `pieces` as they come.
fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<ModelEvent> {
    cuts::decode::<MessagesDecoder>(pieces)
}

/// Decodes `body` whole, cut in two and cut off at every byte, which must change nothing.
fn decode_cut_everywhere(body: &[u8]) -> Vec<ModelEvent> {
    cuts::everywhere::<MessagesDecoder>(body)
}

/// Each payload as an event, named as its type says.
fn frame<'a>(payloads: impl IntoIterator<Item = &'a str>) -> String {
    let framed = payloads.into_iter().map(|it| {
        let value: Value = serde_json::from_str(it).unwrap_or_default();
        let name = value["type"].as_str().unwrap_or("odd");
        format!("event: {name}\ndata: {it}\n\n")
    });
    framed.collect()
}

fn endpoint() -> Endpoint {
    Endpoint {
        base_url: "http://localhost:1".to_owned(),
        key: Some(Secret::new("the-key")),
        extra_headers: Vec::new(),
    }
}

fn asked(request: &ModelRequest) -> HttpRequest {
    Messages.request(&endpoint(), request)
}

fn body(request: &ModelRequest) -> Value {
    serde_json::from_slice(&asked(request).body).unwrap()
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    let mut found = request.headers.iter().filter(|(it, _)| it == name);
    let value = found.next().map(|(_, value)| value.as_str());
    assert_eq!(found.next(), None, "{name} is there twice");
    value
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}"),
        parameters: serde_json::json!({ "type": "object", "properties": {} }),
    }
}
