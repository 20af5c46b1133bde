//! Says an edit in whole lines where an editor said it otherwise.

use ropey::Rope;

use crate::text::Edit;

/// The same change, as whole lines if that can be: a new line `  b` before `  a` is also a `b`, a line break
/// and two blanks behind the blanks of `a`, and that is how editors that compare characters say it. Only insertions
/// and deletions with a line break; others are as they were.
pub(super) fn aligned(live: &Rope, edit: Edit) -> Edit {
    let Edit { range, text } = edit;
    let is_deletion = text.is_empty();
    let own = match (range.is_empty(), is_deletion) {
        (true, false) => text,
        (false, true) => live.byte_slice(range.clone()).to_string(),
        (true, true) | (false, false) => return Edit { range, text },
    };
    let moved = |start: usize, text: String| match is_deletion {
        true => Edit {
            range: start..start + text.len(),
            text: String::new(),
        },
        false => Edit {
            range: start..start,
            text,
        },
    };
    let line = live.byte_to_line(range.start);
    let start = live.line_to_byte(line);
    let is_aligned = start == range.start && own.ends_with('\n');
    if is_aligned || !own.contains('\n') {
        return moved(range.start, own);
    }
    // To the left, over what stands before it in its line.
    if own.len() >= range.start - start {
        let before = live.byte_slice(start..range.start).to_string();
        if let Some(rest) = own.strip_suffix(&*before) {
            let lines = format!("{before}{rest}");
            if lines.ends_with('\n') {
                return moved(start, lines);
            }
        }
    }
    // To the right, over the rest of the line, which comes after it.
    let next = live.line_to_byte(live.byte_to_line(range.end) + 1);
    let n_rest = next - range.end;
    if n_rest <= own.len() {
        let after = live.byte_slice(range.end..next).to_string();
        if let Some(rest) = own.strip_prefix(&*after) {
            let lines = format!("{rest}{after}");
            if after.ends_with('\n') {
                return moved(range.start + n_rest, lines);
            }
        }
    }
    moved(range.start, own)
}
