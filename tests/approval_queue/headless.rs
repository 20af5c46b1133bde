//! `undine run` for other programs: formats, schemas, sessions that go on, and its time.

use super::{Alone, Ended, edit};
use serde_json::{Value, json};
use std::fs;

fn lines(stdout: &str) -> Vec<Value> {
    let lines = stdout.lines();
    let read = |it: &str| serde_json::from_str(it).unwrap_or_else(|error| panic!("{it}: {error}"));
    lines.map(read).collect()
}

#[test]
fn json_is_one_object_at_the_end() {
    let alone = Alone::new();
    let child = alone.start(&["run", "--mode", "full_access", "-f", "json", "go"]);
    let mut asked = alone.model.next();
    asked.say("First.");
    asked.call("edit_file", edit("a.txt", "alpha", "omega"));
    asked.end();
    let mut asked = alone.model.next();
    asked.say("Done.").usage(10, 2);
    asked.end();
    let ended = Ended::of(child);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let [object] = &lines(&ended.stdout)[..] else {
        panic!("{}", ended.stdout)
    };
    assert_eq!(object["stop_reason"], "end_turn");
    assert_eq!(object["text"], "Done.");
    assert_eq!(object["usage"]["models"][0]["output"], 2);
    let changed = object["changed_files"].as_array().unwrap();
    assert_eq!(changed.len(), 1, "{object}");
    assert!(changed[0].as_str().unwrap().ends_with("/a.txt"));
    assert!(object["session_id"].is_string());
}

#[test]
fn bug_087_every_line_of_ndjson_is_an_event_and_nothing_else_is_on_stdout() {
    let alone = Alone::new();
    let child = alone.start(&["run", "-f", "ndjson", "go"]);
    let mut asked = alone.model.next();
    asked.say("I look.");
    asked.call("agent", json!({"prompt": "look", "type": "explore"}));
    asked.end();
    let mut asked = alone.model.next();
    asked.say("\u{1b}]0;title\u{7}seen");
    asked.end();
    let mut asked = alone.model.next();
    asked.say("It is so.");
    asked.end();
    let ended = Ended::of(child);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let lines = lines(&ended.stdout);
    assert!(lines.iter().all(|it| it["v"] == 1), "{lines:?}");
    let types: Vec<&str> = lines.iter().filter_map(|it| it["type"].as_str()).collect();
    assert_eq!(types[0], "session_started");
    assert_eq!(types.last(), Some(&"result"));
    for kind in ["text", "call", "call_ended"] {
        assert!(types.contains(&kind), "{types:?}");
    }
    assert_eq!(lines.last().unwrap()["text"], "It is so.");
    assert!(!ended.stdout.contains('\u{1b}'));
}

#[test]
fn an_answer_that_does_not_fit_the_schema_is_asked_for_once_more() {
    let alone = Alone::new();
    let schema = alone.workspace.outside("schema.json");
    let shape =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    fs::write(&schema, shape.to_string()).unwrap();
    let schema = schema.to_str().unwrap();
    let child = alone.start(&["run", "--output-schema", schema, "count"]);
    let mut asked = alone.model.next();
    assert!(asked.last_prompt().contains("\"required\":[\"n\"]"));
    asked.say("There are two.");
    asked.end();
    let mut asked = alone.model.next();
    assert!(asked.last_prompt().contains("does not fit the schema"));
    asked.say("{\"n\": 2}");
    asked.end();
    let ended = Ended::of(child);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "{\"n\":2}\n")
    );
    let child = alone.start(&["run", "--output-schema", schema, "count"]);
    for _ in 0..2 {
        let mut asked = alone.model.next();
        asked.say("many");
        asked.end();
    }
    let ended = Ended::of(child);
    ended.refused("does not fit the schema");
    assert_eq!(ended.stdout, "");
}

#[test]
fn bug_077_continue_takes_the_newest_session_that_can_be_read() {
    let alone = Alone::new();
    alone
        .undine(&["run", "--continue", "more"])
        .refused("no session to go on with");
    for (prompt, answer) in [("first", "one"), ("second", "two")] {
        let child = alone.start(&["run", prompt]);
        let mut asked = alone.model.next();
        asked.say(answer);
        asked.end();
        assert_eq!(Ended::of(child).code, Some(0));
    }
    let mut logs = alone.workspace.logs();
    logs.sort();
    let newest = logs.last().unwrap();
    let text = fs::read_to_string(newest).unwrap();
    let damaged = text.replacen("\"type\":\"ended\"", "\"type\":ended", 1);
    assert_ne!(text, damaged);
    fs::write(newest, damaged + "{}\n").unwrap();
    let child = alone.start(&["run", "--continue", "-f", "json", "more"]);
    let mut asked = alone.model.next();
    assert_eq!(asked.last_prompt(), "more");
    assert!(format!("{:?}", asked.turns()).contains("first"));
    asked.say("three");
    asked.end();
    let ended = Ended::of(child);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let id = logs[0].file_stem().unwrap().to_str().unwrap();
    assert_eq!(lines(&ended.stdout)[0]["session_id"], id);
    let child = alone.start(&["run", "--resume", id, "again"]);
    let mut asked = alone.model.next();
    assert!(format!("{:?}", asked.turns()).contains("three"));
    asked.say("four");
    asked.end();
    assert_eq!(Ended::of(child).stdout, "four\n");
    alone
        .undine(&["run", "--resume", "20200101_000000_000", "x"])
        .refused("There is no session 20200101_000000_000");
}

#[test]
fn a_task_that_takes_too_long_is_ended_with_a_code_of_its_own() {
    let alone = Alone::new();
    let child = alone.start(&["run", "-c", "limits.run_secs=1", "-f", "json", "go"]);
    alone.model.next().wait_until_hung_up();
    let ended = Ended::of(child);
    assert_eq!(ended.code, Some(124), "{}", ended.stderr);
    assert_eq!(lines(&ended.stdout)[0]["stop_reason"], "timed_out");
}
