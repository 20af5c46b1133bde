//! Keeping and reverting by code action.

use super::*;
use crate::support::editor::OnEdit;

/// Edits come with the list of actions.
fn at_once() -> Value {
    json!({"textDocument": {"codeAction": {"resolveSupport": {"properties": []}}}})
}

/// An editor that knows commands only.
fn without_literals() -> Value {
    json!({"textDocument": {"codeAction": {"codeActionLiteralSupport": null}}})
}

#[test]
fn a_revert_carries_its_edit_and_settles_the_hunk_when_the_editor_has_applied_it() {
    let stage = stage(at_once());
    agent_edits(&stage, "a.txt", "two\n", "2\n2b\n");
    let action = titled(actions(&stage, 2), "Revert this change");
    let start = json!({"line": 1, "character": 0});
    let end = json!({"line": 3, "character": 0});
    let edit = json!({"range": {"start": start, "end": end}, "newText": "two\n"});
    let document = json!({"uri": uri_of(&stage, "a.txt"), "version": 2});
    assert_eq!(
        action,
        json!({
            "title": "Revert this change",
            "kind": "undine.review",
            "edit": {"documentChanges": [{"textDocument": document, "edits": [edit]}]},
        })
    );
    stage.editor.apply_own(&action["edit"]).unwrap();
    assert_eq!(text(&stage), before());
    assert_eq!(actions(&stage, 1), Vec::<Value>::new());
    // The editor did it; the server has sent no edit of its own.
    assert_eq!(stage.editor.edits().len(), 1);
}

#[test]
fn an_undo_of_the_revert_makes_the_change_pending_again() {
    let stage = stage(at_once());
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let action = titled(actions(&stage, 1), "Revert this change");
    stage.editor.apply_own(&action["edit"]).unwrap();
    stage.editor.type_over("a.txt", "two\n", "2\n");
    titled(actions(&stage, 1), "Revert this change");
}

#[test]
fn an_edit_is_made_when_its_action_is_chosen_where_the_editor_resolves() {
    let stage = stage(json!({}));
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let action = titled(actions(&stage, 1), "Revert this change");
    assert_eq!(
        (&action["edit"], &action["command"]),
        (&Value::Null, &Value::Null)
    );
    let resolved = ask(&stage, "codeAction/resolve", action);
    stage.editor.apply_own(&resolved["edit"]).unwrap();
    assert_eq!(text(&stage), before());
    assert_eq!(actions(&stage, 1), Vec::<Value>::new());
}

#[test]
fn an_edit_in_an_action_says_what_it_is_where_the_editor_heeds_that() {
    let mut declares = at_once();
    declares["textDocument"]["codeAction"]["honorsChangeAnnotations"] = json!(true);
    declares["workspace"] = json!({"workspaceEdit": {"changeAnnotationSupport": {}}});
    let stage = stage(declares);
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let action = titled(actions(&stage, 1), "Revert this change");
    let edit = &action["edit"];
    let annotation =
        json!({"label": "Undine: Revert", "description": "Undine, as you asked in the review"});
    assert_eq!(edit["changeAnnotations"], json!({"undine": annotation}));
    assert_eq!(
        edit["documentChanges"][0]["edits"][0]["annotationId"],
        "undine"
    );
    stage.editor.apply_own(edit).unwrap();
    assert_eq!(text(&stage), before());
}

#[test]
fn a_stale_revert_does_nothing_and_can_be_asked_for_again() {
    let stage = stage(json!({}));
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let stale = titled(actions(&stage, 1), "Revert this change");
    stage.editor.type_over("a.txt", "one", "ONE");
    let id = stage.editor.raw_request("codeAction/resolve", stale);
    let error = stage.editor.raw_answer(id).unwrap_err();
    assert_eq!(error.code, -32801, "{error:?}");
    let fresh = titled(actions(&stage, 1), "Revert this change");
    let resolved = ask(&stage, "codeAction/resolve", fresh);
    // The person types between the answer and the applying: the version tells the editor.
    stage.editor.type_over("a.txt", "nine", "NINE");
    assert!(stage.editor.apply_own(&resolved["edit"]).is_err());
    let fresh = titled(actions(&stage, 1), "Revert this change");
    let resolved = ask(&stage, "codeAction/resolve", fresh);
    stage.editor.apply_own(&resolved["edit"]).unwrap();
    let expected = before().replace("one", "ONE").replace("nine", "NINE");
    assert_eq!(text(&stage), expected);
    assert_eq!(actions(&stage, 1), Vec::<Value>::new());
}

#[test]
fn all_changes_of_a_file_are_reverted_by_one_edit_but_what_the_person_has_edited_too() {
    let stage = stage(at_once());
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    agent_edits(&stage, "a.txt", "five\n", "");
    agent_edits(&stage, "a.txt", "eight\n", "8\n");
    stage.editor.type_over("a.txt", "8\n", "8, mine\n");
    let title = "Revert all changes in this file but those you edited too";
    let action = titled(actions(&stage, 1), title);
    stage.editor.apply_own(&action["edit"]).unwrap();
    assert_eq!(text(&stage), before().replace("eight", "8, mine"));
    let title = "Revert this change, and your own edits in it";
    let action = titled(actions(&stage, 7), title);
    stage.editor.apply_own(&action["edit"]).unwrap();
    assert_eq!(text(&stage), before());
}

#[test]
fn lines_that_are_gone_are_judged_from_the_lines_around_them() {
    let stage = stage(at_once());
    agent_edits(&stage, "a.txt", "five\n", "");
    for line in [3, 4] {
        titled(actions(&stage, line), "Revert this change");
    }
    assert_eq!(actions(&stage, 2), Vec::<Value>::new());
    let action = titled(actions(&stage, 4), "Revert this change");
    stage.editor.apply_own(&action["edit"]).unwrap();
    assert_eq!(text(&stage), before());
}

#[test]
fn keeping_is_a_command_and_changes_no_text() {
    let stage = stage(json!({}));
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    agent_edits(&stage, "a.txt", "eight\n", "8\n");
    let now = stage.editor.buffer("a.txt");
    let result = run(&stage, &titled(actions(&stage, 1), "Keep this change"));
    assert_eq!(result["settled"].as_array().unwrap().len(), 1);
    assert_eq!(actions(&stage, 1), Vec::<Value>::new());
    run(
        &stage,
        &titled(actions(&stage, 7), "Keep all changes in this file"),
    );
    assert_eq!(actions(&stage, 7), Vec::<Value>::new());
    assert_eq!(stage.editor.buffer("a.txt"), now);
}

#[test]
fn what_was_kept_already_is_said_to_be_gone() {
    let stage = stage(json!({}));
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let keep = titled(actions(&stage, 1), "Keep this change");
    run(&stage, &keep);
    let result = run(&stage, &keep);
    assert_eq!(result["settled"], json!([]));
    let message = stage.editor.expect_raw("window/showMessage");
    let said = message["params"]["message"].as_str().unwrap();
    assert!(said.contains("stay to be reviewed"), "{said}");
}

#[test]
fn an_editor_without_literals_gets_commands_and_the_server_sends_the_edit() {
    let stage = stage(without_literals());
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let params = json!({
        "textDocument": document(&stage, "a.txt"),
        "range": lines(1, 1),
        "context": {"diagnostics": [], "only": ["undine.review"]},
    });
    let all = ask(&stage, "textDocument/codeAction", params);
    let command = titled(all.as_array().unwrap().clone(), "Revert this change");
    assert_eq!(command["command"], "undine.review.revert");
    let result = ask(&stage, "workspace/executeCommand", command);
    assert_eq!(result["settled"].as_array().unwrap().len(), 1);
    assert_eq!(text(&stage), before());
}

/// The command that reverts all of `a.txt`.
fn revert_all(stage: &Stage) -> Value {
    json!({"command": "undine.review.revert", "arguments": [{"uri": uri_of(stage, "a.txt")}]})
}

#[test]
fn an_edit_that_the_editor_refuses_is_not_done_and_can_be_asked_for_again() {
    let stage = stage(without_literals());
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let answers = [
        json!({"result": {"applied": false}}),
        json!({"result": null}),
        json!({"error": {"code": -32603, "message": "Internal error"}}),
    ];
    for answer in answers {
        stage.editor.on_edit([OnEdit::Hold]);
        let id = stage
            .editor
            .raw_request("workspace/executeCommand", revert_all(&stage));
        let edit = stage.editor.expect_raw("workspace/applyEdit");
        stage.editor.raw_message(&edit["id"], answer.clone());
        let error = stage.editor.raw_answer(id).unwrap_err();
        assert!(
            error.message.contains("did not apply"),
            "{answer} {error:?}"
        );
        assert_eq!(text(&stage), before().replace("two", "2"));
    }
    let result = ask(&stage, "workspace/executeCommand", revert_all(&stage));
    assert_eq!(result["settled"].as_array().unwrap().len(), 1);
    assert_eq!(text(&stage), before());
}

#[test]
fn an_edit_that_the_editor_says_it_made_and_did_not_is_made_the_next_time() {
    let stage = stage(without_literals());
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    stage.editor.on_edit([OnEdit::Lie]);
    let result = ask(&stage, "workspace/executeCommand", revert_all(&stage));
    assert_eq!(result["settled"].as_array().unwrap().len(), 1);
    assert_eq!(text(&stage), before());
    // The agent's, the one that was skipped, and the one that was made.
    assert_eq!(stage.editor.edits().len(), 3);
}

#[test]
fn a_turn_over_several_files_is_reverted_by_command() {
    let stage = stage(at_once());
    stage.editor.open("b.txt");
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "go");
    for (path, old, new) in [("a.txt", "two\n", "2\n"), ("b.txt", "b\n", "B\n")] {
        let mut asked = stage.model.next();
        let arguments = json!({"path": path, "target_content": old, "replacement_content": new});
        asked.call("edit_file", arguments);
        asked.end();
    }
    stage.result_unshown(&prompt);
    let action = titled(actions(&stage, 1), "Revert the whole turn");
    assert_eq!(action["command"]["command"], "undine.review.revert");
    assert_eq!(action["edit"], Value::Null);
    let argument = &action["command"]["arguments"][0];
    assert_eq!(*argument, json!({"sessionId": &*session.0, "turn": 0}));
}

#[test]
fn only_what_is_asked_for_is_offered_and_then_wherever_the_cursor_is() {
    let stage = stage(json!({}));
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let titles = |line, only: &str| -> Vec<Value> {
        let params = json!({
            "textDocument": document(&stage, "a.txt"),
            "range": lines(line, line),
            "context": {"diagnostics": [], "only": [only]},
        });
        let all = ask(&stage, "textDocument/codeAction", params);
        let all = all.as_array().unwrap().iter();
        all.map(|it| it["title"].clone()).collect()
    };
    assert_eq!(titles(1, "source").len(), 0);
    assert_eq!(titles(1, "undine.review").len(), 6);
    let wide = [
        "Keep all changes in this file",
        "Revert all changes in this file",
        "Keep everything",
    ];
    assert_eq!(titles(8, "undine.review"), wide);
    assert_eq!(actions(&stage, 8), Vec::<Value>::new());
}

#[test]
fn our_own_diagnostic_is_the_actions_and_no_problem_to_be_fixed() {
    let stage = stage(json!({}));
    agent_edits(&stage, "a.txt", "two\n", "2\n");
    let own = json!({"range": lines(1, 2), "source": "undine", "code": "review", "message": "Agent change"});
    let params = json!({
        "textDocument": document(&stage, "a.txt"),
        "range": lines(1, 1),
        "context": {"diagnostics": [own]},
    });
    let all = ask(&stage, "textDocument/codeAction", params);
    let all = all.as_array().unwrap().clone();
    let revert = titled(all.clone(), "Revert this change");
    assert_eq!(revert["diagnostics"], json!([own]));
    let fix = titled(all, "Fix the problems here with Undine");
    assert_eq!(fix["command"]["arguments"][0]["diagnostics"], json!([]));
}
