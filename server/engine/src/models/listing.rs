//! Asking a provider which models it has: the request, and what its answer means.
//!
//! Facts: Anthropic `GET /v1/models`, OpenAI and compatible servers `GET /models`, Gemini `GET /v1beta/models`, Ollama
//! `GET /api/tags`. Fields beyond the id are best effort: each compatible server has its own.

use crate::provider::{Endpoint, HttpRequest, Wire};
use serde_json::Value;

/// A model that a provider names. What is missing it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub id: String,
    /// For people.
    pub name: Option<String>,
    /// Tokens that it can read.
    pub window: Option<u64>,
    /// Tokens that it can write in one answer.
    pub output: Option<u64>,
    pub reasoning: Option<bool>,
}

/// The most models that are taken from one answer.
const MOST: usize = 2_000;

/// Anthropic's version that its list is asked in.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The request for the list.
pub fn list_request(wire: Wire, endpoint: &Endpoint) -> HttpRequest {
    let key = endpoint.key.as_ref().map(|it| it.expose().to_owned());
    let bearer = |key: String| ("authorization".to_owned(), format!("Bearer {key}"));
    let mut own = vec![("accept".to_owned(), "application/json".to_owned())];
    let url = match wire {
        Wire::Messages => {
            own.extend(key.map(|it| ("x-api-key".to_owned(), it)));
            own.push(("anthropic-version".to_owned(), ANTHROPIC_VERSION.to_owned()));
            with_query(endpoint.url_below("/v1", "/models"), "limit=1000")
        }
        Wire::ChatCompletions | Wire::Responses => {
            own.extend(key.map(bearer));
            endpoint.url("/models")
        }
        Wire::GenerateContent => {
            own.extend(key.map(|it| ("x-goog-api-key".to_owned(), it)));
            with_query(endpoint.url_below("/v1beta", "/models"), "pageSize=1000")
        }
        Wire::Ollama => {
            own.extend(key.map(bearer));
            endpoint.url("/api/tags")
        }
    };
    HttpRequest {
        method: "GET",
        url,
        headers: endpoint.headers(own),
        body: Vec::new(),
    }
}

fn with_query(url: String, query: &str) -> String {
    let sign = if url.contains('?') { '&' } else { '?' };
    format!("{url}{sign}{query}")
}

/// The models of an answer. The error says what is wrong with it, as the end of a sentence.
pub fn list_of(wire: Wire, body: &[u8]) -> Result<Vec<Listed>, String> {
    let value: Value =
        serde_json::from_slice(body).map_err(|_| "its answer is no JSON".to_owned())?;
    let all = match wire {
        Wire::Messages | Wire::ChatCompletions | Wire::Responses => {
            // Some servers answer with the bare list.
            value["data"].as_array().or_else(|| value.as_array())
        }
        Wire::GenerateContent | Wire::Ollama => value["models"].as_array(),
    };
    let all = all.ok_or("its answer is no list of models")?;
    let read = match wire {
        Wire::Messages => anthropic,
        Wire::ChatCompletions | Wire::Responses => compatible,
        Wire::GenerateContent => gemini,
        Wire::Ollama => ollama,
    };
    // A name is written into lines, addresses and the log.
    let is_one_line = |it: &Listed| !it.id.contains(|it: char| it.is_control());
    let listed = all.iter().filter_map(read).filter(is_one_line);
    let mut listed: Vec<Listed> = listed.take(MOST).collect();
    listed.sort_by(|a, b| a.id.cmp(&b.id));
    listed.dedup_by(|a, b| a.id == b.id);
    Ok(listed)
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|it| *it > 0)
}

fn anthropic(model: &Value) -> Option<Listed> {
    if model["lifecycle"] == "retired" {
        return None;
    }
    Some(Listed {
        id: text(&model["id"])?,
        name: text(&model["display_name"]),
        window: tokens(&model["max_input_tokens"]),
        output: tokens(&model["max_tokens"]),
        reasoning: model["capabilities"]["thinking"]["supported"].as_bool(),
    })
}

fn compatible(model: &Value) -> Option<Listed> {
    /// Parts of the names of models that do not converse; lists tell them apart in no other way.
    const OTHERS: [&str; 9] = [
        "embedding",
        "whisper",
        "tts",
        "dall-e",
        "moderation",
        "transcribe",
        "realtime",
        "-image",
        "sora",
    ];
    let id = text(&model["id"])?;
    if OTHERS.iter().any(|it| id.contains(it)) {
        return None;
    }
    let windows = [
        &model["context_length"],
        &model["context_window"],
        &model["max_context_length"],
        &model["max_model_len"],
        &model["meta"]["n_ctx"],
    ];
    Some(Listed {
        name: text(&model["name"]).filter(|it| *it != id),
        window: windows.into_iter().find_map(tokens),
        output: tokens(&model["top_provider"]["max_completion_tokens"])
            .or_else(|| tokens(&model["max_completion_tokens"])),
        reasoning: None,
        id,
    })
}

fn gemini(model: &Value) -> Option<Listed> {
    let methods = model["supportedGenerationMethods"].as_array();
    if methods.is_some_and(|it| !it.iter().any(|it| it == "generateContent")) {
        return None;
    }
    let name = text(&model["name"])?;
    Some(Listed {
        id: name.strip_prefix("models/").unwrap_or(&name).to_owned(),
        name: text(&model["displayName"]),
        window: tokens(&model["inputTokenLimit"]),
        output: tokens(&model["outputTokenLimit"]),
        reasoning: model["thinking"].as_bool(),
    })
}

fn ollama(model: &Value) -> Option<Listed> {
    let capabilities = model["capabilities"].as_array();
    let has = |what: &str| capabilities.map(|it| it.iter().any(|it| it == what));
    if has("completion") == Some(false) {
        return None;
    }
    Some(Listed {
        id: text(&model["model"]).or_else(|| text(&model["name"]))?,
        name: None,
        // What it is loaded with is configured here.
        window: None,
        output: None,
        reasoning: has("thinking"),
    })
}
