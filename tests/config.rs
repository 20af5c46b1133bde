//! The user decides what may be done; what can come with a repository may only make it stricter.

pub mod command_line;
mod doctor;
mod repository;

use crate::support::editor::{Editor, Setup};
use crate::support::model::Model;
use crate::support::stage::{Stage, config_for};
use crate::support::workspace::Workspace;
use protocol::acp::StopReason;
use serde_json::{Value, json};

const GIT: &str = "//- /.git/HEAD\nref: refs/heads/main\n";

/// Whether a message tells the person something about this.
fn tells<'a>(what: &'a str) -> impl Fn(&Value) -> bool + 'a {
    move |it| {
        let shown = it["method"] == "window/showMessage" || it["method"] == "window/logMessage";
        shown
            && it["params"]["message"]
                .as_str()
                .is_some_and(|it| it.contains(what))
    }
}

#[track_caller]
fn assert_asks(stage: &Stage) {
    let (_, prompt) = stage.call("execute_command", json!({"command": "touch ran"}));
    stage.editor.choose(&stage.editor.question(), "no");
    stage.result(&prompt);
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn bug_098_a_projects_file_cannot_loosen_the_mode_or_move_the_provider_and_says_so_once() {
    let elsewhere = Model::start();
    let files = format!(
        "{GIT}//- /.undine/config.toml\n[safety]\nmode = \"full_access\"\n[providers.scripted]\nbase_url = \"{}\"\n",
        elsewhere.url()
    );
    let stage = Stage::new(&files);
    stage
        .editor
        .take("the word on safety.mode", tells("safety.mode"));
    // Asked, by the user's model; twice, to see that nothing is said again.
    assert_asks(&stage);
    assert_asks(&stage);
    stage.editor.round_trip();
    assert_eq!(stage.editor.count(tells("safety.mode")), 0);
    elsewhere.assert_not_asked();
    // The other option's word may be in a message of its own.
    stage.editor.forget(tells("providers"));
}

#[test]
fn a_projects_file_may_name_the_model_and_make_the_mode_stricter() {
    let files = format!(
        "{GIT}//- /.undine/config.toml\n[default_model]\nname = \"scripted-2\"\n[safety]\nmode = \"read_only\"\n"
    );
    let stage = Stage::with(Setup::agent(), &files, "[safety]\nmode = \"full_access\"\n");
    let (_, prompt, mut asked) = stage.ask("go");
    stage.editor.take(
        "what the project decides",
        tells("The project's .undine/config.toml sets default_model.name, safety.mode."),
    );
    assert_eq!(asked.body["model"], "scripted-2");
    asked.call("execute_command", json!({"command": "touch ran"}));
    asked.end();
    assert!(stage.result(&prompt).contains("read_only"));
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn the_users_file_may_loosen_the_mode() {
    let stage = Stage::with(Setup::agent(), "", "[safety]\nmode = \"full_access\"\n");
    let (_, prompt) = stage.call("execute_command", json!({"command": "touch ran"}));
    stage.result(&prompt);
    assert!(stage.workspace.exists("ran"));
}

#[test]
fn the_mode_is_ask_when_nobody_says_anything() {
    let stage = Stage::new("");
    assert_asks(&stage);
}

#[test]
fn the_editors_settings_may_tighten_the_mode() {
    let setup = Setup {
        options: json!({"safety": {"mode": "read_only"}}),
        ..Setup::agent()
    };
    let stage = Stage::with(setup, "", "[safety]\nmode = \"full_access\"\n");
    let (_, prompt) = stage.call("execute_command", json!({"command": "touch ran"}));
    assert!(stage.result(&prompt).contains("read_only"));
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn the_editors_settings_may_not_loosen_the_mode() {
    let setup = Setup {
        options: json!({"safety": {"mode": "full_access"}}),
        ..Setup::agent()
    };
    let stage = Stage::with(setup, "", "");
    stage
        .editor
        .take("the word on safety.mode", tells("safety.mode"));
    assert_asks(&stage);
}

#[test]
fn settings_that_change_later_count_for_the_next_session() {
    let stage = Stage::with(Setup::agent(), "", "[safety]\nmode = \"full_access\"\n");
    stage.editor.raw_notify(
        "workspace/didChangeConfiguration",
        json!({"settings": {"safety": {"mode": "read_only"}}}),
    );
    let (_, prompt) = stage.call("execute_command", json!({"command": "touch ran"}));
    assert!(stage.result(&prompt).contains("read_only"));
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn settings_that_say_nothing_leave_what_initialize_said() {
    let options = json!({"safety": {"mode": "read_only"}});
    for settings in [Value::Null, json!({}), json!([]), json!({"undine": {}})] {
        let setup = Setup {
            options: options.clone(),
            ..Setup::agent()
        };
        let stage = Stage::with(setup, "", "[safety]\nmode = \"full_access\"\n");
        stage.editor.raw_notify(
            "workspace/didChangeConfiguration",
            json!({"settings": settings}),
        );
        let (_, prompt) = stage.call("execute_command", json!({"command": "touch ran"}));
        assert!(stage.result(&prompt).contains("read_only"), "{settings}");
        assert!(!stage.workspace.exists("ran"));
    }
}

#[test]
fn an_unknown_option_is_named_and_the_rest_counts() {
    let stage = Stage::with(Setup::agent(), "", "[safety]\nmood = \"full_access\"\n");
    stage
        .editor
        .take("the word on safety.mood", tells("safety.mood"));
    assert_asks(&stage);
}

#[test]
fn a_malformed_file_is_named_with_its_line_and_the_server_lives_on() {
    let workspace = Workspace::new("");
    workspace.configure("[safety]\nmode = \"full_access\nx = 1\n");
    let editor = Editor::start(&Setup::agent(), &workspace);
    let said = editor.take("the word on config.toml", tells("config.toml"));
    let said = said["params"]["message"].as_str().unwrap();
    assert!(said.contains("line 2"), "{said}");
    editor.round_trip();
}

#[test]
fn null_and_an_empty_array_are_no_settings() {
    for options in [Value::Null, json!([]), json!({})] {
        let stage = Stage::with(
            Setup {
                options,
                ..Setup::agent()
            },
            "",
            "",
        );
        let (_, prompt, mut asked) = stage.ask("hello");
        asked.say("hi");
        asked.end();
        assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    }
}

#[test]
fn the_temperature_and_the_most_tokens_are_sent() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    let config = config_for(&model.url()).replace(
        "name = \"scripted-1\"",
        "name = \"s\"\ntemperature = 0.25\nmax_tokens = 99",
    );
    workspace.configure(&config);
    let editor = Editor::start(&Setup::agent(), &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    let mut asked = model.next();
    assert_eq!(
        (&asked.body["temperature"], &asked.body["max_tokens"]),
        (&json!(0.25), &json!(99))
    );
    asked.say("x");
    asked.end();
    editor.end(&prompt);
}

#[test]
fn a_provider_without_encryption_is_refused_unless_it_is_on_this_machine() {
    let workspace = Workspace::new("");
    workspace.configure(&config_for("http://192.0.2.1/v1"));
    let mut editor = Editor::start(&Setup::agent(), &workspace);
    editor.ignore("window/showMessage");
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    let error = editor.end(&prompt).end.unwrap_err();
    assert!(error.message.contains("https"), "{error:?}");
}

#[test]
fn a_file_full_of_problems_is_told_of_in_few_words() {
    let many: String = (0..5_000).map(|it| format!("x{it} = 1\n")).collect();
    let files = format!("{GIT}//- /.undine/config.toml\n{many}");
    let stage = Stage::new(&files);
    let (_, prompt) = stage.call("read_file", json!({"path": ".git/HEAD"}));
    stage.result(&prompt);
    stage
        .editor
        .take("the word on the rest", tells("4990 more such problems"));
    let options = tells("unknown option");
    assert_eq!(stage.editor.count(&options), 10);
    stage.editor.forget(&options);
}

#[test]
fn what_is_misspelt_on_the_command_line_starts_nothing() {
    for (arguments, told) in [
        (
            &["--mode", "readonly"][..],
            "The command line has a bad value for safety.mode",
        ),
        (
            &["-c", "safety.filesytem=project"],
            "The command line has the unknown option safety.filesytem (is safety.filesystem meant?); nothing was started.",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ended = std::process::Command::new(env!("CARGO_BIN_EXE_undine"))
            .args(["run"])
            .args(arguments)
            .arg("do it")
            .env("UNDINE_CONFIG_DIR", folder.path())
            .env("UNDINE_DATA_DIR", folder.path())
            .current_dir(folder.path())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{error}");
        assert!(error.contains(told), "{error}");
    }
}
