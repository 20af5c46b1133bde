//! The model can ask the person, and hears what the person said or that nobody can be asked.

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::StopReason;
use protocol::methods::CreateElicitation;
use serde_json::{Value, json};

fn question() -> Value {
    json!({"questions": [{
        "question": "Which colour?",
        "header": "Colour",
        "options": [{"label": "red"}, {"label": "blue", "description": "like the sea"}],
    }]})
}

#[test]
fn a_question_comes_as_a_form_and_its_answer_goes_to_the_model() {
    let stage = Stage::new("");
    let (session, prompt) = stage.call("ask_user_question", question());
    let asking = stage.editor.expect::<CreateElicitation>();
    let form = serde_json::to_value(&asking.params).unwrap();
    assert_eq!(form["sessionId"], json!(session));
    let field = &form["requestedSchema"]["properties"]["answer1"];
    assert_eq!(field["description"], "Which colour?");
    assert_eq!(field["oneOf"][1]["const"], "blue");
    stage.editor.raw_reply(
        &asking.id,
        json!({"action": "accept", "content": {"answer1": "blue"}}),
    );
    assert_eq!(stage.result(&prompt), "Which colour?\nblue\n");
}

#[test]
fn a_dismissed_question_is_told_to_the_model() {
    for action in ["decline", "cancel"] {
        let stage = Stage::new("");
        let (_, prompt) = stage.call("ask_user_question", question());
        let asking = stage.editor.expect::<CreateElicitation>();
        stage
            .editor
            .raw_reply(&asking.id, json!({"action": action}));
        let result = stage.result(&prompt);
        assert!(result.contains("dismissed"), "{result}");
    }
}

#[test]
fn where_nobody_can_be_asked_the_model_is_told_so() {
    let stage = Stage::with(Setup::bare(), "", "");
    let (_, prompt) = stage.call("ask_user_question", question());
    let result = stage.result_unshown(&prompt);
    assert!(result.contains("Nobody can be asked"), "{result}");
}

#[test]
fn a_cancelled_turn_withdraws_its_question() {
    let stage = Stage::new("");
    let (session, prompt) = stage.call("ask_user_question", question());
    let asking = stage.editor.expect::<CreateElicitation>();
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage.editor.expect_withdrawn(&asking.id);
}
