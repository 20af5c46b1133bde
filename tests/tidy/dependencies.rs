//! What may be in the dependency graph, and what may not.

use super::{read, root};
use std::process::Command;

#[test]
fn no_crypto_that_needs_a_c_toolchain_of_its_own() {
    let lock = read("Cargo.lock");
    assert!(lock.contains("name = \"ring\""));
    let found: Vec<&str> = lock
        .lines()
        .filter(|it| it.starts_with("name = \"aws-lc") || it.starts_with("name = \"openssl-sys"))
        .collect();
    assert_eq!(
        found,
        Vec::<&str>::new(),
        "a dependency's features brought it in; `cargo tree -i` tells which"
    );
}

#[test]
fn ropey_counts_lines_as_lsp_does() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "features",
            "--invert",
            "ropey",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let (tree, error) = (
        String::from_utf8_lossy(&tree.stdout),
        String::from_utf8_lossy(&tree.stderr),
    );
    assert!(tree.contains("ropey feature \"cr_lines\""), "{tree}{error}");
    // With this one, U+2028 and others would begin a line.
    assert!(!tree.contains("unicode_lines"), "{tree}");
}

#[test]
fn packages_come_from_the_public_registry_and_from_nowhere_else() {
    let lock = read("Cargo.lock");
    let foreign: Vec<&str> = lock
        .lines()
        .filter(|it| {
            it.starts_with("source = ")
                && !it.starts_with("source = \"registry+https://github.com/rust-lang/")
        })
        .collect();
    assert_eq!(foreign, Vec::<&str>::new());
    // npm writes the address that it happened to fetch from, unless told not to.
    assert!(!read("editors/vscode/package-lock.json").contains("\"resolved\""));
}
