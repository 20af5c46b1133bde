//! What we have asked the editor and not heard of yet.

use crate::event::{Chosen, SessionKey};
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
    /// `window/showMessageRequest` for a question of the model's
    Choice(oneshot::Sender<Option<Chosen>>),
    /// Whether an errand shall be done, by its number.
    Errand(u64),
    /// Nothing hangs on it.
    Ignored,
}

/// A question with choices, for an editor that knows no forms.
pub struct Choice {
    pub message: String,
    /// The titles of what can be chosen.
    pub actions: Vec<String>,
    pub reply: oneshot::Sender<Option<Chosen>>,
}

/// What waits to be shown as a message.
enum Waiting {
    Permission(CallKey),
    Choice(Choice),
}

/// What is shown as a message next.
pub enum Message {
    Permission(CallKey),
    Choice {
        message: String,
        actions: Vec<String>,
    },
}

#[derive(Default)]
pub struct Asking {
    next_id: i64,
    pending: HashMap<i64, Pending>,
    /// Permissions that are open, whatever shows them.
    pub questions: BTreeMap<CallKey, Question>,
    /// What waits for `window/showMessageRequest`, one at a time: some editors replace a second.
    queue: VecDeque<Waiting>,
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
        self.queue.retain(|it| match it {
            Waiting::Permission(it) => it != call,
            Waiting::Choice(_) => true,
        });
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
                | Pending::Choice(_)
                | Pending::Errand(_)
                | Pending::Ignored => None,
            })?;
        self.answered(id);
        Some(id)
    }

    /// The requests of questions whose asker has gone. A message among them makes room for the next one.
    pub fn abandoned(&mut self) -> Vec<i64> {
        self.queue.retain(|it| match it {
            Waiting::Permission(_) => true,
            Waiting::Choice(it) => !it.reply.is_closed(),
        });
        let is_gone = |it: &Pending| match it {
            Pending::Elicit(reply) => reply.is_closed(),
            Pending::Choice(reply) => reply.is_closed(),
            Pending::Seen(reply) => reply.is_closed(),
            Pending::Permission(_)
            | Pending::Message(_)
            | Pending::ApplyEdit(_)
            | Pending::Save(_)
            | Pending::Errand(_)
            | Pending::Ignored => false,
        };
        let gone = self.pending.iter().filter(|(_, it)| is_gone(it));
        let gone: Vec<i64> = gone.map(|(id, _)| *id).collect();
        for id in &gone {
            self.answered(*id);
        }
        gone
    }

    pub fn enqueue_message(&mut self, call: CallKey) {
        self.queue.push_back(Waiting::Permission(call));
    }

    pub fn enqueue_choice(&mut self, choice: Choice) {
        self.queue.push_back(Waiting::Choice(choice));
    }

    /// The next message to show, if none is shown; it counts as shown from now on.
    pub fn next_message(&mut self) -> Option<(i64, Message)> {
        if self.showing.is_some() {
            return None;
        }
        let (pending, message) = match self.queue.pop_front()? {
            Waiting::Permission(call) => {
                (Pending::Message(call.clone()), Message::Permission(call))
            }
            Waiting::Choice(Choice {
                message,
                actions,
                reply,
            }) => {
                let shown = Message::Choice { message, actions };
                (Pending::Choice(reply), shown)
            }
        };
        let id = self.open(pending);
        self.showing = Some(id);
        Some((id, message))
    }
}
