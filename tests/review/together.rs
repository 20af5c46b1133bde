//! Two servers in one project, and servers that die at any moment.

use super::{AUTO, FILES, agent_edits, base, edit, hunks, in_short, list, opened};
use crate::support::editor::{Editor, Setup};
use crate::support::stage::Stage;
use protocol::hunks::ListReviewParams;
use protocol::methods::ListReview;
use serde_json::json;
use std::io::Read;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";

/// Lets the model edit `a.txt` for the second editor.
#[track_caller]
fn second_edits(stage: &Stage, second: &Editor, old: &str, new: &str) {
    let session = second.new_session();
    let prompt = second.prompt(&session, "go");
    let mut asked = stage.model.next();
    asked.call("edit_file", edit("a.txt", old, new));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    second.end(&prompt);
}

#[test]
fn two_servers_with_one_file_lose_none_of_its_hunks() {
    for first_ends_first in [true, false] {
        let mut stage = Stage::with(Setup::agent(), FILES, AUTO);
        let mut second = Editor::start(&Setup::agent(), &stage.workspace);
        agent_edits(&stage, "one\n", "1\n");
        second_edits(&stage, &second, "three\n", "3\n");
        agent_edits(&stage, "five\n", "5\n");
        // Each shows what its own agent did.
        assert_eq!(hunks(&second), [r#"2..3 was "three\n""#]);
        assert_eq!(
            hunks(&stage.editor),
            [r#"0..1 was "one\n""#, r#"4..5 was "five\n""#]
        );
        match first_ends_first {
            true => {
                stage.editor.finish();
                second.finish();
            }
            false => {
                second.finish();
                stage.editor.kill();
            }
        }
        stage.restart();
        assert_eq!(
            hunks(&stage.editor),
            [
                r#"0..1 was "one\n""#,
                r#"2..3 was "three\n""#,
                r#"4..5 was "five\n""#
            ]
        );
        assert_eq!(base(&stage, "a.txt").unwrap(), OLD);
    }
}

/// The record of a large file takes its time. The model has heard of the edit, so it must be there.
#[test]
fn an_edit_that_the_model_was_told_of_is_reviewed_whenever_the_server_is_killed() {
    let large = "a line of the person's own\n".repeat(40_000);
    for round in 0..4 {
        let is_open = round % 2 == 0;
        let mut stage = Stage::with(Setup::agent(), FILES, AUTO);
        stage.workspace.write("a.txt", format!("two\n{large}"));
        if is_open {
            stage.editor.open("a.txt");
        }
        let (_, _, mut asked) = stage.ask("go");
        asked.call("edit_file", edit("a.txt", "two\n", "2\n"));
        asked.end();
        // It is asked again, with the result.
        let mut asked = stage.model.next();
        stage.editor.kill();
        asked.say("done");
        stage.restart_with_another_model();
        if is_open {
            let text = format!("2\n{large}");
            stage.editor.open_text("a.txt", text);
        }
        assert_eq!(hunks(&stage.editor), [r#"0..1 was "two\n""#], "{round}");
    }
}

/// What happens to a file while its earlier record is read waits for it, so for a moment no record had the edit.
#[test]
fn an_edit_that_was_made_while_a_record_was_read_is_reviewed_after_a_kill() {
    let large = "a line of the person's own\n".repeat(150_000);
    let mut stage = Stage::with(Setup::agent(), FILES, AUTO);
    stage.workspace.write("a.txt", format!("two\n4\n{large}"));
    agent_edits(&stage, "two\n", "2\n");
    stage.editor.finish();
    stage.restart();
    let (_, _, mut asked) = stage.ask("go");
    asked.call("edit_file", edit("a.txt", "4\n", "four\n"));
    asked.end();
    // It is asked again, with the result.
    let mut asked = stage.model.next();
    stage.editor.kill();
    asked.say("done");
    stage.restart_with_another_model();
    assert_eq!(hunks(&stage.editor), [r#"0..2 was "two\n4\n""#]);
}

/// The journal of a change went before its review was on the disk: a server that died between the two had changed a
/// file without a word.
#[test]
fn a_change_is_told_or_reviewed_whenever_the_server_is_killed_behind_it() {
    let large = "a line of the person's own\n".repeat(150_000);
    for round in 0..3 {
        let mut stage = Stage::with(Setup::agent(), FILES, AUTO);
        stage.workspace.write("a.txt", format!("two\n{large}"));
        let (_, _, mut asked) = stage.ask("go");
        asked.call("edit_file", edit("a.txt", "two\n", "2\n"));
        asked.end();
        let journal = stage.workspace.outside("data").join("journal");
        let has_journal = || std::fs::read_dir(&journal).is_ok_and(|it| it.count() > 0);
        let is_new = || std::fs::File::open(stage.workspace.path("a.txt")).is_ok_and(begins_new);
        // At the first moment at which no journal tells of the change.
        while !is_new() || has_journal() {
            std::thread::yield_now();
        }
        stage.editor.kill();
        stage.restart_with_another_model();
        assert_eq!(hunks(&stage.editor), [r#"0..1 was "two\n""#], "{round}");
    }
}

fn begins_new(mut file: std::fs::File) -> bool {
    let mut first = [0];
    file.read_exact(&mut first).is_ok() && first == *b"2"
}

#[test]
fn reading_a_large_record_holds_nothing_up_and_the_list_waits_for_it() {
    let large = "a line of the person's own\n".repeat(150_000);
    let mut stage = Stage::with(Setup::agent(), FILES, AUTO);
    stage.workspace.write("a.txt", format!("two\n{large}"));
    agent_edits(&stage, "two\n", "2\n");
    stage.editor.finish();
    stage.restart();
    let listed = stage
        .editor
        .request::<ListReview>(ListReviewParams::default());
    // Asked later and answered before: the loop does not read.
    let quick = stage.editor.raw_request("session/list", json!({}));
    stage.editor.raw_answer(quick).unwrap();
    let is_answered = |it: &serde_json::Value| it.get("method").is_none() && it["id"] == listed.id;
    assert_eq!(stage.editor.count(is_answered), 0, "the list waits");
    let files = stage.editor.answer(&listed).unwrap().files;
    assert_eq!(in_short(&files[0]), [r#"0..1 was "two\n""#]);
    assert_eq!(list(&stage.editor), files);
}

#[test]
fn what_is_typed_while_a_record_is_read_counts() {
    let mut stage = opened();
    agent_edits(&stage, "three\n", "3\n");
    stage.editor.finish();
    stage.restart();
    stage.editor.open("a.txt");
    stage.editor.type_over("a.txt", "one\n", "zero\none\n");
    stage.editor.type_over("a.txt", "five", "FIVE");
    assert_eq!(hunks(&stage.editor), [r#"3..4 was "three\n""#]);
    let expected = "zero\none\ntwo\nthree\nfour\nFIVE\n";
    assert_eq!(base(&stage, "a.txt").unwrap(), expected);
}
