//! PowerShell's own grammar, as far as it tells what a line may do.

use super::Surroundings;
use super::reader::Reader;
use super::word::Word;
use protocol::tool::{Reading, Risk};

pub fn read(_line: &str, _around: &Surroundings) -> Reading {
    Reading {
        risk: Risk::Run,
        forbidden: None,
        canonical: None,
        program: None,
        in_scratchpad: false,
    }
}

/// `pwsh -Command …` in a line of another shell.
pub fn called(_reader: &mut Reader<'_>, _words: &[Word]) {}
