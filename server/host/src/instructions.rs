//! Finds and reads the files in which a project says how to work in it (spec 21.1).
//!
//! They come with the project: what they say is for the model to read and decides nothing here.

use crate::regular;
use crate::upwards;
use engine::context::project::{InstructionFile, MAX_BYTES};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Those that many agents read, in order: of a folder, the first that can be read counts.
const SHARED: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"];

/// Our own, which wins.
const OWN: [&str; 1] = ["UNDINE.md"];

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instructions {
    /// Later ones win.
    pub files: Vec<InstructionFile>,
    /// What could not be read, a sentence each.
    pub problems: Vec<String>,
}

/// The files that speak for a project. `root` is resolved.
pub fn find(root: &Path) -> Instructions {
    let mut found = Instructions::default();
    let folders = upwards::folders(root);
    for names in [&SHARED[..], &OWN[..]] {
        let nearest = folders.iter().find_map(|folder| {
            let all = names.iter().map(|name| folder.join(name));
            let mut readable = all.filter_map(|path| found.read(&path, root, &folders));
            readable.next()
        });
        found.files.extend(nearest);
    }
    found
}

impl Instructions {
    fn read(&mut self, path: &Path, root: &Path, folders: &[PathBuf]) -> Option<InstructionFile> {
        let shown = match path.strip_prefix(root) {
            Ok(inside) => inside.display().to_string(),
            Err(_) => path.display().to_string(),
        };
        match text(path, root, folders) {
            Ok(text) => Some(InstructionFile { path: shown, text }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.problems
                    .push(format!("{shown} cannot be read ({error}); it is left out."));
                None
            }
        }
    }
}

/// The head of a file, as much as could ever be used. `folders` are those that speak for the project in `root`.
pub(crate) fn text(path: &Path, root: &Path, folders: &[PathBuf]) -> io::Result<String> {
    // One that leads nowhere is there all the same.
    path.symlink_metadata()?;
    let other = |it: &str| Err(io::Error::other(it.to_owned()));
    let real = path
        .canonicalize()
        .map_err(|_| io::Error::other("its link leads nowhere"))?;
    // A link could show the model any file of the person's.
    let within = folders.last().map_or(root, PathBuf::as_path);
    if !real.starts_with(within) {
        return other("it is a link that leads out of the project");
    }
    if !real.starts_with(root) && !upwards::is_of_owner(&real, root) {
        return other("it belongs to another person");
    }
    head(&real)
}

/// As [`text`], of a file that is the person's own: it may lead anywhere.
pub(crate) fn head(path: &Path) -> io::Result<String> {
    let other = |it: &str| Err(io::Error::other(it.to_owned()));
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    regular::open(path)?.take(limit).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > MAX_BYTES;
    if bytes.contains(&0) {
        return other("it is no text");
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // Cut within a character.
        Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
        }
        Err(_) => other("it is not UTF-8"),
    }
}
