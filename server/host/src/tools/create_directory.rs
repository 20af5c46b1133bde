//! Makes a folder (spec 1.4).

use super::{Tool, change};
use crate::folder::Folder;
use crate::plan::{Done, Plan, Run, World};
use crate::workspace::FilePath;
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::io;

pub struct CreateDirectory;

/// Make a folder, with the folders above it that are missing.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Path of the folder, relative to the project.
    path: String,
}

impl Tool for CreateDirectory {
    const NAME: &'static str = "create_directory";
    const KIND: ToolKind = ToolKind::Edit;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let folder = world.workspace.resolve(&input.path)?;
        if folder.real.is_file() {
            let why = format!("{} is a file; choose another path.", folder.shown);
            return change::refuse("Create", &folder, why);
        }
        Ok(Plan::build(format!("Create folder {}", folder.shown))
            .writes(&folder)
            .then(async move |run: Run| {
                tokio::select! {
                    biased;
                    done = create(&folder, &run.world) => done,
                    () = run.token.cancelled() => Ok(Done::Cancelled),
                }
            }))
    }
}

async fn create(folder: &FilePath, world: &World) -> Result<Done, String> {
    let turn = world.locks.file(&folder.real).await;
    if !world.workspace.still(folder) {
        return Ok(Done::Moved);
    }
    let path = folder.real.clone();
    let made = tokio::task::spawn_blocking(move || {
        // Beneath handles, so that a link that is put on the way leads nowhere else.
        let made = Folder::make(&path).map(|(_, made)| made);
        drop(turn);
        made
    });
    let shown = &folder.shown;
    match made.await {
        Ok(Ok(made)) if made.is_empty() => {
            Ok(Done::text(format!("The folder {shown} exists already.")))
        }
        Ok(Ok(_)) => Ok(Done::text(format!("Created the folder {shown}."))),
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotADirectory => Err(format!(
            "{shown} is not a folder, but there is something else; choose another path."
        )),
        Ok(Err(error)) => Err(format!("The folder {shown} cannot be made ({error}).")),
        Err(_) => Err("Making the folder was broken off; look before you go on.".to_owned()),
    }
}
