//! Calls of OpenAI's own apply_patch: rewritten, gated, run, and answered in its own form.

use super::{AUTO, done, input, stage};
use crate::support::stage::{Stage, config_speaking};
use protocol::checkpoint::ListCheckpointsParams;
use protocol::methods::ListCheckpoints;
use serde_json::{Value, json};

/// The items of the request behind a call of this operation, from the call on.
fn patched(stage: &Stage, operation: &Value) -> Vec<Value> {
    let (_, prompt) = stage.call("apply_patch_call", operation.clone());
    let asked = stage.model.next();
    let items = input(&asked)[1..].to_vec();
    done(stage, &prompt, asked);
    items
}

fn update() -> Value {
    json!({"type": "update_file", "path": "a.txt", "diff": "@@\n one\n-two\n+2\n"})
}

#[test]
fn r_036_r_038_r_039_each_operation_is_done_sent_back_as_written_and_answered_in_its_form() {
    let stage = stage(AUTO);
    let operations = [
        (
            json!({"type": "create_file", "path": "new/b.md", "diff": "+# B\n+\n+text\n"}),
            "A new/b.md",
        ),
        (update(), "M a.txt"),
        (
            json!({"type": "delete_file", "path": "old.txt"}),
            "D old.txt",
        ),
    ];
    for (operation, told) in operations {
        let items = patched(&stage, &operation);
        assert_eq!(
            items[0],
            json!({"type": "apply_patch_call", "call_id": "call_0", "operation": operation, "status": "completed"})
        );
        assert_eq!(
            (&items[1]["type"], &items[1]["call_id"], &items[1]["status"]),
            (
                &json!("apply_patch_call_output"),
                &json!("call_0"),
                &json!("completed")
            )
        );
        let output = items[1]["output"].as_str().unwrap();
        assert!(output.contains(told), "{output}");
        assert_eq!(items.len(), 2);
    }
    assert_eq!(stage.workspace.read("new/b.md"), "# B\n\ntext\n");
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
    assert!(!stage.workspace.exists("old.txt"));
}

#[test]
fn r_037_a_call_of_openais_own_tool_is_asked_about_and_kept_like_ours() {
    let stage = stage("");
    let (session, prompt) = stage.call("apply_patch_call", update());
    let question = stage.editor.question();
    let shown = serde_json::to_value(&question.params.tool_call).unwrap();
    assert_eq!(shown["title"], "Patch a.txt");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    stage.editor.choose(&question, "once");
    let asked = stage.model.next();
    done(&stage, &prompt, asked);
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
    let session_id = session.to_string();
    let listed = stage
        .editor
        .ask::<ListCheckpoints>(ListCheckpointsParams { session_id });
    assert_eq!(listed.unwrap().checkpoints.len(), 1);
}

#[test]
fn r_037_read_only_denies_a_call_of_openais_own_tool() {
    let stage = stage("[safety]\nmode = \"read_only\"\n");
    let items = patched(&stage, &update());
    assert_eq!(items[0]["operation"], update());
    assert_eq!(items[1]["type"], "apply_patch_call_output");
    assert_eq!(items[1]["status"], "failed");
    assert!(
        items[1]["output"].as_str().unwrap().contains("read_only"),
        "{}",
        items[1]
    );
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn an_operation_that_is_none_runs_nothing_and_is_told_what_is_supported() {
    let stage = stage(AUTO);
    for operation in [
        json!({"type": "move_file", "path": "a.txt"}),
        json!({"type": "update_file", "path": "a.txt\n*** Delete File: old.txt", "diff": "@@\n-one\n+1\n"}),
        json!({"type": "update_file", "path": "a.txt", "diff": "@@\n-one\n+1\n*** Delete File: old.txt\n"}),
    ] {
        let items = patched(&stage, &operation);
        assert_eq!(items[0]["operation"], operation);
        assert_eq!(items[1]["status"], "failed");
        let output = items[1]["output"].as_str().unwrap();
        assert!(output.contains("create_file and update_file"), "{output}");
    }
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    assert!(stage.workspace.exists("old.txt"));
}

#[test]
fn a_diff_that_does_not_fit_is_answered_as_failed() {
    let stage = stage(AUTO);
    let operation = json!({"type": "update_file", "path": "a.txt", "diff": "@@\n-nothing\n+x\n"});
    let items = patched(&stage, &operation);
    assert_eq!(items[1]["status"], "failed");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

/// In a later request without the tool, the call is told as one of ours.
#[test]
fn a_patch_call_is_ours_once_openais_own_tool_is_off() {
    let mut stage = stage(AUTO);
    let (session, prompt) = stage.call("apply_patch_call", update());
    let asked = stage.model.next();
    done(&stage, &prompt, asked);
    stage.editor.finish();
    let config = config_speaking("openai", &stage.model.url());
    let config = format!("{config}[tools]\nprovider_native = false\n");
    stage.workspace.configure(&config);
    stage.restart();
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "on");
    let asked = stage.model.next();
    let call = &input(&asked)[1];
    assert_eq!(
        (&call["type"], &call["name"]),
        (&json!("function_call"), &json!("apply_patch"))
    );
    let patch = call["arguments"].as_str().unwrap();
    assert!(patch.contains("*** Update File: a.txt"), "{patch}");
    assert_eq!(input(&asked)[2]["type"], "function_call_output");
    done(&stage, &prompt, asked);
}
