//! Deletes a file (spec 1.4).

use super::Tool;
use super::change::{self, Wording};
use crate::apply::FileChange;
use crate::files;
use crate::plan::{Plan, World};
use crate::workspace::FilePath;
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

pub struct DeleteFile;

/// Delete a file.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Path of the file, relative to the project.
    path: String,
}

impl Tool for DeleteFile {
    const NAME: &'static str = "delete_file";
    const KIND: ToolKind = ToolKind::Delete;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let file = world.workspace.resolve(&input.path)?;
        let is_link = world.workspace.root().join(&input.path).is_symlink();
        let old = match is_link {
            true => Err(format!(
                "{} is a link to {}; delete the link with a command.",
                input.path, file.shown
            )),
            false => text_of(&file, &world).await,
        };
        match old {
            Ok(old) => {
                let title = format!("Delete {}", file.shown);
                let change = FileChange {
                    file,
                    old: Some(old),
                    new: None,
                    to: None,
                    exact: None,
                };
                Ok(change::plan_changes(
                    title,
                    vec![change],
                    Wording::default(),
                ))
            }
            Err(why) => change::refuse("Delete", &file, why),
        }
    }
}

/// The text that would be lost.
async fn text_of(file: &FilePath, world: &World) -> Result<String, String> {
    let path = &file.shown;
    if file.real.is_dir() {
        return Err(format!("{path} is a folder; delete it with a command."));
    }
    match files::live(&world.documents, file, world.limits.edit_bytes).await? {
        None => Err(format!("There is no file {path}.")),
        Some(live) => Ok(live.text),
    }
}
