//! `undine doctor`: names what is wrong, shows no key, and starts nothing.

use super::command_line::{Said, names, undine, undine_with};
use crate::support::stage::config_for;
use crate::support::workspace::Workspace;
use serde_json::Value;
use std::net::TcpListener;

/// The sentences of `undine doctor` on a topic, each behind its state.
fn findings(said: &Said, topic: &str) -> String {
    let report: Value =
        serde_json::from_str(&said.out).unwrap_or_else(|it| panic!("{it}: {}", said.out));
    let all = report["findings"].as_array().unwrap();
    let on_it = all.iter().filter(|it| it["topic"] == topic);
    let lines = on_it.map(|it| {
        format!(
            "{}: {}\n",
            it["state"].as_str().unwrap(),
            it["text"].as_str().unwrap()
        )
    });
    lines.collect()
}

#[test]
fn the_doctor_finds_nothing_wrong_where_nothing_is() {
    let workspace = Workspace::new("//- /.git/HEAD\n//- /AGENTS.md\nUse tabs.\n");
    workspace.configure(&config_for("http://127.0.0.1:9/v1"));
    let said = undine(&workspace, &["doctor", "--json"]);
    assert_eq!(said.code, Some(0), "{} {}", said.out, said.errors);
    assert!(
        findings(&said, "model").starts_with("ok: scripted/scripted-1 at http://127.0.0.1:9/v1")
    );
    assert!(findings(&said, "mode").contains("ask, from the default"));
    assert!(findings(&said, "instructions").contains("AGENTS.md is told to the model"));
    assert!(findings(&said, "key").contains("None is sent"));
    assert!(findings(&said, "reasoning").starts_with("ok: It reasons in its provider's own way"));
    assert!(findings(&said, "window").starts_with("note: How much it reads is not known"));
    assert!(findings(&said, "price").starts_with("ok: It costs nothing"));
    assert!(findings(&said, "connection").starts_with("note: "));
    assert!(
        names(&workspace.outside("tmp")).is_empty(),
        "it left something"
    );
    assert!(
        names(&workspace.outside("data")).is_empty(),
        "it left something"
    );
    let text = undine(&workspace, &["doctor"]);
    assert!(text.out.contains("ok       model"), "{}", text.out);
}

#[test]
fn the_doctor_says_what_is_known_of_the_model() {
    let workspace = Workspace::new("");
    workspace.configure(
        "[default_model]\nname = \"best\"\nreasoning = \"low\"\n[model_aliases]\nbest = \"anthropic/claude-opus-5-5\"\n\
         [reasoning_per_model]\nbest = \"high\"\n\
         [pricing.models.\"anthropic/claude-opus-5-5\"]\ninput = 4.0\noutput = 20.0\n",
    );
    let said = undine(&workspace, &["doctor", "--json"]);
    let found = |topic| findings(&said, topic);
    assert!(found("model").starts_with("ok: anthropic/claude-opus-5-5 at "));
    assert_eq!(found("reasoning"), "ok: It is asked to reason: high.\n");
    assert_eq!(found("window"), "ok: It reads 1000000 tokens.\n");
    assert_eq!(
        found("price"),
        "ok: A million tokens cost $4.00 to read and $20.00 to write.\n"
    );
}

#[test]
fn the_doctor_names_each_thing_that_is_wrong() {
    let model = config_for("http://127.0.0.1:9/v1");
    for (config, topic, told) in [
        ("", "model", "problem: No model is configured"),
        (
            "[default_model]\nprovider = \"groq\"\nname = \"x\"\n",
            "key",
            "problem: The key of groq is missing",
        ),
        (
            &format!("{model}[safety]\nmood = 1\n"),
            "config",
            "problem: The user's config.toml has the unknown option safety.mood",
        ),
        (
            &format!("{model}[workspace]\nadditional_dirs = [\"/nowhere\"]\n"),
            "folders",
            "problem: /nowhere in workspace.additional_dirs is no folder",
        ),
        ("x", "config", "is not valid TOML (line 1"),
    ] {
        let workspace = Workspace::new("");
        workspace.configure(config);
        let said = undine(&workspace, &["doctor", "--json"]);
        assert_eq!(said.code, Some(1), "{config}");
        let found = findings(&said, topic);
        assert!(found.contains(told), "{config}: {found}");
    }
}

#[test]
fn the_doctor_says_where_a_key_comes_from_and_never_what_it_is() {
    let workspace = Workspace::new("");
    workspace.configure("[default_model]\nprovider = \"groq\"\nname = \"x\"\n");
    let key = [("GROQ_API_KEY", "gsk-very-secret")];
    for arguments in [&["doctor", "--json"][..], &["doctor"]] {
        let said = undine_with(&workspace, arguments, &key);
        assert_eq!(said.code, Some(0), "{}", said.out);
        assert!(
            said.out.contains("the environment variable GROQ_API_KEY"),
            "{}",
            said.out
        );
        assert!(!said.out.contains("very-secret") && !said.errors.contains("very-secret"));
    }
}

#[test]
fn the_doctor_speaks_with_the_model_only_when_asked_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let workspace = Workspace::new("");
    workspace.configure(&config_for(&url));
    let connection = |arguments: &[&str]| findings(&undine(&workspace, arguments), "connection");
    listener.set_nonblocking(true).unwrap();
    assert!(connection(&["doctor", "--json"]).starts_with("note: "));
    assert_eq!(
        listener.accept().unwrap_err().kind(),
        std::io::ErrorKind::WouldBlock
    );
    assert!(connection(&["doctor", "--json", "--online"]).starts_with("ok: "));
    listener.accept().unwrap();
    drop(listener);
    let said = undine(&workspace, &["doctor", "--json", "--online"]);
    assert_eq!(said.code, Some(1));
    assert!(findings(&said, "connection").starts_with("problem: "));
}

#[cfg(target_os = "linux")]
#[test]
fn the_doctor_knows_what_confines_commands() {
    use host::process::sandbox::Kernel;
    let workspace = Workspace::new("");
    workspace.configure(&config_for("http://127.0.0.1:9/v1"));
    let Kernel::Linux { landlock, seccomp } = Kernel::look() else {
        panic!("this is Linux");
    };
    let said = undine(&workspace, &["doctor", "--json"]);
    let found = findings(&said, "sandbox");
    assert!(
        found.contains(&format!("Landlock version {}", landlock)),
        "{found}"
    );
    assert!(found.contains("Commands run as you do"), "{found}");
    let said = undine(&workspace, &["doctor", "--json", "--sandbox"]);
    let found = findings(&said, "sandbox");
    let is_held = landlock >= 3 && seccomp;
    let told = [
        "problem: No command runs",
        "ok: Commands are confined: no network",
    ];
    assert!(found.contains(told[usize::from(is_held)]), "{found}");
    assert_eq!(said.code, Some(i32::from(!is_held)));
}
