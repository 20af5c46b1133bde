//! One string becomes a temporary workspace.
//!
//! A line `//- /src/a.rs` begins a file; the lines up to the next such line are its text. Beside the
//! project lie Undine's own folders, so that no test sees another's or the machine's.

use std::fs;
use std::path::{Path, PathBuf};

pub struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    pub fn new(files: &str) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("undine-test-")
            .tempdir()
            .unwrap();
        let workspace = Self { folder };
        for name in ["project", "config", "data", "home", "tmp"] {
            fs::create_dir(workspace.outside(name)).unwrap();
        }
        for (path, text) in split(files) {
            workspace.write(&path, text);
        }
        workspace
    }

    /// The project's folder, with every symlink resolved.
    pub fn root(&self) -> PathBuf {
        self.outside("project")
    }

    /// A place beside the project.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Where a file of the project lies.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches('/'))
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        String::from_utf8(fs::read(self.path(path)).unwrap()).unwrap()
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Replaces the user's `config.toml`.
    pub fn configure(&self, toml: &str) {
        fs::write(self.outside("config").join("config.toml"), toml).unwrap();
    }

    /// The logs of the project's sessions.
    pub fn logs(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path(".undine/conversations")) else {
            return Vec::new();
        };
        let paths = entries.map(|it| it.unwrap().path());
        let mut logs: Vec<PathBuf> = paths
            .filter(|it| it.extension().is_some_and(|it| it == "jsonl"))
            .collect();
        logs.sort();
        logs
    }

    /// The records of the project's only session. Each line must be a valid one.
    #[track_caller]
    pub fn records(&self) -> Vec<protocol::record::Record> {
        let logs = self.logs();
        assert_eq!(logs.len(), 1, "{logs:?}");
        let text = fs::read_to_string(&logs[0]).unwrap();
        assert!(text.ends_with('\n'), "the last line is torn: {text}");
        let lines = text.lines().enumerate().map(|(at, line)| {
            let line: protocol::record::Line =
                serde_json::from_str(line).unwrap_or_else(|it| panic!("{it}: {line}"));
            assert_eq!((line.v, line.seq), (protocol::record::VERSION, at as u64));
            line.record
        });
        lines.collect()
    }
}

/// The `file:` URI of a path, which must need no escaping.
pub fn uri(path: &Path) -> String {
    let path = path.to_str().unwrap();
    assert!(
        path.bytes()
            .all(|it| it.is_ascii_alphanumeric() || b"/._-".contains(&it)),
        "{path}"
    );
    format!("file://{path}")
}

fn split(files: &str) -> Vec<(String, String)> {
    let mut split: Vec<(String, String)> = Vec::new();
    for line in files.split_inclusive('\n') {
        match line.strip_prefix("//- ") {
            Some(path) => split.push((path.trim().to_owned(), String::new())),
            None => match split.last_mut() {
                Some((_, text)) => text.push_str(line),
                None => assert!(
                    line.trim().is_empty(),
                    "text before the first `//- /path` line"
                ),
            },
        }
    }
    split
}

#[test]
fn a_string_becomes_files() {
    let workspace = Workspace::new("//- /src/a.rs\nfn a() {}\n\n//- /b\n//- /c\nlast");
    assert_eq!(workspace.read("src/a.rs"), "fn a() {}\n\n");
    assert_eq!(
        (workspace.read("b").as_str(), workspace.read("c").as_str()),
        ("", "last")
    );
}
