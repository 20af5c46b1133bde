//! The file by itself: what counts in it, and what becomes of what the person wrote.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

const PATIENCE: Duration = Duration::from_secs(60);

struct Folder {
    folder: tempfile::TempDir,
    permissions: Permissions,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let permissions = Permissions::new(&folder.path().canonicalize().unwrap());
        Self {
            folder,
            permissions,
        }
    }

    fn with(text: &str) -> Self {
        let it = Self::new();
        it.write(text);
        it
    }

    fn write(&self, text: &str) {
        let path = self.permissions.path();
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o644)).unwrap();
    }

    fn text(&self) -> String {
        fs::read_to_string(self.permissions.path()).unwrap()
    }

    /// The rules that count in a project, and what does not count.
    fn read(&mut self, project: &str) -> (Vec<Rule>, Vec<String>) {
        let faults = self.permissions.refresh();
        (self.permissions.standing(Path::new(project)), faults)
    }
}

fn edits(project: Option<&str>) -> Answer {
    Answer {
        project: project.map(PathBuf::from),
        rule: Rule::EditProject,
    }
}

fn run(command: &str, cwd: &str) -> Rule {
    Rule::Run {
        command: command.into(),
        cwd: cwd.into(),
    }
}

fn outside(folder: &str, writes: bool) -> Rule {
    Rule::ExternalFolder {
        folder: folder.into(),
        writes,
    }
}

#[test]
fn what_is_kept_is_read_back_whatever_is_in_it() {
    let rules = [
        Rule::EditProject,
        outside("/q/a b", false),
        outside("/q/\"'\\\u{202e}\u{e4}", true),
        run("make test", "/p"),
        run("printf '%s\\n' \"$A\" ; ls\n\t-l", "/p/\u{7f}"),
        run("echo '\"\"\"' \"a \\\\ b\"", "/p"),
    ];
    let mut folder = Folder::new();
    for rule in &rules {
        let answer = Answer {
            project: Some("/p".into()),
            rule: rule.clone(),
        };
        folder.permissions.keep(&answer, PATIENCE).unwrap();
        folder.permissions.keep(&answer, PATIENCE).unwrap();
    }
    let (read, faults) = folder.read("/p");
    // Commands that are compared in another spelling stand behind once more.
    assert_eq!((&read[..rules.len()], faults), (&rules[..], vec![]));
    assert_eq!(folder.read("/p/sub"), (vec![], vec![]));
    let text = folder.text();
    assert!(text.starts_with(entries::HEAD), "{text}");
    assert_eq!(text.matches("[[allow]]\n").count(), rules.len(), "{text}");
    assert_eq!(engine::text::visible(&text), text);
    let mode = folder.permissions.path().metadata().unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_answer_without_a_project_counts_in_each() {
    let mut folder =
        Folder::with("[[allow]]\nedit = true\n\n[[allow]]\nproject = '/p/'\nread = '/q/'\n");
    let both = vec![Rule::EditProject, outside("/q", false)];
    assert_eq!(folder.read("/p"), (both, vec![]));
    assert_eq!(folder.read("/r"), (vec![Rule::EditProject], vec![]));
}

#[test]
fn what_the_person_wrote_stays_byte_for_byte() {
    let text = "# mine\r\n\r\n# about edits\r\n[[allow]] # why\r\nproject='/p'\r\nedit=true # yes\r\n\r\n# about q\r\n\
                [[allow]]\r\nread=\"/q\"\r\n# the end";
    let mut folder = Folder::with(text);
    let more = Answer {
        project: Some("/p".into()),
        rule: run("make", "/p"),
    };
    folder.permissions.keep(&more, PATIENCE).unwrap();
    let entry = "\r\n\r\n[[allow]]\r\nproject = \"/p\"\r\nrun = \"make\"\r\nfolder = \"/p\"\r\n";
    assert_eq!(folder.text(), format!("{text}{entry}"));
    folder.permissions.forget(&more, PATIENCE).unwrap();
    assert_eq!(folder.text(), format!("{text}\r\n"));
    folder
        .permissions
        .forget(&edits(Some("/p")), PATIENCE)
        .unwrap();
    assert_eq!(
        folder.text(),
        "# mine\r\n\r\n# about q\r\n[[allow]]\r\nread=\"/q\"\r\n# the end\r\n"
    );
    assert_eq!(folder.read("/p").0, [outside("/q", false)]);
    // It is not there any more.
    folder
        .permissions
        .forget(&edits(Some("/p")), PATIENCE)
        .unwrap();
}

#[test]
fn an_answer_is_taken_out_wherever_it_stands_and_the_head_stays() {
    let mut folder = Folder::new();
    let answer = edits(Some("/p"));
    folder.permissions.keep(&answer, PATIENCE).unwrap();
    let twice = folder.text() + "\n[[allow]]\nedit = true\nproject = \"\"\"/p\"\"\"\n";
    folder.write(&twice);
    folder.permissions.forget(&answer, PATIENCE).unwrap();
    assert_eq!(folder.text(), entries::HEAD);
    // A head without a blank line below it.
    folder.write("# head\n[[allow]]\nedit = true\n");
    folder.permissions.forget(&edits(None), PATIENCE).unwrap();
    assert_eq!(folder.text(), "# head\n");
}

#[test]
fn an_entry_that_means_nothing_does_not_count_and_the_rest_does() {
    for (entry, why) in [
        ("edti = true", "no `edti`"),
        ("edit = true\nmode = 'auto'", "no `mode`"),
        ("edit = false", "can only be true"),
        ("edit = 'true'", "can only be true"),
        ("edit = true\nread = '/q'", "exactly one"),
        ("read = '/q'\nwrite = '/q'", "exactly one"),
        ("project = '/p'", "exactly one"),
        ("", "exactly one"),
        ("read = 'q'", "`read` must be a whole path"),
        ("write = '/q/../r'", "`write` must be a whole path"),
        ("read = '~/q'", "`read` must be a whole path"),
        ("read = '*'", "`read` must be a whole path"),
        ("read = ''", "`read` must be a text"),
        ("read = ['/q']", "`read` must be a text"),
        (
            "edit = true\nproject = './p'",
            "`project` must be a whole path",
        ),
        ("edit = true\nproject = ''", "`project` must be a text"),
        ("run = 'make'", "`folder` is missing"),
        ("run = ' '\nfolder = '/p'", "`run` must be a text"),
        (
            "run = 'make'\nfolder = 'p'",
            "`folder` must be a whole path",
        ),
        ("run = 'a ('\nfolder = '/p'", "cannot be read"),
        ("edit = true\nfolder = '/p'", "`folder` goes with `run`"),
        ("run.x = 'make'\nfolder = '/p'", "`run` must be a text"),
    ] {
        let text = format!("[[allow]]\n{entry}\n\n[[allow]]\nwrite = '/w'\n");
        let mut folder = Folder::with(&text);
        let (rules, faults) = folder.read("/p");
        assert_eq!(rules, [outside("/w", true)], "{entry}");
        assert_eq!(faults.len(), 1, "{entry}: {faults:?}");
        assert!(faults[0].contains(why), "{entry}: {faults:?}");
        assert!(
            faults[0].contains("permissions.toml, line 1:"),
            "{faults:?}"
        );
        // Said once, and kept.
        assert_eq!(folder.read("/p").1, Vec::<String>::new(), "{entry}");
        folder
            .permissions
            .keep(&edits(Some("/p")), PATIENCE)
            .unwrap();
        assert!(folder.text().starts_with(&text), "{entry}");
    }
}

#[test]
fn in_a_file_that_cannot_be_read_nothing_counts_and_it_is_never_written() {
    for (text, why) in [
        ("[[allow]]\nedit = true\n[[allow\n", "line 3: "),
        ("[[allow]]\nedit = true\n<<<<<<< mine\n", "line 3: "),
        (
            "[[allow]]\nedit = true\nedit = true\n",
            "line 3: duplicate key",
        ),
        (
            "allow = [{edit = true}]\n",
            "line 1: write each answer as [[allow]]",
        ),
        (
            "\n[allow]\nedit = true\n",
            "line 2: write each answer as [[allow]]",
        ),
        ("allow = true\n", "line 1: write each answer as [[allow]]"),
    ] {
        let mut folder = Folder::with(text);
        let (rules, faults) = folder.read("/p");
        assert_eq!((rules, faults.len()), (vec![], 1), "{text}");
        assert!(faults[0].contains(why), "{text}: {faults:?}");
        assert!(
            folder
                .permissions
                .keep(&edits(Some("/p")), PATIENCE)
                .is_err()
        );
        assert!(folder.permissions.forget(&edits(None), PATIENCE).is_err());
        assert_eq!(folder.text(), text);
    }
    let mut folder = Folder::new();
    fs::write(
        folder.permissions.path(),
        b"# \xff\n[[allow]]\nedit = true\n",
    )
    .unwrap();
    let (rules, faults) = folder.read("/p");
    assert!(
        rules.is_empty() && faults[0].contains("UTF-8"),
        "{faults:?}"
    );
}

#[test]
fn a_key_beside_the_answers_is_named_and_they_count() {
    let mut folder = Folder::with("alow = 1\n\n[[allow]]\nedit = true\n");
    let (rules, faults) = folder.read("/p");
    assert_eq!(rules, [Rule::EditProject]);
    assert!(
        faults[0].contains("line 1: `alow` means nothing"),
        "{faults:?}"
    );
}

#[test]
fn a_file_that_others_can_write_does_not_count() {
    const TEXT: &str = "[[allow]]\nedit = true\n";
    type Spoil = fn(&Folder);
    let spoils: [(&str, Spoil); 5] = [
        ("chmod 600", |it| {
            fs::set_permissions(it.permissions.path(), PermissionsExt::from_mode(0o664)).unwrap();
        }),
        ("chmod 600", |it| {
            fs::set_permissions(it.permissions.path(), PermissionsExt::from_mode(0o602)).unwrap();
        }),
        ("hard link", |it| {
            fs::hard_link(it.permissions.path(), it.folder.path().join("other")).unwrap();
        }),
        ("it is a link to", |it| {
            let elsewhere = tempfile::tempdir().unwrap().keep();
            fs::rename(it.permissions.path(), elsewhere.join("p.toml")).unwrap();
            symlink(elsewhere.join("p.toml"), it.permissions.path()).unwrap();
        }),
        ("a device", |it| {
            fs::remove_file(it.permissions.path()).unwrap();
            nix::unistd::mkfifo(&it.permissions.path(), nix::sys::stat::Mode::S_IRWXU).unwrap();
        }),
    ];
    for (why, spoil) in spoils {
        let mut folder = Folder::with(TEXT);
        assert_eq!(folder.read("/p").0, [Rule::EditProject]);
        spoil(&folder);
        let (rules, faults) = folder.read("/p");
        assert!(
            rules.is_empty() && faults[0].contains(why),
            "{why}: {faults:?}"
        );
        let kept = folder.permissions.keep(&edits(Some("/q")), PATIENCE);
        assert!(kept.is_err(), "{why}");
    }
    if nix::unistd::geteuid().is_root() {
        let mut folder = Folder::with(TEXT);
        std::os::unix::fs::chown(folder.permissions.path(), Some(12345), None).unwrap();
        let (rules, faults) = folder.read("/p");
        assert!(
            rules.is_empty() && faults[0].contains("another user"),
            "{faults:?}"
        );
    }
}

#[test]
fn a_link_within_the_folder_stays_one() {
    let mut folder = Folder::new();
    let real = folder.permissions.path().with_file_name("real.toml");
    fs::write(&real, "[[allow]]\nread = '/q'\n").unwrap();
    fs::set_permissions(&real, PermissionsExt::from_mode(0o644)).unwrap();
    symlink("real.toml", folder.permissions.path()).unwrap();
    folder
        .permissions
        .keep(&edits(Some("/p")), PATIENCE)
        .unwrap();
    let both = vec![outside("/q", false), Rule::EditProject];
    assert_eq!(folder.read("/p"), (both, vec![]));
    assert!(folder.permissions.path().is_symlink());
    assert_eq!(fs::read_to_string(real).unwrap(), folder.text());
}

#[test]
fn a_folder_that_is_a_link_does_not_count_and_the_real_one_is_named() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    fs::create_dir(place.join("real")).unwrap();
    symlink("real", place.join("link")).unwrap();
    let text = format!("[[allow]]\nread = '{}/link'\n", place.display());
    let (rules, faults) = Folder::with(&text).read("/p");
    assert!(rules.is_empty(), "{rules:?}");
    let real = format!("write {}/real.", place.display());
    assert!(faults[0].contains(&real), "{faults:?}");
}

#[test]
fn a_change_by_hand_is_seen_each_time() {
    let mut folder = Folder::new();
    assert_eq!(folder.read("/p"), (vec![], vec![]));
    // The same length within one tick of the clock.
    for at in 0..50 {
        let (name, rule) = match at % 2 {
            0 => ("read ", outside("/q", false)),
            _ => ("write", outside("/q", true)),
        };
        folder.write(&format!("[[allow]]\n{name} = '/q'\n"));
        assert_eq!(folder.read("/p"), (vec![rule], vec![]), "{at}");
    }
    fs::remove_file(folder.permissions.path()).unwrap();
    assert_eq!(folder.read("/p"), (vec![], vec![]));
}

#[test]
fn a_name_that_is_no_text_is_not_kept() {
    use std::os::unix::ffi::OsStrExt;
    let name = Path::new(std::ffi::OsStr::from_bytes(b"/p/\xff"));
    let mut folder = Folder::new();
    let answer = Answer {
        project: Some(name.to_path_buf()),
        rule: Rule::EditProject,
    };
    let why = folder.permissions.keep(&answer, PATIENCE).unwrap_err();
    assert!(why.contains("is no text"), "{why}");
    assert!(!folder.permissions.path().exists());
}

#[test]
fn two_servers_at_once_lose_nothing() {
    let folder = Folder::new();
    let path = folder.folder.path().canonicalize().unwrap();
    std::thread::scope(|scope| {
        for server in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let mut permissions = Permissions::new(path);
                for at in 0..25 {
                    let answer = edits(Some(&format!("/p{server}/{at}")));
                    permissions.keep(&answer, PATIENCE).unwrap();
                    if at % 5 == 4 {
                        permissions.forget(&answer, PATIENCE).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(folder.text().matches("[[allow]]\n").count(), 4 * 20);
    let left = fs::read_dir(&path).unwrap().count();
    assert_eq!(left, 1, "something of ours lies about");
}

#[test]
fn a_lock_that_is_never_given_back_is_not_waited_for_without_end() {
    let mut folder = Folder::new();
    let path = folder.folder.path();
    let held = lock(path, PATIENCE).unwrap();
    let kept = folder.permissions.keep(&edits(None), Duration::ZERO);
    assert!(kept.unwrap_err().contains("another Undine"));
    drop(held);
    folder
        .permissions
        .keep(&edits(None), Duration::ZERO)
        .unwrap();
}

#[test]
fn a_command_counts_however_the_person_has_spelled_it() {
    let mut folder = Folder::new();
    for line in ["cargo   test", "cargo \"test\"", "\tcargo test # all"] {
        folder.write(&format!("[[allow]]\nfolder = '/p'\nrun = '{line}'\n"));
        let (rules, faults) = folder.read("/p");
        let counts = rules.contains(&run("cargo test", "/p"));
        assert!(counts && faults.is_empty(), "{line}: {rules:?} {faults:?}");
    }
}
