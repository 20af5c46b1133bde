//! Redirections, heredocs and here-strings: what a command reads, and which files it writes.

use super::expand::name_length;
use super::grammar::{self, children};
use super::place::{self, Deed};
use super::reader::{Feed, Reader};
use super::word::{Taint, Word};
use protocol::tool::Risk;
use tree_sitter::Node;

impl Reader<'_> {
    pub fn redirected(&mut self, node: Node<'_>, text: &str) -> Feed {
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
    pub fn heredoc<'t>(&mut self, node: Node<'t>, text: &str, rest: &mut Vec<Node<'t>>) -> Feed {
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

    pub fn herestring(&mut self, node: Node<'_>, text: &str) -> Feed {
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
    pub fn redirect(&mut self, node: Node<'_>, text: &str) -> Option<Feed> {
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
        let path = place::resolve(&cwd, &target.text, false);
        if target.known && place::is_harmless(&path) && path != std::path::Path::new("/dev/tty") {
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
}

fn is_descriptor(node: Node<'_>, text: &str) -> bool {
    text[node.byte_range()]
        .bytes()
        .all(|it| it.is_ascii_digit())
        && matches!(text.as_bytes().get(node.end_byte()), Some(b'<' | b'>'))
}
