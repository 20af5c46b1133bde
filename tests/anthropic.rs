//! A session with a model that speaks Anthropic's Messages: its own tools do the work of ours, and its answers go back to
//! it as they came.

mod history;
mod native;
mod streams;

use crate::support::editor::{Editor, Setup};
use crate::support::model::Model;
use crate::support::stage::{Stage, config_speaking};
use crate::support::workspace::Workspace;
use protocol::acp::StopReason;
use serde_json::{Value, json};

const EDITOR: &str = "str_replace_based_edit_tool";
const BASH: &str = "bash";
const FILES: &str = "//- /a.txt\none\ntwo\nthree\n//- /src/b.txt\nb\n";
/// Edits and commands without a question, for tests that are about something else.
const FULL: &str = "[safety]\nmode = \"full_access\"\n";

fn stage(config: &str) -> Stage {
    Stage::speaking("anthropic", FILES, config)
}

/// The names of a request's tools.
fn names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect()
}

/// The request says what it must: the path, the version, the key where this format has it, how the model thinks.
#[test]
fn a_question_is_asked_as_the_api_wants_it() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    let mut config = config_speaking("anthropic", &model.url());
    config += "api_key_env = \"SCRIPTED_KEY\"\n[providers.scripted.extra_headers]\nanthropic-beta = \"mine-2026-01-01\"\n";
    workspace.configure(&config);
    let mut setup = Setup::agent();
    setup
        .environment
        .push(("SCRIPTED_KEY", "open sesame".to_owned()));
    let editor = Editor::start(&setup, &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    let mut asked = model.next();
    assert!(
        asked.line.starts_with("POST /v1/messages "),
        "{}",
        asked.line
    );
    assert_eq!(asked.key, None);
    assert_eq!(asked.header("x-api-key"), Some("open sesame"));
    assert_eq!(asked.header("anthropic-version"), Some("2026-10-21"));
    let betas = asked.header("anthropic-beta").unwrap();
    assert!(
        betas.starts_with("mine-2026-01-01,thinking-display-updates-"),
        "{betas}"
    );
    assert_eq!(
        (
            &asked.body["thinking"]["type"],
            &asked.body["thinking"]["display"]
        ),
        (&json!("adaptive"), &json!("updates"))
    );
    assert!(asked.system().contains("Undine"), "{}", asked.system());
    asked.think("Hm.");
    asked.say("Hello");
    asked.say(" you.");
    asked.usage(30, 7);
    asked.end();
    let turn = editor.end(&prompt);
    assert_eq!(
        (turn.end.clone(), turn.text().as_str()),
        (Ok(StopReason::EndTurn), "Hello you.")
    );
    assert_eq!(
        turn.of_kind("agent_thought_chunk")[0]["content"]["text"],
        "Hm."
    );
}

#[test]
fn the_configured_level_limit_and_temperature_are_sent() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    let config = config_speaking("anthropic", &model.url());
    let default = "[default_model]\nreasoning = \"high\"\nmax_tokens = 777\ntemperature = 0.25\n";
    workspace.configure(&config.replace("[default_model]\n", default));
    let editor = Editor::start(&Setup::agent(), &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    let asked = model.next();
    assert_eq!(asked.body["output_config"]["effort"], "high");
    assert_eq!(asked.body["max_tokens"], 777);
    assert_eq!(asked.body["temperature"], 0.25);
    asked.end();
    assert_eq!(editor.end(&prompt).end, Ok(StopReason::EndTurn));
}
