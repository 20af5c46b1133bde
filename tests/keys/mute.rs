//! A bus that takes connections and never answers: nobody waits for it longer than once.

use super::{CANARY, GROQ, groq_at, set, with_environment};
use crate::config::command_line::undine_with;
use crate::support::editor::{Editor, Setup};
use crate::support::model::Model;
use crate::support::workspace::Workspace;
use serde_json::json;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

/// Takes connections, because the system queues them, and answers none.
struct Mute {
    address: String,
    _listener: UnixListener,
}

fn mute(workspace: &Workspace) -> Mute {
    let path = workspace.outside("bus");
    Mute {
        address: format!("unix:path={}", path.display()),
        _listener: UnixListener::bind(path).unwrap(),
    }
}

fn beside(bus: &Mute) -> Setup {
    with_environment(&[
        ("UNDINE_NO_KEYRING", ""),
        ("DBUS_SESSION_BUS_ADDRESS", &bus.address),
    ])
}

/// More than what is waited for the keyring would show, and less than a second wait.
const SOON: Duration = Duration::from_millis(1500);

#[test]
fn a_mute_keyring_is_waited_for_once_and_warned_of_once() {
    let workspace = Workspace::new("");
    workspace.configure(&format!("{GROQ}[limits]\nkeyring_ms = 2000\n"));
    let bus = mute(&workspace);
    let editor = Editor::start(&beside(&bus), &workspace);
    let session = editor.new_session();
    for n in 0..2 {
        let begun = Instant::now();
        let prompt = editor.prompt(&session, "hello");
        let error = editor.end(&prompt).end.unwrap_err();
        let took = begun.elapsed();
        assert_eq!(
            error.message,
            "The key of groq is missing, and the system's keyring does not answer; set the environment variable GROQ_API_KEY and start the editor anew."
        );
        assert_eq!(error.data, json!({"kind": "auth"}));
        if n == 0 {
            assert!(took >= Duration::from_secs(2), "{took:?}");
            let warning = editor.expect_raw("window/showMessage");
            let said = warning["params"]["message"].as_str().unwrap();
            assert!(said.contains("did not answer within 2000 ms"), "{said}");
        } else {
            assert!(took < SOON, "{took:?}");
        }
    }
    let begun = Instant::now();
    let refused = set(&editor, "groq", CANARY).unwrap_err();
    assert!(refused.contains("does not answer"), "{refused}");
    assert!(begun.elapsed() < SOON);
    // The end of the test looks that nothing is unread, a second warning above all, and that the server exits.
}

#[test]
fn a_turn_that_needs_no_key_goes_on_beside_a_mute_keyring() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    workspace.configure(&format!(
        "{}\n[limits]\nkeyring_ms = 200\n",
        groq_at(&model)
    ));
    let bus = mute(&workspace);
    let editor = Editor::start(&beside(&bus), &workspace);
    let session = editor.new_session();
    for n in 0..2 {
        let prompt = editor.prompt(&session, "hello");
        let mut asked = model.next();
        assert_eq!(asked.key, None);
        asked.say("hi");
        asked.end();
        assert!(editor.end(&prompt).text().ends_with("hi"));
        if n == 0 {
            editor.expect_raw("window/showMessage");
        }
    }
}

#[test]
fn a_turn_is_cancelled_while_the_keyring_is_waited_for() {
    let workspace = Workspace::new("");
    workspace.configure(&format!("{GROQ}[limits]\nkeyring_ms = 30000\n"));
    let bus = mute(&workspace);
    let editor = Editor::start(&beside(&bus), &workspace);
    let session = editor.new_session();
    let begun = Instant::now();
    let prompt = editor.prompt(&session, "hello");
    editor.round_trip();
    editor.cancel(&session);
    assert_eq!(
        editor.end(&prompt).end,
        Ok(protocol::acp::StopReason::Cancelled)
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_command_line_gives_a_mute_keyring_up_after_three_seconds() {
    let workspace = Workspace::new("");
    workspace.configure(GROQ);
    let bus = mute(&workspace);
    let environment = [
        ("UNDINE_NO_KEYRING", ""),
        ("DBUS_SESSION_BUS_ADDRESS", bus.address.as_str()),
    ];
    for arguments in [&["login", "groq"][..], &["doctor"]] {
        let begun = Instant::now();
        let said = undine_with(&workspace, arguments, &environment);
        let took = begun.elapsed();
        assert_eq!(said.code, Some(1));
        let told = format!("{}{}", said.out, said.errors);
        assert!(
            told.contains("the system's keyring does not answer"),
            "{told}"
        );
        let wait = Duration::from_secs(3);
        assert!(took >= wait && took < wait * 2, "{took:?}");
    }
}
