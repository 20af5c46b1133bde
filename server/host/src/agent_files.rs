//! Finds and reads the files that describe kinds of subagents: `agents/*.md` (spec 21.4).
//!
//! Looked at before each prompt, as the project's instructions are; what a file says is the engine's to read.

use crate::regular;
use crate::workspace;
use engine::agents::{KindFile, Scope, read_kind};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders that have such files, in order: of two with one name the first counts.
const FOLDERS: [&str; 3] = [".undine", ".claude", ".agents"];

/// The most files of a folder that are looked at.
const MOST: usize = 128;
/// The most bytes of a file.
const MAX_BYTES: u64 = 64 * 1024;

/// Those of a project, then the person's. What is wrong is a sentence each. `root` is resolved, `config` is Undine's own folder.
pub fn find(root: &Path, config: &Path) -> (Vec<KindFile>, Vec<String>) {
    let mut found = (Vec::new(), Vec::new());
    for folder in FOLDERS {
        read_folder(
            &root.join(folder).join("agents"),
            Scope::Project,
            Some(root),
            &mut found,
        );
    }
    let home = workspace::home();
    let own = home.iter().flat_map(|home| FOLDERS.map(|it| home.join(it)));
    for folder in std::iter::once(config.to_path_buf()).chain(own) {
        read_folder(&folder.join("agents"), Scope::Person, None, &mut found);
    }
    found
}

fn read_folder(
    folder: &Path,
    scope: Scope,
    within: Option<&Path>,
    (kinds, problems): &mut (Vec<KindFile>, Vec<String>),
) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let files = entries.flatten().map(|it| it.path());
    let mut files: Vec<PathBuf> = files
        .filter(|it| it.extension().is_some_and(|it| it == "md"))
        .collect();
    files.sort();
    for path in files.iter().take(MOST) {
        let shown = match within.and_then(|root| path.strip_prefix(root).ok()) {
            Some(inside) => inside.display().to_string(),
            None => path.display().to_string(),
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let read = text(path, within).map_err(|why| format!("{shown} is left out: {why}."));
        match read.and_then(|text| read_kind(&shown, &stem, scope, &text)) {
            Ok(kind) => kinds.push(kind),
            Err(problem) => problems.push(problem),
        }
    }
}

/// The error is the end of a sentence.
fn text(path: &Path, within: Option<&Path>) -> Result<String, String> {
    // A link of the project's could show the model any file of the person's.
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    if within.is_some_and(|root| !real.starts_with(root)) {
        return Err("it is a link that leads out of the project".to_owned());
    }
    let bytes = regular::read_capped(&real, MAX_BYTES).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or(format!("it is over {} KiB", MAX_BYTES >> 10))?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_all_folders_are_found_and_links_out_of_the_project_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("p/.undine/agents/b.md", "---\nname: b\n---\n");
        write("p/.claude/agents/a.md", "---\nname: a\n---\n");
        write("p/.claude/agents/notes.txt", "no");
        write("p/.agents/agents/c.md", "no front matter");
        write("own/agents/mine.md", "---\ndescription: x\n---\n");
        std::os::unix::fs::symlink(
            root.join("own/agents/mine.md"),
            root.join("p/.claude/agents/out.md"),
        )
        .unwrap();
        let (kinds, problems) = find(&root.join("p"), &root.join("own"));
        let names: Vec<&str> = kinds.iter().map(|it| it.kind.name.as_str()).collect();
        assert_eq!(names[..3], ["b", "a", "mine"]);
        assert_eq!(kinds[2].scope, Scope::Person);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems[0].starts_with(".claude/agents/out.md is left out: it is a link"),
            "{problems:?}"
        );
        assert!(problems[1].contains("front matter"), "{problems:?}");
    }
}
