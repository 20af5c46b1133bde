//! The file of a fact: YAML front matter, as far as we write it, and the text behind it.

use super::{Fact, MAX_DESCRIPTION, MAX_NAME, first_line, line};
use protocol::memory::MemoryScope;

/// What stands before and behind the front matter.
const FENCE: &str = "---";

/// Reads a file. Without front matter, or with one that does not end, all of it is the text (spec 8.4).
pub(super) fn read(stem: &str, text: &str) -> Fact {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut fact = Fact::default();
    let body = match split(text) {
        Some((head, body)) => {
            fact.take(&head);
            body
        }
        None => text,
    };
    body.trim_matches(['\n', '\r']).clone_into(&mut fact.body);
    if fact.name.is_empty() {
        stem.clone_into(&mut fact.name);
    }
    if fact.description.is_empty() {
        fact.description = line(first_line(&fact.body), MAX_DESCRIPTION);
    }
    fact
}

/// The file's text.
pub(super) fn write(fact: &Fact, scope: MemoryScope) -> String {
    let mut head = vec![
        format!("name: {}", scalar(&fact.name)),
        format!("description: {}", scalar(&fact.description)),
        format!("scope: {}", scope.id()),
    ];
    head.extend(fact.created.iter().map(|it| format!("created: {it}")));
    if !fact.tags.is_empty() {
        let tags: Vec<String> = fact.tags.iter().map(|it| scalar(it)).collect();
        head.push(format!("tags: [{}]", tags.join(", ")));
    }
    head.extend(fact.further.iter().cloned());
    let body = fact.body.trim_matches(['\n', '\r']);
    format!("{FENCE}\n{}\n{FENCE}\n{body}\n", head.join("\n"))
}

/// The lines of the front matter, and what is behind it.
fn split(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != FENCE {
        return None;
    }
    let (mut head, mut at) = (Vec::new(), first.len());
    for line in lines {
        at += line.len();
        match line.trim_end() {
            FENCE => return Some((head, &text[at..])),
            line => head.push(line),
        }
    }
    None
}

impl Fact {
    fn take(&mut self, head: &[&str]) {
        let mut lines = head.iter().peekable();
        while let Some(entry) = lines.next() {
            let field = entry.split_once(':');
            let field = field.map(|(key, value)| (key.trim_end(), value.trim()));
            let mut inner = Vec::new();
            while let Some(next) = lines.next_if(|it| it.starts_with([' ', '\t', '-'])) {
                inner.push(*next);
            }
            match field {
                Some(("name", value)) => self.name = line(&unquoted(value), MAX_NAME),
                Some(("description", value)) => {
                    let folded = matches!(value, "" | ">" | "|" | ">-" | "|-");
                    let value = match folded {
                        true => inner.join(" "),
                        false => unquoted(value),
                    };
                    self.description = line(&value, MAX_DESCRIPTION);
                }
                // Where it lies says it.
                Some(("scope", _)) => {}
                Some(("created", value)) => {
                    self.created = Some(unquoted(value)).filter(|it| !it.is_empty());
                }
                Some(("tags", "")) => {
                    let items = inner
                        .iter()
                        .map(|it| it.trim_start_matches([' ', '\t', '-']));
                    self.tags = items.map(unquoted).filter(|it| !it.is_empty()).collect();
                }
                Some(("tags", value)) => self.tags = list(value),
                Some(_) | None => {
                    self.further.push((*entry).to_owned());
                    self.further.extend(inner.into_iter().map(str::to_owned));
                }
            }
        }
    }
}

/// `[a, "b, c"]`, the brackets may be missing.
fn list(value: &str) -> Vec<String> {
    let inner = value.strip_prefix('[').unwrap_or(value);
    let inner = inner.strip_suffix(']').unwrap_or(inner);
    let (mut items, mut item, mut quote) = (Vec::new(), String::new(), None);
    let mut is_escaped = false;
    for it in inner.chars() {
        match quote {
            None if it == ',' => items.push(std::mem::take(&mut item)),
            None => {
                if matches!(it, '"' | '\'') && item.trim().is_empty() {
                    quote = Some(it);
                }
                item.push(it);
            }
            Some(open) => {
                if it == open && !is_escaped {
                    quote = None;
                }
                is_escaped = open == '"' && it == '\\' && !is_escaped;
                item.push(it);
            }
        }
    }
    items.push(item);
    let items = items.iter().map(|it| unquoted(it.trim()));
    items.filter(|it| !it.is_empty()).collect()
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    if let Some(inner) = value
        .strip_prefix('\'')
        .and_then(|it| it.strip_suffix('\''))
    {
        return inner.replace("''", "'");
    }
    if value.starts_with('"')
        && let Ok(text) = serde_json::from_str::<String>(value)
    {
        return text;
    }
    value.to_owned()
}

/// A text as YAML reads it back. JSON's strings are YAML's.
fn scalar(text: &str) -> String {
    let is_other = text.parse::<f64>().is_ok()
        || ["true", "false", "null", "yes", "no", "on", "off"]
            .contains(&text.to_lowercase().as_str());
    let is_plain = text.starts_with(char::is_alphanumeric)
        && text.trim() == text
        && !text.ends_with(':')
        && ![": ", " #", ",", "[", "]", "{", "}", "\"", "'"]
            .iter()
            .any(|it| text.contains(it))
        && !text.chars().any(char::is_control);
    match is_plain && !is_other {
        true => text.to_owned(),
        false => serde_json::Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn what_is_written_is_read_back() {
        let mut rng = Rng::with_seed(8);
        let pieces = [
            "a",
            "Zeile",
            " ",
            ": ",
            "#",
            " #",
            "'",
            "\"",
            "\\",
            ",",
            "[",
            "]",
            "---",
            "-",
            "12",
            "true",
            "é",
            "\u{1f600}",
        ];
        let text = |rng: &mut Rng| -> String {
            let n = rng.usize(1..6);
            (0..n).map(|_| pieces[rng.usize(..pieces.len())]).collect()
        };
        for _ in 0..5_000 {
            let one_line = |it: String| line(&it, MAX_NAME);
            let name = one_line(text(&mut rng));
            let fact = Fact {
                name: if name.is_empty() { "n".into() } else { name },
                description: format!("d{}", one_line(text(&mut rng))),
                created: rng.bool().then(|| "2026-01-02T03:04:05Z".to_owned()),
                tags: (0..rng.usize(..3))
                    .map(|_| format!("t{}", text(&mut rng).trim()))
                    .collect(),
                further: Vec::new(),
                body: format!("{}\n\n---\n{}.", text(&mut rng), text(&mut rng)),
            };
            let file = write(&fact, MemoryScope::Private);
            assert_eq!(read("stem", &file), fact, "{file}");
        }
    }

    #[test]
    fn a_hand_made_file_is_read_as_well_as_may_be() {
        let fact = read(
            "stem",
            "\u{feff}---\r\nname: 'It''s'\r\nauthor: me\r\ntags:\r\n  - a\r\n  - \"b c\"\r\n---\r\n\r\nFirst.\r\nSecond.\r\n",
        );
        assert_eq!(
            (fact.name.as_str(), fact.description.as_str()),
            ("It's", "First.")
        );
        assert_eq!(
            (fact.tags, fact.further),
            (
                vec!["a".into(), "b c".into()],
                vec!["author: me".to_owned()]
            )
        );
        assert_eq!(fact.body, "First.\r\nSecond.");
    }

    #[test]
    fn without_a_whole_front_matter_all_is_text() {
        for text in ["Just text.\nMore.", "---\nname: x\nJust text."] {
            let fact = read("stem", text);
            assert_eq!((fact.name.as_str(), fact.body.as_str()), ("stem", text));
        }
        assert_eq!(read("stem", "\n\n first \n").description, "first");
        assert_eq!(read("stem", "").description, "");
    }

    #[test]
    fn what_a_person_put_into_the_front_matter_stays() {
        let text =
            "---\nname: a\ndescription: d\nscope: private\nowner: me\nlinks:\n  - x\n---\nbody\n";
        assert_eq!(write(&read("a", text), MemoryScope::Private), text);
    }
}
