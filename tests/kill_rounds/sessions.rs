//! A session of forty calls, with a snapshot after each turn, whose server is killed at any moment: its log loads, no turn that was
//! answered is lost, and the next request is one that every provider takes.

use super::tear;
use crate::config::command_line::undine;
use crate::support::editor::Setup;
use crate::support::rounds::rounds;
use crate::support::stage::Stage;
use fastrand::Rng;
use protocol::acp::{SessionId, StopReason};
use serde_json::json;

const TURNS: usize = 10;
const CALLS_OF_A_TURN: usize = 4;
/// About as many messages as the session has.
const MESSAGES: u64 = 200;

#[test]
fn a_session_of_forty_calls_that_is_killed_at_any_moment_loads_and_goes_on() {
    let (mut n, mut n_within) = (0, 0);
    for (_, mut rng) in rounds(0x5eed_0042, 4) {
        n += 1;
        n_within += usize::from(round(&mut rng) < TURNS);
    }
    eprintln!("{n_within} of {n} were killed within the session");
    assert!(n_within * 4 > n, "{n_within} of {n}");
}

/// Answers how many turns were answered.
fn round(rng: &mut Rng) -> usize {
    let often = "[limits]\nsnapshot_records = 5\n";
    let mut stage = Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", often);
    let session = stage.editor.new_session();
    stage.editor.kill_after(rng.u64(1..=MESSAGES));
    let mut n_answered = 0;
    while n_answered < TURNS && turn(&stage, &session, n_answered).is_some() {
        n_answered += 1;
    }
    stage.editor.kill();
    if stage.workspace.logs().is_empty() {
        return n_answered;
    }
    if rng.bool() {
        tear(&stage);
    }
    stage.restart_with_another_model();
    let updates = json!(stage.editor.load(&session).unwrap()).to_string();
    let prompt = stage.editor.prompt(&session, "where were we?");
    // The model checks that every provider would take the history.
    let mut asked = stage.model.next();
    let history = json!(asked.messages()).to_string();
    for at in 0..n_answered {
        for text in [format!("prompt {at}."), format!("answer {at}.")] {
            assert!(updates.contains(&text), "{text} is not shown: {updates}");
            assert!(history.contains(&text), "{text} is forgotten: {history}");
        }
    }
    asked.say("here");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    stage.editor.finish();
    let said = undine(&stage.workspace, &["sessions", "verify"]);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    n_answered
}

/// None if the server is gone before it is answered.
fn turn(stage: &Stage, session: &SessionId, at: usize) -> Option<()> {
    let editor = &stage.editor;
    let alive = || editor.is_alive();
    let prompt = editor.prompt(session, &format!("prompt {at}."));
    for _ in 0..CALLS_OF_A_TURN {
        let mut asked = stage.model.next_while(alive)?;
        asked.call("read_file", json!({"path": "a.txt"}));
        asked.end();
    }
    let mut asked = stage.model.next_while(alive)?;
    asked.say(&format!("answer {at}."));
    asked.end();
    editor.take_while_alive("the turn's end", |it| {
        it.get("method").is_none() && it["id"] == prompt.id
    })?;
    Some(())
}
