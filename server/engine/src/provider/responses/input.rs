//! The conversation as input items.
//!
//! An answer of this very model goes back as its own items, in order and as they were, but for what only a provider that
//! keeps answers would know again (spec 17.4). Any other answer is told in the plainest items. Each call has its output
//! item and the other way round, or the request would be refused for ever.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::item::{Item, Kept, Part, Said};
use super::items::{self, text};
use crate::provider::call_ids::{CallIds, Rule};
use crate::provider::history::{self, arguments, joined, name};
use crate::provider::native::NativeTool;
use crate::provider::{Content, Message, ModelRequest, ToolCall, ToolResult};

/// All of them, oldest first.
pub fn items(request: &ModelRequest) -> Vec<Item<'_>> {
    let mut input = Input {
        items: Vec::with_capacity(request.messages.len()),
        natives: &request.natives,
        ids: CallIds::new(Rule::Common),
        calls: Vec::new(),
        pictures: Vec::new(),
    };
    for message in &request.messages {
        match message {
            Message::User(content) => input.user(content),
            Message::Assistant {
                text, calls, raw, ..
            } => {
                input.show_pictures();
                let kept = raw.as_ref().and_then(Value::as_array);
                match kept.filter(|it| has_calls(it, calls)) {
                    Some(kept) => input.kept(kept, text, calls),
                    None => input.told(text, calls),
                }
            }
            Message::Results(results) => results.iter().for_each(|it| input.result(it)),
        }
    }
    input.show_pictures();
    input.items
}

/// Whether the calls of these items are the calls of the answer.
fn has_calls(kept: &[Value], calls: &[ToolCall]) -> bool {
    let mut theirs: Vec<&str> = items::run_ids(kept).collect();
    let mut ours: Vec<&str> = calls.iter().map(|it| it.id.as_str()).collect();
    theirs.sort_unstable();
    ours.sort_unstable();
    theirs == ours
}

struct Input<'a> {
    items: Vec<Item<'a>>,
    natives: &'a [NativeTool],
    ids: CallIds,
    /// The calls of the last answer: their id, the one they went out under, and whether as a call of OpenAI's own tool.
    calls: Vec<(&'a str, String, bool)>,
    /// Pictures of results, to be shown behind the run of them: each one's label and itself.
    pictures: Vec<Part<'a>>,
}

impl<'a> Input<'a> {
    fn user(&mut self, content: &'a [Content]) {
        let has_pictures = history::has_pictures(content);
        let content = match self.pictures.is_empty() && !has_pictures {
            true => Said::Text(joined(content)),
            // One turn of the person, because templates of local models insist on alternation.
            false => {
                if has_pictures {
                    self.pictures.extend(content.iter().map(|it| match it {
                        Content::Text(text) => Part::Text(Cow::Borrowed(text.as_str())),
                        Content::Image(image) => Part::Picture(image),
                    }));
                } else {
                    self.pictures.push(Part::Text(joined(content)));
                }
                Said::Parts(std::mem::take(&mut self.pictures))
            }
        };
        self.items.push(Item::User(content));
    }

    /// Results are over: their pictures follow (spec 18.2).
    fn show_pictures(&mut self) {
        if !self.pictures.is_empty() {
            let content = Said::Parts(std::mem::take(&mut self.pictures));
            self.items.push(Item::User(content));
        }
    }

    /// An answer in its own items.
    fn kept(&mut self, kept: &'a [Value], said: &'a str, calls: &'a [ToolCall]) {
        self.calls.clear();
        let first = self.items.len();
        for item in kept {
            let Some(fields) = item.as_object() else {
                continue;
            };
            if let Some(call) = call_of(item, calls) {
                self.call(call, Some(fields));
                continue;
            }
            match fate(item, kept) {
                Fate::Back => self.items.push(Item::Kept(Kept::new(fields))),
                Fate::Answered => {
                    self.items.push(Item::Kept(Kept::new(fields)));
                    self.items.push(Item::Output {
                        kind: "custom_tool_call_output",
                        id: text(item, "call_id").to_owned(),
                        output: "There is no such tool; nothing was done.",
                    });
                }
                Fate::Gone => {}
            }
        }
        // Of an answer that broke off, more may have been shown than there are whole items of.
        let shown = items::all_said(kept);
        let rest = said.strip_prefix(shown.as_str()).unwrap_or_default();
        if !rest.trim().is_empty() {
            self.items
                .push(Item::Assistant(rest.trim_start_matches('\n')));
        }
        // Thinking that led to nothing whole is refused as an item.
        while self.items.len() > first && self.items.last().is_some_and(Item::is_reasoning) {
            self.items.pop();
        }
    }

    /// An answer in the plainest items.
    fn told(&mut self, said: &'a str, calls: &'a [ToolCall]) {
        self.calls.clear();
        if !said.trim().is_empty() {
            self.items.push(Item::Assistant(said));
        }
        for call in calls {
            self.call(call, None);
        }
    }

    /// A call, as its own item where there is one. Of OpenAI's own tool only while that is on offer.
    fn call(&mut self, call: &'a ToolCall, kept: Option<&'a Map<String, Value>>) {
        let id = self.ids.next(&call.id);
        let native = call.native.as_ref().map(|it| it.tool);
        let is_on_offer = native.is_some_and(|it| self.natives.contains(&it));
        let is_patch = is_on_offer && native == Some(NativeTool::ApplyPatch);
        let operation = call.native.as_ref().filter(|_| is_patch);
        let operation = operation.and_then(|it| serde_json::from_str::<Value>(&it.input).ok());
        let operation = operation.filter(is_operation);
        let is_native = operation.is_some();
        let item = match (kept, operation) {
            (Some(fields), Some(_)) => Item::Kept(Kept {
                call_id: Some(id.clone()),
                ..Kept::new(fields)
            }),
            (Some(fields), None) if native.is_none() => Item::Kept(Kept {
                call_id: Some(id.clone()),
                name: Some(name(&call.name)),
                arguments: Some(arguments(&call.arguments)),
                ..Kept::new(fields)
            }),
            (None, Some(operation)) => Item::PatchCall {
                id: id.clone(),
                operation,
            },
            (_, _) => Item::Call {
                id: id.clone(),
                name: name(&call.name),
                arguments: arguments(&call.arguments),
            },
        };
        self.items.push(item);
        self.calls.push((&call.id, id, is_native));
    }

    fn result(&mut self, result: &'a ToolResult) {
        let of = self.calls.iter().position(|it| it.0 == result.id);
        // An output without its call would be refused.
        let Some(of) = of else { return };
        let (_, id, is_native) = self.calls.remove(of);
        for image in &result.images {
            let label = history::label(&id, image);
            self.pictures.push(Part::Text(Cow::Owned(label)));
            self.pictures.push(Part::Picture(image));
        }
        let output = history::result(result);
        self.items.push(match is_native {
            true => Item::PatchOutput {
                id,
                is_error: result.is_error,
                output,
            },
            false => Item::Output {
                kind: "function_call_output",
                id,
                output,
            },
        });
    }
}

/// Whether a patch's operation has what the format insists on; of a kind that is newer than this, what all kinds have.
/// What else a model wrote goes back as a plain call.
fn is_operation(operation: &Value) -> bool {
    let has = |field: &str| operation[field].is_string();
    let needs_diff = matches!(text(operation, "type"), "create_file" | "update_file");
    has("type") && has("path") && (!needs_diff || has("diff"))
}

/// The call that an item is.
fn call_of<'a>(item: &Value, calls: &'a [ToolCall]) -> Option<&'a ToolCall> {
    items::runs(item)?;
    calls.iter().find(|it| it.id == text(item, "call_id"))
}

/// Calls that the format leaves to clients.
const FOR_CLIENTS: &[&str] = &[
    "computer_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
];

/// What becomes of a kept item that is no call of ours.
enum Fate {
    Back,
    /// It goes back with a word that nothing was done.
    Answered,
    Gone,
}

fn fate(item: &Value, kept: &[Value]) -> Fate {
    let (kind, id) = (text(item, "type"), text(item, "call_id"));
    let has = |of: &str| {
        let mut same = kept.iter().filter(|it| text(it, "call_id") == id);
        same.any(|it| text(it, "type") == of)
    };
    match kind {
        // Without what is encrypted there is nothing in it for the provider, unless it thinks in the open.
        "reasoning" => {
            let is_open = item["content"].as_array().is_some_and(|it| !it.is_empty());
            match item["encrypted_content"].is_string() || is_open {
                true => Fate::Back,
                false => Fate::Gone,
            }
        }
        "message" if items::said(item).trim().is_empty() => Fate::Gone,
        // Names what the provider has not kept.
        "item_reference" => Fate::Gone,
        // A call that somebody was to answer, and that nobody can: it has no id.
        _ if id.is_empty() && FOR_CLIENTS.contains(&kind) => Fate::Gone,
        // What the provider ran itself has no id of a call.
        _ if id.is_empty() => Fate::Back,
        _ => match kind.strip_suffix("_output") {
            Some(call) if has(call) => Fate::Back,
            Some(_) => Fate::Gone,
            None if has(&format!("{kind}_output")) => Fate::Back,
            None if kind == "custom_tool_call" => Fate::Answered,
            // What its output must look like is not known.
            None => Fate::Gone,
        },
    }
}
