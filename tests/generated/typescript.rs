//! `editors/vscode/src/protocol.ts`: an interface or a union for each type, a constant for each method.

use super::types::{Field, Method, Shape, Type, Wire};
use super::wrapped;
use protocol::methods::Sender;

pub fn protocol_ts(wire: &Wire) -> String {
    let mut out = String::from(
        "// The wire's methods and types. Generated from server/protocol by `UPDATE=1 cargo test generated`; do not edit.\n\n\
         import { NotificationType, RequestType } from \"vscode-jsonrpc\";\n",
    );
    for method in &wire.methods {
        out.push('\n');
        declare_method(&mut out, method);
    }
    for declared in &wire.types {
        out.push('\n');
        declare_type(&mut out, declared);
    }
    out
}

/// The name of a method's constant, which is how the extension speaks of the method.
pub fn constant(method: &Method) -> String {
    let mut chars = method.name.chars();
    chars
        .next()
        .into_iter()
        .flat_map(char::to_lowercase)
        .chain(chars)
        .collect()
}

fn declare_method(out: &mut String, method: &Method) {
    let sender = match method.sender {
        Sender::Client => "Editor to server.",
        Sender::Server => "Server to editor.",
    };
    comment(out, "", &format!("{} {sender}", method.doc));
    let (name, wire_name, params) = (constant(method), method.method, &method.params);
    out.push_str(&match &method.result {
        Some(result) => {
            format!("export const {name} = new RequestType<{params}, {result}, unknown>(\"{wire_name}\");\n")
        }
        None => format!("export const {name} = new NotificationType<{params}>(\"{wire_name}\");\n"),
    });
}

fn declare_type(out: &mut String, declared: &Type) {
    if let Some(doc) = &declared.doc {
        comment(out, "", doc);
    }
    let name = &declared.name;
    match &declared.shape {
        Shape::Object(fields) if fields.is_empty() => {
            out.push_str(&format!("export type {name} = {};\n", object(fields, "")));
        }
        Shape::Object(fields) => {
            out.push_str(&format!("export interface {name} {}\n", object(fields, "")));
        }
        Shape::Union(members) => {
            out.push_str(&format!("export type {name} ="));
            for member in member_texts(members, "    ") {
                out.push_str(&format!("\n    | {member}"));
            }
            out.push_str(";\n");
        }
        other => out.push_str(&format!("export type {name} = {};\n", text(other, ""))),
    }
}

fn text(shape: &Shape, indent: &str) -> String {
    match shape {
        Shape::Any => "unknown".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Integer | Shape::Number => "number".to_owned(),
        Shape::String => "string".to_owned(),
        Shape::Literal(value) => value.to_string(),
        Shape::Named(name) => name.clone(),
        Shape::Array(item) => format!("{}[]", grouped(item, indent)),
        Shape::Map(value) => format!("Record<string, {}>", text(value, indent)),
        Shape::Object(fields) => object(fields, indent),
        Shape::Union(members) => member_texts(members, indent).join(" | "),
        Shape::Both(parts) => parts
            .iter()
            .map(|it| grouped(it, indent))
            .collect::<Vec<_>>()
            .join(" & "),
    }
}

fn member_texts(members: &[Shape], indent: &str) -> Vec<String> {
    // `string` beside names would swallow them, so that no editor could complete them.
    let is_open = members.iter().any(|it| matches!(it, Shape::Literal(_)));
    let mut texts: Vec<String> = Vec::new();
    for member in members {
        let member = match member {
            Shape::String | Shape::Integer if is_open => {
                format!("({} & {{}})", text(member, indent))
            }
            Shape::Both(_) => format!("({})", text(member, indent)),
            other => text(other, indent),
        };
        if !texts.contains(&member) {
            texts.push(member);
        }
    }
    texts
}

fn grouped(shape: &Shape, indent: &str) -> String {
    match shape {
        Shape::Union(_) | Shape::Both(_) => format!("({})", text(shape, indent)),
        other => text(other, indent),
    }
}

fn object(fields: &[Field], indent: &str) -> String {
    match fields {
        [] => "Record<string, never>".to_owned(),
        [field] if matches!(field.shape, Shape::Literal(_) | Shape::Null) => {
            let mark = if field.is_optional { "?" } else { "" };
            format!("{{ {}{mark}: {} }}", field.name, text(&field.shape, indent))
        }
        fields => {
            let inner = format!("{indent}    ");
            let mut out = String::from("{\n");
            for field in fields {
                if let Some(doc) = &field.doc {
                    comment(&mut out, &inner, doc);
                }
                let mark = if field.is_optional { "?" } else { "" };
                out.push_str(&format!(
                    "{inner}{}{mark}: {};\n",
                    field.name,
                    text(&field.shape, &inner)
                ));
            }
            out + indent + "}"
        }
    }
}

fn comment(out: &mut String, indent: &str, doc: &str) {
    let lines = wrapped(doc, 100);
    match lines.as_slice() {
        [line] => out.push_str(&format!("{indent}/** {line} */\n")),
        lines => {
            out.push_str(&format!("{indent}/**\n"));
            for line in lines {
                out.push_str(&format!("{indent} * {line}\n"));
            }
            out.push_str(&format!("{indent} */\n"));
        }
    }
}
