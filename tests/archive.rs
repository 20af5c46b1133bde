//! `context_archive` reads the session's whole log back, whatever was summarised (spec 12.1).

use crate::compaction::{answer, summarise, turn};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use serde_json::{Value, json};

fn stage() -> Stage {
    Stage::with(Setup::agent(), "", "")
}

/// What the model is answered to one call of the tool.
#[track_caller]
fn archive(stage: &Stage, session: &SessionId, arguments: Value) -> String {
    let prompt = stage.editor.prompt(session, "look");
    let mut asked = stage.model.next();
    asked.call("context_archive", arguments);
    asked.end();
    let asked = stage.model.next();
    let result = asked.result();
    answer(asked, "looked", 10);
    stage.editor.end(&prompt);
    result
}

#[track_caller]
fn compact(stage: &Stage, session: &SessionId) {
    let prompt = stage.editor.prompt(session, "/compact");
    summarise(stage, "They talked.");
    stage.editor.end(&prompt);
}

#[test]
fn r_110_a_search_ignores_case_and_finds_what_was_summarised() {
    let stage = stage();
    let session = stage.editor.new_session();
    turn(&stage, &session, "there is a needle here", "I see.", 10);
    turn(&stage, &session, "two", "second", 10);
    turn(&stage, &session, "three", "third", 10);
    compact(&stage, &session);
    let found = archive(&stage, &session, json!({"query": "NEEDLE"}));
    assert!(
        found.contains("#1 user (compacted by c1), 1 hit\n  there is a needle here"),
        "{found}"
    );
}

#[test]
fn r_111_r_112_a_result_is_read_whole_in_windows() {
    let stage = Stage::with(Setup::agent(), "", "[safety]\nmode = \"full_access\"\n");
    let long: String = (0..10_000).map(|n| format!("{n:06}\n")).collect();
    stage.workspace.write("long.txt", &long);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call("execute_command", json!({"command": "cat long.txt"}));
    asked.end();
    let asked = stage.model.next();
    let told = asked.result();
    answer(asked, "read", 10);
    stage.editor.end(&prompt);
    let read = |offset: u64| {
        archive(
            &stage,
            &session,
            json!({"message": 3, "char_offset": offset}),
        )
    };
    let mut rebuilt = String::new();
    while rebuilt.len() < told.len() {
        let text = read(rebuilt.len() as u64);
        let (head, body) = text.split_once('\n').unwrap();
        assert!(head.starts_with("#3 tool execute_command: "), "{head}");
        assert!(!body.is_empty() && body.len() <= 32_000);
        rebuilt.push_str(body);
    }
    assert!(rebuilt == told);
}

#[test]
fn r_112_a_message_of_70000_characters_is_rebuilt_by_three_reads() {
    let stage = stage();
    let long: String = ('a'..='z').cycle().take(70_000).collect();
    let session = stage.editor.new_session();
    turn(&stage, &session, &long, "first", 10);
    let mut rebuilt = String::new();
    for (offset, next) in [(0, Some(32_000)), (32_000, Some(64_000)), (64_000, None)] {
        let text = archive(
            &stage,
            &session,
            json!({"message": 1, "char_offset": offset}),
        );
        let (head, body) = text.split_once('\n').unwrap();
        let told = head
            .split_once("go on with char_offset ")
            .map(|it| it.1.parse().unwrap());
        assert_eq!(told, next, "{head}");
        rebuilt.push_str(body);
    }
    assert!(rebuilt == long);
}

#[test]
fn r_113_r_114_r_115_the_list_has_every_message_with_numbers_that_stay_and_marks_what_was_summarised()
 {
    let stage = stage();
    let session = stage.editor.new_session();
    turn(&stage, &session, "one", "first", 10);
    turn(&stage, &session, "two", "second", 10);
    turn(&stage, &session, "three", "third", 10);
    let listed = archive(&stage, &session, json!({}));
    for (n, text) in ["one", "first", "two", "second", "three", "third", "look"]
        .iter()
        .enumerate()
    {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        assert!(
            listed.contains(&format!("\n#{} {role}\n  {text}", n + 1)),
            "{listed}"
        );
    }
    compact(&stage, &session);
    let listed = archive(&stage, &session, json!({"from": 1, "limit": 6}));
    assert!(
        listed.contains("\n#1 user (compacted by c1)\n  one"),
        "{listed}"
    );
    assert!(
        listed.contains("\n#4 assistant (compacted by c1)\n  second"),
        "{listed}"
    );
    assert!(listed.contains("\n#5 user\n  three"), "{listed}");
    assert!(
        listed.ends_with("[There are more; go on with from 7.]"),
        "{listed}"
    );
}

#[test]
fn r_116_every_message_can_be_read_back_after_any_number_of_summaries_and_a_restart() {
    let mut stage = stage();
    let session = stage.editor.new_session();
    for n in 0..4 {
        turn(
            &stage,
            &session,
            &format!("question {n}"),
            &format!("answer {n}"),
            10,
        );
        turn(&stage, &session, "and", "yes", 10);
        turn(&stage, &session, "so", "it is", 10);
        compact(&stage, &session);
    }
    stage.editor.kill();
    stage.restart();
    stage.editor.load(&session).unwrap();
    for n in 0..4_u64 {
        for (at, text) in [(1, format!("question {n}")), (2, format!("answer {n}"))] {
            let number = n * 6 + at;
            let read = archive(&stage, &session, json!({"message": number}));
            let (head, body) = read.split_once('\n').unwrap();
            assert_eq!(body, text);
            assert!(head.contains("(compacted by c"), "{head}");
        }
    }
}

#[test]
fn a_message_that_is_not_there_and_a_secret_are_not_read() {
    let stage = stage();
    let session = stage.editor.new_session();
    turn(
        &stage,
        &session,
        concat!("key gh", "p_abcdefghijklmnopqrstuvwxyz0123456789"),
        "first",
        10,
    );
    let text = archive(&stage, &session, json!({"message": 99}));
    assert!(
        text.contains("There is no message 99; they are numbered from 1 to 4."),
        "{text}"
    );
    let text = archive(&stage, &session, json!({"message": 1}));
    assert!(text.ends_with("key ***"), "{text}");
}
