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

/// Puts the mark for each `\u{…}`: a corpus shows what is not seen.
fn with_marks(line: &str) -> String {
    let mut parts = line.split("\\u{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').expect("a mark ends");
        let code = u32::from_str_radix(code, 16).expect("a mark is a number");
        out.push(char::from_u32(code).expect("a mark is a character"));
        out.push_str(rest);
    }
    out
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
        let line = with_marks(&line);
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
    assert!(n > 600, "only {n} lines");
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
fn the_scratchpad_is_left_by_no_word_of_a_line_that_stays_in_it() {
    let pad = Surroundings {
        cwd: PathBuf::from("/tmp/pad/a"),
        ..around()
    };
    for line in [
        "ls",
        "cat x",
        "mkdir -p a/b",
        "rm -rf b",
        "cp /tmp/pad/x y",
        "touch a.txt b.txt",
        "sort -o x y",
        "grep -rn x .",
    ] {
        assert!(read(line, &pad).in_scratchpad, "{line}");
    }
    for line in [
        "cat ../x",
        "cat /etc/passwd",
        "cat /tmp/padded",
        "rm -rf /tmp/pad/../x",
        "ls; ls",
        "ls > x",
        "ls *",
        "cat $x",
        "cat ~/x",
        "python3 x.py",
        "./x",
        "sh x",
        "cp x C:/y",
        "cp x d:y",
        "grep -f/etc/x y",
        "sort --files0-from=/etc/x",
        "sort -o/etc/x y",
        "touch x=/etc/y",
        "curl http://x",
        "find . -delete",
        "ln -s /etc x",
        "cat `x`",
        "cat 'x'",
        "ls\trm",
        "sort --compress-program=x y",
        "tar xf x",
        "env ls",
        "git status",
        "cat a\nrm b",
        "",
    ] {
        assert!(!read(line, &pad).in_scratchpad, "{line}");
    }
    assert!(!read("ls", &around()).in_scratchpad);
}

/// Lines that say the same have one form, and those that do not have none in common.
#[test]
fn a_canonical_form_tells_lines_apart_that_differ_and_no_others() {
    let form = |line: &str| read(line, &around()).canonical;
    for (form_of, same) in [
        (
            "git status",
            &[
                "git   status",
                " git status ",
                "'git' status",
                "git \"status\"",
                "git status # look",
                "git \\\nstatus",
                "\ngit status\n",
                "git status;",
            ][..],
        ),
        (
            "git commit -m 'a b'",
            &[
                "git commit -m \"a b\"",
                "git commit -m a\\ b",
                "git commit  -m 'a b'",
            ],
        ),
        ("a; b", &["a;b", "a\nb", "a\n\n b", "a ; b", "a # c\nb"]),
        (
            "a && b | c",
            &["a&&b|c", "a &&\nb |\nc", "a && 'b' | \"c\""],
        ),
        ("ls >x 2>&1", &["ls > x 2>&1", "ls >x 2>&1"]),
        ("if a; then b; fi", &["if a\nthen b\nfi", "if a;then b;fi"]),
    ] {
        assert_eq!(form(form_of).as_deref(), Some(form_of));
        for line in same {
            assert_eq!(form(line).as_deref(), Some(form_of), "{line:?}");
        }
    }
    for (one, other) in [
        ("rm a b", "rm 'a b'"),
        ("ls *", "ls '*'"),
        ("ls ~", "ls '~'"),
        ("a=b c", "'a=b' c"),
        ("echo $x", "echo '$x'"),
        ("echo 2>f", "echo 2 >f"),
        ("a & b", "a; b"),
        ("a | b", "a || b"),
        ("cd then; x", "cd then x"),
        ("if a", "'if' a"),
        ("echo {a,b}", "echo '{a,b}'"),
        ("(a; b)", "a; b"),
        ("a; b", "a 'b'"),
        ("echo a#b", "echo a #b"),
        ("echo \"a\nb\"", "echo a b"),
        ("echo \\$x", "echo $x"),
        ("echo ''", "echo"),
        ("! a", "'!' a"),
        ("git push", "git push x"),
    ] {
        assert_ne!(
            form(one).unwrap_or_else(|| one.to_owned()),
            form(other).unwrap_or_else(|| other.to_owned()),
            "{one} / {other}"
        );
    }
    for line in [
        "ls 'x",
        "ls $(",
        "if x",
        "ls \u{202e}x",
        "a |",
        "(a",
        "ls\r",
    ] {
        assert_eq!(form(line), None, "{line:?}");
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
