//! What stands before a Markdown file's text: fields between two lines of dashes.
//!
//! Of YAML it reads what such files use: texts, lists and booleans, each at the start of a line. What it cannot read is
//! left out, and never an error: a file is somebody else's, and the rest of it still counts.

/// A file's fields, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter(Vec<(String, Value)>);

/// What a field says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Text(String),
    List(Vec<String>),
}

/// Splits a file into its fields and its body. A file without front matter, or with one that is not closed, is all body
/// (spec 8.4). A byte order mark is no part of either.
pub fn read(file: &str) -> (FrontMatter, &str) {
    let file = file.strip_prefix('\u{feff}').unwrap_or(file);
    let Some((first, rest)) = file.split_once('\n') else {
        return (FrontMatter::default(), file);
    };
    if first.trim_end() != "---" {
        return (FrontMatter::default(), file);
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            let body = &rest[at + line.len()..];
            return (FrontMatter(fields(&rest[..at])), body);
        }
        at += line.len();
    }
    (FrontMatter::default(), file)
}

/// Front matter with its two lines of dashes, to be read by [`read`]. Line breaks in a text become blanks.
pub fn write(fields: &[(&str, Value)]) -> String {
    let mut text = "---\n".to_owned();
    for (key, value) in fields {
        let value = match value {
            Value::Text(it) => written(it),
            Value::List(it) => {
                let parts: Vec<String> = it.iter().map(|it| written(it)).collect();
                format!("[{}]", parts.join(", "))
            }
        };
        text.push_str(&format!("{key}: {value}\n"));
    }
    text.push_str("---\n");
    text
}

impl FrontMatter {
    /// A field's text; a list's parts are put together with commas. None where it is missing or empty.
    pub fn text(&self, key: &str) -> Option<String> {
        let text = match self.value(key)? {
            Value::Text(it) => it.trim().to_owned(),
            Value::List(it) => it.join(", "),
        };
        (!text.is_empty()).then_some(text)
    }

    /// A field's parts; a text's parts stand between commas. None where it is missing.
    pub fn list(&self, key: &str) -> Option<Vec<String>> {
        let parts: Vec<String> = match self.value(key)? {
            Value::List(it) => it.clone(),
            Value::Text(it) => it.split(',').map(str::to_owned).collect(),
        };
        let parts = parts.into_iter().map(|it| it.trim().to_owned());
        Some(parts.filter(|it| !it.is_empty()).collect())
    }

    /// A yes or no. None where it is missing or neither.
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.text(key)?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }

    /// Of a key that stands twice, the last one counts, in whatever case.
    fn value(&self, key: &str) -> Option<&Value> {
        let mut fields = self.0.iter().rev();
        fields
            .find(|(it, _)| it.eq_ignore_ascii_case(key))
            .map(|(_, it)| it)
    }
}

fn fields(text: &str) -> Vec<(String, Value)> {
    let mut fields = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((key, value)) = field(line) else {
            continue;
        };
        // What belongs to the field: lines further in, the parts of a list, and blank ones between them.
        let mut below = Vec::new();
        while let Some(line) = lines.next_if(|it| is_below(it)) {
            below.push(line);
        }
        fields.push((key.to_owned(), value_of(value, &below)));
    }
    fields
}

/// A line's key and what follows it. A key is a word, so that a sentence with a colon is none.
fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
    let is_key = !key.is_empty() && key.chars().all(is_word);
    let is_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_apart).then_some((key, value.trim()))
}

fn is_below(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with([' ', '\t']) || part(line).is_some()
}

/// A line of a list, without its dash.
fn part(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('-')?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest.trim())
}

fn value_of(value: &str, below: &[&str]) -> Value {
    let value = if value.starts_with('#') { "" } else { value };
    if let Some(style) = value.strip_prefix(['|', '>']) {
        // Behind it only how the last line ends and how far the text stands in.
        let is_block = style.chars().all(|it| matches!(it, '+' | '-' | '0'..='9'));
        if is_block {
            return Value::Text(block(value.starts_with('|'), below));
        }
    }
    if value.is_empty() && below.iter().any(|it| part(it).is_some()) {
        let parts = below.iter().filter_map(|it| part(it));
        return Value::List(parts.map(scalar).collect());
    }
    // A text or a list may go on in lines further in.
    let mut whole = value.to_owned();
    for line in below.iter().map(|it| it.trim()).filter(|it| !it.is_empty()) {
        if !whole.is_empty() {
            whole.push(' ');
        }
        whole.push_str(line);
    }
    match whole.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(inside) => Value::List(
            split(inside)
                .into_iter()
                .map(scalar)
                .filter(|it| !it.is_empty())
                .collect(),
        ),
        None => Value::Text(scalar(&whole)),
    }
}

/// A text of several lines: as they stand, or put together as one but for blank lines.
fn block(as_it_stands: bool, below: &[&str]) -> String {
    let inset = |it: &&str| it.len() - it.trim_start().len();
    let filled = below.iter().filter(|it| !it.trim().is_empty());
    let inset = filled.map(inset).min().unwrap_or(0);
    let lines = below
        .iter()
        .map(|it| it.get(inset..).unwrap_or("").trim_end());
    let mut text = String::new();
    for line in lines {
        match (as_it_stands, line.is_empty()) {
            (true, _) => text.push_str(line),
            (false, true) => {}
            (false, false) => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push(' ');
                }
                text.push_str(line);
                continue;
            }
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// The parts of a list on one line, apart at commas that stand in no quotes.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut quote, mut escaped) = (0, None, false);
    for (at, it) in text.char_indices() {
        match (quote, it) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), it) if it == open && !escaped => quote = None,
            (None, '"' | '\'') if text[from..at].trim().is_empty() => quote = Some(it),
            (None, ',') => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            (Some(_) | None, _) => {}
        }
        escaped = false;
    }
    parts.push(&text[from..]);
    parts
}

/// A text without its quotes, or up to its comment.
fn scalar(text: &str) -> String {
    let text = text.trim();
    match text.chars().next() {
        Some('"') => quoted(&text[1..]).unwrap_or_else(|| text.to_owned()),
        Some('\'') => match text[1..].rfind('\'') {
            Some(end) => text[1..=end].replace("''", "'"),
            None => text.to_owned(),
        },
        Some(_) | None => {
            let end = text.find(" #").unwrap_or(text.len());
            text[..end].trim_end().to_owned()
        }
    }
}

/// What stands between double quotes, of which the first is taken off; none if there is no second.
fn quoted(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                it => out.push(it),
            },
            it => out.push(it),
        }
    }
}

/// In quotes where it would be read as something else without.
fn written(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|it| if it.is_control() { ' ' } else { it })
        .collect();
    let text = text.trim();
    let is_plain =
        |it: char| it.is_alphanumeric() || matches!(it, ' ' | '_' | '.' | '/' | '(' | ')');
    // Further in, dashes and colons without a blank behind them mean nothing.
    let starts_plain = text.starts_with(char::is_alphanumeric);
    let inside = |it: char| is_plain(it) || matches!(it, '-' | '+');
    if starts_plain && text.chars().all(inside) {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lists_and_booleans_are_read() {
        let file = "\u{feff}---\r\nname: fix-tests  # why\r\ndescription: \"Say: \\\"go\\\" #1\"\r\ntools: [Read, 'a, b']\r\n\
                    tags:\r\n- one\r\n- two\r\non: yes\r\n---\r\nBody\r\n";
        let (fields, body) = read(file);
        assert_eq!(body, "Body\r\n");
        assert_eq!(fields.text("name").as_deref(), Some("fix-tests"));
        assert_eq!(
            fields.text("description").as_deref(),
            Some("Say: \"go\" #1")
        );
        assert_eq!(fields.list("tools").unwrap(), ["Read", "a, b"]);
        assert_eq!(fields.list("tags").unwrap(), ["one", "two"]);
        assert_eq!(fields.flag("on"), Some(true));
        assert_eq!(fields.flag("name"), None);
        assert_eq!(fields.text("missing"), None);
    }

    #[test]
    fn a_text_may_go_on_in_lines_further_in() {
        let file = "---\na: >-\n  one\n  two\n\n  three\nb: |\n  x\n    y\nc: one\n  two\nd:\n  e: f\ng: h\n---\n";
        let (fields, _) = read(file);
        assert_eq!(fields.text("a").as_deref(), Some("one two\nthree"));
        assert_eq!(fields.text("b").as_deref(), Some("x\n  y"));
        assert_eq!(fields.text("c").as_deref(), Some("one two"));
        assert_eq!(fields.text("g").as_deref(), Some("h"));
    }

    #[test]
    fn a_text_with_commas_is_a_list_where_one_is_wanted() {
        let (fields, _) = read("---\ntools: Read, Grep ,Bash\n---\n");
        assert_eq!(fields.list("tools").unwrap(), ["Read", "Grep", "Bash"]);
    }

    #[test]
    fn without_front_matter_or_with_an_unclosed_one_all_is_body() {
        for file in [
            "",
            "x",
            "# Title\n---\na: b\n---\n",
            "---\na: b\nbody\n",
            "----\na: b\n---\n",
        ] {
            assert_eq!(read(file), (FrontMatter::default(), file));
        }
        let (fields, body) = read("\u{feff}only this");
        assert_eq!((fields, body), (FrontMatter::default(), "only this"));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let texts = [
            "plain words",
            "a: b",
            "#1",
            "it's \"so\" \\ thus",
            "[x]",
            "- y",
            "on - off",
            "né, à",
            "",
            "\"",
            "'",
            "x #y",
        ];
        for text in texts {
            let list = vec![text.to_owned(), "z, \"z".to_owned()];
            let file = write(&[
                ("one", Value::Text(text.to_owned())),
                ("two", Value::List(list.clone())),
            ]);
            let file = format!("{file}\nbody");
            let (fields, body) = read(&file);
            assert_eq!(fields.text("one").unwrap_or_default(), text, "{file}");
            let wanted: Vec<String> = list.into_iter().filter(|it| !it.is_empty()).collect();
            assert_eq!(fields.list("two").unwrap(), wanted, "{file}");
            assert_eq!(body, "\nbody");
        }
    }

    #[test]
    fn any_text_is_read_without_a_fault() {
        let mut random = 7_u64;
        let pieces = [
            "---\n", "a:", " ", "- ", "\"", "'", "[", "]", ",", "|\n", ">", "é", "\\", "\n",
            "\r\n", "...", "#", ":",
        ];
        for _ in 0..20_000 {
            let mut text = "---\n".to_owned();
            for _ in 0..12 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(random >> 33).unwrap() % pieces.len();
                text.push_str(pieces[at]);
            }
            let (_, body) = read(&text);
            assert!(text.ends_with(body));
        }
    }
}
