//! Prompts that are commands, and the question before a restore.

use super::{keep, list, stage};
use crate::support::editor::{Setup, Turn};
use crate::support::stage::Stage;
use protocol::acp::{SessionId, StopReason};
use serde_json::{Value, json};

const OTHER: &str = "other\n";
const OLD: &str = "one\ntwo\nthree\n";

/// A checkpoint of `a.txt`, and then another text.
fn changed() -> (Stage, SessionId, String) {
    let stage = stage();
    let session = stage.editor.new_session();
    let id = keep(&stage.editor, &session, &["a.txt"]).id;
    stage.workspace.write("a.txt", OTHER);
    (stage, session, id)
}

#[track_caller]
fn say(stage: &Stage, session: &SessionId, text: &str) -> Turn {
    let prompt = stage.editor.prompt(session, text);
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    turn
}

#[test]
fn the_commands_are_announced_and_answered_without_the_model() {
    let stage = stage();
    let session = stage.editor.new_session();
    assert_eq!(
        say(&stage, &session, "/checkpoints").text(),
        "There are no checkpoints in this project."
    );
    let made = say(&stage, &session, "/checkpoint a.txt 'b.txt'").text();
    let all = list(&stage.editor, &session);
    assert_eq!(
        made,
        format!("Made checkpoint {} (By hand: a.txt, b.txt).", all[0].id)
    );
    assert_eq!(
        say(&stage, &session, "/checkpoints").text(),
        format!("- {}  By hand: a.txt, b.txt [a.txt, b.txt]", all[0].id)
    );
    let made = say(&stage, &session, "/checkpoint slip.txt").text();
    assert!(
        made.ends_with("There is no slip.txt yet; restoring this checkpoint would remove what is there by then."),
        "{made}"
    );
    let nothing = say(&stage, &session, "/checkpoint").text();
    assert_eq!(nothing, "Name the files that the checkpoint is to hold.");
    let commands = stage.editor.commands();
    let names: Vec<&Value> = commands.iter().map(|it| &it["name"]).collect();
    assert_eq!(
        names,
        [
            "checkpoint",
            "checkpoints",
            "restore",
            "approvals",
            "approve",
            "deny",
            "logs",
            "stop",
            "add-dir",
            "permissions",
            "model",
            "reasoning",
            "compact",
            "autocompact",
            "context",
            "usage"
        ]
    );
    stage.model.assert_not_asked();
}

#[test]
fn a_restore_is_asked_about_shown_replayed_and_told() {
    let (mut stage, session, id) = changed();
    let typed = format!("/restore {}", id.rsplit('-').next().unwrap());
    let prompt = stage.editor.prompt(&session, &typed);
    let question = stage.editor.question();
    let call = serde_json::to_value(&question.params.tool_call).unwrap();
    assert_eq!(
        call["title"],
        format!("Restore checkpoint {id} (By hand: a.txt)")
    );
    assert_eq!(call["content"][0]["oldText"], OTHER);
    assert_eq!(call["content"][0]["newText"], OLD);
    assert_eq!(
        stage.workspace.read("a.txt"),
        OTHER,
        "not before the answer"
    );
    stage.editor.choose(&question, "once");
    let turn = stage.editor.end(&prompt);
    assert!(
        turn.text().contains("Old content again: a.txt."),
        "{turn:?}"
    );
    assert_eq!(
        turn.calls().into_values().collect::<Vec<_>>(),
        ["completed"]
    );
    assert_eq!(stage.workspace.read("a.txt"), OLD);
    // The model hears of it when it is asked, and a replay has it before that.
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    let told = asked.messages().last().unwrap().to_string();
    assert!(
        told.contains("restored a checkpoint") && told.contains("a.txt"),
        "{told}"
    );
    assert!(!told.contains("/restore"), "{told}");
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
    stage.editor.finish();
    stage.restart();
    let replayed = stage.editor.load(&session).unwrap();
    let replayed = serde_json::to_value(replayed).unwrap();
    let texts: Vec<&str> = replayed
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["content"]["text"].as_str())
        .collect();
    assert_eq!(texts[0], typed);
    assert!(texts[1].contains("Old content again: a.txt."), "{texts:?}");
    assert_eq!(texts[2..], ["go on", "ok"]);
}

#[test]
fn what_is_no_yes_restores_nothing() {
    let (stage, session, _) = changed();
    for answer in [
        json!({"outcome": {"outcome": "selected", "optionId": "no"}}),
        json!({"outcome": {"outcome": "selected", "optionId": "session"}}),
        json!({"outcome": {"outcome": "cancelled"}}),
        json!(null),
    ] {
        let prompt = stage.editor.prompt(&session, "/restore");
        let question = stage.editor.question();
        stage.editor.raw_reply(&question.id, answer);
        let turn = stage.editor.end(&prompt);
        assert_eq!(turn.text(), "Nothing was restored.");
        assert_eq!(stage.workspace.read("a.txt"), OTHER);
    }
    assert_eq!(
        list(&stage.editor, &session).len(),
        1,
        "nothing was about to happen"
    );
}

#[test]
fn a_cancel_takes_the_question_away() {
    let (stage, session, _) = changed();
    let prompt = stage.editor.prompt(&session, "/restore");
    let question = stage.editor.question();
    stage.editor.cancel(&session);
    stage.editor.expect_withdrawn(&question.id);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    let prompt = stage.editor.prompt(&session, "/restore");
    let question = stage.editor.question();
    stage.editor.cancel_request(prompt.id);
    stage.editor.expect_withdrawn(&question.id);
    assert_eq!(stage.editor.end(&prompt).end.unwrap_err().code, -32800);
    assert_eq!(stage.workspace.read("a.txt"), OTHER);
}

#[test]
fn there_may_be_nothing_to_restore() {
    let stage = stage();
    let session = stage.editor.new_session();
    assert_eq!(
        say(&stage, &session, "/restore").text(),
        "There are no checkpoints in this project."
    );
    let id = keep(&stage.editor, &session, &["a.txt"]).id;
    assert_eq!(
        say(&stage, &session, "/restore").text(),
        format!("The files are as checkpoint {id} holds them; there is nothing to restore.")
    );
    let missing = say(&stage, &session, "/restore 1999").text();
    assert_eq!(
        missing,
        "There is no checkpoint 1999; `/checkpoints` in a chat and `undine checkpoints` in a terminal list them."
    );
}

#[test]
fn an_editor_that_knows_only_lsp_restores_by_a_command_and_is_asked_by_a_message() {
    let first = stage();
    let session = first.editor.new_session();
    keep(&first.editor, &session, &["a.txt"]);
    first.workspace.write("a.txt", OTHER);
    let bare = crate::support::editor::Editor::start(&Setup::bare(), &first.workspace);
    let command = |argument: Value| {
        let params = json!({"command": "undine.checkpoint.restore", "arguments": argument});
        let id = bare.raw_request("workspace/executeCommand", params);
        bare.raw_answer(id).unwrap();
        bare.expect_raw("window/showMessageRequest")
    };
    let question = command(json!([]));
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("a.txt gets its old content"), "{message}");
    bare.raw_reply(&question["id"], Value::Null);
    let said = bare.expect_raw("window/showMessage");
    assert_eq!(said["params"]["message"], "Nothing was restored.");
    let uri = format!("file://{}", first.workspace.path("a.txt").display());
    let question = command(json!([{"uri": uri}]));
    bare.raw_reply(&question["id"], question["params"]["actions"][0].clone());
    let said = bare.expect_raw("window/showMessage");
    let said = said["params"]["message"].as_str().unwrap();
    assert!(said.contains("Old content again: a.txt."), "{said}");
    assert_eq!(first.workspace.read("a.txt"), OLD);
}
