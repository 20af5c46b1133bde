//! One command: what runs in the end, behind the programs that run others, and what it may do.

use super::forbidden;
use super::place::Deed;
use super::programs::{self, Arguments};
use super::reader::{Feed, Reader};
use super::word::{HOLE, Taint, Word};
use super::{filters, git, installs};
use protocol::tool::Risk;

/// Programs behind programs that are looked through.
const MAX_BEHIND: usize = 16;

/// Folders whose programs are those that their names say.
const TRUSTED: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/opt/homebrew/bin/",
];

/// Shells that run a script given by `-c`, or by what they read.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "yash", "rbash", "fish", "csh",
    "tcsh", "pdksh", "posh", "hush",
];

/// Programs that run what they read when nobody names a script.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "node",
    "php",
    "lua",
    "tclsh",
    "bun",
    "deno",
    "R",
    "osascript",
    "pwsh",
    "powershell",
];

/// A program's name without its folder, if it is one that its folder says nothing against.
pub fn name_of(text: &str) -> &str {
    TRUSTED
        .iter()
        .find_map(|it| text.strip_prefix(it).filter(|rest| !rest.contains('/')))
        .unwrap_or(text)
}

/// The last part of a path, whichever it is.
pub fn last_part(text: &str) -> &str {
    text.rsplit(['/', '\\']).next().unwrap_or(text)
}

impl Reader<'_> {
    /// Judges a command's words; gives what it writes.
    pub fn run(&mut self, words: Vec<Word>) -> Feed {
        self.reached = None;
        // Marks list folders, whichever program gets the names.
        for word in words.iter().filter(|it| it.glob) {
            self.argument(word, Deed::Read);
        }
        self.behind(&words, 0)
    }

    fn behind(&mut self, words: &[Word], n_behind: usize) -> Feed {
        let Some(program) = words.first() else {
            return Feed::default();
        };
        let taint = words.iter().map(|it| it.taint).max().unwrap_or_default();
        let given = self.stdin.clone();
        let mut written = Feed {
            text: None,
            taint: taint.max(given.taint),
        };
        if n_behind > MAX_BEHIND {
            self.unreadable();
            self.forbid(super::reader::TOO_DEEP);
            return written;
        }
        if let Some(rule) = forbidden::command(self, words) {
            self.forbid(&rule);
        }
        // A name that is put together, or that files decide, is whatever it is.
        if !program.known || program.glob || program.from_value {
            self.at_least(Risk::Run);
        }
        if program.text.contains(HOLE) {
            // What runs comes out of a text that nobody has read.
            if program.text == HOLE.to_string() {
                self.forbid_tainted(program.taint);
            }
            self.name_paths(&words[1..]);
            return written;
        }
        let name = name_of(&program.text).to_owned();
        if name.contains('/') {
            self.at_least(Risk::Run);
            self.check(program, Deed::Read);
        }
        let plain = last_part(&name).trim_end_matches(".exe").to_owned();
        if let Some(body) = self.functions.get(&plain).cloned()
            && self.n_calls < 2
        {
            self.n_calls += 1;
            let before = self.arguments.replace(words.to_vec());
            self.n_nested += 1;
            self.script(&body);
            self.n_nested -= 1;
            self.arguments = before;
            self.n_calls -= 1;
        }
        if let Some(inner) = self.wrapped(&plain, words, n_behind) {
            return inner;
        }
        match plain.as_str() {
            name if SHELLS.contains(&name) => self.shell(words),
            name if INTERPRETERS.contains(&name) || name.starts_with("python3.") => {
                self.interpreter(&plain, words)
            }
            "eval" => self.eval(&words[1..]),
            "." | "source" => {
                self.at_least(Risk::Run);
                if let Some(file) = words.get(1) {
                    self.forbid_tainted(file.taint);
                    if file.text == "/dev/stdin" || file.text == "-" {
                        self.read_in(&given);
                    }
                }
                self.name_paths(&words[1..]);
            }
            "cd" | "chdir" => self.cd(&words[1..]),
            "pushd" | "popd" => {
                self.at_least(Risk::Run);
                match words.get(1).filter(|_| plain == "pushd") {
                    Some(to) => self.change_folder(to),
                    None => self.cwds.clear(),
                }
            }
            "trap" | "alias" => {
                self.at_least(if words.len() > 1 {
                    Risk::Run
                } else {
                    Risk::Read
                });
                for word in words.iter().skip(1).filter(|it| !it.text.starts_with('-')) {
                    let script = match plain.as_str() {
                        "alias" => word.text.split_once('=').map_or("", |it| it.1),
                        _ => &word.text,
                    };
                    if script.contains([' ', ';', '/']) {
                        self.apart(|it| it.nested(script));
                    }
                    if plain == "alias"
                        && let Some((name, script)) = word.text.split_once('=')
                    {
                        self.functions
                            .insert(name.to_owned(), format!("{script} \"$@\""));
                    }
                }
            }
            "set" => self.set_options(&words[1..]),
            "shift" | "getopts" | "hash" | "enable" | "bind" | "complete" | "shopt" | "mapfile"
            | "readarray" | "let" | "ulimit" | "umask" | "fc" | "history" | "jobs" | "bg"
            | "fg" | "disown" | "kill" | "unset" | "local" | "declare" | "typeset" | "export"
            | "readonly" => {
                self.at_least(Risk::Run);
                if plain == "shift" {
                    self.arguments = None;
                }
            }
            "read" => self.read_names(&words[1..]),
            "git" => git::git(self, words),
            _ => {
                if let Some(risk) = installs::risk(&plain, name.contains('/'), words) {
                    self.at_least(risk);
                    self.name_paths(&words[1..]);
                } else {
                    self.program(&plain, words);
                }
            }
        }
        written.taint = written.taint.max(programs::taint(&plain, words));
        written.text = self.writes(&plain, words, given);
        written
    }

    /// What a command writes, where its words tell.
    fn writes(&self, name: &str, words: &[Word], given: Feed) -> Option<String> {
        let said = |words: &[Word]| {
            let words: Vec<&str> = words.iter().map(|it| it.text.as_str()).collect();
            words.join(" ")
        };
        match name {
            "echo" => {
                let skip = words[1..]
                    .iter()
                    .take_while(|it| {
                        it.text.len() > 1
                            && it.text.starts_with('-')
                            && it.text[1..]
                                .bytes()
                                .all(|it| matches!(it, b'n' | b'e' | b'E'))
                    })
                    .count();
                let text = said(&words[1 + skip..]);
                // dash reads escapes unasked.
                Some(match text.contains('\\') {
                    true => super::word::ansi(&text.replace("\\0", "\\")),
                    false => text,
                })
            }
            "printf" => {
                let format = words.get(1)?;
                match words.len() {
                    2 => Some(super::word::ansi(&format.text)),
                    _ => {
                        let rest: Vec<&str> =
                            words[2..].iter().map(|it| it.text.as_str()).collect();
                        let gap = if format.text.trim_end_matches("\\n").ends_with("%s")
                            && !format.text.contains(' ')
                        {
                            ""
                        } else {
                            " "
                        };
                        Some(rest.join(gap))
                    }
                }
            }
            "cat" | "tee" if words[1..].iter().all(|it| it.text == "-" || name == "tee") => {
                given.text
            }
            "pwd" => self
                .cwds
                .first()
                .filter(|_| self.cwds.len() == 1)
                .map(|it| it.to_string_lossy().into_owned()),
            _ => None,
        }
    }

    /// A command that does no more than run another: what that one writes. None: it is no such command.
    fn wrapped(&mut self, name: &str, words: &[Word], n_behind: usize) -> Option<Feed> {
        let at = match programs::inner(self, name, words)? {
            programs::Inner::At(at) => at,
            programs::Inner::Words(inner) => return Some(self.behind(&inner, n_behind + 1)),
            programs::Inner::Script(script) => return Some(self.apart(|it| it.nested(&script))),
            programs::Inner::Nothing => return Some(Feed::default()),
        };
        let inner = words.get(at..).unwrap_or_default().to_vec();
        Some(self.behind(&inner, n_behind + 1))
    }

    /// `sh -c '…'`, `sh <file`, `… | sh`.
    fn shell(&mut self, words: &[Word]) {
        let mut has_script = false;
        let mut n = 1;
        let mut is_plain = true;
        let mut reads = true;
        while let Some(word) = words.get(n) {
            let text = word.text.as_str();
            if !word.known && text.starts_with(HOLE) {
                self.at_least(Risk::Run);
                self.forbid_tainted(word.taint);
                reads = false;
                break;
            }
            let is_option = text.len() > 1 && (text.starts_with('-') || text.starts_with('+'));
            if !is_option {
                break;
            }
            if text == "--" || text == "-" {
                n += 1;
                break;
            }
            if text.starts_with("--") {
                is_plain = false;
                n += match text {
                    "--rcfile" | "--init-file" | "--command" => 2,
                    _ => 1,
                };
                has_script |= text == "--command";
                if let Some(script) = text.strip_prefix("--command=") {
                    self.apart(|it| it.nested(script));
                    reads = false;
                }
                continue;
            }
            has_script |= text.starts_with('-') && text.contains('c');
            is_plain &= text[1..]
                .bytes()
                .all(|it| matches!(it, b'c' | b'e' | b'u' | b'x' | b'f'));
            n += 1;
            if text.ends_with(['o', 'O']) {
                n += 1;
            }
            if text.contains('s') && !text.contains('c') {
                n = words.len();
            }
        }
        let given = self.stdin.clone();
        match words.get(n) {
            Some(script) if has_script => {
                self.forbid_tainted(script.taint);
                if !is_plain || !script.known || script.glob {
                    self.at_least(Risk::Run);
                }
                if !matches!(last_part(&words[0].text), "sh" | "bash" | "dash") {
                    self.at_least(Risk::Run);
                }
                let text = script.text.clone();
                let arguments: Vec<Word> = words[n + 1..].to_vec();
                self.apart(|it| {
                    it.arguments = Some(arguments);
                    it.nested(&text)
                });
            }
            Some(file) => {
                self.at_least(Risk::Run);
                self.forbid_tainted(file.taint);
                if matches!(
                    file.text.as_str(),
                    "/dev/stdin" | "-" | "/dev/fd/0" | "/proc/self/fd/0"
                ) {
                    self.read_in(&given);
                }
                self.name_paths(&words[n..]);
            }
            None if reads && !has_script => self.read_in(&given),
            None => self.at_least(Risk::Run),
        }
    }

    /// A shell reads its script from here.
    fn read_in(&mut self, given: &Feed) {
        self.at_least(Risk::Run);
        self.forbid_tainted(given.taint);
        if let Some(text) = &given.text {
            self.apart(|it| it.with_stdin(Feed::default(), |it| it.nested(text)));
        }
    }

    pub fn forbid_tainted(&mut self, taint: Taint) {
        match taint {
            Taint::None => {}
            Taint::Decoded => self.forbid("running decoded text, which nobody can read beforehand"),
            Taint::Downloaded => {
                self.forbid("running what is downloaded, unseen (a download into a shell)")
            }
        }
    }

    fn interpreter(&mut self, name: &str, words: &[Word]) {
        if programs::is_version(words)
            && matches!(
                name,
                "python" | "python3" | "node" | "perl" | "ruby" | "php" | "lua"
            )
        {
            return;
        }
        if let Some(risk) = installs::risk(name, words[0].text.starts_with('.'), words) {
            self.at_least(risk);
        }
        self.at_least(Risk::Run);
        if matches!(name, "pwsh" | "powershell") {
            super::powershell::called(self, words);
            return;
        }
        let reads = words[1..]
            .iter()
            .all(|it| it.text == "-" || it.text == "/dev/stdin");
        if reads {
            let taint = self.stdin.taint;
            self.forbid_tainted(taint);
        }
        for pair in words.windows(2) {
            if matches!(
                pair[0].text.as_str(),
                "-c" | "-e" | "-r" | "-E" | "--eval" | "--execute"
            ) {
                self.forbid_tainted(pair[1].taint);
            }
        }
        if let Some(file) = words.get(1).filter(|it| it.text.starts_with(HOLE)) {
            self.forbid_tainted(file.taint);
        }
        self.name_paths(&words[1..]);
    }

    fn eval(&mut self, words: &[Word]) {
        let words = match words.first() {
            Some(first) if first.text == "--" => &words[1..],
            _ => words,
        };
        if words.iter().any(|it| !it.known || it.glob) {
            self.at_least(Risk::Run);
        }
        for word in words {
            self.forbid_tainted(word.taint);
        }
        let texts: Vec<&str> = words.iter().map(|it| it.text.as_str()).collect();
        self.nested(&texts.join(" "));
    }

    fn cd(&mut self, words: &[Word]) {
        let words: Vec<&Word> = words
            .iter()
            .filter(|it| !matches!(it.text.as_str(), "-P" | "-L" | "-e" | "--"))
            .collect();
        match words.as_slice() {
            [] => {
                let home = super::place::home(self.around);
                self.change_folder(&Word::of(&home));
            }
            [to] => self.change_folder(to),
            _ => {
                self.at_least(Risk::Run);
                self.cwds.clear();
            }
        }
    }

    /// `set -e` and its like; `set -- a b` gives arguments.
    fn set_options(&mut self, words: &[Word]) {
        let mut n = 0;
        while let Some(word) = words.get(n) {
            let text = word.text.as_str();
            let is_plain = word.known
                && text.len() > 1
                && text.starts_with(['-', '+'])
                && text[1..]
                    .bytes()
                    .all(|it| matches!(it, b'e' | b'u' | b'x' | b'f' | b'v' | b'o' | b'C'));
            if !is_plain {
                break;
            }
            n += 1;
            if text.ends_with('o') {
                match words.get(n).map(|it| it.text.as_str()) {
                    Some(
                        "pipefail" | "errexit" | "nounset" | "xtrace" | "noglob" | "noclobber",
                    ) => n += 1,
                    Some(_) | None => break,
                }
            }
        }
        if n == words.len() {
            return;
        }
        self.at_least(Risk::Run);
        let rest = &words[n..];
        if rest
            .first()
            .is_some_and(|it| it.text == "--" || !it.text.starts_with('-'))
        {
            let skip = usize::from(rest[0].text == "--");
            let mut arguments = vec![Word::of("sh")];
            arguments.extend_from_slice(&rest[skip..]);
            self.arguments = Some(arguments);
        }
    }

    fn read_names(&mut self, words: &[Word]) {
        for word in words {
            let text = word.text.as_str();
            if text.starts_with('-') {
                if text != "-r" && text != "-d" {
                    self.at_least(Risk::Run);
                }
                continue;
            }
            if !word.known || !super::assign::is_harmless_name(text) {
                if !text.is_empty() {
                    self.at_least(Risk::Run);
                }
                continue;
            }
            let taint = self.stdin.taint;
            self.set(
                text,
                super::word::Value {
                    taint,
                    ..super::word::Value::unknown()
                },
            );
        }
    }

    /// Any other program, as the table says.
    fn program(&mut self, name: &str, words: &[Word]) {
        let rest = &words[1..];
        let Some(known) = programs::known(name) else {
            self.at_least(Risk::Run);
            self.name_paths(rest);
            return;
        };
        let mut risk = filters::risk(name, words, known);
        // What is not known may be an option, or a file anywhere.
        let are_unclear = match known.arguments {
            Arguments::Text => known.has_doors && rest.iter().any(Word::may_be_option),
            Arguments::Paths | Arguments::TextThenPaths => {
                rest.iter().any(|it| !it.known)
                    || known.has_doors && rest.iter().any(Word::may_be_option)
            }
        };
        if are_unclear {
            risk = risk.max(Risk::Run);
        }
        self.at_least(risk);
        // These take with them what is in a folder.
        let takes = matches!(
            name,
            "rm" | "mv" | "rmdir" | "chmod" | "chown" | "chgrp" | "shred"
        );
        let deed = match risk {
            Risk::Read => Deed::Read,
            _ if takes => Deed::Remove,
            _ => Deed::Write,
        };
        if matches!(name, "find" | "fd" | "fdfind") {
            self.found(rest);
        }
        match name {
            "tee" => {
                for word in rest
                    .iter()
                    .filter(|it| !it.text.starts_with('-') || it.text == "-")
                {
                    self.write_to(word);
                }
            }
            "echo" | "printf" | "true" | "false" | ":" => {}
            "dd" => {
                for word in rest {
                    if let Some(path) = word.text.strip_prefix("of=") {
                        let path = Word {
                            text: path.to_owned(),
                            ..word.clone()
                        };
                        self.check(&path, Deed::Write);
                    } else if let Some(path) = word.text.strip_prefix("if=") {
                        let path = Word {
                            text: path.to_owned(),
                            ..word.clone()
                        };
                        self.check(&path, Deed::Read);
                    }
                }
            }
            // All but the last are only read.
            "cp" | "install"
                if !rest
                    .iter()
                    .any(|it| it.text.starts_with("-t") || it.text.starts_with("--t")) =>
            {
                let last = rest.len().saturating_sub(1);
                for (n, word) in rest.iter().enumerate() {
                    self.argument(word, if n == last { Deed::Write } else { Deed::Read });
                }
            }
            _ => {
                let skip = match known.arguments {
                    Arguments::Text => rest.len(),
                    Arguments::Paths => 0,
                    Arguments::TextThenPaths => filters::text_length(name, rest),
                };
                let mut n_texts = skip;
                for word in rest {
                    let is_option = word.text.len() > 1 && word.text.starts_with('-');
                    if n_texts > 0 && !is_option {
                        n_texts -= 1;
                        continue;
                    }
                    self.argument(word, deed);
                }
            }
        }
    }

    /// What `find` runs for each file.
    fn found(&mut self, words: &[Word]) {
        let marks = [
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-x",
            "-X",
            "--exec",
            "--exec-batch",
        ];
        let mut rest = words;
        while let Some(at) = rest.iter().position(|it| marks.contains(&it.text.as_str())) {
            rest = &rest[at + 1..];
            let end = rest
                .iter()
                .position(|it| matches!(it.text.as_str(), ";" | "+"));
            let inner: Vec<Word> = rest[..end.unwrap_or(rest.len())]
                .iter()
                .map(|it| match it.text.contains("{}") {
                    true => Word {
                        text: it.text.replace("{}", &format!("./{HOLE}")),
                        known: false,
                        ..it.clone()
                    },
                    false => it.clone(),
                })
                .collect();
            if self.step() {
                self.apart(|it| it.run(inner));
            }
        }
    }

    /// Paths among the arguments of a program that may do anything.
    pub fn name_paths(&mut self, words: &[Word]) {
        for word in words {
            self.argument(word, Deed::Read);
        }
    }

    /// An argument that may be a path, or hold one.
    pub fn argument(&mut self, word: &Word, deed: Deed) {
        let text = word.text.as_str();
        if matches!(text, "" | "-" | "--") {
            return;
        }
        if !text.starts_with('-') {
            self.check(word, deed);
        }
        // `--file=/etc/x`, `if=/dev/sda`, `-f/etc/x`.
        let mut inner: Vec<&str> = text.split_once('=').map(|it| it.1).into_iter().collect();
        if text.starts_with('-')
            && !text.starts_with("--")
            && let Some(at) = text.find(['/', '~'])
        {
            let from = if text[..at].ends_with("..") {
                at - 2
            } else {
                at
            };
            inner.push(&text[from..]);
        }
        // Paths behind a colon, as lists and containers have them.
        inner.extend(text.split(':').skip(1).filter(|it| !it.starts_with("//")));
        for path in inner {
            let is_path = path.starts_with('/')
                || path.starts_with("~/")
                || path.starts_with("../")
                || path == "..";
            if is_path && path.len() > 1 {
                let text = match path.strip_prefix('~') {
                    Some(rest) => super::place::home(self.around) + rest,
                    None => path.to_owned(),
                };
                self.check(
                    &Word {
                        text,
                        ..word.clone()
                    },
                    deed,
                );
            }
        }
    }
}
