//! Change sets that fail in the middle: all is as it was.

use super::{NEW, OLD, before, journals, patch, stage, tree};
use crate::support::editor::{OnEdit, Pending};
use crate::support::stage::Stage;
use protocol::acp::{SessionId, StopReason};
use protocol::methods::Prompt;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// A stage whose model has sent the patch, and the edit of the open file, which the editor has not taken yet:
/// everything has been looked at, and nothing is done.
fn held() -> (Stage, SessionId, Pending<Prompt>, Value) {
    let stage = stage();
    stage.editor.on_edit([OnEdit::Hold]);
    let (session, prompt) = stage.call("apply_patch", patch());
    let held = stage.editor.expect_raw("workspace/applyEdit");
    (stage, session, prompt, held)
}

#[test]
fn what_the_editor_refuses_changes_no_closed_file() {
    let stage = stage();
    stage.editor.on_edit([OnEdit::Refuse(Some("not today"))]);
    let (_, prompt) = stage.call("apply_patch", patch());
    let result = stage.result(&prompt);
    assert!(
        result.contains("not today") && result.contains("nothing was changed"),
        "{result}"
    );
    assert_eq!(tree(&stage.workspace), before());
    assert_eq!(journals(&stage.workspace), 0);
}

#[test]
fn a_closed_file_that_changes_while_the_editor_applies_takes_the_edit_back() {
    let (stage, _, prompt, held) = held();
    stage.workspace.write("sub/windows.txt", "another\r\n");
    stage.editor.take_held(&held);
    // Planned anew, the patch does not fit any more.
    let result = stage.result(&prompt);
    assert!(result.contains("sub/windows.txt"), "{result}");
    assert_eq!(stage.editor.buffer("open.txt").text, OLD);
    let labels: Vec<Option<String>> = stage
        .editor
        .edits()
        .into_iter()
        .map(|it| it.label)
        .collect();
    assert!(
        labels[1].as_ref().unwrap().contains("Take back"),
        "{labels:?}"
    );
    let mut expected = before();
    expected.insert("sub/windows.txt".to_owned(), "another\r\n".to_owned());
    assert_eq!(tree(&stage.workspace), expected);
    assert_eq!(journals(&stage.workspace), 0);
}

#[test]
fn a_read_only_file_among_them_stops_all() {
    let stage = stage();
    let path = stage.workspace.path("sub/gone.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let (_, prompt) = stage.call("apply_patch", patch());
    let result = stage.result(&prompt);
    assert!(result.contains("sub/gone.txt is read-only"), "{result}");
    assert!(stage.editor.edits().is_empty());
    assert_eq!(tree(&stage.workspace), before());
}

/// A folder cannot be made where a file is; the folders before it are gone again.
#[test]
fn a_file_that_cannot_be_made_stops_all() {
    let stage = stage();
    let patch = "*** Begin Patch\n\
        *** Update File: sub/closed.txt\n@@\n-two\n+TWO\n\
        *** Add File: new/deep/a.txt\n+a\n\
        *** Add File: sub/gone.txt/b.txt\n+b\n\
        *** End Patch\n";
    let (_, prompt) = stage.call("apply_patch", json!({"patch": patch}));
    let result = stage.result(&prompt);
    assert!(result.contains("sub/gone.txt/b.txt"), "{result}");
    assert_eq!(tree(&stage.workspace), before());
    assert!(!stage.workspace.exists("new"));
}

/// Between the look at the files and the writing, the files' folder becomes a way out of the project.
#[test]
fn r_017_bug_007_a_folder_that_becomes_a_way_out_while_files_are_written_is_not_followed() {
    let (stage, _, prompt, held) = held();
    let outside = stage.workspace.outside("home");
    for (path, text) in before() {
        if let Some(name) = path.strip_prefix("sub/") {
            fs::write(outside.join(name), text).unwrap();
        }
    }
    let names = || {
        let names = fs::read_dir(&outside).unwrap();
        let mut names: Vec<String> = names
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let before = names();
    fs::rename(
        stage.workspace.path("sub"),
        stage.workspace.path("sub-before"),
    )
    .unwrap();
    symlink(&outside, stage.workspace.path("sub")).unwrap();
    stage.editor.take_held(&held);
    // The edit is taken back, and what the paths mean now is asked about.
    let question = stage.editor.question();
    let shown = serde_json::to_string(&question.params.tool_call).unwrap();
    assert!(shown.contains(outside.to_str().unwrap()), "{shown}");
    stage.editor.choose(&question, "no");
    stage.result(&prompt);
    assert_eq!(names(), before);
    for name in ["closed.txt", "gone.txt", "moved.txt"] {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), OLD);
        let inside = stage.workspace.read(&format!("sub-before/{name}"));
        assert_eq!(inside, OLD);
    }
    assert_eq!(stage.editor.buffer("open.txt").text, OLD);
    assert!(!stage.workspace.exists("sub-before/new/made.txt"));
}

#[test]
fn a_cancel_before_the_closed_files_takes_the_editors_edit_back() {
    let (stage, session, prompt, held) = held();
    stage.editor.on_edit([OnEdit::Hold]);
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage.editor.take_held(&held);
    assert_eq!(stage.editor.buffer("open.txt").text, NEW);
    let inverse = stage.editor.expect_raw("workspace/applyEdit");
    stage.editor.take_held(&inverse);
    // The files' turn ends when all is as it was.
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    assert_eq!(tree(&stage.workspace), before());
    assert_eq!(stage.editor.buffer("open.txt").text, OLD);
    asked.call("apply_patch", patch());
    asked.end();
    stage.result(&prompt);
    assert_eq!(stage.editor.buffer("open.txt").text, NEW);
    assert_eq!(journals(&stage.workspace), 0);
}

#[test]
fn without_a_checkpoint_nothing_is_written() {
    let stage = stage();
    // A file where the store's folder would be.
    fs::write(stage.workspace.outside("data/checkpoints"), "").unwrap();
    let (_, prompt) = stage.call("apply_patch", patch());
    let result = stage.result(&prompt);
    assert!(result.contains("No checkpoint could be made"), "{result}");
    assert_eq!(tree(&stage.workspace), before());
    assert!(stage.editor.edits().is_empty());
}

#[test]
fn without_a_journal_nothing_is_written() {
    let stage = stage();
    fs::write(stage.workspace.outside("data/journal"), "").unwrap();
    let (_, prompt) = stage.call("apply_patch", patch());
    let result = stage.result(&prompt);
    assert!(result.contains("nothing was changed"), "{result}");
    assert_eq!(tree(&stage.workspace), before());
    assert!(stage.editor.edits().is_empty());
}
