//! `/goal`: the agent goes on until a second look says that it holds.

use super::notice;
use crate::support::model::Asked;
use crate::support::stage::Stage;
use protocol::acp::StopReason;

fn say(mut asked: Asked, text: &str) {
    asked.say(text);
    asked.end();
}

#[test]
fn a_goal_is_checked_without_tools_and_worked_towards_until_it_is_met() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "/goal all tests pass");
    let asked = stage.model.next();
    assert_eq!(asked.last_prompt(), "Goal: all tests pass");
    say(asked, "They do.");
    let check = stage.model.next();
    assert!(
        check.body["tools"].as_array().is_none_or(Vec::is_empty),
        "{:#}",
        check.body
    );
    assert!(check.last_prompt().contains("AGENT: They do."));
    say(check, "NOT_MET: nothing was run");
    notice(&stage, "nothing was run");
    let asked = stage.model.next();
    let told = asked.last_prompt();
    assert!(
        told.contains("nothing was run") && told.contains("all tests pass"),
        "{told}"
    );
    say(asked, "Now they do.");
    say(stage.model.next(), "MET");
    notice(&stage, "The goal is met");
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    let shown = stage.editor.prompt(&session, "/goal");
    assert!(stage.editor.end(&shown).text().contains("There is no goal"));
}

#[test]
fn an_interrupted_goal_is_paused_survives_a_restart_and_a_word_clears_it() {
    let mut stage = Stage::new("");
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "/goal g");
    let asked = stage.model.next();
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    asked.wait_until_hung_up();
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    let shown = stage.editor.prompt(&session, "/goal");
    let text = stage.editor.end(&shown).text();
    assert!(
        text.contains("Goal: g") && text.contains("you interrupted it"),
        "{text}"
    );
    let cleared = stage.editor.prompt(&session, "/goal off");
    stage.editor.end(&cleared).end.unwrap();
    let prompt = stage.editor.prompt(&session, "hello");
    say(stage.model.next(), "hi");
    // Nothing is checked any more.
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}
