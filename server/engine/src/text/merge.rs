//! Brings together what two have made of one text, line by line.
//!
//! As git does it: what only one of them changed is taken, and so is what both changed alike. Where both changed the
//! same lines otherwise, or lines that touch each other, nobody can say what is meant, and it is a conflict.

use super::{
    diff::{Change, changes},
    lines::lines,
};
use std::fmt;
use std::ops::Range;

/// Places that both changed, each in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Lines of what one of them has now, from 0, the end not included; one range a place, in order.
    pub places: Vec<Range<usize>>,
}

impl std::error::Error for Conflict {}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 4;
        let lines: Vec<String> = self.places.iter().take(SHOWN).map(numbers).collect();
        let more = match self.places.len().checked_sub(SHOWN) {
            Some(n @ 1..) => format!(" and {n} more"),
            Some(0) | None => String::new(),
        };
        write!(f, "both changed {}{more}", lines.join(", "))
    }
}

fn numbers(place: &Range<usize>) -> String {
    match place.len() {
        0 | 1 => format!("line {}", place.start + 1),
        _ => format!("lines {}-{}", place.start + 1, place.end),
    }
}

/// The text with what `ours` and `theirs` each made of `base`. The lines of a conflict are those of `ours`.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, Conflict> {
    if base == theirs || ours == theirs {
        return Ok(ours.to_owned());
    }
    if base == ours {
        return Ok(theirs.to_owned());
    }
    let [base, ours, theirs] = [base, ours, theirs].map(|it| lines(it).collect::<Vec<_>>());
    let (mut ours, mut theirs) = (Side::new(&base, &ours), Side::new(&base, &theirs));
    let (mut text, mut places, mut at) = (String::new(), Vec::new(), 0);
    while let Some(start) = [ours.next(), theirs.next()].into_iter().flatten().min() {
        text.extend(base[at..start].iter().copied());
        let (ours_from, theirs_from) = (ours.at(start), theirs.at(start));
        // What touches belongs together, from either side, until neither has more of it.
        let mut end = start;
        let mut is_changed = (false, false);
        loop {
            let more = (ours.take(&mut end), theirs.take(&mut end));
            is_changed = (is_changed.0 | more.0, is_changed.1 | more.1);
            if more == (false, false) {
                break;
            }
        }
        let ours_here = ours_from..ours.at(end);
        let (our_lines, their_lines) = (
            &ours.lines[ours_here.clone()],
            &theirs.lines[theirs_from..theirs.at(end)],
        );
        match is_changed {
            (true, true) if our_lines != their_lines => places.push(ours_here),
            (true, _) => text.extend(our_lines.iter().copied()),
            (false, _) => text.extend(their_lines.iter().copied()),
        }
        at = end;
    }
    text.extend(base[at..].iter().copied());
    match places.is_empty() {
        true => Ok(text),
        false => Err(Conflict { places }),
    }
}

/// What one of them made of the base, walked through from its start.
struct Side<'a> {
    lines: &'a [&'a str],
    changes: std::iter::Peekable<std::vec::IntoIter<Change>>,
    /// Where the unchanged lines after the last change that was taken stand: in the base, and here.
    after: (usize, usize),
}

impl<'a> Side<'a> {
    fn new(base: &[&str], lines: &'a [&'a str]) -> Self {
        let changes = changes(base.iter().copied(), lines.iter().copied());
        Self {
            lines,
            changes: changes.into_iter().peekable(),
            after: (0, 0),
        }
    }

    /// The line of the base where its next change is.
    fn next(&mut self) -> Option<usize> {
        self.changes.peek().map(|it| it.old.start)
    }

    /// Takes its changes that begin up to this line of the base, and moves that behind them; answers whether there
    /// were any.
    fn take(&mut self, end: &mut usize) -> bool {
        let mut any = false;
        while let Some(it) = self.changes.next_if(|it| it.old.start <= *end) {
            *end = it.old.end.max(*end);
            self.after = (it.old.end, it.new.end);
            any = true;
        }
        any
    }

    /// Where a line of the base stands here, which no change that was not taken yet comes before.
    fn at(&self, line: usize) -> usize {
        self.after.1 + (line - self.after.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, ours: &str, theirs: &str, expected: Result<&str, &str>) {
        let merged = merge(base, ours, theirs).map_err(|it| it.to_string());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(merged, expected);
        // Whose is whose does not matter, but for where a conflict is said to be.
        let turned = merge(base, theirs, ours);
        assert_eq!(turned.ok(), merged.ok());
    }

    #[test]
    fn what_only_one_changed_is_taken() {
        check("a\nb\nc\n", "a\nb\nc\n", "a\nB\nc\n", Ok("a\nB\nc\n"));
        check("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", Ok("A\nb\nC\n"));
        check(
            "a\nb\nc\nd\n",
            "new\na\nb\nc\nd\n",
            "a\nb\nd\nlast\n",
            Ok("new\na\nb\nd\nlast\n"),
        );
        check("", "", "new\n", Ok("new\n"));
    }

    #[test]
    fn what_both_changed_alike_is_taken_once() {
        check("a\nb\nc\n", "a\nx\nc\n", "a\nx\nc\n", Ok("a\nx\nc\n"));
        check(
            "a\nb\nc\nd\n",
            "a\nx\nc\nd\n",
            "a\nx\nc\nD\n",
            Ok("a\nx\nc\nD\n"),
        );
        check("a\n", "a\nx\n", "a\nx\n", Ok("a\nx\n"));
    }

    #[test]
    fn the_same_lines_changed_otherwise_are_a_conflict() {
        let both = Err("both changed line 2");
        check("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", both);
        check("a\nb\nc\n", "a\nx\nc\n", "a\nc\n", both);
        check(
            "a\nb\nc\nd\ne\n",
            "1\n2\na\nB\nC\nd\ne\n",
            "a\nx\nc\nd\nE\n",
            Err("both changed lines 4-5"),
        );
        check("a\n", "a\nx\n", "a\ny\n", Err("both changed line 2"));
    }

    #[test]
    fn lines_that_touch_are_a_conflict_as_they_are_for_git() {
        check("a\nb\n", "A\nb\n", "a\nB\n", Err("both changed lines 1-2"));
        check(
            "a\nb\nc\n",
            "A\nb\nc\n",
            "a\nnew\nb\nc\n",
            Err("both changed line 1"),
        );
    }

    #[test]
    fn a_last_line_without_its_ending_is_a_line_like_others() {
        check("a\nb\nc", "A\nb\nc", "a\nb\nC", Ok("A\nb\nC"));
        check("a\nb", "a\nb\n", "a\nb\nc\n", Err("both changed line 2"));
    }

    #[test]
    fn merging_changes_far_apart_is_doing_one_after_the_other() {
        for seed in 0..300 {
            let mut random = fastrand::Rng::with_seed(seed);
            let base: Vec<String> = (0..40).map(|it| format!("line {it}\n")).collect();
            let mut changed = |part: Range<usize>| {
                let mut lines = base.clone();
                for at in part.rev() {
                    match random.u8(0..6) {
                        0 => drop(lines.remove(at)),
                        1 => lines.insert(at, format!("new {at} {}\n", random.u8(..))),
                        2 => lines[at] = format!("other {at} {}\n", random.u8(..)),
                        _ => {}
                    }
                }
                lines.concat()
            };
            let (ours, theirs) = (changed(2..18), changed(22..38));
            let merged = merge(&base.concat(), &ours, &theirs).unwrap();
            let head = ours.find("line 19\n").unwrap();
            let tail = theirs.find("line 19\n").unwrap();
            assert_eq!(merged, ours[..head].to_owned() + &theirs[tail..], "{seed}");
        }
    }
}
