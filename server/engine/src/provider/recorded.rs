//! Recorded answers of real providers, for tests: they stand in a folder beside the project, or are passed over with a
//! word about it.
//!
//! The usual tests cut a long one at some of its bytes; `tests/soak/run streams` cuts each at every byte.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads its recordings from files"
)]

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::ModelEvent;
use super::cuts::{Steady, every};
use crate::rounds::soak;

/// How many places a recording is cut at, where not at all of them. Short ones have fewer bytes than that.
const PLACES: usize = 1_000;

/// One file.
pub struct Recording {
    /// Its path, for messages and for what its name tells.
    pub name: String,
    pub text: String,
}

/// The recordings in `folders` whose names end with `suffix`, by name.
pub fn recordings(folders: &[&str], suffix: &str) -> Vec<Recording> {
    let root = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let root = root.join("../../../shared/fixtures/provider-streams");
    let folders = folders
        .iter()
        .filter_map(|it| fs::read_dir(root.join(it)).ok());
    let files = folders.flatten().map(|it| it.unwrap().path());
    let mut found: Vec<Recording> = files
        .map(|it| (it.display().to_string(), it))
        .filter(|(name, _)| name.ends_with(suffix))
        .map(|(name, path)| Recording {
            name,
            text: fs::read_to_string(path).unwrap(),
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    if found.is_empty() {
        eprintln!("skipped: no recordings in {}", root.display());
    }
    found
}

impl Recording {
    /// A stream's payloads, as they were sent.
    pub fn lines(&self) -> Vec<&str> {
        let lines = self.text.lines();
        lines
            .map(|it| it.trim_start_matches("data: "))
            .filter(|it| it.starts_with('{'))
            .collect()
    }
}

/// Payloads as values.
pub fn values(lines: &[&str]) -> Vec<Value> {
    let values = lines.iter().map(|it| serde_json::from_str(it));
    values.collect::<Result<_, _>>().unwrap()
}

/// What a body says; the law of cuts is held over it.
pub fn hold<D: Steady>(name: &str, body: &[u8]) -> Vec<ModelEvent> {
    let step = match soak() {
        Some(_) => 1,
        None => 1 + body.len() / PLACES,
    };
    eprintln!("{name}: {} bytes, every {step}", body.len());
    every::<D>(step, body)
}
