//! Knows that commands are running, so that the server can end them all when it ends.
//!
//! There is no list and no lock: each command holds a [`Place`], which counts it and through which
//! it hears that all must stop. The killing is the launchers' work.
//!
//! What ends commands, from the gentlest to the rudest, and each suffices alone: a call's token;
//! dropping the future of [`run`](crate::process::run); [`Children::stop_all`]; and the end of this
//! process in whatever way (`exit`, a panic, `kill -9`), because the kernel then closes the control
//! channels and the launchers see that.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::process::launcher::Launcher;

/// How long [`Children::stop_all`] waits at most.
const STOP_WAIT: Duration = Duration::from_secs(1);

/// The running commands of this server. One owner; commands get places.
#[derive(Debug)]
pub struct Children {
    launcher: Arc<Launcher>,
    stop: CancellationToken,
    running: TaskTracker,
}

/// The right to run one command.
#[derive(Debug)]
pub struct Place {
    launcher: Arc<Launcher>,
    stop: CancellationToken,
    _counted: TaskTrackerToken,
}

impl Children {
    pub fn new(launcher: Launcher) -> Self {
        Self {
            launcher: Arc::new(launcher),
            stop: CancellationToken::new(),
            running: TaskTracker::new(),
        }
    }

    /// A place for one more command. After a stop the command will be cancelled before it starts.
    pub fn place(&self) -> Place {
        Place {
            launcher: self.launcher.clone(),
            stop: self.stop.clone(),
            _counted: self.running.token(),
        }
    }

    /// How many places are taken.
    pub fn n_running(&self) -> usize {
        self.running.len()
    }

    /// Ends all commands and waits, for one second at most, until they are gone. True when they are.
    ///
    /// False is no reason to wait longer: the launchers go on without us.
    pub async fn stop_all(&self) -> bool {
        self.stop_now();
        self.running.close();
        tokio::time::timeout(STOP_WAIT, self.running.wait())
            .await
            .is_ok()
    }

    /// Tells all commands to end and does not wait. For the way out that cannot wait; if
    /// `std::process::exit` follows at once, closing the channels does the same.
    pub fn stop_now(&self) {
        self.stop.cancel();
    }
}

impl Place {
    /// Resolves when all commands must stop.
    pub(super) fn stopping(&self) -> WaitForCancellationFuture<'_> {
        self.stop.cancelled()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    pub(super) fn launcher(&self) -> &Launcher {
        &self.launcher
    }
}
