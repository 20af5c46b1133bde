//! Finds where an edit of a model belongs and makes a change set of it.

use std::{borrow::Cow, fmt, ops::Range};

use super::{
    change_set::ChangeSet,
    endings::{adopt, usual_ending},
    lines::{is_inside_crlf, lines, split_ending},
    similar,
};

/// Puts `replacement` in the place of `target`, which must stand in `text` once, or at least once with
/// `allow_multiple`.
///
/// `target` is looked for as it is; if it is nowhere, line endings may differ, since models write `\n` whatever
/// the file has. Lines that come in take the ending of the lines they replace, or of the line before them, or
/// of the file; other lines stay byte for byte. An edit of line endings alone is done as it is written. A
/// target that begins with the `\n` of a CRLF takes its `\r` too; one that ends with the `\r` leaves the CRLF.
pub fn replace(
    text: &str,
    target: &str,
    replacement: &str,
    allow_multiple: bool,
) -> Result<ChangeSet, LocateError> {
    if target.is_empty() {
        return Err(LocateError::EmptyTarget);
    }
    if target == replacement {
        return Err(LocateError::Unchanged);
    }
    let exact = exact_places(text, target);
    // With the same lines in both there is nothing to do but change the endings.
    let is_about_endings =
        !exact.is_empty() && with_plain_endings(target).0 == with_plain_endings(replacement).0;
    let places = match exact.is_empty() {
        true => tolerant_places(text, target),
        false => exact,
    };
    match places.len() {
        0 => {
            return Err(LocateError::NotFound {
                nearest: similar::nearest(text, target),
            });
        }
        count @ 2.. if !allow_multiple => return Err(LocateError::Ambiguous { count }),
        _ if !allow_multiple && overlaps_itself(text, target, &places[0]) => {
            return Err(LocateError::Ambiguous { count: 2 });
        }
        _ => {}
    }

    let mut endings = Endings::of(text);
    let mut steps = ChangeSet::default();
    for place in places {
        // In front of a `\n` a last `\r` is half of a CRLF that the model had in mind.
        let replacement = match text[place.end..].starts_with('\n') {
            true => replacement.strip_suffix('\r').unwrap_or(replacement),
            false => replacement,
        };
        let new = match is_about_endings {
            true => replacement.to_owned(),
            false => adopted(
                &text[place.clone()],
                target,
                replacement,
                endings.at(place.start),
            ),
        };
        let new = joined(text, &place, &new);
        steps.keep(place.start - steps.old_len());
        steps.append(&ChangeSet::between(&text[place], &new));
    }
    steps.keep(text.len() - steps.old_len());
    match steps.is_identity() {
        true => Err(LocateError::Unchanged),
        false => Ok(steps),
    }
}

/// Why an edit has no place. Told to the model as it is displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocateError {
    EmptyTarget,
    /// `nearest` is the most similar part of the file, if any is: its first line, from 1, and its text.
    NotFound {
        nearest: Option<(u32, String)>,
    },
    Ambiguous {
        count: usize,
    },
    /// Nothing would change, at most line endings which the file keeps.
    Unchanged,
}

impl std::error::Error for LocateError {}

impl fmt::Display for LocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LocateError::EmptyTarget => f.write_str(
                "target_content is empty; give the text to replace, with enough lines around it to be unique",
            ),
            LocateError::NotFound { nearest: None } => f.write_str(
                "target_content does not occur in the file, nor does anything like it; \
                 read the file and copy the lines to replace exactly",
            ),
            LocateError::NotFound { nearest: Some((line, text)) } => write!(
                f,
                "target_content does not occur in the file; the most similar text starts at line {line}:\n\
                 {text}\n\
                 Copy the lines to replace exactly as they stand in the file, with their indentation"
            ),
            LocateError::Ambiguous { count } => write!(
                f,
                "target_content occurs {count} times; add lines around it or set allow_multiple"
            ),
            LocateError::Unchanged => f.write_str(
                "the replacement is the same as what it replaces, so nothing would change; \
                 give other text, or go on if the file is already as you want it",
            ),
        }
    }
}

/// Occurrences byte for byte, none of which overlap.
fn exact_places(text: &str, target: &str) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    for (start, _) in text.match_indices(target) {
        let end = start + target.len();
        let start = if is_inside_crlf(text, start) {
            start - 1
        } else {
            start
        };
        let end = if is_inside_crlf(text, end) {
            end + 1
        } else {
            end
        };
        if places.last().is_none_or(|it| it.end <= start) {
            places.push(start..end);
        }
    }
    places
}

/// Occurrences when every line ending counts as `\n`.
fn tolerant_places(text: &str, target: &str) -> Vec<Range<usize>> {
    let (plain_text, cut) = with_plain_endings(text);
    let (plain_target, _) = with_plain_endings(target);
    // A place in the plain text is this one in the text, which has one byte more for every cut before it.
    let original = |at: usize| at + cut.partition_point(|it| *it < at);
    plain_text
        .match_indices(&*plain_target)
        .map(|(at, _)| original(at)..original(at + plain_target.len()))
        .collect()
}

/// Whether another occurrence starts inside the only one. Then it is not clear which is meant.
fn overlaps_itself(text: &str, target: &str, place: &Range<usize>) -> bool {
    let (here, _) = with_plain_endings(&text[place.start..]);
    let (target, _) = with_plain_endings(target);
    let first = here.chars().next().map_or(0, char::len_utf8);
    // Later ones would have been found already, so only what can overlap is searched.
    let end = here.floor_char_boundary(2 * target.len() - 1);
    here[first.min(end)..end].contains(&*target)
}

/// The text with `\n` for every ending, and the places in it which had a `\r` more.
fn with_plain_endings(text: &str) -> (Cow<'_, str>, Vec<usize>) {
    if !text.contains('\r') {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut plain = String::with_capacity(text.len());
    let mut cut = Vec::new();
    for line in lines(text) {
        let (content, ending) = split_ending(line);
        plain.push_str(content);
        if ending == "\r\n" {
            cut.push(plain.len());
        }
        if !ending.is_empty() {
            plain.push('\n');
        }
    }
    (Cow::Owned(plain), cut)
}

/// The replacement with the line endings of the place, whose old text this is.
fn adopted(old: &str, target: &str, replacement: &str, ending: &'static str) -> String {
    // The place was widened over a CRLF of which the target has only the `\r`: the line still has to end.
    match target.ends_with('\r') && old.ends_with('\n') {
        true => {
            let replacement = replacement.strip_suffix('\r').unwrap_or(replacement);
            adopt(old, &format!("{replacement}\n"), ending)
        }
        false => adopt(old, replacement, ending),
    }
}

/// Tells the ending of the line on which a place starts; asked for one place after the other.
struct Endings<'a> {
    text: &'a str,
    usual: &'static str,
    /// Up to where the last answer holds. Without it a file of one long line would be read again at each place.
    line_end: usize,
    ending: &'static str,
}

impl<'a> Endings<'a> {
    fn of(text: &'a str) -> Endings<'a> {
        let usual = usual_ending(text).unwrap_or("\n");
        Endings {
            text,
            usual,
            line_end: 0,
            ending: usual,
        }
    }

    fn at(&mut self, place: usize) -> &'static str {
        if place >= self.line_end {
            let line = lines(&self.text[place..]).next().unwrap_or_default();
            self.line_end = place + line.len();
            self.ending = match split_ending(line).1 {
                "\n" => "\n",
                "\r\n" => "\r\n",
                _ => self.usual,
            };
        }
        self.ending
    }
}

/// `new` such that no ending is lost where it meets the text around its place: a lone `\r` and a `\n` that come
/// to stand side by side would end one line instead of two, so the `\n` becomes a CRLF.
fn joined(text: &str, place: &Range<usize>, new: &str) -> String {
    let (before, after) = (&text[..place.start], &text[place.end..]);
    let mut out = String::with_capacity(new.len() + 2);
    if before.ends_with('\r')
        && (new.starts_with('\n') || new.is_empty() && after.starts_with('\n'))
    {
        out.push('\r');
    }
    out.push_str(new);
    if new.ends_with('\r') && after.starts_with('\n') {
        out.push('\r');
    }
    out
}
