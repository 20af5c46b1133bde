//! What the changes in a checkout are measured against: a tree in a bare repository of our own.
//!
//! Looking again is quick, because of each file it is remembered how it lay on the disk; only what lies otherwise is
//! read.

use super::copy::{is_absent, is_ours, paths};
use super::own_repository::{self, MOST, Project};
use crate::git;
use crate::store::journal::BESIDE;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A tree of files, and how each lay on the disk when it was looked at.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The tree's name in the repository.
    pub id: String,
    files: BTreeMap<PathBuf, Entry>,
    /// In nanoseconds: a file that was changed since, or just before, may be another one though it looks the same.
    looked: i128,
}

#[derive(Clone, Debug)]
struct Entry {
    mode: &'static str,
    /// Of its bytes, or of where it leads.
    id: String,
    looks: Looks,
}

/// How a file looks from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Looks {
    size: u64,
    mtime: i128,
    ctime: i128,
    inode: u64,
    mode: u32,
}

/// The repository that holds trees, and the tree that counts.
#[derive(Debug)]
pub struct Base {
    folder: PathBuf,
    work_tree: PathBuf,
    pub tree: Tree,
}

impl Base {
    /// Takes the files of a checkout, which is new. `state` is an empty folder.
    pub async fn take(
        project: &Project,
        state: &Path,
        work_tree: &Path,
        names: Vec<PathBuf>,
    ) -> Result<Self, String> {
        own_repository::bare(project, &state.join("git")).await?;
        let tree = Tree {
            id: String::new(),
            files: BTreeMap::new(),
            looked: 0,
        };
        let mut base = Self {
            folder: state.to_path_buf(),
            work_tree: work_tree.to_path_buf(),
            tree,
        };
        base.tree = base.look_at(names).await?;
        Ok(base)
    }

    /// The folder of ours that it lies in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of the checkout as they are now.
    pub async fn look(&self) -> Result<Tree, String> {
        // Without an index, or what became a folder would still count as a file.
        self.run(&["read-tree", "--empty"], Vec::new()).await?;
        let listing = ["ls-files", "-z", "--others", "--exclude-standard"];
        let listing = self.run(&listing, Vec::new()).await?;
        let new = paths(listing).filter(|it| {
            let name = it.file_name().unwrap_or_default();
            !is_ours(it) && !name.as_bytes().starts_with(BESIDE.as_bytes())
        });
        // What git would ignore by now is still what it was.
        let old = self.tree.files.keys().cloned();
        let names: BTreeSet<PathBuf> = old.chain(new).collect();
        self.look_at(names.into_iter().collect()).await
    }

    async fn look_at(&self, names: Vec<PathBuf>) -> Result<Tree, String> {
        let (work_tree, before) = (self.work_tree.clone(), self.tree.clone());
        let links = self.folder.join("links");
        let looking = tokio::task::spawn_blocking(move || look(&work_tree, &before, names, &links));
        let Look {
            mut files,
            unread,
            looked,
        } = looking
            .await
            .map_err(|it| it.to_string())?
            .map_err(|it| format!("the files of the checkout cannot be read ({it})"))?;
        if !unread.is_empty() {
            let input: Vec<u8> = unread.iter().flat_map(|(_, at)| quoted(at)).collect();
            let hashing = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
            let ids = self.run(&hashing, input).await?;
            let ids = String::from_utf8_lossy(&ids);
            if ids.lines().count() != unread.len() {
                return Err("git did not take all files of the checkout".to_owned());
            }
            for (id, (name, _)) in ids.lines().zip(unread) {
                if let Some(it) = files.get_mut(&name) {
                    it.id = id.to_owned();
                }
            }
        }
        let id = self.write(&files).await?;
        Ok(Tree { id, files, looked })
    }

    /// Makes a tree of files whose bytes are in the repository.
    async fn write(&self, files: &BTreeMap<PathBuf, Entry>) -> Result<String, String> {
        // From nothing, so that nothing stays of another tree.
        self.run(&["read-tree", "--empty"], Vec::new()).await?;
        let mut input = Vec::new();
        for (name, it) in files {
            input.extend(format!("{} {}\t", it.mode, it.id).into_bytes());
            input.extend(name.as_os_str().as_bytes());
            input.push(0);
        }
        if !input.is_empty() {
            let adding = ["update-index", "-z", "--index-info"];
            self.run(&adding, input).await?;
        }
        let id = self.run(&["write-tree"], Vec::new()).await?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// A file's bytes, by their name in the repository.
    pub async fn bytes(&self, id: &str) -> Result<Vec<u8>, String> {
        self.run(&["cat-file", "blob", id], Vec::new()).await
    }

    pub async fn run(&self, arguments: &[&str], input: Vec<u8>) -> Result<Vec<u8>, String> {
        let mut git = git::command(&self.work_tree);
        git.arg("--git-dir").arg(self.folder.join("git"));
        git.arg("--work-tree").arg(&self.work_tree).args(arguments);
        git::output(git, input, MOST).await
    }
}

/// What looking found.
struct Look {
    files: BTreeMap<PathBuf, Entry>,
    /// Those whose bytes are yet to be taken, and where they are: a link's own are put into a file.
    unread: Vec<(PathBuf, PathBuf)>,
    looked: i128,
}

fn look(work_tree: &Path, before: &Tree, names: Vec<PathBuf>, links: &Path) -> io::Result<Look> {
    let (mut files, mut unread) = (BTreeMap::new(), Vec::new());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let looked = now.map_or(0, |it| it.as_nanos() as i128);
    for name in names {
        let path = work_tree.join(&name);
        let meta = match path.symlink_metadata() {
            Ok(it) => it,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(error),
        };
        // The way to a file may lead out of the checkout by now.
        let is_inside = path.parent().and_then(|it| it.canonicalize().ok());
        if !is_inside.is_some_and(|it| it.starts_with(work_tree)) {
            continue;
        }
        let mode = match meta.file_type() {
            it if it.is_symlink() => "120000",
            it if it.is_file() && meta.mode() & 0o100 != 0 => "100755",
            it if it.is_file() => "100644",
            _ => continue,
        };
        let looks = looks(&meta);
        let same = before.files.get(&name).filter(|it| {
            // A clock counts in steps, the coarsest of them two seconds long.
            const STEP: i128 = 2_000_000_000;
            it.looks == looks && looks.mtime.max(looks.ctime) < before.looked - STEP
        });
        let id = same.map(|it| it.id.clone()).unwrap_or_default();
        if id.is_empty() {
            let at = match mode {
                "120000" => {
                    fs::create_dir_all(links)?;
                    let at = links.join(unread.len().to_string());
                    fs::write(&at, fs::read_link(&path)?.as_os_str().as_bytes())?;
                    at
                }
                _ => path,
            };
            unread.push((name.clone(), at));
        }
        files.insert(name, Entry { mode, id, looks });
    }
    Ok(Look {
        files,
        unread,
        looked,
    })
}

fn looks(meta: &Metadata) -> Looks {
    let nanos = |secs: i64, nanos: i64| i128::from(secs) * 1_000_000_000 + i128::from(nanos);
    Looks {
        size: meta.size(),
        mtime: nanos(meta.mtime(), meta.mtime_nsec()),
        ctime: nanos(meta.ctime(), meta.ctime_nsec()),
        inode: meta.ino(),
        mode: meta.mode(),
    }
}

/// A path on a line of its own, as git reads it.
fn quoted(path: &Path) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b'\n' => line.extend(b"\\n"),
            _ => line.push(*byte),
        }
    }
    line.extend(b"\"\n");
    line
}
