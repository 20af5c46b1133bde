//! Words in what was said: every one must be there, case ignored.

/// What is looked for. No words: all fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Vec<String>);

impl Words {
    /// Words apart at white space.
    pub fn new(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    /// In small letters.
    pub fn each(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn are_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.0.iter().all(|it| text.contains(it.as_str()))
    }

    /// The lines around the first of them, as one line.
    pub fn excerpt(&self, text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

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
