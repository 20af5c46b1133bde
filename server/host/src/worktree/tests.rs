//! Checkouts with real git: what they begin with, what comes back, and what does not.

use super::*;
use crate::documents::{Content, Document};
use crate::event::{Ask, Editor, Event};
use crate::plan::{FileOperations, World};
use crate::process::Children;
use crate::process::background::Jobs;
use crate::process::launcher::Launcher;
use crate::store::answers::Answers;
use crate::store::checkpoints::Checkpoints;
use crate::store::journal::Journals;
use crate::workspace::{Workspace, uri_of};
use engine::text::Encoding;
use protocol::config::Config;
use protocol::review::Author;
use protocol::session::{CallId, TurnId};
use ropey::Rope;
use std::collections::HashMap;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A project under git, and what Undine keeps beside it.
struct Stage {
    _folder: tempfile::TempDir,
    project: PathBuf,
    folders: Folders,
    documents: Snapshot,
    world: World,
}

impl Stage {
    /// With some files committed.
    fn new() -> Self {
        Self::with_documents(&[])
    }

    /// With texts that an editor has open and has not saved.
    fn with_documents(documents: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let project = path.join("project");
        let folders = Folders {
            config: path.join("config"),
            data: path.join("data"),
        };
        fs::create_dir(&project).unwrap();
        let documents = documents.iter().map(|(name, text)| {
            let path = project.join(name);
            let document = Document {
                uri: uri_of(&path),
                version: 1,
                content: Content::Text(Rope::from_str(text)),
                saved: None,
                is_touched: true,
                differs_from: None,
            };
            (path, document)
        });
        let documents: Snapshot = Arc::new(documents.collect::<HashMap<_, _>>());
        let world = world(&project, &folders, documents.clone());
        let stage = Self {
            _folder: folder,
            project,
            folders,
            documents,
            world,
        };
        stage.git(&["init", "-q", "-b", "main"]);
        stage.git(&["config", "user.name", "P"]);
        stage.git(&["config", "user.email", "p@example.org"]);
        let lines: String = (1..=20).map(|it| format!("line {it}\n")).collect();
        stage.write("a.txt", &lines);
        stage.write("b.txt", "one\ntwo\n");
        stage.write("dir/c.txt", "c\n");
        stage.write(".gitignore", "*.log\ntarget/\n");
        stage.git(&["add", "-A"]);
        stage.git(&["commit", "-q", "-m", "first"]);
        stage
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.project, arguments)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.project, name, text);
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project.join(name)).unwrap()
    }

    async fn checkout(&self) -> Checkout {
        let made = Checkout::create(&self.folders, &self.project, &self.documents, 60);
        made.await.unwrap()
    }

    async fn land(&self, checkout: &mut Checkout) -> Result<String, String> {
        let token = CancellationToken::new();
        let landed = checkout.land(&self.world, "Subagent", &token).await;
        landed.map(|it| it.told())
    }

    /// All files of the project and of its repository, with their bytes.
    fn all(&self) -> Vec<(PathBuf, Vec<u8>)> {
        all(&self.project)
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null");
    git.env("GIT_CONFIG_NOSYSTEM", "1");
    let said = git.output().unwrap();
    let complaint = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "git {arguments:?}: {complaint}");
    String::from_utf8(said.stdout).unwrap()
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.symlink_metadata().unwrap().is_dir() {
                true => folders.push(path),
                false => found.push((path.clone(), fs::read(&path).unwrap_or_default())),
            }
        }
    }
    found.sort();
    found
}

fn world(project: &Path, folders: &Folders, documents: Snapshot) -> World {
    let (inbox, mut events) = mpsc::channel(16);
    let open = documents.clone();
    tokio::spawn(async move {
        // Stands in for the loop.
        while let Some(event) = events.recv().await {
            match event {
                Event::Editor(Ask::Documents(reply)) => drop(reply.send(open.clone())),
                Event::Editor(Ask::NoteEdit { reply, .. }) => drop(reply.send(())),
                Event::Editor(Ask::Reviewed(reply)) => drop(reply.send(())),
                _ => {}
            }
        }
    });
    let protected = [folders.config.clone(), folders.data.clone()];
    let workspace = Workspace::new(&[project.to_path_buf()], &protected).unwrap();
    let config = Config::default();
    World {
        call: CallId(0),
        kinds: Arc::default(),
        agent: None,
        log: None,
        memory: None,
        answers: Answers::new(&folders.config),
        attended: false,
        skill_folders: [].into(),
        session: "s".into(),
        author: Author {
            session: "s".to_owned(),
            turn: TurnId(1),
            call: CallId(1),
        },
        workspace: Arc::new(workspace),
        documents,
        seen: Arc::default(),
        given: Arc::default(),
        editor: Editor::new(inbox),
        encoding: Encoding::Utf8,
        versioned_edits: false,
        file_operations: FileOperations::default(),
        journals: Journals::new(&folders.data),
        limits: Arc::new(config.limits),
        edits: config.edits,
        exec: config.exec,
        network: config.safety.network,
        filesystem: config.safety.filesystem,
        locks: Arc::default(),
        children: Arc::new(Children::new(Launcher::own().unwrap())),
        jobs: Jobs::new(folders.data.join("processes"), Box::new(|_| {})),
        checkpoints: Arc::new(Checkpoints::new(&folders.data)),
        checkpoint_first: true,
        action: None,
        key_variables: Arc::new([]),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_has_what_git_keeps_or_would_keep_as_it_is_now() {
    let unsaved = [
        ("b.txt", "one\nunsaved\n"),
        ("fresh.txt", "not on the disk\n"),
        ("x.log", "no\n"),
    ];
    let stage = Stage::with_documents(&unsaved);
    stage.write("a.txt", "uncommitted\n");
    stage.write("staged.txt", "staged\n");
    stage.git(&["add", "staged.txt"]);
    stage.write("new/untracked.txt", "untracked\n");
    stage.write("noise.log", "ignored\n");
    stage.write("target/out", "ignored\n");
    stage.write(".undine/conversations/s.jsonl", "{}\n");
    fs::remove_file(stage.project.join("dir/c.txt")).unwrap();
    symlink("a.txt", stage.project.join("link")).unwrap();
    let before = stage.all();
    let checkout = stage.checkout().await;
    let files = all(&checkout.root())
        .into_iter()
        .filter_map(|(path, bytes)| {
            let name = path.strip_prefix(checkout.root()).unwrap().to_owned();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            (!name.starts_with(".git")).then_some((name.display().to_string(), text))
        });
    let files: Vec<_> = files.collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert_eq!(
        files,
        [
            (".gitignore", "*.log\ntarget/\n"),
            ("a.txt", "uncommitted\n"),
            ("b.txt", "one\nunsaved\n"),
            ("fresh.txt", "not on the disk\n"),
            ("link", "uncommitted\n"),
            ("new/untracked.txt", "untracked\n"),
            ("staged.txt", "staged\n"),
        ]
    );
    assert!(checkout.root().join("link").is_symlink());
    // Git works in it as it does in the project.
    let status = git(&checkout.root(), &["status", "--porcelain", "a.txt", "dir"]);
    assert_eq!(status, " M a.txt\n D dir/c.txt\n");
    assert_eq!(
        git(&checkout.root(), &["rev-parse", "main"]),
        stage.git(&["rev-parse", "HEAD"])
    );
    // And nothing at all happened to the project or to its repository.
    assert!(stage.all() == before);
    assert_eq!(checkout.changes().await.unwrap().files, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_subagent_does_in_its_repository_does_not_reach_the_projects() {
    let stage = Stage::new();
    let before = stage.all();
    let checkout = stage.checkout().await;
    write(&checkout.root(), "a.txt", "committed there\n");
    for it in [
        &["checkout", "-q", "-b", "mine"][..],
        &["commit", "-q", "-a", "-m", "work"],
        &["branch", "-f", "main", "HEAD"],
        &["config", "core.hooksPath", "/tmp"],
    ] {
        git(&checkout.root(), it);
    }
    assert!(stage.all() == before);
    // What was committed there is a change all the same.
    let changed = checkout.changes().await.unwrap();
    assert_eq!(changed.files.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_repository_or_a_commit_there_is_no_checkout_and_it_is_said_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let folders = Folders {
        config: path.join("config"),
        data: path.join("data"),
    };
    let project = path.join("project");
    fs::create_dir(&project).unwrap();
    let create = async || {
        let made = Checkout::create(&folders, &project, &Snapshot::default(), 60).await;
        made.unwrap_err()
            .replace(&project.display().to_string(), "PROJECT")
    };
    assert_eq!(
        create().await,
        "There is no worktree for the subagent: PROJECT is in no git repository. Nothing was started; \
         `isolation: shared` needs none."
    );
    git(&project, &["init", "-q"]);
    assert_eq!(
        create().await,
        "There is no worktree for the subagent: the repository has no commit yet; the first one must be made before. \
         Nothing was started; `isolation: shared` needs none."
    );
    assert_eq!(named(&folders.worktrees()), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_change_comes_back() {
    let stage = Stage::new();
    let text: String = (1..=30).map(|it| format!("moved {it}\n")).collect();
    stage.write("old name.txt", &text);
    fs::write(stage.project.join("binary"), [0, 159, 146, 150]).unwrap();
    stage.write("run.sh", "#!/bin/sh\n");
    let mut checkout = stage.checkout().await;
    let root = checkout.root();
    write(&root, "b.txt", "one\nTWO\n");
    write(&root, "fresh/d.txt", "d\n");
    fs::remove_file(root.join("dir/c.txt")).unwrap();
    fs::rename(root.join("old name.txt"), root.join("new \"name\".txt")).unwrap();
    fs::write(root.join("binary"), [0, 1, 255, 254, 10]).unwrap();
    fs::write(root.join("new binary"), [255, 0, 1]).unwrap();
    fs::set_permissions(root.join("run.sh"), Permissions::from_mode(0o755)).unwrap();
    write(&root, "noise.log", "ignored\n");
    write(&root, ".undine/conversations/child.jsonl", "{}\n");
    let told = stage.land(&mut checkout).await.unwrap();
    assert_eq!(
        told,
        "The subagent's changes are in the project: 7 files.\nM b.txt\nM binary\nD dir/c.txt\nA fresh/d.txt\n\
         R old name.txt -> new \"name\".txt\nA new binary\nM run.sh"
    );
    assert_eq!(stage.read("b.txt"), "one\nTWO\n");
    assert_eq!(stage.read("fresh/d.txt"), "d\n");
    assert!(!stage.project.join("dir/c.txt").exists());
    assert!(!stage.project.join("old name.txt").exists());
    assert_eq!(stage.read("new \"name\".txt"), text);
    assert_eq!(
        fs::read(stage.project.join("binary")).unwrap(),
        [0, 1, 255, 254, 10]
    );
    assert_eq!(
        fs::read(stage.project.join("new binary")).unwrap(),
        [255, 0, 1]
    );
    let mode = fs::metadata(stage.project.join("run.sh"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o111, 0o111);
    assert!(!stage.project.join("noise.log").exists());
    let checkpoints = stage.world.checkpoints.list(&stage.project);
    assert_eq!(checkpoints.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn bug_085_the_sessions_of_a_subagent_are_no_part_of_its_changes() {
    let stage = Stage::new();
    let mut checkout = stage.checkout().await;
    write(
        &checkout.root(),
        ".undine/conversations/child.jsonl",
        "{}\n",
    );
    write(
        &checkout.root(),
        "dir/.undine/conversations/x.jsonl",
        "{}\n",
    );
    let told = stage.land(&mut checkout).await;
    assert_eq!(told, Ok("The subagent changed no files.".to_owned()));
    assert!(!stage.project.join(".undine").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_project_changed_elsewhere_meanwhile_is_kept() {
    let stage = Stage::new();
    let mut checkout = stage.checkout().await;
    let text = stage.read("a.txt");
    write(
        &checkout.root(),
        "a.txt",
        &text.replace("line 3\n", "theirs\n"),
    );
    stage.write("a.txt", &text.replace("line 17\n", "ours\n"));
    stage.land(&mut checkout).await.unwrap();
    let both = text
        .replace("line 3\n", "theirs\n")
        .replace("line 17\n", "ours\n");
    assert_eq!(stage.read("a.txt"), both);
}

#[tokio::test(flavor = "multi_thread")]
async fn bug_084_a_conflict_is_an_error_leaves_the_project_alone_and_keeps_a_patch() {
    let stage = Stage::new();
    let mut checkout = stage.checkout().await;
    let text = stage.read("a.txt");
    write(
        &checkout.root(),
        "a.txt",
        &text.replace("line 3\n", "theirs\n"),
    );
    write(&checkout.root(), "b.txt", "fits\n");
    write(&checkout.root(), "new.txt", "new\n");
    stage.write("a.txt", &text.replace("line 3\n", "ours\n"));
    let before = stage.all();
    let error = stage.land(&mut checkout).await.unwrap_err();
    assert!(stage.all() == before);
    let patches = fs::read_dir(stage.folders.data.join("patches")).unwrap();
    let patches: Vec<_> = patches.map(|it| it.unwrap().path()).collect();
    let [patch] = &patches[..] else {
        panic!("{patches:?}")
    };
    assert_eq!(
        patch.metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    let error = error
        .replace(&patch.display().to_string(), "PATCH")
        .replace(&checkout.root().display().to_string(), "TREE");
    assert_eq!(
        error,
        "The subagent's changes were not brought into the project, which is as it was:\na.txt does not fit: the \
         subagent and the project, both changed line 3 of the project's file.\nAll of its changes are in the patch \
         PATCH, and its files in TREE. Look at both sides and make the changes that are still wanted."
    );
    // The patch has all of it, for the state that the subagent began with.
    stage.git(&["checkout", "-q", "a.txt"]);
    stage.git(&["apply", &patch.display().to_string()]);
    assert_eq!(stage.read("a.txt"), text.replace("line 3\n", "theirs\n"));
    assert_eq!(
        (stage.read("b.txt"), stage.read("new.txt")),
        ("fits\n".into(), "new\n".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_that_does_not_fit_is_a_conflict_and_not_a_guess() {
    let stage = Stage::new();
    fs::write(stage.project.join("binary"), [0, 1, 2]).unwrap();
    stage.write("gone.txt", "gone\n");
    let mut checkout = stage.checkout().await;
    let root = checkout.root();
    fs::write(root.join("binary"), [0, 1, 3]).unwrap();
    fs::write(stage.project.join("binary"), [0, 1, 4]).unwrap();
    fs::remove_file(root.join("b.txt")).unwrap();
    stage.write("b.txt", "changed\n");
    write(&root, "gone.txt", "changed\n");
    fs::remove_file(stage.project.join("gone.txt")).unwrap();
    write(&root, "both.txt", "theirs\n");
    stage.write("both.txt", "ours\n");
    symlink("a.txt", root.join("link")).unwrap();
    write(&root, ".undine/config.toml", "mode = \"yolo\"\n");
    let before = stage.all();
    let error = stage.land(&mut checkout).await.unwrap_err();
    assert!(stage.all() == before);
    let faults: Vec<&str> = error.lines().skip(1).take(6).collect();
    assert_eq!(
        faults,
        [
            ".undine/config.toml is one of Undine's own settings or records.",
            "b.txt was deleted by the subagent and changed in the project.",
            "binary is no text, and was changed in the project too.",
            "both.txt was made in the project too, with another text.",
            "gone.txt was changed by the subagent and deleted in the project.",
            "link is a symbolic link, which cannot be brought over.",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_time_brings_only_new_work() {
    let stage = Stage::new();
    let mut checkout = stage.checkout().await;
    write(&checkout.root(), "b.txt", "one\ntwo\nthree\n");
    write(&checkout.root(), "new.txt", "new\n");
    stage.land(&mut checkout).await.unwrap();
    // The person takes a part of it back; that must not come again.
    fs::remove_file(stage.project.join("new.txt")).unwrap();
    let again = stage.land(&mut checkout).await.unwrap();
    assert_eq!(again, "The subagent changed no files.");
    write(&checkout.root(), "dir/c.txt", "C\n");
    let told = stage.land(&mut checkout).await.unwrap();
    assert_eq!(
        told,
        "The subagent's changes are in the project: 1 file.\nM dir/c.txt"
    );
    assert!(!stage.project.join("new.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_becomes_a_folder_is_seen_and_refused_whole() {
    let stage = Stage::new();
    let mut checkout = stage.checkout().await;
    fs::remove_file(checkout.root().join("b.txt")).unwrap();
    write(&checkout.root(), "b.txt/inner", "inner\n");
    let changed = checkout.changes().await.unwrap().files;
    let names: Vec<_> = changed.iter().map(|it| it.path.clone()).collect();
    assert_eq!(names, ["b.txt", "b.txt/inner"].map(PathBuf::from));
    let before = stage.all();
    stage.land(&mut checkout).await.unwrap_err();
    assert!(stage.all() == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn bug_083_eight_checkouts_at_once_are_all_made_and_disjoint_changes_all_land() {
    let stage = Arc::new(Stage::new());
    let agents = (0..8).map(|it| {
        let stage = stage.clone();
        tokio::spawn(async move {
            let mut checkout = stage.checkout().await;
            write(&checkout.root(), &format!("of/{it}.txt"), "mine\n");
            let text = fs::read_to_string(checkout.root().join("a.txt")).unwrap();
            // Each its own line of the same file too, with an unchanged one between.
            let line = format!("line {}\n", 2 * it + 1);
            write(
                &checkout.root(),
                "a.txt",
                &text.replace(&line, &format!("agent {it}\n")),
            );
            let told = stage.land(&mut checkout).await;
            checkout.remove();
            told
        })
    });
    let agents: Vec<_> = agents.collect();
    for it in agents {
        let told = it.await.unwrap();
        assert!(told.is_ok(), "{told:?}");
    }
    let expected: String = (1..=20)
        .map(|it| match it {
            it if it % 2 == 1 && it < 16 => format!("agent {}\n", it / 2),
            it => format!("line {it}\n"),
        })
        .collect();
    assert_eq!(stage.read("a.txt"), expected);
    for it in 0..8 {
        assert_eq!(stage.read(&format!("of/{it}.txt")), "mine\n");
    }
    assert_eq!(named(&stage.folders.worktrees()), [""; 0]);
    assert_eq!(named(&stage.folders.data.join("worktrees")), [""; 0]);
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_eight_that_conflict_one_lands_and_seven_are_errors_that_lose_nothing() {
    let stage = Arc::new(Stage::new());
    let mut checkouts = Vec::new();
    for it in 0..8 {
        let checkout = stage.checkout().await;
        write(&checkout.root(), "b.txt", &format!("agent {it}\n"));
        checkouts.push(checkout);
    }
    let agents = checkouts.into_iter().map(|mut checkout| {
        let stage = stage.clone();
        tokio::spawn(async move {
            let told = stage.land(&mut checkout).await;
            (
                told,
                fs::read_to_string(checkout.root().join("b.txt")).unwrap(),
            )
        })
    });
    let agents: Vec<_> = agents.collect();
    let mut landed = Vec::new();
    for it in agents {
        let (told, text) = it.await.unwrap();
        match told {
            Ok(_) => landed.push(text),
            Err(error) => {
                let patch = error.split("in the patch ").nth(1).unwrap();
                let patch = fs::read_to_string(patch.split(", and").next().unwrap()).unwrap();
                assert!(patch.contains(&format!("+{text}")), "{patch}");
            }
        }
    }
    assert_eq!(landed, [stage.read("b.txt")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_checkouts_that_nobody_uses_are_swept_and_only_after_days() {
    let stage = Stage::new();
    let (kept, used) = (stage.checkout().await, stage.checkout().await);
    let (left, said) = (kept.root(), kept.kept());
    assert!(said.contains(&left.display().to_string()), "{said}");
    drop(kept);
    let day = Duration::from_secs(24 * 60 * 60);
    sweep(&stage.folders, 7, SystemTime::now() + 6 * day);
    assert!(left.exists());
    sweep(&stage.folders, 7, SystemTime::now() + 8 * day);
    assert!(!left.exists() && used.root().exists());
    used.remove();
    assert_eq!(named(&stage.folders.worktrees()), [""; 0]);
    assert_eq!(named(&stage.folders.data.join("worktrees")), [""; 0]);
}

/// A filter and a monitor are programs that a repository names.
#[tokio::test(flavor = "multi_thread")]
async fn no_program_of_the_repository_is_run() {
    let stage = Stage::new();
    let ran = stage.folders.config.with_file_name("ran");
    let program = format!("touch {} && cat", ran.display());
    stage.write(".gitattributes", "*.txt filter=evil diff=evil\n");
    for key in [
        "filter.evil.clean",
        "filter.evil.smudge",
        "diff.evil.textconv",
        "core.fsmonitor",
    ] {
        stage.git(&["config", key, &program]);
    }
    stage.write("a.txt", "changed\n");
    let mut checkout = stage.checkout().await;
    write(&checkout.root(), "b.txt", "changed\n");
    stage.write("b.txt", "conflict\n");
    stage.land(&mut checkout).await.unwrap_err();
    assert!(!ran.exists());
}
