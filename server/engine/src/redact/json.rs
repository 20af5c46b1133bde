//! Redacts JSON without making another text of it.

use super::{MASK, name, redact_string};
use serde_json::Value;

/// Redacts all texts of a value, and replaces by the mask whatever stands under a name that says so, whatever its
/// type; `null` and an empty text say nothing and stay. Names stay.
pub fn redact_json(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => redact_string(text),
        Value::Array(items) => items.iter_mut().for_each(redact_json),
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_empty = value.is_null() || value.as_str().is_some_and(str::is_empty);
                if name::is_secret_key(key) && !is_empty {
                    *value = Value::from(MASK);
                } else {
                    redact_json(value);
                }
            }
        }
    }
}

/// Redacts the texts of a value alone. For what another program checks, such as a provider's signed items: names of
/// its own mean what it likes.
pub fn redact_strings(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => redact_string(text),
        Value::Array(items) => items.iter_mut().for_each(redact_strings),
        Value::Object(fields) => fields.values_mut().for_each(redact_strings),
    }
}
