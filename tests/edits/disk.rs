//! A file that is not open is written on disk, whole or not at all.

use super::{AUTO, FILES, edit, edit_two, opened};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

#[test]
fn a_closed_file_is_written_and_keeps_its_mode_and_line_endings() {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    stage.workspace.write("run.sh", "one\r\ntwo\r\nthree");
    fs::set_permissions(
        stage.workspace.path("run.sh"),
        fs::Permissions::from_mode(0o750),
    )
    .unwrap();
    let (_, prompt) = stage.call("edit_file", edit("run.sh", "two\n", "2\n2b\n"));
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("run.sh"), "one\r\n2\r\n2b\r\nthree");
    let mode = fs::metadata(stage.workspace.path("run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o750);
    let left: Vec<String> = fs::read_dir(stage.workspace.root())
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|it| it != ".undine")
        .collect();
    assert_eq!(left, ["run.sh"], "nothing is left beside it");
    assert!(stage.editor.edits().is_empty());
}

#[test]
fn a_closed_file_is_replaced_and_never_half_written() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    // Whoever has the old file open still sees the old text: it was renamed over, not written into.
    let mut old = fs::File::open(stage.workspace.path("a.txt")).unwrap();
    let (_, prompt) = edit_two(&stage);
    stage.result(&prompt);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut old, &mut text).unwrap();
    assert_eq!(
        (text.as_str(), stage.workspace.read("a.txt").as_str()),
        ("one\ntwo\nthree\n", "one\n2\nthree\n")
    );
}

#[test]
fn a_symlink_stays_one_and_its_file_is_edited() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    std::os::unix::fs::symlink("a.txt", stage.workspace.path("link")).unwrap();
    let (_, prompt) = stage.call("edit_file", edit("link", "two", "2"));
    stage.result(&prompt);
    assert!(stage.workspace.path("link").is_symlink());
    assert_eq!(stage.workspace.read("a.txt"), "one\n2\nthree\n");
}

#[test]
fn a_new_file_is_made_with_its_folders() {
    let stage = Stage::new(FILES);
    let (_, prompt) = stage.call(
        "write_file",
        json!({"path": "src/deep/new.rs", "content": "fn new() {}\n"}),
    );
    let question = stage.editor.question();
    assert!(!stage.workspace.exists("src"));
    stage.editor.choose(&question, "once");
    let result = stage.result(&prompt);
    assert!(result.contains("src/deep/new.rs"), "{result}");
    assert_eq!(stage.workspace.read("src/deep/new.rs"), "fn new() {}\n");
}

#[test]
fn write_file_over_a_file_that_was_not_read_is_refused() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    let (_, prompt) = stage.call("write_file", json!({"path": "a.txt", "content": "gone"}));
    let result = stage.result(&prompt);
    assert!(result.contains("read it first"), "{result}");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn write_file_over_a_file_that_changed_since_it_was_read_is_refused() {
    let stage = opened();
    let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    let mut asked = stage.model.next();
    stage.editor.type_over("a.txt", "one", "1");
    asked.call("write_file", json!({"path": "a.txt", "content": "gone"}));
    asked.end();
    let result = stage.result(&prompt);
    assert!(result.contains("changed since"), "{result}");
    assert_eq!(stage.editor.buffer("a.txt").text, "1\ntwo\nthree\n");
}

#[test]
fn a_file_that_is_locked_against_writing_is_left_alone() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    let path = stage.workspace.path("a.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let (_, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.contains("a.txt is read-only"), "{result}");
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    let left = fs::read_dir(stage.workspace.root()).unwrap();
    let hidden = left.filter(|it| {
        let name = it.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".undine-")
    });
    assert_eq!(hidden.count(), 0);
}

/// Renaming over it parted them.
#[test]
fn a_file_with_two_names_keeps_both() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    let path = |it: &str| stage.workspace.path(it);
    fs::hard_link(path("a.txt"), path("b.txt")).unwrap();
    let (_, prompt) = edit_two(&stage);
    let result = stage.result(&prompt);
    assert!(result.contains("a.txt was written in place"), "{result}");
    for name in ["a.txt", "b.txt"] {
        assert_eq!(stage.workspace.read(name), "one\n2\nthree\n");
    }
    assert_eq!(fs::metadata(path("a.txt")).unwrap().nlink(), 2);
}

#[test]
fn another_name_of_the_settings_is_not_written() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    let settings = stage.workspace.outside("config/config.toml");
    let before = fs::read_to_string(&settings).unwrap();
    fs::hard_link(&settings, stage.workspace.path("b.toml")).unwrap();
    let (_, prompt) = stage.call("edit_file", edit("b.toml", "auto", "full_access"));
    let result = stage.result(&prompt);
    assert!(result.contains("settings or history"), "{result}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
}

#[test]
fn bug_006_two_writers_of_one_path_take_turns() {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    let texts = ["a", "b"].map(|it| format!("{it}\n").repeat(20_000));
    let (_, prompt, mut asked) = stage.ask("go");
    for text in &texts {
        asked.call("write_file", json!({"path": "sub/a.txt", "content": text}));
    }
    asked.end();
    let mut asked = stage.model.next();
    let results = asked.results();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    // The second is planned anew, on what the first has made: where it knows that text it says that it changed
    // it, where it does not it is refused.
    let at = |start: &str| results.iter().position(|it| it.starts_with(start));
    let first = at("Created").unwrap_or_else(|| panic!("{results:?}"));
    let winner = match at("Changed") {
        Some(second) => second,
        None => {
            assert!(
                results[1 - first].contains("was not read yet"),
                "{results:?}"
            );
            first
        }
    };
    assert!(stage.workspace.read("sub/a.txt") == texts[winner]);
}
