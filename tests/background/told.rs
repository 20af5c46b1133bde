//! What is told of a process in the background: how it is, and what is not known of it.

use super::{Chat, FULL, changed, fifo, output, processes, stage};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use crate::support::witness::Witness;
use protocol::methods::StopProcess;
use protocol::process::{ProcessState, StopProcessParams};
use serde_json::{Value, json};
use std::time::Duration;

/// Without what differs from one process to another: numbers and the log's path.
fn alike(told: &str) -> Vec<String> {
    told.lines()
        .map(|line| match line.strip_prefix("log: ") {
            Some(_) => "log:".to_owned(),
            None => line
                .split(|it: char| it.is_ascii_digit())
                .filter(|it| !it.is_empty())
                .collect::<Vec<_>>()
                .join("#"),
        })
        .collect()
}

#[test]
fn r_054_the_status_says_whether_it_runs() {
    let stage = stage();
    fifo(&stage, "go");
    let mut chat = Chat::new(&stage);
    let (id, told) = chat.start("echo one; cat go; echo two");
    assert!(told.contains(": running, started "), "{told}");
    assert!(chat.manage("read", &id).contains(": running, started "));
    stage.workspace.write("go", "");
    chat.wait(&id, None, 60.0);
    for action in ["read", "wait", "stop"] {
        let told = chat.manage(action, &id);
        assert!(
            told.contains(": exited (exit code not recorded), started "),
            "{told}"
        );
    }
    let told = chat.call("background_process", json!({"action": "list"}));
    assert!(told.contains(": exited"), "{told}");
    chat.end();
}

#[test]
fn r_059_a_longer_wait_is_shortened_to_an_hour() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let (id, _) = chat.start("echo here; sleep 1000");
    for (secs, most) in [
        (json!(5000), "3600 s"),
        (json!(1e300), "3600 s"),
        (json!(3600), "3600 s"),
        (json!(0), "1 s"),
        (json!(-5), "1 s"),
    ] {
        let arguments =
            json!({"action": "wait", "id": id, "timeout_secs": secs, "pattern": "here"});
        chat.begin("background_process", arguments);
        let title = format!("Wait for {id}, {most} at most");
        stage
            .editor
            .updates_until(&title, |it| it["title"] == json!(title));
        // Ends at the first round by what it has said, and at the later ones by the process.
        if most == "3600 s" {
            let params = StopProcessParams {
                session_id: chat.session.to_string(),
                id: id.clone(),
            };
            stage.editor.ask::<StopProcess>(params).unwrap();
        }
        chat.result();
    }
    chat.end();
}

#[test]
fn r_061_waiting_tells_the_same_as_reading() {
    let stage = stage();
    fifo(&stage, "go");
    let mut chat = Chat::new(&stage);
    for nth in 0..2 {
        let (id, _) = chat.start("echo one; cat go; echo two; sleep 1000");
        let id = &id;
        assert_eq!(output(&chat.manage("read", id)), "one\n");
        stage.workspace.write("go", "");
        let told = chat.wait(id, Some("two"), 60.0);
        let (headline, told) = told.split_once('\n').unwrap();
        assert_eq!(headline, "The pattern \"two\" appeared.");
        assert_eq!(output(told), "two\n", "{nth}");
        // It counts as read, and is told as a reading is.
        let again = chat.manage("read", id);
        assert_eq!(output(&again), "(no new output)");
        let (before, after) = (alike(told), alike(&again));
        assert_eq!(before[..before.len() - 1], after[..after.len() - 1]);
        let again = chat.wait(id, Some("two"), 1.0);
        assert!(
            again.starts_with("Nothing of the kind within 1 s."),
            "{again}"
        );
        assert_eq!(output(&again), "(no new output)");
    }
    chat.end();
}

#[test]
fn r_067_no_exit_code_is_told() {
    let stage = stage();
    fifo(&stage, "go");
    let mut chat = Chat::new(&stage);
    for (end, how) in [
        ("exit 0", "exited (exit code not recorded)"),
        ("exit 3", "exited (exit code not recorded)"),
        (
            "kill -9 $$",
            "exited (a signal killed it; exit code not recorded)",
        ),
    ] {
        let (id, _) = chat.start(&format!("echo one; cat go; {end}"));
        stage.workspace.write("go", "");
        let told = chat.wait(&id, None, 60.0);
        assert!(told.contains(&format!(": {how}, started")), "{told}");
        assert!(
            !told.contains("code 3") && !told.contains("code 0"),
            "{told}"
        );
    }
    chat.end();
}

#[test]
fn how_each_process_ended_is_in_the_list_as_it_was() {
    let mut stage = stage();
    stage.editor.keep("undine/process/changed");
    fifo(&stage, "go");
    let mut chat = Chat::new(&stage);
    let mut expected = Vec::new();
    for (end, state, word) in [
        ("exit 3", ProcessState::Exited, "exited"),
        ("kill -9 $$", ProcessState::Killed, "killed"),
        ("kill -TERM $$", ProcessState::Killed, "killed"),
        ("sleep 1000", ProcessState::Stopped, "stopped"),
        (
            "trap 'exit 0' TERM; while :; do sleep 0.1; done",
            ProcessState::Stopped,
            "stopped",
        ),
        (
            "trap '' TERM; while :; do sleep 0.1; done",
            ProcessState::Stopped,
            "stopped",
        ),
    ] {
        let (id, _) = chat.start(&format!("echo one; cat go; echo two; {end}"));
        changed(&stage);
        stage.workspace.write("go", "");
        chat.wait(&id, Some("two"), 60.0);
        match state {
            ProcessState::Stopped => chat.manage("stop", &id),
            ProcessState::Running | ProcessState::Exited | ProcessState::Killed => {
                chat.wait(&id, None, 60.0)
            }
        };
        expected.push((id, state, word));
        let last = changed(&stage).processes.pop().unwrap();
        assert_eq!(last.state, state, "{end}");
    }
    let (running, _) = chat.start("sleep 1000");
    changed(&stage);
    expected.push((running, ProcessState::Running, "running"));
    let session = chat.session.clone();
    let listed: Vec<_> = processes(&stage, &session)
        .processes
        .into_iter()
        .map(|it| (it.id, it.state))
        .collect();
    let states: Vec<_> = expected.iter().map(|it| (it.0.clone(), it.1)).collect();
    assert_eq!(listed, states);
    chat.end();
    let prompt = stage.editor.prompt(&session, "/logs");
    let told = stage.editor.end(&prompt).text();
    for (id, _, word) in expected {
        assert!(told.contains(&format!("`{id}` {word}, started")), "{told}");
    }
}

#[test]
fn bug_040_a_server_that_was_stopped_has_left_its_port_to_the_next() {
    // Refuses a port that anybody has; says when it is there.
    let server = "exec python3 -c 'import socket, signal, sys, time; IGNORE; s = socket.socket(); \
                  s.bind((\"127.0.0.1\", int(sys.argv[1]))); s.listen(); print(\"up\", flush=True); time.sleep(1000)' PORT";
    let stage = stage();
    let mut chat = Chat::new(&stage);
    for (kind, around, ignore) in [
        ("itself", "SERVER", "0"),
        (
            "one that ignores TERM",
            "SERVER",
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        ),
        ("a child of the shell", "(SERVER) & wait", "0"),
        (
            "a child in a session of its own that ignores TERM",
            "setsid sh -c '(SERVER) & wait' & wait",
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        ),
    ] {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let script = server
            .replace("IGNORE", ignore)
            .replace("PORT", &port.to_string());
        stage.workspace.write("server", &script);
        let line = around.replace("SERVER", "exec sh ./server");
        for round in 0..3 {
            let arguments = json!({"command": line, "mode": "background", "ready_pattern": "up", "startup_timeout_secs": 30});
            let told = chat.call("execute_command", arguments);
            assert!(told.contains("\nready: up\n"), "{kind}, {round}: {told}");
            let told = chat.manage("stop", &super::id_in(&told));
            assert!(told.starts_with("Stopped"), "{kind}, {round}: {told}");
        }
    }
    chat.end();
}

/// An editor that opens pages.
fn with_browser() -> Setup {
    Setup {
        declares: json!({"window": {"showDocument": {"support": true}}}),
        ..Setup::agent()
    }
}

fn opening(url: &str) -> Value {
    json!({"command": "echo up; sleep 1000", "mode": "background", "ready_pattern": "up", "open_url": url})
}

#[test]
fn the_page_of_a_server_is_opened_once_it_is_ready() {
    let stage = Stage::with(with_browser(), "", FULL);
    let mut chat = Chat::new(&stage);
    chat.begin("execute_command", opening("http://localhost:3000/a?b"));
    let asked = stage.editor.expect_raw("window/showDocument");
    assert_eq!(
        asked["params"],
        json!({"uri": "http://localhost:3000/a?b", "external": true})
    );
    stage
        .editor
        .raw_reply(&asked["id"], json!({"success": true}));
    let told = chat.result();
    assert!(
        told.contains("\nThe person's browser was asked to show http://localhost:3000/a?b.\n"),
        "{told}"
    );
    let mut late = opening("http://localhost:3000");
    late["ready_pattern"] = json!("never");
    late["startup_timeout_secs"] = json!(1);
    let told = chat.call("execute_command", late);
    assert!(told.contains("was not opened, because"), "{told}");
    for url in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "localhost",
        "http://a@b/",
    ] {
        let told = chat.call("execute_command", opening(url));
        assert!(told.starts_with("open_url takes an address"), "{told}");
    }
    let told = chat.call(
        "execute_command",
        json!({"command": "touch here", "open_url": "http://localhost"}),
    );
    assert!(
        told.starts_with("open_url goes with mode background"),
        "{told}"
    );
    assert!(!stage.workspace.exists("here"));
    stage.editor.assert_none("window/showDocument");
    chat.end();
}

#[test]
fn an_editor_that_cannot_open_pages_leaves_it_to_the_person() {
    let stage = stage();
    let mut chat = Chat::new(&stage);
    let told = chat.call("execute_command", opening("http://localhost:3000"));
    assert!(
        told.contains("The editor cannot open http://localhost:3000/"),
        "{told}"
    );
    chat.end();
}

#[test]
fn a_page_is_asked_for_before_anything_starts() {
    let stage = Stage::with(with_browser(), "", "");
    let witness = Witness::new(&stage.workspace.root());
    let mut chat = Chat::new(&stage);
    let mut arguments = opening("https://example.invalid/?q=secret");
    arguments["command"] = json!(format!("{}echo up; sleep 1000", Witness::HOLD));
    chat.begin("execute_command", arguments);
    let question = stage.editor.question();
    let title = question.params.tool_call.fields.title.clone().unwrap();
    assert!(
        title.starts_with("Open https://example.invalid/?q=secret and run in the background: "),
        "{title}"
    );
    stage.editor.deny(&question, "no");
    assert!(chat.result().contains("no"));
    witness.assert_gone_within(Duration::from_millis(50));
    stage.editor.assert_none("window/showDocument");
    chat.end();
}
