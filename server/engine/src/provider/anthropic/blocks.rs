//! Puts the blocks of an answer together from their pieces: texts and thoughts are told at once, a call when it is whole,
//! and what must go back to the provider is kept as it came.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::provider::broken::{MAX_ARGUMENTS, MAX_CALLS, too_long_arguments, too_many_calls};
use crate::provider::{ModelError, ModelEvent, NativeTool, ToolCall, native};

/// The blocks of one answer, in the order they began.
#[derive(Clone, Default, PartialEq)]
pub struct Blocks {
    all: Vec<Block>,
    n_calls: usize,
    /// Ids of calls that have left.
    ids: BTreeSet<String>,
    /// Which block was told last, of texts and of thoughts: another one is another paragraph.
    text_of: Option<usize>,
    thought_of: Option<usize>,
}

#[derive(Clone, PartialEq)]
struct Block {
    /// As the provider numbers it.
    index: u64,
    /// As it goes back. A call's input is left out: it stands in the call.
    fields: Map<String, Value>,
    /// Pieces of its input, joined.
    json: String,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    /// A call that has ended, and whose arguments may have been cut by the answer's limit. What comes next tells.
    Held,
    /// It goes back.
    Whole,
    /// It was given up.
    Gone,
}

/// How an answer ends, for what is unfinished in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model has said all it wanted.
    Well,
    /// It was stopped: a call whose arguments are not whole is one that it was still writing.
    Stopped,
    /// The stream broke.
    Broken,
}

impl Blocks {
    /// Whether a call has left.
    pub fn any_call(&self) -> bool {
        !self.ids.is_empty()
    }

    /// Whether a text was told.
    pub fn any_text(&self) -> bool {
        self.text_of.is_some()
    }

    /// Another message begins in the place of this one. What was told cannot be taken back; what goes back to the provider
    /// is the new one alone, unless calls have left.
    pub fn begin_anew(&mut self) {
        if !self.any_call() {
            self.all.clear();
            (self.text_of, self.thought_of) = (None, None);
        }
        let unfinished = self.all.iter_mut().filter(|it| it.state != State::Whole);
        unfinished.for_each(|it| it.state = State::Gone);
    }

    /// A block begins, perhaps with its first piece or all of it.
    pub fn start(
        &mut self,
        index: u64,
        block: &Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let Value::Object(fields) = block else {
            return Ok(());
        };
        // The model went on, so that a call before this was not the one that its limit cut.
        self.release(out);
        let block = Block {
            index,
            fields: fields.clone(),
            json: String::new(),
            state: State::Open,
        };
        self.n_calls += usize::from(block.is_call());
        if self.n_calls > MAX_CALLS {
            return Err(too_many_calls());
        }
        let at = self.all.len();
        let text = block.text("text").filter(|_| block.is("text"));
        self.tell_text(at, text.unwrap_or_default(), out);
        let thought = block.text("thinking").filter(|_| block.is("thinking"));
        self.tell_thought(at, thought.unwrap_or_default(), out);
        self.all.push(block);
        Ok(())
    }

    /// The next piece of a text. One that nobody began begins with it.
    pub fn text(
        &mut self,
        index: u64,
        text: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let at = match self.open(index) {
            Some(at) => at,
            None => self.begin(index, json!({ "type": "text", "text": "" }), out)?,
        };
        self.all[at].push("text", text);
        self.tell_text(at, text, out);
        Ok(())
    }

    /// The next piece of a thought. One that nobody began begins with it.
    pub fn thought(
        &mut self,
        index: u64,
        thought: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let at = match self.open(index) {
            Some(at) => at,
            None => self.begin(index, json!({ "type": "thinking", "thinking": "" }), out)?,
        };
        self.all[at].push("thinking", thought);
        self.tell_thought(at, thought, out);
        Ok(())
    }

    /// The next piece of a call's input.
    pub fn input(&mut self, index: u64, piece: &str) -> Result<(), ModelError> {
        let Some(at) = self.open(index) else {
            return Ok(());
        };
        let block = &mut self.all[at];
        if block.json.len() + piece.len() > MAX_ARGUMENTS {
            return Err(too_long_arguments());
        }
        block.json.push_str(piece);
        Ok(())
    }

    /// The next piece of a block, of any kind.
    pub fn delta(
        &mut self,
        index: u64,
        delta: &Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let kind = delta["type"].as_str().unwrap_or_default();
        let piece = |name: &str| delta[name].as_str().unwrap_or_default();
        match kind {
            "text_delta" => return self.text(index, piece("text"), out),
            "thinking_delta" => return self.thought(index, piece("thinking"), out),
            "input_json_delta" => return self.input(index, piece("partial_json")),
            _ => {}
        }
        let Some(at) = self.open(index) else {
            return Ok(());
        };
        let block = &mut self.all[at];
        match kind {
            "signature_delta" => {
                block.put("signature", delta["signature"].clone());
            }
            "citations_delta" => match block.fields.get_mut("citations") {
                Some(Value::Array(citations)) => citations.push(delta["citation"].clone()),
                Some(_) | None => block.put("citations", json!([delta["citation"]])),
            },
            "compaction_delta" => {
                for (name, value) in delta.as_object().into_iter().flatten() {
                    match (block.fields.get(name), value) {
                        _ if name == "type" || value.is_null() => {}
                        (Some(Value::String(_)), Value::String(piece)) => block.push(name, piece),
                        _ => block.put(name, value.clone()),
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A block has ended. A call leaves if its arguments are whole.
    pub fn stop(&mut self, index: u64, out: &mut Vec<ModelEvent>) {
        let Some(at) = self.open(index) else {
            return;
        };
        let block = &mut self.all[at];
        if !block.is_call() {
            block.close();
        } else if block.is_written() {
            self.leave(at, out);
        } else {
            block.state = State::Held;
        }
    }

    /// The answer has ended, in this way: what is left of it leaves or is given up.
    pub fn end(&mut self, end: End, out: &mut Vec<ModelEvent>) {
        for at in 0..self.all.len() {
            let block = &mut self.all[at];
            let (state, is_call) = (block.state, block.is_call());
            match (state, end) {
                (State::Whole | State::Gone, _) => {}
                (State::Held, End::Well) => self.leave(at, out),
                (State::Open, End::Well) if is_call => self.leave(at, out),
                (State::Open, End::Well) => block.close(),
                // One without arguments has ended like any other; nothing says that it was cut.
                (State::Held, End::Broken) if block.json.is_empty() => self.leave(at, out),
                // Half a text is one that the person has seen. Half a thought has no signature.
                (State::Open, End::Stopped | End::Broken) if block.is("text") => block.close(),
                (State::Held | State::Open, End::Stopped | End::Broken) => {
                    block.state = State::Gone;
                }
            }
        }
    }

    /// What goes back to the provider, if there is something.
    pub fn raw(&mut self) -> Option<Value> {
        let whole = std::mem::take(&mut self.all);
        let blocks: Vec<Value> = whole
            .into_iter()
            .filter(|it| it.state == State::Whole && !it.is_blank())
            .map(|it| Value::Object(it.fields))
            .collect();
        (!blocks.is_empty()).then_some(Value::Array(blocks))
    }

    fn open(&self, index: u64) -> Option<usize> {
        let mut blocks = self.all.iter();
        blocks.rposition(|it| it.index == index && it.state == State::Open)
    }

    fn begin(
        &mut self,
        index: u64,
        block: Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<usize, ModelError> {
        self.start(index, &block, out)?;
        Ok(self.all.len() - 1)
    }

    /// Calls that were held leave as they are written.
    fn release(&mut self, out: &mut Vec<ModelEvent>) {
        for at in 0..self.all.len() {
            if self.all[at].state == State::Held {
                self.leave(at, out);
            }
        }
    }

    fn leave(&mut self, at: usize, out: &mut Vec<ModelEvent>) {
        let block = &mut self.all[at];
        let wanted = block.text("id").unwrap_or_default().to_owned();
        let id = match wanted.as_str() {
            id if !id.is_empty() && !self.ids.contains(id) => wanted,
            // Found at the latest after as many numbers as there are calls.
            _ => (0..=self.ids.len())
                .map(|n| format!("call_{n}"))
                .find(|it| !self.ids.contains(it))
                .unwrap_or(wanted),
        };
        let name = block.text("name").unwrap_or_default().to_owned();
        let mut arguments = std::mem::take(&mut block.json);
        if arguments.is_empty()
            && let Some(Value::Object(input)) = block.fields.get("input")
            && !input.is_empty()
        {
            arguments = Value::Object(input.clone()).to_string();
        }
        block.fields.shift_remove("input");
        block.put("id", Value::from(id.as_str()));
        block.state = State::Whole;
        self.ids.insert(id.clone());
        let of_provider = [NativeTool::TextEditor, NativeTool::Bash];
        let call = match of_provider.into_iter().find(|it| it.name() == name) {
            Some(tool) => native::call(id, tool, arguments),
            None => ToolCall {
                id,
                name,
                arguments,
                native: None,
            },
        };
        out.push(ModelEvent::Call(call));
    }

    /// Texts on both sides of something else are paragraphs; pieces that follow each other are one.
    fn tell_text(&mut self, at: usize, text: &str, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        let is_apart = self.text_of.is_some_and(|it| at > it + 1);
        self.text_of = Some(at);
        out.push(ModelEvent::Text(paragraph(is_apart, text)));
    }

    fn tell_thought(&mut self, at: usize, thought: &str, out: &mut Vec<ModelEvent>) {
        if thought.is_empty() {
            return;
        }
        let is_apart = self.thought_of.is_some_and(|it| at > it);
        self.thought_of = Some(at);
        out.push(ModelEvent::Thought(paragraph(is_apart, thought)));
    }
}

impl Block {
    fn is(&self, kind: &str) -> bool {
        self.fields.get("type").and_then(Value::as_str) == Some(kind)
    }

    fn is_call(&self) -> bool {
        self.is("tool_use")
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// A text without a letter in it, which the provider does not take back.
    fn is_blank(&self) -> bool {
        self.is("text") && self.text("text").unwrap_or_default().trim().is_empty()
    }

    /// Whether a call's arguments are there and whole.
    fn is_written(&self) -> bool {
        let has_input =
            matches!(self.fields.get("input"), Some(Value::Object(it)) if !it.is_empty());
        match self.json.is_empty() {
            true => has_input,
            false => serde_json::from_str::<Map<String, Value>>(&self.json).is_ok(),
        }
    }

    /// What is no call has ended. The input of the provider's own calls is read here, as it is theirs.
    fn close(&mut self) {
        if !self.json.is_empty() {
            let text = std::mem::take(&mut self.json);
            let input = serde_json::from_str::<Value>(&text).ok();
            let input = input.filter(Value::is_object);
            self.put(
                "input",
                input.unwrap_or_else(|| json!({ "invalid_json": text })),
            );
        }
        self.state = State::Whole;
    }

    fn push(&mut self, name: &str, piece: &str) {
        match self.fields.get_mut(name) {
            Some(Value::String(text)) => text.push_str(piece),
            Some(_) | None => self.put(name, Value::from(piece)),
        }
    }

    fn put(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }
}

fn paragraph(is_apart: bool, text: &str) -> String {
    match is_apart && !text.starts_with('\n') {
        true => format!("\n\n{text}"),
        false => text.to_owned(),
    }
}
