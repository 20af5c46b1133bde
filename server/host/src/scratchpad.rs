//! A session's scratchpad: a private folder for files that are no part of the work (spec 4.5).
//!
//! It lies in the folder for temporary files, where others have theirs, and is gone when the session is. What a
//! server that died has left is swept days later, by the next one that starts.

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::geteuid;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The variable that tells commands where it is.
pub const VARIABLE: &str = "UNDINE_SCRATCHPAD";

const PREFIX: &str = "undine-scratchpad-";

/// Letters and digits behind the prefix.
const N_RANDOM: usize = 16;

/// An open scratchpad. Dropped, it is removed with all that is in it.
#[derive(Debug)]
pub struct Scratchpad {
    path: PathBuf,
    /// Says to other servers that it is in use, and ends with this process.
    _in_use: Flock<File>,
}

impl Scratchpad {
    /// Makes one, which only its owner can enter, in a folder for temporary files.
    pub fn make(temporary: &Path) -> io::Result<Self> {
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .rand_bytes(N_RANDOM)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(temporary.canonicalize()?)?;
        let in_use = lock(made.path())?;
        Ok(Self {
            path: made.keep(),
            _in_use: in_use,
        })
    }

    /// Makes one by the name that a session's had before, so that what the model was told of it holds over a restart. What a
    /// server that died has left under that name is removed first, if it is this person's own.
    ///
    /// # Errors
    /// Where the name is none of ours, is another's, or is in use.
    pub fn again(temporary: &Path, name: &str) -> io::Result<Self> {
        if !is_name(name) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let path = temporary.canonicalize()?.join(name);
        let make = || fs::DirBuilder::new().mode(0o700).create(&path);
        match make() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_ours(&path) => {
                let _in_use = lock(&path)?;
                remove(&path)?;
                make()?;
            }
            made => made?,
        }
        let in_use = lock(&path)?;
        Ok(Self {
            path,
            _in_use: in_use,
        })
    }

    /// What [`Scratchpad::again`] finds it by.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Without symlinks on its way.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratchpad {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "a scratchpad was not removed");
        }
    }
}

/// Removes the scratchpad of this name that a server has left, if it is this person's own and nobody holds it.
pub fn discard(temporary: &Path, name: &str) {
    let path = temporary.join(name);
    if !is_name(name) || !is_ours(&path) {
        return;
    }
    let Ok(_in_use) = lock(&path) else { return };
    if let Err(error) = remove(&path) {
        tracing::warn!(%error, path = %path.display(), "a scratchpad was not removed");
    }
}

/// Removes scratchpads that nobody has used for some days: only this person's own, and none that a server holds.
pub fn sweep(temporary: &Path, days: u64, now: SystemTime) {
    let Ok(entries) = fs::read_dir(temporary) else {
        return;
    };
    let patience = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
    for entry in entries.flatten() {
        let path = entry.path();
        if !is_name(&entry.file_name().to_string_lossy()) || !is_stale(&path, patience, now) {
            continue;
        }
        // Held until it is gone, so that of two servers that sweep at once one does it.
        let Ok(_in_use) = lock(&path) else { continue };
        if let Err(error) = remove(&path) {
            tracing::warn!(%error, path = %path.display(), "an old scratchpad was not removed");
        }
    }
}

fn is_name(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|it| it.len() == N_RANDOM && it.bytes().all(|it| it.is_ascii_alphanumeric()))
}

/// Whether this is a folder of ours that was last changed long ago. A link is none.
pub(crate) fn is_stale(path: &Path, patience: Duration, now: SystemTime) -> bool {
    let Ok(meta) = path.symlink_metadata() else {
        return false;
    };
    let age = meta.modified().map(|it| now.duration_since(it));
    // One from the future is not old.
    is_own_folder(&meta) && matches!(age, Ok(Ok(age)) if age >= patience)
}

/// Whether this is a folder that only this person can have made. A link is none.
fn is_ours(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| is_own_folder(&it))
}

fn is_own_folder(meta: &fs::Metadata) -> bool {
    meta.is_dir() && meta.uid() == geteuid().as_raw()
}

/// An error where another process holds it.
pub(crate) fn lock(folder: &Path) -> io::Result<Flock<File>> {
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(folder)?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error.into())
}

/// Removes a scratchpad with all that is in it; of links only the links.
fn remove(folder: &Path) -> io::Result<()> {
    // What a dying command still writes by the old name does not keep the folder from becoming empty.
    let aside = aside(folder);
    let folder = match fs::rename(folder, &aside) {
        Ok(()) => aside.as_path(),
        Err(_) => folder,
    };
    clear(folder)
}

/// Removes a folder with all that is in it, unwritable folders too; of links only the links.
pub(crate) fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // Some programs make their caches unwritable, Go for instance.
            open_up(folder)?;
            fs::remove_dir_all(folder)
        }
        done => done,
    }
}

/// Another name of the same form, so that what could not be removed is swept one day.
fn aside(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let random = name.trim_start_matches(PREFIX);
    folder.with_file_name(format!(
        "{PREFIX}{}",
        random.chars().rev().collect::<String>()
    ))
}

fn open_up(folder: &Path) -> io::Result<()> {
    if !folder.symlink_metadata()?.is_dir() {
        return Ok(());
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        open_up(&entry?.path())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn it_is_private_and_removed_with_all_that_is_in_it_and_nothing_else() {
        let temporary = tempfile::tempdir().unwrap();
        fs::create_dir(temporary.path().join("kept")).unwrap();
        fs::write(temporary.path().join("kept/a"), "a").unwrap();
        let pad = Scratchpad::make(temporary.path()).unwrap();
        let mode = pad.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        symlink(temporary.path().join("kept"), pad.path().join("link")).unwrap();
        let locked = pad.path().join("cache/deep");
        fs::create_dir_all(&locked).unwrap();
        fs::write(locked.join("file"), "").unwrap();
        fs::set_permissions(&locked, Permissions::from_mode(0o500)).unwrap();
        drop(pad);
        assert_eq!(names(temporary.path()), ["kept"]);
        assert_eq!(names(&temporary.path().join("kept")), ["a"]);
    }

    #[test]
    fn one_is_made_again_by_its_name_and_never_out_of_what_is_anothers_or_in_use() {
        let temporary = tempfile::tempdir().unwrap();
        let again = |name: &str| Scratchpad::again(temporary.path(), name);
        let first = Scratchpad::make(temporary.path()).unwrap();
        let (name, path) = (first.name(), first.path().to_path_buf());
        assert!(again(&name).is_err(), "it is in use");
        drop(first);
        let second = again(&name).unwrap();
        assert_eq!(second.path(), path);
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        drop(second);

        // Left by a server that died; opened to all in between.
        fs::create_dir(&path).unwrap();
        fs::write(path.join("left"), "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        let third = again(&name).unwrap();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!((names(&path), mode & 0o7777), (Vec::new(), 0o700));
        drop(third);

        // A link that somebody has put there, or a file.
        fs::create_dir(temporary.path().join("kept")).unwrap();
        symlink(temporary.path().join("kept"), &path).unwrap();
        assert!(again(&name).is_err());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert!(again(&name).is_err());
        for wrong in ["", "kept", "../x", "undine-scratchpad-../../../../xxxx"] {
            assert!(again(wrong).is_err(), "{wrong}");
        }
        assert_eq!(names(temporary.path()), ["kept".to_owned(), name]);
    }

    #[test]
    fn only_old_ones_of_ours_that_nobody_uses_are_swept() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |name: &str| temporary.path().join(name);
        let left = at("undine-scratchpad-0123456789abcdef");
        fs::create_dir_all(left.join("sub")).unwrap();
        fs::create_dir(at("others")).unwrap();
        fs::write(at("others/a"), "a").unwrap();
        // Not our pattern, a file, and a link that is named like one of ours.
        fs::create_dir(at("undine-scratchpad-mine")).unwrap();
        fs::create_dir(at("undine-scratchpad-0123456789abcde.")).unwrap();
        fs::write(at("undine-scratchpad-00000000000000aa"), "").unwrap();
        symlink(at("others"), at("undine-scratchpad-00000000000000bb")).unwrap();
        let pad = Scratchpad::make(temporary.path()).unwrap();
        let all = names(temporary.path());

        sweep(temporary.path(), 7, SystemTime::now() + 6 * DAY);
        assert_eq!(names(temporary.path()), all);
        sweep(temporary.path(), 7, SystemTime::now() + 8 * DAY);
        let mut rest = all;
        rest.retain(|it| !left.ends_with(it));
        assert_eq!(names(temporary.path()), rest);
        assert!(at("others/a").exists() && pad.path().exists());
    }
}
