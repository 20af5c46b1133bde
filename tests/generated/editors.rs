//! The editors speak of methods that exist, and leave out only what they say they leave out.

use super::types::{self, Method};
use super::{read, root, typescript};
use std::fs;
use std::path::Path;

/// An editor's folder, and the methods that it does without, each with the reason.
struct Editor {
    folder: &'static str,
    without: &'static [(&'static str, &'static str)],
}

const NO_INTERFACE: &str =
    "the extension has no interface yet; the editor's own messages and code actions serve";

const NO_VIEW: &str =
    "the plugin has no view of processes yet; the prompts `/logs` and `/stop` serve";

const NO_VIEW_OF_MEMORY: &str = "the plugin has no view of the memory yet; the prompts `/memory`, `/remember` and `/forget` serve";

const EDITORS: &[Editor] = &[
    Editor {
        folder: "editors/nvim",
        without: &[
            (
                "undine/usage",
                "the plugin has no view of its own for it; the prompt `/usage` serves",
            ),
            ("undine/session/messages", "the plugin loads sessions whole"),
            ("undine/memory/list", NO_VIEW_OF_MEMORY),
            ("undine/memory/add", NO_VIEW_OF_MEMORY),
            ("undine/memory/remove", NO_VIEW_OF_MEMORY),
            (
                "session/resume",
                "the plugin keeps no transcript over a restart; it loads",
            ),
            (
                "session/close",
                "a session stays open as long as its server runs",
            ),
            (
                "undine/session/fork",
                "the prompts `/fork` and `/rewind` serve",
            ),
            ("undine/session/export", "the prompt `/export` serves"),
            ("undine/session/search", "the prompt `/sessions` serves"),
            (
                "undine/context",
                "the plugin has no view of its own for it; the prompt `/context` serves",
            ),
            ("undine/process/list", NO_VIEW),
            ("undine/process/read", NO_VIEW),
            ("undine/process/stop", NO_VIEW),
            ("undine/process/changed", NO_VIEW),
        ],
    },
    Editor {
        folder: "editors/vscode",
        without: &[
            ("session/new", NO_INTERFACE),
            ("session/load", NO_INTERFACE),
            ("undine/session/messages", NO_INTERFACE),
            ("session/list", NO_INTERFACE),
            ("session/resume", NO_INTERFACE),
            ("session/close", NO_INTERFACE),
            ("session/delete", NO_INTERFACE),
            ("undine/session/fork", NO_INTERFACE),
            ("undine/session/rename", NO_INTERFACE),
            ("undine/session/export", NO_INTERFACE),
            ("undine/session/search", NO_INTERFACE),
            ("undine/prompts", NO_INTERFACE),
            ("session/prompt", NO_INTERFACE),
            ("session/set_mode", NO_INTERFACE),
            ("session/set_config_option", NO_INTERFACE),
            ("session/cancel", NO_INTERFACE),
            ("session/request_permission", NO_INTERFACE),
            ("session/update", NO_INTERFACE),
            ("elicitation/create", NO_INTERFACE),
            ("undine/review/list", NO_INTERFACE),
            ("undine/review/resolve", NO_INTERFACE),
            ("undine/review/base", NO_INTERFACE),
            ("undine/review/changed", NO_INTERFACE),
            ("undine/checkpoint/list", NO_INTERFACE),
            ("undine/checkpoint/create", NO_INTERFACE),
            ("undine/checkpoint/restore", NO_INTERFACE),
            ("undine/permission/rules", NO_INTERFACE),
            ("undine/permission/forget", NO_INTERFACE),
            ("undine/memory/list", NO_INTERFACE),
            ("undine/memory/add", NO_INTERFACE),
            ("undine/memory/remove", NO_INTERFACE),
            ("undine/models", NO_INTERFACE),
            ("undine/usage", NO_INTERFACE),
            ("undine/context", NO_INTERFACE),
            ("undine/btw", NO_INTERFACE),
            ("undine/btw/clear", NO_INTERFACE),
            ("undine/btw/chunk", NO_INTERFACE),
            ("undine/process/list", NO_INTERFACE),
            ("undine/process/read", NO_INTERFACE),
            ("undine/process/stop", NO_INTERFACE),
            ("undine/process/detach", NO_INTERFACE),
            ("undine/process/changed", NO_INTERFACE),
            ("undine/agent/detach", NO_INTERFACE),
        ],
    },
];

/// What begins a method's name.
const PREFIXES: [&str; 3] = ["session/", "elicitation/", "undine/"];

#[test]
fn generated_editors_name_only_methods_of_the_table() {
    let wire = types::wire();
    let mut unknown = Vec::new();
    for (path, text) in sources("editors") {
        for name in method_names(&text) {
            if wire.methods.iter().all(|it| it.method != name) {
                unknown.push(format!("{path}: {name}"));
            }
        }
    }
    assert_eq!(
        unknown,
        Vec::<String>::new(),
        "no row of server/protocol/src/methods.rs has this name"
    );
}

#[test]
fn generated_every_method_is_in_each_editor_or_left_out_with_a_reason() {
    let wire = types::wire();
    let mut wrong = Vec::new();
    for editor in EDITORS {
        let sources = sources(editor.folder);
        if sources.is_empty() {
            wrong.push(format!("{} has no sources", editor.folder));
        }
        for method in &wire.methods {
            let is_used = sources.iter().any(|(_, text)| uses(text, method));
            let is_left_out = editor
                .without
                .iter()
                .any(|(name, _)| *name == method.method);
            match (is_used, is_left_out) {
                (true, false) | (false, true) => {}
                (true, true) => wrong.push(format!(
                    "{} uses {}; strike it from its list",
                    editor.folder, method.method
                )),
                (false, false) => {
                    wrong.push(format!("{} does not use {}", editor.folder, method.method))
                }
            }
        }
        for (name, _) in editor.without {
            if wire.methods.iter().all(|it| it.method != *name) {
                wrong.push(format!(
                    "{} leaves out {name}, which is not in the table",
                    editor.folder
                ));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// A method is used by its name, or by its constant in `protocol.ts`.
fn uses(text: &str, method: &Method) -> bool {
    let constant = format!("protocol.{}", typescript::constant(method));
    let is_word_end = |rest: &str| !rest.starts_with(|it: char| it.is_ascii_alphanumeric());
    method_names(text).contains(&method.method)
        || text
            .match_indices(&constant)
            .any(|(at, _)| is_word_end(&text[at + constant.len()..]))
}

/// Quoted names that begin as methods do.
fn method_names(text: &str) -> Vec<&str> {
    let is_method = |it: &&str| {
        let is_name = |it: char| it.is_ascii_lowercase() || it == '_' || it == '/';
        PREFIXES
            .iter()
            .any(|prefix| it.strip_prefix(prefix).is_some_and(|it| !it.is_empty()))
            && it.chars().all(is_name)
    };
    text.lines()
        .flat_map(|line| line.split(['"', '\'', '`']).skip(1).step_by(2))
        .filter(is_method)
        .collect()
}

/// The hand-written sources below a folder.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if path.is_dir() {
                if !["node_modules", "out"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if is_source(&path) && !name.starts_with("protocol.") {
                let shown = path.strip_prefix(root()).unwrap().display().to_string();
                let text = read(&shown);
                found.push((shown, text));
            }
        }
    }
    found.sort();
    found
}

fn is_source(path: &Path) -> bool {
    path.extension()
        .is_some_and(|it| ["ts", "lua", "js", "mjs"].iter().any(|known| it == *known))
}
