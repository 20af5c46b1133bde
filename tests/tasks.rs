//! An editor that has only LSP starts tasks by code actions, sees their progress, and gets the answer
//! as a message.

use crate::support::editor::Setup;
use crate::support::model::Asked;
use crate::support::stage::Stage;
use serde_json::{Value, json};

const FILES: &str = "//- /a.txt\nlet x = 1;\n// TODO: add y\nlet z = 3;\n";

/// The code actions on these lines of `a.txt`.
fn actions(stage: &Stage, lines: (u32, u32), diagnostics: &Value) -> Vec<Value> {
    let range = json!({"start": {"line": lines.0, "character": 0}, "end": {"line": lines.1, "character": 0}});
    let id = stage.editor.raw_request(
        "textDocument/codeAction",
        json!({
            "textDocument": {"uri": uri(stage)},
            "range": range,
            "context": {"diagnostics": diagnostics},
        }),
    );
    let actions = stage.editor.raw_answer(id).unwrap();
    actions.as_array().cloned().unwrap_or_default()
}

fn uri(stage: &Stage) -> String {
    format!("file://{}", stage.workspace.path("a.txt").display())
}

fn start(stage: &Stage, action: &Value) -> Asked {
    let command = &action["command"];
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    let id = stage.editor.raw_request("workspace/executeCommand", params);
    // Answered at once: the task runs beside it.
    stage.editor.raw_answer(id).unwrap();
    stage.model.next()
}

fn find<'a>(actions: &'a [Value], command: &str) -> &'a Value {
    let found = actions
        .iter()
        .find(|it| it["command"]["command"] == command);
    found.unwrap_or_else(|| panic!("no {command} in {actions:#?}"))
}

#[test]
fn a_fix_is_a_quickfix_whose_prompt_names_the_problem_and_the_place() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    stage.editor.open("a.txt");
    let diagnostics = json!([{
        "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 5}},
        "severity": 1,
        "message": "x is never used",
    }]);
    let actions = actions(&stage, (0, 1), &diagnostics);
    let fix = find(&actions, "undine.task.fix");
    assert_eq!(fix["kind"], "quickfix");
    assert_ne!(fix["isPreferred"], true);
    let mut asked = start(&stage, fix);
    let prompt = asked.last_prompt();
    for part in ["a.txt", "x is never used", "let x = 1;"] {
        assert!(prompt.contains(part), "no {part:?} in {prompt}");
    }
    asked.say("Fixed.");
    asked.end();
    let message = stage.editor.expect_raw("window/showMessage");
    let said = message["params"]["message"].as_str().unwrap();
    assert!(said.contains("Fixed."), "{said}");
}

#[test]
fn a_todo_is_offered_where_there_is_one() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    stage.editor.open("a.txt");
    let has = |lines| {
        let actions = actions(&stage, lines, &json!([]));
        actions
            .iter()
            .any(|it| it["command"]["command"] == "undine.task.todo")
    };
    assert!(has((1, 2)));
    assert!(!has((2, 3)));
}

#[test]
fn progress_begins_and_ends_and_its_cancel_ends_the_task() {
    let mut stage = Stage::with(Setup::bare(), FILES, "");
    stage.editor.keep("$/progress");
    stage.editor.open("a.txt");
    let actions = actions(&stage, (0, 1), &json!([]));
    let mut asked = start(&stage, find(&actions, "undine.task.explain"));
    let begin = stage.editor.expect_raw("$/progress");
    assert_eq!(begin["params"]["value"]["kind"], "begin");
    assert_eq!(begin["params"]["value"]["cancellable"], true);
    let token = &begin["params"]["token"];
    asked.say("It is\n");
    let report = stage.editor.expect_raw("$/progress");
    assert_eq!(
        (
            &report["params"]["token"],
            &report["params"]["value"]["kind"]
        ),
        (token, &json!("report"))
    );
    stage
        .editor
        .raw_notify("window/workDoneProgress/cancel", json!({"token": token}));
    let end = stage.editor.expect_raw("$/progress");
    assert_eq!(
        (&end["params"]["token"], &end["params"]["value"]["kind"]),
        (token, &json!("end"))
    );
    let message = stage.editor.expect_raw("window/showMessage");
    assert!(
        message["params"]["message"]
            .as_str()
            .unwrap()
            .contains("Cancelled"),
        "{message}"
    );
    asked.wait_until_hung_up();
}

#[test]
fn a_failure_of_a_task_is_an_error_message() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    stage.editor.open("a.txt");
    let actions = actions(&stage, (0, 1), &json!([]));
    let asked = start(&stage, find(&actions, "undine.task.explain"));
    asked.fail(401, "no such key");
    let message = stage.editor.expect_raw("window/showMessage");
    assert_eq!(message["params"]["type"], 1);
    assert!(
        message["params"]["message"]
            .as_str()
            .unwrap()
            .contains("no such key"),
        "{message}"
    );
}

#[test]
fn an_edit_of_a_task_is_asked_about_and_lands_in_the_buffer() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    stage.editor.open("a.txt");
    let actions = actions(&stage, (1, 2), &json!([]));
    let mut asked = start(&stage, find(&actions, "undine.task.todo"));
    asked.call("edit_file", json!({"path": "a.txt", "target_content": "// TODO: add y", "replacement_content": "let y = 2;"}));
    asked.end();
    let question = stage.editor.expect_raw("window/showMessageRequest");
    assert!(
        question["params"]["message"]
            .as_str()
            .unwrap()
            .contains("+let y = 2;"),
        "{question:#}"
    );
    stage
        .editor
        .raw_reply(&question["id"], question["params"]["actions"][0].clone());
    let mut asked = stage.model.next();
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "let x = 1;\nlet y = 2;\nlet z = 3;\n"
    );
    asked.say("Done.");
    asked.end();
    stage.editor.expect_raw("window/showMessage");
}

#[test]
fn a_command_that_does_not_exist_is_refused() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    let id = stage
        .editor
        .raw_request("workspace/executeCommand", json!({"command": "undine.fly"}));
    let error = stage.editor.raw_answer(id).unwrap_err();
    assert!(error.message.contains("undine.fly"), "{error:?}");
}

#[test]
fn an_answer_to_a_question_that_is_closed_is_refused() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    let argument =
        json!({"sessionId": "20250101_000000_000", "toolCallId": "call-0", "optionId": "once"});
    let params = json!({"command": "undine.permission.answer", "arguments": [argument]});
    let id = stage.editor.raw_request("workspace/executeCommand", params);
    let error = stage.editor.raw_answer(id).unwrap_err();
    assert!(error.message.contains("not open"), "{error:?}");
}
