//! From a piece of the tree to the words that a program would get.

use super::grammar;
use super::reader::{Feed, Reader};
use super::word::{self, Fields, HOLE, Taint, Value, Word};
use protocol::tool::Risk;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use tree_sitter::Node;

/// What begins at a byte of the text: where it ends, and what it gives.
#[derive(Clone, Debug)]
struct Part {
    kind: Kind,
    end: usize,
    feed: Feed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Substitution,
    Arithmetic,
    Variable,
}

type Parts = BTreeMap<usize, Part>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    None,
    /// What stands in `${x:-…}`: blanks are allowed.
    Inner,
    /// The body of a heredoc: as in double quotes, and those mean themselves.
    Body,
}

impl Reader<'_> {
    /// The words that one node becomes; what it holds of commands is judged on the way.
    pub fn words(&mut self, node: Node<'_>, text: &str) -> Vec<Word> {
        self.joined(&[node], text)
    }

    /// The words of nodes that stand together without a blank: to the shell they are one.
    pub fn joined(&mut self, nodes: &[Node<'_>], text: &str) -> Vec<Word> {
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
            return Vec::new();
        };
        let mut parts = Parts::new();
        for node in nodes {
            parts.append(&mut self.parts(*node, text));
        }
        let base = first.start_byte();
        let raw = &text[base..last.end_byte()];
        let has_commands = parts.values().any(|it| it.kind == Kind::Substitution);
        if raw.contains('{') && !has_commands {
            match word::braces(raw) {
                Some(texts) if texts.len() > 1 || texts.iter().any(|it| it != raw) => {
                    // dash does not do this: there it is one name.
                    if raw.contains("..") || raw.contains('/') || raw.contains('-') {
                        self.at_least(Risk::Run);
                    }
                    let mut words = Vec::new();
                    for text in texts {
                        let mut fields = Fields::default();
                        self.lex(&text, 0, &Parts::new(), Quotes::None, &mut fields);
                        words.append(&mut fields.finish());
                    }
                    return words;
                }
                Some(_) => {}
                None => self.unreadable(),
            }
        }
        let mut fields = Fields::default();
        self.lex(raw, base, &parts, Quotes::None, &mut fields);
        fields.finish()
    }

    /// What a heredoc's body says after what is in it of variables and commands.
    pub fn body(&mut self, node: Node<'_>, text: &str) -> Feed {
        let parts = self.parts(node, text);
        let mut fields = Fields::default();
        let raw = &text[node.byte_range()];
        self.lex(raw, node.start_byte(), &parts, Quotes::Body, &mut fields);
        let words = fields.finish();
        Feed {
            text: words.first().map(|it| it.text.clone()),
            taint: words.first().map(|it| it.taint).unwrap_or_default(),
        }
    }

    /// Finds what is in a node beside plain text, and runs through its commands.
    fn parts(&mut self, node: Node<'_>, text: &str) -> Parts {
        let mut found = Vec::new();
        grammar::each(node, |it| match it.kind() {
            "command_substitution" | "process_substitution" => {
                found.push((it, Kind::Substitution));
                ControlFlow::Break(())
            }
            "arithmetic_expansion" => {
                found.push((it, Kind::Arithmetic));
                ControlFlow::Continue(())
            }
            "expansion" => {
                found.push((it, Kind::Variable));
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        });
        let mut parts = Parts::new();
        for (node, kind) in found {
            let feed = match kind {
                Kind::Substitution => self.substitution(node, text),
                Kind::Arithmetic | Kind::Variable => Feed::default(),
            };
            let end = node.end_byte();
            parts
                .entry(node.start_byte())
                .or_insert(Part { kind, end, feed });
        }
        // What ends outside of the node it is in is a mistake of the grammar.
        parts.retain(|_, it| it.end <= node.end_byte());
        parts
    }

    /// Reads raw text; `base` is where it stands in the text that `parts` is about.
    fn lex(&mut self, raw: &str, base: usize, parts: &Parts, quotes: Quotes, fields: &mut Fields) {
        let mut at = 0;
        let mut in_double = quotes == Quotes::Body;
        if in_double {
            fields.literal("");
        }
        if !in_double {
            at = self.tilde(raw, fields);
        }
        while let Some(it) = raw[at..].chars().next() {
            let rest = &raw[at..];
            let next = rest[it.len_utf8()..].chars().next();
            match it {
                '\\' => match next {
                    None => {
                        fields.literal("\\");
                        at += 1;
                    }
                    Some('\n') => at += 2,
                    Some(marked) => {
                        let is_mark = matches!(marked, '$' | '`' | '\\')
                            || marked == '"' && quotes != Quotes::Body;
                        if in_double && !is_mark {
                            fields.literal("\\");
                        }
                        fields.literal(marked.encode_utf8(&mut [0; 4]));
                        at += 1 + marked.len_utf8();
                    }
                },
                '\'' if !in_double => match rest[1..].find('\'') {
                    Some(length) => {
                        fields.literal(&rest[1..1 + length]);
                        at += length + 2;
                    }
                    None => {
                        self.unreadable();
                        fields.hole(Taint::None);
                        return;
                    }
                },
                '"' if quotes != Quotes::Body => {
                    in_double = !in_double;
                    fields.literal("");
                    at += 1;
                }
                '$' if next == Some('\'') && !in_double => {
                    let (length, has_quote) = ansi_length(&rest[2..]);
                    let Some(length) = length else {
                        self.unreadable();
                        fields.hole(Taint::None);
                        return;
                    };
                    // dash ends the quotes at the first one.
                    if has_quote {
                        self.at_least(Risk::Run);
                    }
                    fields.literal(&word::ansi(&rest[2..2 + length]));
                    at += length + 3;
                }
                '$' if next == Some('"') && !in_double => {
                    self.at_least(Risk::Run);
                    at += 1;
                }
                '$' | '`' => match self.dollar(raw, at, base, parts, in_double, fields) {
                    Some(after) => at = after,
                    None => return,
                },
                '<' | '>' if !in_double && next == Some('(') => {
                    match parts
                        .get(&(base + at))
                        .filter(|it| it.end <= base + raw.len())
                    {
                        Some(part) => {
                            fields.hole(part.feed.taint);
                            at = part.end - base;
                        }
                        None => {
                            self.unreadable();
                            return fields.hole(Taint::None);
                        }
                    }
                    // dash has no such thing.
                    self.at_least(Risk::Run);
                }
                // No word has these: the grammar has stepped over the end of one.
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>'
                    if !in_double && quotes == Quotes::None =>
                {
                    self.unreadable();
                    super::scan::scan(self, rest);
                    return;
                }
                '*' | '?' | '[' if !in_double => {
                    fields.glob(it);
                    at += 1;
                }
                it => {
                    fields.literal(it.encode_utf8(&mut [0; 4]));
                    at += it.len_utf8();
                }
            }
        }
    }

    /// `~` at a word's start, and where the rest begins.
    fn tilde(&mut self, raw: &str, fields: &mut Fields) -> usize {
        let Some(rest) = raw.strip_prefix('~') else {
            return 0;
        };
        let user = rest.split('/').next().unwrap_or_default();
        if user.contains(['\\', '"', '\'', '$', '`']) {
            return 0;
        }
        match user {
            "" => fields.literal(&super::place::home(self.around)),
            "+" => fields.quoted(&self.variable("PWD")),
            "-" => fields.hole(Taint::None),
            "root" => fields.literal("/root"),
            other => fields.literal(&format!("/home/{other}")),
        }
        1 + user.len()
    }

    /// What begins with `$` or a backtick; gives where it ends. None: the rest cannot be read.
    fn dollar(
        &mut self,
        raw: &str,
        at: usize,
        base: usize,
        parts: &Parts,
        in_double: bool,
        fields: &mut Fields,
    ) -> Option<usize> {
        let rest = &raw[at + 1..];
        let put = |fields: &mut Fields, value: &Value| match in_double {
            true => fields.quoted(value),
            false => fields.split(value),
        };
        if raw[at..].starts_with('`') || rest.starts_with('(') || rest.starts_with('{') {
            let part = parts
                .get(&(base + at))
                .filter(|it| it.end <= base + raw.len());
            let Some(part) = part.cloned() else {
                return self.braced_alone(raw, at, in_double, fields);
            };
            match part.kind {
                Kind::Substitution => match &part.feed.text {
                    Some(text) => put(
                        fields,
                        &Value {
                            text: text.trim_end_matches('\n').to_owned(),
                            sure: !text.contains(HOLE),
                            taint: part.feed.taint,
                        },
                    ),
                    None => fields.hole(part.feed.taint),
                },
                Kind::Arithmetic => {
                    let inner = &raw[at..part.end - base];
                    // A name in it may hold text that is run.
                    if inner.contains(|it: char| {
                        it.is_ascii_alphabetic() || it == '`' || it == '[' || it == '{'
                    }) || inner[1..].contains('$')
                    {
                        self.at_least(Risk::Run);
                        // `$((rm x); ls)` is no sum.
                        super::scan::scan(self, inner);
                    }
                    fields.hole(Taint::None);
                }
                Kind::Variable => {
                    let value = self.braced(raw, at, part.end - base, base, parts);
                    put(fields, &value);
                }
            }
            return Some(part.end - base);
        }
        if rest.starts_with('[') {
            self.at_least(Risk::Run);
            fields.hole(Taint::None);
            return Some(at + 1);
        }
        let length = name_length(rest);
        if length == 0 {
            let special = rest.chars().next().filter(|it| "@*#?-$!".contains(*it));
            let digit = rest.chars().next().filter(char::is_ascii_digit);
            match special.or(digit) {
                Some(it) => {
                    self.special(it, in_double, fields);
                    return Some(at + 2);
                }
                None => {
                    fields.literal("$");
                    return Some(at + 1);
                }
            }
        }
        let value = self.variable(&rest[..length]);
        put(fields, &value);
        Some(at + 1 + length)
    }

    /// What the tree does not show: in a text that braces made, in a heredoc, or where the grammar is at its end.
    fn braced_alone(
        &mut self,
        raw: &str,
        at: usize,
        in_double: bool,
        fields: &mut Fields,
    ) -> Option<usize> {
        let name = raw[at..]
            .strip_prefix("${")
            .and_then(|it| it.split_once('}'))
            .map(|it| it.0)
            .filter(|it| !it.is_empty() && name_length(it) == it.len());
        if let Some(name) = name {
            let value = self.variable(name);
            match in_double {
                true => fields.quoted(&value),
                false => fields.split(&value),
            }
            return Some(at + name.len() + 3);
        }
        self.unreadable();
        fields.hole(Taint::None);
        let inner = raw[at..].strip_prefix('`')?;
        if let Some(length) = backtick(inner) {
            let script = inner[..length].replace("\\`", "`");
            if self.step() {
                self.apart(|it| it.nested(&script));
            }
            return Some(at + length + 2);
        }
        super::scan::scan(self, inner);
        None
    }

    /// `${…}` from `at` to `end`.
    fn braced(&mut self, raw: &str, at: usize, end: usize, base: usize, parts: &Parts) -> Value {
        let inner = raw.get(at + 2..end.saturating_sub(1)).unwrap_or_default();
        if inner.starts_with('#') && inner.len() > 1 {
            if name_length(&inner[1..]) != inner.len() - 1 {
                self.at_least(Risk::Run);
            }
            return Value::unknown();
        }
        let length = match inner.chars().next() {
            Some(it) if it.is_ascii_digit() || "@*?-$!".contains(it) => 1,
            _ => name_length(inner),
        };
        let (name, rest) = inner.split_at(length);
        if name.is_empty() || name == "!" {
            self.at_least(Risk::Run);
            return Value::unknown();
        }
        let value = match name_length(name) {
            0 => {
                let mut fields = Fields::default();
                self.special(name.chars().next().unwrap_or('@'), true, &mut fields);
                match fields.finish().first() {
                    Some(word) => Value {
                        text: word.text.clone(),
                        sure: word.known,
                        taint: word.taint,
                    },
                    None => Value::unknown(),
                }
            }
            _ => self.variable(name),
        };
        let is_set = self.vars.contains_key(name)
            || matches!(
                name,
                "HOME"
                    | "PWD"
                    | "IFS"
                    | "PATH"
                    | "UNDINE_SCRATCHPAD"
                    | "UNDINE_CONFIG_DIR"
                    | "UNDINE_DATA_DIR"
            );
        let operators = [":-", ":+", ":=", ":?", "-", "+", "=", "?"];
        let operator = operators.into_iter().find(|it| rest.starts_with(it));
        match operator {
            None if rest.is_empty() => value,
            None => {
                let is_plain = rest.starts_with(['%', '#', '/', '^', ',']) && !rest.contains('[')
                    || rest.starts_with(':')
                        && rest[1..]
                            .bytes()
                            .all(|it| it.is_ascii_digit() || it == b':');
                if !is_plain || rest.contains(['$', '`']) {
                    self.at_least(Risk::Run);
                }
                Value {
                    taint: value.taint,
                    ..Value::unknown()
                }
            }
            Some(operator) => {
                let from = end - 1 - (rest.len() - operator.len());
                let mut fields = Fields::default();
                let piece = &raw[from..end - 1];
                self.lex(piece, base + from, parts, Quotes::Inner, &mut fields);
                let words = fields.finish();
                let other = Value {
                    text: words
                        .iter()
                        .map(|it| it.text.as_str())
                        .collect::<Vec<_>>()
                        .join(" "),
                    sure: false,
                    taint: words.iter().map(|it| it.taint).max().unwrap_or_default(),
                };
                match operator.trim_start_matches(':') {
                    "-" | "?" if is_set => value,
                    "-" => other,
                    "+" if is_set => other,
                    "+" => Value {
                        text: String::new(),
                        ..other
                    },
                    "?" => value,
                    // It sets the variable.
                    _ => {
                        self.at_least(Risk::Run);
                        let value = if is_set { value } else { other };
                        self.set(name, value.clone());
                        value
                    }
                }
            }
        }
    }

    pub fn variable(&self, name: &str) -> Value {
        if let Some(value) = self.vars.get(name) {
            if value.text.len() > word::MAX_VALUE {
                return Value {
                    taint: value.taint,
                    ..Value::unknown()
                };
            }
            return value.clone();
        }
        let text = match name {
            "HOME" => super::place::home(self.around),
            // What we set ourselves for every command.
            "UNDINE_SCRATCHPAD" => match &self.around.scratchpad {
                Some(folder) => folder.to_string_lossy().into_owned(),
                None => return Value::unknown(),
            },
            // Whoever names them means Undine's own, whether they are set or not.
            "UNDINE_CONFIG_DIR" | "UNDINE_DATA_DIR" => {
                let at = usize::from(name == "UNDINE_DATA_DIR");
                match self.around.protected.get(at) {
                    Some(folder) => folder.to_string_lossy().into_owned(),
                    None => return Value::unknown(),
                }
            }
            "IFS" => " \t\n".to_owned(),
            "PWD" => match self.cwds.as_slice() {
                [one] => one.to_string_lossy().into_owned(),
                _ => return Value::unknown(),
            },
            _ => return Value::unknown(),
        };
        Value {
            text,
            sure: true,
            taint: Taint::None,
        }
    }

    /// `$1`, `$@` and the like. A line is run without arguments.
    fn special(&mut self, mark: char, in_double: bool, fields: &mut Fields) {
        let length = |it: &Vec<Word>| it.iter().map(|it| it.text.len() + 1).sum::<usize>();
        let arguments = self
            .arguments
            .as_ref()
            .filter(|it| length(it) <= word::MAX_VALUE);
        let Some(arguments) = arguments.cloned() else {
            return fields.hole(Taint::None);
        };
        let words: Vec<Word> = match mark {
            '@' | '*' => arguments.into_iter().skip(1).collect(),
            '0'..='9' if mark != '0' || !arguments.is_empty() => {
                let at = mark as usize - '0' as usize;
                arguments.into_iter().skip(at).take(1).collect()
            }
            _ => return fields.hole(Taint::None),
        };
        let value = Value {
            text: words
                .iter()
                .map(|it| it.text.as_str())
                .collect::<Vec<_>>()
                .join(" "),
            sure: words.iter().all(|it| it.known),
            taint: words.iter().map(|it| it.taint).max().unwrap_or_default(),
        };
        match in_double {
            true => fields.quoted(&value),
            false => fields.split(&value),
        }
    }
}

/// How long the name is that a text begins with.
pub fn name_length(text: &str) -> usize {
    match text.bytes().next() {
        Some(it) if it.is_ascii_alphabetic() || it == b'_' => text
            .bytes()
            .take_while(|it| it.is_ascii_alphanumeric() || *it == b'_')
            .count(),
        Some(_) | None => 0,
    }
}

/// How long a text is up to the backtick that ends it.
fn backtick(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, it)) = bytes.next() {
        match it {
            b'`' => return Some(at),
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    None
}

/// How long `…'` is up to its quote, and whether an escaped quote is in it.
fn ansi_length(text: &str) -> (Option<usize>, bool) {
    let mut has_quote = false;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, it)) = bytes.next() {
        match it {
            b'\'' => return (Some(at), has_quote),
            b'\\' => has_quote |= bytes.next().is_some_and(|it| it.1 == b'\''),
            _ => {}
        }
    }
    (None, has_quote)
}
