//! Notices that the process which started us is gone, though it left its pipes open.
//!
//! LSP 3.18, `initialize.processId`: the server ends when that process is not alive.

use std::time::Duration;

/// How often to look where the kernel does not tell.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Resolves when the process has ended.
///
/// Never resolves if no such process exists at the start: then the number belongs to another host or
/// container, and says nothing about our editor. Nor does it on systems without process ids as we
/// know them. A zombie counts as ended where the kernel has pidfds (Linux 5.3).
pub async fn gone(pid: u32) {
    #[cfg(unix)]
    match unix::watch(pid) {
        unix::Watch::Never => std::future::pending().await,
        unix::Watch::Poll(pid) => unix::poll(pid, LOOK_AGAIN).await,
        #[cfg(target_os = "linux")]
        unix::Watch::Descriptor(fd, pid) => unix::readable(fd, pid).await,
    }
    #[cfg(not(unix))]
    {
        let _ = (pid, LOOK_AGAIN);
        std::future::pending().await
    }
}

#[cfg(unix)]
mod unix {
    use std::time::Duration;

    use nix::errno::Errno;
    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    /// How the end of a process can be learnt.
    #[derive(Debug)]
    pub(super) enum Watch {
        /// It does not exist here.
        Never,
        /// By asking again and again.
        Poll(Pid),
        /// From a pidfd, which becomes readable.
        #[cfg(target_os = "linux")]
        Descriptor(std::os::fd::OwnedFd, Pid),
    }

    pub(super) fn watch(pid: u32) -> Watch {
        // 0 and what does not fit would mean groups, or all processes, to `kill`.
        let Some(pid) = i32::try_from(pid)
            .ok()
            .filter(|it| *it > 0)
            .map(Pid::from_raw)
        else {
            return Watch::Never;
        };
        #[cfg(target_os = "linux")]
        match open(pid) {
            Ok(fd) => return Watch::Descriptor(fd, pid),
            Err(Errno::ESRCH) => return Watch::Never,
            // An old kernel, or a sandbox that does not know the call.
            Err(_) => {}
        }
        if exists(pid) {
            Watch::Poll(pid)
        } else {
            Watch::Never
        }
    }

    pub(super) async fn poll(pid: Pid, every: Duration) {
        while exists(pid) {
            tokio::time::sleep(every).await;
        }
    }

    /// Also true for a process of another user, which may not be signalled.
    fn exists(pid: Pid) -> bool {
        kill(pid, None) != Err(Errno::ESRCH)
    }

    #[cfg(target_os = "linux")]
    fn open(pid: Pid) -> Result<std::os::fd::OwnedFd, Errno> {
        use std::os::fd::{FromRawFd, OwnedFd, RawFd};

        // SAFETY: the call takes two numbers. The descriptor is new, with CLOEXEC, and ours alone.
        unsafe {
            let fd = Errno::result(libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0))?;
            // A descriptor is an int; the wrapper for all calls returns a long.
            Ok(OwnedFd::from_raw_fd(fd as RawFd))
        }
    }

    #[cfg(target_os = "linux")]
    pub(super) async fn readable(fd: std::os::fd::OwnedFd, pid: Pid) {
        use tokio::io::Interest;
        use tokio::io::unix::AsyncFd;

        // SAFETY: an OwnedFd keeps its one descriptor open until it is dropped, which AsyncFd does
        // after it has taken it off the reactor.
        match unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) } {
            Ok(fd) => {
                if fd.readable().await.is_err() {
                    // The runtime is shutting down; nobody waits for an answer.
                    std::future::pending().await
                }
            }
            Err(_) => poll(pid, super::LOOK_AGAIN).await,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use nix::unistd::Pid;

    use super::gone;
    use super::unix::{Watch, poll, watch};

    fn child() -> Child {
        Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn run(future: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let ended =
            runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), future).await });
        assert!(ended.is_ok(), "nothing was noticed");
    }

    #[test]
    fn the_end_of_a_process_is_noticed_even_before_it_is_waited_for() {
        let mut child = child();
        run(async {
            let gone = gone(child.id());
            tokio::pin!(gone);
            assert!(futures_util::poll!(gone.as_mut()).is_pending());
            child.kill().unwrap();
            gone.await;
        });
        child.wait().unwrap();
    }

    #[test]
    fn without_pidfds_the_end_is_noticed_too() {
        let mut child = child();
        let pid = Pid::from_raw(child.id().cast_signed());
        run(async {
            let gone = poll(pid, Duration::from_millis(1));
            tokio::pin!(gone);
            assert!(futures_util::poll!(gone.as_mut()).is_pending());
            child.kill().unwrap();
            child.wait().unwrap();
            gone.await;
        });
    }

    #[test]
    fn a_number_nobody_has_says_nothing() {
        let mut child = child();
        child.kill().unwrap();
        child.wait().unwrap();
        for pid in [child.id(), 0, u32::MAX] {
            assert!(matches!(watch(pid), Watch::Never), "{pid}");
        }
    }
}
