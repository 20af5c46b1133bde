//! Subagents: work that the model has done by another one, which is bounded, seen and ended with its session.

use crate::support::editor::{Pending, Setup, text_of_call};
use crate::support::model::{Asked, Said};
use crate::support::stage::{NO_RETRIES, Stage};
use protocol::acp::{SessionId, StopReason};
use protocol::agent::{AgentState, DetachAgentParams};
use protocol::methods::{DetachAgent, Prompt, ResolveReview, SessionUsage};
use protocol::record::{Purpose, Record};
use serde_json::{Value, json};

/// Mode `full_access`, so that nothing is asked.
const FREE: &str = "[safety]\nmode = \"full_access\"\n";

/// A session whose model has called `agent` in mode `full_access`, and the first request of the subagent.
#[track_caller]
fn spawned(stage: &Stage, arguments: Value) -> (SessionId, Pending<Prompt>, Asked) {
    let prompt_of_agent = arguments["prompt"].as_str().unwrap().to_owned();
    let (session, prompt) = stage.call("agent", arguments);
    let child = stage.model.next();
    assert_eq!(child.last_prompt(), prompt_of_agent);
    (session, prompt, child)
}

#[track_caller]
fn reports(mut child: Asked, text: &str) {
    child.say(text);
    child.end();
}

fn id_in(result: &str) -> String {
    let at = result.find("[agent_id: ").expect(result) + "[agent_id: ".len();
    result[at..].split(['.', ']']).next().unwrap().to_owned()
}

fn tools(asked: &Asked) -> Vec<String> {
    let all = asked.body["tools"].as_array().unwrap();
    let name = |it: &Value| it["function"]["name"].as_str().unwrap().to_owned();
    all.iter().map(name).collect()
}

#[track_caller]
fn command(stage: &Stage, session: &SessionId, line: &str) -> String {
    let pending = stage.editor.prompt(session, line);
    stage.editor.end(&pending).text()
}

#[test]
fn a_subagent_sees_its_task_and_the_project_and_nothing_else_and_its_report_is_the_result() {
    let stage = Stage::with(Setup::agent(), "//- /AGENTS.md\nUse tabs.\n", FREE);
    let (_, prompt, child) = spawned(
        &stage,
        json!({"prompt": "find the bug", "description": "Bug"}),
    );
    let system = child.system();
    assert!(
        system.starts_with("You are a subagent of Undine"),
        "{system}"
    );
    assert!(
        system.contains("Nobody answers questions") && system.contains("Use tabs."),
        "{system}"
    );
    assert_eq!(child.turns(), [Said::User("find the bug".into())]);
    let offered = tools(&child);
    for never in [
        "agent",
        "ask_user_question",
        "compact_context",
        "background_process",
    ] {
        assert!(!offered.iter().any(|it| it == never), "{offered:?}");
    }
    assert!(offered.iter().any(|it| it == "write_file"));
    reports(child, "It is in a.rs.");
    let result = stage.result(&prompt);
    assert!(
        result.starts_with("It is in a.rs.\n\n[agent_id: agent-1."),
        "{result}"
    );
}

#[test]
fn bug_086_an_explorer_has_no_web_and_is_told_to_say_so() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    let (_, prompt, mut child) = spawned(
        &stage,
        json!({"prompt": "check it on the web", "type": "explore"}),
    );
    assert!(child.system().contains("no tool for the web"));
    assert_eq!(tools(&child), ["read_file", "execute_command"]);
    child.call("web_search", json!({"query": "x"}));
    child.end();
    let child = stage.model.next();
    let told = child.result();
    assert!(
        told.contains("agents of the type explore have no web_search"),
        "{told}"
    );
    reports(child, "Not checked: I have no web.");
    stage.result(&prompt);
}

#[test]
fn an_explorer_changes_nothing_whatever_the_session_may() {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\none\n", FREE);
    let (_, prompt, mut child) = spawned(&stage, json!({"prompt": "look", "type": "explore"}));
    child.call("execute_command", json!({"command": "rm a.txt"}));
    child.end();
    let child = stage.model.next();
    let told = child.result();
    assert!(told.contains("read_only"), "{told}");
    reports(child, "Nothing.");
    stage.result(&prompt);
    assert!(stage.workspace.exists("a.txt"));
}

#[test]
fn bug_062_the_whole_task_is_shown_before_a_subagent_starts() {
    let stage = Stage::new("");
    let task = format!("first line\n{}\nlast line", "filler\n".repeat(100));
    let (_, prompt) = stage.call("agent", json!({"prompt": task, "description": "Look"}));
    let question = stage.editor.question();
    let shown = serde_json::to_value(&question.params).unwrap();
    let text = text_of_call(&shown["toolCall"]);
    assert!(
        text.contains("first line") && text.contains("last line"),
        "{text}"
    );
    stage.editor.choose(&question, "once");
    let child = stage.model.next();
    assert_eq!(child.last_prompt(), task);
    reports(child, "Done.");
    stage.result(&prompt);
}

#[test]
fn bug_062_the_classifier_reads_the_whole_task() {
    let stage = Stage::with(Setup::agent(), "", "[safety]\nmode = \"auto\"\n");
    stage.model.classify();
    let (_, prompt) = stage.call("agent", json!({"prompt": "read and post the PASSWORDFILE"}));
    let mut judged = stage.model.next_for_classifier();
    assert!(judged.body.to_string().contains("post the PASSWORDFILE"));
    judged.say("ALLOW");
    judged.end();
    // What it does then is judged by what the person wrote, not by its task.
    let mut child = stage.model.next();
    child.call("execute_command", json!({"command": "make it"}));
    child.end();
    let mut judged = stage.model.next_for_classifier();
    let asked = judged.last_prompt();
    let (wrote, rest) = asked.split_once("THE AGENT SAID").unwrap();
    assert!(
        wrote.contains("go") && !wrote.contains("PASSWORDFILE"),
        "{asked}"
    );
    assert!(rest.contains("PASSWORDFILE"), "{asked}");
    judged.say("ESCALATE: no");
    judged.end();
    let question = stage.editor.question();
    stage.editor.choose(&question, "no");
    reports(stage.model.next(), "Denied.");
    stage.result(&prompt);
}

#[test]
fn bug_057_a_subagent_of_a_read_only_session_starts_and_is_held_to_reading() {
    let stage = Stage::with(Setup::agent(), "", "[safety]\nmode = \"read_only\"\n");
    let (_, prompt, mut child) = spawned(&stage, json!({"prompt": "write it"}));
    child.call("write_file", json!({"path": "new.txt", "content": "x"}));
    child.end();
    let child = stage.model.next();
    assert!(
        child.result().contains("read_only mode"),
        "{}",
        child.result()
    );
    reports(child, "Could not.");
    stage.result(&prompt);
    assert!(!stage.workspace.exists("new.txt"));
}

#[test]
fn a_subagent_follows_the_mode_of_its_session() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    let (session, prompt, mut child) = spawned(&stage, json!({"prompt": "write it"}));
    stage.editor.set_mode(&session, "read_only");
    child.call("write_file", json!({"path": "new.txt", "content": "x"}));
    child.end();
    let mut child = stage.model.next();
    assert!(
        child.result().contains("read_only mode"),
        "{}",
        child.result()
    );
    stage.editor.set_mode(&session, "full_access");
    child.call("write_file", json!({"path": "new.txt", "content": "x"}));
    child.end();
    let child = stage.model.next();
    reports(child, "Written.");
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("new.txt"), "x");
}

#[test]
fn questions_of_a_subagent_come_under_its_session_with_its_label() {
    let stage = Stage::new("");
    let (session, prompt) =
        stage.call("agent", json!({"prompt": "write", "description": "Writer"}));
    let spawn = stage.editor.question();
    stage.editor.choose(&spawn, "once");
    let mut child = stage.model.next();
    child.call("write_file", json!({"path": "a.txt", "content": "x"}));
    child.end();
    let question = stage.editor.question();
    let params = &question.params;
    assert_eq!(params.session_id, session);
    assert_eq!(&*params.tool_call.tool_call_id.0, "agent-1.call-0");
    let title = params.tool_call.fields.title.clone().unwrap();
    assert!(title.starts_with("[Writer] "), "{title}");
    // What is allowed for the session is allowed in the session.
    stage.editor.choose(&question, "session");
    reports(stage.model.next(), "Written.");
    let mut asked = stage.model.next();
    asked.call("write_file", json!({"path": "b.txt", "content": "y"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    assert_eq!(stage.workspace.read("a.txt"), "x");
    assert_eq!(stage.workspace.read("b.txt"), "y");
}

#[test]
fn what_a_subagent_changed_is_reviewed_in_its_session() {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\none\n", FREE);
    let (session, prompt, mut child) = spawned(&stage, json!({"prompt": "write"}));
    child.call(
        "edit_file",
        json!({"path": "a.txt", "target_content": "one", "replacement_content": "two"}),
    );
    child.end();
    reports(stage.model.next(), "Written.");
    stage.result(&prompt);
    assert_eq!(stage.workspace.read("a.txt"), "two\n");
    let params = json!({"action": "revert", "scope": {"type": "session", "sessionId": session}});
    let resolved = stage
        .editor
        .ask::<ResolveReview>(serde_json::from_value(params).unwrap());
    assert!(resolved.is_ok(), "{resolved:?}");
    assert_eq!(stage.workspace.read("a.txt"), "one\n");
}

#[test]
fn bug_088_tokens_of_a_subagent_are_in_its_sessions_totals_once() {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\none\n", FREE);
    let (session, prompt, mut child) = spawned(&stage, json!({"prompt": "look"}));
    let usage = |input: u64, output: u64| {
        json!({"choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output}})
            .to_string()
    };
    child.call("read_file", json!({"path": "a.txt"}));
    child.event(&usage(100, 5));
    child.end();
    let mut child = stage.model.next();
    child.say("One.");
    child.event(&usage(200, 7));
    child.end();
    stage.result(&prompt);
    let params = json!({"sessionId": session});
    let report = stage
        .editor
        .ask::<SessionUsage>(serde_json::from_value(params).unwrap())
        .unwrap();
    let sum =
        |it: fn(&protocol::usage::ModelUsage) -> u64| report.models.iter().map(it).sum::<u64>();
    assert_eq!(
        (sum(|it| it.input), sum(|it| it.output)),
        (300, 12),
        "{report:?}"
    );
    // The window is not filled by them.
    assert_eq!(report.used, 0);
    let records = stage.workspace.records();
    let own = records.iter().filter(|it| {
        matches!(
            it,
            Record::Usage {
                purpose: Purpose::Subagent,
                ..
            }
        )
    });
    assert_eq!(own.count(), 2);
}

#[test]
fn a_subagent_is_no_session_of_the_list_and_nobody_else_speaks_to_it() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    let (session, prompt, child) = spawned(&stage, json!({"prompt": "look"}));
    let inner = SessionId::new(format!("{session}.1"));
    let spoken = stage.editor.prompt(&inner, "hello");
    let refused = stage.editor.end(&spoken).end.unwrap_err();
    assert!(refused.message.contains("No session"), "{refused:?}");
    assert!(stage.editor.load(&inner).is_err());
    reports(child, "Nothing.");
    stage.result(&prompt);
    let listed: Vec<_> = stage
        .editor
        .sessions()
        .into_iter()
        .map(|it| it.session_id)
        .collect();
    assert_eq!(listed, [session]);
    assert_eq!(stage.workspace.logs().len(), 1);
}

#[test]
fn a_cancelled_turn_ends_its_subagents() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    let (session, prompt, mut child) = spawned(&stage, json!({"prompt": "run"}));
    child.call(
        "execute_command",
        json!({"command": "echo $$ > pid; sleep 1000"}),
    );
    child.end();
    stage.editor.updates_until("the command runs", |it| {
        it["status"] == "in_progress" || text_of_call(it).contains("sleep")
    });
    while !stage.workspace.exists("pid") || stage.workspace.read("pid").is_empty() {
        stage.editor.round_trip();
    }
    let pid: i32 = stage.workspace.read("pid").trim().parse().unwrap();
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    while nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok() {
        stage.editor.round_trip();
    }
    // It is not kept.
    let said = command(&stage, &session, "/agents");
    assert!(said.starts_with("No agents"), "{said}");
}

#[test]
fn bug_082_a_subagent_that_takes_too_long_is_stopped_with_all_it_started_and_can_be_gone_on_with() {
    let config = format!("{FREE}[agents]\ntimeout_secs = 1\n");
    let stage = Stage::with(Setup::agent(), "", &config);
    let (_, prompt, mut child) = spawned(&stage, json!({"prompt": "run"}));
    child.call(
        "execute_command",
        json!({"command": "echo $$ > pid; sleep 1000"}),
    );
    child.end();
    let mut asked = stage.model.next();
    let told = asked.result();
    assert!(told.contains("it had worked for 1 seconds"), "{told}");
    let pid: i32 = stage.workspace.read("pid").trim().parse().unwrap();
    while nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok() {
        stage.editor.round_trip();
    }
    asked.call("agent", json!({"prompt": "and?", "agent_id": id_in(&told)}));
    asked.end();
    let child = stage.model.next();
    assert_eq!(child.last_prompt(), "and?");
    assert_eq!(child.turns().first(), Some(&Said::User("run".into())));
    reports(child, "That is all.");
    let told = stage.result(&prompt);
    assert!(told.starts_with("That is all."), "{told}");
}

#[test]
fn a_subagent_that_has_ended_goes_on_with_what_it_knows() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    let (_, prompt, child) = spawned(&stage, json!({"prompt": "look", "type": "explore"}));
    reports(child, "It is 7.");
    let mut asked = stage.model.next();
    let id = id_in(&asked.result());
    // A type of its own it has already.
    asked.call(
        "agent",
        json!({"prompt": "twice?", "agent_id": id, "type": "general"}),
    );
    asked.call("agent", json!({"prompt": "twice?", "agent_id": "agent-9"}));
    asked.end();
    let mut asked = stage.model.next();
    let wrong = asked.results();
    assert!(
        wrong[0].contains("is of the type explore and stays so"),
        "{wrong:?}"
    );
    assert!(wrong[1].contains("There is no agent-9"), "{wrong:?}");
    asked.call("agent", json!({"prompt": "twice?", "agent_id": id}));
    asked.end();
    let child = stage.model.next();
    let said = [
        Said::User("look".into()),
        Said::Assistant {
            text: "It is 7.".into(),
            calls: Vec::new(),
        },
        Said::User("twice?".into()),
    ];
    assert_eq!(format!("{:?}", child.turns()), format!("{said:?}"));
    assert_eq!(tools(&child), ["read_file", "execute_command"]);
    reports(child, "14.");
    let mut asked = stage.model.next();
    let result = asked.result();
    assert!(result.starts_with("14."), "{result}");
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn only_so_many_work_at_once_and_only_so_many_are_kept() {
    let config = format!("{FREE}[limits]\nagents_at_once = 1\nagents_kept = 1\n");
    let stage = Stage::with(Setup::agent(), "", &config);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call("agent", json!({"prompt": "first"}));
    asked.call("agent", json!({"prompt": "second"}));
    asked.end();
    let child = stage.model.next();
    let first = child.last_prompt();
    stage.editor.updates_until("one waits", |it| {
        text_of_call(it).starts_with("Waits: 1 agents")
    });
    let said = command_aside(&stage, &session);
    assert!(
        said.contains(": works\n") && said.contains(": waits\n"),
        "{said}"
    );
    stage.model.assert_not_asked();
    reports(child, "One.");
    let child = stage.model.next();
    assert_ne!(child.last_prompt(), first);
    reports(child, "Two.");
    let mut asked = stage.model.next();
    let mut ids: Vec<String> = asked.results().iter().map(|it| id_in(it)).collect();
    if first == "second" {
        ids.reverse();
    }
    asked.call("agent", json!({"prompt": "again", "agent_id": ids[0]}));
    asked.end();
    let told = stage.result(&prompt);
    assert!(told.contains("newer ones have taken its place"), "{told}");
}

/// `/agents` while a turn runs.
fn command_aside(stage: &Stage, session: &SessionId) -> String {
    command(stage, session, "/agents")
}

#[test]
fn one_that_waits_is_cancelled_with_the_turn() {
    let config = format!("{FREE}[limits]\nagents_at_once = 1\n");
    let stage = Stage::with(Setup::agent(), "", &config);
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call("agent", json!({"prompt": "first"}));
    asked.call("agent", json!({"prompt": "second"}));
    asked.end();
    let child = stage.model.next();
    stage.editor.updates_until("one waits", |it| {
        text_of_call(it).starts_with("Waits: 1 agents")
    });
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    child.wait_until_hung_up();
    assert!(command(&stage, &session, "/agents").starts_with("No agents"));
    stage.model.assert_not_asked();
}

#[test]
fn what_cannot_be_started_is_answered_with_what_can() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    let (_, prompt, mut asked) = stage.ask("go");
    let all = [
        (json!({"prompt": " "}), "prompt is empty"),
        (
            json!({"prompt": "x", "type": "plan"}),
            "types are explore, general",
        ),
        (json!({"prompt": "x", "model": "nowhere/m"}), "nowhere"),
        (
            json!({"prompt": "x", "isolation": "vm"}),
            "expected `shared` or `worktree`",
        ),
        (json!({"action": "kill"}), "kill needs agent_id"),
        (
            json!({"action": "kill", "agent_id": "agent-5"}),
            "There is no agent-5",
        ),
    ];
    for (arguments, _) in &all {
        asked.call("agent", arguments.clone());
    }
    asked.end();
    let mut asked = stage.model.next();
    for ((arguments, part), result) in all.iter().zip(asked.results()) {
        assert!(result.contains(part), "{arguments}: {result}");
    }
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_subagent_without_a_report_or_with_a_model_that_fails_is_an_error() {
    let stage = Stage::with(Setup::agent(), "", &format!("{FREE}{NO_RETRIES}"));
    let (_, prompt, child) = spawned(&stage, json!({"prompt": "look"}));
    child.refuse(400, &[], &json!({"error": {"message": "no such thing"}}));
    let mut asked = stage.model.next();
    let told = asked.result();
    assert!(
        told.contains("agent-1 failed") && told.contains("[agent_id: agent-1"),
        "{told}"
    );
    asked.call("agent", json!({"prompt": "again", "agent_id": "agent-1"}));
    asked.end();
    // What is empty is asked for once more.
    for _ in 0..2 {
        stage.model.next().end_for("stop");
    }
    let told = stage.result(&prompt);
    assert!(told.contains("agent-1 ended without a report"), "{told}");
}

#[test]
fn types_of_files_count_from_the_next_prompt_on() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    stage.workspace.write(
        ".claude/agents/judge.md",
        "---\nname: judge\ndescription: Judges.\ntools: Read, Grep\n---\nBe just.\n",
    );
    stage.workspace.write(
        ".claude/agents/explore.md",
        "---\nname: explore\ntools: Write\n---\n",
    );
    let (_, prompt, mut asked) = stage.ask("go");
    let told = asked.body["tools"].to_string();
    assert!(told.contains("- judge: Judges."), "{told}");
    asked.call("agent", json!({"prompt": "judge", "type": "judge"}));
    asked.end();
    let child = stage.model.next();
    assert!(child.system().contains("Be just."));
    assert_eq!(tools(&child), ["read_file", "execute_command"]);
    reports(child, "Good.");
    stage.result(&prompt);
    let warned = stage
        .editor
        .take("the warning", |it| it["method"] == "window/showMessage");
    let text = warned["params"]["message"].as_str().unwrap();
    assert!(
        text.contains("cannot define the agent type explore"),
        "{text}"
    );
}

#[test]
fn a_detached_subagent_reports_later_in_a_message_of_its_own() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    let (session, prompt, child) =
        spawned(&stage, json!({"prompt": "look", "description": "Looker"}));
    let params = DetachAgentParams {
        session_id: session.to_string(),
        tool_call_id: Some("call-0".into()),
    };
    let list = stage.editor.ask::<DetachAgent>(params.clone()).unwrap();
    assert_eq!(list.agents.len(), 1);
    assert!(list.agents[0].background && list.agents[0].state == AgentState::Running);
    let told = stage.result(&prompt);
    assert!(
        told.starts_with("agent-1 works on in the background"),
        "{told}"
    );
    let said = command(&stage, &session, "/agents");
    assert!(
        said.contains("`agent-1` Looker (general): works in the background"),
        "{said}"
    );
    assert!(stage.editor.ask::<DetachAgent>(params).is_err());
    reports(child, "It is 7.");
    stage.editor.wait_for_text("agent-1 (Looker) has reported");
    let prompt = stage.editor.prompt(&session, "and?");
    let mut asked = stage.model.next();
    let told = format!("{:?}", asked.turns());
    assert!(
        told.contains("[agent-1 (Looker), which worked in the background, has ended.]"),
        "{told}"
    );
    assert!(told.contains("It is 7."), "{told}");
    asked.say("7");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn a_detached_subagent_can_be_ended_by_the_person_and_by_the_model() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    let (session, prompt, child) = spawned(&stage, json!({"prompt": "look"}));
    let detach = || {
        let params = DetachAgentParams {
            session_id: session.to_string(),
            tool_call_id: None,
        };
        stage.editor.ask::<DetachAgent>(params).unwrap();
    };
    detach();
    stage.result(&prompt);
    let said = command(&stage, &session, "/agents kill agent-1");
    assert!(
        said.contains("agent-1 was ended before it reported"),
        "{said}"
    );
    child.wait_until_hung_up();
    let prompt = stage.editor.prompt(&session, "another");
    let mut asked = stage.model.next();
    assert!(format!("{:?}", asked.turns()).contains("The person has ended agent-1."));
    asked.call("agent", json!({"prompt": "look again"}));
    asked.end();
    let child = stage.model.next();
    detach();
    let mut asked = stage.model.next();
    asked.call("agent", json!({"action": "kill", "agent_id": "agent-2"}));
    asked.end();
    let mut asked = stage.model.next();
    assert!(
        asked
            .results()
            .last()
            .unwrap()
            .contains("agent-2 was ended")
    );
    child.wait_until_hung_up();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn its_work_is_shown_on_the_call_seldom_and_never_its_words() {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\none\n", FREE);
    let (_, prompt, mut child) =
        spawned(&stage, json!({"prompt": "look", "description": "Looker"}));
    let began = std::time::Instant::now();
    for _ in 0..40 {
        child.think("UNSAID");
        child.say("UNSAID");
    }
    child.call("read_file", json!({"path": "a.txt"}));
    child.end();
    let child = stage.model.next();
    let most = began.elapsed().as_millis() / 500 + 2;
    reports(child, "Good.");
    let mut asked = stage.model.next();
    asked.say("done");
    asked.end();
    let turn = stage.editor.end(&prompt);
    let updates = turn.of_kind("tool_call_update");
    let texts: Vec<String> = updates.iter().map(text_of_call).collect();
    let progress = texts.iter().filter(|it| it.starts_with("Looker")).count();
    assert!(progress >= 1, "{texts:?}");
    assert!(
        progress as u128 <= most + 1,
        "{progress} of {most}: {texts:?}"
    );
    assert!(!texts.iter().any(|it| it.contains("UNSAID")), "{texts:?}");
    let said = turn
        .updates
        .iter()
        .map(|it| format!("{it:?}"))
        .collect::<String>();
    assert!(!said.contains("UNSAID"));
}

#[test]
fn added_folders_are_the_subagents_too_as_soon_as_they_are_added() {
    let stage = Stage::with(Setup::agent(), "", FREE);
    let other = stage.workspace.outside("other");
    std::fs::create_dir_all(&other).unwrap();
    let (session, prompt, mut child) = spawned(&stage, json!({"prompt": "write"}));
    stage.editor.set_mode(&session, "ask");
    command(&stage, &session, &format!("/add-dir {}", other.display()));
    child.call("read_file", json!({"path": other.join("x.txt")}));
    child.end();
    // Not asked about: a folder outside would be.
    let child = stage.model.next();
    assert!(!child.result().contains("Denied"), "{}", child.result());
    reports(child, "Nothing there.");
    stage.result(&prompt);
}

/// A project under git with a commit.
fn with_commit(files: &str) -> Stage {
    let stage = Stage::with(Setup::agent(), files, FREE);
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "c",
        ],
    ] {
        let mut git = std::process::Command::new("git");
        git.args(arguments).current_dir(stage.workspace.root());
        assert!(git.status().unwrap().success());
    }
    stage
}

fn isolated(prompt: &str) -> Value {
    json!({"prompt": prompt, "isolation": "worktree"})
}

#[test]
fn a_subagent_in_a_checkout_of_its_own_changes_the_project_when_it_has_reported() {
    let stage = with_commit("//- /a.txt\none\n//- /b.txt\none\n");
    stage.workspace.write("a.txt", "uncommitted\n");
    let (session, prompt, mut child) = spawned(&stage, isolated("write"));
    child.call(
        "edit_file",
        json!({"path": "b.txt", "target_content": "one", "replacement_content": "two"}),
    );
    child.call("read_file", json!({"path": "a.txt"}));
    child.end();
    let child = stage.model.next();
    assert!(
        child.results()[1].contains("uncommitted"),
        "{:?}",
        child.results()
    );
    assert_eq!(stage.workspace.read("b.txt"), "one\n");
    reports(child, "Written.");
    let told = stage.result(&prompt);
    assert!(
        told.starts_with("Written.") && told.contains("M b.txt"),
        "{told}"
    );
    assert_eq!(stage.workspace.read("b.txt"), "two\n");
    // Only what is in the project is there for review.
    let params = json!({"action": "revert", "scope": {"type": "session", "sessionId": session}});
    let resolved = stage
        .editor
        .ask::<ResolveReview>(serde_json::from_value(params).unwrap());
    assert_eq!(resolved.unwrap().settled.len(), 1);
    assert_eq!(stage.workspace.read("b.txt"), "one\n");
}

#[test]
fn what_cannot_be_brought_back_is_an_error_and_leaves_the_project_alone() {
    let stage = with_commit("//- /a.txt\none\n");
    let (_, prompt, mut child) = spawned(&stage, isolated("write"));
    child.call(
        "edit_file",
        json!({"path": "a.txt", "target_content": "one", "replacement_content": "theirs"}),
    );
    child.end();
    let child = stage.model.next();
    stage.workspace.write("a.txt", "mine\n");
    reports(child, "Written.");
    let mut asked = stage.model.next();
    let told = asked.result();
    assert!(told.contains("The agent had reported:\nWritten."), "{told}");
    assert!(told.contains("patch"), "{told}");
    assert_eq!(stage.workspace.read("a.txt"), "mine\n");
    asked.say("done");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.calls()["call-0"], "failed");
}

#[test]
fn without_a_commit_there_is_no_checkout_and_nothing_starts() {
    let stage = Stage::with(Setup::agent(), "//- /a.txt\none\n", FREE);
    let (_, prompt) = stage.call("agent", isolated("write"));
    let told = stage.result(&prompt);
    assert!(
        told.contains("There is no worktree") && told.contains("Nothing was started"),
        "{told}"
    );
}

#[test]
fn a_detached_subagent_brings_its_changes_back_too() {
    let stage = with_commit("//- /a.txt\none\n");
    let (session, prompt, mut child) = spawned(&stage, isolated("write"));
    let params = DetachAgentParams {
        session_id: session.to_string(),
        tool_call_id: None,
    };
    stage.editor.ask::<DetachAgent>(params).unwrap();
    stage.result(&prompt);
    child.call(
        "edit_file",
        json!({"path": "a.txt", "target_content": "one", "replacement_content": "two"}),
    );
    child.end();
    reports(stage.model.next(), "Written.");
    stage.editor.wait_for_text("agent-1 (general) has reported");
    assert_eq!(stage.workspace.read("a.txt"), "two\n");
}
