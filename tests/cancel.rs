//! A person can stop whatever runs, and once the answer is there nothing of the turn follows.
//!
//! That no update follows is checked by the editor's end: it would be left unread.

use crate::support::editor::{Setup, Turn};
use crate::support::stage::Stage;
use crate::support::witness::Witness;
use protocol::acp::StopReason;
use serde_json::json;
use std::time::Duration;

const FILES: &str = "//- /a.txt\nalpha\n";
const FULL: &str = "[safety]\nmode = \"full_access\"\n";
const REQUEST_CANCELLED: i64 = -32800;

fn code(turn: &Turn) -> i64 {
    turn.end.as_ref().unwrap_err().code
}

#[test]
fn a_cancel_while_the_model_speaks_ends_the_turn_and_the_connection() {
    let stage = Stage::new(FILES);
    let (session, prompt, mut asked) = stage.ask("tell me a long story");
    asked.say("once upon");
    stage.editor.wait_for_text("once upon");
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    // More words change nothing.
    asked.say(" a time");
    asked.wait_until_hung_up();
    stage.editor.round_trip();
    // What was said stays in the history.
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    let history = serde_json::to_string(asked.messages()).unwrap();
    assert!(
        history.contains("once upon") && !history.contains("a time"),
        "{history}"
    );
    asked.say("fine");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "fine");
}

#[test]
fn a_cancel_before_the_model_says_anything_is_as_good() {
    let stage = Stage::new(FILES);
    let (session, prompt, asked) = stage.ask("hello");
    stage.editor.cancel(&session);
    let turn = stage.editor.end(&prompt);
    assert_eq!(
        (turn.end.clone(), turn.text().as_str()),
        (Ok(StopReason::Cancelled), "")
    );
    asked.wait_until_hung_up();
    // Two prompts in a row in the history: the next request is still one that any provider takes.
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    asked.say("yes");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "yes");
}

#[test]
fn a_cancel_ends_the_queued_prompts_too() {
    let stage = Stage::new(FILES);
    let (session, first, asked) = stage.ask("one");
    let second = stage.editor.prompt(&session, "two");
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&first).end, Ok(StopReason::Cancelled));
    assert_eq!(stage.editor.end(&second).end, Ok(StopReason::Cancelled));
    asked.wait_until_hung_up();
}

#[test]
fn bug_070_a_prompt_that_waits_goes_into_no_other_session() {
    let stage = Stage::new(FILES);
    let (session, first, mut asked) = stage.ask("one");
    let waits = stage.editor.prompt(&session, "two");
    let other = stage.editor.new_session();
    let elsewhere = stage.editor.prompt(&other, "elsewhere");
    let mut there = stage.model.next();
    assert_eq!(there.last_prompt(), "elsewhere");
    assert_eq!(there.turns().len(), 1);
    there.say("3");
    there.end();
    assert_eq!(stage.editor.end(&elsewhere).text(), "3");
    asked.say("1");
    asked.end();
    stage.editor.end(&first);
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "two");
    asked.say("2");
    asked.end();
    assert_eq!(stage.editor.end(&waits).text(), "2");
}

#[test]
fn a_prompt_whose_request_is_cancelled_is_answered_with_request_cancelled() {
    let stage = Stage::new(FILES);
    let (_, prompt, mut asked) = stage.ask("hello");
    asked.say("well");
    stage.editor.wait_for_text("well");
    stage.editor.cancel_request(prompt.id);
    assert_eq!(code(&stage.editor.end(&prompt)), REQUEST_CANCELLED);
    asked.wait_until_hung_up();
    stage.editor.round_trip();
}

#[test]
fn a_queued_prompt_can_be_withdrawn_alone() {
    let stage = Stage::new(FILES);
    let (session, first, mut asked) = stage.ask("one");
    let second = stage.editor.prompt(&session, "two");
    stage.editor.cancel_request(second.id);
    assert_eq!(code(&stage.editor.end(&second)), REQUEST_CANCELLED);
    asked.say("1");
    asked.end();
    assert_eq!(stage.editor.end(&first).text(), "1");
}

#[test]
fn what_waits_behind_a_withdrawn_prompt_goes_on() {
    let stage = Stage::new(FILES);
    let (session, first, asked) = stage.ask("one");
    let second = stage.editor.prompt(&session, "two");
    stage.editor.cancel_request(first.id);
    assert_eq!(code(&stage.editor.end(&first)), REQUEST_CANCELLED);
    asked.wait_until_hung_up();
    let mut asked = stage.model.next();
    assert!(asked.last_prompt().contains("two"));
    asked.say("2");
    asked.end();
    assert_eq!(stage.editor.end(&second).text(), "2");
}

#[test]
fn a_cancel_while_a_question_is_open_withdraws_it() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call("execute_command", json!({"command": "touch ran"}));
    let question = stage.editor.question();
    stage.editor.cancel_request(prompt.id);
    assert_eq!(code(&stage.editor.end(&prompt)), REQUEST_CANCELLED);
    stage.editor.expect_withdrawn(&question.id);
    stage.editor.round_trip();
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn bug_063_a_cancel_while_a_command_runs_kills_it_and_the_next_request_is_whole() {
    let stage = Stage::with(Setup::agent(), FILES, FULL);
    let mut witness = Witness::new(&stage.workspace.root());
    let line = format!("{}sleep 1000", Witness::HOLD);
    let (session, prompt) = stage.call("execute_command", json!({"command": line}));
    witness.wait_until_held();
    stage.editor.cancel(&session);
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::Cancelled));
    assert_eq!(turn.calls().into_values().collect::<Vec<_>>(), ["failed"]);
    witness.assert_gone_within(Duration::from_secs(2));
    let prompt = stage.editor.prompt(&session, "what happened?");
    let mut asked = stage.model.next();
    let told = asked
        .messages()
        .iter()
        .find(|it| it["role"] == "tool")
        .unwrap();
    assert!(
        told["content"].as_str().unwrap().contains("ancelled"),
        "{told}"
    );
    asked.say("it was cancelled");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_cancel_without_a_turn_is_nothing() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    stage.editor.cancel(&session);
    stage.editor.cancel_request(4_711);
    let prompt = stage.editor.prompt(&session, "hello");
    let mut asked = stage.model.next();
    asked.say("hi");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    // Too late is nothing, too.
    stage.editor.cancel_request(prompt.id);
    stage.editor.cancel(&session);
    stage.editor.round_trip();
}
