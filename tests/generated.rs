//! What is generated from the method table and the options, and what holds the rest to them.
//!
//! `cargo test generated` compares; `UPDATE=1 cargo test generated` writes.

mod editors;
mod examples;
mod lua;
mod markdown;
mod options;
mod server;
mod types;
mod typescript;

use std::fs;
use std::path::PathBuf;

/// What to type when a test of this file fails.
const UPDATE: &str = "UPDATE=1 cargo test generated";

/// A generated file, or one with generated parts.
struct Generated {
    path: &'static str,
    /// The new content, from the old.
    content: fn(&str) -> String,
}

const FILES: &[Generated] = &[
    Generated {
        path: "editors/vscode/src/protocol.ts",
        content: |_| typescript::protocol_ts(&types::wire()),
    },
    Generated {
        path: "editors/nvim/lua/undine/protocol.lua",
        content: |_| lua::protocol_lua(&types::wire()),
    },
    Generated {
        path: "editors/vscode/package.json",
        content: options::package_json,
    },
    Generated {
        path: "protocol.md",
        content: |old| {
            let wire = types::wire();
            let new = with_part(old, "methods", &markdown::methods(&wire));
            with_part(&new, "types", &markdown::types(&wire))
        },
    },
    Generated {
        path: "README.md",
        content: |old| with_part(old, "options", &options::table()),
    },
];

#[test]
fn generated_files_are_up_to_date() {
    let is_update = std::env::var_os("UPDATE").is_some_and(|it| it == "1");
    let mut stale = Vec::new();
    for Generated { path, content } in FILES {
        let file = root().join(path);
        let old = fs::read_to_string(&file).unwrap_or_default();
        let new = content(&old);
        if old == new {
            continue;
        }
        if is_update {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, new).unwrap();
        } else {
            stale.push(*path);
        }
    }
    assert!(
        stale.is_empty(),
        "{} no longer match their sources; run\n\n    {UPDATE}\n",
        stale.join(", ")
    );
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The text with one marked part replaced: what stands between `<!-- generated: NAME -->` and the
/// next `<!-- end -->`.
fn with_part(text: &str, name: &str, part: &str) -> String {
    let begin = format!("<!-- generated: {name} -->\n");
    let (before, rest) = text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no part is marked {}", begin.trim_end()));
    let (_, after) = rest
        .split_once("<!-- end -->")
        .unwrap_or_else(|| panic!("the part {name} has no end"));
    format!(
        "{before}{begin}\n{}\n\n<!-- end -->{after}",
        part.trim_end()
    )
}

/// Words in lines of at most `width` characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
