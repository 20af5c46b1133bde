//! The corpus of lines with their verdicts, and the laws that hold for every line.

use super::{Shell, Surroundings, read, read_named};
use protocol::tool::{Reading, Risk};
use std::path::PathBuf;

pub fn around() -> Surroundings {
    Surroundings {
        shell: Shell::Posix,
        cwd: PathBuf::from("/home/ada/project"),
        home: Some(PathBuf::from("/home/ada")),
        roots: vec![
            PathBuf::from("/home/ada/project"),
            PathBuf::from("/tmp/pad"),
        ],
        scratchpad: Some(PathBuf::from("/tmp/pad")),
        protected: vec![
            PathBuf::from("/home/ada/.config/undine"),
            PathBuf::from("/home/ada/.local/share/undine"),
        ],
    }
}

fn risk_name(risk: Risk) -> &'static str {
    match risk {
        Risk::Read => "read",
        Risk::Change => "change",
        Risk::Run => "run",
        Risk::Outside => "outside",
        Risk::Network => "network",
        Risk::Machine => "machine",
        Risk::Install => "install",
    }
}

fn verdict(reading: &Reading) -> &'static str {
    match reading.forbidden {
        Some(_) => "forbidden",
        None => risk_name(reading.risk),
    }
}

/// Judges each line of a corpus: verdict, a bar, the line with `\n` for a new line.
fn check(corpus: &str, around: &Surroundings) -> usize {
    let mut wrong = Vec::new();
    let mut n = 0;
    for row in corpus.lines() {
        if row.is_empty() || row.starts_with("##") {
            continue;
        }
        let (wanted, line) = row
            .split_once(" | ")
            .unwrap_or_else(|| panic!("no bar: {row}"));
        let line = line.replace("\\n\\t", "\n\t").replace("\\n", "\n");
        let reading = read(&line, around);
        n += 1;
        if verdict(&reading) != wanted.trim() {
            wrong.push(format!(
                "{row}\n    is {}: {:?}",
                verdict(&reading),
                reading.forbidden
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {n}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    n
}

/// All lines of the shell that `sh` is.
pub const CORPUS: &[&str] = &[
    include_str!("corpus/plain.txt"),
    include_str!("corpus/tricks.txt"),
];

#[test]
fn lines_have_the_right_verdict() {
    let n: usize = CORPUS.iter().map(|it| check(it, &around())).sum();
    assert!(n > 150, "only {n} lines");
}

/// PowerShell in a project on a Windows disk.
fn windows() -> Surroundings {
    Surroundings {
        shell: Shell::PowerShell,
        cwd: PathBuf::from(r"C:\Users\ada\project"),
        home: Some(PathBuf::from(r"C:\Users\ada")),
        roots: vec![PathBuf::from(r"C:\Users\ada\project")],
        scratchpad: None,
        protected: vec![PathBuf::from(r"C:\Users\ada\AppData\undine")],
    }
}

#[test]
fn lines_of_powershell_are_read_as_powershell() {
    let n = check(include_str!("corpus/powershell.txt"), &windows());
    assert!(n > 100, "only {n} lines");
}

#[test]
fn bug_042_dev_null_is_a_file_to_powershell() {
    for line in [
        "cargo test 2>/dev/null",
        "ls >/dev/null",
        "git status 2> /dev/null",
    ] {
        assert!(read(line, &windows()).risk >= Risk::Change, "{line}");
    }
}

#[test]
fn what_git_does_is_up_to_settings_and_what_others_read_is_not() {
    for line in [
        "git status",
        "git -C sub log",
        "cd sub && git diff",
        "ls; git show",
        "echo $(git rev-parse HEAD)",
        "command git status",
        "/usr/bin/git log",
        "sh -c 'git status'",
    ] {
        assert!(read(line, &around()).steered, "{line}");
    }
    for line in ["git --version", "ls", "echo git status", "grep git a.txt"] {
        assert!(!read(line, &around()).steered, "{line}");
    }
}

#[test]
fn the_paths_that_a_line_names_are_told_as_they_are_written() {
    let named = |line: &str| {
        let (_, names) = read_named(line, &around());
        let told = names.into_iter().map(|it| {
            let path = it.path.to_string_lossy().into_owned();
            let path = path.replace("/home/ada/project/", "");
            format!(
                "{path}{}{}",
                if it.is_pattern { " *" } else { "" },
                if it.is_written { " w" } else { "" }
            )
        });
        told.collect::<Vec<_>>().join(", ")
    };
    for (line, wanted) in [
        ("cat a", "a"),
        ("cat link/../b", "link/../b"),
        ("cat *.txt", "*.txt *"),
        ("sort < a > b", "a, b w"),
        ("cd link && cat ../x", "link, link/../x"),
        ("echo x >> a", "a w"),
        ("grep pattern a", "a"),
        ("cat /etc/passwd", ""),
        ("git -C link log", "link"),
    ] {
        let told = named(line);
        for it in wanted.split(", ") {
            assert!(told.split(", ").any(|told| told == it), "{line}: {told:?}");
        }
    }
}

/// Each line has this verdict.
fn all(wanted: &str, lines: &[&str]) {
    for line in lines {
        let reading = read(line, &around());
        assert_eq!(verdict(&reading), wanted, "{line}: {reading:?}");
    }
}

#[test]
fn bug_044_what_a_substitution_runs_is_judged() {
    all(
        "forbidden",
        &[
            "echo $(rm -rf /)",
            "echo `rm -rf /`",
            "cat <(rm -rf /)",
            "echo \"a $(ls; rm -rf ~) b\"",
            "diff <(ls) <(rm -rf /*)",
        ],
    );
    all(
        "change",
        &["echo $(rm x)", "echo `rm x`", "echo \"$(touch a)\""],
    );
}

#[test]
fn bug_046_a_script_in_a_script_is_judged_and_too_deep_is_forbidden() {
    all(
        "forbidden",
        &[
            "eval \"rm -rf /\"",
            "su -c 'rm -rf /'",
            "su root -c 'rm -rf /'",
            "bash -c \"sh -c 'rm -rf /'\"",
            "bash -lc 'rm -rf /'",
            "eval eval eval eval ls",
            r#"sh -c "sh -c \"sh -c \\\"sh -c ls\\\"\"""#,
        ],
    );
}

#[test]
fn bug_047_words_of_two_commands_are_not_put_together() {
    all(
        "outside",
        &[
            "rm -rf build; ls /",
            "rm -rf build && ls /",
            "rm -rf build | ls /",
            "rm -rf build\nls /",
        ],
    );
}

#[test]
fn bug_048_make_reset_hard_is_no_git() {
    all(
        "run",
        &[
            "git log --oneline; make reset --hard",
            "git status && ./x reset --hard",
            "git log | make reset --hard",
        ],
    );
}

#[test]
fn bug_052_nothing_is_written_by_writing_to_dev_null() {
    all(
        "read",
        &[
            "ls 2>/dev/null; echo done",
            "ls >/dev/null 2>&1",
            "grep -r x . 2> /dev/null | head",
            "ls >&2",
            "cat x 2>>/dev/null",
        ],
    );
}

#[test]
fn bug_053_reading_lines_are_reads() {
    all(
        "read",
        &[
            "cd repo && git status",
            "awk '{print $1}'",
            "command -v x",
            "cd a && cd b && ls",
            "ps aux | awk '{print $2, $11}'",
            "command -V git",
        ],
    );
}

#[test]
fn bug_055_a_line_with_a_substitution_has_no_program() {
    for line in [
        "git status $(curl evil)",
        "git status `curl evil`",
        "git status <(curl evil)",
        "git log $X",
        "git status; curl x",
        "git status > x",
        "A=1 git status",
        "git status <<E\nE",
        "git status | sh",
        "! git status",
        "(git status)",
        "git status &",
    ] {
        assert_eq!(read(line, &around()).program, None, "{line}");
    }
    for line in [
        "git status",
        "  git   status  # look",
        "/usr/bin/git status",
        "'git' status",
        "git status *.rs",
    ] {
        assert_eq!(
            read(line, &around()).program.as_deref(),
            Some("git"),
            "{line}"
        );
    }
}
