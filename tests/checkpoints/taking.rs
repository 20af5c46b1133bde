//! A checkpoint comes before every change to files, and a change without one is not made.

use super::{AUTO, FILES, edit, keep, list, restore, stage, tree};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn a_checkpoint_says_what_it_was_made_for() {
    let stage = stage();
    let (session, prompt) = stage.call("edit_file", edit("a.txt", "two", "2"));
    stage.result(&prompt);
    let all = list(&stage.editor, &session);
    let [one] = &all[..] else { panic!("{all:#?}") };
    assert_eq!(
        serde_json::to_value(one).unwrap(),
        json!({
            "id": one.id,
            "time": one.time,
            "title": "Edit a.txt",
            "sessionId": session.to_string(),
            "turn": 0,
            "toolCallId": "call-0",
            "files": [{"path": "a.txt", "existed": true}],
        })
    );
    let text = fs::read_to_string(super::manifest(&stage, &one.id)).unwrap();
    let manifest = &serde_json::from_str::<serde_json::Value>(&text).unwrap()["manifest"];
    let action = json!({"tool": "edit_file", "arguments": edit("a.txt", "two", "2")});
    assert_eq!(manifest["action"], action);
}

#[test]
fn what_is_not_written_needs_no_checkpoint() {
    let stage = stage();
    let (session, prompt) = stage.call("edit_file", edit("a.txt", "nowhere", "2"));
    stage.result(&prompt);
    assert_eq!(list(&stage.editor, &session), []);
}

/// BUG-23's kind: what promises recovery and cannot have it is not done.
#[test]
fn bug_023_a_change_whose_checkpoint_fails_is_not_made() {
    for (tool, arguments) in [
        ("edit_file", edit("a.txt", "two", "2")),
        ("write_file", json!({"path": "new.txt", "content": "x"})),
        ("delete_file", json!({"path": "b.txt"})),
    ] {
        let stage = stage();
        fs::write(stage.workspace.outside("data/checkpoints"), "no folder").unwrap();
        let before = tree(&stage.workspace.root());
        let (_, prompt) = stage.call(tool, arguments);
        let result = stage.result(&prompt);
        assert!(
            result.contains("No checkpoint could be made"),
            "{tool}: {result}"
        );
        let mut after = tree(&stage.workspace.root());
        after.retain(|path, _| !path.starts_with(stage.workspace.path(".undine")));
        assert_eq!(after, before, "{tool}");
    }
}

#[test]
fn the_person_may_do_without_checkpoints_and_a_repository_may_not() {
    let off = "checkpoint_on_mutation = false\n";
    let stage = Stage::with(Setup::agent(), FILES, &format!("{AUTO}{off}"));
    let (session, prompt) = stage.call("edit_file", edit("a.txt", "two", "2"));
    stage.result(&prompt);
    assert_eq!(list(&stage.editor, &session), []);
    // A restore has one all the same: it is what undoes it.
    let by_hand = keep(&stage.editor, &session, &["a.txt"]);
    stage.workspace.write("a.txt", "other");
    restore(&stage.editor, &session, &by_hand.id).unwrap();
    assert_eq!(list(&stage.editor, &session).len(), 2);

    let files = format!("{FILES}//- /.undine/config.toml\n[safety]\n{off}");
    let mut stage = Stage::with(Setup::agent(), &files, AUTO);
    stage.editor.ignore("window/showMessage");
    let (session, prompt) = stage.call("edit_file", edit("a.txt", "two", "2"));
    stage.result(&prompt);
    assert_eq!(list(&stage.editor, &session).len(), 1);
}

/// The reference kept checkpoints in a git repository, whose hooks could run.
#[test]
fn bug_022_git_and_what_it_ignores_are_left_alone() {
    let stage = stage();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(stage.workspace.root())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    stage.workspace.write(".gitignore", "ignored\n");
    stage.workspace.write("ignored", "mine");
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    for hook in [
        "pre-commit",
        "post-commit",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
    ] {
        let path = format!(".git/hooks/{hook}");
        let script = format!(
            "#!/bin/sh\ntouch {}\n",
            stage.workspace.path("hook-ran").display()
        );
        stage.workspace.write(&path, script);
        use std::os::unix::fs::PermissionsExt;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(stage.workspace.path(&path), executable).unwrap();
    }
    let before = tree(&stage.workspace.root());
    let (session, prompt) = stage.call("edit_file", edit("a.txt", "two", "2"));
    stage.result(&prompt);
    let id = list(&stage.editor, &session)[0].id.clone();
    restore(&stage.editor, &session, &id).unwrap();
    let mut after = tree(&stage.workspace.root());
    after.retain(|path, _| !path.starts_with(stage.workspace.path(".undine")));
    assert_eq!(after, before);
}

#[test]
fn old_checkpoints_make_room_for_new_ones() {
    let config = format!("{AUTO}[limits]\ncheckpoint_bytes = 20000\n");
    let stage = Stage::with(Setup::agent(), FILES, &config);
    let session = stage.editor.new_session();
    let ids: Vec<String> = (0..10_u8)
        .map(|n| {
            stage.workspace.write("a.txt", vec![b'a' + n; 4000]);
            keep(&stage.editor, &session, &["a.txt"]).id
        })
        .collect();
    let left: Vec<String> = list(&stage.editor, &session)
        .into_iter()
        .map(|it| it.id)
        .collect();
    assert!((2..=5).contains(&left.len()), "{left:?}");
    let newest: Vec<String> = ids.into_iter().rev().take(left.len()).collect();
    assert_eq!(left, newest);
    let total: usize = tree(&stage.workspace.outside("data/checkpoints"))
        .values()
        .map(Vec::len)
        .sum();
    assert!(total < 21_000, "{total}");
    restore(&stage.editor, &session, &left[left.len() - 1]).unwrap();
    assert_eq!(
        stage.workspace.read("a.txt"),
        "abcdefghij"[10 - left.len()..][..1].repeat(4000)
    );
}

#[test]
fn two_servers_of_one_project_share_its_checkpoints() {
    let stage = stage();
    let session = stage.editor.new_session();
    let other = crate::support::editor::Editor::start(&Setup::agent(), &stage.workspace);
    let others = other.new_session();
    let first = keep(&stage.editor, &session, &["a.txt"]);
    let second = keep(&other, &others, &["b.txt"]);
    stage.workspace.write("a.txt", "x");
    stage.workspace.write("b.txt", "x");
    let ids = |all: Vec<protocol::checkpoint::Checkpoint>| -> Vec<String> {
        all.into_iter().map(|it| it.id).collect()
    };
    assert_eq!(
        ids(list(&stage.editor, &session)),
        [second.id.clone(), first.id.clone()]
    );
    assert_eq!(
        ids(list(&other, &others)),
        [second.id.clone(), first.id.clone()]
    );
    let done = restore(&other, &others, &first.id).unwrap();
    assert_eq!(done.restored, [PathBuf::from("a.txt")]);
    restore(&stage.editor, &session, &second.id).unwrap();
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    assert_eq!(stage.workspace.read("b.txt"), "b\n");
}

#[test]
fn bug_024_checkpoints_that_are_made_at_once_have_ids_of_their_own() {
    let stage = stage();
    let session = stage.editor.new_session();
    let mut ids: Vec<String> = (0..40)
        .map(|_| keep(&stage.editor, &session, &["a.txt"]).id)
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40);
    assert_eq!(list(&stage.editor, &session).len(), 40);
}
