//! Goes through a line's tree: which commands it runs, in which folder, with what before and behind them in the pipe.
//!
//! Whatever is not known by name here is no read. `sh` may be dash: what it reads differently from bash is none
//! either.

use super::expand::name_length;
use super::grammar::{self, children};
use super::place::Deed;
use super::reader::{Feed, MAX_NESTED, Reader, TOO_DEEP};
use super::word::{HOLE, Taint, Value, Word};
use super::{assign, forbidden, scan};
use protocol::tool::Risk;
use std::ops::ControlFlow;
use tree_sitter::Node;

/// How deep a tree is walked.
const MAX_HEIGHT: usize = 120;
/// Words of a loop that are tried one by one.
const MAX_ROUNDS: usize = 8;

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
    fn statements(&mut self, node: Node<'_>, text: &str) -> Feed {
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

    fn visit(&mut self, node: Node<'_>, text: &str) -> Feed {
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
    fn fed(&mut self, node: Node<'_>, text: &str, feed: Feed) -> Feed {
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
    fn pipe(&mut self, parts: &[Node<'_>], text: &str, first: Feed, last: Option<Feed>) -> Feed {
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

    fn redirected(&mut self, node: Node<'_>, text: &str) -> Feed {
        if !grammar::is_whole(node, text) {
            self.unreadable();
        }
        let mut body = None;
        let mut fed = None;
        let mut rest = Vec::new();
        // The grammar hangs it on the whole list, and it is of its last command, which may run elsewhere.
        let is_list = node.named_child(0).is_some_and(|it| it.kind() == "list");
        for child in children(node) {
            match child.kind() {
                "file_redirect" => {
                    let before = (self.risk, self.forbidden.clone());
                    fed = self.redirect(child, text).or(fed);
                    if is_list {
                        // It is judged below, where the folder is known.
                        (self.risk, self.forbidden) = before;
                    }
                }
                "herestring_redirect" => fed = Some(self.herestring(child, text)),
                "heredoc_redirect" => fed = Some(self.heredoc(child, text, &mut rest)),
                _ if body.is_none() && child.is_named() => body = Some(child),
                _ => self.unreadable(),
            }
        }
        if !self.extra.is_empty() && body.is_none_or(|it| it.kind() != "command") {
            // `>f program`, or a program that nobody has looked for.
            let words = std::mem::take(&mut self.extra);
            self.unreadable();
            self.run(words);
        }
        let mut feed = match (body, fed) {
            (Some(body), Some(fed)) => self.fed(body, text, fed),
            (Some(body), None) => self.visit(body, text),
            (None, _) => Feed::default(),
        };
        if is_list {
            let folders = self.reached.clone().unwrap_or_else(|| self.cwds.clone());
            let folders = std::mem::replace(&mut self.cwds, folders);
            for child in children(node) {
                match child.kind() {
                    "file_redirect" => {
                        self.redirect(child, text);
                    }
                    "heredoc_redirect" => {
                        for inner in children(child) {
                            if inner.kind() == "file_redirect" {
                                self.redirect(inner, text);
                            }
                        }
                    }
                    _ => {}
                }
            }
            self.extra.clear();
            self.cwds = folders;
        }
        for after in rest {
            feed = match after.kind() {
                "pipeline" => {
                    let parts: Vec<Node<'_>> = children(after)
                        .into_iter()
                        .filter(|it| it.is_named())
                        .collect();
                    self.pipe(&parts, text, feed, None)
                }
                _ => self.perhaps(|it| it.visit(after, text)),
            };
        }
        feed
    }

    /// A heredoc; what stands behind its mark in the same line goes to `rest`.
    fn heredoc<'t>(&mut self, node: Node<'t>, text: &str, rest: &mut Vec<Node<'t>>) -> Feed {
        let mut feed = Feed {
            text: Some(String::new()),
            taint: Taint::None,
        };
        let mut start = "";
        let mut end = "";
        for child in children(node) {
            match child.kind() {
                "<<" => {}
                // Leading tabs go away.
                "<<-" => self.at_least(Risk::Run),
                "heredoc_start" => start = &text[child.byte_range()],
                "heredoc_end" => {
                    end = &text[child.byte_range()];
                    let before = text[..child.start_byte()].trim_end_matches('\t');
                    let is_line = before.ends_with('\n')
                        && matches!(text.as_bytes().get(child.end_byte()), None | Some(b'\n'));
                    if !is_line {
                        self.unreadable();
                    }
                }
                "heredoc_body" => {
                    feed = match start.contains(['\'', '"', '\\']) {
                        true => Feed {
                            text: Some(text[child.byte_range()].to_owned()),
                            taint: Taint::None,
                        },
                        false => self.body(child, text),
                    };
                }
                "file_redirect" => {
                    self.redirect(child, text);
                }
                "herestring_redirect" => {
                    self.herestring(child, text);
                }
                "&&" | "||" => {}
                _ if child.is_named() && child.kind() != "ERROR" => match child.kind() {
                    // Arguments behind the mark belong to a command that was judged without them.
                    "word" | "string" | "raw_string" | "number" | "concatenation" => {
                        self.unreadable();
                        self.inside(child, text);
                    }
                    _ => rest.push(child),
                },
                _ => self.unreadable(),
            }
        }
        let plain: String = start
            .chars()
            .filter(|it| !matches!(it, '\'' | '"' | '\\'))
            .collect();
        if plain != end || name_length(&plain) != plain.len() || plain.is_empty() {
            self.unreadable();
        }
        feed
    }

    fn herestring(&mut self, node: Node<'_>, text: &str) -> Feed {
        // dash has none.
        let mut feed = Feed::default();
        for child in children(node).into_iter().filter(|it| it.is_named()) {
            let words = self.words(child, text);
            let all: Vec<&str> = words.iter().map(|it| it.text.as_str()).collect();
            feed = Feed {
                text: Some(all.join(" ")),
                taint: words.iter().map(|it| it.taint).max().unwrap_or_default(),
            };
        }
        feed
    }

    /// A redirection; gives what the command reads if this one says it.
    fn redirect(&mut self, node: Node<'_>, text: &str) -> Option<Feed> {
        if !grammar::is_whole(node, text) {
            self.unreadable();
        }
        let mut operator = "";
        let mut words: Vec<Word> = Vec::new();
        let mut has_target = false;
        for child in children(node) {
            match child.kind() {
                "file_descriptor" => {}
                ">" | ">>" | ">|" | "&>" | "&>>" | "<" | "<&" | ">&" | "<&-" | ">&-" => {
                    operator = &text[child.byte_range()];
                }
                // The grammar takes the command's words behind the target for more targets.
                // A number right before the next one's mark is its own.
                _ if has_target && is_descriptor(child, text) => self.unreadable(),
                _ if child.is_named() && has_target => {
                    let mut more = self.words(child, text);
                    self.extra.append(&mut more);
                }
                _ if child.is_named() => {
                    has_target = true;
                    words = self.words(child, text);
                }
                _ => self.unreadable(),
            }
        }
        let is_read = operator == "<";
        let [target] = words.as_slice() else {
            // Some shells write to each, some to none.
            if !operator.ends_with('-') || !words.is_empty() {
                self.at_least(Risk::Run);
            }
            for word in &words {
                self.write_to(word);
            }
            return None;
        };
        if operator.ends_with('&')
            && target.known
            && target.text.bytes().all(|it| it.is_ascii_digit())
        {
            return None;
        }
        if target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") {
            self.at_least(Risk::Network);
            self.stdin.taint = Taint::Downloaded;
            return Some(Feed {
                text: None,
                taint: Taint::Downloaded,
            });
        }
        if is_read {
            if !target.known {
                self.at_least(Risk::Run);
            }
            self.check(target, Deed::Read);
            return Some(Feed {
                text: None,
                taint: target.taint,
            });
        }
        self.write_to(target);
        None
    }

    /// Something is written to a file, by redirection or by `tee`.
    pub fn write_to(&mut self, target: &Word) {
        let cwd = self.cwds.first().cloned().unwrap_or_default();
        let path = super::place::resolve(&cwd, &target.text, false);
        if target.known
            && super::place::is_harmless(&path)
            && path != std::path::Path::new("/dev/tty")
        {
            return;
        }
        self.at_least(if target.known && !target.glob {
            Risk::Change
        } else {
            Risk::Run
        });
        if self.is_sensitive(target) {
            self.forbid("writing to a folder of the system, a device, .ssh or a file that a shell starts with");
        }
        self.check(target, Deed::Write);
    }

    fn for_each(&mut self, node: Node<'_>, text: &str) -> Feed {
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

    fn case(&mut self, node: Node<'_>, text: &str) -> Feed {
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

    fn function(&mut self, node: Node<'_>, text: &str) -> Feed {
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
    fn test(&mut self, node: Node<'_>, text: &str) -> Feed {
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

fn is_descriptor(node: Node<'_>, text: &str) -> bool {
    text[node.byte_range()]
        .bytes()
        .all(|it| it.is_ascii_digit())
        && matches!(text.as_bytes().get(node.end_byte()), Some(b'<' | b'>'))
}

fn as_value(word: &Word) -> Value {
    Value {
        text: word.text.clone(),
        sure: word.known && !word.glob,
        taint: word.taint,
    }
}
