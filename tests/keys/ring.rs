//! Keys in a real Secret Service: gnome-keyring on a bus of the test's own.
//!
//! `tests/run keys` fetches it and runs these; by themselves they are ignored. `UNDINE_TEST_KEYRING` names the program.

use super::{CANARY, GROQ, groq_at, holding, set, status_of, with_environment};
use crate::config::command_line::{Said, undine_with};
use crate::support::editor::{Editor, RpcError, Setup};
use crate::support::model::{Asked, Model};
use crate::support::workspace::Workspace;
use protocol::acp::SessionId;
use protocol::auth::{ClearKeyParams, KeySource};
use protocol::methods::ClearKey;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A bus that starts nothing by itself, so that no other keyring answers.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=PATH</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// A bus and an unlocked keyring on it, beside a workspace.
struct Ring {
    address: String,
    bus: Child,
    keyring: Child,
}

impl Ring {
    #[track_caller]
    fn start(workspace: &Workspace) -> Self {
        let program = std::env::var("UNDINE_TEST_KEYRING").expect("run these by `tests/run keys`");
        let folder = workspace.outside("ring");
        fs::create_dir(&folder).unwrap();
        let (path, config) = (folder.join("bus"), folder.join("bus.conf"));
        fs::write(&config, BUS.replace("PATH", path.to_str().unwrap())).unwrap();
        let mut bus = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", config.display()))
            .args(["--nofork", "--nopidfile", "--print-address=1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        // It listens once it has said where.
        BufReader::new(bus.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = format!("unix:path={}", path.display());
        let mut keyring = Command::new(program)
            .args(["--foreground", "--unlock", "--components=secrets"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &folder)
            .env("XDG_RUNTIME_DIR", &folder)
            .env("DBUS_SESSION_BUS_ADDRESS", &address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        keyring
            .stdin
            .take()
            .unwrap()
            .write_all(b"the keyring's own password")
            .unwrap();
        let ring = Self {
            address,
            bus,
            keyring,
        };
        ring.wait_for_service();
        ring
    }

    /// Until the service has its name on the bus.
    fn wait_for_service(&self) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            let asked = Command::new("dbus-send")
                .arg(format!("--bus={}", self.address))
                .args([
                    "--print-reply=literal",
                    "--dest=org.freedesktop.DBus",
                    "/org/freedesktop/DBus",
                    "org.freedesktop.DBus.NameHasOwner",
                    "string:org.freedesktop.secrets",
                ])
                .output()
                .unwrap();
            if String::from_utf8_lossy(&asked.stdout).contains("true") {
                return;
            }
        }
        panic!("the keyring has not come to the bus");
    }

    fn environment(&self) -> [(&'static str, &str); 2] {
        [
            ("UNDINE_NO_KEYRING", ""),
            ("DBUS_SESSION_BUS_ADDRESS", &self.address),
        ]
    }

    fn setup(&self) -> Setup {
        with_environment(&self.environment())
    }

    fn undine(&self, workspace: &Workspace, arguments: &[&str]) -> Said {
        undine_with(workspace, arguments, &self.environment())
    }

    /// `undine login groq` with a key on stdin.
    fn login(&self, workspace: &Workspace, key: &str) -> Said {
        let mut child = self
            .command(workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(key.as_bytes())
            .unwrap();
        let ended = child.wait_with_output().unwrap();
        let text = |it: Vec<u8>| String::from_utf8(it).unwrap();
        Said {
            code: ended.status.code(),
            out: text(ended.stdout),
            errors: text(ended.stderr),
        }
    }

    fn command(&self, workspace: &Workspace) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undine"));
        command
            .args(["login", "groq"])
            .env_clear()
            .env("HOME", workspace.outside("home"))
            .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
            .env("UNDINE_DATA_DIR", workspace.outside("data"))
            .envs(self.environment())
            .current_dir(workspace.root());
        command
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        for child in [&mut self.keyring, &mut self.bus] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn refused(editor: &Editor, session: &SessionId) -> RpcError {
    let prompt = editor.prompt(session, "hello");
    editor.end(&prompt).end.unwrap_err()
}

/// A turn that the model is asked in.
fn turn(
    editor: &Editor,
    session: &SessionId,
    model: &Model,
    answer: impl FnOnce(Asked),
) -> Option<String> {
    let prompt = editor.prompt(session, "hello");
    let asked = model.next();
    let key = asked.key.clone();
    answer(asked);
    // How it ended is the caller's business.
    let _ = editor.end(&prompt);
    key
}

fn say_hi(mut asked: Asked) {
    asked.say("hi");
    asked.end();
}

#[test]
#[ignore = "needs a Secret Service: tests/run keys"]
fn a_key_that_was_stored_is_used_at_once_and_after_logout_it_is_missing() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    let ring = Ring::start(&workspace);
    workspace.configure(GROQ);
    let log = workspace.outside("trace.log");
    let mut setup = ring.setup();
    setup.arguments = ["-vv", "--log-file", log.to_str().unwrap()]
        .map(str::to_owned)
        .to_vec();
    let mut editor = Editor::start(&setup, &workspace);
    let session = editor.new_session();
    let error = refused(&editor, &session);
    assert_eq!(
        error.message,
        "The key of groq is missing; run `undine login groq`, or set the environment variable GROQ_API_KEY and start the editor anew."
    );
    assert_eq!(error.data, json!({"kind": "auth", "provider": "groq"}));

    let said = ring.login(&workspace, &format!(" {CANARY}\r\n"));
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert_eq!(
        said.out,
        "The key of groq is in the system's keyring now, as provider:groq of the service undine.\n"
    );
    assert_eq!(status_of(&editor, "groq").source, KeySource::Keyring);
    offered(&editor);
    editor.finish();

    // A server that knows of no address but the vendor's can be asked for the missing key only.
    workspace.configure(&groq_at(&model));
    let mut editor = Editor::start(&setup, &workspace);
    let session = editor.new_session();
    offered(&editor);
    let key = turn(&editor, &session, &model, say_hi);
    assert_eq!(key, Some(format!("Bearer {CANARY}")));
    let said = ring.undine(&workspace, &["doctor"]);
    assert!(
        said.out.contains("It is taken from the system's keyring."),
        "{}",
        said.out
    );
    assert!(
        said.out
            .contains("env: nobody; keyring: groq; none: all others."),
        "{}",
        said.out
    );
    let said = ring.undine(&workspace, &["login"]);
    assert!(said.out.contains("groq         keyring\n"), "{}", said.out);

    let said = ring.undine(&workspace, &["logout", "groq"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (
            Some(0),
            "The key of groq is no longer in the system's keyring.\n"
        )
    );
    let said = ring.undine(&workspace, &["logout", "groq"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (
            Some(0),
            "There was no key of groq in the system's keyring.\n"
        )
    );
    assert_eq!(status_of(&editor, "groq").source, KeySource::None);
    offered(&editor);
    editor.finish();
    // The keyring's own files are encrypted.
    assert_eq!(
        holding(&workspace.outside(""), CANARY),
        Vec::<String>::new()
    );
}

#[test]
#[ignore = "needs a Secret Service: tests/run keys"]
fn the_editor_stores_and_removes_a_key_that_counts_for_the_next_request() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    let ring = Ring::start(&workspace);
    workspace.configure(&groq_at(&model));
    let log = workspace.outside("trace.log");
    let mut setup = ring.setup();
    setup.arguments = ["-vv", "--log-file", log.to_str().unwrap()]
        .map(str::to_owned)
        .to_vec();
    let mut editor = Editor::start(&setup, &workspace);
    let session = editor.new_session();
    assert_eq!(turn(&editor, &session, &model, say_hi), None);
    let stored = set(&editor, "groq", CANARY).unwrap();
    assert_eq!((stored.source, stored.storable), (KeySource::Keyring, true));
    let key = turn(&editor, &session, &model, say_hi);
    assert_eq!(key, Some(format!("Bearer {CANARY}")));
    // One that replaces it.
    set(&editor, "groq", "velvet-harbour-thimble").unwrap();
    let key = turn(&editor, &session, &model, say_hi);
    assert_eq!(key.as_deref(), Some("Bearer velvet-harbour-thimble"));
    for wrong in ["", "two words", "line\nline"] {
        let said = set(&editor, "groq", wrong).unwrap_err();
        assert!(said.starts_with("The key "), "{said}");
    }
    let clear = || {
        let provider = "groq".to_owned();
        editor.ask::<ClearKey>(ClearKeyParams { provider }).unwrap()
    };
    assert!(clear().removed);
    assert!(!clear().removed);
    assert_eq!(turn(&editor, &session, &model, say_hi), None);
    editor.finish();
    for key in [CANARY, "velvet-harbour-thimble"] {
        assert_eq!(holding(&workspace.outside(""), key), Vec::<String>::new());
    }
}

/// The models that a session offers, as the next update says.
#[track_caller]
fn offered(editor: &Editor) -> String {
    let update = editor.take("the update of the options", |it| {
        it["params"]["update"]["sessionUpdate"] == "config_option_update"
    });
    update["params"]["update"]["configOptions"][0]["options"].to_string()
}

#[test]
#[ignore = "needs a Secret Service: tests/run keys"]
fn models_of_a_provider_whose_key_is_only_in_the_keyring_are_on_offer() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    let ring = Ring::start(&workspace);
    workspace.configure(&format!(
        "{}[providers.mistral]\ndefault_model = \"codestral-x\"\n",
        groq_at(&model)
    ));
    let mut editor = Editor::start(&ring.setup(), &workspace);
    editor.new_session();
    set(&editor, "mistral", CANARY).unwrap();
    assert!(offered(&editor).contains("mistral/codestral-x"));
    editor.finish();

    // Another server asks the keyring by itself, once a session is open.
    let editor = Editor::start(&ring.setup(), &workspace);
    editor.new_session();
    assert!(offered(&editor).contains("mistral/codestral-x"));
    let provider = "mistral".to_owned();
    editor.ask::<ClearKey>(ClearKeyParams { provider }).unwrap();
    assert!(!offered(&editor).contains("mistral/codestral-x"));
}

#[test]
#[ignore = "needs a Secret Service: tests/run keys"]
fn a_stored_key_that_is_refused_is_said_to_be_the_stored_one_and_a_new_one_counts() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    let ring = Ring::start(&workspace);
    workspace.configure(&groq_at(&model));
    assert_eq!(ring.login(&workspace, CANARY).code, Some(0));
    let editor = Editor::start(&ring.setup(), &workspace);
    let session = editor.new_session();
    let prompt = editor.prompt(&session, "hello");
    model.next().fail(401, &format!("{CANARY} is not valid"));
    let error = editor.end(&prompt).end.unwrap_err();
    assert!(
        error.message.ends_with(
            "; it was taken from the system's keyring, where `undine login groq` replaces it."
        ),
        "{error:?}"
    );
    assert!(error.message.contains("*** is not valid"), "{error:?}");
    assert_eq!(error.data, json!({"kind": "auth", "provider": "groq"}));
    // In another process, which this one is not told of.
    assert_eq!(
        ring.login(&workspace, "velvet-harbour-thimble").code,
        Some(0)
    );
    let key = turn(&editor, &session, &model, say_hi);
    assert_eq!(key.as_deref(), Some("Bearer velvet-harbour-thimble"));
}

#[test]
#[ignore = "needs a Secret Service: tests/run keys"]
fn the_environment_comes_before_the_keyring() {
    let (model, workspace) = (Model::start(), Workspace::new(""));
    let ring = Ring::start(&workspace);
    workspace.configure(&groq_at(&model));
    assert_eq!(ring.login(&workspace, CANARY).code, Some(0));
    let mut setup = ring.setup();
    setup
        .environment
        .push(("GROQ_API_KEY", "velvet-harbour-thimble".to_owned()));
    let editor = Editor::start(&setup, &workspace);
    let session = editor.new_session();
    let key = turn(&editor, &session, &model, say_hi);
    assert_eq!(key.as_deref(), Some("Bearer velvet-harbour-thimble"));
    let prompt = editor.prompt(&session, "hello");
    model.next().fail(401, "no");
    let error = editor.end(&prompt).end.unwrap_err();
    assert_eq!(
        error.data,
        json!({"kind": "auth"}),
        "storing one would not help"
    );
    let environment = [
        &ring.environment()[..],
        &[("GROQ_API_KEY", "velvet-harbour-thimble")],
    ]
    .concat();
    let said = undine_with(&workspace, &["logout", "groq"], &environment);
    assert!(
        said.out
            .ends_with("The environment variable GROQ_API_KEY still holds one.\n"),
        "{}",
        said.out
    );
    // Switched off, the keyring is not looked at, whatever it holds.
    ring.login(&workspace, CANARY);
    let off = [("UNDINE_NO_KEYRING", "1"), ring.environment()[1]];
    let editor = Editor::start(&with_environment(&off), &workspace);
    let session = editor.new_session();
    assert_eq!(turn(&editor, &session, &model, say_hi), None);
}

#[test]
#[ignore = "needs a Secret Service: tests/run keys"]
fn login_takes_a_key_from_the_terminal_without_showing_it() {
    let workspace = Workspace::new("");
    let ring = Ring::start(&workspace);
    workspace.configure(GROQ);
    let said = |typed: &str| {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new())
            .unwrap()
            .into_string()
            .unwrap();
        let open = || {
            fs::File::options()
                .read(true)
                .write(true)
                .open(PathBuf::from(&name))
                .unwrap()
        };
        // Kept open, so that what was said can be read after the program's end.
        let ours = open();
        let mut child = ring
            .command(&workspace)
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .unwrap();
        let mut terminal = fs::File::from(terminal);
        let mut shown = Vec::new();
        let read_to = |shown: &mut Vec<u8>, terminal: &mut fs::File, end: &str| {
            while !String::from_utf8_lossy(shown).contains(end) {
                let mut byte = [0];
                terminal.read_exact(&mut byte).unwrap();
                shown.push(byte[0]);
            }
        };
        read_to(&mut shown, &mut terminal, "(it is not shown): ");
        // The echo goes off behind the question.
        let is_silent = || {
            let modes = rustix::termios::tcgetattr(&ours).unwrap().local_modes;
            !modes.contains(rustix::termios::LocalModes::ECHO)
        };
        while !is_silent() {
            std::thread::yield_now();
        }
        terminal.write_all(typed.as_bytes()).unwrap();
        let code = child.wait().unwrap().code();
        assert!(!is_silent(), "the terminal is as it was");
        read_to(&mut shown, &mut terminal, ".\r\n");
        (code, String::from_utf8(shown).unwrap())
    };
    let (code, shown) = said("x\u{7f}wrong\u{15}marmalade-orchard-lantern\r");
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        !shown.contains("marmalade") && !shown.contains("wrong"),
        "{shown}"
    );
    let (code, shown) = said("velvet\u{3}");
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("Nothing was stored"), "{shown}");
    let model = Model::start();
    workspace.configure(&groq_at(&model));
    let editor = Editor::start(&ring.setup(), &workspace);
    let key = turn(&editor, &editor.new_session(), &model, say_hi);
    assert_eq!(key, Some(format!("Bearer {CANARY}")));
}
