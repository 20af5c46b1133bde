//! Code lenses, inlay hints and annotations.

use super::*;

fn marks() -> Value {
    json!({
        "workspace": {
            "codeLens": {"refreshSupport": true},
            "inlayHint": {"refreshSupport": true},
            "workspaceEdit": {"changeAnnotationSupport": {"groupsOnLabel": true}},
        },
        "textDocument": {"codeLens": {"dynamicRegistration": false}, "inlayHint": {"dynamicRegistration": false}},
    })
}

const REFRESHES: [&str; 2] = ["workspace/codeLens/refresh", "workspace/inlayHint/refresh"];

#[track_caller]
fn refreshed(stage: &Stage) {
    for method in REFRESHES {
        let request = stage.editor.expect_raw(method);
        assert_eq!(request.get("params"), None);
        stage.editor.raw_reply(&request["id"], Value::Null);
    }
}

#[track_caller]
fn lenses(stage: &Stage) -> Vec<Value> {
    let params = json!({"textDocument": document(stage, "a.txt")});
    ask(stage, "textDocument/codeLens", params)
        .as_array()
        .unwrap()
        .clone()
}

#[track_caller]
fn hints(stage: &Stage, from: u32, to: u32) -> Value {
    let params = json!({"textDocument": document(stage, "a.txt"), "range": lines(from, to)});
    ask(stage, "textDocument/inlayHint", params)
}

#[test]
fn a_lens_keeps_or_reverts_the_change_below_it() {
    let stage = stage(marks());
    assert_eq!(lenses(&stage), Vec::<Value>::new());
    agent_edits(&stage, "a.txt", "two\n", "2\n2b\n");
    refreshed(&stage);
    agent_edits(&stage, "a.txt", "eight\n", "");
    refreshed(&stage);
    let all = lenses(&stage);
    let seen: Vec<(u64, &str)> = all
        .iter()
        .map(|it| {
            let line = it["range"]["start"]["line"].as_u64().unwrap();
            (line, it["command"]["title"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        seen,
        [(1, "Keep"), (1, "Revert"), (8, "Keep"), (8, "Revert")]
    );
    run(&stage, &all[3]);
    refreshed(&stage);
    run(&stage, &all[0]);
    refreshed(&stage);
    assert_eq!(lenses(&stage), Vec::<Value>::new());
    assert_eq!(text(&stage), before().replace("two\n", "2\n2b\n"));
}

#[test]
fn a_hint_says_what_stood_there() {
    let stage = stage(marks());
    agent_edits(&stage, "a.txt", "two\n", "2\n2b\n");
    agent_edits(&stage, "a.txt", "six\nseven\n", "");
    refreshed(&stage);
    refreshed(&stage);
    let first = json!({
        "position": {"line": 1, "character": 1},
        "label": "was: two",
        "paddingLeft": true,
        "tooltip": "two\n",
    });
    let second = json!({
        "position": {"line": 5, "character": 4},
        "label": "removed: six (2 lines)",
        "paddingLeft": true,
        "tooltip": "six\nseven\n",
    });
    assert_eq!(hints(&stage, 0, 9), json!([first, second]));
    assert_eq!(hints(&stage, 2, 9), json!([second]));
    assert_eq!(hints(&stage, 2, 4), json!([]));
}

#[test]
fn typing_beside_a_change_asks_for_no_refresh() {
    let mut declares = marks();
    declares["textDocument"]["publishDiagnostics"] = json!({});
    let stage = stage(declares);
    let published = || stage.editor.expect_raw("textDocument/publishDiagnostics");
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    refreshed(&stage);
    published();
    stage.editor.type_over("a.txt", "one\n", "zero\none\n");
    // The server has said by now all that it says of the typing.
    let line = &published()["params"]["diagnostics"][0]["range"]["start"]["line"];
    assert_eq!(*line, 2);
    stage.editor.round_trip();
    REFRESHES.iter().for_each(|it| stage.editor.assert_none(it));
    assert_eq!(lenses(&stage)[0]["range"]["start"]["line"], 2);
}

#[test]
fn an_edit_says_who_made_it_and_asks_for_no_confirmation() {
    let stage = stage(marks());
    let session = agent_edits(&stage, "a.txt", "two\n", "2\n");
    refreshed(&stage);
    let edit = serde_json::to_value(&stage.editor.edits()[0].edit).unwrap();
    let expected = json!({"undine": {
        "label": "Undine: Edit a.txt",
        "description": format!("Undine, turn 0 of session {session}"),
    }});
    assert_eq!(edit["changeAnnotations"], expected);
}

#[test]
fn an_editor_that_declares_none_of_it_is_offered_and_sent_none_of_it() {
    let stage = stage(json!({}));
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let capabilities = &stage.editor.initialized["capabilities"];
    let providers = [
        "codeLensProvider",
        "inlayHintProvider",
        "diagnosticProvider",
    ];
    for it in providers {
        assert_eq!(capabilities[it], Value::Null, "{it}");
    }
    assert_eq!(
        capabilities["workspace"]["textDocumentContent"],
        Value::Null
    );
    assert_eq!((lenses(&stage), hints(&stage, 0, 9)), (vec![], json!([])));
    let edit = serde_json::to_value(&stage.editor.edits()[0].edit).unwrap();
    assert_eq!(edit["changeAnnotations"], Value::Null);
}
