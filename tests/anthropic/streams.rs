//! How answers end, well and otherwise.

use super::{EDITOR, FULL, stage};
use crate::support::stage::NO_RETRIES;
use protocol::acp::StopReason;
use serde_json::json;

#[test]
fn bug_073_a_stream_without_its_end_marker_is_an_error_and_finished_calls_are_kept() {
    let stage = stage(FULL);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.think("Hm.");
    asked.say("I make it.");
    asked.call("create_directory", json!({"path": "made"}));
    // The call runs while the answer still streams.
    stage
        .editor
        .updates_until("the call's end", |it| it["status"] == "completed");
    asked.cut();
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(
        error.message.contains("before its answer was complete"),
        "{error:?}"
    );
    assert!(stage.workspace.exists("made"));
    let prompt = stage.editor.prompt(&session, "on");
    let asked = stage.model.next();
    let said = &asked.body["messages"][1]["content"];
    let kinds: Vec<_> = (0..3)
        .map(|it| said[it]["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn a_call_that_the_answers_limit_cut_does_not_run() {
    let stage = stage(FULL);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.say("I write.");
    asked.call_with_id(
        "toolu_1",
        EDITOR,
        &["{\"command\": \"create\", \"path\": \"n"],
    );
    asked.end_for("max_tokens");
    // It is asked to go on.
    stage.model.next().end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    assert_eq!(turn.of_kind("tool_call").len(), 0);
    let prompt = stage.editor.prompt(&session, "on");
    let asked = stage.model.next();
    assert_eq!(
        asked.body["messages"][1]["content"],
        json!([{"type": "text", "text": "I write."}])
    );
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn broken_arguments_are_answered_with_an_error() {
    let stage = stage(FULL);
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call_with_id("toolu_1", "create_directory", &["{\"path\": \"made"]);
    asked.end();
    let mut asked = stage.model.next();
    assert!(
        asked.result().contains("not valid JSON"),
        "{}",
        asked.result()
    );
    assert!(!stage.workspace.exists("made"));
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_refusal_says_why_and_the_conversation_goes_on() {
    let stage = stage("");
    let (session, prompt, mut asked) = stage.ask("go");
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details":
        {"type": "refusal", "category": "cyber", "explanation": "It was blocked."}}, "usage": {"output_tokens": 1}});
    asked.event(&end.to_string());
    asked.event("{\"type\": \"message_stop\"}");
    asked.send("");
    drop(asked);
    let turn = stage.editor.end(&prompt);
    assert_eq!(
        (turn.end.clone(), turn.text().as_str()),
        (Ok(StopReason::Refusal), "It was blocked.")
    );
    let prompt = stage.editor.prompt(&session, "well then");
    let asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "well then");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn errors_before_and_in_the_stream_are_the_prompts() {
    let stage = stage(NO_RETRIES);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.say("well");
    asked.fail_in_stream("out of luck");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(error.message.contains("out of luck"), "{error:?}");
    let prompt = stage.editor.prompt(&session, "on");
    let headers = [("request-id", "req_42")];
    stage
        .model
        .next()
        .fail_with(404, "model: scripted-1", &headers);
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(
        error.message.contains("model: scripted-1") && error.message.contains("req_42"),
        "{error:?}"
    );
}
