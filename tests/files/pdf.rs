//! What the model gets of a PDF; and that no PDF stops the server.

use crate::support::PATIENCE;
use crate::support::stage::Stage;
use protocol::acp::StopReason;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// A PDF of one page with this content stream (ISO 32000-1, 7.5).
fn pdf(content: &[u8]) -> Vec<u8> {
    let objects: [&[u8]; 4] = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 5 0 R/Resources<</Font<</F1 4 0 R>>>>>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ];
    let stream = [
        format!("<</Length {}>>stream\n", content.len()).as_bytes(),
        content,
        b"\nendstream",
    ]
    .concat();
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().copied().chain([&stream[..]]).enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n", at + 1).into_bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let table = out.len();
    out.extend(b"xref\n0 6\n0000000000 65535 f \n");
    for place in places {
        out.extend(format!("{place:010} 00000 n \n").into_bytes());
    }
    let trailer = format!("trailer<</Size 6/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n");
    out.extend(trailer.into_bytes());
    out
}

fn says(words: &str) -> Vec<u8> {
    pdf(format!("BT /F1 12 Tf 20 200 Td ({words}) Tj ET").as_bytes())
}

/// What the model is told of a file with these bytes.
fn read(bytes: &[u8]) -> String {
    let stage = Stage::new("");
    stage.workspace.write("a.pdf", bytes);
    let (_, prompt) = stage.call("read_file", json!({"path": "a.pdf"}));
    stage.result(&prompt)
}

#[test]
fn the_text_of_a_pdf_is_read() {
    assert_eq!(read(&says("Hello from a page")).trim(), "Hello from a page");
}

#[test]
fn a_pdf_is_no_text_that_may_be_written_over() {
    let stage = Stage::new("");
    stage.workspace.write("a.pdf", says("Hello"));
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "a.pdf"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.call(
        "write_file",
        json!({"path": "a.pdf", "content": "Hello, changed"}),
    );
    asked.end();
    let result = stage.result(&prompt);
    assert!(result.contains("was not read yet"), "{result}");
    assert!(fs::read(stage.workspace.path("a.pdf")).unwrap() == says("Hello"));
}

#[test]
fn a_pdf_without_text_says_so() {
    let result = read(&pdf(b"0 0 100 100 re f"));
    assert!(result.contains("no text in it"), "{result}");
}

#[test]
fn a_broken_pdf_is_an_error_of_one_line() {
    let whole = says("Hello");
    let nested = [&b"BT "[..], &b"[".repeat(3_000_000)].concat();
    for bytes in [
        b"%PDF-1.4\nnothing".to_vec(),
        whole[..whole.len() / 2].to_vec(),
        pdf(&nested),
    ] {
        let result = read(&bytes);
        assert_eq!(result.lines().count(), 1, "{result}");
        assert!(
            result.contains("its text cannot be taken out") || result.contains("no text in it"),
            "{result}"
        );
    }
}

#[test]
fn a_pdf_that_takes_for_ever_is_cancelled_with_its_reader() {
    let stage = Stage::new("");
    let long = b"BT /F1 12 Tf 20 200 Td (ab) Tj ET\n".repeat(1 << 19);
    stage.workspace.write("a.pdf", pdf(&long));
    let path = stage.workspace.path("a.pdf");
    let (session, prompt) = stage.call("read_file", json!({"path": "a.pdf"}));
    wait_for("a reader", || n_readers(&path) == 1);
    let begun = Instant::now();
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    wait_for("the reader's end", || n_readers(&path) == 0);
    assert!(begun.elapsed().as_secs() < 2, "{:?}", begun.elapsed());
}

#[test]
fn a_reader_ends_with_its_server() {
    let mut stage = Stage::new("");
    let long = b"BT /F1 12 Tf 20 200 Td (ab) Tj ET\n".repeat(1 << 19);
    stage.workspace.write("a.pdf", pdf(&long));
    let path = stage.workspace.path("a.pdf");
    let _ = stage.call("read_file", json!({"path": "a.pdf"}));
    wait_for("a reader", || n_readers(&path) == 1);
    let begun = Instant::now();
    stage.editor.kill();
    wait_for("the reader's end", || n_readers(&path) == 0);
    assert!(begun.elapsed().as_secs() < 2, "{:?}", begun.elapsed());
}

/// Processes that have this path as an argument.
fn n_readers(path: &Path) -> usize {
    let wanted = path.to_str().unwrap().as_bytes();
    let all = fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines
        .filter(|it| it.split(|it| *it == 0).any(|it| it == wanted))
        .count()
}

/// Other processes send no events.
#[track_caller]
fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "{what} was not seen");
        std::thread::yield_now();
    }
}
