//! A row of changes that fails at its end, with files that are looked at byte by byte and number by number.

use super::*;
use crate::workspace::Workspace;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

const LIMIT: u64 = 1 << 20;

struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    workspace: Workspace,
}

/// Name, text, mode and number of every file.
type Tree = BTreeMap<String, (String, u32, u64)>;

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        for (name, mode) in [("a", 0o640), ("b", 0o755), ("c", 0o600), ("last", 0o644)] {
            fs::write(root.join(name), format!("old {name}")).unwrap();
            fs::set_permissions(root.join(name), Permissions::from_mode(mode)).unwrap();
        }
        fs::hard_link(root.join("b"), root.join("b again")).unwrap();
        let workspace = Workspace::new(std::slice::from_ref(&root), &[]).unwrap();
        Self {
            _folder: folder,
            root,
            workspace,
        }
    }

    fn change(&self, index: usize, name: &str, new: Option<&str>) -> OnDisk {
        let file = self.workspace.resolve(name).unwrap();
        OnDisk {
            index,
            old: fs::read(&file.real).ok(),
            new: new.map(|it| it.as_bytes().to_vec()),
            file,
            to: None,
            mode: None,
        }
    }

    fn moved(&self, index: usize, name: &str, to: &str, new: &str) -> OnDisk {
        OnDisk {
            to: Some(self.workspace.resolve(to).unwrap()),
            ..self.change(index, name, Some(new))
        }
    }

    /// One of every kind; what is special is the last.
    fn all(&self) -> Vec<OnDisk> {
        vec![
            self.change(0, "a", Some("new a")),
            self.change(1, "b", Some("new b, longer")),
            self.change(2, "deep/made", Some("made")),
            self.change(3, "c", None),
            self.change(4, "last", Some("new last")),
        ]
    }

    fn stage(&self, plans: Vec<OnDisk>) -> Staged {
        stage(plans, "id", &self.workspace).unwrap()
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        for entry in fs::read_dir(&self.root).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let meta = path.symlink_metadata().unwrap();
            let text = match meta.is_file() {
                true => fs::read_to_string(&path).unwrap(),
                false => "no file".to_owned(),
            };
            tree.insert(name, (text, meta.mode() & 0o7777, meta.ino()));
        }
        tree
    }
}

fn place(staged: Staged) -> Result<(), Broken> {
    staged.place(LIMIT, &CancellationToken::new()).map(drop)
}

#[test]
fn a_row_that_comes_to_its_end_leaves_nothing_beside() {
    let place_ = Place::new();
    let staged = place_.stage(place_.all());
    assert_eq!(staged.in_place(), [1]);
    assert_eq!(place_.tree()["a"].0, "old a", "nothing is changed so far");
    place(staged).unwrap();
    let texts: Vec<(String, String, u32)> = place_
        .tree()
        .into_iter()
        .map(|(name, (text, mode, _))| (name, text, mode))
        .filter(|(name, _, _)| name != "deep")
        .collect();
    let file = |name: &str, text: &str, mode| (name.to_owned(), text.to_owned(), mode);
    assert_eq!(
        texts,
        [
            file("a", "new a", 0o640),
            file("b", "new b, longer", 0o755),
            file("b again", "new b, longer", 0o755),
            file("last", "new last", 0o644),
        ]
    );
    assert_eq!(
        fs::read_to_string(place_.root.join("deep/made")).unwrap(),
        "made"
    );
}

/// The very files are back: their numbers too, and so whatever else hangs on them.
#[test]
fn a_row_that_fails_at_its_last_file_gives_every_file_back() {
    let place_ = Place::new();
    let before = place_.tree();
    let staged = place_.stage(place_.all());
    // What is to take the last one's place is gone.
    fs::remove_file(place_.root.join(".undine-id-4")).unwrap();
    let broken = place(staged).unwrap_err();
    assert!(
        matches!(&broken.why, Unplaced::Failed(it) if it.contains("last cannot be written")),
        "{broken:?}"
    );
    assert_eq!(broken.left, Vec::<String>::new());
    assert_eq!(place_.tree(), before);
}

#[test]
fn moves_are_taken_back_too() {
    let place_ = Place::new();
    let before = place_.tree();
    let staged = place_.stage(vec![
        place_.moved(0, "a", "deep/er/a", "old a"),
        place_.moved(1, "c", "deep/c", "new c"),
        place_.change(2, "last", Some("new")),
    ]);
    fs::write(place_.root.join("last"), "another").unwrap();
    let broken = place(staged).unwrap_err();
    assert!(matches!(broken.why, Unplaced::Moved), "{broken:?}");
    assert_eq!(broken.left, Vec::<String>::new());
    let mut expected = before;
    expected.get_mut("last").unwrap().0 = "another".to_owned();
    assert_eq!(place_.tree(), expected);
}

#[test]
fn a_move_onto_a_file_that_appears_meanwhile_does_not_overwrite_it() {
    for new in ["old a", "new a"] {
        let place_ = Place::new();
        let staged = place_.stage(vec![place_.moved(0, "a", "there", new)]);
        fs::write(place_.root.join("there"), "the person's").unwrap();
        let broken = place(staged).unwrap_err();
        assert!(matches!(broken.why, Unplaced::Moved), "{broken:?}");
        let tree = place_.tree();
        assert_eq!(
            (tree["a"].0.as_str(), tree["there"].0.as_str()),
            ("old a", "the person's")
        );
        assert_eq!(tree.len(), 6, "{tree:?}");
    }
}

#[test]
fn a_cancelled_row_changes_nothing() {
    let place_ = Place::new();
    let before = place_.tree();
    let token = CancellationToken::new();
    token.cancel();
    let Err(broken) = place_.stage(place_.all()).place(LIMIT, &token) else {
        panic!("it went through");
    };
    assert!(matches!(broken.why, Unplaced::Cancelled));
    assert_eq!(place_.tree(), before);
}

#[test]
fn r_017_a_folder_that_becomes_a_symlink_before_the_row_is_not_written_through() {
    let place_ = Place::new();
    let outside = place_.root.with_file_name("outside");
    for folder in [&outside, &place_.root.join("sub")] {
        fs::create_dir(folder).unwrap();
        for name in ["x", "y", "z"] {
            fs::write(folder.join(name), name).unwrap();
        }
    }
    let single = [
        place_.change(0, "sub/x", Some("new")),
        place_.change(0, "sub/new", Some("new")),
        place_.change(0, "sub/y", None),
        place_.moved(0, "sub/z", "sub/zz", "z"),
        place_.moved(0, "a", "sub/a", "new"),
    ];
    for plan in single {
        let staged = place_.stage(vec![plan]);
        fs::rename(place_.root.join("sub"), place_.root.join("aside")).unwrap();
        symlink(&outside, place_.root.join("sub")).unwrap();
        let broken = place(staged).unwrap_err();
        assert!(matches!(broken.why, Unplaced::Moved), "{broken:?}");
        fs::remove_file(place_.root.join("sub")).unwrap();
        fs::rename(place_.root.join("aside"), place_.root.join("sub")).unwrap();
        for folder in [&outside, &place_.root.join("sub")] {
            let mut names: Vec<_> = fs::read_dir(folder)
                .unwrap()
                .map(|it| it.unwrap().file_name())
                .collect();
            names.sort();
            assert_eq!(names, ["x", "y", "z"]);
            assert_eq!(fs::read_to_string(folder.join("x")).unwrap(), "x");
        }
    }
}

/// Silence would be the worst: whoever reads it can see to it.
#[test]
fn what_cannot_be_taken_back_is_named_and_its_old_text_kept() {
    let place_ = Place::new();
    let mut staged = place_.stage(place_.all());
    let mut undos = Vec::new();
    for at in 0..4 {
        undos.push(staged.steps[at].place(LIMIT, false).ok().unwrap());
    }
    // Another program is as quick.
    fs::write(place_.root.join("a"), "a third text").unwrap();
    let broken = staged.broken(Unplaced::Cancelled, None, &undos, LIMIT);
    drop(staged);
    let kept = place_.root.join(".undine-id-0-old");
    assert_eq!(
        broken.left,
        [format!(
            "a was changed by another program right after, so it is left as it is; what it was is in {}",
            kept.display()
        )]
    );
    assert_eq!(fs::read_to_string(kept).unwrap(), "old a");
    let tree = place_.tree();
    assert_eq!(tree["a"].0, "a third text");
    assert_eq!(tree["b"].0, "old b");
    assert_eq!(tree["c"].0, "old c");
}
