//! Names of facts, and the names of their files.

use super::{first_line, line};

/// The most bytes of a file's name, `.md` aside.
const MAX_SLUG: usize = 100;

/// A name as a file's, without `.md`: lower case, what is neither letter nor digit is one `-` (spec 8.3).
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for it in name.chars().flat_map(char::to_lowercase) {
        if it.is_alphanumeric() {
            if slug.len() + it.len_utf8() > MAX_SLUG {
                break;
            }
            slug.push(it);
        } else if !slug.is_empty() && !slug.ends_with('-') && slug.len() < MAX_SLUG {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    match slug.is_empty() {
        true => "memory".to_owned(),
        false => slug,
    }
}

/// The name of a fact that nobody named: its first words, at most 8 and 60 characters (spec 8.8).
pub fn title(content: &str) -> String {
    const MOST_WORDS: usize = 8;
    const MOST_CHARACTERS: usize = 60;
    // Before it is cut: a part of a secret is not known for one.
    let whole = line(first_line(content), usize::MAX);
    let words: Vec<&str> = whole.split_whitespace().take(MOST_WORDS).collect();
    let title: String = words.join(" ").chars().take(MOST_CHARACTERS).collect();
    title.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_its_fact() {
        for (name, expected) in [
            ("Build with make", "build-with-make"),
            ("  API: v2 / beta!  ", "api-v2-beta"),
            ("../../etc/passwd", "etc-passwd"),
            ("Größe", "größe"),
            ("???", "memory"),
            ("", "memory"),
        ] {
            assert_eq!(slug(name), expected, "{name:?}");
        }
        assert_eq!(slug(&"ab ".repeat(80)).len(), MAX_SLUG);
    }

    #[test]
    fn a_fact_without_a_name_is_called_by_its_first_words() {
        let text = "\n  We deploy on Fridays only after the nightly run has passed twice\nmore";
        assert_eq!(title(text), "We deploy on Fridays only after the nightly");
        assert_eq!(title(&"x".repeat(90)), "x".repeat(60));
        assert_eq!(title(" \n"), "");
    }
}
