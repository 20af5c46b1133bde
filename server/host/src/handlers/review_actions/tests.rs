//! The choices as data, and the edits as the ledger sees them come back.

use super::*;
use engine::review::By;
use engine::text::ChangeSet;
use engine::text::position::apply_change;
use expect_test::{Expect, expect};
use protocol::session::{CallId, TurnId};
use ropey::Rope;

const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn path() -> &'static Path {
    Path::new("/a.txt")
}

fn author(turn: u64) -> Author {
    Author {
        session: "s".to_owned(),
        turn: TurnId(turn),
        call: CallId(turn),
    }
}

/// `BASE` after the agent's texts, one a turn.
fn ledger(texts: &[&str]) -> Ledger {
    let mut ledger = Ledger::new(Rope::from_str(BASE));
    for (turn, text) in (1..).zip(texts) {
        ledger.replaced(text, By::Agent(&author(turn)));
    }
    ledger
}

/// A line changed, a line gone, a line more.
const CHANGED: &str = "one\nTWO\nthree\nfour\nsix\nseven\nnew\neight\n";

fn range(start: (u32, u32), end: (u32, u32)) -> lsp::Range {
    let at = |(line, character)| lsp::Position { line, character };
    lsp::Range {
        start: at(start),
        end: at(end),
    }
}

fn check(ledger: &mut Ledger, range: lsp::Range, expected: Expect) {
    let hunks = ledger.hunks();
    let picked = picked(&hunks, selected_lines(&range));
    let uri = lsp::Uri::from("file:///a.txt".to_owned());
    let name = |id: &str| {
        hunks
            .iter()
            .position(|it| wire_id(path(), &it.id) == id)
            .unwrap()
    };
    let mut text = String::new();
    for it in choices(&uri, path(), &hunks, &picked, true) {
        let mut target = it.target.to_string();
        for hunk in &hunks {
            let id = wire_id(path(), &hunk.id);
            target = target.replace(&id, &name(&id).to_string());
        }
        let edit: Option<Vec<usize>> = it.edit.map(|it| it.iter().map(|it| name(it)).collect());
        text.push_str(&format!("{}: {target}", it.title));
        match edit {
            Some(edit) => text.push_str(&format!(", edit of {edit:?}\n")),
            None => text.push('\n'),
        }
    }
    expected.assert_eq(&text);
}

#[test]
fn a_cursor_on_a_change_is_offered_it_and_all_that_is_wider() {
    check(
        &mut ledger(&[CHANGED]),
        range((1, 2), (1, 2)),
        expect![[r#"
            Keep this change: {"hunkIds":["0"]}
            Revert this change: {"hunkIds":["0"]}, edit of [0]
            Keep all changes in this file: {"uri":"file:///a.txt"}
            Revert all changes in this file: {"uri":"file:///a.txt"}, edit of [0, 1, 2]
            Revert the whole turn: {"sessionId":"s","turn":1}, edit of [0, 1, 2]
            Keep everything: {}
        "#]],
    );
}

#[test]
fn a_selection_is_offered_the_changes_in_it() {
    check(
        &mut ledger(&[CHANGED]),
        range((0, 0), (5, 0)),
        expect![[r#"
            Keep these 2 changes: {"hunkIds":["0","1"]}
            Revert these 2 changes: {"hunkIds":["0","1"]}, edit of [0, 1]
            Keep all changes in this file: {"uri":"file:///a.txt"}
            Revert all changes in this file: {"uri":"file:///a.txt"}, edit of [0, 1, 2]
            Revert the whole turn: {"sessionId":"s","turn":1}, edit of [0, 1, 2]
            Keep everything: {}
        "#]],
    );
}

#[test]
fn lines_that_are_gone_are_found_on_the_lines_around_the_gap() {
    let mut ledger = ledger(&[CHANGED]);
    let hunks = ledger.hunks();
    let found = |line: u32| -> Vec<u32> {
        let lines = selected_lines(&range((line, 0), (line, 0)));
        picked(&hunks, lines)
            .iter()
            .map(|it| it.lines.start)
            .collect()
    };
    let all: Vec<Vec<u32>> = (0..8).map(found).collect();
    assert_eq!(
        all,
        [
            vec![],
            vec![1],
            vec![],
            vec![4],
            vec![4],
            vec![],
            vec![6],
            vec![]
        ]
    );
}

#[test]
fn lines_that_are_gone_at_both_ends_of_the_text_are_found() {
    let mut ledger = ledger(&["two\nthree\nfour\nfive\nsix\nseven\n"]);
    let hunks = ledger.hunks();
    let found = |line| picked(&hunks, line..line + 1).len();
    assert_eq!((found(0), found(1), found(5), found(6)), (1, 0, 1, 1));
}

#[test]
fn a_new_file_without_a_line_is_judged_as_a_file() {
    check(
        &mut Ledger::new(Rope::new()),
        range((0, 0), (0, 0)),
        expect![[r#"
            Keep all changes in this file: {"uri":"file:///a.txt"}
            Revert all changes in this file: {"uri":"file:///a.txt"}, edit of []
            Keep everything: {}
        "#]],
    );
}

#[test]
fn the_persons_own_edits_are_named_and_never_reverted_with_the_rest() {
    let mut ledger = ledger(&[CHANGED]);
    ledger.replaced(&CHANGED.replace("TWO", "TWO, mine"), By::Person);
    check(
        &mut ledger,
        range((1, 0), (1, 0)),
        expect![[r#"
            Keep this change: {"hunkIds":["0"]}
            Revert this change, and your own edits in it: {"hunkIds":["0"]}, edit of [0]
            Keep all changes in this file: {"uri":"file:///a.txt"}
            Revert all changes in this file but those you edited too: {"uri":"file:///a.txt"}, edit of [1, 2]
            Revert the whole turn: {"sessionId":"s","turn":1}
            Keep everything: {}
        "#]],
    );
}

#[test]
fn a_turn_on_top_of_another_is_the_ledgers_business() {
    check(
        &mut ledger(&[CHANGED, &CHANGED.replace("TWO", "2")]),
        range((1, 0), (1, 0)),
        expect![[r#"
            Keep this change: {"hunkIds":["0"]}
            Revert this change: {"hunkIds":["0"]}, edit of [0]
            Keep all changes in this file: {"uri":"file:///a.txt"}
            Revert all changes in this file: {"uri":"file:///a.txt"}, edit of [0, 1, 2]
            Revert the whole turn: {"sessionId":"s","turn":2}
            Keep everything: {}
        "#]],
    );
}

/// Applies edits as an editor does, from the end, and tells the ledger of it as of the person's edit.
fn apply(ledger: &mut Ledger, edits: Vec<lsp::TextEdit>, encoding: Encoding) {
    let old = ledger.live().to_string();
    let mut rope = ledger.live().clone();
    for edit in edits.into_iter().rev() {
        let at = |it: lsp::Position| (it.line, it.character);
        let range = (at(edit.range.start), at(edit.range.end));
        apply_change(&mut rope, Some(range), &edit.new_text, encoding);
    }
    let changes = ChangeSet::between(&old, &rope.to_string());
    ledger.edited(&changes, By::Person).unwrap();
}

#[test]
fn the_edit_of_a_revert_settles_its_hunks_when_it_comes_back() {
    let cases = [
        (BASE, CHANGED),
        ("a\nb", "a\nb\nc"),
        ("a\nb\nc", "a\nb"),
        ("\u{1d11e}x\r\ny\r\nz", "\u{1d11e}x\r\nz \u{1d11e}"),
        ("", "x\n"),
        ("x\n", ""),
        ("a\rb\rc\r", "a\rc\r"),
    ];
    for (base, live) in cases {
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let mut ledger = Ledger::new(Rope::from_str(base));
            ledger.replaced(live, By::Agent(&author(1)));
            while let Some(hunk) = ledger.hunks().pop() {
                let n_hunks = ledger.hunks().len();
                let edits =
                    edits(&mut ledger, path(), &[wire_id(path(), &hunk.id)], encoding).unwrap();
                apply(&mut ledger, edits, encoding);
                assert_eq!(ledger.hunks().len(), n_hunks - 1, "{base:?} {live:?}");
            }
            assert_eq!(ledger.live().to_string(), base);
            assert!(ledger.is_settled());
        }
    }
}

#[test]
fn a_hunk_that_is_not_there_any_more_has_no_edit() {
    let mut ledger = ledger(&[CHANGED]);
    let ids: Vec<String> = ledger
        .hunks()
        .into_iter()
        .map(|it| wire_id(path(), &it.id))
        .collect();
    ledger.replaced(&CHANGED.replace("TWO", "TWO, mine"), By::Person);
    assert_eq!(edits(&mut ledger, path(), &ids, Encoding::Utf8), None);
    assert!(edits(&mut ledger, path(), &ids[1..], Encoding::Utf8).is_some());
}
