//! What changes between a question and its answer is kept; what was shown is what is done.

use super::{FILES, edit, edit_two, opened};
use crate::support::editor::OnEdit;
use crate::support::stage::Stage;
use serde_json::json;
use std::fs;

#[test]
fn what_the_person_typed_elsewhere_before_the_approval_is_kept_and_nothing_is_asked_again() {
    let stage = Stage::new(FILES);
    stage.editor.open("a.txt");
    let (_, prompt) = edit_two(&stage);
    let question = stage.editor.question();
    stage
        .editor
        .type_over("a.txt", "three", "three, typed meanwhile");
    stage.editor.choose(&question, "once");
    stage.result(&prompt);
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\n2\nthree, typed meanwhile\n"
    );
}

#[test]
fn what_the_person_typed_into_the_hunk_before_the_approval_is_asked_again() {
    let stage = Stage::new("//- /a.txt\none\nlet two = 1;\nthree\n");
    stage.editor.open("a.txt");
    let (_, prompt) = stage.call("edit_file", edit("a.txt", "two", "2"));
    let question = stage.editor.question();
    // The same line: what was shown is no longer what would happen.
    stage.editor.type_over("a.txt", "= 1;", "= 17;");
    stage.editor.choose(&question, "once");
    let again = stage.editor.question();
    let shown = serde_json::to_string(&again.params.tool_call).unwrap();
    assert!(shown.contains("let 2 = 17;"), "{shown}");
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\nlet two = 17;\nthree\n"
    );
    stage.editor.choose(&again, "once");
    stage.result(&prompt);
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\nlet 2 = 17;\nthree\n"
    );
}

#[test]
fn what_the_person_types_while_the_edit_is_on_its_way_is_kept() {
    let stage = opened();
    // The version is old when the edit arrives: refused, planned again, applied.
    stage.editor.on_edit([OnEdit::TypeFirst("zero\n")]);
    let (_, prompt) = edit_two(&stage);
    stage.result(&prompt);
    assert_eq!(stage.editor.buffer("a.txt").text, "zero\none\n2\nthree\n");
    assert_eq!(stage.editor.edits().len(), 2);
}

#[test]
fn what_changed_elsewhere_on_disk_before_the_approval_is_kept() {
    let stage = Stage::new(FILES);
    let (_, prompt) = edit_two(&stage);
    let question = stage.editor.question();
    stage
        .workspace
        .write("a.txt", "one\ntwo\nthree, by a formatter\n");
    stage.editor.choose(&question, "once");
    stage.result(&prompt);
    assert_eq!(
        stage.workspace.read("a.txt"),
        "one\n2\nthree, by a formatter\n"
    );
}

#[test]
fn what_changed_in_the_hunk_on_disk_before_the_approval_is_asked_again() {
    let stage = Stage::new(FILES);
    let (_, prompt) = edit_two(&stage);
    let question = stage.editor.question();
    stage.workspace.write("a.txt", "one\ntwo and more\nthree\n");
    stage.editor.choose(&question, "once");
    let again = stage.editor.question();
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo and more\nthree\n");
    stage.editor.choose(&again, "no");
    assert!(stage.result(&prompt).contains("Denied"));
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo and more\nthree\n");
}

#[test]
fn a_file_that_is_gone_before_the_approval_is_not_made_again() {
    let stage = Stage::new(FILES);
    let (_, prompt) = edit_two(&stage);
    let question = stage.editor.question();
    fs::remove_file(stage.workspace.path("a.txt")).unwrap();
    stage.editor.choose(&question, "once");
    let result = stage.result(&prompt);
    assert!(result.contains("no file"), "{result}");
    assert!(!stage.workspace.exists("a.txt"));
}

#[test]
fn a_file_that_appears_before_the_approval_of_a_new_one_is_not_overwritten() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call(
        "write_file",
        json!({"path": "new.txt", "content": "the agent's"}),
    );
    let question = stage.editor.question();
    stage.workspace.write("new.txt", "the person's");
    stage.editor.choose(&question, "once");
    let result = stage.result(&prompt);
    assert!(result.contains("read it first"), "{result}");
    assert_eq!(stage.workspace.read("new.txt"), "the person's");
}

#[test]
fn a_file_that_is_opened_before_the_approval_is_edited_in_the_editor() {
    let stage = Stage::new(FILES);
    let (_, prompt) = edit_two(&stage);
    let question = stage.editor.question();
    stage.editor.open("a.txt");
    stage.editor.type_over("a.txt", "three", "drei");
    stage.editor.choose(&question, "once");
    stage.result(&prompt);
    assert_eq!(stage.editor.buffer("a.txt").text, "one\n2\ndrei\n");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn a_file_that_is_closed_before_the_approval_is_edited_on_disk() {
    let stage = Stage::new(FILES);
    stage.editor.open("a.txt");
    let (_, prompt) = edit_two(&stage);
    let question = stage.editor.question();
    stage.editor.close("a.txt");
    stage.editor.choose(&question, "once");
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
    assert!(stage.editor.edits().is_empty());
}

#[test]
fn a_folder_that_becomes_a_way_out_before_the_approval_is_not_followed() {
    let stage = Stage::new("//- /sub/a.txt\none\ntwo\nthree\n");
    let outside = stage.workspace.outside("home");
    fs::write(outside.join("a.txt"), "one\ntwo\nthree\n").unwrap();
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("edit_file", edit("sub/a.txt", "two", "2"));
    asked.call(
        "write_file",
        json!({"path": "sub/new.txt", "content": "new\n"}),
    );
    asked.end();
    let questions = [stage.editor.question(), stage.editor.question()];
    fs::rename(
        stage.workspace.path("sub"),
        stage.workspace.path("sub-before"),
    )
    .unwrap();
    std::os::unix::fs::symlink(&outside, stage.workspace.path("sub")).unwrap();
    for question in &questions {
        stage.editor.choose(question, "once");
    }
    // Asked again, by the place that it now is.
    for _ in &questions {
        let again = stage.editor.question();
        let shown = serde_json::to_string(&again.params.tool_call).unwrap();
        assert!(shown.contains(outside.to_str().unwrap()), "{shown}");
        stage.editor.choose(&again, "no");
    }
    let mut asked = stage.model.next();
    assert!(asked.results().iter().all(|it| it.contains("Denied")));
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(
        fs::read_to_string(outside.join("a.txt")).unwrap(),
        "one\ntwo\nthree\n"
    );
    assert!(!outside.join("new.txt").exists());
}
