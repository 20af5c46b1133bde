//! Providers' keys: where they are found, that they come nowhere else, and what is said where one is missing.
//!
//! `ring.rs` needs a Secret Service and runs by `tests/run keys`; nothing else here touches the machine's keyring.

#[cfg(target_os = "linux")]
mod mute;
#[cfg(target_os = "linux")]
mod ring;

use crate::config::command_line::{undine, undine_with};
use crate::support::editor::{Editor, Setup};
use crate::support::model::Model;
use crate::support::workspace::Workspace;
use protocol::auth::{
    ApiKey, AuthStatusParams, ClearKeyParams, KeySource, ProviderKey, SetKeyParams,
};
use protocol::methods::{AuthStatus, ClearKey, SetKey};
use serde_json::json;
use std::fs;
use std::path::Path;

/// A key that no rule could tell from words.
const CANARY: &str = "marmalade-orchard-lantern";

/// `groq` as the vendor serves it.
const GROQ: &str = "[default_model]\nprovider = \"groq\"\nname = \"m\"\n";

/// `groq` at the scripted model.
fn groq_at(model: &Model) -> String {
    format!("{GROQ}\n[providers.groq]\nbase_url = \"{}\"\n", model.url())
}

/// An editor whose server has this environment besides.
fn with_environment(environment: &[(&'static str, &str)]) -> Setup {
    let environment = environment
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    Setup {
        environment: environment.collect(),
        ..Setup::agent()
    }
}

/// Every file below a folder that holds a text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file()
                && String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).contains(text)
            {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

fn status_of(editor: &Editor, provider: &str) -> ProviderKey {
    let params = AuthStatusParams {
        provider: Some(provider.to_owned()),
    };
    let status = editor.ask::<AuthStatus>(params).unwrap();
    assert_eq!(status.providers.len(), 1);
    status.providers.into_iter().next().unwrap()
}

fn set(editor: &Editor, provider: &str, key: &str) -> Result<ProviderKey, String> {
    let params = SetKeyParams {
        provider: provider.to_owned(),
        api_key: ApiKey(key.to_owned()),
    };
    editor.ask::<SetKey>(params).map_err(|it| it.message)
}

#[test]
fn a_key_goes_to_its_provider_and_nowhere_else() {
    const SECOND: &str = "velvet-harbour-thimble";
    let (model, workspace) = (Model::start(), Workspace::new(""));
    workspace.configure(&format!(
        "{}\n[safety]\nmode = \"full_access\"\n",
        groq_at(&model)
    ));
    let log = workspace.outside("trace.log");
    let setup = Setup {
        arguments: ["-vv", "--log-file", log.to_str().unwrap()]
            .map(str::to_owned)
            .to_vec(),
        ..with_environment(&[("GROQ_API_KEY", CANARY), ("CLOUDFLARE_API_TOKEN", SECOND)])
    };
    let mut editor = Editor::start(&setup, &workspace);
    editor.raw_notify("$/setTrace", json!({"value": "verbose"}));
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "which variables are there?");
    let mut asked = model.next();
    assert_eq!(asked.key, Some(format!("Bearer {CANARY}")));
    asked.call("execute_command", json!({"command": "env; echo done"}));
    asked.end();
    let mut asked = model.next();
    let seen = asked.result();
    assert!(seen.contains("done"), "{seen}");
    assert!(!seen.contains(CANARY) && !seen.contains(SECOND), "{seen}");
    // What no command can find out it makes up.
    asked.say("it is marmalade-orch").say("ard-lantern, or so");
    asked.end();
    let turn = editor.end(&prompt);
    assert!(turn.text().ends_with("it is ***, or so"), "{turn:?}");

    let prompt = editor.prompt(&session, "again");
    model.next().fail(401, &format!("no access for {CANARY}"));
    let error = editor.end(&prompt).end.unwrap_err();
    assert!(error.message.contains("no access for ***"), "{error:?}");
    assert!(
        error
            .message
            .contains("it was taken from the environment variable GROQ_API_KEY")
    );
    assert_eq!(error.data, json!({"kind": "auth"}));

    let status = editor
        .ask::<AuthStatus>(AuthStatusParams::default())
        .unwrap();
    // A key that cannot be stored is as secret as one that can.
    let refused = set(&editor, "openai", SECOND).unwrap_err();
    let wrong = editor.raw_request(
        "undine/auth/set",
        json!({"provider": "openai", "apiKey": [SECOND]}),
    );
    let wrong = editor.raw_answer(wrong).unwrap_err();
    let said = format!(
        "{turn:?}{error:?}{status:?}{refused}{wrong:?}{}",
        editor.stderr()
    );
    assert!(!said.contains(CANARY) && !said.contains(SECOND), "{said}");
    editor.finish();
    for key in [CANARY, SECOND] {
        assert_eq!(holding(&workspace.outside(""), key), Vec::<String>::new());
    }
    let logged = fs::read_to_string(log).unwrap();
    assert!(!logged.is_empty(), "nothing was logged");
}

#[test]
fn a_variable_that_the_person_named_is_the_only_place_that_counts() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    workspace.configure(&format!(
        "{}api_key_env = \"OFFICE_KEY\"\n",
        groq_at(&model)
    ));
    let editor = Editor::start(&with_environment(&[("GROQ_API_KEY", CANARY)]), &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    let error = editor.end(&prompt).end.unwrap_err();
    assert_eq!(
        error.message,
        "The key of groq is missing; set the environment variable OFFICE_KEY and start the editor anew."
    );
    assert_eq!(
        error.data,
        json!({"kind": "auth"}),
        "no stored key would help"
    );
    let refused = set(&editor, "groq", CANARY).unwrap_err();
    assert!(
        refused.contains("OFFICE_KEY") && refused.contains("api_key_env"),
        "{refused}"
    );
    let said = undine(&workspace, &["login", "groq"]);
    assert_eq!(said.code, Some(1));
    assert!(said.errors.contains("OFFICE_KEY"), "{}", said.errors);
}

#[test]
fn the_first_variable_that_is_set_is_taken() {
    let workspace = Workspace::new("");
    let source = |environment: &[(&'static str, &str)]| {
        let editor = Editor::start(&with_environment(environment), &workspace);
        let status = status_of(&editor, "gemini");
        assert!(status.needed);
        (status.source, status.variable)
    };
    let (first, second) = (("GOOGLE_API_KEY", "a"), ("GEMINI_API_KEY", "b"));
    let of = |name: &str| (KeySource::Env, Some(name.to_owned()));
    assert_eq!(source(&[first, second]), of("GOOGLE_API_KEY"));
    assert_eq!(source(&[second]), of("GEMINI_API_KEY"));
    assert_eq!(
        source(&[("GOOGLE_API_KEY", " "), second]),
        of("GEMINI_API_KEY")
    );
    assert_eq!(source(&[]), (KeySource::None, None));
}

#[test]
fn without_a_keyring_a_missing_key_is_one_sentence_that_names_the_variable() {
    let workspace = Workspace::new("");
    workspace.configure(GROQ);
    let nowhere = [
        ("UNDINE_NO_KEYRING", "0"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus"),
    ];
    for (environment, why) in [
        (
            &[][..],
            "and UNDINE_NO_KEYRING switches the system's keyring off;",
        ),
        (&nowhere[..], "and the system's keyring cannot be used ("),
    ] {
        if !cfg!(target_os = "linux") && !environment.is_empty() {
            continue;
        }
        let editor = Editor::start(&with_environment(environment), &workspace);
        let session = editor.new_session();
        let prompt = editor.prompt(&session, "hello");
        let error = editor.end(&prompt).end.unwrap_err();
        let said = &error.message;
        assert!(
            said.starts_with(&format!("The key of groq is missing, {why}")),
            "{said}"
        );
        assert!(
            said.ends_with(
                "; set the environment variable GROQ_API_KEY and start the editor anew."
            ),
            "{said}"
        );
        assert_eq!(
            error.data,
            json!({"kind": "auth"}),
            "no stored key would help"
        );
        let refused = set(&editor, "groq", CANARY).unwrap_err();
        assert!(
            refused.starts_with("The key was not stored, because "),
            "{refused}"
        );
        assert!(
            refused.ends_with("; set the environment variable GROQ_API_KEY instead."),
            "{refused}"
        );
        let cleared = ClearKeyParams {
            provider: "groq".to_owned(),
        };
        let error = editor.ask::<ClearKey>(cleared).unwrap_err();
        assert!(
            error
                .message
                .starts_with("The key of groq was not removed, because "),
            "{error:?}"
        );
        assert!(!status_of(&editor, "groq").storable);

        let said = undine_with(&workspace, &["login", "groq"], environment);
        assert_eq!(said.code, Some(1));
        assert_eq!(said.errors, format!("undine: {refused}\n"));
        let said = undine_with(&workspace, &["logout", "groq"], environment);
        assert_eq!(said.code, Some(1), "{}", said.errors);
    }
}

#[test]
fn a_server_that_needs_no_key_is_asked_without_one() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    workspace.configure(&groq_at(&model));
    let editor = Editor::start(&Setup::agent(), &workspace);
    let prompt = editor.prompt(&editor.new_session(), "hello");
    let mut asked = model.next();
    assert_eq!(asked.key, None);
    asked.say("hi");
    asked.end();
    assert_eq!(editor.end(&prompt).text(), "hi");
}

#[test]
fn an_unknown_provider_is_said_with_those_there_are() {
    let workspace = Workspace::new("");
    workspace.configure("[providers.office]\nbase_url = \"https://models.office.test/v1\"\n");
    let editor = Editor::start(&Setup::agent(), &workspace);
    let said = set(&editor, "nobody", CANARY).unwrap_err();
    assert!(said.starts_with("There is no provider nobody; "), "{said}");
    assert!(
        said.contains("anthropic") && said.contains("office"),
        "{said}"
    );
    assert!(!status_of(&editor, "office").needed);
    for arguments in [["login", "nobody"], ["logout", "nobody"]] {
        let said = undine(&workspace, &arguments);
        assert_eq!(said.code, Some(1));
        assert!(
            said.errors.contains("There is no provider nobody"),
            "{}",
            said.errors
        );
    }
}

#[test]
fn login_without_a_name_and_the_doctor_list_where_keys_are_and_never_what_they_are() {
    let workspace = Workspace::new("");
    workspace.configure("[providers.office]\nbase_url = \"https://models.office.test/v1\"\n");
    let key = [("GROQ_API_KEY", CANARY)];
    let said = undine_with(&workspace, &["login"], &key);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    let line = |name: &str| said.out.lines().find(|it| it.starts_with(name)).unwrap();
    assert_eq!(line("groq"), "groq         env      GROQ_API_KEY");
    assert_eq!(
        line("gemini"),
        "gemini       none     GOOGLE_API_KEY or GEMINI_API_KEY"
    );
    assert_eq!(line("office"), "office       none     needs none");
    assert!(said.errors.contains("UNDINE_NO_KEYRING"), "{}", said.errors);
    let doctor = undine_with(&workspace, &["doctor"], &key);
    assert!(
        doctor
            .out
            .contains("env: groq; keyring: nobody; none: all others."),
        "{}",
        doctor.out
    );
    for it in [said, doctor] {
        assert!(!it.out.contains(CANARY) && !it.errors.contains(CANARY));
    }
}
