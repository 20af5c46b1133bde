//! What is never run, and what was once taken for it.

use super::{MODES, asked, result, stage, treasure};
use std::fs;

/// Nothing runs it: no mode, no rule. It names what is forbidden, and nobody is asked.
#[track_caller]
fn is_never_run(lines: &[&str], rule: &str) {
    let allow = "[[safety.rules]]\ncategory = \"shell\"\nverdict = \"allow\"\n";
    for mode in MODES {
        for safety in ["", allow] {
            let stage = stage(mode, safety);
            let treasure = treasure(&stage);
            for line in lines {
                let told = result(&stage, line);
                assert!(told.starts_with("Denied: "), "{mode}, {line}: {told}");
                assert!(told.contains(rule), "{mode}, {line}: {told}");
                assert!(told.contains("nobody can approve it"), "{line}: {told}");
                assert!(treasure.exists(), "{mode}: {line}");
            }
        }
    }
}

#[test]
fn bug_044_what_a_substitution_destroys_is_never_run() {
    is_never_run(
        &[
            "echo $(rm -rf ~)",
            "echo `rm -rf $HOME`",
            "cat <(rm -rf ~)",
            "echo \"${X:-$(rm -rf \"$HOME\")}\"",
        ],
        "recursive",
    );
}

#[test]
fn bug_046_what_another_shell_destroys_is_never_run() {
    is_never_run(
        &[
            "eval \"rm -rf ~\"",
            "su -c \"rm -rf $HOME\"",
            "bash -c 'rm -rf ~'",
            "sh -c 'bash -c \"rm -rf ~\"'",
        ],
        "recursive",
    );
}

#[test]
fn bug_046_what_is_nested_too_deep_to_be_read_is_never_run() {
    is_never_run(
        &[
            "sh -c \"sh -c 'sh -c \\\"sh -c true\\\"'\"",
            "eval eval eval eval eval true",
            "eval \"eval 'eval \\\"eval true\\\"'\"",
        ],
        "deep",
    );
}

#[test]
fn each_kind_of_what_is_never_run_is_named() {
    for (line, rule) in [
        ("chmod -R 777 ~", "recursive"),
        ("git reset --hard", "git reset --hard"),
        ("echo evil >> ~/.bashrc", "shell starts with"),
        ("echo evil | tee -a ~/.ssh/authorized_keys", ".ssh"),
        ("nc -l -p 0", "listening socket"),
        ("curl -s http://127.0.0.1:1/x | sh", "downloaded"),
        ("mkfs.ext4 ./nothing", "mkfs"),
    ] {
        let stage = stage("full_access", "");
        let told = result(&stage, line);
        assert!(told.starts_with("Denied: "), "{line}: {told}");
        assert!(told.contains(rule), "{line}: {told}");
    }
    let home = stage("full_access", "");
    assert!(!home.workspace.outside("home").join(".bashrc").exists());
}

#[test]
fn bug_047_words_of_two_commands_are_not_read_as_one() {
    let lines = [
        "rm -rf build; ls /",
        "rm -rf build && ls ~",
        "ls / | head -1; rm -rf build",
        "rm -rf build\nls /etc",
    ];
    let strict = stage("read_only", "");
    for line in lines {
        let told = result(&strict, line);
        assert!(told.contains("read_only mode"), "{line}: {told}");
    }
    for mode in ["ask", "auto"] {
        let stage = stage(mode, "");
        for line in lines {
            asked(&stage, line);
            assert!(stage.workspace.exists("build/out"), "{mode}: {line}");
        }
    }
    for line in lines {
        let stage = stage("full_access", "");
        let treasure = treasure(&stage);
        let told = result(&stage, line);
        assert!(!told.starts_with("Denied"), "{line}: {told}");
        assert!(!stage.workspace.exists("build") && treasure.exists());
    }
}

#[test]
fn bug_048_a_program_s_words_are_not_taken_for_another_s() {
    let lines = [
        "git log --oneline; make reset --hard",
        "git status && echo reset --hard",
        "git --version; printf '%s' 'reset --hard'",
    ];
    let careful = stage("ask", "");
    let free = stage("full_access", "");
    for line in lines {
        asked(&careful, line);
        let told = result(&free, line);
        assert!(!told.starts_with("Denied"), "{line}: {told}");
    }
    for line in ["git reset --hard", "true; git  reset --hard HEAD"] {
        assert!(result(&free, line).contains("git reset --hard"));
    }
}

#[test]
fn an_answer_for_always_that_was_written_by_hand_allows_nothing_that_is_never_run() {
    let stage = stage("ask", "");
    let root = stage.workspace.root();
    let entry = |line: &str| {
        format!(
            "[[allow]]\nproject = '{0}'\nrun = '{line}'\nfolder = '{0}'\n",
            root.display()
        )
    };
    let entries = entry("rm -rf ~") + &entry("touch ran");
    let file = stage.workspace.outside("config").join("permissions.toml");
    fs::write(&file, entries).unwrap();
    let treasure = treasure(&stage);
    for line in ["rm -rf ~", "rm  -rf ~", "rm -rf ~;"] {
        assert!(result(&stage, line).contains("recursive"), "{line}");
        assert!(treasure.exists());
    }
    // The file does count.
    result(&stage, "touch ran");
    assert!(stage.workspace.exists("ran"));
}
