//! Words: what quoting, variables, braces and tildes make of a piece of text.
//!
//! A part whose value the text does not tell is a [`HOLE`]. A word with holes is never safe, but what stands around
//! them may still be forbidden.

/// Stands where a value is not known.
pub const HOLE: char = '\u{1}';

/// Bytes of a value that are followed: `a=$a$a` doubles it each time.
pub const MAX_VALUE: usize = 4 * 1024;

/// Where a text came from that may become a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taint {
    #[default]
    None,
    /// A program that unpacks text wrote it: nobody can read beforehand what it says.
    Decoded,
    /// It came from another machine.
    Downloaded,
}

/// One argument as the program would get it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// The text tells the whole value.
    pub known: bool,
    /// Names of files are put in its place.
    pub glob: bool,
    /// It came out of a variable or a substitution, at least in part.
    pub from_value: bool,
    pub taint: Taint,
}

impl Word {
    pub fn of(text: &str) -> Word {
        Word {
            text: text.to_owned(),
            known: true,
            ..Word::default()
        }
    }

    pub fn unknown() -> Word {
        Word {
            text: HOLE.to_string(),
            from_value: true,
            ..Word::default()
        }
    }

    /// It may turn out to be an option that nobody wrote.
    pub fn may_be_option(&self) -> bool {
        self.text.starts_with(HOLE) || self.glob && self.text.starts_with(['*', '?', '['])
    }
}

/// The value of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    pub text: String,
    /// It has this value for sure: it was set here, and not on one way only.
    pub sure: bool,
    pub taint: Taint,
}

impl Value {
    pub fn unknown() -> Value {
        Value {
            text: HOLE.to_string(),
            sure: false,
            taint: Taint::None,
        }
    }
}

/// Gathers the words that one piece of text becomes.
#[derive(Default)]
pub struct Fields {
    done: Vec<Word>,
    open: Option<Word>,
}

impl Fields {
    fn open(&mut self) -> &mut Word {
        self.open.get_or_insert_with(|| Word {
            known: true,
            ..Word::default()
        })
    }

    /// Text that no more splitting touches.
    pub fn literal(&mut self, text: &str) {
        self.open().text.push_str(text);
    }

    pub fn glob(&mut self, mark: char) {
        let word = self.open();
        word.text.push(mark);
        word.glob = true;
    }

    pub fn hole(&mut self, taint: Taint) {
        let word = self.open();
        word.text.push(HOLE);
        word.known = false;
        word.from_value = true;
        word.taint = word.taint.max(taint);
    }

    /// A value in quotes: one word whatever it holds.
    pub fn quoted(&mut self, value: &Value) {
        let word = self.open();
        word.text.push_str(&value.text);
        word.known &= value.sure;
        word.from_value = true;
        word.taint = word.taint.max(value.taint);
    }

    /// A value without quotes: blanks in it part words, and marks in it find files.
    pub fn split(&mut self, value: &Value) {
        let mut parts = value.text.split([' ', '\t', '\n']);
        if let Some(first) = parts.next()
            && !first.is_empty()
        {
            self.piece(first, value);
        }
        for part in parts {
            self.done.extend(self.open.take());
            if !part.is_empty() {
                self.piece(part, value);
            }
        }
        if !value.sure
            && let Some(word) = &mut self.open
        {
            word.known = false;
        }
    }

    fn piece(&mut self, text: &str, value: &Value) {
        self.quoted(&Value {
            text: text.to_owned(),
            ..value.clone()
        });
        self.open().glob |= text.contains(['*', '?', '[']);
    }

    pub fn finish(mut self) -> Vec<Word> {
        self.done.extend(self.open.take());
        self.done
    }
}

/// What `{a,b}` and `{1..3}` in a raw text become, the text itself included where it has none. None: more than can
/// be followed.
pub fn braces(raw: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut open = vec![raw.to_owned()];
    let mut n_steps = 0;
    while let Some(text) = open.pop() {
        n_steps += 1;
        if n_steps > 64 || done.len() + open.len() > 64 {
            return None;
        }
        match first_brace(&text) {
            None => done.push(text),
            Some((before, choices, after)) => {
                for choice in choices.iter().rev() {
                    open.push(format!("{before}{choice}{after}"));
                }
            }
        }
    }
    Some(done)
}

/// The first group that is one: what stands before it, its choices, what stands behind.
fn first_brace(text: &str) -> Option<(String, Vec<String>, String)> {
    let marks = unquoted(text);
    for (n, &(start, mark)) in marks.iter().enumerate() {
        if mark != '{' || text[..start].ends_with('$') {
            continue;
        }
        let mut depth = 0;
        let mut cuts = vec![start];
        for &(at, mark) in &marks[n..] {
            match mark {
                '{' => depth += 1,
                ',' if depth == 1 => cuts.push(at),
                '}' => {
                    depth -= 1;
                    if depth == 0 {
                        cuts.push(at);
                        break;
                    }
                }
                _ => {}
            }
        }
        if depth != 0 {
            continue;
        }
        let end = *cuts.last()?;
        let choices: Vec<String> = cuts
            .windows(2)
            .map(|it| text[it[0] + 1..it[1]].to_owned())
            .collect();
        let choices = match choices.as_slice() {
            [one] => range(one),
            more => Some(more.to_vec()),
        };
        if let Some(choices) = choices {
            return Some((
                text[..start].to_owned(),
                choices,
                text[end + 1..].to_owned(),
            ));
        }
    }
    None
}

/// `a..e`, `1..9`: the whole way where it is short.
fn range(text: &str) -> Option<Vec<String>> {
    let (from, to) = text.split_once("..")?;
    if let (Ok(from), Ok(to)) = (from.parse::<i32>(), to.parse::<i32>()) {
        let (low, high) = (from.min(to), from.max(to));
        return Some(
            (low..=high.min(low.saturating_add(31)))
                .map(|it| it.to_string())
                .collect(),
        );
    }
    let mut ends = from.chars().chain(to.chars());
    let (Some(from), Some(to), None) = (ends.next(), ends.next(), ends.next()) else {
        return None;
    };
    let (low, high) = (from.min(to), from.max(to));
    (low.is_ascii() && high.is_ascii()).then(|| (low..=high).map(String::from).collect())
}

/// The braces and commas of a text that no quote covers.
fn unquoted(text: &str) -> Vec<(usize, char)> {
    let mut marks = Vec::new();
    let mut quote = None;
    let mut is_escaped = false;
    for (at, it) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match (quote, it) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => is_escaped = true,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(it),
            (None, '{' | '}' | ',') => marks.push((at, it)),
            (None, _) => {}
        }
    }
    marks
}

/// What `$'…'` holds, without its quotes. Bad escapes stay as they are.
pub fn ansi(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.chars().peekable();
    let number = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize| {
        let mut value = None;
        for _ in 0..most {
            let Some(digit) = rest.peek().and_then(|it| it.to_digit(radix)) else {
                break;
            };
            value = Some(value.unwrap_or(0) * radix + digit);
            rest.next();
        }
        value
    };
    let push = |bytes: &mut Vec<u8>, it: char| {
        bytes.extend_from_slice(it.encode_utf8(&mut [0; 4]).as_bytes());
    };
    while let Some(it) = rest.next() {
        if it != '\\' {
            push(&mut bytes, it);
            continue;
        }
        match rest.next() {
            Some('n') => bytes.push(b'\n'),
            Some('t') => bytes.push(b'\t'),
            Some('r') => bytes.push(b'\r'),
            Some('a') => bytes.push(7),
            Some('b') => bytes.push(8),
            Some('e' | 'E') => bytes.push(27),
            Some('f') => bytes.push(12),
            Some('v') => bytes.push(11),
            Some('x') => match number(&mut rest, 16, 2) {
                Some(it) => bytes.push(it as u8),
                None => bytes.extend_from_slice(b"\\x"),
            },
            Some(kind @ ('u' | 'U')) => {
                let most = if kind == 'u' { 4 } else { 8 };
                if let Some(it) = number(&mut rest, 16, most).and_then(char::from_u32) {
                    push(&mut bytes, it);
                }
            }
            Some(first @ '0'..='7') => {
                let mut value = first as u32 - '0' as u32;
                for _ in 0..2 {
                    let Some(digit) = rest.peek().and_then(|it| it.to_digit(8)) else {
                        break;
                    };
                    value = value * 8 + digit;
                    rest.next();
                }
                bytes.push(value as u8);
            }
            Some('c') => {
                if let Some(it) = rest.next() {
                    bytes.push(it as u8 & 0x1f);
                }
            }
            Some(other) => push(&mut bytes, other),
            None => bytes.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
