//! Puts questions to the person (spec 11).

use super::Tool;
use crate::plan::{Done, Plan, Run, World};
use protocol::acp::{self, ElicitationAction, ToolKind};
use protocol::tool::Access;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The most questions of one call (spec 11.1).
const MAX_QUESTIONS: usize = 4;

pub struct AskUserQuestion;

/// Ask the person up to four questions, when their answer decides what to do next.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    questions: Vec<Question>,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Question {
    /// The question.
    question: String,
    /// A label of at most 12 characters.
    #[serde(default)]
    header: String,
    /// How it is answered; select if missing.
    #[serde(default)]
    kind: Kind,
    /// What can be chosen, for select and multiSelect.
    #[serde(default)]
    options: Vec<Choice>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase")]
enum Kind {
    #[default]
    Select,
    MultiSelect,
    Text,
    Number,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Choice {
    label: String,
    #[serde(default)]
    description: String,
}

impl Tool for AskUserQuestion {
    const NAME: &'static str = "ask_user_question";
    const KIND: ToolKind = ToolKind::Other;
    type Input = Input;

    async fn plan(input: Input, _world: World) -> Result<Plan, String> {
        let questions = input.questions;
        let count = questions.len();
        if !(1..=MAX_QUESTIONS).contains(&count) {
            return Err(format!(
                "Ask 1 to {MAX_QUESTIONS} questions in one call; these are {count}."
            ));
        }
        for question in &questions {
            let is_choice = matches!(question.kind, Kind::Select | Kind::MultiSelect);
            if is_choice && question.options.len() < 2 {
                return Err(format!(
                    "\"{}\" needs two options or more, or kind text.",
                    question.question
                ));
            }
        }
        let title = format!("Ask: {}", questions[0].question);
        Ok(Plan::build(title)
            .access(Access::Ask)
            .then(move |run| ask(questions, run)))
    }
}

async fn ask(questions: Vec<Question>, run: Run) -> Result<Done, String> {
    let message = questions
        .iter()
        .map(|it| it.question.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    let request = json!({
        "mode": "form",
        "sessionId": &*run.world.session,
        "message": message,
        "requestedSchema": form(&questions),
    });
    let request: acp::CreateElicitationRequest = serde_json::from_value(request)
        .map_err(|error| format!("The question has no form ({error})."))?;
    let answer = tokio::select! {
        answer = run.world.editor.elicit(run.world.session.clone(), request) => answer,
        () = run.token.cancelled() => return Ok(Done::Cancelled),
    };
    let text = match answer {
        Ok(Some(ElicitationAction::Accept(accepted))) => {
            let content = serde_json::to_value(accepted.content).unwrap_or_default();
            told(&questions, &content)
        }
        Ok(Some(ElicitationAction::Decline | ElicitationAction::Cancel)) => {
            "The person dismissed the question. Do not ask it again unless you must.".to_owned()
        }
        Ok(Some(_) | None) | Err(_) => {
            "Nobody can be asked here. Go on by your best judgement and say what you assumed."
                .to_owned()
        }
    };
    Ok(Done::text(text))
}

/// The questions as a form's schema; each field is named by its place.
fn form(questions: &[Question]) -> Value {
    let mut properties = Map::new();
    for (at, question) in questions.iter().enumerate() {
        let title = if question.header.is_empty() {
            &question.question
        } else {
            &question.header
        };
        let choices: Vec<Value> = question.options.iter().map(choice).collect();
        let mut field = match question.kind {
            Kind::Select => json!({"type": "string", "oneOf": choices}),
            Kind::MultiSelect => json!({"type": "array", "items": {"anyOf": choices}}),
            Kind::Text => json!({"type": "string"}),
            Kind::Number => json!({"type": "number"}),
        };
        field["title"] = json!(title);
        field["description"] = json!(question.question);
        properties.insert(field_name(at), field);
    }
    // JSON objects have no order in every editor's language; this list does.
    let required: Vec<String> = (0..questions.len()).map(field_name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

fn choice(choice: &Choice) -> Value {
    let title = match choice.description.as_str() {
        "" => choice.label.clone(),
        description => format!("{}: {description}", choice.label),
    };
    json!({"const": choice.label, "title": title})
}

fn field_name(at: usize) -> String {
    format!("answer{}", at + 1)
}

/// The answers, for the model.
fn told(questions: &[Question], content: &Value) -> String {
    let mut text = String::new();
    for (at, question) in questions.iter().enumerate() {
        let answer = match &content[field_name(at)] {
            Value::Null => "nothing selected".to_owned(),
            Value::String(text) if text.is_empty() => "nothing selected".to_owned(),
            Value::String(text) => text.clone(),
            Value::Array(items) => items
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(", "),
            other => other.to_string(),
        };
        text.push_str(&format!("{}\n{answer}\n", question.question));
    }
    text
}
