//! A call whose arguments come piece by piece: each piece is a value and the path of its place (`$.files[0].name`).
//!
//! Gemini's own API sends calls whole. Vertex AI and gateways to it stream them when asked to, and some do it unasked.

use serde_json::{Map, Value};

use crate::provider::broken::{MAX_ARGUMENTS, too_long_arguments};
use crate::provider::{ModelError, ModelErrorKind};

/// How deep a place may lie: values are written and dropped level by level.
const MAX_DEPTH: usize = 64;

/// Arguments as they grow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arguments {
    fields: Map<String, Value>,
    /// The path of the text that is being written.
    open: Option<String>,
    n_bytes: usize,
}

impl Arguments {
    /// Begins with what the call's first piece had whole.
    pub(super) fn of(args: Option<&Value>) -> Arguments {
        let fields = args.and_then(Value::as_object).cloned();
        Arguments {
            fields: fields.unwrap_or_default(),
            ..Arguments::default()
        }
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.fields)
    }

    /// Takes one entry of `partialArgs`.
    pub(super) fn take(&mut self, piece: &Value) -> Result<(), ModelError> {
        let path = piece["jsonPath"].as_str().unwrap_or_default();
        self.n_bytes += path.len() + piece["stringValue"].as_str().map_or(8, str::len);
        if self.n_bytes > MAX_ARGUMENTS {
            return Err(too_long_arguments());
        }
        let goes_on = self.open.as_deref() == Some(path);
        self.open = (piece["willContinue"] == true).then(|| path.to_owned());
        let steps = steps(path)
            .filter(|it| it.len() <= MAX_DEPTH)
            .ok_or_else(nowhere)?;
        let place = self.place(&steps).ok_or_else(nowhere)?;
        if let Some(text) = piece["stringValue"].as_str() {
            match place {
                Value::String(before) if goes_on => before.push_str(text),
                place => *place = Value::from(text),
            }
        } else if !piece["numberValue"].is_null() {
            *place = number(&piece["numberValue"]);
        } else if let Some(value) = piece["boolValue"].as_bool() {
            *place = Value::Bool(value);
        }
        // `nullValue`, or a kind that is not known yet: the place is there and holds null.
        Ok(())
    }

    /// The value at a place, made if it is new. None: something of another kind stands on the way, or an item is far
    /// beyond its list's end.
    fn place(&mut self, steps: &[Step]) -> Option<&mut Value> {
        let (first, rest) = steps.split_first()?;
        let Step::Field(name) = first else {
            return None;
        };
        let mut at = self.fields.entry(name.as_str()).or_insert(Value::Null);
        for step in rest {
            at = match step {
                Step::Field(name) => {
                    if at.is_null() {
                        *at = Value::Object(Map::new());
                    }
                    let fields = at.as_object_mut()?;
                    fields.entry(name.as_str()).or_insert(Value::Null)
                }
                Step::Item(index) => {
                    if at.is_null() {
                        *at = Value::Array(Vec::new());
                    }
                    let items = at.as_array_mut()?;
                    if *index == items.len() {
                        items.push(Value::Null);
                    }
                    items.get_mut(*index)?
                }
            };
        }
        Some(at)
    }
}

#[derive(Debug, PartialEq)]
enum Step {
    Field(String),
    Item(usize),
}

/// A path's steps: `$`, then `.name`, `[0]`, `['name']` or `["name"]` (RFC 9535 without its selectors of many).
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (name, after) = after.split_at(end);
            steps.push(Step::Field(name.to_owned()));
            rest = after;
            continue;
        }
        let after = rest.strip_prefix('[')?;
        match after.chars().next()? {
            quote @ ('\'' | '"') => {
                let (name, after) = quoted(&after[1..], quote)?;
                steps.push(Step::Field(name));
                rest = after.strip_prefix(']')?;
            }
            _ => {
                let (index, after) = after.split_once(']')?;
                steps.push(Step::Item(index.parse().ok()?));
                rest = after;
            }
        }
    }
    (!steps.is_empty()).then_some(steps)
}

/// A name up to its closing quote, and what follows.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => name.push(chars.next()?.1),
            char if char == quote => return Some((name, &text[at + char.len_utf8()..])),
            char => name.push(char),
        }
    }
    None
}

/// A number as a person would write it: numbers come as doubles, and tools take `3`, not `3.0`.
fn number(value: &Value) -> Value {
    /// Up to here a double holds every whole number.
    const MOST: f64 = 9_007_199_254_740_992.0;
    match value.as_f64() {
        Some(double) if double.fract() == 0.0 && double.abs() < MOST => Value::from(double as i64),
        _ => value.clone(),
    }
}

fn nowhere() -> ModelError {
    let message = "the model's server sent a piece of a tool call that fits nowhere; try again or use another model";
    ModelError::new(ModelErrorKind::Protocol, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_is_taken_apart_however_its_names_are_written() {
        let field = |it: &str| Step::Field(it.to_owned());
        assert_eq!(
            steps(r#"$.a[2]['it''s'"#),
            None,
            "a quote that is not closed by a bracket"
        );
        assert_eq!(
            steps(r#"$.a[2]['b.c']["d\"e"].f"#),
            Some(vec![
                field("a"),
                Step::Item(2),
                field("b.c"),
                field("d\"e"),
                field("f")
            ])
        );
        for path in ["", "$", "a.b", "$a", "$[x]", "$.a[", "$.a[-1]", "$.a[0"] {
            assert_eq!(steps(path), None, "{path}");
        }
    }

    #[test]
    fn pieces_that_fit_nowhere_are_refused_and_change_no_size() {
        for path in [
            "$[0]",
            "$.a[1]",
            "$.a[4294967296]",
            "$.text.more",
            &"$.x".repeat(65),
        ] {
            let mut arguments = Arguments::default();
            let text = json!({"jsonPath": "$.text", "stringValue": "t"});
            arguments.take(&text).unwrap();
            let piece = json!({"jsonPath": path, "stringValue": "x"});
            let error = arguments.take(&piece).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Protocol, "{path}");
        }
    }

    #[test]
    fn arguments_without_an_end_are_refused() {
        let mut arguments = Arguments::default();
        let piece =
            json!({"jsonPath": "$.a", "stringValue": "x".repeat(1 << 20), "willContinue": true});
        let errors = (0..5).find_map(|_| arguments.take(&piece).err());
        assert_eq!(errors.map(|it| it.kind), Some(ModelErrorKind::Limit));
    }

    #[test]
    fn numbers_bools_and_nulls_keep_their_kind() {
        let mut arguments = Arguments::of(Some(&json!({"whole": true})));
        for piece in [
            json!({"jsonPath": "$.n", "numberValue": 3.0}),
            json!({"jsonPath": "$.x", "numberValue": 0.5}),
            json!({"jsonPath": "$.b", "boolValue": false}),
            json!({"jsonPath": "$.z", "nullValue": "NULL_VALUE"}),
        ] {
            arguments.take(&piece).unwrap();
        }
        let expected = json!({"whole": true, "n": 3, "x": 0.5, "b": false, "z": null});
        assert_eq!(arguments.into_value(), expected);
    }
}
