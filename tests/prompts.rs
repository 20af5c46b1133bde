//! A prompt is answered: its text streams, its end says why, and a provider's failure is told plainly.

use crate::support::editor::{Editor, Setup};
use crate::support::model::Model;
use crate::support::stage::{Stage, config_for};
use crate::support::workspace::Workspace;
use protocol::acp::{self, StopReason};
use protocol::methods::Prompt;
use serde_json::json;
use std::net::TcpListener;

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
        let stage = Stage::new("");
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
fn a_prompt_to_an_unknown_session_is_an_error_that_says_so() {
    let stage = Stage::new("");
    let session = acp::SessionId::new("20250101_000000_000");
    let error = stage
        .editor
        .ask::<Prompt>(acp::PromptRequest::new(session, vec!["hello".into()]))
        .unwrap_err();
    assert!(error.message.contains("20250101_000000_000"), "{error:?}");
}

#[test]
fn a_prompt_before_any_model_is_configured_says_what_to_do_and_doing_it_helps() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    let editor = Editor::start(&Setup::agent(), &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    let error = editor.end(&prompt).end.unwrap_err();
    for part in ["default_model", "config.toml"] {
        assert!(error.message.contains(part), "{error:?}");
    }
    workspace.configure(&config_for(&model.url()));
    let prompt = editor.prompt(&session, "and now?");
    let mut asked = model.next();
    assert_eq!(asked.body["model"], "scripted-1");
    asked.say("yes");
    asked.end();
    assert_eq!(editor.end(&prompt).text(), "yes");
}

#[test]
fn a_model_that_cannot_be_reached_is_named_with_what_to_do() {
    // A port that nobody listens on any more.
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{closed}/v1");
    let workspace = Workspace::new("");
    workspace.configure(&config_for(&url));
    let editor = Editor::start(&Setup::agent(), &workspace);
    let session = editor.new_session();
    for _ in 0..2 {
        let prompt = editor.prompt(&session, "hello");
        let error = editor.end(&prompt).end.unwrap_err();
        assert!(
            error.message.contains(&url) && error.message.contains("base_url"),
            "{error:?}"
        );
        assert_eq!(error.data["kind"], "unreachable");
    }
    editor.round_trip();
}

#[test]
fn an_http_error_is_the_prompts_error_and_the_session_goes_on() {
    for status in [401, 400] {
        let stage = Stage::new("");
        let (session, prompt, asked) = stage.ask("hello");
        asked.fail(status, "the provider's own words");
        let error = stage.editor.end(&prompt).end.unwrap_err();
        assert!(
            error.message.contains("the provider's own words"),
            "{error:?}"
        );
        assert!(error.message.contains(&status.to_string()), "{error:?}");
        let prompt = stage.editor.prompt(&session, "again");
        let mut asked = stage.model.next();
        asked.say("better");
        asked.end();
        assert_eq!(stage.editor.end(&prompt).text(), "better");
    }
}

#[test]
fn an_http_500_ends_the_turn_with_an_error_after_at_most_a_few_tries() {
    let stage = Stage::new("");
    let (_, prompt, asked) = stage.ask("hello");
    asked.fail(500, "out of luck");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(
        error.message.contains("out of luck") && error.message.contains("500"),
        "{error:?}"
    );
}

#[test]
fn a_stream_that_is_cut_is_an_error_and_what_was_finished_stays() {
    let stage = Stage::new("//- /a.txt\nalpha\n");
    let (session, prompt, mut asked) = stage.ask("hello");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("half a sen");
    stage.editor.wait_for_text("half");
    asked.cut();
    let turn = stage.editor.end(&prompt);
    let error = turn.end.unwrap_err();
    assert!(!error.message.is_empty());
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    let history = serde_json::to_string(asked.messages()).unwrap();
    assert!(
        history.contains("alpha") && history.contains("half a sen"),
        "{history}"
    );
    asked.say("tence");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "tence");
}

#[test]
fn an_error_in_the_stream_is_the_prompts_error() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("hello");
    asked.say("well");
    asked.fail_in_stream("the graphics card is on fire");
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.text(), "well");
    let error = turn.end.unwrap_err();
    assert!(
        error.message.contains("the graphics card is on fire"),
        "{error:?}"
    );
}

#[test]
fn what_an_answer_cost_is_shown() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("hello");
    asked.say("x").finish("stop");
    asked.usage(1_200, 34);
    asked.end();
    let usage = stage.editor.end(&prompt).of_kind("usage_update");
    assert_eq!(usage.len(), 1, "{usage:#?}");
    assert_eq!(usage[0]["used"], 1_234);
}

#[test]
fn a_tool_that_does_not_exist_and_arguments_that_are_no_json_are_told_to_the_model() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("teleport", json!({}));
    asked.call_with_id("call_x", "read_file", &["{\"path\": "]);
    asked.end();
    let mut asked = stage.model.next();
    let results = asked.results();
    assert!(
        results[0].contains("teleport") && results[0].contains("read_file"),
        "{results:?}"
    );
    assert!(results[1].contains("JSON"), "{results:?}");
    asked.say("sorry");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(
        turn.calls().into_values().collect::<Vec<_>>(),
        ["failed", "failed"]
    );
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

#[test]
fn a_turn_that_asks_the_model_too_often_is_stopped() {
    let stage = Stage::with(
        Setup::agent(),
        "//- /a.txt\nalpha\n",
        "[limits]\nturn_answers = 3\n",
    );
    let (session, prompt, mut asked) = stage.ask("go");
    for n in 0..3 {
        asked.call("read_file", json!({"path": "a.txt"}));
        asked.end();
        if n == 2 {
            break;
        }
        asked = stage.model.next();
    }
    assert_eq!(
        stage.editor.end(&prompt).end,
        Ok(StopReason::MaxTurnRequests)
    );
    // The session goes on.
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    asked.say("ok");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "ok");
}

#[test]
fn of_too_many_waiting_prompts_the_oldest_is_dropped_and_told_so() {
    let stage = Stage::with(Setup::agent(), "", "[limits]\nqueued_prompts = 2\n");
    let (session, first, mut asked) = stage.ask("0");
    let waiting: Vec<_> = (1..=3)
        .map(|it| stage.editor.prompt(&session, &it.to_string()))
        .collect();
    let error = stage.editor.end(&waiting[0]).end.unwrap_err();
    assert!(error.message.contains("2 prompts"), "{error:?}");
    asked.say("x");
    asked.end();
    stage.editor.end(&first);
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "2\n3");
    asked.say("y");
    asked.end();
    assert_eq!(stage.editor.end(&waiting[1]).end, Ok(StopReason::EndTurn));
    assert_eq!(stage.editor.end(&waiting[2]).end, Ok(StopReason::EndTurn));
}

#[test]
fn a_model_that_says_nothing_for_too_long_is_given_up() {
    let stage = Stage::with(Setup::agent(), "", "[limits]\nmodel_quiet_secs = 1\n");
    let (_, prompt, mut asked) = stage.ask("hello");
    asked.say("well");
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.text(), "well");
    assert!(!turn.end.unwrap_err().message.is_empty());
    asked.wait_until_hung_up();
}
