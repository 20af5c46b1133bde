//! What no mode allows and nobody can approve (spec 19.5). Each rule says its name.

use super::command::{last_part, name_of};
use super::grammar;
use super::reader::Reader;
use super::word::{HOLE, Word};
use std::ops::ControlFlow;
use tree_sitter::Node;

/// The rule that a command's words break.
pub fn command(reader: &Reader<'_>, words: &[Word]) -> Option<String> {
    let program = words.first()?;
    let name = last_part(name_of(&program.text)).trim_end_matches(".exe");
    let rest = &words[1..];
    if name == "mkfs"
        || name.starts_with("mkfs.")
        || matches!(name, "mke2fs" | "newfs" | "mkdosfs" | "mkntfs")
    {
        return Some("making a file system over what is there (mkfs)".to_owned());
    }
    match name {
        "rm" | "chmod" | "chown" | "chgrp" => recursive(reader, name, rest),
        "find" | "gfind" => find(reader, rest),
        "dd" => rest
            .iter()
            .filter_map(|it| it.text.strip_prefix("of="))
            .any(|it| it.starts_with("/dev/") && !is_harmless(it))
            .then(|| "writing over a device (dd)".to_owned()),
        "git" => git(rest),
        "nc" | "ncat" | "netcat" | "nc.traditional" | "nc.openbsd" => {
            let listens = |it: &Word| {
                it.text == "--listen"
                    || it.text.starts_with('-')
                        && !it.text.starts_with("--")
                        && it.text.contains('l')
            };
            rest.iter().any(listens).then(listening)
        }
        "socat" => rest
            .iter()
            .any(|it| it.text.to_ascii_lowercase().contains("listen"))
            .then(listening),
        "format" | "format.com" => rest
            .iter()
            .any(|it| is_drive(&it.text))
            .then(|| "formatting a drive".to_owned()),
        "cmd" => windows(rest),
        "rd" | "rmdir" | "del" | "erase" => windows(words),
        _ => None,
    }
}

fn listening() -> String {
    "opening a listening socket".to_owned()
}

fn is_harmless(device: &str) -> bool {
    super::place::is_harmless(std::path::Path::new(device))
}

/// `C:`, `C:\`, `C:\*`.
pub fn is_drive(text: &str) -> bool {
    let mut rest = text.trim_matches(['"', '\'']).chars();
    rest.next().is_some_and(|it| it.is_ascii_alphabetic())
        && rest.next() == Some(':')
        && rest.all(|it| matches!(it, '\\' | '/' | '*' | '.'))
}

/// `rd /s C:\`, also behind `cmd /c`.
fn windows(words: &[Word]) -> Option<String> {
    let texts: Vec<String> = words
        .iter()
        .flat_map(|it| {
            it.text
                .split_whitespace()
                .map(str::to_ascii_lowercase)
                .collect::<Vec<_>>()
        })
        .collect();
    let has = |wanted: &[&str]| texts.iter().any(|it| wanted.contains(&it.as_str()));
    let is_root = |it: &String| {
        is_drive(it)
            || matches!(
                it.as_str(),
                "\\" | "%systemroot%" | "%userprofile%" | "c:\\windows" | "c:\\users"
            )
    };
    if has(&["rd", "rmdir", "del", "erase"])
        && texts.iter().any(|it| it.starts_with("/s"))
        && texts.iter().any(is_root)
    {
        return Some("recursive deletion of a root folder (rd /s)".to_owned());
    }
    (has(&["format"]) && texts.iter().any(|it| is_drive(it)))
        .then(|| "formatting a drive".to_owned())
}

fn recursive(reader: &Reader<'_>, name: &str, rest: &[Word]) -> Option<String> {
    let mut is_recursive = false;
    let mut has_ended = false;
    let mut hits = false;
    for word in rest {
        let text = word.text.as_str();
        if !has_ended && text.starts_with('-') && text.len() > 1 {
            has_ended = text == "--";
            is_recursive |= match text.strip_prefix("--") {
                Some(long) => {
                    !long.is_empty()
                        && "recursive".starts_with(long.split('=').next().unwrap_or_default())
                }
                None => {
                    text.contains('R') || name == "rm" && text.contains('r') || text.contains(HOLE)
                }
            };
            continue;
        }
        is_recursive |= text.starts_with(HOLE);
        hits |= text != HOLE.to_string() && reader.is_root(word);
    }
    let what = match name {
        "rm" => "recursive deletion",
        _ => "recursive change of rights",
    };
    (is_recursive && hits).then(|| {
        format!("{what} of a root folder ({name} -R on /, a home folder or a system folder)")
    })
}

/// `find / -delete`, and with `rm`, where no test narrows it.
fn find(reader: &Reader<'_>, rest: &[Word]) -> Option<String> {
    let first_test = rest.iter().position(|it| {
        it.text.starts_with(['-', '(', '!']) && !matches!(it.text.as_str(), "-H" | "-L" | "-P")
    })?;
    let (starts, tests) = rest.split_at(first_test);
    if !starts.iter().any(|it| reader.is_root(it)) {
        return None;
    }
    let mut deletes = false;
    let mut words = tests.iter().map(|it| it.text.as_str());
    while let Some(word) = words.next() {
        match word {
            "-delete" => deletes = true,
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                deletes |= words
                    .next()
                    .is_some_and(|it| matches!(last_part(it), "rm" | "shred" | "unlink"));
                for word in words.by_ref() {
                    if matches!(word, ";" | "+") {
                        break;
                    }
                }
            }
            "-depth" | "-d" | "-xdev" | "-mount" | "-print" => {}
            "-mindepth" | "-maxdepth" => {
                words.next();
            }
            _ => return None,
        }
    }
    deletes.then(|| "recursive deletion of a root folder (find -delete)".to_owned())
}

/// `git reset --hard`, whatever stands between.
fn git(rest: &[Word]) -> Option<String> {
    let at = super::git::subcommand(rest)?;
    if rest[at].text != "reset" {
        return None;
    }
    let is_hard = |it: &Word| {
        let text = it.text.as_str();
        text.len() >= 4 && "--hard".starts_with(text)
    };
    rest[at..]
        .iter()
        .take_while(|it| it.text != "--")
        .any(is_hard)
        .then(|| "throwing away uncommitted work (git reset --hard)".to_owned())
}

/// What only the text of a whole script shows.
pub fn in_text(text: &str) -> Option<&'static str> {
    let packed: String = text.chars().filter(|it| !it.is_whitespace()).collect();
    // `name(){name|name&};name`, whatever its name.
    for (at, _) in packed.match_indices("(){") {
        let name: String = {
            let mut name: Vec<char> = packed[..at]
                .chars()
                .rev()
                .take_while(|it| {
                    !matches!(
                        it,
                        ';' | '&' | '|' | '(' | ')' | '{' | '}' | '"' | '\'' | '`'
                    )
                })
                .collect();
            name.reverse();
            name.into_iter().collect()
        };
        let mut name = name.as_str();
        // The blanks behind these are gone.
        while let Some(rest) = ["function", "then", "do", "else", "!", "time"]
            .iter()
            .find_map(|it| name.strip_prefix(it).filter(|rest| !rest.is_empty()))
        {
            name = rest;
        }
        if name.is_empty() || name.len() > 64 {
            continue;
        }
        let body = packed[at + 3..].split('}').next().unwrap_or_default();
        if body.contains(&format!("{name}|{name}")) && body.contains('&') {
            return Some("a fork bomb");
        }
    }
    None
}

/// A function that runs itself more than once, or in the background.
pub fn is_fork_bomb(body: Node<'_>, text: &str, name: &str) -> bool {
    let mut n_calls = 0;
    let mut is_forked = false;
    grammar::each(body, |it| {
        match it.kind() {
            "command_name" if &text[it.byte_range()] == name => n_calls += 1,
            "&" | "|" => is_forked = true,
            _ => {}
        }
        ControlFlow::Continue(())
    });
    n_calls >= 2 && is_forked
        || n_calls == 1
            && text[body.byte_range()].contains('&')
            && text[body.byte_range()].contains(&format!("{name} &"))
}
