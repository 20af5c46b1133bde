//! What a patch does not touch stays byte for byte, wherever the text is.

use super::{FILES, FOUR, apply, envelope, patched, stage};
use crate::support::editor::{OnEdit, Setup};
use crate::support::stage::Stage;
use protocol::acp::StopReason;
use serde_json::json;

#[track_caller]
fn becomes(old: &[u8], sections: &str, new: &[u8]) -> String {
    let (got, result) = patched(
        old,
        &envelope(&format!("*** Update File: a.txt\n{sections}")),
    );
    assert_eq!(
        String::from_utf8_lossy(&got),
        String::from_utf8_lossy(new),
        "{result}"
    );
    result
}

#[test]
fn line_endings_stay_line_by_line_and_are_not_called_fuzzy() {
    let result = becomes(
        b"one\r\ntwo\r\nthree\r\n",
        "@@\n one\n-two\n+2\n+and\n three\n",
        b"one\r\n2\r\nand\r\nthree\r\n",
    );
    assert_eq!(result, "1 file changed (+2 -1 lines).\nM a.txt");
    let result = becomes(
        b"one\r\ntwo\nthree\r\nfour\n",
        "@@\n-two\n+2\n@@\n-three\n+3\n",
        b"one\r\n2\n3\r\nfour\n",
    );
    assert!(!result.contains("verify"), "{result}");
}

#[test]
fn a_missing_final_newline_stays_missing_and_a_blank_last_line_stays() {
    becomes(b"one\ntwo", "@@\n one\n-two\n+2\n", b"one\n2");
    becomes(b"one\ntwo\n\n", "@@\n-one\n+1\n", b"1\ntwo\n\n");
}

#[test]
fn bytes_that_are_no_text_stay_where_nothing_is_changed_and_are_refused_where_something_is() {
    becomes(
        b"caf\xe9\none\n\xff\n",
        "@@\n-one\n+1\n",
        b"caf\xe9\n1\n\xff\n",
    );
    let result = becomes(
        b"caf\xe9\none\n",
        "@@\n-caf\u{fffd}\n+coffee\n",
        b"caf\xe9\none\n",
    );
    assert!(result.contains("not UTF-8"), "{result}");
}

#[test]
fn a_place_that_is_not_quite_as_written_is_told_and_marked() {
    let stage = stage("//- /a.txt\n\tlet a = 1;\n\tlet b = 2;\n");
    let text =
        envelope("*** Update File: a.txt\n@@\n     let a = 1;\n-    let b = 2;\n+    let c = 3;\n");
    let (_, prompt) = stage.call("apply_patch", json!({"patch": text}));
    let mut asked = stage.model.next();
    assert_eq!(
        asked.result(),
        "1 file changed (+1 -1 lines).\nM a.txt\na.txt: hunk 1 fits at line 1 but for indentation; verify it there"
    );
    asked.say("done");
    asked.end();
    let ended = stage.editor.end(&prompt).of_kind("tool_call_update");
    let ended = ended.iter().find(|it| it["status"] == "completed").unwrap();
    assert_eq!(ended["_meta"]["undine"]["fuzzy"], true, "{ended:#}");
    assert_eq!(
        stage.workspace.read("a.txt"),
        "\tlet a = 1;\n\tlet c = 3;\n"
    );
}

#[test]
fn an_unsaved_buffer_and_files_on_disk_are_patched_together() {
    let stage = stage(FILES);
    stage.editor.open("a.txt");
    stage.editor.type_over("a.txt", "three", "drei, unsaved");
    let result = apply(&stage, &envelope(FOUR));
    assert!(
        result.contains(
            "\nM a.txt (in the editor, not saved yet, so commands do not see it)\nR old.txt"
        ),
        "{result}"
    );
    let buffer = stage.editor.buffer("a.txt");
    assert_eq!(
        (buffer.text.as_str(), buffer.dirty),
        ("one\n2\ndrei, unsaved\n", true)
    );
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    assert_eq!(stage.workspace.read("sub/new.txt"), "Moved\nkept\n");
}

#[test]
fn an_editor_that_refuses_its_part_leaves_the_disk_as_it_was_too() {
    let stage = stage(FILES);
    stage.editor.open("a.txt");
    stage.editor.on_edit([OnEdit::Refuse(Some("busy"))]);
    let result = apply(&stage, &envelope(FOUR));
    assert!(result.contains("busy"), "{result}");
    assert_eq!(stage.editor.buffer("a.txt").text, "one\ntwo\nthree\n");
    let read = |path: &str| stage.workspace.read(path);
    assert_eq!(
        [read("a.txt"), read("old.txt"), read("gone.txt")],
        ["one\ntwo\nthree\n", "moved\nkept\n", "goes\n"]
    );
    assert!(!stage.workspace.exists("more/made.txt") && !stage.workspace.exists("sub/new.txt"));
}

#[test]
fn a_cancel_while_the_editor_has_its_part_in_hand_leaves_the_disk_as_it_was() {
    let stage = stage(FILES);
    stage.editor.open("a.txt");
    stage.editor.on_edit([OnEdit::Hold]);
    let (session, prompt) = stage.call("apply_patch", json!({"patch": envelope(FOUR)}));
    let edit = stage.editor.expect_raw("workspace/applyEdit");
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage
        .editor
        .raw_reply(&edit["id"], json!({"applied": false}));
    stage.editor.round_trip();
    let read = |path: &str| stage.workspace.read(path);
    assert_eq!(
        [read("a.txt"), read("old.txt"), read("gone.txt")],
        ["one\ntwo\nthree\n", "moved\nkept\n", "goes\n"]
    );
    assert!(!stage.workspace.exists("more/made.txt") && !stage.workspace.exists("sub/new.txt"));
}

#[test]
fn a_file_that_changed_before_the_approval_is_asked_about_again() {
    let stage = Stage::with(Setup::agent(), FILES, "");
    let (_, prompt) = stage.call("apply_patch", json!({"patch": envelope(FOUR)}));
    let question = stage.editor.question();
    stage
        .workspace
        .write("gone.txt", "goes\nand was written on\n");
    stage.editor.choose(&question, "once");
    let question = stage.editor.question();
    let shown = serde_json::to_string(&question.params.tool_call).unwrap();
    assert!(shown.contains("and was written on"), "{shown}");
    stage.editor.choose(&question, "no");
    assert!(stage.result(&prompt).contains("Denied"));
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn r_016_a_patch_whose_server_is_killed_leaves_old_or_new_files_and_no_mix() {
    let old = "an old line of some length\n".repeat(20_000);
    let new = format!("new\n{old}");
    let diff = |it: &str| {
        format!("--- a/{it}\n+++ b/{it}\n@@ -1 +1,2 @@\n+new\n an old line of some length\n")
    };
    for n in 1..8 {
        let mut stage = stage(&format!("//- /a.txt\n{old}//- /b.txt\n{old}"));
        let (_, _, mut asked) = stage.ask("go");
        stage.editor.kill_after(n);
        asked.call(
            "apply_patch",
            json!({"patch": diff("a.txt") + &diff("b.txt")}),
        );
        asked.end();
        let asked = stage.model.next_while(|| stage.editor.is_alive());
        stage.editor.kill();
        drop(asked);
        for path in ["a.txt", "b.txt"] {
            let text = stage.workspace.read(path);
            assert!(
                text == old || text == new,
                "{path} is a mix after {n} messages"
            );
        }
        stage.restart_with_another_model();
        // It may report the patch; the kill rounds say what.
        stage.editor.ignore("window/showMessage");
    }
}
