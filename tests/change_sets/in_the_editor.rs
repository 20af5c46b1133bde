//! What is open is changed, deleted and moved by the editor.

use super::{AUTO, NEW, OLD, files, stage, tree};
use crate::support::editor::{OnEdit, Setup};
use crate::support::stage::Stage;
use protocol::hunks::ListReviewParams;
use protocol::methods::ListReview;
use serde_json::{Value, json};

/// Two files, both open.
fn two(setup: Setup) -> Stage {
    let stage = Stage::with(setup, &format!("//- /a.txt\n{OLD}//- /b.txt\n{OLD}"), AUTO);
    stage.editor.open("a.txt");
    stage.editor.open("b.txt");
    stage
}

fn patch_of(sections: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{sections}*** End Patch\n")})
}

fn both() -> Value {
    patch_of("*** Update File: a.txt\n@@\n-two\n+TWO\n*** Update File: b.txt\n@@\n-two\n+TWO\n")
}

#[test]
fn several_open_files_are_one_edit_with_their_versions() {
    let stage = two(Setup::agent());
    stage.editor.type_over("b.txt", "three", "3");
    let (_, prompt) = stage.call("apply_patch", both());
    let result = stage.result(&prompt);
    assert!(
        result.contains("M b.txt (in the editor, not saved yet") && result.contains("M a.txt\n"),
        "{result}"
    );
    let [edit] = &stage.editor.edits()[..] else {
        panic!("one edit");
    };
    let changes = serde_json::to_value(&edit.edit).unwrap()["documentChanges"].clone();
    let versions: Vec<&Value> = (0..2)
        .map(|at| &changes[at]["textDocument"]["version"])
        .collect();
    assert_eq!(versions, [&json!(1), &json!(2)]);
    assert_eq!(stage.editor.buffer("a.txt").text, NEW);
    assert_eq!(stage.editor.buffer("b.txt").text, "one\nTWO\n3\n");
}

/// Some editors look at the first version only, apply what they can and say that all is done.
#[test]
fn an_edit_that_was_applied_to_one_of_two_files_is_taken_back_and_made_again() {
    let stage = two(Setup::agent());
    stage.editor.on_edit([OnEdit::Hold]);
    let (_, prompt) = stage.call("apply_patch", both());
    let mut held = stage.editor.expect_raw("workspace/applyEdit");
    let changes = held["params"]["edit"]["documentChanges"]
        .as_array_mut()
        .unwrap();
    changes.truncate(1);
    stage.editor.take_held(&held);
    stage.result(&prompt);
    for path in ["a.txt", "b.txt"] {
        assert_eq!(stage.editor.buffer(path).text, NEW);
    }
    assert_eq!(
        stage.editor.edits().len(),
        3,
        "the edit, its inverse, the edit"
    );
}

#[test]
fn an_edit_of_one_file_that_the_person_types_into_is_taken_back_in_the_other() {
    let stage = two(Setup::agent());
    stage.editor.on_edit([OnEdit::Hold]);
    let (_, prompt) = stage.call("apply_patch", both());
    let mut held = stage.editor.expect_raw("workspace/applyEdit");
    let changes = held["params"]["edit"]["documentChanges"]
        .as_array_mut()
        .unwrap();
    changes.truncate(1);
    // The line that the edit was about.
    stage.editor.type_over("b.txt", "two", "zwei");
    stage.editor.take_held(&held);
    let result = stage.result(&prompt);
    assert!(result.contains("b.txt"), "{result}");
    assert_eq!(stage.editor.buffer("a.txt").text, OLD);
    assert_eq!(stage.editor.buffer("b.txt").text, "one\nzwei\nthree\n");
}

#[test]
fn an_editor_without_versions_gets_one_edit_too() {
    let stage = two(Setup {
        document_changes: false,
        file_operations: Vec::new(),
        ..Setup::agent()
    });
    let (_, prompt) = stage.call("apply_patch", both());
    stage.result(&prompt);
    assert_eq!(stage.editor.edits().len(), 1);
    for path in ["a.txt", "b.txt"] {
        assert_eq!(stage.editor.buffer(path).text, NEW);
    }
}

#[test]
fn an_open_file_is_deleted_by_the_editor() {
    let stage = two(Setup::agent());
    let (_, prompt) = stage.call("delete_file", json!({"path": "a.txt"}));
    let result = stage.result(&prompt);
    assert_eq!(result, "Deleted a.txt (3 lines).");
    assert_eq!(tree(&stage.workspace), files(&[("b.txt", OLD)]));
    assert_eq!(stage.editor.edits().len(), 1);
}

#[test]
fn an_open_file_is_moved_by_the_editor_with_its_change() {
    let stage = two(Setup::agent());
    let patch = patch_of("*** Update File: a.txt\n*** Move to: c.txt\n@@\n-two\n+TWO\n");
    let (_, prompt) = stage.call("apply_patch", patch);
    stage.result(&prompt);
    assert_eq!(stage.editor.buffer("c.txt").text, NEW);
    // It was clean before, so it is saved.
    assert_eq!(
        tree(&stage.workspace),
        files(&[("b.txt", OLD), ("c.txt", NEW)])
    );
}

#[test]
fn a_file_with_unsaved_work_is_neither_deleted_nor_moved() {
    let stage = two(Setup::agent());
    stage.editor.type_over("a.txt", "three", "drei");
    let text = "one\ntwo\ndrei\n";
    let (_, prompt) = stage.call("delete_file", json!({"path": "a.txt"}));
    let result = stage.result(&prompt);
    assert!(result.contains("a.txt has unsaved work"), "{result}");
    let patch = patch_of("*** Update File: a.txt\n*** Move to: c.txt\n@@\n-two\n+TWO\n");
    let (_, prompt) = stage.call("apply_patch", patch);
    let result = stage.result(&prompt);
    assert!(result.contains("a.txt has unsaved work"), "{result}");
    assert_eq!(stage.editor.buffer("a.txt").text, text);
    assert!(stage.editor.edits().is_empty());
}

#[test]
fn an_editor_that_does_nothing_to_whole_files_is_not_asked_to() {
    let stage = two(Setup {
        file_operations: Vec::new(),
        ..Setup::agent()
    });
    let (_, prompt) = stage.call("delete_file", json!({"path": "a.txt"}));
    let result = stage.result(&prompt);
    assert!(result.contains("closed it there"), "{result}");
    let patch = patch_of("*** Update File: a.txt\n*** Move to: c.txt\n@@\n-two\n+TWO\n");
    let (_, prompt) = stage.call("apply_patch", patch);
    let result = stage.result(&prompt);
    assert!(result.contains("closed it there"), "{result}");
    assert_eq!(
        tree(&stage.workspace),
        files(&[("a.txt", OLD), ("b.txt", OLD)])
    );
}

#[test]
fn a_deletion_that_the_editor_only_says_it_made_is_not_told_as_made() {
    let config = format!("{AUTO}[limits]\nedit_settle_ms = 100\n");
    let stage = Stage::with(Setup::agent(), &format!("//- /a.txt\n{OLD}"), &config);
    stage.editor.open("a.txt");
    stage.editor.on_edit(vec![OnEdit::Lie; 4]);
    let (_, prompt) = stage.call("delete_file", json!({"path": "a.txt"}));
    let result = stage.result(&prompt);
    assert!(!result.contains("Deleted"), "{result}");
    assert!(stage.workspace.exists("a.txt"));
}

#[test]
fn what_the_editor_deleted_and_moved_is_put_back_when_a_closed_file_fails() {
    let stage = stage();
    stage.editor.open("sub/gone.txt");
    stage.editor.open("sub/moved.txt");
    stage.editor.on_edit([OnEdit::Hold]);
    let (_, prompt) = stage.call("apply_patch", super::patch());
    let held = stage.editor.expect_raw("workspace/applyEdit");
    stage.workspace.write("sub/windows.txt", "another\r\n");
    stage.editor.take_held(&held);
    let result = stage.result(&prompt);
    assert!(result.contains("sub/windows.txt"), "{result}");
    let mut expected = super::before();
    expected.insert("sub/windows.txt".to_owned(), "another\r\n".to_owned());
    assert_eq!(tree(&stage.workspace), expected);
    assert_eq!(stage.editor.buffer("sub/moved.txt").text, OLD);
}

/// A question that is open in the editor holds everything up; what it does after that is done all the same, and was
/// taken for the person's own.
#[test]
fn an_edit_that_comes_after_nobody_waits_for_it_any_more_is_still_the_agents() {
    let config = format!("{AUTO}[limits]\nedit_settle_ms = 100\n");
    let stage = Stage::with(Setup::agent(), &format!("//- /a.txt\n{OLD}"), &config);
    stage.editor.open("a.txt");
    stage.editor.on_edit([OnEdit::Hold]);
    let edit = json!({"path": "a.txt", "target_content": "two", "replacement_content": "TWO"});
    let (_, prompt) = stage.call("edit_file", edit);
    let held = stage.editor.expect_raw("workspace/applyEdit");
    let result = stage.result(&prompt);
    assert!(result.contains("it did not answer"), "{result}");
    stage.editor.take_held(&held);
    let list = || stage.editor.ask::<ListReview>(ListReviewParams::default());
    let [file] = &list().unwrap().files[..] else {
        panic!("one file");
    };
    assert_eq!(file.hunks[0].base_text, "two\n");
    // What the person types is not.
    let revert = json!({"action": "revert"});
    stage
        .editor
        .raw_answer(stage.editor.raw_request("undine/review/resolve", revert))
        .unwrap();
    assert_eq!(stage.editor.buffer("a.txt").text, OLD);
    stage.editor.type_over("a.txt", "two", "2");
    assert_eq!(list().unwrap().files, []);
}

/// The text that was told blamed somebody who kept changing the file.
#[test]
fn an_edit_that_the_editor_leaves_undone_each_time_is_told_as_that() {
    let config = format!("{AUTO}[limits]\nedit_settle_ms = 50\n");
    let stage = Stage::with(Setup::agent(), &format!("//- /a.txt\n{OLD}"), &config);
    stage.editor.open("a.txt");
    stage.editor.on_edit(vec![OnEdit::Lie; 4]);
    let edit = json!({"path": "a.txt", "target_content": "two", "replacement_content": "TWO"});
    let (_, prompt) = stage.call("edit_file", edit);
    assert_eq!(
        stage.result(&prompt),
        "Not applied: in 4 tries the text was another than planned each time, or the editor left the edit undone. \
         Read the file again before you go on."
    );
    assert_eq!(stage.editor.buffer("a.txt").text, OLD);
}

#[test]
fn a_document_that_the_editor_only_says_it_saved_is_told_as_unsaved() {
    let stage = Stage::with(Setup::agent(), &format!("//- /a.txt\n{OLD}"), AUTO);
    stage.editor.open("a.txt");
    stage.editor.forget_to_save();
    let edit = json!({"path": "a.txt", "target_content": "two", "replacement_content": "TWO"});
    let (_, prompt) = stage.call("edit_file", edit);
    let result = stage.result(&prompt);
    assert!(result.contains("It is not saved yet"), "{result}");
    assert_eq!(stage.workspace.read("a.txt"), OLD);
}
