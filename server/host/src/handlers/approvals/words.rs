//! What a person is told of approvals, in a terminal and in a chat.

use crate::store::approvals::{Approval, Claim, State};
use crate::store::now_ms;
use engine::text::visible;

/// One approval in a list.
pub fn line(approval: &Approval) -> String {
    let Approval {
        id,
        time: stored,
        offer,
        risk,
        ..
    } = approval;
    let risk = risk.as_ref().map(|it| format!("  ({it})"));
    let risk = risk.unwrap_or_default();
    visible(&format!("{id}  {}  {}{risk}", time(*stored), offer.title)).into_owned()
}

/// One approval with all that the person decides on.
pub fn whole(approval: &Approval) -> String {
    let state = match &approval.state {
        State::Pending => "waits for an approval".to_owned(),
        State::Running { since } => {
            format!("begun at {}, and not known to have ended", time(*since))
        }
        State::Approved { at } => format!("approved and done at {}", time(*at)),
        State::Denied { at } => format!("denied at {}", time(*at)),
        State::Failed { at, why } => {
            format!("approved, and ended with an error at {}: {why}", time(*at))
        }
    };
    let Approval {
        id,
        time: stored,
        project,
        session,
        offer,
        risk,
        ..
    } = approval;
    let risk = risk.as_ref().map(|it| format!("\n  risk     {it}"));
    let risk = risk.unwrap_or_default();
    let text = format!(
        "{id}  {}\n  stored   {}\n  project  {}\n  session  {session}\n  state    {state}{risk}\n\n{}",
        offer.title,
        time(*stored),
        project.display(),
        offer.preview
    );
    visible(&text).into_owned()
}

/// Denies an action, for good; what is said of it, or why it cannot be noted.
pub fn denied(claim: &mut Claim) -> Result<String, String> {
    let was_begun = matches!(claim.approval().state, State::Running { .. });
    claim
        .set(State::Denied { at: now_ms() })
        .map_err(|error| format!("The denial cannot be noted ({error})."))?;
    let Approval { id, offer, .. } = claim.approval();
    let mut said = format!("Denied {id}: {}.", offer.title);
    if was_begun {
        said.push_str("\nIt had been begun before and broken off; look at the present state.");
    }
    Ok(said)
}

/// Milliseconds since the epoch as a time in UTC, to the second.
fn time(ms: u64) -> String {
    let seconds = i64::try_from(ms / 1000).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds)
        .unwrap_or_default()
        .to_string()
}
