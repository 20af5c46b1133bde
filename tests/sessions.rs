//! What a person does with sessions: find, name, export, fork, leave and remove them.

mod command_line;
mod finding;
mod forking;
mod leaving;

use crate::support::editor::{Setup, Turn};
use crate::support::stage::Stage;
use protocol::acp::{SessionId, StopReason};
use protocol::record::{Line, Record};
use serde_json::json;
use std::fs;

const FILES: &str = "//- /a.txt\none\n//- /b.txt\nb\n";

/// Project edits without a question, for tests that are about something else.
const AUTO: &str = "[safety]\nmode = \"auto\"\n";

fn stage() -> Stage {
    Stage::with(Setup::agent(), FILES, AUTO)
}

/// A prompt that the model answers with a word.
#[track_caller]
fn say(stage: &Stage, session: &SessionId, text: &str, answer: &str) {
    let prompt = stage.editor.prompt(session, text);
    let mut asked = stage.model.next();
    asked.say(answer);
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

/// A prompt that the model answers with a call and then a word.
#[track_caller]
fn edit(stage: &Stage, session: &SessionId, text: &str, (path, old, new): (&str, &str, &str)) {
    let prompt = stage.editor.prompt(session, text);
    let mut asked = stage.model.next();
    let arguments = json!({"path": path, "target_content": old, "replacement_content": new});
    asked.call("edit_file", arguments);
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

/// A prompt that the server answers itself.
#[track_caller]
fn command(stage: &Stage, session: &SessionId, text: &str) -> Turn {
    let prompt = stage.editor.prompt(session, text);
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    turn
}

/// The records of one of several sessions.
#[track_caller]
fn records(stage: &Stage, session: &str) -> Vec<Record> {
    let path = format!(".undine/conversations/{session}.jsonl");
    let text = fs::read_to_string(stage.workspace.path(&path)).unwrap();
    let lines = text.lines();
    lines
        .map(|it| serde_json::from_str::<Line>(it).unwrap().record)
        .collect()
}

/// Their titles, as they are listed.
#[track_caller]
fn titles(stage: &Stage) -> Vec<String> {
    let listed = stage.editor.sessions();
    listed.into_iter().filter_map(|it| it.title).collect()
}

/// What the model is sent of a session that is loaded now: who said what.
#[track_caller]
fn history(stage: &Stage, session: &SessionId) -> Vec<String> {
    stage.editor.load(session).unwrap();
    let prompt = stage.editor.prompt(session, "and now?");
    let mut asked = stage.model.next();
    let said = asked.messages()[1..].iter().map(|it| {
        let role = it["role"].as_str().unwrap();
        format!("{role}: {}", it["content"].as_str().unwrap_or_default())
    });
    let said = said.collect();
    asked.say("so");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    said
}

fn session_id(id: &str) -> SessionId {
    SessionId::new(id.to_owned())
}
