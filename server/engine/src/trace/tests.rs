//! What is written runs again, and has no secret in it.

use super::*;
use crate::provider::{StopReason, ToolCall};
use crate::session::settings_of_tests as settings;
use protocol::session::PromptId;

const SECRET: &str = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD";

/// A session that is recorded.
struct Play {
    live: Session,
    recorder: Recorder,
    text: String,
}

impl Play {
    fn new() -> Self {
        let (live, effects) = Session::new("s".into(), "/p".into(), Mode::Ask, settings());
        let mut play = Self {
            live,
            recorder: Recorder::default(),
            text: String::new(),
        };
        play.write(vec![Recorder::header("1.2.3")]);
        let act = Act::New {
            id: "s".into(),
            cwd: "/p".into(),
            mode: Mode::Ask,
            settings: Box::new(settings()),
        };
        let lines = play.recorder.record(act, &effects);
        play.write(lines);
        play
    }

    fn step(&mut self, input: Input) {
        let effects = self.live.step(input.clone());
        let lines = self.recorder.record(Act::Step(input), &effects);
        self.write(lines);
    }

    fn write(&mut self, lines: Vec<Line>) {
        for it in lines {
            self.text += &serde_json::to_string(&it).unwrap();
            self.text.push('\n');
        }
    }
}

fn said(stream: u64, pieces: &[&str]) -> Vec<Input> {
    let events = pieces.iter().map(|it| ModelEvent::Text((*it).to_owned()));
    let events = events.chain([ModelEvent::Ended(StopReason::EndTurn)]);
    events
        .map(|it| Input::Model(StreamId(stream), it))
        .collect()
}

fn prompt(text: &str) -> Input {
    Input::Prompt {
        prompt: PromptId(0),
        text: text.to_owned(),
        pictures: Vec::new(),
    }
}

#[test]
fn what_is_written_runs_again_the_same() {
    let mut play = Play::new();
    play.step(prompt("hello"));
    said(0, &["one ", "two"])
        .into_iter()
        .for_each(|it| play.step(it));
    let replayed = replay(&play.text).unwrap();
    assert_eq!(
        replayed,
        Replayed {
            build: "1.2.3".to_owned(),
            acts: 5,
            agreed: 5,
            difference: None,
            live_differs: None,
        }
    );
    // So does one that was cut off in the middle of a line.
    let cut = &play.text[..play.text.len() - 9];
    assert_eq!(replay(cut).unwrap().agreed, 4);
}

#[test]
fn the_first_act_with_another_effect_is_named() {
    let mut play = Play::new();
    play.step(prompt("hello"));
    said(0, &["one"]).into_iter().for_each(|it| play.step(it));
    // As if the build that wrote it had shown another text.
    let text = play
        .text
        .replace(r#"Show(Text(\"one\"))"#, r#"Show(Text(\"two\"))"#);
    assert_ne!(text, play.text);
    let replayed = replay(&text).unwrap();
    let difference = replayed.difference.unwrap();
    assert_eq!((replayed.agreed, difference.line), (2, 4));
    assert_eq!(difference.was.unwrap(), r#"Show(Text("two"))"#);
    assert_eq!(difference.is.unwrap(), r#"Show(Text("one"))"#);
}

#[test]
fn no_secret_is_in_a_trace_and_it_runs_all_the_same() {
    let mut play = Play::new();
    play.step(prompt(&format!("use OPENAI_API_KEY={SECRET} now")));
    let (a, b) = SECRET.split_at(20);
    said(0, &["the key is ", a, b, " then"])
        .into_iter()
        .for_each(|it| play.step(it));
    let bytes = play
        .recorder
        .bytes(StreamId(0), b"in pieces", vec!["eA==".into()]);
    play.write(vec![bytes]);
    play.step(prompt("go on"));
    let call = ToolCall {
        id: "1".into(),
        name: "execute_command".into(),
        arguments: format!(r#"{{"command":"curl -H \"Authorization: Bearer {SECRET}\""}}"#),
        native: None,
    };
    for event in [
        ModelEvent::Call(call),
        ModelEvent::Ended(StopReason::ToolCalls),
    ] {
        play.step(Input::Model(StreamId(1), event));
    }
    for part in [&SECRET[8..20], &SECRET[20..40]] {
        assert!(!play.text.contains(part), "{}", play.text);
    }
    assert!(play.text.contains("the key is ") && play.text.contains(" then"));
    assert!(
        play.text
            .contains(r#"{"line":"bytes","stream":0,"chunks":null}"#)
    );
    let replayed = replay(&play.text).unwrap();
    assert_eq!((replayed.difference, replayed.live_differs), (None, None));
    assert_eq!(replayed.agreed, replayed.acts);
}

#[test]
fn the_bytes_of_an_answer_without_a_secret_are_kept() {
    let mut play = Play::new();
    play.step(prompt("hello"));
    said(0, &["one"]).into_iter().for_each(|it| play.step(it));
    let kept = play
        .recorder
        .bytes(StreamId(0), b"one", vec!["b25l".into()]);
    let chunks = Some(vec!["b25l".to_owned()]);
    let stream = StreamId(0);
    assert_eq!(kept, Line::Bytes { stream, chunks });
}

#[test]
fn settings_that_are_the_same_are_written_once() {
    let mut play = Play::new();
    let n_before = play.text.lines().count();
    let effects = play.live.configure(settings());
    let lines = play
        .recorder
        .record(Act::Configure(Box::new(settings())), &effects);
    play.write(lines);
    assert_eq!(play.text.lines().count(), n_before);
    let other = Settings {
        model: "other".to_owned(),
        ..settings()
    };
    let effects = play.live.configure(other.clone());
    let lines = play
        .recorder
        .record(Act::Configure(Box::new(other)), &effects);
    play.write(lines);
    assert_eq!(play.text.lines().count(), n_before + 1);
    assert_eq!(replay(&play.text).unwrap().agreed, 2);
}

#[test]
fn what_is_no_trace_is_refused_in_a_sentence() {
    for (text, expected) in [
        ("", "The trace is empty."),
        (
            "{\"line\":\"header\",\"version\":9,\"build\":\"9.0\"}\n",
            "The trace was written by Undine 9.0 in format 9; this one reads format 1.",
        ),
        (
            "{\"line\":\"bytes\",\"stream\":0,\"chunks\":null}\n",
            "It does not begin as a trace does.",
        ),
    ] {
        assert_eq!(replay(text).unwrap_err().to_string(), expected);
    }
}
