//! Downloads a model into Ollama (`POST /api/pull`), line by line of what it says about that.

use super::post;
use engine::provider::ndjson::{Framer, TooLong};
use engine::provider::{Endpoint, without_secrets};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;

/// How far a download is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, in Ollama's words.
    pub status: String,
    /// Bytes that are here, and bytes in all; of the part that `status` names.
    pub bytes: Option<(u64, u64)>,
}

/// Downloads `model`, and says how far that is. Ends when Ollama has all of it; what was loaded of a download that is
/// dropped is there when it is begun again. The error is one sentence for the person.
pub async fn pull(
    endpoint: &Endpoint,
    model: &str,
    connect: Duration,
    quiet: Duration,
    mut say: impl FnMut(Progress),
) -> Result<(), String> {
    let body = json!({"model": model, "stream": true}).to_string();
    let response = tokio::time::timeout(quiet, post(endpoint, "/api/pull", body, connect))
        .await
        .map_err(|_| silent(quiet))??;
    let status = response.status();
    let mut framer = Framer::default();
    let mut lines: Vec<Value> = Vec::new();
    let mut bytes = response.bytes_stream();
    let mut is_done = false;
    loop {
        let next = tokio::time::timeout(quiet, bytes.next())
            .await
            .map_err(|_| silent(quiet))?;
        let mut each = |it: &[u8]| lines.extend(serde_json::from_slice::<Value>(it));
        let framed = match &next {
            Some(Ok(bytes)) => framer.feed(bytes, &mut each),
            // A connection that broke is a stream that ended.
            Some(Err(_)) | None => framer.finish(&mut each),
        };
        if let Err(TooLong) = framed {
            return Err("Ollama said more in one line than is read of it; try again.".to_owned());
        }
        for line in lines.drain(..) {
            if let Some(why) = line["error"].as_str() {
                return Err(format!(
                    "Ollama could not download {model} ({}); check its name and the network.",
                    why.trim_end_matches('.')
                ));
            }
            let Some(status) = line["status"].as_str() else {
                continue;
            };
            is_done |= status == "success";
            let total = line["total"].as_u64().filter(|it| *it > 0);
            say(Progress {
                status: status.to_owned(),
                bytes: total.map(|it| (line["completed"].as_u64().unwrap_or(0).min(it), it)),
            });
        }
        match next {
            _ if is_done => return Ok(()),
            Some(Ok(_)) => {}
            Some(Err(_)) | None if !status.is_success() => {
                let at = without_secrets(&endpoint.base_url);
                return Err(format!(
                    "The server at {at} answered with HTTP {}; check that Ollama runs there.",
                    status.as_u16()
                ));
            }
            Some(Err(_)) | None => {
                return Err(format!(
                    "The download of {model} broke off; run the command again to go on with it."
                ));
            }
        }
    }
}

fn silent(quiet: Duration) -> String {
    format!(
        "Ollama said nothing for {} seconds; run the command again to go on.",
        quiet.as_secs()
    )
}
