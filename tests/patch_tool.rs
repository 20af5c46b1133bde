//! `apply_patch`: several changes to several files in one call, all or none (spec 2).

mod forms;
mod refused;
mod texts;

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::StopReason;
use serde_json::{Value, json};
use std::fs;

const AUTO: &str = "[safety]\nmode = \"auto\"\n";

fn patch(text: &str) -> Value {
    json!({"patch": text})
}

/// An envelope around sections.
fn envelope(sections: &str) -> String {
    format!("*** Begin Patch\n{sections}*** End Patch\n")
}

/// A stage where project edits run unasked.
fn stage(files: &str) -> Stage {
    Stage::with(Setup::agent(), files, AUTO)
}

/// What the model is told of a patch.
fn apply(stage: &Stage, text: &str) -> String {
    let (_, prompt) = stage.call("apply_patch", patch(text));
    stage.result(&prompt)
}

/// A file after a patch, and what the model is told.
fn patched(old: &[u8], text: &str) -> (Vec<u8>, String) {
    let stage = stage("");
    stage.workspace.write("a.txt", old);
    let result = apply(&stage, text);
    (fs::read(stage.workspace.path("a.txt")).unwrap(), result)
}

/// A hundred lines.
fn lines() -> String {
    (1..=100).map(|it| format!("line {it}\n")).collect()
}

const FILES: &str =
    "//- /a.txt\none\ntwo\nthree\n//- /b.txt\nbe\n//- /old.txt\nmoved\nkept\n//- /gone.txt\ngoes\n";

const FOUR: &str = "*** Update File: a.txt
@@
 one
-two
+2
*** Delete File: gone.txt
*** Update File: old.txt
*** Move to: sub/new.txt
@@
-moved
+Moved
 kept
*** Add File: more/made.txt
+made
";

#[test]
fn r_011_several_places_of_a_file_are_changed_in_one_call() {
    let stage = stage(&format!("//- /a.txt\n{}", lines()));
    let text = envelope(
        "*** Update File: a.txt\n@@\n line 2\n-line 3\n+LINE 3\n@@\n line 50\n+between\n line 51\n@@\n-line 100\n+end\n",
    );
    let result = apply(&stage, &text);
    assert_eq!(result, "1 file changed (+3 -2 lines).\nM a.txt");
    let expected = lines()
        .replace("line 3\n", "LINE 3\n")
        .replace("line 50\n", "line 50\nbetween\n")
        .replace("line 100\n", "end\n");
    assert_eq!(stage.workspace.read("a.txt"), expected);
}

#[test]
fn r_012_a_new_file_is_made_with_its_folders() {
    let stage = stage("");
    let result = apply(
        &stage,
        &envelope("*** Add File: x/y/new.txt\n+one\n+\n+three\n"),
    );
    assert_eq!(result, "1 file changed (+3 -0 lines).\nA x/y/new.txt");
    assert_eq!(stage.workspace.read("x/y/new.txt"), "one\n\nthree\n");
}

#[test]
fn files_are_made_changed_moved_and_deleted_in_one_call_and_told_in_that_order() {
    let stage = stage(FILES);
    let result = apply(&stage, &envelope(FOUR));
    assert_eq!(
        result,
        "4 files changed (+3 -3 lines).\nA more/made.txt\nM a.txt\nR old.txt -> sub/new.txt\nD gone.txt"
    );
    let read = |path: &str| stage.workspace.read(path);
    assert_eq!(
        [read("a.txt"), read("sub/new.txt"), read("more/made.txt")],
        ["one\n2\nthree\n", "Moved\nkept\n", "made\n"]
    );
    assert!(!stage.workspace.exists("old.txt") && !stage.workspace.exists("gone.txt"));
}

#[test]
fn all_files_of_a_patch_are_one_question() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call("apply_patch", patch(&envelope(FOUR)));
    let question = stage.editor.question();
    let shown = serde_json::to_value(&question.params.tool_call).unwrap();
    assert_eq!(shown["title"], "Patch a.txt and 3 more");
    let diffs = shown["content"].as_array().unwrap().iter();
    let paths: Vec<&str> = diffs.map(|it| it["path"].as_str().unwrap()).collect();
    let path = |it: &str| stage.workspace.path(it).display().to_string();
    assert_eq!(
        paths,
        ["a.txt", "gone.txt", "sub/new.txt", "more/made.txt"].map(path)
    );
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    stage.editor.choose(&question, "once");
    assert!(stage.result(&prompt).starts_with("4 files changed"));
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
}

#[test]
fn of_a_move_the_title_names_the_target() {
    let stage = Stage::new(FILES);
    let text = envelope("*** Update File: old.txt\n*** Move to: new.txt\n");
    let (_, prompt) = stage.call("apply_patch", patch(&text));
    let question = stage.editor.question();
    assert_eq!(
        question.params.tool_call.fields.title.as_deref(),
        Some("Patch new.txt")
    );
    stage.editor.choose(&question, "once");
    assert_eq!(
        stage.result(&prompt),
        "1 file changed (+0 -0 lines).\nR old.txt -> new.txt"
    );
    assert_eq!(stage.workspace.read("new.txt"), "moved\nkept\n");
    assert!(!stage.workspace.exists("old.txt"));
}

#[test]
fn one_file_outside_the_project_has_the_whole_patch_asked_about() {
    let stage = stage(FILES);
    let outside = stage.workspace.outside("out.txt");
    let text = envelope(&format!(
        "*** Update File: a.txt\n@@\n-two\n+2\n*** Add File: {}\n+x\n",
        outside.display()
    ));
    let (_, prompt) = stage.call("apply_patch", patch(&text));
    stage.editor.choose(&stage.editor.question(), "no");
    assert!(stage.result(&prompt).contains("Denied"));
    assert!(!outside.exists());
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

/// Whether a place is found tells what stands in the file.
#[test]
fn what_is_wrong_with_a_file_outside_is_told_only_once_it_may_be_read() {
    let stage = stage(FILES);
    let outside = stage.workspace.outside("out.txt");
    fs::write(&outside, "secret\n").unwrap();
    let text = envelope(&format!(
        "*** Update File: a.txt\n@@\n-two\n+2\n*** Update File: {}\n@@\n-secrex\n+x\n",
        outside.display()
    ));
    let (_, prompt) = stage.call("apply_patch", patch(&text));
    stage.editor.choose(&stage.editor.question(), "no");
    let result = stage.result(&prompt);
    assert!(
        result.contains("Denied") && !result.contains("secret"),
        "{result}"
    );
    let (_, prompt) = stage.call("apply_patch", patch(&text));
    stage.editor.choose(&stage.editor.question(), "once");
    let result = stage.result(&prompt);
    assert!(
        result.contains("secret") && result.contains("none of them was changed"),
        "{result}"
    );
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn the_read_only_mode_refuses_a_patch() {
    let stage = Stage::with(Setup::agent(), FILES, "[safety]\nmode = \"read_only\"\n");
    let result = apply(&stage, &envelope(FOUR));
    assert!(result.contains("read_only"), "{result}");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn a_cancel_while_the_question_is_open_changes_nothing() {
    let stage = Stage::new(FILES);
    let (session, prompt) = stage.call("apply_patch", patch(&envelope(FOUR)));
    let question = stage.editor.question();
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage.editor.expect_withdrawn(&question.id);
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    assert!(stage.workspace.exists("gone.txt") && stage.workspace.exists("old.txt"));
}

#[test]
fn a_diff_is_cut_for_the_whole_patch_and_its_counts_are_exact() {
    let stage = stage(&format!("//- /a.txt\n{0}//- /b.txt\n{0}", lines()));
    let section = |file: &str| {
        let old: String = (1..=100).map(|it| format!("-line {it}\n")).collect();
        let new: String = (1..=90).map(|it| format!("+LINE {it}\n")).collect();
        format!("*** Update File: {file}\n@@\n{old}{new}")
    };
    let text = envelope(&(section("a.txt") + &section("b.txt")));
    let (_, prompt) = stage.call("apply_patch", patch(&text));
    let mut asked = stage.model.next();
    assert_eq!(
        asked.result(),
        "2 files changed (+180 -200 lines).\nM a.txt\nM b.txt"
    );
    asked.say("done");
    asked.end();
    let turn = stage.editor.end(&prompt);
    let ended = turn.of_kind("tool_call_update");
    let ended = ended.iter().find(|it| it["status"] == "completed").unwrap();
    let diff = ended["content"][0]["content"]["text"].as_str().unwrap();
    assert_eq!(diff.lines().filter(|it| !it.starts_with('[')).count(), 220);
    assert!(diff.ends_with("[the diff goes on]"), "{diff}");
    assert!(diff.contains("+++ b.txt"), "{diff}");
}
