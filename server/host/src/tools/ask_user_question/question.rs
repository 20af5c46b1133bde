//! What the model asks, and what of it cannot be asked.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The most questions of one call (spec 11.1).
const MAX_QUESTIONS: usize = 4;

/// The most characters of a header; what is longer is cut, since it is only a label.
const MAX_HEADER: usize = 12;

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The question.
    pub question: String,
    /// A label of at most 12 characters.
    #[serde(default)]
    pub header: String,
    /// How it is answered: by choosing one or several of the options or by ordering them; by a text; by a number; by a date as
    /// YYYY-MM-DD; by a path. select if missing.
    #[serde(default)]
    pub kind: Kind,
    /// What can be chosen, for select, multiSelect and rank; two or more.
    #[serde(default)]
    pub options: Vec<Choice>,
    /// What a text must be: number, any, or a regular expression.
    #[serde(default)]
    pub validate: Option<String>,
    /// The least number.
    #[serde(default)]
    pub min: Option<f64>,
    /// The greatest number.
    #[serde(default)]
    pub max: Option<f64>,
    /// How far apart the numbers are.
    #[serde(default)]
    pub step: Option<f64>,
    /// A number is chosen between min and max by a slider.
    #[serde(default)]
    pub slider: bool,
    /// A path should exist.
    #[serde(default)]
    pub must_exist: bool,
    /// A name for this question, the same whenever it is asked: the person can have the answer kept, and is not asked again.
    #[serde(default, alias = "memory_key")]
    pub memory_key: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Kind {
    #[default]
    Select,
    MultiSelect,
    Rank,
    Text,
    Number,
    Date,
    Path,
}

impl Kind {
    /// Its name on the wire.
    pub fn id(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::MultiSelect => "multiSelect",
            Self::Rank => "rank",
            Self::Text => "text",
            Self::Number => "number",
            Self::Date => "date",
            Self::Path => "path",
        }
    }

    /// Whether it is answered by its options.
    pub fn is_choice(self) -> bool {
        match self {
            Self::Select | Self::MultiSelect | Self::Rank => true,
            Self::Text | Self::Number | Self::Date | Self::Path => false,
        }
    }
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Choice {
    pub label: String,
    #[serde(default)]
    pub description: String,
    /// What it would look like.
    #[serde(default)]
    pub preview: Option<Preview>,
}

impl Choice {
    pub fn is_recommended(&self) -> bool {
        self.label.to_lowercase().contains("(recommended)")
    }
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Preview {
    pub content: String,
    /// The language of the content, for its colours.
    #[serde(default)]
    pub language: String,
    /// The content is a unified diff.
    #[serde(default)]
    pub diff: bool,
}

impl Preview {
    pub fn wire(&self) -> Value {
        json!({"content": self.content, "language": self.language, "diff": self.diff})
    }
}

/// The questions as they are asked. The error is for the model.
pub fn check(mut questions: Vec<Question>) -> Result<Vec<Question>, String> {
    let count = questions.len();
    if !(1..=MAX_QUESTIONS).contains(&count) {
        return Err(format!(
            "Ask 1 to {MAX_QUESTIONS} questions in one call; these are {count}."
        ));
    }
    for (at, it) in questions.iter_mut().enumerate() {
        it.header = it.header.trim().chars().take(MAX_HEADER).collect();
        it.memory_key = it.memory_key.take().filter(|it| !it.trim().is_empty());
        let name = match it.question.trim() {
            "" => {
                return Err(format!(
                    "Question {} has no text; write what is to be answered.",
                    at + 1
                ));
            }
            text => text.to_owned(),
        };
        if it.kind.is_choice() && it.options.is_empty() {
            return Err(format!(
                "{name:?} is of kind {} and has no options; give two or more, or take kind text.",
                it.kind.id()
            ));
        }
        if it.options.iter().any(|it| it.label.trim().is_empty()) {
            return Err(format!("An option of {name:?} has a blank label."));
        }
        let is_number = it.kind == Kind::Number;
        if is_number && it.slider && (it.min.is_none() || it.max.is_none()) {
            return Err(format!("The slider of {name:?} needs min and max."));
        }
        if is_number && matches!((it.min, it.max), (Some(min), Some(max)) if min > max) {
            return Err(format!("{name:?} has a min above its max."));
        }
    }
    Ok(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(questions: Value) -> Result<Vec<Question>, String> {
        let questions = serde_json::from_value(questions).map_err(|it| it.to_string())?;
        check(questions)
    }

    #[test]
    fn what_cannot_be_asked_is_told_with_the_reason() {
        let one = json!({"question": "q", "kind": "text"});
        for (questions, said) in [
            (json!([]), "1 to 4"),
            (
                json!([one, one, one, one, one]),
                "1 to 4 questions in one call; these are 5",
            ),
            (json!([{"question": " ", "kind": "text"}]), "no text"),
            (json!([{"kind": "text"}]), "missing field `question`"),
            (json!([{"question": "q"}]), "kind select and has no options"),
            (json!([{"question": "q", "kind": "rank"}]), "kind rank"),
            (
                json!([{"question": "q", "kind": "guess"}]),
                "unknown variant `guess`",
            ),
            (
                json!([{"question": "q", "options": [{"label": ""}]}]),
                "blank label",
            ),
            (
                json!([{"question": "q", "kind": "number", "slider": true, "min": 1}]),
                "needs min and max",
            ),
            (
                json!([{"question": "q", "kind": "number", "min": 2, "max": 1}]),
                "min above",
            ),
        ] {
            let Err(error) = read(questions) else {
                panic!("it was taken: {said}")
            };
            assert!(error.contains(said), "{error}");
        }
        assert!(read(json!([one, one, one, one])).is_ok());
        assert!(read(json!([{"question": "q", "options": [{"label": "only"}]}])).is_ok());
    }

    #[test]
    fn a_long_header_is_cut() {
        let Ok(questions) =
            read(json!([{"question": "q", "kind": "text", "header": " A header that is long"}]))
        else {
            panic!("it is whole")
        };
        assert_eq!(questions[0].header, "A header tha");
    }
}
