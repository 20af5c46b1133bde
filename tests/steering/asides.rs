//! Side questions: answered beside a running turn, and gone.

use crate::support::stage::Stage;
use protocol::acp::StopReason;
use protocol::btw::BtwParams;
use protocol::methods::Btw;
use serde_json::json;
use std::fs;

#[test]
fn a_side_question_streams_while_a_turn_runs_and_leaves_nothing_behind() {
    let stage = Stage::new("");
    let (session, prompt, mut main) = stage.ask("work");
    main.say("working");
    stage.editor.wait_for_text("working");
    let pending = stage.editor.request::<Btw>(BtwParams {
        session_id: session.to_string(),
        question: "what is zebra?".to_owned(),
        token: Some("t".to_owned()),
    });
    let mut asked = stage.model.next();
    assert!(asked.last_prompt().contains("what is zebra?"));
    asked.say("An animal. ");
    let chunk = stage
        .editor
        .take("a chunk", |it| it["method"] == "undine/btw/chunk");
    assert_eq!(chunk["params"]["token"], "t");
    asked.say("Striped.");
    asked.end();
    let answer = stage.editor.answer(&pending).unwrap();
    assert_eq!(answer.text, "An animal. Striped.");
    stage.editor.forget(|it| it["method"] == "undine/btw/chunk");
    // The next one knows of it, the conversation does not.
    let second = stage.editor.prompt(&session, "/btw and its legs?");
    let mut asked = stage.model.next();
    assert!(asked.body.to_string().contains("Striped."));
    asked.say("Four.");
    asked.end();
    let turn = stage.editor.end(&second);
    assert_eq!(
        (turn.end.clone(), turn.text().as_str()),
        (Ok(StopReason::EndTurn), "Four.")
    );
    main.say(" done");
    main.end();
    stage.editor.end(&prompt).end.unwrap();
    let prompt = stage.editor.prompt(&session, "next");
    let mut asked = stage.model.next();
    assert!(!asked.body.to_string().contains("zebra"));
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt).end.unwrap();
    let updates = stage.editor.load(&session).unwrap();
    assert!(!serde_json::to_string(&updates).unwrap().contains("zebra"));
    // Loading has cleared what was asked.
    let third = stage.editor.prompt(&session, "/btw again?");
    let mut asked = stage.model.next();
    assert!(!asked.body.to_string().contains("Striped."));
    asked.say("Yes.");
    asked.end();
    stage.editor.end(&third).end.unwrap();
}

#[test]
fn a_side_question_runs_no_tool_and_an_empty_answer_is_a_failure() {
    let stage = Stage::new("//- /a.txt\nalpha\n");
    let session = stage.editor.new_session();
    let ask = |question: &str| {
        stage.editor.request::<Btw>(BtwParams {
            session_id: session.to_string(),
            question: question.to_owned(),
            token: None,
        })
    };
    let pending = ask("what is in a.txt?");
    let mut asked = stage.model.next();
    asked.say("I would read it.");
    asked.call("write_file", json!({"path": "a.txt", "content": "gone"}));
    asked.end();
    let answer = stage.editor.answer(&pending).unwrap();
    assert_eq!(answer.called, ["write_file"]);
    assert_eq!(
        fs::read_to_string(stage.workspace.path("a.txt")).unwrap(),
        "alpha\n"
    );
    let pending = ask("say nothing");
    stage.model.next().end_for("stop");
    let error = stage.editor.answer(&pending).unwrap_err();
    assert!(error.message.contains("empty answer"), "{error:?}");
    let pending = ask("wait");
    let asked = stage.model.next();
    stage.editor.cancel_request(pending.id);
    assert_eq!(stage.editor.answer(&pending).unwrap_err().code, -32800);
    asked.wait_until_hung_up();
}
