//! A manifest is trusted in nothing.

use super::{keep, manifest, restore, stage, tree};
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use protocol::checkpoint::Checkpoint;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A checkpoint of `a.txt`, of a file that does not exist, and then other texts.
fn kept(stage: &Stage) -> (SessionId, Checkpoint) {
    let session = stage.editor.new_session();
    let kept = keep(&stage.editor, &session, &["a.txt", "absent"]);
    stage.workspace.write("a.txt", "other");
    (session, kept)
}

/// Edits a checkpoint's manifest, as one who writes in the data directory could.
fn tamper(stage: &Stage, id: &str, from: &str, to: &str) {
    let path = manifest(stage, id);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn bug_017_an_entry_that_leads_out_of_the_project_is_passed_over() {
    for path in ["../victim", "x/../../victim", "/", "", "."] {
        let stage = stage();
        let victim = stage.workspace.outside("victim");
        fs::write(&victim, "precious").unwrap();
        let (session, kept) = kept(&stage);
        let entry = format!(r#""path":"{path}""#);
        tamper(&stage, &kept.id, r#""path":"absent""#, &entry);
        let done = restore(&stage.editor, &session, &kept.id).unwrap();
        assert_eq!(done.removed, Vec::<PathBuf>::new(), "{path}");
        assert_eq!(done.skipped[0].path, PathBuf::from(path));
        assert_eq!(done.skipped[0].reason, "it leads out of the project");
        assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
        assert_eq!(
            stage.workspace.read("a.txt"),
            "one\ntwo\nthree\n",
            "the others are restored"
        );
    }
}

#[test]
fn bug_017_an_absolute_entry_counts_only_when_we_wrote_it() {
    let stage = stage();
    let victim = stage.workspace.outside("victim");
    fs::write(&victim, "precious").unwrap();
    let session = stage.editor.new_session();
    let shown = victim.display().to_string();
    let of_it = keep(&stage.editor, &session, &[&shown]);
    let of_other = keep(&stage.editor, &session, &["a.txt", "absent"]);
    let entry = format!(r#""path":"{shown}","external":true"#);
    tamper(&stage, &of_other.id, r#""path":"absent""#, &entry);
    let done = restore(&stage.editor, &session, &of_other.id).unwrap();
    assert_eq!(
        done.skipped[0].reason,
        "it lies outside the project, and the checkpoint is not as Undine wrote it"
    );
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    // Its own checkpoint is followed.
    fs::write(&victim, "changed").unwrap();
    restore(&stage.editor, &session, &of_it.id).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    fs::write(&victim, "changed").unwrap();
    tamper(&stage, &of_it.id, "By hand", "By whom");
    restore(&stage.editor, &session, &of_it.id).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "changed");
}

#[test]
fn bug_017_what_undine_or_git_keep_is_not_given_other_bytes() {
    for path in [
        ".undine/config.toml",
        ".undine/conversations/x.jsonl",
        ".git/hooks/pre-commit",
    ] {
        let stage = stage();
        let (session, kept) = kept(&stage);
        let entry = format!(r#""path":"{path}""#);
        tamper(&stage, &kept.id, r#""path":"a.txt""#, &entry);
        let done = restore(&stage.editor, &session, &kept.id).unwrap();
        assert_eq!(done.skipped.len(), 1, "{path}");
        assert!(!stage.workspace.exists(path), "{path}");
    }
}

#[test]
fn bug_017_a_link_that_was_put_on_the_way_is_not_followed() {
    let stage = stage();
    stage.workspace.write("dir/x", "old");
    let session = stage.editor.new_session();
    let kept = keep(&stage.editor, &session, &["dir/x", "b.txt"]);
    let outside = stage.workspace.outside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "precious").unwrap();
    fs::remove_dir_all(stage.workspace.path("dir")).unwrap();
    symlink(&outside, stage.workspace.path("dir")).unwrap();
    fs::remove_file(stage.workspace.path("b.txt")).unwrap();
    symlink(outside.join("x"), stage.workspace.path("b.txt")).unwrap();
    let done = restore(&stage.editor, &session, &kept.id).unwrap();
    let reasons: Vec<&str> = done.skipped.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(reasons, ["a link stands on the way to it now"; 2]);
    assert_eq!(fs::read_to_string(outside.join("x")).unwrap(), "precious");
}

#[test]
fn a_file_that_is_named_twice_is_restored_once() {
    let stage = stage();
    let (session, kept) = kept(&stage);
    tamper(&stage, &kept.id, r#""path":"absent""#, r#""path":"a.txt""#);
    let done = restore(&stage.editor, &session, &kept.id).unwrap();
    assert_eq!(done.skipped[0].reason, "the checkpoint names it twice");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn bug_017_a_checkpoint_with_damaged_bytes_is_not_restored_at_all() {
    let stage = stage();
    let session = stage.editor.new_session();
    let kept = keep(&stage.editor, &session, &["a.txt", "b.txt"]);
    stage.workspace.write("a.txt", "other");
    stage.workspace.write("b.txt", "other");
    let before = tree(&stage.workspace.root());
    let blobs = tree(&stage.workspace.outside("data"));
    let (blob, _) = blobs
        .into_iter()
        .find(|(_, bytes)| bytes == b"b\n")
        .unwrap();
    for damage in [&b"bb"[..], b"", b"b\r"] {
        fs::write(&blob, damage).unwrap();
        let error = restore(&stage.editor, &session, &kept.id).unwrap_err();
        assert!(
            error.message.contains("damaged") && error.message.contains("b.txt"),
            "{error:?}"
        );
        assert_eq!(tree(&stage.workspace.root()), before);
    }
}

#[test]
fn an_id_that_is_a_path_is_no_checkpoint() {
    let stage = stage();
    let (session, kept) = kept(&stage);
    for id in ["../../../x", "", "/", "2", &kept.id.replace('-', "/")] {
        let ambiguous = kept.id.starts_with(id) && !id.is_empty();
        let done = restore(&stage.editor, &session, id);
        assert_eq!(done.is_ok(), ambiguous, "{id}");
    }
}
