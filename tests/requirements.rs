//! Which requirements have a test: the gap, visible at a glance.
//!
//! A requirement's test carries its id in its name, as in `r_048_only_the_newest_images_are_sent` or
//! `s_12_…`. `UPDATE_EXPECT=1 cargo test requirements` brings the table up to date.

use expect_test::expect;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The two lists of requirements: the tools (R-1 …) and the console (S-1 …), with the last id of each.
const LISTS: [(char, usize); 2] = [('R', 217), ('S', 72)];

#[test]
fn requirements_with_a_test() {
    let found = covered();
    let table = table(&found);
    eprintln!("{table}");
    expect![[r#"
        R: 94 of 217
          1-99: 64 of 99
          100-199: 23 of 100
          200-217: 7 of 18
          tested: 1 6-68 102-124 211-217
          not yet: 2-5 69-101 125-210
        S: 0 of 72
          1-72: 0 of 72
          tested: none
          not yet: 1-72
    "#]]
    .assert_eq(&table);
}

#[test]
fn requirements_ids_are_read_from_names_only() {
    let text = "fn r_048_images() fn r_3_s_4_two() fn test_s_7_list() \"r_12_in_lua\" for_5_times r_0_none r_218_none r_9 S_1_x attr_3_x";
    let found: Vec<String> = ids(text)
        .into_iter()
        .map(|(list, number)| format!("{list}-{number}"))
        .collect();
    assert_eq!(found.join(" "), "R-48 R-3 S-4 S-7 R-12");
}

type Id = (char, usize);

fn table(found: &BTreeSet<Id>) -> String {
    let mut out = String::new();
    for (list, last) in LISTS {
        let of = |from: usize, to: usize| found.range((list, from)..=(list, to)).count();
        writeln!(out, "{list}: {} of {last}", of(1, last)).unwrap();
        for from in (0..=last).step_by(100) {
            let (from, to) = (from.max(1), (from + 99).min(last));
            writeln!(out, "  {from}-{to}: {} of {}", of(from, to), to - from + 1).unwrap();
        }
        let covered: Vec<usize> = (1..=last)
            .filter(|it| found.contains(&(list, *it)))
            .collect();
        let missing: Vec<usize> = (1..=last)
            .filter(|it| !found.contains(&(list, *it)))
            .collect();
        writeln!(out, "  tested: {}", ranges(&covered)).unwrap();
        writeln!(out, "  not yet: {}", ranges(&missing)).unwrap();
    }
    out
}

/// Numbers in order, runs of them as `a-b`.
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            Some(_) | None => runs.push((number, number)),
        }
    }
    let runs: Vec<String> = runs
        .iter()
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    if runs.is_empty() {
        "none".to_owned()
    } else {
        runs.join(" ")
    }
}

/// The ids in names of tests, wherever tests stand.
fn covered() -> BTreeSet<Id> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> = ["tests", "server", "editors"]
        .iter()
        .map(|it| root.join(it))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !["node_modules", "out", "__pycache__"]
                    .iter()
                    .any(|it| path.ends_with(it))
                {
                    folders.push(path);
                }
            } else if is_source(&path) && !path.ends_with("requirements.rs") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let is_comment = |it: &&str| {
                    ["//", "--"]
                        .iter()
                        .any(|mark| it.trim_start().starts_with(mark))
                };
                found.extend(text.lines().filter(|it| !is_comment(it)).flat_map(ids));
            }
        }
    }
    found
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|it| {
        ["rs", "py", "lua", "ts", "md"]
            .iter()
            .any(|known| it == *known)
    })
}

/// A name's beginning without the ids that it ends with: a test may be one of several requirements.
fn without_ids(mut front: &str) -> &str {
    while let Some(rest) = front.strip_suffix('_') {
        let rest = rest.trim_end_matches(|it: char| it.is_ascii_digit());
        let letters = LISTS.map(|(list, _)| format!("{}_", list.to_ascii_lowercase()));
        match letters.iter().find_map(|it| rest.strip_suffix(it.as_str())) {
            Some(rest) => front = rest,
            None => break,
        }
    }
    front
}

/// The ids of a text, in its order: a list's letter, a number with or without zeros before it, and words.
fn ids(text: &str) -> Vec<Id> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("_") {
        let (before, after) = (&text[..at], &text[at + 1..]);
        let Some(letter) = before.chars().next_back() else {
            continue;
        };
        let front = &before[..before.len() - letter.len_utf8()];
        let front = without_ids(front);
        let front = front.strip_suffix("test_").unwrap_or(front);
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        let has_words = after[digits.len()..]
            .strip_prefix('_')
            .is_some_and(|it| it.starts_with(|it: char| it.is_ascii_lowercase()));
        let is_inside = front.ends_with(|it: char| it.is_ascii_alphanumeric() || it == '_');
        let Some((list, last)) = LISTS
            .into_iter()
            .find(|(list, _)| list.to_ascii_lowercase() == letter)
        else {
            continue;
        };
        match digits.parse() {
            Ok(number) if has_words && !is_inside && (1..=last).contains(&number) => {
                found.push((list, number))
            }
            Ok(_) | Err(_) => {}
        }
    }
    found
}
