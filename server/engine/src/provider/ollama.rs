//! The codec of Ollama.

use super::chat_completions::ChatCompletions;
use super::{Decoder, Endpoint, HttpRequest, ModelError, ModelRequest, Provider};

/// The codec.
pub struct Ollama;

impl Provider for Ollama {
    fn request(&self, endpoint: &Endpoint, request: &ModelRequest) -> HttpRequest {
        ChatCompletions.request(endpoint, request)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        ChatCompletions.decoder()
    }

    fn error(&self, status: u16, headers: &[(String, String)], body: &[u8]) -> ModelError {
        ChatCompletions.error(status, headers, body)
    }
}
