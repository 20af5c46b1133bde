//! Arguments of programs that the tables know: which are paths, and what is done with them.

use super::filters;
use super::place::Deed;
use super::programs::{self, Arguments};
use super::reader::Reader;
use super::word::{HOLE, Word};
use protocol::tool::Risk;

impl Reader<'_> {
    /// Any other program, as the table says.
    pub fn program(&mut self, name: &str, words: &[Word]) {
        let rest = &words[1..];
        let Some(known) = programs::known(name) else {
            self.at_least(Risk::Run);
            self.name_paths(rest);
            return;
        };
        let mut risk = filters::risk(name, words, known);
        // What is not known may be an option, or a file anywhere.
        let are_unclear = match known.arguments {
            Arguments::Text => known.has_doors && rest.iter().any(Word::may_be_option),
            Arguments::Paths | Arguments::TextThenPaths => {
                rest.iter().any(|it| !it.known)
                    || known.has_doors && rest.iter().any(Word::may_be_option)
            }
        };
        if are_unclear {
            risk = risk.max(Risk::Run);
        }
        self.at_least(risk);
        // These take with them what is in a folder.
        let takes = matches!(
            name,
            "rm" | "mv" | "rmdir" | "chmod" | "chown" | "chgrp" | "shred"
        );
        let deed = match risk {
            Risk::Read => Deed::Read,
            _ if takes => Deed::Remove,
            _ => Deed::Write,
        };
        if matches!(name, "find" | "fd" | "fdfind") {
            self.found(rest);
        }
        match name {
            "tee" => {
                for word in rest
                    .iter()
                    .filter(|it| !it.text.starts_with('-') || it.text == "-")
                {
                    self.write_to(word);
                }
            }
            "echo" | "printf" | "true" | "false" | ":" => {}
            "dd" => {
                for word in rest {
                    if let Some(path) = word.text.strip_prefix("of=") {
                        let path = Word {
                            text: path.to_owned(),
                            ..word.clone()
                        };
                        self.check(&path, Deed::Write);
                    } else if let Some(path) = word.text.strip_prefix("if=") {
                        let path = Word {
                            text: path.to_owned(),
                            ..word.clone()
                        };
                        self.check(&path, Deed::Read);
                    }
                }
            }
            // All but the last are only read.
            "cp" | "install"
                if !rest
                    .iter()
                    .any(|it| it.text.starts_with("-t") || it.text.starts_with("--t")) =>
            {
                let last = rest.len().saturating_sub(1);
                for (n, word) in rest.iter().enumerate() {
                    self.argument(word, if n == last { Deed::Write } else { Deed::Read });
                }
            }
            _ => {
                let skip = match known.arguments {
                    Arguments::Text => rest.len(),
                    Arguments::Paths => 0,
                    Arguments::TextThenPaths => filters::text_length(name, rest),
                };
                let mut n_texts = skip;
                for word in rest {
                    let is_option = word.text.len() > 1 && word.text.starts_with('-');
                    if n_texts > 0 && !is_option {
                        n_texts -= 1;
                        continue;
                    }
                    self.argument(word, deed);
                }
            }
        }
    }

    /// What `find` runs for each file.
    pub fn found(&mut self, words: &[Word]) {
        let marks = [
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-x",
            "-X",
            "--exec",
            "--exec-batch",
        ];
        let mut rest = words;
        while let Some(at) = rest.iter().position(|it| marks.contains(&it.text.as_str())) {
            rest = &rest[at + 1..];
            let end = rest
                .iter()
                .position(|it| matches!(it.text.as_str(), ";" | "+"));
            let inner: Vec<Word> = rest[..end.unwrap_or(rest.len())]
                .iter()
                .map(|it| match it.text.contains("{}") {
                    true => Word {
                        text: it.text.replace("{}", &format!("./{HOLE}")),
                        known: false,
                        ..it.clone()
                    },
                    false => it.clone(),
                })
                .collect();
            if self.step() {
                self.apart(|it| it.run(inner));
            }
        }
    }

    /// Paths among the arguments of a program that may do anything.
    pub fn name_paths(&mut self, words: &[Word]) {
        for word in words {
            self.argument(word, Deed::Read);
        }
    }

    /// An argument that may be a path, or hold one.
    pub fn argument(&mut self, word: &Word, deed: Deed) {
        let text = word.text.as_str();
        if matches!(text, "" | "-" | "--") {
            return;
        }
        if !text.starts_with('-') {
            self.check(word, deed);
        }
        // `--file=/etc/x`, `if=/dev/sda`, `-f/etc/x`.
        let mut inner: Vec<&str> = text.split_once('=').map(|it| it.1).into_iter().collect();
        if text.starts_with('-')
            && !text.starts_with("--")
            && let Some(at) = text.find(['/', '~'])
        {
            let from = if text[..at].ends_with("..") {
                at - 2
            } else {
                at
            };
            inner.push(&text[from..]);
        }
        // Paths behind a colon, as lists and containers have them.
        inner.extend(text.split(':').skip(1).filter(|it| !it.starts_with("//")));
        for path in inner {
            let is_path = path.starts_with('/')
                || path.starts_with("~/")
                || path.starts_with("../")
                || path == "..";
            if is_path && path.len() > 1 {
                let text = match path.strip_prefix('~') {
                    Some(rest) => super::place::home(self.around) + rest,
                    None => path.to_owned(),
                };
                self.check(
                    &Word {
                        text,
                        ..word.clone()
                    },
                    deed,
                );
            }
        }
    }
}
