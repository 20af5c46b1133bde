//! The items of an answer as they grow: found, shown, closed, and kept to be sent back.

use serde_json::{Value, json};

use super::super::ends::protocol;
use super::super::items::{self, BETWEEN, Runs, text};
use super::{MAX_ITEMS, MAX_KEPT, Reply, Slot};
use crate::provider::broken::{
    MAX_ARGUMENTS, MAX_CALLS, limit, too_long_arguments, too_many_calls,
};
use crate::provider::native::{self, NativeTool};
use crate::provider::{ModelError, ModelEvent, ToolCall};

impl Reply {
    /// The place of the item that an event is about. `begins`: it may be a new one beside others that are open.
    pub(super) fn slot_of(&mut self, event: &Value, begins: bool) -> Result<usize, ModelError> {
        let id = match text(event, "item_id") {
            "" => text(&event["item"], "id"),
            id => id,
        };
        self.slot(event["output_index"].as_u64(), id, begins)
    }

    pub(super) fn slot(
        &mut self,
        index: Option<u64>,
        id: &str,
        begins: bool,
    ) -> Result<usize, ModelError> {
        let by_id = |it: &Slot| !id.is_empty() && it.id == id;
        let found = match index {
            Some(_) => self.items.iter().rposition(|it| it.index == index),
            None if self.items.iter().any(by_id) => self.items.iter().rposition(by_id),
            None if begins => None,
            // An id that changes, or none: it goes on with what is open.
            None => self.items.iter().rposition(|it| !it.is_closed),
        };
        if let Some(at) = found {
            return Ok(at);
        }
        if self.items.len() == MAX_ITEMS {
            return Err(limit(&format!(
                "wrote more than {MAX_ITEMS} items in one answer"
            )));
        }
        self.items.push(Slot {
            index,
            id: id.to_owned(),
            ..Slot::default()
        });
        Ok(self.items.len() - 1)
    }

    pub(super) fn say(&mut self, at: usize, delta: &str, out: &mut Vec<ModelEvent>) {
        let slot = &mut self.items[at];
        if delta.is_empty() || slot.is_closed {
            return;
        }
        // Another message of this reply.
        let between = match slot.shown.is_empty() && self.has_text {
            true => BETWEEN,
            false => "",
        };
        slot.shown += delta;
        self.has_text = true;
        out.push(ModelEvent::Text(format!("{between}{delta}")));
    }

    pub(super) fn think(
        &mut self,
        at: usize,
        part: (&'static str, u64),
        delta: &str,
        out: &mut Vec<ModelEvent>,
    ) {
        let slot = &mut self.items[at];
        // A server that sends thinking and its summary says one thing twice.
        let is_twice = slot.part.is_some_and(|it| it.0 != part.0);
        if delta.is_empty() || slot.is_closed || is_twice {
            return;
        }
        let between = match slot.part != Some(part) && self.has_thought {
            true => BETWEEN,
            false => "",
        };
        if !slot.shown.is_empty() {
            slot.shown += between;
        }
        slot.shown += delta;
        slot.part = Some(part);
        self.has_thought = true;
        out.push(ModelEvent::Thought(format!("{between}{delta}")));
    }

    /// An item is whole: shows what no delta did, and lets a call leave.
    pub(super) fn close(
        &mut self,
        at: usize,
        mut item: Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if self.items[at].is_closed || !item.is_object() {
            return Ok(());
        }
        match text(&item, "type") {
            "message" => {
                self.refused |= items::declines(&item);
                let said = items::said(&item);
                let rest = said.strip_prefix(self.items[at].shown.as_str());
                self.say(at, rest.unwrap_or_default(), out);
            }
            "reasoning" => {
                let thought = items::thought(&item);
                let part = self.items[at].part.unwrap_or(("summary", 0));
                let rest = thought.strip_prefix(self.items[at].shown.as_str());
                self.think(at, part, rest.unwrap_or_default(), out);
            }
            _ => {}
        }
        self.items[at].is_closed = true;
        // A call that the limit of tokens has cut is none.
        if let Some(runs) = items::runs(&item) {
            if text(&item, "status") == "incomplete" {
                return Ok(());
            }
            let call = self.call(&runs, &mut item)?;
            out.push(ModelEvent::Call(call));
        }
        self.n_kept += item.to_string().len();
        if self.n_kept > MAX_KEPT {
            return Err(limit(&format!(
                "wrote more than {} MiB in one answer",
                MAX_KEPT >> 20
            )));
        }
        self.items[at].done = Some(item);
        Ok(())
    }

    /// The call in an item. Gives it an id of its own where the server has not.
    pub(super) fn call(&mut self, runs: &Runs, item: &mut Value) -> Result<ToolCall, ModelError> {
        if self.calls.len() == MAX_CALLS {
            return Err(too_many_calls());
        }
        let is_taken = |id: &str| self.calls.iter().any(|it| it == id);
        let id = match text(item, "call_id") {
            id if !id.is_empty() && !is_taken(id) => id.to_owned(),
            _ => {
                // Found at the latest after as many numbers as there are calls.
                let id = (self.calls.len()..)
                    .map(|n| format!("call_{n}"))
                    .find(|id| !is_taken(id))
                    .unwrap_or_default();
                item["call_id"] = json!(id);
                id
            }
        };
        self.calls.push(id.clone());
        let call = match runs {
            Runs::Native(tool @ NativeTool::ApplyPatch) => {
                native::call(id, *tool, item["operation"].to_string())
            }
            Runs::Native(tool) => native::call(id, *tool, item.to_string()),
            Runs::Function => {
                let name = text(item, "name").to_owned();
                if name.is_empty() {
                    return Err(protocol("made a tool call without a name"));
                }
                // Some servers send the object itself.
                let arguments = match &item["arguments"] {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                if !item["arguments"].is_string() {
                    item["arguments"] = json!(arguments);
                }
                ToolCall {
                    id,
                    name,
                    arguments,
                    native: None,
                }
            }
        };
        let written = call.native.as_ref().map_or(&call.arguments, |it| &it.input);
        if written.len() > MAX_ARGUMENTS {
            return Err(too_long_arguments());
        }
        Ok(call)
    }
}
