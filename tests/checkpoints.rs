//! What files were before a change is kept, and given back to them whole or not at all.

mod asking;
mod command_line;
mod restoring;
mod taking;
mod tampering;

use crate::support::editor::{Editor, RpcError, Setup};
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use protocol::checkpoint::{
    Checkpoint, CreateCheckpointParams, ListCheckpointsParams, RestoreCheckpointParams,
    RestoreCheckpointResult,
};
use protocol::methods::{CreateCheckpoint, ListCheckpoints, RestoreCheckpoint};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Project edits without a question, for tests that are about something else.
const AUTO: &str = "[safety]\nmode = \"auto\"\n";

const FILES: &str = "//- /a.txt\none\ntwo\nthree\n//- /b.txt\nb\n//- /c.txt\nc\n";

fn stage() -> Stage {
    Stage::with(Setup::agent(), FILES, AUTO)
}

#[track_caller]
fn list(editor: &Editor, session: &SessionId) -> Vec<Checkpoint> {
    let session_id = session.to_string();
    let listed = editor.ask::<ListCheckpoints>(ListCheckpointsParams { session_id });
    listed.unwrap().checkpoints
}

#[track_caller]
fn keep(editor: &Editor, session: &SessionId, paths: &[&str]) -> Checkpoint {
    let made = editor.ask::<CreateCheckpoint>(CreateCheckpointParams {
        session_id: session.to_string(),
        paths: paths.iter().map(|it| (*it).to_owned()).collect(),
    });
    made.unwrap().checkpoint
}

#[track_caller]
fn restore(
    editor: &Editor,
    session: &SessionId,
    id: &str,
) -> Result<RestoreCheckpointResult, RpcError> {
    editor.ask::<RestoreCheckpoint>(RestoreCheckpointParams {
        session_id: session.to_string(),
        id: id.to_owned(),
    })
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "target_content": old, "replacement_content": new})
}

/// Every file below a folder, with its bytes.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(found.insert(path.clone(), fs::read(path).unwrap())),
            }
        }
    }
    found
}

/// The manifest of a checkpoint, wherever it lies.
fn manifest(stage: &Stage, id: &str) -> PathBuf {
    let files = tree(&stage.workspace.outside("data"));
    let mut names = files.into_keys();
    names.find(|it| it.ends_with(format!("{id}.json"))).unwrap()
}
