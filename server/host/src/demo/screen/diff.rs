//! A change to a file as a person reads it in a terminal: hunks in red and green, with line numbers.

use super::Colours;
use engine::text::Hunk;
use std::fmt::Write;

/// Lines of one diff that are shown.
const MOST: usize = 80;

/// The hunks between two texts, each with one line around it. Removed lines bear the old numbers, all others the new.
pub fn diff(old: &str, new: &str, colours: Colours) -> String {
    let lines = rows(old, new);
    let width = lines
        .iter()
        .filter_map(|it| it.number)
        .max()
        .unwrap_or(0)
        .to_string()
        .len();
    let mut out = String::new();
    for row in lines.iter().take(MOST) {
        let number = row.number.map(|it| it.to_string()).unwrap_or_default();
        let line = format!("{} {number:>width$}  {}", row.mark, row.text);
        let line = line.trim_end();
        // Writing to a String has no error.
        let _ = match row.mark {
            '-' => writeln!(out, "{}", colours.red(line)),
            '+' => writeln!(out, "{}", colours.green(line)),
            _ => writeln!(out, "{}", colours.dim(line)),
        };
    }
    if lines.len() > MOST {
        let _ = writeln!(
            out,
            "{}",
            colours.dim(&format!("({} more lines)", lines.len() - MOST))
        );
    }
    out
}

/// One line of the picture.
struct Row {
    mark: char,
    /// Counted from 1; none between two hunks.
    number: Option<u32>,
    text: String,
}

fn rows(old: &str, new: &str) -> Vec<Row> {
    let new_lines: Vec<&str> = new.lines().collect();
    let context = |at: u32| {
        let text = new_lines.get(at as usize).copied().unwrap_or_default();
        Row {
            mark: ' ',
            number: Some(at + 1),
            text: super::plain(text),
        }
    };
    let hunks = engine::text::hunks(old, new);
    let n_new = u32::try_from(new_lines.len()).unwrap_or(u32::MAX);
    let mut rows = Vec::new();
    // The line of the new text after the last one that is in the picture.
    let mut shown = 0;
    for Hunk {
        old,
        new,
        removed,
        added,
    } in hunks
    {
        let before = new.start.saturating_sub(1).max(shown);
        if before > shown && !rows.is_empty() {
            rows.push(Row {
                mark: ' ',
                number: None,
                text: "...".to_owned(),
            });
        }
        rows.extend((before..new.start).map(context));
        let marked = |mark: char, first: u32, lines: Vec<String>| {
            (first + 1..).zip(lines).map(move |(number, line)| Row {
                mark,
                number: Some(number),
                text: super::plain(&line),
            })
        };
        rows.extend(marked('-', old.start, removed));
        rows.extend(marked('+', new.start, added));
        shown = (new.end + 1).min(n_new);
        rows.extend((new.end..shown).map(context));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn hunks_stand_with_a_line_around_them_and_their_numbers() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
        let new = "a\nB\nc\nd\ne\nf\ng\nH1\nH2\nj\n";
        expect![[r#"
               1  a
            -  2  b
            +  2  B
               3  c
                  ...
               7  g
            -  8  h
            -  9  i
            +  8  H1
            +  9  H2
              10  j
        "#]]
        .assert_eq(&diff(old, new, Colours::Off));
    }

    #[test]
    fn hunks_that_touch_share_the_line_between_them() {
        expect![[r#"
            - 1  a
            + 1  A
              2  b
            - 3  c
            + 3  C
        "#]]
        .assert_eq(&diff("a\nb\nc\n", "A\nb\nC\n", Colours::Off));
        expect![[r#"
            - 1  a
              1  b
              2  c
            + 3  d
        "#]]
        .assert_eq(&diff("a\nb\nc\n", "b\nc\nd\n", Colours::Off));
    }

    #[test]
    fn a_new_file_is_all_added_and_an_equal_one_shows_nothing() {
        expect![[r#"
            + 1  a
            + 2  b
        "#]]
        .assert_eq(&diff("", "a\nb", Colours::Off));
        assert_eq!(diff("a\n", "a\n", Colours::Off), "");
    }

    #[test]
    fn colours_are_whole_lines_and_nothing_in_the_text_reaches_the_terminal_as_a_command() {
        let shown = diff("\x1b[2Jx\n", "y\n", Colours::On);
        expect![[r#""\u{1b}[31m- 1  [2Jx\u{1b}[0m\n\u{1b}[32m+ 1  y\u{1b}[0m\n""#]]
            .assert_eq(&format!("{shown:?}"));
    }

    #[test]
    fn a_long_diff_is_cut_and_says_so() {
        let new = "x\n".repeat(100);
        assert!(diff("", &new, Colours::Off).ends_with("(20 more lines)\n"));
    }
}
