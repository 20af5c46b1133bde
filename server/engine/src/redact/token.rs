//! Secrets that are known by how they look, whatever their name.

use super::scan::{Found, Text};
use super::value::{is_hole, is_kebab, is_letters, n_digits};

/// The most bytes of a user and a password in a URL.
const LONGEST_USER: usize = 512;

fn is_word(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-')
}

/// A run of bytes of a kind from `begin` on, of which the secret begins at `start`, if it passes.
fn run(
    text: &Text<'_>,
    start: usize,
    begin: usize,
    is: impl Fn(u8) -> bool,
    passes: impl Fn(&[u8]) -> bool,
) -> Found {
    let end = text.skip(begin, usize::MAX, is);
    if text.is_open(end) {
        return Found::Open(start);
    }
    match passes(&text.bytes[begin..end]) {
        true => Found::Secret(start..end),
        false => Found::Nothing,
    }
}

/// Whether a word may begin at a place: also behind an escaped line break or tab, as in JSON.
fn begins(text: &Text<'_>, start: usize) -> bool {
    !is_word(text.before(start)) || text.is_behind_escape(start)
}

/// Where a prefix that ends with the byte at `at` begins, if a word begins with it.
fn prefix(text: &Text<'_>, at: usize, prefix: &[u8]) -> Option<usize> {
    let start = (at + 1).checked_sub(prefix.len())?;
    (text.bytes.get(start..=at)? == prefix && begins(text, start)).then_some(start)
}

/// `sk-…`, `xox?-…`, `xapp-…`, `glpat-…`.
pub(super) fn with_dash(text: &Text<'_>, at: usize) -> Found {
    match text.before(at) {
        b'k' => match prefix(text, at, b"sk-") {
            // Also a style sheet's class: `sk-fading-circle12`.
            Some(start) => run(text, start, at + 1, is_word, |body| {
                body.len() >= 16 && !is_kebab(body) && !is_class(body)
                    || body.len() >= 8 && n_digits(body) >= 3
            }),
            None => Found::Nothing,
        },
        b't' => match prefix(text, at, b"glpat-") {
            Some(start) => run(text, start, at + 1, is_word, |body| body.len() >= 16),
            None => Found::Nothing,
        },
        b'p' => match prefix(text, at, b"xapp-") {
            Some(start) => run(text, start, at + 1, is_word, |body| body.len() >= 10),
            None => Found::Nothing,
        },
        b'a'..=b'z' if at >= 4 && text.bytes[at - 4..].starts_with(b"xox") => {
            let start = at - 4;
            match begins(text, start) {
                false => Found::Nothing,
                true => run(text, start, at + 1, is_word, |body| {
                    body.len() >= 10 && n_digits(body) > 0
                }),
            }
        }
        _ => Found::Nothing,
    }
}

/// A name of words in small letters and at most a number at its end.
fn is_class(body: &[u8]) -> bool {
    let end = body.iter().rposition(|it| !it.is_ascii_digit());
    end.is_some_and(|it| body.len() - it <= 3 && is_kebab(&body[..=it]))
}

/// `ghp_…` and its like, `github_pat_…`, `gsk_…`, `sk_live_…`, `hf_…`, `npm_…`.
pub(super) fn with_underscore(text: &Text<'_>, at: usize) -> Found {
    let is_code = |it: u8| it.is_ascii_alphanumeric();
    let last = text.before(at);
    if matches!(last, b'p' | b'o' | b'u' | b's' | b'r')
        && at >= 3
        && text.bytes[at - 3..].starts_with(b"gh")
    {
        let start = at - 3;
        if begins(text, start) {
            return run(text, start, at + 1, is_code, |body| body.len() >= 16);
        }
    }
    let known: &[(&[u8], usize)] = match last {
        b't' => &[(b"github_pat_", 16)],
        b'k' => &[(b"gsk_", 16)],
        b'e' => &[(b"sk_live_", 10), (b"rk_live_", 10)],
        b'f' => &[(b"hf_", 24)],
        b'm' => &[(b"npm_", 24)],
        b'c' => &[(b"whsec_", 16)],
        _ => &[],
    };
    for (head, least) in known {
        if let Some(start) = prefix(text, at, head) {
            let is_body = |it: u8| is_code(it) || it == b'_' && *head == b"github_pat_";
            return run(text, start, at + 1, is_body, |body| body.len() >= *least);
        }
    }
    if let Some(start) = prefix(text, at, b"sk_test_") {
        return run(text, start, at + 1, is_code, |body| body.len() >= 10);
    }
    Found::Nothing
}

/// `eyJ….….…`, `AKIA…`, `AIza…`, `Bearer …`, `Basic …`.
pub(super) fn with_letter(text: &Text<'_>, at: usize) -> Found {
    match text.at(at) {
        b'J' => jwt(text, at),
        b'K' | b'S' => {
            let Some(start) = at.checked_sub(1) else {
                return Found::Nothing;
            };
            let is_head =
                text.at(start) == b'A' && text.at(at + 1) == b'I' && text.at(at + 2) == b'A';
            if !is_head || !begins(text, start) {
                return Found::Nothing;
            }
            run(text, start, at + 3, is_word, |body| {
                body.len() == 16
                    && body
                        .iter()
                        .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
            })
        }
        b'z' => {
            let Some(start) = at.checked_sub(2) else {
                return Found::Nothing;
            };
            let is_head = text.bytes[start..].starts_with(b"AIza");
            if !is_head || !begins(text, start) {
                return Found::Nothing;
            }
            run(text, start, at + 2, is_word, |body| body.len() >= 30)
        }
        _ if !begins(text, at) => Found::Nothing,
        _ if text.says(at, b"bearer ") => bearer(text, at + 7),
        _ if text.says(at, b"basic ") => basic(text, at + 6),
        _ => Found::Nothing,
    }
}

fn jwt(text: &Text<'_>, at: usize) -> Found {
    let Some(start) = at.checked_sub(2) else {
        return Found::Nothing;
    };
    let is_inner = !begins(text, start) || text.before(start) == b'.';
    if !text.bytes[start..].starts_with(b"eyJ") || is_inner {
        return Found::Nothing;
    }
    let is_part = |it: u8| is_word(it) || it == b'.';
    run(text, start, start, is_part, |body| {
        let mut parts = body.split(|it| *it == b'.');
        let mut long = || parts.next().is_some_and(|it| it.len() >= 8);
        // The signature may be missing, or cut off.
        long() && long()
    })
}

fn is_credential(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}

/// What a scheme's credential looks like in the middle of a text, where "the bearer of this" may be meant.
fn bearer(text: &Text<'_>, begin: usize) -> Found {
    run(text, begin, begin, is_credential, |body| {
        let body = body.trim_ascii_end();
        let is_one = body.len() >= 6 && n_digits(body) > 0 || body.len() >= 20;
        let is_words = is_kebab(body) || is_letters(body) && body.len() < 32;
        is_one && !is_words && !is_hole(body)
    })
}

/// Base64 of `user:password`.
fn basic(text: &Text<'_>, begin: usize) -> Found {
    run(text, begin, begin, is_credential, |body| {
        body.len() >= 6 && decoded(body).is_some_and(|it| it.contains(&b':') && it.is_ascii())
    })
}

fn decoded(code: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(code.len());
    let (mut bits, mut n_bits) = (0_u32, 0_u32);
    for it in code.iter().filter(|it| **it != b'=') {
        let value = match it {
            b'A'..=b'Z' => it - b'A',
            b'a'..=b'z' => it - b'a' + 26,
            b'0'..=b'9' => it - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits & 0xff) as u8);
        }
    }
    bytes
        .iter()
        .all(|it| !it.is_ascii_control())
        .then_some(bytes)
}

/// No template's, and not the word in an explanation.
fn is_password(it: &[u8]) -> bool {
    !is_hole(it) && !it.eq_ignore_ascii_case(b"password")
}

/// The password of `scheme://user:password@host`; `at` is the colon of the scheme.
pub(super) fn user_of_url(text: &Text<'_>, at: usize) -> Found {
    let begin = at + 3;
    if !text.before(at).is_ascii_alphanumeric() {
        return Found::Nothing;
    }
    let is_user = |it: u8| {
        !matches!(
            it,
            0..=b' '
                | b'/'
                | b'@'
                | b'"'
                | b'\''
                | b'`'
                | b'<'
                | b'>'
                | b'\\'
                | b'?'
                | b'#'
                | b'('
                | b')'
                | b','
        )
    };
    let end = text.skip(begin, LONGEST_USER, is_user);
    if text.is_open(end) {
        return Found::Open(begin);
    }
    if text.at(end) != b'@' {
        return Found::Nothing;
    }
    let user = &text.bytes[begin..end];
    match user.iter().position(|it| *it == b':') {
        Some(colon) if is_password(&user[colon + 1..]) => Found::Secret(begin + colon + 1..end),
        Some(_) | None => Found::Nothing,
    }
}
