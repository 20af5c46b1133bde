//! The parts of a chunk that are read, in types that borrow from it and take what servers make of them. What is not
//! named here is passed over.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::provider::Usage;
use crate::provider::tally::Sums;

/// A `chat.completion.chunk`, or a whole `chat.completion`.
#[derive(Deserialize)]
pub struct Chunk<'a> {
    #[serde(borrow, default)]
    pub choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub object: Text<'a>,
}

#[derive(Deserialize)]
pub struct Choice<'a> {
    #[serde(borrow, default)]
    pub delta: Option<Delta<'a>>,
    /// What stands here instead of `delta` in a whole completion.
    #[serde(borrow, default)]
    pub message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub finish_reason: Text<'a>,
    /// OpenRouter's place for an error of this choice.
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub struct Delta<'a> {
    #[serde(borrow, default)]
    pub content: Content<'a>,
    #[serde(borrow, default)]
    pub refusal: Text<'a>,
    /// DeepSeek's, llama.cpp's and xAI's spelling of thinking.
    #[serde(borrow, default)]
    pub reasoning_content: Text<'a>,
    /// Groq's, OpenRouter's and vLLM's. Some send both, with the same text.
    #[serde(borrow, default)]
    pub reasoning: Text<'a>,
    /// OpenRouter's, beside `reasoning`.
    #[serde(borrow, default)]
    pub reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub tool_calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Deserialize)]
pub struct ToolCall<'a> {
    #[serde(default)]
    pub index: Option<u64>,
    #[serde(borrow, default)]
    pub id: Text<'a>,
    #[serde(borrow, default)]
    pub function: Option<Function<'a>>,
    /// Gemini's place for the signature of its thought.
    #[serde(borrow, default)]
    pub extra_content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
pub struct Function<'a> {
    #[serde(borrow, default)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

impl Function<'_> {
    /// The arguments' text. Some servers send the object itself instead.
    pub fn arguments(&self) -> Cow<'_, str> {
        let Some(raw) = self.arguments else {
            return Cow::Borrowed("");
        };
        match serde_json::from_str(raw.get()) {
            Ok(Text(Cow::Borrowed(""))) if !raw.get().starts_with('"') => Cow::Borrowed(raw.get()),
            Ok(Text(text)) => text,
            Err(_) => Cow::Borrowed(raw.get()),
        }
    }
}

/// A text where one belongs. Null and anything else count as an empty one; of a list of parts, it is the texts.
#[derive(Debug, Default)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        let content = deserializer.deserialize_any(ContentVisitor)?;
        Ok(Text(content.text))
    }
}

/// What a message says. Mistral puts parts with its thinking in there.
#[derive(Debug, Default)]
pub struct Content<'a> {
    pub text: Cow<'a, str>,
    pub thought: Cow<'a, str>,
}

impl<'a> Content<'a> {
    fn of(text: Cow<'a, str>) -> Content<'a> {
        Content {
            text,
            thought: Cow::Borrowed(""),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content<'a>, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de>, E> {
        Ok(Content::of(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Content<'de>, E> {
        Ok(Content::of(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Content<'de>, E> {
        Ok(Content::of(Cow::Borrowed("")))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Content<'de>, E> {
        Ok(Content::of(Cow::Borrowed("")))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Content<'de>, E> {
        Ok(Content::of(Cow::Borrowed("")))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Content<'de>, E> {
        Ok(Content::of(Cow::Borrowed("")))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Content<'de>, E> {
        Ok(Content::of(Cow::Borrowed("")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::of(Cow::Borrowed("")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content<'de>, A::Error> {
        #[derive(Deserialize)]
        struct Part<'a> {
            #[serde(borrow, default)]
            text: Text<'a>,
            #[serde(borrow, default)]
            thinking: Text<'a>,
        }
        let (mut text, mut thought) = (String::new(), String::new());
        while let Some(part) = parts.next_element::<Part<'de>>()? {
            text += &part.text.0;
            thought += &part.thinking.0;
        }
        Ok(Content {
            text: Cow::Owned(text),
            thought: Cow::Owned(thought),
        })
    }
}

/// Reads a `usage` object; nothing if it is not one.
pub fn usage(raw: &RawValue) -> Option<Usage> {
    #[derive(Deserialize)]
    struct Wire {
        prompt_tokens: Option<u64>,
        completion_tokens: Option<u64>,
        total_tokens: Option<u64>,
        prompt_tokens_details: Option<Prompt>,
        completion_tokens_details: Option<Completion>,
        /// DeepSeek's spelling, older than the details.
        prompt_cache_hit_tokens: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Prompt {
        cached_tokens: Option<u64>,
        /// OpenAI's and OpenRouter's.
        cache_write_tokens: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Completion {
        reasoning_tokens: Option<u64>,
    }
    let wire: Wire = serde_json::from_str(raw.get()).ok()?;
    let cached = wire
        .prompt_tokens_details
        .as_ref()
        .and_then(|it| it.cached_tokens)
        .or(wire.prompt_cache_hit_tokens);
    let sums = Sums {
        read: wire.prompt_tokens.unwrap_or(0),
        written: wire.completion_tokens.unwrap_or(0),
        total: wire.total_tokens,
        cached: cached.unwrap_or(0),
        cache_write: wire
            .prompt_tokens_details
            .and_then(|it| it.cache_write_tokens)
            .unwrap_or(0),
        reasoning: wire
            .completion_tokens_details
            .and_then(|it| it.reasoning_tokens)
            .unwrap_or(0),
    };
    Some(sums.parts())
}
