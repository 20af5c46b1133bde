//! What a server that died was writing is told by the next one, and cleared up.

use super::{NEW, before, journals, patch, stage, tree};
use crate::support::editor::{Editor, OnEdit, Setup};
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use serde_json::Value;

/// A server that was killed while the editor had its edit: the new texts lie beside their files.
fn killed() -> (Stage, SessionId) {
    let mut stage = stage();
    stage.editor.on_edit([OnEdit::Hold]);
    let (session, _) = stage.call("apply_patch", patch());
    stage.editor.expect_raw("workspace/applyEdit");
    stage.editor.kill();
    assert_eq!(journals(&stage.workspace), 1);
    assert!(
        tree(&stage.workspace)
            .keys()
            .any(|it| it.contains(".undine-"))
    );
    (stage, session)
}

fn message(stage: &Stage) -> (u64, String) {
    let mut message: Value = stage.editor.expect_raw("window/showMessage");
    let message = message["params"].take();
    let text = message["message"].as_str().unwrap().to_owned();
    (message["type"].as_u64().unwrap(), text)
}

/// The next server's model; answers what it is told of the call.
fn told(stage: &Stage, session: &SessionId) -> String {
    stage.editor.load(session).unwrap();
    let prompt = stage.editor.prompt(session, "where were we?");
    let mut asked = stage.model.next();
    let told = asked
        .messages()
        .iter()
        .find(|it| it["role"] == "tool")
        .unwrap();
    let told = told["content"].as_str().unwrap().to_owned();
    asked.say("here");
    asked.end();
    stage.editor.end(&prompt);
    told
}

#[test]
fn what_had_not_begun_is_told_as_old_and_what_lay_beside_is_gone() {
    let (mut stage, session) = killed();
    stage.restart();
    let (kind, text) = message(&stage);
    assert_eq!(kind, 3, "{text}");
    assert!(
        text.contains("\nopen.txt: on the disk old\nsub/closed.txt: on the disk old\n"),
        "{text}"
    );
    assert!(
        text.contains("sub/new/made.txt: on the disk old, it was not created"),
        "{text}"
    );
    assert!(!text.contains("checkpoint"), "{text}");
    assert_eq!(tree(&stage.workspace), before());
    assert_eq!(journals(&stage.workspace), 0);
    let told = told(&stage, &session);
    assert!(
        told.contains("- open.txt: not changed\n- sub/closed.txt: not changed"),
        "{told}"
    );
}

#[test]
fn what_was_half_done_is_told_file_by_file_to_the_person_and_to_the_model() {
    let (mut stage, session) = killed();
    stage.workspace.write("sub/closed.txt", NEW);
    stage.workspace.write("sub/windows.txt", "torn");
    stage.restart();
    let (kind, text) = message(&stage);
    assert_eq!(kind, 2, "{text}");
    assert!(
        text.contains("\nopen.txt: on the disk old\nsub/closed.txt: on the disk new\nsub/windows.txt: on the disk another text"),
        "{text}"
    );
    // It can be taken back, and the whole new text of the torn file is kept.
    assert!(
        text.contains("\nThe checkpoint ") && text.contains("A whole new text is kept in"),
        "{text}"
    );
    let left: Vec<String> = tree(&stage.workspace)
        .into_keys()
        .filter(|it| it.contains(".undine-"))
        .collect();
    let [left] = &left[..] else {
        panic!("{left:?}");
    };
    assert!(text.contains(left.as_str()), "{text}");
    assert_eq!(stage.workspace.read(left), "one\r\nTWO\r\nthree\r\n");
    let told = told(&stage, &session);
    assert!(
        told.contains(
            "- sub/closed.txt: changed\n- sub/windows.txt: neither as before nor as it was to be"
        ),
        "{told}"
    );
}

#[test]
fn what_a_living_server_writes_is_not_told_by_another() {
    let stage = stage();
    stage.editor.on_edit([OnEdit::Hold]);
    let (_, prompt) = stage.call("apply_patch", patch());
    let held = stage.editor.expect_raw("workspace/applyEdit");
    let other = Editor::start(&Setup::agent(), &stage.workspace);
    other.round_trip();
    other.assert_none("window/showMessage");
    drop(other);
    stage.editor.take_held(&held);
    stage.result(&prompt);
    assert_eq!(tree(&stage.workspace), super::after());
    assert_eq!(stage.editor.buffer("open.txt").text, NEW);
}
