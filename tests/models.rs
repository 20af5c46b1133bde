//! Which model answers and how hard it thinks: by configuration, by an alias, by what the person chooses in a session.

mod listing;

use crate::support::editor::Setup;
use crate::support::stage::{Stage, config_for};
use protocol::acp::{
    LoadSessionRequest, NewSessionRequest, SessionConfigKind, SessionConfigOption, SessionId,
    SetSessionConfigOptionRequest,
};
use protocol::methods::{LoadSession, NewSession, SetConfigOption};
use protocol::record::Record;
use serde_json::{Value, json};
use std::fs;

const ALIASES: &str =
    "[model_aliases]\nfast = \"scripted/org/fast-1\"\nquick = \"fast\"\nloop = \"loop\"\n";

/// The current value of an option.
#[track_caller]
fn current(options: &[SessionConfigOption], id: &str) -> String {
    let option = options.iter().find(|it| &*it.id.0 == id).unwrap();
    match &option.kind {
        SessionConfigKind::Select(select) => select.current_value.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Chooses, and takes the update that says so; the answer's options, or why not.
#[track_caller]
fn choose(
    stage: &Stage,
    session: &SessionId,
    option: &'static str,
    value: &str,
) -> Result<Vec<SessionConfigOption>, String> {
    let value = protocol::acp::SessionConfigValueId::new(value.to_owned());
    let request = SetSessionConfigOptionRequest::new(session.clone(), option, value);
    let answer = stage.editor.ask::<SetConfigOption>(request);
    let options = answer.map_err(|it| it.message)?.config_options;
    let update = stage.editor.take("the update of the options", |it| {
        it["params"]["update"]["sessionUpdate"] == "config_option_update"
    });
    let told = &update["params"]["update"]["configOptions"];
    assert_eq!(*told, serde_json::to_value(&options).unwrap());
    Ok(options)
}

/// Sends a prompt and has it answered; the request that asked the model.
#[track_caller]
fn asked(stage: &Stage, session: &SessionId) -> Value {
    let prompt = stage.editor.prompt(session, "go");
    let mut asked = stage.model.next();
    let body = asked.body.clone();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    body
}

/// The person's file.
fn config(stage: &Stage) -> String {
    fs::read_to_string(stage.workspace.outside("config").join("config.toml")).unwrap()
}

#[test]
fn an_alias_names_a_model_wherever_one_is_named() {
    // In the configuration, on the command line, and as the classifier's.
    let own = "[safety]\nmode = \"auto\"\nauto_classifier_model = \"quick\"\n";
    let mut stage = Stage::with(Setup::agent(), "", &format!("{ALIASES}{own}"));
    stage.model.classify();
    let body = asked(&stage, &stage.editor.new_session());
    assert_eq!(body["model"], "scripted-1");
    stage.restart_with_flags(&["--model", "quick"]);
    let (_, prompt) = stage.call("execute_command", json!({"command": "touch ran"}));
    let mut judge = stage.model.next_for_classifier();
    assert_eq!(judge.body["model"], "org/fast-1");
    judge.say("ALLOW");
    judge.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.body["model"], "org/fast-1");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn an_alias_that_leads_in_a_circle_or_nowhere_is_said_in_one_sentence() {
    let mut stage = Stage::with(Setup::agent(), "", ALIASES);
    let session = stage.editor.new_session();
    for (name, said) in [
        (
            "loop",
            "The model alias loop leads back to itself (loop -> loop); correct [model_aliases] in config.toml.",
        ),
        (
            "nothing",
            "There is no model \"nothing\"; write it as provider/model, or use one of the aliases fast, loop, quick.",
        ),
    ] {
        assert_eq!(choose(&stage, &session, "model", name).unwrap_err(), said);
    }
    let unknown = choose(&stage, &session, "model", "nobody/x").unwrap_err();
    assert!(
        unknown.starts_with("There is no provider nobody; "),
        "{unknown}"
    );
    // What is refused changes nothing.
    assert_eq!(asked(&stage, &session)["model"], "scripted-1");
    stage.restart_with_flags(&["--model", "loop"]);
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "go");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert!(error.message.contains("leads back to itself"), "{error:?}");
}

#[test]
fn a_chosen_model_answers_next_and_after_a_restart_and_is_the_default_of_new_sessions() {
    let mut stage = Stage::with(
        Setup::agent(),
        "",
        "# Mine.\n[model_aliases] # short\nfast = \"scripted/org/fast-1\"\n",
    );
    let new = NewSessionRequest::new(stage.workspace.root());
    let opened = stage.editor.ask::<NewSession>(new).unwrap();
    let options = opened.config_options.unwrap();
    assert_eq!(current(&options, "model"), "scripted/scripted-1");
    let session = opened.session_id;
    // While a turn runs it counts from the next answer on.
    let prompt = stage.editor.prompt(&session, "go");
    let mut first = stage.model.next();
    assert_eq!(first.body["model"], "scripted-1");
    let options = choose(&stage, &session, "model", "fast").unwrap();
    assert_eq!(current(&options, "model"), "scripted/org/fast-1");
    first.call("read_file", json!({"path": "none"}));
    first.end();
    let mut second = stage.model.next();
    assert_eq!(second.body["model"], "org/fast-1");
    second.say("done");
    second.end();
    stage.editor.end(&prompt);
    // Remembered, and the rest of the file stays.
    let file = config(&stage);
    assert!(file.contains("name = \"org/fast-1\""), "{file}");
    assert!(
        file.contains("# Mine.\n[model_aliases] # short\n"),
        "{file}"
    );
    assert_eq!(
        asked(&stage, &stage.editor.new_session())["model"],
        "org/fast-1"
    );
    // The session keeps it, whatever is the default later.
    stage
        .workspace
        .configure(&format!("{}{ALIASES}", config_for(&stage.model.url())));
    stage.editor.finish();
    stage.restart();
    let load = LoadSessionRequest::new(session.clone(), stage.workspace.root());
    let loaded = stage.editor.ask::<LoadSession>(load).unwrap();
    let options = loaded.config_options.unwrap();
    assert_eq!(current(&options, "model"), "scripted/org/fast-1");
    stage.editor.forget(|it| it["method"] == "session/update");
    assert_eq!(asked(&stage, &session)["model"], "org/fast-1");
    // What the command line says counts over it.
    stage.restart_with_flags(&["--model", "scripted/other"]);
    stage.editor.load(&session).unwrap();
    assert_eq!(asked(&stage, &session)["model"], "other");
}

#[test]
fn a_level_of_reasoning_belongs_to_its_model_and_is_remembered_for_it() {
    let mut stage = Stage::with(
        Setup::agent(),
        "",
        &format!(
            "{ALIASES}[reasoning_per_model]\n# It is cheap.\n\"scripted/org/fast-1\" = \"low\" # enough\n"
        ),
    );
    let session = stage.editor.new_session();
    assert_eq!(asked(&stage, &session)["reasoning_effort"], Value::Null);
    let options = choose(&stage, &session, "reasoning", "high").unwrap();
    assert_eq!(current(&options, "reasoning"), "high");
    assert_eq!(asked(&stage, &session)["reasoning_effort"], "high");
    // Each model has its own.
    let options = choose(&stage, &session, "model", "fast").unwrap();
    assert_eq!(current(&options, "reasoning"), "low");
    assert_eq!(asked(&stage, &session)["reasoning_effort"], "low");
    let options = choose(&stage, &session, "model", "scripted/scripted-1").unwrap();
    assert_eq!(current(&options, "reasoning"), "high");
    let file = config(&stage);
    assert!(
        file.contains("\"scripted/scripted-1\" = \"high\""),
        "{file}"
    );
    assert!(
        file.contains("# It is cheap.\n\"scripted/org/fast-1\" = \"low\" # enough\n"),
        "{file}"
    );
    let wrong = choose(&stage, &session, "reasoning", "harder").unwrap_err();
    assert_eq!(
        wrong,
        "There is no level \"harder\"; choose one of default, none, minimal, low, medium, high, xhigh, max."
    );
    // A new session has it from the file, a resumed one from its log.
    assert_eq!(
        asked(&stage, &stage.editor.new_session())["reasoning_effort"],
        "high"
    );
    stage.workspace.configure(&config_for(&stage.model.url()));
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    assert_eq!(asked(&stage, &session)["reasoning_effort"], "high");
    choose(&stage, &session, "reasoning", "default").unwrap();
    assert_eq!(asked(&stage, &session)["reasoning_effort"], Value::Null);
}

#[test]
fn bug_102_a_broken_file_is_kept_and_the_choice_counts_in_its_session() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    stage.workspace.configure("[default_model\n");
    let answer = say(&stage, &session, "/reasoning low");
    assert!(answer.contains("reasons from now on: low."), "{answer}");
    assert!(answer.contains("is not valid TOML"), "{answer}");
    assert_eq!(config(&stage), "[default_model\n");
}

#[track_caller]
fn say(stage: &Stage, session: &SessionId, text: &str) -> String {
    let prompt = stage.editor.prompt(session, text);
    stage.editor.end(&prompt).text()
}

#[test]
fn commands_choose_for_editors_without_a_picker() {
    let stage = Stage::with(Setup::agent(), "", ALIASES);
    let session = stage.editor.new_session();
    assert_eq!(
        say(&stage, &session, "/model quick"),
        "scripted/org/fast-1 answers from now on."
    );
    assert_eq!(
        say(&stage, &session, "/reasoning max"),
        "scripted/org/fast-1 reasons from now on: max."
    );
    assert!(say(&stage, &session, "/reasoning").starts_with("scripted/org/fast-1 reasons: max."));
    let wrong = say(&stage, &session, "/model loop");
    assert!(wrong.contains("leads back to itself"), "{wrong}");
    let body = asked(&stage, &session);
    assert_eq!(
        (&body["model"], &body["reasoning_effort"]),
        (&json!("org/fast-1"), &json!("max"))
    );
    let logged = stage.workspace.records();
    let models: Vec<&Record> = logged
        .iter()
        .filter(|it| matches!(it, Record::Model { .. } | Record::Reasoning { .. }))
        .collect();
    assert_eq!(models.len(), 2, "{models:?}");
}

#[test]
fn a_log_that_came_with_a_repository_chooses_no_model() {
    let mut stage = Stage::with(Setup::agent(), "", ALIASES);
    let session = stage.editor.new_session();
    choose(&stage, &session, "model", "fast").unwrap();
    asked(&stage, &session);
    stage.workspace.configure(&config_for(&stage.model.url()));
    stage.editor.finish();
    // As it would be on another machine.
    fs::remove_dir_all(stage.workspace.outside("data").join("known")).unwrap();
    stage.restart();
    stage.editor.load(&session).unwrap();
    stage
        .editor
        .take("the warning", |it| it["method"] == "window/showMessage");
    assert_eq!(asked(&stage, &session)["model"], "scripted-1");
}
