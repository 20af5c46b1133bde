//! The review store of one file: the text the person has accepted, the text as it is, and whose the difference is.
//!
//! A [`Ledger`] follows every edit of the file and knows which lines are the agent's unreviewed work. The person
//! keeps or reverts them by hunk, turn, session or file. Four rules hold whatever happens:
//! - A person's edit beside the agent's work belongs to the accepted text at once and is never shown as the agent's.
//! - One that touches the agent's work makes that hunk *mixed*: nothing wider than a wish for that very hunk reverts
//!   what the person wrote.
//! - Keeping changes no file. Reverting is an ordinary edit, which the caller applies and which then comes back here.
//! - Nothing is diffed as a whole while the person types.
//!
//! Pure, and about one file only: which files have a ledger, where records are stored and what an editor is told is
//! the host's business.

mod adopt;
mod align;
mod ledger;
mod list;
mod past;
mod record;
mod region;
mod report;
mod resolve;

#[cfg(test)]
mod tests;

pub use ledger::{By, FileChange, Ledger};
pub use list::{HunkId, HunkState, ReviewHunk};
pub use protocol::review::Author;
pub use record::Damaged;
pub use report::{Fate, Verdict};
pub use resolve::{FileStep, Kept, Revert, Which};
