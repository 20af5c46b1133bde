//! `session/close` and `session/delete`: letting a session go, and removing it with all that belongs to it (spec 13.2e).

use crate::errand::Errand;
use crate::event::SessionKey;
use crate::lsp::{Error, Reply, code, error};
use crate::main_loop::{Host, TaskKey};
use crate::process::background::Job;
use crate::scratchpad::Scratchpad;
use crate::store;
use protocol::acp;
use protocol::methods;
use std::path::PathBuf;
use std::sync::Arc;

/// What of a session outlives it for a moment.
pub(super) struct Closed {
    jobs: Vec<Arc<Job>>,
    scratchpad: Option<Scratchpad>,
}

impl Closed {
    /// Ends its processes, and then its scratchpad, in which they may have worked.
    async fn end(self) {
        for job in self.jobs {
            job.stop().await;
        }
        let scratchpad = self.scratchpad;
        // A fault in it was logged.
        let _ = tokio::task::spawn_blocking(move || drop(scratchpad)).await;
    }
}

impl Host {
    pub(crate) fn close_session(&mut self, params: &acp::CloseSessionRequest, reply: Reply) {
        let key = match self.known(&params.session_id) {
            Ok(key) => key,
            Err(error) => return reply.send::<methods::CloseSession>(Err(error)),
        };
        match self.close(&key) {
            Ok(closed) => drop(self.runtime.spawn(async move {
                closed.end().await;
                reply.send::<methods::CloseSession>(Ok(acp::CloseSessionResponse::new()));
            })),
            Err(error) => reply.send::<methods::CloseSession>(Err(error)),
        }
    }

    pub(crate) fn delete_session(&mut self, params: &acp::DeleteSessionRequest, reply: Reply) {
        let id = &params.session_id;
        // ACP has no folder here; ours rides beside it.
        let cwd = params.meta.as_ref().and_then(|it| it.get("undine"));
        let cwd = cwd.and_then(|it| it.get("cwd")?.as_str().map(PathBuf::from));
        let found = match self.locate(&id.0, cwd.as_deref()) {
            Ok(found) => found,
            Err(error) => return reply.send::<methods::DeleteSession>(Err(error)),
        };
        let closed = match self.known(id) {
            Ok(key) => match self.close(&key) {
                Ok(closed) => Some(closed),
                Err(error) => return reply.send::<methods::DeleteSession>(Err(error)),
            },
            Err(_) => None,
        };
        let folders = self.folders.clone();
        self.runtime.spawn(async move {
            if let Some(closed) = closed {
                closed.end().await;
            }
            let removed = tokio::task::spawn_blocking(move || match found.log.exists() {
                true => store::remove(&folders, &found.log).map_err(|it| it.to_string()),
                // Nothing was said in it.
                false => Ok(()),
            });
            let removed = removed.await;
            let removed = removed.unwrap_or_else(|_| Err("It was broken off.".to_owned()));
            reply.send::<methods::DeleteSession>(match removed {
                Ok(()) => Ok(acp::DeleteSessionResponse::new()),
                Err(text) => Err(error(code::REQUEST_FAILED, text)),
            });
        });
    }

    /// Ends all that a session does, and lets it go: its log is free when this returns.
    fn close(&mut self, key: &SessionKey) -> Result<Closed, Error> {
        let is_changing = |it: &Errand| it.session == *key && it.is_changing;
        if self.errands.values().any(is_changing) {
            let text = "Files are being changed for this session; close it when that is done.";
            return Err(error(code::REQUEST_FAILED, text));
        }
        self.cancel_session(key);
        self.end_all_agents(key);
        self.tasks.stop_fitting(|task| match task {
            TaskKey::Model(session, _)
            | TaskKey::Call(session, _)
            | TaskKey::Side(session, _)
            | TaskKey::Timer(session, _)
            | TaskKey::AgentTime(session)
            | TaskKey::AgentProgress(session)
            | TaskKey::Checkout(session, _)
            | TaskKey::Landing(session) => session == key,
            TaskKey::Errand(_) => false,
        });
        self.due.retain(|(session, _)| session != key);
        if self.task_session.as_ref() == Some(key) {
            self.task_session = None;
        }
        let jobs = self.jobs.list(key);
        let open = self.sessions.remove(key);
        Ok(Closed {
            jobs,
            scratchpad: open.and_then(|it| it.scratchpad),
        })
    }
}
