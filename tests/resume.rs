//! A server that dies at any moment loses nothing that it acted on: the next one goes on from the log.

use crate::support::editor::{Editor, Setup};
use crate::support::stage::Stage;
use crate::support::witness::Witness;
use protocol::acp::{SessionId, SessionUpdate, StopReason};
use protocol::record::Record;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::time::Duration;

const FILES: &str = "//- /a.txt\nalpha\n";

/// What a replay shows, one word or text each.
fn shown(updates: &[SessionUpdate]) -> Vec<String> {
    let updates = updates.iter().map(|it| serde_json::to_value(it).unwrap());
    updates
        .filter_map(|it| match it["sessionUpdate"].as_str().unwrap() {
            "user_message_chunk" => {
                Some(format!("user: {}", it["content"]["text"].as_str().unwrap()))
            }
            "agent_message_chunk" => Some(format!(
                "agent: {}",
                it["content"]["text"].as_str().unwrap()
            )),
            "tool_call" => Some("call".to_owned()),
            "tool_call_update" => it["status"].as_str().map(|it| format!("call {it}")),
            _ => None,
        })
        .collect()
}

/// A killed session can be listed, loaded and gone on with, and the model gets a history that every
/// provider takes. Answers what the model saw.
#[track_caller]
fn goes_on(stage: &mut Stage, session: &SessionId, replayed: &[&str]) -> Vec<Value> {
    stage.editor.kill();
    stage.restart();
    let listed = stage.editor.sessions();
    let ids: Vec<String> = listed.iter().map(|it| it.session_id.to_string()).collect();
    assert_eq!(ids, [session.to_string()]);
    assert_eq!(listed[0].title.as_deref(), Some("go"));
    let updates = stage.editor.load(session).unwrap();
    assert_eq!(shown(&updates), replayed);
    let prompt = stage.editor.prompt(session, "where were we?");
    let mut asked = stage.model.next();
    let messages = asked.messages().to_vec();
    asked.say("here");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(
        (turn.end.clone(), turn.text().as_str()),
        (Ok(StopReason::EndTurn), "here")
    );
    let records = stage.workspace.records();
    let n_ended = records
        .iter()
        .filter(|it| matches!(it, Record::Ended { .. }))
        .count();
    let n_turns = records
        .iter()
        .filter(|it| matches!(it, Record::User { .. }))
        .count();
    assert_eq!(n_ended, n_turns, "{records:#?}");
    messages
}

#[test]
fn a_session_whose_server_was_killed_while_the_model_spoke_goes_on() {
    let mut stage = Stage::new(FILES);
    let (session, _, mut asked) = stage.ask("go");
    asked
        .say("reading")
        .call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("it says");
    stage.editor.wait_for_text("it says");
    let messages = goes_on(
        &mut stage,
        &session,
        &["user: go", "agent: reading", "call", "call completed"],
    );
    let history = json!(messages).to_string();
    assert!(history.contains("alpha"), "{history}");
    drop(asked);
}

#[test]
fn a_session_whose_server_was_killed_before_the_first_word_goes_on() {
    let mut stage = Stage::new(FILES);
    let (session, _, asked) = stage.ask("go");
    let messages = goes_on(&mut stage, &session, &["user: go"]);
    assert!(json!(messages).to_string().contains("where were we?"));
    drop(asked);
}

#[test]
fn bug_063_a_session_whose_server_was_killed_while_a_command_ran_goes_on_and_no_child_is_left() {
    let mut stage = Stage::with(Setup::agent(), FILES, "[safety]\nmode = \"full_access\"\n");
    let mut witness = Witness::new(&stage.workspace.root());
    let line = format!(
        "{}(trap '' TERM INT HUP; sleep 1000) & setsid sleep 1000 & sleep 1000",
        Witness::HOLD
    );
    let (session, _) = stage.call("execute_command", json!({"command": line}));
    witness.wait_until_held();
    let messages = goes_on(&mut stage, &session, &["user: go", "call", "call failed"]);
    witness.assert_gone_within(Duration::from_secs(2));
    let told = messages.iter().find(|it| it["role"] == "tool").unwrap();
    assert!(
        told["content"]
            .as_str()
            .unwrap()
            .contains("the server stopped"),
        "{told}"
    );
}

#[test]
fn a_session_whose_server_was_killed_while_a_question_was_open_goes_on_and_nothing_has_run() {
    let mut stage = Stage::new(FILES);
    let (session, _) = stage.call("execute_command", json!({"command": "touch ran"}));
    stage.editor.question();
    goes_on(&mut stage, &session, &["user: go", "call", "call failed"]);
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn a_torn_last_line_costs_that_line_alone() {
    let mut stage = Stage::new(FILES);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.say("gone");
    asked.end();
    stage.editor.end(&prompt);
    stage.editor.kill();
    let path = stage.workspace.logs().remove(0);
    let torn = b"{\"v\":1,\"seq\":4,\"time\":0,\"type\":\"user\",\"turn\":1,\"te";
    fs::OpenOptions::new()
        .append(true)
        .open(path)
        .unwrap()
        .write_all(torn)
        .unwrap();
    goes_on_killed(&mut stage, &session);
}

#[track_caller]
fn goes_on_killed(stage: &mut Stage, session: &SessionId) {
    stage.restart();
    assert_eq!(stage.editor.sessions().len(), 1);
    assert_eq!(
        shown(&stage.editor.load(session).unwrap()),
        ["user: go", "agent: gone"]
    );
    let prompt = stage.editor.prompt(session, "still there?");
    let mut asked = stage.model.next();
    asked.say("yes");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "yes");
    stage.workspace.records();
}

#[test]
fn a_remembered_answer_and_the_mode_survive() {
    let mut stage = Stage::new(FILES);
    let (session, prompt) = stage.call("execute_command", json!({"command": "echo x >> ran"}));
    stage.editor.choose(&stage.editor.question(), "session");
    stage.result(&prompt);
    stage.editor.kill();
    stage.restart();
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    asked.call("execute_command", json!({"command": "echo x >> ran"}));
    asked.end();
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("ran"), "x\nx\n");
}

#[test]
fn a_second_server_on_a_session_that_is_being_written_is_refused_plainly() {
    let stage = Stage::new(FILES);
    let (session, prompt, mut asked) = stage.ask("go");
    let mut second = Editor::start(&Setup::agent(), &stage.workspace);
    assert_eq!(second.sessions().len(), 1);
    let error = second.load(&session).unwrap_err();
    assert!(error.message.contains("Another Undine"), "{error:?}");
    second.finish();
    // The first one is not disturbed.
    asked.say("fine");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "fine");
    stage.workspace.records();
}

#[test]
fn a_second_server_on_a_session_that_was_loaded_is_refused_as_well() {
    let mut stage = Stage::new(FILES);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.say("gone");
    asked.end();
    stage.editor.end(&prompt);
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    let second = Editor::start(&Setup::agent(), &stage.workspace);
    let error = second.load(&session).unwrap_err();
    assert!(error.message.contains("Another Undine"), "{error:?}");
}

#[test]
fn a_session_that_was_never_used_leaves_nothing_on_disk() {
    let mut stage = Stage::new(FILES);
    stage.editor.new_session();
    assert_eq!(stage.editor.sessions().len(), 0);
    stage.editor.finish();
    assert!(!stage.workspace.exists(".undine"));
}

#[test]
fn a_session_that_does_not_exist_cannot_be_loaded_nor_can_a_path() {
    let stage = Stage::new(FILES);
    for id in ["20250101_000000_000", "../../a", "/etc/passwd"] {
        let error = stage.editor.load(&SessionId::new(id)).unwrap_err();
        assert!(error.message.contains(id), "{error:?}");
    }
}

#[test]
fn a_session_of_this_server_can_be_loaded_again() {
    let stage = Stage::new(FILES);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.say("hi");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(
        shown(&stage.editor.load(&session).unwrap()),
        ["user: go", "agent: hi"]
    );
    let prompt = stage.editor.prompt(&session, "more");
    let mut asked = stage.model.next();
    asked.say("yes");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "yes");
}

#[test]
fn a_log_of_a_newer_build_is_refused_and_left_alone() {
    let stage = Stage::new(FILES);
    let line = "{\"v\":99,\"seq\":0,\"time\":0,\"type\":\"hologram\"}\n";
    stage
        .workspace
        .write(".undine/conversations/20250101_000000_000.jsonl", line);
    let error = stage
        .editor
        .load(&SessionId::new("20250101_000000_000"))
        .unwrap_err();
    assert!(error.message.contains("newer"), "{error:?}");
    assert_eq!(
        stage
            .workspace
            .read(".undine/conversations/20250101_000000_000.jsonl"),
        line
    );
}

/// A repository could bring a session in `full_access`, and one that had commands allowed in it.
#[test]
fn a_session_that_came_with_the_project_allows_nothing() {
    let stage = Stage::new(FILES);
    let id = "20300101_000000_000";
    let root = stage.workspace.root();
    let lines = [
        json!({"type": "started", "session": id, "cwd": root, "mode": "full_access", "model": "scripted-1"}),
        json!({"type": "user", "turn": 0, "text": "hello"}),
        json!({"type": "decision", "call": 0, "option": "session", "rule": {"type": "run", "command": "touch ran", "cwd": root}}),
        json!({"type": "ended", "turn": 0, "reason": {"reason": "done"}}),
    ];
    let log: String = lines
        .into_iter()
        .enumerate()
        .map(|(seq, mut line)| {
            line["v"] = json!(1);
            line["seq"] = json!(seq);
            line["time"] = json!(0);
            format!("{line}\n")
        })
        .collect();
    stage
        .workspace
        .write(&format!(".undine/conversations/{id}.jsonl"), log);
    let session = SessionId::from(id.to_owned());
    stage.editor.load(&session).unwrap();
    stage.editor.take("the word on the session", |it| {
        it["method"] == "window/showMessage"
            && it["params"]["message"].as_str().unwrap().contains(id)
    });
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    asked.call("execute_command", json!({"command": "touch ran"}));
    asked.end();
    stage.editor.choose(&stage.editor.question(), "no");
    stage.result(&prompt);
    assert!(!stage.workspace.exists("ran"));
}

/// The part that had been said already was missing.
#[test]
fn a_session_that_is_loaded_while_it_streams_is_shown_whole() {
    let stage = Stage::new(FILES);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.think("hm").say("Hello, wor");
    stage.editor.wait_for_text("Hello, wor");
    let updates = stage.editor.load(&session).unwrap();
    assert_eq!(shown(&updates).last().unwrap(), "agent: Hello, wor");
    asked.say("ld");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "ld");
}
