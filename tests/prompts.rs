//! A prompt is answered: its text streams, its end says why, and a provider's failure is told plainly.

mod failures;

use crate::support::editor::{Editor, Setup};
use crate::support::model::Model;
use crate::support::stage::{Stage, config_for};
use crate::support::workspace::Workspace;
use protocol::acp::StopReason;
use serde_json::json;

#[test]
fn text_streams_in_order_and_joined_it_is_what_the_model_said() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("hello");
    // Each piece is seen while the model still speaks.
    asked.say("first");
    stage.editor.wait_for_text("first");
    asked.say(" ä");
    stage.editor.wait_for_text(" ä");
    let pieces: Vec<String> = (0..200).map(|it| format!(" {it} 𝄞\n")).collect();
    for piece in &pieces {
        asked.say(piece);
    }
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    assert_eq!(turn.text(), pieces.concat());
}

#[test]
fn thinking_is_shown_apart_from_the_answer() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("hello");
    asked.think("hmm");
    asked.say("yes");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.text(), "yes");
    let thoughts = turn.of_kind("agent_thought_chunk");
    assert_eq!(thoughts.len(), 1);
    assert_eq!(thoughts[0]["content"]["text"], "hmm");
}

#[test]
fn the_end_says_why_the_model_stopped() {
    for (reason, end) in [
        ("stop", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
        ("content_filter", StopReason::Refusal),
    ] {
        let once = "[limits]\ncontinuations = 0\n";
        let stage = Stage::with(Setup::agent(), "", once);
        let (_, prompt, mut asked) = stage.ask("hello");
        asked.say("x");
        asked.end_for(reason);
        assert_eq!(stage.editor.end(&prompt).end, Ok(end), "{reason}");
    }
}

#[test]
fn the_history_goes_with_the_next_prompt() {
    let stage = Stage::new("");
    let (session, prompt, mut asked) = stage.ask("one");
    asked.say("two");
    asked.end();
    stage.editor.end(&prompt);
    let prompt = stage.editor.prompt(&session, "three");
    let mut asked = stage.model.next();
    let said: Vec<(&str, &str)> = asked.messages()[1..]
        .iter()
        .map(|it| {
            (
                it["role"].as_str().unwrap(),
                it["content"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [("user", "one"), ("assistant", "two"), ("user", "three")]
    );
    asked.say("four");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "four");
}

#[test]
fn a_second_prompt_steers_at_the_next_tool_boundary_and_both_are_answered() {
    let stage = Stage::new("//- /a.txt\nalpha\n");
    let (session, first, mut asked) = stage.ask("read a.txt");
    asked.say("reading");
    stage.editor.wait_for_text("reading");
    let second = stage.editor.prompt(&session, "and be brief");
    // The second has arrived, because a later request is answered.
    stage.editor.round_trip();
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "and be brief");
    let behind_the_result = &asked.messages()[asked.messages().len() - 2];
    assert_eq!(behind_the_result["content"], "alpha\n");
    asked.say("ok");
    asked.end();
    let turn = stage.editor.end(&first);
    assert_eq!(
        (turn.end.clone(), turn.text().as_str()),
        (Ok(StopReason::EndTurn), "ok")
    );
    let shown = turn.of_kind("user_message_chunk");
    assert_eq!(
        shown.len(),
        1,
        "the queued prompt is shown where the turn took it: {shown:#?}"
    );
    assert_eq!(shown[0]["content"]["text"], "and be brief");
    assert_eq!(stage.editor.end(&second).end, Ok(StopReason::EndTurn));
}

#[test]
fn a_prompt_that_waits_for_a_turn_without_tools_has_a_turn_of_its_own() {
    let stage = Stage::new("");
    let (session, first, mut asked) = stage.ask("one");
    asked.say("1");
    stage.editor.wait_for_text("1");
    let second = stage.editor.prompt(&session, "two");
    stage.editor.round_trip();
    asked.end();
    assert_eq!(stage.editor.end(&first).end, Ok(StopReason::EndTurn));
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "two");
    asked.say("2");
    asked.end();
    assert_eq!(stage.editor.end(&second).text(), "2");
}

#[test]
fn two_sessions_run_at_once() {
    let stage = Stage::new("");
    let (_, one, mut first) = stage.ask("one");
    let (_, two, mut second) = stage.ask("two");
    second.say("2");
    second.end();
    assert_eq!(stage.editor.end(&two).end, Ok(StopReason::EndTurn));
    first.say("1");
    first.end();
    assert_eq!(stage.editor.end(&one).text(), "1");
}

#[test]
fn what_an_answer_cost_is_shown() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("hello");
    asked.say("x");
    asked.usage(1_200, 34);
    asked.end();
    let usage = stage.editor.end(&prompt).of_kind("usage_update");
    assert_eq!(usage.len(), 1, "{usage:#?}");
    assert_eq!(usage[0]["used"], 1_234);
}

#[test]
fn the_key_is_read_from_the_named_variable_and_sent() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    workspace.configure(&format!(
        "{}\napi_key_env = \"SCRIPTED_KEY\"\n",
        config_for(&model.url()).trim_end()
    ));
    let setup = Setup {
        environment: vec![("SCRIPTED_KEY", "open sesame".into())],
        ..Setup::agent()
    };
    let editor = Editor::start(&setup, &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    let mut asked = model.next();
    assert_eq!(asked.key.as_deref(), Some("Bearer open sesame"));
    assert_eq!(asked.line, "POST /v1/chat/completions HTTP/1.1");
    asked.say("x");
    asked.end();
    editor.end(&prompt);
    assert!(!editor.stderr().contains("sesame"), "a key is in the log");
}

#[test]
fn two_calls_to_which_the_provider_gave_one_id_are_both_answered() {
    let stage = Stage::new("//- /a.txt\nalpha\n//- /b.txt\nbeta\n");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call_with_id("same", "read_file", &["{\"path\": \"a.txt\"}"]);
    asked.call_with_id("same", "read_file", &["{\"path\": \"b.txt\"}"]);
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.results(), ["alpha\n", "beta\n"]);
    asked.say("ok");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}
