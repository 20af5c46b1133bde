//! Where hunks go, how they are fitted in, and when they are refused.

#![allow(clippy::disallowed_types, reason = "a bound on time is tested")]

use std::time::Instant;

use super::{apply, check, check_refused, update};
use crate::text::patch::{Likeness, parse, place};

const CLASSES: &str = "class A:\n    def f(self):\n        x = 1\n        return x\n\n    def g(self):\n        return x\n\nclass B:\n    def f(self):\n        x = 1\n        return x\n";

#[test]
fn r_11_several_chunks_are_placed_in_one_file() {
    check(
        "@@\n-a\n+A\n@@\n d\n+e\n@@\n-z\n",
        "a\nb\nc\nd\ny\nz\n",
        "A\nb\nc\nd\ne\ny\n",
    );
}

#[test]
fn anchors_narrow_the_search() {
    check_refused("@@\n-        x = 1\n", CLASSES, "at lines 3, 11;");
    check_refused(
        "@@ def f(self):\n-        x = 1\n",
        CLASSES,
        "at lines 3, 11;",
    );
    let expected = "class A:\n    def f(self):\n        x = 1\n        return x\n\n    def g(self):\n        return x\n\nclass B:\n    def f(self):\n        return x\n";
    check(
        "@@ class B:\n@@     def f(self):\n-        x = 1\n",
        CLASSES,
        expected,
    );
    check("@@ class B\n-        x = 1\n", CLASSES, expected);
    // An anchor that is repeated as context.
    check(
        "@@ class B:\n class B:\n     def f(self):\n-        x = 1\n",
        CLASSES,
        expected,
    );
    check_refused(
        "@@ class C:\n-        x = 1\n",
        CLASSES,
        "the anchor `class C:` is not in the file",
    );
    check_refused(
        "@@ class B:\n-    def g(self):\n",
        CLASSES,
        "its lines stand at 6, and not below the anchor `class B:`",
    );
}

#[test]
fn lines_without_context_go_below_the_anchor_or_to_the_end() {
    check(
        "@@ class B:\n+    y = 2\n",
        CLASSES,
        &CLASSES.replace("class B:\n", "class B:\n    y = 2\n"),
    );
    check("@@\n+end\n", "a\nb\n", "a\nb\nend\n");
    check("@@\n+end\n", "a\nb", "a\nb\nend");
    check("@@\n+end\n", "a\r\nb\r\n\r\n", "a\r\nb\r\nend\r\n\r\n");
    check("@@\n+end\n", "", "end\n");
}

#[test]
fn the_end_of_file_is_the_end() {
    check("@@\n a\n+b\n*** End of File\n", "a\nx\na\n", "a\nx\na\nb\n");
    check_refused(
        "@@\n-a\n*** End of File\n",
        "a\nx\n",
        "its lines stand at 1;",
    );
}

#[test]
fn order_tells_equal_places_apart() {
    // As many equal chunks as places.
    check("@@\n-x\n+1\n@@\n-x\n+2\n", "x\na\nx\n", "1\na\n2\n");
    // Below one that stands only once.
    check("@@\n-a\n+A\n@@\n-x\n+y\n", "x\na\nx\n", "x\nA\ny\n");
    check_refused("@@\n-x\n+1\n", "x\na\nx\n", "at lines 1, 3;");
}

#[test]
fn out_of_order_only_what_stands_once_for_every_pass_has_a_place() {
    check("@@\n-c\n@@\n-a\n", "a\nb\nc\n", "b\n");
    // Exact above, and but for a blank in order below: either may be meant.
    check_refused("@@\n-c\n@@\n-a\n", "a\nb\nc\na \n", "at lines 1, 4;");
}

#[test]
fn hunks_may_share_context_but_not_what_they_change() {
    check(
        "@@\n a\n-b\n c\n@@\n c\n-d\n e\n",
        "a\nb\nc\nd\ne\n",
        "a\nc\ne\n",
    );
    check_refused(
        "@@\n a\n-b\n@@\n-b\n+x\n c\n",
        "a\nb\nc\n",
        "changes the same place as hunk 1",
    );
    check_refused(
        "@@\n a\n+x\n b\n@@\n a\n+y\n b\n",
        "a\nb\n",
        "changes the same place as hunk 1",
    );
}

#[test]
fn a_hunk_may_build_on_the_one_before() {
    check(
        "@@\n a\n-b\n+new line\n@@\n new line\n+below\n",
        "a\nb\nc\n",
        "a\nnew line\nbelow\nc\n",
    );
}

#[test]
fn r_8_looser_passes_are_tried_in_order_and_said() {
    let cases = [
        ("@@\n-a b\n+x\n", "a b\n", "x\n", Likeness::Exact),
        ("@@\n-a b\n+x\n", "a b  \n", "x\n", Likeness::TrailingBlanks),
        (
            "@@\n-a b\n+x\n",
            "  a b  \n",
            "  x\n",
            Likeness::Indentation,
        ),
        (
            "@@\n-a - \"b\"\n+x\n",
            "  a —\u{a0}“b”\n",
            "  x\n",
            Likeness::Typography,
        ),
    ];
    for (body, text, expected, likeness) in cases {
        let patch = parse(&update(body)).unwrap();
        let placed = place(&patch.files[0], text).unwrap();
        assert_eq!(placed.changes.apply(text).unwrap(), expected);
        assert_eq!(placed.hunks[0].likeness, likeness);
        assert_eq!(placed.hunks[0].is_fuzzy, likeness != Likeness::Exact);
        assert_eq!(placed.note().is_empty(), likeness == Likeness::Exact);
    }
}

#[test]
fn r_9_a_strict_hit_wins_over_a_loose_one() {
    check("@@\n-a\n+x\n", "a  \na\n  a\n", "a  \nx\n  a\n");
}

#[test]
fn new_lines_get_the_indentation_of_the_file() {
    // Shifted, of other width, blanks for tabs.
    check(
        "@@\n if a:\n-    b\n+    c\n+        d\n",
        "    if a:\n        b\n",
        "    if a:\n        c\n            d\n",
    );
    check(
        "@@\n if a:\n-  b\n+  c\n+    d\n",
        "if a:\n    b\n",
        "if a:\n    c\n        d\n",
    );
    check("@@\n-    b\n+    c\n+        d\n", "\tb\n", "\tc\n\t\td\n");
    check("@@\n-b\n+c\n+\n+  d\n", "    b\n", "    c\n\n      d\n");
    // Where it is lost, or can be read in two ways, it is not guessed.
    check_refused(
        "@@\n if a:\n b\n+c\n",
        "if a:\n    b\n",
        "fits at line 1 but for indentation",
    );
    check_refused(
        "@@\n-  b\n+    c\n",
        "    b\n",
        "fits at line 1 but for indentation",
    );
    // Nothing comes, so nothing is to be indented.
    check("@@\n-if a:\n-b\n c\n", "if a:\n    b\nc\n", "c\n");
}

#[test]
fn each_line_keeps_its_ending() {
    check(
        "@@\n a\n-b\n+x\n+y\n c\n",
        "a\r\nb\r\nc\nd\n",
        "a\r\nx\r\ny\r\nc\nd\n",
    );
    check("@@\n c\n+x\n", "a\r\nc\nd\r\n", "a\r\nc\nx\nd\r\n");
    // A patch which changes nothing but endings was meant so.
    let patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+a\r\n b\n";
    assert_eq!(apply(patch, "a\nb\n").as_deref(), Ok("a\r\nb\n"));
}

#[test]
fn a_byte_order_mark_stays_in_front() {
    check("@@\n-a\n+x\n", "\u{feff}a\nb\n", "\u{feff}x\nb\n");
    check("@@\n+x\n a\n", "\u{feff}a\nb\n", "\u{feff}x\na\nb\n");
    check("@@\n-\u{feff}a\n+a\n", "\u{feff}a\nb\n", "a\nb\n");
}

#[test]
fn the_last_line_stays_open_or_closed() {
    check("@@\n-b\n", "a\nb", "a");
    check("@@\n-b\n", "a\nb\n", "a\n");
    check("@@\n a\n+c\n", "b\na", "b\na\nc");
    check("@@\n-a\n", "a", "");
    check(
        "@@\n-b\n+b\n\\ No newline at end of file\n",
        "a\nb\n",
        "a\nb",
    );
    check(
        "@@\n-b\n\\ No newline at end of file\n+b\n",
        "a\nb",
        "a\nb\n",
    );
    // An empty line that the file does not have, as models add it.
    check("@@\n a\n-b\n \n", "a\nb\n", "a\n");
    check("@@\n-a\n+x\n", "a\n\n", "x\n\n");
}

#[test]
fn what_stands_there_already_is_not_added_twice() {
    check_refused(
        "@@\n a\n+a new line\n",
        "a\na new line\nb\n",
        "is applied already",
    );
    check_refused(
        "@@\n+a new line\n b\n",
        "a\na new line\nb\n",
        "is applied already",
    );
    check_refused(
        "@@ a\n+a new line\n",
        "a\na new line\nb\n",
        "is applied already",
    );
    check_refused(
        "@@\n-a\n+a new line\n b\n@@\n-c\n+d\n",
        "a new line\nb\nc\n",
        "hunk 1 of 2",
    );
    // A brace says nothing.
    check("@@\n a\n+}\n", "a\n}\nb\n", "a\n}\n}\nb\n");
    check_refused("@@\n-a\n+a\n", "a\n", "nothing would change");
}

#[test]
fn a_file_is_deleted_only_with_the_lines_the_patch_knows() {
    let patch = "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n";
    assert_eq!(apply(patch, "a\nb\n").as_deref(), Ok(""));
    assert!(
        apply(patch, "a\nb\nc\n")
            .unwrap_err()
            .contains("other lines than the patch removes")
    );
}

#[test]
fn all_failing_hunks_are_told_and_nothing_is_changed() {
    let error = apply(&update("@@\n-first\n@@\n-a\n@@\n-third\n"), "a\n").unwrap_err();
    assert!(
        error.contains("hunk 1 of 3 (line 3 of the patch)"),
        "{error}"
    );
    assert!(
        error.contains("hunk 3 of 3 (line 7 of the patch)"),
        "{error}"
    );
    assert!(
        error.ends_with("Nothing of this file was changed"),
        "{error}"
    );
}

#[test]
fn a_place_that_moved_is_told() {
    let patch = parse("--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n a\n-b\n+c\n").unwrap();
    let placed = place(&patch.files[0], "x\na\nb\n").unwrap();
    assert_eq!(
        (placed.hunks[0].line, placed.hunks[0].moved_by),
        (2, Some(-1))
    );
}

#[test]
fn large_patches_take_milliseconds() {
    let lines: Vec<String> = (0..50_000)
        .map(|n| format!("    let value_{n} = compute({n}, other);\n"))
        .collect();
    let text = lines.concat();
    let mut by_number = "--- a/f\n+++ b/f\n".to_owned();
    let mut bare = by_number.clone();
    for at in (100..50_000).step_by(250) {
        let body = format!(
            " {}-{}+    changed({at});\n {}",
            lines[at - 1],
            lines[at],
            lines[at + 1]
        );
        by_number += &format!("@@ -{at},3 +{at},3 @@\n{body}");
        bare += &format!("@@\n{body}");
    }
    for (name, patch) in [("by number", &by_number), ("by search", &bare)] {
        let started = Instant::now();
        let patch = parse(patch).unwrap();
        let placed = place(&patch.files[0], &text).unwrap();
        let took = started.elapsed();
        eprintln!("{name}: {} hunks in {took:?}", placed.hunks.len());
        // A debug build on a busy machine; a release build takes a twentieth of it.
        assert!(took.as_millis() < 2000, "{took:?}");
    }
}

#[test]
fn a_text_of_one_line_repeated_takes_no_minutes() {
    let text = "x\n".repeat(200_000);
    let body = "@@\n x\n-x\n+y\n x\n".repeat(300);
    let started = Instant::now();
    let error = apply(&update(&body), &text).unwrap_err();
    assert!(error.contains("a great many places"), "{error}");
    assert!(started.elapsed().as_secs() < 20);
}
