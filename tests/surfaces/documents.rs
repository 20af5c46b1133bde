//! Virtual documents, and what serves without them.

use super::*;

fn virtual_documents() -> Value {
    json!({
        "workspace": {"textDocumentContent": {"dynamicRegistration": false}},
        "window": {"showDocument": {"support": true}},
    })
}

#[track_caller]
fn content(stage: &Stage, uri: &str) -> String {
    let answer = ask(stage, "workspace/textDocumentContent", json!({"uri": uri}));
    answer["text"].as_str().unwrap().to_owned()
}

/// Waits until the editor is told to ask again.
#[track_caller]
fn refreshed(stage: &Stage, uri: &str) {
    let method = "workspace/textDocumentContent/refresh";
    let request = stage.editor.expect_raw(method);
    assert_eq!(request["params"], json!({"uri": uri}));
    stage.editor.raw_reply(&request["id"], Value::Null);
}

/// The document that the editor is asked to show.
#[track_caller]
fn shown(stage: &Stage) -> String {
    let request = stage.editor.expect_raw("window/showDocument");
    stage
        .editor
        .raw_reply(&request["id"], json!({"success": true}));
    request["params"]["uri"].as_str().unwrap().to_owned()
}

const DIFF: &str = "\
--- a/a.txt
+++ b/a.txt
@@ -1,5 +1,6 @@
 one
-two
+2
+2b
 three
 four
 five
";

#[test]
fn the_accepted_text_is_a_document_of_its_own() {
    let stage = stage(virtual_documents());
    let schemes =
        &stage.editor.initialized["capabilities"]["workspace"]["textDocumentContent"]["schemes"];
    assert_eq!(
        *schemes,
        json!(["undine-base", "undine-turn", "undine-chat"])
    );
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let uri = uri_of(&stage, "a.txt").replace("file:", "undine-base:");
    assert_eq!(content(&stage, &uri), before());
    run(&stage, &titled(actions(&stage, 1), "Keep this change"));
    refreshed(&stage, &uri);
    assert_eq!(content(&stage, &uri), before().replace("two", "2"));
}

#[test]
fn a_turns_changes_are_one_diff_over_all_files() {
    let stage = stage(virtual_documents());
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "go");
    let edits = [("a.txt", "two\n", "2\n2b\n"), ("b.txt", "b\n", "B\n")];
    for (path, old, new) in edits {
        let mut asked = stage.model.next();
        let arguments = json!({"path": path, "target_content": old, "replacement_content": new});
        asked.call("edit_file", arguments);
        asked.end();
    }
    stage.result_unshown(&prompt);
    // Another turn's change is not in it.
    agent_edits(&stage, "a.txt", "nine\n", "9\n");
    let command = |argument: Value| json!({"command": {"command": "undine.review.diff", "arguments": [argument]}});
    run(&stage, &command(json!({"sessionId": &*session.0})));
    let uri = shown(&stage);
    assert_eq!(uri, format!("undine-turn:/{}/0.diff", session.0));
    let b = "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+B\n";
    assert_eq!(content(&stage, &uri), format!("{DIFF}{b}"));
    run(&stage, &titled(actions(&stage, 1), "Keep this change"));
    refreshed(&stage, &uri);
    assert_eq!(content(&stage, &uri), b);
}

#[test]
fn a_session_is_a_document_that_grows() {
    let stage = stage(virtual_documents());
    let session = agent_edits(&stage, "a.txt", "two\n", "2\n");
    let uri = format!("undine-chat:/{session}.md");
    let text = content(&stage, &uri);
    let expected = "## You\n\ngo\n\n## Undine\n\n- `Edit a.txt`";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.ends_with("\n\ndone\n\n"), "{text}");
    let session = session.into();
    let prompt = stage.editor.prompt(&session, "thanks");
    refreshed(&stage, &uri);
    let mut asked = stage.model.next();
    asked.say("Welcome.");
    asked.end();
    stage.editor.end(&prompt).end.unwrap();
    let text = content(&stage, &uri);
    assert!(
        text.ends_with("## You\n\nthanks\n\n## Undine\n\nWelcome.\n\n"),
        "{text}"
    );
    // One for what the model said and one for the turn's end.
    stage
        .editor
        .forget(|it| it["method"] == "workspace/textDocumentContent/refresh");
}

#[test]
fn what_is_none_of_our_documents_is_refused_in_a_sentence() {
    let stage = stage(virtual_documents());
    let missing = uri_of(&stage, "missing").replace("file:", "undine-base:");
    for uri in [
        "undine-chat:/nobody.md",
        "undine-chat:/../x.md",
        "other:/x",
        &missing,
    ] {
        let params = json!({"uri": uri});
        let id = stage
            .editor
            .raw_request("workspace/textDocumentContent", params);
        let error = stage.editor.raw_answer(id).unwrap_err();
        assert!(error.message.ends_with('.'), "{error:?}");
    }
}

#[test]
fn without_virtual_documents_a_turns_diff_is_a_file_that_is_shown() {
    let stage = stage(json!({"window": {"showDocument": {"support": true}}}));
    agent_edits(&stage, "a.txt", "two\n", "2\n2b\n");
    let command = json!({"command": {"command": "undine.review.diff"}});
    run(&stage, &command);
    let uri = shown(&stage);
    let path = uri.strip_prefix("file://").unwrap();
    assert!(
        path.starts_with(stage.workspace.outside("data").to_str().unwrap()),
        "{path}"
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), DIFF);
}

#[test]
fn an_editor_that_shows_nothing_is_told_where_the_diff_is() {
    let stage = stage(json!({}));
    agent_edits(&stage, "a.txt", "two\n", "2\n2b\n");
    run(
        &stage,
        &json!({"command": {"command": "undine.review.diff"}}),
    );
    let message = stage.editor.expect_raw("window/showMessage");
    let said = message["params"]["message"].as_str().unwrap();
    assert!(said.contains(".diff"), "{said}");
}

#[test]
fn with_nothing_to_review_there_is_no_diff_and_that_is_said() {
    let stage = stage(virtual_documents());
    run(
        &stage,
        &json!({"command": {"command": "undine.review.diff"}}),
    );
    let message = stage.editor.expect_raw("window/showMessage");
    let said = message["params"]["message"].as_str().unwrap();
    assert!(said.contains("no changes"), "{said}");
}
