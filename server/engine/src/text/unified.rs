//! Prints a unified diff, for people and models to read.

use std::ops::Range;

use super::diff::{Change, changes};

/// Lines of a diff that are shown before the rest is left out.
pub const DISPLAY_CAP: usize = 220;

/// A diff in the format of `git diff`, without git's own header lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unified {
    /// Headers, hunks and their lines; empty when nothing differs. A line of the files keeps its `\r`.
    pub text: String,
    /// Lines added, all of them, whatever the text was cut to.
    pub added: usize,
    /// Lines removed, likewise.
    pub removed: usize,
    /// Whether `text` ends before the diff does.
    pub truncated: bool,
}

/// Prints what makes `new` of `old`, with `context` lines around each change and at most `max_lines` lines in
/// all. Lines end with `\n` alone here, as they do for every tool that reads such a diff. The names stand in
/// the header as given; `/dev/null` is the name of a file that is not there.
pub fn unified(
    old: &str,
    new: &str,
    old_name: &str,
    new_name: &str,
    context: usize,
    max_lines: usize,
) -> Unified {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let all = changes(old_lines.iter().copied(), new_lines.iter().copied());

    let mut page = Page {
        text: String::new(),
        room: max_lines,
        truncated: false,
    };
    if !all.is_empty() {
        page.line("--- ", old_name);
        page.line("+++ ", new_name);
    }
    for group in grouped(&all, context) {
        if page.truncated {
            break;
        }
        print_group(&mut page, group, &old_lines, &new_lines, context);
    }
    Unified {
        text: page.text,
        added: all.iter().map(|it| it.new.len()).sum(),
        removed: all.iter().map(|it| it.old.len()).sum(),
        truncated: page.truncated,
    }
}

/// Changes whose context would meet are printed as one hunk.
fn grouped(all: &[Change], context: usize) -> impl Iterator<Item = &[Change]> {
    all.chunk_by(move |a, b| b.old.start - a.old.end <= context.saturating_mul(2))
}

fn print_group(
    page: &mut Page,
    group: &[Change],
    old_lines: &[&str],
    new_lines: &[&str],
    context: usize,
) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return;
    };
    // What stands before a change and after it is the same in both texts.
    let before = context.min(first.old.start);
    let after = context.min(old_lines.len() - last.old.end);
    let old = first.old.start - before..last.old.end + after;
    let new = first.new.start - before..last.new.end + after;
    page.line("@@ ", &format!("-{} +{} @@", numbers(&old), numbers(&new)));

    let mut at = old.start;
    for change in group {
        page.lines(" ", &old_lines[at..change.old.start]);
        page.lines("-", &old_lines[change.old.clone()]);
        page.lines("+", &new_lines[change.new.clone()]);
        at = change.old.end;
    }
    page.lines(" ", &old_lines[at..old.end]);
}

/// Lines count from 1. A count of 1 is left out, and a range of no lines names the line before it.
fn numbers(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        n => format!("{},{n}", range.start + 1),
    }
}

/// Text with room for so many more lines.
struct Page {
    text: String,
    room: usize,
    truncated: bool,
}

impl Page {
    fn lines(&mut self, mark: &str, lines: &[&str]) {
        for line in lines {
            if self.truncated {
                return;
            }
            match line.strip_suffix('\n') {
                Some(it) => self.line(mark, it),
                None => {
                    self.line(mark, line);
                    self.line("\\ ", "No newline at end of file");
                }
            }
        }
    }

    fn line(&mut self, mark: &str, line: &str) {
        if self.room == 0 {
            self.truncated = true;
            return;
        }
        self.room -= 1;
        self.text.push_str(mark);
        self.text.push_str(line);
        self.text.push('\n');
    }
}
