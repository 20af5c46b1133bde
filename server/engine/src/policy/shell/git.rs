//! git: which of its commands only look.

use super::place::Deed;
use super::reader::Reader;
use super::word::Word;
use protocol::tool::Risk;

/// Options before the command that take a word of their own.
const WITH_WORD: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];

/// They look, with options that are checked below.
const LOOKS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "shortlog",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "blame",
    "annotate",
    "describe",
    "name-rev",
    "merge-base",
    "for-each-ref",
    "show-ref",
    "count-objects",
    "check-ignore",
    "check-attr",
    "grep",
    "whatchanged",
    "cherry",
    "diff-tree",
    "diff-index",
    "diff-files",
    "version",
    "var",
    "cat-file",
    "range-diff",
    "show-branch",
    "check-ref-format",
    "merge-tree",
    "get-tar-commit-id",
    "verify-pack",
    "ls-remote",
];

/// They change files of the project or of its repository, and run nothing that the repository brings.
const CHANGES: &[&str] = &[
    "add",
    "mv",
    "rm",
    "restore",
    "reset",
    "stash",
    "tag",
    "branch",
    "init",
    "clean",
    "reflog",
    "notes",
    "worktree",
    "remote",
    "config",
    "symbolic-ref",
    "update-index",
    "read-tree",
];

const NETWORK: &[&str] = &[
    "fetch",
    "pull",
    "push",
    "clone",
    "ls-remote",
    "submodule",
    "send-email",
    "fetch-pack",
    "send-pack",
    "request-pull",
    "svn",
    "p4",
    "lfs",
    "remote-http",
    "remote-https",
    "daemon",
    "http-fetch",
    "http-push",
    "archive-remote",
];

/// Options of looking commands that write a file or run a program. Git takes them shortened.
const DOORS: &[&str] = &[
    "--output",
    "--ext-diff",
    "--open-files-in-pager",
    "--show-signature",
    "--filters",
    "--textconv",
    "--upload-pack",
    "--exec",
    "--paginate",
    "--output-directory",
    "--contents",
    "--help",
];

/// Where the command stands among git's words.
pub fn subcommand(rest: &[Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        if !word.text.starts_with('-') {
            return Some(at);
        }
        at += 1 + usize::from(WITH_WORD.contains(&word.text.as_str()));
    }
    None
}

pub fn git(reader: &mut Reader<'_>, words: &[Word]) {
    let rest = &words[1..];
    let Some(at) = subcommand(rest) else {
        let is_question = rest.len() == 1 && matches!(rest[0].text.as_str(), "--version" | "-v");
        return reader.at_least(if is_question { Risk::Read } else { Risk::Run });
    };
    // Its settings may name a program to watch files, to show them, to filter them, to fetch what is missing.
    reader.steered = true;
    let cwds = reader.cwds.clone();
    let mut n = 0;
    while n < at {
        match rest[n].text.as_str() {
            "-C" => {
                if let Some(to) = rest.get(n + 1) {
                    reader.change_folder(&to.clone());
                    reader.cwds = reader.reached.take().unwrap_or_default();
                }
                n += 1;
            }
            "--no-pager"
            | "-P"
            | "--literal-pathspecs"
            | "--no-optional-locks"
            | "--icase-pathspecs" => {}
            _ => reader.at_least(Risk::Run),
        }
        n += 1;
    }
    if rest[..at].iter().any(|it| !it.known) || !rest[at].known || rest[at].from_value {
        reader.at_least(Risk::Run);
    }
    let name = rest[at].text.clone();
    let rest = &rest[at + 1..];
    let risk = risk(&name, rest);
    reader.at_least(risk);
    let deed = match (risk, name.as_str()) {
        (Risk::Read, _) => Deed::Read,
        (_, "rm" | "mv" | "clean" | "restore") => Deed::Remove,
        _ => Deed::Write,
    };
    let is_pattern = |n: usize| name == "grep" && n == 0;
    let mut n_texts = 0;
    let mut is_message = false;
    for word in rest {
        let is_option = word.text.starts_with('-');
        if std::mem::take(&mut is_message) {
            continue;
        }
        is_message = matches!(
            word.text.as_str(),
            "-m" | "-am"
                | "--message"
                | "-S"
                | "-G"
                | "--grep"
                | "--author"
                | "--format"
                | "--pretty"
        );
        if !is_option && is_pattern(n_texts) {
            n_texts += 1;
            continue;
        }
        reader.argument(word, deed);
    }
    reader.cwds = cwds;
    reader.reached = None;
}

/// What one of git's commands may do with these words.
pub fn risk(name: &str, rest: &[Word]) -> Risk {
    if NETWORK.contains(&name) {
        return Risk::Network;
    }
    let text = |n: usize| rest.get(n).map_or("", |it| it.text.as_str());
    let are_known = rest.iter().all(|it| it.known);
    let plain: Vec<&str> = rest
        .iter()
        .map(|it| it.text.as_str())
        .filter(|it| !it.starts_with('-'))
        .collect();
    let only = |allowed: &[&str]| {
        rest.iter().all(|it| {
            let name = it.text.split('=').next().unwrap_or_default();
            !it.text.starts_with('-') || allowed.contains(&name)
        })
    };
    let looks = match name {
        "cat-file" => true,
        _ if LOOKS.contains(&name) => true,
        "branch" => {
            let listing = [
                "-l",
                "--list",
                "--contains",
                "--no-contains",
                "--merged",
                "--no-merged",
                "--points-at",
            ];
            let is_listing = rest
                .iter()
                .any(|it| listing.contains(&it.text.split('=').next().unwrap_or_default()));
            (plain.is_empty() || is_listing)
                && only(&[
                    "-a",
                    "-r",
                    "-v",
                    "-vv",
                    "--all",
                    "--remotes",
                    "--verbose",
                    "--show-current",
                    "-l",
                    "--list",
                    "--contains",
                    "--no-contains",
                    "--merged",
                    "--no-merged",
                    "--points-at",
                    "--format",
                    "--sort",
                    "--color",
                    "--no-color",
                    "--column",
                    "--no-column",
                    "-i",
                    "--ignore-case",
                    "--abbrev",
                ])
        }
        "tag" => {
            let is_listing = rest.iter().any(|it| {
                matches!(
                    it.text.split('=').next(),
                    Some("-l" | "--list" | "--contains" | "--points-at" | "--merged")
                )
            });
            (plain.is_empty() || is_listing)
                && only(&[
                    "-l",
                    "--list",
                    "-n",
                    "--contains",
                    "--no-contains",
                    "--merged",
                    "--no-merged",
                    "--points-at",
                    "--sort",
                    "--format",
                    "--column",
                ])
        }
        "remote" => match text(0) {
            "" | "-v" | "--verbose" => rest.len() <= 1,
            "get-url" => true,
            _ => false,
        },
        "stash" => matches!(text(0), "list" | "show"),
        "worktree" | "notes" => matches!(text(0), "list"),
        "reflog" => matches!(text(0), "" | "show" | "exists") || text(0).starts_with("HEAD"),
        "config" => {
            matches!(
                text(0),
                "--get"
                    | "--get-all"
                    | "--get-regexp"
                    | "--list"
                    | "-l"
                    | "get"
                    | "list"
                    | "--show-origin"
            ) && only(&[
                "--get",
                "--get-all",
                "--get-regexp",
                "--list",
                "-l",
                "--show-origin",
                "--show-scope",
                "--local",
                "--global",
                "--system",
                "-z",
                "--name-only",
                "--type",
                "--bool",
                "--int",
            ])
        }
        "symbolic-ref" => plain.len() == 1 && only(&["-q", "--short", "--quiet"]),
        "submodule" => false,
        _ => false,
    };
    if looks {
        let opens = |it: &Word| {
            let text = it.text.as_str();
            let long = text.split('=').next().unwrap_or_default();
            long.len() > 2 && long.starts_with("--") && DOORS.iter().any(|it| it.starts_with(long))
                || text.contains("%G")
                || name == "grep" && text.starts_with("-O")
                || text == "-h" && name != "grep" && name != "ls-files"
        };
        // An option that nobody sees may be one of them; everything else that is unknown is a name.
        if rest.iter().any(opens) || !are_known || rest.iter().any(Word::may_be_option) {
            return Risk::Run;
        }
        if name == "var"
            || name == "merge-tree"
            || name == "rev-parse" && rest.iter().any(|it| it.text == "--parseopt")
        {
            return Risk::Run;
        }
        return Risk::Read;
    }
    if !are_known {
        return Risk::Run;
    }
    // Signing runs a program, and so does what asks.
    let runs = |it: &Word| {
        matches!(
            it.text.as_str(),
            "-s" | "-u"
                | "--sign"
                | "-e"
                | "--edit"
                | "-p"
                | "--patch"
                | "-i"
                | "--interactive"
                | "--edit-description"
                | "--exec"
                | "--template"
        ) || it.text.starts_with("--template=")
    };
    if CHANGES.contains(&name) && !rest.iter().any(runs) {
        return match (name, text(0)) {
            // Other settings may name programs.
            ("config", _) => Risk::Run,
            ("worktree", "add") | ("remote", "update" | "prune" | "show") | ("notes", _) => {
                Risk::Run
            }
            _ => Risk::Change,
        };
    }
    Risk::Run
}
