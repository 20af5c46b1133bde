//! Decides; does no IO.

pub mod text;
