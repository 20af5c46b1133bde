//! What we have asked the editor and not heard of yet.

use crate::event::SessionKey;
use engine::session::Question;
use protocol::acp;
use protocol::lsp;
use protocol::session::CallId;
use std::collections::{BTreeMap, HashMap, VecDeque};
use tokio::sync::oneshot;

/// A call of a session.
pub type CallKey = (SessionKey, CallId);

/// What an answer of the editor is for.
pub enum Pending {
    /// `session/request_permission`
    Permission(CallKey),
    /// `window/showMessageRequest` for a permission
    Message(CallKey),
    ApplyEdit(oneshot::Sender<Result<lsp::ApplyWorkspaceEditResult, String>>),
    Save(oneshot::Sender<bool>),
    Seen(oneshot::Sender<Option<serde_json::Value>>),
    Elicit(oneshot::Sender<Option<acp::ElicitationAction>>),
    /// Whether an errand shall be done, by its number.
    Errand(u64),
    /// Nothing hangs on it.
    Ignored,
}

#[derive(Default)]
pub struct Asking {
    next_id: i64,
    pending: HashMap<i64, Pending>,
    /// Permissions that are open, whatever shows them.
    pub questions: BTreeMap<CallKey, Question>,
    /// Those that wait for `window/showMessageRequest`, one at a time: some editors replace a second.
    queue: VecDeque<CallKey>,
    showing: Option<i64>,
}

impl Asking {
    pub fn open(&mut self, pending: Pending) -> i64 {
        self.next_id += 1;
        self.pending.insert(self.next_id, pending);
        self.next_id
    }

    pub fn answered(&mut self, id: i64) -> Option<Pending> {
        if self.showing == Some(id) {
            self.showing = None;
        }
        self.pending.remove(&id)
    }

    /// Forgets a permission; answers the request that shows it, if one does.
    pub fn close_question(&mut self, call: &CallKey) -> Option<i64> {
        self.questions.remove(call);
        self.queue.retain(|it| it != call);
        let id = self
            .pending
            .iter()
            .find_map(|(id, pending)| match pending {
                Pending::Permission(it) | Pending::Message(it) if it == call => Some(*id),
                Pending::Permission(_)
                | Pending::Message(_)
                | Pending::ApplyEdit(_)
                | Pending::Save(_)
                | Pending::Seen(_)
                | Pending::Elicit(_)
                | Pending::Errand(_)
                | Pending::Ignored => None,
            })?;
        self.answered(id);
        Some(id)
    }

    /// The requests of elicitations whose asker has gone.
    pub fn abandoned(&mut self) -> Vec<i64> {
        let gone: Vec<i64> = self
            .pending
            .iter()
            .filter(|(_, pending)| matches!(pending, Pending::Elicit(reply) if reply.is_closed()))
            .map(|(id, _)| *id)
            .collect();
        for id in &gone {
            self.pending.remove(id);
        }
        gone
    }

    pub fn enqueue_message(&mut self, call: CallKey) {
        self.queue.push_back(call);
    }

    /// The next permission to show as a message, if none is shown; it counts as shown from now on.
    pub fn next_message(&mut self) -> Option<(i64, CallKey)> {
        if self.showing.is_some() {
            return None;
        }
        let call = self.queue.pop_front()?;
        let id = self.open(Pending::Message(call.clone()));
        self.showing = Some(id);
        Some((id, call))
    }
}
