//! `undine/models` and `undine models`: what can be chosen; and the catalogue behind it.

use crate::config::command_line::undine_with;
use crate::support::editor::{Editor, Setup};
use crate::support::web::{Page, Web};
use crate::support::workspace::Workspace;
use protocol::acp::NewSessionRequest;
use protocol::auth::{KeySource, ProviderKey};
use protocol::methods::{ListModels, NewSession};
use protocol::models::{ListModelsParams, ListedModel, ModelList, ModelProvider};
use serde_json::{Value, json};

/// The key of a provider, which is shown nowhere.
const KEY: &str = "key-that-nobody-sees";

/// A catalogue with the model of `groq` that the tests ask for, and one of another.
fn catalogue(window: u64) -> Value {
    json!({
        "groq": {"models": {
            "llama-x": {"name": "Llama X", "limit": {"context": window, "output": 10}, "cost": {"input": 1.5, "output": 2.0}, "reasoning": false},
            "draw": {"modalities": {"output": ["image"]}},
        }},
        "elsewhere": {"models": {"n": {}}},
    })
}

/// A person with two servers of their own, one of which does not answer, and a vendor whose address is here.
fn configuration(web: &Web) -> String {
    format!(
        "[default_model]\nprovider = \"groq\"\nname = \"llama-x\"\n\
         [model_aliases]\nfast = \"mine/small\"\nlost = \"nothing\"\n\
         [providers.groq]\nbase_url = \"{}\"\napi_key_env = \"UNDINE_TEST_KEY\"\n\
         [providers.mine]\nbase_url = \"{}\"\ndefault_model = \"big\"\n\
         [providers.slow]\nbase_url = \"{}\"\n\
         [providers.broken]\nbase_url = \"{}\"\n\
         [pricing]\ncatalog_url = \"{}\"\n[pricing.models.\"mine/big\"]\ninput = 7.0\noutput = 9.0\n\
         [limits]\nmodels_secs = 1\n",
        web.url("/groq"),
        web.url("/mine"),
        web.url("/slow"),
        web.url("/broken"),
        web.url("/api.json"),
    )
}

fn web() -> Web {
    let web = Web::start();
    web.put_json("/api.json", &catalogue(131_072));
    web.put_json(
        "/groq/models",
        &json!({"data": [{"id": "llama-x"}, {"id": "new", "context_window": 5_000}]}),
    );
    web.put_json(
        "/mine/models",
        &json!({"data": [{"id": "small", "max_model_len": 4_096}]}),
    );
    web.put("/slow/models", Page::Silence);
    web.put(
        "/broken/models",
        Page::Text(500, r#"{"error": {"message": "out of order"}}"#.to_owned()),
    );
    web
}

fn setup() -> Setup {
    let mut setup = Setup::agent();
    setup.environment.push(("UNDINE_TEST_KEY", KEY.into()));
    setup
}

#[track_caller]
fn provider<'a>(list: &'a ModelList, name: &str) -> &'a ModelProvider {
    list.providers.iter().find(|it| it.name == name).unwrap()
}

#[track_caller]
fn model<'a>(list: &'a ModelList, id: &str) -> &'a ListedModel {
    let all = list.providers.iter().flat_map(|it| &it.models);
    all.into_iter().find(|it| it.id == id).unwrap()
}

#[test]
fn each_provider_lists_its_models_and_one_that_fails_or_hangs_holds_up_no_other() {
    let (web, workspace) = (web(), Workspace::new(""));
    workspace.configure(&configuration(&web));
    let editor = Editor::start(&setup(), &workspace);
    let list = editor
        .ask::<ListModels>(ListModelsParams::default())
        .unwrap();
    assert_eq!(list.current.as_deref(), Some("groq/llama-x"));
    let aliases: Vec<(&str, Option<&str>)> = list
        .aliases
        .iter()
        .map(|it| (it.name.as_str(), it.model.as_deref()))
        .collect();
    assert_eq!(aliases, [("fast", Some("mine/small")), ("lost", None)]);
    // The catalogue knows one, the provider says of the other.
    let known = model(&list, "groq/llama-x");
    assert_eq!(
        (known.window, known.output, known.live),
        (Some(131_072), Some(10), true)
    );
    assert_eq!(known.name.as_deref(), Some("Llama X"));
    let price = known.price.as_ref().unwrap();
    assert_eq!((price.input, price.output), (1.5, 2.0));
    let new = model(&list, "groq/new");
    assert_eq!((new.window, new.price.as_ref()), (Some(5_000), None));
    // A server of one's own costs nothing, but for what the person says.
    let small = model(&list, "mine/small");
    assert_eq!(small.price.as_ref().unwrap().input, 0.0);
    let big = model(&list, "mine/big");
    assert_eq!((big.price.as_ref().unwrap().input, big.live), (7.0, false));
    // Failures are each provider's own.
    let slow = provider(&list, "slow").problem.as_deref().unwrap();
    assert!(
        slow.starts_with("slow did not list its models: ") && slow.contains("1 second"),
        "{slow}"
    );
    let broken = provider(&list, "broken").problem.as_deref().unwrap();
    assert!(broken.contains("out of order"), "{broken}");
    assert_eq!(provider(&list, "mine").problem, None);
    // A local server that nobody has named may run here or not.
    assert_eq!(provider(&list, "lmstudio").problem, None);
    // Where keys are, and never what they are.
    let groq = &provider(&list, "groq").key;
    let named = ProviderKey {
        provider: "groq".to_owned(),
        source: KeySource::Env,
        variable: Some("UNDINE_TEST_KEY".to_owned()),
        needed: true,
        storable: false,
    };
    assert_eq!(*groq, named);
    let mine = provider(&list, "mine");
    assert!(!mine.key.needed && !mine.key.is_missing() && mine.hint.is_none());
    let missing = provider(&list, "anthropic");
    assert!(missing.key.is_missing());
    let hint = missing.hint.as_deref().unwrap();
    assert!(hint.contains("ANTHROPIC_API_KEY"), "{hint}");
    assert_eq!(
        web.key("/groq/models"),
        format!("authorization: Bearer {KEY}")
    );
    assert_eq!(web.key("/mine/models"), "");
    let whole = serde_json::to_string(&list).unwrap();
    assert!(!whole.contains(KEY), "{whole}");

    // Who has answered is not asked again, unless that is wanted.
    editor
        .ask::<ListModels>(ListModelsParams::default())
        .unwrap();
    assert_eq!(
        (web.count("/groq/models"), web.count("/broken/models")),
        (1, 2)
    );
    let refresh = ListModelsParams {
        refresh: true,
        ..ListModelsParams::default()
    };
    editor.ask::<ListModels>(refresh).unwrap();
    assert_eq!(web.count("/groq/models"), 2);
}

#[test]
fn undine_models_lists_them_in_a_terminal() {
    let (web, workspace) = (web(), Workspace::new(""));
    workspace.configure(&configuration(&web));
    let key = [("UNDINE_TEST_KEY", KEY)];
    let said = undine_with(&workspace, &["models", "list"], &key);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    for line in [
        "groq/llama-x answers.",
        "fast is mine/small.",
        "groq (key from the environment variable UNDINE_TEST_KEY)",
        "  groq/llama-x, reads 131072 tokens, $1.50 read, $2.00 written a million",
        "  mine/small, reads 4096 tokens, free",
        "anthropic (no key)",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    let said = undine_with(&workspace, &["models", "--json"], &key);
    let list: ModelList = serde_json::from_str(&said.out).unwrap();
    assert_eq!(model(&list, "groq/llama-x").window, Some(131_072));
    assert!(!said.out.contains(KEY) && !said.errors.contains(KEY));
}

/// Opens a session and waits until the catalogue has come, or an event that follows it.
fn open(workspace: &Workspace, setup: &Setup) -> Editor {
    let editor = Editor::start(setup, workspace);
    let new = NewSessionRequest::new(workspace.root());
    editor.ask::<NewSession>(new).unwrap();
    editor
}

fn kept(workspace: &Workspace) -> std::path::PathBuf {
    workspace.outside("data").join("catalogue.json")
}

/// Waits for the file: it is put in place whole.
#[track_caller]
fn wait_for(workspace: &Workspace) {
    let begun = std::time::Instant::now();
    while !kept(workspace).exists() {
        assert!(
            begun.elapsed() < crate::support::PATIENCE,
            "the catalogue was not kept"
        );
        std::thread::yield_now();
    }
}

#[test]
fn the_catalogue_is_fetched_once_and_kept_without_what_is_of_no_use() {
    let (web, workspace) = (web(), Workspace::new(""));
    workspace.configure(&configuration(&web));
    let mut editor = open(&workspace, &setup());
    wait_for(&workspace);
    let text = std::fs::read_to_string(kept(&workspace)).unwrap();
    assert!(
        text.contains("llama-x") && !text.contains("elsewhere"),
        "{text}"
    );
    editor.finish();
    let mut editor = open(&workspace, &setup());
    editor.finish();
    assert_eq!(web.count("/api.json"), 1);
    // A day later.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 3600);
    let file = std::fs::File::options()
        .append(true)
        .open(kept(&workspace))
        .unwrap();
    file.set_modified(old).unwrap();
    web.put_json("/api.json", &catalogue(99_999));
    let list = undine_with(
        &workspace,
        &["models", "--json"],
        &[("UNDINE_TEST_KEY", "k")],
    );
    let list: ModelList = serde_json::from_str(&list.out).unwrap();
    assert_eq!(model(&list, "groq/llama-x").window, Some(99_999));
    assert_eq!(web.count("/api.json"), 2);
}

#[test]
fn the_catalogue_is_never_fetched_without_the_network_or_an_address_or_for_a_local_model() {
    for more in [
        "-csafety.network=deny",
        "-cpricing.catalog_url=",
        "-cdefault_model.provider=mine",
    ] {
        let (web, workspace) = (web(), Workspace::new(""));
        workspace.configure(&configuration(&web));
        let mut setup = setup();
        setup.arguments.push(more.to_owned());
        let mut editor = open(&workspace, &setup);
        editor.finish();
        assert_eq!(web.count("/api.json"), 0, "{more}");
        assert!(!kept(&workspace).exists(), "{more}");
    }
}

#[test]
fn a_catalogue_that_is_none_replaces_nothing() {
    let (web, workspace) = (web(), Workspace::new(""));
    workspace.configure(&configuration(&web));
    std::fs::write(kept(&workspace), catalogue(4_242).to_string()).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 3600);
    let file = std::fs::File::options()
        .append(true)
        .open(kept(&workspace))
        .unwrap();
    file.set_modified(old).unwrap();
    for page in [
        Page::Text(200, "<html>".to_owned()),
        Page::Text(200, "{}".to_owned()),
        Page::Text(503, "busy".to_owned()),
    ] {
        web.put("/api.json", page);
        let said = undine_with(
            &workspace,
            &["models", "--json"],
            &[("UNDINE_TEST_KEY", "k")],
        );
        let list: ModelList = serde_json::from_str(&said.out).unwrap();
        assert_eq!(model(&list, "groq/llama-x").window, Some(4_242));
    }
    assert_eq!(web.count("/api.json"), 3);
}
