//! Looks for words in the memory.

use super::{Kept, MAX_NAME, line, sort};

/// The most facts that a search names.
const MOST: usize = 50;

/// The most characters of the line that is shown of a fact: with the dots that say that it was cut, 160 (spec 8.1).
const MOST_CHARACTERS: usize = 156;

/// The facts that have this in their name, description, tags or text, whatever the case.
pub fn search(kept: &[Kept], query: &str) -> String {
    let wanted = query.trim().to_lowercase();
    let has = |it: &str| it.to_lowercase().contains(&wanted);
    let mut found: Vec<Kept> = kept.to_vec();
    found.retain(|it| {
        let fact = &it.fact;
        has(&fact.name)
            || has(&fact.description)
            || has(&fact.body)
            || fact.tags.iter().any(|it| has(it))
    });
    sort(&mut found);
    if found.is_empty() {
        return format!("Nothing in memory has {:?}.", line(query, MAX_NAME));
    }
    let n_more = found.len().saturating_sub(MOST);
    let mut text = String::new();
    for it in found.iter().take(MOST) {
        let matching = it.fact.body.lines().find(|it| has(it));
        let shown = matching.unwrap_or(&it.fact.description);
        text += &format!(
            "- {} ({}, {}): {}\n",
            line(&it.fact.name, MAX_NAME),
            it.scope.id(),
            it.shown,
            line(shown, MOST_CHARACTERS)
        );
    }
    if n_more > 0 {
        text += &format!("[{n_more} more; search for something more exact]\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::kept;
    use super::*;
    use protocol::memory::MemoryScope;

    #[test]
    fn a_search_ignores_case_and_shows_one_line_of_each() {
        let all = [
            kept(
                MemoryScope::Shared,
                "deploy",
                "---\nname: Deploy\ndescription: How\n---\nfirst\nrun MAKE deploy\n",
            ),
            kept(
                MemoryScope::Global,
                "tools",
                "---\ntags: [make]\n---\nUse what is there.",
            ),
            kept(MemoryScope::Private, "other", "nothing"),
        ];
        assert_eq!(
            search(&all, " make "),
            "- tools (global, /m/global/tools.md): Use what is there.\n\
             - Deploy (shared, /m/shared/deploy.md): run MAKE deploy\n"
        );
        assert_eq!(search(&all, "absent"), "Nothing in memory has \"absent\".");
    }

    #[test]
    fn a_long_line_is_cut() {
        let all = [kept(
            MemoryScope::Private,
            "a",
            &format!("x {}", "y".repeat(500)),
        )];
        let found = search(&all, "X Y");
        assert!(found.chars().count() < 220, "{found}");
    }
}
