//! What goes wrong with a model is told plainly, and the session goes on.

use crate::support::editor::{Editor, Setup};
use crate::support::model::Model;
use crate::support::stage::{NO_RETRIES, Stage, config_for};
use crate::support::workspace::Workspace;
use protocol::acp::{self, StopReason};
use protocol::methods::Prompt;
use serde_json::json;
use std::net::TcpListener;

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
    workspace.configure(&format!("{}{NO_RETRIES}", config_for(&url)));
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
fn an_http_500_ends_the_turn_with_an_error() {
    let stage = Stage::with(Setup::agent(), "", NO_RETRIES);
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
    let stage = Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", NO_RETRIES);
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
    let stage = Stage::with(Setup::agent(), "", NO_RETRIES);
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
    assert_eq!(asked.last_prompt(), "2\n\n3");
    asked.say("y");
    asked.end();
    assert_eq!(stage.editor.end(&waiting[1]).end, Ok(StopReason::EndTurn));
    assert_eq!(stage.editor.end(&waiting[2]).end, Ok(StopReason::EndTurn));
}

#[test]
fn a_model_that_says_nothing_for_too_long_is_given_up() {
    let stage = Stage::with(
        Setup::agent(),
        "",
        "[limits]\nmodel_quiet_secs = 1\nmodel_retries = 0\n",
    );
    let (_, prompt, mut asked) = stage.ask("hello");
    asked.say("well");
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.text(), "well");
    assert!(!turn.end.unwrap_err().message.is_empty());
    asked.wait_until_hung_up();
}

/// A model behind a key of its own, and an editor whose environment is this.
fn keyed(environment: Vec<(&'static str, String)>) -> (Model, Workspace, Editor) {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    workspace.configure(&format!(
        "{}\napi_key_env = \"SCRIPTED_KEY\"\n{NO_RETRIES}",
        config_for(&model.url()).trim_end()
    ));
    let setup = Setup {
        environment,
        ..Setup::agent()
    };
    let editor = Editor::start(&setup, &workspace);
    (model, workspace, editor)
}

/// It looked like no known provider's key, so it was quoted, and written into the session's log.
#[test]
fn a_key_that_the_server_says_back_is_not_passed_on() {
    let key = ("SCRIPTED_KEY", "plain-office-key".to_owned());
    let (model, workspace, editor) = keyed(vec![key]);
    let session = editor.new_session();
    for in_stream in [false, true] {
        let prompt = editor.prompt(&session, "hello");
        let asked = model.next();
        match in_stream {
            true => asked.fail_in_stream("no plain-office-key here"),
            false => asked.fail(401, "no plain-office-key here"),
        }
        let error = editor.end(&prompt).end.unwrap_err();
        assert!(error.message.contains("no *** here"), "{}", error.message);
    }
    let log = std::fs::read_to_string(&workspace.logs()[0]).unwrap();
    assert!(!log.contains("office-key"), "{log}");
}

/// A model on this machine was looked for on the proxy's.
#[test]
fn a_model_on_this_machine_is_not_reached_through_a_proxy() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let (model, _workspace, editor) = keyed(vec![
        ("SCRIPTED_KEY", "plain-office-key".to_owned()),
        ("HTTP_PROXY", proxy.clone()),
        ("http_proxy", proxy),
    ]);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    let mut asked = model.next();
    asked.say("here");
    asked.end();
    assert_eq!(editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn an_answer_that_is_no_stream_is_named() {
    let stage = Stage::new("");
    let answers = [
        ("content-type: text/html; charset=utf-8", "a web page"),
        (
            "content-type: text/event-stream\r\ncontent-encoding: gzip",
            "compressed data",
        ),
    ];
    for (headers, what) in answers {
        let (_, prompt, asked) = stage.ask("go");
        let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\nconnection: close\r\n\r\n<html>");
        asked.raw(head.as_bytes());
        let error = stage.editor.end(&prompt).end.unwrap_err();
        assert!(error.message.contains(what), "{}", error.message);
    }
}

/// It was told as a request that the provider did not accept, with the advice to look at the model's settings.
#[test]
fn a_redirect_is_named_and_neither_key_nor_prompt_follow_it() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let place = format!("http://{}/v1", elsewhere.local_addr().unwrap());
    let key = ("SCRIPTED_KEY", "plain-office-key".to_owned());
    let (model, _workspace, editor) = keyed(vec![key]);
    let session = editor.new_session();
    for status in [301, 307] {
        let prompt = editor.prompt(&session, "hello");
        let location = format!("{place}?key=plain-office-key");
        model
            .next()
            .refuse(status, &[("location", &location)], &json!({}));
        let error = editor.end(&prompt).end.unwrap_err();
        let told = format!("redirects to {place}");
        assert!(error.message.contains(&told), "{}", error.message);
        assert!(!error.message.contains("office-key"), "{}", error.message);
    }
    let followed = elsewhere.accept();
    assert!(followed.is_err(), "somebody came to the other place");
}

/// Such a key makes no header: it was told as a server that cannot be reached, and tried again and again.
#[test]
fn a_key_that_no_provider_gives_is_named_by_its_place() {
    for key in [
        "plain-office\nkey",
        "“plain-office-key”",
        "plain office-key",
    ] {
        let (_model, _workspace, editor) = keyed(vec![("SCRIPTED_KEY", key.to_owned())]);
        let session = editor.new_session();
        let prompt = editor.prompt(&session, "hello");
        let error = editor.end(&prompt).end.unwrap_err();
        let told = "in the environment variable SCRIPTED_KEY holds a blank or another character";
        assert!(error.message.contains(told), "{}", error.message);
        assert!(!error.message.contains("office"), "{}", error.message);
    }
}
