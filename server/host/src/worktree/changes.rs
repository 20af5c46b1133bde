//! What was changed in a checkout since its base.

use super::Checkout;
use super::base::Tree;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// All that was changed.
#[derive(Clone, Debug)]
pub struct Changed {
    pub files: Vec<Change>,
    /// The checkout as it was looked at.
    pub(super) tree: Tree,
}

/// A change to one file, by paths in the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where it is in the base, or will be if it is new.
    pub path: PathBuf,
    /// Where it was moved to.
    pub to: Option<PathBuf>,
    /// `None`: the file is new.
    pub old: Option<Blob>,
    /// `None`: the file is deleted.
    pub new: Option<Blob>,
}

/// One of the things that a path can lead to in git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub kind: Kind,
    pub id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Program,
    Link,
}

impl Checkout {
    /// What was changed since the checkout was made, or since its changes were brought back last. Files that git
    /// ignores do not count. The error is a clause, for the model.
    pub async fn changes(&self) -> Result<Changed, String> {
        let looking = async {
            let tree = self.base.look().await?;
            let arguments = ["diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev"];
            let between = [self.base.tree.id.as_str(), &tree.id];
            let raw = [&arguments[..], &between].concat();
            let raw = self.base.run(&raw, Vec::new()).await?;
            let files = read(&raw).ok_or("git's list of changes was not understood")?;
            Ok(Changed { files, tree })
        };
        let late = || {
            let secs = self.patience.as_secs();
            Err(format!(
                "looking at the changes took longer than {secs} seconds"
            ))
        };
        let looked = tokio::time::timeout(self.patience, looking).await;
        looked.unwrap_or_else(|_| late())
    }
}

/// Reads what `git diff-tree -z --raw` prints: for each file a line of modes, names and a letter, then one path or two.
fn read(raw: &[u8]) -> Option<Vec<Change>> {
    let mut parts = raw.split(|it| *it == 0).filter(|it| !it.is_empty());
    let mut changes = Vec::new();
    while let Some(line) = parts.next() {
        let line = std::str::from_utf8(line).ok()?.strip_prefix(':')?;
        let fields: Vec<&str> = line.split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, letter] = fields[..] else {
            return None;
        };
        let mut path = || Some(PathBuf::from(OsString::from_vec(parts.next()?.to_vec())));
        let (at, to) = match letter.starts_with('R') {
            true => (path()?, Some(path()?)),
            false => (path()?, None),
        };
        changes.push(Change {
            path: at,
            to,
            old: blob(old_mode, old_id)?,
            new: blob(new_mode, new_id)?,
        });
    }
    Some(changes)
}

fn blob(mode: &str, id: &str) -> Option<Option<Blob>> {
    let kind = match mode {
        "000000" => return Some(None),
        "100644" => Kind::File,
        "100755" => Kind::Program,
        "120000" => Kind::Link,
        _ => return None,
    };
    let id = id.to_owned();
    Some(Some(Blob { kind, id }))
}
