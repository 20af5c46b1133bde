//! Whether a value is a literal that may be a secret, or code, a name, a hole to be filled.

use super::MASK;
use super::name::Kind;

/// Words that stand for no value, or for a type, in some language.
const WORDS: &[&str] = &[
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "self",
    "this",
    "super",
    "string",
    "str",
    "number",
    "bool",
    "boolean",
    "int",
    "integer",
    "bytes",
    "char",
    "any",
    "object",
    "void",
    "unknown",
    "never",
    "required",
    "optional",
    "yes",
    "no",
    "on",
    "off",
    "redacted",
    "hidden",
    "masked",
    "empty",
    "default",
    "text",
    "password",
    "passwd",
    "token",
    "secret",
    "apikey",
    "credential",
    "credentials",
    "passphrase",
];

/// Words of a sentence that follow a flag that is talked about.
const PROSE: &[&str] = &[
    "a", "an", "and", "are", "as", "can", "file", "flag", "for", "from", "has", "if", "in", "is",
    "it", "may", "must", "not", "of", "on", "option", "or", "that", "the", "to", "was", "when",
    "which", "will", "with", "would",
];

pub(super) fn is_one_of(value: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .any(|it| value.eq_ignore_ascii_case(it.as_bytes()))
}

pub(super) fn is_prose(value: &[u8]) -> bool {
    is_one_of(value, PROSE)
}

/// A mask, a hole of a template, a variable of a shell: `***`, `${X}`, `<your key>`, `%s`, `{token}`.
pub(super) fn is_hole(value: &[u8]) -> bool {
    match value.first() {
        None => true,
        Some(b'$' | b'{' | b'<' | b'%' | b'*' | b'`' | b'(' | b'[') => true,
        Some(b'x' | b'X' | b'.' | b'-' | b'_' | b'?' | b'#') => value
            .iter()
            .all(|it| matches!(it, b'x' | b'X' | b'.' | b'-' | b'_' | b'?' | b'#')),
        Some(_) => {
            let is_in = |hole: &[u8]| value.windows(hole.len()).any(|it| it == hole);
            is_in(b"${") || is_in(MASK.as_bytes()) || value == "\u{2026}".as_bytes()
        }
    }
}

/// Names of other things: `None`, `string`, `password`.
pub(super) fn is_word(value: &[u8]) -> bool {
    is_one_of(value, WORDS)
}

/// `name`, `a.b.c`, `self.token`, `Option`, `x?`.
pub(super) fn is_identifier(value: &[u8]) -> bool {
    let value = value.strip_suffix(b"?").unwrap_or(value);
    value.split(|it| *it == b'.').all(|part| {
        matches!(part.first(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_'))
            && part
                .iter()
                .all(|it| it.is_ascii_alphanumeric() || *it == b'_')
    })
}

pub(super) fn is_letters(value: &[u8]) -> bool {
    value
        .iter()
        .all(|it| it.is_ascii_alphabetic() || *it == b'_')
}

/// `GITHUB_TOKEN`: where the secret is.
pub(super) fn is_variable(value: &[u8]) -> bool {
    value.contains(&b'_')
        && value
            .iter()
            .all(|it| it.is_ascii_uppercase() || *it == b'_')
}

pub(super) fn n_digits(value: &[u8]) -> usize {
    value.iter().filter(|it| it.is_ascii_digit()).count()
}

/// Long, and of letters and digits as no word is.
pub(super) fn is_random(value: &[u8]) -> bool {
    value.len() >= 16
        && n_digits(value) >= 2
        && value.iter().any(u8::is_ascii_alphabetic)
        && value.iter().all(|it| {
            it.is_ascii_alphanumeric()
                || matches!(
                    it,
                    b'+' | b'/' | b'_' | b'=' | b'.' | b'~' | b'-' | b':' | b'%'
                )
        })
        && !is_path(value)
}

pub(super) fn is_path(value: &[u8]) -> bool {
    matches!(
        value,
        [b'/' | b'~', ..] | [b'.', b'/', ..] | [b'.', b'.', b'/', ..]
    )
}

/// Whether a text in quotes may be the secret of a name.
pub(super) fn is_quoted_secret(kind: Kind, value: &[u8]) -> bool {
    if is_hole(value) || is_word(value) || is_variable(value) || is_path(value) {
        return false;
    }
    let has_space = value.contains(&b' ');
    match kind {
        // With a space it is a label: "Enter your password".
        Kind::Password => !has_space || n_digits(value) > 0,
        Kind::Secret => !has_space && value.len() >= 4,
        Kind::Token => !has_space && is_token(value),
        Kind::Authorization => false,
    }
}

/// The value of something called a token.
pub(super) fn is_token(value: &[u8]) -> bool {
    let is_plain = value.iter().all(|it| it.is_ascii_graphic());
    let is_code = value.windows(2).any(|it| it == b"::");
    is_plain
        && !is_code
        && (value.len() >= 10 && n_digits(value) >= 2 || value.len() >= 24 && !is_kebab(value))
}

/// Small letters in words: `sk-fading-circle`, `the_next_token`.
pub(super) fn is_kebab(value: &[u8]) -> bool {
    let is_small =
        |it: &u8| it.is_ascii_lowercase() || matches!(it, b'-' | b'_' | b'.' | b'/' | b':');
    let is_big = |it: &u8| it.is_ascii_uppercase() || matches!(it, b'-' | b'_');
    value.iter().any(|it| !it.is_ascii_alphanumeric())
        && (value.iter().all(is_small) || value.iter().all(is_big))
}
