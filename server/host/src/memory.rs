//! The folders of what is kept over sessions (spec 8), and their files.
//!
//! What their texts mean and what a call changes is decided in engine/src/memory. Everything here waits for the disk. The folder in
//! the repository comes with the project: it is reached over no link, and no file in it is one.

use crate::folder::Folder;
use crate::store::{hash, lock};
use crate::upwards;
use engine::memory::{Change, Fact, Kept, MAX_FILE_BYTES, MAX_FILES, Wish};
use engine::memory::{forget, remember, search, sort, update};
use protocol::memory::{MemoryFact, MemoryScope};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folders of one project.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The session's folder, resolved.
    root: PathBuf,
    global: PathBuf,
    private: PathBuf,
    /// Missing outside a repository.
    shared: Option<PathBuf>,
}

/// What was found of the memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// In the order of lists.
    pub kept: Vec<Kept>,
    /// What cannot be read, a sentence each.
    pub problems: Vec<String>,
}

impl Memory {
    /// `data` is Undine's data folder, `root` the session's folder, resolved. A project is its repository, whichever of its folders is
    /// open (spec 8.2).
    pub fn of(data: &Path, root: &Path) -> Self {
        let repository = upwards::repository(root);
        let project = repository.as_deref().unwrap_or(root);
        let folder = data.join("memory");
        Self {
            root: root.to_path_buf(),
            global: folder.join("global"),
            private: folder.join("projects").join(hash(project)),
            shared: repository.map(|it| it.join(".undine").join("memory")),
        }
    }

    /// All of them, whether they exist or not.
    pub fn folders(&self) -> Vec<PathBuf> {
        let all = [
            Some(&self.global),
            Some(&self.private),
            self.shared.as_ref(),
        ];
        all.into_iter().flatten().cloned().collect()
    }

    fn folder(&self, scope: MemoryScope) -> Option<&Path> {
        match scope {
            MemoryScope::Global => Some(&self.global),
            MemoryScope::Private => Some(&self.private),
            MemoryScope::Shared => self.shared.as_deref(),
        }
    }

    /// What is kept, as it is on the disk now.
    pub fn read(&self) -> Found {
        let mut found = Found::default();
        for scope in MemoryScope::ALL {
            let Some(folder) = self.folder(scope) else {
                continue;
            };
            match self.opened(scope, folder) {
                Ok(folder) => self.read_folder(scope, &folder, &mut found),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => found.problems.push(format!(
                    "The memory in {} cannot be read ({error}); it is left out.",
                    folder.display()
                )),
            }
        }
        sort(&mut found.kept);
        found
    }

    fn read_folder(&self, scope: MemoryScope, folder: &Folder, found: &mut Found) {
        let entries = fs::read_dir(folder.path()).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|it| it.file_name()).collect();
        names.retain(|it| is_note(it));
        names.sort();
        if names.len() > MAX_FILES {
            found.problems.push(format!(
                "{} holds {} notes; the first {MAX_FILES} are read. Move some of them away.",
                folder.path().display(),
                names.len()
            ));
            names.truncate(MAX_FILES);
        }
        for name in names {
            let path = folder.path().join(&name);
            match text(folder, &name) {
                Ok(text) => found.kept.push(self.kept(scope, &name, path, &text)),
                Err(error) => found.problems.push(format!(
                    "The note {} cannot be read ({error}); it is left out.",
                    path.display()
                )),
            }
        }
    }

    fn kept(&self, scope: MemoryScope, name: &OsStr, path: PathBuf, text: &str) -> Kept {
        let name = name.to_string_lossy();
        let stem = name.strip_suffix(".md").unwrap_or(&name).to_owned();
        let inside = path.strip_prefix(&self.root).ok();
        let shown = inside.unwrap_or(&path).display().to_string();
        Kept {
            fact: Fact::read(&stem, text),
            scope,
            stem,
            path,
            shown,
        }
    }

    /// Does what is wished. The text is for whoever asked, and so is the error: then nothing was changed.
    pub fn act(&self, wish: &Wish, patience: Duration) -> Result<String, String> {
        match wish {
            Wish::Search { query } => Ok(search(&self.read().kept, query)),
            Wish::Remember { name, scope, text } => {
                let folder = self.made(*scope)?;
                let _lock = lock(folder.path(), patience)?;
                let kept = self.read().kept;
                let change = remember(&kept, *scope, name.as_deref(), text, &now())?;
                self.write(&folder, &change)
            }
            Wish::Update { id, text } => {
                let scope = update(&self.read().kept, id, text)?.scope;
                let folder = self.made(scope)?;
                let _lock = lock(folder.path(), patience)?;
                // As it is under the lock.
                let change = update(&self.read().kept, id, text)?;
                match change.scope == scope {
                    true => self.write(&folder, &change),
                    false => Err("The memory was changed meanwhile; try again.".to_owned()),
                }
            }
            Wish::Forget { id, scope } => {
                let kept = forget(&self.read().kept, id, *scope)?.clone();
                self.remove(std::slice::from_ref(&kept), patience)?;
                Ok(format!(
                    "Forgot {} ({}, {}).",
                    kept.fact.name,
                    kept.scope.id(),
                    kept.shown
                ))
            }
        }
    }

    /// Removes facts that are as they were found; answers how many. The error is for the person.
    pub fn remove(&self, kept: &[Kept], patience: Duration) -> Result<usize, String> {
        let mut n_removed = 0;
        for scope in MemoryScope::ALL {
            let mut here = kept.iter().filter(|it| it.scope == scope).peekable();
            if here.peek().is_none() {
                continue;
            }
            let folder = self.made(scope)?;
            let _lock = lock(folder.path(), patience)?;
            for it in here {
                let name = OsStr::new(it.path.file_name().unwrap_or_default());
                let is_same = text(&folder, name).is_ok_and(|text| {
                    self.kept(scope, name, it.path.clone(), &text).fact == it.fact
                });
                if !is_same {
                    continue;
                }
                let removed = folder.remove(name);
                removed.map_err(|error| {
                    format!("{} cannot be removed ({error}).", it.path.display())
                })?;
                n_removed += 1;
            }
            // What is gone may come back when power fails; nothing worse.
            let _ = folder.sync();
        }
        Ok(n_removed)
    }

    fn write(&self, folder: &Folder, change: &Change) -> Result<String, String> {
        let failed = |error: io::Error| {
            let path = folder.path().join(&change.file);
            format!(
                "{} cannot be written ({error}); nothing was changed.",
                path.display()
            )
        };
        let file = OsStr::new(&change.file);
        put(folder, file, &change.text).map_err(failed)?;
        if let Some(old) = &change.moved_from
            && let Some(old) = old.file_name()
        {
            // The fact is in both files then, which a search shows.
            let _ = folder.remove(old);
        }
        let path = folder.path().join(&change.file);
        let shown = path.strip_prefix(&self.root).unwrap_or(&path).display();
        let (name, scope) = (&change.name, change.scope.id());
        Ok(match change.is_update {
            true => format!("Updated {name} ({scope}, {shown})."),
            false => format!("Remembered {name} ({scope}, {shown})."),
        })
    }

    fn opened(&self, scope: MemoryScope, folder: &Path) -> io::Result<Folder> {
        match scope {
            // The person may have put their own folders anywhere.
            MemoryScope::Global | MemoryScope::Private => Folder::open(&folder.canonicalize()?),
            MemoryScope::Shared => Folder::open(folder),
        }
    }

    /// The folder of a scope, made if it is missing. The error is for whoever asked.
    fn made(&self, scope: MemoryScope) -> Result<Folder, String> {
        let Some(folder) = self.folder(scope) else {
            return Err(format!(
                "{} is in no git repository, so nothing can be shared; keep it without `shared`. Nothing was done.",
                self.root.display()
            ));
        };
        let made = match scope {
            MemoryScope::Global | MemoryScope::Private => fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .and_then(|()| self.opened(scope, folder)),
            MemoryScope::Shared => Folder::make(folder).map(|(folder, _)| folder),
        };
        made.map_err(|error| {
            format!(
                "The folder {} cannot be used ({error}); nothing was done.",
                folder.display()
            )
        })
    }
}

/// A fact as it goes over the wire.
pub fn wire(kept: &Kept) -> MemoryFact {
    let line = |it: &str| engine::redact::redact(it).into_owned();
    MemoryFact {
        name: line(&kept.fact.name),
        description: line(&kept.fact.description),
        scope: kept.scope,
        // JSON has no bytes; a path that is no text is shown as well as may be.
        path: PathBuf::from(kept.path.to_string_lossy().into_owned()),
        created: kept.fact.created.clone(),
        tags: kept.fact.tags.iter().map(|it| line(it)).collect(),
    }
}

fn is_note(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.ends_with(".md") && !name.starts_with('.')
}

/// A file's text, as much of it as counts.
fn text(folder: &Folder, name: &OsStr) -> io::Result<String> {
    let mut bytes = Vec::new();
    let file = folder.file(name)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let most = usize::try_from(MAX_FILE_BYTES).unwrap_or(usize::MAX);
    let is_cut = bytes.len() > most;
    bytes.truncate(most);
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // Cut within a character.
        Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
        }
        Err(_) => Err(io::Error::other("it is not UTF-8")),
    }
}

/// Writes a file whole or not at all: it takes its place when it is on the disk.
fn put(folder: &Folder, name: &OsStr, text: &str) -> io::Result<()> {
    let new = format!(".{}.new", name.to_string_lossy());
    let new = OsStr::new(&new);
    // Of a server that was killed; the lock keeps out those that live.
    let _ = folder.remove(new);
    let written = folder.new_file(new).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        folder.rename_over(new, name)
    });
    if written.is_err() {
        let _ = folder.remove(new);
    }
    written?;
    folder.sync()
}

/// RFC 3339, to the second.
fn now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second())
        .unwrap_or(now)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::memory::Text;
    use std::os::unix::fs::symlink;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn place() -> (tempfile::TempDir, Memory, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("project/.git")).unwrap();
        fs::create_dir_all(path.join("project/sub")).unwrap();
        let memory = Memory::of(&path.join("data"), &path.join("project/sub"));
        (folder, memory, path)
    }

    fn remember(scope: MemoryScope, name: &str, content: &str) -> Wish {
        Wish::Remember {
            name: Some(name.to_owned()),
            scope,
            text: Text {
                content: content.to_owned(),
                ..Text::default()
            },
        }
    }

    #[test]
    fn each_scope_has_a_folder_of_its_own_and_a_project_is_its_repository() {
        let (_folder, memory, path) = place();
        for scope in MemoryScope::ALL {
            memory
                .act(&remember(scope, "One", scope.id()), PATIENCE)
                .unwrap();
        }
        assert!(path.join("project/.undine/memory/one.md").is_file());
        assert!(path.join("data/memory/global/one.md").is_file());
        let again = Memory::of(&path.join("data"), &path.join("project"));
        let bodies: Vec<String> = again
            .read()
            .kept
            .into_iter()
            .map(|it| it.fact.body)
            .collect();
        assert_eq!(bodies, ["global", "private", "shared"]);
    }

    #[test]
    fn outside_a_repository_nothing_is_shared_and_the_folder_is_the_project() {
        let (_folder, _, path) = place();
        fs::create_dir_all(path.join("plain")).unwrap();
        let memory = Memory::of(&path.join("data"), &path.join("plain"));
        let refused = memory.act(&remember(MemoryScope::Shared, "One", "x"), PATIENCE);
        assert!(refused.unwrap_err().contains("no git repository"));
        memory
            .act(&remember(MemoryScope::Private, "One", "x"), PATIENCE)
            .unwrap();
        assert_eq!(Memory::of(&path.join("data"), &path).read().kept, []);
    }

    #[test]
    fn a_link_in_the_repository_is_never_followed() {
        let (_folder, memory, path) = place();
        fs::write(path.join("secret.md"), "secret").unwrap();
        fs::create_dir_all(path.join("project/.undine/memory")).unwrap();
        symlink(
            path.join("secret.md"),
            path.join("project/.undine/memory/a.md"),
        )
        .unwrap();
        let found = memory.read();
        assert_eq!((found.kept.len(), found.problems.len()), (0, 1));
        // Nor one in the place of the folder.
        fs::remove_dir_all(path.join("project/.undine/memory")).unwrap();
        fs::create_dir_all(path.join("elsewhere")).unwrap();
        symlink(path.join("elsewhere"), path.join("project/.undine/memory")).unwrap();
        let refused = memory.act(&remember(MemoryScope::Shared, "One", "x"), PATIENCE);
        assert!(refused.is_err());
        assert_eq!(fs::read_dir(path.join("elsewhere")).unwrap().count(), 0);
    }

    #[test]
    fn only_notes_directly_in_the_folder_count_and_a_large_one_is_read_partly() {
        let (_folder, memory, _) = place();
        let folder = &memory.private;
        fs::create_dir_all(folder.join("sub.md")).unwrap();
        fs::write(folder.join("sub.md/inner.md"), "x").unwrap();
        fs::write(folder.join("other.txt"), "x").unwrap();
        fs::write(folder.join("broken.md"), [0xff, 0xfe]).unwrap();
        fs::write(folder.join("large.md"), "é".repeat(40_000)).unwrap();
        let found = memory.read();
        let stems: Vec<&str> = found.kept.iter().map(|it| it.stem.as_str()).collect();
        assert_eq!(stems, ["large"]);
        assert_eq!(found.kept[0].fact.body.len(), 64_000);
        assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
    }

    #[test]
    fn an_update_moves_a_file_that_was_named_by_hand() {
        let (_folder, memory, _) = place();
        fs::create_dir_all(&memory.private).unwrap();
        let old = "---\nname: Release\ntags: [a]\n---\nold";
        fs::write(memory.private.join("Notes 1.md"), old).unwrap();
        let wish = Wish::Update {
            id: "Notes 1".to_owned(),
            text: Text {
                content: "new".to_owned(),
                ..Text::default()
            },
        };
        memory.act(&wish, PATIENCE).unwrap();
        let names: Vec<_> = fs::read_dir(&memory.private).unwrap().flatten().collect();
        assert_eq!(names.len(), 1);
        assert_eq!(names[0].file_name(), "release.md");
    }

    #[test]
    fn what_was_changed_since_it_was_found_is_not_removed() {
        let (_folder, memory, _) = place();
        let wish = remember(MemoryScope::Private, "One", "x");
        memory.act(&wish, PATIENCE).unwrap();
        let kept = memory.read().kept;
        fs::write(memory.private.join("one.md"), "by hand").unwrap();
        assert_eq!(memory.remove(&kept, PATIENCE), Ok(0));
        assert_eq!(memory.remove(&memory.read().kept, PATIENCE), Ok(1));
        assert_eq!(memory.read().kept, []);
    }
}
