//! Reading, deleting and making files and folders.

#[cfg(target_os = "linux")]
mod pdf;
mod reading;

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::json;

const AUTO: &str = "[safety]\nmode = \"auto\"\n";

#[test]
fn a_file_is_deleted_when_the_person_has_agreed() {
    let stage = Stage::new("//- /a.txt\none\ntwo\n");
    let (_, prompt) = stage.call("delete_file", json!({"path": "a.txt"}));
    let question = stage.editor.question();
    let shown = serde_json::to_string(&question.params.tool_call).unwrap();
    assert!(
        shown.contains("Delete a.txt") && shown.contains("one\\ntwo"),
        "{shown}"
    );
    assert!(stage.workspace.exists("a.txt"));
    stage.editor.choose(&question, "once");
    assert_eq!(stage.result(&prompt), "Deleted a.txt (2 lines).");
    assert!(!stage.workspace.exists("a.txt"));
}

#[test]
fn a_file_that_changed_before_the_approval_of_its_deletion_is_asked_about_again() {
    let stage = Stage::new("//- /a.txt\none\n");
    let (_, prompt) = stage.call("delete_file", json!({"path": "a.txt"}));
    let question = stage.editor.question();
    stage.workspace.write("a.txt", "one\nand more\n");
    stage.editor.choose(&question, "once");
    stage.editor.choose(&stage.editor.question(), "no");
    assert!(stage.result(&prompt).contains("Denied"));
    assert_eq!(stage.workspace.read("a.txt"), "one\nand more\n");
}

#[test]
fn what_is_no_file_or_has_unsaved_work_is_not_deleted() {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\none\n//- /sub/b\nb\n", AUTO);
    std::os::unix::fs::symlink("sub/b", stage.workspace.path("link")).unwrap();
    stage.editor.open("a.txt");
    stage.editor.type_over("a.txt", "one", "two");
    let (_, prompt, mut asked) = stage.ask("go");
    for path in ["a.txt", "sub", "link", "none"] {
        asked.call("delete_file", json!({"path": path}));
    }
    asked.end();
    let mut asked = stage.model.next();
    let results = asked.results();
    let expected = [
        "has unsaved work in the editor",
        "is a folder",
        "is a link",
        "There is no file",
    ];
    for (result, expected) in results.iter().zip(expected) {
        assert!(result.contains(expected), "{results:?}");
    }
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert!(
        ["a.txt", "sub/b", "link"]
            .iter()
            .all(|it| stage.workspace.exists(it))
    );
}

#[test]
fn a_folder_is_made_with_those_above_it_and_again_is_no_error() {
    let stage = Stage::new("//- /a.txt\none\n");
    let (_, prompt) = stage.call("create_directory", json!({"path": "x/y/z"}));
    let question = stage.editor.question();
    assert!(!stage.workspace.exists("x"));
    stage.editor.choose(&question, "session");
    let mut asked = stage.model.next();
    assert_eq!(asked.result(), "Created the folder x/y/z.");
    asked.call("create_directory", json!({"path": "x/y/z"}));
    asked.call("create_directory", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    let results = asked.results();
    assert_eq!(
        results,
        [
            "The folder x/y/z exists already.",
            "a.txt is a file; choose another path."
        ]
    );
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert!(stage.workspace.path("x/y/z").is_dir());
}

#[test]
fn the_read_only_mode_deletes_and_makes_nothing() {
    let config = "[safety]\nmode = \"read_only\"\n";
    let stage = Stage::with(Setup::agent(), "//- /a.txt\none\n", config);
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("delete_file", json!({"path": "a.txt"}));
    asked.call("create_directory", json!({"path": "x"}));
    asked.end();
    let mut asked = stage.model.next();
    assert!(asked.results().iter().all(|it| it.contains("read_only")));
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert!(stage.workspace.exists("a.txt") && !stage.workspace.exists("x"));
}

#[test]
fn bug_003_every_tool_that_the_model_is_told_of_can_be_called() {
    let stage = Stage::with(Setup::agent(), "", "");
    let (_, prompt, mut asked) = stage.ask("which tools are there?");
    let tools = asked.body["tools"].as_array().unwrap().clone();
    assert!(tools.len() > 7, "{tools:#?}");
    let names = tools
        .iter()
        .map(|it| it["function"]["name"].as_str().unwrap().to_owned());
    // It would have the next request be another one.
    let names: Vec<String> = names.filter(|it| it != "compact_context").collect();
    for name in &names {
        asked.call(name, json!({"no such argument": 1}));
    }
    asked.end();
    let mut asked = stage.model.next();
    let results = asked.results();
    assert_eq!(results.len(), names.len());
    for result in results {
        assert!(!result.contains("There is no tool"), "{result}");
    }
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}
