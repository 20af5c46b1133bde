//! Changes to several files are made together, open and closed ones: all or none.

mod broken_off;
mod cut_off;
mod in_the_editor;
mod whole;

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use crate::support::workspace::Workspace;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Project edits without a question.
pub const AUTO: &str = "[safety]\nmode = \"auto\"\n";

pub const OLD: &str = "one\ntwo\nthree\n";
pub const NEW: &str = "one\nTWO\nthree\n";

/// Five files and one that is made: what `PATCH` is about.
const FILES: [(&str, &str); 5] = [
    ("open.txt", OLD),
    ("sub/closed.txt", OLD),
    ("sub/windows.txt", "one\r\ntwo\r\nthree\r\n"),
    ("sub/gone.txt", OLD),
    ("sub/moved.txt", OLD),
];

const CHANGE: &str = " one\n-two\n+TWO\n three\n";

/// An open file is changed; of the closed ones two are changed, one is made, one deleted and one moved with a
/// change.
pub fn patch() -> Value {
    json!({"patch": format!(
        "*** Begin Patch\n\
         *** Update File: open.txt\n@@\n{CHANGE}\
         *** Update File: sub/closed.txt\n@@\n{CHANGE}\
         *** Update File: sub/windows.txt\n@@\n{CHANGE}\
         *** Add File: sub/new/made.txt\n+made\n\
         *** Delete File: sub/gone.txt\n\
         *** Update File: sub/moved.txt\n*** Move to: sub/there.txt\n@@\n{CHANGE}\
         *** End Patch\n"
    )})
}

/// A stage in mode `auto` where `open.txt` is open.
pub fn stage() -> Stage {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    for (path, text) in FILES {
        stage.workspace.write(path, text);
    }
    stage.editor.open("open.txt");
    stage
}

/// Every file of the project but Undine's own, with its text.
pub fn tree(workspace: &Workspace) -> BTreeMap<String, String> {
    fn walk(root: &Path, at: &Path, out: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            if name == ".undine" {
                continue;
            }
            match path.is_dir() && !path.is_symlink() {
                true => walk(root, &path, out),
                false => {
                    let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
                    out.insert(name.to_owned(), text);
                }
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(&workspace.root(), &workspace.root(), &mut out);
    out
}

fn files(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    owned.collect()
}

pub fn before() -> BTreeMap<String, String> {
    files(&FILES)
}

pub fn after() -> BTreeMap<String, String> {
    files(&[
        ("open.txt", NEW),
        ("sub/closed.txt", NEW),
        ("sub/windows.txt", "one\r\nTWO\r\nthree\r\n"),
        ("sub/new/made.txt", "made\n"),
        ("sub/there.txt", NEW),
    ])
}

/// The journals of changes that have no end.
pub fn journals(workspace: &Workspace) -> usize {
    let entries = fs::read_dir(workspace.outside("data/journal"));
    let paths = entries.into_iter().flatten().map(|it| it.unwrap().path());
    // What had not got its name yet was no journal.
    paths
        .filter(|it| it.extension().is_some_and(|it| it == "json"))
        .count()
}
