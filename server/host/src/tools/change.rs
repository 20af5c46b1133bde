//! The plan of changes to files, for every tool that makes some: what is shown, what an approval is bound to, and
//! what the model is told.

use crate::apply::{self, Applied, Changes, FileChange};
use crate::event::Whose;
use crate::files;
use crate::plan::{Done, Plan, Run, TextHash, text_hash};
use crate::workspace::FilePath;
use engine::session::Preview;
use engine::text::{self, Operation, file::shown};
use protocol::tool::Place;
use std::borrow::Cow;
use std::path::PathBuf;

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

/// The plan of changes that are made together. `note` ends what the model is told of them.
pub(super) fn plan_changes(title: String, files: Vec<FileChange>, note: &'static str) -> Plan {
    let hash: Vec<String> = files.iter().map(shown_hash).collect();
    let mut plan = Plan::build(title.clone()).shown(hash.join(" "));
    for it in &files {
        plan = plan.writes(&it.file);
        let (old, new) = (it.old.as_deref(), it.new.as_deref());
        plan = match &it.to {
            Some(to) => plan
                .writes(to)
                .touches(&it.file, old, None)
                .touches(to, None, new),
            None => plan.touches(&it.file, old, new),
        };
        let new = it.new.as_deref().unwrap_or_default();
        let at = it.to.as_ref().unwrap_or(&it.file);
        plan = plan.preview(preview(at, it.old.as_deref(), new));
    }
    let label = format!("Undine: {title}");
    plan.then(move |run| run_changes(label, files, note, run))
}

fn shown_hash(change: &FileChange) -> String {
    let operation = match (&change.old, &change.new, &change.to) {
        (_, _, Some(to)) => Operation::Rename { to: &to.real },
        (None, _, None) => Operation::Create,
        (Some(_), None, None) => Operation::Delete,
        (Some(_), Some(_), None) => Operation::Modify,
    };
    let old = change.old.as_deref().unwrap_or_default();
    let new = change.new.as_deref().unwrap_or_default();
    files::compute(old.len() + new.len(), || {
        text::shown_hash(&change.file.real, operation, &text::hunks(old, new))
    })
}

/// The most bytes of a file in a diff that is shown whole, and of one that is not (protocol.md).
const MAX_DIFF_BYTES: usize = 256 << 10;

/// Made here and not when it is shown: a large text is not compared in the loop.
pub(crate) fn preview(file: &FilePath, old: Option<&str>, new: &str) -> Preview {
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

async fn run_changes(
    label: String,
    files: Vec<FileChange>,
    note: &str,
    run: Run,
) -> Result<Done, String> {
    let by = Whose::Agent(run.world.author.clone());
    let changes = Changes { label, files, by };
    let applied = tokio::select! {
        biased;
        applied = apply::apply(&run.world, &changes) => applied?,
        () = run.token.cancelled() => return Ok(Done::Cancelled),
    };
    let unsaved = match applied {
        Applied::Moved => return Ok(Done::Moved),
        Applied::Done { unsaved } => unsaved,
    };
    let mut lines = Vec::new();
    let mut diffs = String::new();
    for (index, change) in changes.files.iter().enumerate() {
        let diff = diff(change);
        lines.push(told(change, &diff, unsaved.contains(&index)));
        let text = shortened(diff);
        if !text.is_empty() && !diffs.is_empty() && !diffs.ends_with('\n') {
            diffs.push('\n');
        }
        diffs.push_str(&text);
    }
    let mut text = lines.join("\n");
    text.push_str(note);
    let saw = changes.files.iter().filter_map(known).collect();
    Ok(Done::Success {
        text,
        shown: Some(diffs).filter(|it| !it.is_empty()),
        exit_code: None,
        saw,
    })
}

fn diff(change: &FileChange) -> text::Unified {
    let old = change.old.as_deref().unwrap_or_default();
    let new = change.new.as_deref().unwrap_or_default();
    let name = &change.file.shown;
    let new_name = change.to.as_ref().map_or(name, |it| &it.shown);
    files::compute(old.len() + new.len(), || {
        text::unified(
            &shown(old),
            &shown(new),
            name,
            new_name,
            3,
            text::DISPLAY_CAP,
        )
    })
}

/// What the model is told of one file.
fn told(change: &FileChange, diff: &text::Unified, unsaved: bool) -> String {
    let name = &change.file.shown;
    let counts = format!("+{} -{}", diff.added, diff.removed);
    let (what, name) = match (&change.old, &change.new, &change.to) {
        (Some(old), None, _) => {
            return format!("Deleted {name} ({} lines).", old.lines().count());
        }
        (_, _, Some(to)) => ("Moved", format!("{name} to {}", to.shown)),
        (None, _, None) => ("Created", name.clone()),
        (Some(_), Some(_), None) => ("Changed", name.clone()),
    };
    match unsaved {
        false => format!("{what} {name} ({counts} lines)."),
        true => format!(
            "{what} {name} ({counts} lines) in the editor. It is not saved yet, so commands do not see it."
        ),
    }
}

/// The file whose text the model knows now.
fn known(change: &FileChange) -> Option<(PathBuf, TextHash)> {
    let at = change.to.as_ref().unwrap_or(&change.file);
    Some((at.real.clone(), text_hash(change.new.as_ref()?)))
}
