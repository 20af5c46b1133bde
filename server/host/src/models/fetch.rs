//! One GET with a time-out and a cap, and the catalogue by it.

use crate::endpoint;
use crate::model::{client_for, root};
use engine::models::{Catalogue, reduce};
use engine::provider::{HttpRequest, without_secrets};
use futures_util::StreamExt;
use protocol::config::Limits;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most bytes of the catalogue as it is sent.
const MAX_CATALOGUE: usize = 64 << 20;

/// A fetch of the catalogue that is due.
#[derive(Clone, Debug)]
pub struct Fetch {
    url: String,
    file: PathBuf,
    patience: Patience,
}

/// How long an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    connect: Duration,
    whole: Duration,
}

impl Patience {
    pub fn new(limits: &Limits) -> Self {
        Self {
            connect: Duration::from_secs(limits.model_connect_secs),
            whole: Duration::from_secs(limits.models_secs),
        }
    }
}

impl Fetch {
    pub(super) fn new(url: &str, file: &Path, limits: &Limits) -> Self {
        Self {
            url: url.to_owned(),
            file: file.to_path_buf(),
            patience: Patience::new(limits),
        }
    }

    /// Fetches it and keeps what is of use. The error is for the log: nothing depends on the catalogue.
    pub async fn run(self) -> Result<Catalogue, String> {
        let request = HttpRequest {
            method: "GET",
            url: self.url.clone(),
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            body: Vec::new(),
        };
        let got = get(&request, self.patience, MAX_CATALOGUE).await?;
        if got.status != 200 {
            return Err(format!("the server answered {}", got.status));
        }
        // It is large.
        tokio::task::spawn_blocking(move || {
            let providers: Vec<&str> = endpoint::known().filter_map(endpoint::catalogued).collect();
            let kept = reduce(&got.body, &providers)?;
            let catalogue = Catalogue::parse(&kept)?;
            keep(&self.file, &kept).map_err(|it| it.to_string())?;
            Ok(catalogue)
        })
        .await
        .map_err(|it| it.to_string())?
    }
}

/// Puts the file in place whole.
fn keep(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(bytes)?;
    new.persist(file)?;
    Ok(())
}

/// An answer, whatever it says.
pub(super) struct Got {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Sends a request and takes the whole answer. The error is the end of a sentence and holds no secret.
pub(super) async fn get(
    request: &HttpRequest,
    patience: Patience,
    most: usize,
) -> Result<Got, String> {
    let client = client_for(&request.url, patience.connect).map_err(|it| it.message)?;
    let mut sending = client.get(&request.url);
    for (name, value) in &request.headers {
        sending = sending.header(name, value);
    }
    let address = without_secrets(&request.url);
    let work = async {
        let response = sending
            .send()
            .await
            .map_err(|it| format!("{address} cannot be reached ({})", root(&it)))?;
        let status = response.status().as_u16();
        let headers = response
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect();
        let mut body = Vec::new();
        let mut bytes = response.bytes_stream();
        while let Some(more) = bytes.next().await {
            let more = more.map_err(|it| format!("{address} broke off ({})", root(&it)))?;
            body.extend_from_slice(&more);
            if body.len() > most {
                return Err(format!("{address} sent more than {} MiB", most >> 20));
            }
        }
        Ok(Got {
            status,
            headers,
            body,
        })
    };
    let got = tokio::time::timeout(patience.whole, work).await;
    let secs = patience.whole.as_secs();
    got.unwrap_or_else(|_| Err(format!("{address} took longer than {secs} seconds")))
        .map_err(|it| request.hide(&it))
}
