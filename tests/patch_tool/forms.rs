//! The forms that a patch may have (spec 2.1).

use super::{FILES, apply, envelope, lines, patched, stage};
use serde_json::json;
use std::process::Command;

const OLD: &[u8] = b"fn a() {\n    one();\n    two();\n}\n\nfn b() {\n    one();\n    two();\n}\n";

/// `two();` of `b` becomes `three();`.
const NEW: &str = "fn a() {\n    one();\n    two();\n}\n\nfn b() {\n    one();\n    three();\n}\n";

#[track_caller]
fn becomes_new(text: &str) {
    let (new, result) = patched(OLD, text);
    assert_eq!(String::from_utf8(new).unwrap(), NEW, "{result}");
    assert!(
        result.starts_with("1 file changed (+1 -1 lines).\nM a.txt"),
        "{result}"
    );
}

const LAST: &str =
    "*** Update File: a.txt\n@@ fn b() {\n     one();\n-    two();\n+    three();\n }\n";

#[test]
fn an_envelope_may_have_words_around_it_and_blanks_behind_its_marks() {
    for (begin, end) in [
        ("", ""),
        ("Here it is:\n```\n", "```\nDone.\n"),
        ("apply_patch <<'EOF'\n", "EOF\n"),
    ] {
        becomes_new(&format!(
            "{begin}*** Begin Patch  \n{LAST}*** End Patch \t\n{end}"
        ));
    }
}

#[test]
fn an_anchor_tells_two_like_places_apart() {
    becomes_new(&envelope(LAST));
}

#[test]
fn the_end_of_the_file_tells_two_like_places_apart() {
    becomes_new(&envelope(
        "*** Update File: a.txt\n@@\n     one();\n-    two();\n+    three();\n }\n*** End of File\n",
    ));
}

#[test]
fn a_chunk_may_begin_without_a_header() {
    becomes_new(&envelope(
        "*** Update File: a.txt\n fn b() {\n     one();\n-    two();\n+    three();\n",
    ));
}

#[test]
fn the_other_name_of_the_argument_is_taken_too() {
    let stage = stage(FILES);
    let text = envelope("*** Update File: b.txt\n@@\n-be\n+bee\n");
    let (_, prompt) = stage.call("apply_patch", json!({"input": text}));
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("b.txt"), "bee\n");
}

#[test]
fn bug_004_a_range_is_no_anchor() {
    for range in [
        "@@ -1,3 +1,4 @@",
        "@@-1,3 +1,4@@",
        "@@ -1,3 +1,4 @@ fn b() {",
    ] {
        let text = format!(
            "*** Update File: a.txt\n{range}\n fn b() {{\n     one();\n-    two();\n+    three();\n"
        );
        becomes_new(&envelope(&text));
    }
}

#[test]
fn r_013_the_output_of_git_diff_is_a_patch() {
    let stage = stage(&format!("//- /a.txt\n{}//- /b.txt\nno end", lines()));
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
        let out = git
            .args(arguments)
            .current_dir(stage.workspace.root())
            .output()
            .unwrap();
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "before"]);
    let after = lines()
        .replace("line 7\n", "seven\n")
        .replace("line 90\n", "");
    stage.workspace.write("a.txt", &after);
    stage.workspace.write("b.txt", "an end\n");
    stage.workspace.write("c.txt", "c\n");
    git(&["add", "."]);
    let diff = git(&["diff", "--cached"]);
    git(&["reset", "-q", "--hard"]);
    assert!(!stage.workspace.exists("c.txt"));
    let result = apply(&stage, &diff);
    assert_eq!(
        result,
        "3 files changed (+3 -3 lines).\nA c.txt\nM a.txt\nM b.txt"
    );
    let read = |path: &str| stage.workspace.read(path);
    assert_eq!(
        [read("a.txt"), read("b.txt"), read("c.txt")],
        [after, "an end\n".into(), "c\n".into()]
    );
}

#[test]
fn r_014_wrong_numbers_and_right_lines_are_applied_at_the_right_place() {
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -294,28 +294,56 @@\n fn b() {\n     one();\n-    two();\n+    three();\n";
    becomes_new(diff);
    becomes_new(&format!("```diff\ndiff --git a/a.txt b/a.txt\n{diff}```\n"));
}

#[test]
fn a_diff_renames_adds_and_deletes() {
    let stage = stage(FILES);
    let diff = "diff --git a/old.txt b/sub/new.txt\nsimilarity index 50%\nrename from old.txt\nrename to sub/new.txt\n\
                --- a/old.txt\n+++ b/sub/new.txt\n@@ -1,2 +1,2 @@\n-moved\n+Moved\n kept\n\
                diff --git a/b.txt b/c.txt\nsimilarity index 100%\nrename from b.txt\nrename to c.txt\n\
                diff --git a/made.txt b/made.txt\nnew file mode 100644\n--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1 @@\n\
                +made\n\\ No newline at end of file\n\
                diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-goes\n";
    let result = apply(&stage, diff);
    assert_eq!(
        result,
        "4 files changed (+2 -2 lines).\nA made.txt\nR old.txt -> sub/new.txt\nR b.txt -> c.txt\nD gone.txt"
    );
    let read = |path: &str| stage.workspace.read(path);
    assert_eq!(
        [read("sub/new.txt"), read("c.txt"), read("made.txt")],
        ["Moved\nkept\n", "be\n", "made"]
    );
    assert!(
        ["old.txt", "b.txt", "gone.txt"]
            .iter()
            .all(|it| !stage.workspace.exists(it))
    );
}

#[test]
fn a_mark_for_a_missing_newline_takes_it_away_or_brings_it() {
    let header = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n";
    let none = "\\ No newline at end of file\n";
    let (new, result) = patched(b"one\n", &format!("{header}-one\n+two\n{none}"));
    assert_eq!(new, b"two", "{result}");
    let (new, result) = patched(b"one", &format!("{header}-one\n{none}+two\n"));
    assert_eq!(new, b"two\n", "{result}");
}
