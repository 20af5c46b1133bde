//! Known faults of other agents' shells, each in several forms, through the server as a model meets them.

use super::{FULL, PATIENCE, run};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use crate::support::witness::Witness;
use protocol::acp::StopReason;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Ways to have a process that is hard to end, each in the background of its shell. What follows waits for it.
const CLINGING: [(&str, &str); 6] = [
    ("a child", "sleep 1000 &"),
    ("a shell's child", "sh -c 'sleep 1000 & sleep 1000' &"),
    (
        "one that ignores all it can",
        "(trap '' TERM INT HUP QUIT; sleep 1000; sleep 1000) &",
    ),
    ("one with a session of its own", "setsid sleep 1000 &"),
    ("nohup", "nohup sh -c 'sleep 1000' >/dev/null 2>&1 &"),
    (
        "a daemon that forked twice",
        "(setsid sh -c '(trap \"\" TERM HUP; cd /; sleep 1000; sleep 1000) &' &) ;",
    ),
];

fn with(pty: bool) -> Stage {
    Stage::with(
        Setup::agent(),
        "",
        &format!("{FULL}\n[exec]\npty = {pty}\n"),
    )
}

#[test]
fn bug_028_a_time_out_leaves_nobody_however_he_clings() {
    for pty in [true, false] {
        let stage = with(pty);
        for (kind, start) in CLINGING {
            let mut witness = Witness::new(&stage.workspace.root());
            let line = format!("{}{start} echo begun; sleep 1000", Witness::HOLD);
            let (_, prompt) =
                stage.call("execute_command", json!({"command": line, "timeout": 0.5}));
            let result = stage.result(&prompt);
            assert!(
                result.contains("0.5 seconds and was ended with all it had started"),
                "{kind}: {result}"
            );
            witness.wait_until_held();
            // Told when it is so, and not before.
            witness.assert_gone_within(Duration::from_millis(50));
            std::fs::remove_file(stage.workspace.path("alive")).unwrap();
        }
    }
}

#[test]
fn bug_028_a_server_that_is_left_behind_ends_with_the_command() {
    let stage = with(true);
    for (kind, start) in CLINGING {
        let mut witness = Witness::new(&stage.workspace.root());
        let line = format!("{}{start} echo done", Witness::HOLD);
        let (_, prompt) = stage.call("execute_command", run(&line));
        assert_eq!(stage.result(&prompt), "done\n", "{kind}");
        witness.wait_until_held();
        witness.assert_gone_within(Duration::from_millis(50));
        std::fs::remove_file(stage.workspace.path("alive")).unwrap();
    }
}

#[test]
fn bug_029_a_cancel_leaves_nobody_however_he_clings() {
    for pty in [true, false] {
        let stage = with(pty);
        for (kind, start) in CLINGING {
            let mut witness = Witness::new(&stage.workspace.root());
            // Held only when all of them are there.
            let line = format!("exec 9>alive; {start} echo held >&9; sleep 1000");
            let (session, prompt) = stage.call("execute_command", run(&line));
            witness.wait_until_held();
            stage.editor.cancel(&session);
            let turn = stage.editor.end(&prompt);
            assert_eq!(turn.end, Ok(StopReason::Cancelled), "{kind}");
            witness.assert_gone_within(PATIENCE);
            std::fs::remove_file(stage.workspace.path("alive")).unwrap();
        }
    }
}

#[test]
fn bug_029_a_killed_server_leaves_nobody_however_he_clings() {
    for pty in [true, false] {
        for (_, start) in CLINGING {
            let mut stage = with(pty);
            let mut witness = Witness::new(&stage.workspace.root());
            let line = format!("exec 9>alive; {start} echo held >&9; sleep 1000");
            stage.call("execute_command", run(&line));
            witness.wait_until_held();
            stage.editor.kill();
            witness.assert_gone_within(PATIENCE);
        }
    }
}

#[test]
fn bug_035_who_asks_for_a_password_gets_none_and_holds_nothing_up() {
    for pty in [true, false] {
        let stage = with(pty);
        for (line, said) in [
            ("cat; echo over", "over"),
            ("read -r password; echo \"<$password>\"", "<>"),
            ("(head -1 </dev/tty) 2>/dev/null; echo over", "over"),
            (
                "python3 -W ignore -c 'import getpass; getpass.getpass()' 2>&1 | tail -1; echo over",
                "over",
            ),
            (
                "printf 'protocol=https\\nhost=example.invalid\\n' | git -c credential.helper= credential fill 2>&1",
                "terminal prompts disabled",
            ),
            (
                "echo \"<$SSH_ASKPASS_REQUIRE$GIT_ASKPASS>\"; test -z \"$SSH_AUTH_SOCK\" && echo none",
                "<never>\nnone",
            ),
        ] {
            let begun = Instant::now();
            let (_, prompt) = stage.call("execute_command", run(line));
            let result = stage.result(&prompt);
            assert!(result.contains(said), "{line}: {result}");
            assert!(begun.elapsed() < PATIENCE, "{line}");
        }
    }
}

#[test]
fn bug_036_a_failing_build_with_much_output_keeps_its_beginning_and_its_error() {
    for (pty, noise) in [
        (false, "head -c 5000000 /dev/zero | tr '\\0' x; echo"),
        (false, "yes 'warning: unused' | head -c 5000000 >&2; echo"),
        (true, "yes 'warning: unused' | head -c 5000000"),
        (true, "head -c 5000000 /dev/zero | tr '\\0' x; echo"),
    ] {
        let stage = with(pty);
        let line = format!("echo compiling; {noise}; echo 'error: at the end' >&2; exit 101");
        let (_, prompt) = stage.call("execute_command", run(&line));
        let result = stage.result(&prompt);
        assert!(result.starts_with("compiling\n"), "{:.100}", result);
        assert!(
            result.ends_with("error: at the end\n[exit code 101]"),
            "{}",
            &result[result.len() - 100..]
        );
        assert_eq!(result.matches("bytes left out here").count(), 1);
        assert!(result.len() < 257 * 1024, "{}", result.len());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn bug_037_output_without_end_costs_no_memory() {
    let peak = |pid: u32| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status
            .lines()
            .find_map(|it| it.strip_prefix("VmHWM:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    for pty in [true, false] {
        let stage = with(pty);
        let before = peak(stage.editor.pid());
        for line in ["yes", "yes | tr -d '\\n'", "cat /dev/zero", "yes >&2"] {
            let (_, prompt) =
                stage.call("execute_command", json!({"command": line, "timeout": 0.5}));
            let result = stage.result(&prompt);
            assert!(result.contains("ran longer than 0.5 seconds"), "{line}");
            assert!(result.len() < 258 * 1024, "{}", result.len());
        }
        let grown = peak(stage.editor.pid()) - before;
        assert!(grown < 64 * 1024, "{grown} KiB");
    }
}

#[test]
fn bug_038_no_part_of_an_escape_sequence_is_left_however_it_arrives() {
    for pty in [true, false] {
        let stage = with(pty);
        // Each piece is written for itself, and the next only after the first was read.
        for (pieces, plain) in [
            (&["a\\033]0;ti", "tle\\007b\\n"][..], "ab\n"),
            (&["a\\033[", "31mb\\033[0", "m\\n"], "ab\n"),
            (&["a\\033", "Pq#0;2;0", "#1\\033", "\\\\b\\n"], "ab\n"),
            (&["abd", "\\010", "c\\n"], "abc\n"),
            (&["50%%\\r", "\\n100%%\\r\\n"], "50%\n100%\n"),
            (&["a\\033_x", "\\033\\\\\\033^y\\033\\\\b\\n"], "ab\n"),
            (&["\\303", "\\251\\n"], "\u{e9}\n"),
        ] {
            let writes: Vec<String> = pieces
                .iter()
                .map(|it| format!("printf '{it}'; sleep 0.02"))
                .collect();
            let (_, prompt) = stage.call("execute_command", run(&writes.join("; ")));
            assert_eq!(stage.result(&prompt), plain, "{pieces:?}");
        }
    }
}

#[test]
fn bug_039_no_way_to_look_at_the_environment_shows_a_key() {
    let secrets = [
        ("OPENAI_API_KEY", "swordfish-1"),
        ("GITHUB_TOKEN", "swordfish-2"),
        ("DATABASE_URL", "swordfish-3"),
        ("npm_config__authToken", "swordfish-4"),
        ("SENTRY_DSN", "swordfish-5"),
        ("AWS_SECRET_ACCESS_KEY", "swordfish-6"),
    ];
    let mut environment: Vec<(&'static str, String)> = secrets
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    environment.push(("CARGO_HOME", "/toolchain".to_owned()));
    let setup = Setup {
        environment,
        ..Setup::agent()
    };
    let stage = Stage::with(setup, "", FULL);
    for line in [
        "env",
        "sh -c 'export -p'",
        "python3 -c 'import os; print(os.environ)'",
        "tr '\\0' '\\n' </proc/self/environ",
        "tr '\\0' '\\n' </proc/$PPID/environ",
        "setsid env",
    ] {
        let (_, prompt) = stage.call("execute_command", run(line));
        let result = stage.result(&prompt);
        assert!(!result.contains("swordfish"), "{line}: {result}");
        assert!(
            result.contains("PATH") && result.contains("/toolchain"),
            "{line}: {result}"
        );
    }
    let arguments =
        json!({"command": "env; sleep 1000", "mode": "background", "ready_pattern": "/toolchain"});
    let (_, prompt) = stage.call("execute_command", arguments);
    let result = stage.result(&prompt);
    assert!(
        result.contains("/toolchain") && !result.contains("swordfish"),
        "{result}"
    );
}

#[test]
fn bug_043_a_call_that_never_ran_has_no_duration() {
    let durations = |turn: &crate::support::editor::Turn| -> Vec<Value> {
        turn.of_kind("tool_call_update")
            .iter()
            .map(|it| it["_meta"]["undine"]["durationMs"].clone())
            .filter(|it| !it.is_null())
            .collect()
    };
    // By the person, by the mode, by its arguments, and by a cancel before the answer.
    let stage = Stage::new("");
    let (_, prompt) = stage.call("execute_command", run("true"));
    let question = stage.editor.question();
    stage.editor.deny(&question, "no");
    let mut asked = stage.model.next();
    asked.say("ok");
    asked.end();
    assert_eq!(durations(&stage.editor.end(&prompt)), [] as [Value; 0]);

    for (mode, arguments) in [
        ("read_only", run("rm -r x")),
        ("full_access", json!({"command": ""})),
        ("full_access", json!({"command": 5})),
    ] {
        let session = stage.editor.new_session();
        stage.editor.set_mode(&session, mode);
        let prompt = stage.editor.prompt(&session, "go");
        let mut asked = stage.model.next();
        asked.call("execute_command", arguments);
        asked.end();
        let mut asked = stage.model.next();
        asked.say("ok");
        asked.end();
        let turn = stage.editor.end(&prompt);
        assert_eq!(durations(&turn), [] as [Value; 0], "{mode}");
    }

    let (session, prompt) = stage.call("execute_command", run("true"));
    let question = stage.editor.question();
    stage.editor.cancel(&session);
    stage.editor.expect_withdrawn(&question.id);
    assert_eq!(durations(&stage.editor.end(&prompt)), [] as [Value; 0]);
}
