//! Programs that run scripts: shells, `eval` and interpreters.

use super::command::last_part;
use super::reader::{Feed, Reader};
use super::word::{HOLE, Taint, Word};
use super::{installs, programs};
use protocol::tool::Risk;

impl Reader<'_> {
    /// `sh -c '…'`, `sh <file`, `… | sh`.
    pub fn shell(&mut self, words: &[Word]) {
        let mut has_script = false;
        let mut n = 1;
        let mut is_plain = true;
        let mut reads = true;
        while let Some(word) = words.get(n) {
            let text = word.text.as_str();
            if !word.known && text.starts_with(HOLE) {
                self.at_least(Risk::Run);
                self.forbid_tainted(word.taint);
                reads = false;
                break;
            }
            let is_option = text.len() > 1 && (text.starts_with('-') || text.starts_with('+'));
            if !is_option {
                break;
            }
            if text == "--" || text == "-" {
                n += 1;
                break;
            }
            if text.starts_with("--") {
                is_plain = false;
                n += match text {
                    "--rcfile" | "--init-file" | "--command" => 2,
                    _ => 1,
                };
                has_script |= text == "--command";
                if let Some(script) = text.strip_prefix("--command=") {
                    self.apart(|it| it.nested(script));
                    reads = false;
                }
                continue;
            }
            has_script |= text.starts_with('-') && text.contains('c');
            is_plain &= text[1..]
                .bytes()
                .all(|it| matches!(it, b'c' | b'e' | b'u' | b'x' | b'f'));
            n += 1;
            if text.ends_with(['o', 'O']) {
                n += 1;
            }
            if text.contains('s') && !text.contains('c') {
                n = words.len();
            }
        }
        let given = self.stdin.clone();
        match words.get(n) {
            Some(script) if has_script => {
                self.forbid_tainted(script.taint);
                if !is_plain || !script.known || script.glob {
                    self.at_least(Risk::Run);
                }
                if !matches!(last_part(&words[0].text), "sh" | "bash" | "dash") {
                    self.at_least(Risk::Run);
                }
                let text = script.text.clone();
                let arguments: Vec<Word> = words[n + 1..].to_vec();
                self.apart(|it| {
                    it.arguments = Some(arguments);
                    it.nested(&text)
                });
            }
            Some(file) => {
                self.at_least(Risk::Run);
                self.forbid_tainted(file.taint);
                if matches!(
                    file.text.as_str(),
                    "/dev/stdin" | "-" | "/dev/fd/0" | "/proc/self/fd/0"
                ) {
                    self.read_in(&given);
                }
                self.name_paths(&words[n..]);
            }
            None if reads && !has_script => self.read_in(&given),
            None => self.at_least(Risk::Run),
        }
    }

    /// A shell reads its script from here.
    pub fn read_in(&mut self, given: &Feed) {
        self.at_least(Risk::Run);
        self.forbid_tainted(given.taint);
        if let Some(text) = &given.text {
            self.apart(|it| it.with_stdin(Feed::default(), |it| it.nested(text)));
        }
    }

    pub fn forbid_tainted(&mut self, taint: Taint) {
        match taint {
            Taint::None => {}
            Taint::Decoded => self.forbid("running decoded text, which nobody can read beforehand"),
            Taint::Downloaded => {
                self.forbid("running what is downloaded, unseen (a download into a shell)")
            }
        }
    }

    pub fn interpreter(&mut self, name: &str, words: &[Word]) {
        if programs::is_version(words)
            && matches!(
                name,
                "python" | "python3" | "node" | "perl" | "ruby" | "php" | "lua"
            )
        {
            return;
        }
        if let Some(risk) = installs::risk(name, words[0].text.starts_with('.'), words) {
            self.at_least(risk);
        }
        self.at_least(Risk::Run);
        if matches!(name, "pwsh" | "powershell") {
            super::powershell::called(self, words);
            return;
        }
        let reads = words[1..]
            .iter()
            .all(|it| it.text == "-" || it.text == "/dev/stdin");
        if reads {
            let taint = self.stdin.taint;
            self.forbid_tainted(taint);
        }
        for pair in words.windows(2) {
            if matches!(
                pair[0].text.as_str(),
                "-c" | "-e" | "-r" | "-E" | "--eval" | "--execute"
            ) {
                self.forbid_tainted(pair[1].taint);
            }
        }
        if let Some(file) = words.get(1).filter(|it| it.text.starts_with(HOLE)) {
            self.forbid_tainted(file.taint);
        }
        self.name_paths(&words[1..]);
    }

    pub fn eval(&mut self, words: &[Word]) {
        let words = match words.first() {
            Some(first) if first.text == "--" => &words[1..],
            _ => words,
        };
        if words.iter().any(|it| !it.known || it.glob) {
            self.at_least(Risk::Run);
        }
        for word in words {
            self.forbid_tainted(word.taint);
        }
        let texts: Vec<&str> = words.iter().map(|it| it.text.as_str()).collect();
        self.nested(&texts.join(" "));
    }
}
