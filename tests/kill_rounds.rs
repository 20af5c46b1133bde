//! A server is killed at any moment of a turn, again and again: nothing is half done, nothing is lost,
//! nothing is left.
//!
//! The moment is a number of messages that the editor has got, drawn from the round's seed, so that a
//! round can be repeated. A handful of rounds by default; `UNDINE_SOAK` makes them hundreds.

mod change_sets;
mod sessions;

use crate::support::editor::Editor;
use crate::support::rounds::rounds;
use crate::support::stage::Stage;
use crate::support::witness::Witness;
use fastrand::Rng;
use protocol::acp::{SessionId, StopReason};
use protocol::methods::{Request, RequestPermission};
use protocol::record::Record;
use protocol::tool::Outcome;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::time::{Duration, Instant};

const OLD: &str = "one\ntwo\nthree\n";
const NEW: &str = "one\nTWO\nTWO AND A HALF\nthree\n";
/// About as many messages as the turn has; a round that draws more is killed after the turn's end.
const MESSAGES: u64 = 34;

#[test]
fn a_server_that_is_killed_at_any_message_leaves_all_things_old_or_new() {
    let (mut n, mut n_within) = (0, 0);
    for (_, mut rng) in rounds(0x5eed_0005, 6) {
        n += 1;
        n_within += usize::from(round(&mut rng));
    }
    eprintln!("{n_within} of {n} were killed within the turn");
    // How many messages a turn has depends on how its output is cut, so this is no exact share; none
    // would mean that nothing was tested.
    assert!(n_within * 4 > n, "{n_within} of {n}");
}

/// Answers whether the turn had not come to its end.
fn round(rng: &mut Rng) -> bool {
    let files = format!("//- /closed.txt\n{OLD}//- /open.txt\n{OLD}");
    let mut stage = Stage::new(&files);
    let witness = Witness::new(&stage.workspace.root());
    stage.editor.open("open.txt");
    let session = stage.editor.new_session();
    stage.editor.kill_after(rng.u64(1..=MESSAGES));
    let within = turn(&stage, &session, rng).is_none();
    let buffer = stage.editor.buffer("open.txt").text;
    stage.editor.kill();

    witness.assert_gone_within(Duration::from_secs(2));
    nothing_is_left(&stage);
    for (what, text) in [
        ("the buffer", buffer.as_str()),
        ("the open file", &stage.workspace.read("open.txt")),
        ("the closed file", &stage.workspace.read("closed.txt")),
    ] {
        assert!([OLD, NEW].contains(&text), "{what} is half done: {text:?}");
    }
    let changed = [
        ("closed.txt", stage.workspace.read("closed.txt") == NEW),
        ("open.txt", buffer == NEW),
    ];
    if rng.bool() {
        tear(&stage);
    }

    stage.restart_with_another_model();
    // What it says of an edit that was cut off, `kill_rounds/change_sets.rs` tries.
    stage.editor.ignore("window/showMessage");
    let listed = stage.editor.sessions();
    let ids: Vec<&SessionId> = listed.iter().map(|it| &it.session_id).collect();
    assert_eq!(ids, [&session]);
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "where were we?");
    // The model checks that every provider would take the history.
    let mut asked = stage.model.next();
    // Joined with the first prompt if the model had not answered that one.
    assert!(asked.last_prompt().ends_with("where were we?"));
    asked.say("here");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    the_log_knows(&stage.workspace.records(), &changed);
    within
}

/// One turn with everything in it. None if the server is gone before its end.
fn turn(stage: &Stage, session: &SessionId, rng: &mut Rng) -> Option<()> {
    let editor = &stage.editor;
    let alive = || editor.is_alive();
    let prompt = editor.prompt(session, "go");
    let mut asked = stage.model.next_while(alive)?;
    asked.think("hm").say("Let me ").say("look").say(".");
    asked.call("read_file", json!({"path": "closed.txt"}));
    asked.end();

    let mut asked = stage.model.next_while(alive)?;
    asked.say("Two edits");
    let mut files = ["closed.txt", "open.txt"];
    rng.shuffle(&mut files);
    for file in files {
        let replacement = "TWO\nTWO AND A HALF\n";
        let edit =
            json!({"path": file, "target_content": "two\n", "replacement_content": replacement});
        asked.call("edit_file", edit);
    }
    asked.end();
    allow(editor)?;
    allow(editor)?;

    let mut asked = stage.model.next_while(alive)?;
    // Leaves something behind that does not want to end, and talks.
    let command = format!(
        "{}(trap '' TERM INT HUP; sleep 1000) >/dev/null 2>&1 & for it in 1 2 3; do echo $it; done",
        Witness::HOLD
    );
    asked.call("execute_command", json!({"command": command}));
    asked.end();
    allow(editor)?;

    let mut asked = stage.model.next_while(alive)?;
    asked.say("All ").say("done").say(".");
    asked.end();
    let answer = editor.take_while_alive("the turn's end", |it| {
        it.get("method").is_none() && it["id"] == prompt.id
    })?;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    Some(())
}

/// Answers the next question with a yes.
fn allow(editor: &Editor) -> Option<()> {
    let question =
        editor.take_while_alive("a question", |it| it["method"] == RequestPermission::METHOD)?;
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "once"}});
    editor.raw_reply(&question["id"], outcome);
    Some(())
}

/// No process lives that was started with this round's folders in its environment: not the server, no
/// launcher, no command.
#[track_caller]
fn nothing_is_left(stage: &Stage) {
    let mark = stage.workspace.outside("home");
    let mark = mark.to_str().unwrap().as_bytes();
    let until = Instant::now() + Duration::from_secs(2);
    loop {
        let left: Vec<String> = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|it| it.ok()?.file_name().into_string().ok())
            .filter(|it| {
                // A process that has ended, or is another person's, has none to read.
                let environment = fs::read(format!("/proc/{it}/environ")).unwrap_or_default();
                environment.windows(mark.len()).any(|it| it == mark)
            })
            .collect();
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < until, "left: {left:?}");
        std::thread::yield_now();
    }
}

/// Leaves a line in the log that is not whole, as a loss of power would.
fn tear(stage: &Stage) {
    let log = stage.workspace.logs().remove(0);
    let mut log = OpenOptions::new().append(true).open(log).unwrap();
    log.write_all(b"{\"v\":1,\"seq\":9,\"ti").unwrap();
}

/// Everything that was acted on was written down before; every call and turn has its end.
#[track_caller]
fn the_log_knows(records: &[Record], changed: &[(&str, bool)]) {
    let calls = |file: &str| {
        records.iter().find_map(|it| match it {
            Record::Call {
                call,
                tool,
                arguments,
                ..
            } if tool == "edit_file" => {
                let arguments: Value = serde_json::from_str(arguments).unwrap();
                (arguments["path"] == file).then_some(*call)
            }
            _ => None,
        })
    };
    for (file, changed) in changed {
        let call = calls(file);
        let allowed = records
            .iter()
            .any(|it| matches!(it, Record::Decision { call: of, .. } if Some(*of) == call));
        let succeeded = records.iter().any(|it| {
            matches!(it, Record::Result { call: of, outcome: Outcome::Success, .. } if Some(*of) == call)
        });
        assert!(
            !changed || allowed,
            "{file} was changed and the log does not say who allowed it: {records:#?}"
        );
        assert!(
            *changed || !succeeded,
            "the log says that {file} was changed, and it was not: {records:#?}"
        );
    }
    let n = |fits: fn(&Record) -> bool| records.iter().filter(|it| fits(it)).count();
    assert_eq!(
        n(|it| matches!(it, Record::Call { .. })),
        n(|it| matches!(it, Record::Result { .. })),
        "{records:#?}"
    );
    assert_eq!(
        n(|it| matches!(it, Record::User { .. })),
        n(|it| matches!(it, Record::Ended { .. })),
        "{records:#?}"
    );
}
