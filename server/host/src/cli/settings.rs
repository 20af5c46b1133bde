//! `undine config`, `undine init` and `undine clean-config`: what the options are, and the person's own file.

use super::template;
use crate::config_edit::{self, Cleaned, EditError};
use crate::layers::{CommandLine, Layers, user_file};
use crate::run::say;
use crate::store::Folders;
use crate::workspace::Workspace;
use anyhow::{Context, anyhow};
use clap::Subcommand;
use engine::config::{Origin, REMOVED, Resolved};
use engine::provider::without_secrets;
use engine::text::visible;
use protocol::config::schema;
use serde::Serialize;
use serde_json::Value;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What to show of the configuration.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(super) enum Show {
    /// Every option as it counts in this folder, and why. The default.
    Show,
    /// The JSON schema of config.toml.
    Schema,
}

/// An option as it counts.
#[derive(Debug, Serialize)]
struct Line {
    key: String,
    value: Value,
    /// The layer that decides it; missing for a default.
    origin: Option<&'static str>,
    /// The file that it stands in.
    path: Option<PathBuf>,
    #[serde(skip)]
    said: String,
}

#[derive(Debug, Serialize)]
struct Shown {
    options: Vec<Line>,
    problems: Vec<String>,
}

/// The configuration in this folder, and what is wrong with it.
pub(super) fn here(command_line: CommandLine) -> anyhow::Result<(PathBuf, Resolved)> {
    let folders = Folders::from_environment();
    let cwd = std::env::current_dir().context("finding the current folder")?;
    let protected = [folders.config.clone(), folders.data.clone()];
    let workspace = Workspace::new(&[cwd], &protected).map_err(|it| anyhow!(it))?;
    let (layers, problem) = Layers::of_person(&folders.config, command_line);
    let mut resolved = layers.resolve(Some(workspace.root()));
    let of_file = problem.map(|text| engine::config::Problem {
        origin: Origin::UserFile,
        text,
    });
    resolved.problems.splice(..0, of_file);
    Ok((workspace.root().to_path_buf(), resolved))
}

/// Prints the options, or their schema. What is wrong goes to stderr.
pub(super) fn show(
    what: Show,
    as_json: bool,
    command_line: CommandLine,
) -> anyhow::Result<ExitCode> {
    match what {
        Show::Schema => print(&serde_json::to_string_pretty(&schema())?),
        Show::Show => {
            let (_, resolved) = here(command_line)?;
            let problems = resolved.problems.iter().map(|it| it.text.clone()).collect();
            let options = lines(&resolved)?;
            let shown = Shown { options, problems };
            if as_json {
                print(&serde_json::to_string_pretty(&shown)?);
                return Ok(ExitCode::SUCCESS);
            }
            for it in &shown.options {
                let value = match &it.value {
                    Value::Null => "(not set)".to_owned(),
                    value => value.to_string(),
                };
                let line = format!("{} = {value}  # {}", it.key, it.said);
                print(&visible(&line));
            }
            for it in &shown.problems {
                say(it);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(resolved: &Resolved) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let value = serde_json::to_value(&resolved.config)?;
    flatten(&value, &mut Vec::new(), resolved, &mut lines);
    Ok(lines)
}

fn flatten(value: &Value, path: &mut Vec<String>, resolved: &Resolved, out: &mut Vec<Line>) {
    if let Value::Object(table) = value
        && !table.is_empty()
    {
        for (key, value) in table {
            path.push(key.clone());
            flatten(value, path, resolved, out);
            path.pop();
        }
        return;
    }
    let key = path.join(".");
    let origin = resolved.origins.get(&key).copied();
    let file = origin.and_then(|it| resolved.paths.get(&it).cloned());
    let said = match (origin, &file) {
        (None, _) => "default".to_owned(),
        (Some(origin), Some(file)) => format!("{origin}: {}", file.display()),
        (Some(origin), None) => origin.to_string(),
    };
    out.push(Line {
        value: masked(path, value),
        key,
        origin: origin.map(Origin::id),
        path: file,
        said,
    });
}

/// Headers can carry keys, and addresses passwords.
fn masked(path: &[String], value: &Value) -> Value {
    let is_header = path.first().is_some_and(|it| it == "providers")
        && path.get(2).is_some_and(|it| it == "extra_headers");
    match value {
        Value::String(_) if is_header => Value::from("(hidden)"),
        Value::String(text) => Value::from(without_secrets(text)),
        other => other.clone(),
    }
}

/// Writes a `config.toml` to begin with, and the schema that editors check it by. A file that is there stays.
pub(super) fn init() -> anyhow::Result<ExitCode> {
    let folder = Folders::from_environment().config;
    let path = user_file(&folder);
    let schema_path = folder.join(template::SCHEMA_FILE);
    let is_there = is_file(&path);
    let written = match is_there {
        true => Ok(()),
        false => config_edit::write(&path, None, &template::config_toml(&schema())),
    };
    match (is_there, written) {
        (true, _) | (false, Err(EditError::Changed { .. })) => {
            print(&format!(
                "{} is there already and stays as it is.",
                path.display()
            ));
            let (_, problem) = crate::layers::read(&path, Origin::UserFile);
            if let Some(problem) = problem {
                say(&problem);
            }
        }
        (false, Ok(())) => print(&format!(
            "Wrote {}: every option, none switched on.",
            path.display()
        )),
        (false, Err(error)) => return failed(&error),
    }
    let text = serde_json::to_string_pretty(&schema())? + "\n";
    let old = std::fs::read_to_string(&schema_path).ok();
    if old.as_deref() == Some(text.as_str()) {
        return Ok(ExitCode::SUCCESS);
    }
    match config_edit::write(&schema_path, old.as_deref(), &text) {
        Ok(()) => print(&format!(
            "Wrote {}, for editors that check the file.",
            schema_path.display()
        )),
        Err(error) => return failed(&error),
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes options that no longer exist out of the person's file.
pub(super) fn clean() -> anyhow::Result<ExitCode> {
    let path = user_file(&Folders::from_environment().config);
    match config_edit::clean(&path, REMOVED) {
        Ok(None) => print(&format!("{} has no removed options.", path.display())),
        Ok(Some(Cleaned { keys, backup })) => {
            let (keys, path) = (keys.join(", "), path.display());
            let backup = backup.display();
            print(&format!(
                "Took {keys} out of {path}; as it was, it is kept as {backup}."
            ));
        }
        Err(error) => return failed(&error),
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints to stdout.
pub(super) fn print(text: &str) {
    // Nobody to tell if it is closed.
    let _ = writeln!(stdout(), "{text}");
}

fn failed(error: &EditError) -> anyhow::Result<ExitCode> {
    say(&format!("undine: {error}"));
    Ok(ExitCode::FAILURE)
}

/// The origin of an option, in words.
pub(super) fn origin_of(resolved: &Resolved, key: &str) -> String {
    match resolved.origins.get(key) {
        Some(origin) => origin.to_string(),
        None => "the default".to_owned(),
    }
}

/// Whether there is anything at a path, a link that leads nowhere included.
pub(super) fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
