//! A file's bytes that an edit does not touch stay as they are, whatever its encoding.

use super::{AUTO, edit};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::json;
use std::fs;

fn stage(bytes: &[u8]) -> Stage {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    stage.workspace.write("a.txt", bytes);
    stage
}

fn bytes(stage: &Stage) -> Vec<u8> {
    fs::read(stage.workspace.path("a.txt")).unwrap()
}

fn utf_16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[test]
fn a_closed_file_in_utf_16_or_with_a_mark_is_edited_exactly() {
    let old = "one\r\ntwo é 😀\nthree";
    let new = "one\r\nzwei é 😀\nthree";
    let marked = |it: &str| format!("\u{feff}{it}").into_bytes();
    for (old, new) in [(utf_16(old), utf_16(new)), (marked(old), marked(new))] {
        let stage = stage(&old);
        let (_, prompt) = stage.call("edit_file", edit("a.txt", "two", "zwei"));
        let result = stage.result(&prompt);
        assert!(
            result.starts_with("Changed a.txt (+1 -1 lines)."),
            "{result}"
        );
        assert_eq!(bytes(&stage), new);
    }
}

#[test]
fn around_bytes_that_are_no_text_a_file_is_edited_exactly() {
    let stage = stage(b"caf\xe9 = two\r\n\xff\xfe\n");
    let (_, prompt) = stage.call("edit_file", edit("a.txt", "two", "zw\u{f6}lf"));
    stage.result(&prompt);
    assert_eq!(bytes(&stage), b"caf\xe9 = zw\xc3\xb6lf\r\n\xff\xfe\n");
}

#[test]
fn bytes_that_are_no_text_are_never_written_as_what_the_model_was_shown() {
    let old = b"caf\xe9 = two\n";
    let stage = stage(old);
    let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    let mut asked = stage.model.next();
    assert_eq!(asked.result(), "caf\u{fffd} = two\n");
    asked.call(
        "edit_file",
        edit("a.txt", "caf\u{fffd} = two", "caf\u{fffd} = 2"),
    );
    asked.call("edit_file", edit("a.txt", "= two", "\u{fffd} = 2"));
    asked.call(
        "write_file",
        json!({"path": "a.txt", "content": "caf\u{fffd} = 2\n"}),
    );
    asked.end();
    let mut asked = stage.model.next();
    let results = asked.results();
    assert!(
        results[0].contains("leave them out of target_content"),
        "{results:?}"
    );
    for result in &results[1..] {
        assert!(result.contains("U+FFFD must not be written"), "{results:?}");
    }
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(bytes(&stage), old);
}

#[test]
fn a_buffer_that_is_clean_in_another_encoding_is_saved() {
    let cases = [
        (b"caf\xe9 = two\n".to_vec(), "caf\u{e9} = two\n"),
        (utf_16("é = two\n"), "é = two\n"),
        (b"\xef\xbb\xbftwo\n".to_vec(), "two\n"),
    ];
    for (old, text) in cases {
        let stage = stage(&old);
        stage.editor.open_text("a.txt", text.to_owned());
        let (_, prompt) = stage.call("edit_file", edit("a.txt", "two", "2"));
        let result = stage.result(&prompt);
        assert!(!result.contains("not saved"), "{result}");
        // The editor saves in the encoding that it has it open in; this one knows UTF-8 only.
        assert_eq!(stage.editor.buffer("a.txt").text, text.replace("two", "2"));
        assert!(!stage.editor.buffer("a.txt").dirty);
    }
}

#[test]
fn a_buffer_that_has_lost_bytes_is_left_alone() {
    let stage = stage(b"caf\xe9 = two\n");
    stage
        .editor
        .open_text("a.txt", "caf\u{fffd} = two\n".to_owned());
    let (_, prompt) = stage.call("edit_file", edit("a.txt", "two", "2"));
    let result = stage.result(&prompt);
    assert!(result.contains("loses some of its bytes"), "{result}");
    assert!(stage.editor.edits().is_empty());
    assert_eq!(bytes(&stage), b"caf\xe9 = two\n");
}

#[test]
fn a_file_that_is_written_whole_or_in_place_keeps_its_encoding() {
    let stage = stage(&utf_16("one\r\ntwo\r\n"));
    // Two names: it is written into, not renamed over.
    fs::hard_link(stage.workspace.path("a.txt"), stage.workspace.path("b.txt")).unwrap();
    let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    let mut asked = stage.model.next();
    assert_eq!(asked.result(), "one\r\ntwo\r\n");
    asked.call(
        "write_file",
        json!({"path": "a.txt", "content": "one\nzwei\n"}),
    );
    asked.end();
    stage.result(&prompt);
    assert_eq!(bytes(&stage), utf_16("one\r\nzwei\r\n"));
    assert_eq!(
        fs::read(stage.workspace.path("b.txt")).unwrap(),
        bytes(&stage)
    );
}
