//! What was answered for always counts where it was given, as long as the person leaves it in their file, and nothing
//! else gets in there.

mod files;

use crate::support::editor::{Pending, Setup};
use crate::support::stage::Stage;
use protocol::acp::{NewSessionRequest, SessionId};
use protocol::methods::{ForgetRule, ListRules, NewSession, Prompt};
use protocol::permission::{ForgetRuleParams, ListRulesParams, RuleList, RuleScope};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

const FILES: &str = "//- /a.txt\nalpha\n//- /sub/c.txt\n";

fn file(stage: &Stage) -> PathBuf {
    stage.workspace.outside("config").join("permissions.toml")
}

/// Makes a folder outside of the project, with files in it; answers its path.
fn outside(stage: &Stage, name: &str, files: &[&str]) -> String {
    let folder = stage.workspace.outside(name);
    fs::create_dir_all(&folder).unwrap();
    for it in files {
        fs::write(folder.join(it), "old\n").unwrap();
    }
    folder.display().to_string()
}

fn write(path: &str, text: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": text}))
}

/// Makes another new file of the project each time.
fn change() -> (&'static str, Value) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("new{}.txt", COUNT.fetch_add(1, Ordering::Relaxed));
    write(&name, "x")
}

fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({"path": path}))
}

fn run(line: &str) -> (&'static str, Value) {
    ("execute_command", json!({"command": line}))
}

/// Lets the model make one call in a session.
#[track_caller]
fn begin(stage: &Stage, session: &SessionId, call: (&str, Value)) -> Pending<Prompt> {
    let prompt = stage.editor.prompt(session, "go");
    let mut asked = stage.model.next();
    asked.call(call.0, call.1);
    asked.end();
    prompt
}

/// The call is asked about, and answered so.
#[track_caller]
fn asked(stage: &Stage, session: &SessionId, call: (&str, Value), option: &str) -> String {
    let prompt = begin(stage, session, call);
    stage.editor.choose(&stage.editor.question(), option);
    stage.result(&prompt)
}

/// The call runs, and nobody is asked.
#[track_caller]
fn unasked(stage: &Stage, session: &SessionId, call: (&str, Value)) {
    let is_command = call.0 == "execute_command";
    let prompt = begin(stage, session, call);
    let mut asked = stage.model.next();
    let result = asked.result();
    asked.say("done");
    asked.end();
    let ends: Vec<String> = stage.editor.end(&prompt).calls().into_values().collect();
    // A command that ended with an error has run.
    let has_run = ends == ["completed"] || is_command && !result.contains("Denied");
    assert!(has_run, "{ends:?} {result}");
}

#[track_caller]
fn rules(stage: &Stage, session: &SessionId) -> RuleList {
    let session_id = session.to_string();
    let list = stage
        .editor
        .ask::<ListRules>(ListRulesParams { session_id });
    list.unwrap()
}

#[track_caller]
fn say(stage: &Stage, session: &SessionId, text: &str) -> String {
    let prompt = stage.editor.prompt(session, text);
    stage.editor.end(&prompt).text()
}

#[test]
fn r_214_an_answer_for_always_counts_in_other_sessions_of_the_project_and_after_a_restart() {
    let mut stage = Stage::new(FILES);
    let far = outside(&stage, "far", &["x", "y"]);
    let session = stage.editor.new_session();
    asked(&stage, &session, change(), "always");
    asked(&stage, &session, read(&format!("{far}/x")), "always");
    asked(&stage, &session, run("echo x >> ran"), "always");
    let calls = || {
        [
            change(),
            read(&format!("{far}/y")),
            run("echo  'x'  >>  ran # again"),
        ]
    };
    for it in calls() {
        unasked(&stage, &session, it);
    }
    let other = stage.editor.new_session();
    for it in calls() {
        unasked(&stage, &other, it);
    }
    stage.editor.finish();
    stage.restart();
    let later = stage.editor.new_session();
    for it in calls() {
        unasked(&stage, &later, it);
    }
    stage.editor.load(&session).unwrap();
    for it in calls() {
        unasked(&stage, &session, it);
    }
    assert_eq!(stage.workspace.read("ran"), "x\n".repeat(5));
}

#[test]
fn an_answer_for_always_does_not_count_in_another_project() {
    let stage = Stage::new(FILES);
    let far = outside(&stage, "far", &["x"]);
    let other = outside(&stage, "other", &["a.txt"]);
    let session = stage.editor.new_session();
    asked(&stage, &session, change(), "always");
    asked(&stage, &session, read(&format!("{far}/x")), "always");
    asked(&stage, &session, run("true >> ran"), "always");
    let elsewhere = NewSessionRequest::new(PathBuf::from(other));
    let elsewhere = stage
        .editor
        .ask::<NewSession>(elsewhere)
        .unwrap()
        .session_id;
    asked(&stage, &elsewhere, change(), "no");
    asked(&stage, &elsewhere, read(&format!("{far}/x")), "no");
    asked(&stage, &elsewhere, run("true >> ran"), "no");
    assert_eq!(rules(&stage, &elsewhere).rules, []);
}

#[test]
fn r_105_an_answer_for_always_outside_the_project_covers_its_folder_only() {
    let mut stage = Stage::new(FILES);
    let far = outside(&stage, "far", &["x", "y"]);
    let near = outside(&stage, "far/near", &["x"]);
    let session = stage.editor.new_session();
    asked(&stage, &session, read(&format!("{far}/x")), "always");
    stage.editor.finish();
    stage.restart();
    let session = stage.editor.new_session();
    unasked(&stage, &session, read(&format!("{far}/y")));
    asked(&stage, &session, read(&format!("{near}/x")), "no");
    asked(&stage, &session, write(&format!("{far}/new"), "x"), "no");
    asked(&stage, &session, change(), "no");
}

#[test]
fn bug_026_an_answer_for_always_clears_no_other_command_of_the_same_program() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    asked(&stage, &session, run("echo x >> ran"), "always");
    for line in [
        "echo x >> ran2",
        "echo x y >> ran",
        "echo x >> ran; rm a.txt",
        "echo x >> ran && rm a.txt",
        "echo x >> ran\nrm a.txt",
        "echo $(rm a.txt) >> ran",
        "echo 'x >> ran'; rm a.txt",
        "FOO=1 echo x >> ran",
        "sh -c 'echo x >> ran'",
    ] {
        asked(&stage, &session, run(line), "no");
    }
    let elsewhere = json!({"command": "echo x >> ran", "working_dir": "sub"});
    asked(&stage, &session, ("execute_command", elsewhere), "no");
    assert_eq!(stage.workspace.read("ran"), "x\n");
    assert!(stage.workspace.exists("a.txt"));
}

#[test]
fn r_213_once_is_kept_nowhere() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    asked(&stage, &session, change(), "once");
    asked(&stage, &session, change(), "session");
    unasked(&stage, &session, change());
    assert!(!file(&stage).exists());
    let other = stage.editor.new_session();
    asked(&stage, &other, change(), "no");
}

#[test]
fn r_215_the_third_answer_is_no_also_where_there_is_an_always() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    let prompt = begin(&stage, &session, change());
    let question = stage.editor.question();
    let options = question.params.options.iter();
    let names: Vec<(String, String)> = options
        .map(|it| (it.option_id.to_string(), it.name.clone()))
        .collect();
    let expected = [
        ("once", "Allow once"),
        ("session", "Allow all edits in the project for this session"),
        ("no", "No"),
        ("always", "Always allow all edits in the project"),
    ];
    assert_eq!(
        names,
        expected.map(|(id, name)| (id.to_owned(), name.to_owned()))
    );
    stage.editor.choose(&question, "no");
    stage.result(&prompt);
}

#[test]
fn a_bare_editor_offers_always_behind_no() {
    let stage = Stage::with(Setup::bare(), FILES, "");
    let (_, prompt) = stage.call("execute_command", run("touch ran").1);
    let question = stage.editor.expect_raw("window/showMessageRequest");
    let actions = question["params"]["actions"].as_array().unwrap();
    let titles: Vec<&str> = actions
        .iter()
        .map(|it| it["title"].as_str().unwrap())
        .collect();
    assert_eq!(
        titles,
        [
            "Allow once",
            "Allow this command for this session",
            "No",
            "Always allow this command"
        ]
    );
    stage.editor.raw_reply(&question["id"], actions[3].clone());
    stage.result_unshown(&prompt);
    assert!(
        fs::read_to_string(file(&stage))
            .unwrap()
            .contains("run = \"touch ran\"")
    );
}

#[test]
fn what_is_remembered_is_listed_and_taken_back() {
    let stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    let other = stage.editor.new_session();
    asked(&stage, &session, change(), "always");
    asked(&stage, &session, run("true >> ran"), "session");
    let list = rules(&stage, &session);
    assert_eq!(list.file, file(&stage));
    let root = stage.workspace.root();
    let told: Vec<(RuleScope, String)> = list
        .rules
        .iter()
        .map(|it| (it.scope, it.text.clone()))
        .collect();
    assert_eq!(
        told,
        [
            (
                RuleScope::Session,
                format!("Run `true >>ran` in {}", root.display())
            ),
            (RuleScope::Always, "Edit files of the project".to_owned()),
        ]
    );
    let said = say(&stage, &session, "/permissions");
    for it in &list.rules {
        assert!(said.contains(&it.id) && said.contains(&it.text), "{said}");
    }
    assert!(said.contains(file(&stage).to_str().unwrap()), "{said}");
    // What is not there is said.
    let forget = |id: &str| {
        let session_id = session.to_string();
        let id = id.to_owned();
        stage
            .editor
            .ask::<ForgetRule>(ForgetRuleParams { session_id, id })
    };
    for wrong in ["", "nothing", "-"] {
        let error = forget(wrong).unwrap_err();
        assert!(error.message.contains("/permissions"), "{error:?}");
    }
    // For always: it ends in every session at once, also where it was given.
    let left = forget(&list.rules[1].id).unwrap();
    assert_eq!(left.rules, list.rules[..1]);
    asked(&stage, &session, change(), "no");
    asked(&stage, &other, change(), "no");
    let said = say(
        &stage,
        &session,
        &format!("/permissions forget {}", list.rules[0].id),
    );
    assert!(said.contains("true >>ran"), "{said}");
    asked(&stage, &session, run("true >> ran"), "no");
    assert!(say(&stage, &session, "/permissions").contains("Nothing is remembered"));
    // No model has seen any of it.
    let text = fs::read_to_string(file(&stage)).unwrap();
    assert!(text.starts_with("# What you have allowed Undine for always."));
    assert!(!text.contains("\n[[allow]]"), "{text}");
}

#[test]
fn an_answer_that_was_taken_back_stays_so_after_a_restart() {
    let mut stage = Stage::new(FILES);
    let session = stage.editor.new_session();
    asked(&stage, &session, change(), "always");
    asked(&stage, &session, run("true >> ran"), "session");
    for it in rules(&stage, &session).rules {
        say(&stage, &session, &format!("/permissions forget {}", it.id));
    }
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    asked(&stage, &session, change(), "no");
    asked(&stage, &session, run("true >> ran"), "no");
}
