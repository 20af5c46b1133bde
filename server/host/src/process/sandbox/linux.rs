//! Confinement on Linux: Landlock for files and other processes, seccomp for system calls, and a view of the file
//! system in which protected folders are read-only.
//!
//! [`Prepared`] is made in the launcher, which stays free; [`Prepared::enter`] is called in the command's process.
//! Landlock only ever allows whole trees, so a folder within a writable one is protected by a mount. Where the
//! system lets neither root nor a user namespace mount, nothing runs that would need it.

mod filters;
mod mounts;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use seccompiler::BpfProgram;

use super::{Files, Kernel, Sandbox};
use mounts::Mounts;

/// Devices that keep nothing, the command's terminal and new ones.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Of these, what a command that writes nothing may write to.
const DISCARDING: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

pub(in super::super) struct Prepared {
    mounts: Mounts,
    ruleset: OwnedFd,
    filters: Vec<BpfProgram>,
    drops_capabilities: bool,
}

/// What this kernel can do.
pub(super) fn kernel() -> Kernel {
    const VERSION: libc::c_ulong = 1;
    // SAFETY: with this flag the call takes no memory and only answers a number.
    let landlock = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    Kernel::Linux {
        landlock: i32::try_from(landlock).unwrap_or(0).max(0),
        seccomp: filters::are_possible(),
    }
}

impl Prepared {
    /// Everything that can fail or needs memory. `temporary` is a folder of the command's own, where it may write
    /// even if it may write nothing.
    ///
    /// # Errors
    /// A sentence, without its dot, on what cannot be had.
    pub(in super::super) fn new(
        sandbox: &Sandbox,
        temporary: Option<&Path>,
    ) -> Result<Self, String> {
        sandbox.judge(kernel()).map_err(|it| it.to_string())?;
        let ruleset = ruleset(sandbox, temporary)
            .map_err(|error| format!("Landlock refused its rules: {error}"))?
            .ok_or("Landlock made no rules")?;
        Ok(Self {
            mounts: Mounts::new(sandbox)?,
            ruleset,
            filters: filters::programs(sandbox)?,
            drops_capabilities: sandbox.files == Files::Nothing,
        })
    }

    /// Confines the calling process, for good. In this order: what comes later forbids what comes before.
    ///
    /// # Errors
    /// A sentence, without its dot; the process must not go on.
    pub(in super::super) fn enter(&self) -> Result<(), String> {
        self.mounts.make()?;
        let told = |what: &str| format!("{what}: {}", io::Error::last_os_error());
        if self.drops_capabilities {
            drop_capabilities();
        }
        // SAFETY: the call takes numbers only.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return Err(told("new privileges could not be ruled out"));
        }
        // SAFETY: the descriptor is open, and the call takes numbers only.
        let restricted = unsafe {
            libc::syscall(
                libc::SYS_landlock_restrict_self,
                self.ruleset.as_raw_fd(),
                0_u32,
            )
        };
        if restricted != 0 {
            return Err(told("Landlock refused"));
        }
        for filter in &self.filters {
            seccompiler::apply_filter(filter).map_err(|it| format!("seccomp refused: {it}"))?;
        }
        Ok(())
    }
}

fn ruleset(sandbox: &Sandbox, temporary: Option<&Path>) -> Result<Option<OwnedFd>, RulesetError> {
    // What every kernel has that `judge` lets through; new rights would be refused silently or not at all.
    let writing = AccessFs::from_write(ABI::V3);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(writing)?;
    match sandbox.files {
        Files::Nothing => ruleset = ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket)?,
        // Signals cannot be kept in by older kernels.
        Files::Free | Files::Below(_) => {
            ruleset = ruleset
                .set_compatibility(CompatLevel::BestEffort)
                .scope(Scope::Signal)?
                .set_compatibility(CompatLevel::HardRequirement);
        }
    }
    let mut created = ruleset.create()?;
    let mut allow = |path: &Path, rights: BitFlags<AccessFs>| -> Result<(), RulesetError> {
        // What is not there cannot be written.
        let (Ok(fd), Ok(meta)) = (PathFd::new(path), std::fs::metadata(path)) else {
            return Ok(());
        };
        let rights = match meta.is_dir() {
            true => rights,
            false => rights & AccessFs::from_file(ABI::V3),
        };
        (&mut created).add_rule(PathBeneath::new(fd, rights))?;
        Ok(())
    };
    // Root could make the disk itself a file of the project.
    let rights = writing & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    if let Some(place) = temporary {
        // Nor may anything get in that has another name elsewhere.
        allow(place, rights & !AccessFs::Refer)?;
    }
    match &sandbox.files {
        Files::Free => allow(Path::new("/"), writing)?,
        Files::Below(places) => {
            for place in places {
                allow(place, rights)?;
            }
            for device in DEVICES {
                allow(Path::new(device), rights)?;
            }
        }
        Files::Nothing => {
            for device in DISCARDING {
                allow(Path::new(device), writing)?;
            }
        }
    }
    Ok(created.into())
}

/// A process of root's would have them still.
fn drop_capabilities() {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: libc::c_int,
    }
    /// Of the kernel's third version, with two words for each set.
    const VERSION: u32 = 0x2008_0522;
    let header = Header {
        version: VERSION,
        pid: 0,
    };
    let none = [0_u32; 6];
    // SAFETY: the calls take numbers, and two structures of the size that this version has, which they only read.
    // Who has no capabilities is refused some of them, and has none then either.
    unsafe {
        for capability in 0..64 {
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
        libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr());
    }
}
