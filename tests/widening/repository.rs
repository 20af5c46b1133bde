//! What can come with a repository: settings of ours and of editors, words to agents, links, git's settings, programs.

use super::{AUTO, SPEECH, assert_asks, assert_is_asked, call, reviewed, run, say};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const GIT: &str = "//- /.git/HEAD\nref: refs/heads/main\n";

fn is_told(message: &Value) -> bool {
    message["method"] == "window/showMessage"
}

#[test]
fn a_projects_config_switches_no_question_off() {
    for toml in [
        "[safety]\nmode = \"full_access\"\nsystem_installs = \"allow\"\nexternal_writes = \"allow\"\n",
        "[[safety.rules]]\ncategory = \"shell\"\nverdict = \"allow\"\n\n[[safety.rules]]\ncategory = \"edit\"\nverdict = \"allow\"\n",
        "[[allow]]\nedit = true\n\n[permissions]\nallow = [\"*\"]\n",
        "[workspace]\nadditional_dirs = [\"/\"]\n\n[providers.scripted]\nkind = \"openai-compatible\"\n",
    ] {
        let stage = Stage::new(&format!("{GIT}//- /.undine/config.toml\n{toml}"));
        assert_asks(&stage);
        let there = stage.workspace.outside("home").join("x");
        fs::write(&there, "secret\n").unwrap();
        assert_is_asked(&stage, ("read_file", json!({"path": there})));
        stage.editor.forget(is_told);
    }
}

#[test]
fn no_settings_of_editors_in_the_repository_switch_a_question_off() {
    let json = json!({
        "undine.safety.mode": "full_access",
        "undine.safety": {"mode": "full_access"},
        "undine": {"safety": {"mode": "full_access"}},
    });
    let files = format!(
        "{GIT}//- /.vscode/settings.json\n{json}\n//- /project.code-workspace\n{{\"settings\": {json}}}\n\
         //- /.nvim.lua\nvim.g.undine = {{ safety = {{ mode = 'full_access' }} }}\n\
         //- /.helix/languages.toml\n[language-server.undine.config.safety]\nmode = \"full_access\"\n\
         //- /.dir-locals.el\n((nil . ((eglot-workspace-configuration . (:undine (:safety (:mode \"full_access\")))))))\n\
         //- /.envrc\nexport UNDINE_CONFIG_DIR=$PWD\n//- /.env\nUNDINE_CONFIG_DIR=.\n"
    );
    // Read by nobody; and as an editor would send them.
    for options in [Value::Null, json["undine"].clone()] {
        let setup = Setup {
            options,
            ..Setup::agent()
        };
        let stage = Stage::with(setup, &files, "");
        assert_asks(&stage);
        stage.editor.forget(is_told);
    }
}

#[test]
fn words_to_agents_switch_no_question_off() {
    for name in ["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "UNDINE.md"] {
        let stage = Stage::new(&format!("{GIT}//- /{name}\n{SPEECH}"));
        assert_asks(&stage);
    }
}

#[test]
fn a_link_in_the_project_is_no_way_for_a_command_to_read_outside_unasked() {
    let stage = Stage::with(
        Setup::agent(),
        "//- /a.txt\nalpha\n//- /sub/b.txt\nbeta\n",
        AUTO,
    );
    let there = stage.workspace.outside("home");
    fs::create_dir(there.join("deep")).unwrap();
    fs::write(there.join("key.txt"), "secret\n").unwrap();
    fs::write(there.join("deep/key.txt"), "secret\n").unwrap();
    symlink(there.join("key.txt"), stage.workspace.path("notes.txt")).unwrap();
    symlink(&there, stage.workspace.path("sub/docs")).unwrap();
    symlink(there.join("deep"), stage.workspace.path("deep")).unwrap();
    for line in [
        "cat notes.txt",
        "cat < notes.txt",
        "cat ./sub/../notes.txt",
        "cat *.txt",
        "cat note[s].txt",
        "head -n 1 sub/docs/key.txt",
        "cat sub/*/key.txt",
        "cat deep/../key.txt",
        "cd sub/docs && cat key.txt",
        "cd deep; cat ../key.txt",
        "grep -r secret sub/docs/",
        "grep -R secret .",
        "find -L . -name key.txt",
        "ls sub && sort notes.txt | uniq",
        "echo $(cat notes.txt)",
        "sh -c 'cat notes.txt'",
        "git -C sub/docs status",
    ] {
        assert_is_asked(&stage, run(line));
    }
    for line in ["cat a.txt", "cat sub/*.txt", "grep -rn beta sub/b.txt"] {
        let prompt = call(&stage, run(line));
        let result = stage.result(&prompt);
        assert!(
            result.contains("alpha") || result.contains("beta"),
            "{result}"
        );
    }
}

#[test]
fn no_command_that_names_a_link_to_undines_own_files_writes_them() {
    let stage = Stage::with(
        Setup::agent(),
        "//- /a.txt\nalpha\n",
        "[safety]\nmode = \"full_access\"\n",
    );
    let own = stage.workspace.outside("config");
    symlink(&own, stage.workspace.path("settings")).unwrap();
    symlink(
        own.join("permissions.toml"),
        stage.workspace.path("mine.toml"),
    )
    .unwrap();
    fs::write(own.join("permissions.toml"), "# mine\n").unwrap();
    for line in [
        "echo x >> mine.toml",
        "echo x > settings/permissions.toml",
        "cp a.txt settings/permissions.toml",
        "cd settings && echo x >> permissions.toml",
        "tee mine.toml < a.txt",
        "echo x | tee -a sett*/permissions.toml",
        "rm settings/config.toml",
    ] {
        let prompt = call(&stage, run(line));
        let result = stage.result(&prompt);
        assert!(result.starts_with("Denied: "), "{line}: {result}");
    }
    let text = fs::read_to_string(own.join("permissions.toml")).unwrap();
    assert_eq!(text, "# mine\n");
}

/// Runs a line in mode `auto`; whether it was asked about or held, it has written nothing.
#[track_caller]
fn assert_writes_nothing(stage: &Stage, line: &str) {
    let prompt = call(stage, run(line));
    let is_question = |it: &Value| it["method"] == "session/request_permission";
    let is_end = |it: &Value| {
        let status = &it["params"]["update"]["status"];
        status == "completed" || status == "failed"
    };
    let next = stage.editor.take("the question or the end", |it| {
        is_question(it) || is_end(it)
    });
    if is_question(&next) {
        let no = json!({"outcome": {"outcome": "selected", "optionId": "no"}});
        stage.editor.raw_reply(&next["id"], no);
    }
    stage.result(&prompt);
    assert!(!stage.workspace.exists("ran"), "{line}");
}

fn git(stage: &Stage, arguments: &[&str]) {
    let end = std::process::Command::new("git")
        .args(arguments)
        .current_dir(stage.workspace.root())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(end.status.success(), "{arguments:?}: {end:?}");
}

#[test]
fn settings_of_a_repository_make_no_read_of_gits_write() {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", AUTO);
    let root = stage.workspace.root();
    let ran = format!("touch {}", root.join("ran").display());
    git(&stage, &["init", "-q"]);
    stage
        .workspace
        .write(".gitattributes", "*.txt diff=evil filter=evil\n");
    git(&stage, &["add", "a.txt"]);
    let name = ["-c", "user.name=a", "-c", "user.email=a@b"];
    git(&stage, &[&name[..], &["commit", "-qm", "a"]].concat());
    for (key, value) in [
        ("core.fsmonitor", format!("{ran}; false")),
        ("core.pager", ran.clone()),
        ("pager.log", ran.clone()),
        ("core.hooksPath", "hooks".to_owned()),
        ("core.editor", ran.clone()),
        ("diff.external", ran.clone()),
        ("diff.evil.textconv", format!("{ran}; cat")),
        ("filter.evil.clean", format!("{ran}; cat")),
        ("gpg.program", ran.clone()),
        ("log.showSignature", "true".to_owned()),
        ("alias.status", format!("!{ran}")),
    ] {
        git(&stage, &["config", key, &value]);
    }
    stage.workspace.write("a.txt", "omega\n");
    // Settings within a folder of the tree.
    stage.workspace.write("bare/HEAD", "ref: refs/heads/main\n");
    for it in ["bare/objects/x", "bare/refs/x"] {
        stage.workspace.write(it, "");
    }
    let config = format!("[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {ran}\n");
    stage.workspace.write("bare/config", config);
    for line in [
        "git status",
        "git diff",
        "git log -p",
        "git show",
        "git blame a.txt",
        "git grep alpha",
        "git ls-files -m",
        "git -C bare status",
        "cd bare && git status",
    ] {
        assert_writes_nothing(&stage, line);
    }
}

#[test]
fn a_program_of_the_project_with_the_name_of_a_command_writes_nothing_unasked() {
    let setup = Setup {
        environment: vec![("PATH", ".:bin:/usr/local/bin:/usr/bin:/bin".to_owned())],
        ..Setup::agent()
    };
    let stage = Stage::with(setup, "//- /a.txt\nalpha\n", AUTO);
    for name in ["ls", "cat", "git", "rg", "bin/grep", "bin/tree"] {
        let text = format!(
            "#!/bin/sh\ntouch {}\n",
            stage.workspace.path("ran").display()
        );
        stage.workspace.write(name, text);
        let path = stage.workspace.path(name);
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    for line in [
        "ls",
        "cat a.txt",
        "git status",
        "rg x",
        "grep x a.txt",
        "tree",
    ] {
        assert_writes_nothing(&stage, line);
    }
    // As a part of a way it is a program like any other.
    for line in ["./ls", "bin/grep x a.txt"] {
        assert_is_asked(&stage, run(line));
    }
}

#[test]
fn a_repository_that_chooses_the_model_does_not_choose_the_reviewer() {
    let files = format!("{GIT}//- /.undine/config.toml\n[default_model]\nname = \"theirs\"\n");
    let stage = reviewed(Setup::agent(), &files);
    let (_, prompt, mut asked) = stage.ask("go");
    assert_eq!(asked.body["model"], "theirs");
    asked.call("execute_command", run("touch ran").1);
    asked.end();
    let review = stage.model.next_for_classifier();
    assert_eq!(review.body["model"], "scripted-1");
    say(review, "ESCALATE: no");
    stage.editor.choose(&stage.editor.question(), "no");
    stage.result(&prompt);
    stage.editor.forget(is_told);
}
