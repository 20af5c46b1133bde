//! What a session has used is shown, priced, recorded and added up (spec 26).

use crate::config::command_line::undine;
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use crate::support::web::Web;
use protocol::acp::SessionId;
use protocol::methods::SessionUsage;
use protocol::usage::{UsageParams, UsageReport};
use serde_json::{Value, json};

/// One dollar a million read, ten written; the classifier's half.
const PRICES: &str = "[pricing.models.\"scripted/scripted-1\"]\ninput = 1.0\noutput = 10.0\n\
                      [pricing.models.\"scripted/judge\"]\ninput = 0.5\noutput = 5.0\n";

#[track_caller]
fn report(stage: &Stage, session: &SessionId) -> UsageReport {
    let session_id = session.to_string();
    let report = stage.editor.ask::<SessionUsage>(UsageParams { session_id });
    report.unwrap()
}

/// A prompt whose answer took so many tokens; the last update of usage.
#[track_caller]
fn answered(stage: &Stage, session: &SessionId, read: u64, written: u64) -> Value {
    let prompt = stage.editor.prompt(session, "go");
    let mut asked = stage.model.next();
    asked.say("done");
    asked.usage(read, written);
    asked.end();
    let updates = stage.editor.end(&prompt).of_kind("usage_update");
    updates.last().expect("usage is shown").clone()
}

#[test]
fn each_answer_shows_how_full_the_window_is_and_what_the_session_has_cost() {
    let window = "[providers.scripted]\n";
    let stage = Stage::with(Setup::agent(), "", PRICES);
    // The table of the provider stands in the stage's own part of the file.
    let config =
        std::fs::read_to_string(stage.workspace.outside("config").join("config.toml")).unwrap();
    stage
        .workspace
        .configure(&config.replace(window, &format!("{window}context_window = 8000\n")));
    let mut stage = stage;
    stage.editor.finish();
    stage.restart();
    let session = stage.editor.new_session();
    let shown = answered(&stage, &session, 1_000, 100);
    assert_eq!(
        (&shown["used"], &shown["size"]),
        (&json!(1_100), &json!(8_000))
    );
    assert_eq!(shown["cost"], json!({"amount": 0.002, "currency": "USD"}));
    assert_eq!(shown["_meta"]["undine"]["cost"], "$0.0020");
    let shown = answered(&stage, &session, 3_000, 700);
    assert_eq!(
        (&shown["used"], &shown["size"]),
        (&json!(3_700), &json!(8_000))
    );
    let report = report(&stage, &session);
    assert!((report.cost.unwrap() - 0.012).abs() < 1e-9, "{report:?}");
    assert_eq!((report.models.len(), report.models[0].answers), (1, 2));
    let prompt = stage.editor.prompt(&session, "/usage");
    assert_eq!(
        stage.editor.end(&prompt).text(),
        "scripted/scripted-1: 2 answers, 4000 read, 800 written: $0.01\n$0.01 in all.\n\
         The window is filled with 3700 of 8000 tokens (46 %)."
    );
}

#[test]
fn a_resumed_session_keeps_its_cost_and_its_meters() {
    let mut stage = Stage::with(Setup::agent(), "", PRICES);
    let session = stage.editor.new_session();
    answered(&stage, &session, 1_000, 100);
    let before = report(&stage, &session);
    stage.editor.kill();
    stage.restart();
    let replayed = stage.editor.load(&session).unwrap();
    let last = serde_json::to_value(replayed.last().unwrap()).unwrap();
    assert_eq!(
        (&last["sessionUpdate"], &last["used"]),
        (&json!("usage_update"), &json!(1_100))
    );
    assert_eq!(report(&stage, &session), before);
    answered(&stage, &session, 1_000, 100);
    assert!((report(&stage, &session).cost.unwrap() - 0.004).abs() < 1e-9);
}

#[test]
fn what_the_classifier_takes_counts_for_its_own_model_and_fills_no_window() {
    let auto = "[safety]\nmode = \"auto\"\nauto_classifier_model = \"scripted/judge\"\n";
    let stage = Stage::with(Setup::agent(), "", &format!("{PRICES}{auto}"));
    stage.model.classify();
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call("execute_command", json!({"command": "touch ran"}));
    asked.usage(100, 10);
    asked.end();
    let mut judge = stage.model.next_for_classifier();
    judge.say("ALLOW");
    judge.usage(2_000, 4);
    judge.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.usage(200, 20);
    asked.end();
    let shown = stage.editor.end(&prompt).of_kind("usage_update");
    let used: Vec<&Value> = shown.iter().map(|it| &it["used"]).collect();
    assert_eq!(used, [&json!(110), &json!(110), &json!(220)]);
    let report = report(&stage, &session);
    let models: Vec<(&str, u64, u64)> = report
        .models
        .iter()
        .map(|it| (it.model.as_str(), it.answers, it.input))
        .collect();
    assert_eq!(
        models,
        [
            ("scripted/judge", 1, 2_000),
            ("scripted/scripted-1", 2, 300)
        ]
    );
    let expected = (2_000.0 * 0.5 + 4.0 * 5.0 + 300.0 + 30.0 * 10.0) / 1e6;
    assert!(
        (report.cost.unwrap() - expected).abs() < 1e-12,
        "{report:?}"
    );
}

#[test]
fn a_local_model_costs_nothing_and_one_without_a_price_is_named_and_left_out() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    let shown = answered(&stage, &session, 5, 5);
    assert_eq!(shown["cost"], json!({"amount": 0.0, "currency": "USD"}));
    // A vendor's name: whatever stands at the address, the vendor is paid.
    let url = stage.model.url();
    let vendor = format!(
        "[providers.scripted]\nbase_url = \"{url}\"\n[default_model]\nprovider = \"xai\"\nname = \"m\"\n[providers.xai]\nbase_url = \"{url}\"\n[pricing]\ncatalog_url = \"\"\n"
    );
    let mut stage = stage;
    stage.workspace.configure(&vendor);
    stage.editor.finish();
    stage.restart();
    let session = stage.editor.new_session();
    let shown = answered(&stage, &session, 5, 5);
    assert_eq!(shown["cost"], Value::Null);
    assert_eq!(shown["_meta"]["undine"]["unpriced"], json!(["xai/m"]));
    let report = report(&stage, &session);
    assert_eq!(
        (report.cost, report.unpriced),
        (None, vec!["xai/m".to_owned()])
    );
    assert!(
        report
            .text
            .ends_with("set it under [pricing.models] in config.toml.")
    );

    // In the terminal: all sessions of the folder.
    let said = undine(&stage.workspace, &["usage", "--json"]);
    let all: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(all["models"].as_array().unwrap().len(), 2, "{all}");
    assert_eq!(
        (&all["cost"], &all["unpriced"]),
        (&json!(0.0), &json!(["xai/m"]))
    );
    let said = undine(&stage.workspace, &["usage"]);
    assert!(
        said.out.contains("$0.00 in all, without xai/m"),
        "{}",
        said.out
    );
}

#[test]
fn bug_103_the_window_of_an_unlisted_model_is_that_of_its_family() {
    let web = Web::start();
    web.put_json(
        "/api.json",
        &json!({"openai": {"models": {
            "gpt-5.6": {"limit": {"context": 1_050_000, "output": 128_000}, "cost": {"input": 2.0, "output": 10.0}},
        }}}),
    );
    let stage = Stage::new("");
    let url = stage.model.url();
    let config = |name: &str| {
        format!(
            "[default_model]\nprovider = \"openai\"\nname = \"{name}\"\n[providers.openai]\nkind = \"openai-compatible\"\nbase_url = \"{url}\"\n[pricing]\ncatalog_url = \"{}\"\n",
            web.url("/api.json")
        )
    };
    let mut stage = stage;
    for (name, size, is_priced) in [
        ("gpt-6-astra-2026-09-03", 922_000, false),
        // Listed with the answer counted in.
        ("gpt-5.6", 922_000, true),
        ("somebody", 0, false),
    ] {
        stage.workspace.configure(&config(name));
        stage.editor.finish();
        stage.restart();
        let session = stage.editor.new_session();
        // The catalogue comes while nobody waits for it; what it says counts then.
        let file = stage.workspace.outside("data").join("catalogue.json");
        let begun = std::time::Instant::now();
        while !file.exists() {
            assert!(begun.elapsed() < crate::support::PATIENCE);
            std::thread::yield_now();
        }
        let shown = answered(&stage, &session, 10, 1);
        assert_eq!(shown["size"], json!(size), "{name}");
        assert_eq!(shown["cost"].is_object(), is_priced, "{name}: {shown}");
    }
}
