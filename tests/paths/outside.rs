//! Paths that lead out of the project: where they point, and what each mode makes of them.

use super::AUTO;
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::{Value, json};
use std::fs;

const FULL: &str = "[safety]\nmode = \"full_access\"\n";
const READ_ONLY: &str = "[safety]\nmode = \"read_only\"\n";

/// A stage with two folders beside its project.
fn stage(config: &str) -> Stage {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", config);
    for name in ["x", "y"] {
        fs::create_dir(stage.workspace.outside(name)).unwrap();
        for file in ["a", "b"] {
            let path = stage.workspace.outside(name).join(file);
            fs::write(path, format!("{name}{file}\n")).unwrap();
        }
    }
    stage
}

/// A read, a write and a command outside of the project.
fn calls(stage: &Stage) -> [(&'static str, Value); 3] {
    let at = |it: &str| stage.workspace.outside(it);
    [
        ("read_file", json!({"path": at("x/a")})),
        ("write_file", json!({"path": at("x/new"), "content": "n\n"})),
        (
            "execute_command",
            json!({"command": "touch ran", "working_dir": at("x")}),
        ),
    ]
}

#[test]
fn r_102_a_path_out_of_the_project_leads_where_it_points() {
    let stage = stage(FULL);
    let whole = stage.workspace.outside("x/a").display().to_string();
    for path in ["../x/a", "../y/../x/a", "./../x/./a", &whole] {
        let (_, prompt) = stage.call("read_file", json!({"path": path}));
        assert_eq!(stage.result(&prompt), "xa\n", "{path}");
    }
}

#[test]
fn r_103_what_is_outside_is_asked_about_by_its_whole_path() {
    let stage = stage(AUTO);
    let whole = stage.workspace.outside("x").display().to_string();
    for (tool, arguments) in calls(&stage) {
        let (_, prompt) = stage.call(tool, arguments);
        let question = stage.editor.question();
        let shown = serde_json::to_string(&question.params).unwrap();
        assert!(shown.contains(&whole), "{shown}");
        stage.editor.choose(&question, "no");
        stage.result(&prompt);
    }
    assert!(!stage.workspace.outside("x/new").exists());
    assert!(!stage.workspace.outside("x/ran").exists());
}

#[test]
fn r_104_read_only_denies_what_is_outside() {
    let stage = stage(READ_ONLY);
    for (tool, arguments) in calls(&stage) {
        let (_, prompt) = stage.call(tool, arguments);
        let result = stage.result(&prompt);
        assert!(
            result.starts_with("Denied") && !result.contains("xa"),
            "{result}"
        );
    }
    assert!(!stage.workspace.outside("x/new").exists());
}

#[test]
fn r_105_not_asking_again_holds_for_the_one_folder() {
    let stage = stage("");
    let (_, prompt) = stage.call("read_file", json!({"path": "../x/a"}));
    stage.editor.choose(&stage.editor.question(), "session");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "../x/b"}));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.result(), "xb\n");
    asked.call("read_file", json!({"path": "../y/a"}));
    asked.end();
    stage.editor.choose(&stage.editor.question(), "no");
    assert!(stage.result(&prompt).contains("Denied"));
}

#[test]
fn r_107_full_access_allows_what_is_outside() {
    let stage = stage(FULL);
    for (tool, arguments) in calls(&stage) {
        let (_, prompt) = stage.call(tool, arguments);
        stage.result(&prompt);
    }
    let read = |it: &str| fs::read_to_string(stage.workspace.outside(it)).unwrap();
    assert_eq!((read("x/new"), read("x/ran")), ("n\n".into(), "".into()));
}
