//! What the model hears of the person's verdicts, and reverts while a turn runs.

use super::{agent_edits, all, closed_server, edit, hunks, ids, opened, resolve, these};
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use protocol::hunks::ReviewAction;
use serde_json::json;

/// A turn of this session in which the model edits `a.txt`.
#[track_caller]
fn edit_in(stage: &Stage, session: &SessionId, old: &str, new: &str) {
    let prompt = stage.editor.prompt(session, "edit");
    let mut asked = stage.model.next();
    asked.call("edit_file", edit("a.txt", old, new));
    asked.end();
    stage.result(&prompt);
}

/// What the model is sent as the person's at the end of its next request; the turn is ended.
#[track_caller]
fn next_prompt(stage: &Stage, session: &SessionId) -> String {
    let prompt = stage.editor.prompt(session, "go on");
    let mut asked = stage.model.next();
    let text = asked.last_prompt();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    text
}

#[test]
fn the_model_is_told_once_what_was_kept_reverted_and_changed() {
    let stage = opened();
    let session = stage.editor.new_session();
    edit_in(&stage, &session, "one\n", "1\n");
    edit_in(&stage, &session, "three\n", "3\n");
    edit_in(&stage, &session, "five\n", "5\n");
    let own = ids(&stage.editor);
    resolve(&stage.editor, these(ReviewAction::Keep, &own[..1])).unwrap();
    resolve(&stage.editor, these(ReviewAction::Revert, &own[1..2])).unwrap();
    stage.editor.type_over("a.txt", "5\n", "5!\n");
    expect_test::expect![[r#"
        Note from Undine: the person has reviewed changes of yours.
        - a.txt, line 1: kept.
        - a.txt, line 3: reverted. You had written:
        ```
        3
        ```
        - a.txt, line 5: changed by the person. It is now:
        ```
        5!
        ```
        Not saved yet, so commands do not see it: a.txt.
        Work with the files as they are now; do not redo what was reverted unasked.


        go on"#]]
    .assert_eq(&next_prompt(&stage, &session));
    let again = stage.editor.prompt(&session, "and now");
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "and now");
    asked.say("done");
    asked.end();
    stage.editor.end(&again);
}

#[test]
fn another_session_is_not_told() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    resolve(&stage.editor, all(ReviewAction::Keep)).unwrap();
    let other = stage.editor.new_session();
    assert_eq!(next_prompt(&stage, &other), "go on");
}

#[test]
fn what_the_model_was_not_told_outlives_the_server() {
    let mut stage = opened();
    let session = stage.editor.new_session();
    edit_in(&stage, &session, "two\n", "2\n");
    resolve(&stage.editor, all(ReviewAction::Keep)).unwrap();
    closed_server(&mut stage);
    stage.restart();
    stage.editor.load(&session).unwrap();
    let text = next_prompt(&stage, &session);
    assert!(text.contains("a.txt, line 2: kept."), "{text}");
    assert_eq!(next_prompt(&stage, &session), "go on");
}

#[test]
fn a_revert_while_the_model_works_waits_for_the_next_boundary() {
    let stage = opened();
    let session = stage.editor.new_session();
    edit_in(&stage, &session, "two\n", "2\n");
    let own = ids(&stage.editor);
    let prompt = stage.editor.prompt(&session, "more");
    let mut asked = stage.model.next();
    asked.say("I think");
    stage.editor.wait_for_text("I think");
    let result = resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert_eq!((result.settled, result.queued), (vec![], own));
    assert_eq!(hunks(&stage.editor), [r#"1..2 was "two\n""#], "not yet");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    let told = asked.last_prompt();
    assert!(told.contains("a.txt, line 2: reverted."), "{told}");
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\ntwo\nthree\nfour\nfive\n"
    );
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_revert_that_waits_is_done_at_the_turns_end_at_the_latest() {
    let stage = opened();
    let session = stage.editor.new_session();
    edit_in(&stage, &session, "two\n", "2\n");
    edit_in(&stage, &session, "four\n", "4\n");
    let own = ids(&stage.editor);
    let prompt = stage.editor.prompt(&session, "more");
    let mut asked = stage.model.next();
    asked.say("I think");
    stage.editor.wait_for_text("I think");
    let n_edits = stage.editor.edits().len();
    for id in &own {
        let result = resolve(
            &stage.editor,
            these(ReviewAction::Revert, std::slice::from_ref(id)),
        );
        assert_eq!(result.unwrap().queued, std::slice::from_ref(id));
    }
    asked.end();
    stage.editor.end(&prompt);
    while !super::changed(&stage.editor).files[0].hunks.is_empty() {}
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\ntwo\nthree\nfour\nfive\n"
    );
    assert_eq!(stage.editor.edits().len(), n_edits + 1, "one set");
}
