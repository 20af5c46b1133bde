//! Secrets that are known by their value: providers' keys that were found, whatever they look like.
//!
//! The one thing in the engine that lasts and is not handed in. Texts are redacted at some sixty edges, and a key must be
//! hidden at each; to carry the list to all of them would make the one that forgets it the leak.

use super::scan::{Ends, Scan};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// Shorter ones are what people give servers that want no key: `dummy`, `lm-studio`, `placeholder`. No provider's is so short.
const LEAST: usize = 12;

/// More keys than a process uses; beyond it the oldest is no longer known.
const MOST: usize = 64;

static KNOWN: RwLock<Vec<Box<str>>> = RwLock::new(Vec::new());

/// Spares those who use no key the lock.
static ARE_ANY: AtomicBool = AtomicBool::new(false);

/// Has a secret masked in all texts from now on.
pub fn learn(secret: &str) {
    let secret = secret.trim();
    if secret.len() < LEAST {
        return;
    }
    let is_known = |known: &[Box<str>]| known.iter().any(|it| **it == *secret);
    if is_known(&KNOWN.read().unwrap_or_else(PoisonError::into_inner)) {
        return;
    }
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if known.len() == MOST {
        known.remove(0);
    }
    known.push(secret.into());
    ARE_ANY.store(true, Ordering::Release);
}

/// Adds to a scan what is known, in what begins from a place on or reaches over it. Where a text that goes on ends
/// like one begins, nothing is decided from there.
pub(super) fn add(text: &str, from: usize, ends: Ends, scan: &mut Scan) {
    if !ARE_ANY.load(Ordering::Acquire) {
        return;
    }
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    add_these(&known, text, from, ends, scan);
}

fn add_these(known: &[Box<str>], text: &str, from: usize, ends: Ends, scan: &mut Scan) {
    let bytes = text.as_bytes();
    let n_before = scan.spans.len();
    for secret in known {
        let begin = super::stream::floor_char(text, from.saturating_sub(secret.len()));
        let found = text[begin..].match_indices(&**secret);
        let found = found.map(|(at, it)| begin + at..begin + at + it.len());
        scan.spans.extend(found);
        if ends == Ends::Perhaps {
            let longest = secret.len().min(bytes.len() + 1) - 1;
            let cut = (1..=longest)
                .rev()
                .find(|n| bytes.ends_with(&secret.as_bytes()[..*n]));
            scan.open = scan.open.min(bytes.len() - cut.unwrap_or(0));
        }
    }
    if scan.spans.len() > n_before {
        join(&mut scan.spans);
    }
}

/// In order, apart from each other.
fn join(spans: &mut Vec<Range<usize>>) {
    spans.sort_by_key(|it| it.start);
    spans.dedup_by(|next, before| {
        let overlaps = next.start < before.end;
        if overlaps {
            before.end = before.end.max(next.end);
        }
        overlaps
    });
}

#[cfg(test)]
mod tests {
    use super::super::{Stream, redact};
    use super::*;

    // Known for the whole test binary, so it is like nothing else in it.
    const KEY: &str = "plain river under hills";

    #[test]
    fn a_key_that_was_found_is_masked_whatever_it_looks_like() {
        learn(KEY);
        learn("short-one");
        let said = format!("a {KEY}, password={KEY}; {KEY}{KEY} short-one");
        assert_eq!(redact(&said), "a ***, password=***; ****** short-one");
    }

    #[test]
    fn a_known_key_is_masked_wherever_a_stream_cuts_it() {
        learn(KEY);
        let text = format!("it is {KEY} and plain river water, plain");
        let whole = redact(&text).into_owned();
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut stream = Stream::default();
                let mut out = stream.push(&text[..first]);
                out += &stream.push(&text[first..second]);
                out += &stream.push(&text[second..]);
                out += &stream.end();
                assert_eq!(out, whole, "{first} {second}");
            }
        }
        assert!(whole.contains("it is *** and plain river water, plain"));
    }
}
