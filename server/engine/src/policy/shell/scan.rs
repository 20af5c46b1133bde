//! Looks for what is forbidden in text that nobody can parse: word by word, without the rules of quoting.
//!
//! It finds too much rather than too little (spec C: such a line is scanned whole).

use super::command::last_part;
use super::forbidden;
use super::reader::Reader;
use super::word::{Taint, Word};

/// Bytes that are looked at.
const MAX_BYTES: usize = 1024 * 1024;
/// Words of one command that are looked at.
const MAX_WORDS: usize = 64;
/// Commands of one text that are looked at closely.
const MAX_COMMANDS: usize = 512;

const NAMES: &[&str] = &[
    "rm",
    "chmod",
    "chown",
    "chgrp",
    "find",
    "dd",
    "git",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "format",
    "rd",
    "rmdir",
    "del",
    "erase",
    "cmd",
    "mke2fs",
    "remove-item",
    "ri",
];

const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "iex", "eval", "source",
];

pub fn scan(reader: &mut Reader<'_>, text: &str) {
    let text = match text.char_indices().nth(MAX_BYTES) {
        Some((at, _)) => &text[..at],
        None => text,
    };
    let text = text
        .replace("\\\n", "")
        .replace("${IFS}", " ")
        .replace("$IFS", " ");
    if let Some(rule) = forbidden::in_text(&text) {
        reader.forbid(rule);
    }
    let mut taint = Taint::None;
    let mut n_commands = 0;
    for command in text.split([';', '&', '\n', '(', ')', '`']) {
        for (n, piece) in command.split('|').enumerate() {
            if n == 0 {
                taint = Taint::None;
            }
            let words = words(reader, piece);
            let names = words.iter().map(|it| last_part(&it.text).to_lowercase());
            let names: Vec<String> = names.collect();
            let runs = names.iter().any(|it| SHELLS.contains(&it.as_str()));
            if n > 0 && runs {
                reader.forbid_tainted(taint);
            }
            for (at, name) in names.iter().enumerate() {
                if matches!(name.as_str(), "curl" | "wget") {
                    taint = Taint::Downloaded;
                } else if name == "base64" && taint == Taint::None {
                    taint = Taint::Decoded;
                }
                if !NAMES.contains(&name.as_str()) && !name.starts_with("mkfs") {
                    continue;
                }
                n_commands += 1;
                if n_commands > MAX_COMMANDS {
                    return;
                }
                let end = words.len().min(at + MAX_WORDS);
                let mut command = words[at..end].to_vec();
                command[0].text = name.clone();
                if let Some(rule) = forbidden::command(reader, &command) {
                    reader.forbid(&rule);
                }
            }
            redirections(reader, piece);
        }
    }
}

fn words(reader: &Reader<'_>, text: &str) -> Vec<Word> {
    let home = super::place::home(reader.around);
    text.split([' ', '\t', '\r', '{', '}', ',', '<', '>'])
        .map(|it| {
            it.chars()
                .filter(|it| !matches!(it, '"' | '\'' | '\\'))
                .collect::<String>()
        })
        .filter(|it| !it.is_empty())
        .map(|it| {
            let text = it.replace("$HOME", &home);
            let text = match text.strip_prefix('~') {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
                Some(_) | None => text,
            };
            Word {
                glob: text.contains(['*', '?', '[']),
                ..Word::of(&text)
            }
        })
        .collect()
}

/// `> /etc/x`, and what a plain text has behind a mark.
fn redirections(reader: &mut Reader<'_>, text: &str) {
    for (n, part) in text.split('>').enumerate().take(MAX_COMMANDS) {
        if n == 0 {
            continue;
        }
        let first = part.trim_start_matches(['|', '&', ' ', '\t']);
        let first = first.split([' ', '\t', '<']).next().unwrap_or_default();
        if let Some(target) = words(reader, first).first()
            && target.text.starts_with(['/', '~', '.'])
        {
            reader.write_to(target);
        }
    }
}
