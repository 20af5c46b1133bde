//! `undine config`, `init` and `clean-config`, `--profile` and `-c`: what a person does in a terminal.

use crate::support::workspace::Workspace;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub errors: String,
}

pub fn undine(workspace: &Workspace, arguments: &[&str]) -> Said {
    undine_with(workspace, arguments, &[])
}

pub fn undine_with(
    workspace: &Workspace,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Said {
    let ended = Command::new(env!("CARGO_BIN_EXE_undine"))
        .args(arguments)
        .env_clear()
        .env("HOME", workspace.outside("home"))
        .env("TMPDIR", workspace.outside("tmp"))
        .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
        .env("UNDINE_DATA_DIR", workspace.outside("data"))
        .env("UNDINE_NO_KEYRING", "1")
        .envs(environment.iter().copied())
        .current_dir(workspace.root())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |it: Vec<u8>| String::from_utf8(it).unwrap();
    Said {
        code: ended.status.code(),
        out: text(ended.stdout),
        errors: text(ended.stderr),
    }
}

/// An option of `undine config --json`: its value and who decides it.
fn option(workspace: &Workspace, key: &str, arguments: &[&str]) -> (Value, String) {
    let said = undine(workspace, &[&["config", "--json"], arguments].concat());
    assert_eq!(said.code, Some(0), "{}", said.errors);
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    let options = shown["options"].as_array().unwrap();
    let found = options.iter().find(|it| it["key"] == key).unwrap();
    let origin = found["origin"].as_str().unwrap_or("default").to_owned();
    (found["value"].clone(), origin)
}

/// What is in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

const LAYERED: &str =
    "[safety]\nmode = \"full_access\"\n\n[profiles.quick.safety]\nmode = \"auto\"\n";

#[test]
fn each_layer_counts_over_the_ones_before_and_is_named() {
    let workspace = Workspace::new("//- /.git/HEAD\n//- /sub/a\n");
    let mode = |arguments: &[&str]| {
        let (value, origin) = option(&workspace, "safety.mode", arguments);
        format!("{} by {origin}", value.as_str().unwrap())
    };
    assert_eq!(mode(&[]), "ask by default");
    workspace.configure(LAYERED);
    assert_eq!(mode(&[]), "full_access by user_file");
    assert_eq!(mode(&["--profile", "quick"]), "auto by profile");
    workspace.write(".undine/config.toml", "[safety]\nmode = \"ask\"\n");
    assert_eq!(mode(&["--profile", "quick"]), "ask by project_file");
    assert_eq!(mode(&["-c", "safety.mode=auto"]), "auto by setting");
    let both = ["--mode", "read_only", "-c", "safety.mode=auto"];
    assert_eq!(mode(&both), "read_only by flag");
}

#[test]
fn a_value_of_a_file_is_shown_with_the_files_path() {
    let workspace = Workspace::new("//- /.git/HEAD\n");
    workspace.configure(LAYERED);
    workspace.write(
        ".undine/config.toml",
        "[default_model]\nname = \"theirs\"\n",
    );
    let said = undine(&workspace, &["config"]);
    let own = workspace.outside("config").join("config.toml");
    let theirs = workspace.path(".undine/config.toml");
    for line in [
        format!(
            "safety.mode = \"full_access\"  # the user's config.toml: {}",
            own.display()
        ),
        format!(
            "default_model.name = \"theirs\"  # the project's .undine/config.toml: {}",
            theirs.display()
        ),
        "edits.save = \"clean\"  # default".to_owned(),
        "default_model.temperature = (not set)  # default".to_owned(),
    ] {
        assert!(
            said.out.lines().any(|it| it == line),
            "{line}: {}",
            said.out
        );
    }
}

#[test]
fn the_projects_file_lies_at_the_root_of_its_repository() {
    let workspace = Workspace::new(
        "//- /.git/HEAD\n//- /sub/.undine/config.toml\n[safety]\nmode = \"read_only\"\n",
    );
    let mode = || {
        let ended = Command::new(env!("CARGO_BIN_EXE_undine"))
            .args(["config"])
            .env("UNDINE_CONFIG_DIR", workspace.outside("config"))
            .env("UNDINE_DATA_DIR", workspace.outside("data"))
            .current_dir(workspace.path("sub"))
            .output()
            .unwrap();
        let out = String::from_utf8(ended.stdout).unwrap();
        let line = out.lines().find(|it| it.starts_with("safety.mode "));
        line.unwrap().to_owned()
    };
    assert!(
        mode().starts_with("safety.mode = \"ask\"  # default"),
        "{}",
        mode()
    );
    workspace.write(".undine/config.toml", "[safety]\nmode = \"read_only\"\n");
    assert!(
        mode().starts_with("safety.mode = \"read_only\""),
        "{}",
        mode()
    );
}

#[test]
fn a_profile_that_there_is_not_starts_nothing() {
    let workspace = Workspace::new("");
    for (config, told) in [
        (
            LAYERED,
            "There is no profile careful; the user's config.toml has quick.",
        ),
        (
            "",
            "There is no profile careful; the user's config.toml has none.",
        ),
        ("[profiles", "is not valid TOML"),
    ] {
        workspace.configure(config);
        let said = undine(&workspace, &["run", "--profile", "careful", "do it"]);
        assert_eq!(said.code, Some(2), "{}", said.errors);
        assert!(said.errors.contains(told), "{}", said.errors);
        assert!(
            said.errors.contains("Nothing was started"),
            "{}",
            said.errors
        );
    }
}

#[test]
fn what_can_carry_a_key_is_not_shown() {
    let workspace = Workspace::new("");
    workspace.configure(
        "[providers.x]\nbase_url = \"https://me:sk-hidden-1@e.com/v1\"\n\
         [providers.x.extra_headers]\nAuthorization = \"Bearer sk-hidden-2\"\n\
         [providers.y]\nextra_headers = \"sk-hidden-3\"\nkind = \"sk-hidden-4\"\n",
    );
    for arguments in [
        &["config"][..],
        &["config", "--json"],
        &["doctor"],
        &["doctor", "--json"],
    ] {
        let said = undine(&workspace, arguments);
        assert!(!said.out.contains("sk-hidden"), "{}", said.out);
        assert!(!said.errors.contains("sk-hidden"), "{}", said.errors);
    }
    let said = undine(&workspace, &["config"]);
    assert!(
        said.out
            .contains("providers.x.extra_headers.Authorization = \"(hidden)\"")
    );
}

#[test]
fn the_schema_knows_every_option_and_no_others() {
    let workspace = Workspace::new("");
    let said = undine(&workspace, &["config", "schema"]);
    let schema: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"]["profiles"].is_object());
    let shown = undine(&workspace, &["config", "--json"]).out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    for it in shown["options"].as_array().unwrap() {
        let mut at = &schema;
        for key in it["key"].as_str().unwrap().split('.') {
            at = &at["properties"][key];
            if let Some(target) = at["$ref"].as_str() {
                at = schema.pointer(target.trim_start_matches('#')).unwrap();
            }
            assert!(at.is_object(), "{it}");
        }
    }
}

#[test]
fn init_writes_a_file_that_sets_nothing_and_names_its_schema() {
    let workspace = Workspace::new("");
    let folder = workspace.outside("config");
    fs::remove_dir(&folder).unwrap();
    let said = undine(&workspace, &["init"]);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert_eq!(names(&folder), ["config.schema.json", "config.toml"]);
    for name in ["config.toml", "config.schema.json"] {
        let path = folder.join(name);
        assert!(
            said.out.contains(&format!("Wrote {}", path.display())),
            "{}",
            said.out
        );
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let mode = fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let text = fs::read_to_string(folder.join("config.toml")).unwrap();
    assert!(
        text.starts_with("#:schema ./config.schema.json\n"),
        "{text}"
    );
    let schema = fs::read_to_string(folder.join("config.schema.json")).unwrap();
    assert_eq!(schema, undine(&workspace, &["config", "schema"]).out);
    let shown = undine(&workspace, &["config"]);
    assert_eq!(shown.errors, "");
    assert!(
        shown.out.lines().all(|it| it.ends_with("# default")),
        "{}",
        shown.out
    );
}

#[test]
fn init_leaves_a_file_that_is_there() {
    for text in ["", "# mine\n", "[safety]\nmode = \"auto\"\n"] {
        let workspace = Workspace::new("");
        workspace.configure(text);
        let said = undine(&workspace, &["init"]);
        assert_eq!(said.code, Some(0), "{}", said.errors);
        assert!(
            said.out.contains("is there already and stays as it is"),
            "{}",
            said.out
        );
        let kept = fs::read_to_string(workspace.outside("config").join("config.toml"));
        assert_eq!(kept.unwrap(), text);
    }
    // A link that leads nowhere is a person's own file too.
    let workspace = Workspace::new("");
    let path = workspace.outside("config").join("config.toml");
    symlink(workspace.outside("dotfiles"), &path).unwrap();
    let said = undine(&workspace, &["init"]);
    assert!(said.out.contains("stays as it is"), "{}", said.out);
    assert!(path.is_symlink() && !workspace.outside("dotfiles").exists());
}

#[test]
fn bug_102_a_malformed_file_is_warned_of_and_kept() {
    for text in [
        "[safety\nmode = \"ask\"\n",
        "[safety]\nmode = \"ask\n",
        "mode = 1\nmode = 2\n",
        "<<<<<<< HEAD\n[safety]\n=======\n",
    ] {
        for command in [&["clean-config"][..], &["init"], &["doctor"], &["config"]] {
            let workspace = Workspace::new("");
            workspace.configure(text);
            let said = undine(&workspace, command);
            let told = said.out + &said.errors;
            assert!(
                told.contains("is not valid TOML (line "),
                "{command:?}: {told}"
            );
            let folder = workspace.outside("config");
            assert_eq!(
                fs::read_to_string(folder.join("config.toml")).unwrap(),
                text
            );
            let backups = names(&folder)
                .iter()
                .filter(|it| it.contains(".toml."))
                .count();
            assert_eq!(backups, 0);
        }
        let workspace = Workspace::new("");
        workspace.configure(text);
        assert_eq!(undine(&workspace, &["clean-config"]).code, Some(1));
        assert_eq!(undine(&workspace, &["doctor"]).code, Some(1));
    }
}

#[test]
fn clean_config_leaves_what_there_still_is() {
    let workspace = Workspace::new("");
    let text = "# mine\n[safety]\nmode = \"auto\" # why\nmood = 3\n";
    workspace.configure(text);
    let said = undine(&workspace, &["clean-config"]);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert!(said.out.contains("has no removed options"), "{}", said.out);
    let folder = workspace.outside("config");
    assert_eq!(
        fs::read_to_string(folder.join("config.toml")).unwrap(),
        text
    );
    assert_eq!(names(&folder), ["config.toml"]);
}
