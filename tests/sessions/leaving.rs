//! Resuming without a replay, closing, and deleting with all that belongs to a session.

use super::{AUTO, FILES, command, say, stage, titles};
use crate::support::editor::{Editor, Setup};
use crate::support::stage::Stage;
use protocol::acp::{self, StopReason};
use protocol::methods::{CloseSession, DeleteSession, Prompt, ResumeSession};
use std::fs;

#[test]
fn resuming_opens_a_session_and_replays_nothing() {
    let mut stage = stage();
    let session = stage.editor.new_session();
    say(&stage, &session, "one", "two");
    stage.editor.finish();
    stage.restart();
    let params = acp::ResumeSessionRequest::new(session.clone(), stage.workspace.root());
    let resumed = stage.editor.ask::<ResumeSession>(params).unwrap();
    assert_eq!(&*resumed.modes.unwrap().current_mode_id.0, "auto");
    stage.editor.commands();
    stage.editor.assert_none("session/update");
    let prompt = stage.editor.prompt(&session, "three");
    let mut asked = stage.model.next();
    assert_eq!(asked.messages().len(), 4, "the history is there");
    asked.say("four");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

#[test]
fn closing_ends_the_turn_and_lets_another_process_have_the_session() {
    let stage = stage();
    let (session, prompt, asked) = stage.ask("one");
    let close = acp::CloseSessionRequest::new(session.clone());
    stage.editor.ask::<CloseSession>(close).unwrap();
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    asked.wait_until_hung_up();
    let again = acp::PromptRequest::new(session.clone(), vec!["two".into()]);
    let refused = stage.editor.ask::<Prompt>(again);
    assert!(refused.unwrap_err().message.contains("No session"));
    let other = Editor::start(&Setup::agent(), &stage.workspace);
    other.load(&session).unwrap();
    other.commands();
    // Its log stays, and it can be deleted only by who has it open.
    let delete = acp::DeleteSessionRequest::new(session.clone());
    let refused = stage.editor.ask::<DeleteSession>(delete.clone());
    assert!(refused.unwrap_err().message.contains("Another Undine"));
    assert_eq!(titles(&stage), ["one"]);
    other.ask::<DeleteSession>(delete).unwrap();
    assert_eq!(titles(&stage), Vec::<String>::new());
}

#[test]
fn deleting_leaves_nothing_of_a_session_and_all_of_the_others() {
    let stage = Stage::with(Setup::agent(), FILES, AUTO);
    let (kept, gone) = (stage.editor.new_session(), stage.editor.new_session());
    say(&stage, &kept, "kept", "yes");
    say(&stage, &gone, "gone", "yes");
    command(&stage, &gone, "/rename Gone");
    let folder = stage.workspace.path(".undine/conversations");
    fs::write(folder.join(format!("{gone}.json")), "{}").unwrap();
    let delete = acp::DeleteSessionRequest::new(gone.clone());
    stage.editor.ask::<DeleteSession>(delete.clone()).unwrap();
    let left = fs::read_dir(&folder).unwrap();
    let mut left: Vec<String> = left
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    left.retain(|it| it.starts_with(&*gone.0));
    assert_eq!(left, Vec::<String>::new());
    let known = stage.workspace.outside("data").join("known");
    assert_eq!(fs::read_dir(known).unwrap().count(), 1);
    assert_eq!(titles(&stage), ["kept"]);
    let again = stage.editor.ask::<DeleteSession>(delete);
    assert!(again.unwrap_err().message.contains("There is no session"));
    // One in which nothing was said goes too.
    let empty = stage.editor.new_session();
    let delete = acp::DeleteSessionRequest::new(empty.clone());
    stage.editor.ask::<DeleteSession>(delete).unwrap();
    assert!(stage.editor.load(&empty).is_err());
    say(&stage, &kept, "still there", "yes");
}
