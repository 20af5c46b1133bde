//! System calls that a confined command does not get.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::super::{Files, Sandbox};

/// Calls, and what of their arguments makes them forbidden; nothing: all of them.
type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// What could undo the confinement, reach into other processes, or change the machine as a whole.
const NEVER: &[c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_bpf,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// What changes something without writing a file, and ways to other processes.
const CHANGING: &[c_long] = &[
    libc::SYS_socket,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// The same by older names, which newer processors do not have.
#[cfg(target_arch = "x86_64")]
const CHANGING_BEFORE: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const CHANGING_BEFORE: &[c_long] = &[];

/// How another process runs: by its number, as first argument. Programs that build and measure say it of their own
/// threads, which have numbers too, so only those that write nothing are kept from it.
const SCHEDULING: &[c_long] = &[
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

// The same number on all processors; not in every libc.
const SYS_FCHMODAT2: c_long = 452;
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;

/// Typing on a terminal in somebody's name.
const TERMINAL_REQUESTS: [u64; 2] = [0x5412, 0x541c];

/// Changing a file's attributes by a descriptor for reading.
const ATTRIBUTE_REQUESTS: [u64; 2] = [0x4008_6602, 0x401c_5820];

/// A namespace of one's own has capabilities in it.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Whether filters can be written for this processor, and taken by this kernel.
pub(super) fn are_possible() -> bool {
    // SAFETY: the call takes numbers only, and answers 0 or an error.
    let has_seccomp = unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) } >= 0;
    has_seccomp && TargetArch::try_from(std::env::consts::ARCH).is_ok()
}

pub(super) fn programs(sandbox: &Sandbox) -> Result<Vec<BpfProgram>, String> {
    make(sandbox).map_err(|error| format!("the filters of system calls cannot be made: {error}"))
}

fn make(sandbox: &Sandbox) -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let mut refused = refused()?;
    if sandbox.files == Files::Nothing {
        for call in CHANGING.iter().chain(CHANGING_BEFORE) {
            refused.insert(*call, Vec::new());
        }
        let requests = refused.entry(libc::SYS_ioctl).or_default();
        for request in ATTRIBUTE_REQUESTS {
            requests.push(rule(1, Dword, Eq, request)?);
        }
        for call in SCHEDULING {
            refused.insert(*call, vec![rule(0, Dword, Ne, 0)?]);
        }
    }
    let eperm = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let mut programs = vec![program(refused, eperm)?];
    // Its flags lie in memory, where no filter sees them; whoever hears that there is no such call, uses clone.
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    programs.push(program([(libc::SYS_clone3, Vec::new())].into(), unknown)?);
    if !sandbox.network && sandbox.files != Files::Nothing {
        programs.push(program(network()?, SeccompAction::KillProcess)?);
    }
    Ok(programs)
}

fn refused() -> Result<Rules, seccompiler::Error> {
    let mut rules: Rules = NEVER.iter().map(|call| (*call, Vec::new())).collect();
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        let mut of_call = Vec::new();
        for flag in NAMESPACES {
            let flag = u64::from(flag.cast_unsigned());
            of_call.push(rule(0, Qword, MaskedEq(flag), flag)?);
        }
        rules.insert(call, of_call);
    }
    let mut of_ioctl = Vec::new();
    for request in TERMINAL_REQUESTS {
        of_ioctl.push(rule(1, Dword, Eq, request)?);
    }
    rules.insert(libc::SYS_ioctl, of_ioctl);
    // Another process that may write no more, or has no time left, is as good as killed. Reading limits is free, and so
    // are one's own by the number 0, which is how libraries name them.
    let is_other = SeccompCondition::new(0, Dword, Ne, 0)?;
    let is_set = SeccompCondition::new(2, Qword, Ne, 0)?;
    let limits = vec![SeccompRule::new(vec![is_other, is_set])?];
    rules.insert(libc::SYS_prlimit64, limits);
    // Nor is another one slowed down. `nice` means itself by the number 0; a user means all that runs.
    for (call, of_user) in [(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)] {
        let slowed = vec![rule(1, Dword, Ne, 0)?, rule(0, Dword, Eq, of_user)?];
        rules.insert(call, slowed);
    }
    Ok(rules)
}

/// All sockets but those that stay on the machine: for other programs' files, and for asking the kernel.
fn network() -> Result<Rules, seccompiler::Error> {
    let is_other = |family: libc::c_int| {
        SeccompCondition::new(0, Dword, Ne, u64::from(family.cast_unsigned()))
    };
    let conditions = vec![is_other(libc::AF_UNIX)?, is_other(libc::AF_NETLINK)?];
    Ok([(libc::SYS_socket, vec![SeccompRule::new(conditions)?])].into())
}

fn rule(
    argument: u8,
    length: SeccompCmpArgLen,
    compare: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::Error> {
    let condition = SeccompCondition::new(argument, length, compare, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}

fn program(rules: Rules, action: SeccompAction) -> Result<BpfProgram, seccompiler::Error> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?;
    Ok(BpfProgram::try_from(filter)?)
}
