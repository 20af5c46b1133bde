//! Takes secrets out of a text.

use std::borrow::Cow;

pub fn redact(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}
