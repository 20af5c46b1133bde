//! `undine sessions` in the project's folder.

use super::{say, stage, titles};
use crate::support::stage::Stage;
use protocol::acp;
use protocol::methods::CloseSession;
use serde_json::Value;
use std::process::{Command, Output, Stdio};

fn undine(stage: &Stage, arguments: &[&str]) -> (Option<i32>, String, String) {
    let workspace = &stage.workspace;
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_undine"))
        .arg("sessions")
        .args(arguments)
        .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
        .env("UNDINE_DATA_DIR", workspace.outside("data"))
        .current_dir(workspace.root())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |it: Vec<u8>| String::from_utf8(it).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn the_command_line_lists_searches_prints_renames_and_removes() {
    let stage = stage();
    let (code, out, errors) = undine(&stage, &[]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(errors.contains("There are no sessions"), "{errors}");
    let session = stage.editor.new_session();
    let id = session.to_string();
    say(&stage, &session, "why is it wrong?", "The tax.");
    let (_, out, _) = undine(&stage, &["list"]);
    assert!(
        out.starts_with(&id) && out.ends_with("  why is it wrong?\n"),
        "{out}"
    );
    let (_, out, _) = undine(&stage, &["--json"]);
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(listed[0]["sessionId"], id.as_str());
    let (_, out, _) = undine(&stage, &["search", "tax", "wrong"]);
    assert!(out.contains("The tax."), "{out}");
    let (_, out, _) = undine(&stage, &["export", &id]);
    assert!(
        out.starts_with("# why is it wrong?\n") && out.ends_with("The tax.\n"),
        "{out}"
    );

    // What the editor has open is left alone.
    for arguments in [vec!["rename", &id, "Other"], vec!["delete", &id]] {
        let (code, _, errors) = undine(&stage, &arguments);
        assert_eq!(code, Some(2));
        assert!(errors.contains("Another Undine"), "{errors}");
    }
    let close = acp::CloseSessionRequest::new(session);
    stage.editor.ask::<CloseSession>(close).unwrap();
    let (code, _, errors) = undine(&stage, &["rename", &id, "Other", "name"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(titles(&stage), ["Other name"]);
    let (code, _, errors) = undine(&stage, &["delete", &id]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(titles(&stage), Vec::<String>::new());
    let (code, _, errors) = undine(&stage, &["export", "../x"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("There is no session"), "{errors}");
}
