//! A snapshot is as good as what it covers, or does not count.

use super::*;
use crate::store::log::{Log, read as read_log};
use protocol::record::{EndReason, Kept, Trigger};
use protocol::session::{Mode, TurnId};
use std::io::Write;

fn turn(log: &mut Log, n: u64) {
    let turn = TurnId(n);
    let text = format!("prompt {n}");
    let user = Record::User {
        turn,
        text,
        pictures: Vec::new(),
    };
    let answer = Record::Assistant {
        answer: n,
        text: format!("answer {n}"),
        thought: String::new(),
        raw: None,
        cut: false,
    };
    let reason = EndReason::Done;
    for record in [user, answer, Record::Ended { turn, reason }] {
        log.append(record).unwrap();
    }
}

/// A log of so many turns, and where it lies.
fn log_of(folder: &Path, n: u64) -> (Log, PathBuf, PathBuf) {
    let path = folder.join("20250101_000000_000.jsonl");
    let mut log = Log::new(path.clone(), None);
    log.append(Record::Started {
        session: "s".into(),
        cwd: "/p".into(),
        mode: Mode::Ask,
        model: "m".into(),
    })
    .unwrap();
    (0..n).for_each(|it| turn(&mut log, it));
    (log, path, folder.join("snapshots/a.jsonl"))
}

fn records_of(log: &Path, snapshot: Option<&Path>) -> Vec<Record> {
    let opened = open(log, snapshot, lines::len(log).unwrap()).unwrap();
    opened.fold.into_records()
}

#[test]
fn a_snapshot_and_what_came_after_it_fold_into_what_the_whole_log_does() {
    let folder = tempfile::tempdir().unwrap();
    let (mut log, path, snapshot) = log_of(folder.path(), 5);
    write(&snapshot, &path, lines::len(&path).unwrap()).unwrap();
    (5..8).for_each(|it| turn(&mut log, it));
    let opened = open(&path, Some(&snapshot), lines::len(&path).unwrap()).unwrap();
    assert_eq!((opened.covered.seq, opened.end.seq), (16, 25));
    assert_eq!(opened.fold.into_records(), records_of(&path, None));
    // From the one before.
    write(&snapshot, &path, lines::len(&path).unwrap()).unwrap();
    assert_eq!(records_of(&path, Some(&snapshot)), records_of(&path, None));
    let written = fs::read_to_string(&snapshot).unwrap();
    assert_eq!(written.lines().count(), 1 + records_of(&path, None).len());
}

#[test]
fn a_snapshot_of_a_summarised_session_is_short_however_long_the_log_is() {
    let folder = tempfile::tempdir().unwrap();
    let (mut log, path, snapshot) = log_of(folder.path(), 400);
    log.append(Record::Compacted {
        id: 1,
        trigger: Trigger::Threshold,
        summary: "so far".into(),
        kept: Kept::Prompts(2),
    })
    .unwrap();
    let n = write(&snapshot, &path, lines::len(&path).unwrap()).unwrap();
    assert!(n < 12, "{n}");
    assert_eq!(records_of(&path, Some(&snapshot)), records_of(&path, None));
}

#[test]
fn a_snapshot_that_is_damaged_or_of_another_log_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let (_log, path, snapshot) = log_of(folder.path(), 3);
    let len = lines::len(&path).unwrap();
    write(&snapshot, &path, len).unwrap();
    let good = fs::read(&snapshot).unwrap();
    assert!(read(&snapshot, &path, len).is_some());
    for cut in 0..good.len() - 1 {
        fs::write(&snapshot, &good[..cut]).unwrap();
        assert_eq!(read(&snapshot, &path, len), None, "{cut}");
    }
    fs::write(&snapshot, &good).unwrap();
    // The log was put back to an earlier state, and goes on in another way.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("answer 2", "answer X")).unwrap();
    assert_eq!(read(&snapshot, &path, len), None);
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    assert_eq!(read(&snapshot, &path, len / 2), None);
}

#[test]
fn a_damaged_line_is_an_error_that_names_it_where_no_snapshot_covers_it() {
    let folder = tempfile::tempdir().unwrap();
    let (log, path, snapshot) = log_of(folder.path(), 3_000);
    let records = read_log(&path).unwrap().0;
    write(&snapshot, &path, lines::len(&path).unwrap()).unwrap();
    drop(log);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen("\"type\":\"user\"", "\"type\":\"usXr\"", 1),
    )
    .unwrap();
    let whole = open(&path, None, lines::len(&path).unwrap());
    assert!(matches!(whole, Err(LogError::Broken { line: 2, .. })));
    let covered = records_of(&path, Some(&snapshot));
    assert_eq!(covered, condense(&records));
    // Behind the snapshot it would be lost.
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"nonsense\n").unwrap();
    let behind = open(&path, Some(&snapshot), lines::len(&path).unwrap());
    let line = records.len() + 1;
    assert!(matches!(behind, Err(LogError::Broken { line: it, .. }) if it == line));
}

#[test]
fn a_log_over_the_cap_opens_from_its_snapshot_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (log, path, snapshot) = log_of(folder.path(), 3);
    write(&snapshot, &path, lines::len(&path).unwrap()).unwrap();
    drop(log);
    // Holes in place of text: the covered part is not read. Its end is what it was.
    let text = fs::read(&path).unwrap();
    let large = MAX_BYTES + 1;
    let file = File::create(&path).unwrap();
    file.set_len(large).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"\n").unwrap();
    file.write_all(&text).unwrap();
    let bytes = lines::len(&path).unwrap();
    let header: Header = {
        let first = fs::read_to_string(&snapshot).unwrap();
        serde_json::from_str(first.lines().next().unwrap()).unwrap()
    };
    let header = Header {
        bytes,
        check: check(&path, bytes).unwrap(),
        ..header
    };
    let old = fs::read_to_string(&snapshot).unwrap();
    let (_, records) = old.split_once('\n').unwrap();
    let new = format!("{}\n{records}", serde_json::to_string(&header).unwrap());
    fs::write(&snapshot, new).unwrap();
    assert!(matches!(
        open(&path, None, bytes),
        Err(LogError::TooLarge(_))
    ));
    let opened = open(&path, Some(&snapshot), bytes).unwrap();
    assert!(opened.is_large());
    assert!(opened.fold.into_records().len() > 6);
}

#[test]
fn a_log_folds_the_same_twice_and_from_its_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let (_, log, snapshot) = log_of(folder.path(), 2);
    assert_eq!(verify(&log, &snapshot), Ok((7, 0)));
    write(&snapshot, &log, lines::len(&log).unwrap()).unwrap();
    assert_eq!(verify(&log, &snapshot), Ok((7, 7)));
    let text = fs::read_to_string(&snapshot).unwrap();
    fs::write(&snapshot, text.replace("prompt 1", "X")).unwrap();
    let why = verify(&log, &snapshot).unwrap_err();
    assert!(why.contains("snapshot"), "{why}");
}
