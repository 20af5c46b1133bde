//! The lines that come by the thousand, read in place: one with the next piece of a text or a thought.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A line. Whatever has not exactly this shape is read as any other line is.
#[derive(Deserialize)]
pub struct Piece<'a> {
    #[serde(borrow)]
    pub message: Message<'a>,
    #[serde(default)]
    done: bool,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub struct Message<'a> {
    #[serde(borrow, default)]
    pub content: Cow<'a, str>,
    #[serde(borrow, default)]
    pub thinking: Cow<'a, str>,
    tool_calls: Option<IgnoredAny>,
}

impl Piece<'_> {
    /// Whether it says nothing but its text and its thought.
    pub fn is_text(&self) -> bool {
        !self.done && self.error.is_none() && self.message.tool_calls.is_none()
    }
}
