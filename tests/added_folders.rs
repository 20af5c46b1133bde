//! Folders beside the project that the person trusts like it (spec 4.6), and those of the editor (spec 4.7).

use crate::support::editor::{Editor, Setup};
use crate::support::model::Model;
use crate::support::stage::{Stage, config_for};
use crate::support::workspace::{Workspace, uri};
use protocol::acp::{NewSessionRequest, SessionId};
use protocol::checkpoint::{ListCheckpointsParams, RestoreCheckpointParams};
use protocol::methods::{ListCheckpoints, NewSession, RestoreCheckpoint};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

const AUTO: &str = "[safety]\nmode = \"auto\"\n";

/// A stage with a folder beside its project that has a file, whose editor is made when that is there.
fn stage(config: impl Fn(&Workspace) -> String, setup: impl Fn(&Workspace) -> Setup) -> Stage {
    let mut stage = Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", "");
    stage.editor.finish();
    let shared = stage.workspace.outside("shared");
    fs::create_dir(&shared).unwrap();
    fs::write(shared.join("a"), "shared\n").unwrap();
    let all = format!(
        "{}{}",
        config_for(&stage.model.url()),
        config(&stage.workspace)
    );
    stage.workspace.configure(&all);
    stage.editor = Editor::start(&setup(&stage.workspace), &stage.workspace);
    stage
}

fn with_add_dir(config: &str) -> Stage {
    stage(
        |_| config.to_owned(),
        |it| Setup {
            arguments: vec![
                "--add-dir".into(),
                it.outside("shared").display().to_string(),
            ],
            ..Setup::agent()
        },
    )
}

fn shared(stage: &Stage, name: &str) -> PathBuf {
    stage.workspace.outside("shared").join(name)
}

#[track_caller]
fn read(stage: &Stage, session: &SessionId, path: &str) -> String {
    let prompt = stage.editor.prompt(session, "go");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": path}));
    asked.end();
    stage.result(&prompt)
}

/// Checks that the folder beside the project is read unasked.
#[track_caller]
fn assert_trusted(stage: &Stage, session: &SessionId) {
    let path = shared(stage, "a").display().to_string();
    assert_eq!(read(stage, session, &path), "shared\n");
    assert_eq!(read(stage, session, "../shared/a").lines().count(), 1);
}

#[track_caller]
fn assert_outside(stage: &Stage, session: &SessionId, path: &str) {
    let prompt = stage.editor.prompt(session, "go");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": path}));
    asked.end();
    stage.editor.choose(&stage.editor.question(), "no");
    assert!(stage.result(&prompt).contains("Denied"));
}

/// A prompt that the server answers itself.
#[track_caller]
fn say(stage: &Stage, session: &SessionId, text: &str) -> String {
    let prompt = stage.editor.prompt(session, text);
    stage.editor.end(&prompt).text()
}

#[test]
fn a_folder_of_the_command_line_is_trusted_like_the_project() {
    let stage = with_add_dir("");
    let session = stage.editor.new_session();
    assert_trusted(&stage, &session);
    let (made, more) = (shared(&stage, "made"), shared(&stage, "more"));
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    let write = |path: &PathBuf| json!({"path": path, "content": "made\n"});
    asked.call("write_file", write(&made));
    asked.end();
    // Edits of the project are asked about once, and so are its own.
    stage.editor.choose(&stage.editor.question(), "session");
    let mut asked = stage.model.next();
    asked.call("write_file", write(&more));
    asked.call(
        "write_file",
        json!({"path": "new.txt", "content": "made\n"}),
    );
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert!(made.exists() && more.exists() && stage.workspace.exists("new.txt"));
}

#[test]
fn its_files_are_put_into_checkpoints_and_given_back() {
    let stage = with_add_dir(AUTO);
    let session = stage.editor.new_session();
    let path = shared(&stage, "a");
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    let edit = json!({"path": path, "target_content": "shared", "replacement_content": "mine"});
    asked.call("edit_file", edit);
    asked.end();
    stage.result(&prompt);
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine\n");
    let session_id = session.to_string();
    let params = ListCheckpointsParams {
        session_id: session_id.clone(),
    };
    let all = stage.editor.ask::<ListCheckpoints>(params).unwrap();
    let files = serde_json::to_value(&all.checkpoints[0].files).unwrap();
    assert_eq!(files, json!([{"path": path, "existed": true}]));
    let id = all.checkpoints[0].id.clone();
    let params = RestoreCheckpointParams { session_id, id };
    stage.editor.ask::<RestoreCheckpoint>(params).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "shared\n");
}

#[test]
fn settings_and_sessions_in_it_are_never_written() {
    let stage = with_add_dir("[safety]\nmode = \"full_access\"\n");
    let session = stage.editor.new_session();
    for name in [".undine/config.toml", ".undine/conversations/x.jsonl"] {
        let prompt = stage.editor.prompt(&session, "go");
        let mut asked = stage.model.next();
        let path = shared(&stage, name);
        asked.call("write_file", json!({"path": path, "content": "x"}));
        asked.end();
        assert!(stage.result(&prompt).starts_with("Denied: "));
        assert!(!path.exists());
    }
}

#[test]
fn a_folder_of_the_command_line_that_is_none_is_found_out_at_once() {
    let workspace = Workspace::new("//- /file\n");
    for (name, why) in [
        ("missing", "No such file"),
        ("project/file", "is no folder"),
    ] {
        let path = workspace.outside(name);
        let ended = Command::new(env!("CARGO_BIN_EXE_undine"))
            .args(["lsp", "--add-dir"])
            .arg(&path)
            .env_clear()
            .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
            .env("UNDINE_DATA_DIR", workspace.outside("data"))
            .output()
            .unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(
            said.contains(path.to_str().unwrap()) && said.contains(why),
            "{said}"
        );
    }
}

#[test]
fn the_users_configuration_adds_folders() {
    let stage = stage(
        |it| {
            let shared = it.outside("shared");
            format!(
                "[workspace]\nadditional_dirs = [\"{}\"]\n",
                shared.display()
            )
        },
        |_| Setup::agent(),
    );
    let session = stage.editor.new_session();
    assert_trusted(&stage, &session);
}

#[test]
fn a_folder_of_the_configuration_that_is_none_is_a_clear_error() {
    for (folder, why) in [
        ("~/missing", "No such file"),
        ("relative", "is no whole path"),
    ] {
        let config = format!("[workspace]\nadditional_dirs = [\"{folder}\"]\n");
        let stage = stage(|_| config.clone(), |_| Setup::agent());
        let params = NewSessionRequest::new(stage.workspace.root());
        let error = stage.editor.ask::<NewSession>(params).unwrap_err();
        assert!(
            error.message.contains(why) && error.message.contains("additional_dirs"),
            "{error:?}"
        );
        // What is there already can still be seen.
        assert_eq!(stage.editor.sessions(), []);
    }
}

#[test]
fn a_repository_adds_no_folder() {
    let stage = stage(
        |it| {
            let shared = it.outside("shared");
            let toml = format!(
                "[workspace]\nadditional_dirs = [\"{}\"]\n",
                shared.display()
            );
            it.write(".undine/config.toml", toml);
            String::new()
        },
        |_| Setup::agent(),
    );
    let session = stage.editor.new_session();
    stage.editor.take("the word on it", |it| {
        it["params"]["message"]
            .as_str()
            .is_some_and(|it| it.contains("workspace.additional_dirs"))
    });
    assert_outside(&stage, &session, "../shared/a");
}

/// The editor's settings can lie in the repository.
#[test]
fn the_editors_settings_add_no_folder() {
    let stage = stage(
        |_| String::new(),
        |it| Setup {
            options: json!({"workspace": {"additional_dirs": [it.outside("shared")]}}),
            ..Setup::agent()
        },
    );
    let session = stage.editor.new_session();
    stage.editor.take("the word on it", |it| {
        it["params"]["message"]
            .as_str()
            .is_some_and(|it| it.contains("workspace.additional_dirs"))
    });
    assert_outside(&stage, &session, "../shared/a");
}

#[test]
fn a_prompt_adds_a_folder_to_its_session_and_the_model_is_told() {
    let stage = stage(|_| String::new(), |_| Setup::agent());
    let session = stage.editor.new_session();
    assert!(say(&stage, &session, "/add-dir").contains("no folder beside"));
    assert_outside(&stage, &session, "../shared/a");
    let real = stage.workspace.outside("shared").display().to_string();
    let said = say(&stage, &session, "/add-dir ../shared");
    assert!(said.contains(&real), "{said}");
    assert_eq!(say(&stage, &session, "/add-dir"), format!("- {real}"));
    assert_trusted(&stage, &session);
    let prompt = stage.editor.prompt(&session, "hello");
    let mut asked = stage.model.next();
    let system = asked.messages()[0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains(&real), "{system}");
    asked.say("hi");
    asked.end();
    stage.editor.end(&prompt);
    let other = stage.editor.new_session();
    assert_outside(&stage, &other, "../shared/a");
}

#[test]
fn a_prompt_that_names_no_folder_adds_nothing() {
    let stage = stage(|_| String::new(), |_| Setup::agent());
    let session = stage.editor.new_session();
    let said = say(&stage, &session, "/add-dir ../shared ../missing");
    assert!(
        said.contains("missing") && said.contains("cannot be opened"),
        "{said}"
    );
    assert_outside(&stage, &session, "../shared/a");
}

#[test]
fn a_session_is_opened_with_more_folders() {
    let stage = stage(|_| String::new(), |_| Setup::agent());
    let with = |folder: PathBuf| {
        NewSessionRequest::new(stage.workspace.root()).additional_directories(vec![folder])
    };
    let opened = stage
        .editor
        .ask::<NewSession>(with(stage.workspace.outside("shared")));
    assert_trusted(&stage, &opened.unwrap().session_id);
    let missing = with(stage.workspace.outside("missing"));
    let error = stage.editor.ask::<NewSession>(missing).unwrap_err();
    assert!(error.message.contains("missing"), "{error:?}");
}

/// An added folder is trusted by its own name, not by one that the project's files give it.
#[test]
fn a_link_of_the_project_to_an_added_folder_is_outside() {
    let stage = with_add_dir(AUTO);
    symlink(
        stage.workspace.outside("shared"),
        stage.workspace.path("link"),
    )
    .unwrap();
    let session = stage.editor.new_session();
    assert_outside(&stage, &session, "link/a");
    assert_trusted(&stage, &session);
}

#[test]
fn each_folder_of_the_editor_is_a_root_as_long_as_it_is_open() {
    let stage = stage(
        |_| String::new(),
        |it| Setup {
            also_open: vec![it.outside("shared")],
            ..Setup::agent()
        },
    );
    let session = stage.editor.new_session();
    assert_trusted(&stage, &session);
    let folder = json!({"uri": uri(&stage.workspace.outside("shared")), "name": "also"});
    let change = |added: Value, removed: Value| {
        stage.editor.raw_notify(
            "workspace/didChangeWorkspaceFolders",
            json!({"event": {"added": added, "removed": removed}}),
        );
    };
    change(json!([]), json!([folder]));
    assert_outside(&stage, &session, "../shared/a");
    change(json!([folder]), json!([]));
    assert_trusted(&stage, &session);
}

/// A session elsewhere was not opened for what the editor shows.
#[test]
fn a_session_in_another_folder_has_not_the_editors() {
    let stage = stage(|_| String::new(), |_| Setup::agent());
    let elsewhere = NewSessionRequest::new(stage.workspace.outside("shared"));
    let opened = stage.editor.ask::<NewSession>(elsewhere).unwrap();
    assert_outside(&stage, &opened.session_id, "../project/a.txt");
}

#[test]
fn a_run_without_an_editor_takes_folders_too() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    workspace.configure(&config_for(&model.url()));
    fs::create_dir(workspace.outside("shared")).unwrap();
    fs::write(workspace.outside("shared/a"), "shared\n").unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_undine"))
        .args(["run", "--add-dir", "../shared", "go"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", workspace.outside("home"))
        .env("TMPDIR", workspace.outside("tmp"))
        .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
        .env("UNDINE_DATA_DIR", workspace.outside("data"))
        .env("UNDINE_NO_KEYRING", "1")
        .current_dir(workspace.root())
        .spawn()
        .unwrap();
    let mut asked = model.next();
    asked.call("read_file", json!({"path": "../shared/a"}));
    asked.end();
    let mut asked = model.next();
    assert_eq!(asked.result(), "shared\n");
    asked.say("done");
    asked.end();
    assert!(run.wait().unwrap().success());
    assert_eq!(
        fs::read_dir(workspace.outside("tmp")).unwrap().count(),
        0,
        "the scratchpad stays"
    );
}
