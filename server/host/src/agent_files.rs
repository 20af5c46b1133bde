//! Finds the files in which a project and the person say more to the agent: skills and commands (spec 21.2, 21.3).
//!
//! They lie in folders that several agents share. A project's come with the project: a link in it that leads out of it
//! is not followed, and one that cannot be read is left out alone.

use crate::instructions;
use crate::upwards;
use crate::workspace;
use engine::agents::{KindFile, Scope, read_kind};
use engine::command_files::CommandFile;
use engine::skills::Skill;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folders that hold them, in order.
const SHARED: [&str; 3] = [".undine", ".claude", ".agents"];

/// The most entries of one folder that are looked at, and how deep folders of commands go.
const MOST_ENTRIES: usize = 512;
const MOST_DEEP: usize = 4;

/// What was found, the nearest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentFiles {
    pub skills: Vec<Skill>,
    /// The folders of skills that lie outside the project, resolved. The model may read in them.
    pub skill_folders: Vec<PathBuf>,
    pub commands: Vec<CommandFile>,
    /// Kinds of subagents.
    pub kinds: Vec<KindFile>,
    /// What could not be read, a sentence each.
    pub problems: Vec<String>,
}

/// Those that count in a project. `root` is resolved; `config` is Undine's own folder of the person.
pub fn find(root: &Path, config: &Path) -> AgentFiles {
    let mut found = AgentFiles::default();
    for source in sources(root, config) {
        found.look_for_skills(&source);
        found.look_for_commands(&source);
        found.look_for_kinds(&source);
    }
    found
}

/// A folder that may hold such files, and whose it is.
pub(crate) struct Source {
    pub folder: PathBuf,
    whose: Whose,
}

enum Whose {
    Project {
        root: PathBuf,
        folders: Vec<PathBuf>,
    },
    Person,
}

/// The project's, nearest first, then the person's.
pub(crate) fn sources(root: &Path, config: &Path) -> Vec<Source> {
    let folders = upwards::folders(root);
    let of_project = folders
        .iter()
        .flat_map(|folder| SHARED.map(|name| folder.join(name)));
    let mut sources: Vec<Source> = of_project
        .map(|folder| Source {
            folder,
            whose: Whose::Project {
                root: root.to_path_buf(),
                folders: folders.clone(),
            },
        })
        .collect();
    let home = workspace::home();
    let shared = home
        .iter()
        .flat_map(|home| SHARED.map(|name| home.join(name)));
    let of_person = [config.to_path_buf()].into_iter().chain(shared);
    sources.extend(of_person.map(|folder| Source {
        folder,
        whose: Whose::Person,
    }));
    sources
}

impl Source {
    /// The head of a file in it.
    pub(crate) fn text(&self, path: &Path) -> io::Result<String> {
        match &self.whose {
            Whose::Project { root, folders } => instructions::text(path, root, folders),
            Whose::Person => instructions::head(path),
        }
    }

    /// A file's path as the model is told it.
    fn shown(&self, path: &Path) -> String {
        match &self.whose {
            Whose::Project { root, .. } => path.strip_prefix(root).unwrap_or(path),
            Whose::Person => path,
        }
        .display()
        .to_string()
    }
}

impl AgentFiles {
    fn look_for_skills(&mut self, source: &Source) {
        for folder in entries(&source.folder.join("skills")) {
            let path = folder.join("SKILL.md");
            let Some(text) = self.read(source, &path) else {
                continue;
            };
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let skill = Skill::read(&text, &name, source.shown(&path));
            if skill.is_some() && matches!(source.whose, Whose::Person) {
                self.skill_folders.extend(folder.canonicalize().ok());
            }
            self.skills.extend(skill);
        }
    }

    /// Of several with one name the first counts.
    fn look_for_commands(&mut self, source: &Source) {
        for path in markdown(&source.folder.join("commands"), MOST_DEEP) {
            let Some(text) = self.read(source, &path) else {
                continue;
            };
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let command = CommandFile::read(&text, &stem);
            let is_known =
                |it: &CommandFile| self.commands.iter().any(|known| known.name == it.name);
            self.commands.extend(command.filter(|it| !is_known(it)));
        }
    }

    /// The engine sorts out those with one name.
    fn look_for_kinds(&mut self, source: &Source) {
        let scope = match source.whose {
            Whose::Project { .. } => Scope::Project,
            Whose::Person => Scope::Person,
        };
        for path in markdown(&source.folder.join("agents"), 1) {
            let Some(text) = self.read(source, &path) else {
                continue;
            };
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            match read_kind(&source.shown(&path), &stem, scope, &text) {
                Ok(kind) => self.kinds.push(kind),
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    fn read(&mut self, source: &Source, path: &Path) -> Option<String> {
        match source.text(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => None,
            Err(error) => {
                let shown = source.shown(path);
                self.problems
                    .push(format!("{shown} cannot be read ({error}); it is left out."));
                None
            }
        }
    }
}

/// What is in a folder, in the order of names; nothing where there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = found.take(MOST_ENTRIES).map(|it| it.path()).collect();
    paths.sort();
    paths
}

/// The Markdown files in a folder and those in it: first its own, then those further in. No link to a folder is followed.
fn markdown(folder: &Path, deep: usize) -> Vec<PathBuf> {
    let is_folder = |it: &PathBuf| it.symlink_metadata().is_ok_and(|it| it.is_dir());
    let (folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) =
        entries(folder).into_iter().partition(is_folder);
    files.retain(|it| it.extension().is_some_and(|it| it == "md"));
    if deep > 1 {
        files.extend(folders.iter().flat_map(|it| markdown(it, deep - 1)));
    }
    files
}
