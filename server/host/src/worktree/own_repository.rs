//! The project's repository, as far as a checkout needs to know it, and the one that a checkout has of its own.

use crate::git;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Most bytes of what git says of a repository, its list of files included.
pub const MOST: u64 = 256 << 20;

/// A repository with a commit.
#[derive(Debug)]
pub struct Project {
    /// Its work tree, resolved.
    pub root: PathBuf,
    /// The part of it that all its work trees share.
    common: PathBuf,
    objects: PathBuf,
    head: String,
    /// How it names objects: `sha1` or `sha256`.
    format: String,
}

impl Project {
    /// The one whose work tree a folder lies in. The error says what is missing, without a full stop.
    pub async fn of(folder: &Path) -> Result<Self, String> {
        let root = line(folder, &["rev-parse", "--show-toplevel"]).await;
        let root = root.map_err(|it| match it.contains("not a git repository") {
            true => format!("{} is in no git repository", folder.display()),
            false => it,
        })?;
        let root = PathBuf::from(root).canonicalize();
        let root = root.map_err(|it| it.to_string())?;
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let head = line(&root, &head).await;
        let head = head.map_err(|_| {
            "the repository has no commit yet; the first one must be made before".to_owned()
        })?;
        let common = line(&root, &["rev-parse", "--git-common-dir"]).await?;
        let objects = line(&root, &["rev-parse", "--git-path", "objects"]).await?;
        // A git that is too old to say knows only one.
        let format = line(&root, &["rev-parse", "--show-object-format"]).await;
        let format = format.ok().filter(|it| it == "sha256");
        Ok(Self {
            common: root.join(common),
            objects: root.join(objects),
            head: head.to_string_lossy().into_owned(),
            format: format.map_or("sha1", |_| "sha256").to_owned(),
            root,
        })
    }
}

/// Git's answer of one line.
async fn line(folder: &Path, arguments: &[&str]) -> Result<OsString, String> {
    let mut git = git::command(folder);
    git.args(arguments);
    let mut said = git::output(git, Vec::new(), 64 << 10).await?;
    while said.last().is_some_and(|it| matches!(it, b'\n' | b'\r')) {
        said.pop();
    }
    Ok(OsString::from_vec(said))
}

/// What a repository says of how its files lie in the work tree, and of who commits. No other option of the
/// project's is taken over: some of them are programs.
const OPTIONS: &str =
    r"^(user\.(name|email)|core\.(autocrlf|eol|safecrlf|filemode|ignorecase|symlinks))$";

/// Makes the repository of a checkout, in its folder: at the project's commit and on no branch, with the project's
/// branches as they are now to look at.
pub async fn init(project: &Project, tree: &Path) -> Result<(), String> {
    let folder = tree.join(".git");
    bare(project, &folder).await?;
    let run = async |arguments: &[&str]| {
        let mut git = git::command(tree);
        git.arg("--git-dir").arg(&folder).args(arguments);
        git::output(git, Vec::new(), MOST).await
    };
    run(&["config", "core.bare", "false"]).await?;
    let mut options = git::command(&project.root);
    options.args(["config", "--local", "--null", "--get-regexp", OPTIONS]);
    // None of them is a failure for git.
    let options = git::output(options, Vec::new(), 64 << 10).await;
    for option in options.unwrap_or_default().split(|it| *it == 0) {
        let option = String::from_utf8_lossy(option);
        if let Some((name, value)) = option.split_once('\n') {
            run(&["config", name, value]).await?;
        }
    }
    let mut refs = git::command(&project.root);
    let format = "--format=%(objectname) %(refname)";
    refs.args([
        "for-each-ref",
        format,
        "refs/heads",
        "refs/tags",
        "refs/remotes",
    ]);
    let refs = git::output(refs, Vec::new(), MOST).await?;
    write(&folder.join("packed-refs"), &refs)?;
    let head = format!("{}\n", project.head);
    write(&folder.join("HEAD"), head.as_bytes())?;
    run(&["read-tree", "HEAD"]).await?;
    Ok(())
}

/// Makes a repository that borrows the project's objects and ignores what the project's ignores.
pub async fn bare(project: &Project, folder: &Path) -> Result<(), String> {
    let mut git = git::command(&project.root);
    git.args(["init", "--quiet", "--bare", "--template="]);
    if project.format != "sha1" {
        git.arg(format!("--object-format={}", project.format));
    }
    git.arg(folder);
    git::output(git, Vec::new(), MOST).await?;
    let info = folder.join("objects/info");
    fs::create_dir_all(&info).map_err(|it| it.to_string())?;
    let mut objects = project.objects.clone().into_os_string().into_vec();
    objects.push(b'\n');
    write(&info.join("alternates"), &objects)?;
    for it in ["shallow", "info/exclude"] {
        let to = folder.join(it);
        if let Some(bytes) = small(&project.common.join(it)) {
            fs::create_dir_all(folder.join("info")).map_err(|it| it.to_string())?;
            write(&to, &bytes)?;
        }
    }
    Ok(())
}

fn small(path: &Path) -> Option<Vec<u8>> {
    crate::regular::read_capped(path, 16 << 20).ok().flatten()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|it| format!("{} cannot be written ({it})", path.display()))
}
