//! A command sees the disk: what the person has not saved is saved first, if they want that, or named.

mod settled;

use crate::support::editor::{Asking, Setup, text_of_call};
use crate::support::stage::Stage;
use protocol::methods::RequestPermission;
use serde_json::{Value, json};

const FILES: &str = "//- /a.txt\nalpha\n//- /b.txt\nbeta\n//- /sub/c.txt\ngamma\n";
const FULL: &str = "[safety]\nmode = \"full_access\"\n";

fn run(line: &str) -> Value {
    json!({"command": line})
}

/// An editor with a chat that can't save when it is asked to.
fn by_hand() -> Setup {
    Setup {
        without: vec!["undine/document/save"],
        ..Setup::agent()
    }
}

/// The options of a question, by id and name.
fn options(question: &Asking<RequestPermission>) -> Vec<(String, String)> {
    let options = question.params.options.iter();
    options
        .map(|it| (it.option_id.to_string(), it.name.clone()))
        .collect()
}

/// All texts that a question shows.
fn texts(question: &Asking<RequestPermission>) -> String {
    text_of_call(&serde_json::to_value(&question.params.tool_call).unwrap())
}

/// Opens documents, and types into each.
fn typed(stage: &Stage, edits: &[(&str, &str, &str)]) {
    for (path, old, new) in edits {
        stage.editor.open(path);
        stage.editor.type_over(path, old, new);
    }
}

/// Waits until the person is told what to save.
fn plea(stage: &Stage, text: &str) {
    stage
        .editor
        .updates_until("what is to be saved", |it| text_of_call(it) == text);
}

const UNSEEN: &str = "[The editor has unsaved edits that the command did not see: a.txt]";

#[test]
fn unsaved_documents_are_named_in_the_question_and_saved_before_the_command_runs() {
    let stage = Stage::new(FILES);
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    let question = stage.editor.question();
    assert_eq!(
        options(&question)[..2],
        [
            ("save".to_owned(), "Save and run".to_owned()),
            ("once".to_owned(), "Run anyway".to_owned())
        ]
    );
    let shown = texts(&question);
    assert!(shown.contains("a.txt has unsaved edits"), "{shown}");
    assert_eq!(stage.workspace.read("a.txt"), "alpha\n");
    stage.editor.choose(&question, "save");
    assert_eq!(stage.result(&prompt), "omega\n");
    assert!(!stage.editor.buffer("a.txt").dirty);
}

#[test]
fn nothing_is_said_of_documents_that_are_saved() {
    let stage = Stage::new(FILES);
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    stage.editor.save("a.txt");
    stage.editor.open("b.txt");
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    let question = stage.editor.question();
    assert_eq!(options(&question)[0].1, "Allow once");
    assert!(!texts(&question).contains("unsaved"));
    stage.editor.choose(&question, "once");
    assert_eq!(stage.result(&prompt), "omega\n");
}

#[test]
fn nothing_is_said_of_documents_outside_of_the_sessions_folders() {
    let stage = Stage::new(FILES);
    let elsewhere = stage.workspace.outside("elsewhere.txt");
    let uri = format!("file://{}", elsewhere.display());
    let document = json!({"uri": uri, "languageId": "plaintext", "version": 1, "text": "mine"});
    let open = json!({"textDocument": document});
    stage.editor.raw_notify("textDocument/didOpen", open);
    let (_, prompt) = stage.call("execute_command", run("true"));
    let question = stage.editor.question();
    assert_eq!(options(&question)[0].1, "Allow once");
    stage.editor.choose(&question, "once");
    assert_eq!(stage.result(&prompt), "[no output]");
}

#[test]
fn run_anyway_runs_at_once_and_both_learn_what_the_command_did_not_see() {
    let stage = Stage::new(FILES);
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    stage.editor.choose(&stage.editor.question(), "once");
    let mut asked = stage.model.next();
    let result = asked.result();
    assert_eq!(result, format!("alpha\n{UNSEEN}"));
    asked.say("done");
    asked.end();
    let turn = stage.editor.end(&prompt);
    let updates = turn.of_kind("tool_call_update");
    assert_eq!(text_of_call(updates.last().unwrap()), result);
    assert_eq!(stage.workspace.read("a.txt"), "alpha\n");
    assert!(stage.editor.buffer("a.txt").dirty);
}

#[test]
fn a_command_that_fails_says_it_too() {
    let stage = Stage::with(Setup::agent(), FILES, FULL);
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (_, prompt) = stage.call("execute_command", run("grep omega a.txt"));
    let result = stage.result(&prompt);
    assert_eq!(result, format!("[no output]\n[exit code 1]\n{UNSEEN}"));
}

#[test]
fn where_nobody_is_asked_nothing_is_saved_and_the_result_says_so() {
    let stage = Stage::with(Setup::agent(), FILES, FULL);
    typed(
        &stage,
        &[("a.txt", "alpha", "omega"), ("sub/c.txt", "gamma", "delta")],
    );
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    let result = stage.result(&prompt);
    let unseen = UNSEEN.replace("a.txt", "a.txt and sub/c.txt");
    assert_eq!(result, format!("alpha\n{unseen}"));
    assert_eq!(stage.workspace.read("a.txt"), "alpha\n");
}

#[test]
fn in_mode_auto_what_is_allowed_saves_nothing_and_what_is_escalated_offers_it() {
    let stage = Stage::with(Setup::agent(), FILES, "[safety]\nmode = \"auto\"\n");
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    let mut asked = stage.model.next();
    assert_eq!(asked.result(), format!("alpha\n{UNSEEN}"));
    asked.call("execute_command", run("cat a.txt > seen"));
    asked.end();
    let mut reviewer = stage.model.next();
    reviewer.say("ESCALATE: it overwrites a file");
    reviewer.end();
    let question = stage.editor.question();
    assert_eq!(options(&question)[0].0, "save");
    stage.editor.choose(&question, "save");
    let mut asked = stage.model.next();
    assert_eq!(asked.results().last().unwrap(), "[no output]");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(stage.workspace.read("seen"), "omega\n");
}

#[test]
fn a_remembered_answer_runs_it_at_once_and_as_it_is() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    stage.editor.choose(&stage.editor.question(), "session");
    let mut asked = stage.model.next();
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    stage.editor.round_trip();
    asked.call("execute_command", run("cat a.txt"));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.results().last().unwrap(), &format!("alpha\n{UNSEEN}"));
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_command_in_the_background_is_started_after_saving() {
    let stage = Stage::new(FILES);
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let call = json!({"command": "cat a.txt; exec sleep 300", "mode": "background", "ready_pattern": "omega"});
    let (_, prompt) = stage.call("execute_command", call);
    stage.editor.choose(&stage.editor.question(), "save");
    let result = stage.result(&prompt);
    assert!(result.contains("ready: omega"), "{result}");
    assert!(!result.contains("unsaved"), "{result}");
}

#[test]
fn a_command_in_the_background_that_is_run_anyway_says_what_it_did_not_see() {
    let stage = Stage::with(Setup::agent(), FILES, FULL);
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let call = json!({"command": "cat a.txt; exec sleep 300", "mode": "background", "ready_pattern": "alpha"});
    let (_, prompt) = stage.call("execute_command", call);
    let result = stage.result(&prompt);
    assert!(
        result.contains("ready: alpha") && result.ends_with(UNSEEN),
        "{result}"
    );
}

#[test]
fn many_files_are_counted() {
    let names = ["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"];
    let files: String = names.iter().map(|it| format!("//- /{it}\nx\n")).collect();
    let stage = Stage::new(&files);
    for name in names {
        typed(&stage, &[(name, "x", "y")]);
    }
    let (_, prompt) = stage.call("execute_command", run("cat *.txt"));
    let question = stage.editor.question();
    let shown = texts(&question);
    assert!(
        shown.contains("1.txt, 2.txt, 3.txt and 2 more have unsaved edits"),
        "{shown}"
    );
    stage.editor.choose(&question, "save");
    assert_eq!(stage.result(&prompt), "y\ny\ny\ny\ny\n");
}

#[test]
fn where_saving_fails_nothing_runs_and_the_question_is_put_again() {
    let stage = Stage::new(FILES);
    typed(
        &stage,
        &[("a.txt", "alpha", "omega"), ("b.txt", "beta", "gone")],
    );
    stage.editor.let_save(false);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt b.txt > seen"));
    let first = stage.editor.question();
    stage.editor.choose(&first, "save");
    let second = stage.editor.question();
    let shown = texts(&second);
    assert!(
        shown.contains("Nothing has run: the editor has not saved a.txt and b.txt."),
        "{shown}"
    );
    assert!(!stage.workspace.exists("seen"));
    stage.editor.let_save(true);
    stage.editor.choose(&second, "save");
    assert_eq!(stage.result(&prompt), "[no output]");
    assert_eq!(stage.workspace.read("seen"), "omega\ngone\n");
}

#[test]
fn an_editor_that_only_says_that_it_has_saved_is_not_believed() {
    let limits = "[limits]\nsave_ms = 50\n";
    let stage = Stage::with(Setup::agent(), FILES, limits);
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    stage.editor.forget_to_save();
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    stage.editor.choose(&stage.editor.question(), "save");
    let again = stage.editor.question();
    assert!(texts(&again).contains("has not saved a.txt"));
    stage.editor.choose(&again, "once");
    assert_eq!(stage.result(&prompt), format!("alpha\n{UNSEEN}"));
}

#[test]
fn what_is_undone_while_the_question_is_open_need_not_be_saved() {
    let stage = Stage::new(FILES);
    typed(&stage, &[("a.txt", "alpha", "omega")]);
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    let question = stage.editor.question();
    stage.editor.type_over("a.txt", "omega", "alpha");
    stage.editor.choose(&question, "save");
    assert_eq!(stage.result(&prompt), "alpha\n");
}

#[test]
fn saving_loses_nothing_of_what_is_to_be_reviewed() {
    let stage = Stage::with(Setup::agent(), FILES, "[edits]\nsave = \"never\"\n");
    stage.editor.open("a.txt");
    let edit = json!({"path": "a.txt", "target_content": "alpha", "replacement_content": "omega"});
    let (session, prompt) = stage.call("edit_file", edit);
    stage.editor.choose(&stage.editor.question(), "once");
    let mut asked = stage.model.next();
    let before = hunks(&stage);
    assert_eq!(before.len(), 1);
    asked.call("execute_command", run("cat a.txt"));
    asked.end();
    stage.editor.choose(&stage.editor.question(), "save");
    let mut asked = stage.model.next();
    assert_eq!(asked.results().last().unwrap(), "omega\n");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(hunks(&stage), before);
    drop(session);
}

/// What is to be reviewed in a.txt.
fn hunks(stage: &Stage) -> Vec<Value> {
    let uri = format!("file://{}", stage.workspace.path("a.txt").display());
    let id = stage
        .editor
        .raw_request("undine/review/list", json!({"uri": uri}));
    let list = stage.editor.raw_answer(id).unwrap();
    let files = list["files"].as_array().unwrap().iter();
    files
        .flat_map(|it| it["hunks"].as_array().unwrap().clone())
        .collect()
}

#[test]
fn a_file_that_a_command_has_changed_under_an_untouched_document_is_not_the_persons_work() {
    let stage = Stage::with(Setup::agent(), FILES, FULL);
    stage.editor.open("a.txt");
    let (_, prompt) = stage.call("execute_command", run("echo new > a.txt; cat a.txt"));
    let mut asked = stage.model.next();
    assert_eq!(asked.result(), "new\n");
    asked.call("execute_command", run("cat a.txt"));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.results().last().unwrap(), "new\n");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_document_that_was_opened_with_unsaved_work_counts() {
    let stage = Stage::with(Setup::agent(), FILES, FULL);
    stage.editor.open_text("a.txt", "restored\n".to_owned());
    let (_, prompt) = stage.call("execute_command", run("cat a.txt"));
    assert_eq!(stage.result(&prompt), format!("alpha\n{UNSEEN}"));
}
