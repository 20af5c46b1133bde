//! `editors/nvim/lua/undine/protocol.lua`: a class or an alias for each type, a line for each method.
//!
//! The file is for the language server only; Neovim never loads it.

use super::types::{Field, Shape, Type, Wire};
use protocol::methods::Sender;

pub fn protocol_lua(wire: &Wire) -> String {
    let mut out = String::from(
        "---@meta\n\n-- The wire's methods and types. Generated from server/protocol by `UPDATE=1 cargo test generated`; do not edit.\n",
    );
    for (sender, name) in [
        (Sender::Client, "ClientMethod"),
        (Sender::Server, "ServerMethod"),
    ] {
        let words = match sender {
            Sender::Client => "What the editor sends.",
            Sender::Server => "What the server sends.",
        };
        out.push_str(&format!("\n--- {words}\n---@alias agent.{name}\n"));
        for method in wire.methods.iter().filter(|it| it.sender == sender) {
            let types = match &method.result {
                Some(result) => format!("agent.{} -> agent.{result}", method.params),
                None => format!("agent.{}", method.params),
            };
            out.push_str(&format!(
                "---| '\"{}\"' # {} {types}\n",
                method.method, method.doc
            ));
        }
    }
    for declared in &wire.types {
        declare(&mut out, declared);
    }
    out
}

fn declare(out: &mut String, declared: &Type) {
    let name = format!("agent.{}", declared.name);
    match &declared.shape {
        Shape::Object(fields) => class(out, &name, &[], fields, declared.doc.as_deref()),
        Shape::Union(members) => union(out, &name, &[], &[], members, declared.doc.as_deref()),
        Shape::Both(parts) => {
            let parents: Vec<String> = parts.iter().filter_map(parent).collect();
            let fields: Vec<Field> = parts.iter().flat_map(own_fields).cloned().collect();
            let members = parts.iter().find_map(|it| match it {
                Shape::Union(members) => Some(members.as_slice()),
                _ => None,
            });
            match members {
                Some(members) => union(
                    out,
                    &name,
                    &parents,
                    &fields,
                    members,
                    declared.doc.as_deref(),
                ),
                None => class(out, &name, &parents, &fields, declared.doc.as_deref()),
            }
        }
        other => {
            head(out, declared.doc.as_deref());
            out.push_str(&format!("---@alias {name} {}\n", text(other)));
        }
    }
}

/// A union becomes an alias; each member with fields of its own becomes a class beside it.
fn union(
    out: &mut String,
    name: &str,
    parents: &[String],
    fields: &[Field],
    members: &[Shape],
    doc: Option<&str>,
) {
    let mut names = Vec::new();
    for (at, member) in members.iter().enumerate() {
        let needs_class = match member {
            Shape::Object(_) | Shape::Both(_) => true,
            _ => !fields.is_empty() || !parents.is_empty(),
        };
        if !needs_class {
            names.push(text(member));
            continue;
        }
        let suffix =
            Shape::tag(member).map_or_else(|| (at + 1).to_string(), |(_, value)| value.to_owned());
        let member_name = format!("{name}.{suffix}");
        let parts = match member {
            Shape::Both(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let parents: Vec<String> = parents
            .iter()
            .cloned()
            .chain(parts.iter().filter_map(parent))
            .collect();
        // A member's own field is narrower than the one of the whole.
        let own: Vec<Field> = parts.iter().flat_map(own_fields).cloned().collect();
        let inherited = fields
            .iter()
            .filter(|it| own.iter().all(|own| own.name != it.name))
            .cloned();
        let fields: Vec<Field> = own.iter().cloned().chain(inherited).collect();
        class(out, &member_name, &parents, &fields, None);
        names.push(member_name);
    }
    head(out, doc);
    out.push_str(&format!("---@alias {name}\n"));
    for name in names {
        // A quoted name in an alias stands in quotes of its own.
        let name = if name.starts_with('"') {
            format!("'{name}'")
        } else {
            name
        };
        out.push_str(&format!("---| {name}\n"));
    }
}

fn class(out: &mut String, name: &str, parents: &[String], fields: &[Field], doc: Option<&str>) {
    head(out, doc);
    let parents = if parents.is_empty() {
        String::new()
    } else {
        format!(": {}", parents.join(", "))
    };
    out.push_str(&format!("---@class {name}{parents}\n"));
    for field in fields {
        let mark = if field.is_optional { "?" } else { "" };
        let doc = field
            .doc
            .as_ref()
            .map(|it| format!(" {it}"))
            .unwrap_or_default();
        out.push_str(&format!(
            "---@field {}{mark} {}{doc}\n",
            field.name,
            text(&field.shape)
        ));
    }
}

fn head(out: &mut String, doc: Option<&str>) {
    out.push('\n');
    if let Some(doc) = doc {
        out.push_str(&format!("--- {doc}\n"));
    }
}

fn parent(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Named(_) => Some(text(shape)),
        _ => None,
    }
}

fn own_fields(shape: &Shape) -> &[Field] {
    match shape {
        Shape::Object(fields) => fields,
        _ => &[],
    }
}

fn text(shape: &Shape) -> String {
    match shape {
        Shape::Any => "any".to_owned(),
        // What `vim.json` and `vim.rpcnotify` make of null.
        Shape::Null => "vim.NIL".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Integer => "integer".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::String => "string".to_owned(),
        Shape::Literal(value) => value.to_string(),
        Shape::Named(name) => format!("agent.{name}"),
        Shape::Array(item) => format!("{}[]", grouped(item)),
        Shape::Map(value) => format!("table<string, {}>", text(value)),
        Shape::Object(fields) if fields.is_empty() => "table".to_owned(),
        Shape::Object(fields) => {
            let fields = fields.iter().map(|it| {
                let mark = if it.is_optional { "?" } else { "" };
                format!("{}{mark}: {}", it.name, text(&it.shape))
            });
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        Shape::Union(members) => members.iter().map(text).collect::<Vec<_>>().join("|"),
        // Lua has no intersection; the first part has the name.
        Shape::Both(parts) => parts.first().map_or_else(|| "table".to_owned(), text),
    }
}

fn grouped(shape: &Shape) -> String {
    match shape {
        Shape::Union(_) => format!("({})", text(shape)),
        other => text(other),
    }
}
