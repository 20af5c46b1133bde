//! A server that has worked for a long time needs no more than one that has worked for a moment.

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::{SessionId, StopReason};
use serde_json::json;
use std::fs;

const TURNS: usize = 1_000;
/// By then everything that is made once has been made.
const WARM: usize = 100;
/// Each session's history is kept, and sent with every request.
const TURNS_OF_A_SESSION: usize = 50;

/// What the server holds, as the kernel tells it.
#[derive(Debug)]
struct Held {
    files: usize,
    threads: u64,
    kib: u64,
    children: usize,
}

impl Held {
    fn by(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let number = |name: &str| {
            let mut lines = status.lines();
            let line = lines.find(|it| it.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let children = tasks.map(|it| {
            // A thread may end while it is looked at.
            let children = fs::read_to_string(it.unwrap().path().join("children"));
            children.unwrap_or_default().split_whitespace().count()
        });
        Self {
            files: fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count(),
            threads: number("Threads:"),
            kib: number("VmRSS:"),
            children: children.sum(),
        }
    }
}

#[test]
#[ignore = "takes minutes; tests/soak/run runs it"]
fn a_thousand_turns_leave_no_file_no_thread_no_child_and_no_memory_behind() {
    let config = "[safety]\nmode = \"full_access\"\n";
    let files = format!("//- /a.txt\nturn 0\n{}", "line\n".repeat(1_000));
    let stage = Stage::with(Setup::agent(), &files, config);
    let mut session = stage.editor.new_session();
    let mut held = Vec::new();
    for at in 0..=TURNS {
        if at % TURNS_OF_A_SESSION == 0 {
            session = stage.editor.new_session();
        }
        turn(&stage, &session, at);
        if at % WARM == 0 {
            held.push(Held::by(stage.editor.pid()));
            eprintln!("after {at} turns: {:?}", held[held.len() - 1]);
        }
    }
    let (warm, last) = (&held[1], &held[held.len() - 1]);
    // The pool of threads that may block shrinks and grows; a session keeps its log open.
    let n_sessions = (TURNS - WARM) / TURNS_OF_A_SESSION;
    assert!(last.files <= warm.files + n_sessions + 8, "{held:#?}");
    assert!(last.threads <= warm.threads + 8, "{held:#?}");
    assert!(last.kib <= warm.kib + 12 * 1024, "{held:#?}");
    assert_eq!(last.children, 0, "{held:#?}");
}

/// Reads, edits and runs.
fn turn(stage: &Stage, session: &SessionId, at: usize) {
    let prompt = stage.editor.prompt(session, "go");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "a.txt", "view_range": [1, 5]}));
    asked.end();
    let mut asked = stage.model.next();
    let (target, replacement) = (format!("turn {at}\n"), format!("turn {}\n", at + 1));
    let edit =
        json!({"path": "a.txt", "target_content": target, "replacement_content": replacement});
    asked.call("edit_file", edit);
    asked.call("execute_command", json!({"command": "echo hello"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}
