//! How programs are started: a server with a long history in memory is never copied for it.

use super::{read, rust_files, without_comments};

/// What makes a start a copy of the whole process, where std would otherwise lend it the memory (`posix_spawn`, which is
/// `CLONE_VM | CLONE_VFORK`), and calls that copy by themselves.
const COPYING: &[&str] = &["pre_exec(", "fork(", "fork2(", "forkpty("];

/// Where that may stand, and why.
const ALLOWED: &[(&str, &str)] = &[
    // A launcher is its own small process, with one thread and nothing in memory.
    ("server/host/src/process/launcher/stage.rs", "pre_exec("),
    // The demo starts a server so, while it has nothing in memory itself.
    ("server/host/src/demo/interrupt.rs", "pre_exec("),
];

#[test]
fn a_server_starts_programs_without_copying_itself() {
    let mut found = Vec::new();
    for file in rust_files("server/") {
        for word in copying(&read(&file)) {
            found.push((file.clone(), word));
        }
    }
    let mut expected: Vec<(String, &str)> = ALLOWED
        .iter()
        .map(|(file, word)| ((*file).to_owned(), *word))
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "start it as process/run.rs does");
}

#[test]
fn a_copy_is_seen_but_not_in_comments_and_longer_names() {
    assert_eq!(copying("unsafe { command.pre_exec(f) }"), ["pre_exec("]);
    assert_eq!(copying("match libc::fork() {"), ["fork("]);
    assert_eq!(
        copying("// fork() copies\nlet x = is_fork(1);"),
        Vec::<&str>::new()
    );
}

/// What a source has of them, outside comments.
fn copying(text: &str) -> Vec<&'static str> {
    let text = without_comments(text);
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let stands = |word: &&&str| {
        text.match_indices(**word)
            .any(|(at, _)| !text[..at].ends_with(is_name))
    };
    COPYING.iter().filter(stands).copied().collect()
}
