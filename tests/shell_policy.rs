//! What commands may do: what is never run, what only reads, and whose word counts before the mode's.
//!
//! Every line here does no harm where it is run after all: the home folder is a temporary one, and what would be
//! destroyed lies in there or in the project.

mod forbidden;
mod questions;
mod read_only;
mod reads;
mod rules;

use crate::support::editor::{Asking, Setup};
use crate::support::stage::Stage;
use protocol::methods::RequestPermission;
use serde_json::{Value, json};
use std::path::PathBuf;

const MODES: [&str; 4] = ["read_only", "ask", "auto", "full_access"];

const FILES: &str = "//- /a.txt\nalpha beta\n//- /build/out\no\n//- /repo/x\n";

/// A server in this mode, with more of `[safety]`.
#[track_caller]
fn stage(mode: &str, safety: &str) -> Stage {
    stage_of(Setup::agent(), mode, safety)
}

#[track_caller]
fn stage_of(setup: Setup, mode: &str, safety: &str) -> Stage {
    let config = format!("[safety]\nmode = \"{mode}\"\n{safety}");
    Stage::with(setup, FILES, &config)
}

fn command(line: &str) -> Value {
    json!({"command": line})
}

/// Lets the model run a line that needs no answer; answers what it was told.
#[track_caller]
fn result(stage: &Stage, line: &str) -> String {
    result_of(stage, "execute_command", command(line))
}

#[track_caller]
fn result_of(stage: &Stage, tool: &str, arguments: Value) -> String {
    let (_, prompt) = stage.call(tool, arguments);
    let result = stage.result(&prompt);
    stage.editor.assert_none("session/request_permission");
    result
}

/// Lets the model run a line that is asked about. The answer is no.
#[track_caller]
fn asked(stage: &Stage, line: &str) -> Asking<RequestPermission> {
    asked_of(stage, "execute_command", command(line)).0
}

/// As [`asked`], with any tool; answers also what the model was told.
#[track_caller]
fn asked_of(stage: &Stage, tool: &str, arguments: Value) -> (Asking<RequestPermission>, String) {
    let (_, prompt) = stage.call(tool, arguments);
    let question = stage.editor.question();
    stage.editor.choose(&question, "no");
    let result = stage.result(&prompt);
    assert!(result.starts_with("Denied by the person"), "{result}");
    (question, result)
}

/// Why the person is asked, where it is said.
fn reason(question: &Asking<RequestPermission>) -> Option<String> {
    let meta = question.params.meta.as_ref().unwrap();
    meta["undine"].get("reason")?.as_str().map(str::to_owned)
}

/// A file in the home folder, to see whether it outlives a line.
fn treasure(stage: &Stage) -> PathBuf {
    let file = stage.workspace.outside("home").join("treasure");
    std::fs::write(&file, "gold").unwrap();
    file
}
