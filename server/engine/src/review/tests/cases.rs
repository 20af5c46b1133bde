//! The rules one by one, as a person would tell them.

use expect_test::{Expect, expect};

use super::{author, ledger, replacement, revert, turn};
use crate::{
    review::{By, Damaged, FileStep, HunkState, Ledger, Which},
    text::{ChangeSet, Misfit},
};

fn agent(ledger: &mut Ledger, turn: u64, from: &str, to: &str) {
    swap(ledger, By::Agent(&author(turn)), from, to);
}

fn person(ledger: &mut Ledger, from: &str, to: &str) {
    swap(ledger, By::Person, from, to);
}

/// Changes the one place that reads so.
fn swap(ledger: &mut Ledger, by: By<'_>, from: &str, to: &str) {
    let live = ledger.live().to_string();
    let at = live.find(from).unwrap();
    let changes = replacement(ledger, at..at + from.len(), to);
    ledger.edited(&changes, by).unwrap();
}

fn shown(ledger: &mut Ledger) -> String {
    let mut shown = String::new();
    for it in ledger.hunks() {
        let turns: Vec<String> = it.authors.iter().map(|it| it.turn.to_string()).collect();
        let state = match it.state {
            HunkState::Pending => "pending",
            HunkState::Mixed => "mixed",
        };
        shown += &format!(
            "{:?} {state} {} {:?} -> {:?}\n",
            it.lines,
            turns.join(" "),
            it.base_text,
            it.live_text
        );
    }
    shown
}

fn check(ledger: &mut Ledger, expected: Expect) {
    expected.assert_eq(&shown(ledger));
}

fn told(ledger: &mut Ledger) -> String {
    let report = ledger.take_report("s");
    let lines = report.iter().map(|it| {
        format!(
            "{:?} {:?} -> {:?}: {:?}\n",
            it.lines, it.was, it.wrote, it.fate
        )
    });
    lines.collect()
}

#[test]
fn typing_beside_a_hunk_is_the_persons_own() {
    let mut it = ledger("one\ntwo\nthree\n");
    agent(&mut it, 1, "two", "TWO");
    person(&mut it, "one", "1");
    person(&mut it, "three\n", "3\nfour\n");
    check(
        &mut it,
        expect![[r#"
        1..2 pending turn-1 "two\n" -> "TWO\n"
    "#]],
    );
    assert_eq!(it.base(), "1\ntwo\n3\nfour\n");
    revert(&mut it, Which::All);
    assert_eq!(*it.live(), "1\ntwo\n3\nfour\n");
    assert!(it.is_settled());
}

#[test]
fn whole_lines_right_at_a_hunk_are_beside_it_and_half_ones_are_in_it() {
    let mut it = ledger("one\ntwo\nthree\n");
    agent(&mut it, 1, "two", "TWO");
    person(&mut it, "TWO", "before\nTWO");
    person(&mut it, "three", "after\nthree");
    check(
        &mut it,
        expect![[r#"
        2..3 pending turn-1 "two\n" -> "TWO\n"
    "#]],
    );
    person(&mut it, "before\n", "before ");
    check(
        &mut it,
        expect![[r#"
        1..2 mixed turn-1 "before\ntwo\n" -> "before TWO\n"
    "#]],
    );
}

#[test]
fn a_mixed_hunk_is_reverted_only_by_its_name() {
    let mut it = ledger("one\ntwo\nthree\nfour\n");
    agent(&mut it, 1, "two", "TWO");
    agent(&mut it, 1, "four", "FOUR");
    person(&mut it, "TWO", "TWO!");
    check(
        &mut it,
        expect![[r#"
        1..2 mixed turn-1 "two\n" -> "TWO!\n"
        3..4 pending turn-1 "four\n" -> "FOUR\n"
    "#]],
    );
    let ids: Vec<_> = it.hunks().into_iter().map(|it| it.id).collect();
    for which in [turn(1), Which::Session("s"), Which::All] {
        let mut it = it.clone();
        let undo = revert(&mut it, which);
        assert_eq!(
            (undo.hunks, undo.left),
            (ids[1..].to_vec(), ids[..1].to_vec())
        );
        assert_eq!(*it.live(), "one\nTWO!\nthree\nfour\n");
    }
    revert(&mut it, Which::Hunks(&ids[..1]));
    assert_eq!(*it.live(), "one\ntwo\nthree\nFOUR\n");
}

#[test]
fn what_the_agent_does_on_top_of_the_persons_work_can_be_taken_back_alone() {
    let mut it = ledger("one\n");
    agent(&mut it, 1, "one", "ONE");
    person(&mut it, "ONE", "ONE!");
    agent(&mut it, 1, "ONE!", "One");
    let undo = revert(&mut it, Which::All);
    assert_eq!((undo.hunks.len(), undo.left.len()), (1, 1));
    check(
        &mut it,
        expect![[r#"
        0..1 mixed turn-1 "one\n" -> "ONE!\n"
    "#]],
    );
}

#[test]
fn undo_by_the_person_makes_the_hunk_the_agents_again_or_takes_it_out() {
    let mut it = ledger("one\ntwo\n");
    agent(&mut it, 1, "two", "TWO");
    person(&mut it, "TWO", "TWO!");
    person(&mut it, "TWO!", "TWO");
    check(
        &mut it,
        expect![[r#"
        1..2 pending turn-1 "two\n" -> "TWO\n"
    "#]],
    );
    assert_eq!(told(&mut it), "");
    person(&mut it, "TWO", "two");
    assert!(it.is_settled());
    expect![[r#"
        1..2 "two\n" -> "TWO\n": Reverted
    "#]]
    .assert_eq(&told(&mut it));
}

#[test]
fn undoing_a_deletion_leaves_nothing_to_review() {
    let mut it = ledger("one\ntwo\nthree\nfour\n");
    agent(&mut it, 1, "two\nthree\n", "");
    let deleted = it.clone();
    person(&mut it, "four", "two\nthree\nfour");
    assert!(it.is_settled());
    assert_eq!(it.base(), "one\ntwo\nthree\nfour\n");

    let mut it = deleted;
    person(&mut it, "four", "three\nfour");
    check(
        &mut it,
        expect![[r#"
            1..2 mixed turn-1 "two\nthree\n" -> "three\n"
        "#]],
    );
    person(&mut it, "three", "two\nthree");
    assert!(it.is_settled());

    // In two steps, when a change was next to it.
    let mut it = ledger("one\ntwo\nthree\nfour\n");
    agent(&mut it, 1, "two\nthree\n", "TWO\n");
    person(&mut it, "four", "three\nfour");
    person(&mut it, "TWO", "two");
    assert!(it.is_settled());
}

#[test]
fn whole_lines_are_beside_a_hunk_however_the_editor_says_it() {
    let mut it = ledger("one\n  two\nthree\n");
    agent(&mut it, 1, "two", "TWO");
    // Before `  TWO`, as an editor that compares characters says it.
    let changes = replacement(&it, 6..6, "new\n  ");
    it.edited(&changes, By::Person).unwrap();
    // Behind it, at the end of its line.
    let end = "one\n  new\n  TWO".len();
    let changes = replacement(&it, end..end, "\nlast");
    it.edited(&changes, By::Person).unwrap();
    assert_eq!(it.base(), "one\n  new\n  two\nlast\nthree\n");
    check(
        &mut it,
        expect![[r#"
            2..3 pending turn-1 "  two\n" -> "  TWO\n"
        "#]],
    );
}

#[test]
fn a_file_that_the_person_brings_back_is_settled() {
    let mut it = ledger("one\ntwo\n");
    it.deleted(By::Agent(&author(1)));
    it.restored("one\ntwo\n", By::Person);
    assert!(it.is_settled());
    assert_eq!(it.base(), "one\ntwo\n");
    expect![[r#"
        0..0 "one\ntwo\n" -> "": Reverted
    "#]]
    .assert_eq(&told(&mut it));
}

#[test]
fn a_later_turn_is_taken_back_to_where_the_earlier_one_was() {
    let mut it = ledger("one\ntwo\nthree\n");
    agent(&mut it, 1, "two", "TWO");
    agent(&mut it, 2, "TWO\nthree", "2\n3");
    check(
        &mut it,
        expect![[r#"
        1..3 pending turn-1 turn-2 "two\nthree\n" -> "2\n3\n"
    "#]],
    );
    // The earlier one carries the later.
    let mut other = it.clone();
    let undo = revert(&mut other, turn(1));
    assert_eq!((undo.hunks.len(), undo.left.len()), (0, 1));
    let kept = other.keep(turn(2));
    assert_eq!((kept.settled.len(), kept.left.len()), (0, 1));
    other.keep(turn(1));
    check(
        &mut other,
        expect![[r#"
        1..3 pending turn-2 "TWO\nthree\n" -> "2\n3\n"
    "#]],
    );

    revert(&mut it, turn(2));
    check(
        &mut it,
        expect![[r#"
        1..2 pending turn-1 "two\n" -> "TWO\n"
    "#]],
    );
}

#[test]
fn keeping_changes_no_text() {
    let mut it = ledger("one\ntwo\nthree\n");
    agent(&mut it, 1, "one", "ONE");
    agent(&mut it, 2, "three", "THREE");
    person(&mut it, "THREE", "THREE!");
    it.keep(turn(1));
    check(
        &mut it,
        expect![[r#"
        2..3 mixed turn-2 "three\n" -> "THREE!\n"
    "#]],
    );
    it.keep(Which::All);
    assert!(it.is_settled());
    assert_eq!(it.base(), "ONE\ntwo\nTHREE!\n");
    assert_eq!(*it.live(), "ONE\ntwo\nTHREE!\n");
}

#[test]
fn a_file_that_the_agent_made_is_deleted_only_if_every_byte_is_the_agents() {
    let mut it = Ledger::created("one\n", &author(1));
    assert_eq!(it.revert(Which::All).file, Some(FileStep::Delete));
    assert_eq!(it.revert(turn(1)).file, Some(FileStep::Delete));
    assert_eq!(it.revert(turn(2)).file, None);
    let ids = [it.hunks()[0].id.clone()];
    assert_eq!(it.revert(Which::Hunks(&ids)).file, Some(FileStep::Delete));

    let mut other = it.clone();
    person(&mut other, "one\n", "one\ntwo\n");
    assert_eq!(other.revert(Which::All).file, None);
    revert(&mut other, Which::All);
    assert_eq!(*other.live(), "two\n");

    it.deleted(By::Review);
    assert!(it.is_settled());
}

#[test]
fn an_empty_file_is_something_to_review_too() {
    let mut it = Ledger::created("", &author(1));
    assert!(!it.is_settled());
    assert_eq!(it.revert(Which::All).file, Some(FileStep::Delete));
    it.keep(turn(1));
    assert!(it.is_settled());
}

#[test]
fn a_file_that_the_agent_deleted_comes_back() {
    let mut it = ledger("one\ntwo\n");
    agent(&mut it, 1, "two", "TWO");
    it.deleted(By::Agent(&author(2)));
    check(
        &mut it,
        expect![[r#"
        0..0 pending turn-1 turn-2 "one\ntwo\n" -> ""
    "#]],
    );
    let undo = it.revert(turn(2));
    assert_eq!(undo.file, Some(FileStep::Create));
    let text = undo.changes.apply("").unwrap();
    it.restored(&text, By::Review);
    check(
        &mut it,
        expect![[r#"
        1..2 pending turn-1 "two\n" -> "TWO\n"
    "#]],
    );
}

#[test]
fn a_file_that_the_agent_deletes_and_writes_again_is_compared_line_by_line() {
    let mut it = ledger("one\ntwo\nthree\nfour\nfive\n");
    it.deleted(By::Agent(&author(1)));
    it.restored("one\nTWO\nthree\nFOUR\nfive\n", By::Agent(&author(1)));
    check(
        &mut it,
        expect![[r#"
        1..2 pending turn-1 "two\n" -> "TWO\n"
        3..4 pending turn-1 "four\n" -> "FOUR\n"
    "#]],
    );
}

#[test]
fn equal_hunks_keep_their_own_ids() {
    let mut it = ledger("one\nx\ntwo\nx\nthree\n");
    agent(&mut it, 1, "x\ntwo", "y\ntwo");
    agent(&mut it, 1, "x\nthree", "y\nthree");
    let before = it.hunks();
    assert_eq!(before[1].id.0, format!("{}-2", before[0].id));
    it.keep(Which::Hunks(&[before[0].id.clone()]));
    assert_eq!(it.hunks()[0].id, before[1].id);
    let live = it.live().to_string();
    let mut again = Ledger::from_record(&it.to_record(), &live).unwrap();
    assert_eq!(again.hunks()[0].id, before[1].id);
}

#[test]
fn a_commit_settles_what_is_in_it_unchanged() {
    let mut it = ledger("one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    agent(&mut it, 1, "two", "TWO");
    agent(&mut it, 1, "four\n", "");
    agent(&mut it, 1, "six", "SIX");
    // The deletion was not committed, and one change only in part.
    let kept = it.committed("one\nTWO\nthree\nfour\nfive\nsIX\nseven\n", false);
    assert_eq!(kept.settled.len(), 1);
    check(
        &mut it,
        expect![[r#"
        3..3 pending turn-1 "four\n" -> ""
        4..5 pending turn-1 "six\n" -> "SIX\n"
    "#]],
    );
    it.committed("one\nTWO\nthree\nfive\nSIX\nseven\n", false);
    assert!(it.is_settled());
}

#[test]
fn the_model_is_told_what_became_of_each_change_once() {
    let mut it = ledger("one\ntwo\nthree\n");
    agent(&mut it, 1, "one", "ONE");
    agent(&mut it, 1, "two\n", "");
    agent(&mut it, 1, "three", "THREE");
    person(&mut it, "THREE", "Three");
    let ids: Vec<_> = it.hunks().into_iter().map(|it| it.id).collect();
    assert_eq!(ids.len(), 1, "neighbouring changes are one hunk");
    person(&mut it, "Three", "3");
    expect![[r#"
        0..2 "one\ntwo\nthree\n" -> "ONE\nTHREE\n": Changed { now: "ONE\n3\n" }
    "#]]
    .assert_eq(&told(&mut it));
    assert_eq!(told(&mut it), "");
    it.keep(Which::All);
    expect![[r#"
        0..2 "one\ntwo\nthree\n" -> "ONE\nTHREE\n": Kept { now: "ONE\n3\n" }
    "#]]
    .assert_eq(&told(&mut it));
    assert_eq!(it.take_report("other"), []);
}

#[test]
fn a_large_edit_of_the_persons_touches_only_what_differs() {
    let mut it = ledger("one\ntwo\nthree\nfour\nfive\n");
    agent(&mut it, 1, "two", "TWO");
    let live = it.live().to_string();
    let formatted = live.replace("four", "  four").replace("one", "  one");
    let changes = replacement(&it, 0..live.len(), &formatted);
    it.edited(&changes, By::Person).unwrap();
    check(
        &mut it,
        expect![[r#"
        1..2 pending turn-1 "two\n" -> "TWO\n"
    "#]],
    );
}

#[test]
fn a_restart_finds_the_hunks_again() {
    let mut it = ledger("one\ntwo\nthree\nfour\n");
    agent(&mut it, 1, "two", "TWO");
    agent(&mut it, 1, "four", "FOUR");
    let ids: Vec<_> = it.hunks().into_iter().map(|it| it.id).collect();
    let record = it.to_record();
    let mut again = Ledger::from_record(&record, "new\none\nTWO\nthree\nfour!\n").unwrap();
    check(
        &mut again,
        expect![[r#"
        2..3 pending turn-1 "two\n" -> "TWO\n"
        4..5 mixed turn-1 "four\n" -> "four!\n"
    "#]],
    );
    assert_eq!(again.hunks()[0].id, ids[0]);
}

#[test]
fn a_record_that_does_not_fit_together_is_refused() {
    let mut it = ledger("one\ntwo\n");
    agent(&mut it, 1, "two", "TWO");
    let record = it.to_record();
    let mut other = record.clone();
    other.base.push('x');
    assert_eq!(
        Ledger::from_record(&other, "").unwrap_err(),
        Damaged::Content
    );
    let mut other = record.clone();
    other.hunks[0].live.push('x');
    assert_eq!(
        Ledger::from_record(&other, "").unwrap_err(),
        Damaged::Content
    );
    let mut other = record.clone();
    other.hunks[0].base_start = u64::MAX;
    assert_eq!(
        Ledger::from_record(&other, "").unwrap_err(),
        Damaged::Content
    );
    let mut other = record.clone();
    other.hunks[0].layers.clear();
    assert_eq!(
        Ledger::from_record(&other, "").unwrap_err(),
        Damaged::Content
    );
    let mut other = record;
    other.v += 1;
    assert_eq!(
        Ledger::from_record(&other, "").unwrap_err(),
        Damaged::Version(2)
    );
}

#[test]
fn an_edit_for_another_text_changes_nothing() {
    let mut it = ledger("é\n");
    let before = it.to_record();
    let other = ChangeSet::between("x", "y");
    let expected = Misfit::Length {
        expected: 1,
        found: 3,
    };
    assert_eq!(it.edited(&other, By::Person), Err(expected));
    let cut = replacement(&it, 1..1, "x");
    assert_eq!(it.edited(&cut, By::Person), Err(Misfit::Boundary { at: 1 }));
    assert_eq!(it.to_record(), before);
}

#[test]
fn a_revert_that_came_back_changed_counts_as_the_persons() {
    let mut it = ledger("one\ntwo\n");
    agent(&mut it, 1, "two", "TWO");
    let changes = replacement(&it, 4..7, "twox");
    it.edited(&changes, By::Review).unwrap();
    check(
        &mut it,
        expect![[r#"
        1..2 mixed turn-1 "two\n" -> "twox\n"
    "#]],
    );
}

#[test]
fn a_line_break_that_would_melt_with_a_hunks_is_in_the_hunk() {
    let mut it = ledger("one\rtwo\rthree");
    agent(&mut it, 1, "two\r", "TWO\r");
    person(&mut it, "three", "\nthree");
    check(
        &mut it,
        expect![[r#"
            1..2 mixed turn-1 "two\r" -> "TWO\r\n"
        "#]],
    );
}

#[test]
fn the_last_line_without_an_end_is_a_line() {
    let mut it = ledger("one");
    agent(&mut it, 1, "one", "one\ntwo");
    check(
        &mut it,
        expect![[r#"
        0..2 pending turn-1 "one" -> "one\ntwo"
    "#]],
    );
    revert(&mut it, Which::All);
    assert_eq!(*it.live(), "one");
}

#[test]
fn undo_of_a_revert_makes_the_hunk_pending_again_and_redo_settles_it() {
    let mut it = ledger("one\ntwo\nthree\nfour\n");
    agent(&mut it, 1, "two", "TWO\nAND");
    agent(&mut it, 1, "four", "FOUR");
    let hunks = it.hunks();
    revert(&mut it, Which::Hunks(&[hunks[0].id.clone()]));
    person(&mut it, "two\n", "TWO\nAND\n");
    assert_eq!(it.hunks(), hunks);
    expect![[r#"
        1..3 "two\n" -> "TWO\nAND\n": Reverted
        1..3 "two\n" -> "TWO\nAND\n": Restored
    "#]]
    .assert_eq(&told(&mut it));
    person(&mut it, "TWO\nAND\n", "two\n");
    check(
        &mut it,
        expect![[r#"
            3..4 pending turn-1 "four\n" -> "FOUR\n"
        "#]],
    );
    expect![[r#"
        1..3 "two\n" -> "TWO\nAND\n": Reverted
    "#]]
    .assert_eq(&told(&mut it));
}

#[test]
fn what_was_kept_before_an_undo_stays_kept() {
    let mut it = ledger("one\ntwo\nthree\n");
    agent(&mut it, 1, "one", "ONE");
    agent(&mut it, 1, "three", "THREE");
    let ids: Vec<_> = it.hunks().into_iter().map(|it| it.id).collect();
    revert(&mut it, Which::Hunks(&ids[1..]));
    it.keep(Which::All);
    assert!(it.is_settled());
    assert!(it.remembers());
    person(&mut it, "three", "THREE");
    check(
        &mut it,
        expect![[r#"
            2..3 pending turn-1 "three\n" -> "THREE\n"
        "#]],
    );
    it.keep(Which::All);
    assert!(!it.remembers());
    assert_eq!(it.base(), "ONE\ntwo\nTHREE\n");
}

#[test]
fn a_commit_with_plain_line_breaks_settles_what_is_in_it_unchanged() {
    let mut it = ledger("one\r\ntwo\r\nthree\nfour\r\nfive\r\n");
    agent(&mut it, 1, "two\r\n", "TWO\r\nAND\r\n");
    agent(&mut it, 1, "four", "FOUR");
    let mut other = it.clone();
    other.committed("one\nTWO\nAND\nthree\nFOUR\nfive\n", false);
    assert_eq!(other.hunks().len(), 2, "said as it is, it is another text");
    it.committed("one\nTWO\nAND\nthree\nfour\nfive\n", true);
    check(
        &mut it,
        expect![[r#"
            4..5 pending turn-1 "four\r\n" -> "FOUR\r\n"
        "#]],
    );
}

#[test]
fn two_ledgers_of_one_text_become_one() {
    let mut one = ledger("a\nb\nc\nd\ne\nf\ng\n");
    let mut two = one.clone();
    let (first, second) = (author(1), author(2));
    let steps = [
        (true, "b", "B"),
        (false, "c", "C"),
        (true, "e", "E1"),
        (false, "E1", "E2"),
        (false, "g\n", ""),
    ];
    for (is_first, from, to) in steps {
        let (by_one, by_two) = match is_first {
            true => (By::Agent(&first), By::Person),
            false => (By::Person, By::Agent(&second)),
        };
        swap(&mut one, by_one, from, to);
        swap(&mut two, by_two, from, to);
    }
    let mut reverse = two.clone();
    reverse.adopt(one.clone());
    one.adopt(two);
    check(
        &mut one,
        expect![[r#"
            1..3 pending turn-1 turn-2 "b\nc\n" -> "B\nC\n"
            4..5 mixed turn-1 turn-2 "e\n" -> "E2\n"
            6..6 pending turn-2 "g\n" -> ""
        "#]],
    );
    assert_eq!(one.base(), "a\nb\nc\nd\ne\nf\ng\n");
    assert_eq!(reverse.base(), one.base());
    assert_eq!(reverse.hunks().len(), 3);
}
