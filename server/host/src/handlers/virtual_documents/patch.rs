//! Hunks of the ledger as a unified diff. Nothing is compared: the ledger knows what stood where.

use engine::review::ReviewHunk;
use ropey::Rope;

/// Lines of unchanged text around a hunk.
const CONTEXT: usize = 3;

/// The hunks of one file, in order, from their accepted lines to `live`. Hunks that are left out count as
/// unchanged text. Lines end with `\n` here, whatever else they end with.
pub(super) fn hunks(live: &Rope, hunks: &[&ReviewHunk]) -> String {
    let n_lines = lines_of(live);
    let mut text = String::new();
    // Old line numbers less new ones, before the group.
    let mut shift = 0;
    for group in hunks.chunk_by(|a, b| b.lines.start as usize - a.lines.end as usize <= 2 * CONTEXT)
    {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let start = (first.lines.start as usize).saturating_sub(CONTEXT);
        let end = (last.lines.end as usize + CONTEXT).min(n_lines);
        let mut body = String::new();
        let mut at = start;
        let before = shift;
        for hunk in group {
            let (from, to) = (hunk.lines.start as usize, hunk.lines.end as usize);
            (at..from).for_each(|it| line(&mut body, ' ', &live.line(it).to_string()));
            let base = Rope::from_str(&hunk.base_text);
            let n_base = lines_of(&base);
            (0..n_base).for_each(|it| line(&mut body, '-', &base.line(it).to_string()));
            (from..to).for_each(|it| line(&mut body, '+', &live.line(it).to_string()));
            shift += n_base as isize - hunk.lines.len() as isize;
            at = to;
        }
        (at..end).for_each(|it| line(&mut body, ' ', &live.line(it).to_string()));
        let n_new = end - start;
        let n_old = n_new.strict_add_signed(shift - before);
        let old = numbers(start.strict_add_signed(before), n_old);
        text.push_str(&format!("@@ -{old} +{} @@\n{body}", numbers(start, n_new)));
    }
    text
}

/// Lines count from 1; a range of none names the line before it.
fn numbers(start: usize, n: usize) -> String {
    match n {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        n => format!("{},{n}", start + 1),
    }
}

fn lines_of(rope: &Rope) -> usize {
    let n = rope.len_lines();
    match rope.line(n - 1).len_bytes() {
        0 => n - 1,
        _ => n,
    }
}

fn line(text: &mut String, mark: char, line: &str) {
    text.push(mark);
    text.push_str(line.strip_suffix('\n').unwrap_or(line));
    text.push('\n');
    if !line.ends_with(['\n', '\r']) {
        text.push_str("\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::review::{Author, By, Ledger};
    use expect_test::expect;
    use protocol::session::{CallId, TurnId};

    fn author(turn: u64) -> Author {
        Author {
            session: "s".to_owned(),
            turn: TurnId(turn),
            call: CallId(turn),
        }
    }

    /// The lines 1 to 20, some of them exchanged.
    fn text(changes: &[(usize, &str)]) -> String {
        let line = |n: usize| match changes.iter().find(|it| it.0 == n) {
            Some((_, new)) => (*new).to_owned(),
            None => format!("{n}\n"),
        };
        (1..=20).map(line).collect()
    }

    #[test]
    fn it_is_the_diff_that_a_comparison_of_both_texts_gives() {
        let cases: [&[(usize, &str)]; 8] = [
            &[(3, "three\n")],
            &[(1, ""), (20, "20")],
            &[(5, "5\n5a\n5b\n"), (8, ""), (19, "x\n")],
            &[(1, "0\n1\n")],
            &[(4, "a\n"), (11, "b\n")],
            &[(4, "a\n"), (12, "b\n")],
            &[(20, "20\n21\n22")],
            &[(10, "10\r\n")],
        ];
        for changes in cases {
            let (old, new) = (text(&[]), text(changes));
            let mut ledger = Ledger::new(Rope::from_str(&old));
            ledger.replaced(&new, By::Agent(&author(1)));
            let all = ledger.hunks();
            let made = hunks(ledger.live(), &all.iter().collect::<Vec<_>>());
            let compared = engine::text::unified(&old, &new, "a", "b", CONTEXT, 1000).text;
            assert_eq!(format!("--- a\n+++ b\n{made}"), compared);
        }
    }

    #[test]
    fn what_is_left_out_counts_as_unchanged() {
        let mut ledger = Ledger::new(Rope::from_str(&text(&[])));
        ledger.replaced(&text(&[(2, "")]), By::Agent(&author(1)));
        ledger.replaced(&text(&[(2, ""), (5, "five\n")]), By::Agent(&author(2)));
        let all = ledger.hunks();
        let second: Vec<&ReviewHunk> = all.iter().skip(1).collect();
        expect![[r#"
            @@ -1,7 +1,7 @@
             1
             3
             4
            -5
            +five
             6
             7
             8
        "#]]
        .assert_eq(&hunks(ledger.live(), &second));
    }
}
