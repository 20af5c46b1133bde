//! A revert gives back the very bytes: a file's encoding, its marks and its mode, not only its text.

use super::{AUTO, all, list, resolve};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use crate::support::workspace::Workspace;
use protocol::hunks::ReviewAction;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

const LATIN: &[u8] = b"caf\xe9\ntwo\n";
const UTF_16: &[u8] = b"\xff\xfea\0\r\0\n\0b\0";
const MARKED: &[u8] = b"\xef\xbb\xbfa\r\nb";

const FORMS: [&[u8]; 3] = [LATIN, UTF_16, MARKED];

fn stage_with(bytes: &[u8]) -> Stage {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    stage.workspace.write("a.txt", bytes);
    let mode = Permissions::from_mode(0o640);
    fs::set_permissions(stage.workspace.path("a.txt"), mode).unwrap();
    stage
}

fn bytes(workspace: &Workspace) -> Vec<u8> {
    fs::read(workspace.path("a.txt")).unwrap()
}

fn mode(workspace: &Workspace) -> u32 {
    let meta = fs::metadata(workspace.path("a.txt")).unwrap();
    meta.permissions().mode() & 0o777
}

#[track_caller]
fn agent(stage: &Stage, tool: &str, arguments: Value) {
    let (_, prompt) = stage.call(tool, arguments);
    stage.result(&prompt);
}

#[track_caller]
fn revert(stage: &Stage) {
    let result = resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert_eq!(result.remaining, [""; 0]);
}

/// It came back as UTF-8, with a character of ours for each byte that is no text, and with a new file's mode.
#[test]
fn a_deleted_file_comes_back_in_its_own_encoding_and_with_its_mode() {
    for old in FORMS {
        let mut stage = stage_with(old);
        agent(&stage, "delete_file", json!({"path": "a.txt"}));
        assert!(!stage.workspace.exists("a.txt"));
        // Another server knows as well.
        stage.restart();
        revert(&stage);
        assert_eq!(bytes(&stage.workspace), old);
        assert_eq!(mode(&stage.workspace), 0o640);
    }
}

#[test]
fn a_moved_file_comes_back_in_its_own_encoding() {
    for old in FORMS {
        let stage = stage_with(old);
        let patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n+new\n*** End Patch\n";
        agent(&stage, "apply_patch", json!({"patch": patch}));
        assert!(!stage.workspace.exists("a.txt"));
        revert(&stage);
        assert_eq!(bytes(&stage.workspace), old);
        assert!(!stage.workspace.exists("b.txt"));
    }
}

#[test]
fn a_file_that_was_deleted_and_made_again_comes_back_in_its_own_encoding() {
    for old in FORMS {
        let stage = stage_with(old);
        agent(&stage, "delete_file", json!({"path": "a.txt"}));
        agent(
            &stage,
            "write_file",
            json!({"path": "a.txt", "content": "new\n"}),
        );
        revert(&stage);
        assert_eq!(bytes(&stage.workspace), old);
    }
}

/// When the last byte that is no text was gone, so was the knowledge that there had been any.
#[test]
fn bytes_that_are_no_text_come_back_after_the_last_of_them_was_edited_away() {
    let stage = stage_with(LATIN);
    let patch =
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-caf\u{fffd}\n+coffee\n two\n*** End Patch\n";
    agent(&stage, "apply_patch", json!({"patch": patch}));
    let (_, prompt, mut asked) = stage.ask("again");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.call("write_file", json!({"path": "a.txt", "content": "new\n"}));
    asked.end();
    stage.result(&prompt);
    assert_eq!(bytes(&stage.workspace), b"new\n");
    // Nobody is shown our characters.
    let base = list(&stage.editor)[0].hunks[0].base_text.clone();
    assert_eq!(base, "caf\u{fffd}\ntwo\n");
    revert(&stage);
    assert_eq!(bytes(&stage.workspace), LATIN);
}

/// An editor would save our characters as they are.
#[test]
fn bytes_that_are_no_text_are_not_put_into_a_document() {
    let stage = stage_with(LATIN);
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.call("write_file", json!({"path": "a.txt", "content": "new\n"}));
    asked.end();
    stage.result(&prompt);
    stage.editor.open("a.txt");
    let error = resolve(&stage.editor, all(ReviewAction::Revert)).unwrap_err();
    assert!(
        error.message.contains("bytes that are no text"),
        "{error:?}"
    );
    assert_eq!(stage.editor.buffer("a.txt").text, "new\n");
    stage.editor.close("a.txt");
    revert(&stage);
    assert_eq!(bytes(&stage.workspace), LATIN);
}

/// What the editor shows of a file in another encoding is not what the disk has.
#[test]
fn a_file_that_the_editor_deleted_comes_back_as_the_disk_had_it() {
    let stage = stage_with(LATIN);
    stage
        .editor
        .open_text("a.txt", "caf\u{e9}\ntwo\n".to_owned());
    agent(&stage, "delete_file", json!({"path": "a.txt"}));
    assert!(!stage.workspace.exists("a.txt"));
    revert(&stage);
    assert_eq!(bytes(&stage.workspace), LATIN);
}
