//! One command: what runs in the end, behind the programs that run others, and what it may do.

use super::forbidden;
use super::place::Deed;
use super::programs;
use super::reader::{Feed, Reader};
use super::word::{HOLE, Word};
use super::{git, installs, wrappers};
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
        let at = match wrappers::inner(self, name, words)? {
            wrappers::Inner::At(at) => at,
            wrappers::Inner::Words(inner) => return Some(self.behind(&inner, n_behind + 1)),
            wrappers::Inner::Script(script) => return Some(self.apart(|it| it.nested(&script))),
            wrappers::Inner::Nothing => return Some(Feed::default()),
        };
        let inner = words.get(at..).unwrap_or_default().to_vec();
        Some(self.behind(&inner, n_behind + 1))
    }
}
