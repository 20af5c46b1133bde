//! Where a target is found, how it is replaced, and what a refusal tells the model.

#![allow(clippy::disallowed_types, reason = "a bound on time is tested")]

use std::time::Instant;

use expect_test::{Expect, expect};

use super::{random_lines, random_text};
use crate::rounds::rounds;
use crate::text::{LocateError, replace, with_line_endings_of};

const SEED: u64 = 0x5eed_0004;

fn check(text: &str, target: &str, replacement: &str, expected: &str) {
    let new = replace(text, target, replacement, false)
        .unwrap()
        .changes
        .apply(text)
        .unwrap();
    assert_eq!(new, expected);
}

fn check_refused(text: &str, target: &str, replacement: &str, expected: Expect) {
    expected.assert_eq(
        &replace(text, target, replacement, false)
            .unwrap_err()
            .to_string(),
    );
}

#[test]
fn r_6_a_target_that_stands_once_is_replaced() {
    check("a\nb\nc\n", "b\n", "B\nb\n", "a\nB\nb\nc\n");
    check("one two", "two", "", "one ");
    check("a\n", "a\n", "a", "a");
    check("a", "a", "a\n", "a\n");
    check("\u{feff}a\nb\n", "a\n", "c\n", "\u{feff}c\nb\n");
    check("é😀\n", "😀", "漢", "é漢\n");
}

#[test]
fn r_6_a_target_that_stands_twice_is_refused_with_the_count() {
    check_refused(
        "x\nx\ny\nx\n",
        "x",
        "z",
        expect!["target_content occurs 3 times; add lines around it or set allow_multiple"],
    );
    // Two places which overlap are two all the same.
    assert_eq!(
        replace("aaa", "aa", "b", false),
        Err(LocateError::Ambiguous { count: 2 })
    );
    assert_eq!(
        replace("x\r\nx\r\nx\r\n", "x\nx\n", "b", false),
        Err(LocateError::Ambiguous { count: 2 })
    );
    assert!(replace("aabaa", "aab", "b", false).is_ok());
}

#[test]
fn allow_multiple_replaces_every_place() {
    let text = "x\r\nxy\r\n x";
    let new = replace(text, "x", "é", true)
        .unwrap()
        .changes
        .apply(text)
        .unwrap();
    assert_eq!(new, "é\r\néy\r\n é");
    // Each with the ending of its own line.
    let text = "x\r\nx\n";
    let new = replace(text, "x", "x\ny", true).unwrap();
    assert_eq!(new.changes.apply(text).unwrap(), "x\r\ny\r\nx\ny\n");
    // Places which overlap once they are widened to whole endings.
    let text = "\r\n\r\n\r\n";
    let new = replace(text, "\n\r", "x", true).unwrap();
    assert_eq!(new.changes.apply(text).unwrap(), "x\r\n\r\n");
}

#[test]
fn a_model_writes_lf_and_the_file_keeps_its_endings() {
    check(
        "a\r\nb\r\nc\r\n",
        "a\nb\n",
        "a\nx\nb\n",
        "a\r\nx\r\nb\r\nc\r\n",
    );
    check("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n");
    // The file uses LF and the model CRLF.
    check("a\nb\n", "a\r\nb\r\n", "a\r\nc\r\n", "a\nc\n");
    // On the last line, which has none, the file's first ending counts.
    check("a\r\nb", "b", "b\nc", "a\r\nb\r\nc");
    check("b", "b", "b\nc", "b\nc");
    check("a\rb\r", "b", "b\nc", "a\rb\rc\r");
    check("a\rb\rc", "a\nb", "a\nx\nb", "a\rx\rb\rc");
}

#[test]
fn lines_of_a_mixed_file_that_stay_keep_their_own_endings() {
    check(
        "a\r\nb\nc\r\nd\n",
        "a\nb\nc\n",
        "a\nx\nb\nC\n",
        "a\r\nx\r\nb\nC\r\nd\n",
    );
    // A log with a progress bar: its lone CR is not an ending to hand on.
    check(
        "10%\r20%\rdone\nend\n",
        "done\n",
        "done\nmore\n",
        "10%\r20%\rdone\nmore\nend\n",
    );
    check(
        "10%\r20%\rdone\nend\n",
        "10%\r20%\rdone",
        "10%\nx\n20%\ndone",
        "10%\rx\n20%\rdone\nend\n",
    );
}

#[test]
fn an_exact_place_comes_before_one_with_other_endings() {
    check("a\r\nb\r\na\nb\n", "a\nb\n", "c\n", "a\r\nb\r\nc\n");
    check("a\na\r\n", "a\n", "b\n", "b\na\r\n");
}

#[test]
fn a_target_cut_inside_a_crlf_leaves_no_half_of_it() {
    check("a\r\nb\r\n", "\nb", "\nx\nb", "a\r\nx\r\nb\r\n");
    check("a\r\nb\r\n", "a\r", "c\r", "c\r\nb\r\n");
    check("a\r\nb", "\n", " ", "a b");
    check("a\r\nb", "a\r", "c", "c\r\nb");
}

#[test]
fn an_edit_of_endings_alone_is_done_as_written() {
    let text = "a\r\nb\nc\r\n";
    let to_lf = replace(text, "\r\n", "\n", true).unwrap();
    assert_eq!(to_lf.changes.apply(text).unwrap(), "a\nb\nc\n");
    let to_crlf = replace(text, "\n", "\r\n", true).unwrap();
    assert_eq!(to_crlf.changes.apply(text).unwrap(), "a\r\nb\r\nc\r\n");
}

#[test]
fn a_refusal_tells_the_model_what_to_do() {
    check_refused(
        "a\n",
        "",
        "b",
        expect![
            "target_content is empty; give the text to replace, with enough lines around it to be unique"
        ],
    );
    check_refused(
        "a\n",
        "a",
        "a",
        expect![
            "the replacement is the same as what it replaces, so nothing would change; give other text, or go on if the file is already as you want it"
        ],
    );
    check_refused(
        "a\r\nb\r\n",
        "a\nb",
        "a\r\nb",
        expect![
            "the replacement is the same as what it replaces, so nothing would change; give other text, or go on if the file is already as you want it"
        ],
    );
    check_refused(
        "",
        "anything",
        "b",
        expect![
            "target_content does not occur in the file, nor does anything like it; read the file and copy the lines to replace exactly"
        ],
    );
    check_refused(
        "fn main() {\n}\n",
        "zebra crossing",
        "b",
        expect![
            "target_content does not occur in the file, nor does anything like it; read the file and copy the lines to replace exactly"
        ],
    );
    check_refused(
        "use a;\n\nfn main() {\n    let total = count + 1;\n    print(total);\n}\n",
        "fn main() {\n  let total = count + 1;\n  print(total)\n",
        "",
        expect![[r#"
            target_content does not occur in the file; the most similar text starts at line 3:
            fn main() {
                let total = count + 1;
                print(total);
            Copy the lines to replace exactly as they stand in the file, with their indentation"#]],
    );
    check_refused(
        "one\nlet totals = sum(items);\nend\n",
        "let total = sum(item);",
        "",
        expect![[r#"
            target_content does not occur in the file; the most similar text starts at line 2:
            let totals = sum(items);
            Copy the lines to replace exactly as they stand in the file, with their indentation"#]],
    );
    check_refused(
        "x\nfn b() {\n    let total = count + 1;\n}\n",
        "fn a() {\n    let total = count + 2;",
        "",
        expect![[r#"
            target_content does not occur in the file; the most similar text starts at line 2:
            fn b() {
                let total = count + 1;
            Copy the lines to replace exactly as they stand in the file, with their indentation"#]],
    );
}

#[test]
fn searching_for_the_nearest_text_is_bounded() {
    let text = "some line of a large file, as long as lines are\n".repeat(200_000);
    let target = "some line of a larger file, not as long as this\n".repeat(2_000);
    assert!(matches!(
        replace(&text, &target, "", false),
        Err(LocateError::NotFound {
            nearest: Some((1, _))
        })
    ));
}

/// It took time for each place times the length of the line.
#[test]
fn many_places_on_one_long_line_are_replaced_in_about_linear_time() {
    let tail = "x".repeat(20_000_000);
    let text = format!("{}{tail}", "item, ".repeat(2_000));
    let start = Instant::now();
    let changes = replace(&text, "item", "thing", true).unwrap().changes;
    assert!(start.elapsed().as_secs() < 4, "{:?}", start.elapsed());
    assert!(changes.apply(&text).unwrap() == format!("{}{tail}", "thing, ".repeat(2_000)));
}

/// The only occurrence replaced, by the rule for whole lines where it is some. All endings are `\n`.
fn replaced(text: &str, target: &str, replacement: &str) -> String {
    let chop = |it: &str| it.strip_suffix('\n').unwrap_or(it).to_owned();
    let start = text.find(target).unwrap();
    let end = start + target.len();
    let is_whole = (start == 0 || text[..start].ends_with('\n'))
        && (end == text.len() || target.ends_with('\n') || text[end..].starts_with('\n'));
    let (lines, new) = (chop(target), chop(replacement));
    if !is_whole || lines.is_empty() || lines == new {
        return format!("{}{replacement}{}", &text[..start], &text[end..]);
    }
    let (before, after) = (&text[..start], &text[start + lines.len()..]);
    match (replacement, after.strip_prefix('\n')) {
        ("", Some(after)) => format!("{before}{after}"),
        ("", None) => chop(before),
        (_, _) => format!("{before}{new}{after}"),
    }
}

/// Those that overlap as well.
fn occurrences(text: &str, target: &str) -> usize {
    let at_each = text.char_indices().map(|(at, _)| &text[at..]);
    at_each.filter(|it| it.starts_with(target)).count()
}

/// With `\n` for every ending it is a plain replacement, and the bytes before it stay.
#[test]
fn a_replacement_changes_its_place_and_breaks_no_crlf() {
    let mut n_replaced = 0;
    for (round, mut random) in rounds(SEED, 20_000) {
        let text = random_lines(&mut random, 8);
        let a = text.floor_char_boundary(random.usize(..=text.len()));
        let b = text
            .floor_char_boundary(random.usize(a..=text.len()).min(a + 12))
            .max(a);
        let plain = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
        let target = match random.bool() {
            true => text[a..b].to_owned(),
            false => plain(&text[a..b]),
        };
        let replacement = random_text(&mut random, 4).replace('\r', "");
        let Ok(located) = replace(&text, &target, &replacement, false) else {
            continue;
        };
        let changes = located.changes;
        n_replaced += 1;
        let new = changes.apply(&text).unwrap();
        let story =
            format!("round {round}: {target:?} to {replacement:?} in {text:?} gave {new:?}");
        if !target.ends_with('\r') && occurrences(&plain(&text), &plain(&target)) == 1 {
            let expected = replaced(&plain(&text), &plain(&target), &replacement);
            assert_eq!(plain(&new), expected, "{story}");
        }
        let first = changes.edits()[0].range.start;
        assert_eq!(new[..first], text[..first], "{story}");
        assert!(!new.contains("\r\r\n") || text.contains('\r'), "{story}");
        if !text.contains('\r') {
            assert!(!new.contains('\r'), "{story}");
        }
    }
    assert!(n_replaced > 5_000, "{n_replaced}");
}

#[test]
fn a_file_written_whole_keeps_its_endings_and_its_mark() {
    assert_eq!(with_line_endings_of("a\r\nb\r\n", "x\ny\nz"), "x\r\ny\r\nz");
    assert_eq!(with_line_endings_of("a\rb\r", "x\ny\n"), "x\ry\r");
    assert_eq!(with_line_endings_of("a\nb\n", "x\ny\n"), "x\ny\n");
    assert_eq!(with_line_endings_of("a\nb\n", "x\r\ny\r\n"), "x\r\ny\r\n");
    assert_eq!(with_line_endings_of("", "x\n"), "x\n");
    assert_eq!(
        with_line_endings_of("\u{feff}a\r\n", "a\nb\n"),
        "\u{feff}a\r\nb\r\n"
    );
    assert_eq!(with_line_endings_of("\u{feff}", "\u{feff}a"), "\u{feff}a");
    assert_eq!(
        with_line_endings_of("a\r\nb\nc\r\n", "a\nb\nx\nc\n"),
        "a\r\nb\nx\nc\r\n"
    );
}
