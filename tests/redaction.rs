//! Secrets are taken out of whatever is kept or shown, and of nothing that is executed, written or read by the model.
//!
//! One test an edge, by a real run; `ordinary.rs` looks at what must stay as it is.

mod ordinary;
mod providers;

use crate::support::editor::{Setup, text_of_call};
use crate::support::stage::Stage;
use crate::support::workspace::Workspace;
use protocol::acp::{SessionId, StopReason};
use protocol::approval::OptionId;
use protocol::checkpoint::ListCheckpointsParams;
use protocol::methods::{CreateElicitation, ListCheckpoints, ListProcesses, ReadProcess};
use protocol::process::{ListProcessesParams, ReadProcessParams};
use protocol::record::Record;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const FULL: &str = "[safety]\nmode = \"full_access\"\n";

/// A key as a provider makes them. Its words are looked for one by one, so that no part of it is left.
const KEY: &str = "sk-proj-4fG7hJ2kL9mN3pQ5-rS8tU1vW6xY0zA2bC";

/// What no text may hold.
const PARTS: [&str; 2] = ["4fG7hJ2kL9mN3pQ5", "rS8tU1vW6xY0zA2bC"];

#[track_caller]
fn assert_hidden(text: &str) {
    for part in PARTS {
        assert!(!text.contains(part), "{text}");
    }
}

#[track_caller]
fn assert_masked(what: &impl Serialize) {
    let text = serde_json::to_string(what).unwrap();
    assert_hidden(&text);
    assert!(text.contains("***"), "{text}");
}

/// A command that uses the key, in a way that can be tried without a network.
fn with_key() -> String {
    format!("echo curl -H \"Authorization: Bearer {KEY}\" > sent")
}

fn run(line: &str) -> Value {
    json!({"command": line})
}

/// All that is logged, and where.
fn logging(stage_setup: Setup, folder: &Path) -> (Setup, PathBuf) {
    let log = folder.join("trace.log");
    let arguments = vec![
        "-vv".to_owned(),
        "--log-file".to_owned(),
        log.display().to_string(),
    ];
    let setup = Setup {
        arguments,
        ..stage_setup
    };
    (setup, log)
}

fn log_of(stage: &Stage) -> String {
    let logs = stage.workspace.logs();
    logs.iter()
        .map(|it| fs::read_to_string(it).unwrap())
        .collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}

/// Ends `undine` with these arguments in the project; all that it said.
fn undine(workspace: &Workspace, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_undine"))
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", workspace.outside("home"))
        .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
        .env("UNDINE_DATA_DIR", workspace.outside("data"))
        .env("TMPDIR", workspace.outside("tmp"))
        .env("UNDINE_NO_KEYRING", "1")
        .current_dir(workspace.root())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    String::from_utf8(said).unwrap()
}

#[test]
fn a_command_with_a_key_runs_as_it_is_and_is_asked_about_kept_and_logged_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let (setup, log) = logging(Setup::agent(), folder.path());
    let mut stage = Stage::with(setup, "", "");
    let (_, prompt) = stage.call("execute_command", run(&with_key()));
    let question = stage.editor.question();
    assert_masked(&question.params);
    stage.editor.choose(&question, OptionId::Once.id());
    let mut asked = stage.model.next();
    // What the model wrote is what it is told that it wrote.
    assert!(asked.body.to_string().contains(KEY));
    asked.say("done");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_masked(&turn.updates);
    assert_eq!(
        stage.workspace.read("sent"),
        format!("curl -H Authorization: Bearer {KEY}\n")
    );
    assert_hidden(&log_of(&stage));
    assert!(log_of(&stage).contains("Bearer ***"));
    stage.editor.finish();
    assert_hidden(&fs::read_to_string(log).unwrap());
    assert_hidden(&stage.editor.stderr());
    // The checkpoint has the action for being done again. It is its owner's only.
    for file in files_in(&stage.workspace.outside("data")) {
        let bytes = fs::read(&file).unwrap();
        if String::from_utf8_lossy(&bytes).contains(KEY) {
            assert!(file.to_string_lossy().contains("checkpoints"), "{file:?}");
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
        }
    }
}

#[test]
fn what_a_command_prints_is_exact_for_the_model_and_masked_for_all_others() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n\
               4fG7hJ2kL9mN3pQ5rS8tU1vW6xY0zA2bC==\n-----END RSA PRIVATE KEY-----\n";
    let files = format!("//- /key.pem\n{key}//- /.env\nDB_PASSWORD=4fG7hJ2kL9mN3pQ5\nNAME=kept\n");
    let stage = Stage::with(Setup::agent(), &files, FULL);
    let (_, prompt) = stage.call("execute_command", run("cat key.pem .env"));
    let mut asked = stage.model.next();
    assert_eq!(
        asked.result(),
        format!("{key}DB_PASSWORD=4fG7hJ2kL9mN3pQ5\nNAME=kept\n")
    );
    asked.call("read_file", json!({"path": ".env"}));
    asked.end();
    let mut asked = stage.model.next();
    assert!(asked.result().contains("DB_PASSWORD=4fG7hJ2kL9mN3pQ5"));
    asked.say("done");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_masked(&turn.updates);
    let shown: String = turn
        .of_kind("tool_call_update")
        .iter()
        .map(text_of_call)
        .collect();
    assert!(
        shown.contains("NAME=kept") && !shown.contains("MIIE"),
        "{shown}"
    );
    let log = log_of(&stage);
    assert_hidden(&log);
    assert!(log.contains("NAME=kept") && !log.contains("MIIE"), "{log}");
}

#[test]
fn a_key_that_streams_in_pieces_is_shown_and_kept_as_one_mask() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("what is the key?");
    asked.think("The key is sk-proj-4fG7hJ2k");
    asked.think("L9mN3pQ5-rS8tU1vW6xY0zA2bC, I see.");
    // So long that the log has it in parts, with the end of one in the middle of a key.
    asked.say(&"All is well here. ".repeat(113));
    asked.say("It is ");
    for piece in [
        "s",
        "k-proj-4fG",
        "7hJ2kL9mN3pQ5-rS8t",
        "U1vW6xY0zA2bC",
        " and password=",
        "4fG7hJ2k",
        "L9mN3pQ5\n",
    ] {
        asked.say(piece);
    }
    asked.say("Bye, sk-proj-4fG7hJ2kL9mN3pQ5-rS8tU1vW6xY0zA2bC");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_masked(&turn.updates);
    let text = turn.text();
    assert!(text.contains("*** and password=***\nBye, ***"), "{text}");
    assert!(text.starts_with("All is well here. All"), "{text}");
    assert_hidden(&log_of(&stage));
    let kept: String = stage
        .workspace
        .records()
        .into_iter()
        .filter_map(|it| match it {
            Record::Assistant { text, thought, .. } => Some(thought + &text),
            _ => None,
        })
        .collect();
    assert_hidden(&kept);
    assert!(
        kept.contains("The key is ***, I see.")
            && kept.ends_with("It is *** and password=***\nBye, ***"),
        "{kept}"
    );
}

#[test]
fn a_key_in_pieces_of_an_answer_that_is_cancelled_stays_hidden() {
    let stage = Stage::new("");
    let (session, prompt, mut asked) = stage.ask("go");
    asked.say("Now ").say("sk-proj-4fG7hJ2kL9mN3pQ5-");
    stage.editor.wait_for_text("Now ");
    stage.editor.cancel(&session);
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::Cancelled));
    assert_hidden(&serde_json::to_string(&turn.updates).unwrap());
    assert_hidden(&log_of(&stage));
    asked.wait_until_hung_up();
}

#[test]
fn a_resumed_session_goes_on_with_masks_in_place_of_secrets() {
    let mut stage = Stage::with(Setup::agent(), "", FULL);
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, &format!("use the key {KEY}"));
    let mut asked = stage.model.next();
    assert!(asked.last_prompt().contains(KEY));
    asked.call("execute_command", run(&with_key()));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    stage.editor.finish();
    stage.restart();
    let updates = stage.editor.load(&session).unwrap();
    assert_masked(&updates);
    let titles: Vec<Option<String>> = stage
        .editor
        .sessions()
        .into_iter()
        .map(|it| it.title)
        .collect();
    assert_eq!(titles, [Some("use the key ***".to_owned())]);
    // The scripted model checks that a provider would take this history.
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    assert_masked(&asked.body);
    asked.call("execute_command", run(&with_key()));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert!(stage.workspace.read("sent").contains(KEY));
}

#[test]
fn an_edit_with_a_secret_is_made_and_reviewed_to_the_letter_and_kept_without_it() {
    let stage = Stage::new("//- /settings.toml\n[db]\npassword = \"4fG7hJ2kL9mN3pQ5\"\n");
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "settings.toml"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.call(
        "edit_file",
        json!({
            "path": "settings.toml",
            "target_content": "password = \"4fG7hJ2kL9mN3pQ5\"",
            "replacement_content": "password = \"rS8tU1vW6xY0zA2bC\"",
        }),
    );
    asked.end();
    let question = stage.editor.question();
    let call = serde_json::to_value(&question.params).unwrap();
    let diff = &call["toolCall"]["content"][0];
    assert_eq!(diff["oldText"], "[db]\npassword = \"4fG7hJ2kL9mN3pQ5\"\n");
    assert_eq!(diff["newText"], "[db]\npassword = \"rS8tU1vW6xY0zA2bC\"\n");
    stage.editor.choose(&question, OptionId::Once.id());
    stage.result(&prompt);
    assert_eq!(
        stage.workspace.read("settings.toml"),
        "[db]\npassword = \"rS8tU1vW6xY0zA2bC\"\n"
    );
    assert_hidden(&log_of(&stage));
    // And it is given back to the letter.
    let id = listed(&stage, &session)["checkpoints"][0]["id"].clone();
    let id = id.as_str().unwrap().to_owned();
    undine(&stage.workspace, &["restore", &id, "--force"]);
    assert_eq!(
        stage.workspace.read("settings.toml"),
        "[db]\npassword = \"4fG7hJ2kL9mN3pQ5\"\n"
    );
}

#[test]
fn an_answer_for_the_session_to_a_command_with_a_key_is_not_kept_in_the_log() {
    let stage = Stage::new("");
    let (_, prompt) = stage.call("execute_command", run(&with_key()));
    let question = stage.editor.question();
    stage.editor.choose(&question, OptionId::Session.id());
    // It holds as long as this server lives.
    let mut asked = stage.model.next();
    asked.call("execute_command", run(&with_key()));
    asked.end();
    stage.result(&prompt);
    let rules: Vec<_> = stage
        .workspace
        .records()
        .into_iter()
        .filter_map(|it| match it {
            Record::Decision { rule, .. } => Some(rule),
            _ => None,
        })
        .collect();
    assert_eq!(rules, [None]);
}

#[test]
fn editors_without_a_chat_are_shown_masks_too() {
    let stage = Stage::with(Setup::bare(), "//- /a.txt\nx\n", "");
    stage.editor.open("a.txt");
    let (_, prompt) = stage.call("execute_command", run(&with_key()));
    let question = stage.editor.expect_raw("window/showMessageRequest");
    assert_masked(&question["params"]);
    let id = stage.editor.raw_request(
        "textDocument/codeAction",
        json!({
            "textDocument": {"uri": crate::support::workspace::uri(&stage.workspace.path("a.txt"))},
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
            "context": {"diagnostics": []},
        }),
    );
    let actions = stage.editor.raw_answer(id).unwrap();
    let asking: Vec<&Value> = actions
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it.to_string().contains("curl"))
        .collect();
    assert!(!asking.is_empty(), "{actions:#}");
    assert_masked(&actions);
    stage.editor.raw_reply(&question["id"], Value::Null);
    let notice = stage.editor.expect_raw("window/showMessage");
    assert_masked(&notice["params"]);
    let command = &asking[0]["command"];
    let id = stage.editor.raw_request(
        "workspace/executeCommand",
        json!({"command": command["command"], "arguments": command["arguments"]}),
    );
    stage.editor.raw_answer(id).unwrap();
    stage.result_unshown(&prompt);
    assert!(stage.workspace.read("sent").contains(KEY));
}

#[test]
fn a_form_shows_a_mask_in_its_message() {
    let stage = Stage::new("");
    let question = json!({"questions": [{
        "question": format!("Is {KEY} the right key?"),
        "header": "Key",
        "options": [{"label": "yes"}, {"label": "no"}],
    }]});
    let (_, prompt) = stage.call("ask_user_question", question);
    let asking = stage.editor.expect::<CreateElicitation>();
    assert_hidden(&serde_json::to_value(&asking.params).unwrap()["message"].to_string());
    stage
        .editor
        .raw_reply(&asking.id, json!({"action": "cancel"}));
    stage.result(&prompt);
}

#[test]
fn a_stored_action_is_listed_without_its_key_and_done_with_it() {
    let stage = Stage::new("");
    let workspace = &stage.workspace;
    let alone = |arguments: &[&str]| undine(workspace, arguments);
    let said = std::thread::scope(|scope| {
        let run = scope.spawn(move || alone(&["run", "go"]));
        let mut asked = stage.model.next();
        asked.call("execute_command", run_value());
        asked.end();
        let mut asked = stage.model.next();
        asked.say("It waits.");
        asked.end();
        run.join().unwrap()
    });
    assert_masked(&said);
    let folder = stage.workspace.outside("data").join("approvals");
    let file = files_in(&folder).remove(0);
    let mut stored: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(stored["arguments"]["command"], with_key());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
    stored["arguments"] = Value::Null;
    assert_masked(&stored);
    let id = stored["id"].as_str().unwrap().to_owned();
    assert_masked(&alone(&["approvals"]));
    assert_masked(&alone(&["approvals", &id]));
    assert_masked(&alone(&["approvals", "--json"]));
    assert!(!stage.workspace.exists("sent"));
    assert_hidden(&alone(&["approve", &id]));
    assert!(stage.workspace.read("sent").contains(KEY));
    assert_hidden(&log_of(&stage));
}

fn run_value() -> Value {
    run(&with_key())
}

fn listed(stage: &Stage, session: &SessionId) -> Value {
    let params = ListCheckpointsParams {
        session_id: session.to_string(),
    };
    let list = stage.editor.ask::<ListCheckpoints>(params).unwrap();
    serde_json::to_value(list).unwrap()
}

#[test]
fn checkpoints_are_listed_without_secrets() {
    let stage = Stage::with(Setup::agent(), "", FULL);
    let name = format!("{KEY}.txt");
    let (session, prompt) = stage.call("write_file", json!({"path": name, "content": "x"}));
    stage.result(&prompt);
    // Only the path is as it is: by it the file is found again.
    assert!(stage.workspace.exists(&name));
    assert_masked(&listed(&stage, &session)["checkpoints"][0]["title"]);
    assert_masked(&undine(&stage.workspace, &["checkpoints"]));
    assert_masked(&command(&stage, &session, "/checkpoints"));
}

#[test]
fn a_process_is_listed_and_read_without_secrets_also_where_one_is_cut_in_two() {
    let stage = Stage::with(Setup::agent(), "", FULL);
    nix::unistd::mkfifo(&stage.workspace.path("go"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    stage
        .workspace
        .write("one", format!("ready\nfirst\nthe key is {}", &KEY[..20]));
    stage
        .workspace
        .write("two", format!("{} ok\nlast\n", &KEY[20..]));
    let line = format!("cat one go two; : {KEY}");
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call(
        "execute_command",
        json!({"command": line, "mode": "background", "ready_pattern": "the key"}),
    );
    asked.end();
    let mut asked = stage.model.next();
    asked.say("It runs.");
    asked.end();
    assert_masked(&stage.editor.end(&prompt).updates);
    let params = ListProcessesParams {
        session_id: session.to_string(),
    };
    let list = stage.editor.ask::<ListProcesses>(params).unwrap();
    assert_masked(&list);
    let read = |from: u64| {
        let params = ReadProcessParams {
            session_id: session.to_string(),
            id: list.processes[0].id.clone(),
            from,
        };
        stage.editor.ask::<ReadProcess>(params).unwrap()
    };
    // The line that may become a key is not there yet.
    let first = read(0);
    assert_eq!(first.output, "ready\nfirst\n");
    fs::write(stage.workspace.path("go"), "").unwrap();
    stage.editor.take("the end of the process", |it| {
        it["method"] == "undine/process/changed"
            && it["params"]["processes"][0]["state"] == "exited"
    });
    let second = read(first.end);
    assert_eq!(second.output, "the key is *** ok\nlast\n");
    // From within the key on.
    let within = read(first.end + 25);
    assert_eq!(within.output, "*** ok\nlast\n");
    let answer = command(&stage, &session, "/logs");
    assert_hidden(&answer);
    let answer = command(&stage, &session, &format!("/logs {}", list.processes[0].id));
    assert_hidden(&answer);
    assert!(answer.contains("*** ok"), "{answer}");
}

/// What a command of the person's is answered.
fn command(stage: &Stage, session: &SessionId, text: &str) -> String {
    let prompt = stage.editor.prompt(session, text);
    stage.editor.end(&prompt).text()
}

#[test]
fn the_log_of_the_program_has_no_secrets_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let (setup, log) = logging(Setup::agent(), folder.path());
    let mut stage = Stage::with(setup, "", "");
    // An editor's own words, which are logged as they come.
    stage
        .editor
        .raw_notify("$/cancelRequest", json!({"id": KEY}));
    let session = stage.editor.new_session();
    let id = stage.editor.raw_request(
        "session/prompt",
        json!({"sessionId": session, "prompt": [
            {"type": "text", "text": "look"},
            {"type": "audio", "mimeType": "audio/x", "data": format!("password=4fG7hJ2kL9mN3pQ5 {KEY}")},
        ]}),
    );
    let mut asked = stage.model.next();
    asked.say("ok");
    asked.end();
    stage.editor.raw_answer(id).unwrap();
    stage.editor.forget(|it| it["method"] == "session/update");
    stage.editor.finish();
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("a block of the prompt was left out"), "{log}");
    assert!(log.contains("password=***"), "{log}");
    assert!(log.contains("a request that is not open"), "{log}");
    assert_hidden(&log);
}

#[test]
fn an_error_that_quotes_the_question_does_not_quote_a_secret() {
    let stage = Stage::new("");
    let id = stage
        .editor
        .raw_request("undine/process/list", json!({"sessionId": KEY}));
    let error = stage.editor.raw_answer(id).unwrap_err();
    assert_masked(&error.message);
}

#[test]
fn bug_039_a_command_sees_no_secret_of_ours_whatever_it_is_called() {
    let secrets = [
        "OPENAI_API_KEY",
        "GH_TOKEN",
        "aws_secret_access_key",
        "PGPASSWORD",
        "SLACK_WEBHOOK",
        "DATABASE_URL",
        "SENTRY_DSN",
        "npm_config__authToken",
    ];
    let mut environment: Vec<(&str, String)> =
        secrets.iter().map(|it| (*it, "swordfish".into())).collect();
    environment.push(("CARGO_HOME", "/kept/cargo".into()));
    environment.push(("HARMLESS_BY_NAME", KEY.into()));
    let setup = Setup {
        environment,
        ..Setup::agent()
    };
    let stage = Stage::with(setup, "", FULL);
    for line in [
        "env",
        "tr '\\0' '\\n' < /proc/self/environ",
        "sh -c 'export -p'",
    ] {
        let (_, prompt) = stage.call("execute_command", run(line));
        let result = stage.result(&prompt);
        assert!(!result.contains("swordfish"), "{result}");
        assert_hidden(&result);
        assert!(
            result.contains("/kept/cargo") && result.contains("PATH="),
            "{result}"
        );
    }
}
