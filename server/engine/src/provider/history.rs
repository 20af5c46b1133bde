//! What every format that is OpenAI's makes of the parts of a history.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Content, Image, ToolResult};

/// The texts of a message as one: a list of parts is refused by servers that know only strings.
pub fn joined(content: &[Content]) -> Cow<'_, str> {
    match content {
        [Content::Text(text)] => Cow::Borrowed(text),
        content => {
            let texts = content.iter().filter_map(|it| match it {
                Content::Text(text) => Some(text.as_str()),
                Content::Image(_) => None,
            });
            Cow::Owned(texts.collect::<Vec<&str>>().join("\n\n"))
        }
    }
}

/// Whether a message shows something; then its parts stay as they are, each in its place.
pub fn has_pictures(content: &[Content]) -> bool {
    content.iter().any(|it| match it {
        Content::Text(_) => false,
        Content::Image(_) => true,
    })
}

/// A tool's name as the model wrote it, within what a name may be: a history with a name that a model made up
/// (`multi_tool_use.parallel`) would be refused for ever.
pub fn name(name: &str) -> Cow<'_, str> {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_allowed) {
        return Cow::Borrowed(name);
    }
    let kept = name.chars().take(MAX_NAME);
    let name: String = kept
        .map(|it| if is_allowed(it) { it } else { '_' })
        .collect();
    if name.is_empty() {
        Cow::Borrowed("unnamed")
    } else {
        Cow::Owned(name)
    }
}

/// The most characters of a tool's name that OpenAI takes.
const MAX_NAME: usize = 64;

/// A call's arguments as the model wrote them. Servers which parse them (llama.cpp for its templates, gateways to other
/// formats) answer a history with anything but an object in it with an error for ever, so that is wrapped into one. They are
/// read in full: half of a character pair, or a number beyond all numbers, is JSON to some parsers and not to others.
pub fn arguments(text: &str) -> Cow<'_, str> {
    if text.trim().is_empty() {
        return Cow::Borrowed("{}");
    }
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(_) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(serde_json::json!({ "invalid_json": text }).to_string()),
    }
}

/// A result's text; some servers refuse an empty one.
pub fn result(result: &ToolResult) -> &str {
    match result.text.trim() {
        "" => "[empty]",
        _ => result.text.as_str(),
    }
}

/// The line in front of a result's picture that says whose it is (spec 18.2). `id` is the call's, as it was sent.
pub fn label(id: &str, image: &Image) -> String {
    let name = match image.picture.name.as_str() {
        "" => String::new(),
        name => format!("{name} "),
    };
    format!("Of tool call {id}: {name}{}", image.picture)
}

/// A picture as a `data:` URL (RFC 2397), written out without a copy.
pub struct DataUrl<'a>(pub &'a Image);

impl Serialize for DataUrl<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Image { picture, data } = self.0;
        serializer.collect_str(&format_args!("data:{};base64,{data}", picture.media_type))
    }
}
