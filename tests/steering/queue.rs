//! What waits, what is cut or empty, and the line at the end.

use super::{answer, notice};
use crate::support::editor::Setup;
use crate::support::stage::{NO_RETRIES, Stage};
use protocol::acp::StopReason;
use serde_json::json;

#[test]
fn a_reply_that_was_cut_goes_on_by_itself_and_is_shown_as_one() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("write");
    asked.say("one ");
    asked.end_for("length");
    let mut asked = stage.model.next();
    assert!(asked.last_prompt().contains("output cap"));
    asked.say("two");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(
        (turn.end.clone(), turn.text().as_str()),
        (Ok(StopReason::EndTurn), "one two")
    );
}

#[test]
fn after_the_last_continuation_the_end_says_that_the_reply_was_cut() {
    let stage = Stage::with(Setup::agent(), "", "[limits]\ncontinuations = 1\n");
    let (_, prompt, mut asked) = stage.ask("write");
    asked.say("one ");
    asked.end_for("length");
    let mut asked = stage.model.next();
    asked.say("two");
    asked.end_for("length");
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::MaxTokens));
}

/// BUG-72: what was thought up to the cap left an empty answer that nobody said a word about.
#[test]
fn bug_072_an_answer_that_only_thought_up_to_its_cap_is_asked_for_once_more_and_explained() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("think");
    asked.think("hm");
    asked.end_for("length");
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "think");
    asked.think("hm");
    asked.end_for("length");
    notice(&stage, "max_tokens");
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::MaxTokens));
}

#[test]
fn an_empty_answer_is_asked_for_once_and_then_there_is_a_hint() {
    let stage = Stage::new("");
    let (_, prompt, asked) = stage.ask("hello");
    asked.end_for("stop");
    stage.model.next().end_for("stop");
    notice(&stage, "answered twice with nothing");
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn prompts_that_wait_are_sent_in_order_when_the_provider_fails() {
    let stage = Stage::with(Setup::agent(), "", NO_RETRIES);
    let (session, first, asked) = stage.ask("one");
    let second = stage.editor.prompt(&session, "two");
    let third = stage.editor.prompt(&session, "three");
    stage.editor.round_trip();
    asked.fail(500, "down");
    stage.editor.end(&first).end.unwrap_err();
    let mut asked = stage.model.next();
    let body = asked.body.to_string();
    assert!(
        body.find("two").unwrap() < body.find("three").unwrap(),
        "{body}"
    );
    asked.say("ok");
    asked.end();
    assert_eq!(stage.editor.end(&second).end, Ok(StopReason::EndTurn));
    assert_eq!(stage.editor.end(&third).end, Ok(StopReason::EndTurn));
}

/// BUG-108: whoever leaned on Enter through a long turn had a queue without end.
#[test]
fn bug_108_of_more_than_32_waiting_prompts_the_oldest_is_dropped_with_a_warning() {
    let stage = Stage::new("");
    let (session, first, mut asked) = stage.ask("go");
    let waiting: Vec<_> = (0..33)
        .map(|it| stage.editor.prompt(&session, &format!("more {it}")))
        .collect();
    let error = stage.editor.end(&waiting[0]).end.unwrap_err();
    assert!(error.message.contains("32"), "{error:?}");
    asked.say("ok");
    asked.end();
    stage.editor.end(&first).end.unwrap();
    let mut asked = stage.model.next();
    let body = asked.body.to_string();
    assert!(!body.contains("more 0") && body.contains("more 1") && body.contains("more 32"));
    asked.say("ok");
    asked.end();
    assert_eq!(stage.editor.end(&waiting[32]).end, Ok(StopReason::EndTurn));
    for it in &waiting[1..32] {
        stage.editor.end(it).end.unwrap();
    }
}

#[test]
fn a_run_ends_with_what_it_took_and_the_model_never_hears_of_it() {
    let stage = Stage::new("//- /a.txt\nalpha\nbeta\n");
    let session = stage.editor.new_session();
    stage.editor.set_mode(&session, "full_access");
    let prompt = stage.editor.prompt(&session, "edit");
    let mut asked = stage.model.next();
    asked.call(
        "write_file",
        json!({"path": "b.txt", "content": "one\ntwo\n"}),
    );
    asked.usage(100, 20);
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.usage(200, 10);
    asked.end();
    let summary = answer(&stage, &prompt)["_meta"]["undine"]["summary"].clone();
    assert_eq!(
        (&summary["input"], &summary["output"]),
        (&json!(300), &json!(30)),
        "{summary}"
    );
    assert_eq!(
        (&summary["added"], &summary["removed"]),
        (&json!(2), &json!(0)),
        "{summary}"
    );
    assert!(
        summary["text"]
            .as_str()
            .unwrap()
            .ends_with("330 tokens, +2 -0 lines"),
        "{summary}"
    );
    assert_eq!(summary["interrupted"], json!(null));

    let prompt = stage.editor.prompt(&session, "again");
    let asked = stage.model.next();
    assert!(!asked.body.to_string().contains("330 tokens"));
    stage.editor.cancel(&session);
    let summary = answer(&stage, &prompt)["_meta"]["undine"]["summary"].clone();
    assert_eq!(summary["interrupted"], true);
    assert!(
        summary["text"].as_str().unwrap().ends_with("interrupted"),
        "{summary}"
    );
    asked.wait_until_hung_up();
    stage.editor.forget(|it| it["method"] == "session/update");
}

/// BUG-80: a child that would not end kept the turn open.
#[cfg(unix)]
#[test]
fn bug_080_a_wedged_command_does_not_keep_the_turn_open() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    stage.editor.set_mode(&session, "full_access");
    let prompt = stage.editor.prompt(&session, "run");
    let mut asked = stage.model.next();
    // It ignores what can be ignored, and leaves a child behind that holds its pipes.
    let command = "trap '' INT TERM HUP; (trap '' INT TERM HUP; sleep 60) & echo up; while :; do sleep 60; done";
    asked.call("execute_command", json!({"command": command}));
    asked.end();
    stage.editor.updates_until("the command's output", |it| {
        it.to_string().contains("up\\n") || it.to_string().contains("\"up\"")
    });
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    let prompt = stage.editor.prompt(&session, "next");
    let mut asked = stage.model.next();
    asked.say("ok");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}
