//! What a command is kept from, and whether this system can do so.
//!
//! Here is only what is wanted and the table that decides; [`linux`] does it, in the launcher, between the fork of a
//! command's process and the command. What is wanted and cannot be had is no command at all: nothing ever runs
//! less confined than was asked for. Spec 7.

#[cfg(target_os = "linux")]
pub(super) mod linux;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What one command is kept from, with all it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Whether it may use the network.
    pub network: bool,
    pub files: Files,
    /// Folders that it may not write even where it may write otherwise: Undine's own settings and history.
    pub protected: Vec<PathBuf>,
}

/// What a command may write. It may read what the person may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Files {
    /// Whatever the person may.
    Free,
    /// Below these, and nothing else. None: nothing.
    Below(Vec<PathBuf>),
    /// Nothing; nor may it change modes or times, use sockets, or reach other processes.
    Nothing,
}

/// What this system can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// The version of Landlock; 0: none.
    pub landlock: i32,
    /// Whether system calls can be filtered on this processor.
    pub seccomp: bool,
}

/// Landlock without truncation (before 3) would let a command empty files outside.
const LANDLOCK_FOR_FILES: i32 = 3;

/// Landlock with scopes, which keep signals in (spec 7.3).
const LANDLOCK_FOR_NOTHING: i32 = 6;

/// Why a command cannot be confined as wanted. Worded for the person and the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error("this system has no seccomp filters, which keep commands from the network")]
    Seccomp,
    #[error(
        "this system has Landlock version {0}, and confining commands needs {1} (0: it is missing or switched off)"
    )]
    Landlock(i32, i32),
}

impl Sandbox {
    /// The decision table.
    ///
    /// # Errors
    /// If the system cannot hold the command as wanted.
    pub fn judge(&self, kernel: Kernel) -> Result<(), Missing> {
        if !kernel.seccomp {
            return Err(Missing::Seccomp);
        }
        // Also with free files: it keeps protected folders from being written by way of other processes.
        let needed = match self.files {
            Files::Free | Files::Below(_) => LANDLOCK_FOR_FILES,
            Files::Nothing => LANDLOCK_FOR_NOTHING,
        };
        match kernel.landlock >= needed {
            true => Ok(()),
            false => Err(Missing::Landlock(kernel.landlock, needed)),
        }
    }

    /// Whether a place could be written if it were not protected.
    fn may_write(&self, path: &Path) -> bool {
        match &self.files {
            Files::Free => true,
            Files::Below(places) => places.iter().any(|it| path.starts_with(it)),
            Files::Nothing => false,
        }
    }

    /// Folders to be made read-only in the command's view, of those that are protected. Also those where nothing could be
    /// written: Landlock does not keep a file's mode, owner, times and attributes.
    fn shields(&self) -> Vec<&Path> {
        let is_any = match &self.files {
            Files::Free => true,
            Files::Below(places) => !places.is_empty(),
            Files::Nothing => false,
        };
        let all = self.protected.iter().map(PathBuf::as_path);
        all.filter(|_| is_any).collect()
    }

    /// Whether a protected folder could be made, moved or replaced: it, or something in it, lies where is written.
    fn could_be_replaced(&self, shield: &Path) -> bool {
        let is_above = |places: &[PathBuf]| places.iter().any(|it| it.starts_with(shield));
        self.may_write(shield) || matches!(&self.files, Files::Below(places) if is_above(places))
    }

    /// Folders above shields that could be renamed, so that another could take the shield's place; outermost first.
    fn pins(&self) -> Vec<&Path> {
        let mut pins: Vec<&Path> = Vec::new();
        for shield in self.shields() {
            for folder in shield.ancestors().skip(1) {
                let can_be_renamed = folder.parent().is_some_and(|it| self.may_write(it));
                if can_be_renamed && !pins.contains(&folder) {
                    pins.push(folder);
                }
            }
        }
        pins.sort();
        pins
    }

    /// In a few words, for whoever wonders why something failed.
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        if !self.network {
            words.push("no network");
        }
        match &self.files {
            Files::Free => {}
            Files::Below(_) => {
                words.push("writing only in the project and the folder for temporary files")
            }
            Files::Nothing => words.push("writing nothing"),
        }
        words.push("never writing Undine's own settings and history");
        words.join(", ")
    }
}

impl Kernel {
    /// This system's.
    pub fn look() -> Self {
        #[cfg(target_os = "linux")]
        {
            linux::kernel()
        }
        #[cfg(not(target_os = "linux"))]
        Self {
            landlock: 0,
            seccomp: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Files, Kernel, Missing, Sandbox};
    use std::path::{Path, PathBuf};

    fn sandbox(files: Files) -> Sandbox {
        Sandbox {
            network: false,
            files,
            protected: ["/home/me/.config/undine", "/home/me/p/.undine"]
                .map(PathBuf::from)
                .into(),
        }
    }

    #[test]
    fn what_the_system_cannot_hold_does_not_run() {
        let judge = |files, landlock, seccomp| sandbox(files).judge(Kernel { landlock, seccomp });
        let below = || Files::Below(vec!["/p".into()]);
        for landlock in 0..8 {
            assert_eq!(judge(below(), landlock, false), Err(Missing::Seccomp));
            assert_eq!(judge(Files::Nothing, landlock, true).is_ok(), landlock >= 6);
            assert_eq!(judge(below(), landlock, true).is_ok(), landlock >= 3);
            assert_eq!(judge(Files::Free, landlock, true).is_ok(), landlock >= 3);
        }
        let error = judge(below(), 0, true).unwrap_err().to_string();
        assert!(error.contains("Landlock version 0"), "{error}");
    }

    #[test]
    fn what_could_be_written_is_shielded_and_cannot_be_moved_away() {
        let held = |files| {
            let sandbox = sandbox(files);
            let owned = |all: Vec<&Path>| -> Vec<String> {
                all.iter().map(|it| it.display().to_string()).collect()
            };
            (owned(sandbox.shields()), owned(sandbox.pins()))
        };
        let both = ["/home/me/.config/undine", "/home/me/p/.undine"].map(str::to_owned);
        let both = Vec::from(both);
        assert_eq!(held(Files::Nothing), (vec![], vec![]));
        assert_eq!(held(Files::Below(vec![])), (vec![], vec![]));
        assert_eq!(
            held(Files::Below(vec!["/home/me/p".into()])),
            (both.clone(), vec![])
        );
        let (shields, pins) = held(Files::Free);
        assert_eq!(shields, both);
        assert_eq!(
            pins,
            ["/home", "/home/me", "/home/me/.config", "/home/me/p"]
        );
        // A folder for temporary files within a protected one opens nothing.
        let (shields, _) = held(Files::Below(vec!["/home/me/.config/undine/tmp".into()]));
        assert_eq!(shields, both);
    }
}
