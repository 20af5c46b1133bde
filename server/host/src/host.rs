//! Does what the engine decides.
