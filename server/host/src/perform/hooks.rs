//! Lets hooks hear of what happens in a session (spec 21.5).

use crate::endpoint;
use crate::event::{Event, SessionKey};
use crate::hooks::{Before, Runner};
use crate::main_loop::Host;
use crate::plan::Done;
use crate::session_host::OpenSession;
use crate::store::checkpoints::Action;
use engine::hooks::Happened;
use engine::session::Input;
use protocol::session::CallId;
use std::time::Duration;
use tokio::sync::mpsc;

impl Host {
    /// What hooks made of a call; its plan follows.
    pub(crate) fn hooked(&mut self, session: &SessionKey, call: CallId, before: Before) {
        for warning in before.warnings {
            self.warn_once(warning);
        }
        if let Some(arguments) = before.rewritten {
            self.step(session, Input::Rewritten(call, arguments));
        }
        for context in before.context {
            self.step(session, Input::Tell(format!("[A hook says:]\n{context}")));
        }
    }

    /// The hooks of a session, ready to run.
    pub(crate) fn hooks(&self, open: &OpenSession) -> Runner {
        Runner {
            hooks: open.told.hooks.clone(),
            session: open.key.to_string(),
            root: open.workspace.root().to_path_buf(),
            children: self.children.clone(),
            key_variables: endpoint::key_variables(&open.config).into(),
            secs: open.config.limits.hook_secs,
            grace: Duration::from_millis(open.config.limits.kill_grace_ms),
        }
    }

    /// Tells hooks what has happened, and waits for none of them.
    pub(crate) fn tell_hooks(&self, session: &SessionKey, happened: &Happened<'_>) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let hooks = self.hooks(open);
        if let Some(telling) = hooks.telling(happened) {
            let inbox = self.inbox.clone();
            self.runtime.spawn(async move {
                for warning in telling.await {
                    // A loop that is gone warns nobody.
                    let _ = inbox.send(Event::Warn(warning)).await;
                }
            });
        }
    }
}

/// Tells hooks how a call has ended, and waits for none of them. Of work that was not done they hear nothing.
pub(super) fn tell_of_end(
    hooks: &Runner,
    action: &Action,
    done: &Result<Done, String>,
    inbox: &mpsc::Sender<Event>,
) {
    let Some((is_error, text)) = said(done) else {
        return;
    };
    let (tool, input) = (&action.tool, &action.arguments);
    let happened = Happened::AfterToolUse {
        tool,
        input,
        is_error,
        text,
    };
    if let Some(telling) = hooks.telling(&happened) {
        let inbox = inbox.clone();
        tokio::spawn(async move {
            for warning in telling.await {
                // A loop that is gone warns nobody.
                let _ = inbox.send(Event::Warn(warning)).await;
            }
        });
    }
}

/// What an observer hears of finished work: whether it failed, and what the model is told. None of work that was not done.
fn said(done: &Result<Done, String>) -> Option<(bool, &str)> {
    match done {
        Ok(Done::Success { text, .. }) => Some((false, text)),
        Ok(Done::Cancelled | Done::Moved) => None,
        Err(text) => Some((true, text)),
    }
}
