//! The agent's unreviewed work: whose each change is, and what keeping and reverting do.

mod bytes;
mod closed;
mod lasting;
mod late;
mod proposing;
mod resolving;
mod telling;
mod together;
mod undoing;

use crate::support::editor::{Editor, OnEdit, RpcError, Setup};
use crate::support::stage::Stage;
use crate::support::workspace::uri;
use protocol::hunks::{
    ListReviewParams, ResolveReviewParams, ResolveReviewResult, ReviewAction, ReviewBaseParams,
    ReviewFile, ReviewList, ReviewState,
};
use protocol::methods::{ListReview, ResolveReview, ReviewBase};
use serde_json::{Value, json};

/// Project edits without a question.
pub const AUTO: &str = "[safety]\nmode = \"auto\"\n";
pub const FILES: &str = "//- /a.txt\none\ntwo\nthree\nfour\nfive\n";

pub fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "target_content": old, "replacement_content": new})
}

/// A stage in mode `auto` where `a.txt` is open.
pub fn opened() -> Stage {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    stage.editor.open("a.txt");
    stage
}

/// Lets the model edit `a.txt` in a turn of its own.
#[track_caller]
pub fn agent_edits(stage: &Stage, old: &str, new: &str) {
    let (_, prompt) = stage.call("edit_file", edit("a.txt", old, new));
    let result = stage.result(&prompt);
    assert!(result.starts_with("Changed"), "{result}");
}

#[track_caller]
pub fn list(editor: &Editor) -> Vec<ReviewFile> {
    editor
        .ask::<ListReview>(ListReviewParams::default())
        .unwrap()
        .files
}

/// The hunks of the only file in short: lines, what was there, state.
#[track_caller]
pub fn hunks(editor: &Editor) -> Vec<String> {
    let files = list(editor);
    assert!(files.len() <= 1, "{files:#?}");
    files.iter().flat_map(in_short).collect()
}

pub fn in_short(file: &ReviewFile) -> Vec<String> {
    let hunks = file.hunks.iter();
    hunks
        .map(|it| {
            let mixed = match it.state {
                ReviewState::Pending => "",
                ReviewState::Mixed => " mixed",
            };
            let (start, end) = (it.range.start, it.range.end);
            assert_eq!((start.character, end.character), (0, 0), "whole lines");
            format!("{}..{} was {:?}{mixed}", start.line, end.line, it.base_text)
        })
        .collect()
}

/// The ids of all hunks.
#[track_caller]
pub fn ids(editor: &Editor) -> Vec<String> {
    let files = list(editor);
    let hunks = files.into_iter().flat_map(|it| it.hunks);
    hunks.map(|it| it.id).collect()
}

pub const fn all(action: ReviewAction) -> ResolveReviewParams {
    ResolveReviewParams {
        action,
        hunk_ids: None,
        uri: None,
        turn: None,
        session_id: None,
    }
}

pub fn these(action: ReviewAction, ids: &[String]) -> ResolveReviewParams {
    ResolveReviewParams {
        hunk_ids: Some(ids.to_vec()),
        ..all(action)
    }
}

#[track_caller]
pub fn resolve(
    editor: &Editor,
    params: ResolveReviewParams,
) -> Result<ResolveReviewResult, RpcError> {
    editor.ask::<ResolveReview>(params)
}

#[track_caller]
pub fn base(stage: &Stage, path: &str) -> Result<String, RpcError> {
    let uri = uri(&stage.workspace.path(path)).into();
    let result = stage.editor.ask::<ReviewBase>(ReviewBaseParams { uri });
    result.map(|it| it.text)
}

/// Ends the server in order, so that another can come.
#[track_caller]
pub fn closed_server(stage: &mut Stage) {
    stage.editor.finish();
}

/// The next report of what has moved.
#[track_caller]
pub fn changed(editor: &Editor) -> ReviewList {
    let mut message = editor.expect_raw("undine/review/changed");
    serde_json::from_value(message["params"].take()).unwrap()
}

/// An editor that gathers what happens to a document told of the agent's edit and of the typing after it in one
/// change: the edit counted as the person's, could not be reviewed, and the model heard that it had not worked.
#[test]
fn an_edit_on_which_the_person_typed_at_once_is_the_agents_and_the_typing_the_persons() {
    let stage = opened();
    stage.editor.on_edit([OnEdit::TypeOn("typed\n")]);
    let (_, prompt) = stage.call("edit_file", edit("a.txt", "three\n", "3\n"));
    let result = stage.result(&prompt);
    assert!(
        result.contains("in the editor. It is not saved yet"),
        "{result}"
    );
    assert_eq!(hunks(&stage.editor), [r#"3..4 was "three\n""#]);
    resolve(&stage.editor, all(ReviewAction::Revert)).unwrap();
    let text = "typed\none\ntwo\nthree\nfour\nfive\n";
    assert_eq!(stage.editor.buffer("a.txt").text, text);
    // One that skips the edit while the person types has not made it.
    stage
        .editor
        .on_edit([OnEdit::TypeFirst("more\n"), OnEdit::Apply]);
    agent_edits(&stage, "five\n", "5\n");
    assert_eq!(hunks(&stage.editor), [r#"6..7 was "five\n""#]);
}

#[test]
fn an_edit_of_the_agents_is_listed_with_its_lines_and_its_author() {
    let stage = opened();
    let (session, prompt) = stage.call("edit_file", edit("a.txt", "two\n", "2\n2b\n"));
    stage.result(&prompt);
    let files = list(&stage.editor);
    let [file] = &files[..] else {
        panic!("{files:#?}")
    };
    let uri = uri(&stage.workspace.path("a.txt"));
    assert_eq!((file.uri.as_ref(), file.version), (uri.as_str(), Some(2)));
    assert_eq!(in_short(file), [r#"1..3 was "two\n""#]);
    let hunk = &file.hunks[0];
    assert_eq!((&*hunk.session_id, hunk.turn), (&*session.0, 0));
    assert_eq!(hunk.tool_call_id, "call-0");
    assert_eq!(
        base(&stage, "a.txt").unwrap(),
        "one\ntwo\nthree\nfour\nfive\n"
    );
    assert_eq!(changed(&stage.editor).files, files);
}

#[test]
fn a_persons_edit_beside_the_agents_is_never_shown_as_the_agents() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    stage.editor.type_over("a.txt", "five", "FIVE");
    stage.editor.type_over("a.txt", "one\n", "zero\none\n");
    assert_eq!(hunks(&stage.editor), [r#"2..3 was "two\n""#]);
    let expected = "zero\none\ntwo\nthree\nfour\nFIVE\n";
    assert_eq!(base(&stage, "a.txt").unwrap(), expected);
}

#[test]
fn a_persons_edit_in_the_agents_lines_makes_the_hunk_mixed() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    stage.editor.type_over("a.txt", "2\n", "2!\n");
    assert_eq!(hunks(&stage.editor), [r#"1..2 was "two\n" mixed"#]);
    let params = all(ReviewAction::Revert);
    let result = resolve(&stage.editor, params).unwrap();
    assert_eq!((result.settled.len(), result.remaining.len()), (0, 1));
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\n2!\nthree\nfour\nfive\n"
    );
    // Only a wish for this very hunk takes the person's work with it.
    let own = ids(&stage.editor);
    let result = resolve(&stage.editor, these(ReviewAction::Revert, &own)).unwrap();
    assert_eq!((result.settled, result.remaining), (own, Vec::new()));
    assert_eq!(
        stage.editor.buffer("a.txt").text,
        "one\ntwo\nthree\nfour\nfive\n"
    );
}

#[test]
fn typing_above_a_hunk_moves_it_and_its_id_stays() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    let first = changed(&stage.editor);
    stage.editor.type_over("a.txt", "one\n", "zero\none\n");
    let second = changed(&stage.editor);
    let (first, second) = (&first.files[0].hunks[0], &second.files[0].hunks[0]);
    assert_eq!(first.id, second.id);
    assert_eq!((first.range.start.line, second.range.start.line), (1, 2));
}

#[test]
fn typing_that_moves_no_hunk_is_not_reported() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    changed(&stage.editor);
    stage.editor.type_over("a.txt", "five", "FIVE");
    // What comes next is about the next thing.
    let kept = resolve(&stage.editor, all(ReviewAction::Keep)).unwrap();
    assert_eq!(kept.settled.len(), 1);
    let next = changed(&stage.editor);
    assert_eq!(next.files[0].hunks, []);
    stage.editor.assert_none("undine/review/changed");
}

#[test]
fn an_editor_that_does_not_list_the_notification_is_not_sent_it() {
    let setup = Setup {
        without: vec!["undine/review/changed"],
        ..Setup::agent()
    };
    let mut stage = Stage::with(setup, FILES, AUTO);
    stage.editor.keep("undine/review/changed");
    stage.editor.open("a.txt");
    agent_edits(&stage, "two\n", "2\n");
    assert_eq!(hunks(&stage.editor), [r#"1..2 was "two\n""#]);
}

/// Some editors say an edit of ours line by line.
#[test]
fn an_edit_that_comes_back_in_parts_is_the_agents() {
    let stage = opened();
    stage.editor.on_edit([OnEdit::Hold]);
    let (_, prompt) = stage.call("edit_file", edit("a.txt", "two\n", "2\n2b\n"));
    let held = stage.editor.expect_raw("workspace/applyEdit");
    stage.editor.type_over("a.txt", "two", "2");
    stage.editor.type_over("a.txt", "2\n", "2\n2b\n");
    stage
        .editor
        .raw_reply(&held["id"], json!({"applied": true}));
    stage.result(&prompt);
    assert_eq!(hunks(&stage.editor), [r#"1..3 was "two\n""#]);
}

#[test]
fn what_a_person_types_while_an_edit_is_refused_is_theirs() {
    let stage = opened();
    agent_edits(&stage, "four\n", "4\n");
    stage.editor.on_edit([OnEdit::TypeFirst("zero\n")]);
    agent_edits(&stage, "two\n", "2\n");
    let expected = [r#"2..3 was "two\n""#, r#"4..5 was "four\n""#];
    assert_eq!(hunks(&stage.editor), expected);
    assert_eq!(
        base(&stage, "a.txt").unwrap(),
        "zero\none\ntwo\nthree\nfour\nfive\n"
    );
}

#[test]
fn undo_in_the_editor_settles_a_hunk() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n2b\n");
    stage.editor.type_over("a.txt", "2\n2b\n", "two\n");
    assert_eq!(list(&stage.editor), []);
}

#[test]
fn a_text_that_arrived_damaged_is_waited_for() {
    let stage = opened();
    agent_edits(&stage, "two\n", "2\n");
    let uri = uri(&stage.workspace.path("a.txt"));
    let body = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":"{uri}","version":9}},"contentChanges":[{{"range":{{"start":{{"line":0,"character":0}},"end":{{"line":0,"character":0}}}},"text":"\ud83d"}}]}}}}"#
    );
    let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    stage.editor.raw_bytes(frame.into_bytes());
    assert_eq!(ids(&stage.editor).len(), 1);
    stage
        .workspace
        .write("a.txt", "\u{1f600}\none\n2\nthree\nfour\nfive\n");
    stage.editor.raw_notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": uri}}),
    );
    assert_eq!(hunks(&stage.editor), [r#"2..3 was "two\n""#]);
}
