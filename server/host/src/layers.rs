//! Where the configuration's layers come from: files, the editor and the command line.
//!
//! What they become together is the engine's business. A file that is malformed is skipped and named, and the others
//! count.

use crate::regular;
use crate::upwards;
use engine::config::{self, Layer, Origin, Problem, Resolved};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// What the command line says of the configuration.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// The name of a profile.
    pub profile: Option<String>,
    /// `-c` and flags, weakest first.
    pub layers: Vec<Layer>,
}

/// The layers that are the same for every session.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    user: Option<Layer>,
    profile: Option<Layer>,
    pub editor: Option<Layer>,
    pub command_line: CommandLine,
}

impl Layers {
    pub fn new(command_line: CommandLine) -> Self {
        Self {
            command_line,
            ..Self::default()
        }
    }

    /// Those of a person without an editor, and what is wrong with their file.
    pub fn of_person(folder: &Path, command_line: CommandLine) -> (Self, Option<String>) {
        let mut layers = Self::new(command_line);
        let problem = layers.read_user_file(folder);
        (layers, problem)
    }

    /// Reads the user's `config.toml` in Undine's folder; answers what is wrong with it.
    pub fn read_user_file(&mut self, folder: &Path) -> Option<String> {
        let (user, problem) = read(&user_file(folder), Origin::UserFile);
        let chosen = self.command_line.profile.as_deref();
        let profile = chosen.map(|name| match &user {
            Some(user) => user.profile(name),
            None => Err(config::no_profile(name, [].iter())),
        });
        self.user = user;
        let (profile, missing) = match profile {
            Some(Ok(profile)) => (Some(profile), None),
            Some(Err(missing)) => (None, Some(missing)),
            None => (None, None),
        };
        self.profile = profile;
        problem.or(missing)
    }

    /// Whether a profile was asked for that there is not.
    pub fn lacks_profile(&self) -> bool {
        self.command_line.profile.is_some() && self.profile.is_none()
    }

    /// The configuration for a project.
    pub fn resolve(&self, root: Option<&Path>) -> Resolved {
        let (project, problem) = match root {
            Some(root) => read(&project_file(root), Origin::ProjectFile),
            None => (None, None),
        };
        let optional = [&self.user, &self.profile, &project, &self.editor];
        let files = optional.into_iter().flatten();
        let layers: Vec<Layer> = files.chain(&self.command_line.layers).cloned().collect();
        let mut resolved = config::resolve(&layers);
        resolved.problems.extend(problem.map(|text| Problem {
            origin: Origin::ProjectFile,
            text,
        }));
        resolved
    }
}

/// The person's own file, in Undine's folder for settings.
pub fn user_file(folder: &Path) -> PathBuf {
    folder.join("config.toml")
}

/// The file that comes with a project: at the root of its repository, or else in its folder.
pub fn project_file(root: &Path) -> PathBuf {
    let root = upwards::repository(root).unwrap_or_else(|| root.to_path_buf());
    root.join(".undine").join("config.toml")
}

/// A file as a layer, and what is wrong with it (spec 20.2). One that is not there is neither.
pub fn read(path: &Path, origin: Origin) -> (Option<Layer>, Option<String>) {
    let said = |what: String| {
        let path = path.display();
        (None, Some(format!("{path} {what}.")))
    };
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (None, None),
        Err(error) => return said(format!("cannot be read ({error}); it is skipped")),
    };
    match toml::from_str::<Value>(&text) {
        Ok(value) => {
            let path = Some(path.to_path_buf());
            let layer = Layer::new(origin, value);
            (Some(Layer { path, ..layer }), None)
        }
        Err(error) => {
            let at = place(&text, error.span().map_or(0, |it| it.start));
            let what = error.message();
            said(format!(
                "is not valid TOML ({at}: {what}); it is skipped until it is mended"
            ))
        }
    }
}

/// A place in a text, for a person.
pub fn place(text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    let column = before[start..].chars().count() + 1;
    format!("line {line}, column {column}")
}

/// The most bytes of a configuration file.
const MAX_BYTES: u64 = 1 << 20;

/// The text of a configuration file.
///
/// # Errors
/// If it is not there, too large, no regular file or not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = regular::read_capped(path, MAX_BYTES)?
        .ok_or_else(|| io::Error::other(format!("it is over {} MiB", MAX_BYTES >> 20)))?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}
