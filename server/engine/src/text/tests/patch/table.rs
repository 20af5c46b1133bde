//! What other tools make of damaged patches, row by row: we take what is clear, and refuse what is not.

use super::apply;

/// Sixty lines: most say which they are, some are everywhere.
fn base() -> Vec<String> {
    (1..=60)
        .map(|n| match n % 7 {
            0 => String::new(),
            5 => "}".to_owned(),
            _ => format!("    line {n}"),
        })
        .collect()
}

fn text(lines: &[String], ending: &str) -> String {
    lines.iter().map(|it| format!("{it}{ending}")).collect()
}

const PATCH: &str = "--- a/f\n+++ b/f\n@@ -29,7 +29,7 @@\n     line 29\n     line 30\n     line 31\n-    line 32\n+    new 32\n }\n     line 34\n \n";

/// The base with line 32 changed.
fn changed(mut lines: Vec<String>) -> Vec<String> {
    let at = lines.iter().position(|it| it == "    line 32").unwrap();
    lines[at] = "    new 32".to_owned();
    lines
}

#[track_caller]
fn check(patch: &str, lines: Vec<String>) {
    let expected = text(&changed(lines.clone()), "\n");
    assert_eq!(apply(patch, &text(&lines, "\n")).as_deref(), Ok(&*expected));
}

#[test]
fn r_13_an_exact_diff_is_applied() {
    check(PATCH, base());
}

#[test]
fn r_14_range_headers_with_wrong_numbers_are_accepted() {
    // Moved by 200 lines.
    let moved: Vec<String> = (0..200).map(|n| format!("top {n}")).chain(base()).collect();
    check(PATCH, moved);
    for header in [
        "@@ -429,7 +429,7 @@",
        "@@ -29,99 +29,1 @@",
        "@@ -29,2 +29,2 @@",
        "@@-29,7 +29,7@@",
        "@@ @@",
        "@@",
        "@@ ... @@",
    ] {
        check(&PATCH.replace("@@ -29,7 +29,7 @@", header), base());
    }
}

#[test]
fn headers_of_git_and_prose_and_fences_are_no_lines_of_the_file() {
    let git = format!("diff --git a/f b/f\nindex 1234567..89abcde 100644\n{PATCH}");
    check(&git, base());
    check(
        &format!("Here it is:\n\n```diff\n{PATCH}```\n\nIt changes a line.\n- carefully\n"),
        base(),
    );
    check(&format!("From: me\n\n{PATCH}-- \n2.47.3\n"), base());
}

#[test]
fn context_may_have_lost_its_blank() {
    // Blank lines only.
    check(&PATCH.replace("\n \n", "\n\n"), base());
    // All of it: what looks like one blank of indentation less is none.
    let bare = PATCH
        .replace("\n     line", "\n    line")
        .replace("\n }", "\n}")
        .replace("\n \n", "\n\n");
    check(&bare, base());
}

#[test]
fn trailing_blanks_may_differ() {
    let lines: Vec<String> = base().into_iter().map(|it| format!("{it}  ")).collect();
    let result = apply(PATCH, &text(&lines, "\n")).unwrap();
    assert!(
        result.contains("    line 31  \n    new 32\n}  \n"),
        "{result}"
    );
}

#[test]
fn endings_of_the_patch_do_not_matter() {
    let expected = |ending: &str| text(&changed(base()), ending);
    let crlf = PATCH.replace('\n', "\r\n");
    for patch in [PATCH, &crlf] {
        for ending in ["\n", "\r\n", "\r"] {
            assert_eq!(apply(patch, &text(&base(), ending)), Ok(expected(ending)));
        }
    }
}

#[test]
fn the_right_copy_of_repeated_context_is_the_one_at_the_line() {
    let lines: Vec<String> = [base(), base(), base()].concat();
    let mut expected = lines.clone();
    expected[91] = "    new 32".to_owned();
    let patch = PATCH.replace("-29,7 +29,7", "-89,7 +89,7");
    assert_eq!(
        apply(&patch, &text(&lines, "\n")),
        Ok(text(&expected, "\n"))
    );
    // Without a number, or half way between, it is in doubt.
    for header in ["@@", "@@ -59,7 +59,7 @@"] {
        let error = apply(
            &PATCH.replace("@@ -29,7 +29,7 @@", header),
            &text(&lines, "\n"),
        )
        .unwrap_err();
        assert!(
            error.contains("at lines 29, 89, 149; add lines of context"),
            "{error}"
        );
    }
}

#[test]
fn a_file_without_a_final_newline_stays_so_without_a_mark() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    assert_eq!(apply(patch, "a\nb").as_deref(), Ok("a\nc"));
    assert_eq!(apply(patch, "a\nb\n").as_deref(), Ok("a\nc\n"));
    let marked = format!("{patch}\\ No newline at end of file\n");
    assert_eq!(apply(&marked, "a\nb\n").as_deref(), Ok("a\nc"));
}

#[test]
fn hunks_may_come_in_the_wrong_order() {
    let patch = "--- a/f\n+++ b/f\n@@ -50,1 +50,1 @@\n-    line 50\n+    new 50\n@@ -2,1 +2,1 @@\n-    line 2\n+    new 2\n";
    let mut lines = base();
    let mut expected = lines.clone();
    expected[1] = "    new 2".to_owned();
    lines[49] = "    line 50".to_owned();
    expected[49] = "    new 50".to_owned();
    assert_eq!(apply(patch, &text(&lines, "\n")), Ok(text(&expected, "\n")));
}

#[test]
fn an_insertion_without_context_goes_by_a_number_that_can_be_trusted() {
    let patch = "--- a/f\n+++ b/f\n@@ -2,0 +3 @@\n+x\n";
    assert_eq!(apply(patch, "a\nb\nc\n").as_deref(), Ok("a\nb\nx\nc\n"));
    for patch in [
        patch.replace("-2,0", "-2,7"),
        patch.replace("-2,0", "-9,0"),
        patch.replace("-2,0", "-0,0"),
    ] {
        let error = apply(&patch, "a\nb\nc\n").unwrap_err();
        assert!(error.contains("add a line of context"), "{error}");
    }
}

#[test]
fn a_patch_that_is_applied_already_is_said_to_be() {
    let done = text(&changed(base()), "\n");
    assert_eq!(
        apply(PATCH, &done).unwrap_err(),
        "f: the patch is applied already; the file is as it wants it, so go on"
    );
}

#[test]
fn other_context_is_refused_with_the_nearest_lines() {
    let mut lines = base();
    lines[28] = "    other 29".to_owned();
    let error = apply(PATCH, &text(&lines, "\n")).unwrap_err();
    expect_test::expect![[r#"
        f, hunk 1 of 1 (line 3 of the patch): its lines do not stand in the file one below the other. Expected:
            line 29
            line 30
            line 31
            line 32
        }
            line 34
        The most similar text starts at line 30:
            line 30
            line 31
            line 32
        }
            line 34

        To go on, copy context and `-` lines exactly as they stand in the file

        Nothing of this file was changed"#]]
    .assert_eq(&error);
}
