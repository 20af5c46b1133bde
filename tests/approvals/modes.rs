//! What each mode asks about, and what none allows.

use super::{FILES, edit, run};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::json;

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
