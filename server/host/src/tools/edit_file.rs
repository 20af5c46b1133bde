//! Replaces one piece of a file's text.

use super::{Tool, write_file};
use crate::files;
use crate::plan::{Plan, World};
use crate::workspace::FilePath;
use engine::text;
use schemars::JsonSchema;
use serde::Deserialize;

pub struct EditFile;

/// Replace a piece of a file's text. Unsaved changes in the editor are kept.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Path of the file, relative to the project.
    path: String,
    /// The text to replace, exactly as it stands in the file, with enough around it to be unique.
    target_content: String,
    /// The text to put in its place.
    replacement_content: String,
    /// Replace every occurrence instead of exactly one.
    #[serde(default)]
    allow_multiple: bool,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let file = world.workspace.resolve(&input.path)?;
        match edited(&file, input, &world).await {
            Ok((old, new)) => Ok(write_file::plan_change("Edit", file, Some(old), new)),
            Err(why) => write_file::refuse("Edit", &file, why),
        }
    }
}

/// The file's text before and after.
async fn edited(file: &FilePath, input: Input, world: &World) -> Result<(String, String), String> {
    let Some(live) = files::live(&world.documents, file, world.limits.edit_bytes).await? else {
        return Err(format!(
            "There is no file {}; use write_file to make it.",
            file.shown
        ));
    };
    let Input {
        target_content: target,
        replacement_content: replacement,
        allow_multiple,
        ..
    } = input;
    // Looking for the most similar place in a large file takes a while.
    let old = live.text;
    let edited = tokio::task::spawn_blocking(move || {
        let change = text::replace(&old, &target, &replacement, allow_multiple)
            .map_err(|it| format!("{it}."))?;
        let new = change.apply(&old).map_err(|it| it.to_string())?;
        Ok::<_, String>((old, new))
    });
    edited
        .await
        .map_err(|_| "The edit was broken off; try again.".to_owned())?
}
