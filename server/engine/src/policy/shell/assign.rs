//! Variables that a line sets: which are only names of its own, and which change what runs.

use super::grammar::children;
use super::reader::{Feed, Reader};
use super::word::{Taint, Value};
use protocol::tool::Risk;
use tree_sitter::Node;

/// How a variable is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// `x=1;`
    Alone,
    /// `x=1 program`: only that program sees it.
    Before,
    /// `export x=1` and its like.
    Declared,
}

/// Names in small letters that shells give a meaning of their own.
const MEANT: &[&str] = &[
    "path",
    "cdpath",
    "fpath",
    "manpath",
    "mailpath",
    "fignore",
    "prompt",
    "prompt2",
    "psvar",
    "ps1",
    "histfile",
    "term",
    "watch",
    "status",
    "argv",
    "home",
    "user",
    "cwd",
    "shell",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "module_path",
];

/// Names that change how output looks and nothing else.
const LOOKS: &[&str] = &[
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "CI",
];

/// A name that no program and no shell looks at.
pub fn is_harmless_name(name: &str) -> bool {
    let is_small = name
        .bytes()
        .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_');
    is_small && !name.is_empty() && !MEANT.contains(&name) && name != "_"
}

/// A setting of output that names no file.
pub fn is_look(name: &str, value: &Value) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_.@-:,=".contains(it);
    LOOKS.contains(&name) && value.sure && value.text.chars().all(is_plain)
}

impl Reader<'_> {
    pub fn assignment(&mut self, node: Node<'_>, text: &str, how: Use) {
        if !self.step() {
            return;
        }
        let mut name = None;
        let mut value = Value {
            text: String::new(),
            sure: true,
            taint: Taint::None,
        };
        let mut adds = false;
        for child in children(node) {
            match child.kind() {
                "variable_name" if name.is_none() => name = Some(&text[child.byte_range()]),
                "=" => {}
                "+=" => adds = true,
                "array" | "subscript" => {
                    self.inside(child, text);
                    self.at_least(Risk::Run);
                    value = Value::unknown();
                }
                _ => {
                    let words = self.words(child, text);
                    value = Value {
                        text: words
                            .iter()
                            .map(|it| it.text.as_str())
                            .collect::<Vec<_>>()
                            .join(" "),
                        sure: words.iter().all(|it| it.known),
                        taint: words.iter().map(|it| it.taint).max().unwrap_or_default(),
                    };
                }
            }
        }
        let Some(name) = name else {
            self.at_least(Risk::Run);
            return;
        };
        if adds {
            let before = self.variable(name);
            value = Value {
                text: before.text + &value.text,
                sure: before.sure && value.sure,
                taint: before.taint.max(value.taint),
            };
        }
        let is_harmless = match how {
            Use::Alone | Use::Declared => is_harmless_name(name) || is_look(name, &value),
            // A program may look at any name.
            Use::Before => is_look(name, &value),
        };
        if !is_harmless {
            self.at_least(Risk::Run);
        }
        match how {
            // The line's own words are expanded before it is set.
            Use::Before => {}
            Use::Alone | Use::Declared => self.set(name, value),
        }
    }

    /// `export`, `declare`, `local`, `readonly`, `typeset`.
    pub fn declaration(&mut self, node: Node<'_>, text: &str) -> Feed {
        for child in children(node) {
            match child.kind() {
                "variable_assignment" => {
                    self.assignment(child, text, Use::Declared);
                    let name = text[child.byte_range()]
                        .split(['=', '+'])
                        .next()
                        .unwrap_or_default();
                    if is_harmless_name(name) {
                        // A program that comes later may look at it.
                        self.at_least(Risk::Run);
                    }
                }
                "export" => {}
                "variable_name" => {}
                _ => {
                    self.inside(child, text);
                    if child.kind() != "comment" {
                        self.at_least(Risk::Run);
                    }
                }
            }
        }
        Feed::default()
    }
}
