//! Goes through a line's tree: which commands it runs, in which folder, with what before and behind them in the pipe.
//!
//! Whatever is not known by name here is no read. `sh` may be dash: what it reads differently from bash is none
//! either.

use super::grammar::{self, children};
use super::reader::{Feed, MAX_NESTED, Reader, TOO_DEEP};
use super::word::{HOLE, Taint, Value, Word};
use super::{assign, forbidden, scan};
use protocol::tool::Risk;
use std::ops::ControlFlow;
use tree_sitter::Node;

/// How deep a tree is walked.
const MAX_HEIGHT: usize = 120;

impl Reader<'_> {
    /// Reads a script: the line itself, or one in a line. Gives what its last command writes.
    pub fn script(&mut self, text: &str) -> Feed {
        match grammar::parse(text) {
            Some(tree) => self.tree(tree.root_node(), text),
            None => self.only_scan(text),
        }
    }

    /// Reads a script by its tree.
    pub fn tree(&mut self, root: Node<'_>, text: &str) -> Feed {
        if grammar::height(root) > MAX_HEIGHT {
            return self.only_scan(text);
        }
        if root.has_error() {
            self.only_scan(text);
        }
        if let Some(rule) = forbidden::in_text(text) {
            self.forbid(rule);
        }
        self.statements(root, text)
    }

    pub fn only_scan(&mut self, text: &str) -> Feed {
        self.unreadable();
        scan::scan(self, text);
        Feed::default()
    }

    /// A script within the line.
    pub fn nested(&mut self, text: &str) -> Feed {
        if self.n_nested >= MAX_NESTED {
            self.forbid(TOO_DEEP);
            self.at_least(Risk::Run);
            return Feed::default();
        }
        if text.contains(HOLE) {
            self.at_least(Risk::Run);
        }
        let text = text.replace(HOLE, "${_unknown_}");
        self.n_nested += 1;
        let feed = self.script(&text);
        self.n_nested -= 1;
        feed
    }

    /// All commands of a block, one after another.
    pub fn statements(&mut self, node: Node<'_>, text: &str) -> Feed {
        let is_block = !matches!(
            node.kind(),
            "while_statement" | "if_statement" | "elif_clause"
        );
        if !grammar::is_whole(node, text) || is_block && !grammar::are_parted(node, text) {
            self.unreadable();
        }
        let mut last = Feed::default();
        let mut n = 0;
        for child in children(node) {
            if !child.is_named() || child.kind() == "comment" {
                continue;
            }
            let feed = self.visit(child, text);
            last.taint = last.taint.max(feed.taint);
            last.text = feed.text;
            n += 1;
        }
        if n != 1 {
            last.text = None;
        }
        last
    }

    /// `$(…)`, `` `…` ``, `<(…)` and `>(…)`.
    pub fn substitution(&mut self, node: Node<'_>, text: &str) -> Feed {
        self.apart(|it| {
            if node.kind() == "process_substitution" {
                it.at_least(Risk::Run);
            }
            // In backticks a backslash is read once more.
            let raw = &text[node.byte_range()];
            if let Some(inner) = raw.strip_prefix('`').and_then(|it| it.strip_suffix('`'))
                && inner.contains('\\')
            {
                it.at_least(Risk::Run);
                let inner = inner
                    .replace("\\`", "`")
                    .replace("\\\\", "\\")
                    .replace("\\$", "$");
                return it.nested(&inner);
            }
            let feed = it.stdin.clone();
            it.with_stdin(feed, |it| it.statements(node, text))
        })
    }

    pub fn visit(&mut self, node: Node<'_>, text: &str) -> Feed {
        let kind = node.kind();
        self.reached = None;
        if !self.step() {
            return Feed::default();
        }
        match kind {
            "command" => self.command(node, text),
            "list" => self.list(node, text, None),
            "pipeline" => self.pipeline(node, text, None),
            "redirected_statement" => self.redirected(node, text),
            "subshell" => self.apart(|it| it.statements(node, text)),
            "compound_statement" => {
                // `((…))` computes, and in dash it is a command in brackets.
                if children(node).first().is_some_and(|it| it.kind() == "((") {
                    self.inside(node, text);
                    self.at_least(Risk::Run);
                    return Feed::default();
                }
                self.statements(node, text)
            }
            "do_group" => self.statements(node, text),
            "negated_command" => {
                self.statements(node, text);
                self.reached = None;
                Feed::default()
            }
            "if_statement" | "elif_clause" | "else_clause" => {
                self.perhaps(|it| it.statements(node, text))
            }
            "while_statement" => {
                // Twice: what one round sets is there in the next.
                self.perhaps(|it| {
                    it.statements(node, text);
                    it.statements(node, text)
                })
            }
            "for_statement" => self.for_each(node, text),
            "case_statement" => self.perhaps(|it| it.case(node, text)),
            "function_definition" => self.function(node, text),
            "test_command" => self.test(node, text),
            "variable_assignment" | "variable_assignments" => {
                for child in children(node) {
                    if child.kind() == "variable_assignment" {
                        self.assignment(child, text, assign::Use::Alone);
                    }
                }
                if kind == "variable_assignment" {
                    self.assignment(node, text, assign::Use::Alone);
                }
                Feed::default()
            }
            "declaration_command" => self.declaration(node, text),
            "unset_command" => {
                self.inside(node, text);
                self.at_least(Risk::Run);
                for child in children(node) {
                    if child.kind() == "variable_name" {
                        let value = Value {
                            text: String::new(),
                            sure: true,
                            taint: Taint::None,
                        };
                        self.set(&text[child.byte_range()], value);
                    }
                }
                Feed::default()
            }
            "comment" => Feed::default(),
            _ => {
                self.unreadable();
                self.inside(node, text);
                Feed::default()
            }
        }
    }

    /// What is not understood as a whole: the commands in it are judged all the same.
    pub fn inside(&mut self, node: Node<'_>, text: &str) {
        let mut found = Vec::new();
        grammar::each(node, |it| {
            let is_command = it != node
                && matches!(
                    it.kind(),
                    "command"
                        | "list"
                        | "pipeline"
                        | "redirected_statement"
                        | "subshell"
                        | "command_substitution"
                        | "process_substitution"
                        | "if_statement"
                        | "while_statement"
                        | "for_statement"
                        | "case_statement"
                        | "function_definition"
                        | "variable_assignment"
                        | "declaration_command"
                );
            if is_command {
                found.push(it);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        for it in found {
            match it.kind() {
                "command_substitution" | "process_substitution" => {
                    self.substitution(it, text);
                }
                _ => {
                    self.visit(it, text);
                }
            }
        }
    }

    /// `a && b || c`; a heredoc behind it is read by its last command.
    fn list(&mut self, node: Node<'_>, text: &str, feed: Option<Feed>) -> Feed {
        // The grammar nests to the left, as deep as the list is long.
        let mut links = Vec::new();
        let mut left = node;
        while left.kind() == "list" {
            if !grammar::is_whole(left, text) {
                self.unreadable();
            }
            let parts: Vec<Node<'_>> = children(left)
                .into_iter()
                .filter(|it| it.kind() != "comment")
                .collect();
            let [first, operator, last] = parts.as_slice() else {
                self.unreadable();
                self.inside(left, text);
                return Feed::default();
            };
            links.push((*operator, *last));
            left = *first;
        }
        links.reverse();
        let mut last = self.visit(left, text);
        let mut folders = self.cwds.clone();
        let n_links = links.len();
        for (n, (operator, part)) in links.into_iter().enumerate() {
            let is_and = operator.kind() == "&&";
            if is_and && let Some(reached) = self.reached.take() {
                self.cwds = reached;
            }
            if !is_and {
                self.cwds = folders.clone();
            }
            self.n_branches += 1;
            let is_last = n + 1 == n_links;
            let taint = last.taint;
            last = match feed.clone().filter(|_| is_last) {
                Some(feed) => self.fed(part, text, feed),
                None => self.visit(part, text),
            };
            last.taint = last.taint.max(taint);
            last.text = None;
            self.n_branches -= 1;
            for path in &self.cwds {
                if !folders.contains(path) {
                    folders.push(path.clone());
                }
            }
            if self.cwds.is_empty() {
                folders.clear();
            }
        }
        if self.reached.is_none() {
            self.reached = Some(self.cwds.clone());
        }
        self.cwds = folders;
        last
    }

    /// A statement whose last command reads this.
    pub fn fed(&mut self, node: Node<'_>, text: &str, feed: Feed) -> Feed {
        match node.kind() {
            "list" => self.list(node, text, Some(feed)),
            "pipeline" => self.pipeline(node, text, Some(feed)),
            "redirected_statement" => {
                // `a <x <<E`: the body comes through.
                self.with_stdin(feed, |it| it.redirected(node, text))
            }
            _ => self.with_stdin(feed, |it| it.visit(node, text)),
        }
    }

    fn pipeline(&mut self, node: Node<'_>, text: &str, feed: Option<Feed>) -> Feed {
        if !grammar::is_whole(node, text) {
            self.unreadable();
        }
        let parts: Vec<Node<'_>> = children(node)
            .into_iter()
            .filter(|it| it.is_named() && it.kind() != "comment")
            .collect();
        let first = self.stdin.clone();
        self.pipe(&parts, text, first, feed)
    }

    /// One command's output into the next; `last` is what a heredoc gives the last one.
    pub fn pipe(
        &mut self,
        parts: &[Node<'_>],
        text: &str,
        first: Feed,
        last: Option<Feed>,
    ) -> Feed {
        let mut feed = first;
        for (n, part) in parts.iter().enumerate() {
            let is_last = n + 1 == parts.len();
            let given = match last.clone().filter(|_| is_last) {
                Some(last) => Feed {
                    taint: last.taint.max(feed.taint),
                    ..last
                },
                None => feed.clone(),
            };
            // `cd x && a 2>f | b`: the grammar takes the whole list into the pipe, and the shell only its end.
            let is_list = part.kind() == "list"
                || part.kind() == "redirected_statement"
                    && part.named_child(0).is_some_and(|it| it.kind() == "list");
            let written = match is_list {
                true => self.fed(*part, text, given),
                false => self.apart(|it| it.fed(*part, text, given)),
            };
            // What comes from another machine does so through whatever filter.
            feed = Feed {
                taint: written.taint.max(feed.taint),
                ..written
            };
        }
        feed
    }

    fn command(&mut self, node: Node<'_>, text: &str) -> Feed {
        if !self.step() {
            return Feed::default();
        }
        if !grammar::is_whole(node, text) {
            self.unreadable();
        }
        let mut words: Vec<Word> = Vec::new();
        let extra = std::mem::take(&mut self.extra);
        let mut fed = None;
        let mut group: Vec<Node<'_>> = Vec::new();
        for child in children(node) {
            // Two words without a blank between them are one that the grammar has not seen.
            let gap = group
                .last()
                .map(|it| &text[it.end_byte()..child.start_byte()]);
            let is_joined = gap.is_some_and(|it| it.replace("\\\n", "").is_empty());
            let is_word = !matches!(
                child.kind(),
                "variable_assignment" | "file_redirect" | "herestring_redirect" | "comment"
            );
            if is_joined && is_word {
                self.unreadable();
                group.push(child);
                continue;
            }
            words.append(&mut self.joined(&std::mem::take(&mut group), text));
            match child.kind() {
                "variable_assignment" => self.assignment(child, text, assign::Use::Before),
                "file_redirect" => fed = self.redirect(child, text).or(fed),
                "herestring_redirect" => fed = Some(self.herestring(child, text)),
                "comment" => {}
                _ => {
                    // `==` and `=~` are words here.
                    if !child.is_named() {
                        self.at_least(Risk::Run);
                    }
                    group.push(child);
                }
            }
        }
        words.append(&mut self.joined(&group, text));
        words.extend(extra);
        words.append(&mut self.extra);
        match fed {
            Some(fed) => self.with_stdin(fed, |it| it.run(words)),
            None => self.run(words),
        }
    }
}
