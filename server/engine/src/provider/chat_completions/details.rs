//! OpenRouter's `reasoning_details`: what a model thought, in a form that it wants back unchanged with the results of its
//! calls. They come in pieces, and go back as the whole that the pieces make.

use serde_json::Value;
use serde_json::value::RawValue;

/// The details of one reply, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details(Vec<Value>);

/// Fields that grow from piece to piece; of any other, the last value counts.
const GROWING: &[&str] = &["text", "summary"];

impl Details {
    /// Takes the details of one chunk. What is no list of objects is passed over.
    pub fn take(&mut self, raw: &RawValue) {
        let pieces: Vec<Value> = serde_json::from_str(raw.get()).unwrap_or_default();
        for piece in pieces.into_iter().filter(Value::is_object) {
            match self.0.last_mut().filter(|it| goes_on(it, &piece)) {
                Some(whole) => append(whole, piece),
                None => self.0.push(piece),
            }
        }
    }

    /// All of them; null if there is none.
    pub fn value(&self) -> Value {
        match self.0.is_empty() {
            true => Value::Null,
            false => Value::Array(self.0.clone()),
        }
    }
}

/// Whether a piece belongs to the detail before it. What is encrypted comes whole.
fn goes_on(whole: &Value, piece: &Value) -> bool {
    let grows = |it: &Value| {
        matches!(
            it["type"].as_str(),
            Some("reasoning.text" | "reasoning.summary")
        )
    };
    let is_same = |field: &str| {
        whole[field].is_null() || piece[field].is_null() || whole[field] == piece[field]
    };
    grows(piece) && whole["type"] == piece["type"] && is_same("index") && is_same("id")
}

fn append(whole: &mut Value, piece: Value) {
    let Value::Object(fields) = piece else { return };
    for (field, value) in fields {
        match (&mut whole[field.as_str()], value) {
            (_, Value::Null) => {}
            (Value::String(text), Value::String(more)) if GROWING.contains(&field.as_str()) => {
                text.push_str(&more);
            }
            (place, value) => *place = value,
        }
    }
}
