//! What an edit of the agent's has brought and mended, by what the editor finds.
//!
//! Asked of the editor before and after: only the problems of the very version that the edit made count.

use crate::mentions::shown;
use crate::plan::{Done, World};
use engine::problems::delta;
use protocol::lsp;
use protocol::methods::Diagnostics;
use protocol::seen::{DiagnosticsParams, Problem};
use protocol::tool::Access;
use std::path::PathBuf;
use std::time::Duration;

/// The most documents of one edit that are asked about.
const MOST: usize = 8;

/// What the editor gets to say what it has already, and beyond its time to settle.
const ANSWER: Duration = Duration::from_millis(500);

/// A document that is about to be changed, with the problems it has.
pub struct Before {
    path: PathBuf,
    uri: lsp::Uri,
    version: i32,
    problems: Vec<Problem>,
}

/// The open documents that a call is to write, as they are now.
pub async fn before(world: &World, accesses: &[Access]) -> Vec<Before> {
    let mut all = Vec::new();
    for access in accesses {
        let Access::Write { path, .. } = access else {
            continue;
        };
        let Some(document) = world.documents.get(path) else {
            continue;
        };
        if all.len() == MOST {
            break;
        }
        let (uri, version) = (document.uri.clone(), document.version);
        let params = DiagnosticsParams {
            uri: Some(uri.clone()),
            ..DiagnosticsParams::default()
        };
        let Some(answer) = world.editor.seen::<Diagnostics>(params, ANSWER).await else {
            continue;
        };
        let problems = answer.files.into_iter().find(|it| it.uri == uri);
        all.push(Before {
            path: path.clone(),
            uri,
            version,
            problems: problems.map(|it| it.problems).unwrap_or_default(),
        });
    }
    all
}

/// What is told beside the result of an edit that has landed.
pub async fn after(world: &World, all: Vec<Before>) -> Vec<String> {
    let most = usize::try_from(world.limits.diagnostics_most).unwrap_or(usize::MAX);
    let settle = world.limits.diagnostics_settle_ms;
    let Ok(documents) = world.editor.documents().await else {
        return Vec::new();
    };
    let mut told = Vec::new();
    for before in all {
        let Some(document) = documents.get(&before.path) else {
            continue;
        };
        let version = document.version;
        if version == before.version || document.uri != before.uri {
            continue;
        }
        let params = DiagnosticsParams {
            uri: Some(before.uri.clone()),
            version: Some(version),
            wait_ms: Some(settle),
        };
        let patience = Duration::from_millis(settle) + ANSWER;
        let answer = world.editor.seen::<Diagnostics>(params, patience).await;
        let files = answer.map(|it| it.files).unwrap_or_default();
        let mut files = files.into_iter();
        let of_version = files.find(|it| it.uri == before.uri && it.version == Some(version));
        if let Some(after) = of_version {
            let name = shown(world, &before.uri);
            told.extend(delta(&name, &before.problems, &after.problems, most));
        }
    }
    told
}

/// Puts it at the end of the result.
pub fn with(told: &[String], done: &mut Result<Done, String>) {
    if let Ok(Done::Success { text, .. }) = done {
        for it in told {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(it);
        }
    }
}
