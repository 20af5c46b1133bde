//! The price of a keystroke. Run with `cargo test --release -p engine -- --ignored --nocapture keystroke`.

#![allow(clippy::disallowed_types, reason = "time is measured")]

use std::{hint::black_box, time::Instant};

use super::{author, ledger, replacement};
use crate::{
    review::{By, Ledger, Which},
    text::{ChangeSet, Edit},
};

const N_HUNKS: usize = 500;

/// 10 MB of lines, and every so many of them the agent's.
fn large() -> (Ledger, Vec<usize>) {
    let lines: Vec<String> = (0..200_000)
        .map(|it| format!("    let line_{it:06} = compute({it:06}, \"é漢😀\");\n"))
        .collect();
    let text = lines.concat();
    let every = lines.len() / N_HUNKS;
    let mut edits = Vec::new();
    let mut at = 0;
    for (i, line) in lines.iter().enumerate() {
        if i % every == every / 2 {
            edits.push(Edit {
                range: at..at + line.len(),
                text: format!("    // hunk {i}\n    let line_{i:06} = changed();\n"),
            });
        }
        at += line.len();
    }
    let mut ledger = ledger(&text);
    let changes = ChangeSet::of_edits(text.len(), &edits).unwrap();
    let started = Instant::now();
    ledger.edited(&changes, By::Agent(&author(1))).unwrap();
    eprintln!(
        "{} bytes, an edit that makes {N_HUNKS} hunks: {:?}",
        text.len(),
        started.elapsed()
    );
    let starts = ledger
        .hunks()
        .iter()
        .map(|it| it.lines.start as usize)
        .collect();
    (ledger, starts)
}

/// Types in a line, character by character, and then takes it back; says what one keystroke takes.
fn typing(ledger: &mut Ledger, name: &str, mut line: impl FnMut(usize) -> usize) {
    let mut times = Vec::new();
    for i in 0..2_000 {
        let at = ledger.live().line_to_byte(line(i)) + 4;
        for key in 0..4 {
            let started = Instant::now();
            let changes = match key {
                0 | 1 => replacement(ledger, at + key..at + key, "x"),
                2 => replacement(ledger, at + 1..at + 2, ""),
                _ => replacement(ledger, at..at + 1, ""),
            };
            ledger.edited(black_box(&changes), By::Person).unwrap();
            times.push(started.elapsed());
        }
    }
    times.sort();
    eprintln!(
        "{name}: half {:?}, 99 of 100 {:?}, slowest {:?}",
        times[times.len() / 2],
        times[times.len() * 99 / 100],
        times[times.len() - 1]
    );
}

#[test]
#[ignore = "a measurement, for release builds"]
fn a_keystroke_in_ten_megabytes_with_500_hunks_costs_microseconds() {
    let (mut ledger, starts) = large();
    typing(&mut ledger, "beside hunks", |i| {
        (i * 977) % 190_000 / 400 * 400 + 10
    });
    typing(&mut ledger, "in hunks", |i| starts[i % starts.len()]);
    typing(&mut ledger, "in the last hunk", |_| starts[N_HUNKS - 1]);
    assert_eq!(ledger.hunks().len(), N_HUNKS);

    let started = Instant::now();
    black_box(ledger.hunks());
    eprintln!("all hunks: {:?}", started.elapsed());
    let started = Instant::now();
    black_box(ledger.base());
    eprintln!("the base: {:?}", started.elapsed());
    let started = Instant::now();
    let record = ledger.to_record();
    eprintln!("a record: {:?}", started.elapsed());
    let live = ledger.live().to_string();
    let started = Instant::now();
    black_box(Ledger::from_record(&record, &live).unwrap());
    eprintln!("from a record: {:?}", started.elapsed());
    let started = Instant::now();
    let undo = ledger.revert(Which::All);
    eprintln!("making a revert of all: {:?}", started.elapsed());
    let started = Instant::now();
    ledger.edited(&undo.changes, By::Review).unwrap();
    eprintln!("settling it: {:?}", started.elapsed());
    assert!(ledger.is_settled());

    let whole = ledger.live().to_string().replace("compute", "count");
    let started = Instant::now();
    ledger.replaced(&whole, By::Agent(&author(2)));
    eprintln!("a rewrite of every line: {:?}", started.elapsed());
    typing(&mut ledger, "in one hunk of 10 MB", |i| (i * 977) % 190_000);
}
