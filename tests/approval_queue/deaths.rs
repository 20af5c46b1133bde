//! A death between an action and the mark that it is done.

use super::{Alone, Ended, edit, run};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::fs;
use std::process::Child;

fn kill_now(child: &Child) {
    kill(
        Pid::from_raw(child.id().try_into().unwrap()),
        Signal::SIGKILL,
    )
    .unwrap();
}

#[test]
fn bug_020_a_command_that_a_death_cut_off_is_not_stuck_and_not_run_again_unasked() {
    let alone = Alone::new();
    let go = alone.workspace.path("go");
    nix::unistd::mkfifo(&go, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let id = alone.kept("execute_command", run("echo ran >> ran; cat go"));
    let mut first = alone.start(&["approve", &id]);
    let writer = fs::OpenOptions::new().write(true).open(&go).unwrap();
    kill_now(&first);
    first.wait().unwrap();
    drop(writer);
    assert_eq!(alone.stored(&id)["state"]["is"], "running");

    alone
        .undine(&["approve", &id])
        .refused("nobody can say how far it came");
    assert_eq!(alone.workspace.read("ran"), "ran\n");
    fs::remove_file(&go).unwrap();
    alone.workspace.write("go", "");
    assert_eq!(alone.undine(&["approve", &id]).code, Some(0));
    assert_eq!(alone.workspace.read("ran"), "ran\nran\n");
    alone.undine(&["approve", &id]).refused("done before");
}

/// The effect is there, the mark is not: exactly what a death in between leaves.
#[test]
fn bug_020_an_edit_that_is_there_already_is_marked_and_not_made_again() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "alpha alpha"));
    let mut stored = alone.stored(&id);
    stored["state"] = json!({"is": "running", "since": 1});
    fs::write(alone.file(&id), stored.to_string()).unwrap();
    alone.workspace.write("a.txt", "alpha alpha\nbeta\n");

    let approved = alone.undine(&["approve", &id]);
    assert_eq!(approved.code, Some(0), "{}", approved.stderr);
    assert!(
        approved.stdout.contains("done before"),
        "{}",
        approved.stdout
    );
    assert_eq!(alone.workspace.read("a.txt"), "alpha alpha\nbeta\n");
    assert_eq!(alone.stored(&id)["state"]["is"], "approved");
    assert!(alone.told_when_it_goes_on().contains(&id));
}

#[test]
fn bug_020_a_death_before_the_edit_leaves_it_to_be_made() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "alpha alpha"));
    let mut stored = alone.stored(&id);
    stored["state"] = json!({"is": "running", "since": 1});
    fs::write(alone.file(&id), stored.to_string()).unwrap();
    assert_eq!(alone.undine(&["approve", &id]).code, Some(0));
    assert_eq!(alone.workspace.read("a.txt"), "alpha alpha\nbeta\n");
}

/// Kills as soon as the file has changed. Where the mark was not made yet, the next approval makes it; the edit is made
/// once in any case.
#[test]
fn bug_020_killed_right_behind_the_edit_it_is_made_once() {
    const MOST: usize = 20;
    let mut n_between = 0;
    for _ in 0..MOST {
        let alone = Alone::new();
        let id = alone.kept("edit_file", edit("a.txt", "alpha", "alpha alpha"));
        let mut child = alone.start(&["approve", &id]);
        while alone.workspace.read("a.txt") == "alpha\nbeta\n" {
            assert!(
                child.try_wait().unwrap().is_none(),
                "it ended without the edit"
            );
            std::thread::yield_now();
        }
        kill_now(&child);
        let _ = child.wait();
        let state = alone.stored(&id)["state"]["is"].clone();
        let again = alone.undine(&["approve", &id]);
        match state.as_str() {
            Some("running") => {
                n_between += 1;
                assert_eq!(again.code, Some(0), "{}", again.stderr);
            }
            Some("approved") => again.refused("done before"),
            other => panic!("{other:?}"),
        }
        assert_eq!(alone.workspace.read("a.txt"), "alpha alpha\nbeta\n");
        assert_eq!(alone.stored(&id)["state"]["is"], "approved");
        if n_between == 3 {
            return;
        }
    }
    assert!(n_between > 0, "no kill came between the edit and its mark");
}

#[test]
fn an_approval_that_is_broken_off_ends_its_command_and_says_so() {
    let alone = Alone::new();
    let mut witness = crate::support::witness::Witness::new(&alone.workspace.root());
    let line = format!("{}sleep 1000", crate::support::witness::Witness::HOLD);
    let id = alone.kept("execute_command", run(&line));
    let child = alone.start(&["approve", &id]);
    witness.wait_until_held();
    kill(
        Pid::from_raw(child.id().try_into().unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    Ended::of(child).refused("broken off");
    witness.assert_gone_within(std::time::Duration::from_secs(2));
    let state = &alone.stored(&id)["state"];
    assert_eq!(state["is"], "failed");
    assert!(
        state["why"]
            .as_str()
            .unwrap()
            .contains("may be done in part"),
        "{state}"
    );
    alone
        .undine(&["approve", &id])
        .refused("ended with an error");
}
