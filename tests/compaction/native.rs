//! A provider that summarises by itself is asked to, and what it answers goes back to it (spec 12.3).

use super::{is_for_summary, summarise, turn};
use crate::support::stage::Stage;
use serde_json::{Value, json};

fn stage(kind: &'static str, config: &str) -> Stage {
    Stage::speaking(kind, "", &format!("{}{config}", super::WINDOW))
}

/// Two turns, of which the second fills the window beyond the threshold.
fn fill(stage: &Stage) -> protocol::acp::SessionId {
    let session = stage.editor.new_session();
    turn(stage, &session, "one", "first", 1_000);
    turn(stage, &session, "two", "second", 86_000);
    session
}

#[test]
fn r_122_anthropic_is_asked_to_summarise_at_the_threshold_and_no_summariser_is_asked() {
    let stage = stage("anthropic", "");
    let session = fill(&stage);
    let prompt = stage.editor.prompt(&session, "three");
    let mut asked = stage.model.next();
    assert!(!is_for_summary(&asked));
    let trigger = json!({"type": "input_tokens", "value": 85_000});
    let edits = json!([{"type": "compact_20260112", "trigger": trigger}]);
    assert_eq!(asked.body["context_management"]["edits"], edits);
    let betas = asked.header("anthropic-beta").unwrap();
    assert!(betas.contains("compact-2026-01-12"), "{betas}");
    // It comes as a block of the answer, which goes back as it was.
    let block = json!({"type": "compaction", "content": "They counted.", "signature": "s"});
    let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
    asked.event(&start.to_string());
    asked.event(&json!({"type": "content_block_stop", "index": 0}).to_string());
    asked.say("third");
    asked.usage(5_000, 0);
    asked.end();
    stage.editor.end(&prompt);
    let prompt = stage.editor.prompt(&session, "four");
    let mut asked = stage.model.next();
    let messages = asked.messages();
    let of_answer: Vec<&Value> = messages
        .iter()
        .filter(|it| it["role"] == "assistant")
        .collect();
    assert_eq!(of_answer.last().unwrap()["content"][0], block);
    asked.say("fourth");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn r_122_responses_is_asked_to_summarise_at_the_threshold_and_no_summariser_is_asked() {
    let stage = stage("openai", "");
    let session = fill(&stage);
    let prompt = stage.editor.prompt(&session, "three");
    let mut asked = stage.model.next();
    assert!(!is_for_summary(&asked));
    let wanted = json!([{"type": "compaction", "compact_threshold": 85_000}]);
    assert_eq!(asked.body["context_management"], wanted);
    asked.say("third");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn r_123_switched_off_the_summariser_is_asked_there_too() {
    for kind in ["anthropic", "openai"] {
        let stage = stage(kind, "[compaction]\nprovider_native = false\n");
        let session = fill(&stage);
        let prompt = stage.editor.prompt(&session, "three");
        summarise(&stage, "They counted.");
        let mut asked = stage.model.next();
        assert_eq!(asked.body["context_management"], Value::Null);
        asked.say("third");
        asked.end();
        stage.editor.end(&prompt);
    }
}

#[test]
fn r_124_the_person_s_and_the_model_s_wish_are_our_own_summary_there_too() {
    let stage = stage("anthropic", "");
    let session = stage.editor.new_session();
    turn(&stage, &session, "one", "first", 1_000);
    turn(&stage, &session, "two", "second", 1_000);
    let compact = stage.editor.prompt(&session, "/compact");
    summarise(&stage, "They counted.");
    stage.editor.end(&compact);
    let prompt = stage.editor.prompt(&session, "three");
    let mut asked = stage.model.next();
    asked.call("compact_context", json!({}));
    asked.end();
    let question = summarise(&stage, "They counted on.");
    assert!(question.contains("They counted."), "{question}");
    let mut asked = stage.model.next();
    asked.say("third");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_model_that_refuses_to_summarise_is_remembered_and_we_do_it() {
    let stage = stage("anthropic", "");
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "one");
    let asked = stage.model.next();
    asked.fail(
        400,
        "context_management: compaction is not supported for this model",
    );
    let mut asked = stage.model.next();
    assert_eq!(asked.body["context_management"], Value::Null);
    asked.say("first");
    asked.usage(1_000, 0);
    asked.end();
    stage.editor.end(&prompt);
    turn(&stage, &session, "two", "second", 86_000);
    let prompt = stage.editor.prompt(&session, "three");
    summarise(&stage, "They counted.");
    let mut asked = stage.model.next();
    asked.say("third");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_server_that_takes_the_wish_and_does_nothing_is_not_waited_for_without_end() {
    let stage = stage("anthropic", "");
    let session = fill(&stage);
    turn(&stage, &session, "three", "third", 96_000);
    let prompt = stage.editor.prompt(&session, "four");
    summarise(&stage, "They counted.");
    let mut asked = stage.model.next();
    asked.say("fourth");
    asked.end();
    stage.editor.end(&prompt);
}
