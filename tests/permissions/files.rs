//! `permissions.toml` itself: edits by hand count, and nobody but the person makes them.

use super::{FILES, asked, begin, change, file, rules, run, unasked, write};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const EDITS: &str = "[[allow]]\nedit = true\n";

/// Writes the file as a person would.
fn by_hand(stage: &Stage, text: &str) {
    fs::write(file(stage), text).unwrap();
    fs::set_permissions(file(stage), PermissionsExt::from_mode(0o644)).unwrap();
}

/// The next message to the person.
#[track_caller]
fn message(stage: &Stage) -> String {
    let shown = stage.editor.expect_raw("window/showMessage");
    shown["params"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn an_edit_by_hand_counts_for_the_next_call_of_a_running_session() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    asked(&stage, &session, change(), "once");
    by_hand(&stage, EDITS);
    unasked(&stage, &session, change());
    let root = stage.workspace.root().display().to_string();
    let command = format!("[[allow]]\nrun = \"true   >>   'ran'\"\nfolder = '{root}'\n");
    by_hand(&stage, &command);
    asked(&stage, &session, change(), "no");
    unasked(&stage, &session, run("true >> ran"));
    fs::remove_file(file(&stage)).unwrap();
    asked(&stage, &session, run("true >> ran"), "no");
}

#[test]
fn an_answer_that_is_deleted_by_hand_ends_where_it_was_given_too() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    asked(&stage, &session, change(), "always");
    unasked(&stage, &session, change());
    by_hand(&stage, "# nothing\n");
    asked(&stage, &session, change(), "no");
    // And it can be given again.
    asked(&stage, &session, change(), "always");
    unasked(&stage, &session, change());
    assert!(
        fs::read_to_string(file(&stage))
            .unwrap()
            .starts_with("# nothing\n\n[[allow]]\n")
    );
}

#[test]
fn what_cannot_be_kept_counts_for_the_session_and_that_is_said() {
    let mut stage = Stage::new(FILES);
    fs::create_dir(file(&stage)).unwrap();
    let session = stage.editor.new_session();
    assert!(message(&stage).contains("No answer in"));
    asked(&stage, &session, change(), "always");
    let said = message(&stage);
    assert!(said.contains("counts for this session only"), "{said}");
    assert!(said.contains(file(&stage).to_str().unwrap()), "{said}");
    unasked(&stage, &session, change());
    let other = stage.editor.new_session();
    asked(&stage, &other, change(), "no");
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    message(&stage);
    unasked(&stage, &session, change());
}

#[test]
fn a_command_with_a_secret_is_not_written_down() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    let line = "curl -H 'Authorization: Bearer sk-ant-REDACTED' file:///dev/null; true";
    asked(&stage, &session, run(line), "always");
    let said = message(&stage);
    assert!(said.contains("holds a secret"), "{said}");
    assert!(!file(&stage).exists());
    unasked(&stage, &session, run(line));
    assert!(!rules(&stage, &session).rules[0].text.contains("sk-ant"));
}

#[test]
fn in_a_file_that_is_broken_nothing_counts_and_the_line_is_named_once() {
    for (text, why) in [
        (format!("{EDITS}\n[[allow\n"), "line 4"),
        (format!("{EDITS}edit = true\n"), "line 3"),
        ("allow = 'all'\n".to_owned(), "line 1"),
    ] {
        let stage = Stage::new(FILES);
        by_hand(&stage, &text);
        let session = stage.editor.new_session();
        let said = message(&stage);
        assert!(
            said.contains(why) && said.contains("permissions.toml"),
            "{said}"
        );
        asked(&stage, &session, change(), "always");
        assert!(message(&stage).contains("counts for this session only"));
        unasked(&stage, &session, change());
        stage.editor.round_trip();
        stage.editor.assert_none("window/showMessage");
        assert_eq!(fs::read_to_string(file(&stage)).unwrap(), text);
    }
}

#[test]
fn an_entry_that_means_nothing_is_named_and_the_rest_counts() {
    let stage = Stage::new(FILES);
    by_hand(&stage, &format!("[[allow]]\nrun = 'rm'\n\n{EDITS}"));
    let session = stage.editor.new_session();
    let said = message(&stage);
    assert!(
        said.contains("line 1") && said.contains("`folder` is missing"),
        "{said}"
    );
    unasked(&stage, &session, change());
    asked(&stage, &session, run("rm a.txt"), "no");
}

#[test]
fn a_file_that_others_can_write_does_not_count() {
    let stage = Stage::new(FILES);
    by_hand(&stage, EDITS);
    fs::set_permissions(file(&stage), PermissionsExt::from_mode(0o666)).unwrap();
    let session = stage.editor.new_session();
    let said = message(&stage);
    assert!(said.contains("chmod 600"), "{said}");
    asked(&stage, &session, change(), "no");
}

#[test]
fn a_repository_that_brings_its_own_file_widens_nothing() {
    for place in [
        "permissions.toml",
        ".undine/permissions.toml",
        ".undine/config/permissions.toml",
        ".config/undine/permissions.toml",
        "config/permissions.toml",
    ] {
        let stage = Stage::new(FILES);
        stage.workspace.write(place, EDITS);
        let folder = place.rsplit_once('/').map_or(".", |it| it.0);
        for name in [".env", ".envrc", ".undine/.env"] {
            let text = format!("UNDINE_CONFIG_DIR={folder}\n");
            stage.workspace.write(name, text);
        }
        let session = stage.editor.new_session();
        asked(&stage, &session, change(), "no");
        assert_eq!(rules(&stage, &session).rules, [], "{place}");
    }
}

#[test]
fn a_link_to_a_file_of_the_project_does_not_count() {
    let stage = Stage::new(FILES);
    stage.workspace.write("mine.toml", EDITS);
    let mine = stage.workspace.path("mine.toml");
    fs::set_permissions(&mine, PermissionsExt::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(mine, file(&stage)).unwrap();
    let session = stage.editor.new_session();
    let said = message(&stage);
    assert!(said.contains("it is a link to"), "{said}");
    asked(&stage, &session, change(), "no");
}

#[test]
fn no_tool_writes_the_file_in_any_mode() {
    for mode in ["ask", "full_access"] {
        for is_there in [true, false] {
            let stage = Stage::with(
                Setup::agent(),
                FILES,
                &format!("[safety]\nmode = \"{mode}\"\n"),
            );
            if is_there {
                by_hand(&stage, "# mine\n");
            }
            let path = file(&stage).display().to_string();
            let link = stage.workspace.path("link.toml");
            std::os::unix::fs::symlink(file(&stage), &link).unwrap();
            let patch = format!(
                "*** Begin Patch\n*** Add File: {path}\n+[[allow]]\n+edit = true\n*** End Patch\n"
            );
            let update = format!(
                "*** Begin Patch\n*** Update File: {path}\n@@\n-# mine\n+x\n*** End Patch\n"
            );
            let gone = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n");
            let moved = format!(
                "*** Begin Patch\n*** Update File: a.txt\n*** Move to: {path}\n@@\n-alpha\n+x\n*** End Patch\n"
            );
            let edit = |path: &str| json!({"path": path, "target_content": "# mine", "replacement_content": "x"});
            let calls = [
                write(&path, EDITS),
                write("link.toml", EDITS),
                ("edit_file", edit(&path)),
                ("edit_file", edit("link.toml")),
                ("delete_file", json!({"path": path})),
                ("create_directory", json!({"path": path})),
                ("apply_patch", json!({"patch": patch})),
                ("apply_patch", json!({"patch": update})),
                ("apply_patch", json!({"patch": gone})),
                ("apply_patch", json!({"patch": moved})),
            ];
            let (_, prompt, mut turn) = stage.ask("go");
            for (tool, arguments) in calls {
                turn.call(tool, arguments);
            }
            turn.end();
            let mut turn = stage.model.next();
            for (at, result) in turn.results().iter().enumerate() {
                let is_refused = result.starts_with("Denied: ") || !is_there;
                assert!(is_refused, "{mode} {at}: {result}");
            }
            turn.say("ok");
            turn.end();
            stage.editor.end(&prompt);
            let text = fs::read_to_string(file(&stage)).ok();
            assert_eq!(text.as_deref(), is_there.then_some("# mine\n"), "{mode}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_confined_command_does_not_write_the_file() {
    if !crate::sandbox::is_held(3) {
        return;
    }
    let confined = "[safety]\nmode = \"full_access\"\nfilesystem = \"project\"\n";
    let stage = Stage::with(Setup::agent(), FILES, confined);
    by_hand(&stage, "# mine\n");
    let path = file(&stage).display().to_string();
    stage.workspace.write("new.toml", EDITS);
    let session = stage.editor.new_session();
    // One that names the file is refused before it runs; a script hides the name.
    asked_nothing_and_denied(&stage, &session, &format!("echo x >> {path}"));
    for line in [
        format!("echo '{EDITS}' >> {path}"),
        format!("cp new.toml {path}"),
        format!("mv new.toml {path}"),
        format!("ln {path} hard && echo x >> hard"),
        format!("ln -sf \"$PWD/new.toml\" {path}"),
        format!("rm -f {path}"),
        format!("cd {path}/.. && mv ../config ../gone"),
    ] {
        stage.workspace.write("w.sh", &line);
        unasked(&stage, &session, run("sh ./w.sh"));
        let text = fs::read_to_string(file(&stage)).unwrap();
        assert_eq!(text, "# mine\n", "{line}");
    }
}

#[cfg(target_os = "linux")]
#[track_caller]
fn asked_nothing_and_denied(stage: &Stage, session: &SessionId, line: &str) {
    let prompt = begin(stage, session, run(line));
    let result = stage.result(&prompt);
    assert!(result.starts_with("Denied: "), "{result}");
}
