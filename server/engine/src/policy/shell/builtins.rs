//! Words of the shell itself that change its folder, its options or its variables.

use super::reader::Reader;
use super::word::Word;
use protocol::tool::Risk;

impl Reader<'_> {
    pub fn cd(&mut self, words: &[Word]) {
        let words: Vec<&Word> = words
            .iter()
            .filter(|it| !matches!(it.text.as_str(), "-P" | "-L" | "-e" | "--"))
            .collect();
        match words.as_slice() {
            [] => {
                let home = super::place::home(self.around);
                self.change_folder(&Word::of(&home));
            }
            [to] => self.change_folder(to),
            _ => {
                self.at_least(Risk::Run);
                self.cwds.clear();
            }
        }
    }

    /// `set -e` and its like; `set -- a b` gives arguments.
    pub fn set_options(&mut self, words: &[Word]) {
        let mut n = 0;
        while let Some(word) = words.get(n) {
            let text = word.text.as_str();
            let is_plain = word.known
                && text.len() > 1
                && text.starts_with(['-', '+'])
                && text[1..]
                    .bytes()
                    .all(|it| matches!(it, b'e' | b'u' | b'x' | b'f' | b'v' | b'o' | b'C'));
            if !is_plain {
                break;
            }
            n += 1;
            if text.ends_with('o') {
                match words.get(n).map(|it| it.text.as_str()) {
                    Some(
                        "pipefail" | "errexit" | "nounset" | "xtrace" | "noglob" | "noclobber",
                    ) => n += 1,
                    Some(_) | None => break,
                }
            }
        }
        if n == words.len() {
            return;
        }
        self.at_least(Risk::Run);
        let rest = &words[n..];
        if rest
            .first()
            .is_some_and(|it| it.text == "--" || !it.text.starts_with('-'))
        {
            let skip = usize::from(rest[0].text == "--");
            let mut arguments = vec![Word::of("sh")];
            arguments.extend_from_slice(&rest[skip..]);
            self.arguments = Some(arguments);
        }
    }

    pub fn read_names(&mut self, words: &[Word]) {
        for word in words {
            let text = word.text.as_str();
            if text.starts_with('-') {
                if text != "-r" && text != "-d" {
                    self.at_least(Risk::Run);
                }
                continue;
            }
            if !word.known || !super::assign::is_harmless_name(text) {
                if !text.is_empty() {
                    self.at_least(Risk::Run);
                }
                continue;
            }
            let taint = self.stdin.taint;
            self.set(
                text,
                super::word::Value {
                    taint,
                    ..super::word::Value::unknown()
                },
            );
        }
    }
}
