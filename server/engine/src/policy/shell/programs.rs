//! Programs by name: those that only read, those that change files in a known way, those that run others.

use super::word::{Taint, Word};
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
    ("fd", Arguments::Paths),
    ("fdfind", Arguments::Paths),
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

/// They talk to other machines, beside [`DOWNLOADS`].
const NETWORK: &[&str] = &[
    "rsync",
    "rclone",
    "ping",
    "ping6",
    "traceroute",
    "tracepath",
    "mtr",
    "whois",
    "nmap",
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
    "lwp-download",
    "sshpass",
    "rlogin",
    "ngrok",
    "cloudflared",
];

/// They talk to other machines, and their output is what those say.
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

/// Whether a program talks to other machines.
pub fn is_network(name: &str) -> bool {
    NETWORK.contains(&name) || DOWNLOADS.contains(&name)
}

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
    if is_network(name) {
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
