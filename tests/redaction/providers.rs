//! What a provider says of a request may hold the request's key, or another's.

use super::{KEY, assert_hidden, assert_masked, log_of, logging};
use crate::support::editor::Setup;
use crate::support::stage::{NO_RETRIES, Stage};
use serde_json::json;
use std::fs;

/// A refusal with this body, and all that became of it: what the editor, the log and the trace have.
fn refused(head: &str, body: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (setup, log) = logging(Setup::agent(), folder.path());
    let mut stage = Stage::with(setup, "", NO_RETRIES);
    let (_, prompt, asked) = stage.ask("hello");
    let answer = format!(
        "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    asked.raw(answer.as_bytes());
    let turn = stage.editor.end(&prompt);
    let error = turn.end.unwrap_err();
    assert_hidden(&format!("{error:?}"));
    assert_hidden(&serde_json::to_string(&turn.updates).unwrap());
    assert_hidden(&log_of(&stage));
    stage.editor.finish();
    assert_hidden(&fs::read_to_string(log).unwrap());
    error.message
}

#[test]
fn bug_097_an_echoed_header_in_a_json_error_is_masked() {
    let message = format!("no access for Authorization: Bearer {KEY}, ask your office");
    let body = json!({"error": {"message": message}}).to_string();
    let said = refused("403 No\r\ncontent-type: application/json", &body);
    assert_masked(&said);
    assert!(said.contains("no access for Authorization"), "{said}");
}

#[test]
fn bug_097_an_echoed_request_in_plain_text_is_masked() {
    let body = format!(
        "POST /v1/chat/completions\r\nauthorization: Bearer {KEY}\r\nx-api-key: {KEY}\r\n\r\nrefused"
    );
    assert_masked(&refused("400 No\r\ncontent-type: text/plain", &body));
}

#[test]
fn bug_097_a_key_in_a_web_page_of_an_error_is_not_shown() {
    let body = format!("<html><pre>Authorization: Bearer {KEY}</pre></html>");
    refused("502 No\r\ncontent-type: text/html", &body);
}

#[test]
fn bug_097_a_key_across_the_end_of_what_is_read_is_not_shown() {
    let body = format!("{}{KEY}", "a ".repeat((64 << 10) / 2 - 8));
    refused("400 No\r\ncontent-type: text/plain", &body);
}

#[test]
fn bug_097_a_key_in_the_middle_of_a_stream_is_masked() {
    let stage = Stage::with(Setup::agent(), "", NO_RETRIES);
    let (_, prompt, mut asked) = stage.ask("hello");
    asked.say("Well, ");
    asked.fail_in_stream(&format!("upstream refused password={KEY}; try later"));
    let turn = stage.editor.end(&prompt);
    let error = turn.end.unwrap_err();
    assert_masked(&error.message);
    assert_hidden(&log_of(&stage));
}
