//! Answers that break off (BUG-73).

use super::{QUICK, retry, staged};
use crate::support::stage::Stage;
use protocol::acp::StopReason;
use serde_json::{Value, json};

/// What the person finds where the first try broke off.
const MARK: &str = "(The answer broke off here and is asked for again.)";

#[test]
fn bug_073_a_stream_that_is_cut_is_asked_for_again_and_its_piece_is_void() {
    let mut stage = staged(QUICK);
    let (session, prompt, mut asked) = stage.ask("hello");
    asked.say("Half a sen");
    stage.editor.wait_for_text("Half a");
    asked.cut();
    let why = retry(&stage.editor)["why"].take();
    assert!(why.as_str().unwrap().contains("stream ended"), "{why}");
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "hello");
    assert_eq!(asked.messages().len(), 2, "{:#}", asked.body);
    asked.say("A sentence.");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    assert!(
        turn.text().contains(MARK) && turn.text().ends_with("A sentence."),
        "{turn:?}"
    );
    stage.editor.finish();
    stage.restart();
    let shown = stage.editor.load(&session).unwrap();
    let shown = serde_json::to_string(&shown).unwrap();
    for part in ["Half a sen", MARK, "A sentence."] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
    let prompt = stage.editor.prompt(&session, "and?");
    let mut asked = stage.model.next();
    let history = serde_json::to_string(asked.messages()).unwrap();
    assert!(!history.contains("Half a sen"), "{history}");
    assert!(history.contains("A sentence."), "{history}");
    asked.say("Done.");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn bug_073_finished_calls_of_a_cut_answer_are_kept_and_the_turn_ends_with_the_error() {
    let stage = staged(QUICK);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "a.txt"}));
    // The one before is finished by this.
    asked.call("read_file", json!({"path": "b.txt"}));
    asked.cut();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end.unwrap_err().data["kind"], "cut");
    stage.editor.round_trip();
    stage.model.assert_not_asked();
    stage.editor.assert_none("undine/retry");
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    let results = asked.messages().iter().filter(|it| it["role"] == "tool");
    let ids: Vec<&Value> = results.map(|it| &it["tool_call_id"]).collect();
    assert_eq!(ids, ["call_0"], "{:#}", asked.body);
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

/// How each format begins an answer before it says anything, and an event that its way has damaged.
const BEGINNINGS: [(&str, &str, &str); 5] = [
    (
        "anthropic",
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n\n",
        "data: {\"broken\n\n",
    ),
    (
        "openai",
        "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n",
        "data: {\"broken\n\n",
    ),
    (
        "openai-compatible",
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n",
        "data: {\"broken\n\n",
    ),
    (
        "gemini",
        "data: {\"candidates\":[{\"content\":{\"role\":\"model\"}}]}\n\n",
        "data: {\"broken\n\n",
    ),
    (
        "ollama",
        "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":false}\n",
        "{\"broken\n",
    ),
];

#[test]
fn bug_073_a_stream_that_is_damaged_before_its_first_word_is_asked_for_again() {
    for (kind, begins, damaged) in BEGINNINGS {
        let stage = Stage::speaking(kind, "//- /a.txt\nalpha\n", QUICK);
        let (_, prompt, mut asked) = stage.ask("hello");
        asked.send(begins).send(damaged);
        let why = retry(&stage.editor)["why"].take();
        assert!(why.as_str().unwrap().contains("damaged"), "{kind}: {why}");
        let mut asked = stage.model.next();
        assert_eq!(asked.last_prompt(), "hello", "{kind}");
        asked.say("Hi.");
        asked.end();
        let turn = stage.editor.end(&prompt);
        assert_eq!(
            (turn.text().as_str(), turn.end),
            ("Hi.", Ok(StopReason::EndTurn)),
            "{kind}"
        );
    }
}

#[test]
fn what_is_no_event_from_the_beginning_is_another_format_and_not_asked_for_again() {
    for (kind, _, damaged) in BEGINNINGS {
        let stage = Stage::speaking(kind, "//- /a.txt\nalpha\n", QUICK);
        let (_, prompt, mut asked) = stage.ask("hello");
        asked.send(damaged);
        let error = stage.editor.end(&prompt).end.unwrap_err();
        assert_eq!(error.data["kind"], "protocol", "{kind}: {error:?}");
        stage.editor.assert_none("undine/retry");
    }
}
