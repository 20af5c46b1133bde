//! What the product promises, one module a promise.

mod support;

mod approvals;
mod cancel;
mod commands;
mod config;
mod edits;
mod lifecycle;
#[cfg(target_os = "linux")]
mod process;
mod prompts;
mod pump;
mod questions;
mod resume;
mod tasks;
