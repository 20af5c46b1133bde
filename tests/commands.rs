//! A command streams, ends with its exit code, and never outlives its time or its turn.

mod faults;

use crate::support::editor::{Setup, text_of_call};
use crate::support::stage::Stage;
use crate::support::witness::Witness;
use protocol::acp::StopReason;
use serde_json::{Value, json};
use std::time::Duration;

/// Long enough for a slow machine; only a failing test ever takes it.
const PATIENCE: Duration = Duration::from_secs(20);

const FULL: &str = "[safety]\nmode = \"full_access\"\n";

fn stage() -> Stage {
    Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", FULL)
}

fn run(line: &str) -> Value {
    json!({"command": line})
}

#[test]
fn output_streams_while_the_command_runs() {
    let stage = stage();
    // Goes on only when the test, having seen the first words, says so.
    nix::unistd::mkfifo(&stage.workspace.path("go"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (_, prompt) = stage.call("execute_command", run("echo first; cat go; echo last"));
    let updates = stage
        .editor
        .updates_until("the first words", |it| text_of_call(it).contains("first"));
    assert!(!updates.is_empty());
    stage.workspace.write("go", "then\n");
    assert_eq!(stage.result(&prompt), "first\nthen\nlast\n");
}

#[test]
fn what_is_shown_of_a_running_command_is_all_it_has_said_since_an_update_replaces_the_last() {
    let stage = stage();
    let mode = nix::sys::stat::Mode::S_IRWXU;
    for name in ["go", "end"] {
        nix::unistd::mkfifo(&stage.workspace.path(name), mode).unwrap();
    }
    let (_, prompt) = stage.call(
        "execute_command",
        run("echo first; cat go; echo second; cat end"),
    );
    let shown = |it: &Value| it["status"].is_null() && !it["content"].is_null();
    stage.editor.updates_until("the first words", |it| {
        shown(it) && text_of_call(it) == "first\n"
    });
    stage.workspace.write("go", "then\n");
    stage.editor.updates_until("all words", |it| {
        shown(it) && text_of_call(it) == "first\nthen\nsecond\n"
    });
    stage.workspace.write("end", "");
    assert_eq!(stage.result(&prompt), "first\nthen\nsecond\n");
}

#[test]
fn the_exit_code_is_told_to_both() {
    let stage = stage();
    let (_, prompt) = stage.call("execute_command", run("echo out; echo err >&2; exit 3"));
    let mut asked = stage.model.next();
    let result = asked.result();
    assert!(
        result.contains("out") && result.contains("err") && result.contains("[exit code 3]"),
        "{result}"
    );
    asked.say("ok");
    asked.end();
    let turn = stage.editor.end(&prompt);
    let codes: Vec<Value> = turn
        .of_kind("tool_call_update")
        .iter()
        .map(|it| it["_meta"]["undine"]["exitCode"].clone())
        .filter(|it| !it.is_null())
        .collect();
    assert_eq!(codes, [json!(3)]);
    let durations = turn
        .of_kind("tool_call_update")
        .iter()
        .filter(|it| it["_meta"]["undine"]["durationMs"].is_u64())
        .count();
    assert_eq!(durations, 1);
}

#[test]
fn a_command_without_output_says_so() {
    let stage = stage();
    let (_, prompt) = stage.call("execute_command", run("true"));
    assert_eq!(stage.result(&prompt), "[no output]");
}

#[test]
fn it_runs_in_the_named_folder_with_no_input() {
    let stage = stage();
    stage.workspace.write("sub/x", "");
    let (_, prompt) = stage.call(
        "execute_command",
        json!({"command": "pwd; cat; ls", "working_dir": "sub"}),
    );
    let expected = format!("{}\nx\n", stage.workspace.path("sub").display());
    assert_eq!(stage.result(&prompt), expected);
}

#[test]
fn a_time_out_kills_the_whole_group_and_is_told() {
    let stage = stage();
    let mut witness = Witness::new(&stage.workspace.root());
    let line = format!("{}echo begun; sleep 1000 & sleep 1000", Witness::HOLD);
    let (_, prompt) = stage.call("execute_command", json!({"command": line, "timeout": 0.3}));
    let result = stage.result(&prompt);
    assert!(
        result.contains("begun") && result.contains("0.3 seconds"),
        "{result}"
    );
    witness.wait_until_held();
    witness.assert_gone_within(PATIENCE);
}

#[test]
fn a_cancel_kills_the_whole_group() {
    let stage = stage();
    let mut witness = Witness::new(&stage.workspace.root());
    // One child ignores the polite signal, one has a session of its own.
    let line = format!(
        "{}(trap '' TERM INT HUP; sleep 1000) & setsid sleep 1000 & sleep 1000",
        Witness::HOLD
    );
    let (session, prompt) = stage.call("execute_command", run(&line));
    witness.wait_until_held();
    stage.editor.cancel(&session);
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::Cancelled));
    witness.assert_gone_within(PATIENCE);
}

#[test]
fn what_a_command_leaves_in_the_background_does_not_hold_up_its_result() {
    let stage = stage();
    let (_, prompt) = stage.call("execute_command", run("sleep 1000 & echo done"));
    assert!(stage.result(&prompt).contains("done"));
}

#[test]
fn bug_039_no_providers_key_is_in_the_environment() {
    let setup = Setup {
        environment: vec![
            ("OPENAI_API_KEY", "swordfish-1".into()),
            ("ANTHROPIC_API_KEY", "swordfish-2".into()),
            ("MY_OWN_NAME_FOR_IT", "swordfish-3".into()),
            ("HARMLESS", "kept".into()),
        ],
        ..Setup::agent()
    };
    // The configured variable has no telling name, and is known as a key all the same.
    let config =
        "[providers.other]\nkind = \"openai-compatible\"\napi_key_env = \"MY_OWN_NAME_FOR_IT\"\n\n";
    let stage = Stage::with(setup, "", &format!("{config}{FULL}"));
    let (_, prompt) = stage.call("execute_command", run("env; cat /proc/self/environ"));
    let result = stage.result(&prompt);
    assert!(result.contains("HARMLESS=kept"), "{result}");
    assert!(!result.contains("swordfish"), "{result}");
}

#[test]
fn much_output_is_cut_in_the_middle_and_nothing_waits() {
    let stage = Stage::with(
        Setup::agent(),
        "",
        &format!("{FULL}\n[limits]\ncommand_output_bytes = 10000\n"),
    );
    let (_, prompt) = stage.call(
        "execute_command",
        run("echo head; yes | head -c 5000000; echo tail"),
    );
    let result = stage.result(&prompt);
    assert!(
        result.starts_with("head\n") && result.ends_with("tail\n"),
        "{} bytes",
        result.len()
    );
    assert!(result.len() < 11_000, "{} bytes", result.len());
}

#[test]
fn it_has_a_terminal_unless_the_person_wants_pipes() {
    let line = "test -t 0 && test -t 1 && echo terminal; cat; stty size 2>&1 | head -c 6";
    let stage = stage();
    let (_, prompt) = stage.call("execute_command", run(line));
    assert_eq!(stage.result(&prompt), "terminal\n40 120");
    drop(stage);
    let config = format!("{FULL}\n[exec]\npty = false\n");
    let stage = Stage::with(Setup::agent(), "", &config);
    let (_, prompt) = stage.call("execute_command", run(line));
    assert_eq!(stage.result(&prompt), "stty: ");
}

#[test]
fn a_repository_may_not_say_how_commands_run() {
    let files = "//- /.undine/config.toml\n[exec]\npty = false\n";
    let stage = Stage::with(Setup::agent(), files, FULL);
    let (_, prompt) = stage.call("execute_command", run("test -t 1 && echo terminal"));
    assert_eq!(stage.result(&prompt), "terminal\n");
    stage.editor.take("the warning", |it| {
        it["params"]["message"]
            .as_str()
            .is_some_and(|it| it.contains("may not set exec.pty"))
    });
}
