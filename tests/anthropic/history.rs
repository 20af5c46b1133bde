//! What the model said goes back to it as it came: within a session, over a restart, and with the least of pictures. So
//! signed thoughts stay valid, and the provider finds its cache again.

use super::{EDITOR, FULL, stage};
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use serde_json::{Value, json};

/// Bytes that begin as a PNG does.
fn picture(n_bytes: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.resize(n_bytes, 7);
    bytes
}

/// A body without its marks of what is worth caching.
fn without_marks(body: &Value) -> Value {
    match body {
        Value::Array(items) => items.iter().map(without_marks).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(key, _)| *key != "cache_control");
            let fields = fields.map(|(key, value)| (key.clone(), without_marks(value)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// All blocks of a conversation, each with who said it.
fn blocks(body: &Value) -> Vec<(String, Value)> {
    let messages = body["messages"].as_array().unwrap();
    let blocks = messages.iter().flat_map(|it| {
        let content = it["content"].as_array().unwrap();
        content
            .iter()
            .map(|block| (it["role"].to_string(), without_marks(block)))
    });
    blocks.collect()
}

/// A turn with a thought, a text, a call and its result.
fn turn(stage: &Stage, session: &SessionId, number: usize, bodies: &mut Vec<Value>) {
    let prompt = stage.editor.prompt(session, &format!("Turn {number}"));
    let mut asked = stage.model.next();
    bodies.push(asked.body.clone());
    asked.think("Let me ");
    asked.think("look.");
    asked.say("I look.");
    asked.think("On.");
    asked.call(EDITOR, json!({"path": "a.txt", "command": "view"}));
    asked.call(
        "create_directory",
        json!({"path": format!("made/{number}")}),
    );
    asked.end();
    let mut asked = stage.model.next();
    bodies.push(asked.body.clone());
    asked.say("It says one.");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn each_request_begins_as_the_one_before_also_over_a_restart() {
    let mut stage = stage(FULL);
    let session = stage.editor.new_session();
    let mut bodies = Vec::new();
    for number in 0..3 {
        turn(&stage, &session, number, &mut bodies);
    }
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    turn(&stage, &session, 3, &mut bodies);

    for (at, pair) in bodies.windows(2).enumerate() {
        let [before, after] = pair else {
            unreachable!("windows of two")
        };
        assert_eq!(before["tools"], after["tools"], "tools of request {at}");
        assert_eq!(before["system"], after["system"], "system of request {at}");
        let (before, after) = (blocks(before), blocks(after));
        assert_eq!(after[..before.len()], before, "request {at}");
        assert!(after.len() > before.len());
    }
    // With signed thoughts in their places.
    let last = blocks(bodies.last().unwrap());
    let kinds: Vec<&str> = last[..7]
        .iter()
        .map(|it| it.1["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "text",
            "thinking",
            "text",
            "thinking",
            "tool_use",
            "tool_use",
            "tool_result"
        ]
    );
    assert_eq!(
        last[1].1,
        json!({"type": "thinking", "thinking": "Let me look.", "signature": "sig+1/x=="})
    );
}

/// Thoughts that another model signed are of no use to this one.
#[test]
fn an_answer_of_another_model_goes_back_without_its_thoughts() {
    let mut stage = stage("");
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    asked.think("Hm.");
    asked.say("Well.");
    asked.end();
    stage.editor.end(&prompt);
    stage.restart_with_flags(&["--model", "scripted/scripted-2"]);
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "on");
    let asked = stage.model.next();
    assert_eq!(asked.body["model"], "scripted-2");
    assert_eq!(
        asked.body["messages"][1]["content"],
        json!([{"type": "text", "text": "Well."}])
    );
    asked.end();
    stage.editor.end(&prompt);
}

/// Views a picture in a turn of its own: the body of the request that has it, and all pictures of that.
fn look(stage: &Stage, session: &SessionId, path: &str) -> (Value, Vec<(String, Vec<u8>)>) {
    let prompt = stage.editor.prompt(session, "look");
    let mut asked = stage.model.next();
    asked.call(EDITOR, json!({"command": "view", "path": path}));
    asked.end();
    let mut asked = stage.model.next();
    let pictures = asked.pictures().into_iter().map(|it| (it.1, it.2));
    let seen = (asked.body.clone(), pictures.collect());
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    seen
}

#[test]
fn r_046_a_picture_is_inside_the_result_of_its_call() {
    let stage = stage("");
    stage.workspace.write("a.txt.png", picture(300));
    let session = stage.editor.new_session();
    let (body, pictures) = look(&stage, &session, "a.txt.png");
    let result = &body["messages"][2]["content"][0];
    assert_eq!(result["type"], "tool_result");
    assert_eq!(
        result["content"][0],
        json!({"type": "text", "text": "[image/png, 300 bytes]"})
    );
    assert_eq!(result["content"][1]["source"]["media_type"], "image/png");
    assert_eq!(pictures, [("image/png".to_owned(), picture(300))]);
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn r_048_only_the_newest_three_pictures_are_sent() {
    let stage = stage("");
    let session = stage.editor.new_session();
    let mut last = Vec::new();
    for it in 1..=5 {
        let path = format!("{it}.png");
        stage.workspace.write(&path, picture(100 + it));
        let (body, pictures) = look(&stage, &session, &path);
        last = pictures.into_iter().map(|it| it.1.len()).collect();
        assert_eq!(last.len(), it.min(3));
        let text = body["messages"].to_string();
        assert_eq!(
            text.matches("is not shown any more").count(),
            it.saturating_sub(3)
        );
    }
    assert_eq!(last, [103, 104, 105]);
}

#[test]
fn what_the_person_adds_behind_results_is_in_the_same_message() {
    let stage = stage("");
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "look");
    let mut asked = stage.model.next();
    asked.call(EDITOR, json!({"command": "view", "path": "a.txt"}));
    let steering = stage.editor.prompt(&session, "and hurry");
    // It waits before the answer ends.
    stage.editor.round_trip();
    asked.end();
    let mut asked = stage.model.next();
    let content = asked.body["messages"][2]["content"].as_array().unwrap();
    let kinds: Vec<&Value> = content.iter().map(|it| &it["type"]).collect();
    assert_eq!(kinds, ["tool_result", "text"]);
    assert_eq!(content[1]["text"], "and hurry");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    stage.editor.end(&steering);
}
