//! Ollama's own format, end to end, and Ollama itself: started when it is not there, a model downloaded into it.
//!
//! No real Ollama is at work here: the server is the scripted model, and the program that is started a script, both
//! after Ollama's source and documentation.

use crate::support::PATIENCE;
use crate::support::editor::{Editor, Setup};
use crate::support::model::{Asked, Model, OLLAMA_CONTEXT};
use crate::support::stage::Stage;
use crate::support::workspace::Workspace;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use protocol::acp::StopReason;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;

const FILES: &str = "//- /a.txt\nalpha\n";

fn stage(config: &str) -> Stage {
    Stage::speaking("ollama", FILES, config)
}

fn options(asked: &Asked) -> Value {
    asked.body["options"].clone()
}

#[test]
fn a_turn_with_a_call_goes_through_to_its_end_with_its_thoughts_sent_back() {
    let stage = stage("");
    let (_, prompt, mut asked) = stage.ask("read it");
    assert_eq!(asked.line, "POST /api/chat HTTP/1.1");
    assert!(asked.system().contains("Undine"), "{}", asked.system());
    asked.think("I ").think("read").say("Reading.");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.call("read_file", json!({"path": "none.txt"}));
    asked.usage(100, 10);
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.results()[0], "alpha\n");
    let messages = asked.messages();
    assert_eq!(messages[2]["thinking"], "I read");
    assert_eq!(messages[2]["content"], "Reading.");
    assert_eq!(
        messages[2]["tool_calls"][0]["function"]["arguments"],
        json!({"path": "a.txt"})
    );
    assert_eq!(messages[3]["tool_name"], "read_file");
    asked.say("It says alpha.");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    assert_eq!(turn.text(), "Reading.It says alpha.");
}

#[test]
fn the_context_is_always_said_and_never_more_than_the_model_can_read() {
    let stage = stage("");
    let (session, prompt, mut asked) = stage.ask("go");
    assert_eq!(options(&asked), json!({"num_ctx": OLLAMA_CONTEXT}));
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(options(&asked), json!({"num_ctx": OLLAMA_CONTEXT}));
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    assert_eq!(options(&asked), json!({"num_ctx": OLLAMA_CONTEXT}));
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    // It has been asked once for what it can read.
    assert_eq!(stage.model.asides(), ["POST /api/show HTTP/1.1"]);
}

#[test]
fn how_full_the_window_is_goes_by_what_the_model_is_loaded_with() {
    // Of the model first, and then by what a person wants for all models or for this one.
    for (config, size) in [
        ("", OLLAMA_CONTEXT),
        ("[ollama]\nnum_ctx = 8192\n", 8_192),
        (
            "[ollama]\nnum_ctx = 8192\n[ollama_num_ctx_per_model]\nscripted-1 = 4096\n",
            4_096,
        ),
    ] {
        let stage = stage(config);
        let (_, prompt, mut asked) = stage.ask("go");
        assert_eq!(options(&asked)["num_ctx"], size);
        asked.say("done");
        asked.usage(100, 10);
        asked.end();
        let shown = stage.editor.end(&prompt).of_kind("usage_update");
        let last = shown.last().unwrap();
        assert_eq!((&last["used"], &last["size"]), (&json!(110), &json!(size)));
    }
}

#[test]
fn a_server_that_knows_nothing_of_its_model_is_asked_about_it_once() {
    let mut stage = stage("[ollama]\nnum_ctx = 8192\n");
    stage.restart_with_flags(&["--model", "scripted/scripted-unknown"]);
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(options(&asked), json!({"num_ctx": 8192}));
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    assert_eq!(stage.model.asides(), ["POST /api/show HTTP/1.1"]);
}

#[test]
fn what_a_person_says_of_loading_is_passed_on() {
    let stage = stage("[ollama]\nnum_ctx = 8192\nnum_gpu = 0\nnum_thread = 3\n");
    let (_, prompt, mut asked) = stage.ask("go");
    assert_eq!(
        options(&asked),
        json!({"num_ctx": 8192, "num_gpu": 0, "num_thread": 3})
    );
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

/// A change of it would load the model anew for every question.
#[test]
fn the_classifier_asks_for_the_same_context() {
    let stage = stage("[ollama]\nnum_ctx = 8192\nnum_gpu = 1\n\n[safety]\nmode = \"auto\"\n");
    stage.model.classify();
    let (_, prompt, mut asked) = stage.ask("go");
    let of_session = options(&asked);
    asked.call("execute_command", json!({"command": "touch made"}));
    asked.end();
    let mut judging = stage.model.next_for_classifier();
    for name in ["num_ctx", "num_gpu"] {
        assert_eq!(options(&judging)[name], of_session[name], "{name}");
    }
    judging.say("ALLOW");
    judging.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn each_request_begins_with_the_conversation_of_the_one_before() {
    let stage = stage("");
    let session = stage.editor.new_session();
    let mut before: Vec<Value> = Vec::new();
    for text in ["one", "two", "three"] {
        let prompt = stage.editor.prompt(&session, text);
        for is_last in [false, true] {
            let mut asked = stage.model.next();
            let now = asked.messages().to_vec();
            assert_eq!(now[..before.len()], before[..]);
            before = now;
            asked.think("hm").say("so");
            if !is_last {
                asked.call("read_file", json!({"path": "a.txt"}));
                asked.call("read_file", json!({"path": "none.txt"}));
            }
            asked.end();
        }
        assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    }
}

#[test]
fn r_047_pictures_stand_behind_the_run_of_results() {
    let stage = stage("");
    stage.workspace.write("a.png", b"\x89PNG\r\n\x1a\nrest");
    stage.workspace.write("b.gif", b"GIF89arest");
    let (_, prompt, mut asked) = stage.ask("look");
    asked.call("read_file", json!({"path": "a.png"}));
    asked.call("read_file", json!({"path": "b.gif"}));
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(
        asked.results(),
        ["[image/png, 12 bytes]", "[image/gif, 10 bytes]"]
    );
    let labels: Vec<String> = asked.pictures().into_iter().map(|it| it.0).collect();
    assert_eq!(
        labels,
        [
            "Of tool call call_0: a.png [image/png, 12 bytes]",
            "Of tool call call_1: b.gif [image/gif, 10 bytes]"
        ]
    );
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn bug_073_a_stream_that_is_cut_is_an_error_and_its_words_are_kept() {
    let stage = stage("[limits]\nmodel_retries = 0\n");
    let (session, prompt, mut asked) = stage.ask("go");
    asked.say("It sa");
    asked.cut();
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(error.message.contains("ended before"), "{}", error.message);
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    assert_eq!(asked.messages()[2]["content"], "It sa");
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn an_error_in_the_stream_is_said() {
    let stage = stage("[limits]\nmodel_retries = 0\n");
    let (_, prompt, mut asked) = stage.ask("go");
    asked.say("It");
    asked.fail_in_stream("an error was encountered while running the model");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(
        error.message.contains("while running the model"),
        "{}",
        error.message
    );
}

#[test]
fn a_model_without_thinking_is_asked_again_without_it() {
    let stage = stage("[reasoning_per_model]\n\"scripted/scripted-1\" = \"high\"\n");
    let (_, prompt, asked) = stage.ask("go");
    assert_eq!(asked.body["think"], "high");
    asked.fail(400, "\"scripted-1\" does not support thinking");
    let mut asked = stage.model.next();
    assert_eq!(asked.body["think"], Value::Null);
    asked.say("done");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

// A model that is not there.

#[test]
fn a_model_that_ollama_does_not_have_is_said_with_the_command_that_gets_it() {
    let mut stage = stage("");
    stage.restart_with_flags(&["--model", "scripted/scripted-missing"]);
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "go");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(
        error
            .message
            .contains("`undine models pull scripted-missing`"),
        "{}",
        error.message
    );
}

/// `undine models pull` in a workspace, its stderr piped.
fn pull(workspace: &Workspace, name: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_undine"))
        .args(["models", "pull", name])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", workspace.outside("home"))
        .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
        .env("UNDINE_DATA_DIR", workspace.outside("data"))
        .env("UNDINE_NO_KEYRING", "1")
        .current_dir(workspace.root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A workspace whose Ollama is the scripted model, under the name `ollama`; another provider answers.
fn with_ollama() -> (Model, Workspace) {
    let (model, workspace) = (Model::start(), Workspace::new(FILES));
    workspace.configure(&format!(
        "[default_model]\nprovider = \"groq\"\nname = \"x\"\n\n[providers.ollama]\nbase_url = \"{}\"\n",
        model.url()
    ));
    (model, workspace)
}

#[test]
fn pulling_a_model_says_how_far_it_is_and_that_it_is_there() {
    let (model, workspace) = with_ollama();
    let command = pull(&workspace, "qwen3:8b");
    let mut asked = model.next();
    assert_eq!(asked.line, "POST /api/pull HTTP/1.1");
    assert_eq!(asked.body, json!({"model": "qwen3:8b", "stream": true}));
    for line in [
        json!({"status": "pulling manifest"}),
        json!({"status": "pulling 6a0746a1ec1a", "digest": "sha256:6a07", "total": 4_700}),
        json!({"status": "pulling 6a0746a1ec1a", "digest": "sha256:6a07", "total": 4_700, "completed": 4_700}),
        json!({"status": "verifying sha256 digest"}),
        json!({"status": "writing manifest"}),
    ] {
        asked.send(&format!("{line}\n"));
    }
    asked.send("{\"status\":\"success\"}\n");
    let ended = command.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert_eq!(
        said,
        "pulling manifest\npulling 6a0746a1ec1a\nverifying sha256 digest\nwriting manifest\nsuccess\nOllama has the model qwen3:8b.\n"
    );
}

#[test]
fn a_download_that_fails_or_breaks_off_is_no_success() {
    let (model, workspace) = with_ollama();
    let said = |command: Child| {
        let ended = command.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(1));
        String::from_utf8(ended.stderr).unwrap()
    };

    let command = pull(&workspace, "nothing");
    let mut asked = model.next();
    asked.send("{\"status\":\"pulling manifest\"}\n");
    asked.send("{\"error\":\"pull model manifest: file does not exist\"}\n");
    let told = said(command);
    assert!(told.contains("file does not exist"), "{told}");

    let command = pull(&workspace, "qwen3:8b");
    let mut asked = model.next();
    asked.send("{\"status\":\"pulling manifest\"}\n");
    asked.cut();
    let told = said(command);
    assert!(told.contains("run the command again"), "{told}");

    let command = pull(&workspace, "qwen3:8b");
    model.next().fail(500, "no space left on device");
    let told = said(command);
    assert!(told.contains("no space left on device"), "{told}");
}

#[test]
fn ctrl_c_ends_a_download() {
    let (model, workspace) = with_ollama();
    let mut command = pull(&workspace, "qwen3:8b");
    let mut asked = model.next();
    asked.send("{\"status\":\"pulling manifest\"}\n");
    let mut stderr = BufReader::new(command.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "pulling manifest\n");
    let pid = Pid::from_raw(command.id().cast_signed());
    kill(pid, Signal::SIGINT).unwrap();
    asked.wait_until_hung_up();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("goes on with it"), "{rest}");
    assert_eq!(command.wait().unwrap().code(), Some(1));
}

// An Ollama that does not run.

/// A program `ollama` that says who it is and how it was started, and stays. Ended with this value.
struct Program {
    folder: PathBuf,
    fifo: PathBuf,
    pid: Option<Pid>,
}

impl Program {
    fn put(folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        let fifo = folder.join("said");
        mkfifo(&fifo, Mode::S_IRWXU).unwrap();
        let script = format!(
            "#!/bin/sh\necho \"$$ $1 $OLLAMA_HOST ${{MY_API_KEY-none}}\" > {}\nexec sleep 600\n",
            fifo.display()
        );
        let program = folder.join("ollama");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self {
            folder: folder.to_owned(),
            fifo,
            pid: None,
        }
    }

    /// A search path with its folder in front.
    fn path(&self) -> String {
        let rest = std::env::var("PATH").unwrap_or_default();
        format!("{}:{rest}", self.folder.display())
    }

    /// Waits until it was started; answers what it says of that but its process id.
    #[track_caller]
    fn started(&mut self) -> String {
        let (sender, receiver) = channel();
        let fifo = self.fifo.clone();
        // Opening it waits for the other side.
        std::thread::spawn(move || sender.send(fs::read_to_string(fifo)));
        let said = receiver.recv_timeout(PATIENCE);
        let said = said.expect("the program was not started").unwrap();
        let (pid, rest) = said.trim_end().split_once(' ').unwrap();
        self.pid = Some(Pid::from_raw(pid.parse().unwrap()));
        rest.to_owned()
    }

    fn is_alive(&self) -> bool {
        self.pid.is_some_and(|it| kill(it, None).is_ok())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(pid) = self.pid {
            // It may have ended by itself.
            let _ = kill(pid, Signal::SIGKILL);
        }
    }
}

/// An address of this machine where nobody listens.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn configure(workspace: &Workspace, address: &str, more: &str) {
    workspace.configure(&format!(
        "[default_model]\nprovider = \"ollama\"\nname = \"scripted-1\"\n\n[providers.ollama]\nbase_url = \"http://{address}\"\n\n{more}"
    ));
}

#[test]
fn ollama_is_started_where_it_does_not_run_and_stays_when_the_server_goes() {
    let workspace = Workspace::new(FILES);
    let mut program = Program::put(&workspace.outside("bin"));
    let address = free_address();
    configure(&workspace, &address, "");
    let mut setup = Setup::agent();
    setup.environment.push(("PATH", program.path()));
    setup
        .environment
        .push(("MY_API_KEY", "never-to-be-seen".to_owned()));
    let mut editor = Editor::start(&setup, &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "go");
    assert_eq!(program.started(), format!("serve {address} none"));
    // The script is one, so another answers in its place.
    let model = Model::start_at(address.parse().unwrap());
    let mut asked = model.next();
    assert_eq!(options(&asked), json!({"num_ctx": OLLAMA_CONTEXT}));
    asked.say("done");
    asked.end();
    assert_eq!(editor.end(&prompt).end, Ok(StopReason::EndTurn));
    editor.finish();
    assert!(program.is_alive(), "it was ended with the server");
}

#[test]
fn a_person_who_cancels_does_not_wait_for_ollama() {
    let workspace = Workspace::new(FILES);
    let mut program = Program::put(&workspace.outside("bin"));
    configure(&workspace, &free_address(), "");
    let mut setup = Setup::agent();
    setup.environment.push(("PATH", program.path()));
    let editor = Editor::start(&setup, &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "go");
    program.started();
    editor.cancel(&session);
    assert_eq!(editor.end(&prompt).end, Ok(StopReason::Cancelled));
}

/// The error of a prompt in a workspace whose Ollama does not run.
fn failure(workspace: &Workspace, path: String) -> String {
    let mut setup = Setup::agent();
    setup.environment.push(("PATH", path));
    let editor = Editor::start(&setup, workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "go");
    editor.end(&prompt).end.unwrap_err().message
}

#[test]
fn ollama_is_not_started_by_a_program_of_the_projects_nor_against_the_persons_word() {
    let workspace = Workspace::new(FILES);
    let program = Program::put(&workspace.path("bin"));
    let address = free_address();
    configure(&workspace, &address, "");
    let only = program.folder.display().to_string();
    let message = failure(&workspace, only.clone());
    assert!(message.contains("no program `ollama`"), "{message}");
    assert!(message.contains(&address), "{message}");

    let outside = Program::put(&workspace.outside("bin"));
    configure(
        &workspace,
        &address,
        "[ollama]\nauto_start = false\n\n[limits]\nmodel_retries = 0\n",
    );
    let message = failure(&workspace, outside.path());
    assert!(message.contains("cannot be reached"), "{message}");
}

#[test]
fn an_ollama_that_ends_at_once_or_never_answers_is_said() {
    let workspace = Workspace::new(FILES);
    let bin = workspace.outside("bin");
    fs::create_dir(&bin).unwrap();
    let put = |script: &str| {
        let program = bin.join("ollama");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    };
    configure(
        &workspace,
        &free_address(),
        "[limits]\nollama_start_secs = 1\n",
    );
    put("exit 3");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let message = failure(&workspace, path.clone());
    assert!(message.contains("ended at once"), "{message}");
    assert!(message.contains("`ollama serve`"), "{message}");

    put("exec sleep 5");
    let message = failure(&workspace, path);
    assert!(message.contains("limits.ollama_start_secs"), "{message}");
}
