//! A text as a patch sees it: lines by number.

use crate::text::{
    endings::usual_ending,
    lines::{lines, split_ending},
};

/// The lines of a text. As in every patch a line ends with `\n` or `\r\n`; only where a text has none of them, with
/// `\r`. A byte order mark belongs to the first line only if the patch writes it too.
pub(super) struct View<'a> {
    pub(super) text: &'a str,
    /// Without endings.
    pub(super) contents: Vec<&'a str>,
    /// Where each line starts in the text, and where the last one ends.
    pub(super) starts: Vec<usize>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl<'a> View<'a> {
    pub(super) fn of(text: &'a str, has_mark: bool) -> View<'a> {
        let rest = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if !has_mark => rest,
            Some(_) | None => text,
        };
        let mut view = View {
            text,
            contents: Vec::new(),
            starts: Vec::new(),
        };
        let mut at = text.len() - rest.len();
        let mut push = |line: &'a str, content: &'a str| {
            view.contents.push(content);
            view.starts.push(at);
            at += line.len();
        };
        match rest.contains('\n') {
            true => {
                for line in rest.split_inclusive('\n') {
                    let content = line
                        .strip_suffix('\n')
                        .map_or(line, |it| it.strip_suffix('\r').unwrap_or(it));
                    push(line, content);
                }
            }
            false => lines(rest).for_each(|line| push(line, split_ending(line).0)),
        }
        view.starts.push(text.len());
        view
    }

    pub(super) fn len(&self) -> usize {
        self.contents.len()
    }

    pub(super) fn ending(&self, line: usize) -> &'a str {
        &self.text[self.starts[line] + self.contents[line].len()..self.starts[line + 1]]
    }

    /// Whether the last line has no ending.
    pub(super) fn is_open(&self) -> bool {
        self.len()
            .checked_sub(1)
            .is_some_and(|last| self.ending(last).is_empty())
    }

    /// The ending for a line that comes in before `line`: of the line above, else below, else of the file.
    pub(super) fn ending_near(&self, line: usize) -> &'static str {
        let above = line.checked_sub(1).map(|it| self.ending(it));
        let below = (line < self.len()).then(|| self.ending(line));
        above
            .into_iter()
            .chain(below)
            .find_map(|it| match it {
                "\n" => Some("\n"),
                "\r\n" => Some("\r\n"),
                "\r" => Some("\r"),
                _ => None,
            })
            .or_else(|| usual_ending(self.text))
            .unwrap_or("\n")
    }
}

/// The blanks with which a line begins.
pub(super) fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}
