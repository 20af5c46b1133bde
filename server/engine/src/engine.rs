//! Decides; does no IO.

pub mod provider;
pub mod text;
