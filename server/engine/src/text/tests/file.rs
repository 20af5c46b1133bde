//! Bytes to text and back, exactly.

use super::random_text;
use crate::text::{FileText, Form, file::is_latin, file::shown, replace};

const SEED: u64 = 0x5eed_0006;

fn decode(bytes: &[u8]) -> FileText {
    FileText::decode(bytes.to_vec())
}

/// Bytes of trouble: text, text with damage, and marks.
fn random_bytes(random: &mut fastrand::Rng) -> Vec<u8> {
    const PIECES: [&[u8]; 14] = [
        b"a",
        b"\n",
        b"\r\n",
        "é".as_bytes(),
        "😀".as_bytes(),
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\xe9",
        b"\xf4\x8f\xbe\x80",
        b"\xf4\x8f\xbf\xbf",
        b"\xef\xbf\xbd",
        b"\0",
        b"\x3d\xd8",
    ];
    let mut bytes = Vec::new();
    for _ in 0..random.usize(..8) {
        match random.usize(..4) {
            0 => bytes.push(random.u8(..)),
            _ => bytes.extend_from_slice(PIECES[random.usize(..PIECES.len())]),
        }
    }
    bytes
}

#[test]
fn any_bytes_come_back_as_they_were() {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut n_of = [0; 5];
    for _ in 0..50_000 {
        let bytes = random_bytes(&mut random);
        let FileText { text, form } = decode(&bytes);
        n_of[form as usize] += 1;
        assert_eq!(form.encode(&text), bytes, "{form:?} {text:?}");
    }
    assert!(n_of.iter().all(|it| *it > 200), "{n_of:?}");
}

#[test]
fn a_text_comes_back_from_every_form_of_text() {
    let mut random = fastrand::Rng::with_seed(SEED);
    for _ in 0..5_000 {
        let text = random_text(&mut random, 8);
        for form in [Form::Utf8Mark, Form::Utf16Le, Form::Utf16Be] {
            assert_eq!(
                FileText::decode(form.encode(&text)),
                FileText {
                    text: text.clone(),
                    form
                }
            );
        }
    }
}

/// Where text is put in between, every byte before and behind it stays.
#[test]
fn an_edit_leaves_all_bytes_that_it_does_not_touch() {
    let mut random = fastrand::Rng::with_seed(SEED);
    for _ in 0..20_000 {
        let bytes = random_bytes(&mut random);
        let FileText { text, form } = decode(&bytes);
        let at = text.floor_char_boundary(random.usize(..=text.len()));
        let new = format!("{}word{}", &text[..at], &text[at..]);
        assert_eq!(form.check(&text, &new), Ok(()));
        let before = form.encode(&text[..at]);
        let behind = &bytes[before.len()..];
        let word = form.encode("word");
        let word = &word[form.encode("").len()..];
        assert_eq!(form.encode(&new), [&before, word, behind].concat());
    }
}

#[test]
fn each_form_is_told_by_its_bytes() {
    let form = |bytes: &[u8]| {
        let it = decode(bytes);
        (it.form, it.text)
    };
    let of = |form: Form, text: &str| (form, text.to_owned());
    assert_eq!(form(b""), of(Form::Utf8, ""));
    assert_eq!(form(b"\xef\xbb\xbfa\n"), of(Form::Utf8Mark, "a\n"));
    assert_eq!(form(b"\xff\xfea\0\n\0"), of(Form::Utf16Le, "a\n"));
    assert_eq!(form(b"\xfe\xff\0a\0\n"), of(Form::Utf16Be, "a\n"));
    // Half a character, and half a unit: then it is bytes.
    assert_eq!(decode(b"\xff\xfea\0\x3d\xd8").form, Form::Bytes);
    assert_eq!(decode(b"\xff\xfea\0\n").form, Form::Bytes);
    // A mark in the middle is a character.
    assert_eq!(form(b"a\xef\xbb\xbf"), of(Form::Utf8, "a\u{feff}"));
}

#[test]
fn around_a_byte_that_is_no_text_all_else_can_be_edited() {
    let bytes = b"caf\xe9 = two\n\xff\n";
    let FileText { text, form } = decode(bytes);
    assert_eq!(shown(&text), "caf\u{fffd} = two\n\u{fffd}\n");
    let located = replace(&text, "two", "zw\u{f6}lf", false).unwrap();
    let new = located.changes.apply(&text).unwrap();
    assert_eq!(form.check(&text, &new), Ok(()));
    assert_eq!(form.encode(&new), b"caf\xe9 = zw\xc3\xb6lf\n\xff\n");
    // The byte may go; what stands for it may not come, nor may another take its place.
    assert_eq!(form.check(&text, "caf = two\n"), Ok(()));
    assert!(form.check(&text, "caf\u{fffd} = two\n").is_err());
    assert!(form.check(&text, &format!("{text}\u{10ffe9}")).is_err());
    assert!(
        form.check("\u{10ffe9}\u{10ffff}", "\u{10ffff}\u{10ffe9}")
            .is_err()
    );
    // Text may have both.
    assert_eq!(Form::Utf8.check("", "\u{fffd}\u{10ffe9}"), Ok(()));
    // U+FFFD that stands in the file is a character like any other.
    let FileText { text, form } = decode(b"\xef\xbf\xbd \xff");
    assert_eq!(form.check(&text, &format!("a{text}")), Ok(()));
}

#[test]
fn an_editor_may_show_bytes_as_latin_1() {
    let is = |bytes: &[u8], text: &str| is_latin(bytes, text);
    assert!(is(b"caf\xe9\n", "café\n"));
    assert!(is(b"\x80 \x99", "€ ™"));
    assert!(is(b"\x80 \x99", "\u{80} \u{99}"));
    assert!(!is(b"caf\xe9\n", "caf\u{fffd}\n"));
    assert!(!is(b"caf\xe9\n", "café"));
    assert!(!is(b"caf\xe9", "café\n"));
}
