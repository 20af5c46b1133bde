//! The plan of changes to files, for every tool that makes some: what is shown, what an approval is bound to, and
//! what the model is told.

mod subset;

use crate::apply::{self, Applied, Changes, FileChange};
use crate::event::Whose;
use crate::files;
use crate::plan::{Done, Lines, Plan, Run, TextHash, text_hash};
use crate::workspace::FilePath;
use engine::redact::redact;
use engine::session::Preview;
use engine::text::{self, Hunk, Operation, file::shown};
use protocol::tool::Place;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use subset::Proposed;

/// What the model is told of changes that are made together.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Wording {
    pub told: Told,
    /// Ends what the model is told.
    pub note: String,
    /// Whether a place was found that is not written quite as the model wrote it.
    pub fuzzy: bool,
}

/// How the changes themselves are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Told {
    /// In a sentence each.
    #[default]
    Sentences,
    /// How many files, and a line for each: `A`, `M`, `R old -> new`, `D`, in this order (spec 2.3).
    List,
}

/// A file that a change would touch.
#[derive(Clone, Copy, Debug)]
pub(super) enum Touch<'a> {
    /// Only written.
    New(&'a FilePath),
    /// Read, and written or taken away.
    Old(&'a FilePath),
}

/// A change that cannot be made, and why.
pub(super) fn refuse(verb: &str, file: &FilePath, why: String) -> Result<Plan, String> {
    let title = format!("{verb} {}", file.shown);
    refuse_all(title, vec![Touch::Old(file)], why)
}

/// Changes that cannot be made, and why. What is wrong with them says something about the files' texts, so
/// outside the project the model is told only once the policy or the person has let it touch the files.
pub(super) fn refuse_all(
    title: String,
    files: Vec<Touch<'_>>,
    why: String,
) -> Result<Plan, String> {
    let mut plan = Plan::build(title);
    let mut may_tell = true;
    for touch in files {
        let (Touch::New(file) | Touch::Old(file)) = touch;
        may_tell &= match file.place {
            Place::Project | Place::AddedDir | Place::Scratchpad => true,
            Place::Protected | Place::Memory | Place::External => false,
        };
        if let Touch::Old(file) = touch {
            plan = plan.reads(file);
        }
        plan = plan.writes(file);
    }
    match may_tell {
        true => Err(why),
        false => Ok(plan.then(async move |_| Err(why))),
    }
}

/// The plan of changes that are made together.
pub(super) fn plan_changes(title: String, files: Vec<FileChange>, wording: Wording) -> Plan {
    let files = Arc::new(files);
    // Also the label in the editor's list of undos, and the title in what we keep.
    let title = redact(&title).into_owned();
    let mut plan = Plan::build(title.clone());
    let (mut hashes, mut proposed) = (Vec::with_capacity(files.len()), Proposed::default());
    for it in files.iter() {
        let old = it.old.as_deref().unwrap_or_default();
        let new = it.new.as_deref().unwrap_or_default();
        files::compute(old.len() + new.len(), || {
            let hunks = text::hunks(old, new);
            hashes.push(shown_hash(it, &hunks));
            proposed.add(it, hunks);
        });
        plan = plan.writes(&it.file);
        if let Some(to) = &it.to {
            plan = plan.writes(to);
        }
        let at = it.to.as_ref().unwrap_or(&it.file);
        plan = plan.preview(preview(at, it.old.as_deref(), new));
    }
    let edited = files.clone();
    plan.shown(hashes.join(" "))
        .edits(move || apply::edited(&edited))
        .hunks(proposed.hunks())
        .then(move |run| run_changes(title, files, wording, run))
}

fn shown_hash(change: &FileChange, hunks: &[Hunk]) -> String {
    let operation = match (&change.old, &change.new, &change.to) {
        (_, _, Some(to)) => Operation::Rename { to: &to.real },
        (None, _, None) => Operation::Create,
        (Some(_), None, None) => Operation::Delete,
        (Some(_), Some(_), None) => Operation::Modify,
    };
    text::shown_hash(&change.file.real, operation, hunks)
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
        let end = if text.ends_with('\n') { "" } else { "\n" };
        text.push_str(&format!("{end}[the diff goes on]"));
    }
    text
}

async fn run_changes(
    label: String,
    files: Arc<Vec<FileChange>>,
    wording: Wording,
    run: Run,
) -> Result<Done, String> {
    // Nobody else has them, but for who was just asking what they are.
    let files = Arc::unwrap_or_clone(files);
    let (files, refused) = match &run.accepted {
        Some(accepted) => subset::accepted(files, accepted),
        None => (files, String::new()),
    };
    let by = Whose::Agent(run.world.author.clone());
    let changes = Changes { label, files, by };
    let comparing = async {
        // The change has begun by then and waits for the disk.
        tokio::task::yield_now().await;
        diffs(&changes.files)
    };
    let applying = apply::apply_until(&run.world, &changes, &run.token);
    let (applied, (counts, diffs)) = tokio::join!(applying, comparing);
    let applied = applied?;
    let (unsaved, in_place) = match applied {
        Applied::Cancelled => return Ok(Done::Cancelled),
        Applied::Moved => return Ok(Done::Moved),
        Applied::Done { unsaved, in_place } => (unsaved, in_place),
    };
    let is_unsaved = |index: usize| unsaved.contains(&index);
    let all = changes.files.iter().zip(&counts).enumerate();
    let mut text = match wording.told {
        Told::Sentences => {
            let lines = all.map(|(at, (change, counts))| sentence(change, counts, is_unsaved(at)));
            lines.collect::<Vec<_>>().join("\n")
        }
        Told::List => list(all.map(|(at, (change, counts))| (change, counts, is_unsaved(at)))),
    };
    text.push_str(&wording.note);
    text.push_str(&refused);
    for index in in_place {
        let name = &changes.files[index].file.shown;
        text.push_str(&format!(
            "\n{name} was written in place and not replaced, because it has several names or belongs to someone else."
        ));
    }
    let saw = changes.files.iter().filter_map(known).collect();
    let sum = |of: fn(&Counts) -> usize| counts.iter().map(|it| of(it) as u64).sum();
    let lines = Lines {
        added: sum(|it| it.added),
        removed: sum(|it| it.removed),
    };
    Ok(Done::Success {
        text,
        shown: Some(diffs).filter(|it| !it.is_empty()),
        exit_code: None,
        saw,
        fuzzy: wording.fuzzy,
        images: Vec::new(),
        lines,
    })
}

/// Lines of a file that came and went.
struct Counts {
    added: usize,
    removed: usize,
}

/// The diffs of all files, one below the other and bounded together; the counts are of all lines.
fn diffs(files: &[FileChange]) -> (Vec<Counts>, String) {
    let mut all = text::Unified {
        text: String::new(),
        added: 0,
        removed: 0,
        truncated: false,
    };
    let mut room = text::DISPLAY_CAP;
    let mut counts = Vec::with_capacity(files.len());
    for change in files {
        let diff = diff(change, room);
        counts.push(Counts {
            added: diff.added,
            removed: diff.removed,
        });
        room -= diff.text.lines().count().min(room);
        if !all.truncated && all.text.len() <= MAX_DIFF_BYTES {
            all.text.push_str(&diff.text);
        }
        all.truncated |= diff.truncated;
    }
    (counts, shortened(all))
}

fn diff(change: &FileChange, max_lines: usize) -> text::Unified {
    let old = change.old.as_deref().unwrap_or_default();
    let new = change.new.as_deref().unwrap_or_default();
    let name = &change.file.shown;
    let new_name = change.to.as_ref().map_or(name, |it| &it.shown);
    files::compute(old.len() + new.len(), || {
        text::unified(&shown(old), &shown(new), name, new_name, 3, max_lines)
    })
}

/// What the model is told of several files.
fn list<'a>(files: impl Iterator<Item = (&'a FileChange, &'a Counts, bool)>) -> String {
    let (mut n_files, mut added, mut removed) = (0, 0, 0);
    let mut lines = Vec::new();
    for (change, counts, is_unsaved) in files {
        n_files += 1;
        added += counts.added;
        removed += counts.removed;
        let name = &change.file.shown;
        let (order, line) = match (&change.old, &change.new, &change.to) {
            (Some(_), None, _) => (3, format!("D {name}")),
            (_, _, Some(to)) => (2, format!("R {name} -> {}", to.shown)),
            (None, _, None) => (0, format!("A {name}")),
            (Some(_), Some(_), None) => (1, format!("M {name}")),
        };
        let unsaved = match is_unsaved {
            true => " (in the editor, not saved yet, so commands do not see it)",
            false => "",
        };
        lines.push((order, format!("\n{line}{unsaved}")));
    }
    // A stable sort, so that within each kind the patch's order stays.
    lines.sort_by_key(|(order, _)| *order);
    let plural = if n_files == 1 { "" } else { "s" };
    let lines: String = lines.into_iter().map(|(_, line)| line).collect();
    format!("{n_files} file{plural} changed (+{added} -{removed} lines).{lines}")
}

/// What the model is told of one file.
fn sentence(change: &FileChange, counts: &Counts, unsaved: bool) -> String {
    let name = &change.file.shown;
    let counts = format!("+{} -{}", counts.added, counts.removed);
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
