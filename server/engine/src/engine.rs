//! Decides; does no IO.

pub mod provider;
