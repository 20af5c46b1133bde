//! The model is told which problems its edit of an open document has brought and mended.

use crate::support::editor::{Pending, Setup};
use crate::support::stage::Stage;
use protocol::methods::{Diagnostics, Prompt};
use protocol::seen::{DiagnosticsParams, DiagnosticsResult, FileProblems, Problem};
use serde_json::json;

const AUTO: &str = "[safety]\nmode = \"full_access\"\n";

fn problem(line: u32, message: &str) -> Problem {
    Problem {
        line,
        severity: 1,
        message: message.to_owned(),
        source: None,
    }
}

/// An edit of an open document whose editor finds problems.
fn edit(stage: &Stage) -> Pending<Prompt> {
    stage.editor.open("a.rs");
    stage.editor.find_problems();
    let arguments = json!({"path": "a.rs", "target_content": "two", "replacement_content": "2"});
    stage.call("edit_file", arguments).1
}

/// Answers the next question for problems, as of a version; answers what was asked.
fn find(
    stage: &Stage,
    version: impl Fn(Option<i32>) -> Option<i32>,
    problems: Vec<Problem>,
) -> DiagnosticsParams {
    let asking = stage.editor.expect::<Diagnostics>();
    let files = vec![FileProblems {
        uri: asking.params.uri.clone().unwrap(),
        version: version(asking.params.version),
        problems,
    }];
    stage.editor.reply(&asking, &DiagnosticsResult { files });
    asking.params
}

fn stage() -> Stage {
    Stage::with(Setup::agent(), "//- /a.rs\none\ntwo\n", AUTO)
}

#[test]
fn an_edits_result_says_what_it_has_brought_and_mended() {
    let stage = stage();
    let prompt = edit(&stage);
    let before = vec![problem(1, "stays"), problem(2, "two is no number")];
    let asked = find(&stage, |it| it, before);
    assert_eq!((asked.version, asked.wait_ms), (None, None));
    let asked = find(
        &stage,
        |it| it,
        vec![problem(4, "stays"), problem(2, "2 is no word")],
    );
    assert_eq!(asked.wait_ms, Some(1_500));
    assert!(asked.version.is_some());
    let result = stage.result(&prompt);
    assert!(result.contains("a.rs:2: error: 2 is no word"), "{result}");
    assert!(
        result.contains("No longer found in a.rs: two is no number"),
        "{result}"
    );
    assert!(!result.contains("stays"), "{result}");
}

#[test]
fn problems_of_another_version_are_not_told() {
    let stage = stage();
    let prompt = edit(&stage);
    find(&stage, |it| it, Vec::new());
    find(
        &stage,
        |it| it.map(|it| it + 1),
        vec![problem(2, "of a later text")],
    );
    assert!(!stage.result(&prompt).contains("of a later text"));
}

#[test]
fn an_edit_that_changes_no_problem_says_nothing_of_them() {
    let stage = stage();
    let prompt = edit(&stage);
    find(&stage, |it| it, vec![problem(1, "stays")]);
    find(&stage, |it| it, vec![problem(1, "stays")]);
    assert!(!stage.result(&prompt).contains("stays"));
}

#[test]
fn an_editor_that_does_not_answer_is_not_waited_for_without_end() {
    let config = format!("{AUTO}[limits]\ndiagnostics_settle_ms = 1\n");
    let stage = Stage::with(Setup::agent(), "//- /a.rs\none\ntwo\n", &config);
    let prompt = edit(&stage);
    find(&stage, |it| it, Vec::new());
    let late = stage.editor.expect::<Diagnostics>();
    assert!(!stage.result(&prompt).contains("problems"));
    stage.editor.reply(&late, &DiagnosticsResult::default());
}

#[test]
fn an_editor_without_the_method_is_not_asked_and_neither_is_one_for_a_file_that_is_not_open() {
    let setup = Setup {
        without: vec!["undine/diagnostics"],
        ..Setup::agent()
    };
    let stage = Stage::with(setup, "//- /a.rs\none\ntwo\n", AUTO);
    let prompt = edit(&stage);
    stage.result(&prompt);
    stage.editor.assert_none("undine/diagnostics");
    let stage = self::stage();
    stage.editor.find_problems();
    let arguments = json!({"path": "a.rs", "content": "new\n"});
    let (_, prompt) = stage.call("write_file", arguments);
    stage.result(&prompt);
    stage.editor.assert_none("undine/diagnostics");
}
