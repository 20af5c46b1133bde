//! Repairs JSON in which an editor cut a surrogate pair in two.
//!
//! Editors that count in UTF-16 can send an edit which inserts half of an emoji: `"\ud83d"`. That is no
//! Unicode text and no parser takes it, but refusing it would lose a `didChange` for ever. U+FFFD is one
//! UTF-16 unit like the half it replaces, so every column after it stays right.

/// Replaces each escape of a lone surrogate by `\uFFFD`. `None` if there was none to replace.
pub fn repair_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let mut repaired = Vec::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(backslash) = json[at..].iter().position(|it| *it == b'\\') {
        at += backslash;
        at += match (unit(json, at), unit(json, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                repaired.extend_from_slice(&json[kept..at]);
                repaired.extend_from_slice(b"\\uFFFD");
                kept = at + 6;
                6
            }
            (Some(_), _) => 6,
            // Another escape, `\\` above all: what follows the second backslash is plain text.
            (None, _) => 2,
        };
        at = at.min(json.len());
    }
    if kept == 0 {
        return None;
    }
    repaired.extend_from_slice(&json[kept..]);
    Some(repaired)
}

/// The UTF-16 unit written as `\uXXXX` at this place.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let escape = json.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::repair_surrogates;

    #[track_caller]
    fn check(json: &str, repaired: Option<&str>) {
        let got = repair_surrogates(json.as_bytes());
        assert_eq!(got.as_deref(), repaired.map(str::as_bytes), "{json}");
    }

    #[test]
    fn only_lone_halves_are_replaced() {
        check(r#""plain""#, None);
        check(r#""\ud83d\ude00""#, None);
        check(r#""\ud83d""#, Some(r#""\uFFFD""#));
        check(r#""a\uDE00b""#, Some(r#""a\uFFFDb""#));
        check(r#""\ud83d\u0041""#, Some(r#""\uFFFD\u0041""#));
        check(r#""\ud83d\ud83d\ude00""#, Some(r#""\uFFFD\ud83d\ude00""#));
        check(r#""\ude00\ud83d""#, Some(r#""\uFFFD\uFFFD""#));
    }

    #[test]
    fn an_escaped_backslash_starts_no_escape() {
        check(r#""\\ud83d""#, None);
        check(r#""\\\ud83d""#, Some(r#""\\\uFFFD""#));
    }

    #[test]
    fn a_cut_escape_is_left_alone() {
        check(r#""\ud83"#, None);
        check(r#""\u+12d""#, None);
        check("\\", None);
    }

    /// Law: text made of UTF-16 units, written as JSON with arbitrary escapes, comes back with every lone
    /// half as U+FFFD and everything else as it was.
    #[test]
    fn any_units_come_back_with_their_width() {
        let mut random = fastrand::Rng::with_seed(7);
        for round in 0..20_000 {
            let units: Vec<u16> = (0..random.usize(0..8))
                .map(|_| match random.u8(0..4) {
                    0 => random.u16(0xD800..=0xDBFF),
                    1 => random.u16(0xDC00..=0xDFFF),
                    2 => u16::from(b'\\'),
                    _ => random.u16(0x20..0xD800),
                })
                .collect();
            let mut json = String::from("\"");
            for unit in &units {
                json.push_str(&match *unit {
                    0x5C if random.bool() => "\\\\".to_owned(),
                    it if random.bool() => format!("\\u{it:04x}"),
                    it => format!("\\u{it:04X}"),
                });
            }
            json.push('"');
            let expected = String::from_utf16_lossy(&units);
            let repaired = repair_surrogates(json.as_bytes());
            assert_eq!(
                repaired.is_some(),
                String::from_utf16(&units).is_err(),
                "seed 7, round {round}: {json}"
            );
            let repaired = repaired.unwrap_or(json.into_bytes());
            let got: String = serde_json::from_slice(&repaired).unwrap();
            assert_eq!(got, expected, "seed 7, round {round}");
            assert_eq!(got.encode_utf16().count(), units.len());
        }
    }

    #[test]
    fn random_bytes_never_panic() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..50_000 {
            let bytes: Vec<u8> = (0..random.usize(0..24))
                .map(|_| *random.choice(b"\\u dD8cC0\"").unwrap())
                .collect();
            repair_surrogates(&bytes);
        }
    }
}
