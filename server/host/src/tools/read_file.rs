//! Reads a file, from the editor's buffer when it is open there.

use super::Tool;
use crate::files;
use crate::plan::{Done, Plan, Run, World, text_hash};
use crate::workspace::FilePath;
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// The most entries of a folder that are listed (spec 1.1).
const MAX_ENTRIES: usize = 1_000;

pub struct ReadFile;

/// Read a file. Open files are read as the person sees them, unsaved changes included. A folder is
/// listed, two levels deep.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Path of the file, relative to the project.
    path: String,
    /// First and last line to read, counted from 1; -1 is the end. Everything if missing.
    #[serde(default)]
    view_range: Option<(i64, i64)>,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let file = world.workspace.resolve(&input.path)?;
        let plan = Plan::build(format!("Read {}", file.shown), ToolKind::Read).reads(&file);
        Ok(plan.then(move |run| read(file, input.view_range, run)))
    }
}

async fn read(file: FilePath, range: Option<(i64, i64)>, run: Run) -> Result<Done, String> {
    let limits = &run.world.limits;
    if !run.world.workspace.still(&file) {
        return Ok(Done::Moved);
    }
    if file.real.is_dir() {
        let folder = file.real.clone();
        let listing = tokio::task::spawn_blocking(move || listing(&folder)).await;
        return listing
            .map(Done::text)
            .map_err(|_| "The listing was broken off; try again.".to_owned());
    }
    let Some(live) = files::live(&run.world.documents, &file, limits.edit_bytes).await? else {
        return Err(format!("There is no file {}.", file.shown));
    };
    let n_lines = live.text.lines().count();
    let text = match range {
        None => capped(&live.text, limits.read_bytes),
        Some(range) => capped(&numbered(&live.text, range, n_lines)?, limits.read_bytes),
    };
    let saw = vec![(file.real.clone(), text_hash(&live.text))];
    Ok(Done::Success {
        text,
        shown: Some(format!("{n_lines} lines")),
        exit_code: None,
        saw,
    })
}

/// The first bytes of a text, with a footer that says so if there are more.
fn capped(text: &str, limit: u64) -> String {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if text.len() <= limit {
        return text.to_owned();
    }
    let cut = (0..=limit)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    format!(
        "{}\n[cut after {cut} of {} bytes; read the rest with view_range]",
        &text[..cut],
        text.len()
    )
}

/// Lines of a range, each behind its number (spec 1.1).
fn numbered(text: &str, (first, last): (i64, i64), n_lines: usize) -> Result<String, String> {
    let n_lines = i64::try_from(n_lines).unwrap_or(i64::MAX);
    let last = if last == -1 {
        n_lines
    } else {
        last.min(n_lines)
    };
    if first < 1 || first > n_lines || last < first {
        return Err(format!(
            "view_range must lie within lines 1 to {n_lines}, first before last."
        ));
    }
    let skipped = usize::try_from(first - 1).unwrap_or(0);
    let count = usize::try_from(last - first + 1).unwrap_or(0);
    let lines = text.lines().skip(skipped).take(count);
    Ok(lines
        .zip(first..)
        .map(|(line, number)| format!("{number:>6}\t{line}\n"))
        .collect())
}

/// Two levels of a folder, sorted, folders with a slash, hidden entries left out.
fn listing(folder: &Path) -> String {
    let mut out = Vec::new();
    for (name, is_folder) in entries(folder) {
        let inner = if is_folder {
            entries(&folder.join(&name))
        } else {
            Vec::new()
        };
        out.push(if is_folder {
            format!("{name}/")
        } else {
            name.clone()
        });
        for (child, is_folder) in inner {
            out.push(format!(
                "{name}/{child}{}",
                if is_folder { "/" } else { "" }
            ));
        }
    }
    if out.is_empty() {
        return "The folder is empty.".to_owned();
    }
    let more = out.len().saturating_sub(MAX_ENTRIES);
    out.truncate(MAX_ENTRIES);
    if more > 0 {
        out.push(format!("[{more} more entries]"));
    }
    out.join("\n")
}

fn entries(folder: &Path) -> Vec<(String, bool)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut entries: Vec<(String, bool)> = entries
        .flatten()
        .filter_map(|it| {
            Some((
                it.file_name().into_string().ok()?,
                it.file_type().ok()?.is_dir(),
            ))
        })
        .filter(|(name, _)| !name.starts_with('.'))
        .collect();
    entries.sort();
    entries
}
