//! Takes back what was done, and says what could not be.

use super::Changes;
use super::disk::{self, OnDisk};
use super::editor::{self, InEditor};
use crate::plan::World;
use crate::store::journal::Journals;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

/// Takes changes of open files back: in the editor, or on the disk where the editor has the file no more.
/// Answers what could not be, a line a file.
pub async fn editor(world: &World, changes: &Changes, done: &[&InEditor]) -> Vec<String> {
    if done.is_empty() {
        return Vec::new();
    }
    let label = format!("Take back: {}", changes.label);
    let left = match editor::take_back(world, done, &label, &changes.by).await {
        Ok(left) => left,
        Err(_) => done.to_vec(),
    };
    let mut lines = Vec::new();
    for change in left {
        let back = match (&change.new, &change.to) {
            (Some(_), None) => Err("the editor did not take it back".to_owned()),
            (Some(_), Some(_)) | (None, _) => on_disk(world, change).await,
        };
        if let Err(why) = back {
            let state = match (&change.new, &change.to) {
                (None, _) => "is deleted",
                (Some(_), Some(_)) => "is moved",
                (Some(_), None) => "has its new text in the editor",
            };
            let shown = &change.file.shown;
            lines.push(format!("{shown} {state} and could not be put back ({why})"));
        }
    }
    lines
}

/// Makes a deleted file again, with its mode, or moves a file back.
async fn on_disk(world: &World, change: &InEditor) -> Result<(), String> {
    let encoded = |it: &String| change.form.encode(it);
    let plan = OnDisk {
        index: change.index,
        file: change.at().clone(),
        to: change.to.as_ref().map(|_| change.file.clone()),
        old: change.new.as_ref().map(|new| match *new == change.old {
            true => change.kept.clone(),
            false => encoded(new),
        }),
        // Not the editor's text, which may be in another encoding.
        new: Some(change.kept.clone()),
        mode: change.mode,
    };
    let (workspace, limit) = (world.workspace.clone(), world.limits.edit_bytes);
    let done = spawn_blocking(move || {
        let staged = disk::stage(vec![plan], &Journals::new_id(), &workspace)?;
        let token = CancellationToken::new();
        match staged.place(limit, &token) {
            Ok(placed) => {
                placed.sync();
                Ok(())
            }
            Err(_) => Err("it was changed by another program".to_owned()),
        }
    });
    done.await
        .unwrap_or_else(|_| Err("it was broken off".to_owned()))
}

/// What is told when something is left of a change that failed because of `why`.
pub fn told(why: &str, left: &[String]) -> Option<String> {
    let left: Vec<String> = left.iter().map(|it| format!("\n- {it}")).collect();
    (!left.is_empty()).then(|| {
        format!(
            "{why}, and not everything that was done by then could be taken back. Look at these files before you \
             go on:{}",
            left.concat()
        )
    })
}
