//! Whether changes may be made as they were planned: every file is looked at before any is touched.

use super::disk::OnDisk;
use super::editor::{self, InEditor};
use super::{Changes, Exact, FileChange};
use crate::documents::Snapshot;
use crate::files::{self, Live, Source};
use crate::plan::{World, text_hash};
use crate::regular;
use crate::store::checkpoints::Before;
use crate::workspace::FilePath;
use engine::text::{FileText, Form};
use protocol::record::EditedFile;
use protocol::tool::Place;
use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt;

/// Changes, by the way that each is made.
#[derive(Debug, Default)]
pub struct Checked {
    pub editor: Vec<InEditor>,
    pub disk: Vec<OnDisk>,
    /// Every file as it is, for a checkpoint.
    pub before: Vec<Before>,
    /// How each one lies on the disk, in the order of the changes; `None`: it is not there.
    pub was: Vec<Option<Was>>,
}

/// A file on the disk before it is changed.
#[derive(Clone, Debug)]
pub struct Was {
    pub exact: Exact,
    /// What the disk holds, where an editor may show it otherwise.
    pub disk: Option<String>,
}

/// Looks at every file; `None` when one is not what its change was planned on. The error is for the model. Waits
/// for the disk.
pub fn check(
    world: &World,
    documents: &Snapshot,
    changes: &Changes,
) -> Result<Option<Checked>, String> {
    let mut named = HashSet::new();
    for path in changes.files.iter().flat_map(paths) {
        if !named.insert(&path.real) {
            return Err(format!(
                "{} is named twice in one change; nothing was changed.",
                path.shown
            ));
        }
    }
    for path in changes.files.iter().flat_map(paths) {
        let mut folders = path.real.ancestors().skip(1);
        if let Some(folder) = folders.find(|it| named.contains(&it.to_path_buf())) {
            return Err(format!(
                "{} lies in {}, which the same change takes for a file; nothing was changed. Do one after the other.",
                path.shown,
                world.workspace.classify(folder.to_path_buf()).shown
            ));
        }
    }
    let mut checked = Checked::default();
    for (index, change) in changes.files.iter().enumerate() {
        let stands = paths(change).all(|it| world.workspace.still(it));
        let is_free = change.to.as_ref().is_none_or(|it| free(documents, it));
        if !stands || !is_free || !checked.add(world, documents, index, change)? {
            return Ok(None);
        }
    }
    Ok(Some(checked))
}

/// A change's files: where it is, and where it moves to.
pub fn paths(change: &FileChange) -> impl Iterator<Item = &FilePath> {
    std::iter::once(&change.file).chain(&change.to)
}

/// What the log, the journal and the queue of approvals say of changes, file by file.
pub fn edited(changes: &[FileChange]) -> Vec<EditedFile> {
    let hash = |it: &Option<String>| it.as_deref().map(|it| hex(&text_hash(it)));
    let mut files = Vec::new();
    for change in changes {
        let (before, after) = (hash(&change.old), hash(&change.new));
        let path = change.file.real.clone();
        match &change.to {
            None => files.push(EditedFile {
                path,
                before,
                after,
            }),
            Some(to) => files.extend([
                EditedFile {
                    path,
                    before,
                    after: None,
                },
                EditedFile {
                    path: to.real.clone(),
                    before: None,
                    after,
                },
            ]),
        }
    }
    files
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Whether nothing is at a path, in the editor or on the disk.
fn free(documents: &Snapshot, file: &FilePath) -> bool {
    !documents.contains_key(&file.real) && file.real.symlink_metadata().is_err()
}

impl Checked {
    /// Answers whether the file is what the change was planned on.
    fn add(
        &mut self,
        world: &World,
        documents: &Snapshot,
        index: usize,
        change: &FileChange,
    ) -> Result<bool, String> {
        let limit = world.limits.edit_bytes;
        let live = files::live_now(documents, &change.file, limit)?;
        if live.as_ref().map(|it| it.text.as_str()) != change.old.as_deref() {
            return Ok(false);
        }
        // Through an editor it goes as a text, whatever form is asked for.
        let is_text = |it: &Live| change.exact.is_none() || it.source != Source::Disk;
        if let (Some(live), Some(new)) = (&live, &change.new)
            && is_text(live)
        {
            files::check_now(&change.file, live, new, limit)?;
        }
        match live {
            Some(Live {
                text,
                source: Source::Buffer { uri, version },
                ..
            }) => {
                let bytes = regular::read_capped(&change.file.real, limit)
                    .ok()
                    .flatten();
                // Which form it has does not depend on who reads it.
                let disk = bytes.clone().map(FileText::decode);
                let form = disk.as_ref().map_or_else(Form::default, |it| it.form);
                self.was.push(disk.map(|it| Was {
                    exact: exact(&change.file, form),
                    disk: Some(it.text),
                }));
                let clean = bytes
                    .as_ref()
                    .is_some_and(|it| editor::is_clean(it.clone(), &text));
                // An editor may show a clean file in another encoding than its own.
                let kept = bytes
                    .filter(|_| clean)
                    .unwrap_or_else(|| form.encode(&text));
                self.keep(world, &change.file, Some(kept.clone()));
                self.editor.push(editor::planned(
                    world,
                    index,
                    change,
                    uri,
                    version,
                    (kept, form),
                    clean,
                )?);
            }
            Some(Live { form, text, .. }) => {
                let old = form.encode(&text);
                self.was.push(Some(Was {
                    exact: exact(&change.file, form),
                    disk: None,
                }));
                self.keep(world, &change.file, Some(old.clone()));
                self.disk.push(on_disk(index, change, Some(old), form));
            }
            None => {
                self.was.push(None);
                self.keep(world, &change.file, None);
                self.disk.push(on_disk(index, change, None, Form::Utf8));
            }
        }
        if let Some(to) = &change.to {
            self.keep(world, to, None);
        }
        Ok(true)
    }

    fn keep(&mut self, world: &World, file: &FilePath, bytes: Option<Vec<u8>>) {
        // Nobody wants it back (spec 3.1).
        if world.workspace.is_scratch(&file.real) {
            return;
        }
        self.before.push(Before {
            path: file.real.clone(),
            bytes,
            mode: mode(file),
            is_external: match file.place {
                Place::Project => false,
                Place::AddedDir
                | Place::Scratchpad
                | Place::Protected
                | Place::Memory
                | Place::External => true,
            },
        });
    }
}

fn exact(file: &FilePath, form: Form) -> Exact {
    Exact {
        form,
        mode: mode(file),
    }
}

fn mode(file: &FilePath) -> Option<u32> {
    let meta = file.real.metadata().ok()?;
    Some(meta.permissions().mode() & 0o7777)
}

fn on_disk(index: usize, change: &FileChange, old: Option<Vec<u8>>, form: Form) -> OnDisk {
    let form = change.exact.map_or(form, |it| it.form);
    OnDisk {
        index,
        file: change.file.clone(),
        to: change.to.clone(),
        old,
        new: change.new.as_ref().map(|it| form.encode(it)),
        mode: change.exact.and_then(|it| it.mode),
    }
}
