//! Changes several files by one patch: all of them or none (spec 2).

use super::{
    Tool,
    change::{self, Told, Touch, Wording},
};
use crate::apply::FileChange;
use crate::files;
use crate::plan::{Plan, World};
use crate::workspace::FilePath;
use engine::text::file::shown;
use engine::text::patch::{self, FileKind, FilePatch};
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashSet;

pub struct ApplyPatch;

/// Change several places or several files in one step: all of it is done or none. Send this form:
///
/// *** Begin Patch
/// *** Update File: src/a.txt
/// @@ a line above the place, where the lines alone are not unique
///  a line that stays
/// -a line that goes
/// +a line that comes
/// *** Add File: src/new.txt
/// +each of its lines
/// *** Delete File: old.txt
/// *** End Patch
///
/// A line `*** Move to: new/path` right below an Update line moves the file. Give three lines of context around a
/// change, exactly as they stand in the file. A unified diff, as git diff prints it, is taken too.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The patch. Paths in it are relative to the project.
    // Some models were trained with the other name.
    #[serde(alias = "input")]
    patch: String,
}

impl Tool for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const KIND: ToolKind = ToolKind::Edit;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let parsed = files::compute(input.patch.len(), || patch::parse(&input.patch));
        let patch = parsed.map_err(|it| format!("{it}. Nothing was changed."))?;
        let sections = resolved(patch.files, &world)?;
        let title = title(&sections);
        match planned(&sections, &world).await {
            Ok(Changed { files, wording }) => Ok(change::plan_changes(title, files, wording)),
            Err(why) => {
                let touched = sections.iter().flat_map(Section::touched).collect();
                change::refuse_all(title, touched, why)
            }
        }
    }
}

/// One file of a patch, with the files that its paths mean.
struct Section {
    patch: FilePatch,
    file: FilePath,
    to: Option<FilePath>,
}

impl Section {
    /// Where the file is afterwards, or was.
    fn at(&self) -> &FilePath {
        self.to.as_ref().unwrap_or(&self.file)
    }

    fn touched(&self) -> impl Iterator<Item = Touch<'_>> {
        let file = match self.patch.kind {
            FileKind::Create => Touch::New(&self.file),
            FileKind::Update | FileKind::Delete => Touch::Old(&self.file),
        };
        [file].into_iter().chain(self.to.as_ref().map(Touch::New))
    }
}

/// Resolves every path. Two that mean one file are refused, as one that is written twice is.
fn resolved(files: Vec<FilePatch>, world: &World) -> Result<Vec<Section>, String> {
    let mut named = HashSet::new();
    let mut sections = Vec::with_capacity(files.len());
    for patch in files {
        let file = world.workspace.resolve(&patch.path)?;
        let to = patch
            .new_path
            .as_deref()
            .map(|it| world.workspace.resolve(it));
        let section = Section {
            to: to.transpose()?,
            patch,
            file,
        };
        for file in [&section.file].into_iter().chain(&section.to) {
            if !named.insert(file.real.clone()) {
                return Err(format!(
                    "Two paths of the patch mean the same file, {}; name each file once, with all its changes. \
                     Nothing was changed.",
                    file.shown
                ));
            }
        }
        sections.push(section);
    }
    Ok(sections)
}

fn title(sections: &[Section]) -> String {
    let first = sections.first().map_or("", |it| it.at().shown.as_str());
    match sections.len() {
        0 | 1 => format!("Patch {first}"),
        n => format!("Patch {first} and {} more", n - 1),
    }
}

/// What the whole patch does.
struct Changed {
    files: Vec<FileChange>,
    wording: Wording,
}

/// The patch's files are held in memory before anything is written; together at most so many times what one
/// may have.
const MAX_WHOLE_FILES: u64 = 4;

/// Every file's change, or what is wrong with all those that cannot be made.
async fn planned(sections: &[Section], world: &World) -> Result<Changed, String> {
    let limit = world.limits.edit_bytes;
    let mut room = limit.saturating_mul(MAX_WHOLE_FILES);
    let (mut files, mut notes, mut faults) = (Vec::new(), String::new(), Vec::new());
    for section in sections {
        match one(section, world).await {
            Ok((change, note)) => {
                room = room
                    .checked_sub(size(&change))
                    .ok_or("The files of the patch are too large together; send it in several parts. Nothing was changed.")?;
                for line in note.lines() {
                    notes.push_str(&format!("\n{}: {line}", section.file.shown));
                }
                files.push(change);
            }
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(refusal(&faults, sections.len()));
    }
    let fuzzy = !notes.is_empty();
    Ok(Changed {
        files,
        wording: Wording {
            told: Told::List,
            note: notes,
            fuzzy,
        },
    })
}

fn size(change: &FileChange) -> u64 {
    let texts = [&change.old, &change.new];
    let bytes: usize = texts.into_iter().flatten().map(String::len).sum();
    // Half, because a text and what becomes of it are one file.
    bytes as u64 / 2
}

/// What the model is told when the patch does not go in: the first few faults in full, and that the rest of the
/// patch was held back too.
fn refusal(faults: &[String], n_files: usize) -> String {
    const SHOWN: usize = 4;
    let mut text = faults[..faults.len().min(SHOWN)].join("\n\n");
    if faults.len() > SHOWN {
        text.push_str(&format!(
            "\n\n{} more files of the patch have faults",
            faults.len() - SHOWN
        ));
    }
    match n_files {
        1 => text.push_str(". The patch was not applied."),
        _ => text.push_str(&format!(
            ". The patch is for {n_files} files and goes into all or none, so none of them was changed; put right \
             what is wrong here and send the whole patch again."
        )),
    }
    text
}

/// One file's change, and what the model should look at again. An error ends without a full stop.
async fn one(section: &Section, world: &World) -> Result<(FileChange, String), String> {
    let Section { patch, file, to } = section;
    let limit = world.limits.edit_bytes;
    if let Some(to) = to {
        free(to, world, "Move to").await?;
    }
    match patch.kind {
        FileKind::Create => {
            free(file, world, "Add File").await?;
            let new = patch.content();
            return Ok((FileChange::text(file.clone(), None, new), String::new()));
        }
        // A link's own text is elsewhere; taking the link away, or that file, may both be meant.
        FileKind::Delete => not_a_link(&patch.path, file, world)?,
        FileKind::Update if to.is_some() => not_a_link(&patch.path, file, world)?,
        FileKind::Update => {}
    }
    if file.real.is_dir() {
        return Err(format!("{} is a folder; a patch is for files", file.shown));
    }
    let live = files::live(&world.documents, file, limit).await;
    let Some(live) = live.map_err(without_stop)? else {
        return Err(format!(
            "There is no file {}; use `*** Add File:` to make it",
            file.shown
        ));
    };
    // Looking for a place in a large file takes a while.
    let patch = patch.clone();
    let placed = tokio::task::spawn_blocking(move || {
        let placed = patch::place(&patch, &live.text).map_err(|it| {
            let is_odd = shown(&live.text) != live.text;
            match is_odd && it.to_string().contains(char::REPLACEMENT_CHARACTER) {
                true => format!(
                    "{it}. The file has bytes that are not UTF-8 and are shown as U+FFFD; leave their lines out of \
                     the patch"
                ),
                false => it.to_string(),
            }
        })?;
        let new = placed.changes.apply(&live.text);
        let new = new.map_err(|it| it.to_string())?;
        Ok::<_, String>((live, new, placed.note(), patch.kind))
    });
    let (live, new, note, kind) = placed
        .await
        .map_err(|_| "Reading the patch was broken off; send it again".to_owned())??;
    let new = match kind {
        FileKind::Delete => None,
        FileKind::Create | FileKind::Update => {
            let checked = files::check(file, &live, &new, limit).await;
            checked.map_err(without_stop)?;
            Some(new)
        }
    };
    let change = FileChange {
        file: file.clone(),
        old: Some(live.text),
        new,
        to: to.clone(),
        exact: None,
    };
    Ok((change, note))
}

/// Nothing may be where a file is put.
async fn free(file: &FilePath, world: &World, what: &str) -> Result<(), String> {
    let is_there = match world.documents.contains_key(&file.real) {
        true => true,
        false => {
            let real = file.real.clone();
            let looked = tokio::task::spawn_blocking(move || real.symlink_metadata().is_ok());
            looked.await.unwrap_or(true)
        }
    };
    match is_there {
        false => Ok(()),
        true => Err(format!(
            "`*** {what}: {shown}`, but {shown} is there already; update it, or choose another path",
            shown = file.shown
        )),
    }
}

fn not_a_link(path: &str, file: &FilePath, world: &World) -> Result<(), String> {
    match world.workspace.root().join(path).is_symlink() {
        false => Ok(()),
        true => Err(format!(
            "{path} is a link to {}; delete or move the link with a command",
            file.shown
        )),
    }
}

/// Faults are joined to one text, which has its own end.
fn without_stop(text: String) -> String {
    text.strip_suffix('.').map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::text::patch::LineKind;

    /// The example's marks and blanks count, so it must reach the model as it stands here.
    #[test]
    fn the_example_that_the_model_is_given_is_a_patch() {
        let kinds = engine::agents::Kinds::default();
        let offered = crate::tools::Offered::Session(&kinds);
        let spec = crate::tools::specs(offered, &protocol::config::Config::default());
        let spec = spec.into_iter().find(|it| it.name == ApplyPatch::NAME);
        let description = spec.unwrap().description;
        let patch = patch::parse(&description).unwrap_or_else(|it| panic!("{it}: {description}"));
        let files = patch.files.iter().map(|it| (it.path.as_str(), it.kind));
        assert_eq!(
            files.collect::<Vec<_>>(),
            [
                ("src/a.txt", FileKind::Update),
                ("src/new.txt", FileKind::Create),
                ("old.txt", FileKind::Delete),
            ]
        );
        let lines = patch.files[0].hunks[0].lines.iter();
        let lines: Vec<_> = lines.map(|it| (it.kind, it.text.as_str())).collect();
        assert_eq!(
            lines,
            [
                (LineKind::Context, "a line that stays"),
                (LineKind::Old, "a line that goes"),
                (LineKind::New, "a line that comes"),
            ]
        );
        assert!(!patch.files[0].hunks[0].has_bare_context);
    }
}
