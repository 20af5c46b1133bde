//! The text that the person sees is what is edited, and only what was approved is written.

mod disk;
mod encodings;
mod fuzzy;
mod moved;

use crate::support::editor::{OnEdit, Pending, Setup};
use crate::support::stage::Stage;
use protocol::acp::{SessionId, StopReason};
use protocol::methods::Prompt;
use serde_json::{Value, json};

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
        &format!("{AUTO}\n[limits]\nedit_settle_ms = 1000\n"),
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
        &format!("{AUTO}\n[limits]\nedit_settle_ms = 1000\nedit_rounds = 2\n"),
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

/// The changes of one document were put into the text of the other, and the edit went astray.
#[test]
fn a_file_that_is_open_twice_with_two_texts_is_not_edited_until_they_agree() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    std::os::unix::fs::symlink("a.txt", stage.workspace.path("link")).unwrap();
    stage.editor.open("a.txt");
    stage.editor.open("link");
    stage.editor.type_over("a.txt", "one", "ONE AND MORE");
    let (session, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.contains("open twice"), "{result}");
    assert!(stage.editor.edits().is_empty());
    stage.editor.type_over("link", "one", "ONE AND MORE");
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    asked.call("edit_file", edit("a.txt", "two", "2"));
    asked.end();
    stage.result(&prompt);
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "ONE AND MORE\n2\nthree\n"
    );
    assert_eq!(
        stage.editor.buffer("link").text,
        "ONE AND MORE\ntwo\nthree\n"
    );
    // What is left counts again when the other is closed.
    stage.editor.close("link");
    let prompt = stage.editor.prompt(&session, "read");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "link"}));
    asked.end();
    assert_eq!(stage.result(&prompt), "ONE AND MORE\n2\nthree\n");
}
