//! Replaces one piece of a file's text.

use super::{
    Tool,
    change::{self, Told, Wording},
};
use crate::apply::FileChange;
use crate::files;
use crate::plan::{Plan, World};
use crate::workspace::FilePath;
use engine::text::{self, Located, Pass};
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

pub struct EditFile;

/// Replace a piece of a file's text. Unsaved changes in the editor are kept.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Path of the file, relative to the project.
    path: String,
    /// The text to replace, exactly as it stands in the file, with enough around it to be unique.
    // Only an `insert_line` goes without it, which the model is not told of.
    #[schemars(required)]
    target_content: Option<String>,
    /// The text to put in its place.
    replacement_content: String,
    /// Replace every occurrence instead of exactly one.
    #[serde(default)]
    allow_multiple: bool,
    /// Puts the text behind this line instead, counted from 1; 0 is the top (spec 1.3).
    #[serde(default)]
    #[schemars(skip)]
    insert_line: Option<u32>,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const KIND: ToolKind = ToolKind::Edit;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let file = world.workspace.resolve(&input.path)?;
        match edited(file.clone(), input, &world).await {
            Ok(Edited { old, new, wording }) => {
                let title = format!("Edit {}", file.shown);
                Ok(change::plan_changes(
                    title,
                    vec![FileChange::text(file, Some(old), new)],
                    wording,
                ))
            }
            Err(why) => change::refuse("Edit", &file, why),
        }
    }
}

/// The file's text before and after.
struct Edited {
    old: String,
    new: String,
    wording: Wording,
}

async fn edited(file: FilePath, input: Input, world: &World) -> Result<Edited, String> {
    let (documents, limit) = (world.documents.clone(), world.limits.edit_bytes);
    // The disk may be slow, and looking for the most similar place in a large file takes a while.
    let edited = tokio::task::spawn_blocking(move || {
        let Some(live) = files::live_now(&documents, &file, limit)? else {
            return Err(format!(
                "There is no file {}; use write_file to make it.",
                file.shown
            ));
        };
        let Located { changes, fuzzy } = locate(&live.text, &input)?;
        let new = changes.apply(&live.text).map_err(|it| it.to_string())?;
        files::check_now(&file, &live, &new, limit)?;
        Ok(Edited {
            old: live.text,
            new,
            wording: Wording {
                told: Told::Sentences,
                note: fuzzy.map_or("", note).to_owned(),
                fuzzy: fuzzy.is_some(),
            },
        })
    });
    edited
        .await
        .map_err(|_| "The edit was broken off; try again.".to_owned())?
}

fn locate(text: &str, input: &Input) -> Result<Located, String> {
    let Input {
        target_content: target,
        replacement_content: replacement,
        allow_multiple,
        insert_line,
        path: _,
    } = input;
    let (target, located) = match (insert_line, target) {
        (Some(line), _) => ("", text::insert_line(text, *line as usize, replacement)),
        (None, Some(target)) => {
            let located = text::replace(text, target, replacement, *allow_multiple);
            (target.as_str(), located)
        }
        (None, None) => {
            return Err("Bad arguments for edit_file: missing field `target_content`.".to_owned());
        }
    };
    let is_odd = text::file::shown(text) != text;
    located.map_err(|it| match is_odd && target.contains(char::REPLACEMENT_CHARACTER) {
        true => format!(
            "{it}. The file has bytes that are not UTF-8 and are shown as U+FFFD; leave them out of target_content."
        ),
        false => format!("{it}."),
    })
}

/// What the model is told of a place that is not written quite as it wrote it.
fn note(pass: Pass) -> &'static str {
    match pass {
        Pass::TrailingBlanks => {
            " The lines were found by overlooking blanks at line ends; verify that the edit is as you meant it."
        }
        Pass::Indentation => {
            " The lines were found by overlooking indentation, and the new lines were given the file's; \
             verify that the edit is as you meant it."
        }
        Pass::Typography => {
            " The lines were found by overlooking indentation and typographic quotes, dashes and spaces; \
             verify that the edit is as you meant it."
        }
    }
}
