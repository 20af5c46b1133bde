//! `undine sessions`: the sessions of the project in this folder, without an editor.

use super::settings::{here, print};
use crate::handlers::{exported, rename, session_time};
use crate::layers::CommandLine;
use crate::store::{self, Folders, Listed, LogError, snapshot};
use anyhow::anyhow;
use clap::Subcommand;
use engine::archive::{self, Words};
use engine::text::{visible, visible_line};
use protocol::sessions::{ExportFormat, FoundSession};
use serde_json::json;
use std::io::{Write, stderr};
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum Sessions {
    /// Lists them, newest first. The default.
    List,
    /// Lists those that have all of these words in them.
    Search {
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Prints a session.
    Export {
        /// The session's id.
        id: String,
        /// markdown for people, jsonl for programs: its log, a record a line.
        #[arg(long, default_value = "markdown", value_parser = ["markdown", "jsonl"])]
        format: String,
    },
    /// Gives a session a title.
    Rename {
        /// The session's id.
        id: String,
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// Removes a session with all that belongs to it, for good.
    Delete {
        /// The session's id.
        id: String,
    },
    /// Reads a session's log twice, and once from its snapshot, and compares what comes out. All sessions without an id.
    ///
    /// Exits with 0 when nothing differs, else with 1.
    Verify {
        /// The session's id.
        id: Option<String>,
    },
}

/// Does it. A session that is open in another process is neither renamed nor removed.
pub(super) fn run(
    what: Sessions,
    as_json: bool,
    command_line: CommandLine,
) -> anyhow::Result<ExitCode> {
    let (root, resolved) = here(command_line)?;
    let folders = Folders::from_environment();
    let folder = folders.conversations(&root);
    let log = |id: &str| store::path(&folder, id).map_err(|it| said(&it));
    match what {
        Sessions::List => list(&root, store::list(&folder), as_json)?,
        Sessions::Search { words } => {
            let most = usize::try_from(resolved.config.limits.search_sessions);
            let words = Words::new(&words.join(" "));
            let found = store::search(&folder, &words, most.unwrap_or(usize::MAX));
            let found = found.into_iter().map(|(session, hit)| FoundSession {
                session_id: session.id,
                cwd: root.clone(),
                title: session.title,
                updated_at: session_time(session.updated),
                message: hit.message,
                excerpt: hit.excerpt,
            });
            let found: Vec<FoundSession> = found.collect();
            if as_json {
                print(&serde_json::to_string_pretty(&found)?);
            } else {
                for it in &found {
                    let time = it.updated_at.clone().unwrap_or_default();
                    let title = visible_line(&it.title, 100);
                    print(&format!("{}  {time}  {title}", it.session_id));
                    print(&format!("  {}", visible_line(&it.excerpt, 200)));
                }
            }
        }
        Sessions::Export { id, format } => {
            let format = match format.as_str() {
                "jsonl" => ExportFormat::Jsonl,
                _ => ExportFormat::Markdown,
            };
            let text = exported(&log(&id)?, format).map_err(|it| anyhow!(without_stop(&it)))?;
            print(text.trim_end_matches('\n'));
        }
        Sessions::Rename { id, title } => {
            let title = archive::title(&title.join(" "));
            let title = title.ok_or_else(|| anyhow!("The title is empty"))?;
            rename(&folders, log(&id)?, title.clone()).map_err(|it| said(&it))?;
            print(&format!("{id} is called: {title}"));
        }
        Sessions::Delete { id } => {
            store::remove(&folders, &log(&id)?).map_err(|it| said(&it))?;
            print(&format!("{id} is removed."));
        }
        Sessions::Verify { id } => return Ok(verify(id, &folders, &folder)),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(root: &Path, all: Vec<Listed>, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let all = all.into_iter().map(|it| {
            let mut session = json!({
                "sessionId": it.id,
                "cwd": root,
                "title": it.title,
                "updatedAt": session_time(it.updated),
            });
            if let Some((from, message)) = it.forked {
                session["forkedFrom"] = json!({"sessionId": from, "message": message});
            }
            session
        });
        print(&serde_json::to_string_pretty(&all.collect::<Vec<_>>())?);
    } else if all.is_empty() {
        // Nobody to tell if stderr is closed.
        let _ = writeln!(
            stderr(),
            "There are no sessions of a project in this folder."
        );
    } else {
        for it in all {
            let time = session_time(it.updated).unwrap_or_default();
            print(&visible(&format!("{}  {time}  {}", it.id, it.title)));
        }
    }
    Ok(())
}

fn verify(id: Option<String>, folders: &Folders, folder: &Path) -> ExitCode {
    let ids = match id {
        Some(id) => vec![id],
        None => store::list(folder).into_iter().map(|it| it.id).collect(),
    };
    let mut is_good = true;
    for id in ids {
        let log = store::path(folder, &id).map_err(|it| it.to_string());
        let verified = log.and_then(|log| snapshot::verify(&log, &folders.snapshot(&log)));
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
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// An error's sentence gets its full stop where it is printed.
fn said(error: &LogError) -> anyhow::Error {
    anyhow!(without_stop(&error.to_string()))
}

fn without_stop(text: &str) -> String {
    text.trim_end_matches('.').to_owned()
}
