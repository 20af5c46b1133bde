//! Deletes a file (spec 1.4).

use super::{Tool, change};
use crate::files::{self, Live, Source};
use crate::plan::{Done, Plan, Run, World};
use crate::workspace::FilePath;
use engine::text::{self, Operation};
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fs;

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
            Ok(old) => Ok(plan(file, old)),
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
        Some(Live {
            source: Source::Buffer { .. },
            ..
        }) => Err(format!(
            "{path} is open in the editor, so it is left alone; ask the person to close it, then try again."
        )),
        Some(Live { text, .. }) => Ok(text),
    }
}

fn plan(file: FilePath, old: String) -> Plan {
    let hash = files::compute(old.len(), || {
        text::shown_hash(&file.real, Operation::Delete, &text::hunks(&old, ""))
    });
    Plan::build(format!("Delete {}", file.shown))
        .writes(&file)
        .touches(&file, Some(&old), None)
        .preview(change::preview(&file, Some(&old), ""))
        .shown(hash)
        .then(async move |run: Run| {
            tokio::select! {
                biased;
                done = delete(&file, &old, &run.world) => done,
                () = run.token.cancelled() => Ok(Done::Cancelled),
            }
        })
}

async fn delete(file: &FilePath, old: &str, world: &World) -> Result<Done, String> {
    let turn = world.locks.file(&file.real).await;
    let documents = world.editor.documents().await;
    let documents = documents.map_err(|_| "The editor is gone; nothing was done.".to_owned())?;
    if !world.workspace.still(file) || documents.contains_key(&file.real) {
        return Ok(Done::Moved);
    }
    match files::live(&documents, file, world.limits.edit_bytes).await? {
        Some(live) if live.text == old => {}
        Some(_) | None => return Ok(Done::Moved),
    }
    let path = file.real.clone();
    let removed = tokio::task::spawn_blocking(move || {
        let removed = fs::remove_file(path);
        drop(turn);
        removed
    });
    match removed.await {
        Ok(Ok(())) => Ok(Done::text(format!(
            "Deleted {} ({} lines).",
            file.shown,
            old.lines().count()
        ))),
        Ok(Err(error)) => Err(format!("{} cannot be deleted ({error}).", file.shown)),
        Err(_) => Err("Deleting was broken off; look before you go on.".to_owned()),
    }
}
