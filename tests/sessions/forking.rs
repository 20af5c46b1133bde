//! Forks and rewinds: a new session up to a message, the old one as it was, checkpoints named.

use super::{FILES, command, edit, history, records, say, session_id, stage};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::methods::ForkSession;
use protocol::record::Record;
use protocol::sessions::{ForkSessionParams, ForkSessionResult};
use serde_json::json;
use std::fs;

#[track_caller]
fn fork(stage: &Stage, session: &str, message: Option<u64>) -> ForkSessionResult {
    let forked = stage.editor.ask::<ForkSession>(ForkSessionParams {
        session_id: session.to_owned(),
        cwd: None,
        message,
    });
    forked.unwrap()
}

#[test]
fn a_fork_goes_on_from_its_message_and_names_the_checkpoints_left_behind() {
    let stage = stage();
    let session = stage.editor.new_session();
    edit(&stage, &session, "first", ("a.txt", "one", "two"));
    edit(&stage, &session, "second", ("b.txt", "b", "B"));
    let before = records(&stage, &session.0);

    // 1 first, 2 its call, 3 the result, 4 done; 5 second.
    let forked = fork(&stage, &session.0, Some(4));
    assert_eq!(forked.message, 4);
    assert_eq!(forked.prompt.as_deref(), Some("second"));
    let left: Vec<String> = forked
        .checkpoints
        .iter()
        .map(|it| it.files[0].path.display().to_string())
        .collect();
    assert_eq!(left, ["b.txt"]);
    // Files are not touched, and the session that is left has nothing new.
    assert_eq!(stage.workspace.read("b.txt"), "B\n");
    assert_eq!(records(&stage, &session.0), before);

    let copied = records(&stage, &forked.session_id);
    assert_eq!(
        copied[1],
        Record::Forked {
            session: session.to_string(),
            message: 4
        }
    );
    let said = history(&stage, &session_id(&forked.session_id));
    assert_eq!(said.first().unwrap(), "user: first");
    assert!(said.contains(&"assistant: done".to_owned()), "{said:?}");
    assert!(!said.contains(&"user: second".to_owned()), "{said:?}");
    let listed = stage.editor.sessions();
    let is_it = |it: &&protocol::acp::SessionInfo| *it.session_id.0 == *forked.session_id;
    let info = listed.iter().find(is_it).unwrap();
    let meta = serde_json::to_value(&info.meta).unwrap();
    assert_eq!(
        meta["undine"]["forkedFrom"],
        json!({"sessionId": session.to_string(), "message": 4})
    );
}

#[test]
fn a_fork_never_has_a_call_without_its_result() {
    let stage = stage();
    let session = stage.editor.new_session();
    edit(&stage, &session, "first", ("a.txt", "one", "two"));
    // Message 2 is the call.
    let forked = fork(&stage, &session.0, Some(2));
    assert_eq!(forked.message, 3);
    let copied = records(&stage, &forked.session_id);
    let n = |fits: fn(&Record) -> bool| copied.iter().filter(|it| fits(it)).count();
    assert_eq!(n(|it| matches!(it, Record::Call { .. })), 1);
    assert_eq!(n(|it| matches!(it, Record::Result { .. })), 1);
    assert_eq!(n(|it| matches!(it, Record::Ended { .. })), 1);
    history(&stage, &session_id(&forked.session_id));
    // Loading it had nothing to repair.
    let repaired = records(&stage, &forked.session_id);
    assert_eq!(repaired[..copied.len()], copied[..]);
}

#[test]
fn a_fork_of_nothing_is_a_new_session_that_can_be_loaded() {
    let stage = stage();
    let session = stage.editor.new_session();
    say(&stage, &session, "first", "yes");
    let forked = fork(&stage, &session.0, Some(0));
    assert_eq!(forked.message, 0);
    assert_eq!(forked.prompt.as_deref(), Some("first"));
    let said = history(&stage, &session_id(&forked.session_id));
    assert_eq!(said, ["user: and now?"]);
}

#[test]
fn rewinding_lists_messages_forks_before_one_and_gives_its_text_to_be_written_anew() {
    let stage = stage();
    let session = stage.editor.new_session();
    edit(&stage, &session, "make it two", ("a.txt", "one", "two"));
    say(&stage, &session, "thanks", "welcome");
    let listed = command(&stage, &session, "/rewind").text();
    assert!(
        listed.contains("- 1  make it two\n- 5  thanks\n"),
        "{listed}"
    );
    let none = command(&stage, &session, "/rewind 2").text();
    assert!(none.starts_with("Message 2 is none of yours"), "{none}");

    let turn = command(&stage, &session, "/rewind 1");
    let (text, beside) = (turn.text(), turn.beside);
    let checkpoint = beside["checkpoints"][0]["id"].as_str().unwrap();
    assert!(text.contains(checkpoint), "{text}");
    assert!(text.contains("`/restore ID`"), "{text}");
    assert_eq!(beside["session"]["prompt"], "make it two");
    assert_eq!(stage.workspace.read("a.txt"), "two\n");
    let new = session_id(beside["session"]["sessionId"].as_str().unwrap());
    assert_eq!(history(&stage, &new), ["user: and now?"]);

    let turn = command(&stage, &session, "/fork 5");
    assert_eq!(turn.beside["session"].get("prompt"), None);
    let new = session_id(turn.beside["session"]["sessionId"].as_str().unwrap());
    let said = history(&stage, &new);
    // Two prompts in a row are one message for a model.
    assert_eq!(said.last().unwrap(), "user: thanks\n\nand now?");
}

#[test]
fn rewinding_waits_for_the_turn_that_runs() {
    let stage = stage();
    let (session, prompt, asked) = stage.ask("one");
    let busy = command(&stage, &session, "/rewind 1");
    assert!(busy.text().starts_with("A turn is running"), "{busy:?}");
    asked.end();
    stage.editor.end(&prompt);
}

#[test]
fn clearing_begins_a_new_session_and_the_old_one_stays() {
    let stage = stage();
    let session = stage.editor.new_session();
    say(&stage, &session, "first", "yes");
    let turn = command(&stage, &session, "/clear");
    let new = session_id(turn.beside["session"]["sessionId"].as_str().unwrap());
    assert_ne!(new, session);
    assert_eq!(history(&stage, &new), ["user: and now?"]);
    assert_eq!(stage.editor.sessions().len(), 2);
}

#[test]
fn a_fork_of_a_session_that_came_with_the_project_is_no_more_ours_than_that() {
    let stage = Stage::with(Setup::agent(), FILES, "");
    let session = stage.editor.new_session();
    say(&stage, &session, "first", "yes");
    let forked = fork(&stage, &session.0, None);
    let known = stage.workspace.outside("data").join("known");
    assert_eq!(fs::read_dir(&known).unwrap().count(), 2);
    for voucher in fs::read_dir(&known).unwrap() {
        fs::remove_file(voucher.unwrap().path()).unwrap();
    }
    fork(&stage, &forked.session_id, None);
    assert_eq!(fs::read_dir(&known).unwrap().count(), 0);
}

#[test]
fn spec_3_6_the_action_of_a_restored_checkpoint_waits_for_approval_again() {
    let stage = stage();
    let session = stage.editor.new_session();
    edit(&stage, &session, "first", ("a.txt", "one", "two"));
    let restore = |id: &str| {
        let prompt = stage.editor.prompt(&session, &format!("/restore{id}"));
        let question = stage.editor.question();
        stage.editor.choose(&question, "once");
        stage.editor.end(&prompt).text()
    };
    let text = restore("");
    assert_eq!(stage.workspace.read("a.txt"), "one\n");
    assert!(text.contains("(restored action)"), "{text}");
    assert!(text.contains("-one\n+two"), "{text}");
    let id = text.split("`/approve ").nth(1).unwrap();
    let id = id.split('`').next().unwrap().to_owned();
    let listed = command(&stage, &session, "/approvals").text();
    assert!(listed.contains("(restored action)"), "{listed}");
    let done = command(&stage, &session, &format!("/approve {id}")).text();
    assert!(!done.contains("Nothing was done"), "{done}");
    assert_eq!(stage.workspace.read("a.txt"), "two\n");

    // A checkpoint that was made for no action brings none back.
    command(&stage, &session, "/checkpoint b.txt");
    stage.workspace.write("b.txt", "other\n");
    let text = restore("");
    assert!(!text.contains("restored action"), "{text}");
    let listed = command(&stage, &session, "/approvals").text();
    assert_eq!(listed, "Nothing waits for an approval in this project.");
}
