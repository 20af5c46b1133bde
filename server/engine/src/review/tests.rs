//! The rules as cases, the laws by random input, and what a keystroke costs. Seeds are fixed, so a failure comes back.

mod cases;
mod laws;
mod lines;
mod model;
mod speed;

use protocol::session::{CallId, TurnId};
use ropey::Rope;

use super::{Author, By, Ledger, Revert, Which};
use crate::text::{ChangeSet, Edit};

fn author(turn: u64) -> Author {
    Author {
        session: "s".to_owned(),
        turn: TurnId(turn),
        call: CallId(turn * 10),
    }
}

fn turn(turn: u64) -> Which<'static> {
    Which::Turn {
        session: "s",
        turn: TurnId(turn),
    }
}

fn ledger(text: &str) -> Ledger {
    Ledger::new(Rope::from_str(text))
}

fn replacement(ledger: &Ledger, range: std::ops::Range<usize>, text: &str) -> ChangeSet {
    let edit = Edit {
        range,
        text: text.to_owned(),
    };
    ChangeSet::of_edits(ledger.live().len_bytes(), &[edit]).unwrap()
}

/// Reverts as the host does: the edit goes out and comes back.
fn revert(ledger: &mut Ledger, which: Which<'_>) -> Revert {
    let revert = ledger.revert(which);
    ledger.edited(&revert.changes, By::Review).unwrap();
    revert
}
