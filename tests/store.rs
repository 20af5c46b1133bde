//! Sessions on the disk: snapshots, parts of a long session, conflicts, search.

use crate::config::command_line::undine;
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::{LoadSessionRequest, SessionId};
use protocol::messages::{MessagesParams, MessagesResult};
use protocol::methods::{LoadSession, SessionMessages};
use protocol::record::{Kept, Line, Record, Trigger, VERSION};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

/// Snapshots after each turn.
const OFTEN: &str = "[limits]\nsnapshot_records = 2\n";

fn turn(stage: &Stage, session: &SessionId, text: &str, answer: &str) -> Vec<Value> {
    let prompt = stage.editor.prompt(session, text);
    let mut asked = stage.model.next();
    let messages = asked.messages().to_vec();
    asked.say(answer);
    asked.end();
    stage.editor.end(&prompt);
    messages
}

fn log(stage: &Stage) -> PathBuf {
    stage.workspace.logs().remove(0)
}

fn append(stage: &Stage, record: Record) {
    let path = log(stage);
    let seq = fs::read_to_string(&path).unwrap().lines().count() as u64;
    let line = Line {
        v: VERSION,
        seq,
        time: 0,
        record,
    };
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    writeln!(file, "{}", serde_json::to_string(&line).unwrap()).unwrap();
}

fn snapshots(stage: &Stage) -> usize {
    let folder = stage.workspace.outside("data").join("snapshots");
    fs::read_dir(folder).map_or(0, Iterator::count)
}

fn texts(updates: impl IntoIterator<Item = Value>) -> Vec<String> {
    let updates = updates.into_iter();
    let texts = updates.map(|it| {
        it["content"]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    });
    texts.filter(|it| !it.is_empty()).collect()
}

#[test]
fn r_109_messages_that_a_summary_stands_for_stay_in_the_file_and_are_shown() {
    let mut stage = Stage::new("");
    let session = stage.editor.new_session();
    turn(&stage, &session, "find the NEEDLE", "found it");
    turn(&stage, &session, "and now", "well");
    stage.editor.finish();
    append(
        &stage,
        Record::Compacted {
            id: 1,
            trigger: Trigger::Person,
            summary: "They found something.".to_owned(),
            kept: Kept::Prompts(1),
        },
    );
    for _ in 0..2 {
        stage.restart();
        let updates = stage.editor.load(&session).unwrap();
        let shown = texts(updates.iter().map(|it| serde_json::to_value(it).unwrap()));
        assert_eq!(
            shown[..4],
            ["find the NEEDLE", "found it", "and now", "well"]
        );
        let asked = json!(turn(&stage, &session, "go on", "yes")).to_string();
        assert!(asked.contains("They found something.") && asked.contains("and now"));
        assert!(!asked.contains("NEEDLE"), "{asked}");
        // The second time from the snapshot.
        stage.editor.finish();
        assert_eq!(snapshots(&stage), 1);
    }
    assert!(fs::read_to_string(log(&stage)).unwrap().contains("NEEDLE"));
}

#[test]
fn a_session_whose_log_is_damaged_opens_from_its_snapshot_and_says_so() {
    let mut stage = Stage::with(Setup::agent(), "", OFTEN);
    let session = stage.editor.new_session();
    // The snapshot's check is of the last few thousand bytes.
    turn(&stage, &session, "first", &"long ".repeat(2_000));
    turn(&stage, &session, "second", "two");
    stage.editor.finish();
    let path = log(&stage);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen("\"type\":\"user\"", "\"type\":\"usXr\"", 1),
    )
    .unwrap();
    stage.restart();
    let updates = stage.editor.load(&session).unwrap();
    let shown = texts(updates.iter().map(|it| serde_json::to_value(it).unwrap()));
    assert!(shown.ends_with(&["second".to_owned(), "two".to_owned()]));
    assert!(!shown.contains(&"first".to_owned()), "{shown:?}");
    stage.editor.take("the word on the damage", |it| {
        it["method"] == "window/showMessage"
            && it["params"]["message"]
                .as_str()
                .unwrap()
                .contains("Line 2 of")
    });
    let asked = json!(turn(&stage, &session, "go on", "yes")).to_string();
    assert!(
        asked.contains("first") && asked.contains("second"),
        "{asked}"
    );
    stage.editor.finish();
    // Without the snapshot the line is an error that names it.
    fs::remove_dir_all(stage.workspace.outside("data").join("snapshots")).unwrap();
    stage.restart();
    let error = stage.editor.load(&session).unwrap_err();
    assert!(error.message.contains("Line 2 of"), "{error:?}");
}

#[test]
fn a_log_that_another_process_wrote_is_left_alone_and_the_person_is_told() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    turn(&stage, &session, "first", "one");
    let path = log(&stage);
    append(
        &stage,
        Record::Title {
            title: "theirs".to_owned(),
        },
    );
    let theirs = fs::read(&path).unwrap();
    turn(&stage, &session, "second", "two");
    stage.editor.take("the word on the conflict", |it| {
        it["method"] == "window/showMessage"
            && it["params"]["message"]
                .as_str()
                .unwrap()
                .contains("conflict.jsonl")
    });
    assert_eq!(fs::read(&path).unwrap(), theirs);
    let logs = stage.workspace.logs();
    assert_eq!(logs.len(), 2, "{logs:?}");
    let ours = logs.iter().find(|it| **it != path).unwrap();
    let ours = fs::read_to_string(ours).unwrap();
    assert!(ours.contains("first") && ours.contains("second") && !ours.contains("theirs"));
    assert_eq!(stage.editor.sessions().len(), 1);
}

fn messages(stage: &Stage, session: &SessionId, before: Option<u64>, limit: u32) -> MessagesResult {
    let params = MessagesParams {
        session_id: session.to_string(),
        before,
        limit,
    };
    stage.editor.ask::<SessionMessages>(params).unwrap()
}

#[test]
fn the_newest_messages_of_a_session_are_loaded_and_earlier_ones_come_when_asked_for() {
    let mut stage = Stage::new("//- /a.txt\nalpha\n");
    let session = stage.editor.new_session();
    turn(&stage, &session, "one", "eins");
    turn(&stage, &session, "two", "zwei");
    let prompt = stage.editor.prompt(&session, "three");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("drei");
    asked.end();
    stage.editor.end(&prompt);
    stage.editor.finish();
    stage.restart();
    let newest = json!({"undine": {"newest": 2}}).as_object().cloned();
    let params = LoadSessionRequest::new(session.clone(), stage.workspace.root()).meta(newest);
    let loaded = stage.editor.ask::<LoadSession>(params).unwrap();
    let part = json!(loaded.meta.unwrap())["undine"].take();
    // A result does not come without its call.
    assert_eq!(part, json!({"first": 6, "total": 8}));
    let kinds: Vec<String> = (0..3)
        .map(|_| {
            let mut it = stage.editor.take("a replayed update", |it| {
                it["method"] == "session/update"
                    && it["params"]["update"]["sessionUpdate"] != "available_commands_update"
            });
            let kind = it["params"]["update"]["sessionUpdate"].take();
            kind.as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        kinds,
        ["tool_call", "tool_call_update", "agent_message_chunk"]
    );
    stage.editor.ignore("session/update");
    let earlier = messages(&stage, &session, Some(6), 3);
    let numbers: Vec<u64> = earlier.messages.iter().map(|it| it.number).collect();
    assert_eq!((numbers, earlier.total), (vec![3, 4, 5], 8));
    let updates = earlier.messages.iter().flat_map(|it| &it.updates);
    let shown = texts(updates.map(|it| serde_json::to_value(it).unwrap()));
    assert_eq!(shown, ["two", "zwei", "three"]);
    let first = messages(&stage, &session, Some(3), 50);
    let numbers: Vec<u64> = first.messages.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [1, 2]);
    assert!(messages(&stage, &session, Some(1), 5).messages.is_empty());
    assert_eq!(messages(&stage, &session, None, 1).messages[0].number, 8);
}

#[test]
fn words_are_found_in_all_sessions_and_logs_fold_the_same_each_time() {
    let stage = Stage::with(Setup::agent(), "", OFTEN);
    let session = stage.editor.new_session();
    turn(&stage, &session, "where is the NEEDLE", "in the hay");
    let other = stage.editor.new_session();
    turn(&stage, &other, "nothing", "there");
    let said = undine(&stage.workspace, &["sessions", "search", "needle", "where"]);
    assert_eq!((said.code, said.out.lines().count()), (Some(0), 2));
    assert!(said.out.starts_with(&session.to_string()), "{}", said.out);
    assert!(
        said.out.ends_with("  where is the NEEDLE\n"),
        "{}",
        said.out
    );
    let said = undine(&stage.workspace, &["sessions", "search", "needle", "there"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""));
    let said = undine(&stage.workspace, &["sessions", "verify"]);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert_eq!(said.out.lines().count(), 2, "{}", said.out);
    let said = undine(
        &stage.workspace,
        &["sessions", "verify", &session.to_string()],
    );
    assert!(
        said.out.contains("the same session each time"),
        "{}",
        said.out
    );
    fs::write(
        stage
            .workspace
            .path(&format!(".undine/conversations/{session}.jsonl")),
        "nonsense\n",
    )
    .unwrap();
    let said = undine(
        &stage.workspace,
        &["sessions", "verify", &session.to_string()],
    );
    assert_eq!(said.code, Some(1));
    assert!(said.errors.contains("Line 1"), "{}", said.errors);
}
