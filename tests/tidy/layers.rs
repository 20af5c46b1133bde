//! Modules use what is below them, never what is above.

use super::{read, rust_files, without_comments};
use expect_test::expect;

/// Layers from the bottom up. A module may use its own layer and those below.
type Layers = &'static [&'static [&'static str]];

const ENGINE: Layers = &[
    // Only tests have it.
    &["rounds"],
    &["redact"],
    &["text", "front_matter"],
    &["checklist"],
    &["policy"],
    &["review"],
    &["provider"],
    &["memory"],
    // What is known of models, and what they cost.
    &["models", "usage", "numbers"],
    // Files that the agent reads, and programs that it tells.
    &["skills", "command_files", "hooks", "mentions", "problems"],
    &["config"],
    // What was said, by number.
    &["archive"],
    // What the model is sent is made of a session's history, and a session makes the request.
    &["context", "session"],
    &["trace"],
    // Sessions that work for sessions.
    &["agents"],
];

const HOST: Layers = &[
    // The outside world, each behind a small API.
    &[
        "git",
        "keyring",
        "workspace",
        "regular",
        "folder",
        "scratchpad",
        "store",
        "process",
        "tasks",
        "trace",
        "upwards",
    ],
    // The world in our terms.
    &[
        "agent_files",
        "config_edit",
        "documents",
        "event",
        "files",
        "hooks",
        "instructions",
        "keys",
        "mentions",
        "layers",
        "memory",
        "plan",
        "pdf",
        "problems",
        "apply",
        "restore",
        "model",
        "endpoint",
        "models",
        "ollama",
        "reviews",
        "unsaved",
        "worktree",
    ],
    // What a model may call.
    &["tools"],
    // The loop and its door.
    &[
        "lsp",
        "client",
        "surfaces",
        "show",
        "session_host",
        "aside",
        "asking",
        "errand",
        "handlers",
        "perform",
        "main_loop",
        "door",
    ],
    // What a person starts.
    &["demo", "run", "approvals", "cli"],
];

#[test]
fn engine_modules_use_only_what_is_below_them() {
    expect![""].assert_eq(&violations("server/engine/src/", "engine.rs", ENGINE));
}

#[test]
fn host_modules_use_only_what_is_below_them() {
    expect![""].assert_eq(&violations("server/host/src/", "host.rs", HOST));
}

#[test]
fn a_use_of_a_higher_layer_is_seen() {
    let found = |module: &str, text: &str| judge(HOST, module, &paths(text)).join("; ");
    assert_eq!(
        found("workspace", "use crate::tools::Tool;"),
        "workspace uses tools, which is above it"
    );
    assert_eq!(
        found("plan", "use crate::{documents::Snapshot, lsp};"),
        "plan uses lsp, which is above it"
    );
    assert_eq!(
        found("plan", "fn f() { crate::lsp::error() }"),
        "plan uses lsp, which is above it"
    );
    assert_eq!(
        found(
            "tools",
            "use crate::{\n    plan::{Plan, Run},\n    process,\n};"
        ),
        ""
    );
    assert_eq!(found("tools", "use $crate::lsp;"), "");
    assert_eq!(
        found("tools", "use crate::nothing;"),
        "nothing has no layer"
    );
}

/// One line for each use that goes up, and for each module without a layer.
fn violations(folder: &str, crate_root: &str, layers: Layers) -> String {
    let mut out = String::new();
    for file in rust_files(folder) {
        let inner = &file[folder.len()..];
        if inner == crate_root {
            continue;
        }
        let module = inner
            .split('/')
            .next()
            .unwrap_or_default()
            .trim_end_matches(".rs");
        let used = paths(&without_comments(&read(&file)));
        for problem in judge(layers, module, &used) {
            out.push_str(&format!("{file}: {problem}\n"));
        }
    }
    out
}

fn judge(layers: Layers, module: &str, used: &[String]) -> Vec<String> {
    let layer_of = |name: &str| layers.iter().position(|it| it.contains(&name));
    let Some(own) = layer_of(module) else {
        return vec![format!("{module} has no layer")];
    };
    let mut problems = Vec::new();
    for name in used {
        match layer_of(name) {
            None => problems.push(format!("{name} has no layer")),
            Some(layer) if layer > own => {
                problems.push(format!("{module} uses {name}, which is above it"))
            }
            Some(_) => {}
        }
    }
    problems
}

/// The first name of each `crate::` path, those in braces included. A name that begins with a
/// capital is an item of the crate root.
fn paths(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, found) in text.match_indices("crate::") {
        // `$crate` is another crate when a macro is used elsewhere.
        if text[..at].ends_with(|it: char| it == '$' || it == '_' || it.is_alphanumeric()) {
            continue;
        }
        let rest = &text[at + found.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(first_names(list)),
            None => names.push(name(rest)),
        }
    }
    names.retain(|it| it.starts_with(|first: char| first.is_ascii_lowercase()) && it != "self");
    names.dedup();
    names
}

/// The first name of each entry of a list in braces, up to its end.
fn first_names(list: &str) -> Vec<String> {
    let mut names = vec![name(list.trim_start())];
    let mut depth = 1;
    for (at, it) in list.char_indices() {
        match it {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(list[at + 1..].trim_start())),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names.retain(|it| !it.is_empty());
    names
}

fn name(text: &str) -> String {
    text.chars()
        .take_while(|it| it.is_ascii_alphanumeric() || *it == '_')
        .collect()
}
