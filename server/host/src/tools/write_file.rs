//! Writes a whole file.

use super::Tool;
use crate::apply::{self, Applied, FileChange};
use crate::files;
use crate::plan::{Done, Plan, Run, World, text_hash};
use crate::workspace::FilePath;
use engine::session::Preview;
use engine::text::{self, Operation, file::shown};
use protocol::acp::ToolKind;
use protocol::tool::Place;
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;

pub struct WriteFile;

/// Write a whole file, new or existing. Read an existing file first; prefer edit_file to change it.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Path of the file, relative to the project. Missing folders are made.
    path: String,
    /// The file's whole text.
    content: String,
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const KIND: ToolKind = ToolKind::Edit;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let file = world.workspace.resolve(&input.path)?;
        match written(&file, input.content, &world).await {
            Ok((None, new)) => Ok(plan_change("Write", file, None, new, "")),
            Ok((Some(old), new)) => Ok(plan_change("Update", file, Some(old), new, "")),
            Err(why) => refuse("Write", &file, why),
        }
    }
}

/// The file's text before and after.
async fn written(
    file: &FilePath,
    content: String,
    world: &World,
) -> Result<(Option<String>, String), String> {
    let shown = &file.shown;
    if file.real.is_dir() {
        return Err(format!("{shown} is a folder."));
    }
    let Some(live) = files::live(&world.documents, file, world.limits.edit_bytes).await? else {
        return Ok((None, content));
    };
    match world.seen.get(&file.real) {
        None => {
            return Err(format!(
                "{shown} exists and was not read yet; read it first, whole, or change it with edit_file."
            ));
        }
        Some(hash) if *hash != text_hash(&live.text) => {
            return Err(format!(
                "{shown} has changed since it was read; read it again first."
            ));
        }
        Some(_) => {}
    }
    let new = files::compute(live.text.len() + content.len(), || {
        text::with_line_endings_of(&live.text, &content)
    });
    if new == live.text {
        return Err(format!(
            "{shown} has exactly this text already; nothing to do."
        ));
    }
    files::check(file, &live, &new, world.limits.edit_bytes).await?;
    Ok((Some(live.text), new))
}

/// A change that cannot be made, and why. What is wrong with it says something about the file's text,
/// so outside the project the model is told only once the policy or the person has let it touch the file.
pub(super) fn refuse(verb: &str, file: &FilePath, why: String) -> Result<Plan, String> {
    match file.place {
        Place::Project => Err(why),
        Place::Protected | Place::External => {
            let title = format!("{verb} {}", file.shown);
            let plan = Plan::build(title).reads(file).writes(file);
            Ok(plan.then(async move |_| Err(why)))
        }
    }
}

/// The plan of a change to one file, for every tool that makes one. `note` ends what the model is told of it.
pub(super) fn plan_change(
    verb: &str,
    file: FilePath,
    old: Option<String>,
    new: String,
    note: &'static str,
) -> Plan {
    let title = format!("{verb} {}", file.shown);
    let operation = if old.is_some() {
        Operation::Modify
    } else {
        Operation::Create
    };
    let before = old.as_deref().unwrap_or_default();
    let hash = files::compute(before.len() + new.len(), || {
        text::shown_hash(&file.real, operation, &text::hunks(before, &new))
    });
    Plan::build(title.clone())
        .writes(&file)
        .preview(preview(&file, old.as_deref(), &new))
        .shown(hash)
        .then(move |run| run_change(FileChange { file, old, new }, title, note, run))
}

/// The most bytes of a file in a diff that is shown whole, and of one that is not (protocol.md).
const MAX_DIFF_BYTES: usize = 256 << 10;

/// Made here and not when it is shown: a large text is not compared in the loop.
pub(super) fn preview(file: &FilePath, old: Option<&str>, new: &str) -> Preview {
    let path = file.real.clone();
    let (old, new) = (old.map(shown), shown(new));
    if new.len().max(old.as_ref().map_or(0, |it| it.len())) <= MAX_DIFF_BYTES {
        let (old, new) = (old.map(Cow::into_owned), new.into_owned());
        return Preview::Diff { path, old, new };
    }
    let name = path.display().to_string();
    let before = old.as_deref().unwrap_or_default();
    let diff = files::compute(before.len() + new.len(), || {
        text::unified(before, &new, &name, &name, 3, text::DISPLAY_CAP)
    });
    let counts = format!("+{} -{} lines", diff.added, diff.removed);
    let text = format!("{}\n{counts}", shortened(diff));
    Preview::Hunks { path, text }
}

/// A diff's text, bounded in bytes too: a line can be as long as its file.
fn shortened(diff: text::Unified) -> String {
    let mut text = diff.text;
    let end = text.floor_char_boundary(MAX_DIFF_BYTES);
    let is_cut = diff.truncated || end < text.len();
    text.truncate(end);
    if is_cut {
        text.push_str("\n[the diff goes on]");
    }
    text
}

async fn run_change(
    change: FileChange,
    title: String,
    note: &str,
    run: Run,
) -> Result<Done, String> {
    let label = format!("Undine: {title}");
    let applied = tokio::select! {
        biased;
        applied = apply::apply(&run.world, &change, &label) => applied?,
        () = run.token.cancelled() => return Ok(Done::Cancelled),
    };
    let FileChange { file, old, new } = &change;
    let before = old.as_deref().unwrap_or_default();
    let diff = files::compute(before.len() + new.len(), || {
        let (before, new) = (shown(before), shown(new));
        text::unified(
            &before,
            &new,
            &file.shown,
            &file.shown,
            3,
            text::DISPLAY_CAP,
        )
    });
    let what = if old.is_some() { "Changed" } else { "Created" };
    let counts = format!("+{} -{}", diff.added, diff.removed);
    let mut text = match applied {
        Applied::Moved => return Ok(Done::Moved),
        Applied::Saved => format!("{what} {} ({counts} lines).", file.shown),
        Applied::Unsaved => format!(
            "{what} {} ({counts} lines) in the editor. It is not saved yet, so commands do not see it.",
            file.shown
        ),
    };
    text.push_str(note);
    let shown = Some(shortened(diff)).filter(|it| !it.is_empty());
    Ok(Done::Success {
        text,
        shown,
        exit_code: None,
        saw: vec![(file.real.clone(), text_hash(new))],
    })
}
