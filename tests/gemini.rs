//! Gemini's own format, end to end: its signatures come back, also after a restart, and what breaks is said.

use crate::support::model::Said;
use crate::support::stage::Stage;
use protocol::acp::StopReason;
use serde_json::{Value, json};

const FILES: &str = "//- /a.txt\nalpha\n//- /b.txt\nbeta\n";

fn stage() -> Stage {
    Stage::speaking("gemini", FILES, "")
}

/// The contents of a request.
fn contents(body: &Value) -> Vec<Value> {
    body["contents"].as_array().unwrap().clone()
}

#[test]
fn a_turn_with_a_call_goes_through_to_its_end() {
    let stage = stage();
    let (_, prompt, mut asked) = stage.ask("read it");
    assert_eq!(
        asked.line,
        "POST /v1/models/scripted-1:streamGenerateContent?alt=sse HTTP/1.1"
    );
    assert!(asked.system().contains("Undine"), "{}", asked.system());
    asked.think("hm").say("Reading.");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.usage(100, 10);
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.result(), "alpha\n");
    assert_eq!(
        asked.turns()[1],
        Said::Assistant {
            text: "Reading.".to_owned(),
            calls: vec![("call_0".to_owned(), "read_file".to_owned())],
        }
    );
    asked.say("It says alpha.");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    assert_eq!(turn.text(), "Reading.It says alpha.");
}

#[test]
fn calls_of_one_step_are_answered_in_one_content_and_by_their_own_ids() {
    let stage = stage();
    let (_, prompt, mut asked) = stage.ask("read both");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.call_with_id("theirs", "read_file", &[r#"{"path":"b.txt"}"#]);
    asked.call("read_file", json!({"path": "none.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    let contents = contents(&asked.body);
    assert_eq!(contents.len(), 3);
    let results = contents[2]["parts"].as_array().unwrap();
    assert_eq!(
        results[0]["functionResponse"]["response"],
        json!({"output": "alpha\n"})
    );
    assert_eq!(results[1]["functionResponse"]["id"], "theirs");
    let failed = &results[2]["functionResponse"]["response"];
    assert!(failed["error"].is_string(), "{failed}");
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

/// The scripted model refuses a call without its signature, as Gemini 3 does, so each request here is a proof.
#[test]
fn bug_104_signatures_are_stored_and_returned_also_after_a_restart() {
    let mut stage = stage();
    let (session, prompt, mut asked) = stage.ask("go");
    asked.think("first");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    let sent = &contents(&asked.body)[1];
    let parts = sent["parts"].as_array().unwrap();
    assert_eq!(parts[0], json!({"text": "first", "thought": true}));
    let signature = parts[1]["thoughtSignature"].as_str().unwrap();
    assert_ne!(signature, "skip_thought_signature_validator");
    // A second step, with a signature of its own, and a text that is signed.
    asked.say("Now the other.");
    asked.call("read_file", json!({"path": "b.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.event(
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"done"},{"text":"","thoughtSignature":"c2lnbmVk"}]}}]}"#,
    );
    let before = contents(&asked.body);
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));

    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "and now?");
    let mut asked = stage.model.next();
    let after = contents(&asked.body);
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(
        after[before.len()],
        json!({"role": "model", "parts": [{"text": "done"}, {"text": "", "thoughtSignature": "c2lnbmVk"}]})
    );
    asked.say("here");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn bug_104_a_conversation_of_another_model_goes_on_without_its_signatures() {
    let mut stage = stage();
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);

    stage.restart_with_flags(&["--model", "scripted/scripted-2"]);
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "and now?");
    let mut asked = stage.model.next();
    assert!(asked.line.contains("scripted-2"), "{}", asked.line);
    let part = &contents(&asked.body)[1]["parts"][0];
    assert_eq!(part["thoughtSignature"], "skip_thought_signature_validator");
    asked.say("here");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn each_request_begins_with_the_conversation_of_the_one_before() {
    let stage = stage();
    let session = stage.editor.new_session();
    let mut before: Vec<Value> = Vec::new();
    for (text, file) in [("one", "a.txt"), ("two", "b.txt"), ("three", "none.txt")] {
        let prompt = stage.editor.prompt(&session, text);
        for is_last in [false, true] {
            let mut asked = stage.model.next();
            let now = contents(&asked.body);
            assert_eq!(now[..before.len()], before[..]);
            before = now;
            asked.think("hm").say("so");
            if !is_last {
                asked.call("read_file", json!({ "path": file }));
                asked.call("read_file", json!({"path": "a.txt"}));
            }
            asked.end();
        }
        assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    }
}

#[test]
fn r_047_pictures_stand_behind_the_run_of_results() {
    let stage = stage();
    stage.workspace.write("a.png", b"\x89PNG\r\n\x1a\nrest");
    stage.workspace.write("b.gif", b"GIF89arest");
    let (session, prompt, mut asked) = stage.ask("look");
    asked.call("read_file", json!({"path": "a.png"}));
    asked.call("read_file", json!({"path": "b.gif"}));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(
        asked.results(),
        ["[image/png, 12 bytes]", "[image/gif, 10 bytes]"]
    );
    let seen: Vec<(String, String)> = asked
        .pictures()
        .into_iter()
        .map(|it| (it.0, it.1))
        .collect();
    let label = |call: &str, name: &str, what: &str| format!("Of tool call {call}: {name} {what}");
    assert_eq!(
        seen,
        [
            (
                label("call_0", "a.png", "[image/png, 12 bytes]"),
                "image/png".to_owned()
            ),
            (
                label("call_1", "b.gif", "[image/gif, 10 bytes]"),
                "image/gif".to_owned()
            ),
        ]
    );
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    // What the person says next does not part them from their results.
    let prompt = stage.editor.prompt(&session, "and?");
    let mut asked = stage.model.next();
    let roles: Vec<Value> = contents(&asked.body)
        .iter()
        .map(|it| it["role"].clone())
        .collect();
    assert_eq!(
        json!(roles),
        json!(["user", "model", "user", "user", "model", "user"])
    );
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn bug_073_a_stream_that_is_cut_is_an_error_and_its_words_are_kept() {
    let stage = Stage::speaking("gemini", FILES, "[limits]\nmodel_retries = 0\n");
    let (session, prompt, mut asked) = stage.ask("go");
    asked.say("It sa");
    asked.cut();
    let turn = stage.editor.end(&prompt);
    let error = turn.end.unwrap_err();
    assert!(error.message.contains("ended before"), "{}", error.message);
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    assert!(json!(contents(&asked.body)).to_string().contains("It sa"));
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn an_error_in_the_stream_and_a_refused_request_are_said() {
    let stage = Stage::speaking("gemini", FILES, "[limits]\nmodel_retries = 0\n");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.say("It");
    asked.fail_in_stream("An internal error has occurred.");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(
        error.message.contains("An internal error has occurred"),
        "{}",
        error.message
    );

    let (_, prompt, asked) = stage.ask("go");
    asked.fail(400, "API key not valid. Please pass a valid API key.");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert_eq!(error.data["kind"], "auth");
}

#[test]
fn a_prompt_that_is_blocked_is_a_refusal() {
    let stage = stage();
    let (_, prompt, mut asked) = stage.ask("go");
    asked.event(r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#);
    asked.send("");
    asked.cut();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Refusal));
}

#[test]
fn the_key_is_sent_in_googles_header() {
    let mut stage = stage();
    let config = format!(
        "[default_model]\nprovider = \"gemini\"\nname = \"models/gemini-x\"\n\n[providers.gemini]\nbase_url = \"{}\"\n",
        stage.model.url()
    );
    stage.workspace.configure(&config);
    let mut setup = crate::support::editor::Setup::agent();
    setup
        .environment
        .push(("GOOGLE_API_KEY", "google-test-key".to_owned()));
    stage.editor.finish();
    stage.editor = crate::support::editor::Editor::start(&setup, &stage.workspace);
    let (_, prompt, mut asked) = stage.ask("go");
    assert_eq!(asked.header("x-goog-api-key"), Some("google-test-key"));
    assert_eq!(asked.key, None);
    assert!(asked.line.contains("/models/gemini-x:"), "{}", asked.line);
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn a_server_that_does_not_know_json_schema_is_asked_again_without_it() {
    let stage = stage();
    let (_, prompt, asked) = stage.ask("go");
    asked.fail(
        400,
        "Invalid JSON payload received. Unknown name \"parametersJsonSchema\" at 'tools[0].function_declarations[0]': Cannot find field.",
    );
    let mut asked = stage.model.next();
    let declaration = &asked.body["tools"][0]["functionDeclarations"][0];
    assert!(declaration["parameters"].is_object(), "{declaration}");
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}
