//! The wire's types in a form that is easy to print: read from the schemas of the method table.
//!
//! JSON Schema says more than a type needs (formats, limits, hints for lenient readers); only what
//! TypeScript, Lua and a reader of `protocol.md` can use is kept.

use protocol::methods;
use schemars::SchemaGenerator;
use serde_json::{Map, Value};
use std::path::Path;

/// The method table with all types that can be reached from it, in the order of first use.
pub struct Wire {
    pub methods: Vec<Method>,
    pub types: Vec<Type>,
}

pub struct Method {
    /// The row's name, such as `SetMode`.
    pub name: &'static str,
    pub method: &'static str,
    pub doc: String,
    pub sender: methods::Sender,
    pub params: String,
    /// `None`: a notification.
    pub result: Option<String>,
}

pub struct Type {
    pub name: String,
    /// Only for types that are declared here: ACP has its own documentation.
    pub doc: Option<String>,
    pub shape: Shape,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    String,
    /// One value, as JSON.
    Literal(Value),
    /// Another type, by name.
    Named(String),
    Array(Box<Shape>),
    Map(Box<Shape>),
    Object(Vec<Field>),
    /// One of these.
    Union(Vec<Shape>),
    /// All of these at once.
    Both(Vec<Shape>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub shape: Shape,
    pub is_optional: bool,
    pub doc: Option<String>,
}

/// Reads the table.
pub fn wire() -> Wire {
    let mut generator = SchemaGenerator::default();
    let methods = methods::rows()
        .map(|row| Method {
            name: row.name,
            method: row.method,
            doc: one_line(row.doc),
            sender: row.sender,
            params: name_of(&(row.params)(&mut generator).to_value()),
            result: row.result.map(|it| name_of(&it(&mut generator).to_value())),
        })
        .collect();
    // What rides in `_meta`, which no row tells of.
    generator.subschema_for::<protocol::hunks::ProposedHunk>();
    let ours = our_names();
    let types = generator
        .definitions()
        .iter()
        .map(|(name, schema)| {
            let is_ours = ours.contains(name);
            let doc = schema
                .get("description")
                .and_then(Value::as_str)
                .filter(|_| is_ours);
            Type {
                name: name.clone(),
                doc: doc.map(one_line),
                shape: shape(schema, is_ours),
            }
        })
        .collect();
    Wire { methods, types }
}

impl Shape {
    /// The tag that tells the members of a union apart, and each member's value of it.
    pub fn tag(member: &Shape) -> Option<(&str, &str)> {
        let fields = match member {
            Shape::Object(fields) => fields,
            Shape::Both(parts) => parts.iter().find_map(|it| match it {
                Shape::Object(fields) if is_tag(fields) => Some(fields),
                _ => None,
            })?,
            _ => return None,
        };
        match fields.as_slice() {
            [
                Field {
                    name,
                    shape: Shape::Literal(Value::String(value)),
                    is_optional: false,
                    ..
                },
                ..,
            ] => Some((name, value)),
            _ => None,
        }
    }

    /// Whether this is one value out of a list of names.
    pub fn is_enum(&self) -> bool {
        matches!(self, Shape::Union(members) if members.iter().all(|it| matches!(it, Shape::Literal(_) | Shape::String)))
    }
}

fn is_tag(fields: &[Field]) -> bool {
    matches!(
        fields,
        [Field {
            shape: Shape::Literal(_),
            ..
        }]
    )
}

/// Doc comments of the table begin each line with a blank.
fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn name_of(schema: &Value) -> String {
    let name = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    name.expect("params and results are named types").to_owned()
}

/// Names of the types that `server/protocol` declares itself.
fn our_names() -> Vec<String> {
    let mut places = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("server/protocol/src")];
    let mut names = Vec::new();
    while let Some(place) = places.pop() {
        if place.is_dir() {
            places.extend(
                std::fs::read_dir(place)
                    .unwrap()
                    .map(|it| it.unwrap().path()),
            );
            continue;
        }
        let text = std::fs::read_to_string(place).unwrap();
        for line in text.lines() {
            let declared = line
                .strip_prefix("pub struct ")
                .or_else(|| line.strip_prefix("pub enum "));
            names.extend(declared.map(|it| {
                it.chars()
                    .take_while(char::is_ascii_alphanumeric)
                    .collect::<String>()
            }));
        }
    }
    names
}

fn shape(schema: &Value, is_ours: bool) -> Shape {
    let Value::Object(schema) = schema else {
        return Shape::Any;
    };
    let mut parts = Vec::new();
    if let Some(Value::String(reference)) = schema.get("$ref") {
        parts.push(Shape::Named(
            reference.rsplit('/').next().unwrap_or_default().to_owned(),
        ));
    }
    let members = schema
        .get("oneOf")
        .or_else(|| schema.get("anyOf"))
        .and_then(Value::as_array);
    let union = members.map(|it| union(it, is_ours));
    // An object with a union inside is both; a tag stands before what it tags.
    if let Some(object) = object(schema, is_ours) {
        let at = if matches!(&object, Shape::Object(fields) if is_tag(fields)) {
            0
        } else {
            parts.len()
        };
        parts.insert(at, object);
    }
    parts.extend(union);
    if parts.is_empty() {
        parts.push(plain(schema, is_ours));
    }
    match parts.len() {
        1 => parts.remove(0),
        _ => Shape::Both(parts),
    }
}

fn object(schema: &Map<String, Value>, is_ours: bool) -> Option<Shape> {
    let properties = schema
        .get("properties")?
        .as_object()
        .filter(|it| !it.is_empty())?;
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields = properties.iter().map(|(name, schema)| Field {
        name: name.clone(),
        shape: shape(schema, is_ours),
        is_optional: !required.contains(&name.as_str()),
        doc: schema
            .get("description")
            .and_then(Value::as_str)
            .filter(|_| is_ours)
            .map(one_line),
    });
    Some(Shape::Object(fields.collect()))
}

fn union(members: &[Value], is_ours: bool) -> Shape {
    // ACP leaves room for variants to come: a member that excludes the known ones. A client ignores
    // what it does not know (`protocol.md` says so), and with such a member no tag would tell the
    // known ones apart.
    let mut shapes: Vec<Shape> = members
        .iter()
        .filter(|it| it.get("not").is_none())
        .map(|it| shape(it, is_ours))
        .collect();
    match shapes.len() {
        1 => shapes.remove(0),
        _ => Shape::Union(shapes),
    }
}

fn plain(schema: &Map<String, Value>, is_ours: bool) -> Shape {
    if let Some(value) = schema.get("const") {
        return Shape::Literal(value.clone());
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return Shape::Union(values.iter().cloned().map(Shape::Literal).collect());
    }
    match schema.get("type") {
        Some(Value::String(name)) => by_type(name, schema, is_ours),
        Some(Value::Array(names)) => Shape::Union(
            names
                .iter()
                .filter_map(Value::as_str)
                .map(|it| by_type(it, schema, is_ours))
                .collect(),
        ),
        _ => Shape::Any,
    }
}

fn by_type(name: &str, schema: &Map<String, Value>, is_ours: bool) -> Shape {
    let inner = |key: &str| Box::new(schema.get(key).map_or(Shape::Any, |it| shape(it, is_ours)));
    match name {
        "null" => Shape::Null,
        "boolean" => Shape::Boolean,
        "integer" => Shape::Integer,
        "number" => Shape::Number,
        "string" => Shape::String,
        "array" => Shape::Array(inner("items")),
        "object" if schema.contains_key("additionalProperties") => {
            Shape::Map(inner("additionalProperties"))
        }
        "object" => Shape::Object(Vec::new()),
        other => panic!("JSON Schema has no type {other}"),
    }
}
