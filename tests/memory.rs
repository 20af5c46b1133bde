//! What is kept over sessions: the tool, the index in each request, the person's commands and methods (spec 8).

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::memory::{
    AddMemoryParams, ListMemoryParams, MemoryList, MemoryScope, RemoveMemoryParams,
};
use protocol::methods::{AddMemory, ListMemory, Prompt, RemoveMemory};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A stage whose project is a repository.
fn stage(config: &str) -> Stage {
    Stage::with(
        Setup::agent(),
        "//- /.git/HEAD\nref: refs/heads/main\n",
        config,
    )
}

fn remember(name: &str, content: &str) -> Value {
    json!({"action": "remember", "name": name, "content": content})
}

/// The notes in a folder of the data folder or the project.
fn notes(folder: PathBuf) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn private(stage: &Stage) -> PathBuf {
    let projects = stage.workspace.outside("data").join("memory/projects");
    let mut all = fs::read_dir(&projects).into_iter().flatten().flatten();
    all.next().map_or(projects, |it| it.path())
}

fn list(stage: &Stage, session: &protocol::acp::SessionId) -> MemoryList {
    let params = ListMemoryParams {
        session_id: session.to_string(),
    };
    stage.editor.ask::<ListMemory>(params).unwrap()
}

/// Gives a command and answers what it said.
fn command(stage: &Stage, session: &protocol::acp::SessionId, text: &str) -> String {
    let prompt = stage.editor.prompt(session, text);
    stage.editor.end(&prompt).text()
}

#[test]
fn what_is_remembered_stands_in_the_next_sessions_instructions_and_is_read_without_asking() {
    let mut stage = stage("");
    let (_, prompt) = stage.call(
        "memory",
        remember("How to build", "Run `make -j2`.\nNot ninja."),
    );
    let said = stage.result(&prompt);
    assert!(
        said.starts_with("Remembered How to build (private, "),
        "{said}"
    );
    let path = private(&stage).join("how-to-build.md");
    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .ends_with("---\nRun `make -j2`.\nNot ninja.\n")
    );
    stage.editor.finish();
    stage.restart();
    let (_, prompt, mut asked) = stage.ask("again");
    let line = format!("- How to build: Run `make -j2`. ({})", path.display());
    assert!(asked.system().contains(&line), "{}", asked.system());
    // In mode `ask`, from Undine's own folder.
    asked.call("read_file", json!({"path": path}));
    asked.end();
    assert!(stage.result(&prompt).contains("Not ninja."));
}

#[test]
fn a_note_is_written_by_the_tool_alone_and_what_else_is_undines_own_is_still_asked_about() {
    let stage = stage("[safety]\nmode = \"full_access\"\n");
    let (session, prompt) = stage.call("memory", remember("One", "x"));
    stage.result(&prompt);
    let path = private(&stage).join("one.md");
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    asked.call("write_file", json!({"path": path, "content": "y"}));
    asked.end();
    let said = stage.result(&prompt);
    assert!(said.contains("the tool memory"), "{said}");
    assert!(fs::read_to_string(&path).unwrap().ends_with("---\nx\n"));
}

#[test]
fn the_index_is_made_anew_for_each_prompt_so_that_edits_by_hand_count() {
    let stage = stage("");
    let (session, prompt) = stage.call("memory", remember("One", "first"));
    stage.result(&prompt);
    fs::write(private(&stage).join("by-hand.md"), "Written by hand\nmore").unwrap();
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    assert!(asked.system().contains("- by-hand: Written by hand ("));
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn shared_facts_lie_in_the_repository_and_global_ones_count_in_every_project() {
    let stage = stage("");
    let mut fact = remember("Style", "Tabs.");
    fact["shared"] = json!(true);
    let (session, prompt) = stage.call("memory", fact.clone());
    stage.result(&prompt);
    assert_eq!(notes(stage.workspace.path(".undine/memory")), ["style.md"]);
    fact["global"] = json!(true);
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    asked.call("memory", fact);
    asked.end();
    stage.result(&prompt);
    let global = stage.workspace.outside("data").join("memory/global");
    assert_eq!(notes(global), ["style.md"]);
}

#[test]
fn mode_read_only_blocks_changes_and_not_searches() {
    let stage = stage("[safety]\nmode = \"read_only\"\n");
    let (session, prompt) = stage.call("memory", remember("One", "x"));
    let said = stage.result(&prompt);
    assert!(said.contains("read_only"), "{said}");
    assert_eq!(list(&stage, &session).facts, []);
    let prompt = stage.editor.prompt(&session, "go on");
    let mut asked = stage.model.next();
    asked.call("memory", json!({"action": "search", "query": "x"}));
    asked.end();
    assert_eq!(stage.result(&prompt), "Nothing in memory has \"x\".");
}

#[test]
fn bug_056_a_rule_of_the_persons_denies_the_memory() {
    let rule = "[safety]\nmode = \"full_access\"\n[[safety.rules]]\ncategory = \"memory\"\nverdict = \"deny\"\n";
    let stage = stage(rule);
    for call in [
        remember("One", "x"),
        json!({"action": "search", "query": "x"}),
    ] {
        let (_, prompt) = stage.call("memory", call);
        let said = stage.result(&prompt);
        assert!(said.contains("rule of the person"), "{said}");
    }
}

#[test]
fn a_memory_that_is_switched_off_has_no_tool_and_no_index() {
    let stage = stage("[memory]\nenabled = false\n");
    let global = stage.workspace.outside("data").join("memory/global");
    fs::create_dir_all(&global).unwrap();
    fs::write(global.join("a.md"), "A fact").unwrap();
    let (session, prompt, mut asked) = stage.ask("go");
    assert!(!asked.body.to_string().contains("A fact"));
    assert!(!asked.body["tools"].to_string().contains("\"memory\""));
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    let said = command(&stage, &session, "/memory");
    assert!(said.contains("switched off"), "{said}");
}

#[test]
fn the_person_remembers_lists_and_forgets_by_commands() {
    let stage = stage("");
    let session = stage.editor.new_session();
    let said = command(
        &stage,
        &session,
        "/remember The tests need a database that runs on port 5433",
    );
    assert!(
        said.contains("The tests need a database that runs on"),
        "{said}"
    );
    let said = command(&stage, &session, "/memory");
    assert!(said.contains("port 5433"), "{said}");
    let said = command(&stage, &session, "/forget no such thing");
    assert!(said.contains("Nothing in memory is called"), "{said}");
    let said = command(
        &stage,
        &session,
        "/forget The tests need a database that runs on",
    );
    assert!(said.starts_with("Forgot "), "{said}");
    assert_eq!(list(&stage, &session).facts, []);
}

#[test]
fn an_editor_lists_adds_and_removes_facts() {
    let stage = stage("");
    let session = stage.editor.new_session();
    let add = AddMemoryParams {
        session_id: session.to_string(),
        content: "Use tabs.".into(),
        name: Some("Style".into()),
        description: None,
        tags: Some(vec!["format".into()]),
        scope: Some(MemoryScope::Global),
    };
    let added = stage.editor.ask::<AddMemory>(add).unwrap();
    assert_eq!(added.facts.len(), 1);
    let fact = &added.facts[0];
    assert_eq!(
        (fact.name.as_str(), fact.description.as_str()),
        ("Style", "Use tabs.")
    );
    assert_eq!((fact.scope, fact.tags.len()), (MemoryScope::Global, 1));
    assert!(fact.path.is_file() && fact.created.is_some());
    assert_eq!(list(&stage, &session), added);
    let remove = RemoveMemoryParams {
        session_id: session.to_string(),
        name: "style".into(),
        scope: None,
    };
    let left = stage.editor.ask::<RemoveMemory>(remove.clone()).unwrap();
    assert_eq!(left.facts, []);
    let error = stage.editor.ask::<RemoveMemory>(remove).unwrap_err();
    assert!(
        error.message.contains("Nothing in memory is called"),
        "{error:?}"
    );
}

/// A session with three facts, and a `/consolidate-memory` of which the model has been asked.
fn consolidating(
    stage: &Stage,
) -> (
    protocol::acp::SessionId,
    crate::support::editor::Pending<Prompt>,
    crate::support::model::Asked,
) {
    let session = stage.editor.new_session();
    for fact in [
        "/remember Alpha one",
        "/remember Beta two",
        "/remember Gamma three",
    ] {
        command(stage, &session, fact);
    }
    let prompt = stage.editor.prompt(&session, "/consolidate-memory");
    let asked = stage.model.next();
    assert!(asked.last_prompt().contains("=== note 2: Beta two"));
    (session, prompt, asked)
}

fn names(list: &MemoryList) -> Vec<&str> {
    list.facts.iter().map(|it| it.name.as_str()).collect()
}

#[test]
fn consolidating_removes_what_the_model_names_and_a_restore_brings_it_back() {
    let stage = stage("");
    let (session, prompt, mut asked) = consolidating(&stage);
    asked.say("{\"remove\": [{\"number\": 2, \"reason\": \"says the same as 1\"}]}");
    asked.usage(30, 12);
    asked.end();
    let said = stage.editor.end(&prompt).text();
    assert!(
        said.contains("- Beta two (private): says the same as 1"),
        "{said}"
    );
    assert_eq!(names(&list(&stage, &session)), ["Alpha one", "Gamma three"]);
    let restore = said.rsplit_once("`/restore ").unwrap().1;
    let restore = format!("/restore {}", restore.split_once('`').unwrap().0);
    let prompt = stage.editor.prompt(&session, &restore);
    let question = stage.editor.question();
    stage.editor.choose(&question, "once");
    let said = stage.editor.end(&prompt).text();
    assert!(said.contains("beta-two.md"), "{said}");
    assert_eq!(
        names(&list(&stage, &session)),
        ["Alpha one", "Beta two", "Gamma three"]
    );
}

#[test]
fn a_plan_that_cannot_be_read_changes_nothing_and_nor_does_one_fact() {
    let stage = stage("");
    let session = stage.editor.new_session();
    command(&stage, &session, "/remember Only one");
    let said = command(&stage, &session, "/consolidate-memory");
    assert!(said.contains("fewer than two"), "{said}");
    command(&stage, &session, "/forget Only one");
    let (session, prompt, mut asked) = consolidating(&stage);
    asked.say("I would remove the second one.");
    asked.end();
    let said = stage.editor.end(&prompt).text();
    assert!(said.contains("Nothing was changed"), "{said}");
    assert_eq!(list(&stage, &session).facts.len(), 3);
}

#[test]
fn bug_023_nothing_is_removed_when_the_checkpoint_fails() {
    let stage = stage("");
    let (session, prompt, mut asked) = consolidating(&stage);
    let checkpoints = stage.workspace.outside("data").join("checkpoints");
    let _ = fs::remove_dir_all(&checkpoints);
    fs::write(&checkpoints, "in the way").unwrap();
    asked.say("{\"remove\": [{\"number\": 2}]}");
    asked.end();
    let said = stage.editor.end(&prompt).text();
    assert!(!said.contains("Removed"), "{said}");
    assert_eq!(list(&stage, &session).facts.len(), 3);
}
