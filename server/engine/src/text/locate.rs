//! Finds where an edit of a model belongs and makes a change set of it.

use std::{borrow::Cow, fmt, ops::Range};

use super::{
    change_set::ChangeSet,
    endings::{adopt, inheritable, usual_ending},
    lines::{is_inside_crlf, lines, split_ending},
    similar,
    whole_lines::{self, Fitting, Pass, without_final_ending},
};

/// Puts `replacement` in the place of `target`, which must stand in `text` once, or at least once with
/// `allow_multiple`.
///
/// `target` is looked for as it is; if it is nowhere, line endings may differ, since models write `\n` whatever
/// the file has; then it is looked for as whole lines, ever looser (spec 1.3). Of several places, the only one
/// that is whole lines is meant.
///
/// Where whole lines are replaced, a final line ending of target and replacement does not count, unless it is
/// all in which they differ. Then an empty replacement takes the lines out; a file that ends without an ending
/// goes on to do so.
///
/// Lines that come in take the ending of the lines they replace, or of the line before them, or of the file;
/// other lines stay byte for byte. An edit of line endings alone is done as it is written. A target that begins
/// with the `\n` of a CRLF takes its `\r` too; one that ends with the `\r` leaves the CRLF.
pub fn replace(
    text: &str,
    target: &str,
    replacement: &str,
    allow_multiple: bool,
) -> Result<Located, LocateError> {
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
    if places.is_empty() {
        return replace_lines(text, target, replacement, allow_multiple);
    }
    let places = match allow_multiple {
        true => places,
        false => vec![the_place(text, target, places)?],
    };
    let (target_lines, new_lines) = (
        without_final_ending(target),
        without_final_ending(replacement),
    );
    let is_as_written = is_about_endings || target_lines.is_empty() || target_lines == new_lines;

    let mut endings = Endings::of(text);
    let mut pieces = Vec::with_capacity(places.len());
    for place in places {
        if !is_as_written && is_whole_lines(text, &place) {
            let place = match target.ends_with(['\n', '\r']) {
                true => place.start..place.start + without_final_ending(&text[place]).len(),
                false => place,
            };
            let new = adopt(&text[place.clone()], new_lines, endings.at(place.start));
            pieces.push(Piece::of_lines(place, new));
            continue;
        }
        // In front of a `\n` a last `\r` is half of a CRLF that the model had in mind.
        let replacement = match text[place.end..].starts_with('\n') {
            true => replacement.strip_suffix('\r').unwrap_or(replacement),
            false => replacement,
        };
        let ending = endings.at(place.start);
        let new = match is_about_endings {
            true => replacement.to_owned(),
            false => adopted(&text[place.clone()], target, replacement, ending),
        };
        pieces.push(Piece {
            place,
            new,
            is_lines: false,
        });
    }
    if replacement.is_empty() {
        take_out(text, &mut pieces);
    }
    located(text, pieces, None)
}

/// Puts `new` on lines of its own behind line `line`, counted from 1; 0 is the top. A final ending of `new`
/// does not count. Nothing else changes: not even whether the file ends with a line ending.
pub fn insert_line(text: &str, line: usize, new: &str) -> Result<Located, LocateError> {
    if new.is_empty() {
        return Err(LocateError::Unchanged);
    }
    let n_lines = lines(text).count();
    if line > n_lines {
        return Err(LocateError::PastEnd { line, n_lines });
    }
    let at: usize = lines(text).take(line).map(str::len).sum();
    let before = lines(text).nth(line.saturating_sub(1)).unwrap_or_default();
    let usual = usual_ending(text).unwrap_or("\n");
    let ending = inheritable(before, usual).unwrap_or(usual);
    let new = adopt("", without_final_ending(new), ending);
    // Behind a last line without an ending, the new one is the last without.
    let new = match before.ends_with(['\n', '\r']) || line == 0 {
        true => format!("{new}{ending}"),
        false => format!("{ending}{new}"),
    };
    let piece = Piece {
        place: at..at,
        new,
        is_lines: true,
    };
    located(text, vec![piece], None)
}

/// An edit that has its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub changes: ChangeSet,
    /// What was overlooked to find the place; `None` when it stood there as it was written.
    pub fuzzy: Option<Pass>,
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
    /// There is no such line to insert behind.
    PastEnd {
        line: usize,
        n_lines: usize,
    },
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
            LocateError::PastEnd { line, n_lines } => write!(
                f,
                "insert_line is {line}, but the file has {n_lines} lines; give a line from 0 to {n_lines}"
            ),
        }
    }
}

/// What comes into one place.
struct Piece {
    place: Range<usize>,
    new: String,
    /// The place is whole lines, without the ending of the last.
    is_lines: bool,
}

impl Piece {
    fn of_lines(place: Range<usize>, new: String) -> Piece {
        Piece {
            place,
            new,
            is_lines: true,
        }
    }
}

/// Replaces whole lines that are not written quite as the target is.
fn replace_lines(
    text: &str,
    target: &str,
    replacement: &str,
    allow_multiple: bool,
) -> Result<Located, LocateError> {
    let Some(found) = whole_lines::find(text, target) else {
        return Err(LocateError::NotFound {
            nearest: similar::nearest(text, target),
        });
    };
    if found.count > 1 && !allow_multiple {
        return Err(LocateError::Ambiguous { count: found.count });
    }
    let fitting = Fitting::new(text, target, replacement, found.pass);
    let mut endings = Endings::of(text);
    let mut pieces = Vec::with_capacity(found.places.len());
    for place in found.places {
        let old = &text[place.clone()];
        let new = adopt(old, &fitting.fit(old), endings.at(place.start));
        pieces.push(Piece::of_lines(place, new));
    }
    if replacement.is_empty() {
        take_out(text, &mut pieces);
    }
    located(text, pieces, found.pass)
}

/// Widens pieces of whole lines, which are to go, over an ending: their own, or at the end of a text that has
/// none there, that of the last line which stays.
fn take_out(text: &str, pieces: &mut [Piece]) {
    // Where the lines begin that are taken from the end of a text without a final ending.
    let mut end = text.len();
    let mut first = None;
    for piece in pieces.iter_mut().rev().filter(|it| it.is_lines) {
        let ending = ending_at(text, piece.place.end);
        if piece.place.end + ending == end && !text.ends_with(['\n', '\r']) {
            end = piece.place.start;
            first = Some(&mut piece.place.start);
        }
        piece.place.end += ending;
    }
    if let Some(start) = first {
        *start = without_final_ending(&text[..*start]).len();
    }
}

/// Bytes of the line ending at a place; 0 if there is none.
fn ending_at(text: &str, at: usize) -> usize {
    match text.as_bytes()[at..] {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [..] => 0,
    }
}

/// The change set of pieces that are in order.
fn located(text: &str, pieces: Vec<Piece>, fuzzy: Option<Pass>) -> Result<Located, LocateError> {
    let mut changes = ChangeSet::default();
    for Piece { place, new, .. } in pieces {
        let new = joined(text, &place, &new);
        changes.keep(place.start - changes.old_len());
        changes.append(&ChangeSet::between(&text[place], &new));
    }
    changes.keep(text.len() - changes.old_len());
    match changes.is_identity() {
        true => Err(LocateError::Unchanged),
        false => Ok(Located { changes, fuzzy }),
    }
}

/// The one place that is meant.
fn the_place(
    text: &str,
    target: &str,
    mut places: Vec<Range<usize>>,
) -> Result<Range<usize>, LocateError> {
    let count = places.len();
    if count > 1 {
        places.retain(|it| is_whole_lines(text, it));
    }
    match places.pop() {
        Some(place) if places.is_empty() => match overlaps_itself(text, target, &place) {
            true => Err(LocateError::Ambiguous {
                count: count.max(2),
            }),
            false => Ok(place),
        },
        Some(_) | None => Err(LocateError::Ambiguous { count }),
    }
}

/// Whether a place begins with a line and ends with one, with its ending or without.
fn is_whole_lines(text: &str, place: &Range<usize>) -> bool {
    let (before, after) = (&text[..place.start], &text[place.end..]);
    let starts = before.is_empty() || before.ends_with(['\n', '\r']);
    let ends = after.is_empty()
        || after.starts_with(['\n', '\r'])
        || text[place.clone()].ends_with(['\n', '\r']);
    starts && ends
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
