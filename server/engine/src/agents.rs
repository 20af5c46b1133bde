//! Subagents: which kinds there are, what each may do, who works and who waits, and what is said of it.
//!
//! Pure. A subagent is a session with a parent's id; the host opens it, lets it work and hands its report over.

mod file;
mod kinds;
mod progress;
mod roster;
mod task;
mod words;

pub use file::{KindFile, Scope, read_kind};
pub use kinds::{AgentTool, EXPLORE, GENERAL, Kind, Kinds};
pub use progress::Progress;
pub use roster::{Entry, Roster, Start, State};
pub use task::{Task, Wish};
pub use words::{
    Ended, absent, detached, is_over, killed, notice, report, reported_later, system_preamble,
    waits,
};
