//! What a line of PowerShell may do. Its cmdlets and aliases that only read are known by name; everything else runs.

mod lex;
mod names;

use super::reader::{MAX_NESTED, Reader, TOO_DEEP};
use super::{Surroundings, command, forbidden, git, installs, looks, programs, word};
use lex::{Line, Segment, Word};
use names::{CHANGERS, DOWNLOADS, INSTALLERS, MACHINE, NETWORK, READERS, REMOVERS, TALKERS};
use protocol::tool::{Reading, Risk};

/// Bytes of a line that are read.
const MAX_BYTES: usize = 16 * 1024;

pub fn read(line: &str, around: &Surroundings) -> Reading {
    let verdict = judge(line, around, 0);
    let is_readable = verdict.is_readable && !looks::hides(line);
    let parsed = lex::lex(if is_readable { line } else { "" });
    let program = match parsed.segments.as_slice() {
        [one] if one.targets.is_empty() && matches!(one.end.as_str(), "" | ";") => {
            one.words.first().map(|it| it.text.clone())
        }
        _ => None,
    };
    Reading {
        risk: verdict.risk,
        forbidden: verdict.forbidden,
        canonical: is_readable.then(|| canonical(&parsed)),
        program: program.filter(|_| is_readable),
        in_scratchpad: false,
        steered: line.to_ascii_lowercase().contains("git"),
    }
}

struct Verdict {
    risk: Risk,
    forbidden: Option<String>,
    is_readable: bool,
}

impl Verdict {
    fn at_least(&mut self, risk: Risk) {
        self.risk = self.risk.max(risk);
    }

    fn forbid(&mut self, rule: &str) {
        self.forbidden.get_or_insert_with(|| rule.to_owned());
    }

    fn merge(&mut self, other: Verdict) {
        self.at_least(other.risk);
        if let Some(rule) = other.forbidden {
            self.forbid(&rule);
        }
    }
}

fn judge(line: &str, around: &Surroundings, n_nested: usize) -> Verdict {
    let mut verdict = Verdict {
        risk: Risk::Read,
        forbidden: None,
        is_readable: true,
    };
    let cut = line
        .char_indices()
        .map(|it| it.0)
        .find(|it| *it > MAX_BYTES);
    let line = match cut {
        Some(at) => {
            verdict.is_readable = false;
            // The rest is looked at for the words of the whole-line rules alone.
            whole_line(&line.to_lowercase(), &mut verdict);
            &line[..at]
        }
        None => line,
    };
    if n_nested > MAX_NESTED {
        verdict.forbid(TOO_DEEP);
        verdict.at_least(Risk::Run);
        return verdict;
    }
    let parsed = lex::lex(line);
    verdict.is_readable &= parsed.is_flat && parsed.is_whole;
    if !verdict.is_readable || looks::may_deceive(line) || !line.is_ascii() {
        verdict.at_least(Risk::Run);
    }
    whole_line(&line.to_lowercase(), &mut verdict);
    if !inside(around, &around.cwd.to_string_lossy()) {
        verdict.at_least(Risk::Outside);
    }
    let mut cwd = slashes(&around.cwd.to_string_lossy());
    for segment in &parsed.segments {
        for target in &segment.targets {
            write_to(target, &cwd, around, &mut verdict);
        }
        one(segment, &mut cwd, around, n_nested, &mut verdict);
        // Blocks and expressions are texts in which a command may begin anywhere.
        if !parsed.is_flat {
            for at in 1..segment.words.len().min(32) {
                removal(&segment.words[at..], &cwd, around, &mut verdict);
            }
        }
    }
    verdict
}

/// What only the line as a whole shows.
fn whole_line(line: &str, verdict: &mut Verdict) {
    // Texts that are put together are read as one, and marks that say nothing are left out.
    let joined: String = line.chars().filter(|it| !matches!(it, '`' | '^')).collect();
    let joined = joined
        .replace("'+'", "")
        .replace("\"+\"", "")
        .replace("' + '", "")
        .replace("\" + \"", "");
    let names: Vec<&str> = joined
        .split(|it: char| !(it.is_ascii_alphanumeric() || it == '-' || it == '_' || it == '.'))
        .collect();
    let has = |wanted: &[&str]| {
        names.iter().any(|it| {
            wanted
                .iter()
                .any(|wanted| it == wanted || it.ends_with(&format!(".{wanted}")))
        })
    };
    let runs = has(&[
        "iex",
        "invoke-expression",
        "scriptblock",
        "invokescript",
        "invoke",
    ]) || names.iter().any(|it| it.ends_with("invokecommand"));
    if runs && has(DOWNLOADS) {
        verdict.forbid("running what is downloaded, unseen (a download into a shell)");
    }
    if runs && has(&["frombase64string"]) {
        verdict.forbid("running decoded text, which nobody can read beforehand");
    }
    if has(&["tcplistener", "httplistener"]) {
        verdict.forbid("opening a listening socket");
    }
    if has(&[
        "format-volume",
        "clear-disk",
        "initialize-disk",
        "remove-partition",
    ]) && !line.starts_with("get-help")
    {
        verdict.forbid("formatting a drive");
    }
}

/// One command.
fn one(
    segment: &Segment,
    cwd: &mut String,
    around: &Surroundings,
    n_nested: usize,
    verdict: &mut Verdict,
) {
    let Some(first) = segment.words.first() else {
        return;
    };
    let name = first.text.to_lowercase();
    let plain = command::last_part(&name)
        .trim_end_matches(".exe")
        .trim_end_matches(".cmd")
        .to_owned();
    let rest = &segment.words[1..];
    removal(&segment.words, cwd, around, verdict);
    let posix: Vec<word::Word> = std::iter::once(word::Word::of(&plain))
        .chain(rest.iter().map(|it| word::Word {
            known: !it.has_variable,
            ..word::Word::of(&it.text)
        }))
        .collect();
    if plain != "rm" {
        let reader = Reader::new(around);
        if let Some(rule) = forbidden::command(&reader, &posix) {
            verdict.forbid(&rule);
        }
    }
    if first.is_quoted
        || first.has_variable
        || name.contains(['/', '\\'])
        || rest.iter().any(|it| it.has_variable)
    {
        verdict.at_least(Risk::Run);
    }
    let texts: Vec<&str> = rest.iter().map(|it| it.text.as_str()).collect();
    match plain.as_str() {
        "pwsh" | "powershell" => return inner(rest, around, n_nested, verdict),
        "cmd" => {
            verdict.at_least(Risk::Run);
            return;
        }
        "wsl" | "bash" | "sh" => {
            verdict.at_least(Risk::Run);
            let mut reader = Reader::new(around);
            match plain.as_str() {
                "wsl" => {
                    reader.run(
                        posix[1..]
                            .iter()
                            .skip_while(|it| it.text.starts_with('-'))
                            .cloned()
                            .collect(),
                    );
                }
                _ => {
                    reader.run(posix);
                }
            }
            if let Some(rule) = &reader.forbidden {
                verdict.forbid(rule);
            }
            return;
        }
        "iex" | "invoke-expression" => {
            verdict.at_least(Risk::Run);
            verdict.merge(judge(&texts.join(" "), around, n_nested + 1));
            return;
        }
        "sudo" | "gsudo" | "runas" => {
            verdict.at_least(Risk::Machine);
            let inner = Segment {
                words: rest.to_vec(),
                ..segment.clone()
            };
            if n_nested < MAX_NESTED {
                one(&inner, cwd, around, n_nested + 1, verdict);
            }
            return;
        }
        "git" => {
            let risk = match git::subcommand(&posix[1..]) {
                Some(0) => git::risk(&rest[0].text, &posix[2..]),
                Some(_) => Risk::Run,
                None if texts == ["--version"] => Risk::Read,
                None => Risk::Run,
            };
            verdict.at_least(risk);
        }
        _ if REMOVERS.contains(&plain.as_str()) || CHANGERS.contains(&plain.as_str()) => {
            verdict.at_least(Risk::Change)
        }
        _ if NETWORK.contains(&plain.as_str()) => verdict.at_least(Risk::Network),
        _ if INSTALLERS.contains(&plain.as_str()) => verdict.at_least(Risk::Install),
        _ if MACHINE.contains(&plain.as_str()) => verdict.at_least(Risk::Machine),
        _ if READERS.contains(&plain.as_str()) => {
            if texts.iter().any(|it| {
                it.to_lowercase().starts_with("-comp") || it.to_lowercase().starts_with("-cn")
            }) {
                verdict.at_least(Risk::Network);
            }
            if matches!(plain.as_str(), "cd" | "sl" | "set-location" | "chdir") {
                match rest.iter().find(|it| !it.text.starts_with('-')) {
                    Some(to) if !to.has_variable => *cwd = absolute(cwd, &to.text, around),
                    Some(_) | None => verdict.at_least(Risk::Run),
                }
            }
        }
        _ if programs::is_network(&plain) => verdict.at_least(Risk::Network),
        _ => verdict.at_least(
            installs::risk(&plain, name.contains(['/', '\\']), &posix).unwrap_or(Risk::Run),
        ),
    }
    if TALKERS.contains(&plain.as_str()) {
        return;
    }
    let changes = CHANGERS.contains(&plain.as_str());
    for word in rest
        .iter()
        .filter(|it| !it.text.starts_with('-') || it.text.contains([':', '/', '\\']))
    {
        // `-Path:C:\x`
        let text = match word
            .text
            .strip_prefix('-')
            .and_then(|it| it.split_once(':'))
        {
            Some((_, value)) => value,
            None => word.text.as_str(),
        };
        let path = absolute(cwd, text, around);
        let is_kept = protected(around, &path);
        if changes && is_kept {
            verdict.forbid("changing Undine's own settings, history or data");
        }
        if is_kept || !inside(around, &path) {
            verdict.at_least(Risk::Outside);
        }
    }
}

/// `pwsh -Command …` and `-EncodedCommand …`.
fn inner(words: &[Word], around: &Surroundings, n_nested: usize, verdict: &mut Verdict) {
    verdict.at_least(Risk::Run);
    for (n, word) in words.iter().enumerate() {
        let option = word.text.to_lowercase();
        let option = option.trim_start_matches(['-', '/', '\u{2013}', '\u{2014}', '\u{2015}']);
        if option == word.text {
            // What is no option is a script to run, or a command.
            let all: Vec<&str> = words[n..].iter().map(|it| it.text.as_str()).collect();
            verdict.merge(judge(&all.join(" "), around, n_nested + 1));
            return;
        }
        if option.is_empty() {
            continue;
        }
        if "encodedcommand".starts_with(option) || option == "ec" {
            match words.get(n + 1).and_then(|it| lex::decode(&it.text)) {
                Some(text) => verdict.merge(judge(&text, around, n_nested + 1)),
                None => verdict.forbid("running encoded text, which cannot be read"),
            }
            return;
        }
        if "command".starts_with(option) || "commandwithargs".starts_with(option) {
            let all: Vec<&str> = words[n + 1..].iter().map(|it| it.text.as_str()).collect();
            verdict.merge(judge(&all.join(" "), around, n_nested + 1));
            return;
        }
    }
}

/// `Remove-Item -Recurse C:\` in all its names.
fn removal(words: &[Word], cwd: &str, around: &Surroundings, verdict: &mut Verdict) {
    let Some(first) = words.first() else {
        return;
    };
    let name = first.text.to_lowercase();
    if !REMOVERS.contains(&name.as_str()) {
        return;
    }
    let is_recursive = words.iter().any(|it| {
        let text = it.text.to_lowercase();
        let option = text.split(':').next().unwrap_or_default();
        option.len() > 1
            && ("-recurse".starts_with(option)
                || option == "/s"
                || option == "-rf"
                || option == "-fr")
    });
    let hits = words[1..]
        .iter()
        .filter(|it| {
            !it.text.starts_with('-')
                && !it.text.eq_ignore_ascii_case("/s")
                && !it.text.eq_ignore_ascii_case("/q")
        })
        .any(|it| {
            is_root(
                &absolute(
                    cwd,
                    it.text
                        .split_once(':')
                        .filter(|it| it.0.starts_with('-'))
                        .map_or(&it.text, |it| it.1),
                    around,
                ),
                around,
            )
        });
    if is_recursive && hits {
        verdict.forbid("recursive deletion of a root folder (Remove-Item -Recurse on a drive, a home folder or a system folder)");
    }
}

fn write_to(target: &Word, cwd: &str, around: &Surroundings, verdict: &mut Verdict) {
    let text = target.text.to_lowercase();
    if !target.is_quoted && text == "$null" {
        return;
    }
    verdict.at_least(if target.has_variable {
        Risk::Run
    } else {
        Risk::Change
    });
    let path = absolute(cwd, &target.text, around);
    if text.contains("$profile") || is_system(&path) || path.contains("/.ssh/") {
        verdict.forbid(
            "writing to a folder of the system, a device, .ssh or a file that a shell starts with",
        );
    }
    if protected(around, &path) {
        verdict.forbid("changing Undine's own settings, history or data");
    }
    if !inside(around, &path) {
        verdict.at_least(Risk::Outside);
    }
}

fn slashes(text: &str) -> String {
    text.replace('\\', "/").to_lowercase()
}

fn home(around: &Surroundings) -> String {
    slashes(&super::place::home(around))
}

/// A path in full, in small letters, with slashes.
fn absolute(cwd: &str, text: &str, around: &Surroundings) -> String {
    let home = home(around);
    let mut text = slashes(text);
    for (name, value) in [
        ("$env:userprofile", home.as_str()),
        ("${env:userprofile}", home.as_str()),
        ("$env:homepath", home.as_str()),
        ("$env:home", home.as_str()),
        ("$home", home.as_str()),
        ("${home}", home.as_str()),
        ("$env:systemdrive", "c:"),
        ("$env:systemroot", "c:/windows"),
        ("$env:windir", "c:/windows"),
        ("$env:programfiles", "c:/program files"),
        ("$pwd", cwd),
    ] {
        text = text.replace(name, value);
    }
    if let Some(rest) = text.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with('/'))
    {
        text = format!("{home}{rest}");
    }
    let text = text
        .strip_prefix("filesystem::")
        .unwrap_or(&text)
        .to_owned();
    let text = text.strip_prefix("//?/").unwrap_or(&text).to_owned();
    let is_drive = text.chars().nth(1) == Some(':')
        || text
            .split('/')
            .next()
            .is_some_and(|it| it.len() > 2 && it.ends_with(':'));
    let whole = match is_drive || text.starts_with('/') {
        true => text.clone(),
        false => format!("{cwd}/{text}"),
    };
    // `//server/share` is another machine's.
    let start = if whole.starts_with("//") {
        "//"
    } else if whole.starts_with('/') {
        "/"
    } else {
        ""
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("{start}{}", parts.join("/"))
}

fn is_in(path: &str, folder: &std::path::Path) -> bool {
    let folder = slashes(&folder.to_string_lossy());
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

fn inside(around: &Surroundings, path: &str) -> bool {
    let path = slashes(path);
    around
        .roots
        .iter()
        .chain(&around.scratchpad)
        .any(|it| is_in(&path, it))
}

fn protected(around: &Surroundings, path: &str) -> bool {
    around.protected.iter().any(|it| is_in(path, it))
}

fn is_system(path: &str) -> bool {
    [
        "c:/windows",
        "c:/program files",
        "/etc",
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/boot",
        "/dev",
    ]
    .iter()
    .any(|it| {
        path.strip_prefix(it)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ' ']))
    }) && path != "/dev/null"
}

fn is_root(path: &str, around: &Surroundings) -> bool {
    let path = path
        .trim_end_matches("/*")
        .trim_end_matches("/*.*")
        .trim_end_matches('/');
    let home = home(around);
    let is_drive = path.len() == 2 && path.ends_with(':');
    path.is_empty()
        || path == "*"
        || is_drive
        || path == home
        || home
            .strip_prefix(path)
            .is_some_and(|it| it.starts_with('/'))
        || matches!(
            path,
            "c:/windows"
                | "c:/windows/system32"
                | "c:/users"
                | "c:/program files"
                | "c:/program files (x86)"
                | "c:/programdata"
        )
        || matches!(
            path,
            "/etc"
                | "/usr"
                | "/bin"
                | "/sbin"
                | "/lib"
                | "/var"
                | "/opt"
                | "/boot"
                | "/home"
                | "/users"
                | "/root"
        )
}

/// A flat line, with one blank between its words and quotes where they are needed.
fn canonical(line: &Line) -> String {
    let mut out = String::new();
    for (n, segment) in line.segments.iter().enumerate() {
        for (m, word) in segment.words.iter().enumerate() {
            if m > 0 {
                out.push(' ');
            }
            out.push_str(&shown(word));
        }
        for target in &segment.targets {
            out.push_str(" > ");
            out.push_str(&shown(target));
        }
        if n + 1 < line.segments.len() {
            let gap = if segment.end == ";" { "" } else { " " };
            out.push_str(&format!("{gap}{} ", segment.end));
        }
    }
    out
}

fn shown(word: &Word) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_./:\\-=*$~".contains(it);
    match !word.is_quoted && word.text.chars().all(is_plain) && !word.text.is_empty() {
        true => word.text.clone(),
        false => format!("'{}'", word.text.replace('\'', "''")),
    }
}

/// `pwsh -Command …` in a line of another shell.
pub fn called(reader: &mut Reader<'_>, words: &[word::Word]) {
    let mut verdict = Verdict {
        risk: Risk::Run,
        forbidden: None,
        is_readable: false,
    };
    let words: Vec<Word> = words[1..]
        .iter()
        .map(|it| Word {
            text: it.text.clone(),
            is_quoted: false,
            has_variable: !it.known,
        })
        .collect();
    inner(&words, reader.around, reader.n_nested, &mut verdict);
    reader.at_least(verdict.risk);
    if let Some(rule) = verdict.forbidden {
        reader.forbid(&rule);
    }
}
