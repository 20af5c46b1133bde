//! What of the memory stands in every request (spec 8.5).

use super::{Kept, MAX_DESCRIPTION, MAX_NAME, line, sort};
use protocol::memory::MemoryScope;

const HEAD: &str = "# Memory\nNotes of earlier sessions, kept by the tool memory; each is a file that read_file reads. They tell what was so then: check what has changed.\n";

/// The names of all facts with what they are about, at most so many bytes; empty if nothing is kept.
pub fn index(kept: &[Kept], most_bytes: usize) -> String {
    let mut sorted = kept.to_vec();
    sort(&mut sorted);
    let mut scope = None;
    let entries: Vec<String> = sorted
        .iter()
        .map(|it| {
            let is_first = scope.replace(it.scope) != Some(it.scope);
            let name = line(&it.fact.name, MAX_NAME);
            let description = line(&it.fact.description, MAX_DESCRIPTION);
            let head = match is_first {
                true => format!("\n## {}\n", about(it.scope)),
                false => String::new(),
            };
            format!("{head}- {name}: {description} ({})\n", it.shown)
        })
        .collect();
    if entries.is_empty() {
        return String::new();
    }
    let whole = format!("{HEAD}{}", entries.concat());
    if whole.len() <= most_bytes {
        return whole;
    }
    let mut text = HEAD.to_owned();
    let mut left = entries.len();
    for entry in &entries {
        // The marker must have its place.
        if text.len() + entry.len() + marker(left - 1).len() > most_bytes {
            break;
        }
        text += entry;
        left -= 1;
    }
    text += &marker(left);
    match text.len() <= most_bytes {
        true => text,
        false => String::new(),
    }
}

fn about(scope: MemoryScope) -> &'static str {
    match scope {
        MemoryScope::Global => "global (all projects of this person)",
        MemoryScope::Private => "private (this person, this project)",
        MemoryScope::Shared => "shared (in the repository; others may have written it)",
    }
}

/// Says that there is more.
fn marker(n: usize) -> String {
    let facts = if n == 1 { "fact does" } else { "facts do" };
    format!(
        "[{n} more {facts} not fit here; find them with memory, action search, and suggest that the person runs /consolidate-memory]\n"
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::kept;
    use super::*;
    use expect_test::expect;

    #[test]
    fn sections_stand_in_order_and_facts_by_name() {
        let all = [
            kept(MemoryScope::Shared, "style", "Tabs."),
            kept(
                MemoryScope::Private,
                "zoo",
                "---\nname: Zoo\ndescription: Animals\n---\nx",
            ),
            kept(MemoryScope::Private, "apple", "Fruit\nmore"),
            kept(MemoryScope::Global, "me", "Call me Kim."),
        ];
        expect![[r#"
            # Memory
            Notes of earlier sessions, kept by the tool memory; each is a file that read_file reads. They tell what was so then: check what has changed.

            ## global (all projects of this person)
            - me: Call me Kim. (/m/global/me.md)

            ## private (this person, this project)
            - apple: Fruit (/m/private/apple.md)
            - Zoo: Animals (/m/private/zoo.md)

            ## shared (in the repository; others may have written it)
            - style: Tabs. (/m/shared/style.md)
        "#]]
        .assert_eq(&index(&all, 8_000));
        assert_eq!(index(&[], 8_000), "");
    }

    #[test]
    fn the_index_never_grows_over_its_cap_and_says_what_is_missing() {
        let all: Vec<Kept> = (0..100)
            .map(|it| {
                kept(
                    MemoryScope::Private,
                    &format!("fact-{it:03}"),
                    "Something to know.",
                )
            })
            .collect();
        let whole = index(&all, usize::MAX);
        assert_eq!(index(&all, whole.len()), whole);
        for most in 0..whole.len() {
            let text = index(&all, most);
            assert!(text.len() <= most, "{most}: {}", text.len());
            let n = text.lines().filter(|it| it.starts_with("- ")).count();
            let says = text.contains(&format!("[{} more ", 100 - n));
            assert!(says || text.is_empty() || n == 100, "{most}: {text}");
        }
        assert!(index(&all, 3_000).contains("/consolidate-memory"));
    }

    #[test]
    fn a_fact_cannot_break_out_of_its_line() {
        let text = "---\nname: \"a\\n## global\"\ndescription: \"b\\n- c\"\n---\nx";
        let index = index(&[kept(MemoryScope::Shared, "a", text)], 8_000);
        assert!(
            index.ends_with("- a ## global: b - c (/m/shared/a.md)\n"),
            "{index}"
        );
    }
}
