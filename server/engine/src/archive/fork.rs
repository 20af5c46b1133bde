//! A new session from a part of another one, up to one of its messages (spec 25).

use super::{Role, messages};
use protocol::record::{EndReason, Record};
use protocol::session::{CallId, TurnId};
use std::collections::BTreeSet;

/// What a fork is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Fork {
    /// The new session's, in their order; none where nothing is taken over.
    pub records: Vec<Record>,
    /// The last message that is taken over; 0: none.
    pub message: u64,
    /// What the person wrote next in the session that is left, to be written anew.
    pub prompt: Option<String>,
    /// The ids of checkpoints that were made for changes after that message, oldest first.
    pub left_behind: Vec<String>,
}

/// Forks `records`, the session `from`, behind its message `message`, or behind the last one before that at which no call is open:
/// an answer is taken over with the results of all its calls, or not at all. A fork never goes beyond the last message.
pub fn fork_at(records: &[Record], from: &str, to: &str, message: u64) -> Fork {
    let all = messages(records.iter());
    let (n, end) = boundary(records, &all, message);
    let dropped = &records[end..];
    let left_behind = dropped.iter().filter_map(|it| {
        if let Record::Edit { checkpoint, .. } = it {
            checkpoint.clone()
        } else {
            None
        }
    });
    let mut left_behind: Vec<String> = left_behind.collect();
    left_behind.dedup();
    let next = all.get(n).filter(|it| it.role == Role::User);
    let forked = Record::Forked {
        session: from.to_owned(),
        message: n as u64,
    };
    let mut taken = Vec::new();
    if n > 0 {
        taken = take(&records[..end], to, &forked);
    }
    Fork {
        records: taken,
        message: n as u64,
        prompt: next.map(|it| it.text.clone()),
        left_behind,
    }
}

/// How many messages are taken over, and where the first record stands that is not.
fn boundary(records: &[Record], all: &[super::Message], message: u64) -> (usize, usize) {
    let wanted = usize::try_from(message)
        .unwrap_or(usize::MAX)
        .min(all.len());
    let end_of = |n: usize| all.get(n).map_or(records.len(), |it| it.at);
    // Forward to where the wanted answer's calls have their results, else back to where none was open.
    let forward = wanted..=all.len();
    let back = (0..wanted).rev();
    let fits = |n: &usize| *n == 0 || open_calls(&records[..end_of(*n)]).is_empty();
    let n = forward.into_iter().chain(back).find(fits).unwrap_or(0);
    (n, end_of(n))
}

fn open_calls(records: &[Record]) -> BTreeSet<CallId> {
    let mut open = BTreeSet::new();
    for record in records {
        if let Record::Call { call, .. } = record {
            open.insert(*call);
        } else if let Record::Result { call, .. } = record {
            open.remove(call);
        }
    }
    open
}

/// The records of the new session: the part as it is, with its own beginning, and its last turn ended.
fn take(part: &[Record], to: &str, forked: &Record) -> Vec<Record> {
    let mut taken = Vec::with_capacity(part.len() + 2);
    let mut turn: Option<TurnId> = None;
    for record in part {
        if let Record::User { turn: id, .. } = record {
            turn = Some(*id);
        } else if let Record::Ended { .. } = record {
            turn = None;
        }
        if let Record::Started {
            cwd, mode, model, ..
        } = record
        {
            taken.push(Record::Started {
                session: to.to_owned(),
                cwd: cwd.clone(),
                mode: *mode,
                model: model.clone(),
            });
            taken.push(forked.clone());
        } else if !matches!(record, Record::Forked { .. }) {
            // Where the part itself was taken from, its own session says.
            taken.push(record.clone());
        }
    }
    if let Some(turn) = turn {
        let reason = EndReason::Cancelled;
        taken.push(Record::Ended { turn, reason });
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::{call, result, said, user};
    use protocol::session::Mode;

    fn edit(call: u64, checkpoint: &str) -> Record {
        Record::Edit {
            call: CallId(call),
            files: Vec::new(),
            checkpoint: Some(checkpoint.into()),
        }
    }

    fn log() -> Vec<Record> {
        let ended = |turn| Record::Ended {
            turn: TurnId(turn),
            reason: EndReason::Done,
        };
        vec![
            Record::Started {
                session: "old".into(),
                cwd: "/p".into(),
                mode: Mode::Ask,
                model: "m".into(),
            },
            user("one"),
            call(0, 0),
            call(0, 1),
            edit(0, "k1"),
            result(0),
            edit(1, "k2"),
            result(1),
            said(1, "done"),
            ended(0),
            user("two"),
            call(2, 2),
            edit(2, "k3"),
            result(2),
            ended(0),
        ]
    }

    /// The last message, how many records, what follows, what is left behind.
    fn forked(message: u64) -> (u64, usize, Option<String>, String) {
        let Fork {
            records,
            message,
            prompt,
            left_behind,
        } = fork_at(&log(), "old", "new", message);
        (message, records.len(), prompt, left_behind.join(" "))
    }

    #[test]
    fn a_fork_has_all_up_to_its_message_and_names_the_checkpoints_left_behind() {
        let two = Some("two".to_owned());
        assert_eq!(forked(5), (5, 11, two, "k3".into()));
        assert_eq!(forked(99), (8, 16, None, String::new()));
        let one = Some("one".to_owned());
        assert_eq!(forked(0), (0, 0, one, "k1 k2 k3".into()));
        let Fork { records, .. } = fork_at(&log(), "old", "new", 5);
        assert!(matches!(&records[0], Record::Started { session, .. } if session == "new"));
        let forked = Record::Forked {
            session: "old".into(),
            message: 5,
        };
        assert_eq!(records[1], forked);
        let again = fork_at(&records, "new", "newer", 1).records;
        let n_forked = again
            .iter()
            .filter(|it| matches!(it, Record::Forked { .. }));
        assert_eq!(n_forked.count(), 1);
    }

    #[test]
    fn a_fork_has_no_open_call_and_its_last_turn_is_ended() {
        // An answer comes with the results of its calls.
        for message in [2, 3, 4] {
            let (last, ..) = forked(message);
            assert_eq!(last, 4);
        }
        let Fork { records, .. } = fork_at(&log(), "old", "new", 1);
        let ended = Record::Ended {
            turn: TurnId(0),
            reason: EndReason::Cancelled,
        };
        assert_eq!(records.last(), Some(&ended));
        // A call that runs has no result yet: its answer stays behind.
        let running = &log()[..13];
        assert_eq!(fork_at(running, "old", "new", 99).message, 6);
    }
}
