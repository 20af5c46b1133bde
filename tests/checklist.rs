//! The checklist: what the model plans, what the person sees and changes of it (spec 10); and which tools there are.

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::record::Record;
use serde_json::{Value, json};

fn plan() -> Value {
    json!({"tasks": [
        {"subject": "Look", "active_form": "Looking", "status": "in_progress"},
        {"subject": "Fix", "active_form": "Fixing"},
    ]})
}

/// The newest plan among updates: what each entry says and how far it is.
fn entries(updates: &[Value]) -> Vec<(String, String)> {
    let entries = updates.last().map(|it| it["entries"].clone());
    let entries = entries.unwrap_or_default();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let all = entries.as_array().cloned().unwrap_or_default();
    all.iter()
        .map(|it| (text(&it["content"]), text(&it["status"])))
        .collect()
}

fn entry(content: &str, status: &str) -> (String, String) {
    (content.to_owned(), status.to_owned())
}

#[test]
fn r_001_these_tools_exist_in_every_session() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("go");
    let tools = asked.body["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|it| it["function"]["name"].as_str().unwrap())
        .collect();
    for name in [
        "read_file",
        "write_file",
        "edit_file",
        "apply_patch",
        "delete_file",
        "create_directory",
        "execute_command",
        "background_process",
        "memory",
        "agent",
        "task_create",
        "task_update",
        "task_list",
        "ask_user_question",
        "context_archive",
        "compact_context",
    ] {
        assert!(names.contains(&name), "there is no {name} among {names:?}");
    }
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn the_person_sees_the_plan_and_a_resumed_session_has_it_with_its_stamps_and_tokens() {
    let mut stage = Stage::with(Setup::agent(), "", "[safety]\nmode = \"read_only\"\n");
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call("task_create", plan());
    asked.usage(100, 20);
    asked.end();
    let mut asked = stage.model.next();
    asked.call(
        "task_update",
        json!({"updates": [{"id": 1, "status": "completed"}]}),
    );
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    let turn = stage.editor.end(&prompt);
    let plans = turn.of_kind("plan");
    assert_eq!(plans.len(), 2);
    assert_eq!(
        entries(&plans[..1]),
        [entry("Looking", "in_progress"), entry("Fix", "pending")]
    );
    assert_eq!(
        entries(&plans),
        [entry("Look", "completed"), entry("Fix", "pending")]
    );
    let records = stage.workspace.records();
    let last = records.iter().rev().find_map(|it| match it {
        Record::Checklist { tasks } => Some(tasks.clone()),
        _ => None,
    });
    let task = last.unwrap().remove(0);
    assert!(task.started > Some(1_700_000_000_000) && task.completed >= task.started);
    assert_eq!(task.tokens, 120);
    stage.editor.finish();
    stage.restart();
    let updates = stage.editor.load(&session).unwrap();
    let updates: Vec<Value> = updates
        .iter()
        .map(|it| serde_json::to_value(it).unwrap())
        .filter(|it| it["sessionUpdate"] == "plan")
        .collect();
    assert_eq!(entries(&updates), entries(&plans));
    let prompt = stage.editor.prompt(&session, "/todos");
    let said = stage.editor.end(&prompt).text();
    assert_eq!(said, "#1 [completed] Look\n#2 [pending] Fix\nTasks 1/2");
}

#[test]
fn a_call_that_ran_is_evidence_for_the_task_in_progress() {
    let stage = Stage::new("//- /a.txt\nalpha\n");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("task_create", plan());
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.call("task_list", json!({}));
    asked.end();
    let said = stage.result(&prompt);
    assert!(said.contains("  - read_file: Read a.txt (ok)\n"), "{said}");
}

#[test]
fn the_person_changes_the_list_and_the_model_is_told_with_its_next_request() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    let say = |text: &str| {
        let prompt = stage.editor.prompt(&session, text);
        stage.editor.end(&prompt)
    };
    let turn = say("/todos add Write tests");
    assert_eq!(
        entries(&turn.of_kind("plan")),
        [entry("Write tests", "pending")]
    );
    assert!(
        turn.text().starts_with("Added #1 \"Write tests\"."),
        "{}",
        turn.text()
    );
    assert!(say("/todos rm 7").text().contains("no task #7"));
    assert_eq!(
        entries(&say("/todos done 1").of_kind("plan")),
        [entry("Write tests", "completed")]
    );
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    let told = asked.last_prompt();
    assert!(
        told.contains("The user changed the checklist: added #1 \"Write tests\"."),
        "{told}"
    );
    assert!(
        told.contains("marked #1 \"Write tests\" as completed."),
        "{told}"
    );
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(entries(&say("/todos clear").of_kind("plan")), []);
}
