//! Decides; does no IO.
