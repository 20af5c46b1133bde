//! What became of the agent's changes, for the model at a turn's boundary.

use std::ops::Range;

use super::{Author, Ledger};

/// The fate of one change of the agent's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Who made it; the last one is the latest.
    pub authors: Vec<Author>,
    /// Live lines at the time of the verdict, from 0, the end not included.
    pub lines: Range<u32>,
    /// The lines before the agent came.
    pub was: String,
    /// What the agent wrote in their place.
    pub wrote: String,
    pub fate: Fate,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// The person accepted it; it was `wrote`, or what they made of it.
    Kept { now: String },
    /// The person took it back, by a review or by hand.
    Reverted,
    /// The person took that back, by undo in the editor, and has not judged it.
    Restored,
    /// The person changed it and has not yet judged it.
    Changed { now: String },
}

impl Ledger {
    /// What is new for a session since it was last asked. Each verdict comes once a session; of a change that the
    /// person goes on changing, what it is now.
    pub fn take_report(&mut self, session: &str) -> Vec<Verdict> {
        for index in 0..self.regions.len() {
            let region = &mut self.regions[index];
            if std::mem::take(&mut region.untold) && region.is_mixed() {
                let now = self.slice(&self.span(index)).to_string();
                self.say(index, Fate::Changed { now });
            }
        }
        let (own, others) = std::mem::take(&mut self.verdicts)
            .into_iter()
            .partition(|it: &(String, Verdict)| it.0 == session);
        self.verdicts = others;
        own.into_iter().map(|it| it.1).collect()
    }

    /// Whether [`take_report`](Self::take_report) has something for a session. Costs a look at each hunk.
    pub fn has_report(&self, session: &str) -> bool {
        let is_own = |it: &Author| it.session == session;
        let mut regions = self.regions.iter().filter(|it| it.untold && it.is_mixed());
        regions.any(|it| it.layers.iter().flat_map(|it| &it.authors).any(is_own))
            || self.verdicts.iter().any(|it| it.0 == session)
    }

    /// Verdicts that no session was told yet, each with the session it is for. From now on they are the caller's to
    /// tell; a ledger that is settled can then be dropped.
    pub fn take_verdicts(&mut self) -> Vec<(String, Verdict)> {
        std::mem::take(&mut self.verdicts)
    }

    /// Notes a region's fate for each session that worked on it.
    pub(super) fn say(&mut self, index: usize, fate: Fate) {
        let region = &self.regions[index];
        let span = self.span(index);
        let wrote = match &region.wrote {
            Some(it) => it.to_string(),
            None => self.slice(&span).to_string(),
        };
        let verdict = Verdict {
            authors: region.authors(),
            lines: self.lines(&span),
            was: region.base().to_string(),
            wrote,
            fate,
        };
        let mut sessions: Vec<&String> = verdict.authors.iter().map(|it| &it.session).collect();
        sessions.sort();
        sessions.dedup();
        for session in sessions {
            self.verdicts.push((session.clone(), verdict.clone()));
        }
    }
}
