//! Actions that wait for an approval: storing them, and running one when the person approves it.

mod again;
mod words;

pub(crate) use words::{denied, line, whole};

use crate::errand::Asker;
use crate::event::{Approve, Approved, SessionKey};
use crate::main_loop::Host;
use crate::plan::TextHash;
use crate::show;
use crate::store::approvals::{Approval, ApprovalError, Approvals, Claim, Offer, State, VERSION};
use crate::store::now_ms;
use engine::redact::redact;
use engine::session::{Action, Input, Planned, Replay, ReplayEnd};
use engine::text::DISPLAY_CAP;
use protocol::acp;
use protocol::record::Stands;
use protocol::session::CallId;
use protocol::tool::Outcome;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A stored action that runs.
pub struct Approving {
    claim: Claim,
    waiter: Waiter,
}

/// Who waits for what becomes of it.
enum Waiter {
    /// The command line.
    Command(oneshot::Sender<Approved>),
    /// An errand, by its number.
    Errand(u64),
    /// An errand that has restored a checkpoint, and what is said of that.
    Restore(u64, String),
}

/// What is said of a command that a death cut off. A change of files is all or nothing, and can be looked for.
const BROKEN_OFF: &str = "It was begun before and broken off, and nobody can say how far it came. Nothing was done now: \
     look at the present state, and approve it again to run it again.";

impl Host {
    /// Stores an action. Here and not in a task, because the call waits for it, and nobody else is about.
    pub(crate) fn queue_approval(&mut self, session: &SessionKey, call: CallId, action: Action) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let approval = Approval {
            v: VERSION,
            id: String::new(),
            time: now_ms(),
            project: open.workspace.root().to_path_buf(),
            session: session.to_string(),
            call,
            tool: action.tool,
            arguments: action.arguments,
            mode: open.session.mode(),
            risk: None,
            offer: self.offer(session, call, &action.plan),
            state: State::Pending,
        };
        let stored = Approvals::new(&self.folders.data).add(approval);
        let stored = stored.map_err(|error| format!("it cannot be kept for later ({error})."));
        self.due
            .push_back((session.clone(), Input::Queued(call, stored)));
    }

    /// What the person approves, of a call whose plan is at hand.
    fn offer(&self, session: &SessionKey, call: CallId, planned: &Planned) -> Offer {
        let plan = self
            .sessions
            .get(session)
            .and_then(|it| it.plans.get(&call));
        Offer {
            title: planned.title.clone(),
            shown: planned.shown.clone(),
            preview: show::plain(&planned.preview, 3, DISPLAY_CAP)
                .trim_start_matches('\n')
                .to_owned(),
            files: plan.map_or(Vec::new(), |it| it.files()),
        }
    }

    /// Runs a stored action in its session, or says why not.
    pub(crate) fn approve(&mut self, approve: Approve) {
        let Approve { claim, reply } = approve;
        self.run_approved(claim, Waiter::Command(reply));
    }

    fn run_approved(&mut self, claim: Claim, waiter: Waiter) {
        let approval = claim.approval().clone();
        match self.begin_approved(claim) {
            Ok((key, claim, is_done)) => {
                let approving = Approving { claim, waiter };
                self.approving.insert(approval.id.clone(), approving);
                let mode = self.sessions[&key].config.safety.mode;
                let replay = Replay {
                    approval: approval.id,
                    tool: approval.tool,
                    arguments: approval.arguments,
                    title: approval.offer.title,
                    shown: approval.offer.shown,
                    mode,
                    is_done,
                };
                self.step(&key, Input::Replay(Box::new(replay)));
            }
            Err(why) => self.tell_waiter(waiter, &approval.id, Approved::Refused(why)),
        }
    }

    /// Opens the session of a stored action, and notes that the action runs. Answers also whether its effect is
    /// there already.
    fn begin_approved(&mut self, mut claim: Claim) -> Result<(SessionKey, Claim, bool), String> {
        let approval = claim.approval().clone();
        let key = self.session_of(&approval)?;
        let was_begun = matches!(approval.state, State::Running { .. });
        // Read here, since it happens only after a death.
        let is_done = was_begun && self.is_effect_there(&approval.offer);
        let Some(open) = self.sessions.get_mut(&key) else {
            return Err("The session of this action cannot be opened.".to_owned());
        };
        let unsaved =
            |error| format!("Nothing was done, because the queue cannot be written ({error}).");
        let is_known = is_done || open.session.has_replayed(&approval.id);
        if was_begun && !is_known && approval.offer.files.is_empty() {
            claim.set(State::Pending).map_err(unsaved)?;
            return Err(BROKEN_OFF.to_owned());
        }
        // What the model knew of the files when it asked: a file that is another now is not written over.
        let known = approval.offer.files.iter().filter_map(|it| {
            let hash = hash_of(it.before.as_deref()?)?;
            Some((it.path.clone(), hash))
        });
        Arc::make_mut(&mut open.seen).extend(known);
        let since = now_ms();
        claim.set(State::Running { since }).map_err(unsaved)?;
        Ok((key, claim, is_done))
    }

    /// Whether the files are what an action would make of them. Never so for one that changes none.
    fn is_effect_there(&self, offer: &Offer) -> bool {
        let files = &offer.files;
        !files.is_empty() && files.iter().all(|it| self.stands(it) == Stands::AtNew)
    }

    /// The session that asked for an action; another one if its log is gone, whose model then hears nothing of it.
    fn session_of(&mut self, approval: &Approval) -> Result<SessionKey, String> {
        if let Some((key, _)) = self.sessions.get_key_value(approval.session.as_str()) {
            return Ok(key.clone());
        }
        let project = &approval.project;
        let folder = self.folders.conversations(project);
        let is_there = crate::store::path(&folder, &approval.session).is_ok();
        let opened = match is_there {
            true => {
                let id = acp::SessionId::new(approval.session.as_str());
                let params = acp::LoadSessionRequest::new(id.clone(), project);
                self.open_logged(params).and_then(|_| self.known(&id))
            }
            false => self.start_session(project, &[]),
        };
        opened.map_err(|error| error.message.into_owned())
    }

    /// Notes what became of a stored action, and tells whoever approved it.
    pub(crate) fn end_replay(&mut self, session: &SessionKey, approval: &str, end: ReplayEnd) {
        let Some(Approving { mut claim, waiter }) = self.approving.remove(approval) else {
            return;
        };
        let at = now_ms();
        let (noted, told) = match end {
            ReplayEnd::Ran { outcome, text } => {
                let state = match outcome {
                    Outcome::Success => State::Approved { at },
                    Outcome::Error | Outcome::Cancelled => State::Failed {
                        at,
                        why: redact(&text).into_owned(),
                    },
                };
                (claim.set(state), Approved::Ran { outcome, text })
            }
            ReplayEnd::Refused(why) => (claim.set(State::Pending), Approved::Refused(why)),
            ReplayEnd::Changed { call, plan } => {
                let offer = self.offer(session, call, &plan);
                let preview = offer.preview.clone();
                (claim.offer(offer), Approved::Changed { preview })
            }
        };
        if let Err(error) = noted {
            // It stays marked as running. The session's log says what ran, so that it is not run again.
            tracing::error!(%error, approval, "what became of an approval was not noted");
        }
        let id = claim.approval().id.clone();
        drop(claim);
        self.tell_waiter(waiter, &id, told);
    }

    fn tell_waiter(&mut self, waiter: Waiter, id: &str, told: Approved) {
        let number = match waiter {
            // Who approved may have given up this moment.
            Waiter::Command(reply) => return drop(reply.send(told)),
            Waiter::Errand(number) => number,
            Waiter::Restore(number, said) => return self.end_offer(number, &said, id, told),
        };
        let said = match told {
            Approved::Ran {
                outcome: Outcome::Success,
                text,
            } => Ok(text),
            Approved::Ran { text, .. } => Err(format!("It ended with an error: {text}")),
            Approved::Refused(why) => Err(format!("Nothing was done. {why}")),
            Approved::Changed { preview } => Err(format!(
                "Nothing was done: the files have changed, and it would do this by now. `/approve {id}` again does \
                 it.\n\n```diff\n{preview}\n```"
            )),
        };
        self.end(number, said);
    }

    /// `/approvals`: what waits in a session's project, or one of it whole.
    pub(super) fn list_approvals(&mut self, session: SessionKey, asker: Asker, id: Option<String>) {
        let queue = Approvals::new(&self.folders.data);
        let said = match id {
            Some(id) => queue
                .find(&id)
                .map(|it| format!("```diff\n{}\n```", whole(&it)))
                .map_err(|error| error.to_string()),
            None => {
                let open = self.sessions.get(&session);
                let root = open.map(|it| it.workspace.root().to_path_buf());
                let all = queue.list().into_iter();
                let waiting = all.filter(|it| it.waits() && Some(&it.project) == root.as_ref());
                let lines: Vec<String> = waiting.map(|it| format!("- {}", line(&it))).collect();
                Ok(match lines.is_empty() {
                    true => "Nothing waits for an approval in this project.".to_owned(),
                    false => lines.join("\n"),
                })
            }
        };
        let number = self.begin(session, asker);
        self.end(number, said);
    }

    /// `/approve`: the action runs in the session that asked for it.
    pub(super) fn approve_for(&mut self, session: SessionKey, asker: Asker, id: &str) {
        let number = self.begin(session, asker);
        match self.claim(id) {
            Ok(claim) => {
                if let Some(errand) = self.errands.get_mut(&number) {
                    errand.is_changing = true;
                }
                self.run_approved(claim, Waiter::Errand(number));
            }
            Err(error) => self.end(number, Err(error.to_string())),
        }
    }

    /// `/deny`
    pub(super) fn deny_for(&mut self, session: SessionKey, asker: Asker, id: &str) {
        let number = self.begin(session, asker);
        let said = match self.claim(id) {
            Ok(mut claim) => denied(&mut claim),
            Err(error) => Err(error.to_string()),
        };
        self.end(number, said);
    }

    fn claim(&self, id: &str) -> Result<Claim, ApprovalError> {
        let queue = Approvals::new(&self.folders.data);
        queue.find(id).and_then(|it| queue.claim(&it.id))
    }
}

fn hash_of(hex: &str) -> Option<TextHash> {
    let mut hash = TextHash::default();
    if hex.len() != 2 * hash.len() || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::text_hash;

    #[test]
    fn a_hash_is_read_back() {
        let hash = text_hash("a");
        let hex: String = hash.iter().map(|it| format!("{it:02x}")).collect();
        assert_eq!(hash_of(&hex), Some(hash));
        for wrong in ["", "zz", &"\u{e4}".repeat(32), &"+1".repeat(32)[..63]] {
            assert_eq!(hash_of(wrong), None, "{wrong}");
        }
    }
}
