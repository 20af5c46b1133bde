//! The agent's changes in an editor that has no plugin of ours: shown by what it declares, judged by code
//! action, lens and command.

mod actions;
mod diagnostics;
mod documents;
mod marks;

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use crate::support::workspace::uri;
use serde_json::{Value, json};

/// Project edits without a question.
const AUTO: &str = "[safety]\nmode = \"auto\"\n";
const FILES: &str =
    "//- /a.txt\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n//- /b.txt\nb\n";

/// An editor that knows LSP, has never heard of us, and declares this besides.
fn stage(declares: Value) -> Stage {
    let setup = Setup {
        declares,
        ..Setup::bare()
    };
    let stage = Stage::with(setup, FILES, AUTO);
    stage.editor.open("a.txt");
    stage
}

/// Lets the model replace `old` in a file, in a session of its own.
#[track_caller]
fn agent_edits(stage: &Stage, path: &str, old: &str, new: &str) -> String {
    let arguments = json!({"path": path, "target_content": old, "replacement_content": new});
    let (session, prompt) = stage.call("edit_file", arguments);
    let result = stage.result_unshown(&prompt);
    assert!(result.starts_with("Changed"), "{result}");
    session.0.to_string()
}

fn uri_of(stage: &Stage, path: &str) -> String {
    uri(&stage.workspace.path(path))
}

fn document(stage: &Stage, path: &str) -> Value {
    json!({"uri": uri_of(stage, path)})
}

fn lines(from: u32, to: u32) -> Value {
    json!({"start": {"line": from, "character": 0}, "end": {"line": to, "character": 0}})
}

#[track_caller]
fn ask(stage: &Stage, method: &str, params: Value) -> Value {
    let id = stage.editor.raw_request(method, params);
    stage.editor.raw_answer(id).unwrap()
}

/// The review's actions with the cursor on a line of `a.txt`.
#[track_caller]
fn actions(stage: &Stage, line: u32) -> Vec<Value> {
    let params = json!({
        "textDocument": document(stage, "a.txt"),
        "range": lines(line, line),
        "context": {"diagnostics": []},
    });
    let all = ask(stage, "textDocument/codeAction", params);
    let all = all.as_array().unwrap().iter();
    all.filter(|it| it["kind"] == "undine.review")
        .cloned()
        .collect()
}

#[track_caller]
fn titled(actions: Vec<Value>, title: &str) -> Value {
    let titles: Vec<Value> = actions.iter().map(|it| it["title"].clone()).collect();
    let found = actions.into_iter().find(|it| it["title"] == title);
    found.unwrap_or_else(|| panic!("no {title:?} in {titles:?}"))
}

/// Runs the command of an action or a lens.
#[track_caller]
fn run(stage: &Stage, action: &Value) -> Value {
    let command = &action["command"];
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    ask(stage, "workspace/executeCommand", params)
}

fn text(stage: &Stage) -> String {
    stage.editor.buffer("a.txt").text
}

/// What `a.txt` was.
fn before() -> String {
    FILES
        .split("//- /")
        .nth(1)
        .unwrap()
        .trim_start_matches("a.txt\n")
        .to_owned()
}
