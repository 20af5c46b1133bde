//! Unreviewed changes and open questions as diagnostics, by one way and not by both.

use super::*;

fn pushed() -> Value {
    json!({"textDocument": {"publishDiagnostics": {"versionSupport": true}}})
}

fn pulled() -> Value {
    json!({
        "workspace": {"diagnostics": {"refreshSupport": true}},
        "textDocument": {"publishDiagnostics": {}, "diagnostic": {"dynamicRegistration": false}},
    })
}

const PUBLISH: &str = "textDocument/publishDiagnostics";

#[track_caller]
fn published(stage: &Stage) -> Value {
    stage.editor.expect_raw(PUBLISH)["params"].clone()
}

#[track_caller]
fn pull(stage: &Stage, previous: Option<&Value>) -> Value {
    let mut params = json!({"textDocument": document(stage, "a.txt"), "identifier": "undine"});
    if let Some(previous) = previous {
        params["previousResultId"] = previous.clone();
    }
    ask(stage, "textDocument/diagnostic", params)
}

/// The diagnostic of `two` changed to `2` and `2b`.
fn of_two() -> Value {
    json!({
        "range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 2}},
        "severity": 3,
        "source": "undine",
        "code": "review",
        "message": "Agent change: +2 -1 (keep or revert by code action)",
    })
}

/// Waits for a refresh and answers it.
#[track_caller]
fn refreshed(stage: &Stage) {
    let request = stage.editor.expect_raw("workspace/diagnostic/refresh");
    stage.editor.raw_reply(&request["id"], Value::Null);
}

#[test]
fn a_change_is_published_with_its_version_and_cleared_when_it_is_settled() {
    let stage = stage(pushed());
    agent_edits(&stage, "a.txt", "two\n", "2\n2b\n");
    let uri = uri_of(&stage, "a.txt");
    let expected = json!({"uri": uri, "version": 2, "diagnostics": [of_two()]});
    assert_eq!(published(&stage), expected);
    run(&stage, &titled(actions(&stage, 1), "Keep this change"));
    let expected = json!({"uri": uri, "version": 2, "diagnostics": []});
    assert_eq!(published(&stage), expected);
}

#[test]
fn a_published_change_follows_what_the_person_types() {
    let stage = stage(pushed());
    agent_edits(&stage, "a.txt", "two\n", "2\n2b\n");
    published(&stage);
    // Beside it and on no other line: nothing to say.
    stage.editor.type_over("a.txt", "nine", "NINE");
    stage.editor.type_over("a.txt", "one\n", "zero\none\n");
    let moved = published(&stage);
    assert_eq!(moved["diagnostics"][0]["range"]["start"]["line"], 2);
    stage.editor.type_over("a.txt", "2b", "2b, mine");
    let mixed = published(&stage);
    let message = "Agent change with your edits in it: +2 -1 (keep or revert by code action)";
    assert_eq!(mixed["diagnostics"][0]["message"], message);
}

#[test]
fn a_file_that_is_not_open_is_told_too_without_a_version() {
    let stage = stage(pushed());
    agent_edits(&stage, "b.txt", "b\n", "B\n");
    let told = published(&stage);
    assert_eq!(told["uri"], uri_of(&stage, "b.txt"));
    assert_eq!(told.get("version"), None);
    assert_eq!(told["diagnostics"].as_array().unwrap().len(), 1);
}

#[test]
fn a_change_is_pulled_and_the_editor_is_told_to_pull_again() {
    let stage = stage(pulled());
    let none = pull(&stage, None);
    assert_eq!(
        (&none["kind"], &none["items"]),
        (&json!("full"), &json!([]))
    );
    agent_edits(&stage, "a.txt", "two\n", "2\n2b\n");
    refreshed(&stage);
    let some = pull(&stage, Some(&none["resultId"]));
    assert_eq!(
        (&some["kind"], &some["items"]),
        (&json!("full"), &json!([of_two()]))
    );
    let same = pull(&stage, Some(&some["resultId"]));
    let expected = json!({"kind": "unchanged", "resultId": some["resultId"]});
    assert_eq!(same, expected);
    run(&stage, &titled(actions(&stage, 1), "Keep this change"));
    refreshed(&stage);
    assert_eq!(pull(&stage, Some(&some["resultId"]))["items"], json!([]));
    stage.editor.assert_none(PUBLISH);
    let provider = &stage.editor.initialized["capabilities"]["diagnosticProvider"];
    assert_eq!(provider["identifier"], "undine");
}

#[test]
fn an_editor_that_can_not_be_told_to_pull_is_pushed_to() {
    let mut declares = pulled();
    declares["workspace"]["diagnostics"]["refreshSupport"] = json!(false);
    let stage = stage(declares);
    let provider = &stage.editor.initialized["capabilities"]["diagnosticProvider"];
    assert_eq!(*provider, Value::Null);
    agent_edits(&stage, "a.txt", "two\n", "2\n2b\n");
    assert_eq!(published(&stage)["diagnostics"], json!([of_two()]));
    assert_eq!(pull(&stage, None)["items"], json!([]));
}

#[test]
fn an_open_question_about_a_file_is_a_diagnostic_until_it_is_answered() {
    let setup = Setup {
        declares: pushed(),
        ..Setup::bare()
    };
    let stage = Stage::with(setup, FILES, "");
    stage.editor.open("a.txt");
    let arguments = json!({"path": "a.txt", "target_content": "two", "replacement_content": "2"});
    let (_, prompt) = stage.call("edit_file", arguments);
    let question = stage.editor.expect_raw("window/showMessageRequest");
    let told = published(&stage);
    let diagnostic = &told["diagnostics"][0];
    let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}});
    assert_eq!(diagnostic["range"], range);
    assert_eq!(
        (&diagnostic["severity"], &diagnostic["code"]),
        (&json!(3), &json!("permission"))
    );
    let message = diagnostic["message"].as_str().unwrap();
    assert!(message.contains("Edit a.txt"), "{message}");
    let no = json!({"title": "No"});
    stage.editor.raw_reply(&question["id"], no);
    assert_eq!(published(&stage)["diagnostics"], json!([]));
    assert!(stage.result_unshown(&prompt).contains("Denied"));
}

#[test]
fn an_editor_whose_plugin_shows_changes_gets_no_second_view_of_them() {
    let mut declares = pushed();
    declares["textDocument"]["codeLens"] = json!({});
    declares["textDocument"]["inlayHint"] = json!({});
    let setup = Setup {
        declares,
        ..Setup::agent()
    };
    let stage = Stage::with(setup, FILES, AUTO);
    stage.editor.open("a.txt");
    let arguments = json!({"path": "a.txt", "target_content": "two", "replacement_content": "2"});
    let (_, prompt) = stage.call("edit_file", arguments);
    stage.result(&prompt);
    stage.editor.expect_raw("undine/review/changed");
    stage.editor.assert_none(PUBLISH);
    let capabilities = &stage.editor.initialized["capabilities"];
    for it in [
        "codeLensProvider",
        "inlayHintProvider",
        "diagnosticProvider",
    ] {
        assert_eq!(capabilities[it], Value::Null, "{it}");
    }
    titled(actions(&stage, 1), "Revert this change");
}
