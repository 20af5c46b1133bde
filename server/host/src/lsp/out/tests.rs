//! The writer's laws: order, whole text, and nothing merged that need not be.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{BEHIND, Chunk, ChunkKind, HIGH_WATER, Out};
use crate::lsp::{Frame, Frames, Id};

const PATIENCE: Duration = Duration::from_secs(60);

/// An editor's end of the pipe, which reads only while it is told to.
#[derive(Clone, Default)]
struct Editor(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    reads: bool,
    gone: bool,
    /// The writer has come with its first bytes.
    offered: bool,
    got: Vec<u8>,
    writes: usize,
}

impl Editor {
    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
    }

    /// Reads to the end of what was sent.
    fn messages(&self, out: &Out) -> Vec<Value> {
        self.set(|it| it.reads = true);
        assert!(out.flush(PATIENCE));
        let got = self.0.0.lock().unwrap().got.clone();
        parse(&got)
    }
}

fn parse(got: &[u8]) -> Vec<Value> {
    let mut frames = Frames::new(got, u64::MAX);
    let mut messages = Vec::new();
    loop {
        match frames.next().unwrap() {
            Frame::Body(body) => messages.push(serde_json::from_slice(&body).unwrap()),
            Frame::End => return messages,
            wrong @ (Frame::Garbage(_) | Frame::TooBig { .. }) => panic!("{wrong:?}"),
        }
    }
}

impl io::Write for Editor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.set(|it| it.offered = true);
        let state = self.0.0.lock().unwrap();
        let wait = |it: &mut State| !it.reads && !it.gone;
        let mut state = self.0.1.wait_while(state, wait).unwrap();
        if state.gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.writes += 1;
        // A pipe takes what fits.
        let n = bytes.len().min(50_000);
        state.got.extend_from_slice(&bytes[..n]);
        self.0.1.notify_all();
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn start() -> (Editor, Out, Arc<str>) {
    let editor = Editor::default();
    let out = Out::to(editor.clone()).unwrap();
    (editor, out, "s".into())
}

fn chunk(out: &Out, session: &Arc<str>, kind: ChunkKind, text: &str) {
    out.chunk(Chunk {
        session,
        kind,
        text,
    });
}

/// Waits until the writer has taken what is queued and cannot write it.
fn stall(editor: &Editor) {
    let (lock, changed) = &*editor.0;
    let wait = |it: &mut State| !it.offered;
    let (_stalled, late) = changed
        .wait_timeout_while(lock.lock().unwrap(), PATIENCE, wait)
        .unwrap();
    assert!(!late.timed_out());
}

#[test]
fn every_kind_of_message_has_its_shape() {
    let (editor, out, session) = start();
    out.notify("a/b", &json!({ "x": 1 }));
    out.request(7, "a/c", &json!([]));
    out.reply(&"id".into(), Ok(&Value::Null));
    out.reply(&Id::Null, Err::<&(), _>(&crate::lsp::Error::parse_error()));
    chunk(
        &out,
        &session,
        ChunkKind::Agent,
        "\"quoted\"\u{1}\u{1F600}\r\n\t\\",
    );
    chunk(&out, &session, ChunkKind::Thought, "hm");
    chunk(&out, &session, ChunkKind::Thought, "");
    let lines: Vec<String> = editor.messages(&out).iter().map(Value::to_string).collect();
    expect_test::expect![[r#"
        {"jsonrpc":"2.0","method":"a/b","params":{"x":1}}
        {"jsonrpc":"2.0","id":7,"method":"a/c","params":[]}
        {"jsonrpc":"2.0","id":"id","result":null}
        {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\"quoted\"\u0001😀\r\n\t\\"}}}}
        {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}}}
    "#]]
    .assert_eq(&format!("{}\n", lines.join("\n")));
}

#[test]
fn a_result_that_is_no_json_becomes_an_error() {
    let (editor, out, _) = start();
    let result = std::collections::BTreeMap::from([((1, 2), 3)]);
    out.notify("dropped", &result);
    out.reply(&1.into(), Ok(&result));
    let messages = editor.messages(&out);
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["error"]["code"], -32603);
}

#[test]
fn chunks_are_merged_only_while_the_editor_is_behind() {
    let (editor, out, session) = start();
    let send = || (0..100).for_each(|_| chunk(&out, &session, ChunkKind::Agent, "ab"));
    out.notify("first", &json!({}));
    stall(&editor);
    send();
    assert!(out.unwritten() < BEHIND);
    out.notify("much", &json!(["x".repeat(BEHIND)]));
    send();
    out.notify("between", &json!({}));
    send();
    chunk(&out, &session, ChunkKind::Thought, "hm");
    chunk(&out, &"t".into(), ChunkKind::Thought, "hm");
    send();
    let lengths: Vec<usize> = editor
        .messages(&out)
        .iter()
        .filter_map(|it| it["params"]["update"]["content"]["text"].as_str())
        .map(str::len)
        .collect();
    let mut expected = vec![2; 100];
    expected.extend([200, 200, 2, 2, 200]);
    assert_eq!(lengths, expected);
}

#[test]
fn an_editor_that_keeps_up_gets_every_chunk_as_it_was() {
    let (editor, out, session) = start();
    editor.set(|it| it.reads = true);
    for _ in 0..2_000 {
        chunk(&out, &session, ChunkKind::Agent, "x");
        assert!(out.flush(PATIENCE));
    }
    assert_eq!(editor.messages(&out).len(), 2_000);
}

#[test]
fn what_was_queued_while_the_editor_slept_is_written_at_once() {
    let (editor, out, _) = start();
    for i in 0..1_000 {
        out.notify("n", &json!({ "i": i }));
    }
    assert_eq!(editor.messages(&out).len(), 1_000);
    assert!(editor.0.0.lock().unwrap().writes < 10);
}

/// Law: with neighbouring chunks of one session and kind joined, what arrives is what was sent.
#[test]
fn joined_text_and_order_are_what_was_sent() {
    let mut random = fastrand::Rng::with_seed(17);
    let sessions: [Arc<str>; 2] = ["a\"".into(), "b".into()];
    let mut merged = 0;
    for round in 0..150 {
        let (editor, out, _) = start();
        let mut sent: Vec<(String, String)> = Vec::new();
        for i in 0..random.usize(0..120) {
            match random.u8(0..10) {
                0 => editor.set(|it| it.reads = random.bool()),
                1 => {
                    out.notify("n", &json!({ "i": i }));
                    sent.push(("n".into(), i.to_string()));
                }
                2 => {
                    out.request(i as i64, "r", &json!({ "i": i }));
                    sent.push(("r".into(), i.to_string()));
                }
                _ => {
                    let session = random.choice(&sessions).unwrap();
                    let (kind, name) = match random.u8(0..4) {
                        0 => (ChunkKind::Thought, "agent_thought_chunk"),
                        _ => (ChunkKind::Agent, "agent_message_chunk"),
                    };
                    let most = if random.u8(0..8) == 0 { 20_000 } else { 12 };
                    let text: String = (0..random.usize(1..most))
                        .map(|_| random.char(..))
                        .collect();
                    chunk(&out, session, kind, &text);
                    sent.push((format!("{session} {name}"), text));
                }
            }
        }
        let got: Vec<(String, String)> = editor
            .messages(&out)
            .iter()
            .map(|it| match it["method"].as_str().unwrap() {
                "session/update" => {
                    let (params, update) = (&it["params"], &it["params"]["update"]);
                    let (session, kind) = (&params["sessionId"], &update["sessionUpdate"]);
                    let name = format!("{} {}", session.as_str().unwrap(), kind.as_str().unwrap());
                    (name, update["content"]["text"].as_str().unwrap().to_owned())
                }
                other => (other.to_owned(), it["params"]["i"].to_string()),
            })
            .collect();
        merged += sent.len() - got.len();
        assert!(joined(got) == joined(sent), "seed 17, round {round}");
    }
    assert!(
        merged > 100,
        "the law was never put to the test: {merged} merged"
    );
}

fn joined(messages: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for (name, text) in messages {
        match all.last_mut() {
            Some(last) if last.0 == name && name.contains(' ') => last.1.push_str(&text),
            Some(_) | None => all.push((name, text)),
        }
    }
    all
}

#[test]
fn a_stream_gets_room_when_the_editor_has_read() {
    let (editor, out, _) = start();
    assert!(out.room().now_or_never().is_some());
    out.notify("much", &json!(["x".repeat(HIGH_WATER)]));
    let mut room = Box::pin(out.room());
    assert!((&mut room).now_or_never().is_none());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    editor.set(|it| it.reads = true);
    runtime.block_on(async { tokio::time::timeout(PATIENCE, room).await.unwrap() });
    assert!(out.unwritten() < HIGH_WATER);
}

#[test]
fn an_editor_that_is_gone_stops_nobody() {
    let (editor, out, session) = start();
    out.notify("much", &json!(["x".repeat(2 * HIGH_WATER)]));
    let slots = Arc::new(Semaphore::new(1));
    let held = Arc::clone(&slots).try_acquire_owned().unwrap();
    out.reply_holding(&1.into(), Ok(&()), Some(held));
    let room = out.room();
    editor.set(|it| it.gone = true);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let all = async { tokio::join!(room, out.gone(), slots.acquire()).2.map(drop) };
    runtime.block_on(async { tokio::time::timeout(PATIENCE, all).await.unwrap().unwrap() });
    out.notify("more", &json!({}));
    chunk(&out, &session, ChunkKind::Agent, "more");
    assert_eq!(out.unwritten(), 0);
    assert!(!out.flush(PATIENCE));
}

#[test]
fn a_flush_that_takes_too_long_says_so() {
    let (_editor, out, _) = start();
    out.notify("n", &json!({}));
    assert!(!out.flush(Duration::from_millis(1)));
}

#[test]
fn the_last_handle_leaves_nothing_unwritten() {
    let (editor, out, _) = start();
    editor.set(|it| it.reads = true);
    for i in 0..100 {
        out.clone().notify("n", &json!({ "i": i }));
    }
    drop(out);
    // The writer's own end of the editor is dropped when its thread ends.
    let (lock, changed) = &*editor.0;
    let whole = |it: &mut State| !it.got.ends_with(br#"{"i":99}}"#);
    let (_whole, late) = changed
        .wait_timeout_while(lock.lock().unwrap(), PATIENCE, whole)
        .unwrap();
    assert!(!late.timed_out());
}

/// Starts on a real pipe, past the thread where that is possible.
fn start_on_pipe() -> (io::PipeReader, Out) {
    let (reader, writer) = io::pipe().unwrap();
    (reader, Out::to_fd(&writer).unwrap())
}

#[test]
fn a_full_pipe_blocks_no_caller_and_loses_nothing() {
    let (mut reader, out) = start_on_pipe();
    let session = "s".into();
    let words: Vec<String> = (0..20_000).map(|it| format!("{it} ")).collect();
    for word in &words {
        // Nobody reads, so the first write that could block would block for ever.
        chunk(&out, &session, ChunkKind::Agent, word);
    }
    drop(out);
    let mut got = Vec::new();
    reader.read_to_end(&mut got).unwrap();
    let text: String = parse(&got)
        .iter()
        .map(|it| it["params"]["update"]["content"]["text"].as_str().unwrap())
        .collect();
    assert!(text == words.concat());
}

/// Law: whichever way each message takes, all come in order.
#[test]
fn the_two_ways_to_a_pipe_keep_one_order() {
    let mut random = fastrand::Rng::with_seed(23);
    for round in 0..20 {
        let (mut reader, out) = start_on_pipe();
        let count = 2_000;
        let mut sizes = random.clone();
        let sender = std::thread::spawn(move || {
            for i in 0..count {
                let most = if sizes.u8(0..20) == 0 { 30_000 } else { 200 };
                out.notify(
                    "n",
                    &json!({ "i": i, "x": "x".repeat(sizes.usize(0..most)) }),
                );
                if sizes.u8(0..4) == 0 {
                    out.flush(PATIENCE);
                }
            }
        });
        random.u64(..);
        let mut got = Vec::new();
        reader.read_to_end(&mut got).unwrap();
        sender.join().unwrap();
        let order: Vec<Value> = parse(&got)
            .iter()
            .map(|it| it["params"]["i"].clone())
            .collect();
        assert_eq!(
            order,
            (0..count).map(Value::from).collect::<Vec<_>>(),
            "seed 23, round {round}"
        );
    }
}

#[test]
fn a_pipe_that_was_closed_is_noticed_whichever_way_is_taken() {
    let (reader, out) = start_on_pipe();
    drop(reader);
    out.notify("n", &json!({}));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, out.gone()).await.unwrap() });
}
