//! What a question shows: a command whole, everything else short, the reason, and no secret.

use super::{asked, asked_of, reason, stage};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::json;

const SECRET: &str = "Bearer abcdef0123456789abcdef";

#[test]
fn a_command_is_shown_whole_and_its_title_is_short() {
    let stage = stage("ask", "");
    for line in [
        format!("printf '%s' {}END", "x".repeat(3_000)),
        format!("echo {}; touch END", "y ".repeat(400)),
        "touch a\ntouch END".to_owned(),
    ] {
        let question = asked(&stage, &line);
        let call = serde_json::to_value(&question.params.tool_call).unwrap();
        let title = call["title"].as_str().unwrap();
        assert!(
            title.chars().count() <= 204 && title.starts_with("Run "),
            "{title}"
        );
        let shown = call["content"][0]["content"]["text"].as_str().unwrap();
        assert!(shown.starts_with(&line), "{shown}");
    }
}

#[test]
fn other_details_are_cut_at_two_hundred() {
    let stage = stage("ask", "");
    let long = format!("{0}/{0}/{0}/b.txt", "d".repeat(120));
    let outside = stage.workspace.outside("home").join(&long);
    for (tool, arguments) in [
        ("write_file", json!({"path": long, "content": "x"})),
        ("write_file", json!({"path": outside, "content": "x"})),
        ("read_file", json!({"path": outside})),
    ] {
        let (question, _) = asked_of(&stage, tool, arguments);
        let call = serde_json::to_value(&question.params.tool_call).unwrap();
        let title = call["title"].as_str().unwrap();
        assert!(title.chars().count() <= 204, "{title}");
    }
}

#[test]
fn secrets_are_masked_in_commands_titles_and_reasons() {
    let rule = format!(
        "[[safety.rules]]\npattern = \"curl\"\nverdict = \"ask\"\nreason = \"It is sent with {SECRET}.\"\n"
    );
    let stage = stage("full_access", &rule);
    for line in [
        format!("curl -H 'Authorization: {SECRET}' x"),
        "curl https://ada:hunter2hunter2@example.org/".to_owned(),
        "API_KEY=sk-abcdefghijklmnopqrstuvwx123456 curl x".to_owned(),
    ] {
        let question = asked(&stage, &line);
        let shown = serde_json::to_string(&question.params).unwrap();
        for part in ["abcdef0123456789", "hunter2hunter2", "abcdefghijklmnop"] {
            assert!(!shown.contains(part), "{shown}");
        }
        assert!(reason(&question).unwrap().contains("***"));
    }
}

#[test]
fn a_message_in_an_editor_without_a_chat_has_the_reason_too() {
    let rule = format!(
        "[safety]\nmode = \"full_access\"\n[[safety.rules]]\npattern = \"deploy\"\nverdict = \"ask\"\n\
         reason = \"It goes to the customers with {SECRET}.\"\n"
    );
    let mut setup = Setup::agent();
    setup.without = vec!["session/request_permission"];
    let stage = Stage::with(setup, "", &rule);
    let (_, prompt) = stage.call("execute_command", json!({"command": "echo deploy"}));
    let request = stage.editor.expect_raw("window/showMessageRequest");
    let message = request["params"]["message"].as_str().unwrap();
    assert!(message.contains("It goes to the customers"), "{message}");
    assert!(message.contains("echo deploy"), "{message}");
    assert!(!message.contains("abcdef0123456789"), "{message}");
    stage
        .editor
        .raw_reply(&request["id"], json!({"title": "No"}));
    assert!(stage.result(&prompt).starts_with("Denied by the person"));
}
