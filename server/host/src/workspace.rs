//! The session's folders, and the identity of a file.
//!
//! A file is its canonical path: symlinks resolved, the nearest existing ancestor for a file that is
//! yet to be made (spec 4.2). The URI that the editor uses for it is kept beside it in `documents`.

mod real;
#[cfg(test)]
mod tests;

use protocol::lsp;
use protocol::tool::Place;
use real::{nearest, spelled};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use url::Url;

/// The most bytes of a path: Linux's own `PATH_MAX`. Looking at each folder of a longer one takes for ever.
const MAX_PATH_BYTES: usize = 4096;

/// The folders of one session, resolved, and the places that tools never write.
#[derive(Clone, Debug, PartialEq)]
pub struct Workspace {
    /// The session's own folder, where relative paths start; then the other folders of the editor (spec 4.7).
    roots: Vec<PathBuf>,
    added: Vec<Added>,
    scratchpad: Option<PathBuf>,
    /// Where facts are kept over sessions.
    memory: Vec<PathBuf>,
    /// Undine's own folders.
    own: Vec<PathBuf>,
}

/// A folder that the person trusts like the project.
#[derive(Clone, Debug, PartialEq)]
struct Added {
    /// Whole, as it was named.
    named: PathBuf,
    real: PathBuf,
    by: AddedBy,
}

/// How long an added folder stays one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedBy {
    /// As long as the session is open.
    Session,
    /// As long as the configuration names it.
    Configuration,
}

/// A file that a call names.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePath {
    /// The file's identity.
    pub real: PathBuf,
    pub place: Place,
    /// Relative to the session's own folder where it lies in it: for people and the model.
    pub shown: String,
}

/// How a path was written, which counts where a folder is trusted by its name.
#[derive(Clone, Copy)]
enum Written<'a> {
    Relative(&'a Path),
    Absolute(&'a Path),
}

impl Workspace {
    /// The session's folder, then those of the editor; and Undine's own. One that cannot be resolved is an error
    /// (spec 4.2).
    pub fn new(roots: &[PathBuf], own: &[PathBuf]) -> Result<Self, String> {
        let roots = roots
            .iter()
            .map(|it| opened(it))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            roots,
            added: Vec::new(),
            scratchpad: None,
            memory: Vec::new(),
            own: own.to_vec(),
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
        let trusted = std::iter::once(self.root()).chain(self.others());
        let mut all: Vec<PathBuf> = trusted.map(|it| it.join(".undine")).collect();
        for place in self.protected() {
            if !all.iter().any(|it| place.starts_with(it)) {
                all.push(nearest(&place).unwrap_or(place));
            }
        }
        all
    }

    /// Where the session's own files go that are no part of the work, resolved.
    pub fn scratchpad(&self) -> Option<&Path> {
        self.scratchpad.as_deref()
    }

    /// What is trusted like the session's own folder, resolved: the editor's other folders, then those that were
    /// added.
    pub fn others(&self) -> impl Iterator<Item = &Path> {
        let added = self.added.iter().map(|it| it.real.as_path());
        let others = self.roots.iter().skip(1).map(PathBuf::as_path);
        others.chain(added)
    }

    /// Gives the session its scratchpad: a resolved folder that is nobody else's.
    pub fn set_scratchpad(&mut self, folder: &Path) {
        self.scratchpad = Some(folder.to_path_buf());
    }

    /// Where facts are kept over sessions, whether these folders exist or not.
    pub fn set_memory(&mut self, folders: Vec<PathBuf>) {
        self.memory = folders;
    }

    /// Trusts a folder like the project; answers what it resolves to. One that is no folder is an error, for the
    /// person (spec 4.6). A relative path starts at the session's folder, `~/` at the home folder.
    pub fn add(&mut self, folder: &Path, by: AddedBy) -> Result<PathBuf, String> {
        let home = folder.strip_prefix("~").ok().and_then(|it| {
            let home = home()?;
            Some(home.join(it))
        });
        let named = spelled(&home.unwrap_or_else(|| self.root().join(folder)));
        let real = opened(&named)?;
        let added = Added {
            named,
            real: real.clone(),
            by,
        };
        // What only the configuration named is the session's too from now on, and the other way round.
        if !self.added.contains(&added) {
            self.added.push(added);
        }
        Ok(real)
    }

    /// Takes away what the configuration had added.
    pub fn forget_configured(&mut self) {
        self.added.retain(|it| it.by != AddedBy::Configuration);
    }

    /// The editor's folders are others now, this session's own aside. One that is gone is left out.
    pub fn set_others(&mut self, folders: &[PathBuf]) {
        self.roots.truncate(1);
        for folder in folders {
            let real = folder.canonicalize().ok().filter(|it| it.is_dir());
            self.roots
                .extend(real.filter(|it| !self.roots.contains(it)));
        }
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
        let whole = match path.strip_prefix("~/") {
            Some(rest) => home()
                .ok_or("There is no home folder; give the whole path.")?
                .join(rest),
            None => self.root().join(path),
        };
        let real = nearest(&whole)
            .ok_or_else(|| format!("No folder on the way to {path} exists; check the path."))?;
        if self.leaves_scratchpad(&whole, &real) {
            return Err(format!(
                "{path} leads out of the scratchpad, over a link or `..`; give the path of the file itself."
            ));
        }
        let written = match Path::new(path).is_absolute() || path.starts_with("~/") {
            true => Written::Absolute(&whole),
            false => Written::Relative(&whole),
        };
        let place = self.place(written, &real);
        Ok(self.named(real, place))
    }

    /// Class and name of a resolved path.
    pub fn classify(&self, real: PathBuf) -> FilePath {
        let place = self.place(Written::Absolute(&real), &real);
        self.named(real, place)
    }

    fn named(&self, real: PathBuf, place: Place) -> FilePath {
        let shown = match real.strip_prefix(self.root()) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            // Elsewhere only the whole path says which folder is meant.
            Ok(rest) if place != Place::External => rest.display().to_string(),
            Ok(_) | Err(_) => real.display().to_string(),
        };
        FilePath { real, place, shown }
    }

    /// Where a path lies (spec 4.1 to 4.3). The order decides: what is Undine's own stays its own wherever it lies,
    /// and what is in the project is judged as the project.
    fn place(&self, written: Written<'_>, real: &Path) -> Place {
        let (Written::Relative(path) | Written::Absolute(path)) = written;
        let is_scratch = || self.is_scratch(real) && matches!(written, Written::Absolute(_));
        let path = spelled(path);
        let is_inside = self.roots.iter().any(|it| real.starts_with(it));
        if !is_inside && self.is_memory(real) {
            Place::Memory
        } else if self.protects(real) {
            Place::Protected
        } else if is_inside {
            Place::Project
        } else if is_scratch() {
            Place::Scratchpad
        } else if self.added.iter().any(|it| it.owns(&path, real)) {
            Place::AddedDir
        } else {
            Place::External
        }
    }

    /// Whether a resolved path is that of a fact: looked up each time, as all that is Undine's own.
    fn is_memory(&self, real: &Path) -> bool {
        let is_note = real.extension().is_some_and(|it| it == "md");
        let mut folders = self.memory.iter();
        let is_in = |it: &PathBuf| real.parent() == nearest(it).as_deref();
        is_note && folders.any(is_in)
    }

    /// Whether a resolved path lies in the scratchpad.
    pub fn is_scratch(&self, real: &Path) -> bool {
        self.scratchpad().is_some_and(|it| real.starts_with(it))
    }

    /// Whether a path goes through the scratchpad and ends elsewhere. A command can make a link there, and what is
    /// written over it would not be asked about.
    fn leaves_scratchpad(&self, whole: &Path, real: &Path) -> bool {
        let Some(pad) = self.scratchpad() else {
            return false;
        };
        let is_in = |it: &Path| it.canonicalize().is_ok_and(|it| it.starts_with(pad));
        !self.is_scratch(real) && whole.ancestors().any(is_in)
    }

    /// Whether a path lies in a place of Undine's own. Looked up each time, because a symlink on the way
    /// to such a place may be made or turned at any moment; then both ends of it are protected.
    fn protects(&self, real: &Path) -> bool {
        self.protected()
            .any(|it| real.starts_with(&it) || nearest(&it).is_some_and(|it| real.starts_with(it)))
    }

    /// Whether a file is one of Undine's own under another name: a hard link has no way back to its first.
    pub fn protects_file(&self, file: &Metadata) -> bool {
        self.protected().any(|it| holds(&it, file))
    }

    /// Undine's own folders, and what is its own in the folders of people.
    pub fn protected(&self) -> impl Iterator<Item = PathBuf> {
        let folders = self.roots.iter().map(PathBuf::as_path);
        let folders = folders.chain(self.added.iter().map(|it| it.real.as_path()));
        let inner = folders.flat_map(|it| {
            let own = it.join(".undine");
            [own.join("conversations"), own.join("config.toml")]
        });
        self.own.iter().cloned().chain(inner)
    }

    /// Whether a file that was resolved earlier is still itself. A symlink may have been put on its way
    /// since, and then what was judged and shown is not what would be touched.
    pub fn still(&self, file: &FilePath) -> bool {
        let is_same = nearest(&file.real).is_some_and(|it| it == file.real);
        let now = self.classify(file.real.clone()).place;
        // A path can be judged as outside for how it was written, though the file lies where less is asked.
        let is_milder = matches!(now, Place::AddedDir | Place::Scratchpad);
        is_same && (now == file.place || file.place == Place::External && is_milder)
    }
}

impl Added {
    /// A folder owns what is in it both by its name and after links (spec 4.3).
    fn owns(&self, spelled: &Path, real: &Path) -> bool {
        let is_named = spelled.starts_with(&self.named) || spelled.starts_with(&self.real);
        is_named && real.starts_with(&self.real)
    }
}

fn opened(folder: &Path) -> Result<PathBuf, String> {
    let real = folder.canonicalize().and_then(|it| match it.is_dir() {
        true => Ok(it),
        false => Err(std::io::ErrorKind::NotADirectory.into()),
    });
    real.map_err(|error| {
        format!(
            "The folder {} cannot be opened ({error}); open an existing folder.",
            folder.display()
        )
    })
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

/// The person's home folder.
pub fn home() -> Option<PathBuf> {
    directories::BaseDirs::new().map(|it| it.home_dir().to_path_buf())
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
