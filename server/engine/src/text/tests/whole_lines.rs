//! Targets that are whole lines, and those that are written a little otherwise than the file.

use expect_test::{Expect, expect};

use super::random_lines;
use crate::text::{LocateError, Pass, insert_line, replace};

const SEED: u64 = 0x5eed_0007;

#[track_caller]
fn check(text: &str, target: &str, replacement: &str, fuzzy: Option<Pass>, expected: &str) {
    let located = replace(text, target, replacement, false).unwrap();
    let new = located.changes.apply(text).unwrap();
    assert_eq!((new.as_str(), located.fuzzy), (expected, fuzzy));
}

#[track_caller]
fn check_all(text: &str, target: &str, replacement: &str, expected: &str) {
    let located = replace(text, target, replacement, true).unwrap();
    assert_eq!(located.changes.apply(text).unwrap(), expected);
}

#[test]
fn r_8_blanks_at_the_ends_of_lines_are_overlooked() {
    let fuzzy = Some(Pass::TrailingBlanks);
    check("a  \nb\t\nc\n", "a\nb\n", "A\nb\n", fuzzy, "A\nb\t\nc\n");
    check("a\nb\nc\n", "a \nb \n", "A \nb \n", fuzzy, "A \nb\nc\n");
    check("x\r\na \r\nb", "a\nb\n", "a\nB\n", fuzzy, "x\r\na \r\nB");
}

#[test]
fn r_8_other_indentation_is_overlooked_and_the_files_is_given_to_what_comes_in() {
    let fuzzy = Some(Pass::Indentation);
    check(
        "fn f() {\n    if x {\n        a();\n    }\n}\n",
        "if x {\n    a();\n}\n",
        "if x {\n    a();\n    if y {\n        b();\n    }\n}\n",
        fuzzy,
        "fn f() {\n    if x {\n        a();\n        if y {\n            b();\n        }\n    }\n}\n",
    );
    // Tabs for the model's spaces.
    check(
        "{\n\tif x {\n\t\ta();\n\t}\n}\n",
        "    if x {\n        a();\n    }\n",
        "    if x {\n        a();\n\n        for y {\n            b();\n        }\n    }\n",
        fuzzy,
        "{\n\tif x {\n\t\ta();\n\n\t\tfor y {\n\t\t\tb();\n\t\t}\n\t}\n}\n",
    );
    // Two spaces for four, and less deep than any line of the target.
    check(
        "a:\n  b:\n    c\n    d\n",
        "        c\n        d\n",
        "        c\n    e:\n        d\n",
        fuzzy,
        "a:\n  b:\n    c\n  e:\n    d\n",
    );
    // A line that only moves in.
    check(
        "f() {\n  a();\n}\n",
        "    a();\n",
        "    if x {\n        a();\n    }\n",
        fuzzy,
        "f() {\n  if x {\n    a();\n  }\n}\n",
    );
    // Written without any: each line takes that of the nearest.
    check(
        "a\n    b\n        c\n",
        "a\nb \nc",
        "a\nb2\nc2",
        fuzzy,
        "a\n    b2\n        c2\n",
    );
}

#[test]
fn r_8_characters_of_print_are_those_of_the_keyboard() {
    let fuzzy = Some(Pass::Typography);
    check(
        "say(\u{201c}it\u{2019}s\u{201d});\nx\u{a0}= 1 \u{2212} 2;\n",
        "say(\"it's\");\nx = 1 - 2;\n",
        "say(\"it's\");\nx = 3;\n",
        fuzzy,
        "say(\u{201c}it\u{2019}s\u{201d});\nx = 3;\n",
    );
    check("    a \u{2013} b\n", "a - b", "a + b", fuzzy, "    a + b\n");
    check("it's\n", "it\u{2019}s", "its", fuzzy, "its\n");
    for it in "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}".chars() {
        check(&format!("a{it}b"), "a-b", "c", fuzzy, "c");
    }
    for it in "\u{2002}\u{200a}\u{202f}\u{205f}\u{3000}".chars() {
        check(&format!("a{it}b"), "a b", "c", fuzzy, "c");
    }
}

#[test]
fn r_9_a_stricter_pass_wins_over_a_looser_one() {
    check("a\na  \n", "a", "b", None, "b\na  \n");
    check("a  \na\n", "a\n", "b\n", None, "a  \nb\n");
    check("a  \na", "a\n", "b\n", None, "a  \nb");
    check(
        "  a\na  \n",
        "a \n",
        "b\n",
        Some(Pass::TrailingBlanks),
        "  a\nb\n",
    );
    check(
        "it\u{2019}s\n  it's\n",
        "\tit's",
        "\tx",
        Some(Pass::Indentation),
        "it\u{2019}s\n  x\n",
    );
    // Whole lines before a part of one.
    check(
        "    x = 1;\nx = 1;\n",
        "x = 1;",
        "y",
        None,
        "    x = 1;\ny\n",
    );
}

#[test]
fn ambiguity_is_judged_within_the_pass_that_decides() {
    let count = |text: &str, target: &str| match replace(text, target, "new", false) {
        Err(LocateError::Ambiguous { count }) => count,
        other => panic!("{other:?}"),
    };
    assert_eq!(count("a \na  \n a\n", "a\t"), 2);
    assert_eq!(count("  a\n    a\n", "\ta\n"), 2);
    // Hits that overlap are more than one, and do not both count as places.
    assert_eq!(count("a \na \na \n", "a\na\n"), 2);
    check_all("a \na \na \n", "a\na\n", "b\n", "b\na \n");
    check_all("  a\nx\n    a\n", "\ta\n", "\tb\n", "  b\nx\n    b\n");
}

#[test]
fn r_10_blank_lines_and_unrelated_text_are_found_nowhere() {
    let not_found = |text: &str, target: &str| {
        matches!(
            replace(text, target, "x", false),
            Err(LocateError::NotFound { .. })
        )
    };
    assert!(not_found("a\n\nb\n", "  \n"));
    assert!(not_found("a\nb\n", "a\nc\n"));
    assert!(not_found("a\nb\n", "b\n\n"));
    assert!(not_found("ab\n", "  a\n"));
}

#[test]
fn a_final_ending_of_target_or_replacement_does_not_count_for_whole_lines() {
    check("a\nb\nc\n", "b\n", "B", None, "a\nB\nc\n");
    check("a\nb\nc\n", "b", "B\n", None, "a\nB\nc\n");
    check("a\r\nb\r\nc", "b\n", "B", None, "a\r\nB\r\nc");
    check("a\nb", "b\n", "B\n", None, "a\nB");
    // A replacement of one ending leaves one blank line.
    check("a\nb\nc\n", "b", "\n", None, "a\n\nc\n");
    check("a\nb\nc\n", "b\n", "\n", None, "a\n\nc\n");
    check(
        "a\nb \nc\n",
        "b\n",
        "\n",
        Some(Pass::TrailingBlanks),
        "a\n\nc\n",
    );
    // When nothing else differs it is meant.
    check("a\nb\n", "a", "a\n", None, "a\n\nb\n");
    check("a\nb\n", "b\n", "b", None, "a\nb");
    // Part of a line has no such rule.
    check("a b\nc\n", "b\n", "B ", None, "a B c\n");
}

#[test]
fn an_empty_replacement_takes_lines_out() {
    check("a\nb\nc\n", "b", "", None, "a\nc\n");
    check("a\nb\nc\n", "b\n", "", None, "a\nc\n");
    check(
        "a\r\n b\r\nc\r\n",
        "b ",
        "",
        Some(Pass::Indentation),
        "a\r\nc\r\n",
    );
    check("a\nb\nc", "b\nc", "", None, "a");
    check("a\r\nb \r\nc", "b\nc", "", Some(Pass::TrailingBlanks), "a");
    check("a", "a", "", None, "");
    check("a b\n", "b", "", None, "a \n");
    check_all("b\na\nb\nb", "b", "", "a");
    check_all("b\na b\nb\n", "b", "", "a \n");
    check_all("b\nb", "b", "", "");
}

#[test]
fn a_file_that_ends_with_blank_lines_keeps_them() {
    check("a\n\n", "a", "b", None, "b\n\n");
    check(
        "a \n\n\n",
        "a\n",
        "b\n",
        Some(Pass::TrailingBlanks),
        "b\n\n\n",
    );
}

#[test]
fn a_line_is_put_behind_another() {
    let check = |text: &str, line: usize, new: &str, expected: &str| {
        let located = insert_line(text, line, new).unwrap();
        assert_eq!(located.changes.apply(text).unwrap(), expected);
    };
    check("a\nb\n", 0, "x", "x\na\nb\n");
    check("a\nb\n", 1, "x\ny\n", "a\nx\ny\nb\n");
    check("a\nb\n", 2, "x", "a\nb\nx\n");
    check("a\r\nb", 2, "x\ny", "a\r\nb\r\nx\r\ny");
    check("a\r\nb\n", 1, "x", "a\r\nx\r\nb\n");
    check("a\nb\n\n", 2, "x", "a\nb\nx\n\n");
    check("a\n", 1, "\n", "a\n\n");
    check("", 0, "x", "x\n");
    check("a", 0, "x", "x\na");
    let refused = |text: &str, line: usize, new: &str, expected: Expect| {
        expected.assert_eq(&insert_line(text, line, new).unwrap_err().to_string());
    };
    refused(
        "a\nb\n",
        3,
        "x",
        expect!["insert_line is 3, but the file has 2 lines; give a line from 0 to 2"],
    );
    assert_eq!(insert_line("a\n", 1, ""), Err(LocateError::Unchanged));
}

/// Text that repeats itself took time for each line times the lines of the target.
#[test]
fn looking_for_lines_is_linear_in_a_text_that_repeats_itself() {
    let text = " x\n".repeat(60_000);
    let target = format!("{}y\n", "x\n".repeat(20_000));
    assert!(replace(&text, &target, "z", false).is_err());
    let located = replace(&text, &"x\n".repeat(3), "y\n", true).unwrap();
    let new = located.changes.apply(&text).unwrap();
    assert_eq!(new, " y\n".repeat(20_000));
}

/// Lines outside the place stay byte for byte, and in it are those of the replacement but for blanks.
#[test]
fn whatever_is_overlooked_only_the_lines_of_the_place_change() {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut n_fuzzy = [0; 2];
    for round in 0..40_000 {
        let ending = ["\n", "\r\n", "\r"][random.usize(..3)];
        let plain = |it: &str| it.replace("\r\n", "\n").replace('\r', "\n");
        let text = plain(&random_lines(&mut random, 8)).replace('\n', ending);
        let lines: Vec<&str> = text.split_inclusive(ending).collect();
        if !text.contains(ending) {
            continue;
        }
        let start = random.usize(..lines.len());
        let end = random.usize(start..lines.len()) + 1;
        let blanks = ["", " ", "\t", "    "][random.usize(..4)];
        let target: String = lines[start..end]
            .iter()
            .map(|it| match random.bool() {
                true => format!("{blanks}{}\n", it.trim()),
                false => format!("{} \n", it.trim_end()),
            })
            .collect();
        let replacement = plain(&random_lines(&mut random, 4));
        let Ok(located) = replace(&text, &target, &replacement, false) else {
            continue;
        };
        match located.fuzzy {
            Some(Pass::TrailingBlanks) => n_fuzzy[0] += 1,
            Some(Pass::Indentation) => n_fuzzy[1] += 1,
            Some(Pass::Typography) | None => continue,
        }
        let new = located.changes.apply(&text).unwrap();
        let story =
            format!("round {round}: {target:?} to {replacement:?} in {text:?} gave {new:?}");
        let (before, after) = (lines[..start].concat(), lines[end..].concat());
        if replacement.is_empty() && after.is_empty() {
            assert!(before.starts_with(&new), "{story}");
            continue;
        }
        let middle = new
            .strip_prefix(&before)
            .and_then(|it| it.strip_suffix(&after));
        let middle = middle.unwrap_or_else(|| panic!("{story}"));
        // The last line has an ending only where the text's last one has.
        let middle = match text.ends_with(ending) || !after.is_empty() || replacement.is_empty() {
            true => middle.to_owned(),
            false => format!("{middle}{ending}"),
        };
        let trimmed =
            |it: &str| -> Vec<String> { it.lines().map(|it| it.trim().to_owned()).collect() };
        assert_eq!(trimmed(&plain(&middle)), trimmed(&replacement), "{story}");
        assert_eq!(plain(&middle).replace('\n', ending), middle, "{story}");
    }
    assert!(n_fuzzy.iter().all(|it| *it > 500), "{n_fuzzy:?}");
}
