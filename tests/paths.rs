//! What a path leads to is what is judged, shown and touched.

mod outside;

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const AUTO: &str = "[safety]\nmode = \"auto\"\n";

fn write(path: &str) -> Value {
    json!({"path": path, "content": "made\n"})
}

fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// A stage whose project has a link to a folder outside of it.
fn linked(config: &str) -> Stage {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", config);
    fs::create_dir(stage.workspace.outside("out")).unwrap();
    symlink(stage.workspace.outside("out"), stage.workspace.path("link")).unwrap();
    stage
}

/// The way back out of a folder that does not exist led past the look at where it came to.
#[test]
fn a_link_behind_a_missing_folder_leads_out_of_the_project() {
    for path in ["no/../link/x", "a.txt/../link/x"] {
        let stage = linked(AUTO);
        let (_, prompt) = stage.call("write_file", write(path));
        stage.editor.choose(&stage.editor.question(), "no");
        stage.result(&prompt);
        assert!(!stage.workspace.outside("out/x").exists(), "{path}");
    }
}

#[test]
fn settings_and_history_are_never_written_whatever_leads_there() {
    let stage = linked("[safety]\nmode = \"full_access\"\n");
    let path = |it: &str| stage.workspace.path(it);
    symlink(stage.workspace.outside("config"), path("settings")).unwrap();
    stage.workspace.write("other.toml", "");
    fs::create_dir_all(path("notes")).unwrap();
    fs::create_dir(path(".undine")).unwrap();
    symlink("../other.toml", path(".undine/config.toml")).unwrap();
    symlink("../notes", path(".undine/conversations")).unwrap();
    let (_, prompt, mut asked) = stage.ask("go");
    let paths = [
        "no/../settings/config.toml",
        "settings/more.toml",
        "other.toml",
        ".undine/config.toml",
        "notes/20300101_000000_000.jsonl",
    ];
    for path in paths {
        asked.call("write_file", write(path));
    }
    asked.end();
    let mut asked = stage.model.next();
    for result in asked.results() {
        assert!(result.starts_with("Denied: "), "{result}");
    }
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(stage.workspace.read("other.toml"), "");
}

/// A command that was allowed meanwhile can turn a folder into a link.
#[test]
fn a_link_made_while_a_question_is_open_is_asked_about_again() {
    let stage = linked("");
    let (_, prompt) = stage.call("write_file", write("sub/x"));
    let question = stage.editor.question();
    symlink(stage.workspace.outside("out"), stage.workspace.path("sub")).unwrap();
    stage.editor.choose(&question, "once");
    let again = stage.editor.question();
    let title = again.params.tool_call.fields.title.clone().unwrap();
    let real = stage.workspace.outside("out/x");
    assert_eq!(title, format!("Write {}", real.display()));
    stage.editor.choose(&again, "no");
    stage.result(&prompt);
    assert!(!real.exists());
}

#[test]
fn a_remembered_read_outside_the_project_allows_no_write_there() {
    let stage = linked("");
    fs::write(stage.workspace.outside("out/a"), "alpha\n").unwrap();
    fs::write(stage.workspace.outside("out/before"), "before\n").unwrap();
    let (_, prompt) = stage.call("read_file", json!({"path": "../out/before"}));
    stage.editor.choose(&stage.editor.question(), "session");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "../out/a"}));
    asked.call("write_file", write("../out/b"));
    asked.end();
    stage.editor.choose(&stage.editor.question(), "no");
    let mut asked = stage.model.next();
    let results = asked.results();
    assert_eq!(results[0], "alpha\n");
    assert!(results[1].contains("Denied"), "{results:?}");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert!(!stage.workspace.outside("out/b").exists());
}

/// Opening a pipe waits for its other end, and a device may have no end at all.
#[test]
fn what_is_no_file_is_not_waited_for() {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\n", AUTO);
    pipe(&stage.workspace.path("pipe"));
    symlink("/dev/zero", stage.workspace.path("zero")).unwrap();
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "pipe"}));
    asked.call("write_file", write("pipe"));
    asked.end();
    let mut asked = stage.model.next();
    for result in asked.results() {
        let why = "pipe cannot be read (it is a pipe, a device or a socket).";
        assert_eq!(result, why);
    }
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

/// A repository can bring links, and an archive pipes, where Undine itself reads.
#[test]
fn a_projects_settings_and_sessions_that_are_no_files_are_passed_over() {
    for device in [None, Some("/dev/zero")] {
        let stage = Stage::with(Setup::agent(), "//- /a.txt\n", AUTO);
        let path = |it: &str| stage.workspace.path(it);
        fs::create_dir_all(path(".undine/conversations")).unwrap();
        for hostile in [
            ".undine/config.toml",
            ".undine/conversations/20300101_000000_000.jsonl",
        ] {
            match device {
                Some(device) => symlink(device, path(hostile)).unwrap(),
                None => pipe(&path(hostile)),
            }
        }
        assert_eq!(stage.editor.sessions(), Vec::new());
        let id = "20300101_000000_000".to_owned();
        let error = stage.editor.load(&id.into()).unwrap_err();
        assert!(!error.message.is_empty());
        let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
        stage.result(&prompt);
        let told = stage.editor.take("the word on the settings", |it| {
            it["method"] == "window/showMessage"
        });
        let told = told["params"]["message"].as_str().unwrap();
        assert!(
            told.contains("it is a pipe, a device or a socket"),
            "{told}"
        );
    }
}

/// A repository could have its links filled with session logs, and a `.gitignore` for all beside them.
#[test]
fn sessions_are_not_kept_behind_a_link_of_the_project() {
    let stage = linked("");
    fs::create_dir(stage.workspace.path(".undine")).unwrap();
    let own = stage.workspace.path(".undine/conversations");
    symlink("../../out", own).unwrap();
    let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    stage.result(&prompt);
    let there = fs::read_dir(stage.workspace.outside("out")).unwrap();
    assert_eq!(there.count(), 0);
    assert_eq!(stage.editor.sessions().len(), 1);
}

#[test]
fn bug_001_a_key_in_the_home_folder_is_not_read_in_read_only() {
    let stage = Stage::with(Setup::agent(), "", "[safety]\nmode = \"read_only\"\n");
    let key = stage.workspace.outside("home").join(".ssh/id_rsa");
    fs::create_dir_all(key.parent().unwrap()).unwrap();
    fs::write(&key, "the key").unwrap();
    for path in [
        "~/.ssh/id_rsa",
        key.to_str().unwrap(),
        "../home/.ssh/id_rsa",
    ] {
        let (_, prompt) = stage.call("read_file", json!({"path": path}));
        let result = stage.result(&prompt);
        assert!(
            result.starts_with("Denied") && !result.contains("the key"),
            "{result}"
        );
    }
}

#[test]
fn bug_001_a_key_in_the_home_folder_is_asked_about_in_other_modes() {
    for config in ["", AUTO] {
        let stage = Stage::with(Setup::agent(), "", config);
        let key = stage.workspace.outside("home").join(".ssh/id_rsa");
        fs::create_dir_all(key.parent().unwrap()).unwrap();
        fs::write(&key, "the key").unwrap();
        let (_, prompt) = stage.call("read_file", json!({"path": "~/.ssh/id_rsa"}));
        stage.editor.choose(&stage.editor.question(), "no");
        assert!(!stage.result(&prompt).contains("the key"));
    }
}

/// There is no classifier yet, so the person decides.
#[test]
fn bug_002_a_file_outside_the_project_is_not_written_unasked_in_auto() {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    let path = stage.workspace.outside("x");
    let (_, prompt) = stage.call("write_file", write(path.to_str().unwrap()));
    let question = stage.editor.question();
    assert!(!path.exists());
    stage.editor.choose(&question, "no");
    assert!(stage.result(&prompt).contains("Denied"));
    assert!(!path.exists());
}
