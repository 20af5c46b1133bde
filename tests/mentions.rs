//! What a prompt mentions with `@` stands behind it; the prompt stays as it was written.

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use crate::support::workspace::uri;
use protocol::acp::SessionId;
use protocol::methods::{Diagnostics, Selection, Symbols};
use protocol::seen::{
    DiagnosticsResult, EditorSelection, FileProblems, FoundSymbol, Problem, SelectionResult,
    SymbolsResult,
};
use std::fs;
use std::process::Command;

const FILES: &str =
    "//- /a.rs\none\ntwo\nthree\n//- /my notes.md\nnotes\n//- /src/b.rs\nfn b() {}\n";

/// What the model is asked when a person writes this.
fn sent(stage: &Stage, text: &str) -> String {
    let session = stage.editor.new_session();
    sent_in(stage, &session, text)
}

fn sent_in(stage: &Stage, session: &SessionId, text: &str) -> String {
    let prompt = stage.editor.prompt(session, text);
    let sent = end(stage);
    stage.editor.end(&prompt);
    sent
}

fn end(stage: &Stage) -> String {
    let mut asked = stage.model.next();
    let sent = asked.last_prompt();
    asked.say("done");
    asked.end();
    sent
}

#[test]
fn a_file_stands_behind_the_prompt_with_what_the_editor_has_unsaved() {
    let stage = Stage::new(FILES);
    stage.editor.open("a.rs");
    stage.editor.type_over("a.rs", "two", "TWO");
    assert_eq!(
        sent(&stage, "Explain @a.rs, please"),
        "Explain @a.rs, please\n\na.rs:\n```\none\nTWO\nthree\n```"
    );
    assert_eq!(
        sent(&stage, "@a.rs:2-3"),
        "@a.rs:2-3\n\na.rs, lines 2 to 3:\n```\nTWO\nthree\n```"
    );
    assert!(sent(&stage, "@\"my notes.md\"").ends_with("my notes.md:\n```\nnotes\n```"));
    assert!(sent(&stage, "@src").ends_with("src, a folder:\n```\nb.rs\n```"));
}

#[test]
fn a_word_that_stands_for_nothing_stays_a_word() {
    let stage = Stage::new(FILES);
    for text in [
        "@nobody said so",
        "me@example.org",
        "@Override",
        "@a.rs:3-1 x",
    ] {
        assert_eq!(sent(&stage, text), text);
    }
}

#[test]
fn what_lies_outside_the_project_is_named_and_not_read() {
    let stage = Stage::new(FILES);
    let secret = stage.workspace.outside("secret.txt");
    fs::write(&secret, "hush").unwrap();
    std::os::unix::fs::symlink(&secret, stage.workspace.path("link")).unwrap();
    for path in [
        secret.display().to_string(),
        "link".to_owned(),
        "../secret.txt".to_owned(),
    ] {
        let sent = sent(&stage, &format!("@{path}"));
        assert!(
            sent.contains("was not read") && !sent.contains("hush"),
            "{sent}"
        );
    }
}

#[test]
fn of_a_long_file_the_beginning_and_the_end_are_there_and_all_have_a_limit() {
    let config = "[limits]\nmention_bytes = 400\nmentions_bytes = 500\n";
    let stage = Stage::with(Setup::agent(), "", config);
    let text = |it: &str| format!("begin {it}\n{}\nend {it}\n", "x".repeat(1000));
    for name in ["a", "b", "c"] {
        stage.workspace.write(name, text(name));
    }
    let sent = sent(&stage, "@a @b @c");
    for part in ["begin a", "end a", "begin b", "bytes left out here"] {
        assert!(sent.contains(part), "{part}: {sent}");
    }
    assert!(
        sent.contains("c: not put here") && sent.len() < 900,
        "{sent}"
    );
}

#[test]
fn the_editor_is_asked_for_the_selection_the_problems_and_a_symbol() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    let uri = || uri(&stage.workspace.path("a.rs")).into();
    let prompt = stage
        .editor
        .prompt(&session, "See @selection @diagnostics @symbol:two");
    let asking = stage.editor.expect::<Selection>();
    let selection = EditorSelection {
        uri: uri(),
        lines: (1, 2),
        text: "one\ntwo".to_owned(),
    };
    let selection = Some(selection);
    stage.editor.reply(&asking, &SelectionResult { selection });
    stage.editor.find_problems();
    let asking = stage.editor.expect::<Diagnostics>();
    assert_eq!(asking.params.uri, None);
    let problems = vec![Problem {
        line: 3,
        severity: 1,
        message: "no such word".to_owned(),
        source: Some("checker".to_owned()),
    }];
    let files = vec![FileProblems {
        uri: uri(),
        version: None,
        problems,
    }];
    stage.editor.reply(&asking, &DiagnosticsResult { files });
    let asking = stage.editor.expect::<Symbols>();
    assert_eq!(asking.params.query, "two");
    let symbols = vec![FoundSymbol {
        name: "two".to_owned(),
        uri: uri(),
        lines: (2, 2),
    }];
    stage.editor.reply(&asking, &SymbolsResult { symbols });
    assert_eq!(
        end(&stage),
        "See @selection @diagnostics @symbol:two\n\n\
         Selected: a.rs, lines 1 to 2:\n```\none\ntwo\n```\n\n\
         Problems that the editor shows:\n```\na.rs:3: error: no such word (checker)\n```\n\n\
         Symbol two:\n```\ntwo in a.rs, lines 2 to 2\ntwo\n```"
    );
    stage.editor.end(&prompt);
}

#[test]
fn an_editor_that_does_not_know_the_methods_is_not_asked() {
    let setup = Setup {
        without: vec!["undine/selection", "undine/diagnostics", "undine/symbols"],
        ..Setup::agent()
    };
    let stage = Stage::with(setup, FILES, "");
    let sent = sent(&stage, "@selection @symbol:x");
    assert_eq!(
        sent,
        "@selection @symbol:x\n\n@selection: nothing is selected in the editor"
    );
}

#[test]
fn prompts_are_sent_in_the_order_they_came_and_can_be_cancelled_while_they_wait() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    let first = stage.editor.prompt(&session, "first @selection");
    let second = stage.editor.prompt(&session, "second");
    let asking = stage.editor.expect::<Selection>();
    stage.editor.round_trip();
    stage.model.assert_not_asked();
    stage.editor.cancel(&session);
    stage.editor.end(&first);
    stage.editor.end(&second);
    stage.editor.reply(&asking, &SelectionResult::default());
    stage.editor.round_trip();
    stage.model.assert_not_asked();
    assert_eq!(sent_in(&stage, &session, "third"), "third");
}

fn git(stage: &Stage, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "commit.gpgsign=false",
    ]);
    let done = git
        .args(arguments)
        .current_dir(stage.workspace.root())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn the_diff_has_what_changed_and_names_what_is_new_and_runs_no_program_of_the_repository() {
    let stage = Stage::new(FILES);
    git(&stage, &["init", "-q"]);
    git(&stage, &["add", "a.rs"]);
    git(&stage, &["commit", "-qm", "first"]);
    stage.workspace.write("a.rs", "one\n2\nthree\n");
    stage
        .workspace
        .write(".gitattributes", "*.rs filter=bad diff=bad\n");
    for (key, program) in [
        ("filter.bad.clean", "touch ran; cat"),
        ("filter.bad.required", "true"),
        ("diff.bad.textconv", "touch ran; cat"),
        ("diff.bad.command", "touch ran"),
        ("core.fsmonitor", "touch ran"),
    ] {
        git(&stage, &["config", key, program]);
    }
    let sent = sent(&stage, "Look over @diff");
    assert!(sent.contains("-two\n+2\n"), "{sent}");
    assert!(
        sent.contains("New files, not in git yet:") && sent.contains("my notes.md"),
        "{sent}"
    );
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn what_a_command_file_mentions_is_not_read_but_what_the_person_adds_is() {
    let files = format!("{FILES}//- /.undine/commands/go.md\nSee @src/b.rs and $ARGUMENTS\n");
    let stage = Stage::new(&files);
    assert_eq!(
        sent(&stage, "/go @a.rs:1"),
        "See @src/b.rs and @a.rs:1\n\na.rs, lines 1 to 1:\n```\none\n```"
    );
}
