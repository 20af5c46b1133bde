//! Commands that files define: a prompt to be sent, with places for what the person wrote behind the name (spec 21.3).
//!
//! Pure. Nothing in such a file is run, and nothing it names is read: the model gets its text.

use crate::front_matter;
use crate::text::visible_line;

/// The most characters of a name, and of what is shown of it.
const MOST_NAME: usize = 64;
const MOST_SHOWN: usize = 200;

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFile {
    pub name: String,
    /// What it does, in one line.
    pub description: String,
    /// What follows the name, in one line.
    pub hint: Option<String>,
    body: String,
    /// How many words must follow it.
    needs: usize,
}

impl CommandFile {
    /// What a file defines; `stem` is its name without `.md`. None where it has no text, or its name is no word that can
    /// stand behind a slash.
    pub fn read(file: &str, stem: &str) -> Option<Self> {
        let (fields, body) = front_matter::read(file);
        let name = fields.text("name").unwrap_or_else(|| stem.to_owned());
        let is_name = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.' | ':');
        if name.is_empty() || name.chars().count() > MOST_NAME || !name.chars().all(is_name) {
            return None;
        }
        let body = body.trim().to_owned();
        let first = body
            .lines()
            .next()?
            .trim_start_matches('#')
            .trim()
            .to_owned();
        let description = fields.text("description").unwrap_or(first);
        let hint = fields.text("argument-hint");
        let named = hint.as_deref().map(|it| it.matches('<').count());
        let needs = named.unwrap_or_else(|| highest(&body));
        Some(Self {
            name,
            description: visible_line(&description, MOST_SHOWN),
            hint: hint.map(|it| visible_line(&it, MOST_SHOWN)),
            body,
            needs,
        })
    }

    /// The prompt, with what follows the name in its places; behind the text where it has none.
    ///
    /// # Errors
    /// How the command is used, for the person, where a word is missing that it needs.
    pub fn expand(&self, rest: &str) -> Result<String, String> {
        let (rest, words) = (rest.trim(), words(rest));
        if words.len() < self.needs {
            return Err(format!("Usage: `{}`", self.usage()));
        }
        let mut text = String::new();
        let mut is_placed = false;
        for piece in pieces(&self.body) {
            match piece {
                Piece::Text(it) => text.push_str(it),
                Piece::All => text.push_str(rest),
                Piece::Word(number) => {
                    let word = words.get(number - 1).map_or("", String::as_str);
                    text.push_str(word);
                }
            }
            is_placed |= !matches!(piece, Piece::Text(_));
        }
        if !is_placed && !rest.is_empty() {
            text.push_str(&format!("\n\n{rest}"));
        }
        Ok(text)
    }

    fn usage(&self) -> String {
        let words = (1..=self.needs).map(|it| format!(" <{it}>"));
        match &self.hint {
            Some(hint) => format!("/{} {hint}", self.name),
            None => format!("/{}{}", self.name, words.collect::<String>()),
        }
    }
}

enum Piece<'a> {
    Text(&'a str),
    /// All that follows the name.
    All,
    /// A word of it, counted from 1.
    Word(usize),
}

/// A body's text and its places, in order. In one pass, so that what a person writes has no places.
fn pieces(body: &str) -> Vec<Piece<'_>> {
    const ALL: &str = "$ARGUMENTS";
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = body[at..].find('$') {
        let start = at + found;
        let rest = &body[start..];
        let n_digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[1..=n_digits].parse().ok();
        let piece = match number.filter(|it| (1..=9).contains(it)) {
            _ if rest.starts_with(ALL) => Some((Piece::All, ALL.len())),
            Some(number) => Some((Piece::Word(number), 1 + n_digits)),
            None => None,
        };
        at = start + 1;
        if let Some((piece, len)) = piece {
            pieces.push(Piece::Text(&body[from..start]));
            pieces.push(piece);
            at = start + len;
            from = at;
        }
    }
    pieces.push(Piece::Text(&body[from..]));
    pieces
}

/// The highest word that a body has a place for.
fn highest(body: &str) -> usize {
    let words = pieces(body).into_iter().map(|it| match it {
        Piece::Word(number) => number,
        Piece::Text(_) | Piece::All => 0,
    });
    words.max().unwrap_or(0)
}

/// Words apart at spaces; quotes keep spaces in a word.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for it in text.chars() {
        match (quote, it) {
            (Some(open), it) if it == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(it);
                word.get_or_insert_default();
            }
            (None, it) if it.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, it) => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    words
}

/// The prompt of `/init`: the project's own file for agents, with what the person adds (spec 21.7).
pub fn init_prompt(rest: &str) -> String {
    let mut text = INIT.to_owned();
    if !rest.is_empty() {
        text.push_str(&format!("\n\n{rest}"));
    }
    text
}

const INIT: &str = "Write AGENTS.md at the root of this project, or improve it if there is one: the file that tells coding agents how to work here. \
Look at the project first. Say what the project is in a line or two; how it is built, tested and checked, with the exact commands, and how one test is run; \
how it is laid out, as far as that is not plain from the names; and what its own style asks for. Take over what README and other files for agents say of this. \
Leave out what any agent knows and what changes often. Keep it short.";

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(body: &str, rest: &str) -> Result<String, String> {
        CommandFile::read(body, "go").unwrap().expand(rest)
    }

    #[test]
    fn what_follows_the_name_goes_to_its_places() {
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(expand("Do $ARGUMENTS now", "a  b "), ok("Do a  b now"));
        assert_eq!(expand("$2 before $1.", "a 'b c' d"), ok("b c before a."));
        assert_eq!(
            expand("Just do it.", "to a.rs"),
            ok("Just do it.\n\nto a.rs")
        );
        assert_eq!(expand("Just do it.", ""), ok("Just do it."));
        // What the person writes has no places, and a price is none.
        assert_eq!(
            expand("Say $ARGUMENTS", "$1 $ARGUMENTS"),
            ok("Say $1 $ARGUMENTS")
        );
        assert_eq!(
            expand("It costs $100, $0, $x, $", ""),
            ok("It costs $100, $0, $x, $")
        );
    }

    #[test]
    fn a_missing_word_is_answered_by_the_usage() {
        let usage = |text: &str| Err(format!("Usage: `{text}`"));
        assert_eq!(expand("From $1 to $2", "a"), usage("/go <1> <2>"));
        let file = "---\nargument-hint: <issue> [branch]\n---\nFix $1 on $2";
        assert_eq!(expand(file, ""), usage("/go <issue> [branch]"));
        assert_eq!(expand(file, "7"), Ok("Fix 7 on ".to_owned()));
    }

    #[test]
    fn lines_that_other_agents_run_or_read_stay_as_they_are() {
        let body = "!`git status`\n@src/main.rs\n!touch ran";
        assert_eq!(expand(body, ""), Ok(body.to_owned()));
    }

    #[test]
    fn a_command_is_named_by_its_file_or_by_its_stem() {
        let read = |file| CommandFile::read(file, "stem");
        let named = read("---\nname: other\ndescription: Does it\n---\nBody\n").unwrap();
        assert_eq!((&*named.name, &*named.description), ("other", "Does it"));
        let plain = read("# Does it\n\nSo.\n").unwrap();
        assert_eq!((&*plain.name, &*plain.description), ("stem", "Does it"));
        assert_eq!(read("---\nname: a/b\n---\nBody\n"), None);
        assert_eq!(read("---\nname: a b\n---\nBody\n"), None);
        assert_eq!(read("---\nname: a\n---\n"), None);
    }

    #[test]
    fn quotes_keep_spaces_in_a_word() {
        assert_eq!(words("a.txt \"b c.txt\"'d' \n"), ["a.txt", "b c.txtd"]);
        assert_eq!(words("\"../a b\""), ["../a b"]);
        assert_eq!(words(" "), Vec::<String>::new());
    }
}
