//! Who belongs to a command, and signals to all of them.
//!
//! On Linux everybody the command ever started is a descendant of the launcher, because orphans come
//! to it. Elsewhere the process group is all there is: who leaves it, gets away.

use nix::unistd::Pid;

#[cfg(not(target_os = "linux"))]
pub(super) use group::{LOOK_AGAIN, adopt, ask, die_with_launcher, has_strays, kill, kill_below};
#[cfg(target_os = "linux")]
pub(super) use linux::{LOOK_AGAIN, adopt, ask, die_with_launcher, has_strays, kill, kill_below};

/// The command's own process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shell {
    pub(super) pid: Pid,
    /// True once it was waited for: from then on its number may become somebody else's.
    pub(super) reaped: bool,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{HashMap, HashSet};
    use std::fs;
    use std::time::Duration;

    use nix::sys::signal::{self, Signal, killpg};
    use nix::unistd::{Pid, getpgrp, getpid};

    use super::Shell;

    /// All ends arrive as SIGCHLD, so there is no need to look in between.
    pub(in super::super) const LOOK_AGAIN: Duration = Duration::MAX;

    /// Makes this process the one that orphans of its tree come to, and keeps descriptors which the
    /// server inherited from its editor away from commands.
    pub(in super::super) fn adopt() {
        let _ = nix::sys::prctl::set_child_subreaper(true);
        let _ = nix::sys::prctl::set_name(c"undine-launch");
        // SAFETY: the call takes three numbers and only sets CLOEXEC flags. Kernels before 5.11
        // refuse it, which leaves things as they were.
        unsafe {
            libc::syscall(
                libc::SYS_close_range,
                3,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            )
        };
    }

    /// Called in the child between fork and exec. A second net for the case that the launcher itself
    /// is killed; the launcher has one thread, so "the parent thread ended" means just that.
    pub(in super::super) fn die_with_launcher() {
        let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    }

    /// Nobody is hidden: who has no parent is our child.
    pub(in super::super) fn has_strays(_shell: Pid) -> bool {
        false
    }

    /// Sends TERM to everybody who is not among the `asked` yet: one who is busy cleaning up should
    /// not be disturbed by a second one.
    pub(in super::super) fn ask(shell: Shell, asked: &mut HashSet<Pid>) {
        let mut processes = descendants(getpid());
        if processes.is_empty() && !shell.reaped {
            // No `/proc` here. The shell at least is there.
            processes.push(Process {
                pid: shell.pid,
                is_zombie: false,
                parent: getpid(),
                group: shell.pid,
            });
        }
        for process in processes {
            if asked.insert(process.pid) {
                let _ = signal::kill(process.pid, Signal::SIGTERM);
            }
        }
    }

    /// Sends KILL to everybody.
    ///
    /// By group where it can: the kernel signals a group at once, so that its members cannot fork
    /// themselves out of it. A descendant's group is only descendants: groups live within sessions,
    /// and the launcher's own session began with it. The launcher's own group is the exception, and
    /// a descendant can join it.
    pub(in super::super) fn kill(shell: Shell) {
        let own_group = getpgrp();
        let mut killed = HashSet::new();
        if !shell.reaped {
            let _ = killpg(shell.pid, Signal::SIGKILL);
            killed.insert(shell.pid);
        }
        for process in descendants(getpid()) {
            if process.group == own_group {
                let _ = signal::kill(process.pid, Signal::SIGKILL);
            } else if killed.insert(process.group) {
                let _ = killpg(process.group, Signal::SIGKILL);
            }
        }
    }

    /// Sends KILL to all below another process, which does not wait for them. True if there were any who live.
    ///
    /// One by one: the group of that process need not be free of others.
    pub(in super::super) fn kill_below(root: Pid) -> bool {
        let mut n_alive = 0_usize;
        for process in descendants(root) {
            // A zombie too: of one whose main thread has ended others may live.
            let _ = signal::kill(process.pid, Signal::SIGKILL);
            n_alive += usize::from(!process.is_zombie);
        }
        n_alive > 0
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Process {
        pub(super) pid: Pid,
        pub(super) is_zombie: bool,
        pub(super) parent: Pid,
        pub(super) group: Pid,
    }

    /// All processes below `root`, in no order. Empty without a readable `/proc`.
    fn descendants(root: Pid) -> Vec<Process> {
        let mut by_parent: HashMap<Pid, Vec<Process>> = HashMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|it| it.parse().ok()) else {
                continue;
            };
            // Gone since the directory was read.
            let Ok(stat) = fs::read(entry.path().join("stat")) else {
                continue;
            };
            if let Some(process) = parse(Pid::from_raw(pid), &stat) {
                by_parent.entry(process.parent).or_default().push(process);
            }
        }
        let mut found = by_parent.remove(&root).unwrap_or_default();
        let mut n_seen = 0;
        while let Some(process) = found.get(n_seen) {
            let children = by_parent.remove(&process.pid).unwrap_or_default();
            found.extend(children);
            n_seen += 1;
        }
        found
    }

    /// Reads a line of `/proc/PID/stat`: `pid (name) state parent group …`. The name may hold spaces
    /// and parentheses, and need not be UTF-8. Zombies count: one whose main thread has ended may have
    /// others that live.
    pub(super) fn parse(pid: Pid, stat: &[u8]) -> Option<Process> {
        let after_name = stat.iter().rposition(|it| *it == b')')? + 1;
        let mut fields = std::str::from_utf8(&stat[after_name..])
            .ok()?
            .split_ascii_whitespace();
        let is_zombie = fields.next()? == "Z";
        let parent = Pid::from_raw(fields.next()?.parse().ok()?);
        let group = Pid::from_raw(fields.next()?.parse().ok()?);
        Some(Process {
            pid,
            is_zombie,
            parent,
            group,
        })
    }

    #[cfg(test)]
    mod tests {
        use super::{Pid, Process, parse};

        #[test]
        fn a_process_named_like_a_stat_line_is_read_right() {
            let pid = Pid::from_raw(42);
            let expected = Process {
                pid,
                is_zombie: false,
                parent: Pid::from_raw(7),
                group: Pid::from_raw(40),
            };
            let zombie = Process {
                is_zombie: true,
                ..expected
            };
            assert_eq!(parse(pid, b"42 (a) Z 1 (1) S 7 40 40 0 -1"), Some(expected));
            assert_eq!(parse(pid, b"42 (\xff) S 7 40 40 0 -1"), Some(expected));
            assert_eq!(parse(pid, b"42 (sh) Z 7 40 40 0 -1"), Some(zombie));
            assert_eq!(parse(pid, b""), None);
        }
    }
}

/// The plain fallback: the command's process group.
#[cfg(not(target_os = "linux"))]
mod group {
    use std::collections::HashSet;
    use std::time::Duration;

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    use super::Shell;

    /// Orphans are not our children here, so nothing tells of their end.
    pub(in super::super) const LOOK_AGAIN: Duration = Duration::from_millis(5);

    pub(in super::super) fn adopt() {}

    pub(in super::super) fn die_with_launcher() {}

    /// Whether the group still has members. Its number cannot be given away while it has.
    pub(in super::super) fn has_strays(shell: Pid) -> bool {
        killpg(shell, None).is_ok()
    }

    /// Sends TERM to the group, once.
    pub(in super::super) fn ask(shell: Shell, asked: &mut HashSet<Pid>) {
        if asked.insert(shell.pid) && is_ours(shell) {
            let _ = killpg(shell.pid, Signal::SIGTERM);
        }
    }

    pub(in super::super) fn kill(shell: Shell) {
        if is_ours(shell) {
            let _ = killpg(shell.pid, Signal::SIGKILL);
        }
    }

    /// Who they are is not known here.
    pub(in super::super) fn kill_below(_root: Pid) -> bool {
        false
    }

    /// Whether the number is certain to be the command's group still.
    fn is_ours(shell: Shell) -> bool {
        !shell.reaped || has_strays(shell.pid)
    }
}
