//! The responses that come by the thousand, read in place: one that carries texts and thoughts and nothing else.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::end::Counts;

/// A response. Whatever has not exactly this shape is read as any other response is.
#[derive(Deserialize)]
pub struct Piece<'a> {
    #[serde(borrow)]
    pub candidates: [Candidate<'a>; 1],
    #[serde(rename = "usageMetadata", default)]
    pub usage: Counts,
    #[serde(rename = "promptFeedback")]
    pub feedback: Option<IgnoredAny>,
    pub error: Option<IgnoredAny>,
}

impl Piece<'_> {
    /// Whether it says nothing but its texts.
    pub fn is_text(&self) -> bool {
        let [candidate] = &self.candidates;
        self.feedback.is_none() && self.error.is_none() && candidate.finish.is_none()
    }
}

#[derive(Deserialize)]
pub struct Candidate<'a> {
    #[serde(borrow)]
    pub content: Content<'a>,
    #[serde(rename = "finishReason")]
    finish: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub struct Content<'a> {
    #[serde(borrow)]
    pub parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part<'a> {
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    pub thought: Option<bool>,
}
