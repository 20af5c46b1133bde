//! Propose first: the person accepts a part of an edit.

use super::{FILES, hunks};
use crate::support::editor::{Asking, Editor, Pending, Setup};
use crate::support::stage::Stage;
use protocol::methods::{Prompt, RequestPermission};
use serde_json::{Value, json};

/// A stage in mode `ask` where the model wants to write `a.txt` anew.
fn asked(new: &str) -> (Stage, Pending<Prompt>) {
    let stage = Stage::with(Setup::agent(), FILES, "");
    stage.editor.open("a.txt");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.call("write_file", json!({"path": "a.txt", "content": new}));
    asked.end();
    (stage, prompt)
}

const NEW: &str = "one\n2\nthree\n4\nfive\nsix\n";

fn offered(question: &Asking<RequestPermission>) -> Vec<Value> {
    let call = serde_json::to_value(&question.params.tool_call).unwrap();
    let hunks = &call["_meta"]["undine"]["hunks"];
    hunks.as_array().cloned().unwrap_or_default()
}

fn accept(editor: &Editor, question: &Asking<RequestPermission>, ids: Value, note: &str) {
    let said = json!({"undine": {"acceptedHunks": ids, "note": note}});
    let outcome = json!({"outcome": "selected", "optionId": "once", "_meta": said});
    editor.raw_reply(&question.id, json!({"outcome": outcome}));
}

#[test]
fn an_edit_is_offered_place_by_place() {
    let (stage, prompt) = asked(NEW);
    let question = stage.editor.question();
    let hunks = offered(&question);
    let short: Vec<String> = hunks
        .iter()
        .map(|it| {
            let range = &it["range"];
            let (start, end) = (&range["start"]["line"], &range["end"]["line"]);
            format!(
                "{} {start}..{end} {} {}",
                it["id"], it["removed"], it["added"]
            )
        })
        .collect();
    assert_eq!(
        short,
        [
            r#""0" 1..2 "two\n" "2\n""#,
            r#""1" 3..4 "four\n" "4\n""#,
            r#""2" 5..5 "" "six\n""#,
        ]
    );
    stage.editor.choose(&question, "once");
    let result = stage.result(&prompt);
    assert!(!result.contains("refused"), "{result}");
    assert_eq!(stage.editor.buffer("a.txt").text, NEW);
}

#[test]
fn only_the_accepted_hunks_are_made_and_the_model_is_told_of_the_others() {
    let (stage, prompt) = asked(NEW);
    let question = stage.editor.question();
    accept(
        &stage.editor,
        &question,
        json!(["0", "2"]),
        "four is a name",
    );
    let result = stage.result(&prompt);
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\n2\nthree\nfour\nfive\nsix\n"
    );
    let expected = "\nThe person refused a part of this change, and it was not made; do not try it again unasked:\na.txt, line 4:\n-four\n+4\nThe person's words: four is a name";
    assert!(result.ends_with(expected), "{result}");
    assert_eq!(
        hunks(&stage.editor),
        [r#"1..2 was "two\n""#, r#"5..6 was """#]
    );
}

#[test]
fn accepting_none_of_the_hunks_is_a_no() {
    let (stage, prompt) = asked(NEW);
    let question = stage.editor.question();
    accept(&stage.editor, &question, json!(["7"]), "not like this");
    let result = stage.result(&prompt);
    assert_eq!(result, "Denied by the person: not like this");
    assert_eq!(stage.editor.buffer("a.txt").version, 1);
}

/// Lua writes an empty table as an object: whoever wanted none of the hunks had them all made.
#[test]
fn a_choice_of_hunks_that_is_no_list_is_a_no() {
    for ids in [json!({}), json!("0"), json!(0), json!([0]), json!([])] {
        let (stage, prompt) = asked(NEW);
        let question = stage.editor.question();
        accept(&stage.editor, &question, ids, "none");
        assert_eq!(stage.result(&prompt), "Denied by the person: none");
        assert_eq!(stage.editor.buffer("a.txt").version, 1);
    }
}

#[test]
fn the_same_part_is_made_when_the_text_moved_meanwhile() {
    let stage = Stage::with(Setup::agent(), FILES, "");
    stage.editor.open("a.txt");
    let edit = super::edit("a.txt", "two\nthree\nfour\n", "2\nthree\n4\n");
    let (_, prompt) = stage.call("edit_file", edit);
    let question = stage.editor.question();
    assert_eq!(offered(&question).len(), 2);
    stage.editor.type_over("a.txt", "one\n", "zero\none\n");
    accept(&stage.editor, &question, json!(["1"]), "");
    let result = stage.result(&prompt);
    assert!(result.contains("refused"), "{result}");
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "zero\none\ntwo\nthree\n4\nfive\n"
    );
}
