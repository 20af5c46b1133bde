//! The session's folders, and the identity of a file.
//!
//! A file is its canonical path: symlinks resolved, the nearest existing ancestor for a file that is
//! yet to be made (spec 4.2). The URI that the editor uses for it is kept beside it in `documents`.

use protocol::lsp;
use protocol::tool::Place;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use url::Url;

/// The most bytes of a path: Linux's own `PATH_MAX`. Looking at each folder of a longer one takes for ever.
const MAX_PATH_BYTES: usize = 4096;

/// The folders of one session, resolved, and the places that tools never write.
#[derive(Clone, Debug, PartialEq)]
pub struct Workspace {
    /// At least one; relative paths start at the first.
    roots: Vec<PathBuf>,
    protected: Vec<PathBuf>,
}

/// A file that a call names.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePath {
    /// The file's identity.
    pub real: PathBuf,
    pub place: Place,
    /// Relative to the workspace where it lies in it: for people and the model.
    pub shown: String,
}

impl Workspace {
    /// Folders as the editor named them. One that cannot be resolved is an error (spec 4.2).
    pub fn new(roots: &[PathBuf], protected: &[PathBuf]) -> Result<Self, String> {
        let mut resolved = Vec::new();
        for root in roots {
            let real = root.canonicalize().map_err(|error| {
                format!(
                    "The folder {} cannot be opened ({error}); open an existing folder.",
                    root.display()
                )
            })?;
            resolved.push(real);
        }
        let mut guarded = protected.to_vec();
        for root in &resolved {
            guarded.push(root.join(".undine").join("conversations"));
            guarded.push(root.join(".undine").join("config.toml"));
        }
        Ok(Self {
            roots: resolved,
            protected: guarded,
        })
    }

    pub fn root(&self) -> &Path {
        // `new` is given at least one folder by every caller; an empty list falls back to "/".
        self.roots.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Undine's own folders as a sandbox protects them: whole, and in a project all of `.undine`, because a part of
    /// it could be replaced by renaming it.
    pub fn own_folders(&self) -> Vec<PathBuf> {
        let in_roots = self.roots.iter().map(|it| it.join(".undine"));
        let mut all: Vec<PathBuf> = in_roots.collect();
        let is_in_root = |it: &&PathBuf| all.iter().any(|own| it.starts_with(own));
        let others: Vec<PathBuf> = self
            .protected
            .iter()
            .filter(|it| !is_in_root(it))
            .map(|it| nearest(it).unwrap_or_else(|| it.clone()))
            .collect();
        all.extend(others);
        all
    }

    /// The file that a model's path means. The error is for the model.
    pub fn resolve(&self, path: &str) -> Result<FilePath, String> {
        let lower = path.trim_start().to_ascii_lowercase();
        if lower.starts_with("http://") || lower.starts_with("https://") {
            return Err(format!(
                "{path} is a web address, not a path; reading the web is for web_fetch, where there is such a tool."
            ));
        }
        if path.trim().is_empty() || path.contains('\0') {
            return Err("The path is empty; give a path relative to the project.".to_owned());
        }
        if path.len() > MAX_PATH_BYTES {
            return Err(format!(
                "The path is longer than {MAX_PATH_BYTES} bytes; give a path relative to the project."
            ));
        }
        let spelled = match path.strip_prefix("~/") {
            Some(rest) => home()
                .ok_or("There is no home folder; give the whole path.")?
                .join(rest),
            None => self.root().join(path),
        };
        let real = nearest(&spelled)
            .ok_or_else(|| format!("No folder on the way to {path} exists; check the path."))?;
        Ok(self.classify(real))
    }

    /// Class and name of a resolved path.
    pub fn classify(&self, real: PathBuf) -> FilePath {
        let root = self.roots.iter().find(|it| real.starts_with(it));
        let place = if self.protects(&real) {
            Place::Protected
        } else if root.is_some() {
            Place::Project
        } else {
            Place::External
        };
        let shown = match root.and_then(|it| real.strip_prefix(it).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Some(rest) => rest.display().to_string(),
            None => real.display().to_string(),
        };
        FilePath { real, place, shown }
    }

    /// Whether a path lies in a place of Undine's own. Looked up each time, because a symlink on the way
    /// to such a place may be made or turned at any moment; then both ends of it are protected.
    fn protects(&self, real: &Path) -> bool {
        self.protected
            .iter()
            .any(|it| real.starts_with(it) || nearest(it).is_some_and(|it| real.starts_with(it)))
    }

    /// Whether a file is one of Undine's own under another name: a hard link has no way back to its first.
    pub fn protects_file(&self, file: &Metadata) -> bool {
        self.protected.iter().any(|it| holds(it, file))
    }

    /// Whether a file that was resolved earlier is still itself. A symlink may have been put on its way
    /// since, and then what was judged and shown is not what would be touched.
    pub fn still(&self, file: &FilePath) -> bool {
        nearest(&file.real).is_some_and(|it| it == file.real && self.classify(it) == *file)
    }
}

/// Whether this is the file, or a folder with the file somewhere in it.
fn holds(path: &Path, file: &Metadata) -> bool {
    let Ok(meta) = path.metadata() else {
        return false;
    };
    if (meta.dev(), meta.ino()) == (file.dev(), file.ino()) {
        return true;
    }
    // Not through links, which could lead in a circle; what they lead to has been resolved by then.
    let is_link = path.symlink_metadata().is_ok_and(|it| it.is_symlink());
    let inner = (meta.is_dir() && !is_link).then(|| fs::read_dir(path));
    let inner = inner.into_iter().flatten().flatten().flatten();
    inner.into_iter().any(|it| holds(&it.path(), file))
}

fn home() -> Option<PathBuf> {
    directories::BaseDirs::new().map(|it| it.home_dir().to_path_buf())
}

/// Resolves the nearest existing ancestor through its symlinks and appends the rest. `None`: it leads
/// over a link that leads nowhere.
///
/// What does not exist can only be resolved by its spelling, and its `..` may lead back to what does:
/// `missing/../link`. So the result is looked at again until nothing is left to resolve.
fn nearest(path: &Path) -> Option<PathBuf> {
    let mut at = resolved_once(path)?;
    // Each round resolves a link at least, and the system itself follows no more than 40.
    for _ in 0..40 {
        let next = resolved_once(&at)?;
        if next == at {
            return Some(at);
        }
        at = next;
    }
    None
}

fn resolved_once(path: &Path) -> Option<PathBuf> {
    let mut rest: Vec<Component<'_>> = Vec::new();
    let mut at = path;
    let mut real = loop {
        match at.canonicalize() {
            Ok(real) => break real,
            Err(_) => {
                // A link that leads nowhere must not be followed by a later write.
                if at.symlink_metadata().is_ok() {
                    return None;
                }
                rest.push(at.components().next_back()?);
                at = at.parent()?;
            }
        }
    };
    for part in rest.into_iter().rev() {
        match part {
            Component::Normal(name) => real.push(name),
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(real)
}

/// The path of a `file:` URI, resolved as far as it exists; `None` for any other scheme.
pub fn path_of(uri: &lsp::Uri) -> Option<PathBuf> {
    let url = Url::parse(uri.as_ref()).ok()?;
    if url.scheme() != "file" {
        return None;
    }
    let path = url.to_file_path().ok()?;
    Some(nearest(&path).unwrap_or(path))
}

/// The `file:` URI of an absolute path.
pub fn uri_of(path: &Path) -> lsp::Uri {
    let url = Url::from_file_path(path)
        .map_or_else(|()| format!("file://{}", path.display()), String::from);
    lsp::Uri::from(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn project() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("p/src")).unwrap();
        fs::write(folder.path().join("p/src/a.rs"), "").unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        let workspace =
            Workspace::new(&[folder.path().join("p")], &[folder.path().join("config")]).unwrap();
        (folder, workspace)
    }

    #[test]
    fn a_path_in_the_project_is_shown_relative_to_it() {
        let (_folder, workspace) = project();
        let path = workspace.resolve("./src/../src/a.rs").unwrap();
        assert_eq!(
            (path.place, path.shown.as_str()),
            (Place::Project, "src/a.rs")
        );
        assert_eq!(
            workspace.resolve("new/deep.rs").unwrap().shown,
            "new/deep.rs"
        );
    }

    #[test]
    fn a_symlink_out_of_the_project_is_outside() {
        let (folder, workspace) = project();
        symlink(folder.path().join("out"), folder.path().join("p/link")).unwrap();
        assert_eq!(workspace.resolve("link/x").unwrap().place, Place::External);
        assert_eq!(
            workspace.resolve("../out/x").unwrap().place,
            Place::External
        );
        assert_eq!(
            workspace.resolve("no/../../out/x").unwrap().place,
            Place::External
        );
    }

    /// The way back out of a folder that does not exist led past the look at what it came to.
    #[test]
    fn a_symlink_behind_a_missing_folder_is_followed() {
        let (folder, workspace) = project();
        symlink(folder.path().join("out"), folder.path().join("p/link")).unwrap();
        symlink(
            folder.path().join("config"),
            folder.path().join("p/settings"),
        )
        .unwrap();
        fs::create_dir(folder.path().join("config")).unwrap();
        for path in [
            "no/../link/x",
            "src/a.rs/../../link/x",
            "no/no/../../link/no/../x",
        ] {
            let file = workspace.resolve(path).unwrap();
            let real = folder.path().canonicalize().unwrap().join("out/x");
            assert_eq!((file.place, file.real), (Place::External, real), "{path}");
        }
        let file = workspace.resolve("no/../settings/config.toml").unwrap();
        assert_eq!(file.place, Place::Protected);
        symlink(folder.path().join("nowhere"), folder.path().join("p/loose")).unwrap();
        assert!(workspace.resolve("no/../loose").is_err());
    }

    #[test]
    fn a_symlink_to_settings_or_history_protects_both_its_ends() {
        let (folder, workspace) = project();
        let place = |path: &str| workspace.resolve(path).unwrap().place;
        fs::write(folder.path().join("p/other.toml"), "").unwrap();
        assert_eq!(place("other.toml"), Place::Project);
        fs::create_dir(folder.path().join("p/.undine")).unwrap();
        symlink("../other.toml", folder.path().join("p/.undine/config.toml")).unwrap();
        symlink("../src", folder.path().join("p/.undine/conversations")).unwrap();
        assert_eq!(
            [
                place("other.toml"),
                place(".undine/config.toml"),
                place("src/x.jsonl"),
                place(".undine/notes"),
            ],
            [
                Place::Protected,
                Place::Protected,
                Place::Protected,
                Place::Project,
            ]
        );
    }

    #[test]
    fn a_file_is_not_itself_any_more_when_a_link_was_put_on_its_way() {
        let (folder, workspace) = project();
        let file = workspace.resolve("new/x").unwrap();
        assert!(workspace.still(&file));
        symlink(folder.path().join("out"), folder.path().join("p/new")).unwrap();
        assert!(!workspace.still(&file));
    }

    #[test]
    fn a_path_longer_than_the_system_takes_is_refused_at_once() {
        let (_folder, workspace) = project();
        let error = workspace.resolve(&"a/".repeat(200_000)).unwrap_err();
        assert_eq!(
            error,
            "The path is longer than 4096 bytes; give a path relative to the project."
        );
    }

    #[test]
    fn a_dangling_symlink_is_refused() {
        let (folder, workspace) = project();
        symlink(folder.path().join("nowhere"), folder.path().join("p/link")).unwrap();
        assert!(workspace.resolve("link").is_err());
    }

    #[test]
    fn history_and_settings_are_protected() {
        let (folder, workspace) = project();
        assert_eq!(
            workspace
                .resolve(".undine/conversations/x.jsonl")
                .unwrap()
                .place,
            Place::Protected
        );
        assert_eq!(
            workspace.resolve(".undine/config.toml").unwrap().place,
            Place::Protected
        );
        let config = folder.path().join("config/permissions.toml");
        assert_eq!(
            workspace
                .resolve(&config.display().to_string())
                .unwrap()
                .place,
            Place::Protected
        );
    }

    #[test]
    fn bug_014_a_web_address_is_not_a_path() {
        let (_folder, workspace) = project();
        assert!(
            workspace
                .resolve(" HTTPS://example.com/x")
                .unwrap_err()
                .contains("web address")
        );
    }

    #[test]
    fn a_uri_and_its_path_agree_whatever_is_escaped() {
        let (folder, _workspace) = project();
        let path = folder.path().canonicalize().unwrap().join("p/ä b#c%.rs");
        fs::write(&path, "").unwrap();
        assert_eq!(path_of(&uri_of(&path)), Some(path));
        assert_eq!(
            path_of(&lsp::Uri::from("untitled:Untitled-1".to_owned())),
            None
        );
    }
}
