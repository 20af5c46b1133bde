//! Mode `read_only`: what it denies by name, and what the model is told once it is over.

use super::{command, result, result_of, stage, treasure};
use serde_json::json;

const LEFT: &str = "The session has left read_only mode";

/// There is no tool for the web, for other servers or for agents to try it with; what there is passes the same gate.
#[test]
fn bug_057_every_call_passes_the_gate_in_read_only() {
    let stage = stage("read_only", "");
    let treasure = treasure(&stage);
    let folder = treasure.parent().unwrap();
    for (tool, arguments, named) in [
        (
            "write_file",
            json!({"path": "new.txt", "content": "x"}),
            "changing files",
        ),
        ("delete_file", json!({"path": "a.txt"}), "changing files"),
        (
            "read_file",
            json!({"path": treasure}),
            "outside the project",
        ),
        (
            "write_file",
            json!({"path": treasure, "content": "x"}),
            "outside the project",
        ),
        ("execute_command", command("touch a"), "changing files"),
        (
            "execute_command",
            command("curl -s http://127.0.0.1:1/"),
            "network access",
        ),
        (
            "execute_command",
            command(&format!("cat {}", treasure.display())),
            "access outside the project",
        ),
        (
            "execute_command",
            json!({"command": "ls", "working_dir": folder}),
            "access outside the project",
        ),
        (
            "execute_command",
            command("sudo -n true"),
            "machine-wide changes",
        ),
        (
            "execute_command",
            json!({"command": "touch a", "mode": "background"}),
            "changing files",
        ),
    ] {
        let told = result_of(&stage, tool, arguments.clone());
        let begins = told.starts_with("Denied: the session is in read_only mode");
        assert!(begins && told.contains(named), "{tool} {arguments}: {told}");
        assert!(!told.contains("gold"));
    }
    assert_eq!(stage.workspace.read("a.txt"), "alpha beta\n");
    assert_eq!(std::fs::read_to_string(&treasure).unwrap(), "gold");
    assert!(!stage.workspace.exists("a"));
}

#[test]
fn bug_071_after_read_only_the_model_is_told_once_that_its_denials_no_longer_hold() {
    for mode in ["ask", "auto", "full_access"] {
        let mut stage = stage("read_only", "");
        let (session, prompt) = stage.call("write_file", json!({"path": "b.txt", "content": "x"}));
        assert!(stage.result(&prompt).contains("read_only mode"));
        stage.editor.set_mode(&session, mode);
        // It is not lost with the server, and the person does not see it.
        stage.editor.finish();
        stage.restart();
        let updates = stage.editor.load(&session).unwrap();
        assert!(!serde_json::to_string(&updates).unwrap().contains(LEFT));
        for n in 1..=2 {
            let prompt = stage.editor.prompt(&session, &format!("again {n}"));
            let mut asked = stage.model.next();
            let n_told = asked.body.to_string().matches(LEFT).count();
            assert_eq!(n_told, 1, "{mode}, prompt {n}");
            asked.say("ok");
            asked.end();
            let turn = stage.editor.end(&prompt);
            assert!(!format!("{turn:?}").contains(LEFT), "{turn:?}");
        }
    }
}

#[test]
fn a_model_that_was_denied_nothing_is_told_nothing() {
    let stage = stage("read_only", "");
    assert!(result(&stage, "cat a.txt").contains("alpha"));
    let (session, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    stage.result(&prompt);
    stage.editor.set_mode(&session, "ask");
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    assert!(!asked.body.to_string().contains(LEFT));
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
}
