//! The shape of the source, held by tests instead of by memory.

mod dependencies;
mod layers;
mod purity;
mod spawning;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The project's files: what git follows or would, or, without git, all that it would not ignore.
pub fn files() -> Vec<String> {
    let git = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ])
        .current_dir(root())
        .output();
    let mut files: Vec<String> = match git {
        Ok(git) if git.status.success() => {
            let names = String::from_utf8(git.stdout).unwrap();
            // Deleted files are listed until their deletion is committed.
            names
                .split_terminator('\0')
                .filter(|it| root().join(it).is_file())
                .map(str::to_owned)
                .collect()
        }
        Ok(_) | Err(_) => walk(),
    };
    files.sort();
    files.dedup();
    assert!(files.len() > 50, "only {} files were found", files.len());
    files
}

fn walk() -> Vec<String> {
    let ignored = [
        ".git",
        "target",
        "node_modules",
        "out",
        ".undine",
        "__pycache__",
    ];
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if ignored.iter().any(|it| path.ends_with(it)) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path.strip_prefix(root()).unwrap().display().to_string());
            }
        }
    }
    files
}

/// Rust files below a folder.
fn rust_files(folder: &str) -> Vec<String> {
    files()
        .into_iter()
        .filter(|it| it.starts_with(folder) && it.ends_with(".rs"))
        .collect()
}

/// Source without comments; lines stay in place. Quotes are not looked at, because a `//` in a text
/// only hides what follows it on its line.
fn without_comments(text: &str) -> String {
    text.lines()
        .map(|it| it.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}
