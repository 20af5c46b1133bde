//! What is read of a patch, and what is refused before any file is looked at.

use crate::text::patch::{FileKind, parse, v4a};

/// One line a file: what is done, to which, and how many hunks and lines that has.
#[track_caller]
fn check(patch: &str, expected: &str) {
    let patch = parse(patch).unwrap_or_else(|error| panic!("{error}"));
    let lines = patch.files.iter().map(|it| {
        let target = it
            .new_path
            .as_ref()
            .map_or(String::new(), |to| format!(" -> {to}"));
        let mode = it
            .mode
            .as_ref()
            .map_or(String::new(), |mode| format!(" mode {mode}"));
        let counts: Vec<usize> = it.hunks.iter().map(|it| it.lines.len()).collect();
        format!("{:?} {}{target} {counts:?}{mode}\n", it.kind, it.path)
    });
    assert_eq!(lines.collect::<String>(), expected);
}

#[track_caller]
fn check_refused(patch: &str, expected: &str) {
    assert_eq!(parse(patch).unwrap_err().to_string(), expected);
}

#[test]
fn r_11_r_12_an_envelope_has_sections_of_every_kind() {
    check(
        "words\n*** Begin Patch  \n*** Add File: new/a b.txt \n+one\n+\n\n*** Update File: x\n*** Move to: y\n@@ class A\n@@   def f\n a\n-b\n\n+c\n@@\n+d\n*** End of File\n\n*** Delete File: z\n*** End Patch\nwords",
        "Create new/a b.txt [2]\nUpdate x -> y [4, 1]\nDelete z []\n",
    );
}

#[test]
fn sections_of_one_file_are_joined() {
    check(
        "*** Begin Patch\n*** Update File: x\n-a\n*** Update File: x\n@@\n-b\n*** End Patch",
        "Update x [1, 1]\n",
    );
    check_refused(
        "*** Begin Patch\n*** Delete File: x\n*** Add File: x\n+b\n*** End Patch",
        "line 3 of the patch: x is named by another section too, at line 2 of the patch; name each file once, with all its changes",
    );
}

#[test]
fn a_broken_envelope_is_refused_with_the_line() {
    check_refused(
        "*** Update File: x\n-a\n*** End Patch",
        "there is no line `*** Begin Patch`; put the sections between `*** Begin Patch` and `*** End Patch`",
    );
    check_refused(
        "*** Begin Patch\n*** Update File: x\n-a\n",
        "there is no line `*** End Patch`, so the patch may be cut off; send it whole, with `*** End Patch` as its last line",
    );
    check_refused(
        "*** Begin Patch\n*** End Patch",
        "line 1 of the patch: the patch has no section; add one that begins with `*** Update File: path`, `*** Add File: path` or `*** Delete File: path`",
    );
    check_refused(
        "*** Begin Patch\n*** Delete File: x\nhello\n*** End Patch",
        "line 3 of the patch: `hello` stands outside of any section; begin with `*** Update File: path`, `*** Add File: path` or `*** Delete File: path`",
    );
    check_refused(
        "*** Begin Patch\n*** Add File: x\n+a\n\n+b\n*** End Patch",
        "x, line 4 of the patch: `` is a line of a new file without its `+`; every line of it begins with `+`, empty ones too",
    );
    check_refused(
        "*** Begin Patch\n*** Update File: x\n a\nfn b() {}\n*** End Patch",
        "x, line 4 of the patch: `fn b() {}` has no mark in front; begin each line of a chunk with a blank if it stays, `-` if it goes, `+` if it comes",
    );
    check_refused(
        "*** Begin Patch\n*** Update File: x\n*** End Patch",
        "x, line 2 of the patch: the update changes nothing; add lines with `-` and `+`, and around them some lines of the file",
    );
}

#[test]
fn the_names_in_a_diff_are_found_however_they_are_written() {
    check(
        "diff --git \"a/t\\303\\251 \\\"q\\\".txt\" \"b/t\\303\\251 \\\"q\\\".txt\"\n--- \"a/t\\303\\251 \\\"q\\\".txt\"\t\n+++ \"b/t\\303\\251 \\\"q\\\".txt\"\t\n@@ -1 +1 @@\n-a\n+b\n",
        "Update té \"q\".txt [2]\n",
    );
    check(
        "--- x.txt\t2026-01-01 10:00:00\n+++ x.txt\t2026-01-01 10:00:00\n@@ -1 +1 @@\n-a\n+b\n",
        "Update x.txt [2]\n",
    );
    check(
        "--- x y 2026-01-01 10:00:00\n+++ x y 2026-01-01 10:00:00\n@@ -1 +1 @@\n-a\n+b\n",
        "Update x y [2]\n",
    );
    check(
        "--- old/src/x\n+++ new/src/x\n@@ -1 +1 @@\n-a\n+b\n",
        "Update src/x [2]\n",
    );
    check(
        "--- src/x.orig\n+++ src/x\n@@ -1 +1 @@\n-a\n+b\n",
        "Update src/x [2]\n",
    );
}

#[test]
fn a_diff_of_git_renames_creates_deletes_and_changes_modes() {
    check(
        "diff --git a/a b b/c d\nsimilarity index 100%\nrename from a b\nrename to c d\ndiff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/n b/n\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\ndiff --git a/e b/e\nnew file mode 100644\nindex 0..0\ndiff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\ndiff --git a/m b/m\nold mode 100644\nnew mode 100755\n",
        "Update a b -> c d []\nUpdate x -> y [2]\nCreate n [1] mode 100755\nCreate e [] mode 100644\nDelete d [1]\nUpdate m [] mode 100755\n",
    );
}

#[test]
fn changed_lines_that_look_like_headers_are_lines() {
    check(
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- a comment\n+++ b\n x\n",
        "Update f [3]\n",
    );
    check(
        "--- a/f\n+++ b/f\n@@\n--- a comment\n+++ b\n x\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
        "Update f [3]\nUpdate g [2]\n",
    );
}

#[test]
fn no_line_with_a_mark_is_passed_over() {
    // The counts are too small, and below the lines they count the hunk goes on.
    check(
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n\n c\n+d\n",
        "Update f [5]\n",
    );
    check(
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\nbare\n+d\n",
        "Update f [4]\n",
    );
    check_refused(
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n\nwords\n\n+d\n",
        "f, line 9 of the patch: `+d` stands outside of any hunk; begin each hunk with `@@` and each of its lines with a blank, `-` or `+`",
    );
}

#[test]
fn what_no_patch_can_do_is_said() {
    check_refused(
        "diff --git a/p.png b/p.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\n",
        "p.png, line 3 of the patch: this is a change to a binary file, which a patch cannot make here; leave that file out, or write it by a command",
    );
    check_refused(
        "diff --git a/a b/b\ncopy from a\ncopy to b\n",
        "b, line 2 of the patch: the patch copies a file, which is not possible here; create the new file with all its lines",
    );
    check_refused(
        "--- a/f\n+++ b/f\n@@@ -1,2 -1,2 +1,3 @@@\n  a\n",
        "f, line 3 of the patch: this is the diff of a merge, with two marks on each line; send a diff against one file, with one mark",
    );
    check_refused(
        "@@ -1 +1 @@\n-a\n+b\n",
        "line 1 of the patch: the hunk `@@ -1 +1 @@` stands before any file; put `--- a/path` and `+++ b/path` above it",
    );
    check_refused(
        "hello",
        "there is no patch in this text; send a unified diff with `--- a/path`, `+++ b/path` and `@@` lines, or sections between `*** Begin Patch` and `*** End Patch`",
    );
}

#[test]
fn the_body_of_one_file_needs_no_envelope() {
    let created = v4a("f", FileKind::Create, "+a\n+b").unwrap();
    assert_eq!(created.content(), "a\nb\n");
    let created = v4a(
        "f",
        FileKind::Create,
        "*** Begin Patch\n*** Add File: f\n+a\n*** End Patch\n",
    )
    .unwrap();
    assert_eq!(created.content(), "a\n");
    let updated = v4a(
        "f",
        FileKind::Update,
        "@@ x\n@@ y\n a\n-b\n*** End of File\n",
    )
    .unwrap();
    assert_eq!(updated.hunks[0].anchors, ["x", "y"]);
    assert!(updated.hunks[0].at_end);
    assert!(v4a("f", FileKind::Create, "a").is_err());
}

#[test]
fn any_text_is_read_without_a_panic() {
    let pieces = [
        "*** Begin Patch\n",
        "*** End Patch\n",
        "*** Update File: x\n",
        "*** Add File: x\n",
        "*** Move to: y\n",
        "@@",
        " -1,2 +1 @@",
        "\n",
        "--- a/x\n",
        "+++ b/x\n",
        "+a",
        "-b",
        " c",
        "\\ No newline\n",
        "diff --git a/x b/x\n",
        "\"\\3",
        "\r\n",
        "é",
        "rename from x\n",
        "```\n",
        "/dev/null",
        "*** End of File\n",
    ];
    let mut random = fastrand::Rng::with_seed(0x5eed_0021);
    for _ in 0..20_000 {
        let text: String = (0..random.usize(..14))
            .map(|_| pieces[random.usize(..pieces.len())])
            .collect();
        if let Ok(patch) = parse(&text) {
            for file in &patch.files {
                let _ = crate::text::patch::place(file, "a\nb\nc\n").map_err(|it| it.to_string());
                file.content();
            }
        }
    }
}
