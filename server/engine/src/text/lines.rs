//! Takes a text apart into lines, each with its own ending.

/// The lines of `text` with their endings; joined they give `text` again. The last one has no ending unless
/// the text ends with one, and there is no empty line after a final ending.
pub(super) fn lines(text: &str) -> Lines<'_> {
    Lines { rest: text }
}

pub(super) struct Lines<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let up_to_lf = self.rest.find('\n').map_or(self.rest.len(), |it| it + 1);
        let bytes = &self.rest.as_bytes()[..up_to_lf];
        // Most lines have none, and `contains` is vectorised where `position` is not.
        let cr = match bytes.contains(&b'\r') {
            true => bytes.iter().position(|it| *it == b'\r'),
            false => None,
        };
        let end = match cr {
            Some(cr) if bytes.get(cr + 1) != Some(&b'\n') => cr + 1,
            Some(_) | None => up_to_lf,
        };
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(line)
    }
}

/// A line without its ending, and the ending: `""`, `"\n"`, `"\r\n"` or `"\r"`.
pub(super) fn split_ending(line: &str) -> (&str, &str) {
    let content = match line.strip_suffix('\n') {
        Some(it) => it.strip_suffix('\r').unwrap_or(it),
        None => line.strip_suffix('\r').unwrap_or(line),
    };
    line.split_at(content.len())
}

/// Whether a cut at `offset` would part a `\r` from the `\n` that belongs to it.
pub(super) fn is_inside_crlf(text: &str, offset: usize) -> bool {
    let bytes = text.as_bytes();
    offset > 0 && bytes[offset - 1] == b'\r' && bytes.get(offset) == Some(&b'\n')
}
