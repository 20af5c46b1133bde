//! Does what the engine decides, and nothing else.
//!
//! Layers, each using those above it only: the outside world behind small APIs; the world in our
//! terms; the tools; the loop; the command line. `tests/tidy.rs` holds them apart.

pub mod folder;
pub mod git;
pub mod keyring;
pub mod process;
pub mod regular;
pub mod scratchpad;
pub mod store;
pub mod tasks;
pub mod trace;
pub mod upwards;
pub mod workspace;

pub mod agent_files;
pub mod apply;
pub mod config_edit;
pub mod documents;
pub mod endpoint;
pub mod event;
pub mod files;
pub mod hooks;
pub mod instructions;
pub mod keys;
pub mod layers;
pub mod memory;
pub mod mentions;
pub mod model;
pub mod models;
pub mod ollama;
pub mod pdf;
pub mod plan;
pub mod problems;
pub mod restore;
pub mod reviews;
pub mod worktree;

pub mod tools;
pub mod unsaved;

pub mod lsp;

mod aside;
mod asking;
mod client;
mod errand;
mod handlers;
mod main_loop;
mod perform;
mod session_host;
mod show;
mod surfaces;

mod approvals;
mod demo;
mod run;

pub mod cli;
