//! Laws that hold for any line, and a target that holds them for any bytes.

use super::{Shell, Surroundings, read};
use protocol::tool::Risk;
use std::path::PathBuf;

/// A fuzz target: reads the bytes as a line of either shell, and holds the laws.
pub fn fuzz_shell(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let around = Surroundings {
        shell: Shell::Posix,
        cwd: PathBuf::from("/home/ada/project"),
        home: Some(PathBuf::from("/home/ada")),
        roots: vec![PathBuf::from("/home/ada/project")],
        scratchpad: Some(PathBuf::from("/tmp/pad")),
        protected: vec![PathBuf::from("/home/ada/.config/undine")],
    };
    let powershell = Surroundings {
        shell: Shell::PowerShell,
        ..around.clone()
    };
    let reading = read(&text, &powershell);
    assert!(
        reading.canonical.is_some() || reading.risk >= Risk::Run,
        "{text:?}"
    );
    if let Some(canonical) = &reading.canonical {
        let again = read(canonical, &powershell);
        assert!(
            again.risk <= reading.risk.max(Risk::Run),
            "{text:?} is {canonical:?}"
        );
        if reading.risk == Risk::Read {
            let worse = format!("{text}\nRemove-Item x");
            assert_ne!(read(&worse, &powershell).risk, Risk::Read, "{worse:?}");
        }
    }
    laws(&text, &around);
}

fn laws(line: &str, around: &Surroundings) {
    let reading = read(line, around);
    let risk = |line: &str| read(line, around).risk;
    let is_forbidden = |line: &str| read(line, around).forbidden.is_some();
    // Long lines are not parsed, and what wraps them makes them longer.
    if line.len() > 4096 {
        return;
    }
    let quoted = format!("'{}'", line.replace('\'', "'\\''"));
    // These marks stand for what is not known.
    let is_plain = !line.contains(['\u{1}', '\0']);
    // What begins so would be an option.
    let is_option = line.starts_with(['-', '+']);
    if reading.forbidden.is_some() && is_plain && !is_option {
        for wrapped in [format!("sh -c {quoted}"), format!("eval {quoted}")] {
            assert!(
                is_forbidden(&wrapped),
                "{line:?} is forbidden, {wrapped:?} is not"
            );
        }
    }
    let Some(canonical) = &reading.canonical else {
        assert!(
            reading.risk >= Risk::Run,
            "{line:?} cannot be read, and is rated {:?}",
            reading.risk
        );
        return;
    };
    if reading.forbidden.is_some() {
        for wrapped in [
            format!("x; {line}"),
            format!("( {line}\n)"),
            format!("echo $( {line}\n)"),
            format!("if true; then\n{line}\nfi"),
        ] {
            assert!(
                is_forbidden(&wrapped),
                "{line:?} is forbidden, {wrapped:?} is not"
            );
        }
    }
    // Behind a backslash, a newline ends nothing.
    let next = match line.ends_with('\\') {
        true => "\n\nrm x",
        false => "\nrm x",
    };
    for worse in [
        format!("{line}{next}"),
        format!("rm x; {line}"),
        format!("{{ {line}\n}} > out"),
        format!("echo \"$( {line}\n)\" > out"),
    ] {
        assert_ne!(risk(&worse), Risk::Read, "{worse:?} is rated as a read");
    }
    // Bodies of heredocs stay as they were written, and a line of them is no command.
    if !line.contains("<<") && !canonical.contains('\n') {
        let again = read(canonical, around);
        // A comment may have raised the risk, by what it looks like.
        if let Some(form) = &again.canonical {
            assert_eq!(form, canonical, "{line:?}");
            assert!(again.risk <= reading.risk, "{line:?} is {canonical:?}");
        }
    }
}

/// What lines are made of.
const PIECES: &[&str] = &[
    " ",
    " ",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "; ",
    " && ",
    " || ",
    " | ",
    " & ",
    "'",
    "\"",
    "\\",
    "$(",
    "`",
    ")",
    "(",
    "<(",
    ">(",
    "{ ",
    "; }",
    "{",
    ",",
    "}",
    "$",
    "${",
    "$x",
    "${x}",
    "${x:-",
    "$((",
    "))",
    "[[ ",
    " ]]",
    "[ ",
    " ]",
    "> ",
    ">> ",
    "2>",
    "&>",
    "/dev/null",
    "2>&1",
    "< ",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<< ",
    "#",
    "rm",
    "-rf",
    "rm -rf /",
    "/",
    "~",
    "..",
    "*",
    "?",
    "ls",
    "cat",
    "git",
    " status",
    " reset --hard",
    "echo",
    "sh -c ",
    "eval ",
    "bash",
    "curl x",
    "base64 -d",
    "sudo ",
    "env ",
    "xargs ",
    "find . -exec ",
    "x=",
    "a=rm ",
    "if ",
    "then ",
    "else ",
    "fi",
    "for x in ",
    "while ",
    "do ",
    "done",
    "case x in ",
    "esac",
    ";;",
    "a) ",
    "f() ",
    "function ",
    "!",
    "time ",
    "cd ",
    "sed -n p",
    "awk '{print}'",
    "sort -o",
    "tee ",
    "x",
    "é",
    "\u{430}",
    "\r",
    "\u{1}",
    "\0",
    "\u{202e}",
    "$'",
    "$IFS",
    "=",
    "C:\\",
    "Remove-Item ",
    "-Recurse ",
    "@'",
    "'@",
    "%",
    "\\\n",
    "\t",
    "1",
    "&& cat",
    "|&",
    "$@",
    "export ",
    "| sh",
    "'a b'",
    "\"$x\"",
];

#[cfg(test)]
mod tests {
    use super::{PIECES, fuzz_shell};
    use crate::rounds::rounds;

    /// Texts that are meant to take long.
    fn hostile(n: usize) -> Vec<(&'static str, String)> {
        let fill = |it: &str| it.repeat(n / it.len());
        vec![
            ("opening brackets", fill("(")),
            ("opening substitutions", fill("$(")),
            ("opening variables", fill("${x:-")),
            ("backticks", fill("`")),
            ("braces", fill("{a,b}")),
            ("nested braces", fill("{a,")),
            ("quotes", fill("\"'")),
            ("pipes", fill("a|")),
            ("lists", fill("a && ")),
            ("redirected lists", fill("a >x && ")),
            ("heredocs", fill("<<E ")),
            ("functions", fill("f(){ ")),
            (
                "loops",
                fill("for x in 1 2 3 4 5 6 7 8; do ") + &fill("; done"),
            ),
            (
                "loops in loops",
                "for x in 1 2 3 4 5 6 7 8; do ".repeat(20) + "ls" + &"; done".repeat(20),
            ),
            ("rm", fill("rm -rf ")),
            ("words", fill("a ")),
            ("one word", fill("a")),
            ("stars", format!("rm -rf /{}", fill("*a"))),
            ("backslashes", fill("\\")),
            ("new lines", fill("\n")),
            ("dollars", fill("$")),
            ("cases", fill("case x in ")),
            ("tests", fill("[[ a && ")),
            ("sums", format!("echo $(({}1))", fill("1+("))),
            ("env", fill("env ")),
            ("eval", fill("eval ")),
            ("assignments", fill("a=$a$a ")),
            (
                "doubling",
                "a=aaaaaaaaaaaaaaaa; ".to_owned() + &fill("a=$a$a; "),
            ),
            (
                "doubling a little",
                "a=aaaaaaaaaaaaaaaa; ".to_owned() + &"a=$a$a; ".repeat(60) + "rm $a",
            ),
            (
                "doubling arguments",
                "set -- aaaaaaaaaaaaaaaa; ".to_owned() + &"set -- $@ $@; ".repeat(60) + "rm $@",
            ),
            (
                "doubling feeds",
                "x=aaaaaaaaaaaaaaaa; ".to_owned() + &"x=$(echo $x $x); ".repeat(60),
            ),
            (
                "doubling functions",
                (0..60)
                    .map(|n| format!("f{n}() {{ f{} ; f{}; }}; ", n + 1, n + 1))
                    .collect::<String>()
                    + "f0",
            ),
            ("doubling folders", fill("cd a; cd b; cd ..; ")),
            ("curl", fill("curl x | sh; ")),
        ]
    }

    /// How long one reading takes: at best, which other work on the machine does not change, and at the median.
    #[allow(clippy::disallowed_types, reason = "this is what is measured")]
    fn times(line: &str, n: usize, around: &super::Surroundings) -> [std::time::Duration; 2] {
        let mut times: Vec<std::time::Duration> = (0..n)
            .map(|_| {
                let start = std::time::Instant::now();
                super::read(line, around);
                start.elapsed()
            })
            .collect();
        times.sort();
        [times[0], times[n / 2]]
    }

    #[test]
    #[ignore = "times the code as it is released: tests/soak/run shell"]
    fn a_reading_takes_no_longer_than_a_person_would_notice() {
        // A busy machine takes some five times as long.
        let factor = 5;
        let mut slow = Vec::new();
        for shell in [super::Shell::Posix, super::Shell::PowerShell] {
            let around = super::Surroundings {
                shell,
                ..super::super::tests::around()
            };
            let part = "grep -rn --include='*.rs' \"fn main\" src/a/b 2>/dev/null | sort -u | head -n 20 && ";
            let line = part.repeat(12) + "git status";
            assert!(line.len() > 950);
            let [took, median] = times(&line, 101, &around);
            eprintln!(
                "{shell:?}: {} characters in {median:?}, at best {took:?}",
                line.len()
            );
            assert!(took.as_micros() < 1_000 * factor, "{took:?}");
            for n in [16_000, 64 * 1024] {
                for (name, line) in hostile(n) {
                    let [took, median] = times(&line, 3, &around);
                    eprintln!(
                        "{shell:?}: {name}, {} bytes: {median:?}, at best {took:?}",
                        line.len()
                    );
                    slow.extend((took.as_millis() >= 200 * factor).then_some((name, took)));
                }
            }
        }
        assert!(slow.is_empty(), "{slow:?}");
    }

    #[test]
    fn laws_hold_for_lines_of_any_kind() {
        for (_, mut rng) in rounds(4_000, 1_500) {
            let mut line = Vec::new();
            for _ in 0..rng.usize(1..16) {
                match rng.u8(..) {
                    0..=4 => line.push(rng.u8(..)),
                    5..=12 => line.push(rng.u8(b' '..=b'~')),
                    13..=u8::MAX => line.extend(PIECES[rng.usize(..PIECES.len())].bytes()),
                }
            }
            fuzz_shell(&line);
        }
    }

    #[test]
    fn laws_hold_for_lines_that_are_nearly_right() {
        let corpus = super::super::tests::CORPUS;
        let lines: Vec<&str> = corpus
            .iter()
            .flat_map(|it| it.lines())
            .filter_map(|it| it.split_once(" | ").map(|it| it.1))
            .collect();
        for (_, mut rng) in rounds(9_000, 1_000) {
            let mut line = lines[rng.usize(..lines.len())]
                .replace("\\n", "\n")
                .into_bytes();
            for _ in 0..rng.usize(0..4) {
                let at = rng.usize(..=line.len());
                match rng.u8(..4) {
                    0 if at < line.len() => {
                        line.remove(at);
                    }
                    1 => line.truncate(at),
                    2 => {
                        let other = lines[rng.usize(..lines.len())];
                        line.splice(at..at, other.bytes());
                    }
                    _ => {
                        let piece = PIECES[rng.usize(..PIECES.len())];
                        line.splice(at..at, piece.bytes());
                    }
                }
            }
            fuzz_shell(&line);
        }
    }
}
