//! Skills: which the model is told of, and that it reads them unasked (spec 21.2).

use crate::support::stage::Stage;
use protocol::acp;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Use for {name}\n---\n\nThe way of {name}.\n")
}

fn told_in(stage: &Stage, session: &acp::SessionId) -> String {
    let prompt = stage.editor.prompt(session, "go");
    let mut asked = stage.model.next();
    let system = asked.system();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    system
}

fn told(stage: &Stage) -> String {
    let session = stage.editor.new_session();
    told_in(stage, &session)
}

fn write(folder: &Path, name: &str) {
    let folder = folder.join("skills").join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), skill(name)).unwrap();
}

#[test]
fn the_model_is_told_of_the_projects_skills_and_then_of_the_persons() {
    let stage = Stage::new("");
    let (root, outside) = (stage.workspace.root(), |it| stage.workspace.outside(it));
    write(&outside("home/.agents"), "six");
    write(&outside("home/.claude"), "five");
    write(&outside("config"), "four");
    write(&root.join(".agents"), "three");
    write(&root.join(".claude"), "two");
    write(&root.join(".undine"), "one");
    // The project's own counts.
    write(&outside("config"), "one");
    let told = told(&stage);
    let lines: Vec<&str> = told.lines().filter(|it| it.starts_with("- ")).collect();
    let home = outside("home");
    assert_eq!(
        lines,
        [
            "- one: Use for one (.undine/skills/one/SKILL.md)".to_owned(),
            "- two: Use for two (.claude/skills/two/SKILL.md)".to_owned(),
            "- three: Use for three (.agents/skills/three/SKILL.md)".to_owned(),
            format!(
                "- four: Use for four ({}/skills/four/SKILL.md)",
                outside("config").display()
            ),
            format!(
                "- five: Use for five ({}/.claude/skills/five/SKILL.md)",
                home.display()
            ),
            format!(
                "- six: Use for six ({}/.agents/skills/six/SKILL.md)",
                home.display()
            ),
        ]
    );
}

#[test]
fn a_skill_counts_as_it_is_when_a_prompt_comes() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    assert!(!told_in(&stage, &session).contains("# Skills"));
    write(&stage.workspace.path(".claude"), "late");
    assert!(told_in(&stage, &session).contains("- late: Use for late"));
    fs::remove_dir_all(stage.workspace.path(".claude")).unwrap();
    assert!(!told_in(&stage, &session).contains("# Skills"));
}

fn read(stage: &Stage, path: &str) -> String {
    let (_, prompt) = stage.call("read_file", json!({"path": path}));
    stage.result(&prompt)
}

#[test]
fn the_model_reads_a_skill_of_the_persons_and_what_lies_beside_it_unasked() {
    let stage = Stage::new("");
    let folder = stage.workspace.outside("home/.claude");
    write(&folder, "pdf");
    fs::write(folder.join("skills/pdf/forms.md"), "the forms\n").unwrap();
    let path = |it: &str| folder.join("skills/pdf").join(it).display().to_string();
    assert!(read(&stage, &path("SKILL.md")).contains("The way of pdf."));
    assert_eq!(read(&stage, &path("forms.md")), "the forms\n");
}

#[test]
fn reading_beside_the_skills_is_asked_about_and_writing_in_them_too() {
    let stage = Stage::new("");
    let folder = stage.workspace.outside("home/.claude");
    write(&folder, "pdf");
    fs::write(folder.join("secret.txt"), "secret").unwrap();
    symlink(folder.join("secret.txt"), folder.join("skills/pdf/link.md")).unwrap();
    for path in ["secret.txt", "skills/pdf/link.md"] {
        let path = folder.join(path).display().to_string();
        let (_, prompt) = stage.call("read_file", json!({"path": path}));
        stage.editor.choose(&stage.editor.question(), "no");
        assert!(!stage.result(&prompt).contains("secret\n"));
    }
    let path = folder.join("skills/pdf/SKILL.md").display().to_string();
    let arguments = json!({"path": path, "content": "x"});
    let (_, prompt) = stage.call("write_file", arguments);
    stage.editor.choose(&stage.editor.question(), "no");
    stage.result(&prompt);
}

#[test]
fn bug_101_of_several_skills_only_the_unreadable_one_is_left_out() {
    let stage = Stage::new("");
    write(&stage.workspace.path(".claude"), "good");
    for (name, target) in [("bad", "/etc/hostname"), ("gone", "/nowhere")] {
        let folder = stage.workspace.path(".claude/skills").join(name);
        fs::create_dir_all(&folder).unwrap();
        symlink(target, folder.join("SKILL.md")).unwrap();
    }
    let told = told(&stage);
    let lines = told.lines().filter(|it| it.starts_with("- ")).count();
    assert_eq!(lines, 1, "{told}");
    for name in ["bad", "gone"] {
        stage.editor.take("the word on it", |it: &Value| {
            let message = it["params"]["message"].as_str().unwrap_or("");
            it["method"] == "window/showMessage"
                && message.contains(&format!(".claude/skills/{name}/SKILL.md cannot be read"))
        });
    }
}

#[test]
fn bug_100_a_project_in_the_home_folder_has_no_skills_of_folders_above_it() {
    let stage = Stage::new("");
    // What lies above the project, in a folder that is neither the project nor the person's home.
    write(&stage.workspace.outside(".claude"), "above");
    fs::create_dir(stage.workspace.path(".git")).unwrap();
    assert!(!told(&stage).contains("above"));
}
