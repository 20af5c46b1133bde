//! What a prompt mentions with `@`: files, the selection, problems, the diff, symbols.
//!
//! Pure: which words are mentions, and how what they stand for is put behind the prompt. The prompt itself stays as the
//! person wrote it.

/// The most mentions of a prompt that are looked at.
const MOST: usize = 32;

/// What a word stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mention {
    /// A file or a folder, perhaps some of its lines, counted from 1. Only if there is one.
    Path {
        path: String,
        lines: Option<(u32, u32)>,
    },
    Selection,
    Diagnostics,
    /// What has changed since the last commit.
    Diff,
    Symbol(String),
}

/// The mentions of a text, in order, each once.
pub fn find(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut before = ' ';
    let mut rest = text;
    while let Some(it) = rest.chars().next() {
        let is_begin = before.is_whitespace() || "([{\"'`,;".contains(before);
        rest = &rest[it.len_utf8()..];
        before = it;
        if it == '@' && is_begin {
            let (mention, len) = read(rest);
            if let Some(mention) = mention.filter(|it| !found.contains(it)) {
                found.push(mention);
            }
            before = rest[..len].chars().next_back().unwrap_or(it);
            rest = &rest[len..];
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// The mention that stands behind an `@`, and how many bytes it takes.
fn read(rest: &str) -> (Option<Mention>, usize) {
    if let Some(quoted) = rest.strip_prefix('"') {
        let Some(end) = quoted
            .find(['"', '\n'])
            .filter(|it| quoted[*it..].starts_with('"'))
        else {
            return (None, 0);
        };
        let (path, after) = (&quoted[..end], &quoted[end + 1..]);
        let tail = &after[..word(after)];
        let lines = tail.strip_prefix(':').and_then(lines);
        let len = end + 2 + if lines.is_some() { tail.len() } else { 0 };
        let path = path.to_owned();
        return (
            (!path.trim().is_empty()).then_some(Mention::Path { path, lines }),
            len,
        );
    }
    let len = word(rest);
    let word = &rest[..len];
    let mention = match word {
        "" => None,
        "selection" => Some(Mention::Selection),
        "diagnostics" => Some(Mention::Diagnostics),
        "diff" => Some(Mention::Diff),
        word => Some(match word.strip_prefix("symbol:") {
            Some("") => return (None, len),
            Some(name) => Mention::Symbol(name.to_owned()),
            None => {
                let cut = word
                    .rsplit_once(':')
                    .and_then(|(path, tail)| Some((path, lines(tail)?)));
                let (path, lines) = cut.map_or((word, None), |(path, lines)| (path, Some(lines)));
                let path = path.to_owned();
                Mention::Path { path, lines }
            }
        }),
    };
    (mention, len)
}

/// Bytes of a word, without the punctuation of the sentence that it stands in.
fn word(text: &str) -> usize {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let closing = |it: char| ".,;:!?)]}\"'`".contains(it);
    text[..end].trim_end_matches(closing).len()
}

/// `10` or `10-20`.
fn lines(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first >= 1 && first <= last).then_some((first, last))
}

/// A text under its name, between fences that it cannot end.
pub fn quoted(name: &str, text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "{name}:\n{fence}\n{}\n{fence}",
        text.strip_suffix('\n').unwrap_or(text)
    )
}

/// The beginning and the end of a text that is longer than so many bytes.
pub fn head_and_tail(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(most - most / 4)];
    let tail = &text[text.ceil_char_boundary(text.len() - most / 4)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[... {left_out} bytes left out here ...]\n{tail}")
}

/// Lines of a text, counted from 1; what lies behind its end is left out.
pub fn range(text: &str, (first, last): (u32, u32)) -> String {
    let (first, last) = (first as usize, last as usize);
    let lines = text
        .split_inclusive('\n')
        .skip(first - 1)
        .take(last - first + 1);
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str, lines: Option<(u32, u32)>) -> Mention {
        let path = path.to_owned();
        Mention::Path { path, lines }
    }

    #[test]
    fn mentions_are_words_that_begin_with_an_at() {
        let found = find(
            "Look at @src/a.rs, @src/b.rs:10-20. (@\"my notes.md\":3) and @a.rs:7\n@selection @diff @diagnostics? @symbol:main!",
        );
        assert_eq!(
            found,
            [
                path("src/a.rs", None),
                path("src/b.rs", Some((10, 20))),
                path("my notes.md", Some((3, 3))),
                path("a.rs", Some((7, 7))),
                Mention::Selection,
                Mention::Diff,
                Mention::Diagnostics,
                Mention::Symbol("main".to_owned()),
            ]
        );
    }

    #[test]
    fn what_only_looks_like_a_mention_is_none() {
        assert_eq!(find("me@example.org, a@b, @, @ x, @\"\", @\"open"), []);
        assert_eq!(find("@a.rs @a.rs"), [path("a.rs", None)]);
        assert_eq!(find("@a.rs:20-10"), [path("a.rs:20-10", None)]);
    }

    #[test]
    fn a_quoted_text_cannot_end_its_fence() {
        assert_eq!(quoted("a", "x\n"), "a:\n```\nx\n```");
        assert_eq!(quoted("a", "````\n"), "a:\n`````\n````\n`````");
    }

    #[test]
    fn of_a_long_text_head_and_tail_stay() {
        let text = format!("{}é{}", "a".repeat(100), "z".repeat(100));
        let cut = head_and_tail(&text, 40);
        assert!(
            cut.starts_with(&"a".repeat(30)) && cut.ends_with(&"z".repeat(10)),
            "{cut}"
        );
        assert!(cut.contains("[... 162 bytes left out here ...]"), "{cut}");
        assert_eq!(range("a\nb\nc", (2, 9)), "b\nc");
        assert_eq!(range("a", (2, 2)), "");
    }
}
