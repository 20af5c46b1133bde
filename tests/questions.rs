//! The model can ask the person, and hears what the person said or that nobody can be asked (spec 11).

use crate::support::editor::{Pending, Setup};
use crate::support::stage::Stage;
use protocol::acp::{SessionId, StopReason};
use protocol::methods::{CreateElicitation, Prompt};
use serde_json::{Value, json};
use std::fs;

fn question() -> Value {
    json!({"questions": [{
        "question": "Which colour?",
        "header": "Colour",
        "options": [{"label": "red"}, {"label": "blue", "description": "like the sea"}],
    }]})
}

/// Asks, and answers the form with this content; what the model hears.
fn answered(questions: Value, content: Value) -> String {
    let stage = Stage::new("");
    let (_, prompt) = stage.call("ask_user_question", questions);
    let asking = stage.editor.expect::<CreateElicitation>();
    let accepted = json!({"action": "accept", "content": content});
    stage.editor.raw_reply(&asking.id, accepted);
    stage.result(&prompt)
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
fn every_kind_of_question_is_asked_and_told() {
    let choices = json!([{"label": "a"}, {"label": "b"}]);
    let first = json!({"questions": [
        {"question": "Several?", "kind": "multiSelect", "options": choices},
        {"question": "Order?", "kind": "rank", "options": choices},
        {"question": "How many?", "kind": "number", "min": 1, "max": 9, "slider": true},
        {"question": "When?", "kind": "date"},
    ]});
    let content = json!({
        "answer1": ["a", "b"],
        "answer2": ["b", "a"],
        "answer3": 7,
        "answer4": "2026-01-14",
        "answer4_note": "or later",
    });
    assert_eq!(
        answered(first, content),
        "Several?\na, b\nOrder?\n1. b, 2. a\nHow many?\n7\nWhen?\n2026-01-14\nNote: or later\n"
    );
    let second = json!({"questions": [
        {"question": "Name?", "kind": "text", "validate": "any"},
        {"question": "Where?", "kind": "path", "mustExist": true},
        {"question": "Which?", "options": choices},
    ]});
    let content = json!({"answer2": "/tmp", "answer3_other": "c"});
    assert_eq!(
        answered(second, content),
        "Name?\nnothing selected\nWhere?\n/tmp\nWhich?\nc\n"
    );
}

#[test]
fn more_than_four_questions_are_refused_with_the_limit() {
    let one = json!({"question": "Why?", "kind": "text"});
    let stage = Stage::new("");
    let call = json!({"questions": [one, one, one, one, one]});
    let (_, prompt) = stage.call("ask_user_question", call);
    let said = stage.result(&prompt);
    assert!(said.contains("1 to 4 questions"), "{said}");
}

#[test]
fn who_would_rather_talk_is_not_asked_the_same_again() {
    let said = answered(question(), json!({"answer1": "red", "discuss": true}));
    assert!(
        said.contains("talk about this first") && !said.contains("red"),
        "{said}"
    );
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
fn what_needs_typing_is_not_asked_where_nothing_can_be_typed() {
    let stage = Stage::with(Setup::bare(), "", "");
    let call = json!({"questions": [{"question": "Name?", "kind": "text"}]});
    let (_, prompt) = stage.call("ask_user_question", call);
    let result = stage.result_unshown(&prompt);
    assert!(result.contains("Nobody can be asked"), "{result}");
}

/// The next message with choices: what it says, and the titles.
fn message(stage: &Stage) -> (Value, String, Vec<String>) {
    let mut asked = stage.editor.expect_raw("window/showMessageRequest");
    let text = asked["params"]["message"].as_str().unwrap().to_owned();
    let actions = asked["params"]["actions"].as_array().unwrap().iter();
    let titles = actions.map(|it| it["title"].as_str().unwrap().to_owned());
    let titles = titles.collect();
    (asked["id"].take(), text, titles)
}

/// An editor without forms, in which this is asked.
fn asked_by_messages(questions: Value) -> (Stage, SessionId, Pending<Prompt>) {
    let setup = Setup {
        without: vec!["elicitation/create"],
        ..Setup::agent()
    };
    let stage = Stage::with(setup, "", "");
    let (session, prompt) = stage.call("ask_user_question", questions);
    (stage, session, prompt)
}

#[test]
fn an_editor_without_forms_asks_by_one_message_after_another() {
    let choices = json!([{"label": "a"}, {"label": "b"}, {"label": "c"}]);
    let (stage, _, prompt) = asked_by_messages(json!({"questions": [
        {"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue", "description": "like the sea"}]},
        {"question": "Several?", "kind": "multiSelect", "options": choices},
        {"question": "Order?", "kind": "rank", "options": choices},
        {"question": "Name?", "kind": "text"},
    ]}));
    let pick = |wanted: &str, offered: &[&str]| {
        let (id, text, titles) = message(&stage);
        assert_eq!(titles, offered, "{text}");
        stage.editor.raw_reply(&id, json!({"title": wanted}));
        text
    };
    let text = pick("blue", &["red", "blue", "Other...", "Chat about this"]);
    assert!(
        text.contains("Which colour?") && text.contains("blue: like the sea"),
        "{text}"
    );
    pick("c", &["a", "b", "c", "Done", "Other...", "Chat about this"]);
    pick("a", &["a", "b", "Done", "Other...", "Chat about this"]);
    pick("Done", &["b", "Done", "Other...", "Chat about this"]);
    pick("b", &["a", "b", "c", "Other...", "Chat about this"]);
    pick("a", &["a", "c", "Other...", "Chat about this"]);
    let said = stage.result(&prompt);
    assert!(
        said.starts_with(
            "Which colour?\nblue\nSeveral?\nc, a\nOrder?\n1. b, 2. a, 3. c\nName?\nnot asked"
        ),
        "{said}"
    );
}

#[test]
fn a_message_that_is_dismissed_ends_the_questions_and_a_cancelled_turn_withdraws_it() {
    let (stage, session, prompt) = asked_by_messages(question());
    let (id, _, _) = message(&stage);
    stage.editor.raw_reply(&id, Value::Null);
    assert!(stage.result(&prompt).contains("dismissed"));
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    asked.call("ask_user_question", question());
    asked.end();
    let (id, _, _) = message(&stage);
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::Cancelled));
    stage.editor.expect_withdrawn(&id);
}

#[test]
fn an_answer_that_is_kept_is_given_without_asking_and_marked_as_remembered() {
    let mut stage = Stage::new("");
    let mut call = question();
    call["questions"][0]["memoryKey"] = json!("colour");
    let (_, prompt) = stage.call("ask_user_question", call.clone());
    let asking = stage.editor.expect::<CreateElicitation>();
    let content = json!({"answer1": "blue", "answer1_keep": true});
    stage
        .editor
        .raw_reply(&asking.id, json!({"action": "accept", "content": content}));
    assert_eq!(stage.result(&prompt), "Which colour?\nblue\n");
    let file = stage.workspace.outside("config").join("answers.json");
    assert!(fs::read_to_string(file).unwrap().contains("Which colour?"));
    stage.editor.finish();
    stage.restart();
    let (session, prompt) = stage.call("ask_user_question", call.clone());
    let said = stage.result(&prompt);
    assert!(
        said.starts_with("Which colour?\nblue (remembered"),
        "{said}"
    );
    // One of two is not enough.
    let second = json!({"question": "Name?", "kind": "text", "memoryKey": "name"});
    call["questions"].as_array_mut().unwrap().push(second);
    let prompt = stage.editor.prompt(&session, "again");
    let mut asked = stage.model.next();
    asked.call("ask_user_question", call);
    asked.end();
    let asking = stage.editor.expect::<CreateElicitation>();
    stage
        .editor
        .raw_reply(&asking.id, json!({"action": "decline"}));
    assert!(stage.result(&prompt).contains("dismissed"));
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
