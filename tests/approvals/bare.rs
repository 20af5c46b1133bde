//! Editors that know only LSP are asked by message requests, and by code actions when those are closed.

use super::{FILES, run};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::StopReason;
use serde_json::{Value, json};

fn titles(question: &Value) -> Vec<String> {
    let actions = question["params"]["actions"].as_array().unwrap();
    actions
        .iter()
        .map(|it| it["title"].as_str().unwrap().to_owned())
        .collect()
}

/// The code actions that stand for a pending approval.
fn permission_actions(stage: &Stage) -> Vec<Value> {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let uri = format!("file://{}", stage.workspace.path("a.txt").display());
    let params =
        json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": []}});
    let id = stage.editor.raw_request("textDocument/codeAction", params);
    let actions = stage.editor.raw_answer(id).unwrap();
    let actions = actions.as_array().cloned().unwrap_or_default();
    actions
        .into_iter()
        .filter(|it| it["kind"] == "undine.permission")
        .collect()
}

#[test]
fn a_bare_editor_is_asked_by_message_requests_one_at_a_time() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("execute_command", run("touch one"));
    asked.call("execute_command", run("touch two"));
    asked.end();
    let first = stage.editor.expect_raw("window/showMessageRequest");
    assert!(
        first["params"]["message"]
            .as_str()
            .unwrap()
            .contains("touch "),
        "{first:#}"
    );
    assert_eq!(titles(&first).len(), 4);
    stage.editor.round_trip();
    stage.editor.assert_none("window/showMessageRequest");
    // Answered as editors do: with the whole action.
    stage
        .editor
        .raw_reply(&first["id"], first["params"]["actions"][0].clone());
    let second = stage.editor.expect_raw("window/showMessageRequest");
    assert_eq!(titles(&second)[2], "No");
    stage
        .editor
        .raw_reply(&second["id"], second["params"]["actions"][2].clone());
    let mut asked = stage.model.next();
    assert_eq!(
        asked
            .results()
            .iter()
            .filter(|it| it.contains("Denied"))
            .count(),
        1
    );
    asked.say("ok");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    assert_ne!(stage.workspace.exists("one"), stage.workspace.exists("two"));
}

#[test]
fn a_message_request_without_an_answer_leaves_the_question_open_as_code_actions() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    stage.editor.open("a.txt");
    let (_, prompt) = stage.call("execute_command", run("touch ran"));
    let question = stage.editor.expect_raw("window/showMessageRequest");
    stage.editor.raw_reply(&question["id"], Value::Null);
    // Said once.
    let notice = stage.editor.expect_raw("window/showMessage");
    assert!(
        notice["params"]["message"]
            .as_str()
            .unwrap()
            .contains("code action"),
        "{notice:#}"
    );
    stage.editor.round_trip();
    stage.editor.assert_none("window/showMessage");
    stage.model.assert_not_asked();
    let actions = permission_actions(&stage);
    assert_eq!(actions.len(), 4, "{actions:#?}");
    for action in &actions {
        assert!(
            action["title"].as_str().unwrap().contains("touch ran"),
            "{action:#}"
        );
        assert_ne!(action["isPreferred"], true);
        assert_eq!(action["command"]["command"], "undine.permission.answer");
    }
    assert!(!stage.workspace.exists("ran"));
    let once = &actions[0]["command"];
    let params = json!({"command": once["command"], "arguments": once["arguments"]});
    let id = stage.editor.raw_request("workspace/executeCommand", params);
    stage.editor.raw_answer(id).unwrap();
    stage.result_unshown(&prompt);
    assert!(stage.workspace.exists("ran"));
    assert_eq!(permission_actions(&stage), Vec::<Value>::new());
}

#[test]
fn a_question_to_a_bare_editor_is_withdrawn_when_the_turn_is_cancelled() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    let (session, prompt) = stage.call("execute_command", run("touch ran"));
    let question = stage.editor.expect_raw("window/showMessageRequest");
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage.editor.expect_withdrawn(&question["id"]);
    assert_eq!(permission_actions(&stage), Vec::<Value>::new());
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn an_editor_that_can_show_nothing_still_gets_code_actions() {
    let setup = Setup {
        show_message: false,
        ..Setup::bare()
    };
    let mut stage = Stage::with(setup, FILES, "");
    // Some editors answer a message request that they did not declare; most answer with an error or null.
    stage.editor.ignore("window/showMessage");
    stage.editor.open("a.txt");
    let (_, prompt) = stage.call("execute_command", run("touch ran"));
    let question = stage.editor.expect_raw("window/showMessageRequest");
    stage.editor.raw_message(
        &question["id"],
        json!({"error": {"code": -32601, "message": "unknown method"}}),
    );
    stage.editor.round_trip();
    let no = permission_actions(&stage)[2]["command"].clone();
    let id = stage.editor.raw_request(
        "workspace/executeCommand",
        json!({"command": no["command"], "arguments": no["arguments"]}),
    );
    stage.editor.raw_answer(id).unwrap();
    assert!(stage.result_unshown(&prompt).contains("Denied"));
    assert!(!stage.workspace.exists("ran"));
}

/// The code action of a question that showed another diff.
#[test]
fn an_action_answers_the_question_it_was_made_for_and_no_other() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call(
        "edit_file",
        json!({"path": "a.txt", "target_content": "a", "replacement_content": "A", "allow_multiple": true}),
    );
    let first = stage.editor.question();
    let action = permission_actions(&stage)[0]["command"].clone();
    stage.workspace.write("a.txt", "alpha, and another\n");
    stage.editor.choose(&first, "once");
    let second = stage.editor.question();
    let params = json!({"command": action["command"], "arguments": action["arguments"]});
    let id = stage.editor.raw_request("workspace/executeCommand", params);
    assert!(stage.editor.raw_answer(id).is_err());
    stage.editor.choose(&second, "no");
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("a.txt"), "alpha, and another\n");
}

#[test]
fn nothing_in_a_command_is_hidden_from_the_person() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    let line = format!("ls\r\u{1b}[2K \u{202e}gnp.{}; rm a.txt", " ".repeat(500));
    let (_, prompt) = stage.call("execute_command", run(&line));
    let question = stage.editor.expect_raw("window/showMessageRequest");
    let message = question["params"]["message"].as_str().unwrap();
    let spelled = format!(r"ls\r\u{{1b}}[2K \u{{202e}}gnp.{}", " ".repeat(500));
    assert!(
        message.contains(&format!("\n{spelled}; rm a.txt\n")),
        "{message}"
    );
    let title = message.lines().next().unwrap();
    assert!(title.ends_with(" ...?") && title.len() < 260, "{title}");
    stage
        .editor
        .raw_reply(&question["id"], json!({"title": "No"}));
    stage.result_unshown(&prompt);
}
