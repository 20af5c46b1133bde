//! For random texts: masking once is enough, nothing planted survives, pieces give what the whole gives.

use super::super::*;
use super::{ORDINARY, SECRETS};
use fastrand::Rng;

/// Bits of which odd texts are made.
const BITS: &[&str] = &[
    "password",
    "token",
    "api_key",
    "SECRET",
    "=",
    ": ",
    ":",
    " = ",
    "\"",
    "'",
    "\\\"",
    "\\",
    "\n",
    " ",
    "://",
    "@",
    "sk-",
    "eyJ",
    ".",
    "AKIA",
    "Bearer ",
    "Basic ",
    "Authorization: ",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "--password ",
    "hunter2",
    "abcdefghijklmnop0123456789",
    "***",
    "$",
    "{",
    "}",
    "(",
    ")",
    ",",
    ";",
    "&",
    "?",
    "sig",
    "\u{e4}",
    "\u{1f600}",
    "\t",
    "x",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA",
    "12",
];

fn odd(rng: &mut Rng) -> String {
    let n = rng.usize(1..24);
    (0..n).map(|_| BITS[rng.usize(..BITS.len())]).collect()
}

/// A secret of a kind whose look gives it away, made anew.
fn made(rng: &mut Rng) -> String {
    let letters =
        |rng: &mut Rng, n: usize| -> String { (0..n).map(|_| rng.alphanumeric()).collect() };
    let digits = |rng: &mut Rng, n: usize| -> String { (0..n).map(|_| rng.digit(10)).collect() };
    let big = |rng: &mut Rng, n: usize| -> String {
        (0..n)
            .map(|_| rng.alphanumeric().to_ascii_uppercase())
            .collect()
    };
    match rng.u8(..8) {
        0 => format!("sk-{}{}", letters(rng, 40), digits(rng, 3)),
        1 => format!("AKIA{}", big(rng, 16)),
        2 => format!(
            "gh{}_{}",
            rng.choice(['p', 'o', 'u', 's', 'r']).unwrap_or('p'),
            letters(rng, 36)
        ),
        3 => format!("xoxb-{}-{}", digits(rng, 12), letters(rng, 24)),
        4 => format!("AIza{}", letters(rng, 35)),
        5 => format!("gsk_{}", letters(rng, 52)),
        6 => format!("sk_live_{}", letters(rng, 24)),
        _ => format!(
            "eyJ{}.eyJ{}.{}",
            letters(rng, 20),
            letters(rng, 40),
            letters(rng, 43)
        ),
    }
}

/// How a secret with a name of its own is written.
const FRAMES: &[(&str, &str)] = &[
    ("password=", " "),
    ("\"password\": \"", "\""),
    ("DB_PASSWORD='", "'"),
    ("api_key: ", "\n"),
    ("Authorization: Bearer ", "\n"),
    ("-H \"Authorization: Bearer ", "\""),
    ("--password ", " "),
    ("https://me:", "@host.test/"),
    ("{\\\"client_secret\\\":\\\"", "\\\"}"),
    ("?access_token=", "&"),
    ("X-Api-Key: ", "\r\n"),
    ("let api_key = \"", "\";"),
    ("Pwd=", ";"),
    ("secret = '", "'"),
];

#[test]
fn twice_is_once_and_nothing_panics() {
    let mut rng = Rng::with_seed(7);
    for _ in 0..40_000 {
        let text = odd(&mut rng);
        let once = redact(&text).into_owned();
        assert_eq!(redact(&once), once, "of {text:?}");
    }
    for (text, _) in SECRETS {
        let once = redact(text).into_owned();
        assert_eq!(redact(&once), once, "of {text:?}");
    }
}

#[test]
fn nothing_planted_survives() {
    let mut rng = Rng::with_seed(11);
    let blanks = [" ", "\n", "\t", "\"", "'", ", ", "(", "=", "`", "> "];
    for _ in 0..6_000 {
        let ordinary = |rng: &mut Rng| ORDINARY[rng.usize(..ORDINARY.len())];
        let (secret, text) = if rng.bool() {
            let secret = made(&mut rng);
            let blank = blanks[rng.usize(..blanks.len())];
            let text = format!(
                "{}{blank}{secret} {}",
                ordinary(&mut rng),
                ordinary(&mut rng)
            );
            (secret, text)
        } else {
            let secret: String = (0..20).map(|_| rng.alphanumeric()).collect::<String>() + "42";
            let (before, behind) = FRAMES[rng.usize(..FRAMES.len())];
            let text = format!(
                "{}\n{before}{secret}{behind}{}",
                ordinary(&mut rng),
                ordinary(&mut rng)
            );
            (secret, text)
        };
        let got = redact(&text);
        assert!(!got.contains(&secret), "{text}\n-> {got}");
        let escaped = serde_json::to_string(&text).unwrap();
        assert!(!redact(&escaped).contains(&secret), "{escaped}");
        assert!(
            !streamed(&text, &mut rng).contains(&secret),
            "streamed: {text}"
        );
    }
}

fn streamed(text: &str, rng: &mut Rng) -> String {
    let mut stream = Stream::default();
    let mut out = String::new();
    let mut at = 0;
    while at < text.len() {
        let mut to = (at + rng.usize(1..9)).min(text.len());
        while !text.is_char_boundary(to) {
            to += 1;
        }
        out.push_str(&stream.push(&text[at..to]));
        at = to;
    }
    out + &stream.end()
}

#[test]
fn ordinary_text_streams_as_it_is() {
    let mut rng = Rng::with_seed(5);
    for _ in 0..2_000 {
        let n = rng.usize(1..30);
        let text: String = (0..n)
            .map(|_| format!("{}\n", ORDINARY[rng.usize(..ORDINARY.len())]))
            .collect();
        assert_eq!(streamed(&text, &mut rng), text);
    }
}
