//! Models by name, and what is known of each: its window, its price, how hard it can think.
//!
//! Pure: the host fetches and keeps the catalogue and asks providers for their lists.

mod catalogue;
mod families;
mod listing;
mod name;

pub use catalogue::{Catalogue, Model, reduce};
pub use listing::{Listed, list_of, list_request};
pub use name::{ModelName, configured, find, own, reasoning};

/// Tokens that a model can read, if they are known: as it is listed by its id, then as the person has configured it, then
/// as its family has it (BUG-103). What a family is known to have is never exceeded by a list that counts the answer in.
pub fn window(listed: Option<&Model>, configured: Option<u64>, model: &str) -> Option<u64> {
    let family = families::of(model);
    match listed.and_then(|it| it.window) {
        Some(tokens) => Some(match family {
            Some(family) if family.is_exact => tokens.min(family.tokens),
            Some(_) | None => tokens,
        }),
        None => configured.or(family.map(|it| it.tokens)),
    }
}

#[cfg(test)]
mod tests;
