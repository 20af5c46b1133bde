//! A trace holds all that happened to a session: it runs again in the engine, and over the wire.

use crate::config::command_line::{Said, undine};
use crate::support::editor::Turn;
use crate::support::model::Asked;
use crate::support::stage::Stage;
use crate::support::workspace::Workspace;
use base64::{Engine, engine::general_purpose::STANDARD};
use protocol::record::Record;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const RECORD: &str = "[trace]\nrecord = true\n";

const FILES: &str = "//- /a.txt\nalpha\nbeta\n";

/// The traces of a workspace.
fn traces(workspace: &Workspace) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(workspace.outside("data").join("traces")) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths
}

fn lines(workspace: &Workspace) -> Vec<Value> {
    let paths = traces(workspace);
    assert_eq!(paths.len(), 1, "{paths:?}");
    let text = fs::read_to_string(&paths[0]).unwrap();
    text.lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect()
}

fn replay(workspace: &Workspace, trace: &Path) -> Said {
    undine(workspace, &["replay", trace.to_str().unwrap()])
}

/// A session with a question, an edit, a steering prompt and a cancel.
fn work(stage: &Stage) -> Vec<Turn> {
    let (session, prompt, mut asked) = stage.ask("change a.txt");
    asked.think("hmm").say("I will ").say("change it.");
    let edit = json!({"path": "a.txt", "target_content": "alpha", "replacement_content": "gamma"});
    asked.call("edit_file", edit);
    asked.usage(100, 10);
    asked.end();
    let question = stage.editor.question();
    stage.editor.choose(&question, "once");
    let mut asked = stage.model.next();
    asked.say("Done.");
    asked.end();
    let first = stage.editor.end(&prompt);
    assert_eq!(stage.workspace.read("a.txt"), "gamma\nbeta\n");
    let prompt = stage.editor.prompt(&session, "and now read it");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("It says gamma.");
    asked.end();
    vec![first, stage.editor.end(&prompt)]
}

#[test]
fn a_trace_of_a_session_runs_again_the_same_and_a_changed_one_does_not() {
    let mut stage = Stage::with(crate::support::editor::Setup::agent(), FILES, RECORD);
    work(&stage);
    stage.editor.finish();
    let trace = traces(&stage.workspace).remove(0);
    assert_eq!(
        trace.metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    let said = replay(&stage.workspace, &trace);
    let acts = lines(&stage.workspace)
        .iter()
        .filter(|it| it["line"] == "act")
        .count();
    assert_eq!(
        (said.out.as_str(), said.code),
        (
            format!(
                "All {acts} steps agree with Undine {}, which wrote the trace.\n",
                env!("CARGO_PKG_VERSION")
            )
            .as_str(),
            Some(0)
        )
    );
    // As if the build that wrote it had shown another text.
    let text = fs::read_to_string(&trace).unwrap();
    let other = text.replace(r#"Text(\"Done.\")"#, r#"Text(\"Gone.\")"#);
    assert_ne!(other, text);
    fs::write(&trace, other).unwrap();
    let said = replay(&stage.workspace, &trace);
    assert_eq!(said.code, Some(1));
    assert!(
        said.out.contains("was: Show(Text(\"Gone.\"))"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("is:  Show(Text(\"Done.\"))"),
        "{}",
        said.out
    );
}

#[test]
fn a_session_that_is_resumed_has_a_trace_of_its_own_that_runs_again() {
    let mut stage = Stage::with(crate::support::editor::Setup::agent(), FILES, RECORD);
    let (session, prompt, mut asked) = stage.ask("hello");
    asked.say("hi");
    asked.end();
    stage.editor.end(&prompt);
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    asked.say("hi again");
    asked.end();
    stage.editor.end(&prompt);
    stage.editor.finish();
    let traces = traces(&stage.workspace);
    assert_eq!(traces.len(), 2);
    for it in traces {
        let said = replay(&stage.workspace, &it);
        assert_eq!(said.code, Some(0), "{}", said.out);
    }
}

#[test]
fn without_the_option_nothing_is_written() {
    let mut stage = Stage::new(FILES);
    work(&stage);
    stage.editor.finish();
    assert_eq!(traces(&stage.workspace), [""; 0].map(PathBuf::from));
}

#[test]
fn no_secret_of_a_session_is_in_its_trace() {
    const SECRET: &str = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
    let files = format!("//- /key.txt\nOPENAI_API_KEY={SECRET}\n");
    let mut stage = Stage::with(crate::support::editor::Setup::agent(), &files, RECORD);
    let (_, prompt, mut asked) = stage.ask(&format!("what is {SECRET}?"));
    asked.call("read_file", json!({"path": "key.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    let (head, tail) = SECRET.split_at(20);
    asked.say("It is ").say(head).say(tail).say(", a key.");
    asked.end();
    stage.editor.end(&prompt);
    stage.editor.finish();
    let trace = traces(&stage.workspace).remove(0);
    let text = fs::read_to_string(&trace).unwrap();
    for part in [&SECRET[8..20], &SECRET[20..40]] {
        assert!(!text.contains(part), "{text}");
        assert!(
            !text.contains(STANDARD.encode(part).trim_end_matches('=')),
            "{text}"
        );
    }
    // Of the two answers, the one that says it has no bytes.
    let bytes = lines(&stage.workspace)
        .into_iter()
        .filter(|it| it["line"] == "bytes");
    let is_kept: Vec<bool> = bytes.map(|it| it["chunks"].is_array()).collect();
    assert_eq!(is_kept, [true, false]);
    assert_eq!(replay(&stage.workspace, &trace).code, Some(0));
}

#[test]
fn the_bytes_and_prompts_of_a_trace_give_a_fresh_server_the_same_transcript() {
    let mut stage = Stage::with(crate::support::editor::Setup::agent(), FILES, RECORD);
    let before = work(&stage);
    stage.editor.finish();
    let (mut prompts, mut decisions, mut answers) =
        (VecDeque::new(), VecDeque::new(), VecDeque::new());
    for line in lines(&stage.workspace) {
        let step = &line["act"]["step"];
        if let Some(text) = step["Prompt"]["text"].as_str() {
            prompts.push_back(text.to_owned());
        }
        if let Some(option) = step["Decided"][1]["option"].as_str() {
            decisions.push_back(option.to_owned());
        }
        if let Some(chunks) = line["chunks"].as_array() {
            let chunks = chunks
                .iter()
                .map(|it| STANDARD.decode(it.as_str().unwrap()).unwrap());
            answers.push_back(chunks.collect::<Vec<_>>());
        }
    }
    assert_eq!((prompts.len(), decisions.len(), answers.len()), (2, 1, 4));

    let mut again = Stage::new(FILES);
    let session = again.editor.new_session();
    let mut turns = Vec::new();
    for text in prompts {
        let prompt = again.editor.prompt(&session, &text);
        for _ in 0..2 {
            answer(again.model.next(), &answers.pop_front().unwrap());
            if let Some(option) = decisions.pop_front() {
                let question = again.editor.question();
                again.editor.choose(&question, &option);
            }
        }
        turns.push(again.editor.end(&prompt));
    }
    again.editor.finish();
    let shown = |turns: &[Turn]| {
        let shown = turns.iter().map(|it| (it.end.clone(), it.text()));
        shown.collect::<Vec<_>>()
    };
    assert_eq!(shown(&turns), shown(&before));
    assert_eq!(transcript(&again.workspace), transcript(&stage.workspace));
}

fn answer(mut asked: Asked, chunks: &[Vec<u8>]) {
    for it in chunks {
        asked.send(std::str::from_utf8(it).unwrap());
    }
    asked.raw(b"0\r\n\r\n");
}

/// The records of a session, without what is another in each run.
fn transcript(workspace: &Workspace) -> Vec<String> {
    let lasting = |record: &Record| {
        let mut value = serde_json::to_value(record).unwrap();
        forget(&mut value);
        let root = workspace.root().display().to_string();
        value.to_string().replace(&root, "ROOT")
    };
    workspace.records().iter().map(lasting).collect()
}

fn forget(value: &mut Value) {
    if let Value::Object(fields) = value {
        for key in ["session", "duration_ms", "checkpoint"] {
            fields.remove(key);
        }
        fields.values_mut().for_each(forget);
    }
}
