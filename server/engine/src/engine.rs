//! Decides; does no IO.
//!
//! One conversation is a state machine: [`session::Session::step`] takes everything that can happen
//! to it and answers with everything that should be done about it. No clock, file, network, thread
//! or chance is in here; they come in through inputs.

pub mod agents;
pub mod archive;
pub mod checklist;
pub mod command_files;
pub mod config;
pub mod context;
pub mod front_matter;
pub mod hooks;
pub mod memory;
pub mod mentions;
pub mod models;
pub mod numbers;
pub mod policy;
pub mod problems;
pub mod provider;
pub mod redact;
pub mod review;
#[cfg(test)]
mod rounds;
pub mod session;
pub mod skills;
pub mod text;
pub mod trace;
pub mod usage;
