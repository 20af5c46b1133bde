//! The framer against the standard's own rules, and the law that cutting changes nothing.

use expect_test::{Expect, expect};

use super::*;
use crate::rounds::rounds;

fn check(stream: &str, expected: Expect) {
    let mut framer = Framer::default();
    let mut seen = String::new();
    let mut each = |it: Event<'_>| seen += &format!("{:?} {:?}\n", it.name, it.data);
    framer.feed(stream.as_bytes(), &mut each).unwrap();
    framer.finish(&mut each).unwrap();
    expected.assert_eq(&seen);
    fuzz_sse(stream.as_bytes());
}

#[test]
fn line_feed_carriage_return_and_both_end_a_line() {
    check(
        "data: a\n\ndata: b\r\rdata: c\r\ndata: and\r\n\r\ndata: d\r\n\n",
        expect![[r#"
            "" "a"
            "" "b"
            "" "c\nand"
            "" "d"
        "#]],
    );
}

#[test]
fn a_name_belongs_to_one_event_and_data_lines_are_joined() {
    check(
        "event: one\ndata: a\ndata: b\n\ndata: c\n\n",
        expect![[r#"
            "one" "a\nb"
            "" "c"
        "#]],
    );
}

#[test]
fn one_space_after_the_colon_is_not_part_of_the_value() {
    check(
        "data:a\n\ndata:  b\n\ndata\n\ndata:\ndata\n\n",
        expect![[r#"
            "" "a"
            "" " b"
            "" ""
            "" "\n"
        "#]],
    );
}

#[test]
fn comments_and_other_fields_and_events_without_data_pass() {
    check(
        ": PROCESSING\n\nid: 7\nretry: 10\nevent: lost\n\n dat: x\n{\"data\": 1}\ndata: a\n\n",
        expect![[r#"
            "" "a"
        "#]],
    );
}

#[test]
fn a_byte_order_mark_counts_only_at_the_start() {
    check(
        "\u{feff}data: a\n\n\u{feff}data: b\n\ndata: \u{feff}\n\n",
        expect![[r#"
            "" "a"
            "" "\u{feff}"
        "#]],
    );
}

#[test]
fn the_event_a_stream_ends_in_is_handed_out() {
    check(
        "data: a\n\nevent: last\ndata: b",
        expect![[r#"
            "" "a"
            "last" "b"
        "#]],
    );
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let mut framer = Framer::default();
    let mut seen = Vec::new();
    framer
        .feed(b"data: a\xffb\n\n", |it| seen.push(it.data.to_owned()))
        .unwrap();
    assert_eq!(seen, ["a\u{fffd}b"]);
}

#[test]
fn a_line_or_an_event_beyond_the_limit_stops_the_framer() {
    let run = |stream: &str| {
        let mut framer = Framer::with_limit(16);
        let mut seen = Vec::new();
        let first = framer.feed(stream.as_bytes(), |it| seen.push(it.data.to_owned()));
        let later = framer.feed(b"data: later\n\n", |it| seen.push(it.data.to_owned()));
        (first, later, seen)
    };
    let one = vec!["1".to_owned()];
    assert_eq!(
        run("data: 1\n\ndata: 0123456789\n"),
        (
            Ok(()),
            Ok(()),
            vec!["1".to_owned(), "0123456789\nlater".to_owned()]
        )
    );
    assert_eq!(
        run("data: 1\n\ndata: 01234567890\n"),
        (Err(TooLong), Err(TooLong), one.clone())
    );
    assert_eq!(
        run("data: 1\n\ndata: 0123456\ndata: 012345678\n"),
        (Err(TooLong), Err(TooLong), one.clone())
    );
    assert_eq!(
        run("data: 1\n\n: comment without end"),
        (Err(TooLong), Err(TooLong), one)
    );
}

#[test]
fn any_bytes_cut_anywhere_give_the_same_events() {
    let pieces: [&[u8]; 16] = [
        b"data: ",
        b"data:",
        b"data",
        b"event: ",
        b"event",
        b": ",
        b":",
        b" ",
        b"\n",
        b"\n",
        b"\r",
        b"\r\n",
        b"\xEF\xBB\xBF",
        b"\xff",
        b"abc",
        b"0123456789abcdef0123456789abcdef",
    ];
    for (round, mut random) in rounds(0x5eed_0001, 20_000) {
        let mut bytes = Vec::new();
        for _ in 0..random.usize(..24) {
            bytes.extend_from_slice(random.choice(pieces).unwrap());
        }
        if random.bool() && !bytes.is_empty() {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        let outcome = std::panic::catch_unwind(|| fuzz_sse(&bytes));
        assert!(
            outcome.is_ok(),
            "round {round}: {:?}",
            bytes.escape_ascii().to_string()
        );
    }
}
