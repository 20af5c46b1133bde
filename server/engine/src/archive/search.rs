//! Words in what was said: every one must be there, case ignored.

use super::Message;

/// What is looked for. No words: all fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Vec<String>);

impl Words {
    /// Words apart at white space.
    pub fn new(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    pub fn are_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.0.iter().all(|it| text.contains(it.as_str()))
    }

    /// The lines around the first of them, as one line.
    fn excerpt(&self, text: &str) -> String {
        /// Characters before it, and in all.
        const BEFORE: usize = 40;
        const MOST: usize = 160;
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let characters: Vec<char> = text.chars().collect();
        // Lower case may be longer; characters stand one for one in nearly every text.
        let lower: String = characters
            .iter()
            .map(|it| it.to_lowercase().next().unwrap_or(*it))
            .collect();
        let at = self.0.iter().filter_map(|it| lower.find(it.as_str())).min();
        let at = at.map_or(0, |it| lower[..it].chars().count());
        let start = at.saturating_sub(BEFORE);
        let end = (start + MOST).min(characters.len());
        let before = if start > 0 { "..." } else { "" };
        let after = if end < characters.len() { "..." } else { "" };
        let shown: String = characters[start..end].iter().collect();
        format!("{before}{shown}{after}")
    }
}

/// Where a session has what was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The number of the message; none where only the title fits.
    pub message: Option<u64>,
    pub excerpt: String,
}

/// The newest message with all of the words, else the title that has them; else, where the words are spread over the session,
/// its newest message with one of them.
pub fn search(words: &Words, title: &str, messages: &[Message]) -> Option<Hit> {
    let hit = |it: &Message| Hit {
        message: Some(it.number),
        excerpt: words.excerpt(&it.text),
    };
    if let Some(found) = messages.iter().rfind(|it| words.are_in(&it.text)) {
        return Some(hit(found));
    }
    if words.are_in(title) {
        return Some(Hit {
            message: None,
            excerpt: title.to_owned(),
        });
    }
    let texts = messages.iter().map(|it| it.text.to_lowercase());
    let texts: Vec<String> = texts.collect();
    let title = title.to_lowercase();
    let has = |word: &String| title.contains(word) || texts.iter().any(|it| it.contains(word));
    if !words.0.iter().all(has) {
        return None;
    }
    let has_one = |text: &String| words.0.iter().any(|word| text.contains(word));
    let at = texts.iter().rposition(has_one)?;
    messages.get(at).map(hit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::messages;
    use crate::archive::tests::{said, user};

    #[test]
    fn every_word_must_be_there_and_the_newest_message_is_named() {
        let records = [
            user("Why is the Total wrong?"),
            said(0, "The tax was added twice."),
            user("and the TOTAL now?"),
        ];
        let all = messages(records.iter());
        let found = |words: &str| search(&Words::new(words), "Sums", &all).map(|it| it.message);
        assert_eq!(found("total"), Some(Some(3)));
        assert_eq!(found("WRONG total"), Some(Some(1)));
        assert_eq!(found("sums"), Some(None));
        assert_eq!(found("tax wrong"), Some(Some(2)));
        assert_eq!(found("tax missing"), None);
    }

    #[test]
    fn an_excerpt_is_around_the_word() {
        let text = format!("{} needle\n{}", "a ".repeat(100), "b ".repeat(100));
        let excerpt = Words::new("NEEDLE").excerpt(&text);
        assert!(
            excerpt.starts_with("...") && excerpt.ends_with("..."),
            "{excerpt}"
        );
        assert!(excerpt.contains(" needle b"), "{excerpt}");
        assert_eq!(excerpt.chars().count(), 166);
    }
}
