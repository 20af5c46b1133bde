//! A JSON Schema cut down to the part of OpenAPI's Schema object that `parameters` takes: for servers that do not know
//! `parametersJsonSchema`. What has no word there is left out; a schema only becomes wider by that.

use std::cell::Cell;

use serde_json::{Map, Value, json};

/// Keywords that are taken as they are.
const PLAIN: &[&str] = &[
    "title",
    "description",
    "nullable",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "required",
];

/// Formats that a server knows; it refuses a schema with any other.
const FORMATS: &[&str] = &["date-time", "int32", "int64", "float", "double"];

/// How far references are followed and schemas nest: a schema may contain itself.
const MAX_DEPTH: usize = 16;

/// The most schemas within one: references in several places multiply.
const MAX_SCHEMAS: usize = 4_096;

/// The schema without what OpenAPI's has no word for.
pub(super) fn open_api(schema: &Value) -> Value {
    let root = Root {
        schema,
        left: Cell::new(MAX_SCHEMAS),
    };
    cleaned(schema, &root, 0)
}

/// What references point into.
struct Root<'a> {
    schema: &'a Value,
    /// How many more schemas there may be.
    left: Cell<usize>,
}

fn cleaned(schema: &Value, root: &Root<'_>, depth: usize) -> Value {
    let left = root.left.get();
    let Some(fields) = schema.as_object().filter(|_| depth < MAX_DEPTH && left > 0) else {
        // `true`, which takes anything, and what is too deep or too much.
        return json!({"type": "object"});
    };
    root.left.set(left - 1);
    if let Some(target) = fields.get("$ref").and_then(|it| target(it, root)) {
        let mut whole = cleaned(target, root, depth + 1);
        if let (Some(whole), Some(said)) = (whole.as_object_mut(), fields.get("description")) {
            whole.insert("description".to_owned(), said.clone());
        }
        return whole;
    }
    let mut out = Map::new();
    // A lone part of `allOf` is what schema generators write for a reference with a description.
    if let Some([only]) = fields
        .get("allOf")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        && let Value::Object(inner) = cleaned(only, root, depth + 1)
    {
        out = inner;
    }
    for keyword in PLAIN {
        if let Some(value) = fields.get(*keyword) {
            out.insert((*keyword).to_owned(), value.clone());
        }
    }
    types(fields, root, depth, &mut out);
    if let Some(Value::String(format)) = fields.get("format")
        && FORMATS.contains(&format.as_str())
    {
        out.insert("format".to_owned(), json!(format));
    }
    let values = fields.get("enum").cloned();
    let values = values.or_else(|| fields.get("const").map(|it| json!([it])));
    if let Some(Value::Array(values)) = values {
        let (texts, others): (Vec<Value>, Vec<Value>) =
            values.into_iter().partition(Value::is_string);
        if others.iter().any(Value::is_null) {
            out.insert("nullable".to_owned(), json!(true));
        }
        // Only texts can be listed.
        if !texts.is_empty() && others.iter().all(Value::is_null) {
            out.insert("enum".to_owned(), Value::Array(texts));
            out.entry("type").or_insert(json!("string"));
        }
    }
    if let Some(Value::Object(properties)) = fields.get("properties") {
        let cleaned = properties
            .iter()
            .map(|(name, it)| (name.clone(), cleaned(it, root, depth + 1)));
        // An object without properties is refused where the field stands and is empty.
        if !properties.is_empty() {
            out.insert("properties".to_owned(), cleaned.collect());
        }
    }
    if let Some(items) = fields.get("items") {
        out.insert("items".to_owned(), cleaned(items, root, depth + 1));
    }
    Value::Object(out)
}

/// Sets `type`, `nullable` and `anyOf` from whichever way the alternatives are written.
fn types(fields: &Map<String, Value>, root: &Root<'_>, depth: usize, out: &mut Map<String, Value>) {
    let mut of: Vec<Value> = match fields.get("type") {
        Some(Value::Array(several)) => several.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    let n_before = of.len();
    of.retain(|it| it != "null");
    let mut is_nullable = of.len() < n_before;
    let alternatives = fields.get("anyOf").or_else(|| fields.get("oneOf"));
    let mut any_of = Vec::new();
    for it in alternatives.and_then(Value::as_array).into_iter().flatten() {
        match it["type"] == "null" {
            true => is_nullable = true,
            false => any_of.push(cleaned(it, root, depth + 1)),
        }
    }
    match of.len() {
        0 => {}
        1 => drop(out.insert("type".to_owned(), of.remove(0))),
        _ => any_of.extend(of.into_iter().map(|it| json!({ "type": it }))),
    }
    match any_of.len() {
        0 => {}
        // One alternative beside null is the schema itself.
        1 => {
            if let Some(Value::Object(only)) = any_of.pop() {
                for (name, value) in only {
                    out.entry(name).or_insert(value);
                }
            }
        }
        _ => drop(out.insert("anyOf".to_owned(), Value::Array(any_of))),
    }
    if is_nullable {
        out.insert("nullable".to_owned(), json!(true));
    }
}

/// What a reference within the same schema points to.
fn target<'a>(reference: &Value, root: &Root<'a>) -> Option<&'a Value> {
    root.schema.pointer(reference.as_str()?.strip_prefix('#')?)
}
