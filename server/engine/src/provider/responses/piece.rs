//! The events that come by the thousand, read in place: the next piece of an item.

use std::borrow::Cow;

use serde::Deserialize;

/// An event with a `delta`. Whatever has not exactly this shape is read as any other event is.
#[derive(Deserialize)]
pub struct Piece<'a> {
    pub r#type: &'a str,
    pub output_index: Option<u64>,
    #[serde(borrow)]
    pub item_id: Cow<'a, str>,
    #[serde(borrow)]
    pub delta: Cow<'a, str>,
    #[serde(default)]
    pub summary_index: u64,
    #[serde(default)]
    pub content_index: u64,
}
