//! What a project's git repository has committed, read by git itself.
//!
//! A repository comes from anywhere, and its configuration can name programs. What is asked here runs none of them:
//! no hook, no filter, no pager, no transport.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A work tree and where its repository lies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    pub root: PathBuf,
    folder: PathBuf,
}

/// Another one means that `HEAD` may have moved.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Head {
    text: Vec<u8>,
    times: Vec<Option<(i64, i64)>>,
}

impl Repository {
    /// The one whose work tree has this file.
    pub fn of(file: &Path) -> Option<Self> {
        let root = file
            .ancestors()
            .skip(1)
            .find(|it| it.join(".git").symlink_metadata().is_ok())?;
        let git = root.join(".git");
        let folder = match git.is_dir() {
            true => git,
            // A linked work tree says where its part of the repository is.
            false => {
                let text = small(&git)?;
                let text = String::from_utf8(text).ok()?;
                root.join(text.strip_prefix("gitdir:")?.trim())
            }
        };
        let root = root.to_path_buf();
        Some(Self { root, folder })
    }

    /// Costs a few looks at files and starts nothing.
    pub fn head(&self) -> Head {
        let text = small(&self.folder.join("HEAD")).unwrap_or_default();
        let common = small(&self.folder.join("commondir"))
            .and_then(|it| String::from_utf8(it).ok())
            .map_or_else(|| self.folder.clone(), |it| self.folder.join(it.trim()));
        let branch = std::str::from_utf8(&text).ok();
        let branch = branch.and_then(|it| it.strip_prefix("ref:"));
        let branch = branch.map(|it| common.join(it.trim()));
        let files = [
            Some(self.folder.join("index")),
            branch,
            Some(common.join("packed-refs")),
        ];
        let times = files.into_iter().flatten().map(|it| {
            let meta = fs::metadata(it).ok()?;
            Some((meta.mtime(), meta.mtime_nsec()))
        });
        let times = times.collect();
        Head { text, times }
    }
}

fn small(path: &Path) -> Option<Vec<u8>> {
    crate::regular::read_capped(path, 4096).ok().flatten()
}

/// The text of a file as it was committed last; `None` where there is none, git is missing or it takes too long.
pub async fn committed(file: &Path, limit: u64) -> Option<Vec<u8>> {
    let mut object = OsString::from("HEAD:./");
    object.push(file.file_name()?);
    let arguments = ["cat-file".into(), "blob".into(), object];
    said(file.parent()?, &arguments, limit).await
}

/// Whether git keeps a file with `\n` where the work tree has `\r\n`: by its attributes, or else by
/// `core.autocrlf`. No where git does not say.
pub async fn keeps_plain(file: &Path) -> bool {
    keeps(file).await.unwrap_or(false)
}

/// What a work tree has changed since its last commit, and which files are new, by their names; `None` where there is
/// no repository, git is missing or it takes too long. `limit` in bytes.
pub async fn changes(folder: &Path, limit: u64) -> Option<String> {
    // A filter is a program that the repository's configuration names; with an empty one git runs none.
    let arguments = ["config", "-z", "--name-only", "--get-regexp", "^filter\\."];
    let filters = said(folder, &arguments.map(OsString::from), SMALL)
        .await
        .unwrap_or_default();
    let filters = String::from_utf8(filters).ok()?;
    let mut keys: Vec<&str> = filters.split('\0').filter(|it| !it.is_empty()).collect();
    keys.dedup();
    let mut without = vec![("GIT_CONFIG_COUNT".to_owned(), keys.len().to_string())];
    for (at, key) in keys.iter().enumerate() {
        without.push((format!("GIT_CONFIG_KEY_{at}"), (*key).to_owned()));
        without.push((format!("GIT_CONFIG_VALUE_{at}"), String::new()));
    }
    let diff = [
        "diff",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=all",
        "HEAD",
        "--",
        ".",
    ];
    let diff = said_with(folder, &diff.map(OsString::from), limit, &without).await?;
    let new = [
        "ls-files",
        "-z",
        "--others",
        "--exclude-standard",
        "--",
        ".",
    ];
    let new = said_with(folder, &new.map(OsString::from), limit, &without).await?;
    let mut text = String::from_utf8_lossy(&diff).into_owned();
    let new = String::from_utf8_lossy(&new);
    let names: Vec<&str> = new.split('\0').filter(|it| !it.is_empty()).collect();
    if !names.is_empty() {
        text.push_str(&format!(
            "New files, not in git yet:\n{}\n",
            names.join("\n")
        ));
    }
    Some(text)
}

async fn keeps(file: &Path) -> Option<bool> {
    let (folder, name) = (file.parent()?, file.file_name()?);
    let attributes = ["check-attr", "-z", "text", "eol", "--"].map(OsString::from);
    let arguments: Vec<OsString> = attributes.into_iter().chain([name.to_owned()]).collect();
    let found = said(folder, &arguments, SMALL).await?;
    // The path, the attribute and what it is, again and again.
    let fields: Vec<&[u8]> = found.split(|it| *it == 0).collect();
    let of = |name: &[u8]| {
        let mut all = fields.chunks(3);
        all.find_map(|it| match it {
            [_, attribute, value] if *attribute == name => Some(*value),
            _ => None,
        })
    };
    match (of(b"text")?, of(b"eol")?) {
        (b"unset", _) => Some(false),
        (b"set" | b"auto", _) => Some(true),
        (_, b"lf" | b"crlf") => Some(true),
        (_, _) => {
            let arguments = ["config", "--get", "core.autocrlf"].map(OsString::from);
            let value = said(folder, &arguments, SMALL).await?;
            let value = value.trim_ascii().to_ascii_lowercase();
            let is_on: [&[u8]; 5] = [b"true", b"input", b"yes", b"on", b"1"];
            Some(is_on.contains(&value.as_slice()))
        }
    }
}

/// The most bytes of an answer that is a word or two.
const SMALL: u64 = 64 << 10;

/// What git answers in a folder; `None` where it fails.
async fn said(folder: &Path, arguments: &[OsString], limit: u64) -> Option<Vec<u8>> {
    said_with(folder, arguments, limit, &[]).await
}

/// As [`said`], with more in its environment.
async fn said_with(
    folder: &Path,
    arguments: &[OsString],
    limit: u64,
    environment: &[(String, String)],
) -> Option<Vec<u8>> {
    let mut git = command(folder);
    git.args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)));
    let work = output(git, Vec::new(), limit);
    tokio::time::timeout(PATIENCE, work).await.ok()?.ok()
}

/// Git in a folder, with nothing of the repository's that could run, and with nobody to ask.
pub fn command(folder: &Path) -> Command {
    let mut git = Command::new("git");
    let keep = |name: &str| std::env::var_os(name).map(|it| (name.to_owned(), it));
    git.env_clear()
        .envs(
            ["PATH", "HOME", "XDG_CONFIG_HOME"]
                .into_iter()
                .filter_map(keep),
        )
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .args(["--no-pager", "--no-replace-objects"])
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(["-c", "core.fsmonitor=false"])
        .args(["-c", "protocol.allow=never"])
        .arg("-C")
        .arg(folder)
        .kill_on_drop(true);
    git
}

/// What git says, at most `limit` bytes, with this on its stdin. The error is what it said of its failure, a line
/// without a full stop.
pub async fn output(mut git: Command, input: Vec<u8>, limit: u64) -> Result<Vec<u8>, String> {
    let is_missing = |it: &io::Error| it.kind() == io::ErrorKind::NotFound;
    git.stdin(match input.is_empty() {
        true => Stdio::null(),
        false => Stdio::piped(),
    })
    .stdout(Stdio::piped())
    .stderr(Stdio::piped());
    let mut child = git.spawn().map_err(|it| match is_missing(&it) {
        true => "there is no program git".to_owned(),
        false => format!("git does not start ({it})"),
    })?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let writing = async {
        if let Some(mut stdin) = stdin {
            // One that does not want to hear more says why by its exit.
            let _ = stdin.write_all(&input).await;
        }
    };
    let reading = read(stdout, limit);
    let ((), said, complaint) = tokio::join!(writing, reading, read(stderr, SMALL));
    if said.len() as u64 > limit {
        return Err(format!("git says more than {limit} bytes"));
    }
    let end = child.wait().await.map_err(|it| it.to_string())?;
    match end.success() {
        true => Ok(said),
        false => {
            let complaint = String::from_utf8_lossy(&complaint);
            let line = complaint.lines().find(|it| !it.trim().is_empty());
            let line = line.unwrap_or("git failed without a word").trim();
            let line = line.strip_prefix("fatal: ").unwrap_or(line);
            Err(line.trim_end_matches('.').to_owned())
        }
    }
}

/// All that comes, or one byte more than `limit`.
async fn read(from: Option<impl AsyncRead + Unpin>, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        // What was cut off fails by its exit.
        let _ = from.take(limit + 1).read_to_end(&mut bytes).await;
    }
    bytes
}
