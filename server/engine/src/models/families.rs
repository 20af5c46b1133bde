//! Windows of model families, for models that no list has: a new one of a known family, or no list at all (BUG-103).
//!
//! Numbers are those that the vendors publish, as models.dev lists them (looked up on 2026-12-01): tokens that can be
//! read. Where a family's models differ, the least counts: a window that is taken for too small is compacted early, one
//! that is taken for too large never.

/// What is known of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    pub tokens: u64,
    /// The vendor publishes how much of the window can be read, and lists are known to count the answer in.
    pub is_exact: bool,
}

/// Beginnings of ids. The longest that fits counts.
const FAMILIES: &[(&str, u64, bool)] = &[
    ("claude", 200_000, false),
    ("claude-opus-4-6", 1_000_000, false),
    ("claude-opus-4-7", 1_000_000, false),
    ("claude-opus-4-8", 1_000_000, false),
    ("claude-opus-5", 1_000_000, false),
    ("claude-sonnet-4-6", 1_000_000, false),
    ("claude-sonnet-5", 1_000_000, false),
    ("claude-fable-5", 1_000_000, false),
    ("gpt-4.1", 1_047_576, false),
    ("gpt-5", 272_000, false),
    ("gpt-5.4", 922_000, true),
    ("gpt-5.5", 922_000, true),
    ("gpt-5.6", 922_000, true),
    ("gpt-6", 922_000, true),
    ("o3", 200_000, false),
    ("gemini-2.5", 1_048_576, false),
    ("gemini-3", 1_048_576, false),
    ("muse-spark", 1_048_576, false),
];

/// The family of a model, by its name at a provider. A vendor's name before it, as in `openai/gpt-6`, does not matter.
pub(super) fn of(model: &str) -> Option<Family> {
    let id = model.rsplit('/').next().unwrap_or(model);
    // A tag names a local build, whose window is what it is loaded with.
    if id.contains(':') {
        return None;
    }
    let fits = |family: &str| {
        id.strip_prefix(family)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '@']))
    };
    FAMILIES
        .iter()
        .filter(|(family, ..)| fits(family))
        .max_by_key(|(family, ..)| family.len())
        .map(|(_, tokens, is_exact)| Family {
            tokens: *tokens,
            is_exact: *is_exact,
        })
}
