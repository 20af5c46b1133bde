//! How a wire format says what a scripted model says, and what it makes of a request.
//!
//! One file a format. Which one a request is in, its path tells.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

pub use ollama::{CONTEXT as OLLAMA_CONTEXT, aside};
use serde_json::Value;

/// One answer in one wire format. What it returns are bytes of the stream, framed.
pub trait Dialect: Send {
    /// What is wrong with a request for real servers of this format, if something is.
    fn check(&self, body: &Value) -> Result<(), String>;

    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// A piece of text.
    fn say(&mut self, text: &str) -> String;

    /// A piece of thinking.
    fn think(&mut self, text: &str) -> String;

    /// A whole call, its arguments in these pieces.
    fn call(&mut self, id: &str, tool: &str, arguments: &[&str]) -> String;

    /// What it cost.
    fn usage(&mut self, read: u64, written: u64) -> String;

    /// The end, with the format's end marker. `reason` is in the format's own words; none: what fits what was said.
    fn end(&mut self, reason: Option<&str>) -> String;

    /// An error in the stream.
    fn fail(&mut self, message: &str) -> String;

    /// The body of an HTTP error.
    fn error(&self, status: u16, message: &str) -> Value;

    /// The instructions of a request.
    fn system(&self, body: &Value) -> String;

    /// The conversation of a request, oldest first.
    fn turns(&self, body: &Value) -> Vec<Said>;

    /// The pictures of a request, oldest first: the text in front of each (empty where the format needs none), its media type and its
    /// bytes.
    fn pictures(&self, body: &Value) -> Vec<(String, String, Vec<u8>)>;
}

/// A part of a conversation, as every format has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    User(String),
    Assistant {
        text: String,
        /// Ids and names.
        calls: Vec<(String, String)>,
    },
    /// A call's id and its result's text.
    Result(String, String),
}

/// The format of a request, by its path.
pub fn of(path: &str, body: &Value) -> Box<dyn Dialect> {
    let path = path.split('?').next().unwrap_or_default();
    if path.ends_with("/messages") {
        Box::new(anthropic::Anthropic::new(body))
    } else if path.ends_with("/responses") {
        Box::new(responses::Responses::new(body))
    } else if path.contains(":streamGenerateContent") {
        Box::new(gemini::Gemini::new())
    } else if path.contains("/api/") {
        Box::new(ollama::Ollama::new(path, body))
    } else {
        Box::new(chat::Chat::new(body))
    }
}
