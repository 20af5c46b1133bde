//! Puts tool calls together from their fragments, whatever a server makes of `index` and `id`.
//!
//! The format says: fragments of a call share an `index`, and the first has `id` and `name`. Servers use index 0 for
//! all or none at all, leave ids out, repeat them, change them with every fragment, give two calls the same one, send a
//! call whole, or weave calls into each other. So a name begins a call, unless it repeats that of a call still open.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::provider::broken::{MAX_ARGUMENTS, MAX_CALLS, too_long_arguments, too_many_calls};
use crate::provider::{ModelError, ModelErrorKind, ModelEvent, ToolCall};

/// A piece of a call. Empty texts stand for missing ones.
#[derive(Clone, Copy, Debug)]
pub struct Fragment<'a> {
    pub index: Option<u64>,
    pub id: &'a str,
    pub name: &'a str,
    pub arguments: &'a str,
    /// What a server hangs on a call and wants back with it: Gemini's signature of its thought.
    pub extra: Option<&'a RawValue>,
}

/// The calls of one reply. Calls leave in the order they began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    all: Vec<Call>,
    /// How many of `all` have left or were given up.
    n_closed: usize,
    /// Whether one has left.
    any: bool,
}

/// A call, open or closed.
#[derive(Clone, Debug, Default, PartialEq)]
struct Call {
    index: Option<u64>,
    /// As the server says it, empty until it does.
    id: String,
    /// As it left: the server's id, or one of ours where that is missing or taken.
    sent_id: String,
    name: String,
    arguments: Arguments,
    extra: Option<Value>,
}

impl Calls {
    /// Whether a call has left.
    pub fn any(&self) -> bool {
        self.any
    }

    /// What hangs on the calls that have left, by their ids.
    pub fn extras(&self) -> Map<String, Value> {
        let left = self.all.iter().filter(|it| !it.sent_id.is_empty());
        left.filter_map(|it| Some((it.sent_id.clone(), it.extra.clone()?)))
            .collect()
    }

    /// Takes a fragment. When it begins a call, the ones before it whose arguments are a whole object leave.
    pub fn take(
        &mut self,
        fragment: Fragment<'_>,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        match self.place(fragment) {
            Place::Begin => self.begin(fragment, out)?,
            Place::Repeat => return Ok(()),
            Place::Continue(at) if at < self.n_closed && fragment.arguments.trim().is_empty() => {
                return Ok(());
            }
            Place::Continue(at) if at < self.n_closed => {
                return Err(protocol("went on with a tool call it had ended"));
            }
            Place::Continue(at) => {
                let call = &mut self.all[at];
                if call.name.is_empty() {
                    call.name.push_str(fragment.name);
                }
                if call.id.is_empty() {
                    call.id.push_str(fragment.id);
                }
                call.index = call.index.or(fragment.index);
                call.extra = extra(fragment).or(call.extra.take());
                call.arguments.push(fragment.arguments)?;
            }
        }
        Ok(())
    }

    /// The reply has ended well: all calls leave.
    pub fn close_all(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        while self.n_closed < self.all.len() {
            self.close_next(out)?;
        }
        Ok(())
    }

    /// The reply was cut within its limits: whole calls leave, the one that was being written is given up.
    pub fn close_whole(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        self.close_leading_whole(out)?;
        self.n_closed = self.all.len();
        Ok(())
    }

    /// Where a fragment belongs.
    fn place(&self, fragment: Fragment<'_>) -> Place {
        let by_id = self
            .all
            .iter()
            .rposition(|it| !fragment.id.is_empty() && it.id == fragment.id);
        let by_index = self
            .all
            .iter()
            .rposition(|it| fragment.index.is_some() && it.index == fragment.index);
        let is_bare = fragment.id.is_empty() && fragment.index.is_none();
        let last = self.all.len().checked_sub(1).filter(|_| is_bare);
        let Some(at) = by_id.or(by_index).or(last) else {
            return Place::Begin;
        };
        let call = &self.all[at];
        if fragment.name.is_empty() || call.name.is_empty() {
            return Place::Continue(at);
        }
        let same_id = fragment.id == call.id;
        let same_index =
            fragment.index.is_none() || call.index.is_none() || fragment.index == call.index;
        if fragment.name != call.name
            || !same_index
            || !(same_id || fragment.id.is_empty() || call.id.is_empty())
        {
            return Place::Begin;
        }
        let is_closed = at < self.n_closed;
        if !is_closed && !call.arguments.is_whole() {
            return Place::Continue(at);
        }
        let says_nothing_new =
            fragment.arguments.is_empty() || fragment.arguments == call.arguments.text;
        match !fragment.id.is_empty() && same_id && (is_closed || says_nothing_new) {
            true => Place::Repeat,
            false => Place::Begin,
        }
    }

    fn begin(
        &mut self,
        fragment: Fragment<'_>,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.close_leading_whole(out)?;
        if self.all.len() == MAX_CALLS {
            return Err(too_many_calls());
        }
        let mut call = Call {
            index: fragment.index,
            extra: extra(fragment),
            ..Call::default()
        };
        call.arguments.push(fragment.arguments)?;
        call.name.push_str(fragment.name);
        call.id.push_str(fragment.id);
        self.all.push(call);
        Ok(())
    }

    /// Those at the front whose arguments are a whole object leave; the others may still be written.
    fn close_leading_whole(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        while self
            .all
            .get(self.n_closed)
            .is_some_and(|it| it.arguments.is_whole())
        {
            self.close_next(out)?;
        }
        Ok(())
    }

    fn close_next(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let at = self.n_closed;
        if self.all[at].name.is_empty() {
            return Err(protocol("made a tool call without a name"));
        }
        let is_taken = |id: &str| self.all.iter().any(|it| it.sent_id == id);
        let sent_id = match self.all[at].id.as_str() {
            id if !id.is_empty() && !is_taken(id) => id.to_owned(),
            _ => {
                let is_known = |id: &String| is_taken(id) || self.all.iter().any(|it| it.id == *id);
                // Found at the latest after twice as many numbers as there are calls.
                (at..)
                    .map(|n| format!("call_{n}"))
                    .find(|id| !is_known(id))
                    .unwrap_or_default()
            }
        };
        let call = &mut self.all[at];
        call.sent_id = sent_id;
        let arguments = std::mem::take(&mut call.arguments.text);
        out.push(ModelEvent::Call(ToolCall {
            id: call.sent_id.clone(),
            name: call.name.clone(),
            arguments,
            native: None,
        }));
        self.n_closed += 1;
        self.any = true;
        Ok(())
    }
}

fn extra(fragment: Fragment<'_>) -> Option<Value> {
    let value: Value = serde_json::from_str(fragment.extra?.get()).ok()?;
    value.is_object().then_some(value)
}

enum Place {
    Begin,
    Continue(usize),
    /// It says again what is known.
    Repeat,
}

/// Arguments as they grow, with a scanner that knows when their object is whole without reading them again.
#[derive(Clone, Debug, Default, PartialEq)]
struct Arguments {
    text: String,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The last byte that is no white space.
    last: u8,
}

impl Arguments {
    fn push(&mut self, piece: &str) -> Result<(), ModelError> {
        if self.text.len() + piece.len() > MAX_ARGUMENTS {
            return Err(too_long_arguments());
        }
        self.text.push_str(piece);
        for byte in piece.bytes() {
            if !byte.is_ascii_whitespace() {
                self.last = byte;
            }
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether they read like an object that has been closed.
    fn is_whole(&self) -> bool {
        self.depth == 0 && !self.in_string && self.last == b'}'
    }
}

fn protocol(what: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Protocol,
        format!("the model's server {what}; try again or use another model"),
    )
}
