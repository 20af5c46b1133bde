//! What a call asks of the memory, and what of its files it changes.

use super::{Fact, Kept, MAX_CONTENT_BYTES, MAX_DESCRIPTION, MAX_NAME, find, first_line};
use super::{front_matter, line, slug, title};
use crate::redact::redact;
use protocol::memory::{MemoryAction, MemoryCall, MemoryScope};
use std::path::PathBuf;

/// What is asked, as far as it can be told without looking at what is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    Remember {
        /// Missing: its first words.
        name: Option<String>,
        scope: MemoryScope,
        text: Text,
    },
    Update {
        id: String,
        text: Text,
    },
    Forget {
        id: String,
        /// Missing: the first that has the name.
        scope: Option<MemoryScope>,
    },
    Search {
        query: String,
    },
}

/// What a fact says from now on. What is missing stays as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    pub content: String,
    pub description: Option<String>,
    pub tags: Option<Vec<String>>,
}

impl Wish {
    /// What the person is shown, and the rules of the person's are compared with.
    pub fn title(&self) -> String {
        match self {
            Self::Remember { name, text, .. } => {
                let name = name.clone().unwrap_or_else(|| title(&text.content));
                format!("Remember {name}")
            }
            Self::Update { id, .. } => format!("Update what is remembered as {id}"),
            Self::Forget { id, .. } => format!("Forget {id}"),
            Self::Search { query } => format!("Search memory for {query}"),
        }
    }
}

/// Reads a call of the model's. The error is for the model.
pub fn wish(call: MemoryCall) -> Result<Wish, String> {
    let needs = |what: &str| {
        let action = match call.action {
            MemoryAction::Remember => "remember",
            MemoryAction::Update => "update",
            MemoryAction::Forget => "forget",
            MemoryAction::Search => "search",
        };
        format!("memory needs {what} for action {action}. Nothing was done.")
    };
    let given = |it: &Option<String>| {
        let text = it.as_deref().map(str::trim).unwrap_or_default();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let id = given(&call.id).or_else(|| given(&call.name));
    let text = |content| Text {
        content,
        description: given(&call.description),
        tags: call.tags.clone(),
    };
    match call.action {
        MemoryAction::Remember => {
            let (Some(name), Some(content)) = (given(&call.name), given(&call.content)) else {
                return Err(needs("name and content"));
            };
            Ok(Wish::Remember {
                name: Some(name),
                scope: match (call.global, call.shared) {
                    (true, _) => MemoryScope::Global,
                    (false, true) => MemoryScope::Shared,
                    (false, false) => MemoryScope::Private,
                },
                text: text(content),
            })
        }
        MemoryAction::Update => match (id, given(&call.content)) {
            (Some(id), Some(content)) => {
                let text = text(content);
                Ok(Wish::Update { id, text })
            }
            (None, _) | (_, None) => Err(needs("id (or name) and content")),
        },
        MemoryAction::Forget => match id {
            Some(id) => Ok(Wish::Forget { id, scope: None }),
            None => Err(needs("id (or name)")),
        },
        MemoryAction::Search => match given(&call.query) {
            Some(query) => Ok(Wish::Search { query }),
            None => Err(needs("query")),
        },
    }
}

/// A file that is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub scope: MemoryScope,
    /// The fact's name.
    pub name: String,
    /// The file's name in its folder.
    pub file: String,
    pub text: String,
    /// Whether there was a fact before.
    pub is_update: bool,
    /// The file that is gone then: the fact was in one that is not named after it.
    pub moved_from: Option<PathBuf>,
}

/// Keeps a fact; one of this name in this scope is replaced, and keeps its tags unless there are others, and when it was
/// made. `now`: RFC 3339. The error is for whoever asked.
pub fn remember(
    kept: &[Kept],
    scope: MemoryScope,
    name: Option<&str>,
    text: &Text,
    now: &str,
) -> Result<Change, String> {
    check(&text.content)?;
    let name = match name {
        Some(name) => one_name(name)?,
        None => free_name(kept, scope, title(&text.content))?,
    };
    let is_it = |it: &&Kept| it.scope == scope && it.fact.name == name;
    let old = kept.iter().find(is_it);
    let fact = Fact {
        description: description(text),
        created: match old {
            Some(old) => old.fact.created.clone(),
            None => Some(now.to_owned()),
        },
        tags: tags(text).unwrap_or_else(|| old.map(|it| it.fact.tags.clone()).unwrap_or_default()),
        further: old.map(|it| it.fact.further.clone()).unwrap_or_default(),
        body: redact(text.content.trim()).into_owned(),
        name,
    };
    written(kept, scope, old, fact)
}

/// Gives a fact another text. Its name, scope, tags, description and the time at which it was made stay unless they are given
/// (spec 8.3, 8.3a).
pub fn update(kept: &[Kept], id: &str, text: &Text) -> Result<Change, String> {
    check(&text.content)?;
    let old = find(kept, id, None)?;
    let fact = Fact {
        name: old.fact.name.clone(),
        description: match &text.description {
            Some(_) => description(text),
            None => old.fact.description.clone(),
        },
        created: old.fact.created.clone(),
        tags: tags(text).unwrap_or_else(|| old.fact.tags.clone()),
        further: old.fact.further.clone(),
        body: redact(text.content.trim()).into_owned(),
    };
    written(kept, old.scope, Some(old), fact)
}

/// The fact that is to go.
pub fn forget<'a>(
    kept: &'a [Kept],
    id: &str,
    scope: Option<MemoryScope>,
) -> Result<&'a Kept, String> {
    find(kept, id, scope)
}

/// Two names can have one file name; the second would take the first one's place.
fn written(
    kept: &[Kept],
    scope: MemoryScope,
    old: Option<&Kept>,
    fact: Fact,
) -> Result<Change, String> {
    let stem = slug(&fact.name);
    if let Some(other) = taken(kept, scope, &stem)
        && old.is_none_or(|it| it.path != other.path)
    {
        return Err(format!(
            "{:?} would be kept in {stem}.md, which holds {:?} already. Update that one, or take a name that differs in its letters or \
             digits. Nothing was done.",
            fact.name, other.fact.name
        ));
    }
    let file = format!("{stem}.md");
    Ok(Change {
        scope,
        text: front_matter::write(&fact, scope),
        is_update: old.is_some(),
        moved_from: old.filter(|it| it.stem != stem).map(|it| it.path.clone()),
        name: fact.name,
        file,
    })
}

/// The fact whose file has this name; on some disks the case makes no difference.
fn taken<'a>(kept: &'a [Kept], scope: MemoryScope, stem: &str) -> Option<&'a Kept> {
    let mut here = kept.iter().filter(|it| it.scope == scope);
    here.find(|it| it.stem.to_lowercase() == stem)
}

fn check(content: &str) -> Result<(), String> {
    if content.trim().is_empty() {
        return Err("There is nothing to remember: the content is empty.".to_owned());
    }
    match content.len() > MAX_CONTENT_BYTES {
        true => Err(format!(
            "A fact has at most {MAX_CONTENT_BYTES} bytes; keep it short, or put it into a file of the project and remember where that is."
        )),
        false => Ok(()),
    }
}

fn one_name(name: &str) -> Result<String, String> {
    let name = line(name, usize::MAX);
    match (name.is_empty(), name.chars().count() > MAX_NAME) {
        (true, _) => Err("The name is empty; give the fact a short one.".to_owned()),
        (_, true) => Err(format!(
            "The name is longer than {MAX_NAME} characters; give the fact a short one."
        )),
        (false, false) => Ok(name),
    }
}

/// A name that nobody chose takes no other fact's place: it gets a number.
fn free_name(kept: &[Kept], scope: MemoryScope, name: String) -> Result<String, String> {
    let name = one_name(&name)?;
    let numbered = (2..).map(|it| format!("{name} {it}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let is_free = |it: &String| taken(kept, scope, &slug(it)).is_none();
    // There are fewer facts than numbers, and each number is another name.
    Ok(names.find(is_free).unwrap_or_default())
}

fn description(text: &Text) -> String {
    let given = text.description.as_deref();
    let given = given.filter(|it| !it.trim().is_empty());
    line(given.unwrap_or(first_line(&text.content)), MAX_DESCRIPTION)
}

fn tags(text: &Text) -> Option<Vec<String>> {
    let tags = text.tags.as_ref()?.iter();
    let tags = tags.map(|it| line(it, MAX_NAME));
    Some(tags.filter(|it| !it.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::kept;
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    const NOW: &str = "2026-12-01T00:00:00Z";

    fn text(content: &str) -> Text {
        Text {
            content: content.to_owned(),
            ..Text::default()
        }
    }

    fn old() -> Kept {
        let text = "---\nname: Build\ndescription: How to build\ncreated: 2026-01-01T00:00:00Z\ntags: [a, b]\n---\nmake\n";
        kept(MemoryScope::Private, "build", text)
    }

    #[test]
    fn a_fact_is_written_with_its_front_matter() {
        let said = Text {
            tags: Some(vec!["x".into()]),
            ..text("\nRun `make check`.\nIt takes long.\n")
        };
        let change = remember(&[], MemoryScope::Shared, Some("How to build"), &said, NOW).unwrap();
        assert_eq!(
            (change.file.as_str(), change.is_update),
            ("how-to-build.md", false)
        );
        expect![[r#"
            ---
            name: How to build
            description: Run `make check`.
            scope: shared
            created: 2026-12-01T00:00:00Z
            tags: [x]
            ---
            Run `make check`.
            It takes long.
        "#]]
        .assert_eq(&change.text);
    }

    #[test]
    fn an_update_keeps_tags_description_and_when_the_fact_was_made() {
        let kept = [old()];
        for change in [
            update(&kept, "build", &text("ninja")).unwrap(),
            update(&kept, "Build", &text("ninja")).unwrap(),
        ] {
            assert_eq!((change.is_update, &change.moved_from), (true, &None));
            let fact = Fact::read("build", &change.text);
            assert_eq!(fact.body, "ninja");
            assert_eq!(
                Fact {
                    body: "make".into(),
                    ..fact
                },
                kept[0].fact
            );
        }
        let other = Text {
            description: Some("New".into()),
            tags: Some(Vec::new()),
            ..text("ninja")
        };
        let fact = Fact::read("", &update(&kept, "build", &other).unwrap().text);
        assert_eq!((fact.description.as_str(), fact.tags.len()), ("New", 0));
    }

    #[test]
    fn remembering_a_name_again_replaces_its_text_and_keeps_when_it_was_made() {
        let change = remember(
            &[old()],
            MemoryScope::Private,
            Some("Build"),
            &text("ninja"),
            NOW,
        );
        let change = change.unwrap();
        let fact = Fact::read("", &change.text);
        assert!(change.is_update);
        assert_eq!(fact.created.as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!((fact.tags.len(), fact.description.as_str()), (2, "ninja"));
    }

    #[test]
    fn two_names_with_one_file_name_are_refused_with_the_way_out() {
        let kept = [old()];
        let error = remember(&kept, MemoryScope::Private, Some("build!"), &text("x"), NOW);
        expect![[r#""build!" would be kept in build.md, which holds "Build" already. Update that one, or take a name that differs in its letters or digits. Nothing was done."#]]
            .assert_eq(&error.unwrap_err());
        // Another scope is another folder.
        assert!(remember(&kept, MemoryScope::Global, Some("build!"), &text("x"), NOW).is_ok());
    }

    #[test]
    fn a_file_that_was_named_by_hand_moves_to_its_facts_name() {
        let hand = kept(
            MemoryScope::Private,
            "Notes 1",
            "---\nname: Release\n---\nold",
        );
        let change = update(std::slice::from_ref(&hand), "Notes 1", &text("new")).unwrap();
        assert_eq!(change.file, "release.md");
        assert_eq!(change.moved_from, Some(hand.path.clone()));
        // Not onto another fact.
        let taken = [hand, kept(MemoryScope::Private, "release", "other")];
        assert!(update(&taken, "Notes 1", &text("new")).is_err());
    }

    #[test]
    fn a_fact_that_nobody_named_never_takes_anothers_place() {
        let said = text("We build with make, not with ninja at all, says Kim");
        let first = remember(&[], MemoryScope::Private, None, &said, NOW).unwrap();
        assert_eq!(first.name, "We build with make, not with ninja at");
        let stem = first.file.strip_suffix(".md").unwrap();
        let there = [kept(MemoryScope::Private, stem, &first.text)];
        let second = remember(&there, MemoryScope::Private, None, &said, NOW).unwrap();
        assert_eq!(second.name, "We build with make, not with ninja at 2");
    }

    #[test]
    fn secrets_are_masked_before_anything_is_written_and_before_the_file_is_named() {
        let secret = &["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
        let said = Text {
            content: format!("Use {secret} there."),
            description: Some(format!("The token {secret}")),
            tags: Some(vec![secret.to_owned()]),
        };
        let name = format!("token {secret}");
        let change = remember(&[], MemoryScope::Global, Some(&name), &said, NOW).unwrap();
        assert!(
            !format!("{change:?}").contains("0123456789abcdef"),
            "{change:?}"
        );
    }

    #[test]
    fn a_call_that_lacks_something_is_told_what() {
        let read = |value| wish(serde_json::from_value(value).unwrap());
        for value in [
            json!({"action": "remember", "name": "x"}),
            json!({"action": "remember", "name": " ", "content": "y"}),
            json!({"action": "update", "name": "x"}),
            json!({"action": "update", "content": "x"}),
            json!({"action": "forget"}),
            json!({"action": "search", "query": ""}),
        ] {
            let error = read(value).unwrap_err();
            assert!(error.starts_with("memory needs "), "{error}");
        }
        let both = json!({"action": "remember", "name": "x", "content": "y", "shared": true, "global": true});
        let Ok(Wish::Remember { scope, .. }) = read(both) else {
            panic!("it is whole")
        };
        assert_eq!(scope, MemoryScope::Global);
        let named = read(json!({"action": "forget", "name": "x"})).unwrap();
        assert_eq!(
            named,
            Wish::Forget {
                id: "x".into(),
                scope: None
            }
        );
    }
}
