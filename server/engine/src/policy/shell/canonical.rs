//! A line as its parts say, whatever blanks, comments and needless quotes it was written with.
//!
//! Two lines with one canonical form do the same. The other way round is not promised.

use super::command::name_of;
use super::grammar::children;
use tree_sitter::Node;

/// Words that mean something else in quotes.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
    "in", "select", "function", "time", "coproc", "!", "{", "}", "[[", "]]", "[", "export",
    "declare", "local", "readonly", "typeset", "unset",
];

pub fn canonical(root: Node<'_>, text: &str) -> String {
    let mut out = Vec::new();
    push(root, text, &mut out);
    while out.last() == Some(&Token::Mark(";".to_owned())) {
        out.pop();
    }
    let mut line = String::new();
    for (n, token) in out.iter().enumerate() {
        let (Token::Mark(shown) | Token::Word(shown)) = token;
        if n > 0 && *token != Token::Mark(";".to_owned()) {
            line.push(' ');
        }
        line.push_str(shown);
    }
    line
}

/// A word may look like a mark: `cd then`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Mark(String),
    Word(String),
}

/// The name of the one program of a line that is one plain command.
pub fn program(root: Node<'_>, text: &str) -> Option<String> {
    let mut statements = children(root)
        .into_iter()
        .filter(|it| it.kind() != "comment");
    let command = statements.next()?;
    if statements.any(|it| it.kind() != ";") || command.kind() != "command" {
        return None;
    }
    let parts: Vec<Node<'_>> = children(command);
    // What is expanded may be anything; files' names may not.
    let is_plain = |it: &Node<'_>| {
        matches!(
            it.kind(),
            "command_name"
                | "word"
                | "string"
                | "raw_string"
                | "number"
                | "concatenation"
                | "ansi_c_string"
        ) && !text[it.byte_range()].contains(['$', '`'])
            || it.kind() == "raw_string"
    };
    if !parts.iter().all(is_plain) {
        return None;
    }
    let name = parts.first().filter(|it| it.kind() == "command_name")?;
    let (name, _) = constant(&text[name.byte_range()])?;
    Some(name_of(&name).to_owned())
}

fn push(node: Node<'_>, text: &str, out: &mut Vec<Token>) {
    let raw = &text[node.byte_range()];
    match node.kind() {
        "comment" => {}
        "program"
        | "do_group"
        | "compound_statement"
        | "subshell"
        | "if_statement"
        | "elif_clause"
        | "else_clause"
        | "while_statement"
        | "for_statement"
        | "case_item"
        | "case_statement"
        | "list"
        | "pipeline"
        | "redirected_statement"
        | "negated_command"
        | "command"
        | "function_definition"
        | "variable_assignments" => {
            let mut end: Option<usize> = None;
            for child in children(node) {
                // A new line ends a command, and the grammar does not show it.
                if let Some(end) = end
                    && text[end..child.start_byte()]
                        .replace("\\\n", "")
                        .contains('\n')
                {
                    separate(out);
                }
                push(child, text, out);
                if child.kind() != "comment" || end.is_none() {
                    end = Some(child.end_byte());
                }
            }
        }
        "file_redirect" => {
            let mut redirect = String::new();
            let mut more = Vec::new();
            let mut has_target = false;
            for child in children(node) {
                match child.is_named() && child.kind() != "file_descriptor" {
                    // Words of the command that stand behind the target.
                    true if has_target => more.push(Token::Word(shown(child, text, false))),
                    true => {
                        has_target = true;
                        let target = shown(child, text, false);
                        if target.starts_with(['<', '>', '(', '&']) {
                            redirect.push(' ');
                        }
                        redirect.push_str(&target);
                    }
                    false => redirect.push_str(&text[child.byte_range()]),
                }
            }
            out.push(Token::Word(redirect));
            out.append(&mut more);
        }
        "command_name" => out.push(Token::Word(shown(node, text, true))),
        "word" | "string" | "raw_string" | "number" | "concatenation" | "ansi_c_string" => {
            out.push(Token::Word(shown(node, text, false)))
        }
        ";" | "\n" => separate(out),
        // The rest stays as it was written.
        _ if node.is_named() => out.push(Token::Word(raw.to_owned())),
        _ => out.push(Token::Mark(raw.to_owned())),
    }
}

fn separate(out: &mut Vec<Token>) {
    const OPEN: &[&str] = &[
        ";", "&", "do", "then", "else", "{", "(", "&&", "||", "|", ";;", "in",
    ];
    let is_open = match out.last() {
        Some(Token::Mark(mark)) => OPEN.contains(&mark.as_str()),
        Some(Token::Word(_)) => false,
        None => true,
    };
    if !is_open {
        out.push(Token::Mark(";".to_owned()));
    }
}

/// A word: its value in as few quotes as possible, or as it was written where it has no fixed one.
fn shown(node: Node<'_>, text: &str, is_program: bool) -> String {
    let raw = &text[node.byte_range()];
    let Some((value, had_quotes)) = constant(raw) else {
        return raw.to_owned();
    };
    let is_plain = |it: char| it.is_alphanumeric() && it.is_ascii() || "_./:@%+,-=^".contains(it);
    let means_more = is_program && (value.contains('=') || RESERVED.contains(&value.as_str()));
    let is_safe = !value.is_empty() && value.chars().all(is_plain) && !(means_more && had_quotes);
    match is_safe {
        true => value,
        false if !had_quotes => raw.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    }
}

/// The value of a text in which nothing is expanded, and whether it had quotes.
fn constant(raw: &str) -> Option<(String, bool)> {
    let mut value = String::new();
    let mut had_quotes = false;
    let mut rest = raw.chars().peekable();
    while let Some(it) = rest.next() {
        match it {
            '\\' => {
                had_quotes = true;
                match rest.next()? {
                    '\n' => {}
                    it => value.push(it),
                }
            }
            '\'' => {
                had_quotes = true;
                loop {
                    match rest.next()? {
                        '\'' => break,
                        it => value.push(it),
                    }
                }
            }
            '"' => {
                had_quotes = true;
                loop {
                    match rest.next()? {
                        '"' => break,
                        '$' | '`' => return None,
                        '\\' => match rest.next()? {
                            '\n' => {}
                            it @ ('$' | '`' | '"' | '\\') => value.push(it),
                            it => {
                                value.push('\\');
                                value.push(it);
                            }
                        },
                        it => value.push(it),
                    }
                }
            }
            '$' | '`' | '*' | '?' | '[' | '~' | '{' | '<' | '>' | '(' | ')' | '&' | '|' | ';'
            | '#' | '!' => return None,
            it => value.push(it),
        }
    }
    Some((value, had_quotes))
}
