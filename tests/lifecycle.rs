//! The process lives exactly as long as its editor, and one bad message costs one message.

use crate::support::editor::{Editor, Setup};
use crate::support::stage::Stage;
use crate::support::witness::Witness;
use crate::support::workspace::Workspace;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const FULL: &str = "[safety]\nmode = \"full_access\"\n";
const STUBBORN: &str = "(trap '' TERM INT HUP; sleep 1000) & setsid sleep 1000 & sleep 1000";

/// A stage with a command that runs and has children which do not want to end.
fn with_running_command(setup: Setup) -> (Stage, Witness) {
    let stage = Stage::with(setup, "", FULL);
    let mut witness = Witness::new(&stage.workspace.root());
    stage.call(
        "execute_command",
        json!({"command": format!("{}{STUBBORN}", Witness::HOLD)}),
    );
    witness.wait_until_held();
    (stage, witness)
}

/// Checks that the server ends soon, and its command with it.
#[track_caller]
fn assert_ends(mut stage: Stage, witness: &Witness, code: Option<i32>) {
    let begun = Instant::now();
    assert_eq!(stage.editor.wait_for_exit(), code);
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
    witness.assert_gone_within(Duration::from_secs(2));
    // How far the turn came, and whether its prompt was still answered, is of no interest here.
    stage
        .editor
        .forget(|it| it["method"] == "session/update" || it.get("method").is_none());
}

#[test]
fn it_ends_with_1_when_stdin_ends_without_shutdown() {
    let workspace = Workspace::new("");
    let mut editor = Editor::start(&Setup::agent(), &workspace);
    editor.hang_up();
    assert_eq!(editor.wait_for_exit(), Some(1));
}

#[test]
fn it_ends_with_1_on_exit_without_shutdown_and_with_0_after_it() {
    let workspace = Workspace::new("");
    let mut editor = Editor::start(&Setup::agent(), &workspace);
    editor.raw_notify("exit", Value::Null);
    assert_eq!(editor.wait_for_exit(), Some(1));
    let mut editor = Editor::start(&Setup::agent(), &workspace);
    editor.finish();
}

#[test]
fn after_shutdown_requests_are_refused() {
    let workspace = Workspace::new("");
    let mut editor = Editor::start(&Setup::agent(), &workspace);
    let id = editor.raw_request("shutdown", Value::Null);
    assert_eq!(editor.raw_answer(id), Ok(Value::Null));
    let id = editor.raw_request("session/list", json!({}));
    assert_eq!(editor.raw_answer(id).unwrap_err().code, -32600);
    editor.raw_notify("exit", Value::Null);
    assert_eq!(editor.wait_for_exit(), Some(0));
}

#[test]
fn stdin_that_ends_ends_a_running_command() {
    let (stage, witness) = with_running_command(Setup::agent());
    stage.editor.hang_up();
    assert_ends(stage, &witness, Some(1));
}

#[test]
fn exit_ends_a_running_command() {
    let (stage, witness) = with_running_command(Setup::agent());
    stage.editor.raw_notify("exit", Value::Null);
    assert_ends(stage, &witness, Some(1));
}

#[test]
fn shutdown_and_exit_end_a_running_command() {
    let (stage, witness) = with_running_command(Setup::agent());
    let id = stage.editor.raw_request("shutdown", Value::Null);
    stage.editor.raw_answer(id).unwrap();
    stage.editor.raw_notify("exit", Value::Null);
    assert_ends(stage, &witness, Some(0));
}

/// A process that stands for the editor. Killed at the latest when dropped.
struct Stand(Child);

impl Stand {
    fn new() -> Self {
        Self(Command::new("sleep").arg("1000").spawn().unwrap())
    }

    fn die(&mut self) {
        let _ = self.0.kill();
        self.0.wait().unwrap();
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        self.die();
    }
}

#[test]
fn it_ends_when_the_process_that_initialize_named_dies_and_so_does_its_command() {
    let mut stand = Stand::new();
    let (stage, witness) = with_running_command(Setup {
        process_id: Some(stand.0.id()),
        ..Setup::agent()
    });
    stand.die();
    assert_ends(stage, &witness, Some(1));
}

#[test]
fn a_kill_of_the_server_leaves_no_child() {
    let (mut stage, witness) = with_running_command(Setup::agent());
    stage.editor.kill();
    witness.assert_gone_within(Duration::from_secs(2));
}

#[test]
fn a_request_before_initialize_is_refused_and_initialize_still_works() {
    let workspace = Workspace::new("");
    let setup = Setup::agent();
    let mut editor = Editor::spawn(&setup, &workspace);
    let id = editor.raw_request("session/list", json!({}));
    assert_eq!(editor.raw_answer(id).unwrap_err().code, -32002);
    editor.initialize(&setup);
    editor.round_trip();
}

#[test]
fn an_unknown_method_is_refused_and_an_unknown_notification_ignored() {
    let workspace = Workspace::new("");
    let editor = Editor::start(&Setup::agent(), &workspace);
    let id = editor.raw_request("session/teleport", json!({}));
    assert_eq!(editor.raw_answer(id).unwrap_err().code, -32601);
    editor.raw_notify("session/teleported", json!({}));
    editor.raw_notify("$/whatever", json!({}));
    editor.round_trip();
}

#[test]
fn parameters_of_the_wrong_shape_are_refused_by_name() {
    let workspace = Workspace::new("");
    let editor = Editor::start(&Setup::agent(), &workspace);
    let id = editor.raw_request("session/prompt", json!({"prompt": []}));
    let error = editor.raw_answer(id).unwrap_err();
    assert_eq!(error.code, -32602);
    assert!(error.message.contains("sessionId"), "{error:?}");
    editor.round_trip();
}

#[test]
fn malformed_json_costs_one_message() {
    let workspace = Workspace::new("");
    let editor = Editor::start(&Setup::agent(), &workspace);
    let body = "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": ";
    editor.raw_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
    let answer = editor.take("the parse error", |it| it["error"]["code"] == -32700);
    assert_eq!(answer["id"], Value::Null);
    editor.round_trip();
}

#[test]
fn the_answer_to_initialize_says_what_is_served() {
    let workspace = Workspace::new("");
    let editor = Editor::start(&Setup::agent(), &workspace);
    let capabilities = &editor.initialized["capabilities"];
    assert_eq!(capabilities["positionEncoding"], "utf-8");
    assert_eq!(capabilities["textDocumentSync"]["change"], 2);
    let agent = &capabilities["experimental"]["agent"];
    assert_eq!(agent["protocolVersion"], 1);
    let methods: Vec<&str> = agent["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    let table =
        protocol::methods::rows().filter(|it| it.sender == protocol::methods::Sender::Client);
    let table: Vec<&str> = table.map(|it| it.method).collect();
    assert_eq!(methods, table);
    assert_eq!(editor.initialized["serverInfo"]["name"], "undine");
}

#[test]
fn utf_16_is_spoken_to_an_editor_that_names_no_encoding() {
    let workspace = Workspace::new("");
    let setup = Setup {
        encodings: vec!["utf-16"],
        ..Setup::agent()
    };
    let editor = Editor::start(&setup, &workspace);
    let chosen = &editor.initialized["capabilities"]["positionEncoding"];
    assert!(chosen.is_null() || chosen == "utf-16", "{chosen}");
}

#[test]
fn a_document_of_100_mb_is_left_alone_with_a_word_and_so_is_its_file() {
    let stage = Stage::with(Setup::agent(), "//- /big.txt\nsmall on disk\n", FULL);
    let text = "0123456789abcdef\n".repeat(100_000_000 / 17);
    stage.editor.open_text("big.txt", text);
    let message = stage.editor.expect_raw("window/showMessage");
    let said = message["params"]["message"].as_str().unwrap();
    assert!(
        said.contains("big.txt") && said.contains("document_bytes"),
        "{said}"
    );
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "big.txt"}));
    asked.call(
        "edit_file",
        json!({"path": "big.txt", "target_content": "small", "replacement_content": "x"}),
    );
    asked.end();
    let mut asked = stage.model.next();
    for result in asked.results() {
        assert!(
            result.contains("big.txt") && result.contains("too large"),
            "{result}"
        );
    }
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(stage.workspace.read("big.txt"), "small on disk\n");
    stage.editor.close("big.txt");
    let (_, prompt) = stage.call("read_file", json!({"path": "big.txt"}));
    assert_eq!(stage.result(&prompt), "small on disk\n");
}

#[test]
fn two_thousand_changes_among_requests_give_the_text_of_a_naive_model() {
    for (seed, encoding) in [(1, "utf-8"), (2, "utf-16"), (3, "utf-32")] {
        let setup = Setup {
            encodings: vec![encoding],
            ..Setup::agent()
        };
        let stage = Stage::with(setup, "//- /a.txt\none\ntwo\n", "");
        stage.editor.open("a.txt");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut asked = VecDeque::new();
        for n in 0..2_000 {
            // Several changes of one notification build on each other.
            let mut steps = random.u8(1..=3);
            stage.editor.type_in_steps("a.txt", |text| {
                steps = steps.checked_sub(1)?;
                let range = random_range(&mut random, text);
                Some((range, random_text(&mut random).to_owned()))
            });
            if n % 40 == 0 {
                let params = json!({"cwd": stage.workspace.root()});
                asked.push_back(stage.editor.raw_request("session/list", params));
            }
            // Never far ahead of the server, so that a slow machine is not a fault.
            if asked.len() > 4 {
                let id = asked.pop_front().unwrap();
                stage.editor.raw_answer(id).unwrap();
            }
        }
        let (_, prompt) = stage.call("read_file", json!({"path": "a.txt"}));
        let read = stage.result(&prompt);
        let expected = stage.editor.buffer("a.txt").text;
        assert_eq!(read, expected, "seed {seed}, {encoding}");
        for id in asked {
            stage.editor.raw_answer(id).unwrap();
        }
    }
}

/// A range of whole characters, none of whose ends stands between CR and LF. Mostly short, so that the
/// text grows, and often at the end.
fn random_range(random: &mut fastrand::Rng, text: &str) -> std::ops::Range<usize> {
    let places: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .filter(|at| !(text[..*at].ends_with('\r') && text[*at..].starts_with('\n')))
        .collect();
    let start = if random.u8(..4) == 0 {
        places.len() - 1
    } else {
        random.usize(..places.len())
    };
    let most = if places.len() > 400 { 40 } else { 3 };
    let end = (start + random.usize(..=most)).min(places.len() - 1);
    places[start]..places[end]
}

fn random_text(random: &mut fastrand::Rng) -> &'static str {
    const TEXTS: &[&str] = &[
        "",
        "a",
        "xyz",
        "\n",
        "\r\n",
        "\r",
        "ä",
        "e\u{301}",
        "𝄞",
        "a😀b",
        "one\ntwo\r\n",
        "\u{2028}",
        "\t",
    ];
    TEXTS[random.usize(..TEXTS.len())]
}

#[test]
#[cfg(target_os = "linux")]
fn a_document_of_61_mb_is_taken_in_within_bounded_memory() {
    let mut stage = Stage::with(Setup::agent(), "//- /big.txt\n", FULL);
    stage.editor.ignore("session/update");
    let line = "fn main() { println!(\"héllo 😀\"); }\r\n";
    let text = line.repeat(61_000_000 / line.len());
    stage.editor.open_text("big.txt", text);
    let (_, prompt) = stage.call("read_file", json!({"path": "big.txt"}));
    let read = stage.result(&prompt);
    assert!(read.starts_with(line), "{}", &read[..200]);
    let status = std::fs::read_to_string(format!("/proc/{}/status", stage.editor.pid())).unwrap();
    let peak = status
        .lines()
        .find_map(|it| it.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // The text itself three times over: the frame, its JSON, the rope.
    assert!(peak < 400_000, "{peak} kB");
}

#[test]
fn a_server_whose_editor_does_not_listen_any_more_ends() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::Stdio;
    let mut server = Command::new(env!("CARGO_BIN_EXE_undine"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut send = |message: Value| {
        let body = message.to_string();
        // The pipe breaks when the server has ended, which is what is waited for below.
        let _ = write!(input, "Content-Length: {}\r\n\r\n{body}", body.len());
    };
    send(
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": null, "capabilities": {}}}),
    );
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut header = String::new();
    output.read_line(&mut header).unwrap();
    output.read_exact(&mut [0; 2]).unwrap();
    drop(output);
    // Its stdin stays open; only the next answer finds nobody.
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "no/such", "params": {}}));
    assert_eq!(server.wait().unwrap().code(), Some(1));
}
