//! One input item, and how it is written.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::provider::Image;
use crate::provider::history::DataUrl;

/// One input item.
pub enum Item<'a> {
    User(Said<'a>),
    Assistant(&'a str),
    Kept(Kept<'a>),
    Call {
        id: String,
        name: Cow<'a, str>,
        arguments: Cow<'a, str>,
    },
    PatchCall {
        id: String,
        operation: Value,
    },
    Output {
        kind: &'static str,
        id: String,
        output: &'a str,
    },
    PatchOutput {
        id: String,
        is_error: bool,
        output: &'a str,
    },
}

impl Item<'_> {
    /// Whether it is thinking.
    pub fn is_reasoning(&self) -> bool {
        matches!(self, Item::Kept(it) if it.kind() == "reasoning")
    }
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = match self {
            Item::Kept(kept) => return kept.serialize(serializer),
            Item::User(_)
            | Item::Assistant(_)
            | Item::Call { .. }
            | Item::PatchCall { .. }
            | Item::Output { .. }
            | Item::PatchOutput { .. } => serializer.serialize_map(None)?,
        };
        match self {
            Item::Kept(_) => {}
            Item::User(content) => {
                map.serialize_entry("role", "user")?;
                map.serialize_entry("content", content)?;
            }
            Item::Assistant(content) => {
                map.serialize_entry("role", "assistant")?;
                map.serialize_entry("content", content)?;
            }
            Item::Call {
                id,
                name,
                arguments,
            } => {
                map.serialize_entry("type", "function_call")?;
                map.serialize_entry("call_id", id)?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("arguments", arguments)?;
            }
            Item::PatchCall { id, operation } => {
                map.serialize_entry("type", "apply_patch_call")?;
                map.serialize_entry("status", "completed")?;
                map.serialize_entry("call_id", id)?;
                map.serialize_entry("operation", operation)?;
            }
            Item::Output { kind, id, output } => {
                map.serialize_entry("type", kind)?;
                map.serialize_entry("call_id", id)?;
                map.serialize_entry("output", output)?;
            }
            Item::PatchOutput {
                id,
                is_error,
                output,
            } => {
                let status = if *is_error { "failed" } else { "completed" };
                map.serialize_entry("type", "apply_patch_call_output")?;
                map.serialize_entry("call_id", id)?;
                map.serialize_entry("status", status)?;
                map.serialize_entry("output", output)?;
            }
        }
        map.end()
    }
}

/// An item as the provider sent it, field by field, with these in the place of its own where they are set.
pub struct Kept<'a> {
    pub fields: &'a Map<String, Value>,
    pub call_id: Option<String>,
    pub name: Option<Cow<'a, str>>,
    pub arguments: Option<Cow<'a, str>>,
}

impl<'a> Kept<'a> {
    /// All as it was.
    pub fn new(fields: &'a Map<String, Value>) -> Self {
        Kept {
            fields,
            call_id: None,
            name: None,
            arguments: None,
        }
    }

    fn kind(&self) -> &str {
        self.fields
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Whether a field is told. A provider that keeps nothing refuses the ids of what it has not kept, and takes a
    /// status only with them; `computer_call` alone must have its id.
    fn tells(&self, field: &str, value: &Value) -> bool {
        let kind = self.kind();
        match field {
            "id" => kind == "computer_call",
            "status" => !matches!(kind, "message" | "reasoning" | "function_call"),
            "content" if kind == "reasoning" => value.as_array().is_some_and(|it| !it.is_empty()),
            _ => !value.is_null(),
        }
    }
}

impl Serialize for Kept<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (field, value) in self.fields {
            let own = match field.as_str() {
                "call_id" => self.call_id.as_deref(),
                "name" => self.name.as_deref(),
                "arguments" => self.arguments.as_deref(),
                _ => None,
            };
            match own {
                Some(text) => map.serialize_entry(field, text)?,
                None if self.tells(field, value) => map.serialize_entry(field, value)?,
                None => {}
            }
        }
        map.end()
    }
}

/// A person's message: a text, or parts where there are pictures.
pub enum Said<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Said::Text(text) => serializer.serialize_str(text),
            Said::Parts(parts) => serializer.collect_seq(parts),
        }
    }
}

/// A part of it.
pub enum Part<'a> {
    Text(Cow<'a, str>),
    Picture(&'a Image),
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Part::Text(text) => {
                map.serialize_entry("type", "input_text")?;
                map.serialize_entry("text", text)?;
            }
            Part::Picture(image) => {
                map.serialize_entry("type", "input_image")?;
                map.serialize_entry("image_url", &DataUrl(image))?;
                map.serialize_entry("detail", "auto")?;
            }
        }
        map.end()
    }
}
