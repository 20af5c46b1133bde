//! The events that come by the thousand, read in place: the next piece of a text, a thought or a call's input.

use std::borrow::Cow;

use serde::Deserialize;

/// A `content_block_delta`. Whatever has not exactly this shape is read as any other event is.
#[derive(Deserialize)]
pub struct Piece<'a> {
    pub r#type: &'a str,
    #[serde(default)]
    pub index: u64,
    #[serde(borrow)]
    pub delta: Delta<'a>,
}

#[derive(Deserialize)]
pub struct Delta<'a> {
    pub r#type: &'a str,
    #[serde(borrow, default)]
    pub text: Cow<'a, str>,
    #[serde(borrow, default)]
    pub thinking: Cow<'a, str>,
    #[serde(borrow, default)]
    pub partial_json: Cow<'a, str>,
}
