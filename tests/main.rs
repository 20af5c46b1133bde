//! What the product promises, one module a promise.

mod support;

mod added_folders;
mod anthropic;
mod approval_queue;
mod approvals;
mod background;
mod cancel;
mod change_sets;
mod checkpoints;
mod classifier;
mod commands;
mod config;
mod demo;
mod edits;
mod files;
mod gemini;
mod generated;
mod instructions;
mod keys;
#[cfg(target_os = "linux")]
mod kill_rounds;
mod lifecycle;
#[cfg(target_os = "linux")]
mod long_life;
mod models;
mod ollama;
mod patch_tool;
mod patches;
mod paths;
mod permissions;
mod pictures;
#[cfg(target_os = "linux")]
mod process;
mod prompts;
mod pump;
mod questions;
mod redaction;
mod requirements;
mod responses;
mod resume;
mod retries;
mod review;
#[cfg(target_os = "linux")]
mod sandbox;
mod scratchpad;
#[cfg(unix)]
mod shell_policy;
mod store;
mod surfaces;
mod tasks;
mod tidy;
mod tls;
mod unsaved;
mod usage;
mod widening;
