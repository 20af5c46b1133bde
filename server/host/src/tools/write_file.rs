//! Writes a whole file.

use super::{
    Tool,
    change::{self, Wording},
};
use crate::apply::FileChange;
use crate::files;
use crate::plan::{Plan, World, text_hash};
use crate::workspace::FilePath;
use engine::text;
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

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
            Ok((old, new)) => {
                let verb = if old.is_some() { "Update" } else { "Write" };
                let title = format!("{verb} {}", file.shown);
                Ok(change::plan_changes(
                    title,
                    vec![FileChange::text(file, old, new)],
                    Wording::default(),
                ))
            }
            Err(why) => change::refuse("Write", &file, why),
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
