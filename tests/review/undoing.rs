//! Undo and redo in the editor, of edits of the agent's and of reverts.

use super::{agent_edits, all, base, hunks, ids, opened, resolve, these};
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use protocol::hunks::ReviewAction;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";

/// Says the whole text, as some editors say an undo.
#[track_caller]
fn becomes(stage: &Stage, text: &str) {
    let before = stage.editor.buffer("a.txt").text;
    stage.editor.type_over("a.txt", &before, text);
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
fn undo_after_a_revert_makes_the_hunk_pending_again_and_redo_settles_it() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n2b\n");
    let own = ids(&stage.editor);
    let text = stage.editor.buffer("a.txt").text;
    resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert_eq!(hunks(&stage.editor), [""; 0]);
    // The store has told that all is settled, and could forget the file.
    while !super::changed(&stage.editor).files[0].hunks.is_empty() {}
    becomes(&stage, &text);
    assert_eq!(ids(&stage.editor), own);
    assert_eq!(super::changed(&stage.editor).files[0].hunks[0].id, own[0]);
    assert_eq!(base(&stage, "a.txt").unwrap(), OLD);
    becomes(&stage, OLD);
    assert_eq!(hunks(&stage.editor), [""; 0]);
    becomes(&stage, &text);
    resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert_eq!(stage.editor.buffer("a.txt").text, OLD);
}

#[test]
fn undo_after_one_revert_and_one_keep_leaves_the_kept_one_kept() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    agent_edits(&stage, "four\n", "4\n");
    let own = ids(&stage.editor);
    let text = stage.editor.buffer("a.txt").text;
    resolve(&stage.editor, these(ReviewAction::Revert, &own[..1])).unwrap();
    resolve(&stage.editor, all(ReviewAction::Keep)).unwrap();
    while !super::changed(&stage.editor).files[0].hunks.is_empty() {}
    becomes(&stage, &text);
    assert_eq!(ids(&stage.editor), own[..1]);
}

#[test]
fn undo_of_a_replacement_leaves_nothing_to_review_in_whatever_ranges_it_is_said() {
    let new = "}\n2\n}\none\n\n}\nfive\n";
    for ranges in 0..3 {
        let stage = opened();
        agent_edits(&stage, OLD, new);
        match ranges {
            0 => becomes(&stage, OLD),
            1 => {
                // Line by line, from the last on.
                stage
                    .editor
                    .type_over("a.txt", "one\n\n}\n", "three\nfour\n");
                stage.editor.type_over("a.txt", "}\n2\n}\n", "two\n");
                stage.editor.type_over("a.txt", "two\n", "one\ntwo\n");
            }
            _ => {
                stage.editor.type_over("a.txt", new, "");
                stage.editor.type_over("a.txt", "", OLD);
            }
        }
        assert_eq!(hunks(&stage.editor), [""; 0], "{ranges}");
    }
}

#[test]
fn the_model_hears_that_a_revert_was_undone() {
    let stage = opened();
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "edit");
    let mut asked = stage.model.next();
    asked.call("edit_file", super::edit("a.txt", "two\n", "2\n"));
    asked.end();
    stage.result(&prompt);
    let text = stage.editor.buffer("a.txt").text;
    resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    let told = next_prompt(&stage, &session);
    assert!(told.contains("a.txt, line 2: reverted."), "{told}");
    becomes(&stage, &text);
    let told = next_prompt(&stage, &session);
    assert!(
        told.contains("a.txt, line 2: the person has undone the revert"),
        "{told}"
    );
    // What is undone before the model has heard of it is no news.
    becomes(&stage, OLD);
    becomes(&stage, &text);
    assert_eq!(next_prompt(&stage, &session), "go on");
}
