//! `undine sessions`: the sessions of this folder, without an editor.

use super::settings::{here, print};
use crate::layers::CommandLine;
use crate::store::search::{self, Words};
use crate::store::{self, Folders};
use anyhow::{Context, bail};
use clap::Subcommand;
use engine::text::visible;
use std::io::{Write, stderr};
use std::process::ExitCode;

/// What to do with the sessions.
#[derive(Debug, Subcommand)]
pub(super) enum Sessions {
    /// Finds messages that have all of these words, case ignored; the newest session first.
    Search {
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Reads a session's log twice, and once from its snapshot, and compares what comes out. All sessions without an id.
    ///
    /// Exits with 0 when nothing differs, else with 1.
    Verify { id: Option<String> },
}

/// Messages that are shown of one session.
const MOST_HITS: usize = 100;

pub(super) fn run(what: Sessions, command_line: CommandLine) -> anyhow::Result<ExitCode> {
    match what {
        Sessions::Search { words } => find(&words, command_line),
        Sessions::Verify { id } => verify(id, command_line),
    }
}

/// A line a message: the session's id, who said it, and what stands around the first word.
fn find(words: &[String], command_line: CommandLine) -> anyhow::Result<ExitCode> {
    let (root, _) = here(command_line)?;
    let folder = Folders::from_environment().conversations(&root);
    let Some(words) = Words::new(words.iter().map(String::as_str)) else {
        bail!("name a word to search for");
    };
    let mut n_hits = 0;
    for session in store::list(&folder) {
        let log = folder.join(format!("{}.jsonl", session.id));
        let hits = search::search(&log, &words, MOST_HITS);
        for hit in hits.with_context(|| format!("reading {}", log.display()))? {
            n_hits += 1;
            let line = format!("{} {}: {}", session.id, hit.role, hit.snippet);
            print(&visible(&line));
        }
    }
    Ok(match n_hits {
        0 => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}

fn verify(id: Option<String>, command_line: CommandLine) -> anyhow::Result<ExitCode> {
    let (root, _) = here(command_line)?;
    let folders = Folders::from_environment();
    let folder = folders.conversations(&root);
    let ids = match id {
        Some(id) => vec![id],
        None => store::list(&folder).into_iter().map(|it| it.id).collect(),
    };
    let mut is_good = true;
    for id in ids {
        let log = store::path(&folder, &id).map_err(|it| it.to_string());
        let verified = log.and_then(|log| search::verify(&log, &folders.snapshot(&log)));
        match verified {
            Ok((records, covered)) => print(&format!(
                "{id}: {records} records, {covered} of them in the snapshot: the same session each time."
            )),
            Err(why) => {
                is_good = false;
                // Nobody to tell if stderr is closed.
                let _ = writeln!(stderr(), "{id}: {}", visible(&why));
            }
        }
    }
    Ok(match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
