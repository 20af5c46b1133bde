//! The conversation of a request, in the format's turns and blocks.
//!
//! An answer of this model goes back as it came: its blocks in their order, signed thoughts untouched. Where its blocks do
//! not fit its calls, or another model gave it, it is made anew from texts and calls. Ids, names and inputs that this
//! format refuses are made such as it takes, because a history with one of them would be refused for ever.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::marker;
use crate::provider::{Content, Image, Message, ModelRequest, NativeTool, ToolCall, ToolResult};

/// The most characters of a tool's name.
const MAX_NAME: usize = 64;
/// What stands where there is nothing, which the format refuses.
const EMPTY: &str = "[empty]";
/// How many of the person's newest turns are marked as worth caching. The last but one is where the request before this
/// one was: the provider looks back only so many blocks for it.
const MARKED_TURNS: usize = 2;

/// One message.
#[derive(Serialize)]
pub struct Turn<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
}

/// A part of a message.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    ToolUse {
        id: String,
        name: Cow<'a, str>,
        input: Input<'a>,
        /// What else the provider said of it.
        #[serde(flatten)]
        more: BTreeMap<&'a str, &'a Value>,
    },
    ToolResult {
        tool_use_id: String,
        content: Given<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    /// One of the provider's own, as it came.
    #[serde(untagged)]
    Raw(&'a Value),
}

/// Marks the end of what is worth caching.
#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Marker {
    Ephemeral,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
}

/// What a call gave: a text, or a text and pictures.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Given<'a> {
    Text(&'a str),
    Parts(Vec<Block<'a>>),
}

/// A call's input, which must be an object.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Input<'a> {
    /// Byte for byte as the model wrote it.
    Written(&'a RawValue),
    /// What the model wrote was no object.
    Wrapped(Value),
}

impl<'a> Block<'a> {
    pub fn text(text: &'a str) -> Block<'a> {
        Block::Text {
            text,
            cache_control: None,
        }
    }

    fn image(image: &'a Image) -> Block<'a> {
        Block::Image {
            source: Source::Base64 {
                media_type: &image.picture.media_type,
                data: &image.data,
            },
            cache_control: None,
        }
    }

    /// Marks it, if it is of a kind that may be marked.
    pub fn mark(&mut self, marker: Option<Marker>) {
        match self {
            Block::Text { cache_control, .. }
            | Block::Image { cache_control, .. }
            | Block::ToolResult { cache_control, .. } => *cache_control = marker,
            Block::ToolUse { .. } | Block::Raw(_) => {}
        }
    }

    fn is_thought(&self) -> bool {
        let Block::Raw(block) = self else {
            return false;
        };
        matches!(
            block["type"].as_str(),
            Some("thinking" | "redacted_thinking")
        )
    }
}

/// All of a request's messages. Roles alternate: what one says in several pieces is one message.
pub fn turns(request: &ModelRequest) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let mut ids = Ids::default();
    for message in &request.messages {
        let (role, content) = match message {
            Message::User(content) => (Role::User, said(content)),
            Message::Assistant {
                text, calls, raw, ..
            } => {
                ids.claim(calls);
                let raw = raw.as_ref().and_then(Value::as_array);
                let mut content = raw
                    .and_then(|it| replayed(it, calls, &ids, &request.natives))
                    .unwrap_or_else(|| rebuilt(text, calls, &ids, &request.natives));
                // A thought may not be the last word.
                while content.last().is_some_and(Block::is_thought) {
                    content.pop();
                }
                (Role::Assistant, content)
            }
            Message::Results(results) => (
                Role::User,
                results.iter().map(|it| result(it, &ids)).collect(),
            ),
        };
        match turns.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(content),
            Some(_) | None => turns.push(Turn { role, content }),
        }
    }
    let of_person = turns.iter_mut().rev().filter(|it| it.role == Role::User);
    for turn in of_person.take(MARKED_TURNS) {
        if let Some(last) = turn.content.last_mut() {
            last.mark(marker(request));
        }
    }
    turns
}

fn said(content: &[Content]) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::with_capacity(content.len());
    for part in content {
        match part {
            Content::Text(text) if text.trim().is_empty() => {}
            Content::Text(text) => blocks.push(Block::text(text)),
            Content::Image(image) => blocks.push(Block::image(image)),
        }
    }
    if blocks.is_empty() {
        blocks.push(Block::text(EMPTY));
    }
    blocks
}

/// The answer's own blocks, with the calls' inputs put back. None where the calls among them are not these.
fn replayed<'a>(
    blocks: &'a [Value],
    calls: &'a [ToolCall],
    ids: &Ids,
    natives: &[NativeTool],
) -> Option<Vec<Block<'a>>> {
    let mut out = Vec::with_capacity(blocks.len());
    let mut n_calls = 0;
    for block in blocks {
        let fields = block.as_object()?;
        if block["type"] != "tool_use" {
            out.push(Block::Raw(block));
            continue;
        }
        let id = block["id"].as_str()?;
        let call = calls.iter().find(|it| it.id == id)?;
        n_calls += 1;
        let own = ["type", "id", "name", "input", "cache_control"];
        let more = fields
            .iter()
            .filter(|(key, _)| !own.contains(&key.as_str()));
        let more = more.map(|(key, value)| (key.as_str(), value)).collect();
        out.push(tool_use(call, ids, natives, more));
    }
    (n_calls == calls.len()).then_some(out)
}

fn rebuilt<'a>(
    text: &'a str,
    calls: &'a [ToolCall],
    ids: &Ids,
    natives: &[NativeTool],
) -> Vec<Block<'a>> {
    let text = Some(text).filter(|it| !it.trim().is_empty());
    let calls = calls
        .iter()
        .map(|it| tool_use(it, ids, natives, BTreeMap::new()));
    text.map(Block::text).into_iter().chain(calls).collect()
}

/// A call. While the provider's own tool is on offer, one of it is what the model wrote (spec 17.2).
fn tool_use<'a>(
    call: &'a ToolCall,
    ids: &Ids,
    natives: &[NativeTool],
    more: BTreeMap<&'a str, &'a Value>,
) -> Block<'a> {
    // One that nothing was run for has no form of ours.
    let written = call
        .native
        .as_ref()
        .filter(|it| natives.contains(&it.tool) || call.name == it.tool.name());
    let (tool, text) = match written {
        Some(native) => (native.tool.name(), native.input.as_str()),
        None => (call.name.as_str(), call.arguments.as_str()),
    };
    Block::ToolUse {
        id: ids.of(&call.id),
        name: name(tool),
        input: input(text),
        more,
    }
}

/// The results come first in the message behind the calls, and say something each.
fn result<'a>(result: &'a ToolResult, ids: &Ids) -> Block<'a> {
    let text = match result.text.trim() {
        "" => EMPTY,
        _ => result.text.as_str(),
    };
    let content = match result.images.is_empty() {
        true => Given::Text(text),
        false => {
            let images = result.images.iter().map(Block::image);
            Given::Parts(std::iter::once(Block::text(text)).chain(images).collect())
        }
    };
    Block::ToolResult {
        tool_use_id: ids.of(&result.id),
        content,
        // An error may have texts alone, and says in its own that it is one.
        is_error: result.is_error && result.images.is_empty(),
        cache_control: None,
    }
}

/// A call's input as the model wrote it. An escape of half a character pair is JSON to some parsers and not to others,
/// so it is read in full.
fn input(text: &str) -> Input<'_> {
    let text = match text.trim() {
        "" => "{}",
        text => text,
    };
    let written = serde_json::from_str::<Map<String, Value>>(text)
        .and_then(|_| serde_json::from_str::<&RawValue>(text));
    match written {
        Ok(written) => Input::Written(written),
        Err(_) => Input::Wrapped(json!({ "invalid_json": text })),
    }
}

/// A tool's name within what a name may be.
fn name(name: &str) -> Cow<'_, str> {
    within(name, "unnamed")
}

/// A text of at most [`MAX_NAME`] letters, digits, `_` and `-`, which names and ids consist of.
fn within<'a>(text: &'a str, instead: &'static str) -> Cow<'a, str> {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    if text.is_empty() {
        return Cow::Borrowed(instead);
    }
    if text.len() <= MAX_NAME && text.chars().all(is_allowed) {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().take(MAX_NAME);
    Cow::Owned(
        kept.map(|it| if is_allowed(it) { it } else { '_' })
            .collect(),
    )
}

/// The ids of calls as they are sent: each is unique in the whole conversation, which ours and those of some servers are
/// not. The same conversation gives the same ids.
#[derive(Default)]
struct Ids {
    taken: BTreeSet<String>,
    /// How often a repeated one was wanted.
    wanted: BTreeMap<String, u32>,
    /// Of the last answer's calls: the id as it is known here, and as it is sent.
    of_last: BTreeMap<String, String>,
}

impl Ids {
    fn claim(&mut self, calls: &[ToolCall]) {
        self.of_last.clear();
        for call in calls {
            let wanted = within(&call.id, "call");
            let mut sent = wanted.clone().into_owned();
            while !self.taken.insert(sent.clone()) {
                let n = self.wanted.entry(wanted.clone().into_owned()).or_insert(1);
                *n += 1;
                let number = format!("_{n}");
                // Letters and digits, one byte each.
                sent = format!("{wanted:.*}{number}", MAX_NAME - number.len());
            }
            self.of_last.insert(call.id.clone(), sent);
        }
    }

    fn of(&self, id: &str) -> String {
        let sent = self.of_last.get(id);
        sent.cloned()
            .unwrap_or_else(|| within(id, "call").into_owned())
    }
}
