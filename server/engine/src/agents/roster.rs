//! The subagents of one session: who works, who waits, who has ended and is kept (spec 9.6, 9.7).

use protocol::session::AgentId;
use std::collections::BTreeMap;

/// Where a subagent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As many work as may. The number says who came first.
    Waiting(u64),
    Running,
    /// It can be gone on with. The number says who ended first.
    Ended(u64),
}

/// A subagent, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub label: String,
    pub kind: String,
    pub state: State,
    /// No call waits for it.
    pub background: bool,
}

/// Whether a subagent may work at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Now,
    Waits,
}

#[derive(Debug, Default)]
pub struct Roster {
    agents: BTreeMap<AgentId, Entry>,
    counter: u64,
}

impl Roster {
    /// Takes in a new one.
    pub fn admit(&mut self, id: AgentId, label: &str, kind: &str, at_once: usize) -> Start {
        let entry = Entry {
            label: label.to_owned(),
            kind: kind.to_owned(),
            state: State::Running,
            background: false,
        };
        self.agents.insert(id, entry);
        self.begin(id, at_once)
    }

    /// Whether one can be gone on with. The error is for the model.
    pub fn can_go_on(&self, id: AgentId) -> Result<&Entry, String> {
        match self.agents.get(&id) {
            Some(it) if matches!(it.state, State::Ended(_)) => Ok(it),
            Some(_) => Err(format!(
                "{id} is at work right now; wait for its report before you go on with it. Nothing was started."
            )),
            None => Err(format!(
                "There is no {id} any more: it never was, was cancelled, or newer ones have taken its place. Start a new one \
                 without agent_id, and tell it all that it needs."
            )),
        }
    }

    /// Goes on with one that has ended.
    pub fn go_on(&mut self, id: AgentId, label: &str, at_once: usize) -> Start {
        if let Some(it) = self.agents.get_mut(&id) {
            it.background = false;
            if !label.is_empty() {
                it.label = label.to_owned();
            }
        }
        self.begin(id, at_once)
    }

    fn begin(&mut self, id: AgentId, at_once: usize) -> Start {
        let others = self.agents.iter().filter(|(it, _)| **it != id);
        let n_running = others.filter(|(_, it)| it.state == State::Running).count();
        let is_free = n_running < at_once.max(1);
        let number = self.count();
        if let Some(it) = self.agents.get_mut(&id) {
            it.state = match is_free {
                true => State::Running,
                false => State::Waiting(number),
            };
        }
        match is_free {
            true => Start::Now,
            false => Start::Waits,
        }
    }

    /// One has ended and is kept; answers those that are kept no longer.
    pub fn ended(&mut self, id: AgentId, kept: usize) -> Vec<AgentId> {
        let number = self.count();
        if let Some(it) = self.agents.get_mut(&id) {
            it.state = State::Ended(number);
            it.background = false;
        }
        let mut ended: Vec<(u64, AgentId)> = self
            .agents
            .iter()
            .filter_map(|(id, it)| match it.state {
                State::Ended(number) => Some((number, *id)),
                State::Waiting(_) | State::Running => None,
            })
            .collect();
        ended.sort_unstable();
        ended.truncate(ended.len().saturating_sub(kept));
        let gone: Vec<AgentId> = ended.into_iter().map(|(_, id)| id).collect();
        self.agents.retain(|id, _| !gone.contains(id));
        gone
    }

    /// One is gone, with all that it knew.
    pub fn remove(&mut self, id: AgentId) -> Option<Entry> {
        self.agents.remove(&id)
    }

    /// The one that has waited longest, if another may work; it works from now on.
    pub fn next(&mut self, at_once: usize) -> Option<AgentId> {
        let states = self.agents.values();
        let n_running = states.filter(|it| it.state == State::Running).count();
        if n_running >= at_once.max(1) {
            return None;
        }
        let waiting = self.agents.iter().filter_map(|(id, it)| match it.state {
            State::Waiting(number) => Some((number, *id)),
            State::Running | State::Ended(_) => None,
        });
        let (_, id) = waiting.min()?;
        if let Some(it) = self.agents.get_mut(&id) {
            it.state = State::Running;
        }
        Some(id)
    }

    /// No call waits for it any more.
    pub fn detach(&mut self, id: AgentId) {
        if let Some(it) = self.agents.get_mut(&id) {
            it.background = true;
        }
    }

    pub fn get(&self, id: AgentId) -> Option<&Entry> {
        self.agents.get(&id)
    }

    /// Oldest first.
    pub fn list(&self) -> impl Iterator<Item = (AgentId, &Entry)> {
        self.agents.iter().map(|(id, it)| (*id, it))
    }

    fn count(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u64) -> AgentId {
        AgentId(n)
    }

    #[test]
    fn no_more_than_may_work_at_once_and_who_came_first_is_next() {
        let mut roster = Roster::default();
        let starts = [1, 2, 3, 4].map(|it| roster.admit(id(it), "x", "general", 2));
        assert_eq!(starts, [Start::Now, Start::Now, Start::Waits, Start::Waits]);
        assert_eq!(roster.next(2), None);
        roster.ended(id(2), 8);
        assert_eq!(roster.next(2), Some(id(3)));
        assert_eq!(roster.next(2), None);
        // One that waits can leave.
        roster.remove(id(4));
        roster.remove(id(1));
        assert_eq!(roster.next(2), None);
        // A limit of none would let nobody work.
        assert_eq!(
            Roster::default().admit(id(1), "x", "general", 0),
            Start::Now
        );
    }

    #[test]
    fn the_newest_that_have_ended_are_kept() {
        let mut roster = Roster::default();
        for it in 1..=4 {
            roster.admit(id(it), "x", "general", 9);
        }
        assert_eq!(roster.ended(id(3), 2), []);
        assert_eq!(roster.ended(id(1), 2), []);
        assert_eq!(roster.ended(id(2), 2), [id(3)]);
        assert!(
            roster
                .can_go_on(id(3))
                .unwrap_err()
                .contains("no agent-3 any more")
        );
        assert!(
            roster
                .can_go_on(id(4))
                .unwrap_err()
                .contains("at work right now")
        );
        assert!(roster.can_go_on(id(1)).is_ok());
        // Gone on with, it is as new as any.
        assert_eq!(roster.go_on(id(1), "", 9), Start::Now);
        assert_eq!(roster.ended(id(1), 2), []);
        assert_eq!(roster.ended(id(4), 2), [id(2)]);
    }

    #[test]
    fn one_that_is_gone_on_with_has_its_call_again() {
        let mut roster = Roster::default();
        roster.admit(id(1), "old", "general", 9);
        roster.detach(id(1));
        assert!(roster.get(id(1)).unwrap().background);
        roster.ended(id(1), 8);
        roster.go_on(id(1), "new", 9);
        let entry = roster.get(id(1)).unwrap();
        assert_eq!((entry.label.as_str(), entry.background), ("new", false));
    }
}
