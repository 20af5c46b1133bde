//! A session's scratchpad: private, told to the model and its commands, written to unasked, and gone with the
//! session (spec 4.5).

use crate::support::PATIENCE;
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use protocol::checkpoint::ListCheckpointsParams;
use protocol::hunks::ListReviewParams;
use protocol::methods::{ListCheckpoints, ListReview};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

const FILES: &str = "//- /a.txt\nalpha\n";
const FULL: &str = "[safety]\nmode = \"full_access\"\n";

/// The scratchpads that there are.
fn pads(stage: &Stage) -> Vec<PathBuf> {
    let temporary = stage.workspace.outside("tmp");
    let entries = fs::read_dir(temporary).unwrap();
    let mut pads: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    pads.sort();
    pads
}

#[track_caller]
fn pad(stage: &Stage) -> PathBuf {
    let [pad] = &pads(stage)[..] else {
        panic!("{:?}", pads(stage))
    };
    pad.clone()
}

fn write(path: &Path) -> Value {
    json!({"path": path, "content": "made\n"})
}

fn run(line: &str) -> Value {
    json!({"command": line})
}

/// Lets the model call a tool in a session; answers what it is told.
#[track_caller]
fn call(stage: &Stage, session: &SessionId, tool: &str, arguments: Value) -> String {
    let prompt = stage.editor.prompt(session, "go");
    let mut asked = stage.model.next();
    asked.call(tool, arguments);
    asked.end();
    stage.result(&prompt)
}

/// As [`call`], and the person is asked and says no.
#[track_caller]
fn refused(stage: &Stage, session: &SessionId, tool: &str, arguments: Value) {
    let prompt = stage.editor.prompt(session, "go");
    let mut asked = stage.model.next();
    asked.call(tool, arguments);
    asked.end();
    stage.editor.choose(&stage.editor.question(), "no");
    assert!(stage.result(&prompt).contains("Denied"));
}

fn add_file(path: &Path) -> String {
    format!("*** Add File: {}\n+made\n", path.display())
}

fn patch(sections: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{sections}*** End Patch\n")})
}

#[track_caller]
fn checkpoints(stage: &Stage, session: &SessionId) -> Vec<Value> {
    let session_id = session.to_string();
    let listed = stage
        .editor
        .ask::<ListCheckpoints>(ListCheckpointsParams { session_id });
    let all = listed.unwrap().checkpoints.into_iter();
    all.map(|it| serde_json::to_value(it.files).unwrap())
        .collect()
}

#[test]
fn it_is_private_told_to_the_model_and_exported_to_commands() {
    let setup = Setup {
        environment: vec![("UNDINE_SCRATCHPAD", "/elsewhere".to_owned())],
        ..Setup::agent()
    };
    let stage = Stage::with(setup, FILES, FULL);
    let (_, prompt, mut asked) = stage.ask("go");
    let pad = pad(&stage);
    let mode = pad.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
    let system = asked.messages()[0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains(pad.to_str().unwrap()), "{system}");
    asked.call("execute_command", run("echo \"$UNDINE_SCRATCHPAD\""));
    asked.end();
    assert_eq!(stage.result(&prompt), format!("{}\n", pad.display()));
}

#[test]
fn what_lies_in_it_is_written_unasked_and_neither_kept_nor_reviewed() {
    let stage = Stage::with(Setup::agent(), FILES, "");
    let session = stage.editor.new_session();
    let file = pad(&stage).join("sub/a");
    let result = call(&stage, &session, "write_file", write(&file));
    assert!(result.contains("a"), "{result}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "made\n");
    let edit = json!({"path": file, "target_content": "made", "replacement_content": "remade"});
    call(&stage, &session, "edit_file", edit);
    let read = call(&stage, &session, "read_file", json!({"path": file}));
    assert_eq!(read, "remade\n");
    let review = stage
        .editor
        .ask::<ListReview>(ListReviewParams::default())
        .unwrap();
    assert_eq!(review.files, []);
    call(&stage, &session, "delete_file", json!({"path": file}));
    assert!(!file.exists());
    assert_eq!(checkpoints(&stage, &session), Vec::<Value>::new());
}

#[test]
fn read_only_writes_nothing_there_and_reads_it() {
    let stage = Stage::with(Setup::agent(), FILES, "[safety]\nmode = \"read_only\"\n");
    let session = stage.editor.new_session();
    let file = pad(&stage).join("a");
    let result = call(&stage, &session, "write_file", write(&file));
    assert!(
        result.contains("Denied") && result.contains("read_only"),
        "{result}"
    );
    let result = call(&stage, &session, "apply_patch", patch(&add_file(&file)));
    assert!(result.contains("Denied"), "{result}");
    assert!(!file.exists());
    fs::write(&file, "there\n").unwrap();
    let read = call(&stage, &session, "read_file", json!({"path": file}));
    assert_eq!(read, "there\n");
}

#[test]
fn a_patch_that_lies_in_it_whole_is_not_asked_about() {
    let stage = Stage::with(Setup::agent(), FILES, "");
    let session = stage.editor.new_session();
    let [one, two] = ["one", "two"].map(|it| pad(&stage).join(it));
    let both = patch(&format!("{}{}", add_file(&one), add_file(&two)));
    call(&stage, &session, "apply_patch", both);
    assert!(one.exists() && two.exists());
    assert_eq!(checkpoints(&stage, &session), Vec::<Value>::new());
}

#[test]
fn a_mixed_patch_is_one_question_and_its_checkpoint_holds_only_the_projects_files() {
    let stage = Stage::with(Setup::agent(), FILES, "");
    let session = stage.editor.new_session();
    let own = pad(&stage).join("own");
    let mixed = || {
        patch(&format!(
            "{}*** Update File: a.txt\n@@\n-alpha\n+beta\n",
            add_file(&own)
        ))
    };
    refused(&stage, &session, "apply_patch", mixed());
    assert!(!own.exists());
    assert_eq!(stage.workspace.read("a.txt"), "alpha\n");
    let prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    asked.call("apply_patch", mixed());
    asked.end();
    stage.editor.choose(&stage.editor.question(), "once");
    stage.result(&prompt);
    assert!(own.exists());
    assert_eq!(stage.workspace.read("a.txt"), "beta\n");
    assert_eq!(
        checkpoints(&stage, &session),
        [json!([{"path": "a.txt", "existed": true}])]
    );
}

/// One path outside makes the whole patch an outside one, also where project edits run unasked (spec 2.5).
#[test]
fn a_patch_with_one_path_outside_every_root_is_asked_about_in_auto() {
    let stage = Stage::with(Setup::agent(), FILES, "[safety]\nmode = \"auto\"\n");
    let session = stage.editor.new_session();
    let own = pad(&stage).join("own");
    let sections = [
        add_file(&own),
        add_file(Path::new("in.txt")),
        add_file(&stage.workspace.outside("out")),
    ];
    refused(&stage, &session, "apply_patch", patch(&sections.concat()));
    assert!(!own.exists() && !stage.workspace.exists("in.txt"));
}

/// A command made a link, and what was then written over it was asked about no more.
#[test]
fn bug_008_a_link_in_the_scratchpad_that_leads_out_is_refused() {
    let stage = Stage::with(Setup::agent(), FILES, FULL);
    let session = stage.editor.new_session();
    let line = "ln -s \"$PWD\" \"$UNDINE_SCRATCHPAD/link\"; ln -s \"$PWD/a.txt\" \"$UNDINE_SCRATCHPAD/file\"";
    call(&stage, &session, "execute_command", run(line));
    let pad = pad(&stage);
    for mode in ["auto", "ask", "full_access"] {
        stage.editor.set_mode(&session, mode);
        for path in ["link/a.txt", "link/new.txt", "file", "sub/../link/new.txt"] {
            let path = pad.join(path);
            let result = call(&stage, &session, "write_file", write(&path));
            assert!(result.contains("out of the scratchpad"), "{result}");
            let result = call(&stage, &session, "apply_patch", patch(&add_file(&path)));
            assert!(result.contains("out of the scratchpad"), "{result}");
        }
        let result = call(
            &stage,
            &session,
            "read_file",
            json!({"path": pad.join("file")}),
        );
        assert!(result.contains("out of the scratchpad"), "{result}");
    }
    assert_eq!(stage.workspace.read("a.txt"), "alpha\n");
    assert!(!stage.workspace.exists("new.txt"));
}

/// A link by another means: a second name of the same file.
#[test]
fn bug_008_a_second_name_in_the_scratchpad_is_parted_from_the_projects_file() {
    let stage = Stage::with(Setup::agent(), FILES, FULL);
    let session = stage.editor.new_session();
    let line = "ln a.txt \"$UNDINE_SCRATCHPAD/file\"";
    call(&stage, &session, "execute_command", run(line));
    stage.editor.set_mode(&session, "ask");
    let file = pad(&stage).join("file");
    let edit = json!({"path": file, "target_content": "alpha", "replacement_content": "omega"});
    call(&stage, &session, "edit_file", edit);
    assert_eq!(fs::read_to_string(&file).unwrap(), "omega\n");
    assert_eq!(stage.workspace.read("a.txt"), "alpha\n");
}

#[test]
fn a_relative_path_and_a_link_of_the_project_never_land_in_it() {
    let stage = Stage::with(Setup::agent(), FILES, "[safety]\nmode = \"auto\"\n");
    let session = stage.editor.new_session();
    let pad = pad(&stage);
    symlink(&pad, stage.workspace.path("link")).unwrap();
    let name = pad.file_name().unwrap().to_str().unwrap();
    for path in [format!("../tmp/{name}/a"), "link/a".to_owned()] {
        refused(&stage, &session, "write_file", write(Path::new(&path)));
    }
    assert!(!pad.join("a").exists());
}

#[test]
fn each_session_has_its_own_and_the_others_is_outside() {
    let stage = Stage::with(Setup::agent(), FILES, "");
    let first = stage.editor.new_session();
    let pad = pad(&stage);
    let second = stage.editor.new_session();
    assert_eq!(pads(&stage).len(), 2);
    refused(&stage, &second, "write_file", write(&pad.join("a")));
    call(&stage, &first, "write_file", write(&pad.join("a")));
}

#[test]
fn it_is_removed_when_the_server_ends_also_while_a_command_writes_there() {
    let mut stage = Stage::with(Setup::agent(), FILES, FULL);
    let session = stage.editor.new_session();
    let pad = pad(&stage);
    fs::create_dir(pad.join("locked")).unwrap();
    fs::write(pad.join("locked/file"), "").unwrap();
    fs::set_permissions(pad.join("locked"), fs::Permissions::from_mode(0o500)).unwrap();
    stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    let line = "echo begun; while n=x$n; do : >\"$UNDINE_SCRATCHPAD/$n\" || n=; done 2>/dev/null";
    asked.call("execute_command", run(line));
    asked.end();
    stage.editor.updates_until("the command's words", |it| {
        crate::support::editor::text_of_call(it).contains("begun")
    });
    stage.editor.hang_up();
    stage.editor.wait_for_exit();
    stage
        .editor
        .forget(|it| it["method"] == "session/update" || it.get("method").is_none());
    assert_eq!(pads(&stage), Vec::<PathBuf>::new());
}

#[test]
fn what_a_killed_server_left_is_swept_after_days_by_the_next() {
    let mut stage = Stage::with(Setup::agent(), FILES, "[limits]\nscratchpad_days = 3\n");
    stage.editor.new_session();
    stage.editor.new_session();
    stage.editor.kill();
    let [old, young] = &pads(&stage)[..] else {
        panic!("{:?}", pads(&stage))
    };
    fs::write(old.join("left"), "").unwrap();
    // Not ours to remove, though named alike.
    let temporary = stage.workspace.outside("tmp");
    let link = temporary.join("undine-scratchpad-0123456789abcdef");
    symlink(stage.workspace.root(), &link).unwrap();
    let other = temporary.join("undine-scratchpad-notes");
    fs::create_dir(&other).unwrap();
    let before = SystemTime::now() - Duration::from_secs(4 * 24 * 60 * 60);
    for it in [old, &other, &stage.workspace.root()] {
        File::open(it).unwrap().set_modified(before).unwrap();
    }
    stage.restart();
    let until = Instant::now() + PATIENCE;
    while old.exists() {
        assert!(Instant::now() < until, "the old scratchpad stays");
        std::thread::yield_now();
    }
    assert!(young.exists() && other.exists() && link.is_symlink());
    assert_eq!(stage.workspace.read("a.txt"), "alpha\n");
    // Of another session, it is outside for this one.
    let session = stage.editor.new_session();
    refused(&stage, &session, "write_file", write(&young.join("a")));
}

#[test]
fn without_a_place_for_it_the_person_is_told_and_the_session_goes_on() {
    let setup = Setup {
        environment: vec![
            ("TMPDIR", "/nowhere/at/all".to_owned()),
            ("UNDINE_SCRATCHPAD", "/elsewhere".to_owned()),
        ],
        ..Setup::agent()
    };
    let stage = Stage::with(setup, FILES, FULL);
    let session = stage.editor.new_session();
    let said = stage.editor.expect_raw("window/showMessage");
    let said = said["params"]["message"].as_str().unwrap();
    assert!(said.contains("/nowhere/at/all"), "{said}");
    let result = call(
        &stage,
        &session,
        "execute_command",
        run("echo [$UNDINE_SCRATCHPAD]"),
    );
    assert_eq!(result, "[]\n");
}
