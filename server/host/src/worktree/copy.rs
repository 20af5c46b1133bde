//! The files that a checkout begins with.

use super::own_repository::{MOST, Project};
use crate::documents::{Content, Snapshot};
use crate::git;
use crate::regular;
use engine::text::FileText;
use ropey::Rope;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Where a file's bytes come from, by its path in the project.
pub type Files = BTreeMap<PathBuf, Source>;

#[derive(Debug)]
pub enum Source {
    Disk,
    /// An open document, which may not be saved.
    Document(Rope),
}

/// All that git keeps or would keep of the project, with what the editor has of it.
pub async fn files(project: &Project, documents: &Snapshot) -> Result<Files, String> {
    let mut listing = git::command(&project.root);
    listing.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let names = paths(git::output(listing, Vec::new(), MOST).await?);
    let mut files: Files = names
        .filter(|it| !is_ours(it))
        .map(|it| (it, Source::Disk))
        .collect();
    let mut unlisted = BTreeMap::new();
    for (path, document) in documents.iter() {
        let Ok(name) = path.strip_prefix(&project.root) else {
            continue;
        };
        // One whose text is not known exactly counts as its file.
        let Content::Text(rope) = &document.content else {
            continue;
        };
        if document.differs_from.is_some() {
            continue;
        }
        let source = Source::Document(rope.clone());
        match files.get_mut(name) {
            Some(it) => *it = source,
            None if is_ours(name) || rope.len_bytes() == 0 => {}
            None => drop(unlisted.insert(name.to_path_buf(), source)),
        }
    }
    for it in ignored(project, unlisted.keys()).await? {
        unlisted.remove(&it);
    }
    files.extend(unlisted);
    Ok(files)
}

/// Which of these paths git ignores, its own files included.
async fn ignored<'a>(
    project: &Project,
    paths_: impl Iterator<Item = &'a PathBuf>,
) -> Result<Vec<PathBuf>, String> {
    let (git_s, asked): (Vec<_>, Vec<_>) =
        paths_.partition(|it| it.components().any(|it| it.as_os_str() == ".git"));
    let mut ignored: Vec<PathBuf> = git_s.into_iter().cloned().collect();
    if !asked.is_empty() {
        let mut git = git::command(&project.root);
        git.args(["check-ignore", "-z", "--stdin"]);
        let input = asked.iter().flat_map(|it| {
            let path = it.as_os_str().as_bytes();
            path.iter().copied().chain([0])
        });
        // Git fails where it ignores none.
        let said = git::output(git, input.collect(), MOST).await;
        ignored.extend(paths(said.unwrap_or_default()));
    }
    Ok(ignored)
}

/// The paths of a list that has a NUL behind each.
pub fn paths(list: Vec<u8>) -> impl Iterator<Item = PathBuf> {
    let parts = list.split(|it| *it == 0).map(<[u8]>::to_vec);
    let parts: Vec<Vec<u8>> = parts.filter(|it| !it.is_empty()).collect();
    parts
        .into_iter()
        .map(|it| PathBuf::from(std::ffi::OsString::from_vec(it)))
}

/// Whether a path is one of what sessions leave in a project: no work of theirs (BUG-85).
pub fn is_ours(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().collect();
    parts
        .windows(2)
        .any(|it| it == [".undine", "conversations"])
}

/// Copies files into an empty folder; answers which there were. What is no file and no link is left out: a submodule,
/// a repository within, a pipe.
pub fn copy(from: &Path, to: &Path, files: Files) -> Result<Vec<PathBuf>, String> {
    let mut copied = Vec::with_capacity(files.len());
    for (name, source) in files {
        let is_there = one(&from.join(&name), &to.join(&name), source);
        let is_there =
            is_there.map_err(|it| format!("{} cannot be copied ({it})", name.display()))?;
        if is_there {
            copied.push(name);
        }
    }
    Ok(copied)
}

fn one(from: &Path, to: &Path, source: Source) -> io::Result<bool> {
    let meta = match from.symlink_metadata() {
        Ok(it) => Some(it),
        Err(error) if is_absent(&error) => None,
        Err(error) => return Err(error),
    };
    let kind = meta.as_ref().map(fs::Metadata::file_type);
    let is_file = kind.is_some_and(|it| it.is_file());
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    match source {
        Source::Document(rope) if is_file || kind.is_none() => {
            let form = match is_file {
                true => regular::read_capped(from, u64::MAX)?.map(|it| FileText::decode(it).form),
                false => None,
            };
            let text = rope.to_string();
            // Some editors keep the mark in their text.
            let text = match form {
                Some(_) => text.strip_prefix('\u{feff}').unwrap_or(&text),
                None => &text,
            };
            fs::write(to, form.unwrap_or_default().encode(text))?;
            if let Some(meta) = meta {
                fs::set_permissions(to, meta.permissions())?;
            }
            Ok(true)
        }
        Source::Document(_) | Source::Disk if is_file => {
            // Not by its name a second time: something else may have got it.
            let mut file = regular::open(from)?;
            let mode = file.metadata()?.permissions().mode() & 0o777;
            let mut copy: File = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(to)?;
            // The kernel shares the blocks where the file system can.
            io::copy(&mut file, &mut copy)?;
            copy.set_permissions(fs::Permissions::from_mode(mode))?;
            Ok(true)
        }
        Source::Document(_) | Source::Disk if kind.is_some_and(|it| it.is_symlink()) => {
            symlink(fs::read_link(from)?, to)?;
            Ok(true)
        }
        Source::Document(_) | Source::Disk => Ok(false),
    }
}

/// Whether the error says that there is no such file.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
