//! What a change leaves of a file.

use super::*;
use expect_test::expect;
use std::os::unix::fs::symlink;

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Place {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, text).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path.parent().unwrap()).unwrap();
        let mut names: Vec<String> = entries
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

const REMOVED: &[Removed] = &[
    Removed {
        key: "safety.level",
        release: "0.2.0",
        instead: None,
    },
    Removed {
        key: "sandbox",
        release: "0.2.0",
        instead: None,
    },
];

const FILE: &str = "\
# Mine.
sandbox = 1 # gone with it

[safety]   # careful
# Why I did this.
level = 3
mode   =   \"ask\"  # yes

[profiles.fast.safety]
level = [
  1,
  2,
]
# kept
mode = \"auto\"
";

#[test]
fn only_removed_options_go_and_every_other_line_stays() {
    let place = Place::new(FILE);
    let cleaned = clean(&place.path, REMOVED).unwrap().unwrap();
    assert_eq!(
        cleaned.keys,
        ["safety.level", "sandbox", "profiles.fast.safety.level"]
    );
    expect![[r##"
        # Mine.

        [safety]   # careful
        # Why I did this.
        mode   =   "ask"  # yes

        [profiles.fast.safety]
        # kept
        mode = "auto"
    "##]]
    .assert_eq(&place.text());
    assert_eq!(fs::read_to_string(&cleaned.backup).unwrap(), FILE);
    assert_eq!(place.names(), ["config.toml", "config.toml.1"]);
    assert_eq!(clean(&place.path, REMOVED).unwrap(), None);
    assert_eq!(place.names(), ["config.toml", "config.toml.1"]);
}

#[test]
fn each_backup_has_a_number_of_its_own() {
    let place = Place::new(FILE);
    for number in 1..4 {
        fs::write(&place.path, FILE).unwrap();
        let cleaned = clean(&place.path, REMOVED).unwrap().unwrap();
        assert!(cleaned.backup.ends_with(format!("config.toml.{number}")));
        let mode = fs::metadata(&cleaned.backup).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn an_option_is_taken_out_however_it_is_written() {
    let left = "[safety]\nmode = \"ask\"\n";
    for text in [
        "[safety]\nmode = \"ask\"\n[sandbox]\na = 1\n[sandbox.b]\nc = 2\n",
        "sandbox.a = 1\nsandbox.b.c = 2\n[safety]\nmode = \"ask\"\n",
        "[[sandbox]]\na = 1\n[[sandbox]]\nb = 2\n[safety]\nmode = \"ask\"\n",
        "\"sandbox\" = '''\n[safety]\n'''\n[safety]\nmode = \"ask\"\n",
        "[safety]\nlevel = 1\nmode = \"ask\"\n",
    ] {
        let place = Place::new(text);
        clean(&place.path, REMOVED).unwrap().unwrap();
        assert_eq!(place.text(), left, "{text}");
    }
    for (text, left) in [
        (
            "safety = { level = 3, mode = \"ask\" } # one line\n",
            "safety = { mode = \"ask\" } # one line\n",
        ),
        (
            "safety.level = 3\r\nsafety.mode = \"ask\"\r\n",
            "safety.mode = \"ask\"\r\n",
        ),
        ("sandbox = 1", ""),
    ] {
        let place = Place::new(text);
        clean(&place.path, REMOVED).unwrap().unwrap();
        let squeeze = |it: &str| it.replace(' ', "");
        assert_eq!(squeeze(&place.text()), squeeze(left), "{text}");
    }
}

#[test]
fn one_key_is_set_and_every_other_line_stays() {
    let place = Place::new(FILE);
    set(&place.path, &["safety", "mode"], "auto").unwrap();
    set(&place.path, &["edits", "save"], "never").unwrap();
    let wanted =
        FILE.replace("mode   =   \"ask\"", "mode   =   \"auto\"") + "\n[edits]\nsave = \"never\"\n";
    assert_eq!(place.text(), wanted);
}

#[test]
fn a_missing_file_is_made_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/config.toml");
    set(&path, &["limits", "command_max_secs"], 9).unwrap();
    let mode = |it: &Path| fs::metadata(it).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "[limits]\ncommand_max_secs = 9\n"
    );
}

#[test]
fn bug_102_a_malformed_file_is_kept_byte_for_byte() {
    for text in [
        "[safety\nmode = \"ask\"\n",
        "[safety]\nmode = \"ask\n",
        "mode = 1\nmode = 2\n",
        "<<<<<<< HEAD\n[safety]\n=======\n>>>>>>> other\n",
        "{\"safety\": {}}",
        "[safety]\nlevel = 3\nx = ",
    ] {
        let place = Place::new(text);
        let error = set(&place.path, &["safety", "mode"], "auto").unwrap_err();
        assert!(matches!(error, EditError::Malformed { .. }), "{error}");
        assert!(error.to_string().contains("line"), "{error}");
        let error = clean(&place.path, REMOVED).unwrap_err();
        assert!(matches!(error, EditError::Malformed { .. }), "{error}");
        assert_eq!(place.text(), text);
        assert_eq!(place.names(), ["config.toml"]);
    }
    // What is no text at all, and what has something else where a table must be.
    let place = Place::new("");
    fs::write(&place.path, b"\xff\xfe").unwrap();
    set(&place.path, &["safety", "mode"], "auto").unwrap_err();
    assert_eq!(fs::read(&place.path).unwrap(), b"\xff\xfe");
    let place = Place::new("safety = 3\n");
    let error = set(&place.path, &["safety", "mode"], "auto").unwrap_err();
    assert!(matches!(error, EditError::NoTable { .. }), "{error}");
    assert_eq!(place.text(), "safety = 3\n");
}

#[test]
fn what_another_wrote_meanwhile_is_kept() {
    let place = Place::new("a = 1\n");
    let error = write(&place.path, Some("a = 0\n"), "a = 2\n").unwrap_err();
    assert!(matches!(error, EditError::Changed { .. }), "{error}");
    let error = write(&place.path, None, "a = 2\n").unwrap_err();
    assert!(matches!(error, EditError::Changed { .. }), "{error}");
    assert_eq!(place.text(), "a = 1\n");
}

#[test]
fn the_file_behind_a_link_is_changed_and_the_link_stays() {
    let kept = Place::new("# kept elsewhere\n");
    fs::set_permissions(&kept.path, Permissions::from_mode(0o640)).unwrap();
    let place = Place::new("");
    fs::remove_file(&place.path).unwrap();
    symlink(&kept.path, &place.path).unwrap();
    set(&place.path, &["edits", "save"], "never").unwrap();
    assert!(place.path.is_symlink());
    assert!(kept.text().starts_with("# kept elsewhere\n") && kept.text().contains("never"));
    let mode = fs::metadata(&kept.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    // One that leads nowhere is not replaced by a file.
    fs::remove_file(&kept.path).unwrap();
    set(&place.path, &["edits", "save"], "never").unwrap_err();
    assert!(place.path.is_symlink() && !kept.path.exists());
}

#[test]
fn options_that_belong_together_are_set_in_one_step_and_one_is_taken_out_alone() {
    let place = Place::new(
        "# Mine.\n[default_model] # the one\nname = \"old\" # short\n\n[reasoning_per_model]\n# It is cheap.\n\"p/a b\" = \"low\" # enough\n\"p/c\" = \"high\"\n",
    );
    let all: [(&[&str], toml_edit::Value); 2] = [
        (&["default_model", "provider"], "p".into()),
        (&["default_model", "name"], "new".into()),
    ];
    set_all(&place.path, all).unwrap();
    unset(&place.path, &["reasoning_per_model", "p/c"]).unwrap();
    expect![[r##"
        # Mine.
        [default_model] # the one
        name = "new" # short
        provider = "p"

        [reasoning_per_model]
        # It is cheap.
        "p/a b" = "low" # enough
    "##]]
    .assert_eq(&place.text());
    let before = place.text();
    unset(&place.path, &["reasoning_per_model", "p/none"]).unwrap();
    unset(&place.path, &["nothing", "here"]).unwrap();
    assert_eq!(place.text(), before);
    unset(&place.path.with_file_name("none.toml"), &["a"]).unwrap();
    assert_eq!(place.names(), ["config.toml"]);
}
