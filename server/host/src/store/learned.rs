//! What models have refused (spec 29): `models.json` in the data folder, for all servers of the person.
//!
//! By base URL and model. Each thing stands beside the time when it was learned, and counts for `limits.learned_days`.
//! The file is only ever replaced whole, under a lock, and names in it that this build does not know stay. One that
//! cannot be read is left as it is; what is learned then counts while this process lives.

#[cfg(test)]
mod tests;

use super::{beside, lock, put};
use crate::regular;
use engine::provider::{Feature, Learned, without_secrets};
use protocol::config::Reasoning;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file's name in the data folder.
pub const NAME: &str = "models.json";

/// The most bytes of the file.
const MAX_BYTES: u64 = 4 << 20;

/// How long another server may hold the lock.
const PATIENCE: Duration = Duration::from_secs(2);

/// A model at an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelKey {
    base_url: String,
    model: String,
}

impl ModelKey {
    pub fn new(base_url: &str, model: &str) -> Self {
        Self {
            base_url: without_secrets(base_url),
            model: model.to_owned(),
        }
    }
}

/// A time, and what counts before which it does not.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// Milliseconds since the Unix epoch.
    pub now: u64,
    pub days: u64,
}

impl Term {
    fn holds(self, time: u64) -> bool {
        let ms = self.days.saturating_mul(24 * 60 * 60 * 1000);
        time.saturating_add(ms) > self.now
    }
}

/// The file, and what this process has learned.
#[derive(Debug)]
pub struct LearnedModels {
    path: PathBuf,
    own: Book,
}

/// The file's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Book {
    #[serde(default)]
    models: Vec<Entry>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// What is known of one model. Names are those of [`Feature`] and [`Reasoning`]; times are milliseconds since the Unix
/// epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Entry {
    base_url: String,
    model: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    refused: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    levels: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tokens: Option<Most>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Most {
    tokens: u32,
    time: u64,
}

impl LearnedModels {
    /// What is kept in a data folder. Nothing is read or made yet.
    pub fn new(data: &Path) -> Self {
        Self {
            path: data.join(NAME),
            own: Book::default(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of a model; and what is wrong with the file, in a sentence for the person.
    pub fn of(&self, key: &ModelKey, term: Term) -> (Learned, Option<String>) {
        let (book, fault) = match read(&self.path) {
            Ok(book) => (book, None),
            Err(why) => {
                let path = self.path.display();
                let fault = format!(
                    "What models have refused earlier is not known, because {path} {why} Repair or remove it."
                );
                (Book::default(), Some(fault))
            }
        };
        let mut learned = book.of(key, term);
        learned.extend(&self.own.of(key, term));
        (learned, fault)
    }

    /// Counts from now on in this process. [`keep`] writes it down.
    pub fn take_in(&mut self, key: &ModelKey, learned: &Learned, term: Term) {
        self.own.forget(term);
        self.own.take_in(key, learned, term.now);
    }
}

/// Writes down what was learned; it is on the disk when this returns. What another server has written stays. The error
/// is the end of a sentence about the file.
pub fn keep(path: &Path, key: &ModelKey, learned: &Learned, term: Term) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot be written ({error}).");
    let folder = path.parent().unwrap_or(path);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(failed)?;
    let _lock = lock(folder, PATIENCE)?;
    let mut book = read(path)?;
    book.forget(term);
    book.take_in(key, learned, term.now);
    let text = serde_json::to_string_pretty(&book).map_err(|it| failed(it.into()))?;
    let file = beside(folder, ".models-", text.as_bytes()).map_err(failed)?;
    put(file, path).map_err(failed)
}

fn read(path: &Path) -> Result<Book, String> {
    let unread = |error: io::Error| format!("cannot be read ({error}).");
    let file = match regular::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Book::default()),
        Err(error) => return Err(unread(error)),
    };
    let bytes = regular::capped(file, MAX_BYTES).map_err(unread)?;
    let bytes = bytes.ok_or_else(|| format!("is larger than {} MiB.", MAX_BYTES >> 20))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("is damaged ({error})."))
}

impl Book {
    fn of(&self, key: &ModelKey, term: Term) -> Learned {
        let mut learned = Learned::default();
        let counts = |it: &(&String, &u64)| term.holds(*it.1);
        for entry in self.models.iter().filter(|it| it.is_about(key)) {
            let refused = entry.refused.iter().filter(counts);
            let levels = entry.levels.iter().filter(counts);
            let level = |name: &String| Reasoning::ALL.into_iter().find(|it| it.id() == name);
            learned.extend(&Learned {
                refused: refused
                    .filter_map(|(name, _)| Feature::from_name(name))
                    .collect(),
                levels: levels.filter_map(|(name, _)| level(name)).collect(),
                max_tokens: entry
                    .max_tokens
                    .filter(|it| term.holds(it.time))
                    .map(|it| it.tokens),
            });
        }
        learned
    }

    fn take_in(&mut self, key: &ModelKey, learned: &Learned, now: u64) {
        let at = self.models.iter().position(|it| it.is_about(key));
        let at = at.unwrap_or_else(|| {
            self.models.push(Entry {
                base_url: key.base_url.clone(),
                model: key.model.clone(),
                ..Entry::default()
            });
            self.models.len() - 1
        });
        let entry = &mut self.models[at];
        for it in &learned.refused {
            entry.refused.entry(it.name().to_owned()).or_insert(now);
        }
        for it in &learned.levels {
            entry.levels.entry(it.id().to_owned()).or_insert(now);
        }
        if let Some(tokens) = learned.max_tokens
            && entry.max_tokens.is_none_or(|it| tokens < it.tokens)
        {
            entry.max_tokens = Some(Most { tokens, time: now });
        }
    }

    /// Drops what does not count any more.
    fn forget(&mut self, term: Term) {
        for entry in &mut self.models {
            entry.refused.retain(|_, time| term.holds(*time));
            entry.levels.retain(|_, time| term.holds(*time));
            entry.max_tokens = entry.max_tokens.filter(|it| term.holds(it.time));
        }
        self.models.retain(|it| !it.is_empty());
    }
}

impl Entry {
    fn is_about(&self, key: &ModelKey) -> bool {
        self.base_url == key.base_url && self.model == key.model
    }

    fn is_empty(&self) -> bool {
        self.refused.is_empty()
            && self.levels.is_empty()
            && self.max_tokens.is_none()
            && self.more.is_empty()
    }
}
