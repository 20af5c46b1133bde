//! Patches: what we make of a diff is what git makes of it, or we refuse.
//!
//! `tests/patches/v4a.py` compares with OpenAI's own implementation of its format, as a part of `tests/run`.

mod git;
