//! The marked parts of `protocol.md`: the table of methods, and each type with its fields.

use super::types::{Field, Shape, Type, Wire};
use protocol::methods::Sender;

/// One row a method.
pub fn methods(wire: &Wire) -> String {
    let mut out = String::from("| method | sent by | params | result | |\n|---|---|---|---|---|\n");
    for method in &wire.methods {
        let sender = match method.sender {
            Sender::Client => "editor",
            Sender::Server => "server",
        };
        let result = method
            .result
            .as_ref()
            .map_or_else(|| "(notification)".to_owned(), |it| link(it));
        out.push_str(&format!(
            "| `{}` | {sender} | {} | {result} | {} |\n",
            method.method,
            link(&method.params),
            method.doc
        ));
    }
    out
}

/// A heading and a table for each type, by name.
pub fn types(wire: &Wire) -> String {
    let mut types: Vec<&Type> = wire.types.iter().collect();
    types.sort_by(|a, b| a.name.cmp(&b.name));
    let sections: Vec<String> = types.into_iter().map(section).collect();
    sections.join("\n")
}

fn section(declared: &Type) -> String {
    let mut out = format!("### {}\n", declared.name);
    if let Some(doc) = &declared.doc {
        out.push_str(&format!("{doc}\n"));
    }
    let parts = match &declared.shape {
        Shape::Both(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    let mut paragraphs = Vec::new();
    for part in parts {
        paragraphs.push(match part {
            Shape::Object(fields) => table(fields),
            Shape::Union(members) if part.is_enum() => format!("One of {}.\n", list(members)),
            Shape::Union(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|it| format!("- {}\n", text(it)))
                    .collect();
                format!("One of:\n\n{}", members.concat())
            }
            other => format!("{}.\n", text(other)),
        });
    }
    paragraphs.retain(|it| !it.is_empty());
    if paragraphs.is_empty() {
        paragraphs.push("An object without fields of its own.\n".to_owned());
    }
    out + "\n" + &paragraphs.join("\n")
}

fn table(fields: &[Field]) -> String {
    // Every object may have it; said once, before all types.
    let fields: Vec<&Field> = fields.iter().filter(|it| it.name != "_meta").collect();
    if fields.is_empty() {
        return String::new();
    }
    let has_docs = fields.iter().any(|it| it.doc.is_some());
    let mut out = String::from("| field | type | |");
    out.push_str(if has_docs {
        " |\n|---|---|---|---|\n"
    } else {
        "\n|---|---|---|\n"
    });
    for field in fields {
        let mark = if field.is_optional {
            "optional"
        } else {
            "required"
        };
        out.push_str(&format!(
            "| `{}` | {} | {mark} |",
            field.name,
            text(&field.shape)
        ));
        if has_docs {
            out.push_str(&format!(" {} |", field.doc.as_deref().unwrap_or_default()));
        }
        out.push('\n');
    }
    out
}

/// A type in words, good inside a table.
fn text(shape: &Shape) -> String {
    match shape {
        Shape::Any => "any".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Integer => "integer".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::String => "string".to_owned(),
        Shape::Literal(value) => format!("`{value}`"),
        Shape::Named(name) => link(name),
        Shape::Array(item) => format!("array of {}", text(item)),
        Shape::Map(value) if **value == Shape::Any => "object".to_owned(),
        Shape::Map(value) => format!("map from string to {}", text(value)),
        Shape::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|it| {
                    format!(
                        "`{}`{}: {}",
                        it.name,
                        if it.is_optional { " (optional)" } else { "" },
                        text(&it.shape)
                    )
                })
                .collect();
            fields.join(", ")
        }
        Shape::Union(members) => list(members),
        Shape::Both(parts) => parts.iter().map(text).collect::<Vec<_>>().join(", with "),
    }
}

fn list(members: &[Shape]) -> String {
    let members: Vec<String> = members.iter().map(text).collect();
    match members.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        members => members.concat(),
    }
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}
