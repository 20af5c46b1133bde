//! What the model gets of a file, of several and of a folder (spec 1.1).

use super::AUTO;
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::StopReason;
use serde_json::{Value, json};
use std::fs::File;

/// What the model is told of one read.
fn read(stage: &Stage, arguments: Value) -> String {
    let (_, prompt) = stage.call("read_file", arguments);
    stage.result(&prompt)
}

fn stage(files: &str) -> Stage {
    Stage::with(Setup::agent(), files, AUTO)
}

#[test]
fn several_files_come_under_headers_in_order() {
    let stage = stage("//- /a.txt\none\n//- /sub/b.txt\ntwo");
    let result = read(&stage, json!({"paths": ["sub/b.txt", "./a.txt"]}));
    assert_eq!(result, "=== sub/b.txt ===\ntwo\n\n=== ./a.txt ===\none\n\n");
}

#[test]
fn a_path_that_fails_fails_the_call() {
    let stage = stage("//- /a.txt\none\n");
    let result = read(&stage, json!({"paths": ["a.txt", "none"]}));
    assert_eq!(result, "There is no file none.");
}

#[test]
fn one_of_path_and_paths_is_needed() {
    let stage = stage("//- /a.txt\none\n");
    let many: Vec<String> = (0..33).map(|it| format!("{it}")).collect();
    let cases = [
        (json!({}), "needs path"),
        (json!({"paths": []}), "needs path"),
        (json!({"path": "a.txt", "paths": ["b"]}), "not both"),
        (json!({"paths": many}), "at most 32"),
        (
            json!({"paths": ["a.txt", 1]}),
            "Bad arguments for read_file",
        ),
        (
            json!({"path": "a.txt", "view_range": [1]}),
            "Bad arguments for read_file",
        ),
    ];
    for (arguments, expected) in cases {
        let result = read(&stage, arguments);
        assert!(result.contains(expected), "{result}");
    }
}

#[test]
fn bug_014_one_web_address_refuses_the_whole_call() {
    let stage = stage("//- /a.txt\none\n");
    let result = read(
        &stage,
        json!({"paths": ["a.txt", " HTTPS://example.com/x"]}),
    );
    assert!(result.contains("web_fetch"), "{result}");
}

#[test]
fn lines_of_a_range_are_numbered_and_a_range_past_the_file_is_refused() {
    let stage = stage("//- /a.txt\none\ntwo\nthree\n");
    let of = |first: i64, last: i64| {
        read(
            &stage,
            json!({"path": "a.txt", "view_range": [first, last]}),
        )
    };
    assert_eq!(of(2, 3), "     2\ttwo\n     3\tthree\n");
    assert_eq!(of(3, 99), "     3\tthree\n");
    assert_eq!(of(2, -1), "     2\ttwo\n     3\tthree\n");
    for (first, last) in [(0, 1), (2, 1), (4, 5), (-1, 2)] {
        assert!(of(first, last).contains("lines 1 to 3"));
    }
    let all = read(&stage, json!({"path": "a.txt", "line_numbers": true}));
    assert_eq!(all, "     1\tone\n     2\ttwo\n     3\tthree\n");
}

#[test]
fn bug_009_of_a_file_of_many_gigabytes_only_the_beginning_is_read() {
    let stage = stage("//- /a.txt\none\n");
    let file = File::create(stage.workspace.path("large")).unwrap();
    // All of it a hole; read whole it would not fit into memory.
    file.set_len(1 << 40).unwrap();
    let result = read(&stage, json!({"path": "large"}));
    let footer = format!(
        "\n[cut after 400000 of {} bytes; read on with view_range]",
        1_u64 << 40
    );
    assert_eq!(result, format!("{}{footer}", "\0".repeat(400_000)));
    let result = read(&stage, json!({"path": "large", "view_range": [1, 1]}));
    assert!(result.len() < 401_000, "{}", result.len());
}

#[test]
fn a_long_file_is_cut_at_a_character() {
    let stage = Stage::with(
        Setup::agent(),
        "",
        &format!("{AUTO}\n[limits]\nread_bytes = 10\n"),
    );
    stage.workspace.write("a.txt", "123456789é and more");
    let expected = "123456789\n[cut after 9 of 20 bytes; read on with view_range]";
    assert_eq!(read(&stage, json!({"path": "a.txt"})), expected);
    stage.editor.open("a.txt");
    assert_eq!(read(&stage, json!({"path": "a.txt"})), expected);
}

#[test]
fn bug_011_a_text_that_looks_cut_is_whole() {
    let text = "one\n[cut after 4 of 9 bytes; read on with view_range]";
    let stage = stage("");
    stage.workspace.write("a.txt", text);
    assert_eq!(read(&stage, json!({"path": "a.txt"})), text);
}

#[test]
fn several_long_files_lose_the_middle_of_all() {
    let stage = Stage::with(
        Setup::agent(),
        "",
        &format!("{AUTO}\n[limits]\nread_bytes = 40\n"),
    );
    stage.workspace.write("a", "a".repeat(30));
    stage.workspace.write("b", "b".repeat(30));
    let result = read(&stage, json!({"paths": ["a", "b"]}));
    let expected = format!(
        "=== a ===\n{}\n[44 bytes left out here; read fewer files at once]\n{}\n\n",
        "a".repeat(10),
        "b".repeat(18)
    );
    assert_eq!(result, expected);
}

#[test]
fn bug_013_a_file_that_was_read_in_this_turn_is_not_sent_again_until_it_changes() {
    let stage = stage("//- /a.txt\none\ntwo\n");
    let (session, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    let again = |arguments: Value| {
        let mut asked = stage.model.next();
        let result = asked.result();
        asked.call("read_file", arguments);
        asked.end();
        result
    };
    let whole = json!({"path": "./a.txt"});
    assert_eq!(again(whole.clone()), "one\ntwo\n");
    let note = "a.txt is unchanged since it was read in this turn; its 2 lines are already above.";
    assert_eq!(again(json!({"path": "a.txt", "view_range": [2, 2]})), note);
    assert_eq!(again(whole.clone()), "     2\ttwo\n");
    let mut asked = stage.model.next();
    assert_eq!(asked.result(), note);
    stage.workspace.write("a.txt", "one\n2\n");
    asked.call("read_file", whole.clone());
    asked.end();
    assert_eq!(stage.result(&prompt), "one\n2\n");
    // The next turn gets it in full.
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    asked.call("read_file", whole);
    asked.end();
    assert_eq!(stage.result(&prompt), "one\n2\n");
}

#[test]
fn bug_015_a_folder_is_listed_two_levels_deep_without_what_is_hidden_or_ignored() {
    let files = "//- /.gitignore\n/out/\n*.log\n//- /src/deep/er/x\n//- /src/a.rs\n//- /src/a.log\n\
                 //- /out/b\n//- /.hidden/c\n//- /z.txt\n";
    let stage = stage(files);
    let expected = "src/\nsrc/a.rs\nsrc/deep/\nz.txt";
    assert_eq!(read(&stage, json!({"path": "."})), expected);
    let ranged = json!({"path": ".", "view_range": [1, 1], "line_numbers": true});
    assert_eq!(read(&stage, ranged), expected);
    // Asked for by its name, it is shown.
    assert_eq!(read(&stage, json!({"path": "out"})), "b");
}

#[test]
fn a_large_folder_is_listed_up_to_a_mark() {
    let stage = stage("");
    for at in 0..1_001 {
        stage.workspace.write(&format!("all/{at:04}"), "");
    }
    let result = read(&stage, json!({"path": "all"}));
    let lines: Vec<&str> = result.lines().collect();
    assert_eq!((lines.len(), lines[999]), (1_001, "0999"));
    assert!(
        lines[1_000].contains("stopped after 1000"),
        "{}",
        lines[1_000]
    );
}

#[test]
fn bug_016_a_large_read_is_cancelled_at_once() {
    let limits = "\n[limits]\nread_bytes = 4000000000\n";
    let stage = Stage::with(Setup::agent(), "", &format!("{AUTO}{limits}"));
    let file = File::create(stage.workspace.path("large")).unwrap();
    file.set_len(1 << 40).unwrap();
    let (session, prompt) = stage.call("read_file", json!({"path": "large"}));
    stage
        .editor
        .updates_until("the read", |it| it["status"] == "in_progress");
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
}
