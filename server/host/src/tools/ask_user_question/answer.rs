//! What the person answered, as the model hears it (spec 11.3).

use super::form::{DISCUSS as DISCUSS_FIELD, Fields};
use super::question::{Kind, Question};
use serde_json::Value;

pub const DISMISSED: &str =
    "The person dismissed the questions. Do not ask them again unless you must.";

pub const DISCUSS: &str = "The person wants to talk about this first. Say briefly what it is about and let them write; do not put the same \
questions again.";

pub const NOBODY: &str =
    "Nobody can be asked here. Go on by your best judgement and say what you assumed.";

/// What became of the questions.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// One answer a question, in their order.
    Answered(Vec<Answer>),
    Discuss,
    Dismissed,
    Nobody,
}

/// The answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Several where several were chosen, in their order; none: it was skipped.
    pub values: Vec<String>,
    pub note: Option<String>,
    /// It is to count for later questions too.
    pub keep: bool,
    /// It was given earlier, and the person was not asked.
    pub is_remembered: bool,
}

/// The content of a form that was accepted.
pub fn read(questions: &[Question], content: &Value) -> Reply {
    if content[DISCUSS_FIELD] == Value::Bool(true) {
        return Reply::Discuss;
    }
    let answers = questions.iter().enumerate().map(|(at, question)| {
        let fields = Fields::of(at);
        let mut values = values(&content[&fields.answer]);
        if let Some(other) = text(&content[&fields.other]) {
            match question.kind {
                // It stands in the place of what is offered, and beside what was chosen of several.
                Kind::Select => values = vec![other],
                Kind::MultiSelect | Kind::Rank => values.push(other),
                Kind::Text | Kind::Number | Kind::Date | Kind::Path => {}
            }
        }
        Answer {
            values,
            note: text(&content[&fields.note]),
            keep: content[&fields.keep] == Value::Bool(true),
            is_remembered: false,
        }
    });
    Reply::Answered(answers.collect())
}

/// The answers, for the model.
pub fn told(questions: &[Question], answers: &[Answer]) -> String {
    let mut all = String::new();
    for (question, answer) in questions.iter().zip(answers) {
        let mut said = match (question.kind, answer.values.as_slice()) {
            (_, []) => "nothing selected".to_owned(),
            (Kind::Rank, values) => {
                let ranked = values.iter().enumerate();
                let ranked: Vec<String> =
                    ranked.map(|(at, it)| format!("{}. {it}", at + 1)).collect();
                ranked.join(", ")
            }
            (_, values) => values.join(", "),
        };
        if answer.is_remembered {
            said += " (remembered: the person kept this answer earlier and was not asked)";
        }
        all += &format!("{}\n{said}\n", question.question);
        if let Some(note) = &answer.note {
            all += &format!("Note: {note}\n");
        }
    }
    all
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn values(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(_) => text(value).into_iter().collect(),
        Value::Array(items) => items.iter().filter_map(text).collect(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => vec![value.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    fn question(kind: Kind) -> Question {
        Question {
            question: format!("{}?", kind.id()),
            kind,
            ..Question::default()
        }
    }

    fn heard(questions: &[Question], content: Value) -> String {
        match read(questions, &content) {
            Reply::Answered(answers) => told(questions, &answers),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn each_question_is_told_with_its_answer_and_its_note() {
        let kinds = [Kind::Select, Kind::MultiSelect, Kind::Rank, Kind::Number].map(question);
        let content = json!({
            "answer1": "red",
            "answer1_note": "not too dark",
            "answer2": ["a", "b"],
            "answer2_other": "c",
            "answer3": ["z", "y"],
            "answer4": 7,
        });
        expect![[r#"
            select?
            red
            Note: not too dark
            multiSelect?
            a, b, c
            rank?
            1. z, 2. y
            number?
            7
        "#]]
        .assert_eq(&heard(&kinds, content));
    }

    #[test]
    fn what_was_typed_counts_over_what_was_offered_and_nothing_is_said_to_be_nothing() {
        let select = [question(Kind::Select)];
        let other = heard(
            &select,
            json!({"answer1": "red", "answer1_other": " teal "}),
        );
        assert_eq!(other, "select?\nteal\n");
        for content in [json!({}), json!({"answer1": ""}), Value::Null] {
            assert_eq!(heard(&select, content), "select?\nnothing selected\n");
        }
    }

    #[test]
    fn who_wants_to_talk_gives_no_answers() {
        let content = json!({"answer1": "red", "discuss": true});
        assert_eq!(heard(&[question(Kind::Select)], content), "Discuss");
    }

    #[test]
    fn a_remembered_answer_is_marked() {
        let answer = Answer {
            values: vec!["red".into()],
            is_remembered: true,
            ..Answer::default()
        };
        let told = told(&[question(Kind::Select)], &[answer]);
        assert!(told.starts_with("select?\nred (remembered"), "{told}");
    }
}
