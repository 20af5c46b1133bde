//! Ollama before it is asked: started where it is to be and is not, and asked once how much a model can read.
//!
//! All of it runs in the task that asks the model, never in the loop.

pub mod pull;
mod start;

use crate::endpoint::Reached;
use crate::model;
use engine::provider::ollama::{self, DEFAULT_CONTEXT};
use engine::provider::{Endpoint, Load, ModelError, ModelErrorKind, ModelRequest, Wire};
use futures_util::StreamExt;
use protocol::config::Config;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The most bytes that are read of what Ollama says of a model; its licence is in it.
const MAX_SHOWN: usize = 8 << 20;

/// What is known of the Ollama servers that were asked. One for the process.
#[derive(Debug, Default)]
pub struct Known {
    /// Tokens that a model can read and write together, by base URL and name; none where its server does not know.
    windows: Mutex<HashMap<(String, String), Option<u64>>>,
    /// Held while a server is started, so that one is.
    starting: tokio::sync::Mutex<()>,
}

/// What a person wants of it.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// Whether it is started.
    start: bool,
    /// How long it gets for that.
    start_for: Duration,
    connect: Duration,
    /// Tokens of context a model is loaded with, at most.
    num_ctx: u64,
    load: Load,
    /// Folders that its program is not taken from.
    roots: Vec<PathBuf>,
    /// Names of variables it is not shown.
    key_variables: Vec<String>,
}

impl Wishes {
    /// Those of a configuration, for a project in these folders.
    pub fn of(config: &Config, reached: &Reached, roots: Vec<PathBuf>) -> Wishes {
        Wishes {
            start: config.ollama.auto_start,
            start_for: Duration::from_secs(config.limits.ollama_start_secs),
            connect: Duration::from_secs(config.limits.model_connect_secs),
            num_ctx: num_ctx(config, &reached.provider, &reached.model),
            load: Load {
                num_gpu: config.ollama.num_gpu,
                num_thread: config.ollama.num_thread,
            },
            roots,
            key_variables: crate::endpoint::key_variables(config),
        }
    }
}

/// Tokens of context that a model is to be loaded with, whatever it could read.
pub fn num_ctx(config: &Config, provider: &str, model: &str) -> u64 {
    let per_model = config.ollama_num_ctx_per_model.get(model).copied();
    let own = config.providers.get(provider);
    per_model
        .or(own.and_then(|it| it.context_window))
        .or(Some(config.ollama.num_ctx))
        .filter(|it| *it > 0)
        .unwrap_or(DEFAULT_CONTEXT)
}

impl Known {
    /// Makes ready what is about to be asked, if it is Ollama that is asked: it runs, and the request says how the model is
    /// loaded, always in the same way, because a change loads it anew.
    ///
    /// # Errors
    /// When it cannot be started, or does not have the model.
    pub async fn prepare(
        &self,
        reached: &Reached,
        endpoint: &Endpoint,
        wishes: &Wishes,
        request: &mut ModelRequest,
    ) -> Result<(), ModelError> {
        if reached.wire != Wire::Ollama {
            return Ok(());
        }
        // No `Unreachable`, which is tried again: this has waited already.
        self.start(endpoint, wishes)
            .await
            .map_err(|why| ModelError::new(ModelErrorKind::BadRequest, why))?;
        let most = self.window(endpoint, &request.model, wishes).await?;
        request.window = Some(most.map_or(wishes.num_ctx, |it| it.min(wishes.num_ctx)));
        request.load = wishes.load;
        Ok(())
    }

    /// Sees that it runs, if it is to be on this machine. The error is one sentence for the person.
    pub async fn start(&self, endpoint: &Endpoint, wishes: &Wishes) -> Result<(), String> {
        match wishes.start {
            true => start::start(&self.starting, endpoint, wishes).await,
            false => Ok(()),
        }
    }

    /// What a model can read and write together, if its server says so. It is asked until it has answered: a server that
    /// only stands in for Ollama says nothing of it, and would say so before each request.
    async fn window(
        &self,
        endpoint: &Endpoint,
        model: &str,
        wishes: &Wishes,
    ) -> Result<Option<u64>, ModelError> {
        let key = (endpoint.base_url.clone(), model.to_owned());
        let windows = || self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = windows().get(&key) {
            return Ok(*known);
        }
        let Some((status, shown)) = show(endpoint, model, wishes.connect).await else {
            return Ok(None);
        };
        if status == 404 && shown["error"].is_string() {
            return Err(ollama::not_there(model));
        }
        let most = context_length(&shown["model_info"]);
        let has_no_such_address = matches!(status, 404 | 405 | 501);
        if has_no_such_address || (200..300).contains(&status) {
            windows().insert(key, most);
        }
        Ok(most)
    }
}

/// `<architecture>.context_length`, whatever the architecture.
fn context_length(info: &Value) -> Option<u64> {
    let fields = info.as_object()?;
    let name = info["general.architecture"].as_str().unwrap_or_default();
    let of_its = fields.get(&format!("{name}.context_length"));
    let found = of_its.or_else(|| {
        let mut all = fields.iter();
        all.find(|(name, _)| name.ends_with(".context_length"))
            .map(|(_, value)| value)
    });
    found?.as_u64().filter(|it| *it > 0)
}

/// What a server says of a model, with its status; null if that is no JSON, nothing if it says nothing in time.
async fn show(endpoint: &Endpoint, model: &str, patience: Duration) -> Option<(u16, Value)> {
    let body = json!({ "model": model }).to_string();
    let asking = async {
        let response = post(endpoint, "/api/show", body, patience).await.ok()?;
        let status = response.status().as_u16();
        let mut bytes = response.bytes_stream();
        let mut whole = Vec::new();
        while let Some(more) = bytes.next().await {
            whole.extend_from_slice(&more.ok()?);
            if whole.len() > MAX_SHOWN {
                return None;
            }
        }
        Some((status, serde_json::from_slice(&whole).unwrap_or_default()))
    };
    let shown = tokio::time::timeout(patience, asking).await;
    let shown = shown.ok().flatten();
    if shown.is_none() {
        tracing::info!("Ollama did not say what the model can read");
    }
    shown
}

/// Posts to one of Ollama's addresses.
async fn post(
    endpoint: &Endpoint,
    path: &str,
    body: String,
    connect: Duration,
) -> Result<reqwest::Response, String> {
    let url = ollama::url(endpoint, path);
    let client = model::client_for(&url, connect).map_err(|it| it.message)?;
    let mut sending = client.post(&url).body(body);
    for (name, value) in ollama::headers(endpoint) {
        sending = sending.header(name, value);
    }
    let sent = sending.send().await;
    sent.map_err(|error| model::unreachable_at(&url, &error).message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_of_a_models_own_architecture_counts() {
        let info = json!({
            "general.architecture": "gemma3",
            "clip.context_length": 77,
            "gemma3.context_length": 131_072,
        });
        assert_eq!(context_length(&info), Some(131_072));
        assert_eq!(
            context_length(&json!({"qwen3.context_length": 40_960})),
            Some(40_960)
        );
        assert_eq!(context_length(&json!({"qwen3.context_length": 0})), None);
        assert_eq!(context_length(&Value::Null), None);
    }
}
