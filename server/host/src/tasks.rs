//! The tasks that wait on the world for the main loop: one a model stream, plan, call.
//!
//! Each holds a token and reports by events. Stopping is always the same: the token, a grace, abort.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long a stopped task may take to end by itself.
const GRACE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Tasks<K> {
    runtime: Handle,
    running: HashMap<K, (CancellationToken, JoinHandle<()>)>,
}

impl<K: Eq + Hash> Tasks<K> {
    pub fn new(runtime: Handle) -> Self {
        Self {
            runtime,
            running: HashMap::new(),
        }
    }

    /// Starts a task under a key; one that still runs under it is stopped.
    pub fn spawn<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        key: K,
        start: impl FnOnce(CancellationToken) -> F,
    ) {
        let token = CancellationToken::new();
        let task = self.runtime.spawn(start(token.clone()));
        self.running.retain(|_, (_, task)| !task.is_finished());
        if let Some(old) = self.running.insert(key, (token, task)) {
            self.end(old);
        }
    }

    /// Stops a task. What it reports from now on is stale, and the session drops it.
    pub fn stop(&mut self, key: &K) {
        if let Some(task) = self.running.remove(key) {
            self.end(task);
        }
    }

    fn end(&self, (token, task): (CancellationToken, JoinHandle<()>)) {
        token.cancel();
        self.runtime.spawn(async move {
            let abort = task.abort_handle();
            if tokio::time::timeout(GRACE, task).await.is_err() {
                abort.abort();
            }
        });
    }

    /// Stops all tasks whose keys fit.
    pub fn stop_fitting(&mut self, fits: impl Fn(&K) -> bool)
    where
        K: Clone,
    {
        let fitting = self.running.keys().filter(|it| fits(it)).cloned();
        for key in fitting.collect::<Vec<K>>() {
            self.stop(&key);
        }
    }

    /// Tells all tasks to stop and does not wait.
    pub fn stop_all(&mut self) {
        for (_, (token, _)) in self.running.drain() {
            token.cancel();
        }
    }
}
