//! Files that the editor does not have open, and files that come and go.

use super::{
    AUTO, FILES, agent_edits, all, base, edit, hunks, ids, in_short, list, resolve, these,
};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::hunks::{ReviewAction, WholeFile};
use serde_json::json;

fn closed() -> Stage {
    Stage::with(Setup::agent(), FILES, AUTO)
}

#[track_caller]
fn agent(stage: &Stage, tool: &str, arguments: serde_json::Value) {
    let (_, prompt) = stage.call(tool, arguments);
    stage.result(&prompt);
}

#[test]
fn a_closed_file_is_followed_too_and_reverted_on_the_disk() {
    let stage = closed();
    agent_edits(&stage, "two\n", "2\n");
    let files = list(&stage.editor);
    assert_eq!((files.len(), files[0].version), (1, None));
    assert_eq!(in_short(&files[0]), [r#"1..2 was "two\n""#]);
    let own = ids(&stage.editor);
    let result = resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert_eq!(result.settled, own);
    assert_eq!(
        stage.workspace.read("a.txt"),
        "one\ntwo\nthree\nfour\nfive\n"
    );
}

#[test]
fn opening_a_file_with_unreviewed_changes_takes_in_what_it_holds() {
    let stage = closed();
    agent_edits(&stage, "two\n", "2\n");
    // So that the disk has been looked at before.
    assert_eq!(list(&stage.editor).len(), 1);
    stage
        .editor
        .open_text("a.txt", "zero\none\n2\nthree\nfour\nfive\n".into());
    let files = list(&stage.editor);
    assert_eq!(
        (in_short(&files[0]), files[0].version),
        (vec![r#"2..3 was "two\n""#.to_owned()], Some(1))
    );
    // What was not saved is gone with the buffer.
    stage.editor.close("a.txt");
    assert_eq!(hunks(&stage.editor), [r#"1..2 was "two\n""#]);
    assert_eq!(list(&stage.editor)[0].version, None);
}

#[test]
fn a_closed_file_that_somebody_else_changed_is_looked_at_again() {
    let stage = closed();
    agent_edits(&stage, "two\n", "2\n");
    stage
        .workspace
        .write("a.txt", "zero\none\n2\nthree\nfour\nfive\n");
    assert_eq!(hunks(&stage.editor), [r#"2..3 was "two\n""#]);
    stage
        .workspace
        .write("a.txt", "zero\none\n2!\nthree\nfour\nfive\n");
    assert_eq!(hunks(&stage.editor), [r#"2..3 was "two\n" mixed"#]);
    std::fs::remove_file(stage.workspace.path("a.txt")).unwrap();
    assert_eq!(list(&stage.editor), []);
}

#[test]
fn reverting_a_file_that_the_agent_made_deletes_it_when_every_byte_is_the_agents() {
    let stage = closed();
    agent(
        &stage,
        "write_file",
        json!({"path": "new.txt", "content": "a\nb\n"}),
    );
    let files = list(&stage.editor);
    assert_eq!(files[0].change, Some(WholeFile::Created));
    assert_eq!(in_short(&files[0]), [r#"0..2 was """#]);
    resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert!(!stage.workspace.exists("new.txt"));
    assert_eq!(list(&stage.editor), []);
}

/// A peer's "reject all" deleted whole files.
#[test]
fn reverting_a_file_that_the_agent_made_leaves_what_the_person_wrote_in_it() {
    let stage = closed();
    agent(
        &stage,
        "write_file",
        json!({"path": "new.txt", "content": "a\nb\n"}),
    );
    stage.editor.open("new.txt");
    stage.editor.type_over("new.txt", "b\n", "b\nmine\n");
    stage.editor.save("new.txt");
    resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert_eq!(stage.editor.buffer("new.txt").text, "mine\n");
    assert!(stage.workspace.exists("new.txt"));
}

#[test]
fn a_file_that_the_agent_deleted_comes_back() {
    let stage = closed();
    agent(&stage, "delete_file", json!({"path": "a.txt"}));
    assert!(!stage.workspace.exists("a.txt"));
    let files = list(&stage.editor);
    assert_eq!(files[0].change, Some(WholeFile::Deleted));
    assert_eq!(
        base(&stage, "a.txt").unwrap(),
        "one\ntwo\nthree\nfour\nfive\n"
    );
    let own = ids(&stage.editor);
    let result = resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert_eq!(result.settled, own);
    assert_eq!(
        stage.workspace.read("a.txt"),
        "one\ntwo\nthree\nfour\nfive\n"
    );
    assert_eq!(list(&stage.editor), []);
}

#[test]
fn a_revert_over_several_files_is_all_or_nothing() {
    let files = format!("{FILES}//- /b.txt\none\ntwo\n");
    let stage = Stage::with(Setup::agent(), &files, AUTO);
    stage.editor.open("a.txt");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("edit_file", edit("a.txt", "two\n", "2\n"));
    asked.call("edit_file", edit("b.txt", "two\n", "2\n"));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    // The same change in two files: an id names one of them.
    let own = ids(&stage.editor);
    assert_ne!(own[0], own[1]);
    let locked = stage.workspace.path("b.txt");
    let mut mode = std::fs::metadata(&locked).unwrap().permissions();
    mode.set_readonly(true);
    std::fs::set_permissions(&locked, mode.clone()).unwrap();
    let error = resolve(&stage.editor, all(ReviewAction::Revert)).unwrap_err();
    assert!(error.message.contains("b.txt"), "{error:?}");
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\n2\nthree\nfour\nfive\n"
    );
    assert_eq!(ids(&stage.editor), own);
    let result = resolve(&stage.editor, these(ReviewAction::Revert, &own[..1])).unwrap();
    assert_eq!(result.settled, own[..1]);
    assert_eq!(stage.workspace.read("b.txt"), "one\n2\n");
}

/// The person heard that the text kept changing, whatever they did.
#[test]
fn a_file_that_is_reached_over_a_link_by_now_is_not_reverted_through_it() {
    let stage = closed();
    stage.workspace.write("sub/b.txt", "two\n");
    agent(&stage, "edit_file", edit("sub/b.txt", "two\n", "2\n"));
    let [sub, other] = ["sub", "other"].map(|it| stage.workspace.path(it));
    std::fs::rename(&sub, &other).unwrap();
    std::os::unix::fs::symlink(&other, &sub).unwrap();
    let error = resolve(&stage.editor, all(ReviewAction::Revert)).unwrap_err();
    assert_eq!(
        error.message,
        "A link stands on the way to sub/b.txt now, so nothing was reverted. Keep the changes to that file, or take \
         the link away."
    );
    assert_eq!(stage.workspace.read("other/b.txt"), "2\n");
}
