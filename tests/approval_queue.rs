//! What a run with nobody to answer keeps for later: done once, by the person's word, and only what was shown.

mod chat;
mod deaths;
mod headless;
mod running;

use crate::support::PATIENCE;
use crate::support::editor::{Editor, Setup};
use crate::support::model::{Asked, Model};
use crate::support::stage::{Stage, config_for};
use crate::support::workspace::Workspace;
use protocol::acp::SessionId;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

const FILES: &str = "//- /a.txt\nalpha\nbeta\n//- /b.txt\nbeta\n";

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "target_content": old, "replacement_content": new})
}

fn run(line: &str) -> Value {
    json!({"command": line})
}

/// A project whose agent nobody watches.
struct Alone {
    model: Model,
    workspace: Workspace,
}

impl Alone {
    fn new() -> Self {
        let (model, workspace) = (Model::start(), Workspace::new(FILES));
        let alone = Self { model, workspace };
        alone.configure("");
        alone
    }

    fn configure(&self, more: &str) {
        let model = config_for(&self.model.url());
        self.workspace.configure(&format!("{model}{more}"));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undine"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.workspace.outside("home"))
            .env("UNDINE_CONFIG_DIR", self.workspace.outside("config"))
            .env("UNDINE_DATA_DIR", self.workspace.outside("data"))
            .env("TMPDIR", self.workspace.outside("tmp"))
            .env("UNDINE_NO_KEYRING", "1")
            .current_dir(self.workspace.root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Runs a command to its end.
    fn undine(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.start(arguments))
    }

    /// A run in which the model makes these calls at once; answers what it was told of each.
    #[track_caller]
    fn run(&self, calls: &[(&str, Value)]) -> Vec<String> {
        self.run_after(&[], calls)
    }

    /// As [`run`](Self::run), after other calls.
    #[track_caller]
    fn run_after(&self, before: &[(&str, Value)], calls: &[(&str, Value)]) -> Vec<String> {
        let run = self.start(&["run", "go"]);
        let mut asked = self.model.next();
        assert_eq!(asked.last_prompt(), "go");
        if !before.is_empty() {
            call(asked, before);
            asked = self.model.next();
        }
        call(asked, calls);
        let mut asked = self.model.next();
        let results = asked.results();
        asked.say("Done so far.");
        asked.end();
        let ended = Ended::of(run);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(ended.stdout, "Done so far.\n");
        results
    }

    /// A run in which one action is kept; its approval's id.
    #[track_caller]
    fn kept(&self, tool: &str, arguments: Value) -> String {
        let results = self.run(&[(tool, arguments)]);
        id_in(&results[0])
    }

    fn stored(&self, id: &str) -> Value {
        serde_json::from_slice(&fs::read(self.file(id)).unwrap()).unwrap()
    }

    fn file(&self, id: &str) -> PathBuf {
        let data = self.workspace.outside("data");
        data.join("approvals").join(format!("{id}.json"))
    }

    /// What the model hears first when the project's only session goes on.
    #[track_caller]
    fn told_when_it_goes_on(&self) -> String {
        let editor = Editor::start(&Setup::agent(), &self.workspace);
        let session = editor.sessions().remove(0).session_id;
        let id = SessionId::new(session.to_string());
        editor.load(&id).unwrap();
        let prompt = editor.prompt(&id, "and now?");
        let mut asked = self.model.next();
        let last = asked.messages().last().unwrap().clone();
        asked.say("ok");
        asked.end();
        editor.end(&prompt);
        last["content"].as_str().unwrap().to_owned()
    }
}

fn call(mut asked: Asked, calls: &[(&str, Value)]) {
    for (tool, arguments) in calls {
        asked.call(tool, arguments.clone());
    }
    asked.end();
}

/// The id that a model is told.
#[track_caller]
fn id_in(result: &str) -> String {
    let rest = result.strip_prefix("Approval required (").expect(result);
    rest.split_once(')').unwrap().0.to_owned()
}

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ended {
    /// Waits for a command's end, which is near.
    #[track_caller]
    fn of(child: Child) -> Self {
        let begun = Instant::now();
        let Output {
            status,
            stdout,
            stderr,
        } = child.wait_with_output().unwrap();
        assert!(begun.elapsed() < PATIENCE);
        Self {
            code: status.code(),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Checks that it did not do what it was asked for, and says this about it.
    #[track_caller]
    fn refused(&self, why: &str) {
        assert_eq!(self.code, Some(1), "{}{}", self.stdout, self.stderr);
        assert!(self.stderr.contains(why), "{}", self.stderr);
    }
}

#[test]
fn r_020_an_edit_is_kept_and_made_once_when_it_is_approved() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "alpha alpha"));
    assert_eq!(alone.workspace.read("a.txt"), "alpha\nbeta\n");

    let approved = alone.undine(&["approve", &id]);
    assert_eq!(approved.code, Some(0), "{}", approved.stderr);
    assert_eq!(approved.stdout, "Changed a.txt (+1 -1 lines).\n");
    assert_eq!(approved.stderr, "Edit a.txt\n");
    assert_eq!(alone.workspace.read("a.txt"), "alpha alpha\nbeta\n");

    alone
        .undine(&["approve", &id])
        .refused("approved and done before");
    alone
        .undine(&["deny", &id])
        .refused("approved and done before");
    assert_eq!(alone.workspace.read("a.txt"), "alpha alpha\nbeta\n");

    let told = alone.told_when_it_goes_on();
    let expected = format!(
        "[The person has approved {id}, \"Edit a.txt\", and it was done:]\nChanged a.txt (+1 -1 lines).\n\nand now?"
    );
    assert_eq!(told, expected);
}

#[test]
fn r_020_every_tool_that_changes_files_or_runs_a_command_is_kept_and_done_later() {
    let alone = Alone::new();
    let read = [("read_file", json!({"path": "b.txt"}))];
    let results = alone.run_after(
        &read,
        &[
            ("write_file", json!({"path": "new.txt", "content": "new\n"})),
            ("write_file", json!({"path": "b.txt", "content": "other\n"})),
            ("delete_file", json!({"path": "a.txt"})),
            ("create_directory", json!({"path": "sub/folder"})),
            ("execute_command", run("echo ran >> ran; echo said")),
        ],
    );
    let ids: Vec<String> = results.iter().map(|it| id_in(it)).collect();
    assert!(!alone.workspace.exists("new.txt") && !alone.workspace.exists("ran"));
    let said: Vec<String> = ids
        .iter()
        .map(|id| {
            let approved = alone.undine(&["approve", id]);
            assert_eq!(approved.code, Some(0), "{}", approved.stderr);
            approved.stdout
        })
        .collect();
    assert_eq!(
        said,
        [
            "Created new.txt (+1 -0 lines).\n",
            "Changed b.txt (+1 -1 lines).\n",
            "Deleted a.txt (2 lines).\n",
            "Created the folder sub/folder.\n",
            "said\n\n",
        ]
    );
    for id in &ids {
        alone.undine(&["approve", id]).refused("done before");
    }
    let workspace = &alone.workspace;
    assert_eq!(workspace.read("new.txt"), "new\n");
    assert_eq!(workspace.read("b.txt"), "other\n");
    assert_eq!(workspace.read("ran"), "ran\n");
    assert!(!workspace.exists("a.txt") && workspace.path("sub/folder").is_dir());
}

#[test]
fn r_020_a_patch_of_many_files_is_kept_and_applied_once_when_it_is_approved() {
    let alone = Alone::new();
    let patch = "*** Begin Patch\n\
                 *** Update File: a.txt\n@@\n-alpha\n+alpha\n+alpha\n beta\n\
                 *** Delete File: b.txt\n\
                 *** Add File: sub/c.txt\n+new\n\
                 *** End Patch\n";
    let id = alone.kept("apply_patch", json!({"patch": patch}));
    let tree = || {
        let workspace = &alone.workspace;
        let b = workspace.exists("b.txt");
        let c = workspace.exists("sub/c.txt");
        (workspace.read("a.txt"), b, c)
    };
    assert_eq!(tree(), ("alpha\nbeta\n".to_owned(), true, false));
    let approved = alone.undine(&["approve", &id]);
    assert_eq!(approved.code, Some(0), "{}", approved.stderr);
    let patched = ("alpha\nalpha\nbeta\n".to_owned(), false, true);
    assert_eq!(tree(), patched);
    alone.undine(&["approve", &id]).refused("done before");
    assert_eq!(tree(), patched);
    // It went the way of every call: what was there can be restored.
    assert!(alone.undine(&["checkpoints"]).stdout.contains("a.txt"));
}

#[test]
fn what_is_of_no_use_later_is_refused_and_questions_are_not_put() {
    let alone = Alone::new();
    fs::write(alone.workspace.outside("else.txt"), "secret\n").unwrap();
    let outside = alone.workspace.outside("else.txt");
    let questions = json!({"questions": [{"question": "Which?", "kind": "text"}]});
    let results = alone.run(&[
        ("read_file", json!({"path": outside})),
        ("ask_user_question", questions),
    ]);
    assert!(
        results[0].contains("nobody can be asked in this run") && !results[0].contains("secret"),
        "{}",
        results[0]
    );
    assert!(
        results[1].contains("Nobody can be asked here"),
        "{}",
        results[1]
    );
    let listed = alone.undine(&["approvals"]);
    assert_eq!(listed.stdout, "Nothing waits for an approval.\n");
}

#[test]
fn bug_019_what_was_denied_is_never_done() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "omega"));
    let denied = alone.undine(&["deny", &id[..6]]);
    assert_eq!(denied.code, Some(0));
    assert_eq!(denied.stderr, format!("Denied {id}: Edit a.txt.\n"));
    alone
        .undine(&["approve", &id])
        .refused("was denied, which is for good");
    alone
        .undine(&["deny", &id])
        .refused("was denied, which is for good");
    assert_eq!(alone.workspace.read("a.txt"), "alpha\nbeta\n");
}

#[test]
fn bug_019_two_who_approve_at_once_run_it_once() {
    let alone = Alone::new();
    let go = alone.workspace.path("go");
    nix::unistd::mkfifo(&go, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let id = alone.kept("execute_command", run("echo ran >> ran; cat go"));
    let first = alone.start(&["approve", &id]);
    // Opened as soon as the command reads it.
    let writer = fs::OpenOptions::new().write(true).open(&go).unwrap();
    alone
        .undine(&["approve", &id])
        .refused("in use by another Undine");
    alone
        .undine(&["deny", &id])
        .refused("in use by another Undine");
    drop(writer);
    assert_eq!(Ended::of(first).code, Some(0));
    assert_eq!(alone.workspace.read("ran"), "ran\n");
}

#[test]
fn bug_021_an_approved_command_is_judged_by_what_holds_today() {
    let alone = Alone::new();
    let command = alone.kept("execute_command", run("rm -r sub"));
    alone.configure("[safety]\nmode = \"read_only\"\n");
    alone
        .undine(&["approve", &command])
        .refused("read_only mode");
    assert_eq!(alone.stored(&command)["state"]["is"], "pending");
    alone.configure("");
    let approved = alone.undine(&["--mode", "read_only", "approve", &command]);
    approved.refused("read_only mode");
}

#[test]
fn bug_021_an_approval_does_not_reach_a_place_that_tools_never_write() {
    let alone = Alone::new();
    let id = alone.kept(
        "write_file",
        json!({"path": "sub/x.toml", "content": "mode = 1\n"}),
    );
    symlink(
        alone.workspace.outside("config"),
        alone.workspace.path("sub"),
    )
    .unwrap();
    alone.undine(&["approve", &id]).refused("tools never write");
    assert!(!alone.workspace.outside("config").join("x.toml").exists());
}

#[test]
fn an_edit_that_would_do_something_else_by_now_is_shown_and_done_when_it_is_approved_again() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "omega"));
    // What is far from the edit does not matter.
    alone.workspace.write("a.txt", "alpha and more\nbeta\n");
    let changed = alone.undine(&["approve", &id]);
    changed.refused("Nothing was done: the files have changed");
    assert!(
        changed.stdout.contains("-alpha and more") && changed.stdout.contains("+omega and more"),
        "{}",
        changed.stdout
    );
    assert_eq!(alone.workspace.read("a.txt"), "alpha and more\nbeta\n");
    let approved = alone.undine(&["approve", &id]);
    assert_eq!(approved.code, Some(0), "{}", approved.stderr);
    assert_eq!(alone.workspace.read("a.txt"), "omega and more\nbeta\n");
}

#[test]
fn an_edit_whose_place_only_moved_is_what_was_shown() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "omega"));
    alone
        .workspace
        .write("a.txt", "new first line\nalpha\nbeta\n");
    assert_eq!(alone.undine(&["approve", &id]).code, Some(0));
    assert_eq!(
        alone.workspace.read("a.txt"),
        "new first line\nomega\nbeta\n"
    );
}

#[test]
fn a_file_that_the_model_has_not_seen_so_is_not_written_over() {
    let alone = Alone::new();
    let read = [("read_file", json!({"path": "b.txt"}))];
    let write = ("write_file", json!({"path": "b.txt", "content": "other\n"}));
    let id = id_in(&alone.run_after(&read, &[write])[0]);
    alone.workspace.write("b.txt", "the person's own\n");
    alone
        .undine(&["approve", &id])
        .refused("b.txt has changed since it was read");
    assert_eq!(alone.workspace.read("b.txt"), "the person's own\n");
}

#[test]
fn the_queue_is_its_owners_only_and_no_tool_writes_it() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "omega"));
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = alone.file(&id);
    assert_eq!(mode(file.clone()), 0o600);
    assert_eq!(mode(file.parent().unwrap().to_owned()), 0o700);
    let before = fs::read(&file).unwrap();

    alone.configure("[safety]\nmode = \"full_access\"\n");
    let forged = file.with_file_name("aaaaaaaa.json");
    let results = alone.run(&[
        (
            "edit_file",
            edit(file.to_str().unwrap(), "pending", "approved"),
        ),
        ("delete_file", json!({"path": file})),
        ("write_file", json!({"path": forged, "content": "{}"})),
    ]);
    for result in &results {
        assert!(result.contains("tools never write"), "{result}");
    }
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(!forged.exists());
}

#[test]
fn the_list_shows_what_waits_here_and_one_of_it_whole() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "omega"));
    let listed = alone.undine(&["approvals"]).stdout;
    let words: Vec<&str> = listed.split_whitespace().collect();
    assert_eq!(
        (words[0], words[2], words[3]),
        (id.as_str(), "Edit", "a.txt"),
        "{listed}"
    );

    let shown = alone.undine(&["approvals", &id[..7]]).stdout;
    for part in ["-alpha", "+omega", "waits for an approval"] {
        assert!(shown.contains(part), "{shown}");
    }
    let all: Value = serde_json::from_str(&alone.undine(&["approvals", "--json"]).stdout).unwrap();
    assert_eq!(all[0]["id"], id);
    assert_eq!(all[0]["arguments"], edit("a.txt", "alpha", "omega"));

    // Another project has its own.
    let here = alone.workspace.outside("home");
    let elsewhere = |arguments: &[&str]| {
        let mut command = alone.command(arguments);
        Ended::of(command.current_dir(&here).spawn().unwrap()).stdout
    };
    assert_eq!(
        elsewhere(&["approvals"]),
        "Nothing waits for an approval.\n"
    );
    assert!(elsewhere(&["approvals", "--all"]).contains(&id));
    // It can be approved from anywhere, and is done where it belongs.
    assert_eq!(
        elsewhere(&["approve", &id]),
        "Changed a.txt (+1 -1 lines).\n"
    );
    assert_eq!(alone.workspace.read("a.txt"), "omega\nbeta\n");
    assert_eq!(
        alone.undine(&["approvals"]).stdout,
        "Nothing waits for an approval.\n"
    );
    alone
        .undine(&["approve", "nonsense"])
        .refused("There is no approval \"nonsense\"");
}

#[test]
fn a_session_that_is_open_elsewhere_is_left_alone() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "omega"));
    let editor = Editor::start(&Setup::agent(), &alone.workspace);
    let session = editor.sessions().remove(0).session_id;
    editor.load(&session).unwrap();
    alone
        .undine(&["approve", &id])
        .refused("Another Undine writes");
    assert_eq!(alone.workspace.read("a.txt"), "alpha\nbeta\n");
    drop(editor);
    assert_eq!(alone.undine(&["approve", &id]).code, Some(0));
}

#[test]
fn an_action_outlives_its_sessions_log() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "omega"));
    fs::remove_dir_all(alone.workspace.path(".undine")).unwrap();
    assert_eq!(alone.undine(&["approve", &id]).code, Some(0));
    assert_eq!(alone.workspace.read("a.txt"), "omega\nbeta\n");
}

#[test]
fn bug_026_an_answer_for_the_session_clears_no_other_command_of_the_same_program() {
    let stage = Stage::new("");
    let (_, prompt) = stage.call("execute_command", run("echo safe >> said"));
    stage.editor.choose(&stage.editor.question(), "session");
    let mut asked = stage.model.next();
    asked.call("execute_command", run("echo  safe >>  said"));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(stage.workspace.read("said"), "safe\nsafe\n");
    asked.call("execute_command", run("echo evil >> said"));
    asked.end();
    stage.editor.choose(&stage.editor.question(), "no");
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("said"), "safe\nsafe\n");
}
