//! What a command is kept from, and whether this system can do so.
//!
//! Here is only what is wanted and the table that decides. [`linux`] does it, in the launcher, between the fork of a
//! command's process and the command; [`macos`] writes what `sandbox-exec` is told. What is wanted and cannot be had is no command at all: nothing ever runs
//! less confined than was asked for. Spec 7.

#[cfg(target_os = "linux")]
pub(super) mod linux;
#[cfg(any(target_os = "macos", test))]
pub(super) mod macos;

use std::path::{Path, PathBuf};

use protocol::config::{Filesystem, Network, Safety};
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
pub enum Kernel {
    Linux {
        /// The version of Landlock; 0: none.
        landlock: i32,
        /// Whether system calls can be filtered on this processor.
        seccomp: bool,
    },
    MacOs {
        /// Whether the program is there that confines others.
        sandbox_exec: bool,
    },
    /// Nothing is known of how to confine there.
    Other,
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
    #[error("this system has no /usr/bin/sandbox-exec, which confines commands on macOS")]
    SandboxExec,
    #[error("Undine does not know how to confine commands on this system")]
    System,
}

impl Sandbox {
    /// The decision table.
    ///
    /// # Errors
    /// If the system cannot hold the command as wanted.
    pub fn judge(&self, kernel: Kernel) -> Result<(), Missing> {
        let (landlock, seccomp) = match kernel {
            Kernel::Linux { landlock, seccomp } => (landlock, seccomp),
            Kernel::MacOs { sandbox_exec: true } => return Ok(()),
            Kernel::MacOs {
                sandbox_exec: false,
            } => return Err(Missing::SandboxExec),
            Kernel::Other => return Err(Missing::System),
        };
        if !seccomp {
            return Err(Missing::Seccomp);
        }
        // Also with free files: it keeps protected folders from being written by way of other processes.
        let needed = match self.files {
            Files::Free | Files::Below(_) => LANDLOCK_FOR_FILES,
            Files::Nothing => LANDLOCK_FOR_NOTHING,
        };
        match landlock >= needed {
            true => Ok(()),
            false => Err(Missing::Landlock(landlock, needed)),
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
    pub(super) fn shields(&self) -> Vec<&Path> {
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
        #[cfg(target_os = "macos")]
        {
            Self::MacOs {
                sandbox_exec: Path::new(macos::PROGRAM).exists(),
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "macos")))]
        {
            Self::Other
        }
    }

    /// Whether a command can be held to writing nothing (spec 7.3).
    pub fn holds_reading(self) -> bool {
        nothing().judge(self).is_ok()
    }
}

/// What the person may rely on here, in one line: for whoever asks how this system does.
pub fn describe(kernel: Kernel) -> String {
    match (nothing_below().judge(kernel), nothing().judge(kernel)) {
        (Ok(()), Ok(())) => {
            "Commands can be confined, and be held to reading (see safety.network and safety.filesystem).".to_owned()
        }
        (Ok(()), Err(missing)) => format!(
            "Commands can be confined (see safety.network and safety.filesystem), but not be held to reading: {missing}."
        ),
        (Err(missing), _) => format!(
            "Commands cannot be confined: {missing}. With safety.network = \"deny\" or safety.filesystem = \"project\" \
             no command runs."
        ),
    }
}

/// What the person is told who wants commands confined where they cannot be; missing where all is well.
pub fn warning(safety: &Safety, kernel: Kernel) -> Option<String> {
    let is_wanted = safety.network == Network::Deny || safety.filesystem == Filesystem::Project;
    let is_missing = nothing_below().judge(kernel).is_err();
    (is_wanted && is_missing).then(|| describe(kernel))
}

/// The least confinement there is.
fn nothing_below() -> Sandbox {
    Sandbox {
        files: Files::Below(Vec::new()),
        ..nothing()
    }
}

/// What writes nothing and reaches nobody.
fn nothing() -> Sandbox {
    Sandbox {
        network: false,
        files: Files::Nothing,
        protected: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Files, Kernel, Missing, Sandbox, describe, macos, warning};
    use expect_test::expect;
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
        let judge =
            |files, landlock, seccomp| sandbox(files).judge(Kernel::Linux { landlock, seccomp });
        let below = || Files::Below(vec!["/p".into()]);
        for landlock in 0..8 {
            assert_eq!(judge(below(), landlock, false), Err(Missing::Seccomp));
            assert_eq!(judge(Files::Nothing, landlock, true).is_ok(), landlock >= 6);
            assert_eq!(judge(below(), landlock, true).is_ok(), landlock >= 3);
            assert_eq!(judge(Files::Free, landlock, true).is_ok(), landlock >= 3);
        }
        let error = judge(below(), 0, true).unwrap_err().to_string();
        assert!(error.contains("Landlock version 0"), "{error}");
        for files in [Files::Free, below(), Files::Nothing] {
            let judge = |kernel| sandbox(files.clone()).judge(kernel);
            let mac = |sandbox_exec| Kernel::MacOs { sandbox_exec };
            assert_eq!(judge(mac(true)), Ok(()));
            assert_eq!(judge(mac(false)), Err(Missing::SandboxExec));
            assert_eq!(judge(Kernel::Other), Err(Missing::System));
        }
        assert!(Missing::SandboxExec.to_string().contains(macos::PROGRAM));
    }

    #[test]
    fn what_each_system_can_do_is_one_line() {
        let linux = |landlock, seccomp| Kernel::Linux { landlock, seccomp };
        let kernels = [
            linux(7, true),
            linux(3, true),
            linux(0, true),
            linux(7, false),
            Kernel::MacOs { sandbox_exec: true },
            Kernel::Other,
        ];
        let lines: Vec<String> = kernels.iter().map(|it| describe(*it)).collect();
        expect![[r#"
            Commands can be confined, and be held to reading (see safety.network and safety.filesystem).
            Commands can be confined (see safety.network and safety.filesystem), but not be held to reading: this system has Landlock version 3, and confining commands needs 6 (0: it is missing or switched off).
            Commands cannot be confined: this system has Landlock version 0, and confining commands needs 3 (0: it is missing or switched off). With safety.network = "deny" or safety.filesystem = "project" no command runs.
            Commands cannot be confined: this system has no seccomp filters, which keep commands from the network. With safety.network = "deny" or safety.filesystem = "project" no command runs.
            Commands can be confined, and be held to reading (see safety.network and safety.filesystem).
            Commands cannot be confined: Undine does not know how to confine commands on this system. With safety.network = "deny" or safety.filesystem = "project" no command runs."#]].assert_eq(&lines.join("\n"));
        let held: Vec<bool> = kernels.iter().map(|it| it.holds_reading()).collect();
        assert_eq!(held, [true, false, false, false, true, false]);
    }

    #[test]
    fn who_wants_what_cannot_be_had_is_told() {
        use protocol::config::{Filesystem, Network, Safety};
        let free = Safety::default();
        let no_network = Safety {
            network: Network::Deny,
            ..Safety::default()
        };
        let project = Safety {
            filesystem: Filesystem::Project,
            ..Safety::default()
        };
        let able = Kernel::MacOs { sandbox_exec: true };
        for wanted in [&no_network, &project] {
            assert_eq!(warning(wanted, able), None);
            let told = warning(wanted, Kernel::Other).unwrap();
            assert!(told.starts_with("Commands cannot be confined"), "{told}");
        }
        assert_eq!(warning(&free, Kernel::Other), None);
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
