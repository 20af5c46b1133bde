//! The queue in an editor's chat: commands that the server answers itself.

use super::{Alone, edit};
use crate::support::editor::{Editor, Setup};
use protocol::acp::{SessionId, StopReason};

#[track_caller]
fn say(editor: &Editor, session: &SessionId, text: &str) -> String {
    let prompt = editor.prompt(session, text);
    let turn = editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    turn.text()
}

#[test]
fn what_waits_is_listed_approved_into_the_editor_and_told_to_the_model() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "omega"));
    let editor = Editor::start(&Setup::agent(), &alone.workspace);
    let session = editor.sessions().remove(0).session_id;
    editor.load(&session).unwrap();
    editor.open("a.txt");
    editor.type_over("a.txt", "beta", "typed");
    let listed = say(&editor, &session, "/approvals");
    assert!(listed.starts_with(&format!("- {id}  ")), "{listed}");
    let shown = say(&editor, &session, &format!("/approvals {id}"));
    assert!(shown.contains("+omega"), "{shown}");
    let done = say(&editor, &session, &format!("/approve {}", &id[..6]));
    assert!(done.starts_with("Changed a.txt (+1 -1 lines)"), "{done}");
    assert_eq!(editor.buffer("a.txt").text, "omega\ntyped\n");
    let again = say(&editor, &session, &format!("/approve {id}"));
    assert!(again.contains("done before"), "{again}");
    let listed = say(&editor, &session, "/approvals");
    assert_eq!(listed, "Nothing waits for an approval in this project.");

    let prompt = editor.prompt(&session, "and now?");
    let mut asked = alone.model.next();
    let told = asked.last_prompt();
    assert!(
        told.contains(&format!("The person has approved {id}")),
        "{told}"
    );
    asked.say("ok");
    asked.end();
    editor.end(&prompt);
}

#[test]
fn what_waits_is_denied_from_another_session() {
    let alone = Alone::new();
    let id = alone.kept("edit_file", edit("a.txt", "alpha", "omega"));
    let editor = Editor::start(&Setup::agent(), &alone.workspace);
    let session = editor.new_session();
    let said = say(&editor, &session, &format!("/deny {id}"));
    assert_eq!(said, format!("Denied {id}: Edit a.txt."));
    let refused = say(&editor, &session, &format!("/approve {id}"));
    assert!(
        refused.contains("was denied, which is for good"),
        "{refused}"
    );
    let none = say(&editor, &session, "/approve");
    assert!(none.contains("There is no approval"), "{none}");
    assert_eq!(alone.workspace.read("a.txt"), "alpha\nbeta\n");
}
