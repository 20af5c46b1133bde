//! Edits that an editor makes after the call has given up.

use super::{AUTO, FILES, base, edit, hunks};
use crate::support::editor::{OnEdit, Setup};
use crate::support::stage::Stage;
use protocol::acp::SessionId;

const NEW: &str = "one\n2\nthree\n4\nfive\n";

/// The model's edit of `a.txt` is sent, and the editor says nothing to it; the model is told so.
fn unanswered() -> (Stage, SessionId) {
    let config = format!("{AUTO}[limits]\nedit_settle_ms = 50\n");
    let stage = Stage::with(Setup::agent(), FILES, &config);
    stage.editor.open("a.txt");
    stage.editor.on_edit([OnEdit::Hold]);
    let change = edit("a.txt", "two\nthree\nfour\n", "2\nthree\n4\n");
    let (session, prompt) = stage.call("edit_file", change);
    let result = stage.result(&prompt);
    assert!(result.contains("it did not answer"), "{result}");
    stage.editor.expect_raw("workspace/applyEdit");
    (stage, session)
}

#[track_caller]
fn is_the_agents(stage: &Stage, session: &SessionId) {
    assert_eq!(
        hunks(&stage.editor),
        [r#"1..2 was "two\n""#, r#"3..4 was "four\n""#]
    );
    let prompt = stage.editor.prompt(session, "go on");
    let mut asked = stage.model.next();
    expect_test::expect![[r#"
        Note from Undine: an edit of yours came late.
        - a.txt, lines 2-4: this edit, which did not seem to be made, has come into the editor after all. You had written:
        ```
        2
        three
        4
        ```
        Not saved yet, so commands do not see it: a.txt.
        Work with the files as they are now; do not redo what was reverted unasked.


        go on"#]]
    .assert_eq(&asked.last_prompt());
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn an_edit_that_comes_after_the_call_gave_up_is_the_agents_and_the_model_hears_of_it() {
    let (stage, session) = unanswered();
    let old = stage.editor.buffer("a.txt").text;
    stage.editor.type_over("a.txt", &old, NEW);
    is_the_agents(&stage, &session);
    let expected = "one\ntwo\nthree\nfour\nfive\n";
    assert_eq!(base(&stage, "a.txt").unwrap(), expected);
}

#[test]
fn a_late_edit_may_come_in_parts() {
    let (stage, session) = unanswered();
    stage.editor.type_over("a.txt", "four", "4");
    stage.editor.type_over("a.txt", "two", "2");
    is_the_agents(&stage, &session);
}

#[test]
fn what_is_typed_after_an_edit_that_never_came_is_the_persons() {
    let (stage, session) = unanswered();
    stage.editor.type_over("a.txt", "four", "4");
    stage.editor.type_over("a.txt", "two", "2!");
    assert_eq!(hunks(&stage.editor), [""; 0]);
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "go on");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}
