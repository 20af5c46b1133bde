//! Files: where they stand, how they begin, how long they are, and words that none may hold.

use super::{files, read, root};
use std::fs;

/// What may stand at the top, beside names that begin with a dot.
const TOP: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "server",
    "editors",
    "tests",
    "protocol.md",
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "target",
];

/// The most lines of a file that a person is to read.
const MAX_LINES: usize = 1000;

/// Words of one machine or of one registry, in two halves so that this file does not hold them.
const WORDS: &[(&str, &str)] = &[
    ("/work", "/"),
    ("/tmp", "/wt"),
    ("/root", "/"),
    ("npm", "js.org"),
    ("crates", ".io"),
    ("python", "hosted.org"),
    ("py", "pi.org"),
    ("deb", ".debian.org"),
];

#[test]
fn top_level_has_only_what_belongs_there() {
    let mut others: Vec<String> = files()
        .iter()
        .filter_map(|it| it.split('/').next())
        .filter(|it| !it.starts_with('.') && !TOP.contains(it))
        .map(str::to_owned)
        .collect();
    others.dedup();
    assert_eq!(others, Vec::<String>::new());
}

#[test]
fn every_rust_file_says_what_it_is_for() {
    let silent: Vec<String> = files()
        .into_iter()
        .filter(|it| it.ends_with(".rs") && (it.starts_with("server/") || it.starts_with("tests/")))
        .filter(|it| !read(it).starts_with("//! "))
        .collect();
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn no_file_is_longer_than_a_person_reads() {
    let long: Vec<String> = files()
        .into_iter()
        .filter(|it| !is_table_or_data(it))
        .filter_map(|it| {
            let lines = fs::read_to_string(root().join(&it)).ok()?.lines().count();
            (lines > MAX_LINES).then(|| format!("{it}: {lines} lines"))
        })
        .collect();
    assert_eq!(long, Vec::<String>::new());
}

/// Generated files, locks, the document with its tables, and data of tests.
fn is_table_or_data(path: &str) -> bool {
    path == "protocol.md"
        || path == "server/protocol/src/methods.rs"
        || path == "server/protocol/src/config.rs"
        || path == "editors/vscode/package.json"
        || path.ends_with("Cargo.lock")
        || path.ends_with("package-lock.json")
        || path.ends_with("/protocol.ts")
        || path.ends_with("/protocol.lua")
        || path.starts_with("tests/") && !path.ends_with(".rs")
        || path.contains("/recorded/")
}

#[test]
fn no_file_names_a_machine_or_a_registry() {
    let mut found = Vec::new();
    // Lock files say where their tool fetches from.
    for file in files().into_iter().filter(|it| !it.ends_with("Cargo.lock")) {
        // What is not UTF-8 is a picture.
        let Ok(text) = fs::read_to_string(root().join(&file)) else {
            continue;
        };
        for (at, line) in text.lines().enumerate() {
            for (first, second) in WORDS {
                if holds(line, &format!("{first}{second}")) {
                    found.push(format!("{file}:{}: {line}", at + 1));
                }
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_machine_path_is_seen_but_not_inside_another_path() {
    assert!(holds("cd /box/here", "/box/"));
    assert!(holds("\"/box/here\"", "/box/"));
    assert!(!holds("sandbox/here", "/box/"));
    assert!(!holds("/home/ada/box/here", "/box/"));
}

/// Whether a line has a word; a path counts only from its beginning.
fn holds(line: &str, word: &str) -> bool {
    let is_inside = |it: char| it.is_alphanumeric() || "_-./".contains(it);
    line.match_indices(word)
        .any(|(at, _)| !word.starts_with('/') || !line[..at].ends_with(is_inside))
}
