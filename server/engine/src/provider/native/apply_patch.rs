//! Rewrites calls of the provider's own tool.

use super::{Answer, Rewritten};

/// What a call becomes.
pub(super) fn rewrite(input: &str) -> Rewritten {
    Rewritten::Answer(Answer {
        text: format!("Not supported yet: {input}"),
        is_error: true,
    })
}
