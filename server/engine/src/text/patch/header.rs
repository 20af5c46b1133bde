//! Reads the line that begins a hunk.

/// What a line that begins with `@@` says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Header<'a> {
    /// `@@ -4,3 +4,5 @@ heading`
    Range {
        line: usize,
        n_old: usize,
        n_new: usize,
        heading: &'a str,
    },
    /// `@@`, `@@ @@` or `@@ ... @@`
    Bare,
    /// `@@ class Reader`
    Anchor(&'a str),
    /// `@@@ -1,2 -1,2 +1,3 @@@`: the diff of a merge, with two marks on each line.
    Combined,
}

/// `line` has no ending and begins with `@@`. Blanks of a range may be missing.
pub(super) fn header(line: &str) -> Header<'_> {
    let rest = line.strip_prefix("@@").unwrap_or(line);
    if let Some(combined) = rest.strip_prefix('@')
        && combined.trim_start().starts_with('-')
    {
        return Header::Combined;
    }
    if let Some(range) = range(rest) {
        return range;
    }
    let text = rest.strip_suffix("@@").unwrap_or(rest);
    match text.trim_matches([' ', '\t', '.', '@', '…']).is_empty() {
        true => Header::Bare,
        // One blank belongs to the format, what follows it is indentation of the file.
        false => Header::Anchor(text.strip_prefix(' ').unwrap_or(text).trim_end()),
    }
}

fn range(rest: &str) -> Option<Header<'_>> {
    let rest = rest.trim_start().strip_prefix('-')?;
    let (line, n_old, rest) = pair(rest)?;
    let rest = rest.trim_start().strip_prefix('+')?;
    let (_, n_new, rest) = pair(rest)?;
    let rest = rest.trim_start();
    let heading = match rest.strip_prefix("@@") {
        Some(it) => it.trim(),
        None if rest.is_empty() => "",
        None => return None,
    };
    Some(Header::Range {
        line,
        n_old,
        n_new,
        heading,
    })
}

/// `12,3`, or `12` for a count of one, and what follows.
fn pair(text: &str) -> Option<(usize, usize, &str)> {
    let (line, rest) = number(text)?;
    match rest.strip_prefix(',') {
        Some(rest) => {
            let (count, rest) = number(rest)?;
            Some((line, count, rest))
        }
        None => Some((line, 1, rest)),
    }
}

fn number(text: &str) -> Option<(usize, &str)> {
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(n_digits);
    Some((digits.parse().ok()?, rest))
}
