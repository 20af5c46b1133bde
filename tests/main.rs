//! What the product promises, one module a promise.

mod support;

mod approvals;
mod cancel;
mod commands;
mod config;
mod demo;
mod edits;
mod generated;
mod lifecycle;
mod patches;
#[cfg(target_os = "linux")]
mod process;
mod prompts;
mod pump;
mod questions;
mod requirements;
mod resume;
mod tasks;
mod tidy;
