//! What the product promises, one module a promise.

mod support;

mod added_folders;
mod agents;
mod anthropic;
mod approval_queue;
mod approvals;
mod archive;
mod background;
mod cancel;
mod change_sets;
mod checklist;
mod checkpoints;
mod classifier;
mod command_files;
mod commands;
mod compaction;
mod config;
mod demo;
mod diagnostics_fed_back;
mod edits;
mod files;
mod gemini;
mod generated;
mod hooks;
mod instructions;
mod keys;
#[cfg(target_os = "linux")]
mod kill_rounds;
mod lifecycle;
#[cfg(target_os = "linux")]
mod long_life;
mod memory;
mod mentions;
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
mod sessions;
#[cfg(unix)]
mod shell_policy;
mod skills;
mod steering;
mod store;
mod surfaces;
mod tasks;
mod tidy;
mod tls;
mod traces;
mod unsaved;
mod usage;
mod widening;
