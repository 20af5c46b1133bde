//! The person's own rules and floors: they count before the mode, and say why.

use super::{MODES, asked, asked_of, command, reason, result, result_of, stage, stage_of};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::checkpoint::ListCheckpointsParams;
use protocol::methods::ListCheckpoints;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

fn edit(path: &str) -> Value {
    json!({"path": path, "target_content": "alpha beta", "replacement_content": "new"})
}

#[test]
fn bug_055_an_allowed_program_allows_nothing_beside_it() {
    let rule = "[[safety.rules]]\npattern = \"git\"\nverdict = \"allow\"\n";
    for mode in ["ask", "auto"] {
        let stage = stage(mode, rule);
        assert!(!result(&stage, "git --version").starts_with("Denied"));
        for line in [
            "git status $(touch evil)",
            "git status `touch evil`",
            "git status; touch evil",
            "git status <<X\n$(touch evil)\nX",
            "GIT_PAGER='touch evil' ./git log",
            "touch evil git",
        ] {
            asked(&stage, line);
            assert!(!stage.workspace.exists("evil"), "{line}");
        }
    }
}

/// There is no memory tool to try it with; rules by category are the same for every kind of action.
#[test]
fn bug_056_a_rule_by_category_wins_over_the_mode() {
    let rule = |category: &str, verdict: &str| {
        format!("[[safety.rules]]\ncategory = \"{category}\"\nverdict = \"{verdict}\"\n")
    };
    for mode in MODES {
        let denies = stage(mode, &(rule("edit", "deny") + &rule("shell", "deny")));
        for (tool, arguments) in [
            ("edit_file", edit("a.txt")),
            ("execute_command", command("ls")),
        ] {
            let told = result_of(&denies, tool, arguments);
            assert!(
                told.starts_with("Denied by a rule of the person's"),
                "{mode}: {told}"
            );
        }
        let asks = stage(mode, &(rule("read", "ask") + &rule("shell", "ask")));
        asked_of(&asks, "read_file", json!({"path": "a.txt"}));
        asked(&asks, "ls");
        let allows = stage(mode, &(rule("edit", "allow") + &rule("shell", "allow")));
        result_of(&allows, "edit_file", edit("a.txt"));
        result(&allows, "touch ran; touch again");
        assert_eq!(allows.workspace.read("a.txt"), "new\n");
        assert!(allows.workspace.exists("again"), "{mode}");
    }
}

#[test]
fn a_rule_that_asks_or_denies_is_found_anywhere_and_its_reason_is_told() {
    let rules = "[[safety.rules]]\npattern = \"deploy\"\nverdict = \"ask\"\nreason = \"It goes to the customers.\"\n\
         [[safety.rules]]\ntool = \"execute_command\"\npattern = \"old.sh\"\nverdict = \"deny\"\nreason = \"Use new.sh.\"\n\
         [[safety.rules]]\ncategory = \"read\"\npattern = \".env\"\nverdict = \"deny\"\n";
    for mode in MODES {
        let stage = stage(mode, rules);
        for line in ["make deploy", "true && ./deploy now", "echo $(deploy)"] {
            let question = asked(&stage, line);
            assert_eq!(
                reason(&question).as_deref(),
                Some("It goes to the customers.")
            );
        }
        for line in ["./old.sh", "sh old.sh; true", "cat old.sh"] {
            let told = result(&stage, line);
            assert_eq!(
                told, "Denied by a rule of the person's: Use new.sh.",
                "{mode}"
            );
        }
        let told = result_of(&stage, "read_file", json!({"path": ".env"}));
        assert!(
            told.starts_with("Denied by a rule of the person's."),
            "{told}"
        );
    }
}

#[test]
fn a_rule_s_question_is_not_softened_by_an_answer_for_the_session() {
    let stage = stage(
        "full_access",
        "[[safety.rules]]\npattern = \"deploy\"\nverdict = \"ask\"\n",
    );
    for _ in 0..2 {
        let question = asked(&stage, "echo deploy");
        let offered: Vec<&str> = question
            .params
            .options
            .iter()
            .map(|it| &*it.option_id.0)
            .collect();
        assert_eq!(offered, ["once", "no"]);
    }
}

/// A `pip` of the test's own comes first on the PATH. It installs nothing and says that it ran.
fn with_fake_pip(safety: &str) -> (Stage, TempDir) {
    let bin = tempfile::tempdir().unwrap();
    let pip = bin.path().join("pip");
    fs::write(&pip, "#!/bin/sh\necho pip was run; touch installed\n").unwrap();
    fs::set_permissions(&pip, PermissionsExt::from_mode(0o755)).unwrap();
    let mut setup = Setup::agent();
    let path = format!(
        "{}:{}",
        bin.path().display(),
        std::env::var("PATH").unwrap()
    );
    setup.environment.push(("PATH", path));
    (stage_of(setup, "ask", safety), bin)
}

#[test]
fn installs_for_the_whole_machine_have_a_floor_in_every_mode() {
    const LINE: &str = "pip install x";
    for (floor, met) in [
        ("allow", ["deny", "ask", "classify", "run"]),
        ("auto", ["deny", "ask", "classify", "classify"]),
        ("ask", ["deny", "floor asks", "floor asks", "floor asks"]),
        (
            "deny",
            ["deny", "floor denies", "floor denies", "floor denies"],
        ),
    ] {
        let (stage, _bin) = with_fake_pip(&format!("system_installs = \"{floor}\"\n"));
        stage.model.classify();
        for (mode, met) in MODES.iter().zip(met) {
            let session = stage.editor.new_session();
            // No news of the mode that it has already.
            if *mode != "ask" {
                stage.editor.set_mode(&session, mode);
            }
            let prompt = stage.editor.prompt(&session, "go");
            let mut asked = stage.model.next();
            asked.call("execute_command", command(LINE));
            asked.end();
            let why = format!("{floor} in {mode}");
            match met {
                "classify" => {
                    let mut asked = stage.model.next_for_classifier();
                    asked.say("ALLOW");
                    asked.end();
                }
                "ask" | "floor asks" => {
                    let question = stage.editor.question();
                    let told = reason(&question).unwrap_or_default();
                    assert_eq!(
                        told.contains("system_installs"),
                        met == "floor asks",
                        "{why}: {told}"
                    );
                    stage.editor.choose(&question, "no");
                }
                _ => {}
            }
            let told = stage.result(&prompt);
            let ran = stage.workspace.exists("installed");
            match met {
                "deny" => assert!(told.contains("machine-wide changes"), "{why}: {told}"),
                "floor denies" => assert!(
                    told.contains("system_installs is \"deny\""),
                    "{why}: {told}"
                ),
                "ask" | "floor asks" => {
                    assert!(told.starts_with("Denied by the person"), "{why}: {told}")
                }
                _ => assert!(told.contains("pip was run"), "{why}: {told}"),
            }
            assert_eq!(ran, matches!(met, "classify" | "run"), "{why}");
            let _ = fs::remove_file(stage.workspace.path("installed"));
        }
    }
}

#[test]
fn what_a_project_installs_for_itself_is_free_of_the_floor() {
    let (stage, _bin) = with_fake_pip("system_installs = \"deny\"\n");
    for line in [
        "pip install --target vendor x",
        "pip list",
        "sh -c 'pip --version'",
    ] {
        let question = asked(&stage, line);
        assert_eq!(reason(&question), None, "{line}");
    }
    for line in [
        "pip install x",
        "true; pip3 install -U x",
        "sh -c 'pip install x'",
    ] {
        assert!(result(&stage, line).contains("system_installs"), "{line}");
    }
}

#[test]
fn a_rule_says_whether_files_are_kept_before_they_change() {
    let n_kept = |option: &str, rule: &str, tool: &str, arguments: Value| {
        let stage = stage(
            "auto",
            &format!("{option}\n[[safety.rules]]\nverdict = \"allow\"\n{rule}\n"),
        );
        let path = arguments["path"].as_str().unwrap().to_owned();
        let (session, prompt) = stage.call(tool, arguments);
        stage.result(&prompt);
        assert!(stage.workspace.read(&path).starts_with("new"));
        let session_id = session.to_string();
        let listed = stage
            .editor
            .ask::<ListCheckpoints>(ListCheckpointsParams { session_id });
        listed.unwrap().checkpoints.len()
    };
    let on = "checkpoint_on_mutation = true";
    let off = "checkpoint_on_mutation = false";
    let write = json!({"path": "b.txt", "content": "new"});
    let replace = edit("a.txt");
    for (tool, arguments) in [("write_file", write), ("edit_file", replace)] {
        for (option, rule, wanted) in [
            (on, "category = \"edit\"", 1),
            (on, "category = \"edit\"\ncheckpoint = false", 0),
            (on, "category = \"shell\"\ncheckpoint = false", 1),
            (off, "category = \"edit\"", 0),
            (off, "category = \"edit\"\ncheckpoint = true", 1),
            (off, "tool = \"apply_patch\"\ncheckpoint = true", 0),
        ] {
            let n = n_kept(option, rule, tool, arguments.clone());
            assert_eq!(n, wanted, "{tool} with {option} and {rule}");
        }
    }
}
