//! Programs by name: those that only read, those that change files in a known way, those that run others.

use super::command::name_of;
use super::reader::Reader;
use super::word::{HOLE, Taint, Word};
use protocol::tool::Risk;

/// What is known of a program.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub risk: Risk,
    pub arguments: Arguments,
    /// Some options of it write or run something: `filters.rs` knows them.
    pub has_doors: bool,
}

/// What its arguments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// No paths.
    Text,
    Paths,
    /// First a pattern or a program, then paths.
    TextThenPaths,
}

/// They read, whatever their options are, and their arguments are paths.
const READERS: &[&str] = &[
    "cat",
    "tac",
    "head",
    "tail",
    "wc",
    "nl",
    "od",
    "hexdump",
    "hd",
    "cut",
    "rev",
    "fold",
    "expand",
    "unexpand",
    "paste",
    "comm",
    "join",
    "cmp",
    "ls",
    "dir",
    "vdir",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "stat",
    "du",
    "df",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "cksum",
    "sum",
    "strings",
    "test",
    "[",
    "column",
    "fmt",
    "tsort",
    "namei",
    "pathchk",
    "lsblk",
    "shasum",
    "md5",
    "zcat",
    "bzcat",
    "xzcat",
    "nm",
    "size",
];

/// They read, and what they are given is no path.
const TALKERS: &[&str] = &[
    "echo", "pwd", "true", "false", ":", "tr", "id", "whoami", "groups", "uptime", "arch", "nproc",
    "free", "ps", "pgrep", "uname", "locale", "getconf", "tty", "seq", "sleep", "which", "type",
    "whereis", "wait", "exit", "return", "break", "continue", "expr", "factor", "numfmt", "users",
    "logname", "cal", "times", "printenv",
];

/// They read unless an option says otherwise.
const WITH_DOORS: &[(&str, Arguments)] = &[
    ("sort", Arguments::Paths),
    ("uniq", Arguments::Paths),
    ("find", Arguments::Paths),
    ("fd", Arguments::TextThenPaths),
    ("fdfind", Arguments::TextThenPaths),
    ("tree", Arguments::Paths),
    ("rg", Arguments::TextThenPaths),
    ("grep", Arguments::TextThenPaths),
    ("egrep", Arguments::TextThenPaths),
    ("fgrep", Arguments::TextThenPaths),
    ("awk", Arguments::TextThenPaths),
    ("gawk", Arguments::TextThenPaths),
    ("mawk", Arguments::TextThenPaths),
    ("nawk", Arguments::TextThenPaths),
    ("sed", Arguments::TextThenPaths),
    ("gsed", Arguments::TextThenPaths),
    ("jq", Arguments::TextThenPaths),
    ("yq", Arguments::TextThenPaths),
    ("date", Arguments::Text),
    ("file", Arguments::Paths),
    ("diff", Arguments::Paths),
    ("xxd", Arguments::Paths),
    ("printf", Arguments::Text),
    ("hostname", Arguments::Text),
    ("base64", Arguments::Paths),
    ("tar", Arguments::Paths),
];

/// They change files, those that they are told.
const CHANGERS: &[&str] = &[
    "mkdir",
    "rmdir",
    "touch",
    "cp",
    "mv",
    "rm",
    "unlink",
    "ln",
    "link",
    "chmod",
    "chown",
    "chgrp",
    "truncate",
    "install",
    "mktemp",
    "tee",
    "dd",
    "gzip",
    "gunzip",
    "bzip2",
    "bunzip2",
    "xz",
    "unxz",
    "zstd",
    "unzip",
    "shred",
    "split",
    "csplit",
    "sync",
    "fallocate",
    "mkfifo",
    "setfacl",
];

/// They talk to other machines.
pub const NETWORK: &[&str] = &[
    "curl",
    "wget",
    "wget2",
    "aria2c",
    "http",
    "https",
    "httpie",
    "xh",
    "curlie",
    "fetch",
    "lynx",
    "links",
    "w3m",
    "elinks",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "rclone",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
    "ftp",
    "lftp",
    "tftp",
    "ping",
    "ping6",
    "traceroute",
    "tracepath",
    "mtr",
    "dig",
    "nslookup",
    "host",
    "whois",
    "nmap",
    "gh",
    "glab",
    "hub",
    "aws",
    "gcloud",
    "gsutil",
    "az",
    "kubectl",
    "helm",
    "heroku",
    "vercel",
    "netlify",
    "fly",
    "flyctl",
    "doctl",
    "terraform",
    "ansible",
    "ansible-playbook",
    "mosh",
    "autossh",
    "ssh-copy-id",
    "openssl",
    "s3cmd",
    "psql",
    "mysql",
    "mongosh",
    "redis-cli",
    "mail",
    "sendmail",
    "msmtp",
    "git-lfs",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "lwp-request",
    "lwp-download",
    "GET",
    "POST",
    "sshpass",
    "rsh",
    "rlogin",
    "ngrok",
    "cloudflared",
    "axel",
];

/// Their output is what another machine says.
const DOWNLOADS: &[&str] = &[
    "curl",
    "wget",
    "wget2",
    "aria2c",
    "http",
    "https",
    "httpie",
    "xh",
    "curlie",
    "fetch",
    "lynx",
    "links",
    "w3m",
    "elinks",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
    "ftp",
    "lftp",
    "tftp",
    "lwp-request",
    "GET",
    "POST",
    "axel",
    "ssh",
    "scp",
    "sftp",
    "rsh",
    "gh",
    "dig",
    "nslookup",
    "host",
];

pub fn known(name: &str) -> Option<Known> {
    let of = |risk, arguments, has_doors| {
        Some(Known {
            risk,
            arguments,
            has_doors,
        })
    };
    if READERS.contains(&name) {
        return of(
            Risk::Read,
            Arguments::Paths,
            matches!(name, "test" | "[" | "nm" | "size" | "strings"),
        );
    }
    if TALKERS.contains(&name) {
        return of(Risk::Read, Arguments::Text, false);
    }
    if let Some((_, arguments)) = WITH_DOORS.iter().find(|it| it.0 == name) {
        // GNU's grep has none, but `-f` and a pattern that is not known count as one.
        return of(
            Risk::Read,
            *arguments,
            !matches!(name, "grep" | "egrep" | "fgrep"),
        );
    }
    if CHANGERS.contains(&name) {
        return of(Risk::Change, Arguments::Paths, true);
    }
    if NETWORK.contains(&name) {
        return of(Risk::Network, Arguments::Paths, true);
    }
    None
}

/// What a program's output is, whatever it reads.
pub fn taint(name: &str, words: &[Word]) -> Taint {
    if DOWNLOADS.contains(&name) {
        return Taint::Downloaded;
    }
    let has = |wanted: &[&str]| {
        words[1..]
            .iter()
            .any(|it| wanted.contains(&it.text.as_str()))
    };
    let has_letter = |letters: &[char]| {
        words[1..].iter().any(|it| {
            it.text.starts_with('-') && !it.text.starts_with("--") && it.text.contains(letters)
        })
    };
    let decodes = match name {
        "base64" | "base32" | "basenc" | "gbase64" => {
            has_letter(&['d', 'D']) || words[1..].iter().any(|it| it.text.starts_with("--d"))
        }
        "openssl" => has(&["enc", "base64", "-d", "-base64", "-a"]),
        "xxd" => has_letter(&['r']),
        "uudecode" | "b64decode" => true,
        _ => false,
    };
    if decodes { Taint::Decoded } else { Taint::None }
}

/// `python3 --version`.
pub fn is_version(words: &[Word]) -> bool {
    words.len() == 2 && words[1].known && matches!(words[1].text.as_str(), "--version" | "-V")
}

/// What a command that runs another runs.
pub enum Inner {
    /// The words from here on.
    At(usize),
    Words(Vec<Word>),
    Script(String),
    /// It runs none: `env` alone prints.
    Nothing,
}

/// Letters of options that take a word of their own.
fn skip_options(words: &[Word], with_value: &str, long_with_value: &[&str]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            return at + 1;
        }
        if !text.starts_with('-') || text.len() < 2 {
            return at;
        }
        at += 1;
        if text.starts_with("--") {
            if long_with_value.contains(&text) {
                at += 1;
            }
        } else if let Some(letter) = text[1..].find(|it| with_value.contains(it))
            && letter + 2 == text.len()
        {
            at += 1;
        }
    }
    at
}

/// Looks through a program that only runs another. None: it is no such program.
pub fn inner(reader: &mut Reader<'_>, name: &str, words: &[Word]) -> Option<Inner> {
    let mut raise = |risk| reader.at_least(risk);
    let at = match name {
        "env" => return Some(env(reader, words)),
        "command" => {
            let is_question = words.get(1).is_some_and(|it| {
                it.known && matches!(it.text.as_str(), "-v" | "-V" | "-pv" | "-pV")
            });
            if is_question {
                return Some(Inner::Nothing);
            }
            skip_options(words, "", &[])
        }
        "builtin" => 1,
        "exec" => skip_options(words, "a", &[]),
        "nice" => skip_options(words, "n", &["--adjustment"]),
        "nohup" => {
            // It may write `nohup.out`.
            raise(Risk::Change);
            1
        }
        "setsid" => skip_options(words, "", &[]),
        "stdbuf" => skip_options(words, "ioe", &["--input", "--output", "--error"]),
        "time" => {
            let at = skip_options(words, "fo", &["--format", "--output"]);
            if words[1..at].iter().any(|it| it.text != "-p") {
                raise(Risk::Run);
            }
            at
        }
        "timeout" | "gtimeout" => skip_options(words, "ks", &["--kill-after", "--signal"]) + 1,
        "ionice" => skip_options(words, "cnp", &["--class", "--classdata"]),
        "not" | "!" | "then" | "do" | "else" | "{" | "}" | "coproc" => {
            raise(Risk::Run);
            1
        }
        "busybox" | "toybox" => {
            raise(Risk::Run);
            1
        }
        "xargs" | "gxargs" => return Some(xargs(reader, words)),
        "sudo" | "doas" | "pkexec" | "sudoedit" | "gosu" | "run0" => {
            raise(Risk::Machine);
            let mut at = skip_options(
                words,
                "ugpCThDRrUt",
                &[
                    "--user",
                    "--group",
                    "--prompt",
                    "--chdir",
                    "--host",
                    "--role",
                    "--type",
                    "--other-user",
                    "--chroot",
                ],
            );
            while words.get(at).is_some_and(|it| is_setting(&it.text)) {
                at += 1;
            }
            at
        }
        "su" | "runuser" => {
            raise(Risk::Machine);
            let is_script = |it: &Word| {
                it.text == "--command"
                    || it.text.starts_with('-')
                        && !it.text.starts_with("--")
                        && it.text.ends_with('c')
            };
            if let Some(at) = words.iter().position(is_script)
                && let Some(script) = words.get(at + 1)
            {
                reader.forbid_tainted(script.taint);
                return Some(Inner::Script(script.text.clone()));
            }
            if let Some(script) = words
                .iter()
                .find_map(|it| it.text.strip_prefix("--command="))
            {
                return Some(Inner::Script(script.to_owned()));
            }
            match (name, words.iter().position(|it| it.text == "--")) {
                ("runuser", Some(at)) => at + 1,
                _ => return Some(Inner::Nothing),
            }
        }
        // Programs whose own words cannot be told from those of the command they run.
        "chroot" | "unshare" | "nsenter" | "strace" | "ltrace" | "valgrind" | "watch"
        | "parallel" | "flock" | "script" | "systemd-run" | "firejail" | "bwrap" | "proot"
        | "fakeroot" | "catchsegv" | "eatmydata" | "torsocks" | "proxychains" | "proxychains4"
        | "dbus-run-session" | "xvfb-run" | "setarch" | "linux64" | "linux32" | "prlimit"
        | "numactl" | "setpriv" | "start-stop-daemon" | "taskset" | "chrt" | "unbuffer"
        | "faketime" | "caffeinate" | "entr" | "watchexec" | "hyperfine" | "perf" | "gdb"
        | "at" | "batch" | "ts" | "expect" | "rlwrap" | "dotenv" | "direnv" | "daemonize"
        | "capsh" | "arch-chroot" | "choom" | "cpulimit" | "trickle" | "ltrunc" => {
            raise(Risk::Run);
            guess(reader, words);
            return Some(Inner::Nothing);
        }
        _ => return None,
    };
    if at >= words.len() {
        return Some(Inner::Nothing);
    }
    Some(Inner::At(at))
}

/// `NAME=value`.
fn is_setting(text: &str) -> bool {
    let length = super::expand::name_length(text);
    length > 0 && text[length..].starts_with('=')
}

/// `env A=1 -i -C folder program`.
fn env(reader: &mut Reader<'_>, words: &[Word]) -> Inner {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        at += 1;
        if is_setting(text) {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let value = super::word::Value {
                text: value.to_owned(),
                sure: word.known,
                taint: word.taint,
            };
            if !super::assign::is_look(name, &value) {
                reader.at_least(Risk::Run);
            }
            continue;
        }
        match text {
            "-" | "-i" | "-0" | "--null" | "--ignore-environment" | "-v" | "--" => {}
            "-u" | "--unset" => {
                at += 1;
                reader.at_least(Risk::Run);
            }
            "-C" | "--chdir" => {
                match words.get(at) {
                    Some(to) => reader.change_folder(to),
                    None => reader.unreadable(),
                }
                reader.at_least(Risk::Run);
                at += 1;
            }
            _ if text.starts_with("-S")
                || text.starts_with("--split-string")
                || text.starts_with("-vS") =>
            {
                reader.at_least(Risk::Run);
                let own = text
                    .strip_prefix("-S")
                    .or_else(|| text.strip_prefix("-vS"))
                    .or_else(|| text.strip_prefix("--split-string="))
                    .unwrap_or_default();
                let mut script = own.to_owned();
                for word in &words[at..] {
                    script.push(' ');
                    script.push_str(&word.text);
                }
                return Inner::Script(script);
            }
            _ if text.starts_with('-') => reader.at_least(Risk::Run),
            _ => return Inner::At(at - 1),
        }
    }
    // It prints the environment.
    Inner::Nothing
}

fn xargs(reader: &mut Reader<'_>, words: &[Word]) -> Inner {
    reader.at_least(Risk::Run);
    let at = skip_options(
        words,
        "aEdILnPs",
        &[
            "--arg-file",
            "--delimiter",
            "--max-lines",
            "--max-args",
            "--max-procs",
            "--max-chars",
            "--replace",
            "--process-slot-var",
        ],
    );
    let Some(program) = words.get(at) else {
        return Inner::Nothing;
    };
    // What comes through the pipe is appended, or put where a mark is.
    let given = reader.stdin.clone();
    let appended = match &given.text {
        Some(text) => text.split_whitespace().map(Word::of).collect(),
        None => vec![Word {
            taint: given.taint,
            ..Word::unknown()
        }],
    };
    let mut mark = None;
    for (n, word) in words[..at].iter().enumerate() {
        match word.text.as_str() {
            "-I" | "--replace" => mark = words.get(n + 1).map(|it| it.text.clone()),
            "-i" => mark = Some("{}".to_owned()),
            text if text.starts_with("-I") => mark = Some(text[2..].to_owned()),
            _ => {}
        }
    }
    let is_shell = super::command::last_part(name_of(&program.text)).ends_with("sh");
    let mut inner: Vec<Word> = words[at..].to_vec();
    match mark.filter(|it| !it.is_empty()) {
        Some(mark) => {
            let whole: Vec<&str> = appended.iter().map(|it: &Word| it.text.as_str()).collect();
            let whole = whole.join(" ");
            for word in &mut inner {
                if word.text.contains(&mark) {
                    word.text = word.text.replace(&mark, &whole);
                    word.known &= !whole.contains(HOLE);
                    word.taint = word.taint.max(given.taint);
                }
            }
        }
        None if is_shell
            && inner.len() > 1
            && inner.last().is_some_and(|it| it.text.ends_with('c')) =>
        {
            // `xargs sh -c` runs each line.
            inner.extend(appended);
        }
        None => inner.extend(appended),
    }
    Inner::Words(inner)
}

/// Tries each word as the beginning of a command, for what is forbidden; how they are rated is known already.
fn guess(reader: &mut Reader<'_>, words: &[Word]) {
    let names = [
        "rm", "dd", "chmod", "chown", "chgrp", "sh", "bash", "zsh", "dash", "git", "sudo", "env",
        "tee", "find", "nc", "ncat",
    ];
    for at in 1..words.len().min(24) {
        let name = super::command::last_part(&words[at].text);
        if names.contains(&name) || name.starts_with("mkfs") {
            let inner = words[at..].to_vec();
            if reader.step() {
                reader.apart(|it| it.run(inner));
            }
            return;
        }
        // A script in one word.
        if words[at].text.contains(' ') {
            let script = words[at].text.clone();
            reader.apart(|it| it.nested(&script));
        }
    }
}
