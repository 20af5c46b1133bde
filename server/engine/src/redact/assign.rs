//! Names and what is assigned to them: `name=value`, `name: value`, `"name": "value"`, `--name value`.

use super::name::{Kind, LONGEST, holds_word, is_signed, kind_of};
use super::scan::{Found, Text};
use super::value::{
    is_hole, is_identifier, is_kebab, is_letters, is_path, is_prose, is_quoted_secret, is_random,
    is_token, is_variable, is_word, n_digits,
};
use std::ops::Range;

/// The most bytes of a value that are looked at to judge it.
const LONGEST_VALUE: usize = 4096;

/// The most blanks between a name, its sign and its value.
const BLANKS: usize = 16;

/// How a name stands.
struct Name {
    range: Range<usize>,
    is_quoted: bool,
}

fn is_blank(it: u8) -> bool {
    matches!(it, b' ' | b'\t')
}

fn is_quote(it: u8) -> bool {
    matches!(it, b'"' | b'\'' | b'`')
}

fn is_of_name(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.')
}

/// The name that ends before `at`.
fn name_before(text: &Text<'_>, at: usize) -> Option<Name> {
    let mut end = at;
    while end > 0 && at - end < BLANKS && is_blank(text.before(end)) {
        end -= 1;
    }
    let is_quoted = is_quote(text.before(end));
    if is_quoted {
        end -= 1;
        while text.before(end) == b'\\' && at - end < BLANKS {
            end -= 1;
        }
    }
    // `token?: string`
    if text.before(end) == b'?' {
        end -= 1;
    }
    let least = end.saturating_sub(LONGEST);
    let is_part = |it: &u8| is_of_name(*it);
    let start = text.bytes[least..end].iter().rposition(|it| !is_part(it));
    let mut start = start.map_or(least, |it| least + it + 1);
    if text.at(start) != b'\\' && text.is_behind_escape(start + 1) {
        start += 1;
    }
    while start < end && text.at(start) == b'-' {
        start += 1;
    }
    (start < end).then_some(Name {
        range: start..end,
        is_quoted,
    })
}

/// `at` is an equals sign.
pub(super) fn assigned(text: &Text<'_>, at: usize) -> Found {
    let is_other = matches!(text.at(at + 1), b'=' | b'>' | b'~')
        || b"=!<>+*/%|&^~".contains(&text.before(at)) && at > 0;
    if is_other {
        return Found::Nothing;
    }
    let sign = if text.before(at) == b':' { at - 1 } else { at };
    let Some(name) = name_before(text, sign) else {
        return Found::Nothing;
    };
    let word = &text.bytes[name.range.clone()];
    let is_tight = name.range.end == at && !is_blank(text.at(at + 1));
    let lead = text.before(name.range.start);
    let Some(kind) = kind_of(word).filter(|_| !matches!(word, b"PWD" | b"OLDPWD")) else {
        return if is_tight && matches!(lead, b'?' | b'&') && is_signed(word) {
            signed(text, at + 1)
        } else if is_tight && holds_word(word) {
            judge(text, at + 1, is_random)
        } else {
            typed(text, &name, at)
        };
    };
    let value = text.skip(at + 1, BLANKS, is_blank);
    if let Some(found) = quoted(text, kind, value) {
        return found;
    }
    if kind == Kind::Authorization {
        return authorization(text, value);
    }
    let is_variable = word.iter().all(|it| !it.is_ascii_lowercase());
    let is_argument = is_argument(text, name.range.start);
    judge_followed(text, value, |value, next| {
        if is_hole(value) || is_word(value) || is_path(value) || is_code_behind(next) {
            return false;
        }
        let is_digits = n_digits(value) == value.len();
        if is_digits {
            return kind == Kind::Password && value.len() >= 4;
        }
        if !is_identifier(value) {
            return match kind {
                Kind::Token => is_tight && is_variable && value.len() >= 8 || is_token(value),
                _ => is_tight || value.len() >= 6 && is_literal(value),
            };
        }
        match (is_tight, kind) {
            // A shell's: nobody writes code so.
            (true, Kind::Token) if is_variable => n_digits(value) > 0 || value.len() >= 16,
            (true, _) if is_variable => !is_variable_name(value),
            (true, _) if is_argument => is_random(value),
            (true, Kind::Token) => is_token(value),
            (true, _) => !value.contains(&b'.') || n_digits(value) > 0,
            // `password = hunter2`, and nothing behind it: a settings file.
            (false, Kind::Token) => is_token(value) && is_random(value) && next.is_end,
            (false, _) => {
                n_digits(value) > 0 && next.is_end && !is_argument && !value.contains(&b'_')
            }
        }
    })
}

/// `const API_KEY: &str = "…"`, where the name stands before its type.
fn typed(text: &Text<'_>, name: &Name, at: usize) -> Found {
    let is_type = |it: &u8| it.is_ascii_alphanumeric() || b"_&'<>. \t".contains(it);
    let least = name.range.start.saturating_sub(LONGEST);
    let colon = text.bytes[least..name.range.start]
        .iter()
        .rposition(|it| !is_type(it));
    let Some(colon) = colon.map(|it| least + it).filter(|it| text.at(*it) == b':') else {
        return Found::Nothing;
    };
    let is_path = text.before(colon) == b':';
    let kind = name_before(text, colon).and_then(|it| kind_of(&text.bytes[it.range]));
    match kind {
        Some(kind) if !is_path => {
            let value = text.skip(at + 1, BLANKS, is_blank);
            quoted(text, kind, value).unwrap_or(Found::Nothing)
        }
        Some(_) | None => Found::Nothing,
    }
}

/// `at` is a colon.
pub(super) fn colon(text: &Text<'_>, at: usize) -> Found {
    if matches!(text.at(at + 1), b':' | b'=') || text.before(at) == b':' {
        return Found::Nothing;
    }
    let Some(name) = name_before(text, at) else {
        return Found::Nothing;
    };
    let word = &text.bytes[name.range.clone()];
    let Some(kind) = kind_of(word) else {
        return Found::Nothing;
    };
    let value = text.skip(at + 1, BLANKS, is_blank);
    if let Some(found) = quoted(text, kind, value) {
        return found;
    }
    if kind == Kind::Authorization {
        return authorization(text, value);
    }
    // `X-Api-Key`: code has no such names but in quotes.
    let is_header = word.contains(&b'-') && !name.is_quoted;
    let is_spaced = value > at + 1;
    judge_followed(text, value, |value, next| {
        if is_hole(value) || is_word(value) || is_path(value) || is_code_behind(next) {
            return false;
        }
        if n_digits(value) == value.len() {
            return kind == Kind::Password && value.len() >= 4;
        }
        if is_header && next.is_end {
            return value.len() >= 4 && !is_prose(value);
        }
        if !is_identifier(value) {
            return match kind {
                Kind::Token => is_token(value),
                _ => value.len() >= 4 && is_literal(value) && (next.is_end || !is_blank(next.byte)),
            };
        }
        match kind {
            Kind::Token => is_token(value) && is_random(value) && next.is_end,
            // YAML's: a variable would be followed by a comma.
            _ if n_digits(value) > 0 => {
                next.is_end && !name.is_quoted && !value.contains(&b'_') && is_no_type(value)
            }
            Kind::Password => {
                is_spaced
                    && next.is_end
                    && !name.is_quoted
                    && value.iter().all(u8::is_ascii_lowercase)
            }
            _ => false,
        }
    })
}

/// `at` is the first of two dashes: `--password x`. What is joined by an equals sign is looked at there.
pub(super) fn flag(text: &Text<'_>, at: usize) -> Found {
    let is_begin = matches!(text.before(at), 0 | b' ' | b'\t' | b'\n')
        || is_quote(text.before(at))
        || text.is_behind_escape(at);
    let begin = at + 2;
    let end = text.skip(begin, LONGEST, is_of_name);
    if !is_begin || text.at(end) != b' ' {
        return Found::Nothing;
    }
    let Some(kind) = kind_of(&text.bytes[begin..end]) else {
        return Found::Nothing;
    };
    let value = end + 1;
    if is_quote(text.at(value)) || text.at(value) == b'\\' {
        return match quote(text, value) {
            Quote::Text(inner) => {
                let value = &text.bytes[inner.clone()];
                match is_hole(value) || is_variable(value) {
                    true => Found::Nothing,
                    false => Found::Secret(inner),
                }
            }
            Quote::Open(open) => Found::Open(open),
            Quote::None => Found::Nothing,
        };
    }
    judge(text, value, |value| {
        if value.first() == Some(&b'-') || is_hole(value) || is_word(value) || is_path(value) {
            return false;
        }
        if is_letters(value) {
            let is_big = value
                .iter()
                .all(|it| it.is_ascii_uppercase() || *it == b'_');
            return match kind {
                Kind::Password => !is_big && !is_prose(value),
                _ => !is_big && value.len() >= 16 && !is_kebab(value),
            };
        }
        value.len() >= 4
    })
}

/// What follows `Authorization:`.
fn authorization(text: &Text<'_>, value: usize) -> Found {
    let is_inner = |it: u8| !matches!(it, b'\n' | b'\r' | b'\\') && !is_quote(it);
    let end = text.skip(value, LONGEST_VALUE, is_inner);
    if text.is_open(end) {
        return Found::Open(value);
    }
    match credential(&text.bytes[value..end]) {
        Some(inner) => Found::Secret(value + inner.start..value + inner.end),
        None => Found::Nothing,
    }
}

/// What is secret of a header's value: all behind its scheme.
fn credential(value: &[u8]) -> Option<Range<usize>> {
    let end = value.trim_ascii_end().len();
    let words = value[..end].iter().position(|it| is_blank(*it));
    let is_scheme = |it: &[u8]| {
        it.iter()
            .all(|it| it.is_ascii_alphanumeric() || *it == b'-')
    };
    let (begin, is_bare) = match words {
        Some(at) if is_scheme(&value[..at]) => (at + 1, false),
        Some(_) => return None,
        None => (0, true),
    };
    let inner = &value[begin..end];
    let is_code = inner.iter().any(|it| b"({[<;)}]".contains(it)) || inner.ends_with(b",");
    let is_words = inner.contains(&b' ') && !inner.contains(&b'=');
    let is_none = is_hole(value) || is_hole(inner) || is_word(inner) || is_code || is_words;
    match is_none || is_bare && (is_identifier(inner) && !is_random(inner) || inner.len() < 4) {
        true => None,
        false => Some(begin..end),
    }
}

/// The value of a signed URL's key.
fn signed(text: &Text<'_>, value: usize) -> Found {
    judge(text, value, |value| {
        value.len() >= 8 && !is_hole(value) && (n_digits(value) > 0 || value.contains(&b'%'))
    })
}

/// A text in quotes.
enum Quote {
    Text(Range<usize>),
    Open(usize),
    None,
}

/// The text in quotes that begins at `at`, perhaps with letters of a language before the quote (`b"…"`), perhaps
/// with the quotes escaped, as in JSON within a JSON text.
fn quote(text: &Text<'_>, at: usize) -> Quote {
    let mut begin = text.skip(at, 2, |it| matches!(it, b'b' | b'f' | b'r' | b'u' | b'@'));
    let slashes = begin;
    begin = text.skip(begin, 8, |it| it == b'\\');
    let n_slashes = begin - slashes;
    let sign = text.at(begin);
    if !is_quote(sign) {
        return match text.is_open(begin) && begin > at {
            true => Quote::Open(at),
            false => Quote::None,
        };
    }
    begin += 1;
    let mut end = begin;
    loop {
        end = text.skip(end, LONGEST_VALUE, |it| {
            it != sign && !matches!(it, b'\n' | b'\\')
        });
        if text.is_open(end) {
            return Quote::Open(begin);
        }
        if text.at(end) != b'\\' {
            break;
        }
        let run = text.skip(end, 64, |it| it == b'\\');
        if text.is_open(run) {
            return Quote::Open(begin);
        }
        if text.at(run) == sign && run - end <= n_slashes {
            break;
        }
        // Escaped, and so part of the text.
        end = run + usize::from(text.at(run) == sign && (run - end) % 2 == 1);
        if end - begin > LONGEST_VALUE {
            break;
        }
    }
    let end = end.min(text.bytes.len());
    // It was the end of a text and not its beginning: `"Password: ", "x"`.
    match matches!(
        text.at(begin),
        b',' | b';' | b')' | b']' | b':' | b' ' | b'\t'
    ) {
        true => Quote::None,
        false => Quote::Text(begin..end),
    }
}

fn quoted(text: &Text<'_>, kind: Kind, at: usize) -> Option<Found> {
    Some(match quote(text, at) {
        Quote::Text(inner) => {
            let value = &text.bytes[inner.clone()];
            match kind {
                Kind::Authorization => match credential(value) {
                    Some(it) => Found::Secret(inner.start + it.start..inner.start + it.end),
                    None => Found::Nothing,
                },
                Kind::Password | Kind::Secret | Kind::Token => {
                    match is_quoted_secret(kind, value) {
                        true => Found::Secret(inner),
                        false => Found::Nothing,
                    }
                }
            }
        }
        Quote::Open(open) => Found::Open(open),
        Quote::None => return None,
    })
}

/// What stands behind a value.
#[derive(Clone, Copy)]
struct Next {
    byte: u8,
    /// Nothing more in its line but blanks, a comment, or the end of a quotation.
    is_end: bool,
}

fn is_of_value(it: u8) -> bool {
    !matches!(
        it,
        0..=b' '
            | b','
            | b';'
            | b'&'
            | b')'
            | b'('
            | b']'
            | b'['
            | b'}'
            | b'<'
            | b'>'
            | b'|'
            | b'\\'
    ) && !is_quote(it)
}

fn judge(text: &Text<'_>, value: usize, is: impl Fn(&[u8]) -> bool) -> Found {
    judge_followed(text, value, |it, _| is(it))
}

/// Takes a value without quotes for a secret if it passes.
fn judge_followed(text: &Text<'_>, value: usize, is: impl Fn(&[u8], Next) -> bool) -> Found {
    // A variable of a shell or a template is no value, whatever is in its brackets.
    let judged = text.skip(value, LONGEST_VALUE, is_of_value);
    if text.is_open(judged) {
        return Found::Open(value);
    }
    if judged == value {
        return Found::Nothing;
    }
    let behind = text.skip(judged, BLANKS, is_blank);
    if text.is_open(behind) {
        return Found::Open(value);
    }
    let next = Next {
        byte: text.at(judged),
        is_end: matches!(text.at(behind), 0 | b'\n' | b'\r' | b'#' | b'\\')
            || is_quote(text.at(judged)),
    };
    if !is(&text.bytes[value..judged], next) {
        return Found::Nothing;
    }
    // All of it, so that a long one is gone through once.
    let end = text.skip(judged, usize::MAX, is_of_value);
    match text.is_open(end) {
        true => Found::Open(value),
        false => Found::Secret(value..end),
    }
}

/// A call, an index, a type with parameters.
fn is_code_behind(next: Next) -> bool {
    matches!(next.byte, b'(' | b'[' | b'<')
}

/// Whether a name is one of a call's arguments: `connect(host, password=…`.
fn is_argument(text: &Text<'_>, name: usize) -> bool {
    let mut at = name;
    while at > 0 && name - at < BLANKS && is_blank(text.before(at)) {
        at -= 1;
    }
    let before = text.before(at);
    matches!(before, b'(' | b',') || before.is_ascii_lowercase() && is_declaration(text, at)
}

/// Whether a declaring word ends before `at`.
fn is_declaration(text: &Text<'_>, at: usize) -> bool {
    [
        "let", "mut", "var", "const", "val", "static", "final", "auto", "local", "my",
    ]
    .iter()
    .any(|it| text.bytes[..at].ends_with(it.as_bytes()) && !is_of_name(text.before(at - it.len())))
}

/// No operator of a language is in it, and it is neither a reference nor a place: what may be a literal.
fn is_literal(value: &[u8]) -> bool {
    let is_odd = matches!(value[0], b'&' | b'*' | b'!' | b'@' | b'?' | b'|' | b'-');
    let is_path = value
        .windows(2)
        .any(|it| it == b"::" || it == b"->" || it == b"..");
    let is_template = value.contains(&b'{');
    !is_odd && !is_path && !is_template && (n_digits(value) > 0 || !is_kebab(value))
}

/// `SOME_VARIABLE`
fn is_variable_name(value: &[u8]) -> bool {
    is_variable(value)
}

/// `hunter2`, not `Hunter2`.
fn is_no_type(value: &[u8]) -> bool {
    !value[0].is_ascii_uppercase() || is_random(value)
}
