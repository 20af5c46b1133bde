//! What a model refuses is left out, tried, and remembered when that worked.

use super::{QUICK, retry, staged};
use crate::support::editor::{Editor, Setup};
use crate::support::model::{Asked, Model};
use crate::support::stage::{NO_RETRIES, Stage, config_for};
use crate::support::workspace::Workspace;
use serde_json::{Value, json};
use std::fs;

/// A model with these of its settings, and a new server each time one is asked for.
struct Set {
    model: Model,
    workspace: Workspace,
}

impl Set {
    fn new(settings: &str, more: &str) -> Self {
        let (model, workspace) = (Model::start(), Workspace::new("//- /a.txt\nalpha\n"));
        let config = config_for(&model.url());
        let named = "name = \"scripted-1\"\n";
        assert!(config.contains(named));
        let config = config.replace(named, &format!("{named}{settings}\n"));
        workspace.configure(&format!("{config}{more}"));
        Self { model, workspace }
    }

    fn editor(&self) -> Editor {
        Editor::start(&Setup::agent(), &self.workspace)
    }

    /// Asks in a new session; `answer` gives the answer, after as many requests as it wants.
    fn turn(&self, editor: &Editor, answer: impl FnOnce(Asked)) -> Result<String, String> {
        let session = editor.new_session();
        let prompt = editor.prompt(&session, "hello");
        answer(self.model.next());
        let turn = editor.end(&prompt);
        let text = turn.text();
        turn.end.map(|_| text).map_err(|it| it.message.to_string())
    }

    /// The file with what was learned.
    fn kept(&self) -> Option<Value> {
        let text = fs::read(self.workspace.outside("data").join("models.json")).ok()?;
        Some(serde_json::from_slice(&text).unwrap())
    }

    /// Waits until something was learned: it is written beside the turn.
    fn wait_until_kept(&self) -> Value {
        let until = std::time::Instant::now() + crate::support::PATIENCE;
        loop {
            if let Some(kept) = self.kept() {
                return kept;
            }
            assert!(std::time::Instant::now() < until, "nothing was kept");
            std::thread::yield_now();
        }
    }
}

fn well(mut asked: Asked) {
    asked.say("Hi.");
    asked.end();
}

fn refusing(param: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": "unsupported_value"}})
}

fn no_temperature() -> Value {
    refusing(
        "temperature",
        "Unsupported value: 'temperature' does not support 0.7 with this model.",
    )
}

#[test]
fn bug_079_a_temperature_of_zero_is_passed_on() {
    for (set, sent) in [
        ("temperature = 0.0", json!(0.0)),
        ("temperature = 0", json!(0.0)),
        ("", Value::Null),
    ] {
        let set = Set::new(set, "");
        let editor = set.editor();
        let said = set.turn(&editor, |asked| {
            assert_eq!(asked.body["temperature"], sent, "{:#}", asked.body);
            well(asked);
        });
        assert_eq!(said, Ok("Hi.".to_owned()));
    }
}

#[test]
fn a_refused_temperature_is_left_out_at_once_and_remembered_on_the_next_turn_and_after_a_restart() {
    let set = Set::new("temperature = 0.7", "");
    let mut editor = set.editor();
    let said = set.turn(&editor, |asked| {
        assert_eq!(asked.body["temperature"], 0.7);
        asked.refuse(400, &[], &no_temperature());
        let shown = retry(&editor);
        assert_eq!(shown["afterMs"], 0);
        let why = shown["why"].as_str().unwrap();
        assert!(why.contains("does not take temperature"), "{why}");
        let asked = set.model.next();
        assert_eq!(asked.body["temperature"], Value::Null);
        well(asked);
        assert_eq!(retry(&editor), Value::Null);
    });
    assert_eq!(said, Ok("Hi.".to_owned()));
    let kept = set.wait_until_kept();
    assert_eq!(kept["models"][0]["model"], "scripted-1");
    assert!(
        kept["models"][0]["refused"]["temperature"].is_u64(),
        "{kept}"
    );
    for restarts in [false, true] {
        if restarts {
            editor.finish();
            editor = set.editor();
        }
        let said = set.turn(&editor, |asked| {
            assert_eq!(asked.body["temperature"], Value::Null);
            well(asked);
        });
        assert_eq!(said, Ok("Hi.".to_owned()));
    }
}

#[test]
fn what_did_not_help_is_not_remembered() {
    let set = Set::new("temperature = 0.7", NO_RETRIES);
    let editor = set.editor();
    let failed = set.turn(&editor, |asked| {
        asked.refuse(400, &[], &no_temperature());
        set.model.next().fail(400, "nor like this");
    });
    assert!(failed.unwrap_err().contains("nor like this"));
    let said = set.turn(&editor, |asked| {
        assert_eq!(asked.body["temperature"], 0.7);
        well(asked);
    });
    assert_eq!(said, Ok("Hi.".to_owned()));
    assert_eq!(set.kept(), None);
}

#[test]
fn an_output_cap_is_learned_from_its_refusal() {
    let set = Set::new("max_tokens = 64000", "");
    let editor = set.editor();
    let cap = refusing(
        "max_tokens",
        "max_tokens is too large: 64000. This model supports at most 4096 completion tokens.",
    );
    for is_first in [true, false] {
        let said = set.turn(&editor, |mut asked| {
            if is_first {
                assert_eq!(asked.body["max_tokens"], 64000);
                asked.refuse(400, &[], &cap);
                asked = set.model.next();
            }
            assert_eq!(asked.body["max_tokens"], 4096);
            well(asked);
        });
        assert_eq!(said, Ok("Hi.".to_owned()));
        let kept = set.wait_until_kept();
        assert_eq!(kept["models"][0]["max_tokens"]["tokens"], 4096, "{kept}");
    }
}

#[test]
fn a_level_of_reasoning_is_stepped_down_to_what_the_model_takes() {
    let set = Set::new("reasoning = \"max\"", "");
    let editor = set.editor();
    let level = refusing(
        "reasoning_effort",
        "Unsupported value: 'reasoning_effort' does not support 'max' with this model. Supported values are: 'low', 'medium', and 'high'.",
    );
    for is_first in [true, false] {
        let said = set.turn(&editor, |mut asked| {
            if is_first {
                assert_eq!(asked.body["reasoning_effort"], "max");
                asked.refuse(400, &[], &level);
                asked = set.model.next();
            }
            assert_eq!(asked.body["reasoning_effort"], "high");
            well(asked);
        });
        assert_eq!(said, Ok("Hi.".to_owned()));
        set.wait_until_kept();
    }
}

#[test]
fn a_damaged_file_is_told_once_and_left_as_it_is() {
    let set = Set::new("", "");
    let path = set.workspace.outside("data").join("models.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "{\"models\": ").unwrap();
    let editor = set.editor();
    for _ in 0..2 {
        assert_eq!(set.turn(&editor, well), Ok("Hi.".to_owned()));
    }
    let message = editor.expect_raw("window/showMessage");
    let said = message["params"]["message"].as_str().unwrap();
    assert!(said.contains("models.json is damaged"), "{said}");
    editor.assert_none("window/showMessage");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"models\": ");
}

#[test]
fn what_was_learned_too_long_ago_is_tried_again() {
    let set = Set::new("", "");
    let path = set.workspace.outside("data").join("models.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let day = 24 * 60 * 60 * 1000;
    let now = u64::try_from(now.as_millis()).unwrap();
    for (age, is_capped) in [(29 * day, true), (31 * day, false)] {
        let cap = json!({"tokens": 100, "time": now - age});
        let entry = json!({"base_url": set.model.url(), "model": "scripted-1", "max_tokens": cap});
        fs::write(&path, json!({"models": [entry]}).to_string()).unwrap();
        let editor = set.editor();
        let said = set.turn(&editor, |asked| {
            let is_so = asked.body["max_tokens"] == 100;
            assert_eq!(is_so, is_capped, "{:#}", asked.body);
            well(asked);
        });
        assert_eq!(said, Ok("Hi.".to_owned()));
    }
}

/// Such a session was refused for ever.
#[test]
fn a_refused_signature_is_recovered_from_once_and_the_session_goes_on_also_after_a_restart() {
    let mut stage: Stage = staged(QUICK);
    let (session, prompt, mut asked) = stage.ask("read it");
    asked.think("I should look.");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let asked = stage.model.next();
    let has_items = |asked: &Asked| {
        let sent = serde_json::to_string(asked.messages()).unwrap();
        sent.contains("I should look.")
    };
    assert!(has_items(&asked), "{:#}", asked.body);
    asked.fail(
        400,
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
    );
    assert_eq!(retry(&stage.editor)["afterMs"], 0);
    let mut asked = stage.model.next();
    assert!(!has_items(&asked), "{:#}", asked.body);
    assert!(asked.result().contains("alpha"));
    asked.say("alpha");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "alpha");
    for restarts in [false, true] {
        if restarts {
            stage.editor.finish();
            stage.restart();
            stage.editor.load(&session).unwrap();
        }
        let prompt = stage.editor.prompt(&session, "and?");
        let mut asked = stage.model.next();
        assert!(!has_items(&asked), "{:#}", asked.body);
        asked.say("done");
        asked.end();
        stage.editor.end(&prompt);
    }
}

#[test]
fn a_signature_that_is_refused_again_ends_the_turn() {
    let stage = staged(QUICK);
    let (_, prompt, mut asked) = stage.ask("read it");
    asked.think("I should look.");
    asked.call("read_file", json!({"path": "a.txt"}));
    asked.end();
    stage
        .model
        .next()
        .fail(400, "Invalid signature in thinking block");
    stage
        .model
        .next()
        .fail(400, "Invalid signature in thinking block");
    let error = stage.editor.end(&prompt).end.unwrap_err();
    assert_eq!(error.data["kind"], "signature", "{error:?}");
}

#[test]
fn the_classifier_is_asked_without_what_its_model_refuses_and_that_is_remembered() {
    let stage = staged("[safety]\nmode = \"auto\"\n");
    stage.model.classify();
    let spelling = refusing(
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
    for is_first in [true, false] {
        let (_, prompt) = stage.call("execute_command", json!({"command": "touch ran"}));
        let mut asked = stage.model.next_for_classifier();
        if is_first {
            assert!(asked.body["max_tokens"].is_u64(), "{:#}", asked.body);
            asked.refuse(400, &[], &spelling);
            asked = stage.model.next_for_classifier();
        }
        assert!(asked.body["max_tokens"].is_null(), "{:#}", asked.body);
        assert!(asked.body["max_completion_tokens"].is_u64());
        asked.say("ALLOW");
        asked.end();
        stage.result(&prompt);
        assert!(stage.workspace.exists("ran"));
    }
}
