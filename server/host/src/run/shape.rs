//! An answer that is to fit a JSON Schema (`--output-schema`).

use anyhow::Context;
use jsonschema::Validator;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The most faults that the model is told at once.
const MOST_FAULTS: usize = 10;

pub struct Shape {
    text: String,
    validator: Validator,
}

impl Shape {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("reading the schema {}", path.display()))?;
        let schema: Value = serde_json::from_str(&text)
            .with_context(|| format!("reading the schema {} as JSON", path.display()))?;
        let validator = jsonschema::validator_for(&schema)
            .map_err(|error| anyhow::anyhow!("{} is no JSON Schema ({error})", path.display()))?;
        Ok(Self { text, validator })
    }

    /// The person's words with what the answer must be.
    pub fn asked(&self, prompt: &str) -> String {
        format!(
            "{prompt}\n\nYour last message is read by a program. It must be one JSON value and nothing else, without a code fence, \
             and fit this JSON Schema:\n{}",
            self.text.trim()
        )
    }

    /// The value of an answer; else what is wrong with it, for the model.
    pub fn fits(&self, answer: &str) -> Result<Value, String> {
        let value: Value = serde_json::from_str(unfenced(answer))
            .map_err(|error| format!("it is not JSON ({error})"))?;
        let faults: Vec<String> = self
            .validator
            .iter_errors(&value)
            .take(MOST_FAULTS)
            .map(|it| match it.instance_path().as_str() {
                "" => it.to_string(),
                path => format!("{path}: {it}"),
            })
            .collect();
        match faults.is_empty() {
            true => Ok(value),
            false => Err(faults.join("; ")),
        }
    }
}

/// What the model is asked when its answer does not fit.
pub fn once_more(fault: &str) -> String {
    format!(
        "That message does not fit the schema: {fault}. Answer again with the JSON value and nothing else."
    )
}

/// Models put fences around JSON whatever they are told.
fn unfenced(answer: &str) -> &str {
    let text = answer.trim();
    let inner = text
        .strip_prefix("```")
        .and_then(|it| it.strip_suffix("```"))
        .and_then(|it| it.split_once('\n'));
    match inner {
        Some((_, inner)) => inner.trim(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shape(schema: &Value) -> Shape {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), schema.to_string()).unwrap();
        Shape::read(file.path()).unwrap()
    }

    #[test]
    fn an_answer_fits_or_its_faults_are_named() {
        let shape = shape(&json!({
            "type": "object",
            "properties": {"n": {"type": "integer", "minimum": 1}},
            "required": ["n"],
            "additionalProperties": false,
        }));
        assert_eq!(shape.fits("{\"n\": 2}"), Ok(json!({"n": 2})));
        assert_eq!(
            shape.fits("```json\n{\"n\": 2}\n```\n"),
            Ok(json!({"n": 2}))
        );
        let wrong = shape.fits("{\"n\": 0, \"m\": 1}").unwrap_err();
        assert!(wrong.contains("/n: 0 is less than"), "{wrong}");
        assert!(wrong.contains("'m' was unexpected"), "{wrong}");
        assert!(
            shape
                .fits("I think 2")
                .unwrap_err()
                .starts_with("it is not JSON")
        );
    }

    #[test]
    fn what_is_no_schema_is_refused_before_a_model_is_asked() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "{\"type\": \"objekt\"}").unwrap();
        let error = Shape::read(file.path()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("is no JSON Schema"), "{error}");
    }
}
