//! Change sets: their laws, held by random input, and how small their edits are.

#![allow(clippy::disallowed_types, reason = "a bound on time is tested")]

use std::time::Instant;

use expect_test::{Expect, expect};
use ropey::Rope;

use super::{random_lines, random_text, random_variant};
use crate::rounds::rounds;
use crate::text::{ChangeSet, Misfit, Side};

const SEED: u64 = 0x5eed_0001;

fn check(old: &str, new: &str, expected: Expect) {
    let changes = ChangeSet::between(old, new);
    assert_eq!(changes.apply(old).unwrap(), new);
    let edits: Vec<String> = changes
        .edits()
        .iter()
        .map(|it| format!("{:?} {:?}", it.range, it.text))
        .collect();
    expected.assert_eq(&edits.join("\n"));
}

/// Two texts which have something in common.
fn random_pair(random: &mut fastrand::Rng) -> (String, String) {
    match random.u8(..3) {
        0 => {
            let old = random_lines(random, 12);
            let new = random_variant(random, &old);
            (old, new)
        }
        1 => (random_lines(random, 12), random_lines(random, 12)),
        _ => {
            let old = random_text(random, 20);
            let new = random_variant(random, &old);
            (old, new)
        }
    }
}

/// A change that is not from a diff: anything at any character.
fn random_change(random: &mut fastrand::Rng, old: &str) -> ChangeSet {
    let mut steps = ChangeSet::default();
    let mut at = 0;
    while at < old.len() {
        let end = old.ceil_char_boundary(at + random.usize(1..5).min(old.len() - at));
        match random.u8(..4) {
            0 => steps.insert(&random_text(random, 2)),
            1 => {
                steps.delete(end - at);
                at = end;
            }
            _ => {
                steps.keep(end - at);
                at = end;
            }
        }
    }
    if random.bool() {
        steps.insert(&random_text(random, 2));
    }
    steps
}

#[test]
fn between_makes_the_new_text_and_cuts_no_character_and_no_crlf() {
    for (round, mut random) in rounds(SEED, 10_000) {
        let (old, new) = random_pair(&mut random);
        let changes = ChangeSet::between(&old, &new);
        assert_eq!(
            changes.apply(&old).as_deref(),
            Ok(&*new),
            "round {round}: {old:?}"
        );
        assert_eq!(
            (changes.old_len(), changes.new_len()),
            (old.len(), new.len())
        );
        assert_eq!(changes.is_identity(), old == new);
        let mut grown = 0;
        for edit in changes.edits() {
            let start = edit.range.start.strict_add_signed(grown);
            let places = [
                (&old, edit.range.start),
                (&old, edit.range.end),
                (&new, start),
                (&new, start + edit.text.len()),
            ];
            for (text, at) in places {
                let (before, after) = text.split_at(at);
                assert!(
                    !(before.ends_with('\r') && after.starts_with('\n')),
                    "round {round}: {old:?} to {new:?} by {edit:?}"
                );
            }
            grown += edit.text.len() as isize - edit.range.len() as isize;
        }
    }
}

#[test]
fn a_rope_and_a_string_take_the_same_change() {
    for (round, mut random) in rounds(SEED, 5_000) {
        let old = random_text(&mut random, 20);
        let changes = random_change(&mut random, &old);
        let mut rope = Rope::from_str(&old);
        changes.apply_rope(&mut rope).unwrap();
        assert_eq!(
            rope.to_string(),
            changes.apply(&old).unwrap(),
            "round {round}: {changes:?}"
        );
    }
}

#[test]
fn applying_and_then_the_inverse_changes_nothing() {
    for (round, mut random) in rounds(SEED, 5_000) {
        let old = random_text(&mut random, 20);
        let changes = random_change(&mut random, &old);
        let new = changes.apply(&old).unwrap();
        let inverse = changes.invert(&old).unwrap();
        assert_eq!(
            inverse.apply(&new).unwrap(),
            old,
            "round {round}: {changes:?}"
        );
        assert_eq!(inverse.invert(&new).unwrap(), changes, "round {round}");
    }
}

#[test]
fn composing_is_applying_one_after_the_other_however_grouped() {
    for (round, mut random) in rounds(SEED, 5_000) {
        let one = random_text(&mut random, 20);
        let a = random_change(&mut random, &one);
        let two = a.apply(&one).unwrap();
        let b = random_change(&mut random, &two);
        let three = b.apply(&two).unwrap();
        let c = random_change(&mut random, &three);
        let four = c.apply(&three).unwrap();
        let left = a.compose(&b).unwrap().compose(&c).unwrap();
        let right = a.compose(&b.compose(&c).unwrap()).unwrap();
        assert_eq!(left.apply(&one).unwrap(), four, "round {round}");
        assert_eq!(right.apply(&one).unwrap(), four, "round {round}");
        let nothing = ChangeSet::identity(one.len());
        assert_eq!(nothing.compose(&a).unwrap(), a, "round {round}");
    }
}

#[test]
fn two_changes_to_one_text_converge_in_either_order() {
    for (round, mut random) in rounds(SEED, 10_000) {
        let base = random_text(&mut random, 20);
        let a = random_change(&mut random, &base);
        let b = random_change(&mut random, &base);
        let a_first = a.compose(&b.rebase(&a, Side::After).unwrap()).unwrap();
        let b_first = b.compose(&a.rebase(&b, Side::Before).unwrap()).unwrap();
        assert_eq!(
            a_first.apply(&base).unwrap(),
            b_first.apply(&base).unwrap(),
            "round {round}: {base:?}, {a:?}, {b:?}"
        );
    }
}

#[test]
fn the_side_says_whose_insertion_comes_first() {
    let a = ChangeSet::between("xy", "xAy");
    let b = ChangeSet::between("xy", "xBy");
    let after_b = |side| {
        b.compose(&a.rebase(&b, side).unwrap())
            .unwrap()
            .apply("xy")
            .unwrap()
    };
    assert_eq!(
        (&*after_b(Side::Before), &*after_b(Side::After)),
        ("xABy", "xBAy")
    );
}

#[test]
fn edits_are_as_small_as_what_differs() {
    check(
        "let a = 1;\nb\n",
        "let a = 2;\nb\n",
        expect![[r#"8..9 "2""#]],
    );
    check(
        "foo(a)\nfoo(b)\nfoo(c)\n",
        "bar(a)\nbar(b)\nbar(c)\n",
        expect![[r#"
            0..3 "bar"
            7..10 "bar"
            14..17 "bar""#]],
    );
    check("a\nc\n", "a\nb\nc\n", expect![[r#"2..2 "b\n""#]]);
    check("a\nb\nc\n", "a\nc\n", expect![[r#"2..4 """#]]);
    check("", "a\n", expect![[r#"0..0 "a\n""#]]);
    check("a", "a\n", expect![[r#"1..1 "\n""#]]);
    check("same", "same", expect![""]);
}

#[test]
fn a_character_and_a_crlf_are_replaced_whole() {
    // é and è share their first byte, é and ũ their last.
    check("é", "è", expect![[r#"0..2 "è""#]]);
    check("é", "ũ", expect![[r#"0..2 "ũ""#]]);
    check("a\r\nb", "a\nb", expect![[r#"1..3 "\n""#]]);
    check("a\nb", "a\r\nb", expect![[r#"1..2 "\r\n""#]]);
    check("a\r\nb", "a\rb", expect![[r#"1..3 "\r""#]]);
}

#[test]
fn a_change_for_another_text_is_refused_and_changes_nothing() {
    let changes = ChangeSet::between("abc", "axc");
    assert_eq!(
        changes.apply("abcd"),
        Err(Misfit::Length {
            expected: 3,
            found: 4
        })
    );
    assert_eq!(changes.apply("é1"), Err(Misfit::Boundary { at: 1 }));
    let mut rope = Rope::from_str("é1");
    assert_eq!(
        changes.apply_rope(&mut rope),
        Err(Misfit::Boundary { at: 1 })
    );
    assert_eq!(rope.to_string(), "é1");
    assert_eq!(
        changes.invert("é"),
        Err(Misfit::Length {
            expected: 3,
            found: 2
        })
    );
    let other = ChangeSet::identity(4);
    assert_eq!(
        changes.compose(&other),
        Err(Misfit::Length {
            expected: 4,
            found: 3
        })
    );
    assert_eq!(
        changes.rebase(&other, Side::After),
        Err(Misfit::Length {
            expected: 4,
            found: 3
        })
    );
}

/// Numbers of the optimised build are in the messages; the bound here is for any build on a busy machine.
#[test]
fn large_files_are_compared_in_about_linear_time() {
    const N_LINES: usize = 50_000;
    let mut random = fastrand::Rng::with_seed(SEED);
    let old: Vec<String> = (0..N_LINES)
        .map(|it| format!("    let value_{} = call({it});\n", it % 977))
        .collect();
    let mut edited = old.clone();
    for _ in 0..200 {
        let at = random.usize(..N_LINES);
        edited[at] = format!("    let changed = {at};\n");
    }
    let mut shuffled: Vec<String> = old.clone();
    random.shuffle(&mut shuffled);
    let rewritten: Vec<String> = (0..N_LINES).map(|it| format!("  other {it}\n")).collect();
    let braces = vec!["}\n".to_owned(); N_LINES];
    let old = old.concat();
    for (name, new) in [
        ("200 edits", edited.concat()),
        ("shuffled", shuffled.concat()),
        ("rewritten", rewritten.concat()),
        ("braces", braces.concat()),
        ("emptied", String::new()),
    ] {
        let start = Instant::now();
        let changes = ChangeSet::between(&old, &new);
        let took = start.elapsed();
        eprintln!("{name}: {took:?}, {} edits", changes.edits().len());
        assert!(took.as_secs() < 5, "{name} took {took:?}");
        assert!(changes.apply(&old).unwrap() == new, "{name}");
    }
}
