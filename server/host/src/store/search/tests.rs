//! Words are found as they were said, each once.

use super::*;
use crate::store::Log;
use fastrand::Rng;
use protocol::session::TurnId;

fn log_of(folder: &Path, texts: &[String]) -> std::path::PathBuf {
    let path = folder.join("x.jsonl");
    let mut log = Log::new(path.clone(), None);
    for (turn, text) in texts.iter().enumerate() {
        log.append(Record::User {
            turn: TurnId(turn as u64),
            text: text.clone(),
            pictures: Vec::new(),
        })
        .unwrap();
    }
    path
}

fn found(log: &Path, words: &[&str]) -> Vec<String> {
    let pattern = Pattern::of(words.iter().copied()).unwrap();
    let hits = all(log, &pattern).unwrap();
    let newest = newest(log, &pattern).unwrap();
    assert_eq!(newest.as_ref(), hits.last());
    hits.into_iter().map(|it| it.text).collect()
}

#[test]
fn all_words_are_found_whatever_their_case_and_however_the_log_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "a NEEDLE in\nthe hay",
        "Äpfel und \"Birnen\"",
        "C:\\temp\tneedle",
        "nothing",
    ];
    let log = log_of(folder.path(), &texts.map(str::to_owned));
    assert_eq!(
        found(&log, &["needle"]),
        ["a NEEDLE in\nthe hay", "C:\\temp\tneedle"]
    );
    assert_eq!(found(&log, &["needle", "HAY"]), ["a NEEDLE in\nthe hay"]);
    assert_eq!(found(&log, &["äPFEL"]), ["Äpfel und \"Birnen\""]);
    assert_eq!(found(&log, &["\"birnen\""]), ["Äpfel und \"Birnen\""]);
    assert_eq!(found(&log, &["c:\\TEMP"]), ["C:\\temp\tneedle"]);
    assert_eq!(found(&log, &["in\nthe"]), ["a NEEDLE in\nthe hay"]);
    // The log's own words are none of a message.
    assert_eq!(found(&log, &["turn"]), Vec::<String>::new());
    // `\nthe` is no word.
    assert_eq!(found(&log, &["nthe"]), Vec::<String>::new());
    assert!(Pattern::of([]).is_none());
}

#[test]
fn lines_across_pieces_and_threads_are_found_each_once() {
    let mut rng = Rng::with_seed(7);
    let texts: Vec<String> = (0..600)
        .map(|at| {
            let filler = "x".repeat(rng.usize(0..20_000));
            match at % 3 {
                0 => format!("{filler} needle {at}"),
                _ => filler,
            }
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let log = log_of(folder.path(), &texts);
    let hits = found(&log, &["needle"]);
    assert_eq!(hits.len(), 200);
    let is_it = |(at, it): (usize, &String)| it.ends_with(&format!("needle {}", at * 3));
    assert!(hits.iter().enumerate().all(is_it));
}

#[test]
fn the_newest_is_found_behind_windows_without_one_and_lines_longer_than_one() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(WINDOW as usize + 9);
    let texts = ["needle", &long, "y", &long, "z"].map(str::to_owned);
    let log = log_of(folder.path(), &texts);
    assert_eq!(found(&log, &["needle"]), ["needle"]);
    assert_eq!(found(&log, &["missing"]), Vec::<String>::new());
}

#[test]
fn prompts_are_found_with_words_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_of(
        folder.path(),
        &["one", "two \"type\":\"user\""].map(str::to_owned),
    );
    let prompts = |words: &[&str]| {
        let pattern = Pattern::of_prompts(words.iter().copied()).unwrap();
        all(&log, &pattern).unwrap().len()
    };
    assert_eq!(
        (prompts(&[]), prompts(&["TWO"]), prompts(&["three"])),
        (2, 1, 0)
    );
}
