//! Loops, cases, functions and tests.

use super::grammar::{self, children};
use super::place::Deed;
use super::reader::{Feed, Reader};
use super::word::{Value, Word};
use super::{assign, forbidden};
use protocol::tool::Risk;
use std::ops::ControlFlow;
use tree_sitter::Node;

/// Words of a loop that are tried one by one.
const MAX_ROUNDS: usize = 8;

impl Reader<'_> {
    pub fn for_each(&mut self, node: Node<'_>, text: &str) -> Feed {
        if !grammar::is_whole(node, text) {
            self.unreadable();
        }
        let mut name = "";
        let mut words = Vec::new();
        let mut has_list = false;
        let mut body = None;
        for child in children(node) {
            match child.kind() {
                "variable_name" => name = &text[child.byte_range()],
                "in" => has_list = true,
                // It asks on the terminal.
                "select" => self.at_least(Risk::Run),
                "do_group" | "compound_statement" => body = Some(child),
                "comment" => {}
                _ if child.is_named() && has_list => words.append(&mut self.words(child, text)),
                _ if child.is_named() => self.unreadable(),
                _ => {}
            }
        }
        if !assign::is_harmless_name(name) {
            self.at_least(Risk::Run);
        }
        let Some(body) = body else {
            self.unreadable();
            return Feed::default();
        };
        for word in words.iter().filter(|it| it.glob) {
            self.check(word, Deed::Read);
        }
        self.perhaps(|it| {
            let are_many = words.len() > MAX_ROUNDS || words.is_empty();
            let values = match are_many {
                true => vec![Value::unknown(); 2],
                false => words.iter().map(as_value).collect(),
            };
            for value in values {
                if it.is_exhausted() {
                    break;
                }
                // The loop itself sets it, in each round.
                let (vars, branches) = (&mut it.vars, it.n_branches);
                vars.insert(name.to_owned(), value);
                it.statements(body, text);
                it.n_branches = branches;
            }
            if are_many {
                for word in &words {
                    it.vars.insert(name.to_owned(), as_value(word));
                    if !it.step() {
                        break;
                    }
                    it.statements(body, text);
                }
            }
            it.vars.insert(name.to_owned(), Value::unknown());
        });
        Feed::default()
    }

    pub fn case(&mut self, node: Node<'_>, text: &str) -> Feed {
        for child in children(node) {
            match child.kind() {
                "case_item" => {
                    let mut is_pattern = true;
                    for part in children(child) {
                        match part.kind() {
                            ")" => is_pattern = false,
                            "comment" => {}
                            _ if !part.is_named() => {}
                            _ if is_pattern => self.inside(part, text),
                            _ => {
                                self.visit(part, text);
                            }
                        }
                    }
                }
                "comment" => {}
                _ if child.is_named() => {
                    self.words(child, text);
                }
                _ => {}
            }
        }
        Feed::default()
    }

    pub fn function(&mut self, node: Node<'_>, text: &str) -> Feed {
        // A name may now be anything.
        self.at_least(Risk::Run);
        let parts: Vec<Node<'_>> = children(node)
            .into_iter()
            .filter(|it| it.is_named())
            .collect();
        let [name, body, ..] = parts.as_slice() else {
            self.unreadable();
            return Feed::default();
        };
        let name = text[name.byte_range()].to_owned();
        if forbidden::is_fork_bomb(*body, text, &name) {
            self.forbid("a fork bomb");
        }
        self.functions
            .insert(name, text[body.byte_range()].to_owned());
        let arguments = self.arguments.take();
        self.perhaps(|it| it.visit(*body, text));
        self.arguments = arguments;
        Feed::default()
    }

    /// `[ … ]` and `[[ … ]]`.
    pub fn test(&mut self, node: Node<'_>, text: &str) -> Feed {
        let raw = &text[node.byte_range()];
        let is_bash = raw.starts_with("[[");
        let mut risk = Risk::Read;
        grammar::each(node, |it| {
            let word = &text[it.byte_range()];
            match it.kind() {
                // Numbers are computed there, and computing may run commands.
                "test_operator"
                    if matches!(
                        word,
                        "-v" | "-R" | "-N" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"
                    ) && (is_bash || word == "-v" || word == "-R") =>
                {
                    risk = Risk::Run;
                }
                // dash reads these as redirections and as commands.
                "<" | ">" | "&&" | "||" | "(" | "regex" | "=~" if is_bash => risk = Risk::Run,
                "<" | ">" | "&&" | "||" | "((" => risk = Risk::Run,
                "command_substitution" | "process_substitution" | "string" | "raw_string" => {
                    return ControlFlow::Break(());
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
        self.at_least(risk);
        let mut found = Vec::new();
        grammar::each(node, |it| match it.kind() {
            "word"
            | "string"
            | "raw_string"
            | "concatenation"
            | "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "ansi_c_string" => {
                found.push(it);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        });
        for it in found {
            let before = self.is_readable;
            for word in self.words(it, text) {
                // It may turn into an operator that computes.
                if !word.known && !is_bash && it.kind() != "string" {
                    self.at_least(Risk::Run);
                }
                if word.known && word.text.starts_with('/') || word.text.contains("..") {
                    self.check(&word, Deed::Read);
                }
            }
            self.is_readable = before && self.is_readable;
        }
        Feed::default()
    }
}

fn as_value(word: &Word) -> Value {
    Value {
        text: word.text.clone(),
        sure: word.known && !word.glob,
        taint: word.taint,
    }
}
