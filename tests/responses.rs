//! OpenAI's Responses, end to end: its own apply_patch, its items sent back, its errors.

mod history;
mod patches;

use crate::support::editor::Pending;
use crate::support::model::Asked;
use crate::support::stage::{NO_RETRIES, Stage};
use protocol::acp::StopReason;
use protocol::methods::Prompt;
use serde_json::{Value, json};

const AUTO: &str = "[safety]\nmode = \"auto\"\n";

const FILES: &str = "//- /a.txt\none\ntwo\nthree\n//- /old.txt\nold\n";

fn stage(config: &str) -> Stage {
    Stage::speaking("openai", FILES, config)
}

/// The types of a request's tools, and the names of its functions.
fn tools(asked: &Asked) -> (Vec<String>, Vec<String>) {
    let tools = asked.body["tools"].as_array().unwrap();
    let text = |it: &Value, field: &str| it[field].as_str().unwrap_or_default().to_owned();
    let (functions, own): (Vec<&Value>, Vec<&Value>) =
        tools.iter().partition(|it| it["type"] == "function");
    let own = own.iter().map(|it| text(it, "type")).collect();
    let functions = functions.iter().map(|it| text(it, "name")).collect();
    (own, functions)
}

fn input(asked: &Asked) -> Vec<Value> {
    asked.body["input"].as_array().unwrap().clone()
}

/// Answers and ends the turn.
fn done(stage: &Stage, prompt: &Pending<Prompt>, mut asked: Asked) {
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn r_035_r_040_apply_patch_is_openais_own_and_shell_is_not_offered() {
    let stage = stage("");
    let (_, prompt, asked) = stage.ask("go");
    assert!(
        asked.line.starts_with("POST /v1/responses "),
        "{}",
        asked.line
    );
    assert_eq!(asked.header("accept"), Some("text/event-stream"));
    assert!(asked.system().contains("Undine"), "{}", asked.system());
    let (own, functions) = tools(&asked);
    assert_eq!(own, ["apply_patch"]);
    let has = |name: &str| functions.iter().any(|it| it == name);
    assert!(has("read_file") && has("edit_file") && has("execute_command"));
    assert!(!has("apply_patch") && !has("shell"), "{functions:?}");
    assert_eq!(asked.body["store"], false);
    assert_eq!(
        asked.body["include"],
        json!(["reasoning.encrypted_content"])
    );
    assert_eq!(asked.body["reasoning"], json!({"summary": "auto"}));
    done(&stage, &prompt, asked);
}

#[test]
fn r_034_without_native_tools_the_own_schemas_are_sent_to_openai() {
    let stage = stage("[tools]\nprovider_native = false\n");
    let (_, prompt, asked) = stage.ask("go");
    let (own, functions) = tools(&asked);
    assert_eq!(own, [""; 0]);
    assert!(
        functions.iter().any(|it| it == "apply_patch"),
        "{functions:?}"
    );
    done(&stage, &prompt, asked);
}

#[test]
fn bug_073_a_cut_stream_of_responses_is_an_error_and_keeps_finished_calls() {
    let stage = stage(&format!("{AUTO}{NO_RETRIES}"));
    let (session, prompt, mut asked) = stage.ask("go");
    asked.think("hm").say("half");
    asked.cut();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.text(), "half");
    let error = turn.end.unwrap_err();
    assert!(
        error.message.contains("before its answer was complete"),
        "{error:?}"
    );

    // What was shown of it is not lost, and thinking that led to nothing whole does not go back.
    let prompt = stage.editor.prompt(&session, "on");
    let mut asked = stage.model.next();
    let expected = json!([
        {"role": "user", "content": "go"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": asked.body["input"][1]["encrypted_content"]},
        {"role": "assistant", "content": "half"},
        {"role": "user", "content": "on"},
    ]);
    assert_eq!(json!(input(&asked)), expected);
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.cut();
    let turn = stage.editor.end(&prompt);
    assert!(turn.end.is_err());
    assert_eq!(turn.calls().len(), 1, "{turn:?}");

    let prompt = stage.editor.prompt(&session, "more");
    let asked = stage.model.next();
    let kinds: Vec<String> = input(&asked)[4..]
        .iter()
        .map(|it| it["type"].as_str().unwrap_or("user").to_owned())
        .collect();
    assert_eq!(kinds, ["function_call", "function_call_output", "user"]);
    done(&stage, &prompt, asked);
}

#[test]
fn both_shapes_of_an_error_event_end_the_turn_with_the_providers_words() {
    let stage = stage(NO_RETRIES);
    let (session, prompt, asked) = stage.ask("go");
    asked.fail_in_stream("nested trouble");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(error.message.contains("nested trouble"), "{error:?}");

    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    let flat = json!({"type": "error", "code": "invalid_prompt", "message": "flat trouble", "param": null});
    asked.event(&flat.to_string());
    asked.end();
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(error.message.contains("flat trouble"), "{error:?}");
}

#[test]
fn an_answer_cut_by_the_limit_of_tokens_says_so() {
    let stage = stage("");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.say("long");
    asked.end_for("max_output_tokens");
    // It is gone on with as often as may be.
    for _ in 0..4 {
        let mut asked = stage.model.next();
        asked.say("er");
        asked.end_for("max_output_tokens");
    }
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::MaxTokens));
}

#[test]
fn an_account_without_quota_is_told_from_a_rate_limit() {
    let stage = stage("");
    let (_, prompt, asked) = stage.ask("go");
    let body = json!({"error": {"message": "You exceeded your current quota.", "type": "insufficient_quota", "param": null, "code": "insufficient_quota"}});
    asked.refuse(429, &[("x-request-id", "req_7")], &body);
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(error.message.contains("no quota left"), "{error:?}");
    assert!(error.message.contains("req_7"), "{error:?}");
}

/// What OpenAI says of a part that a model does not take, and the part.
const REFUSALS: [(&str, &str, &str); 3] = [
    (
        "reasoning.summary",
        "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
        "/reasoning",
    ),
    (
        "include",
        "Encrypted content is not supported with this model.",
        "/include",
    ),
    (
        "tools",
        "Tool 'apply_patch' is not supported with scripted-1.",
        "",
    ),
];

#[test]
fn what_a_model_of_openai_refuses_by_name_is_left_out_from_then_on() {
    let stage = stage("");
    let (session, prompt, mut asked) = stage.ask("go");
    for (param, message, place) in REFUSALS {
        let body = json!({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": null}});
        asked.refuse(400, &[], &body);
        asked = stage.model.next();
        if !place.is_empty() {
            assert_eq!(asked.body.pointer(place), None, "{:#}", asked.body);
        }
    }
    let (own, functions) = tools(&asked);
    assert_eq!(own, [""; 0]);
    assert!(functions.iter().any(|it| it == "apply_patch"));
    done(&stage, &prompt, asked);
    let prompt = stage.editor.prompt(&session, "again");
    let asked = stage.model.next();
    assert_eq!(tools(&asked).0, [""; 0]);
    assert_eq!(asked.body.get("reasoning"), None);
    done(&stage, &prompt, asked);
}

#[test]
fn encrypted_reasoning_that_openai_refuses_is_left_out_and_the_session_goes_on() {
    let stage = stage("");
    let (session, prompt, mut asked) = stage.ask("go");
    asked.think("hm").say("first");
    asked.end();
    stage.editor.end(&prompt);
    let prompt = stage.editor.prompt(&session, "on");
    let asked = stage.model.next();
    assert_eq!(asked.body["input"][1]["type"], "reasoning");
    let body = json!({"error": {"message": "The encrypted content gAAA...fc== could not be verified.", "type": "invalid_request_error", "param": null, "code": "invalid_encrypted_content"}});
    asked.refuse(400, &[], &body);
    let asked = stage.model.next();
    assert!(input(&asked).iter().all(|it| it["type"] != "reasoning"));
    done(&stage, &prompt, asked);
}
