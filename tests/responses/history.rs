//! What was said goes back as it was: in the next request, after a restart, with pictures.

use super::{AUTO, done, input, stage};
use crate::support::model::Asked;
use protocol::acp::StopReason;
use serde_json::{Value, json};

/// The bytes of the input items, without the bracket at the end.
fn bytes(asked: &Asked) -> String {
    let text = asked.body["input"].to_string();
    text[..text.len() - 1].to_owned()
}

#[test]
fn each_request_begins_with_the_bytes_of_the_one_before_also_after_a_restart() {
    let mut stage = stage(AUTO);
    let session = stage.editor.new_session();
    let mut before = String::from("[");
    let check = |asked: &Asked, before: &mut String| {
        let now = bytes(asked);
        assert!(now.starts_with(before.as_str()), "\n{now}\nafter\n{before}");
        *before = now;
    };
    for turn in 0..3 {
        let prompt = stage.editor.prompt(&session, &format!("turn {turn}"));
        let mut asked = stage.model.next();
        check(&asked, &mut before);
        asked.think("first look").say("Looking.");
        asked.call("read_file", json!({"path": "a.txt"}));
        asked.call("read_file", json!({"path": "gone.txt"}));
        asked.end();
        let mut asked = stage.model.next();
        check(&asked, &mut before);
        let operation = json!({"type": "create_file", "path": format!("{turn}.txt"), "diff": "+x"});
        asked.think("then act").call("apply_patch_call", operation);
        asked.end();
        let mut asked = stage.model.next();
        check(&asked, &mut before);
        asked.think("and tell").say("Done.");
        asked.usage(100, 20);
        asked.end();
        let ended = stage.editor.end(&prompt);
        assert_eq!(ended.end, Ok(StopReason::EndTurn));
        assert_eq!(ended.text(), "Looking.Done.");
        if turn == 1 {
            stage.editor.finish();
            stage.restart();
            stage.editor.load(&session).unwrap();
        }
    }
    let prompt = stage.editor.prompt(&session, "last");
    let asked = stage.model.next();
    check(&asked, &mut before);
    // Reasoning and the phase of a message are there, in their places.
    let kinds: Vec<Value> = input(&asked)[..5]
        .iter()
        .map(|it| it["type"].clone())
        .collect();
    assert_eq!(
        json!(kinds),
        json!([
            null,
            "reasoning",
            "message",
            "function_call",
            "function_call"
        ])
    );
    assert_eq!(asked.body["input"][2]["phase"], "final_answer");
    done(&stage, &prompt, asked);
}

fn gif(n_bytes: usize) -> Vec<u8> {
    let mut bytes = b"GIF89a".to_vec();
    bytes.resize(n_bytes, 7);
    bytes
}

#[test]
fn r_045_r_047_pictures_of_a_tool_follow_its_run_of_results_to_openai() {
    let stage = stage(AUTO);
    stage.workspace.write("a.gif", gif(100));
    stage.workspace.write("b.gif", gif(200));
    let (_, prompt, mut asked) = stage.ask("look");
    asked.call("read_file", json!({"path": "a.gif"}));
    asked.call("read_file", json!({"path": "b.gif"}));
    asked.end();
    let asked = stage.model.next();
    let kinds: Vec<String> = input(&asked)
        .iter()
        .map(|it| it["type"].as_str().unwrap_or("user").to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "user",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
            "user"
        ]
    );
    let seen: Vec<(String, usize)> = asked
        .pictures()
        .into_iter()
        .map(|it| (it.0, it.2.len()))
        .collect();
    assert_eq!(
        seen,
        [
            (
                "Of tool call call_0: a.gif [image/gif, 100 bytes]".to_owned(),
                100
            ),
            (
                "Of tool call call_1: b.gif [image/gif, 200 bytes]".to_owned(),
                200
            )
        ]
    );
    done(&stage, &prompt, asked);
}

#[test]
fn r_048_only_the_newest_three_pictures_are_sent_to_openai() {
    let stage = stage(AUTO);
    let session = stage.editor.new_session();
    for it in 1..=5 {
        let name = format!("{it}.gif");
        stage.workspace.write(&name, gif(100 + it));
        let prompt = stage.editor.prompt(&session, "look");
        let mut asked = stage.model.next();
        asked.call("read_file", json!({"path": name}));
        asked.end();
        let asked = stage.model.next();
        let sizes: Vec<usize> = asked.pictures().iter().map(|it| it.2.len()).collect();
        let first = it.max(3) - 2;
        assert_eq!(sizes, (first..=it).map(|it| 100 + it).collect::<Vec<_>>());
        let outputs = input(&asked);
        let outputs = outputs.iter().filter_map(|it| it["output"].as_str());
        let is_shown: Vec<bool> = outputs
            .map(|it| !it.contains("is not shown any more"))
            .collect();
        assert_eq!(is_shown, (1..=it).map(|it| it >= first).collect::<Vec<_>>());
        done(&stage, &prompt, asked);
    }
}
