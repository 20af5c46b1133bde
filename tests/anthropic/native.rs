//! Anthropic's text editor and bash, rewritten onto our tools (spec 17.1 to 17.3).

use super::{BASH, EDITOR, FILES, FULL, names, stage};
use crate::support::editor::text_of_call;
use crate::support::stage::{Stage, config_speaking};
use protocol::acp::StopReason;
use protocol::checkpoint::{ListCheckpointsParams, RestoreCheckpointParams};
use protocol::methods::{ListCheckpoints, RestoreCheckpoint};
use serde_json::{Value, json};

/// What a single call gives, in a session of its own.
#[track_caller]
fn given(stage: &Stage, tool: &str, input: Value) -> String {
    let (_, prompt) = stage.call(tool, input);
    stage.result(&prompt)
}

fn replace(old: &str, new: &str) -> Value {
    json!({"command": "str_replace", "path": "a.txt", "old_str": old, "new_str": new})
}

#[test]
fn r_021_text_editor_and_bash_are_declared_in_the_place_of_our_schemas() {
    let stage = stage("");
    let (_, prompt, mut asked) = stage.ask("go");
    let tools = asked.body["tools"].as_array().unwrap();
    assert!(tools.contains(&json!({"type": "text_editor_20250728", "name": EDITOR})));
    assert!(tools.contains(&json!({"type": "bash_20250124", "name": BASH})));
    // Marked for the cache is the last one alone.
    let marked: Vec<bool> = tools
        .iter()
        .map(|it| it.get("cache_control").is_some())
        .collect();
    assert!(marked.ends_with(&[true]) && marked.iter().filter(|it| **it).count() == 1);
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn r_022_the_text_editor_stands_in_for_reading_writing_and_editing() {
    let stage = stage("");
    let (_, prompt, asked) = stage.ask("go");
    let names = names(&asked.body);
    for gone in ["read_file", "write_file", "edit_file"] {
        assert!(!names.contains(&gone), "{names:?}");
    }
    assert!(names.contains(&"apply_patch"), "{names:?}");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn r_023_bash_is_offered_beside_execute_command() {
    let stage = stage("");
    let (_, prompt, asked) = stage.ask("go");
    let tools = asked.body["tools"].as_array().unwrap();
    let own = tools
        .iter()
        .find(|it| it["name"] == "execute_command")
        .unwrap();
    let properties = own["input_schema"]["properties"].as_object().unwrap();
    assert!(properties.contains_key("timeout") && properties.contains_key("mode"));
    assert!(names(&asked.body).contains(&BASH));
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn r_024_a_native_call_is_ours_wherever_a_person_sees_it() {
    for (tool, input, ours) in [
        (EDITOR, replace("two", "2"), "edit_file"),
        (BASH, json!({"command": "touch made"}), "execute_command"),
    ] {
        let stage = stage("[safety]\nmode = \"ask\"\n");
        let (_, prompt) = stage.call(tool, input);
        let question = stage.editor.question();
        let shown = serde_json::to_string(&question.params).unwrap();
        assert!(
            !shown.contains(EDITOR) && !shown.contains("\"bash\""),
            "{shown}"
        );
        stage.editor.choose(&question, "once");
        let mut asked = stage.model.next();
        asked.say("done");
        asked.end();
        let turn = stage.editor.end(&prompt);
        let call = &turn.of_kind("tool_call")[0];
        assert_eq!(call["_meta"]["undine"]["tool"], ours, "{call:#}");
        let shown = serde_json::to_string(&turn.updates).unwrap();
        assert!(
            !shown.contains(EDITOR) && !shown.contains("\"bash\""),
            "{shown}"
        );
    }
}

#[test]
fn r_025_view_becomes_a_line_numbered_read_file() {
    let stage = stage("");
    let view = |path: &str| json!({"command": "view", "path": path});
    let part = json!({"command": "view", "path": "a.txt", "view_range": [2, 3]});
    assert_eq!(given(&stage, EDITOR, part), "     2\ttwo\n     3\tthree\n");
    assert_eq!(
        given(&stage, EDITOR, view("a.txt")),
        "     1\tone\n     2\ttwo\n     3\tthree\n"
    );
    // A model writes whole paths here.
    let whole = stage.workspace.path("a.txt").display().to_string();
    assert!(given(&stage, EDITOR, view(&whole)).starts_with("     1\tone\n"));
    // A folder is listed.
    let listing = given(&stage, EDITOR, view("."));
    assert!(
        listing.contains("src/b.txt") && listing.contains("a.txt"),
        "{listing}"
    );
}

#[test]
fn r_026_str_replace_becomes_edit_file() {
    let stage = stage(FULL);
    given(&stage, EDITOR, replace("two", "2\n2"));
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\n2\nthree\n");
    let result = given(&stage, EDITOR, replace("2", "two"));
    assert!(result.contains("2 times"), "{result}");
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\n2\nthree\n");
    let delete = json!({"command": "str_replace", "path": "a.txt", "old_str": "2\n2\n"});
    given(&stage, EDITOR, delete);
    assert_eq!(stage.workspace.read("a.txt"), "one\nthree\n");
}

#[test]
fn r_027_insert_becomes_edit_file() {
    let stage = stage(FULL);
    let insert = |line: u32, text: &str| {
        given(
            &stage,
            EDITOR,
            json!({"command": "insert", "path": "a.txt", "insert_line": line, "insert_text": text}),
        )
    };
    insert(0, "top\n");
    insert(2, "middle");
    let expected = "top\none\nmiddle\ntwo\nthree\n";
    assert_eq!(stage.workspace.read("a.txt"), expected);
    let result = insert(99, "far");
    assert!(result.contains("99"), "{result}");
    assert_eq!(stage.workspace.read("a.txt"), expected);
}

/// The default time-out is made short, so that the test is.
#[test]
fn r_028_bash_runs_for_the_longest_foreground_time_out() {
    let stage = stage(&format!("{FULL}[limits]\ncommand_default_secs = 1\n"));
    let line = "sleep 1.5; echo finished";
    let cut = given(&stage, "execute_command", json!({"command": line}));
    assert!(
        !cut.contains("finished\n"),
        "the default does not end it: {cut}"
    );
    let whole = given(&stage, BASH, json!({"command": line}));
    assert!(whole.contains("finished"), "{whole}");
}

#[test]
fn r_029_read_only_denies_what_writes() {
    let stage = stage("[safety]\nmode = \"read_only\"\n");
    let create = json!({"command": "create", "path": "new.txt", "file_text": "x"});
    for (tool, input) in [
        (EDITOR, create),
        (EDITOR, replace("two", "2")),
        (BASH, json!({"command": "touch new.txt"})),
    ] {
        let result = given(&stage, tool, input);
        assert!(!result.is_empty());
        assert!(!stage.workspace.exists("new.txt"), "{result}");
        assert_eq!(
            stage.workspace.read("a.txt"),
            "one\ntwo\nthree\n",
            "{result}"
        );
    }
    // Reading goes on.
    let view = json!({"command": "view", "path": "a.txt"});
    assert!(given(&stage, EDITOR, view).contains("two"));
}

#[test]
fn r_029_ask_asks_and_an_edit_can_be_restored() {
    let stage = stage("[safety]\nmode = \"ask\"\n");
    let (session, prompt) = stage.call(EDITOR, replace("two", "2"));
    let question = stage.editor.question();
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    stage.editor.choose(&question, "once");
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
    let session_id = session.to_string();
    let listed = stage.editor.ask::<ListCheckpoints>(ListCheckpointsParams {
        session_id: session_id.clone(),
    });
    let id = listed.unwrap().checkpoints[0].id.clone();
    let restored = stage
        .editor
        .ask::<RestoreCheckpoint>(RestoreCheckpointParams { session_id, id });
    restored.unwrap();
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    // And a command is asked for as well.
    let (_, prompt) = stage.call(BASH, json!({"command": "touch made"}));
    let question = stage.editor.question();
    stage.editor.choose(&question, "no");
    assert!(stage.result(&prompt).contains("Denied"));
    assert!(!stage.workspace.exists("made"));
}

#[test]
fn r_030_the_call_goes_back_in_the_form_the_model_wrote() {
    let mut stage = stage("");
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    let input = r#"{"path": "a.txt", "command": "view", "view_range": [1, 1]}"#;
    asked.call_with_id("toolu_x1", EDITOR, &[&input[..9], &input[9..]]);
    asked.call_with_id("toolu_x2", BASH, &["{\"restart\": true}"]);
    asked.end();
    let mut asked = stage.model.next();
    let check = |body: &Value| {
        let calls = &body["messages"][1]["content"];
        let input: Value = serde_json::from_str(input).unwrap();
        let expected = json!([
            {"type": "tool_use", "id": "toolu_x1", "name": EDITOR, "input": input},
            {"type": "tool_use", "id": "toolu_x2", "name": BASH, "input": {"restart": true}},
        ]);
        assert_eq!(*calls, expected);
    };
    check(&asked.body);
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);

    // Also in a session that is resumed.
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "on");
    let asked = stage.model.next();
    check(&asked.body);
    asked.end();
    stage.editor.end(&prompt);

    // Where the tool is not on offer any more, the call has our name (spec 17.2).
    stage.editor.finish();
    let config = config_speaking("anthropic", &stage.model.url());
    let config = format!("{config}[tools]\nprovider_native = false\n");
    stage.workspace.configure(&config);
    stage.restart();
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "on");
    let asked = stage.model.next();
    let call = &asked.body["messages"][1]["content"][0];
    assert_eq!(call["name"], "read_file");
    assert_eq!(
        call["input"],
        json!({"path": "a.txt", "line_numbers": true, "view_range": [1, 1]})
    );
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn r_033_a_model_that_refuses_these_tools_gets_our_schemas_from_then_on() {
    let mut stage = stage("");
    let (session, prompt, asked) = stage.ask("go");
    let refusal = |tool: &str| {
        format!(
            "'scripted-1' does not support tool types: {tool}. Did you mean one of computer_toolset_20260801?"
        )
    };
    asked.fail(400, &refusal("text_editor_20250728"));
    let asked = stage.model.next();
    assert!(names(&asked.body).contains(&"read_file"));
    asked.fail(400, &refusal("bash_20250124"));
    let check = |body: &Value| {
        let names = names(body);
        assert!(
            !names.contains(&EDITOR) && !names.contains(&BASH),
            "{names:?}"
        );
        assert!(names.contains(&"edit_file"), "{names:?}");
    };
    let mut asked = stage.model.next();
    check(&asked.body);
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    // The next turn goes there directly, also after a restart.
    for restarts in [false, true] {
        if restarts {
            stage.editor.finish();
            stage.restart();
            stage.editor.load(&session).unwrap();
        }
        let prompt = stage.editor.prompt(&session, "again");
        let asked = stage.model.next();
        check(&asked.body);
        asked.end();
        stage.editor.end(&prompt);
    }
}

#[test]
fn r_034_provider_native_off_always_sends_our_schemas() {
    for kind in [
        "anthropic",
        "openai",
        "gemini",
        "ollama",
        "openai-compatible",
    ] {
        let stage = Stage::speaking(kind, FILES, "[tools]\nprovider_native = false\n");
        let session = stage.editor.new_session();
        let prompt = stage.editor.prompt(&session, "go");
        let asked = stage.model.next();
        let tools = asked.body["tools"].to_string();
        for name in [
            "read_file",
            "write_file",
            "edit_file",
            "apply_patch",
            "execute_command",
        ] {
            assert!(
                tools.contains(&format!("\"{name}\"")),
                "{kind}: no {name} in {tools}"
            );
        }
        for native in ["text_editor_", "bash_20", "\"type\":\"apply_patch\""] {
            assert!(!tools.contains(native), "{kind}: {tools}");
        }
        asked.fail(400, "that is enough");
        assert!(stage.editor.end(&prompt).end.is_err());
    }
}

/// A server that is not Anthropic's takes the tools and does nothing with them, so it is not offered them unasked.
#[test]
fn another_vendors_server_is_offered_our_schemas_unless_the_person_says_so() {
    let mut stage = stage("");
    stage.editor.finish();
    let config = config_speaking("anthropic", &stage.model.url());
    stage
        .workspace
        .configure(&config.replace("native_tools = true\n", ""));
    stage.restart();
    let (_, prompt, asked) = stage.ask("go");
    assert!(names(&asked.body).contains(&"edit_file"));
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn create_writes_a_new_file_and_overwrites_one_that_was_viewed() {
    let stage = stage(FULL);
    let create = |path: &str| json!({"command": "create", "path": path, "file_text": "fresh\n"});
    given(&stage, EDITOR, create("deep/new.txt"));
    assert_eq!(stage.workspace.read("deep/new.txt"), "fresh\n");
    // As write_file, it does not write over what the model has not seen (spec 1.2).
    let (_, prompt) = stage.call(EDITOR, create("a.txt"));
    let mut asked = stage.model.next();
    let result = asked.result();
    assert!(result.contains("not read yet"), "{result}");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    asked.call(EDITOR, json!({"command": "view", "path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.call(EDITOR, create("a.txt"));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(stage.workspace.read("a.txt"), "fresh\n");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn what_cannot_be_done_runs_nothing_and_says_what_can() {
    let stage = stage(FULL);
    for input in [
        json!({"command": "undo_edit", "path": "a.txt"}),
        json!({"command": "str_replace", "path": "a.txt", "new_str": "x"}),
        json!({"command": "create", "path": "new.txt"}),
    ] {
        let result = given(&stage, EDITOR, input);
        assert!(
            result.contains("nothing was done") && result.contains("str_replace"),
            "{result}"
        );
    }
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call_with_id("toolu_1", BASH, &["{\"command\": \"touch ma"]);
    asked.call_with_id("toolu_2", BASH, &["{}"]);
    asked.call_with_id("toolu_3", BASH, &["{\"restart\": true}"]);
    asked.end();
    let mut asked = stage.model.next();
    let results = asked.results();
    assert!(results[0].contains("not a JSON object"), "{results:?}");
    assert!(results[1].contains("nothing was run"), "{results:?}");
    assert!(results[2].contains("nothing to restart"), "{results:?}");
    let told = &asked.body["messages"][2]["content"];
    let errors: Vec<bool> = (0..3).map(|it| told[it]["is_error"] == true).collect();
    assert_eq!(errors, [true, true, false]);
    asked.say("done");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(
        turn.calls().into_values().collect::<Vec<_>>(),
        ["failed", "failed", "completed"]
    );
    // The person is told what the model is.
    let updates = turn.of_kind("tool_call_update");
    assert!(
        updates
            .iter()
            .any(|it| text_of_call(it).contains("nothing to restart")),
        "{updates:#?}"
    );
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    assert!(!stage.workspace.exists("new.txt") && !stage.workspace.exists("ma"));
}

/// The log masks what the model wrote to a tool of the provider's as it does other arguments.
#[test]
fn a_secret_in_a_native_call_does_not_reach_the_log() {
    let stage = stage(FULL);
    let key = "sk-proj-4fG7hJ2kL9mN3pQ5-rS8tU1vW6xY0zA2bC";
    let line = format!("echo {key} > sent");
    given(&stage, BASH, json!({"command": line}));
    assert!(stage.workspace.read("sent").contains(key));
    let log = std::fs::read_to_string(&stage.workspace.logs()[0]).unwrap();
    assert!(!log.contains("4fG7hJ2kL9mN3pQ5"), "{log}");
    assert!(log.contains("***"), "{log}");
}
