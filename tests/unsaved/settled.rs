//! Where the editor can't save when it is asked, the person is waited for.

use super::{FILES, UNSEEN, by_hand, options, plea, run, typed};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::StopReason;
use serde_json::{Value, json};

#[test]
fn the_command_runs_when_the_person_has_saved() {
    let stage = Stage::with(by_hand(), FILES, "");
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    let question = stage.editor.question();
    assert_eq!(options(&question)[0].1, "Save and run");
    stage.editor.choose(&question, "save");
    plea(&stage, "Save a.txt, then the command runs.");
    stage.editor.round_trip();
    stage.model.assert_not_asked();
    stage.editor.save("a.txt");
    assert_eq!(stage.result(&prompt), "omega\n");
}

#[test]
fn of_two_files_both_are_waited_for() {
    let stage = Stage::with(by_hand(), FILES, "");
    typed(
        &stage,
        &[("a.txt", "alpha", "omega"), ("b.txt", "beta", "last")],
    );
    let (_, prompt) = stage.call("execute_command", run("cat a.txt b.txt > seen"));
    stage.editor.choose(&stage.editor.question(), "save");
    plea(&stage, "Save a.txt and b.txt, then the command runs.");
    stage.editor.save("b.txt");
    plea(&stage, "Save a.txt, then the command runs.");
    assert!(!stage.workspace.exists("seen"));
    stage.editor.save("a.txt");
    assert_eq!(stage.result(&prompt), "[no output]");
    assert_eq!(stage.workspace.read("seen"), "omega\nlast\n");
}

#[test]
fn a_cancel_ends_the_waiting_and_nothing_has_run() {
    let stage = Stage::with(by_hand(), FILES, "");
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (session, prompt) = stage.call("execute_command", run("touch ran"));
    stage.editor.choose(&stage.editor.question(), "save");
    plea(&stage, "Save a.txt, then the command runs.");
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage.editor.save("a.txt");
    // The model hears of it, and a later saving runs nothing.
    let prompt = stage.editor.prompt(&session, "and now?");
    let mut asked = stage.model.next();
    let told = serde_json::to_string(asked.messages()).unwrap();
    assert!(
        told.contains("Cancelled by the person before it ran"),
        "{told}"
    );
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn a_document_that_is_closed_is_not_waited_for_any_more() {
    let stage = Stage::with(by_hand(), FILES, "");
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    stage.editor.choose(&stage.editor.question(), "save");
    plea(&stage, "Save a.txt, then the command runs.");
    stage.editor.close("a.txt");
    assert_eq!(stage.result(&prompt), "alpha\n");
}

#[test]
fn a_document_that_is_taken_back_to_what_is_saved_is_not_waited_for_any_more() {
    let stage = Stage::with(by_hand(), FILES, "");
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    stage.editor.choose(&stage.editor.question(), "save");
    plea(&stage, "Save a.txt, then the command runs.");
    stage.editor.type_over("a.txt", "omega", "alpha");
    assert_eq!(stage.result(&prompt), "alpha\n");
}

#[test]
fn what_is_typed_after_saving_is_named_in_the_result() {
    let stage = Stage::with(by_hand(), FILES, "");
    typed(
        &stage,
        &[("a.txt", "alpha", "omega"), ("b.txt", "beta", "last")],
    );
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    stage.editor.choose(&stage.editor.question(), "save");
    plea(&stage, "Save a.txt and b.txt, then the command runs.");
    stage.editor.save("a.txt");
    plea(&stage, "Save b.txt, then the command runs.");
    stage.editor.type_over("a.txt", "omega", "again");
    stage.editor.save("b.txt");
    assert_eq!(stage.result(&prompt), format!("omega\n{UNSEEN}"));
}

#[test]
fn a_stricter_mode_ends_the_waiting() {
    let stage = Stage::with(by_hand(), FILES, "");
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (session, prompt) = stage.call("execute_command", run("touch ran"));
    stage.editor.choose(&stage.editor.question(), "save");
    plea(&stage, "Save a.txt, then the command runs.");
    stage.editor.set_mode(&session, "read_only");
    let result = stage.result(&prompt);
    assert!(result.contains("read_only"), "{result}");
    stage.editor.save("a.txt");
    stage.editor.round_trip();
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn a_bare_editor_has_the_choice_as_buttons_and_is_told_once_what_to_save() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    let question = stage.editor.expect_raw("window/showMessageRequest");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("a.txt has unsaved edits"), "{message}");
    let actions = question["params"]["actions"].as_array().unwrap().clone();
    assert_eq!(actions[0]["title"], "Save and run");
    assert_eq!(actions[1]["title"], "Run anyway");
    stage.editor.raw_reply(&question["id"], actions[0].clone());
    let told = stage.editor.expect_raw("window/showMessage");
    assert_eq!(
        told["params"]["message"],
        "Undine: Save a.txt, then the command runs."
    );
    stage.editor.save("a.txt");
    assert_eq!(stage.result_unshown(&prompt), "omega\n");
    stage.editor.assert_none("window/showMessage");
}

#[test]
fn the_choice_can_be_made_by_code_action_and_an_old_one_is_moot_after_a_failure() {
    // It declares nothing but saving, so that saving can fail while questions are messages.
    let without = vec![
        "session/request_permission",
        "session/update",
        "elicitation/create",
        "undine/review/changed",
        "undine/process/changed",
    ];
    let setup = Setup {
        without,
        ..Setup::agent()
    };
    let stage = Stage::with(setup, FILES, "");
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    stage.editor.let_save(false);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    let question = stage.editor.expect_raw("window/showMessageRequest");
    let old = action(&stage, "Save and run: ");
    execute(&stage, &old).unwrap();
    stage.editor.expect_withdrawn(&question["id"]);
    let again = stage.editor.expect_raw("window/showMessageRequest");
    assert!(texts_of(&again).contains("has not saved a.txt"));
    stage.editor.let_save(true);
    execute(&stage, &old).unwrap_err();
    let new = action(&stage, "Save and run: ");
    execute(&stage, &new).unwrap();
    stage.editor.expect_withdrawn(&again["id"]);
    assert_eq!(stage.result_unshown(&prompt), "omega\n");
}

fn texts_of(question: &Value) -> String {
    question["params"]["message"].as_str().unwrap().to_owned()
}

fn action(stage: &Stage, title: &str) -> Value {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let uri = format!("file://{}", stage.workspace.path("a.txt").display());
    let params =
        json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": []}});
    let id = stage.editor.raw_request("textDocument/codeAction", params);
    let actions = stage.editor.raw_answer(id).unwrap();
    let all = actions.as_array().unwrap().iter();
    let mut fitting = all.filter(|it| it["title"].as_str().unwrap().starts_with(title));
    fitting.next().unwrap()["command"].clone()
}

fn execute(stage: &Stage, command: &Value) -> Result<Value, crate::support::editor::RpcError> {
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    let id = stage.editor.raw_request("workspace/executeCommand", params);
    stage.editor.raw_answer(id)
}
