//! Patches that are not applied: nothing is changed, and the model is told why and what to do.

use super::{AUTO, FILES, apply, envelope, stage};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use std::os::unix::fs::symlink;

/// The result of a patch that must change nothing.
#[track_caller]
fn refused(text: &str) -> String {
    let stage = stage(FILES);
    symlink("a.txt", stage.workspace.path("link.txt")).unwrap();
    std::fs::create_dir(stage.workspace.path("folder")).unwrap();
    let result = apply(&stage, text);
    let read = |path: &str| stage.workspace.read(path);
    assert_eq!(
        [
            read("a.txt"),
            read("b.txt"),
            read("old.txt"),
            read("gone.txt")
        ],
        ["one\ntwo\nthree\n", "be\n", "moved\nkept\n", "goes\n"],
        "{result}"
    );
    assert!(!stage.workspace.exists("new.txt"), "{result}");
    assert!(stage.workspace.path("link.txt").is_symlink());
    result
}

#[test]
fn a_patch_that_cannot_be_read_names_its_line() {
    let cases = [
        ("no patch at all\n".to_owned(), ""),
        (envelope(""), ""),
        (
            "*** Begin Patch\n*** Add File: new.txt\n+x\n".to_owned(),
            "",
        ),
        (
            envelope("stray\n*** Add File: new.txt\n+x\n"),
            "line 2 of the patch",
        ),
        (
            envelope("*** Add File: new.txt\n+x\ny\n"),
            "line 4 of the patch",
        ),
        (envelope("*** Update File: a.txt\n"), "a.txt"),
        (
            envelope("*** Update File: a.txt\n@@\n-two\n+2\n?what\n"),
            "line 6 of the patch",
        ),
        (
            envelope("*** Update File: a.txt\n@@\n-two\n+2\n*** Delete File: a.txt\n"),
            "line 6 of the patch",
        ),
    ];
    for (text, expected) in cases {
        let result = refused(&text);
        assert!(result.contains(expected), "{result}");
        assert!(result.ends_with("Nothing was changed."), "{result}");
    }
}

#[test]
fn a_fault_in_the_third_file_leaves_the_first_two() {
    let result = refused(&envelope(
        "*** Add File: new.txt\n+x\n*** Update File: a.txt\n@@\n-two\n+2\n*** Update File: b.txt\n@@\n-bee\n+B\n",
    ));
    assert!(
        result.contains("b.txt, hunk 1 of 1 (line 9 of the patch)"),
        "{result}"
    );
    assert!(
        result.contains("3 files") && result.contains("none of them was changed"),
        "{result}"
    );
}

#[test]
fn every_fault_of_a_patch_is_told_at_once() {
    let result = refused(&envelope(
        "*** Update File: a.txt\n@@\n-zwei\n+2\n*** Update File: b.txt\n@@\n-bee\n+B\n*** Delete File: none.txt\n",
    ));
    for expected in [
        "a.txt, hunk 1",
        "b.txt, hunk 1",
        "There is no file none.txt",
    ] {
        assert!(result.contains(expected), "{result}");
    }
}

#[test]
fn a_file_that_is_there_is_neither_added_nor_moved_onto() {
    let result = refused(&envelope("*** Add File: a.txt\n+x\n"));
    assert!(result.contains("a.txt is there already"), "{result}");
    let result = refused(&envelope("*** Update File: old.txt\n*** Move to: b.txt\n"));
    assert!(result.contains("b.txt is there already"), "{result}");
    let result = refused(&envelope("*** Add File: folder\n+x\n"));
    assert!(result.contains("folder is there already"), "{result}");
}

/// Its buffer is somebody's work, though no file has it yet.
#[test]
fn a_document_that_was_never_saved_is_not_added_over() {
    let stage = stage(FILES);
    stage.editor.open_text("new.txt", "draft\n".to_owned());
    let result = apply(&stage, &envelope("*** Add File: new.txt\n+x\n"));
    assert!(result.contains("new.txt is there already"), "{result}");
    assert_eq!(stage.editor.buffer("new.txt").text, "draft\n");
}

#[test]
fn two_names_of_one_file_are_refused() {
    let result = refused(&envelope(
        "*** Update File: a.txt\n@@\n-two\n+2\n*** Update File: folder/../link.txt\n@@\n-three\n+3\n",
    ));
    assert!(result.contains("mean the same file, a.txt"), "{result}");
}

#[test]
fn links_are_neither_deleted_nor_moved_and_folders_not_patched() {
    let result = refused(&envelope("*** Delete File: link.txt\n"));
    assert!(result.contains("link.txt is a link to a.txt"), "{result}");
    let result = refused(&envelope(
        "*** Update File: link.txt\n*** Move to: new.txt\n",
    ));
    assert!(result.contains("link.txt is a link to a.txt"), "{result}");
    let result = refused(&envelope("*** Delete File: folder\n"));
    assert!(result.contains("folder is a folder"), "{result}");
}

#[test]
fn a_deletion_of_other_lines_than_there_are_is_refused() {
    let result = refused("--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n");
    assert!(result.contains("a.txt"), "{result}");
}

#[test]
fn a_file_over_the_limit_is_refused() {
    let config = format!("{AUTO}[limits]\nedit_bytes = 1000\n");
    let stage = Stage::with(Setup::agent(), FILES, &config);
    let long = "line\n".repeat(201);
    stage.workspace.write("long.txt", &long);
    let result = apply(
        &stage,
        &envelope("*** Add File: new.txt\n+x\n*** Update File: long.txt\n@@\n+first\n"),
    );
    assert!(
        result.contains("long.txt is larger than 1000 bytes"),
        "{result}"
    );
    assert_eq!(stage.workspace.read("long.txt"), long);
    assert!(!stage.workspace.exists("new.txt"));
}

#[test]
fn a_missing_argument_is_named() {
    let stage = stage(FILES);
    let (_, prompt) = stage.call("apply_patch", serde_json::json!({}));
    let result = stage.result(&prompt);
    assert!(
        result.contains("apply_patch") && result.contains("`patch`"),
        "{result}"
    );
}
