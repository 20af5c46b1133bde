//! Where a path lies, told from its text alone: no file is looked at, so links are not followed.

use super::Surroundings;
use super::word::HOLE;
use std::path::{Path, PathBuf};

/// Where a home folder lies that nobody has named.
const SOME_HOME: &str = "/~home";

/// Folders of the system, right under the root. Removing one, or writing into one, is never an accident to approve.
const SYSTEM: &[&str] = &[
    "etc",
    "usr",
    "bin",
    "sbin",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "boot",
    "dev",
    "proc",
    "sys",
    "var",
    "opt",
    "root",
    "home",
    "run",
    "System",
    "Library",
    "Applications",
    "Users",
    "Volumes",
    "private",
];

/// Folders of the system that nothing is redirected into.
const SYSTEM_WRITES: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/boot",
    "/dev",
    "/proc",
    "/sys",
    "/var/spool/cron",
    "/private/etc",
    "/System",
    "/Library/LaunchDaemons",
    "/Library/LaunchAgents",
];

/// Files in the home folder that a shell or a session runs at its start.
const START_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".inputrc",
    ".config/fish/config.fish",
    ".config/fish/conf.d",
    ".config/autostart",
    ".config/systemd",
    "Library/LaunchAgents",
];

/// Devices that hold nothing and reach nothing.
const HARMLESS: &[&str] = &[
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Read,
    Write,
    /// Deletes or moves it, and with it what is in it.
    Remove,
}

pub fn home(around: &Surroundings) -> String {
    match &around.home {
        Some(home) => home.to_string_lossy().into_owned(),
        None => SOME_HOME.to_owned(),
    }
}

/// A path in full, without `.` and `..`. A name that a mark may turn into `..` counts as one.
pub fn resolve(cwd: &Path, text: &str, is_glob: bool) -> PathBuf {
    let whole = if text.starts_with('/') {
        text.to_owned()
    } else {
        format!("{}/{text}", cwd.to_string_lossy())
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            mark if is_glob && mark.starts_with('.') && matches(mark, "..") => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    PathBuf::from(format!("/{}", parts.join("/")))
}

fn parts(path: &Path) -> Vec<String> {
    path.to_string_lossy()
        .split('/')
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

pub fn is_harmless(path: &Path) -> bool {
    let text = path.to_string_lossy();
    HARMLESS.contains(&&*text)
        || text.starts_with("/dev/fd/")
            && text["/dev/fd/".len()..]
                .bytes()
                .all(|it| it.is_ascii_digit())
}

/// Whether a path lies in one of the session's folders.
pub fn is_inside(around: &Surroundings, path: &Path) -> bool {
    around
        .roots
        .iter()
        .chain(&around.scratchpad)
        .any(|it| path.starts_with(it))
}

/// Whether a path, marks in it taken as patterns, is in what no line may change, or holds it. A name of which nothing
/// is known could be any: that alone says nothing.
pub fn is_protected(around: &Surroundings, path: &Path, deed: Deed) -> bool {
    let path = parts(path);
    around.protected.iter().any(|it| {
        let kept = parts(it);
        let is_known = |name: &String| name.chars().any(|it| it != HOLE);
        let mut both = path.iter().zip(&kept);
        let is_same = both.all(|(a, b)| is_known(a) && is_alike(a, b));
        is_same && (path.len() >= kept.len() || deed == Deed::Remove)
    })
}

/// Whether a path is the root, a home folder, a folder of the system or one that holds such: what `rm -r` never gets.
pub fn is_root(around: &Surroundings, cwd: &Path, text: &str, is_glob: bool) -> bool {
    if let Some(drive) = text.strip_suffix(['/', '\\']).or(Some(text))
        && drive.len() == 2
        && drive.ends_with(':')
        && drive.starts_with(|it: char| it.is_ascii_alphabetic())
    {
        return true;
    }
    let judged = |text: &str| {
        let path = resolve(cwd, text, false);
        let mut names = parts(&path);
        while names.last().is_some_and(|it| is_any(it)) {
            names.pop();
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let fits = |pattern: &str, name: &str| pattern == name || is_glob && matches(pattern, name);
        let home = parts(Path::new(&home(around)));
        let holds_home =
            names.len() <= home.len() && names.iter().zip(&home).all(|(a, b)| fits(a, b));
        match names.as_slice() {
            [] => true,
            _ if holds_home => true,
            [top] => SYSTEM.iter().any(|it| fits(top, it)),
            [top, _] => fits(top, "usr") && !is_inside(around, &path),
            _ => false,
        }
    };
    // What is not known may be empty: `rm -rf /$gone`.
    judged(text) || text.starts_with('/') && text.contains(HOLE) && judged(&text.replace(HOLE, ""))
}

/// A last name that stands for all there is.
fn is_any(name: &str) -> bool {
    matches!(
        name,
        "*" | "**" | ".*" | "?*" | "*.*" | ".??*" | ".[!.]*" | "[!.]*"
    )
}

/// What a text that is redirected to this path would spoil, if anything.
pub fn is_sensitive(around: &Surroundings, path: &Path) -> bool {
    if is_harmless(path) || path.starts_with("/dev/shm") || path.starts_with("/dev/pts") {
        return false;
    }
    if path.components().any(|it| it.as_os_str() == ".ssh") {
        return true;
    }
    let home = home(around);
    if START_FILES
        .iter()
        .any(|it| path.starts_with(Path::new(&home).join(it)))
    {
        return true;
    }
    if is_inside(around, path) {
        return false;
    }
    let name = path.file_name().unwrap_or_default();
    SYSTEM_WRITES.iter().any(|it| path.starts_with(it))
        || START_FILES
            .iter()
            .any(|it| Path::new(it) == Path::new(name))
}

/// Whether a file is one that a shell or a session starts with, or what lets others in, by its name alone: whose home it
/// lies in is not known.
pub fn is_start_file(path: &Path) -> bool {
    path.components().any(|it| it.as_os_str() == ".ssh")
        || START_FILES
            .iter()
            .any(|it| path.ancestors().any(|at| at.ends_with(it)))
}

/// Two names, the first perhaps with marks. Case counts for nothing: on many disks it does not.
fn is_alike(pattern: &str, name: &str) -> bool {
    pattern.eq_ignore_ascii_case(name) || matches(&pattern.to_lowercase(), &name.to_lowercase())
}

/// Whether a pattern of a shell may find a name: `*`, `?`, `[…]`, and a hole like `*`.
pub fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some('*' | &HOLE) => {
                back = Some((p, n));
                p += 1;
                continue;
            }
            Some('?') => Some(p + 1),
            // What a class holds is not looked at: it may be this one.
            Some('[') => match pattern[p..].iter().skip(2).position(|it| *it == ']') {
                Some(length) => Some(p + length + 3),
                None => (name[n] == '[').then_some(p + 1),
            },
            Some(it) => (*it == name[n]).then_some(p + 1),
            None => None,
        };
        match (step, back) {
            (Some(next), _) => {
                p = next;
                n += 1;
            }
            (None, Some((star, from))) => {
                p = star + 1;
                n = from + 1;
                back = Some((star, n));
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|it| matches!(it, '*' | &HOLE))
}
