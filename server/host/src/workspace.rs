//! The session's folders, and the identity of a file.
//!
//! A file is its canonical path: symlinks resolved, the nearest existing ancestor for a file that is
//! yet to be made (spec 4.2). The URI that the editor uses for it is kept beside it in `documents`.

use protocol::lsp;
use protocol::tool::Place;
use std::path::{Component, Path, PathBuf};
use url::Url;

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
        let mut guarded: Vec<PathBuf> = protected
            .iter()
            .map(|it| nearest(it).unwrap_or_else(|| it.clone()))
            .collect();
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

    /// The file that a model's path means. The error is for the model.
    pub fn resolve(&self, path: &str) -> Result<FilePath, String> {
        let lower = path.trim_start().to_ascii_lowercase();
        if lower.starts_with("http://") || lower.starts_with("https://") {
            return Err(format!("{path} is a web address, not a path."));
        }
        if path.trim().is_empty() || path.contains('\0') {
            return Err("The path is empty; give a path relative to the project.".to_owned());
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
        let place = if self.protected.iter().any(|it| real.starts_with(it)) {
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
}

fn home() -> Option<PathBuf> {
    directories::BaseDirs::new().map(|it| it.home_dir().to_path_buf())
}

/// Resolves the nearest existing ancestor through its symlinks and appends the rest.
pub(crate) fn nearest(path: &Path) -> Option<PathBuf> {
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
