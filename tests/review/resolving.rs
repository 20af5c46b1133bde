//! Keeping and reverting.

use super::{agent_edits, all, base, changed, edit, hunks, ids, list, opened, resolve, these};
use protocol::hunks::{ResolveReviewParams, ReviewAction};
use serde_json::json;

#[test]
fn keeping_a_hunk_settles_it_and_changes_no_file() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    agent_edits(&stage, "four\n", "4\n");
    let before = stage.editor.buffer("a.txt");
    let own = ids(&stage.editor);
    let result = resolve(&stage.editor, these(ReviewAction::Keep, &own[..1])).unwrap();
    assert_eq!(result.settled, own[..1]);
    assert_eq!(hunks(&stage.editor), [r#"3..4 was "four\n""#]);
    assert_eq!(
        base(&stage, "a.txt").unwrap(),
        "one\n2\nthree\nfour\nfive\n"
    );
    assert_eq!(stage.editor.buffer("a.txt"), before);
}

#[test]
fn reverting_a_hunk_puts_the_lines_back_by_one_versioned_edit() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    agent_edits(&stage, "four\n", "4\n");
    stage.editor.type_over("a.txt", "five", "FIVE");
    let version = stage.editor.buffer("a.txt").version;
    let own = ids(&stage.editor);
    let result = resolve(&stage.editor, these(ReviewAction::Revert, &own[..1])).unwrap();
    assert_eq!(result.settled, own[..1]);
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\ntwo\nthree\n4\nFIVE\n"
    );
    let edits = stage.editor.edits();
    assert_eq!(edits.len(), 3, "one undo step");
    let edit = serde_json::to_value(&edits[2].edit).unwrap();
    let sent = &edit["documentChanges"][0]["textDocument"]["version"];
    assert_eq!(*sent, json!(version));
    assert_eq!(edits[2].label.as_deref(), Some("Undine: Revert in a.txt"));
    assert_eq!(hunks(&stage.editor), [r#"3..4 was "four\n""#]);
}

#[test]
fn reverting_everything_takes_all_hunks_of_a_file_in_one_step() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    agent_edits(&stage, "four\n", "4\n4b\n");
    let own = ids(&stage.editor);
    let result = resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert_eq!((result.settled, result.remaining), (own, Vec::new()));
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\ntwo\nthree\nfour\nfive\n"
    );
    assert_eq!(stage.editor.edits().len(), 3);
    assert_eq!(list(&stage.editor), []);
    assert!(base(&stage, "a.txt").is_err());
}

/// Rejecting one turn's work took earlier turns' with it.
#[test]
fn reverting_a_turn_leaves_what_other_turns_did() {
    let stage = opened();
    let session = stage.editor.new_session();
    for (old, new) in [("two\n", "2\n"), ("2\nthree\n", "2b\n3\n")] {
        let prompt = stage.editor.prompt(&session, "go");
        let mut asked = stage.model.next();
        asked.call("edit_file", edit("a.txt", old, new));
        asked.end();
        stage.result(&prompt);
    }
    let turn = |turn| ResolveReviewParams {
        turn: Some(turn),
        session_id: Some(session.0.to_string()),
        ..all(ReviewAction::Revert)
    };
    let first = resolve(&stage.editor, turn(0)).unwrap();
    assert_eq!((first.settled.len(), first.remaining.len()), (0, 1));
    resolve(&stage.editor, turn(1)).unwrap();
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\n2\nthree\nfour\nfive\n"
    );
    assert_eq!(hunks(&stage.editor), [r#"1..2 was "two\n""#]);
}

#[test]
fn an_id_that_no_hunk_has_remains_and_nothing_is_touched() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    let stale = ids(&stage.editor);
    stage.editor.type_over("a.txt", "2\n", "2!\n");
    for action in [ReviewAction::Keep, ReviewAction::Revert] {
        let result = resolve(&stage.editor, these(action, &stale)).unwrap();
        assert_eq!((result.settled, result.remaining), (vec![], stale.clone()));
    }
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\n2!\nthree\nfour\nfive\n"
    );
    assert_eq!(hunks(&stage.editor), [r#"1..2 was "two\n" mixed"#]);
}

#[test]
fn a_turn_without_its_session_is_refused() {
    let stage = opened();
    let params = ResolveReviewParams {
        turn: Some(0),
        ..all(ReviewAction::Keep)
    };
    assert!(resolve(&stage.editor, params).is_err());
}

#[test]
fn what_is_settled_is_reported_without_hunks() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    assert_eq!(changed(&stage.editor).files[0].hunks.len(), 1);
    resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    let last = changed(&stage.editor);
    assert_eq!((last.files.len(), &last.files[0].hunks[..]), (1, &[][..]));
}
