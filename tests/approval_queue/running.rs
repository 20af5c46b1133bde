//! `undine run`: one task, its answer on stdout, what went wrong on stderr and in the exit code.

use super::{Alone, Ended, edit, run};
use crate::support::witness::Witness;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use protocol::record::{EndReason, Record};
use serde_json::json;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn the_answer_is_on_stdout_and_what_was_done_on_stderr() {
    let alone = Alone::new();
    let child = alone.start(&["run", "--mode", "full_access", "look"]);
    let mut asked = alone.model.next();
    asked.say("I look.");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = alone.model.next();
    asked.call("execute_command", run("exit 3"));
    asked.call("edit_file", edit("a.txt", "nowhere", "x"));
    asked.end();
    let mut asked = alone.model.next();
    asked.say("It has ").say("two lines.");
    asked.end();
    let ended = Ended::of(child);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "I look.\nIt has two lines.\n")
    );
    let mut lines: Vec<&str> = ended.stderr.lines().collect();
    lines[1..].sort_unstable();
    assert_eq!(lines[..2], ["done    Read a.txt", "exit 3  Run exit 3"]);
    assert!(lines[2].starts_with("failed  edit_file: "), "{lines:?}");
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[test]
fn what_is_to_be_done_can_come_from_stdin_and_the_project_be_elsewhere() {
    let alone = Alone::new();
    let mut command = alone.command(&["run", "-C", alone.workspace.root().to_str().unwrap()]);
    command
        .current_dir(alone.workspace.outside("home"))
        .stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"from\nstdin")
        .unwrap();
    let mut asked = alone.model.next();
    assert_eq!(asked.last_prompt(), "from\nstdin");
    asked.call("read_file", json!({"path": "b.txt"}));
    asked.end();
    let mut asked = alone.model.next();
    assert_eq!(asked.result(), "beta\n");
    asked.say("ok\n");
    asked.end();
    let ended = Ended::of(child);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "ok\n"));
}

#[test]
fn what_waits_is_named_at_the_end() {
    let alone = Alone::new();
    let child = alone.start(&["run", "go"]);
    let mut asked = alone.model.next();
    asked.call("edit_file", edit("a.txt", "alpha", "omega"));
    asked.end();
    let mut asked = alone.model.next();
    let id = super::id_in(&asked.result());
    asked.say("ok");
    asked.end();
    let ended = Ended::of(child);
    let last = format!("Waiting for your approval:\n  Edit a.txt  (undine approve {id})\n");
    assert!(ended.stderr.ends_with(&last), "{}", ended.stderr);
}

#[test]
fn a_provider_that_fails_is_a_sentence_and_a_failure() {
    let alone = Alone::new();
    let child = alone.start(&["run", "go"]);
    alone.model.next().fail(401, "no such key");
    let ended = Ended::of(child);
    ended.refused("no such key");
    assert_eq!(ended.stdout, "");
    alone
        .undine(&["run", "-C", "/nowhere/at/all", "go"])
        .refused("/nowhere/at/all");
    alone.undine(&["run", " "]).refused("The prompt is empty");
}

#[test]
fn an_interrupt_cancels_the_turn_and_ends_its_commands() {
    let alone = Alone::new();
    let mut witness = Witness::new(&alone.workspace.root());
    let child = alone.start(&["run", "--mode", "full_access", "go"]);
    let mut asked = alone.model.next();
    let line = format!("{}sleep 1000", Witness::HOLD);
    asked.call("execute_command", run(&line));
    asked.end();
    witness.wait_until_held();
    kill(
        Pid::from_raw(child.id().try_into().unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    Ended::of(child).refused("The task was cancelled.");
    witness.assert_gone_within(Duration::from_secs(2));
    let records = alone.workspace.records();
    let last = records.last().unwrap();
    assert!(
        matches!(
            last,
            Record::Ended {
                reason: EndReason::Cancelled,
                ..
            }
        ),
        "{last:?}"
    );
}
