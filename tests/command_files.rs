//! Commands that files define, and lines that only look like commands (spec 21.3, 21.7).

use crate::support::editor::Turn;
use crate::support::stage::Stage;
use protocol::acp;
use std::fs;

/// What the model is asked when a person writes this.
fn sent(stage: &Stage, session: &acp::SessionId, text: &str) -> String {
    let prompt = stage.editor.prompt(session, text);
    let mut asked = stage.model.next();
    let sent = asked.last_prompt();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    sent
}

/// What the server answers by itself.
fn answered(stage: &Stage, session: &acp::SessionId, text: &str) -> Turn {
    let prompt = stage.editor.prompt(session, text);
    let turn = stage.editor.end(&prompt);
    stage.model.assert_not_asked();
    turn
}

fn names(stage: &Stage) -> Vec<String> {
    let commands = stage.editor.commands().into_iter();
    commands
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect()
}

const FIX: &str = "//- /.claude/commands/fix.md\n---\ndescription: Fixes an issue\nargument-hint: <issue> [branch]\n---\nFix issue $1 on $2. ($ARGUMENTS)\n";

#[test]
fn a_file_is_a_command_whose_places_take_what_follows_its_name() {
    let stage = Stage::new(FIX);
    let session = stage.editor.new_session();
    assert_eq!(
        sent(&stage, &session, "/fix 7 \"my branch\""),
        "Fix issue 7 on my branch. (7 \"my branch\")"
    );
    assert_eq!(sent(&stage, &session, "/fix 7"), "Fix issue 7 on . (7)");
}

#[test]
fn a_file_without_places_gets_the_words_behind_its_text() {
    let stage = Stage::new("//- /.agents/commands/deep/look.md\nLook closely.\n");
    let session = stage.editor.new_session();
    assert_eq!(sent(&stage, &session, "/look"), "Look closely.");
    assert_eq!(
        sent(&stage, &session, "/look at\nit"),
        "Look closely.\n\nat\nit"
    );
}

#[test]
fn a_missing_word_is_answered_by_the_usage_and_nothing_is_sent() {
    let stage = Stage::new(FIX);
    let session = stage.editor.new_session();
    let turn = answered(&stage, &session, "/fix");
    assert_eq!(turn.text(), "Usage: `/fix <issue> [branch]`");
}

#[test]
fn nothing_that_a_command_file_says_is_run_or_read() {
    let body = "!`touch ran`\n!touch ran\n@secret.txt\n";
    let stage = Stage::new(&format!(
        "//- /secret.txt\nhush\n//- /.undine/commands/go.md\n{body}"
    ));
    let session = stage.editor.new_session();
    assert_eq!(sent(&stage, &session, "/go"), body.trim());
    assert!(!stage.workspace.exists("ran"));
}

#[test]
fn built_in_commands_win_and_the_project_wins_over_the_person() {
    let stage = Stage::new(
        "//- /.undine/commands/usage.md\nMine.\n//- /.undine/commands/go.md\nThe project's.\n",
    );
    let folder = stage.workspace.outside("config/commands");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("go.md"), "The person's.").unwrap();
    fs::write(folder.join("own.md"), "The person's own.").unwrap();
    let session = stage.editor.new_session();
    assert!(!answered(&stage, &session, "/usage").text().contains("Mine"));
    assert_eq!(sent(&stage, &session, "/go"), "The project's.");
    assert_eq!(sent(&stage, &session, "/own"), "The person's own.");
    let all = names(&stage);
    for name in ["usage", "go", "own"] {
        assert_eq!(all.iter().filter(|it| *it == name).count(), 1, "{all:?}");
    }
}

#[test]
fn commands_are_announced_again_when_their_files_change() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    stage.editor.round_trip();
    assert!(!names(&stage).contains(&"go".to_owned()));
    stage.workspace.write(
        ".undine/commands/go.md",
        "---\ndescription: Goes\nargument-hint: where\n---\nGo.\n",
    );
    assert_eq!(sent(&stage, &session, "/go"), "Go.");
    let commands = stage.editor.commands();
    let go = commands.iter().find(|it| it["name"] == "go").unwrap();
    assert_eq!(go["description"], "Goes");
    assert_eq!(go["input"]["hint"], "where");
    fs::remove_file(stage.workspace.path(".undine/commands/go.md")).unwrap();
    assert_eq!(sent(&stage, &session, "/go"), "/go");
    assert!(!names(&stage).contains(&"go".to_owned()));
}

#[test]
fn bug_075_a_line_whose_first_word_names_no_command_is_sent_as_it_was_written() {
    let stage = Stage::new(FIX);
    let session = stage.editor.new_session();
    for line in [
        "/home/you/pkg.deb can you make this run",
        "/etc/hosts is wrong",
        "//fix 7",
        " /fix 7",
        "/fixed 7",
        "/",
        "/ fix",
        "what is /fix",
        "/no-such-command x",
    ] {
        assert_eq!(sent(&stage, &session, line), line);
    }
}

#[test]
fn init_sends_a_prompt_about_the_projects_own_file() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    let prompt = sent(&stage, &session, "/init mind the tests");
    assert!(
        prompt.contains("AGENTS.md") && prompt.ends_with("\n\nmind the tests"),
        "{prompt}"
    );
}

#[test]
fn help_lists_every_command_that_is_announced() {
    let stage = Stage::new(FIX);
    let session = stage.editor.new_session();
    let said = answered(&stage, &session, "/help").text();
    for name in names(&stage) {
        assert!(said.contains(&format!("- `/{name}`")), "{name}: {said}");
    }
    assert!(
        said.contains("- `/fix` (<issue> [branch]): Fixes an issue"),
        "{said}"
    );
}
