//! Text as the rest of the engine needs it: changes, hunks, positions and where an edit belongs.
//!
//! All of it is pure. A line is a line of LSP 3.18 ("Text Documents"): it ends with `\n`, `\r\n` or a lone
//! `\r` and with nothing else. Offsets and lengths are bytes of UTF-8 unless a name says otherwise.

pub mod change_set;
mod diff;
mod endings;
pub mod file;
pub mod hunks;
mod indent;
mod lines;
pub mod locate;
mod merge;
pub mod patch;
pub mod position;
mod similar;
mod unified;
mod visible;
mod whole_lines;

#[cfg(test)]
mod tests;

pub use change_set::{ChangeSet, Edit, Misfit, Op, Side};
pub use endings::with_line_endings_of;
pub use file::{FileText, Form};
pub use hunks::{Hunk, Operation, hunks, shown_hash};
pub use locate::{LocateError, Located, insert_line, replace};
pub use merge::{Conflict, merge};
pub use position::{Encoding, Position};
pub use unified::{DISPLAY_CAP, Unified, unified};
pub use visible::{visible, visible_line};
pub use whole_lines::Pass;
