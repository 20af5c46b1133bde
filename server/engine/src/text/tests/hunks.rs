//! Hunks, and the unified diffs that people and models read.

use std::path::Path;

use expect_test::{Expect, expect};

use super::{random_lines, random_variant};
use crate::rounds::rounds;
use crate::text::{Operation, hunks, shown_hash, unified};

const SEED: u64 = 0x5eed_0003;

fn check(old: &str, new: &str, expected: Expect) {
    let shown = unified(old, new, "a/f", "b/f", 1, 220);
    expected.assert_eq(&format!(
        "+{} -{}\n{}",
        shown.added, shown.removed, shown.text
    ));
}

#[test]
fn hunks_name_the_lines_and_keep_their_endings() {
    expect![[r#"
        [
            Hunk {
                old: 1..2,
                new: 1..3,
                removed: [
                    "b\r\n",
                ],
                added: [
                    "x\n",
                    "y\r",
                ],
            },
            Hunk {
                old: 3..4,
                new: 4..4,
                removed: [
                    "d",
                ],
                added: [],
            },
        ]
    "#]]
    .assert_debug_eq(&hunks("a\nb\r\nc\nd", "a\nx\ny\rc\n"));
}

#[test]
fn hunks_make_the_new_text() {
    for (round, mut random) in rounds(SEED, 5_000) {
        let old = random_lines(&mut random, 15);
        let new = random_variant(&mut random, &old);
        let mut lines: Vec<String> = crate::text::lines::lines(&old).map(str::to_owned).collect();
        for hunk in hunks(&old, &new).into_iter().rev() {
            let range = hunk.old.start as usize..hunk.old.end as usize;
            assert_eq!(lines[range.clone()], hunk.removed, "round {round}");
            lines.splice(range, hunk.added);
        }
        assert_eq!(lines.concat(), new, "round {round}: {old:?}");
    }
}

#[test]
fn a_unified_diff_reads_as_git_prints_it() {
    check(
        "a\nb\nc\nd\ne\nf\ng\n",
        "a\nB\nc\nd\ne\nf\ng\nh\n",
        expect![[r#"
            +2 -1
            --- a/f
            +++ b/f
            @@ -1,3 +1,3 @@
             a
            -b
            +B
             c
            @@ -7 +7,2 @@
             g
            +h
        "#]],
    );
    check(
        "a",
        "a\n",
        expect![[r#"
            +1 -1
            --- a/f
            +++ b/f
            @@ -1 +1 @@
            -a
            \ No newline at end of file
            +a
        "#]],
    );
    check(
        "x\nend",
        "y\nend",
        expect![[r#"
            +1 -1
            --- a/f
            +++ b/f
            @@ -1,2 +1,2 @@
            -x
            +y
             end
            \ No newline at end of file
        "#]],
    );
    check(
        "",
        "a\nb\n",
        expect![[r#"
            +2 -0
            --- a/f
            +++ b/f
            @@ -0,0 +1,2 @@
            +a
            +b
        "#]],
    );
    check(
        "same\n",
        "same\n",
        expect![[r#"
        +0 -0
    "#]],
    );
}

#[test]
fn changes_whose_context_meets_are_one_hunk() {
    check(
        "a\nb\nc\nd\n",
        "A\nb\nc\nD\n",
        expect![[r#"
            +2 -2
            --- a/f
            +++ b/f
            @@ -1,4 +1,4 @@
            -a
            +A
             b
             c
            -d
            +D
        "#]],
    );
}

#[test]
fn a_capped_diff_still_counts_every_line() {
    let new: String = (0..1000).map(|it| format!("{it}\n")).collect();
    let shown = unified("", &new, "/dev/null", "b/f", 3, 5);
    assert_eq!(
        (
            shown.text.as_str(),
            shown.added,
            shown.removed,
            shown.truncated
        ),
        (
            "--- /dev/null\n+++ b/f\n@@ -0,0 +1,1000 @@\n+0\n+1\n",
            1000,
            0,
            true
        )
    );
    let whole = unified("", "0\n1\n", "/dev/null", "b/f", 3, 5);
    assert!(!whole.truncated);
}

#[test]
fn what_was_approved_is_known_again_elsewhere_in_the_file_but_not_when_it_differs() {
    let path = Path::new("/w/f");
    let hash =
        |path, operation, old: &str, new: &str| shown_hash(path, operation, &hunks(old, new));
    let approved = hash(path, Operation::Modify, "a\nb\n", "a\nB\n");
    assert_eq!(approved.len(), 64);
    assert_eq!(
        approved,
        hash(path, Operation::Modify, "new\na\nb\nc\n", "new\na\nB\nc\n")
    );
    let others = [
        hash(Path::new("/w/g"), Operation::Modify, "a\nb\n", "a\nB\n"),
        hash(path, Operation::Create, "a\nb\n", "a\nB\n"),
        hash(
            path,
            Operation::Rename {
                to: Path::new("/w/g"),
            },
            "a\nb\n",
            "a\nB\n",
        ),
        hash(
            path,
            Operation::Rename {
                to: Path::new("/w/h"),
            },
            "a\nb\n",
            "a\nB\n",
        ),
        hash(path, Operation::Modify, "a\nb\n", "a\nC\n"),
        hash(path, Operation::Modify, "a\nb\r\n", "a\nB\n"),
        hash(path, Operation::Modify, "b\n", "B\nmore\n"),
        hash(path, Operation::Modify, "b\n", ""),
        hash(path, Operation::Modify, "", "B\n"),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(&approved, other, "{at}");
        assert!(!others[..at].contains(other), "{at}");
    }
    // The same bytes, parted in another way.
    assert_ne!(
        hash(path, Operation::Modify, "a\nb\n", ""),
        hash(path, Operation::Modify, "a\n", "b\n")
    );
    assert_ne!(
        hash(Path::new("/arename/b"), Operation::Modify, "a\n", ""),
        hash(
            Path::new("/a"),
            Operation::Rename {
                to: Path::new("/bmodify")
            },
            "a\n",
            ""
        )
    );
}
