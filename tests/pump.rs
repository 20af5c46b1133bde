//! The transport keeps its promises against editors that are slow, rude or broken: order, no dead-lock,
//! one bad message costs one message, and the process never outlives its editor.

#[path = "support/raw_editor.rs"]
mod raw_editor;

use std::io::Write;

use raw_editor::{RawEditor, frame};
use serde_json::{Value, json};

fn change(editor: &mut RawEditor, version: i32) {
    let params = json!({
        "textDocument": { "uri": "file:///a", "version": version },
        "contentChanges": [{ "text": "x" }],
    });
    editor.notify("textDocument/didChange", params);
}

#[test]
fn changes_keep_their_order_and_requests_see_those_before_them() {
    let mut editor = RawEditor::start();
    let mut asked = Vec::new();
    for version in 1..=2_000 {
        change(&mut editor, version);
        if version % 50 == 0 {
            asked.push((version, editor.request("probe/log", json!({}))));
        }
    }
    for (version, id) in asked {
        assert_eq!(
            editor.reply(id)["result"],
            json!((1..=version).collect::<Vec<_>>())
        );
    }
}

#[test]
fn handlers_that_wait_for_the_editor_do_not_stop_what_it_says_meanwhile() {
    let mut editor = RawEditor::start();
    let asked: Vec<Value> = (0..4)
        .map(|i| editor.request("probe/ask", json!({ "n": i })))
        .collect();
    let questions: Vec<Value> = (0..4).map(|_| editor.told("probe/question")).collect();
    for _ in 0..5_000 {
        editor.notify("probe/note", json!({}));
    }
    for question in &questions {
        let n = &question["params"]["n"];
        editor
            .send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "answered": n } }));
    }
    for (n, id) in asked.into_iter().enumerate() {
        assert_eq!(editor.reply(id), json!({ "result": { "answered": n } }));
    }
    assert_eq!(editor.ask("probe/opened", json!({}))["notes"], 5_000);
}

#[test]
fn two_hundred_requests_may_stay_open_while_all_else_goes_on() {
    let mut editor = RawEditor::start();
    let open: Vec<Value> = (0..200)
        .map(|_| editor.request("probe/agent", json!({})))
        .collect();
    let asked: Vec<Value> = (0..16)
        .map(|_| editor.request("probe/ask", json!({})))
        .collect();
    let questions: Vec<Value> = (0..16).map(|_| editor.told("probe/question")).collect();
    for _ in 0..5_000 {
        editor.notify("probe/note", json!({}));
    }
    assert_eq!(editor.ask("probe/opened", json!({}))["notes"], 5_000);
    for question in questions {
        editor.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": { "code": 1, "message": "no" } }));
    }
    for id in asked {
        assert_eq!(
            editor.reply(id),
            json!({ "error": { "code": 1, "message": "no" } })
        );
    }
    for id in open {
        editor.cancel(&id);
        assert_eq!(
            editor.reply(id),
            json!({ "result": { "stopReason": "cancelled" } })
        );
    }
}

#[test]
fn a_cancelled_request_is_answered_at_once() {
    let mut editor = RawEditor::start();
    let cancelled =
        json!({ "error": { "code": -32800, "message": "The request probe/sleep was cancelled." } });
    for id in [json!(70), json!("abc"), json!(3_000_000_000_u64), json!(-1)] {
        editor.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "probe/sleep", "params": { "ms": 600_000 } }));
        editor.cancel(&id);
        assert_eq!(editor.reply(id.clone()), cancelled);
        // Twice, and for what was never asked: nothing happens.
        editor.cancel(&id);
    }
    editor.cancel(&json!("never"));
    editor.notify("$/cancelRequest", json!({}));
    assert_eq!(editor.until_echo(), Vec::<Value>::new());
}

#[test]
fn an_answer_that_comes_after_its_request_was_cancelled_is_no_harm() {
    let mut editor = RawEditor::start();
    let id = editor.request("probe/ask", json!({}));
    let question = editor.told("probe/question");
    editor.cancel(&id);
    assert_eq!(editor.code(id), -32800);
    editor.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": null }));
    assert_eq!(editor.until_echo(), Vec::<Value>::new());
}

#[test]
fn a_busy_or_sleeping_handler_delays_nobody() {
    let mut editor = RawEditor::start();
    let busy = editor.request("probe/spin", json!({ "ms": 600_000 }));
    let asleep: Vec<Value> = (0..12)
        .map(|_| editor.request("probe/sleep", json!({ "ms": 600_000 })))
        .collect();
    assert_eq!(editor.ask("probe/echo", json!([1])), json!([1]));
    for id in asleep.into_iter().chain([busy]) {
        editor.cancel(&id);
        assert_eq!(editor.code(id), -32800);
    }
}

#[test]
fn a_panic_answers_its_request_and_nothing_else() {
    let mut editor = RawEditor::start();
    for method in ["probe/panic", "probe/panicLater"] {
        for id in [json!(50), json!(50)] {
            editor.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method }));
            assert_eq!(
                editor.reply(id),
                json!({ "error": {
                    "code": -32603,
                    "message": format!("the server failed while answering {method}; its log says where"),
                } })
            );
        }
    }
    editor.notify("probe/badNote", json!({}));
    assert_eq!(editor.until_echo(), Vec::<Value>::new());
}

#[test]
fn a_notice_that_waits_holds_nobody_up() {
    let mut editor = RawEditor::start();
    editor.notify("probe/slowNote", json!({ "ms": 600_000 }));
    editor.notify("probe/note", json!({}));
    assert_eq!(editor.ask("probe/opened", json!({}))["notes"], 1);
}

/// What the server says to some bytes: the codes of errors without an id, and whether it lives on.
#[track_caller]
fn malformed(bytes: impl AsRef<[u8]>, codes: &[i64]) {
    let mut editor = RawEditor::start();
    editor.write(bytes.as_ref());
    let told: Vec<Value> = editor.until_echo();
    let got: Vec<&Value> = told.iter().map(|it| &it["error"]["code"]).collect();
    assert_eq!(json!(got), json!(codes), "{told:?}");
    assert!(
        told.iter()
            .all(|it| it["id"].is_null() && it.get("id").is_some()),
        "{told:?}"
    );
}

#[test]
fn one_malformed_message_costs_one_message() {
    malformed("Content-Length: 5\r\n\r\n{\"a\":", &[-32700]);
    malformed(b"Content-Length: 4\r\n\r\n\"\xff\xfe\"", &[-32700]);
    malformed("X-Foo: 1\r\n\r\n{}", &[-32700]);
    malformed("hello world\r\n", &[-32700]);
    malformed("Content-Length: -1\r\n\r\n", &[-32700]);
    malformed("Content-Length: x\r\n\r\n", &[-32700]);
    malformed("Content-Length: 1\r\n\r\n{\"a\":1}", &[-32700]);
    malformed("Content-Length: 0\r\n\r\n", &[]);
    malformed(
        frame(&json!([{ "jsonrpc": "2.0", "id": 9, "method": "probe/echo" }])),
        &[-32600],
    );
    malformed(
        frame(&json!({ "jsonrpc": "2.0", "id": 1.5, "method": "probe/echo" })),
        &[-32600],
    );
    malformed(frame(&json!({ "method": "probe/echo" })), &[-32600]);
    malformed(
        frame(&json!({ "jsonrpc": "2.0", "id": null, "error": { "code": 1, "message": "" } })),
        &[],
    );
    malformed(
        frame(&json!({ "jsonrpc": "2.0", "id": "unknown", "result": 1 })),
        &[],
    );
    malformed(
        frame(&json!({ "jsonrpc": "2.0", "method": "$/noSuch" })),
        &[],
    );
    malformed(
        frame(&json!({ "jsonrpc": "2.0", "method": "no/such", "params": 5 })),
        &[],
    );
}

#[test]
fn an_answer_to_no_question_reaches_the_loop_and_is_ignored_there() {
    let mut editor = RawEditor::start();
    editor.send(&json!({ "jsonrpc": "2.0", "id": 777, "result": {} }));
    assert_eq!(
        editor.told("probe/unexpected")["params"],
        json!({ "id": 777 })
    );
}

#[test]
fn every_way_to_write_a_header_is_understood() {
    let mut editor = RawEditor::start();
    let body = r#"{"jsonrpc":"2.0","id":"h","method":"probe/echo","params":{"a":1}}"#;
    let n = body.len();
    for header in [
        format!("content-length: {n}\r\n\r\n"),
        format!("X-A: 1\r\nX-B: 2\r\nContent-Length: {n}\r\n\r\n"),
        format!("Content-Length: 3\r\nContent-Length: {n}\r\n\r\n"),
        format!(
            "Content-Length: {n}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
        ),
        format!("Content-Length: {n}\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n"),
        format!("Content-Length:{n}\r\n\r\n"),
        format!("Content-Length: {n}\n\n"),
    ] {
        editor.write(format!("{header}{body}").as_bytes());
        assert_eq!(
            editor.reply(json!("h")),
            json!({ "result": { "a": 1 } }),
            "{header:?}"
        );
    }
    assert_eq!(editor.until_echo(), Vec::<Value>::new());
}

#[test]
fn requests_that_are_wrong_are_told_so_by_their_id() {
    let mut editor = RawEditor::start();
    for (code, message) in [
        (
            0,
            json!({ "jsonrpc": "2.0", "id": 3_000_000_000_u64, "method": "probe/log" }),
        ),
        (
            0,
            json!({ "jsonrpc": "2.0", "id": "abc", "method": "probe/log", "params": {} }),
        ),
        (
            0,
            json!({ "jsonrpc": "2.0", "id": 1, "method": "probe/log", "params": null }),
        ),
        (
            -32602,
            json!({ "jsonrpc": "2.0", "id": 2, "method": "probe/log", "params": 5 }),
        ),
        (
            -32602,
            json!({ "jsonrpc": "2.0", "id": 3, "method": "probe/sleep", "params": { "ms": "x" } }),
        ),
        (
            -32602,
            json!({ "jsonrpc": "2.0", "id": 4, "method": "initialize", "params": 5 }),
        ),
        (
            -32600,
            json!({ "jsonrpc": "2.0", "id": 5, "method": "initialize", "params": { "capabilities": {} } }),
        ),
        (-32600, json!({ "id": 6, "method": "probe/log" })),
        (-32600, json!({ "jsonrpc": "2.0", "id": 7 })),
        (
            -32600,
            json!({ "jsonrpc": "2.0", "id": 8, "method": "probe/note" }),
        ),
        (
            -32600,
            json!({ "jsonrpc": "2.0", "id": 9, "method": "$/cancelRequest", "params": { "id": 1 } }),
        ),
        (
            -32601,
            json!({ "jsonrpc": "2.0", "id": 10, "method": "no/such" }),
        ),
        (
            -32601,
            json!({ "jsonrpc": "2.0", "id": 11, "method": "$/noSuch" }),
        ),
    ] {
        editor.send(&message);
        assert_eq!(editor.code(message["id"].clone()), code, "{message}");
    }
}

#[test]
fn an_id_that_is_in_use_is_refused_and_the_first_request_goes_on() {
    let mut editor = RawEditor::start();
    let ask = json!({ "jsonrpc": "2.0", "id": "twice", "method": "probe/ask", "params": {} });
    editor.send(&ask);
    let question = editor.told("probe/question");
    editor.send(&ask);
    assert_eq!(editor.code(json!("twice")), -32600);
    editor.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": 1 }));
    assert_eq!(editor.reply(json!("twice")), json!({ "result": 1 }));
}

#[test]
fn half_an_emoji_is_repaired_and_marked() {
    let mut editor = RawEditor::start();
    change(&mut editor, 1);
    assert_eq!(editor.ask("probe/opened", json!({}))["repaired"], false);
    let body = r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":
        {"uri":"file:///a","languageId":"x","version":2,"text":"a\ud83db"}}}"#;
    editor.write(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    assert_eq!(
        editor.ask("probe/opened", json!({})),
        json!({ "chars": 3, "repaired": true, "notes": 0 })
    );
}

#[test]
fn a_message_over_the_limit_is_refused_and_skipped() {
    let mut editor = RawEditor::spawn(&[("PROBE_MAX_BYTES", "1000")]);
    editor.read();
    editor.initialize();
    let id = editor.request("probe/echo", json!(["x".repeat(2_996)]));
    assert_eq!(
        editor.reply(Value::Null),
        json!({ "error": {
            "code": -32600,
            "message": "a message of 3056 bytes is over the limit of 1000 and was skipped; send less at \
                        once, or leave the file on disk and close it in the editor",
        } })
    );
    assert_eq!(
        editor.until_echo(),
        Vec::<Value>::new(),
        "{id} is never answered"
    );
}

#[test]
fn a_length_that_makes_no_sense_ends_the_server() {
    let mut editor = RawEditor::start();
    editor.write(b"Content-Length: 1000000000000000\r\n\r\n{}");
    assert_eq!(editor.code(Value::Null), -32600);
    assert_eq!(editor.exit_code(), Some(1));
}

#[test]
fn a_large_document_arrives_whole() {
    let mut editor = RawEditor::start();
    let text = "fn main() { println!(\"h\u{e9}llo \u{1F600}\"); }\r\n".repeat(300_000);
    let chars = text.chars().count();
    editor.notify(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": "file:///a", "languageId": "rust", "version": 1, "text": text } }),
    );
    assert_eq!(editor.ask("probe/opened", json!({}))["chars"], chars);
}

#[test]
fn before_initialize_is_answered_requests_are_refused_and_notices_dropped() {
    let mut editor = RawEditor::spawn(&[]);
    editor.read();
    for method in ["probe/log", "shutdown", "no/such"] {
        let id = editor.request(method, json!({}));
        assert_eq!(editor.code(id), -32002, "{method}");
    }
    editor.notify("probe/note", json!({}));
    let id = editor.request("initialize", json!(5));
    assert_eq!(editor.code(id), -32602);
    editor.initialize();
    assert_eq!(editor.ask("probe/opened", json!({}))["notes"], 0);
}

#[test]
fn after_shutdown_requests_are_refused() {
    let mut editor = RawEditor::start();
    assert_eq!(editor.ask("shutdown", Value::Null), Value::Null);
    for method in ["probe/log", "shutdown", "initialize"] {
        let id = editor.request(method, json!({ "capabilities": {} }));
        assert_eq!(editor.code(id), -32600, "{method}");
    }
}

#[test]
fn shutdown_takes_params_that_it_should_not_have() {
    for params in [json!({}), json!([]), Value::Null] {
        assert_eq!(RawEditor::start().ask("shutdown", params), Value::Null);
    }
}

#[test]
fn exit_ends_the_server_with_0_only_after_shutdown() {
    let mut editor = RawEditor::start();
    editor.ask("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), Some(0));

    let mut editor = RawEditor::start();
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), Some(1));

    let mut editor = RawEditor::start();
    editor.request("probe/ask", json!({}));
    editor.told("probe/question");
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), Some(1));

    let mut editor = RawEditor::spawn(&[]);
    editor.request("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(
        editor.exit_code(),
        Some(1),
        "a shutdown that was refused is none"
    );
}

#[test]
fn the_server_does_not_outlive_its_editor() {
    let mut editor = RawEditor::start();
    editor.close_stdin();
    assert_eq!(editor.exit_code(), Some(1));

    let mut editor = RawEditor::start();
    editor.ask("shutdown", Value::Null);
    editor.close_stdin();
    assert_eq!(editor.exit_code(), Some(0));

    for method in ["probe/ask", "probe/sleep", "probe/agent", "probe/spin"] {
        let mut editor = RawEditor::start();
        editor.request(method, json!({ "ms": 600_000 }));
        assert_eq!(
            editor.until_echo().len(),
            usize::from(method != "probe/sleep" && method != "probe/spin")
        );
        editor.close_stdin();
        assert_eq!(editor.exit_code(), Some(1), "{method}");
    }
}

#[test]
fn a_closed_stdout_ends_the_server_though_stdin_is_open() {
    let mut editor = RawEditor::spawn(&[]);
    editor.request("initialize", json!({ "capabilities": {} }));
    editor.close_stdout();
    editor.notify("probe/ping", json!({}));
    assert_eq!(editor.exit_code(), Some(1));
}

#[test]
fn more_than_512_open_requests_are_refused() {
    let mut editor = RawEditor::start();
    let open: Vec<Value> = (0..512)
        .map(|_| editor.request("probe/agent", json!({})))
        .collect();
    let one_more = editor.request("probe/echo", json!({}));
    assert_eq!(
        editor.reply(one_more),
        json!({ "error": {
            "code": -32803,
            "message": "512 requests are open; ask again when one of them is answered",
        } })
    );
    editor.cancel(&open[0]);
    editor.reply(open[0].clone());
    assert_eq!(editor.ask("probe/echo", json!([7])), json!([7]));
}

#[test]
fn an_editor_that_floods_before_it_reads_gets_every_reply_in_the_end() {
    const REQUESTS: usize = 20_000;
    let mut editor = RawEditor::spawn(&[]);
    editor.request("initialize", json!({ "capabilities": {} }));
    editor.notify("probe/note", json!({}));
    let mut stdin = editor.take_stdin();
    let writer = std::thread::spawn(move || {
        for id in 0..REQUESTS {
            let echo = json!({ "jsonrpc": "2.0", "id": id + 1_000, "method": "probe/echo", "params": { "t": "y".repeat(200) } });
            stdin.write_all(&frame(&echo)).unwrap();
        }
        stdin
    });
    editor.read();
    for id in 0..REQUESTS {
        let code = editor.code(json!(id + 1_000));
        assert!([0, -32002, -32803].contains(&code), "{code}");
    }
    drop(writer.join().unwrap());
    assert_eq!(editor.exit_code(), Some(1));
}

#[test]
fn a_stream_waits_for_an_editor_that_does_not_read_and_loses_nothing() {
    let mut editor = RawEditor::spawn(&[]);
    editor.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }));
    // Two of them, so that the second finds a queue that the first has filled.
    editor.read();
    editor.reply(json!(1));
    editor.request("probe/flood", json!({ "n": 20_000 }));
    editor.request("probe/flood", json!({ "n": 20_000, "chunks": true }));
    let (mut next, mut text, mut ended) = (0, String::new(), 0);
    while ended < 2 {
        let message = editor.next();
        match message["method"].as_str() {
            Some("probe/flooded") => {
                assert_eq!(message["params"]["i"], next);
                next += 1;
            }
            Some("session/update") => {
                let update = &message["params"]["update"];
                assert_eq!(update["sessionUpdate"], "agent_message_chunk");
                text.push_str(update["content"]["text"].as_str().unwrap());
            }
            Some("probe/floodEnd") => ended += 1,
            Some(_) | None => {}
        }
    }
    assert_eq!(next, 20_000);
    assert_eq!(
        text,
        (0..20_000).map(|it| format!("{it},")).collect::<String>()
    );
}
