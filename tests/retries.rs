//! A model that fails is asked again, and the person sees why and when (spec 29).

mod learned;
mod streams;

use crate::support::editor::{Editor, Setup};
use crate::support::model::Model;
use crate::support::stage::{Stage, config_for};
use crate::support::workspace::Workspace;
use protocol::acp::StopReason;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Waits of our own that a test can sit out.
const QUICK: &str = "[limits]\nmodel_retry_ms = 20\n";

fn staged(limits: &str) -> Stage {
    Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", limits)
}

/// The next word on whether the model is asked again; null: not, or not any more.
#[track_caller]
fn retry(editor: &Editor) -> Value {
    let mut message = editor.take("undine/retry", |it| it["method"] == "undine/retry");
    assert!(message["params"]["sessionId"].is_string(), "{message}");
    message["params"]["retry"].take()
}

#[test]
fn a_rate_limit_is_waited_for_as_long_as_the_provider_asks_and_the_countdown_is_shown() {
    let stage = staged("");
    let (_, prompt, asked) = stage.ask("hello");
    asked.fail_with(429, "slow down", &[("retry-after-ms", "150")]);
    let shown = retry(&stage.editor);
    assert_eq!(
        (&shown["attempt"], &shown["of"], &shown["afterMs"]),
        (&json!(1), &json!(5), &json!(150))
    );
    let why = shown["why"].as_str().unwrap();
    assert!(why.contains("slow down") && why.contains("429"), "{why}");
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "hello");
    assert_eq!(retry(&stage.editor), Value::Null);
    asked.say("Hi.");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(
        (turn.text().as_str(), turn.end),
        ("Hi.", Ok(StopReason::EndTurn))
    );
    stage.editor.assert_none("undine/retry");
}

#[test]
fn a_provider_that_asks_for_an_hour_gets_what_the_person_allows() {
    let stage = staged("[limits]\nmodel_retry_max_secs = 1\n");
    let (_, prompt, asked) = stage.ask("hello");
    asked.fail_with(429, "slow down", &[("retry-after", "3600")]);
    assert_eq!(retry(&stage.editor)["afterMs"], 1000);
    let asked = stage.model.next();
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_server_error_passes_and_own_waits_double_with_up_to_a_quarter_added() {
    let stage = staged(QUICK);
    let (_, prompt, mut asked) = stage.ask("hello");
    let mut waits = Vec::new();
    for status in [503, 500, 529] {
        asked.fail(status, "busy");
        waits.push(retry(&stage.editor)["afterMs"].as_u64().unwrap());
        asked = stage.model.next();
        assert_eq!(retry(&stage.editor), Value::Null);
    }
    for (wait, least) in waits.iter().zip([20, 40, 80]) {
        assert!((least..=least + least / 4).contains(wait), "{waits:?}");
    }
    asked.say("Hi.");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "Hi.");
}

#[test]
fn a_server_that_is_not_there_yet_is_reached_when_it_is() {
    let (held, workspace) = (Model::start(), Workspace::new(""));
    let address = held.address();
    drop(held);
    workspace.configure(&config_for(&format!("http://{address}/v1")));
    let editor = Editor::start(&Setup::agent(), &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    let shown = retry(&editor);
    assert!(shown["why"].as_str().unwrap().contains("cannot be reached"));
    let model = Model::start_at(address);
    let mut asked = model.next();
    asked.say("Here now.");
    asked.end();
    assert_eq!(editor.end(&prompt).text(), "Here now.");
}

#[test]
fn a_cancel_during_the_wait_ends_the_turn_at_once_and_nothing_is_asked() {
    let stage = staged("");
    let (session, prompt, asked) = stage.ask("hello");
    asked.fail_with(429, "slow down", &[("retry-after", "50")]);
    assert_eq!(retry(&stage.editor)["afterMs"], 50_000);
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    assert_eq!(retry(&stage.editor), Value::Null);
    stage.editor.round_trip();
    stage.model.assert_not_asked();
    // The session goes on.
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "hello\n\nagain");
    asked.say("Hi.");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "Hi.");
}

#[test]
fn a_prompt_that_comes_during_the_wait_waits_too() {
    let stage = staged("");
    let (session, first, asked) = stage.ask("hello");
    asked.fail_with(503, "busy", &[("retry-after-ms", "200")]);
    retry(&stage.editor);
    let second = stage.editor.prompt(&session, "and this");
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "hello");
    asked.say("Hi.");
    asked.end();
    stage.editor.end(&first);
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "and this");
    asked.say("Yes.");
    asked.end();
    stage.editor.end(&second);
}

#[test]
fn what_does_not_pass_is_told_at_once() {
    let quota = json!({"error": {"message": "no credit", "code": "insufficient_quota"}});
    let busy = json!({"error": {"message": "never again"}});
    let cases = [
        (429, ("retry-after", "1"), &quota, "quota"),
        (503, ("x-should-retry", "false"), &busy, "overloaded"),
        (401, ("retry-after", "1"), &busy, "auth"),
        (400, ("retry-after", "1"), &busy, "badRequest"),
    ];
    let stage = staged(QUICK);
    for (status, header, body, kind) in cases {
        let (_, prompt, asked) = stage.ask("hello");
        asked.refuse(status, &[header], body);
        let error = stage.editor.end(&prompt).end.unwrap_err();
        assert_eq!(error.data["kind"], kind, "{error:?}");
        assert!(!error.message.contains("tried"), "{error:?}");
    }
    stage.editor.assert_none("undine/retry");
}

#[test]
fn when_all_tries_are_used_up_the_error_says_how_many_they_were() {
    let stage = staged("[limits]\nmodel_retry_ms = 5\nmodel_retries = 2\n");
    let (_, prompt, asked) = stage.ask("hello");
    asked.fail(503, "busy");
    stage.model.next().fail(503, "busy");
    stage.model.next().fail(503, "still busy");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert_eq!(error.data["kind"], "overloaded");
    assert!(
        error.message.contains("still busy") && error.message.contains("tried 3 times"),
        "{error:?}"
    );
}

#[test]
fn an_editor_without_a_chat_sees_it_in_the_tasks_progress() {
    let stage = Stage::with(Setup::bare(), "//- /a.txt\nalpha\n", "");
    stage.editor.open("a.txt");
    let uri = format!("file://{}", stage.workspace.path("a.txt").display());
    let at = json!({"line": 0, "character": 0});
    let id = stage.editor.raw_request(
        "textDocument/codeAction",
        json!({"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": {"diagnostics": []}}),
    );
    let actions = stage.editor.raw_answer(id).unwrap();
    let mut actions = actions.as_array().unwrap().iter();
    let action = actions.find(|it| it["command"]["command"] == "undine.task.explain");
    let command = &action.unwrap()["command"];
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    let id = stage.editor.raw_request("workspace/executeCommand", params);
    let begin = stage.editor.take_progress(|it| it["kind"] == "begin");
    stage
        .model
        .next()
        .fail_with(429, "slow down", &[("retry-after-ms", "1500")]);
    let report = stage.editor.take_progress(|it| it["kind"] == "report");
    let said = report["message"].as_str().unwrap();
    assert!(
        said.contains("slow down") && said.contains("Asking again in 2 s (1 of 5)"),
        "{said}"
    );
    let mut asked = stage.model.next();
    let report = stage.editor.take_progress(|it| it["kind"] == "report");
    assert_eq!(report["message"], "");
    asked.say("It is text.");
    asked.end();
    stage.editor.take_progress(|it| it["kind"] == "end");
    stage.editor.raw_answer(id).unwrap();
    stage.editor.expect_raw("window/showMessage");
    drop(begin);
}

#[test]
fn a_run_without_an_editor_says_it_on_stderr_and_the_answer_on_stdout() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    workspace.configure(&config_for(&model.url()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_undine"));
    command
        .args(["run", "hello"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", workspace.outside("home"))
        .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
        .env("UNDINE_DATA_DIR", workspace.outside("data"))
        .env("TMPDIR", workspace.outside("tmp"))
        .env("UNDINE_NO_KEYRING", "1")
        .current_dir(workspace.root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let run = command.spawn().unwrap();
    model
        .next()
        .fail_with(429, "slow down", &[("retry-after-ms", "50")]);
    let mut asked = model.next();
    asked.say("Hi.");
    asked.end();
    let ended = run.wait_with_output().unwrap();
    let (said, told) = (
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr),
    );
    assert_eq!((ended.status.code(), &*said), (Some(0), "Hi.\n"), "{told}");
    assert!(
        told.contains("slow down") && told.contains("Asking again in 1 s (1 of 5)."),
        "{told}"
    );
}
