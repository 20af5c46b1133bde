//! Commands that only read: free where reading is, and held to it.

use super::{asked, result, stage};
use crate::support::stage::Stage;
use host::process::sandbox::Kernel;
use std::io::Write;
use std::process::Command;

/// They run in `read_only` and unasked in `auto`, and are asked about in `ask`.
#[track_caller]
fn only_read(lines: &[(&str, &str)]) {
    for mode in ["read_only", "auto", "full_access"] {
        let stage = with_repository(mode);
        stage.model.classify();
        for (line, seen) in lines {
            let told = result(&stage, line);
            assert!(told.contains(seen), "{mode}, {line}: {told}");
        }
        stage.model.assert_classifier_not_asked();
    }
    let careful = stage("ask", "");
    for (line, _) in lines {
        asked(&careful, line);
    }
}

fn git(stage: &Stage, words: &[&str]) {
    let ended = Command::new("git")
        .args(words)
        .current_dir(stage.workspace.path("repo"))
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

fn with_repository(mode: &str) -> Stage {
    let stage = stage(mode, "");
    git(&stage, &["init", "-q", "-b", "trunk"]);
    stage
}

#[test]
fn bug_052_what_goes_to_dev_null_is_no_write() {
    only_read(&[
        ("ls 2>/dev/null; echo done", "done"),
        ("cat a.txt >/dev/null 2>&1; echo done", "done"),
        ("grep -c alpha a.txt 2> /dev/null && echo done", "done"),
        ("echo done 2>>/dev/null", "done"),
    ]);
}

#[test]
fn bug_053_lines_that_read_are_reads() {
    only_read(&[
        ("cd repo && git status", "trunk"),
        ("awk '{print $2}' a.txt", "beta"),
        ("command -v sh", "sh"),
        ("cat a.txt | sort | uniq -c && wc -l < a.txt", "alpha"),
    ]);
}

#[test]
fn what_is_no_read_is_denied_in_read_only_and_asked_about_elsewhere() {
    let lines = [
        "sort -o a.txt a.txt",
        "find . -name a.txt -delete",
        "echo x > a.txt",
        "awk '{print > \"b.txt\"}' a.txt",
        "ls; rm a.txt",
        "echo $(rm a.txt)",
    ];
    let strict = stage("read_only", "");
    for line in lines {
        let told = result(&strict, line);
        // What may be anything is run, and held, where the system can do that.
        let is_held = told.contains("sandbox") || told.contains("Read-only file system");
        assert!(
            told.starts_with("Denied: the session is in read_only mode") || is_held,
            "{line}: {told}"
        );
    }
    assert_eq!(strict.workspace.read("a.txt"), "alpha beta\n");
    assert!(!strict.workspace.exists("b.txt"));
    for mode in ["ask", "auto"] {
        let stage = stage(mode, "");
        for line in lines {
            asked(&stage, line);
        }
        assert_eq!(stage.workspace.read("a.txt"), "alpha beta\n");
    }
}

/// A repository can name a program that git runs when it is asked for its state. The line reads as a read.
#[test]
fn a_read_that_a_repository_s_config_makes_write_writes_nothing() {
    let kernel = Kernel::look();
    if !kernel.holds_reading() {
        // So that nobody takes a pass for a proof.
        let _ = writeln!(
            std::io::stderr(),
            "NOT TESTED: {kernel:?} cannot hold a command to reading"
        );
        return;
    }
    for mode in ["read_only", "auto"] {
        let stage = with_repository(mode);
        let marker = stage.workspace.outside("home").join("marker");
        let script = stage.workspace.path("repo/evil.sh");
        let text = format!("#!/bin/sh\n: > {}\n: > inside\n", marker.display());
        stage.workspace.write("repo/evil.sh", text);
        let mode_bits = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode_bits).unwrap();
        git(
            &stage,
            &["config", "core.fsmonitor", script.to_str().unwrap()],
        );
        for line in [
            "cd repo && git status",
            "git -C repo status --short",
            "cd repo; git diff",
        ] {
            result(&stage, line);
            assert!(!marker.exists(), "{mode}: {line}");
            assert!(!stage.workspace.exists("repo/inside"), "{mode}: {line}");
        }
        // It does write where nothing holds it.
        git(&stage, &["status"]);
        assert!(marker.exists(), "the script is not run by git at all");
    }
}
