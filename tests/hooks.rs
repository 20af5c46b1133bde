//! Hooks: the person's programs that see what the agent is about to do (spec 21.5).

use crate::support::editor::{Editor, Pending, Setup, Turn};
use crate::support::model::Said;
use crate::support::stage::Stage;
use protocol::methods::Prompt;
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Output};

const FULL: &str = "[safety]\nmode = \"full_access\"\n";

/// Hooks before each use of a tool, one a command line.
fn hooks(lines: &[&str]) -> String {
    lines.iter().map(|it| hook("before_tool_use", it)).collect()
}

fn hook(event: &str, line: &str) -> String {
    format!("[[hooks]]\nevent = \"{event}\"\ncommand = '''\n{line}\n'''\n")
}

fn stage(config: &str) -> Stage {
    Stage::with(
        Setup::agent(),
        "//- /a.txt\nalpha\n",
        &format!("{FULL}{config}"),
    )
}

fn run(line: &str) -> Value {
    json!({"command": line})
}

fn warns<'a>(what: &'a str) -> impl Fn(&Value) -> bool + 'a {
    move |it| {
        let message = it["params"]["message"].as_str();
        it["method"] == "window/showMessage" && message.is_some_and(|it| it.contains(what))
    }
}

/// Ends a turn whose request has a word of ours behind its only result; answers the result, and all that was sent.
fn told(stage: &Stage, prompt: &Pending<Prompt>) -> (String, String, Turn) {
    let mut asked = stage.model.next();
    let results = asked.turns().into_iter().filter_map(|it| match it {
        Said::Result(_, text) => Some(text),
        _ => None,
    });
    let results: Vec<String> = results.collect();
    let sent = asked.body.to_string();
    asked.say("done");
    asked.end();
    assert_eq!(results.len(), 1, "{sent}");
    (results.concat(), sent, stage.editor.end(prompt))
}

/// Waits for the person's word on something; answers it.
fn warned(editor: &Editor, what: &str) -> String {
    let message = editor.take(what, warns(what));
    message["params"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_hook_sees_the_call_and_has_no_keys() {
    let config = hooks(&["cat >seen.json; env >env.txt"]);
    let mut stage = Stage::new("");
    let setup = Setup {
        environment: vec![("SOME_API_KEY", "secret-value".to_owned())],
        ..Setup::agent()
    };
    stage.editor.finish();
    stage = Stage::with(setup, "//- /a.txt\nalpha\n", &format!("{FULL}{config}"));
    let (session, prompt) = stage.call("execute_command", run("echo hi"));
    assert_eq!(stage.result(&prompt), "hi\n");
    let seen: Value = serde_json::from_str(&stage.workspace.read("seen.json")).unwrap();
    assert_eq!(
        seen,
        json!({
            "hook_event_name": "before_tool_use",
            "session_id": session.0,
            "cwd": stage.workspace.root(),
            "tool_name": "execute_command",
            "tool_input": {"command": "echo hi"},
        })
    );
    let environment = stage.workspace.read("env.txt");
    assert!(
        environment.contains("PATH=") && !environment.contains("secret-value"),
        "{environment}"
    );
}

#[test]
fn the_first_hook_that_denies_wins_and_the_model_is_told_why() {
    let config = hooks(&[
        "true",
        "echo 'not in this project' >&2; exit 2",
        "touch never",
    ]);
    let stage = stage(&config);
    let (_, prompt) = stage.call("execute_command", run("touch ran"));
    let result = stage.result(&prompt);
    assert!(
        result.contains("Refused by a hook") && result.contains("not in this project"),
        "{result}"
    );
    assert!(!stage.workspace.exists("ran") && !stage.workspace.exists("never"));
}

#[test]
fn a_hook_denies_by_its_answer_too() {
    let stage = stage(&hooks(&[
        r#"echo '{"decision": "deny", "reason": "use make"}'"#,
    ]));
    let (_, prompt) = stage.call("execute_command", run("touch ran"));
    assert!(stage.result(&prompt).contains("use make"));
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn the_last_rewrite_wins_and_the_model_and_the_person_hear_of_it() {
    let config = hooks(&[
        r#"echo '{"updatedInput": {"command": "echo first"}}'"#,
        r#"grep -q first && echo '{"updatedInput": {"command": "echo second"}, "additionalContext": "mind the gap"}'"#,
    ]);
    let stage = stage(&config);
    let (_, prompt) = stage.call("execute_command", run("echo none"));
    let (result, told, turn) = told(&stage, &prompt);
    assert_eq!(result, "second\n");
    assert!(told.contains("mind the gap"), "{told}");
    assert!(
        told.contains("A hook changed the arguments of execute_command"),
        "{told}"
    );
    assert!(
        turn.text().contains("A hook changed the arguments"),
        "{turn:?}"
    );
}

#[test]
fn a_rewritten_call_is_judged_as_what_it_is_now() {
    let outside = "/etc/hostname";
    let config = hooks(&[&format!(
        r#"echo '{{"updatedInput": {{"path": "{outside}"}}}}'"#
    )]);
    let stage = Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", &config);
    let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    let question = stage.editor.question();
    let asked = serde_json::to_string(&question.params).unwrap();
    assert!(asked.contains(outside), "{asked}");
    stage.editor.choose(&question, "no");
    told(&stage, &prompt);
}

#[test]
fn a_hook_cannot_loosen_what_is_asked() {
    let config = hooks(&[r#"echo '{"decision": "allow", "permissionDecision": "allow"}'"#]);
    let stage = Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", &config);
    let (_, prompt) = stage.call("execute_command", run("touch ran"));
    stage.editor.choose(&stage.editor.question(), "no");
    stage.result(&prompt);
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn a_hook_that_crashes_talks_nonsense_or_takes_too_long_lets_the_call_go_on_with_a_warning() {
    for (line, why) in [
        ("kill -9 $$", "was ended by signal 9"),
        ("echo oops >&2; exit 1", "ended with exit code 1: oops"),
        ("echo hello", "no JSON object"),
        ("sleep 60 & sleep 60", "took longer than 1 s"),
        ("no-such-program-at-all", "exit code 127"),
    ] {
        let config = format!("{}[limits]\nhook_secs = 1\n", hooks(&[line]));
        let stage = stage(&config);
        let (_, prompt) = stage.call("execute_command", run("echo hi"));
        assert_eq!(stage.result(&prompt), "hi\n", "{line}");
        let said = warned(&stage.editor, "The hook");
        assert!(said.contains(why), "{line}: {said}");
    }
}

#[test]
fn a_cancel_ends_a_hook_and_nothing_runs() {
    let stage = stage(&hooks(&["touch begun; cat fifo"]));
    nix::unistd::mkfifo(&stage.workspace.path("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (session, prompt) = stage.call("execute_command", run("touch ran"));
    stage.editor.cancel(&session);
    stage.editor.end(&prompt);
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn a_hook_hears_only_of_the_tools_it_names() {
    let config = "[[hooks]]\ntool = \"*_file\"\ncommand = \"exit 2\"\n";
    let stage = stage(config);
    let (_, prompt) = stage.call("execute_command", run("echo hi"));
    assert_eq!(stage.result(&prompt), "hi\n");
    let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
    assert!(stage.result(&prompt).contains("Refused by a hook"));
}

#[test]
fn others_look_on_and_what_they_say_counts_for_nothing() {
    let config: String = ["after_tool_use", "prompt", "turn_end"]
        .map(|it| hook(it, &format!("cat >fifo-{it}; exit 2")))
        .concat();
    let stage = stage(&config);
    let mode = nix::sys::stat::Mode::S_IRWXU;
    for it in ["after_tool_use", "prompt", "turn_end"] {
        nix::unistd::mkfifo(&stage.workspace.path(&format!("fifo-{it}")), mode).unwrap();
    }
    let heard = |it: &str| -> Value {
        let text = fs::read_to_string(stage.workspace.path(&format!("fifo-{it}"))).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let (_, prompt) = stage.call("execute_command", run("echo hi"));
    assert_eq!(stage.result(&prompt), "hi\n");
    assert_eq!(heard("prompt")["prompt"], "go");
    let after = heard("after_tool_use");
    assert_eq!(after["tool_input"], run("echo hi"));
    assert_eq!(
        after["tool_response"],
        json!({"is_error": false, "text": "hi\n"})
    );
    assert_eq!(heard("turn_end")["hook_event_name"], "turn_end");
}

// The project's own.

const OWN: &str = "//- /.undine/hooks.toml\n[[hooks]]\ncommand = \"touch hooked\"\n";

fn undine(stage: &Stage, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undine"));
    command
        .arg("trust")
        .args(arguments)
        .env("UNDINE_CONFIG_DIR", stage.workspace.outside("config"))
        .env("UNDINE_DATA_DIR", stage.workspace.outside("data"))
        .env("HOME", stage.workspace.outside("home"))
        .current_dir(stage.workspace.root());
    command.output().unwrap()
}

fn id_in(text: &str) -> String {
    let (_, rest) = text.split_once("trust ").expect(text);
    rest.chars().take_while(char::is_ascii_hexdigit).collect()
}

/// Whether the project's hook ran before a call.
fn hooked(stage: &Stage) -> bool {
    let (_, prompt) = stage.call("execute_command", run("echo hi"));
    assert_eq!(stage.result(&prompt), "hi\n");
    let is_there = stage.workspace.exists("hooked");
    if is_there {
        fs::remove_file(stage.workspace.path("hooked")).unwrap();
    }
    is_there
}

#[test]
fn no_hook_of_a_project_runs_before_the_person_trusts_it() {
    let stage = Stage::with(Setup::agent(), OWN, FULL);
    assert!(!hooked(&stage) && !hooked(&stage));
    let said = warned(&stage.editor, "you have not trusted them");
    assert!(said.contains("undine trust"), "{said}");
    stage.editor.round_trip();
    assert_eq!(stage.editor.count(warns("trusted")), 0, "said once");
}

#[test]
fn the_person_trusts_exactly_what_they_were_shown() {
    let stage = Stage::with(Setup::agent(), OWN, FULL);
    let session = stage.editor.new_session();
    let say = |text: &str| {
        let prompt = stage.editor.prompt(&session, text);
        stage.editor.end(&prompt).text()
    };
    let shown = say("/trust");
    assert!(shown.contains("before_tool_use: `touch hooked`"), "{shown}");
    let id = id_in(&shown);
    assert_eq!(id.len(), 12, "{shown}");
    assert!(say("/trust 000000000000").contains("look at them"));
    assert!(!hooked(&stage));
    assert!(say(&format!("/trust {id}")).contains("run from now on"));
    assert!(hooked(&stage));
    // Another content is not trusted, and the id of what was shown before trusts nothing else.
    let other = "[[hooks]]\ncommand = \"touch hooked; true\"\n";
    stage.workspace.write(".undine/hooks.toml", other);
    assert!(!hooked(&stage));
    assert!(say(&format!("/trust {id}")).contains("look at them"));
    assert!(!hooked(&stage));
    // Back as it was, it is what they trusted.
    stage.workspace.write(
        ".undine/hooks.toml",
        "[[hooks]]\ncommand = \"touch hooked\"\n",
    );
    assert!(hooked(&stage));
    assert!(say("/trust off").contains("not run any more"));
    assert!(!hooked(&stage));
    stage.editor.forget(warns("trusted"));
}

#[test]
fn hooks_are_trusted_from_a_terminal_too() {
    let stage = Stage::with(Setup::agent(), OWN, FULL);
    let shown = String::from_utf8(undine(&stage, &[]).stdout).unwrap();
    assert!(
        shown.contains("touch hooked") && shown.contains("They do not run"),
        "{shown}"
    );
    assert_eq!(undine(&stage, &["000000000000"]).status.code(), Some(2));
    assert!(undine(&stage, &[&id_in(&shown)]).status.success());
    assert!(hooked(&stage));
}

#[test]
fn a_project_sets_no_hooks_by_its_options() {
    let files = "//- /.undine/config.toml\n[[hooks]]\ncommand = \"touch hooked\"\n";
    let stage = Stage::with(Setup::agent(), files, FULL);
    assert!(!hooked(&stage));
    warned(&stage.editor, "hooks");
}

#[test]
fn a_file_of_hooks_that_cannot_be_read_runs_nothing_and_is_named() {
    let files = "//- /.undine/hooks.toml\n[[hooks]]\ncomand = \"touch hooked\"\nevent = \"now\"\n";
    let stage = Stage::with(Setup::agent(), files, FULL);
    assert!(!hooked(&stage));
    warned(&stage.editor, ".undine/hooks.toml is not used");
}

#[test]
fn the_classifier_sees_what_a_hook_made_of_a_call() {
    let config = hooks(&[r#"echo '{"updatedInput": {"command": "touch second"}}'"#]);
    let config = format!("[safety]\nmode = \"auto\"\n{config}");
    let stage = Stage::with(Setup::agent(), "", &config);
    stage.model.classify();
    let (_, prompt) = stage.call("execute_command", run("touch first"));
    let mut asked = stage.model.next_for_classifier();
    let sent = asked.body.to_string();
    assert!(
        sent.contains("touch second") && !sent.contains("touch first"),
        "{sent}"
    );
    asked.say("ALLOW");
    asked.end();
    told(&stage, &prompt);
    assert!(stage.workspace.exists("second") && !stage.workspace.exists("first"));
}
