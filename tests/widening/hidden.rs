//! What the model writes to hide what it does, or where: commands that a mask would cover, roundabout ways to Undine's own
//! files, many calls at once, arguments of odd types.

use super::{call, run};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Commands in which the part that runs looks like a secret.
const MASKED: [&str; 3] = [
    "PASSWORD=\"hunter22$(touch ran)\" true",
    "API_KEY=\"x1`touch ran`\" true",
    "curl -s https://me:x;touch${IFS}ran@host/",
];

#[test]
fn what_would_run_is_shown_though_it_looks_like_a_secret() {
    let stage = Stage::new("");
    for line in MASKED {
        let prompt = call(&stage, run(line));
        let question = stage.editor.question();
        let call = serde_json::to_value(&question.params.tool_call).unwrap();
        let shown = call["content"][0]["content"]["text"].as_str().unwrap();
        assert!(shown.starts_with(line), "{shown}");
        stage.editor.choose(&question, "no");
        stage.result(&prompt);
    }
    let prompt = call(&stage, run("PASSWORD=hunter22 true"));
    let question = stage.editor.question();
    let shown = serde_json::to_string(&question.params).unwrap();
    assert!(!shown.contains("hunter22"), "{shown}");
    stage.editor.choose(&question, "no");
    stage.result(&prompt);
}

#[test]
fn in_a_bare_editor_what_would_run_is_shown_too() {
    let stage = Stage::with(Setup::bare(), "", "");
    for line in MASKED {
        let prompt = call(&stage, run(line));
        let question = stage.editor.expect_raw("window/showMessageRequest");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains(line), "{message}");
        stage
            .editor
            .raw_reply(&question["id"], json!({"title": "No"}));
        stage.result_unshown(&prompt);
    }
}

#[test]
fn no_roundabout_way_leads_a_tool_to_undines_own_files() {
    let stage = Stage::with(
        Setup::agent(),
        "//- /sub/a.txt\nalpha\n//- /.git/HEAD\nx\n",
        "[safety]\nmode = \"full_access\"\n",
    );
    let own = stage.workspace.outside("config").join("permissions.toml");
    fs::write(&own, "# mine\n").unwrap();
    fs::set_permissions(&own, PermissionsExt::from_mode(0o600)).unwrap();
    let path = |it: &str| stage.workspace.path(it);
    fs::hard_link(&own, path("hard.toml")).unwrap();
    symlink("../config", path("folder")).unwrap();
    symlink("folder/permissions.toml", path("twice.toml")).unwrap();
    symlink("../../config/permissions.toml", path("sub/over.toml")).unwrap();
    let whole = own.display().to_string();
    let paths = [
        whole.clone(),
        format!("/proc/self/root{whole}"),
        format!("//{whole}"),
        "/proc/self/cwd/../config/permissions.toml".to_owned(),
        "../config/permissions.toml".to_owned(),
        "sub/../../config/./permissions.toml".to_owned(),
        "missing/../../config/permissions.toml".to_owned(),
        "folder/permissions.toml".to_owned(),
        "folder/../config/permissions.toml".to_owned(),
        "twice.toml".to_owned(),
        "sub/over.toml".to_owned(),
        "hard.toml".to_owned(),
        ".undine/config.toml".to_owned(),
        ".git/../.undine/conversations/x.jsonl".to_owned(),
    ];
    let (_, prompt, mut asked) = stage.ask("go");
    for it in &paths {
        asked.call(
            "write_file",
            json!({"path": it, "content": "[[allow]]\nedit = true\n"}),
        );
    }
    asked.end();
    let mut asked = stage.model.next();
    for (path, result) in paths.iter().zip(asked.results()) {
        assert!(
            !result.starts_with("Wrote") && !result.starts_with("Created"),
            "{path}: {result}"
        );
    }
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
    // That it has a second name is said, and nothing in it counts meanwhile.
    stage
        .editor
        .forget(|it| it["method"] == "window/showMessage");
    assert_eq!(fs::read_to_string(&own).unwrap(), "# mine\n");
    assert!(!stage.workspace.exists(".undine/config.toml"));
    assert!(!stage.workspace.exists(".undine/conversations/x.jsonl"));
}

#[test]
fn one_yes_among_many_calls_is_one_yes() {
    let stage = Stage::new("");
    let (_, prompt, mut asked) = stage.ask("go");
    for n in 0..8 {
        asked.call("execute_command", run(&format!("touch ran{n}")).1);
    }
    asked.end();
    let questions: Vec<_> = (0..8).map(|_| stage.editor.question()).collect();
    let is_third = |it: &&_| {
        let it: &crate::support::editor::Asking<protocol::methods::RequestPermission> = it;
        let title = it.params.tool_call.fields.title.as_deref();
        title == Some("Run touch ran3")
    };
    let third = questions.iter().find(is_third).unwrap();
    stage.editor.choose(third, "once");
    for it in questions.iter().filter(|it| it.id != third.id) {
        stage.editor.choose(it, "no");
    }
    let mut asked = stage.model.next();
    assert_eq!(asked.results().len(), 8);
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
    let made: Vec<bool> = (0..8)
        .map(|n| stage.workspace.exists(&format!("ran{n}")))
        .collect();
    assert_eq!(
        made,
        [false, false, false, true, false, false, false, false]
    );
}

#[test]
fn arguments_of_odd_types_run_nothing_unasked() {
    let odd: [Value; 9] = [
        json!({"command": ["touch", "ran"]}),
        json!({"command": {"line": "touch ran"}}),
        json!({"command": "touch ran", "working_dir": ["/"]}),
        json!({"command": "touch ran", "mode": "unasked"}),
        json!({"command": "touch ran", "timeout": "1e999"}),
        json!({"command": "touch ran", "ready_pattern": 1}),
        json!({"command": "touch ran", "mode": "background", "open_url": "file:///etc/passwd"}),
        json!({"command": "touch ran", "mode": "background", "open_url": "javascript:x"}),
        json!({"command": "touch ran\0", "restart": 1}),
    ];
    let stage = Stage::new("");
    for arguments in odd {
        let prompt = call(&stage, ("execute_command", arguments.clone()));
        let mut asked = stage.model.next();
        assert!(!asked.result().is_empty(), "{arguments}");
        asked.say("done");
        asked.end();
        stage.editor.end(&prompt);
        assert!(!stage.workspace.exists("ran"), "{arguments}");
    }
}
