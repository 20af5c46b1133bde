//! Brings the changes of a checkout into the project: all of them or none.
//!
//! Each file is compared with the project as it is by then, its open documents included. What the project changed
//! meanwhile is kept where the lines are others; where they are the same, nothing is changed anywhere, and the changes
//! are kept as a patch. What is brought in is a change set like any other: behind a checkpoint, under the locks of
//! just its files, through open documents, and there for review.

use super::Checkout;
use super::changes::{Blob, Change, Changed, Kind};
use crate::apply::{self, Applied, Changes, Exact, FileChange};
use crate::documents::Snapshot;
use crate::event::Whose;
use crate::files::{self, Live, Source};
use crate::plan::World;
use crate::workspace::FilePath;
use engine::text::{self, FileText, Form};
use protocol::tool::Place;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// What became of the changes of a checkout.
#[derive(Clone, Debug, PartialEq)]
pub enum Landed {
    /// Nothing was changed in the checkout.
    Nothing,
    /// All of it is in the project; what is changed in the checkout from now on is new work.
    Done {
        /// The changes as they were made.
        files: Vec<FileChange>,
        /// Those that only the editor's buffers have, by their place in the list.
        unsaved: Vec<usize>,
        /// Lines for the model, each with its full stop.
        notes: Vec<String>,
    },
    /// Nothing of it is in the project.
    Cancelled,
}

impl Landed {
    /// For the model, after the subagent's own report.
    pub fn told(&self) -> String {
        match self {
            Self::Nothing => "The subagent changed no files.".to_owned(),
            Self::Cancelled => "Cancelled; nothing was brought into the project.".to_owned(),
            Self::Done {
                files,
                unsaved,
                notes,
            } => {
                let plural = if files.len() == 1 { "" } else { "s" };
                let mut lines = vec![match files.len() {
                    0 => "The project has the subagent's changes already.".to_owned(),
                    n => format!("The subagent's changes are in the project: {n} file{plural}."),
                }];
                lines.extend(files.iter().enumerate().map(|(at, it)| {
                    let name = &it.file.shown;
                    let line = match (&it.old, &it.new, &it.to) {
                        (_, _, Some(to)) => format!("R {name} -> {}", to.shown),
                        (Some(_), None, None) => format!("D {name}"),
                        (None, _, None) => format!("A {name}"),
                        (Some(_), Some(_), None) => format!("M {name}"),
                    };
                    match unsaved.contains(&at) {
                        true => format!(
                            "{line} (in the editor, not saved yet, so commands do not see it)"
                        ),
                        false => line,
                    }
                }));
                lines.extend(notes.iter().cloned());
                lines.join("\n")
            }
        }
    }
}

/// The changes as they would be made in the project.
#[derive(Debug, Default)]
struct Fitted {
    files: Vec<FileChange>,
    notes: Vec<String>,
}

/// The changes' texts are held in memory before anything is written; together at most so many times what one may have.
const MAX_WHOLE_FILES: u64 = 4;

impl Checkout {
    /// Brings what was changed since the last time into the project. `label` says in one line what is done.
    ///
    /// # Errors
    /// For the model: the project is as it was, the checkout too, and the text names the patch that has the changes.
    pub async fn land(
        &mut self,
        world: &World,
        label: &str,
        token: &CancellationToken,
    ) -> Result<Landed, String> {
        let lost = |why: String| {
            let tree = self.tree.display();
            format!(
                "The subagent's changes cannot be told: {why}. The project is as it was; they are in its checkout, {tree}."
            )
        };
        let changed = self.changes().await.map_err(lost)?;
        if changed.files.is_empty() {
            self.base.tree = changed.tree;
            return Ok(Landed::Nothing);
        }
        // One subagent after the other, or of many that end together some would find the project moved again and again.
        // Nothing else takes the project's folder.
        let _turn = tokio::select! {
            biased;
            () = token.cancelled() => return Ok(Landed::Cancelled),
            turn = world.locks.file(&self.project) => turn,
        };
        for _ in 0..world.limits.edit_rounds.max(1) {
            let Fitted { files, notes } = match self.fit(world, &changed).await {
                Ok(it) => it,
                Err(faults) => return Err(self.refused(&changed, &faults).await),
            };
            if files.is_empty() {
                self.base.tree = changed.tree;
                return Ok(Landed::Done {
                    files,
                    unsaved: Vec::new(),
                    notes,
                });
            }
            let changes = Changes {
                label: label.to_owned(),
                files,
                by: Whose::Agent(world.author.clone()),
            };
            match apply::apply_until(world, &changes, token).await {
                Ok(Applied::Done { unsaved, .. }) => {
                    self.base.tree = changed.tree;
                    return Ok(Landed::Done {
                        files: changes.files,
                        unsaved,
                        notes,
                    });
                }
                Ok(Applied::Cancelled) => return Ok(Landed::Cancelled),
                Ok(Applied::Moved) => {}
                Err(why) => return Err(self.refused(&changed, &[why]).await),
            }
        }
        let why = "the project's files changed again and again meanwhile".to_owned();
        Err(self.refused(&changed, &[why]).await)
    }

    /// Fits every change to the project as it is now. The error names all that do not fit, each without a full stop.
    async fn fit(&self, world: &World, changed: &Changed) -> Result<Fitted, Vec<String>> {
        let documents = world.editor.documents().await;
        let documents = documents.map_err(|_| vec!["the editor is gone".to_owned()])?;
        let limit = world.limits.edit_bytes;
        let mut room = limit.saturating_mul(MAX_WHOLE_FILES);
        let (mut fitted, mut faults) = (Fitted::default(), Vec::new());
        for change in &changed.files {
            let name = change.to.as_ref().unwrap_or(&change.path).display();
            let texts = match self.texts(change, limit).await {
                Ok(it) => it,
                Err(why) => {
                    faults.push(format!("{name} {why}"));
                    continue;
                }
            };
            let n_bytes = texts.n_bytes();
            if n_bytes > room {
                return Err(vec!["the files are too large together".to_owned()]);
            }
            room -= n_bytes;
            let n_bytes = usize::try_from(n_bytes).unwrap_or(usize::MAX);
            let one = files::compute(n_bytes, || {
                self.one(world, &documents, change, texts, &mut fitted.notes)
            });
            match one {
                Ok(it) => fitted.files.extend(it),
                Err(why) => faults.push(format!("{name} {}", why.trim_end_matches('.'))),
            }
        }
        match faults.is_empty() {
            true => Ok(fitted),
            false => Err(faults),
        }
    }

    async fn texts(&self, change: &Change, limit: u64) -> Result<Texts, String> {
        let read = async |blob: &Option<Blob>| match blob {
            None => Ok(None),
            Some(it) => {
                if it.kind == Kind::Link {
                    return Err("is a symbolic link, which cannot be brought over".to_owned());
                }
                let bytes = self.base.bytes(&it.id).await?;
                match bytes.len() as u64 <= limit {
                    true => Ok(Some(FileText::decode(bytes))),
                    false => Err(format!(
                        "is larger than {limit} bytes, the most that can be edited"
                    )),
                }
            }
        };
        Ok(Texts {
            base: read(&change.old).await?,
            theirs: read(&change.new).await?,
        })
    }

    /// One change as it would be made now; `None`: the project has it already. The error goes on where the file's
    /// name ends.
    fn one(
        &self,
        world: &World,
        documents: &Snapshot,
        change: &Change,
        texts: Texts,
        notes: &mut Vec<String>,
    ) -> Result<Option<FileChange>, String> {
        let file = place(world, self.project.join(&change.path))?;
        let to = match &change.to {
            Some(to) => Some(place(world, self.project.join(to))?),
            None => None,
        };
        let live = files::live_now(documents, &file, world.limits.edit_bytes)
            .map_err(|it| format!("cannot be changed: {it}"))?;
        if let Some(to) = &to {
            let is_there = documents.contains_key(&to.real) || to.real.symlink_metadata().is_ok();
            if is_there {
                return Err("was made in the project too meanwhile".to_owned());
            }
        }
        let is_program = |it: &Option<Blob>| it.as_ref().map(|it| it.kind == Kind::Program);
        let mode = match (is_program(&change.old), is_program(&change.new)) {
            (old, Some(new)) if old != Some(new) && (new || old.is_some()) => mode(&file, new),
            (_, _) => None,
        };
        let (live, base, theirs) = match (live, texts.base, texts.theirs) {
            (None, None, Some(theirs)) => {
                let exact = Exact {
                    form: theirs.form,
                    mode,
                };
                return Ok(Some(FileChange {
                    exact: Some(exact),
                    ..FileChange::text(file, None, theirs.text)
                }));
            }
            (Some(live), None, Some(theirs)) => match live.text == theirs.text {
                true => return Ok(None),
                false => return Err("was made in the project too, with another text".to_owned()),
            },
            (None, Some(_), None) | (_, None, None) => return Ok(None),
            (None, Some(_), Some(_)) => {
                return Err("was changed by the subagent and deleted in the project".to_owned());
            }
            (Some(live), Some(base), None) => match unmarked(&live) == base.text {
                true => {
                    return Ok(Some(FileChange {
                        file,
                        old: Some(live.text),
                        new: None,
                        to: None,
                        exact: None,
                    }));
                }
                false => {
                    return Err("was deleted by the subagent and changed in the project".to_owned());
                }
            },
            (Some(live), Some(base), Some(theirs)) => (live, base, theirs),
        };
        let merged = merged(&live, &base, &theirs)?;
        if merged == live.text && mode.is_none() && to.is_none() {
            return Ok(None);
        }
        let exact = match live.source {
            Source::Disk => Some(Exact {
                form: match theirs.form == base.form {
                    true => live.form,
                    false => theirs.form,
                },
                mode,
            }),
            // The editor writes it, in its own form.
            Source::Buffer { .. } => {
                if mode.is_some() {
                    notes.push(format!(
                        "{} is open in the editor, so whether it can be run was left as it is.",
                        file.shown
                    ));
                }
                None
            }
        };
        if merged == live.text && to.is_none() && exact.is_none() {
            return Ok(None);
        }
        Ok(Some(FileChange {
            file,
            old: Some(live.text),
            new: Some(merged),
            to,
            exact,
        }))
    }

    /// Why nothing was brought in, with the place of a patch that has it all.
    async fn refused(&self, changed: &Changed, faults: &[String]) -> String {
        const SHOWN: usize = 8;
        let mut text = format!(
            "The subagent's changes were not brought into the project, which is as it was:\n{}",
            faults[..faults.len().min(SHOWN)].join(".\n")
        );
        if let Some(n @ 1..) = faults.len().checked_sub(SHOWN) {
            text.push_str(&format!(".\n{n} more files do not fit"));
        }
        let kept = match self.save(changed).await {
            Ok(path) => format!("All of its changes are in the patch {}", path.display()),
            Err(why) => format!("A patch of them could not be kept ({why})"),
        };
        let text = text.trim_end_matches('.');
        let tree = self.tree.display();
        format!(
            "{text}.\n{kept}, and its files in {tree}. Look at both sides and make the changes that are still wanted."
        )
    }

    /// Writes all changes into a patch that `git apply` takes, for the owner only.
    async fn save(&self, changed: &Changed) -> Result<PathBuf, String> {
        let arguments = [
            "diff-tree",
            "-p",
            "-r",
            "-M",
            "--binary",
            "--full-index",
            "--no-ext-diff",
            "--no-textconv",
            &self.base.tree.id,
            &changed.tree.id,
        ];
        let making = self.base.run(&arguments, Vec::new());
        let late = |_| "git took too long".to_owned();
        let patch = tokio::time::timeout(self.patience, making);
        let patch = patch.await.map_err(late)??;
        let name = self.folder.file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let name = name.trim_start_matches(super::PREFIX);
        let start = &changed.tree.id[..12.min(changed.tree.id.len())];
        let path = self.patches.join(format!("{name}-{start}.patch"));
        keep(&path, &patch).map_err(|it| it.to_string())?;
        Ok(path)
    }
}

/// What a file holds on either side of its change.
struct Texts {
    base: Option<FileText>,
    theirs: Option<FileText>,
}

impl Texts {
    fn n_bytes(&self) -> u64 {
        let both = [&self.base, &self.theirs].into_iter().flatten();
        // Half, because a text and what becomes of it are one file.
        both.map(|it| it.text.len() as u64).sum::<u64>() / 2
    }
}

/// A file of the project, if it may be changed. The error goes on where its name ends.
fn place(world: &World, path: PathBuf) -> Result<FilePath, &'static str> {
    let file = world.workspace.classify(path);
    if !world.workspace.still(&file) {
        return Err("lies behind a symbolic link in the project");
    }
    match file.place {
        Place::Protected | Place::Memory => Err("is one of Undine's own settings or records"),
        Place::Project | Place::AddedDir | Place::Scratchpad | Place::External => Ok(file),
    }
}

/// What an editor shows, without the byte order mark that some keep in their text.
fn unmarked(live: &Live) -> &str {
    match live.source {
        Source::Buffer { .. } => live.text.strip_prefix(MARK).unwrap_or(&live.text),
        Source::Disk => &live.text,
    }
}

const MARK: char = '\u{feff}';

fn merged(live: &Live, base: &FileText, theirs: &FileText) -> Result<String, String> {
    let ours = unmarked(live);
    let is_text = [live.form, base.form, theirs.form]
        .into_iter()
        .all(|it| it != Form::Bytes)
        && [ours, &base.text, &theirs.text]
            .into_iter()
            .all(|it| !it.contains('\0'));
    let merged = match ours == base.text || ours == theirs.text || is_text {
        true => text::merge(&base.text, ours, &theirs.text).map_err(|it| {
            format!("does not fit: the subagent and the project, {it} of the project's file")
        })?,
        false => return Err("is no text, and was changed in the project too".to_owned()),
    };
    Ok(match live.text.len() == ours.len() {
        true => merged,
        false => format!("{MARK}{merged}"),
    })
}

/// The permissions of a file that becomes a program, or stops being one; `None`: those that it has.
fn mode(file: &FilePath, is_program: bool) -> Option<u32> {
    let Ok(meta) = fs::metadata(&file.real) else {
        return is_program.then_some(0o755);
    };
    let now = meta.permissions().mode() & 0o777;
    let mode = match is_program {
        // Who may read it may run it.
        true => now | (now & 0o444) >> 2,
        false => now & !0o111,
    };
    (mode != now).then_some(mode)
}

fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
