//! A view of the file system for the calling process and its children, in which some folders are read-only: those
//! that are protected, and with them all that is not to be written.
//!
//! Landlock refuses to write there already. The view is for what Landlock does not see: a file's mode, owner, times
//! and attributes.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::super::{Files, Sandbox};

pub(super) struct Mounts {
    /// Where is written; all around them becomes read-only. None: nothing does but the shields.
    places: Option<Vec<CString>>,
    /// Made mounts of their own, so that they cannot be renamed.
    pins: Vec<CString>,
    shields: Vec<CString>,
    /// To be entered again, in the new view.
    folder: PathBuf,
}

impl Mounts {
    /// Makes protected folders that do not exist, so that no command can make them.
    pub(super) fn new(sandbox: &Sandbox) -> Result<Self, String> {
        let mut shields = Vec::new();
        for folder in sandbox.shields() {
            if !sandbox.could_be_replaced(folder) {
                // Nor made, nor led elsewhere.
                if folder.is_dir() {
                    shields.push(c_path(folder)?);
                }
                continue;
            }
            let is_link = fs::symlink_metadata(folder).is_ok_and(|it| it.is_symlink());
            if is_link {
                return Err(format!(
                    "{} is a link, which could be made to lead elsewhere",
                    folder.display()
                ));
            }
            match fs::create_dir_all(folder) {
                Ok(()) => shields.push(c_path(folder)?),
                // Nor can a command make it: it has our rights.
                Err(error) if is_final(&error) => {}
                Err(error) => return Err(format!("{} cannot be made: {error}", folder.display())),
            }
        }
        let pins = sandbox.pins().into_iter().filter(|it| it.is_dir());
        let places = match &sandbox.files {
            Files::Free | Files::Nothing => None,
            Files::Below(places) => outermost(places)?,
        };
        Ok(Self {
            places,
            pins: pins.map(c_path).collect::<Result<_, _>>()?,
            shields,
            folder: std::env::current_dir().map_err(|it| it.to_string())?,
        })
    }

    pub(super) fn make(&self) -> Result<(), String> {
        if self.shields.is_empty() {
            return Ok(());
        }
        own_view().map_err(|error| {
            format!(
                "Undine's own folders cannot be protected, because this system lets neither you nor a user namespace \
                 mount ({error}); a container or kernel.apparmor_restrict_unprivileged_userns may be why"
            )
        })?;
        let told = |path: &CString, error: io::Error| {
            format!("{} cannot be protected: {error}", path.to_string_lossy())
        };
        if let Some(places) = &self.places {
            only_writable(places).map_err(|error| {
                format!("what lies outside the project cannot be made read-only: {error}")
            })?;
        }
        for path in self.pins.iter().chain(&self.shields) {
            bind(path).map_err(|it| told(path, it))?;
        }
        for path in &self.shields {
            make_read_only(path).map_err(|it| told(path, it))?;
        }
        // Where it is now is the old view.
        std::env::set_current_dir(&self.folder)
            .map_err(|error| format!("{} cannot be entered: {error}", self.folder.display()))
    }
}

/// Places that exist and lie in no other one, with the folder for shared memory; none where that is everything.
fn outermost(places: &[PathBuf]) -> Result<Option<Vec<CString>>, String> {
    let mut all: Vec<PathBuf> = places
        .iter()
        .chain([&PathBuf::from("/dev/shm")])
        .filter_map(|it| it.canonicalize().ok())
        .collect();
    all.sort();
    // What lies in a folder comes behind it.
    all.dedup_by(|later, kept| later.starts_with(kept));
    if all.iter().any(|it| it == Path::new("/")) {
        return Ok(None);
    }
    all.iter()
        .map(|it| c_path(it))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Makes everything read-only but these places, which stay with all that is mounted in them as they are.
fn only_writable(places: &[CString]) -> io::Result<()> {
    let trees = places.iter().map(|it| copy_of(it));
    let trees = trees.collect::<io::Result<Vec<OwnedFd>>>()?;
    make_read_only(c"/")?;
    for (tree, place) in trees.iter().zip(places) {
        put(tree, place)?;
    }
    Ok(())
}

/// A folder with its mounts, mounted nowhere yet.
fn copy_of(path: &CStr) -> io::Result<OwnedFd> {
    let flags =
        libc::OPEN_TREE_CLONE | libc::AT_RECURSIVE.cast_unsigned() | libc::OPEN_TREE_CLOEXEC;
    // SAFETY: the path ends with a zero and outlives the call. The descriptor is new and ours alone.
    unsafe {
        let fd = libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags);
        match RawFd::try_from(fd) {
            Ok(fd @ 0..) => Ok(OwnedFd::from_raw_fd(fd)),
            Ok(_) | Err(_) => Err(io::Error::last_os_error()),
        }
    }
}

fn put(tree: &OwnedFd, path: &CStr) -> io::Result<()> {
    const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
    // SAFETY: the paths end with a zero and outlive the call, and the descriptor is open.
    let done = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            path.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    ok(libc::c_int::try_from(done).unwrap_or(-1))
}

fn is_final(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

fn c_path(path: &Path) -> Result<CString, String> {
    CString::new(path.as_os_str().as_bytes()).map_err(|it| it.to_string())
}

/// Root may do so at once; others need a user namespace, in which they are who they were.
fn own_view() -> io::Result<()> {
    use rustix::process::{getegid, geteuid};
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if let Err(error) = unshare(libc::CLONE_NEWNS) {
        if error.raw_os_error() != Some(libc::EPERM) {
            return Err(error);
        }
        unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // What we mount is not seen outside; what is mounted outside later is seen here.
    mount(None, c"/", libc::MS_REC | libc::MS_SLAVE)
}

fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the call takes a number.
    ok(unsafe { libc::unshare(flags) })
}

fn bind(path: &CStr) -> io::Result<()> {
    mount(Some(path), path, libc::MS_BIND | libc::MS_REC)
}

fn mount(source: Option<&CStr>, target: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    let source = source.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: both paths end with a zero and outlive the call; the others may be null for these flags.
    ok(unsafe {
        libc::mount(
            source,
            target.as_ptr(),
            std::ptr::null(),
            flags,
            std::ptr::null(),
        )
    })
}

/// With all that is mounted within.
fn make_read_only(path: &CStr) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path ends with a zero, the structure has the size that is told, and both outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    ok(libc::c_int::try_from(done).unwrap_or(-1))
}

fn ok(done: libc::c_int) -> io::Result<()> {
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
