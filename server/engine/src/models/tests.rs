//! Names, windows, catalogues and lists of models.

use super::*;
use crate::provider::{Endpoint, Secret, Wire};
use protocol::config::{Config, Reasoning};
use serde_json::{Value, json};

fn config(value: Value) -> Config {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_model_is_named_by_its_provider_or_by_an_alias_of_an_alias() {
    let config = config(json!({
        "model_aliases": {"fast": "ollama/qwen3-coder:14b", "quick": "fast", "routed": "openrouter/openai/gpt-6"},
        "providers": {"own": {}},
    }));
    let named = |text: &str| find(&config, text).map(|it| (it.provider, it.name));
    let is = |provider: &str, name: &str| Ok((provider.to_owned(), name.to_owned()));
    assert_eq!(named("quick"), is("ollama", "qwen3-coder:14b"));
    assert_eq!(named(" routed "), is("openrouter", "openai/gpt-6"));
    assert_eq!(named("openrouter/a/b/c"), is("openrouter", "a/b/c"));
    assert_eq!(named("own"), is("own", ""));
}

#[test]
fn what_names_no_model_is_said_in_one_sentence() {
    let config = config(json!({
        "model_aliases": {"a": "b", "b": "c", "c": "a", "odd": "nowhere", "self": "self"},
    }));
    let said: Vec<String> = ["a", "self", "odd", "gpt", "/x", "x/"]
        .iter()
        .map(|it| find(&config, it).unwrap_err())
        .collect();
    expect_test::expect![[r#"
        The model alias a leads back to itself (a -> b -> c -> a); correct [model_aliases] in config.toml.
        The model alias self leads back to itself (self -> self); correct [model_aliases] in config.toml.
        The model alias odd stands for "nowhere", which is no model; write it as provider/model.
        There is no model "gpt"; write it as provider/model, or use one of the aliases a, b, c, odd, self.
        There is no model "/x"; write it as provider/model, or use one of the aliases a, b, c, odd, self.
        There is no model "x/"; write it as provider/model, or use one of the aliases a, b, c, odd, self."#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn reasoning_for_one_model_counts_over_that_for_all() {
    let config = config(json!({
        "default_model": {"reasoning": "low"},
        "model_aliases": {"deep": "p/deep"},
        "reasoning_per_model": {"p/hard": "high", "deep": "max"},
    }));
    let levels = ["p/hard", "p/deep", "p/other"].map(|it| reasoning(&config, it));
    let expected = [Reasoning::High, Reasoning::Max, Reasoning::Low].map(Some);
    assert_eq!(levels, expected);
}

fn catalogue() -> Catalogue {
    Catalogue::parse(
        json!({
            "openai": {"models": {
                "gpt-5.6": {
                    "name": "GPT-5.6", "reasoning": true,
                    "limit": {"context": 1_050_000, "input": 922_000, "output": 128_000},
                    "cost": {"input": 2.0, "output": 10.0, "cache_read": 0.2,
                             "tiers": [{"tier": {"size": 272_000}, "input": 4.0, "output": 15.0}]},
                    "reasoning_options": [{"type": "effort", "values": ["high", "low", "odd"]}],
                },
                "gpt-5.5": {"limit": {"context": 1_050_000}},
                "gpt-image-2": {"modalities": {"output": ["image"]}},
                "odd": {"limit": "none", "cost": {"input": "free"}, "reasoning": 3},
            }},
            "anthropic": {"models": {
                "claude-opus-5-5": {"limit": {"context": 1_000_000}, "cost": {"input": 4, "output": 20}},
                "claude-haiku-4-5-20251001": {"limit": {"context": 200_000}},
            }},
            "broken": 7,
        })
        .to_string()
        .as_bytes(),
    )
    .unwrap()
}

#[test]
fn bug_103_a_window_is_right_for_an_unknown_model_of_a_known_family_and_for_one_that_is_listed_too_large()
 {
    let catalogue = catalogue();
    let seen = |provider: &str, model: &str| window(catalogue.find(provider, model), None, model);
    // Listed with the answer counted in, with and without what can be read.
    assert_eq!(seen("openai", "gpt-5.6"), Some(922_000));
    assert_eq!(seen("openai", "gpt-5.5"), Some(922_000));
    // Not listed.
    assert_eq!(seen("openai", "gpt-6-astra-2026-09-03"), Some(922_000));
    assert_eq!(seen("openrouter", "openai/gpt-6"), Some(922_000));
    assert_eq!(seen("openai", "gpt-5.9"), Some(272_000));
    assert_eq!(seen("anthropic", "claude-opus-5-7"), Some(1_000_000));
    assert_eq!(seen("anthropic", "claude-opus-4-20250514"), Some(200_000));
    assert_eq!(seen("google", "gemini-3.9-pro"), Some(1_048_576));
    // A name that only begins like a family's, and a local build.
    assert_eq!(seen("openai", "gpt-50"), None);
    assert_eq!(seen("ollama", "gpt-5:20b"), None);
    assert_eq!(seen("x", "somebody"), None);
    // What the person has configured counts where nothing is listed.
    assert_eq!(window(None, Some(9_000), "gpt-6"), Some(9_000));
    let listed = catalogue.find("anthropic", "claude-opus-5-5");
    assert_eq!(
        window(listed, Some(9_000), "claude-opus-5-5"),
        Some(1_000_000)
    );
}

#[test]
fn a_dated_snapshot_is_what_it_is_a_snapshot_of() {
    let catalogue = catalogue();
    let has = |id: &str| catalogue.find("anthropic", id).and_then(|it| it.window);
    for id in [
        "claude-opus-5-5",
        "claude-opus-5-5-20260901",
        "claude-opus-5-5@20260901",
        "claude-opus-5-5-2026-09-01",
        "claude-opus-5-5-latest",
    ] {
        assert_eq!(has(id), Some(1_000_000), "{id}");
    }
    for id in ["claude-haiku-4-5", "claude-haiku-4-5-20251001"] {
        assert_eq!(has(id), Some(200_000), "{id}");
    }
    for id in [
        "claude-opus-5",
        "claude-opus-5-5-fast",
        "20260901",
        "é-2026-09-01",
    ] {
        assert_eq!(has(id), None, "{id}");
    }
}

#[test]
fn what_a_catalogue_says_oddly_is_not_known_and_the_rest_counts() {
    let catalogue = catalogue();
    let listed = catalogue.find("openai", "gpt-5.6").unwrap();
    assert_eq!(listed.levels, [Reasoning::Low, Reasoning::High]);
    let rates = listed.rates.as_ref().unwrap();
    assert_eq!((rates.base.output, rates.above[0].0), (10.0, 272_000));
    let odd = catalogue.find("openai", "odd").unwrap();
    assert_eq!((odd.window, odd.reasoning, &odd.rates), (None, None, &None));
    let ids: Vec<&str> = catalogue.models("openai").map(|(id, _)| id).collect();
    assert_eq!(ids, ["gpt-5.5", "gpt-5.6", "odd"]);
    assert!(Catalogue::parse(b"[1]").is_err() && Catalogue::parse(b"<html>").is_err());
}

#[test]
fn only_known_providers_are_kept_of_a_catalogue() {
    let all = json!({
        "openai": {"models": {"m": {"name": "M", "limit": {"context": 5}, "release_date": "2026"}}},
        "elsewhere": {"models": {"n": {}}},
    });
    let kept = reduce(all.to_string().as_bytes(), &["openai", "google"]).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    let expected = json!({"openai": {"models": {"m": {"name": "M", "limit": {"context": 5}}}}});
    assert_eq!(kept, expected);
    assert!(reduce(b"{}", &["openai"]).is_err());
}

fn endpoint(base_url: &str) -> Endpoint {
    Endpoint {
        base_url: base_url.to_owned(),
        key: Some(Secret::new("the-key")),
        extra_headers: Vec::new(),
    }
}

#[test]
fn each_wire_format_has_its_way_to_ask_for_a_list() {
    let asked: Vec<String> = [
        (Wire::Messages, "https://api.anthropic.com"),
        (Wire::Responses, "https://api.openai.com/v1/"),
        (
            Wire::ChatCompletions,
            "https://gate.example/v1?api-version=1",
        ),
        (
            Wire::GenerateContent,
            "https://generativelanguage.googleapis.com",
        ),
        (Wire::Ollama, "http://127.0.0.1:11434"),
    ]
    .into_iter()
    .map(|(wire, base)| {
        let request = list_request(wire, &endpoint(base));
        let names: Vec<&str> = request.headers.iter().map(|(it, _)| it.as_str()).collect();
        format!("{} {} {}", request.method, request.url, names.join(","))
    })
    .collect();
    expect_test::expect![[r#"
        GET https://api.anthropic.com/v1/models?limit=1000 accept,x-api-key,anthropic-version
        GET https://api.openai.com/v1/models accept,authorization
        GET https://gate.example/v1/models?api-version=1 accept,authorization
        GET https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000 accept,x-goog-api-key
        GET http://127.0.0.1:11434/api/tags accept,authorization"#]]
    .assert_eq(&asked.join("\n"));
}

#[test]
fn lists_are_read_in_each_wire_format_and_models_that_do_not_converse_are_left_out() {
    let cases = [
        (
            Wire::Messages,
            json!({"data": [
                {"id": "claude-x", "display_name": "Claude X", "max_input_tokens": 9, "max_tokens": 3, "capabilities": {"thinking": {"supported": true}}},
                {"id": "claude-old", "lifecycle": "retired"},
                {"nothing": 1},
                {"id": "two\nlines"},
                {"id": "\u{1b}[31mred"},
            ]}),
        ),
        (
            Wire::ChatCompletions,
            json!({"data": [{"id": "z", "context_length": 8}, {"id": "a", "max_model_len": 4}, {"id": "a"}, {"id": "text-embedding-3"}]}),
        ),
        (
            Wire::GenerateContent,
            json!({"models": [
                {"name": "models/gemini-x", "displayName": "Gemini X", "inputTokenLimit": 7, "outputTokenLimit": 2, "supportedGenerationMethods": ["generateContent"]},
                {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
            ]}),
        ),
        (
            Wire::Ollama,
            json!({"models": [{"name": "qwen3:8b", "model": "qwen3:8b", "capabilities": ["completion", "thinking"]}, {"model": "nomic", "capabilities": ["embedding"]}, {"name": "old"}]}),
        ),
    ];
    let mut said = String::new();
    for (wire, body) in cases {
        for it in list_of(wire, body.to_string().as_bytes()).unwrap() {
            said += &format!(
                "{} {} {:?} {:?} {:?} {:?}\n",
                wire.name(),
                it.id,
                it.name,
                it.window,
                it.output,
                it.reasoning
            );
        }
    }
    expect_test::expect![[r#"
        messages claude-x Some("Claude X") Some(9) Some(3) Some(true)
        chat_completions a None Some(4) None None
        chat_completions z None Some(8) None None
        generate_content gemini-x Some("Gemini X") Some(7) Some(2) None
        ollama old None None None None
        ollama qwen3:8b None None None Some(true)
    "#]]
    .assert_eq(&said);
    assert!(list_of(Wire::Ollama, b"{}").is_err() && list_of(Wire::Messages, b"<").is_err());
}
