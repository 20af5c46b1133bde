//! Whether a line can be told to stay in the scratchpad (spec 5.9). Strict: what is not plainly so is not so.

use super::Surroundings;
use std::path::Path;

/// They work on files that they are told, and run nothing.
const PROGRAMS: &[&str] = &[
    "cat",
    "ls",
    "mkdir",
    "touch",
    "cp",
    "mv",
    "rm",
    "rmdir",
    "head",
    "tail",
    "wc",
    "sort",
    "uniq",
    "cut",
    "grep",
    "tac",
    "nl",
    "diff",
    "cmp",
    "comm",
    "stat",
    "du",
    "file",
    "sha256sum",
    "md5sum",
    "pwd",
    "basename",
    "dirname",
    "echo",
    "true",
    "test",
];

pub fn stays(line: &str, around: &Surroundings) -> bool {
    let Some(scratchpad) = &around.scratchpad else {
        return false;
    };
    let is_plain = |it: char| it.is_ascii_alphanumeric() || " _./,:+@%=-".contains(it);
    if !around.cwd.starts_with(scratchpad) || !line.chars().all(is_plain) {
        return false;
    }
    let mut tokens = line.split(' ').filter(|it| !it.is_empty());
    if !tokens.next().is_some_and(|it| PROGRAMS.contains(&it)) {
        return false;
    }
    tokens.all(|it| may_not_leave(it, scratchpad))
}

fn may_not_leave(token: &str, scratchpad: &Path) -> bool {
    let mut chars = token.chars();
    let is_drive =
        chars.next().is_some_and(|it| it.is_ascii_alphabetic()) && chars.next() == Some(':');
    if token.contains("..") || token.contains(":/") || is_drive {
        return false;
    }
    if token.starts_with('/') {
        return Path::new(token).starts_with(scratchpad);
    }
    let hides_path = token.starts_with('-')
        && (token.contains('/') || token.starts_with("-f") || token.contains("program"))
        || token.split_once('=').is_some_and(|it| it.1.contains('/'));
    !hides_path
}
