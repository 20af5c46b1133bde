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
fn read_only_mode_denies_and_says_so_to_the_model() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    stage.editor.set_mode(&session, "read_only");
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    asked.call("execute_command", run("touch ran"));
    asked.call("edit_file", edit("a.txt", "alpha", "omega"));
    asked.call("read_file", json!({"path": "b.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    let results = asked.results();
    assert!(
        results[0].contains("read_only") && results[1].contains("read_only"),
        "{results:?}"
    );
    assert_eq!(results[2], "beta\n");
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(
        (
            stage.workspace.read("a.txt").as_str(),
            stage.workspace.exists("ran")
        ),
        ("alpha\n", false)
    );
}

#[test]
fn auto_mode_edits_the_project_unasked_and_asks_before_commands() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    stage.editor.set_mode(&session, "auto");
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    asked.call("edit_file", edit("a.txt", "alpha", "omega"));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(stage.workspace.read("a.txt"), "omega\n");
    asked.call("execute_command", run("touch ran"));
    asked.end();
    stage.editor.choose(&stage.editor.question(), "no");
    stage.result(&prompt);
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn full_access_does_not_ask() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    stage.editor.set_mode(&session, "full_access");
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    asked.call("execute_command", run("touch ran"));
    asked.call("edit_file", edit("a.txt", "alpha", "omega"));
    asked.end();
    let mut asked = stage.model.next();
    assert!(stage.workspace.exists("ran"));
    assert_eq!(stage.workspace.read("a.txt"), "omega\n");
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_mode_that_is_made_stricter_counts_for_the_next_call() {
    let stage = Stage::with(Setup::agent(), FILES, "[safety]\nmode = \"full_access\"\n");
    let (session, prompt, mut asked) = stage.ask("go");
    stage.editor.set_mode(&session, "read_only");
    asked.call("execute_command", run("touch ran"));
    asked.end();
    assert!(stage.result(&prompt).contains("read_only"));
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn protected_files_are_never_written_in_any_mode() {
    for mode in ["read_only", "auto", "full_access"] {
        let stage = Stage::new(FILES);
        let session = stage.editor.new_session();
        stage.editor.set_mode(&session, mode);
        let prompt = stage.editor.prompt(&session, "go");
        let mut asked = stage.model.next();
        let config = stage.workspace.outside("config").join("config.toml");
        let data = stage.workspace.outside("data").join("x");
        let targets = [
            ".undine/config.toml".into(),
            ".undine/conversations/x.jsonl".into(),
            data.display().to_string(),
        ];
        for target in &targets {
            asked.call("write_file", json!({"path": target, "content": "x"}));
        }
        asked.call(
            "edit_file",
            edit(config.to_str().unwrap(), "scripted-1", "evil"),
        );
        asked.end();
        let before = std::fs::read_to_string(&config).unwrap();
        let mut asked = stage.model.next();
        for result in asked.results() {
            assert!(result.contains("Denied"), "{mode}: {result}");
        }
        asked.say("ok");
        asked.end();
        stage.editor.end(&prompt);
        assert_eq!(std::fs::read_to_string(&config).unwrap(), before);
        assert!(!stage.workspace.exists(".undine/config.toml"));
        assert!(!stage.workspace.exists(".undine/conversations/x.jsonl"));
        assert!(!data.exists());
    }
}

#[test]
fn reading_outside_the_project_is_asked() {
    let stage = Stage::new(FILES);
    let outside = stage.workspace.outside("home").join("secret");
    std::fs::write(&outside, "hunter2").unwrap();
    let (_, prompt) = stage.call("read_file", json!({"path": outside}));
    stage.editor.choose(&stage.editor.question(), "no");
    let result = stage.result(&prompt);
    assert!(!result.contains("hunter2"), "{result}");
}

#[test]
fn an_edit_that_does_not_fit_reveals_nothing_of_a_file_outside_before_the_answer() {
    for mode in ["read_only", "ask"] {
        let stage = Stage::with(
            Setup::agent(),
            FILES,
            &format!("[safety]\nmode = \"{mode}\"\n"),
        );
        let outside = stage.workspace.outside("home").join("secret");
        std::fs::write(
            &outside,
            "the password is hunter2\nthe password is hunter2\n",
        )
        .unwrap();
        let (_, prompt, mut asked) = stage.ask("go");
        // The nearest miss is quoted, a number of places is a fact, and so is that a text is the same.
        asked.call(
            "edit_file",
            edit(outside.to_str().unwrap(), "the password is hunter3", "x"),
        );
        asked.call("edit_file", edit(outside.to_str().unwrap(), "hunter2", "x"));
        asked.call(
            "edit_file",
            edit(&format!("{}.not", outside.display()), "hunter2", "x"),
        );
        asked.call("write_file", json!({"path": outside, "content": "x"}));
        asked.end();
        if mode == "ask" {
            for _ in 0..4 {
                stage.editor.choose(&stage.editor.question(), "no");
            }
        }
        let mut asked = stage.model.next();
        for result in asked.results() {
            assert!(result.starts_with("Denied"), "{mode}: {result}");
        }
        asked.say("ok");
        asked.end();
        stage.editor.end(&prompt);
    }
}

// Editors that know only LSP.

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
    assert_eq!(titles(&first).len(), 3);
    stage.editor.round_trip();
    stage.editor.assert_none("window/showMessageRequest");
    // Answered as editors do: with the whole action.
    stage
        .editor
        .raw_reply(&first["id"], first["params"]["actions"][0].clone());
    let second = stage.editor.expect_raw("window/showMessageRequest");
    stage.editor.raw_reply(
        &second["id"],
        second["params"]["actions"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone(),
    );
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
    assert_eq!(actions.len(), 3, "{actions:#?}");
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
    let no = permission_actions(&stage).pop().unwrap()["command"].clone();
    let id = stage.editor.raw_request(
        "workspace/executeCommand",
        json!({"command": no["command"], "arguments": no["arguments"]}),
    );
    stage.editor.raw_answer(id).unwrap();
    assert!(stage.result_unshown(&prompt).contains("Denied"));
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn a_mode_that_forbids_answers_the_questions_that_are_open() {
    let stage = Stage::new(FILES);
    let (session, prompt) = stage.call("execute_command", run("touch ran"));
    let question = stage.editor.question();
    stage.editor.set_mode(&session, "read_only");
    stage.editor.expect_withdrawn(&question.id);
    // Too late.
    let yes = json!({"result": {"outcome": {"outcome": "selected", "optionId": "once"}}});
    stage.editor.raw_message(&question.id, yes);
    let result = stage.result(&prompt);
    assert!(
        result.starts_with("Denied: the session is in read_only mode"),
        "{result}"
    );
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
