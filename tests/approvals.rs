//! Nothing that the mode gates happens before the person has said yes.

mod bare;
mod modes;

use crate::support::stage::Stage;
use protocol::acp::{PermissionOptionKind, StopReason};
use serde_json::{Value, json};

const FILES: &str = "//- /a.txt\nalpha\n//- /b.txt\nbeta\n//- /sub/c.txt\n";

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "target_content": old, "replacement_content": new})
}

fn run(line: &str) -> Value {
    json!({"command": line})
}

#[test]
fn r_211_in_ask_mode_a_gated_action_pauses_and_asks_and_nothing_has_run() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call("execute_command", run("touch ran"));
    let question = stage.editor.question();
    let offered: Vec<(String, PermissionOptionKind)> = question
        .params
        .options
        .iter()
        .map(|it| (it.option_id.to_string(), it.kind))
        .collect();
    assert_eq!(
        offered,
        [
            ("once".to_owned(), PermissionOptionKind::AllowOnce),
            ("session".to_owned(), PermissionOptionKind::AllowAlways),
            ("no".to_owned(), PermissionOptionKind::RejectOnce),
            ("always".to_owned(), PermissionOptionKind::AllowAlways),
        ]
    );
    let shown = serde_json::to_string(&question.params.tool_call).unwrap();
    assert!(shown.contains("touch ran"), "{shown}");
    stage.editor.round_trip();
    assert!(!stage.workspace.exists("ran"));
    stage.editor.choose(&question, "once");
    stage.result(&prompt);
    assert!(stage.workspace.exists("ran"));
}

#[test]
fn an_edit_is_asked_about_with_its_diff() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call("edit_file", edit("a.txt", "alpha", "omega"));
    let question = stage.editor.question();
    let call = serde_json::to_value(&question.params.tool_call).unwrap();
    let diff = call["content"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["type"] == "diff")
        .unwrap();
    assert_eq!(diff["path"], json!(stage.workspace.path("a.txt")));
    assert_eq!(
        (&diff["oldText"], &diff["newText"]),
        (&json!("alpha\n"), &json!("omega\n"))
    );
    assert_eq!(stage.workspace.read("a.txt"), "alpha\n");
    stage.editor.choose(&question, "once");
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("a.txt"), "omega\n");
}

#[test]
fn r_213_once_runs_once_and_the_same_action_asks_again() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call("execute_command", run("echo x >> ran"));
    stage.editor.choose(&stage.editor.question(), "once");
    let mut asked = stage.model.next();
    asked.call("execute_command", run("echo x >> ran"));
    asked.end();
    let again = stage.editor.question();
    assert_eq!(stage.workspace.read("ran"), "x\n");
    stage.editor.choose(&again, "no");
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("ran"), "x\n");
}

#[test]
fn r_215_a_no_is_told_to_the_model() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call("execute_command", run("touch ran"));
    stage.editor.choose(&stage.editor.question(), "no");
    let result = stage.result(&prompt);
    assert!(result.contains("Denied by the person"), "{result}");
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn r_215_a_no_with_a_note_tells_the_note() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call("execute_command", run("rm a.txt"));
    stage
        .editor
        .deny(&stage.editor.question(), "a.txt is still needed");
    let result = stage.result(&prompt);
    assert!(
        result.contains("Denied") && result.contains("a.txt is still needed"),
        "{result}"
    );
    assert!(stage.workspace.exists("a.txt"));
}

#[test]
fn a_question_that_the_editor_calls_cancelled_or_fails_is_a_no() {
    for answer in [
        json!({"result": {"outcome": {"outcome": "cancelled"}}}),
        json!({"result": {"outcome": {"outcome": "selected", "optionId": "always-everything"}}}),
        json!({"error": {"code": -32603, "message": "the panel crashed"}}),
        json!({"result": "yes"}),
    ] {
        let stage = Stage::new(FILES);
        let (_, prompt) = stage.call("execute_command", run("touch ran"));
        let question = stage.editor.question();
        stage.editor.raw_message(&question.id, answer);
        let result = stage.result(&prompt);
        assert!(result.contains("Denied"), "{result}");
        assert!(!stage.workspace.exists("ran"));
    }
}

#[test]
fn r_216_no_model_request_is_sent_while_the_question_is_open() {
    let stage = Stage::new(FILES);
    let (session, prompt) = stage.call("execute_command", run("true"));
    let question = stage.editor.question();
    // Neither other work nor another prompt makes the model go on.
    let second = stage.editor.prompt(&session, "hurry up");
    for _ in 0..20 {
        stage.editor.round_trip();
        stage.model.assert_not_asked();
    }
    stage.editor.choose(&question, "once");
    let mut asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "hurry up");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(stage.editor.end(&second).end, Ok(StopReason::EndTurn));
}

#[test]
fn r_214_dont_ask_again_covers_the_same_command_in_this_session_and_nothing_else() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call("execute_command", run("echo x >> ran"));
    stage.editor.choose(&stage.editor.question(), "session");
    let mut asked = stage.model.next();
    // The same command, spelled with other blanks: unasked.
    asked.call("execute_command", run("echo  x >>  ran"));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(stage.workspace.read("ran"), "x\nx\n");
    // A longer one: asked.
    asked.call("execute_command", run("echo x >> ran; rm a.txt"));
    asked.end();
    stage.editor.choose(&stage.editor.question(), "no");
    let mut asked = stage.model.next();
    asked.call(
        "execute_command",
        json!({"command": "echo x >> ran", "working_dir": "sub"}),
    );
    asked.end();
    let elsewhere = stage.editor.question();
    stage.editor.choose(&elsewhere, "no");
    stage.result(&prompt);
    // Another session: asked.
    let (_, prompt) = stage.call("execute_command", run("echo x >> ran"));
    stage.editor.choose(&stage.editor.question(), "no");
    stage.result(&prompt);
    assert!(stage.workspace.exists("a.txt"));
}

#[test]
fn two_calls_in_one_message_are_both_asked() {
    let stage = Stage::new(FILES);
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("execute_command", run("touch one"));
    asked.call("execute_command", run("touch two"));
    asked.end();
    let (first, second) = (stage.editor.question(), stage.editor.question());
    assert_ne!(
        first.params.tool_call.tool_call_id,
        second.params.tool_call.tool_call_id
    );
    stage.editor.choose(&second, "no");
    stage.editor.choose(&first, "once");
    let mut asked = stage.model.next();
    let results = asked.results();
    assert_eq!(results.len(), 2);
    let denied = results.iter().filter(|it| it.contains("Denied")).count();
    assert_eq!(denied, 1, "{results:?}");
    asked.say("ok");
    asked.end();
    let turn = stage.editor.end(&prompt);
    let mut ends: Vec<String> = turn.calls().into_values().collect();
    ends.sort();
    assert_eq!(ends, ["completed", "failed"]);
    assert_ne!(stage.workspace.exists("one"), stage.workspace.exists("two"));
}

#[test]
fn a_cancelled_turn_withdraws_its_open_questions() {
    let stage = Stage::new(FILES);
    let (session, prompt) = stage.call("execute_command", run("touch ran"));
    let question = stage.editor.question();
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage.editor.expect_withdrawn(&question.id);
    stage.editor.round_trip();
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn an_answer_that_comes_after_the_cancel_runs_nothing() {
    let stage = Stage::new(FILES);
    let (session, prompt) = stage.call("execute_command", run("touch ran"));
    let question = stage.editor.question();
    stage.editor.cancel(&session);
    stage.editor.choose(&question, "once");
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage.editor.take("the $/cancelRequest", |it| {
        it["method"] == "$/cancelRequest"
    });
    stage.editor.round_trip();
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn each_for_this_session_says_what_it_allows() {
    let label = |tool: &str, arguments: Value| {
        let stage = Stage::new(FILES);
        let (_, prompt) = stage.call(tool, arguments);
        let question = stage.editor.question();
        stage.editor.choose(&question, "no");
        stage.result(&prompt);
        question.params.options[1].name.clone()
    };
    let labels = [
        label("execute_command", run("true")),
        label("edit_file", edit("a.txt", "alpha", "omega")),
        label("read_file", json!({"path": "../home/x"})),
    ];
    expect_test::expect![[r#"
        Allow this command for this session
        Allow all edits in the project for this session
        Allow reading in this folder for this session
    "#]]
    .assert_eq(&(labels.join("\n") + "\n"));
}

/// The diff of a file that is one line was two lines, each as long as the file.
#[test]
fn a_change_in_a_line_of_a_megabyte_is_shown_in_part_and_says_so() {
    let stage = Stage::new("");
    stage
        .workspace
        .write("long.txt", format!("{}end", "x".repeat(1_000_000)));
    let (_, prompt) = stage.call("edit_file", edit("long.txt", "end", "END"));
    let question = stage.editor.question();
    let shown = serde_json::to_string(&question.params.tool_call).unwrap();
    assert!(shown.len() < 300_000, "{} bytes", shown.len());
    assert!(shown.contains("[the diff goes on]") && shown.contains("+1 -1 lines"));
    stage.editor.choose(&question, "once");
    stage.result(&prompt);
    assert!(stage.workspace.read("long.txt").ends_with("xEND"));
}

/// Tools that are a provider's own will be planned by the same code; until then these two stand for them.
#[test]
fn r_217_a_patch_is_asked_about_by_the_same_card_as_an_edit() {
    let stage = Stage::new(FILES);
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-alpha\n+omega\n*** End Patch\n";
    let mut cards = Vec::new();
    for (tool, arguments) in [
        ("edit_file", edit("a.txt", "alpha", "omega")),
        ("apply_patch", json!({"patch": patch})),
    ] {
        let (_, prompt) = stage.call(tool, arguments);
        let question = stage.editor.question();
        let fields = &question.params.tool_call.fields;
        let options: Vec<String> = question
            .params
            .options
            .iter()
            .map(|it| it.option_id.to_string())
            .collect();
        cards.push((options, fields.status, fields.content.clone()));
        stage.editor.choose(&question, "no");
        assert!(stage.result(&prompt).contains("Denied"));
    }
    assert_eq!(cards[0].0, ["once", "session", "no", "always"]);
    assert_eq!(cards[0], cards[1]);
    assert_eq!(stage.workspace.read("a.txt"), "alpha\n");
}
