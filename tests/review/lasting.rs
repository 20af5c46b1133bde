//! What outlives the server, and what git settles.

use super::{AUTO, FILES, agent_edits, all, base, closed_server, hunks, list, opened, resolve};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use crate::support::workspace::uri;
use protocol::hunks::ReviewAction;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn unreviewed_changes_outlive_the_server() {
    let mut stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    let before = super::ids(&stage.editor);
    closed_server(&mut stage);
    stage.restart();
    assert_eq!(super::ids(&stage.editor), before);
    assert_eq!(hunks(&stage.editor), [r#"1..2 was "two\n""#]);
    resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    assert_eq!(
        stage.workspace.read("a.txt"),
        "one\ntwo\nthree\nfour\nfive\n"
    );
    // What is settled stays so.
    closed_server(&mut stage);
    stage.restart();
    assert_eq!(list(&stage.editor), []);
}

#[test]
fn a_file_that_changed_while_no_server_ran_is_found_again_at_did_open() {
    let mut stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    closed_server(&mut stage);
    stage
        .workspace
        .write("a.txt", "zero\none\n2\nthree\nfour\nFIVE\n");
    stage.restart();
    stage.editor.open("a.txt");
    // The editor hears of it without asking.
    let told = super::changed(&stage.editor);
    assert_eq!(super::in_short(&told.files[0]), [r#"2..3 was "two\n""#]);
    assert_eq!(
        base(&stage, "a.txt").unwrap(),
        "zero\none\ntwo\nthree\nfour\nFIVE\n"
    );
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path());
    let inner = entries.flat_map(|it| match it.is_dir() {
        true => files_below(&it),
        false => vec![it],
    });
    inner.collect()
}

#[test]
fn reviews_are_the_owners_alone_and_damaged_ones_cost_one_notice() {
    let mut stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    closed_server(&mut stage);
    let files = files_below(&stage.workspace.outside("data").join("review"));
    assert!(!files.is_empty());
    for file in files {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", file.display());
        if file.ends_with("record.json") {
            let text = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, text.replace("\"live\":\"2", "\"live\":\"3")).unwrap();
        }
    }
    stage.restart();
    stage.editor.open("a.txt");
    let notice = stage.editor.expect_raw("window/showMessage");
    let text = notice["params"]["message"].as_str().unwrap();
    assert!(text.contains("a.txt"), "{text}");
    assert_eq!(list(&stage.editor), []);
    stage.editor.close("a.txt");
    stage.editor.open("a.txt");
    stage.editor.round_trip();
}

#[track_caller]
fn git(stage: &Stage, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(arguments)
        .current_dir(stage.workspace.root())
        .env("HOME", stage.workspace.outside("home"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_hunk_that_the_person_committed_unchanged_is_settled() {
    let stage = opened();
    git(&stage, &["init", "-q"]);
    git(&stage, &["add", "a.txt"]);
    git(&stage, &["commit", "-qm", "first"]);
    agent_edits(&stage, "two\n", "2\n");
    super::changed(&stage.editor);
    git(&stage, &["commit", "-qam", "with the agent's"]);
    agent_edits(&stage, "four\n", "4\n");
    // Settled by git, beside what is new.
    loop {
        let told = super::changed(&stage.editor);
        if super::in_short(&told.files[0]) == [r#"3..4 was "four\n""#] {
            break;
        }
    }
    assert_eq!(
        base(&stage, "a.txt").unwrap(),
        "one\n2\nthree\nfour\nfive\n"
    );
}

/// Commits everything and waits until nothing is left to review; a file stands where a program would have run.
#[track_caller]
fn committed(stage: &Stage, folder: &str) {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(["commit", "-qam", "with the agent's"])
        .current_dir(stage.workspace.path(folder))
        .env("HOME", stage.workspace.outside("home"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let ran = stage.workspace.path("ran");
    let _ = std::fs::remove_file(&ran);
    stage.editor.raw_notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": uri(&stage.workspace.path("a.txt"))}}),
    );
    while !super::changed(&stage.editor).files[0].hunks.is_empty() {}
    assert!(!ran.exists(), "a program of the repository's ran");
}

#[test]
fn a_commit_of_a_file_that_git_keeps_with_plain_line_breaks_settles_its_hunks() {
    for setting in ["core.autocrlf", ".gitattributes"] {
        let stage = Stage::with(Setup::agent(), "//- /a.txt\none\r\ntwo\r\n", AUTO);
        git(&stage, &["init", "-q"]);
        let mark = stage.workspace.path("ran");
        let mark = format!("touch '{}'; cat", mark.display());
        git(&stage, &["config", "filter.mark.clean", &mark]);
        git(&stage, &["config", "filter.mark.smudge", &mark]);
        git(&stage, &["config", "diff.mark.textconv", &mark]);
        let attributes = match setting {
            "core.autocrlf" => {
                git(&stage, &["config", "core.autocrlf", "true"]);
                "*.txt filter=mark diff=mark\n"
            }
            _ => "*.txt filter=mark diff=mark text eol=crlf\n",
        };
        stage.workspace.write(".gitattributes", attributes);
        git(&stage, &["add", "a.txt"]);
        git(&stage, &["commit", "-qm", "first"]);
        stage.editor.open("a.txt");
        agent_edits(&stage, "two", "2");
        super::changed(&stage.editor);
        assert_eq!(stage.workspace.read("a.txt"), "one\r\n2\r\n", "saved");
        committed(&stage, "");
    }
}

#[test]
fn a_commit_in_a_linked_work_tree_or_a_submodule_settles_its_hunks() {
    for kind in ["work tree", "submodule"] {
        let stage = Stage::with(Setup::agent(), FILES, AUTO);
        git(&stage, &["init", "-q"]);
        git(&stage, &["add", "a.txt"]);
        git(&stage, &["commit", "-qm", "first"]);
        let own = stage.workspace.root();
        let own = own.to_str().unwrap();
        match kind {
            "submodule" => git(
                &stage,
                &[
                    "-c",
                    "protocol.file.allow=always",
                    "submodule",
                    "--quiet",
                    "add",
                    own,
                    "inner",
                ],
            ),
            _ => git(&stage, &["worktree", "add", "-q", "inner"]),
        }
        let (_, prompt) = stage.call("edit_file", super::edit("inner/a.txt", "two\n", "2\n"));
        stage.result(&prompt);
        super::changed(&stage.editor);
        committed(&stage, "inner");
    }
}
