//! `undine checkpoints` and `undine restore` in the project's folder.

use super::{keep, stage};
use crate::support::stage::Stage;
use protocol::checkpoint::Checkpoint;
use std::process::{Command, Output, Stdio};

fn undine(stage: &Stage, arguments: &[&str]) -> (Option<i32>, String, String) {
    let workspace = &stage.workspace;
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_undine"))
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
fn the_command_line_lists_and_restores_but_never_unasked() {
    let stage = stage();
    let (code, out, errors) = undine(&stage, &["checkpoints"]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(errors.contains("There are no checkpoints"), "{errors}");
    let session = stage.editor.new_session();
    let kept = keep(&stage.editor, &session, &["a.txt", "new"]);
    stage.workspace.write("a.txt", "other");
    stage.workspace.write("new", "x");
    let (_, out, _) = undine(&stage, &["checkpoints"]);
    assert_eq!(
        out,
        format!("{}  By hand: a.txt, new [a.txt, new]\n", kept.id)
    );
    let (_, out, _) = undine(&stage, &["checkpoints", "--json"]);
    assert_eq!(
        serde_json::from_str::<Vec<Checkpoint>>(&out).unwrap(),
        std::slice::from_ref(&kept)
    );

    let (code, out, errors) = undine(&stage, &["restore", &kept.id]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(errors.contains("--force"), "{errors}");
    assert_eq!(stage.workspace.read("a.txt"), "other");

    let (code, out, errors) = undine(&stage, &["restore", &kept.id[..8], "--force"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        out.contains("Old content again: a.txt.\nRemoved: new.\n"),
        "{out}"
    );
    assert_eq!(stage.workspace.read("a.txt"), "one\ntwo\nthree\n");
    assert!(!stage.workspace.exists("new"));

    let (code, _, errors) = undine(&stage, &["restore", "1999", "--force"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("There is no checkpoint 1999"), "{errors}");
}
