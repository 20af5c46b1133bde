//! From a session's history to a model request.

pub mod archive;
pub mod autocompact;
pub mod budget;
pub mod fill;
pub mod instructions;
pub mod project;
#[cfg(test)]
mod speed;
pub mod styles;
pub mod summary;
pub mod tail;

use crate::provider::{
    Content, Image, Load, Message, ModelRequest, ToolCall, ToolResult, native, stands_alone,
};
use crate::session::Settings;
use protocol::record::Kept;
use protocol::session::CallId;
use protocol::tool::Picture;
use serde_json::Value;
use std::sync::Arc;

/// One step of the history.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// What the person wrote.
    User(Said),
    /// What the model is told in the same place and nobody wrote: what was done without it, with the output of
    /// programs. The classifier of mode `auto` never takes it for the person's word.
    Told(String),
    /// What stands in the place of all that came before it (spec 12.3). Only ever the first.
    Summary(String),
    Answer(Answer),
}

/// A message of the person's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    pub text: String,
    pub pictures: Vec<Held>,
}

impl<T: Into<String>> From<T> for Said {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            pictures: Vec::new(),
        }
    }
}

/// One answer of the model, with its calls and their results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub number: u64,
    pub text: String,
    pub thought: String,
    pub calls: Vec<Asked>,
    /// The model that gave it: [`Settings::model_id`].
    pub by: String,
    /// The provider's own items, sent back only to the model that gave them.
    pub raw: Option<Value>,
}

impl Answer {
    pub fn new(number: u64, by: &str) -> Self {
        Self {
            number,
            by: by.to_owned(),
            ..Self::default()
        }
    }

    /// Whether the log has something of it.
    pub fn is_said(&self) -> bool {
        let has_words = !self.text.is_empty() || !self.thought.is_empty();
        has_words || !self.calls.is_empty() || self.raw.is_some()
    }

    /// Adds what was said since the last record.
    pub fn say(&mut self, text: &str, thought: &str, raw: Option<&Value>) {
        self.text.push_str(text);
        self.thought.push_str(thought);
        if let Some(raw) = raw {
            self.raw = Some(raw.clone());
        }
    }
}

/// A call and its result, once there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub id: CallId,
    pub call: ToolCall,
    pub result: Option<ToolResult>,
    /// The result's pictures; `result` itself has none.
    pub pictures: Vec<Held>,
}

impl Asked {
    pub fn new(id: CallId, call: ToolCall) -> Self {
        Self {
            id,
            call,
            result: None,
            pictures: Vec::new(),
        }
    }
}

/// A picture of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub picture: Picture,
    pub sight: Sight,
}

impl Held {
    /// A picture that is sent.
    pub fn seen(image: Image) -> Self {
        Self {
            picture: image.picture,
            sight: Sight::Seen(image.data),
        }
    }

    /// A picture of which only the log knows.
    pub fn past(picture: &Picture) -> Self {
        Self {
            picture: picture.clone(),
            sight: Sight::Past,
        }
    }
}

/// Whether the model sees a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Sight {
    /// It is sent with its result: its bytes in base64.
    Seen(Arc<str>),
    /// Newer ones are, or its bytes are gone.
    Past,
    /// The provider does not take it.
    Refused,
}

/// The most pictures of a conversation that are sent: the newest (spec 18.2).
pub const MAX_PICTURES: usize = 3;

/// Pictures in the order of the history, the newest first, however far behind each other their results came: each with the
/// call that gave it; none: the person did.
pub fn newest_pictures(history: &mut [Entry]) -> impl Iterator<Item = (Option<CallId>, &mut Held)> {
    history.iter_mut().rev().flat_map(|it| {
        let (said, calls) = match it {
            Entry::User(said) => (&mut said.pictures[..], &mut [][..]),
            Entry::Answer(answer) => (&mut [][..], &mut answer.calls[..]),
            Entry::Told(_) | Entry::Summary(_) => (&mut [][..], &mut [][..]),
        };
        let given = calls.iter_mut().rev().flat_map(|it| {
            let id = Some(it.id);
            it.pictures.iter_mut().rev().map(move |held| (id, held))
        });
        given.chain(said.iter_mut().rev().map(|held| (None, held)))
    })
}

/// Forgets the bytes of all pictures but the newest.
pub fn forget_old_pictures(history: &mut [Entry]) {
    for (_, held) in newest_pictures(history).skip(MAX_PICTURES) {
        if let Sight::Seen(_) = held.sight {
            held.sight = Sight::Past;
        }
    }
}

/// Puts a summary in the place of what is older than what is kept.
pub fn compact(history: &mut Vec<Entry>, kept: Kept, summary: String) {
    let start = start_of(history, kept);
    history.splice(..start, [Entry::Summary(summary)]);
}

/// Where what is kept begins. What is not there any more keeps nothing.
fn start_of(history: &[Entry], kept: Kept) -> usize {
    let end = history.len();
    // An answer that said nothing is not in the log.
    let is_told = |it: &&Entry| match it {
        Entry::Told(_) => true,
        Entry::Answer(answer) => !answer.is_said(),
        Entry::User(_) | Entry::Summary(_) => false,
    };
    match kept {
        // What nobody has answered to was told for what comes next.
        Kept::Nothing | Kept::Prompts(0) => end - history.iter().rev().take_while(is_told).count(),
        Kept::Answer(number) => {
            let is_it = |it: &Entry| matches!(it, Entry::Answer(it) if it.number == number);
            history.iter().position(is_it).unwrap_or(end)
        }
        Kept::Prompts(n) => {
            let prompts = history.iter().enumerate().rev();
            let prompts = prompts.filter(|(_, it)| matches!(it, Entry::User(_)));
            let n = usize::try_from(n).unwrap_or(usize::MAX);
            let start = prompts.take(n).last().map_or(end, |(at, _)| at);
            let before = history[..start].iter().rev();
            start - before.take_while(is_told).count()
        }
    }
}

/// Builds the request for the next answer.
///
/// An answer of which the history has neither text nor calls goes back only where the provider's own items say more than
/// thoughts: what a provider has begun by itself and paused in.
///
/// Every call has its result beside it: the session asks only then, and a call that somehow has
/// none is given one that says so, because every provider refuses a dangling call.
pub fn build(settings: &Settings, history: &[Entry]) -> ModelRequest {
    let model_id = settings.model_id();
    let natives = native::on_offer(&settings.natives, &settings.tools, &settings.learned);
    let mut messages: Vec<Message> = Vec::with_capacity(history.len() + 1);
    for entry in history {
        match entry {
            Entry::User(said) => say(&mut messages, parts_of(said)),
            Entry::Told(text) | Entry::Summary(text) => {
                say(&mut messages, vec![Content::Text(text.clone())]);
            }
            Entry::Answer(Answer {
                text,
                thought,
                calls,
                by,
                raw,
                ..
            }) => {
                let raw = raw.as_ref().filter(|_| *by == model_id);
                if text.is_empty() && calls.is_empty() && !raw.is_some_and(stands_alone) {
                    continue;
                }
                go_on(&mut messages);
                messages.push(Message::Assistant {
                    text: text.clone(),
                    thought: thought.clone(),
                    calls: calls.iter().map(|it| it.call.clone()).collect(),
                    raw: raw.cloned(),
                });
                if !calls.is_empty() {
                    messages.push(Message::Results(calls.iter().map(result_of).collect()));
                }
            }
        }
    }
    go_on(&mut messages);
    ModelRequest {
        model: settings.model.clone(),
        system: settings.system.text(&natives),
        messages,
        tools: settings.tools.clone(),
        max_tokens: settings.max_tokens,
        temperature: settings.temperature,
        reasoning: settings.reasoning,
        natives,
        learned: settings.learned.clone(),
        window: settings.window,
        cache_key: settings.cache_key.clone(),
        compact_at: budget::native_threshold(settings),
        // The host's business, which knows the server.
        load: Load::default(),
    }
}

/// An answer that paused is followed by another one, which only the model that gave it takes as its own words going on.
/// Every other one is asked to go on: to most the assistant may neither speak twice nor last.
fn go_on(messages: &mut Vec<Message>) {
    if let Some(Message::Assistant { raw: None, .. }) = messages.last() {
        messages.push(Message::User(vec![Content::Text("[Go on.]".to_owned())]));
    }
}

/// Cuts the longest of what the person wrote, of results and of a summary, until all of them have so many tokens at most. For a
/// conversation that is too long and of which nothing more can be summarised.
pub fn squeeze(request: &mut ModelRequest, tokens: u64) {
    let mut texts: Vec<&mut String> = Vec::new();
    for message in &mut request.messages {
        match message {
            Message::User(content) => {
                texts.extend(content.iter_mut().filter_map(|it| match it {
                    Content::Text(text) => Some(text),
                    Content::Image(_) => None,
                }));
            }
            Message::Results(results) => texts.extend(results.iter_mut().map(|it| {
                it.images.clear();
                &mut it.text
            })),
            Message::Assistant { .. } => {}
        }
    }
    let lengths = texts.iter().map(|it| it.len()).collect();
    let cap = summary::shared_cap(lengths, budget::bytes(tokens));
    for text in texts {
        if text.len() > cap {
            *text = summary::cut_middle(text, cap);
        }
    }
}

/// Adds what the person's side says. Two prompts in a row are one message: some servers insist on alternation.
fn say(messages: &mut Vec<Message>, parts: Vec<Content>) {
    match messages.last_mut() {
        Some(Message::User(content)) => content.extend(parts),
        Some(Message::Assistant { .. } | Message::Results(_)) | None => {
            messages.push(Message::User(parts));
        }
    }
}

/// A message of the person's: its text, a line for each picture that is not shown, and those that are.
fn parts_of(said: &Said) -> Vec<Content> {
    let mut text = said.text.clone();
    let mut shown = Vec::new();
    for held in &said.pictures {
        match seen(held) {
            Ok(image) => shown.push(Content::Image(image)),
            Err(line) => {
                if !(text.is_empty() || text.ends_with('\n')) {
                    text.push('\n');
                }
                text.push_str(&line);
            }
        }
    }
    let text = Some(text).filter(|it| !it.is_empty() || shown.is_empty());
    text.map(Content::Text).into_iter().chain(shown).collect()
}

/// A picture as the model sees it, or the line that stands in its place.
fn seen(Held { picture, sight }: &Held) -> Result<Image, String> {
    let name = match picture.name.as_str() {
        "" => "The picture",
        name => name,
    };
    let why = match sight {
        Sight::Seen(data) => {
            let (picture, data) = (picture.clone(), data.clone());
            return Ok(Image { picture, data });
        }
        Sight::Past => format!(
            "is not shown any more, because only the newest {MAX_PICTURES} pictures are; read it again to see it"
        ),
        Sight::Refused => "could not be shown, because the provider did not take it".to_owned(),
    };
    Err(format!("[{name} {why}]"))
}

fn result_of(asked: &Asked) -> ToolResult {
    let mut result = asked.result.clone().unwrap_or_else(|| ToolResult {
        id: asked.call.id.clone(),
        text: "This call has no result.".to_owned(),
        is_error: true,
        images: Vec::new(),
    });
    for held in &asked.pictures {
        match seen(held) {
            Ok(image) => result.images.push(image),
            Err(line) => {
                if !result.text.ends_with('\n') {
                    result.text.push('\n');
                }
                result.text.push_str(&line);
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The provider's own items that the next request has, of an answer without text and calls by `by`.
    fn kept(raw: Value, by: &str) -> Vec<Value> {
        let settings = Settings {
            provider: "p".into(),
            model: "m".into(),
            ..crate::session::settings_of_tests()
        };
        let answer = Answer {
            raw: Some(raw),
            ..Answer::new(0, by)
        };
        let history = [Entry::User("go".into()), Entry::Answer(answer)];
        let messages = build(&settings, &history).messages.into_iter();
        let raws = messages.filter_map(|it| match it {
            Message::Assistant { raw, .. } => Some(raw.unwrap_or_default()),
            Message::User(_) | Message::Results(_) => None,
        });
        raws.collect()
    }

    #[test]
    fn what_a_provider_began_by_itself_goes_back_to_it_and_thoughts_alone_do_not() {
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let search = json!({"type": "server_tool_use", "id": "1", "name": "web_search"});
        let paused = json!([thought, search]);
        assert_eq!(kept(paused.clone(), "p/m"), std::slice::from_ref(&paused));
        assert_eq!(kept(paused, "p/other"), Vec::<Value>::new());
        assert_eq!(kept(json!([thought]), "p/m"), Vec::<Value>::new());
        assert_eq!(
            kept(json!({"reasoning_content": "hm"}), "p/m"),
            Vec::<Value>::new()
        );
    }
}
