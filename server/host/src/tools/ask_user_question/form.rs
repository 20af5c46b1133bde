//! Questions as a form: ACP's elicitation, with what it has no words for in `_meta.undine` (protocol.md says how to show it).

use super::question::{Choice, Kind, Question};
use serde_json::{Map, Value, json};

/// The field in which the person says that they would rather talk about it.
pub const DISCUSS: &str = "discuss";

/// The names of a question's fields.
pub struct Fields {
    pub answer: String,
    /// Another answer than those that are offered.
    pub other: String,
    pub note: String,
    /// Whether the answer counts for later questions too.
    pub keep: String,
}

impl Fields {
    /// Of the question at this place, counted from 0.
    pub fn of(at: usize) -> Self {
        let answer = format!("answer{}", at + 1);
        Self {
            other: format!("{answer}_other"),
            note: format!("{answer}_note"),
            keep: format!("{answer}_keep"),
            answer,
        }
    }
}

/// The params of `elicitation/create`.
pub fn request(questions: &[Question], session: &str) -> Value {
    let asked: Vec<&str> = questions.iter().map(|it| it.question.as_str()).collect();
    json!({
        "mode": "form",
        "sessionId": session,
        "message": asked.join("\n"),
        "requestedSchema": schema(questions),
    })
}

/// Nothing is required: what is left empty was skipped.
fn schema(questions: &[Question]) -> Value {
    let mut properties = Map::new();
    for (at, question) in questions.iter().enumerate() {
        let fields = Fields::of(at);
        let of = |role: &str| json!({"undine": {"of": fields.answer, "as": role}});
        let mut about = json!({"kind": question.kind.id(), "note": fields.note});
        if can_be_other(question.kind) {
            about["other"] = json!(fields.other);
            let text = json!({"type": "string", "title": "Another answer", "_meta": of("other")});
            properties.insert(fields.other.clone(), text);
        }
        let note = json!({"type": "string", "title": "Note", "_meta": of("note")});
        properties.insert(fields.note.clone(), note);
        if question.memory_key.is_some() {
            about["keep"] = json!(fields.keep);
            let keep = json!({
                "type": "boolean",
                "title": "Keep this answer and do not ask again",
                "default": false,
                "_meta": of("keep"),
            });
            properties.insert(fields.keep.clone(), keep);
        }
        properties.insert(fields.answer.clone(), field(question, about));
    }
    let discuss = json!({
        "type": "boolean",
        "title": "Chat about this instead",
        "default": false,
        "_meta": {"undine": {"as": "discuss"}},
    });
    properties.insert(DISCUSS.to_owned(), discuss);
    json!({"type": "object", "properties": properties})
}

/// Whether another answer needs a field of its own.
fn can_be_other(kind: Kind) -> bool {
    match kind {
        Kind::Select | Kind::MultiSelect | Kind::Rank => true,
        Kind::Text | Kind::Number | Kind::Date | Kind::Path => false,
    }
}

fn field(question: &Question, mut about: Value) -> Value {
    let choices: Vec<Value> = question.options.iter().map(choice).collect();
    let mut field = match question.kind {
        Kind::Select => json!({"type": "string", "oneOf": choices}),
        Kind::MultiSelect | Kind::Rank => json!({"type": "array", "items": {"anyOf": choices}}),
        Kind::Text => json!({"type": "string"}),
        Kind::Number => json!({"type": "number"}),
        Kind::Date => json!({"type": "string", "format": "date"}),
        Kind::Path => json!({"type": "string"}),
    };
    match question.kind {
        Kind::Select => {
            if let Some(it) = question.options.iter().find(|it| it.is_recommended()) {
                field["default"] = json!(it.label);
            }
        }
        Kind::MultiSelect | Kind::Rank | Kind::Date => {}
        Kind::Text => match question.validate.as_deref() {
            None | Some("" | "any") => {}
            Some("number") => field["pattern"] = json!(r"^\s*[-+]?[0-9]+([.][0-9]+)?\s*$"),
            Some(pattern) => field["pattern"] = json!(pattern),
        },
        Kind::Number => {
            for (name, bound) in [("minimum", question.min), ("maximum", question.max)] {
                if let Some(bound) = bound {
                    field[name] = json!(bound);
                }
            }
            if let Some(step) = question.step {
                about["step"] = json!(step);
            }
            if question.slider {
                about["slider"] = json!(true);
            }
        }
        Kind::Path => about["mustExist"] = json!(question.must_exist),
    }
    let title = match question.header.as_str() {
        "" => &question.question,
        header => header,
    };
    field["title"] = json!(title);
    field["description"] = json!(question.question);
    field["_meta"] = json!({"undine": about});
    field
}

fn choice(choice: &Choice) -> Value {
    let mut value = json!({"const": choice.label, "title": choice.label});
    if !choice.description.is_empty() {
        value["description"] = json!(choice.description);
    }
    let mut about = Map::new();
    if choice.is_recommended() {
        about.insert("recommended".to_owned(), json!(true));
    }
    if let Some(preview) = &choice.preview {
        about.insert("preview".to_owned(), preview.wire());
    }
    if !about.is_empty() {
        value["_meta"] = json!({"undine": about});
    }
    value
}

#[cfg(test)]
mod tests {
    use super::super::question::Preview;
    use super::*;
    use protocol::acp;

    fn question(kind: Kind) -> Question {
        Question {
            question: format!("{}?", kind.id()),
            kind,
            options: vec![
                Choice {
                    label: "a (recommended)".into(),
                    description: "first".into(),
                    preview: Some(Preview {
                        content: "x".into(),
                        ..Preview::default()
                    }),
                },
                Choice {
                    label: "b".into(),
                    ..Choice::default()
                },
            ],
            memory_key: Some("k".into()),
            ..Question::default()
        }
    }

    #[test]
    fn every_kind_is_a_form_that_acp_takes_whole() {
        let kinds = [
            Kind::Select,
            Kind::MultiSelect,
            Kind::Rank,
            Kind::Text,
            Kind::Number,
            Kind::Date,
            Kind::Path,
        ];
        for kind in kinds {
            let value = request(&[question(kind)], "s");
            let read: acp::CreateElicitationRequest =
                serde_json::from_value(value.clone()).unwrap();
            let back = serde_json::to_value(&read).unwrap();
            assert_eq!(back["requestedSchema"], value["requestedSchema"]);
            let field = &back["requestedSchema"]["properties"]["answer1"];
            assert_eq!(field["_meta"]["undine"]["kind"], kind.id());
        }
    }

    #[test]
    fn a_recommended_option_is_marked_and_a_preview_rides_beside_it() {
        let schema = schema(&[question(Kind::Select)]);
        let field = &schema["properties"]["answer1"];
        assert_eq!(field["default"], "a (recommended)");
        let first = &field["oneOf"][0]["_meta"]["undine"];
        assert_eq!(
            (&first["recommended"], &first["preview"]["content"]),
            (&json!(true), &json!("x"))
        );
        assert_eq!(field["oneOf"][1].get("_meta"), None);
    }

    #[test]
    fn what_is_typed_is_described_for_the_editor_that_checks_it() {
        let mut number = question(Kind::Number);
        (number.min, number.max, number.step, number.slider) =
            (Some(1.0), Some(9.0), Some(0.5), true);
        let mut text = question(Kind::Text);
        text.validate = Some("number".into());
        let schema = schema(&[number, text]);
        let field = &schema["properties"]["answer1"];
        assert_eq!(
            (&field["minimum"], &field["maximum"]),
            (&json!(1.0), &json!(9.0))
        );
        assert_eq!(field["_meta"]["undine"]["step"], 0.5);
        assert_eq!(field["_meta"]["undine"]["slider"], true);
        assert!(schema["properties"]["answer2"]["pattern"].is_string());
    }
}
