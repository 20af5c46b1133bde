//! The engine and the protocol touch nothing outside: no files, network, processes, threads, clock or
//! randomness. Their tests may.

use super::{read, rust_files, without_comments};

/// What IO begins with. `std::collections::HashMap` is seeded at random, so its order must never
/// be seen; that is for review, not for this test.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::env",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "SystemTime",
    "Instant",
    "println!",
    "eprintln!",
];

/// Crates that do IO, wait, or roll dice.
const IMPURE_CRATES: &[&str] = &[
    "tokio",
    "tokio-util",
    "reqwest",
    "hyper",
    "rustls",
    "nix",
    "libc",
    "rustix",
    "tempfile",
    "directories",
    "tracing-subscriber",
    "fastrand",
    "rand",
    "getrandom",
    "jiff",
    "chrono",
    "time",
    "uuid",
    "anyhow",
    "host",
    "tower-lsp-server",
    "url",
];

#[test]
fn engine_and_protocol_do_no_io() {
    let mut found = Vec::new();
    for folder in ["server/engine/src/", "server/protocol/src/"] {
        let tests = test_modules(folder);
        for file in rust_files(folder) {
            if tests.iter().any(|it| file.starts_with(it.as_str())) {
                continue;
            }
            found.extend(
                impure(&read(&file))
                    .into_iter()
                    .map(|it| format!("{file}: {it}")),
            );
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn io_is_seen_but_not_in_tests() {
    assert_eq!(
        impure("use std::{fs, io};\nfn f() {}"),
        ["use std::{fs, io}"]
    );
    assert_eq!(impure("let now = Instant::now();"), ["Instant"]);
    assert_eq!(
        impure("// Instant\nfn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }"),
        Vec::<String>::new()
    );
    assert_eq!(impure("fn f(answer: Instantly) {}"), Vec::<String>::new());
}

#[test]
fn manifests_of_engine_and_protocol_name_no_crate_that_does_io() {
    for manifest in ["server/engine/Cargo.toml", "server/protocol/Cargo.toml"] {
        let text = read(manifest);
        let dependencies = text
            .split("[dependencies]")
            .nth(1)
            .expect("a manifest has dependencies");
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        let names: Vec<&str> = dependencies
            .lines()
            .filter_map(|it| it.split(['.', ' ', '=']).next())
            .filter(|it| !it.is_empty())
            .collect();
        assert!(names.contains(&"serde"), "{manifest}: {names:?}");
        let impure: Vec<&&str> = names
            .iter()
            .filter(|it| IMPURE_CRATES.contains(it))
            .collect();
        assert!(impure.is_empty(), "{manifest}: {impure:?}");
    }
}

/// What a source has of IO outside its tests.
fn impure(text: &str) -> Vec<String> {
    let text = without_comments(text);
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for word in IMPURE {
        let is_word = |at: usize| {
            let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
            !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
        };
        if text.match_indices(word).any(|(at, _)| is_word(at)) {
            found.push((*word).to_owned());
        }
    }
    // The same in braces.
    for (at, _) in text.match_indices("use std::{") {
        let list = text[at..].split(';').next().unwrap_or_default();
        let names = list["use std::{".len()..].split(['{', '}', ',', ' ', ':', '\n']);
        if names
            .into_iter()
            .any(|it| ["fs", "net", "process", "thread", "env"].contains(&it))
        {
            found.push(list.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    found
}

/// Beginnings of the paths of modules that exist only in tests.
fn test_modules(folder: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for file in rust_files(folder) {
        let text = read(&file);
        let mut is_test = false;
        for line in text.lines() {
            let declared = line
                .trim_start_matches("pub ")
                .strip_prefix("mod ")
                .and_then(|it| it.strip_suffix(';'));
            if is_test && let Some(name) = declared {
                // The crate's own file stands beside its modules, any other above them.
                let stem = file.trim_end_matches(".rs");
                let parent = match stem.rsplit_once('/') {
                    Some((parent, last)) if folder.ends_with(&format!("/{last}/src/")) => {
                        parent.to_owned()
                    }
                    _ => stem.to_owned(),
                };
                modules.push(format!("{parent}/{name}.rs"));
                modules.push(format!("{parent}/{name}/"));
            }
            is_test = line.trim_start().starts_with("#[cfg(") && line.contains("test")
                || is_test && line.trim_start().starts_with("#[");
        }
    }
    modules
}
