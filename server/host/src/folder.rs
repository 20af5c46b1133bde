//! A handle of a folder, through which its files are reached and no others.
//!
//! A file's identity has no symlink on its way (see `workspace`), so the way is walked from the root of the
//! file system a name at a time and no symlink is followed. What is done through the handle afterwards stays
//! in that folder, wherever its name leads by then (spec 1.5). Walking serves every Unix alike; Linux's
//! `openat2` would save some microseconds and need this beside it.

use crate::regular;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, linkat, unlinkat};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// An open folder. Names are single ones, without a slash.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

/// For the way only: the right to list a folder is not needed to pass through it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASS: OFlag = OFlag::O_PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASS: OFlag = OFlag::O_RDONLY;

impl Folder {
    /// Opens the folder at an absolute path without symlinks. One that has got a symlink on its way is an
    /// error.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut handle = root()?;
        for name in names(path)? {
            handle = step(&handle, name)?;
        }
        let path = path.to_path_buf();
        Ok(Self { handle, path })
    }

    /// As [`open`](Self::open), and makes what is missing. Answers what it made, outermost first.
    pub fn make(path: &Path) -> io::Result<(Self, Vec<PathBuf>)> {
        let mut handle = root()?;
        let (mut at, mut made) = (PathBuf::from("/"), Vec::new());
        for name in names(path)? {
            at.push(name);
            handle = match step(&handle, name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match mkdirat(&handle, name, Mode::from_bits_truncate(0o777)) {
                        Ok(()) => made.push(at.clone()),
                        // Another was faster.
                        Err(Errno::EEXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    step(&handle, name)?
                }
                opened => opened?,
            };
        }
        let path = path.to_path_buf();
        Ok((Self { handle, path }, made))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its path still leads to it, through no symlink.
    pub fn is_still(&self) -> bool {
        let id = |it: io::Result<Metadata>| it.map(|it| (it.dev(), it.ino()));
        let now = Self::open(&self.path).and_then(|it| id(it.metadata()));
        matches!((now, id(self.metadata())), (Ok(now), Ok(own)) if now == own)
    }

    /// The file system it lies on.
    pub fn device(&self) -> io::Result<u64> {
        self.metadata().map(|it| it.dev())
    }

    fn metadata(&self) -> io::Result<Metadata> {
        File::from(self.handle.try_clone()?).metadata()
    }

    /// Opens a regular file for reading; anything else is an error, at once.
    pub fn file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let file = self.open_file(name, flags, Mode::empty())?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is not a regular file")),
        }
    }

    /// A file's bytes; `None` when there are more than `limit`.
    pub fn read(&self, name: &OsStr, limit: u64) -> io::Result<Option<Vec<u8>>> {
        regular::capped(self.file(name)?, limit)
    }

    /// Opens a file to write into it.
    pub fn file_to_write(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        self.open_file(name, flags, Mode::empty())
    }

    /// Makes a file with the mode that the process's umask gives a new one. There must be none.
    pub fn new_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL;
        self.open_file(name, flags, Mode::from_bits_truncate(0o666))
    }

    fn open_file(&self, name: &OsStr, flags: OFlag, mode: Mode) -> io::Result<File> {
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.handle, name, flags, mode)?.into())
    }

    /// Whether there is anything of this name, a symlink that leads nowhere included.
    pub fn has(&self, name: &OsStr) -> io::Result<bool> {
        let flags = AtFlags::AT_SYMLINK_NOFOLLOW;
        match nix::sys::stat::fstatat(&self.handle, name, flags) {
            Ok(_) => Ok(true),
            Err(Errno::ENOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a file another name here, which may be another file's before: that one is gone then.
    pub fn rename_over(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Moves a file to a name, here or in another folder, that nothing has; else it is
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists).
    pub fn rename_new(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        {
            use nix::fcntl::{RenameFlags, renameat2};
            let flags = RenameFlags::RENAME_NOREPLACE;
            match renameat2(&self.handle, from, &folder.handle, to, flags) {
                // A file system that does not know how.
                Err(Errno::EINVAL | Errno::ENOSYS) => {}
                done => return Ok(done?),
            }
        }
        match self.link(from, folder, to) {
            Ok(()) => self.remove(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Neither way is there, on some network's and memory cards' file systems: what is left is to look
            // and go.
            Err(_) if folder.has(to)? => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => Ok(renameat(&self.handle, from, &folder.handle, to)?),
        }
    }

    /// Gives a file a second name, which must be free.
    pub fn link(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        let (old, new) = (&self.handle, &folder.handle);
        Ok(linkat(old, from, new, to, AtFlags::empty())?)
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, UnlinkatFlags::NoRemoveDir)?)
    }

    /// Removes a folder in it, if that is empty.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, UnlinkatFlags::RemoveDir)?)
    }

    /// Waits until the names in it are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        File::from(openat(&self.handle, ".", flags, Mode::empty())?).sync_all()
    }
}

fn root() -> io::Result<OwnedFd> {
    let flags = PASS | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    Ok(open("/", flags, Mode::empty())?)
}

fn step(folder: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = PASS | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}

/// The names on the way to an absolute path.
fn names(path: &Path) -> io::Result<Vec<&OsStr>> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::RootDir => {}
            Component::Normal(name) => names.push(name),
            Component::CurDir | Component::ParentDir | Component::Prefix(_) => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("in/sub")).unwrap();
        fs::create_dir_all(path.join("out/sub")).unwrap();
        (folder, path)
    }

    #[test]
    fn a_folder_is_not_reached_over_a_symlink() {
        let (_folder, path) = place();
        symlink(path.join("out"), path.join("link")).unwrap();
        for it in ["link", "link/sub"] {
            assert!(Folder::open(&path.join(it)).is_err(), "{it}");
            assert!(Folder::make(&path.join(it).join("new")).is_err(), "{it}");
        }
        assert!(!path.join("out/sub/new").exists() && !path.join("out/new").exists());
    }

    #[test]
    fn r_017_what_is_done_through_a_folder_stays_in_it_when_a_symlink_takes_its_name() {
        let (_folder, path) = place();
        let name = OsStr::new("a");
        let folder = Folder::open(&path.join("in/sub")).unwrap();
        assert!(folder.is_still());
        fs::rename(path.join("in/sub"), path.join("in/before")).unwrap();
        symlink(path.join("out/sub"), path.join("in/sub")).unwrap();
        assert!(!folder.is_still());
        folder.new_file(name).unwrap();
        folder.rename_over(name, OsStr::new("b")).unwrap();
        assert!(path.join("in/before/b").exists() && !path.join("out/sub/b").exists());
        fs::write(path.join("out/sub/b"), "kept").unwrap();
        folder.remove(OsStr::new("b")).unwrap();
        assert_eq!(fs::read_to_string(path.join("out/sub/b")).unwrap(), "kept");
    }

    #[test]
    fn a_file_that_is_a_symlink_is_neither_read_nor_written_through() {
        let (_folder, path) = place();
        fs::write(path.join("out/a"), "kept").unwrap();
        symlink(path.join("out/a"), path.join("in/a")).unwrap();
        let folder = Folder::open(&path.join("in")).unwrap();
        let name = OsStr::new("a");
        assert!(folder.file(name).is_err() && folder.file_to_write(name).is_err());
        assert!(folder.new_file(name).is_err() && folder.has(name).unwrap());
    }

    #[test]
    fn a_file_does_not_move_onto_another() {
        let (_folder, path) = place();
        fs::write(path.join("in/a"), "a").unwrap();
        fs::write(path.join("out/b"), "b").unwrap();
        let [from, to] = ["in", "out"].map(|it| Folder::open(&path.join(it)).unwrap());
        let [a, b] = ["a", "b"].map(OsStr::new);
        let error = from.rename_new(a, &to, b).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        from.rename_new(a, &to, OsStr::new("c")).unwrap();
        assert_eq!(fs::read_to_string(path.join("out/c")).unwrap(), "a");
    }

    #[test]
    fn missing_folders_are_made_and_named() {
        let (_folder, path) = place();
        let (folder, made) = Folder::make(&path.join("in/x/y")).unwrap();
        assert_eq!(made, [path.join("in/x"), path.join("in/x/y")]);
        folder.new_file(OsStr::new("a")).unwrap();
        assert!(path.join("in/x/y/a").exists());
        assert_eq!(
            Folder::make(&path.join("in/x/y")).unwrap().1,
            [""; 0].map(PathBuf::from)
        );
    }
}
