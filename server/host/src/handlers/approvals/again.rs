//! What a restored checkpoint was made for waits for the person's approval again (spec 3.6).
//!
//! The action is stored as any that waits. It is planned at once on the files of today, so that the person sees what approving it
//! would do; it never runs by that.

use super::Waiter;
use crate::event::{Approved, SessionKey};
use crate::main_loop::Host;
use crate::store::approvals::{Approval, Approvals, Offer, State, VERSION};
use crate::store::checkpoints::Action;
use crate::store::now_ms;
use protocol::session::CallId;

/// Why it waits.
const RISK: &str = "restored action";

impl Host {
    /// Stores the action and plans it; the errand ends when that is done. `said` is what is told of the restore.
    pub(in crate::handlers) fn offer_again(
        &mut self,
        number: u64,
        session: &SessionKey,
        (title, action): (String, Action),
        said: String,
    ) {
        let Some(open) = self.sessions.get(session) else {
            return self.end(number, Ok(said));
        };
        let approval = Approval {
            v: VERSION,
            id: String::new(),
            time: now_ms(),
            project: open.workspace.root().to_path_buf(),
            session: session.to_string(),
            call: CallId(0),
            tool: action.tool,
            arguments: action.arguments,
            mode: open.session.mode(),
            risk: Some(RISK.to_owned()),
            // Nothing was shown, so nothing is approved before something is.
            offer: Offer {
                title,
                shown: String::new(),
                preview: String::new(),
                files: Vec::new(),
            },
            state: State::Pending,
        };
        let queue = Approvals::new(&self.folders.data);
        let claimed = queue
            .add(approval)
            .map_err(|it| it.to_string())
            .and_then(|id| queue.claim(&id).map_err(|it| it.to_string()));
        match claimed {
            Ok(claim) => self.run_approved(claim, Waiter::Restore(number, said)),
            Err(why) => {
                let text =
                    format!("{said}\nThe action that it was made for cannot be kept ({why}).");
                self.end(number, Ok(text));
            }
        }
    }

    /// It is planned, or it cannot be as things stand.
    pub(super) fn end_offer(&mut self, number: u64, said: &str, id: &str, told: Approved) {
        let text = match told {
            Approved::Changed { preview } => format!(
                "The action that it was made for waits for your approval again ({RISK}): `/approve {id}` does this, `/deny {id}` \
                 forgets it.\n\n```diff\n{preview}\n```"
            ),
            Approved::Refused(why) => format!(
                "The action that it was made for waits for your approval again ({RISK}), but cannot be done now: {why}"
            ),
            Approved::Ran { text, .. } => {
                format!("The action that it was made for cannot be planned any more: {text}")
            }
        };
        self.end(number, Ok(format!("{said}\n\n{text}")));
    }
}
