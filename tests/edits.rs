//! The text that the person sees is what is edited, and only what was approved is written.

use crate::support::editor::{OnEdit, Pending, Setup};
use crate::support::stage::Stage;
use protocol::acp::{SessionId, StopReason};
use protocol::methods::Prompt;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const FILES: &str = "//- /a.txt\none\ntwo\nthree\n";
/// Project edits without a question, for tests that are about something else.
const AUTO: &str = "[safety]\nmode = \"auto\"\n";

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "target_content": old, "replacement_content": new})
}

/// A stage in mode `auto` where `a.txt` is open.
fn opened() -> Stage {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    stage.editor.open("a.txt");
    stage
}

/// Asks for an edit of the open `a.txt`.
fn edit_two(stage: &Stage) -> (SessionId, Pending<Prompt>) {
    stage.call("edit_file", edit("a.txt", "two", "2"))
}

/// The `documentChanges` of the edit at this place.
fn changes(stage: &Stage, at: usize) -> Value {
    let edit = &stage.editor.edits()[at].edit;
    serde_json::to_value(edit).unwrap()["documentChanges"].clone()
}

#[test]
fn an_unsaved_buffer_is_read_as_it_stands() {
    let stage = opened();
    stage.editor.type_over("a.txt", "two", "TWO, unsaved");
    let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(stage.result(&prompt), "one\nTWO, unsaved\nthree\n");
}

#[test]
fn after_a_buffer_is_closed_the_disk_counts_again() {
    let stage = opened();
    stage.editor.type_over("a.txt", "two", "TWO, unsaved");
    stage.editor.close("a.txt");
    let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(stage.result(&prompt), "one\ntwo\nthree\n");
}

#[test]
fn an_approved_edit_lands_in_the_buffer_versioned_and_minimal() {
    let stage = Stage::new(FILES);
    stage.editor.open("a.txt");
    let (_, prompt) = edit_two(&stage);
    let question = stage.editor.question();
    stage.editor.round_trip();
    assert!(stage.editor.edits().is_empty(), "edited before the answer");
    stage.editor.choose(&question, "once");
    let result = stage.result(&prompt);
    assert!(
        result.contains("a.txt") && !result.contains("not saved"),
        "{result}"
    );
    let uri = format!("file://{}", stage.workspace.path("a.txt").display());
    let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}});
    let document = json!({"uri": uri, "version": 1});
    assert_eq!(
        changes(&stage, 0),
        json!([{"textDocument": document, "edits": [{"range": range, "newText": "2"}]}])
    );
    let label = stage.editor.edits()[0].label.clone().unwrap();
    assert!(label.contains("Undine"), "{label}");
    let buffer = stage.editor.buffer("a.txt");
    assert_eq!(
        (buffer.text.as_str(), buffer.dirty),
        ("one\n2\nthree\n", false)
    );
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
}

#[test]
fn edits_far_apart_are_sent_apart() {
    let lines: String = (0..100).map(|it| format!("line {it}\n")).collect();
    let stage = Stage::with(Setup::agent(), &format!("//- /a.txt\n{lines}"), AUTO);
    stage.editor.open("a.txt");
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    let new = lines
        .replace("line 3\n", "LINE 3\n")
        .replace("line 90\n", "")
        .replace("line 99\n", "line 99\nend\n");
    asked.call("write_file", json!({"path": "a.txt", "content": new}));
    asked.end();
    stage.result(&prompt);
    let edits = changes(&stage, 0)[0]["edits"].clone();
    assert_eq!(edits.as_array().unwrap().len(), 3, "{edits:#}");
    assert!(edits.to_string().len() < 600, "{edits:#}");
    assert_eq!(stage.editor.buffer("a.txt").text, new);
}

#[test]
fn a_refused_edit_leaves_every_byte() {
    let stage = Stage::new(FILES);
    stage.editor.open("a.txt");
    stage.editor.type_over("a.txt", "three", "drei");
    let before = stage.editor.buffer("a.txt");
    let (_, prompt) = edit_two(&stage);
    stage.editor.choose(&stage.editor.question(), "no");
    assert!(stage.result(&prompt).contains("Denied"));
    assert_eq!(stage.editor.buffer("a.txt"), before);
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    assert!(stage.editor.edits().is_empty());
}

#[test]
fn a_buffer_with_unsaved_work_is_edited_and_left_unsaved_and_the_model_is_told() {
    let stage = opened();
    stage.editor.type_over("a.txt", "three", "drei");
    let (_, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.contains("not saved"), "{result}");
    let buffer = stage.editor.buffer("a.txt");
    assert_eq!(
        (buffer.text.as_str(), buffer.dirty),
        ("one\n2\ndrei\n", true)
    );
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn an_editor_that_cannot_save_is_not_asked_to_and_the_model_is_told() {
    let setup = Setup {
        without: vec!["undine/document/save"],
        ..Setup::agent()
    };
    let stage = Stage::with(setup, FILES, AUTO);
    stage.editor.open("a.txt");
    let (_, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.contains("not saved"), "{result}");
    assert_eq!(stage.editor.buffer("a.txt").text, "one\n2\nthree\n");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn save_never_leaves_a_clean_buffer_unsaved() {
    let stage = Stage::with(
        Setup::agent(),
        FILES,
        &format!("{AUTO}\n[edits]\nsave = \"never\"\n"),
    );
    stage.editor.open("a.txt");
    let (_, prompt) = edit_two(&stage);
    assert!(stage.result(&prompt).contains("not saved"));
    assert!(stage.editor.buffer("a.txt").dirty);
}

#[test]
fn an_answer_that_comes_before_the_change_is_as_good() {
    let stage = opened();
    stage.editor.on_edit([OnEdit::AnswerFirst]);
    let (_, prompt) = edit_two(&stage);
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
}

#[test]
fn an_editor_that_says_applied_and_skipped_the_edit_is_not_believed() {
    let stage = Stage::with(
        Setup::agent(),
        FILES,
        &format!("{AUTO}\n[limits]\nedit_settle_ms = 50\n"),
    );
    stage.editor.open("a.txt");
    stage.editor.on_edit([OnEdit::Lie]);
    let (_, prompt) = edit_two(&stage);
    // Planned again and applied at the second try.
    let result = stage.result(&prompt);
    assert!(
        result.contains("a.txt") && !result.contains("Not applied"),
        "{result}"
    );
    assert_eq!(stage.editor.edits().len(), 2);
    assert_eq!(stage.editor.buffer("a.txt").text, "one\n2\nthree\n");
}

#[test]
fn an_editor_that_always_lies_is_given_up_and_the_model_is_told() {
    let stage = Stage::with(
        Setup::agent(),
        FILES,
        &format!("{AUTO}\n[limits]\nedit_settle_ms = 50\nedit_rounds = 2\n"),
    );
    stage.editor.open("a.txt");
    stage
        .editor
        .on_edit([OnEdit::Lie, OnEdit::Lie, OnEdit::Lie]);
    let (_, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.to_lowercase().contains("not applied"), "{result}");
    assert_eq!(stage.editor.edits().len(), 3);
    assert_eq!(stage.editor.buffer("a.txt").text, "one\ntwo\nthree\n");
}

#[test]
fn an_editor_that_refuses_is_quoted_to_the_model() {
    let stage = opened();
    stage
        .editor
        .on_edit([OnEdit::Refuse(Some("the buffer is locked"))]);
    let (_, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.contains("the buffer is locked"), "{result}");
    assert_eq!(stage.editor.buffer("a.txt").text, "one\ntwo\nthree\n");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

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
fn a_slow_editor_holds_up_nobody_else() {
    let stage = opened();
    stage.editor.on_edit([OnEdit::Hold]);
    let (_, slow) = edit_two(&stage);
    let held = stage.editor.expect_raw("workspace/applyEdit");
    // Another session goes on meanwhile.
    let (_, other, mut asked) = stage.ask("hello");
    asked.say("hi");
    asked.end();
    assert_eq!(stage.editor.end(&other).end, Ok(StopReason::EndTurn));
    stage.editor.take_held(&held);
    stage.result(&slow);
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
}

#[test]
fn a_closed_file_is_written_and_keeps_its_mode_and_line_endings() {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    stage.workspace.write("run.sh", "one\r\ntwo\r\nthree");
    fs::set_permissions(
        stage.workspace.path("run.sh"),
        fs::Permissions::from_mode(0o750),
    )
    .unwrap();
    let (_, prompt) = stage.call("edit_file", edit("run.sh", "two\n", "2\n2b\n"));
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("run.sh"), "one\r\n2\r\n2b\r\nthree");
    let mode = fs::metadata(stage.workspace.path("run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o750);
    let left: Vec<String> = fs::read_dir(stage.workspace.root())
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|it| it != ".undine")
        .collect();
    assert_eq!(left, ["run.sh"], "nothing is left beside it");
    assert!(stage.editor.edits().is_empty());
}

#[test]
fn a_closed_file_is_replaced_and_never_half_written() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    // Whoever has the old file open still sees the old text: it was renamed over, not written into.
    let mut old = fs::File::open(stage.workspace.path("a.txt")).unwrap();
    let (_, prompt) = edit_two(&stage);
    stage.result(&prompt);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut old, &mut text).unwrap();
    assert_eq!(
        (text.as_str(), stage.workspace.read("a.txt").as_str()),
        ("one\ntwo\nthree\n", "one\n2\nthree\n")
    );
}

#[test]
fn a_symlink_stays_one_and_its_file_is_edited() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    std::os::unix::fs::symlink("a.txt", stage.workspace.path("link")).unwrap();
    let (_, prompt) = stage.call("edit_file", edit("link", "two", "2"));
    stage.result(&prompt);
    assert!(stage.workspace.path("link").is_symlink());
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
}

#[test]
fn a_new_file_is_made_with_its_folders() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call(
        "write_file",
        json!({"path": "src/deep/new.rs", "content": "fn new() {}\n"}),
    );
    let question = stage.editor.question();
    assert!(!stage.workspace.exists("src"));
    stage.editor.choose(&question, "once");
    let result = stage.result(&prompt);
    assert!(result.contains("src/deep/new.rs"), "{result}");
    assert_eq!(stage.workspace.read("src/deep/new.rs"), "fn new() {}\n");
}

#[test]
fn write_file_over_a_file_that_was_not_read_is_refused() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    let (_, prompt) = stage.call("write_file", json!({"path": "a.txt", "content": "gone"}));
    let result = stage.result(&prompt);
    assert!(result.contains("read it first"), "{result}");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn write_file_over_a_file_that_changed_since_it_was_read_is_refused() {
    let stage = opened();
    let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    let mut asked = stage.model.next();
    stage.editor.type_over("a.txt", "one", "1");
    asked.call("write_file", json!({"path": "a.txt", "content": "gone"}));
    asked.end();
    let result = stage.result(&prompt);
    assert!(result.contains("changed since"), "{result}");
    assert_eq!(stage.editor.buffer("a.txt").text, "1\ntwo\nthree\n");
}

#[test]
fn two_edits_to_one_file_in_one_message_both_land() {
    for open in [true, false] {
        let stage = Stage::with(Setup::agent(), FILES, AUTO);
        if open {
            stage.editor.open("a.txt");
        }
        let (_, prompt, mut asked) = stage.ask("go");
        asked.call("edit_file", edit("a.txt", "one", "1"));
        asked.call("edit_file", edit("a.txt", "three", "3"));
        asked.end();
        let mut asked = stage.model.next();
        assert_eq!(asked.results().len(), 2);
        asked.say("ok");
        asked.end();
        let turn = stage.editor.end(&prompt);
        assert_eq!(
            turn.calls().into_values().collect::<Vec<_>>(),
            ["completed", "completed"]
        );
        assert_eq!(stage.workspace.read("a.txt"), "1\ntwo\n3\n", "open: {open}");
    }
}

#[test]
fn two_approved_edits_to_one_file_in_one_message_both_land() {
    let stage = Stage::new(FILES);
    stage.editor.open("a.txt");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("edit_file", edit("a.txt", "one", "1"));
    asked.call("edit_file", edit("a.txt", "three", "3"));
    asked.end();
    let questions = [stage.editor.question(), stage.editor.question()];
    for question in &questions {
        stage.editor.choose(question, "once");
    }
    let mut asked = stage.model.next();
    assert_eq!(asked.results().len(), 2);
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(stage.editor.buffer("a.txt").text, "1\ntwo\n3\n");
}

#[test]
fn a_file_that_is_no_utf_8_is_left_alone() {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    let bytes = b"caf\xe9 = two\n";
    stage.workspace.write("latin.txt", bytes);
    let (_, prompt) = stage.call("edit_file", edit("latin.txt", "two", "2"));
    let result = stage.result(&prompt);
    assert!(result.contains("UTF-8"), "{result}");
    assert_eq!(fs::read(stage.workspace.path("latin.txt")).unwrap(), bytes);
}

#[test]
fn a_place_that_is_not_there_or_not_unique_is_told_to_the_model() {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\nlet x = 1;\nlet x = 1;\n", AUTO);
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("edit_file", edit("a.txt", "let x = 1;", "let y = 1;"));
    asked.call("edit_file", edit("a.txt", "let z = 3;", "let y = 1;"));
    asked.end();
    let mut asked = stage.model.next();
    let results = asked.results();
    assert!(
        results[0].contains('2') || results[0].contains("twice"),
        "{results:?}"
    );
    assert!(
        !results[1].is_empty() && results[1] != results[0],
        "{results:?}"
    );
    asked.say("ok");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(
        turn.calls().into_values().collect::<Vec<_>>(),
        ["failed", "failed"]
    );
    assert_eq!(stage.workspace.read("a.txt"), "let x = 1;\nlet x = 1;\n");
}

#[test]
fn positions_are_right_in_every_encoding_behind_astral_characters() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let setup = Setup {
            encodings: vec![encoding],
            ..Setup::agent()
        };
        let text = "𝄞 é é 😀 = two; // 𝄞\r\n𝄞𝄞 three\r\n";
        let stage = Stage::with(setup, "", AUTO);
        stage.workspace.write("a.txt", text);
        stage.editor.open("a.txt");
        // A change of the person's behind an astral character, too.
        stage.editor.type_over("a.txt", "three", "drei 𝄞!");
        stage.editor.save("a.txt");
        let (_, prompt) = stage.call("edit_file", edit("a.txt", "two; // 𝄞", "zwei; // 😀"));
        stage.result(&prompt);
        let expected = "𝄞 é é 😀 = zwei; // 😀\r\n𝄞𝄞 drei 𝄞!\r\n";
        assert_eq!(stage.editor.buffer("a.txt").text, expected, "{encoding}");
        assert_eq!(stage.workspace.read("a.txt"), expected, "{encoding}");
    }
}

#[test]
fn an_editor_without_document_changes_gets_plain_changes() {
    let setup = Setup {
        document_changes: false,
        ..Setup::agent()
    };
    let stage = Stage::with(setup, FILES, AUTO);
    stage.editor.open("a.txt");
    let (_, prompt) = edit_two(&stage);
    stage.result(&prompt);
    assert_eq!(changes(&stage, 0), Value::Null);
    assert_eq!(stage.editor.buffer("a.txt").text, "one\n2\nthree\n");
}

#[test]
fn a_bare_editor_gets_its_edits_too() {
    let stage = Stage::with(Setup::bare(), FILES, AUTO);
    stage.editor.open("a.txt");
    let (_, prompt) = edit_two(&stage);
    let result = stage.result_unshown(&prompt);
    assert!(result.contains("not saved"), "{result}");
    assert_eq!(stage.editor.buffer("a.txt").text, "one\n2\nthree\n");
}

#[test]
fn an_editor_that_cannot_apply_edits_is_told_to_the_model_and_the_disk_stays() {
    let setup = Setup {
        apply_edit: false,
        ..Setup::agent()
    };
    let stage = Stage::with(setup, FILES, AUTO);
    stage.editor.open("a.txt");
    let (_, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.contains("editor"), "{result}");
    assert!(stage.editor.edits().is_empty());
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn a_document_that_was_opened_by_another_name_of_the_file_is_that_file() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    std::os::unix::fs::symlink("a.txt", stage.workspace.path("link")).unwrap();
    stage.editor.open("link");
    stage.editor.type_over("link", "three", "drei");
    let (_, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.contains("not saved"), "{result}");
    // What goes to the editor bears the name that the editor used.
    assert_eq!(stage.editor.buffer("link").text, "one\n2\ndrei\n");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn a_document_that_the_editor_sent_damaged_is_not_edited_before_it_is_saved() {
    let stage = opened();
    let uri = format!("file://{}", stage.workspace.path("a.txt").display());
    // Half of an astral character, as an editor sends it that splits one.
    let change = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":"{uri}","version":2}},"contentChanges":[{{"range":{{"start":{{"line":2,"character":0}},"end":{{"line":2,"character":0}}}},"text":"\ud834"}}]}}}}"#
    );
    let frame = format!("Content-Length: {}\r\n\r\n{change}", change.len());
    stage.editor.raw_bytes(frame.into_bytes());
    let (_, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.contains("damaged"), "{result}");
    assert!(stage.editor.edits().is_empty());
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn a_cancel_while_the_editor_holds_an_edit_ends_the_turn_and_what_the_editor_does_is_its_own() {
    let stage = opened();
    stage.editor.on_edit([OnEdit::Hold]);
    let (session, prompt) = edit_two(&stage);
    let held = stage.editor.expect_raw("workspace/applyEdit");
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage.editor.take_held(&held);
    stage.editor.round_trip();
    stage.editor.forget(|it| it["method"] == "$/cancelRequest");
    // The next turn sees the text as it is.
    let prompt = stage.editor.prompt(&session, "read");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    assert_eq!(stage.result(&prompt), "one\n2\nthree\n");
}

#[test]
fn an_edit_that_changes_nothing_is_told_to_the_model() {
    let stage = opened();
    let (_, prompt) = stage.call("edit_file", edit("a.txt", "two", "two"));
    let result = stage.result(&prompt);
    assert!(!result.contains("Changed"), "{result}");
    assert!(stage.editor.edits().is_empty());
}

// The disk, too, can change between the question and its answer.

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
