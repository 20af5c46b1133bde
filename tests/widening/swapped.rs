//! Links that are made while a question is open: what was shown is what is done, or it is asked about again.

use super::{run, write};
use crate::support::stage::Stage;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

const FILES: &str = "//- /a.txt\none\ntwo\n//- /sub/a.txt\none\ntwo\n//- /sub/keep\n";

/// A folder outside with a file of the same name and text.
fn outside(stage: &Stage) -> PathBuf {
    let folder = stage.workspace.outside("home");
    fs::write(folder.join("a.txt"), "one\ntwo\n").unwrap();
    folder
}

/// Every way to change this file, but to write it whole, which needs it to be read before.
fn changes(path: &str) -> Vec<(&'static str, Value)> {
    let patch =
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n one\n-two\n+2\n*** End Patch\n");
    vec![
        (
            "edit_file",
            json!({"path": path, "target_content": "two", "replacement_content": "2"}),
        ),
        ("delete_file", json!({"path": path})),
        ("apply_patch", json!({"patch": patch})),
    ]
}

/// The call is allowed once, after `swap`; then it is asked about again by the place that it now is, if at all, and denied.
#[track_caller]
fn assert_not_followed(tool: &str, arguments: Value, swap: impl Fn(&Stage)) {
    let stage = Stage::new(FILES);
    let there = outside(&stage);
    let (_, prompt) = stage.call(tool, arguments);
    let question = stage.editor.question();
    swap(&stage);
    stage.editor.choose(&question, "once");
    let is_question = |it: &Value| it["method"] == "session/request_permission";
    let is_end = |it: &Value| {
        let status = &it["params"]["update"]["status"];
        status == "completed" || status == "failed"
    };
    let next = stage.editor.take("another question or the end", |it| {
        is_question(it) || is_end(it)
    });
    if is_question(&next) {
        let shown = next["params"]["toolCall"].to_string();
        assert!(shown.contains(there.to_str().unwrap()), "{tool}: {shown}");
        let no = json!({"outcome": {"outcome": "selected", "optionId": "no"}});
        stage.editor.raw_reply(&next["id"], no);
    }
    stage.result(&prompt);
    let text = fs::read_to_string(there.join("a.txt")).unwrap();
    assert_eq!(text, "one\ntwo\n", "{tool}");
    let names: Vec<_> = fs::read_dir(&there).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{tool}: {names:?}");
}

#[test]
fn a_file_that_becomes_a_link_before_the_answer_is_not_written_through() {
    for (tool, arguments) in changes("a.txt") {
        assert_not_followed(tool, arguments, |stage| {
            let file = stage.workspace.path("a.txt");
            fs::remove_file(&file).unwrap();
            symlink(stage.workspace.outside("home/a.txt"), &file).unwrap();
        });
    }
    let (tool, arguments) = write("new.txt");
    assert_not_followed(tool, arguments, |stage| {
        let file = stage.workspace.path("new.txt");
        symlink(stage.workspace.outside("home/a.txt"), &file).unwrap();
    });
}

/// Puts a link to the outside in the folder's place.
fn swap_folder(stage: &Stage) {
    let folder = stage.workspace.path("sub");
    fs::rename(&folder, stage.workspace.path("before")).unwrap();
    symlink(stage.workspace.outside("home"), &folder).unwrap();
}

#[test]
fn a_folder_that_becomes_a_link_before_the_answer_is_not_written_through() {
    let mut all = changes("sub/a.txt");
    all.push(write("sub/new.txt"));
    all.push(("create_directory", json!({"path": "sub/new"})));
    for (tool, arguments) in all {
        assert_not_followed(tool, arguments, swap_folder);
    }
}

#[test]
fn a_working_folder_that_becomes_a_link_before_the_answer_is_asked_about_again() {
    for mode in ["wait", "background"] {
        let arguments = json!({"command": "echo 2 > new", "working_dir": "sub", "mode": mode});
        assert_not_followed("execute_command", arguments, swap_folder);
    }
}

#[test]
fn an_answer_for_the_session_does_not_follow_a_folder_that_becomes_a_link() {
    let stage = Stage::new(FILES);
    let there = outside(&stage);
    let session = stage.editor.new_session();
    let begin = |call: (&str, Value)| {
        let prompt = stage.editor.prompt(&session, "go");
        let mut asked = stage.model.next();
        asked.call(call.0, call.1);
        asked.end();
        prompt
    };
    let mut command = run("echo 2 >> new").1;
    command["working_dir"] = json!("sub");
    let edit = changes("sub/a.txt").remove(0);
    for call in [("execute_command", command.clone()), edit.clone()] {
        let prompt = begin(call);
        stage.editor.choose(&stage.editor.question(), "session");
        stage.result(&prompt);
    }
    swap_folder(&stage);
    for call in [("execute_command", command), edit] {
        let prompt = begin(call);
        stage.editor.choose(&stage.editor.question(), "no");
        stage.result(&prompt);
    }
    assert!(!there.join("new").exists());
    let text = fs::read_to_string(there.join("a.txt")).unwrap();
    assert_eq!(text, "one\ntwo\n");
}
