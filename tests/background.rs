//! Commands in the background: the model and the person look after them, and none outlives the server.

#[cfg(target_os = "linux")]
mod leftovers;
mod told;

use crate::support::editor::{Pending, Setup};
use crate::support::model::Asked;
use crate::support::stage::Stage;
use crate::support::witness::Witness;
use nix::sys::stat::Mode;
use protocol::acp::{SessionId, StopReason};
use protocol::methods::{DetachProcess, ListProcesses, Prompt, ReadProcess, StopProcess};
use protocol::process::{
    DetachProcessParams, ListProcessesParams, ProcessList, ProcessState, ReadProcessParams,
    StopProcessParams,
};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

const FULL: &str = "[safety]\nmode = \"full_access\"\n";

/// A turn in which the model makes one call after another.
struct Chat<'a> {
    stage: &'a Stage,
    session: SessionId,
    prompt: Pending<Prompt>,
    asked: Option<Asked>,
}

impl<'a> Chat<'a> {
    #[track_caller]
    fn new(stage: &'a Stage) -> Self {
        let (session, prompt, asked) = stage.ask("go");
        Self {
            stage,
            session,
            prompt,
            asked: Some(asked),
        }
    }

    /// Lets the model make a call whose end is waited for elsewhere.
    fn begin(&mut self, tool: &str, arguments: Value) {
        let mut asked = self.asked.take().unwrap();
        asked.call(tool, arguments);
        asked.end();
    }

    #[track_caller]
    fn result(&mut self) -> String {
        let asked = self.stage.model.next();
        let result = asked.results().pop().unwrap();
        self.asked = Some(asked);
        result
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> String {
        self.begin(tool, arguments);
        self.result()
    }

    /// Starts a command in the background; answers its id and all that is told of it.
    #[track_caller]
    fn start(&mut self, line: &str) -> (String, String) {
        let told = self.call(
            "execute_command",
            json!({"command": line, "mode": "background"}),
        );
        (id_in(&told), told)
    }

    #[track_caller]
    fn manage(&mut self, action: &str, id: &str) -> String {
        self.call("background_process", json!({"action": action, "id": id}))
    }

    #[track_caller]
    fn wait(&mut self, id: &str, pattern: Option<&str>, secs: f64) -> String {
        let mut arguments = json!({"action": "wait", "id": id, "timeout_secs": secs});
        if let Some(pattern) = pattern {
            arguments["pattern"] = json!(pattern);
        }
        self.call("background_process", arguments)
    }

    #[track_caller]
    fn end(mut self) {
        let mut asked = self.asked.take().unwrap();
        asked.say("done");
        asked.end();
        assert_eq!(
            self.stage.editor.end(&self.prompt).end,
            Ok(StopReason::EndTurn)
        );
    }
}

#[track_caller]
fn id_in(told: &str) -> String {
    let at = told.find("bg-").unwrap_or_else(|| panic!("{told}"));
    let rest = &told[at..];
    let end = rest[3..].find(|it: char| !it.is_ascii_digit()).unwrap();
    rest[..3 + end].to_owned()
}

/// The output in what the model is told of a process: what stands below its log.
fn output(told: &str) -> &str {
    let at = told.find("\nlog: ").unwrap_or_else(|| panic!("{told}"));
    told[at + 1..].split_once('\n').unwrap().1
}

fn stage() -> Stage {
    Stage::with(Setup::agent(), "", FULL)
}

fn fifo(stage: &Stage, name: &str) {
    nix::unistd::mkfifo(&stage.workspace.path(name), Mode::S_IRWXU).unwrap();
}

#[test]
fn r_049_a_command_in_the_background_gives_an_id_and_goes_on() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let begun = Instant::now();
    let (id, told) = chat.start("echo http://localhost:3000/x; sleep 1000");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(id[3..].parse::<u32>().is_ok(), "{told}");
    for part in [
        ": running, started",
        "command: echo http",
        "\nlog: /",
        "\nurl: http://localhost:3000/x\n",
        "so far:\nhttp://localhost:3000/x",
    ] {
        assert!(told.contains(part), "{part:?} is missing: {told}");
    }
    chat.end();
}

#[test]
fn r_049_a_pattern_says_when_it_is_ready() {
    let stage = stage();
    fifo(&stage, "go");
    let mut chat = Chat::new(&stage);
    let line = "echo starting; cat go; echo 'listening on 80'; sleep 1000";
    chat.begin(
        "execute_command",
        json!({"command": line, "mode": "background", "ready_pattern": "listening", "startup_timeout_secs": 30}),
    );
    stage.workspace.write("go", "");
    let told = chat.result();
    assert!(told.contains("\nready: listening on 80\n"), "{told}");
    let told = chat.call(
        "execute_command",
        json!({"command": "sleep 1000", "mode": "background", "ready_pattern": "never", "startup_timeout_secs": 1}),
    );
    assert!(told.contains("Not ready within 1 s: \"never\""), "{told}");
    chat.end();
}

#[test]
fn bug_032_a_command_that_ends_at_once_is_told_as_ended_with_its_output() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    for (line, how) in [
        ("seq 100; exit 3", "exited with code 3"),
        ("echo gone; kill -9 $$", "was ended by signal 9"),
        (
            "echo left; setsid sleep 1000 & exit 0",
            "exited with code 0",
        ),
    ] {
        let arguments = json!({"command": line, "mode": "background", "ready_pattern": "x"});
        let told = chat.call("execute_command", arguments);
        assert!(told.contains(how), "{told}");
    }
    let told = chat.call("background_process", json!({"action": "list"}));
    assert!(!told.contains("running"), "{told}");
    chat.end();
}

#[test]
fn r_051_only_an_id_that_was_given_is_taken() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("echo here; sleep 1000");
    let number = &id[3..];
    assert_eq!(output(&chat.manage("read", &id)), "here\n");
    assert_eq!(output(&chat.manage("read", number)), "(no new output)");
    let arguments = json!({"action": "read", "id": number.parse::<u32>().unwrap()});
    assert_eq!(
        output(&chat.call("background_process", arguments)),
        "(no new output)"
    );
    for wrong in ["bg-1", "nonsense", "", "-1"] {
        let told = chat.manage("stop", wrong);
        assert!(told.contains("There is no background process"), "{told}");
    }
    let told = chat.call("background_process", json!({"action": "stop"}));
    assert!(told.contains("stop needs an id"), "{told}");
    let told = chat.manage("look", &id);
    assert!(
        told.starts_with("Bad arguments for background_process"),
        "{told}"
    );
    chat.end();
}

#[test]
fn r_052_a_reading_gives_what_is_new() {
    let stage = stage();
    fifo(&stage, "go");
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("echo one; cat go; echo two; sleep 1000");
    assert_eq!(output(&chat.manage("read", &id)), "one\n");
    stage.workspace.write("go", "");
    let told = chat.wait(&id, Some("two"), 60.0);
    assert_eq!(output(&told), "two\n");
    assert_eq!(output(&chat.manage("read", &id)), "(no new output)");
    chat.end();
}

#[test]
fn r_053_the_newest_32_kib_are_given_and_the_rest_is_counted() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let line = "echo first; head -c 102400 /dev/zero | tr '\\0' x; echo; echo last; sleep 1000";
    let (id, _) = chat.start(line);
    chat.wait(&id, Some("last"), 60.0);
    let (id, _) = chat.start(&format!("{line}; echo"));
    // Not read by waiting.
    let told = loop {
        let list = processes(&stage, &chat.session);
        let it = list.processes.iter().find(|it| it.id == id).unwrap();
        if it.bytes == 102_412 {
            break chat.manage("read", &id);
        }
    };
    let n_skipped = 102_412 - 32 * 1024;
    let expected = format!(
        "[{n_skipped} bytes before are left out here; the log has them]\n{}\nlast\n",
        "x".repeat(32 * 1024 - 6)
    );
    assert_eq!(output(&told), expected);
    chat.end();
}

#[test]
fn r_055_waiting_ends_with_the_process() {
    let stage = stage();
    fifo(&stage, "go");
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("echo one; cat go; echo two");
    chat.manage("read", &id);
    chat.begin("background_process", json!({"action": "wait", "id": id}));
    stage.workspace.write("go", "");
    let told = chat.result();
    assert!(told.starts_with("It exited.\n"), "{told}");
    assert_eq!(output(&told), "two\n");
    let told = chat.manage("stop", &id);
    assert!(told.starts_with("It had exited already.\n"), "{told}");
    chat.end();
}

#[test]
fn r_056_waiting_ends_with_new_output_that_has_the_pattern() {
    let stage = stage();
    fifo(&stage, "go");
    fifo(&stage, "end");
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("echo ready; cat go; printf rea; cat end; echo 'dy now'; sleep 1000");
    assert_eq!(output(&chat.manage("read", &id)), "ready\n");
    // What was read does not count.
    let told = chat.wait(&id, Some("ready"), 1.0);
    assert!(
        told.starts_with("Nothing of the kind within 1 s.\n"),
        "{told}"
    );
    chat.begin(
        "background_process",
        json!({"action": "wait", "id": id, "pattern": "ready"}),
    );
    // In two pieces.
    stage.workspace.write("go", "");
    stage.workspace.write("end", "");
    let told = chat.result();
    assert!(
        told.starts_with("The pattern \"ready\" appeared.\n"),
        "{told}"
    );
    assert_eq!(output(&told), "ready now\n");
    chat.end();
}

#[test]
fn r_057_waiting_ends_when_time_is_up() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("sleep 1000");
    let begun = Instant::now();
    let told = chat.wait(&id, None, 2.0);
    assert!(begun.elapsed() >= Duration::from_secs(2));
    assert!(
        told.contains("within 2 s.") && told.contains(": running"),
        "{told}"
    );
    chat.end();
}

#[test]
fn r_058_the_schema_says_how_long_waiting_takes() {
    let stage = stage();
    let (_, prompt, mut asked) = stage.ask("go");
    let tools = asked.body["tools"].as_array().unwrap();
    let tool = tools
        .iter()
        .find(|it| it["function"]["name"] == "background_process")
        .unwrap();
    let timeout = &tool["function"]["parameters"]["properties"]["timeout_secs"];
    assert_eq!(timeout["default"], json!(300.0));
    assert_eq!(
        (&timeout["minimum"], &timeout["maximum"]),
        (&json!(1), &json!(3600))
    );
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn r_060_a_cancel_ends_the_waiting_and_not_the_process() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("sleep 1000");
    chat.begin("background_process", json!({"action": "wait", "id": id}));
    stage.editor.updates_until("the waiting", |it| {
        it["title"]
            .as_str()
            .is_some_and(|it| it.starts_with("Wait for bg-"))
    });
    stage.editor.cancel(&chat.session);
    assert_eq!(
        stage.editor.end(&chat.prompt).end,
        Ok(StopReason::Cancelled)
    );
    let list = processes(&stage, &chat.session);
    assert_eq!(list.processes[0].state, ProcessState::Running);
}

#[test]
fn r_062_stop_ends_all_that_it_had_started() {
    let stage = stage();
    let mut witness = Witness::new(&stage.workspace.root());
    let mut chat = Chat::new(&stage);
    let line = format!(
        "{}(trap '' TERM; sleep 1000) & setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM HUP; sleep 1000' &) ; wait; sleep 1000",
        Witness::HOLD
    );
    let (id, _) = chat.start(&line);
    witness.wait_until_held();
    let told = chat.manage("stop", &id);
    assert!(
        told.starts_with("Stopped, with all it had started.\n"),
        "{told}"
    );
    assert!(
        told.contains(": exited (it was stopped; exit code not recorded)"),
        "{told}"
    );
    witness.assert_gone_within(Duration::from_millis(1));
    chat.end();
}

#[test]
fn r_063_list_tells_all_of_the_session() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let list = json!({"action": "list"});
    assert_eq!(
        chat.call("background_process", list.clone()),
        "This session has no background processes."
    );
    let (one, _) = chat.start("sleep 1001");
    let (two, _) = chat.start("sleep 1002");
    let told = chat.call("background_process", list);
    let found: Vec<usize> = [&one, "sleep 1001", &two, "sleep 1002"]
        .iter()
        .map(|it| told.find(*it).unwrap_or_else(|| panic!("{told}")))
        .collect();
    assert!(found.is_sorted(), "{told}");
    chat.end();
}

#[test]
fn r_064_another_sessions_process_is_not_found() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("sleep 1000");
    let first = chat.session.clone();
    chat.end();
    let mut chat = Chat::new(&stage);
    for action in ["read", "wait", "stop"] {
        let told = chat.manage(action, &id);
        assert!(told.starts_with("There is no background process"), "{told}");
    }
    let other = chat.session.clone();
    chat.end();
    assert_eq!(processes(&stage, &other).processes, []);
    assert_eq!(
        processes(&stage, &first).processes[0].state,
        ProcessState::Running
    );
    let params = StopProcessParams {
        session_id: other.to_string(),
        id,
    };
    let error = stage.editor.ask::<StopProcess>(params).unwrap_err();
    assert!(
        error.message.starts_with("There is no process"),
        "{error:?}"
    );
}

#[test]
fn r_065_a_process_that_is_not_ours_is_left_alone() {
    let stage = stage();
    let mut stranger = std::process::Command::new("sleep")
        .arg("1000")
        .spawn()
        .unwrap();
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("sleep 1000 & echo $!; sleep 1000");
    let own_child = output(&chat.manage("read", &id)).trim().to_owned();
    for pid in [
        stranger.id().to_string(),
        stage.editor.pid().to_string(),
        own_child,
    ] {
        let told = chat.manage("stop", &pid);
        assert!(told.starts_with("There is no background process"), "{told}");
    }
    assert_eq!(stranger.try_wait().unwrap(), None);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    chat.end();
}

#[test]
fn r_066_nobody_is_asked_in_any_mode() {
    for mode in ["read_only", "ask", "auto"] {
        let stage = stage();
        let mut chat = Chat::new(&stage);
        let (id, _) = chat.start("echo here; sleep 1000");
        stage.editor.set_mode(&chat.session, mode);
        for action in ["list", "read", "stop", "wait"] {
            let told = chat.manage(action, &id);
            assert!(told.contains(&id), "{told}");
        }
        chat.end();
        stage.editor.assert_none("session/request_permission");
        stage.editor.forget(|it| it["method"] == "session/update");
    }
}

#[test]
fn a_command_in_the_background_is_asked_for_as_any_other() {
    let stage = Stage::new("");
    let mut chat = Chat::new(&stage);
    let arguments = json!({"command": "touch here; sleep 1000", "mode": "background"});
    chat.begin("execute_command", arguments);
    let question = stage.editor.question();
    let title = question.params.tool_call.fields.title.clone();
    assert_eq!(
        title.as_deref(),
        Some("Run in the background: touch here; sleep 1000")
    );
    stage.editor.deny(&question, "no");
    assert!(chat.result().contains("no"));
    assert!(!stage.workspace.exists("here"));
    chat.end();
}

#[test]
fn r_050_the_person_moves_a_running_command_to_the_background() {
    let mut stage = stage();
    stage.editor.keep("undine/process/changed");
    fifo(&stage, "go");
    let mut witness = Witness::new(&stage.workspace.root());
    let mut chat = Chat::new(&stage);
    let line = format!(
        "{}echo before; cat go; echo after; sleep 1000",
        Witness::HOLD
    );
    chat.begin("execute_command", json!({"command": line}));
    witness.wait_until_held();
    let params = DetachProcessParams {
        session_id: chat.session.to_string(),
        tool_call_id: None,
    };
    let list = stage.editor.ask::<DetachProcess>(params.clone()).unwrap();
    let id = list.processes[0].id.clone();
    assert_eq!(list.processes[0].state, ProcessState::Running);
    assert_eq!(changed(&stage), list);
    let told = chat.result();
    assert!(
        told.contains("moved the command to the background") && told.contains(&id),
        "{told}"
    );
    stage.workspace.write("go", "");
    let told = chat.wait(&id, Some("after"), 60.0);
    assert_eq!(output(&told), "before\nafter\n");
    let error = stage.editor.ask::<DetachProcess>(params).unwrap_err();
    assert_eq!(
        error.message,
        "No command of this session is running in the foreground."
    );
    chat.manage("stop", &id);
    witness.assert_gone_within(Duration::from_secs(2));
    assert_eq!(changed(&stage).processes[0].state, ProcessState::Stopped);
    chat.end();
}

#[test]
fn a_command_that_was_moved_outlives_its_time_and_its_turn() {
    let stage = stage();
    let mut witness = Witness::new(&stage.workspace.root());
    let mut chat = Chat::new(&stage);
    let line = format!("{}sleep 1000", Witness::HOLD);
    chat.begin("execute_command", json!({"command": line, "timeout": 300}));
    witness.wait_until_held();
    let params = DetachProcessParams {
        session_id: chat.session.to_string(),
        tool_call_id: Some("0".to_owned()),
    };
    assert!(stage.editor.ask::<DetachProcess>(params.clone()).is_err());
    let params = DetachProcessParams {
        tool_call_id: None,
        ..params
    };
    stage.editor.ask::<DetachProcess>(params).unwrap();
    chat.result();
    stage.editor.cancel(&chat.session);
    stage.editor.end(&chat.prompt);
    chat.asked.take().unwrap().wait_until_hung_up();
    let list = processes(&stage, &chat.session);
    assert_eq!(list.processes[0].state, ProcessState::Running);
}

#[test]
fn r_068_the_person_reads_and_stops_by_commands() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("echo out; sleep 1000");
    let session = chat.session.clone();
    chat.end();
    let say = |text: &str| {
        let prompt = stage.editor.prompt(&session, text);
        stage.editor.end(&prompt).text()
    };
    let told = say("/logs");
    assert!(told.contains(&format!("`{id}` running")), "{told}");
    let told = say(&format!("/logs {id}"));
    assert!(told.ends_with("```text\nout\n\n```"), "{told}");
    assert_eq!(
        say(&format!("/stop {id}")),
        format!("{id} and all it had started was stopped.")
    );
    assert_eq!(
        say(&format!("/stop {id}")),
        format!("{id} had exited already.")
    );
    let told = say("/stop bg-1");
    assert!(told.contains("There is no process"), "{told}");
    let prompt = stage.editor.prompt(&session, "and now?");
    let mut asked = stage.model.next();
    asked.call("background_process", json!({"action": "read", "id": id}));
    asked.end();
    let told = stage.result(&prompt);
    assert!(told.contains(": exited"), "{told}");
}

#[test]
fn the_person_reads_without_the_model_losing_anything() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("echo one; sleep 1000");
    let read = |from| {
        let params = ReadProcessParams {
            session_id: chat.session.to_string(),
            id: id.clone(),
            from,
        };
        let read = stage.editor.ask::<ReadProcess>(params).unwrap();
        (read.output, read.skipped, read.end)
    };
    assert_eq!(read(0), ("one\n".to_owned(), 0, 4));
    assert_eq!(read(4), (String::new(), 0, 4));
    assert_eq!(output(&chat.manage("read", &id)), "one\n");
    let params = StopProcessParams {
        session_id: chat.session.to_string(),
        id: id.clone(),
    };
    let stopped = stage.editor.ask::<StopProcess>(params).unwrap();
    assert_eq!(stopped.process.state, ProcessState::Stopped);
    chat.end();
}

#[test]
fn a_log_is_for_its_owner_alone() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    chat.start("echo secret; sleep 1000");
    let log = processes(&stage, &chat.session).processes[0]
        .log
        .clone()
        .unwrap();
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert!(log.starts_with(stage.workspace.outside("data")), "{log:?}");
    assert_eq!((mode(&*log), mode(log.parent().unwrap())), (0o600, 0o700));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "secret\n");
    chat.end();
}

#[test]
fn bug_037_a_log_is_bounded_and_its_end_can_be_read() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let (id, _) =
        chat.start("head -c 80000000 /dev/zero | tr '\\0' x; echo; echo last; sleep 1000");
    let told = chat.wait(&id, Some("last"), 120.0);
    assert!(
        told.starts_with("The pattern \"last\" appeared."),
        "{:.200}",
        told
    );
    assert!(told.ends_with("xxx\nlast\n"));
    let it = processes(&stage, &chat.session).processes.remove(0);
    assert_eq!(it.bytes, 80_000_006);
    let len = std::fs::metadata(it.log.unwrap()).unwrap().len();
    assert!(len <= 64 * 1024 * 1024, "{len}");
    chat.end();
}

#[test]
fn no_process_in_the_background_outlives_the_server() {
    for kill in [true, false] {
        let mut stage = stage();
        let mut witness = Witness::new(&stage.workspace.root());
        let mut chat = Chat::new(&stage);
        let line = format!(
            "{}setsid sleep 1000 & (setsid sleep 1000 &) ; trap '' HUP TERM; sleep 1000; sleep 1000",
            Witness::HOLD
        );
        chat.start(&line);
        chat.end();
        witness.wait_until_held();
        match kill {
            true => stage.editor.kill(),
            false => stage.editor.finish(),
        }
        witness.assert_gone_within(Duration::from_secs(5));
    }
}

#[track_caller]
fn processes(stage: &Stage, session: &SessionId) -> ProcessList {
    let session_id = session.to_string();
    let params = ListProcessesParams { session_id };
    stage.editor.ask::<ListProcesses>(params).unwrap()
}

#[track_caller]
fn changed(stage: &Stage) -> ProcessList {
    let method = "undine/process/changed";
    let message = stage.editor.take(method, |it| it["method"] == method);
    serde_json::from_value(message["params"].clone()).unwrap()
}
