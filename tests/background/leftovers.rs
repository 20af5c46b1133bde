//! Commands in the background leave nothing behind: no process, no zombie, no descriptor.

use super::{Chat, FULL, processes};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use crate::support::witness::Witness;
use protocol::process::ProcessState;
use serde_json::json;
use std::fs;
use std::time::Duration;

/// Open descriptors of a process, and its children, zombies too.
fn held(pid: u32) -> (usize, usize) {
    let n_open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let of_it = format!(" {pid} ");
    let n_children = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|it| fs::read_to_string(it.unwrap().path().join("stat")).ok())
        .filter(|it| it.rsplit(") ").next().unwrap()[1..].starts_with(&of_it))
        .count();
    (n_open, n_children)
}

#[test]
fn fifty_commands_in_the_background_leave_no_process_and_no_descriptor() {
    let stage = Stage::with(Setup::agent(), "", FULL);
    let mut chat = Chat::new(&stage);
    // One of each before, so that what is made once has been made.
    let (id, _) = chat.start("sleep 1000");
    chat.manage("stop", &id);
    let witness = Witness::new(&stage.workspace.root());
    let before = held(stage.editor.pid());
    let mut asked = chat.asked.take().unwrap();
    // All in one message, so that they run side by side.
    for nth in 0..50 {
        let end = [
            "sleep 1000",
            "sleep 0.3",
            "setsid sleep 1000 & sleep 0.3; exit 3",
            "(setsid sh -c 'trap \"\" TERM HUP; sleep 1000; sleep 1000' &) ; sleep 1000",
            "sleep 0.3; kill -9 $$",
        ][nth % 5];
        let line = format!("exec 9>>alive; {end}");
        let arguments = json!({"command": line, "mode": "background", "ready_pattern": "x", "startup_timeout_secs": 1});
        asked.call("execute_command", arguments);
    }
    asked.end();
    chat.asked = Some(stage.model.next());
    let list = processes(&stage, &chat.session).processes;
    let running = list.iter().filter(|it| it.state == ProcessState::Running);
    let (mut n_stopped, mut asked) = (0, chat.asked.take().unwrap());
    for process in running {
        // On a slow machine also some of those that end by themselves.
        let is_lasting = process.command.ends_with("sleep 1000");
        n_stopped += usize::from(is_lasting);
        let action = if is_lasting { "stop" } else { "wait" };
        asked.call(
            "background_process",
            json!({"action": action, "id": process.id}),
        );
    }
    assert_eq!(n_stopped, 20);
    asked.end();
    chat.asked = Some(stage.model.next());
    witness.assert_gone_within(Duration::from_millis(50));
    let list = processes(&stage, &chat.session).processes;
    assert!(list.iter().all(|it| it.state != ProcessState::Running));
    chat.end();
    let after = held(stage.editor.pid());
    assert_eq!(after.1, before.1);
    // A connection to the model may come or go; what each command left would be 50.
    assert!(after.0 < before.0 + 5, "{before:?}, {after:?}");
}

#[test]
fn a_server_that_is_killed_takes_all_its_processes_along() {
    let mut stage = Stage::with(Setup::agent(), "", FULL);
    let mut witness = Witness::new(&stage.workspace.root());
    let mut chat = Chat::new(&stage);
    for end in [
        "trap '' TERM HUP; sleep 1000; sleep 1000",
        "setsid sleep 1000 & sleep 1000",
        "(setsid sh -c '(trap \"\" TERM HUP; cd /; sleep 1000; sleep 1000) &' &) ; sleep 1000",
    ] {
        chat.start(&format!("exec 9>>alive; echo up; {end}"));
    }
    let line = format!("{}setsid sleep 1000 & sleep 1000", Witness::HOLD);
    chat.begin("execute_command", json!({"command": line}));
    witness.wait_until_held();
    stage.editor.kill();
    witness.assert_gone_within(Duration::from_secs(10));
}
