//! Gives a new text the line endings of the one it replaces.

use super::{
    diff::{Change, changes},
    lines::{lines, split_ending},
};

/// Text for a file that `old` is the content of, from a model that writes `\n` whatever the file has.
///
/// A line that is still there keeps its own ending; another takes the ending of its neighbours, so a file with
/// one ending throughout has it throughout afterwards. A byte order mark at the start of `old` is kept. Endings
/// that are not `\n` were written on purpose: then they all stay as they are.
pub fn with_line_endings_of(old: &str, new: &str) -> String {
    let mark = match old.starts_with(BYTE_ORDER_MARK) && !new.starts_with(BYTE_ORDER_MARK) {
        true => "\u{feff}",
        false => "",
    };
    let new = format!("{mark}{new}");
    match (new.contains('\r'), usual_ending(old)) {
        (false, Some(ending)) => adopt(old, &new, ending),
        (true, Some(_)) | (_, None) => new,
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The ending to give to lines of this text where no neighbour says another: the first that has a `\n`, else a
/// lone `\r` if there is one. A log with progress bars has lone `\r` too; nobody wants new lines to end so.
pub(super) fn usual_ending(text: &str) -> Option<&'static str> {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => Some("\r\n"),
        Some(_) => Some("\n"),
        None => text.contains('\r').then_some("\r"),
    }
}

/// `new` with the endings of `old`. A line of both keeps what it had, byte for byte; a line in the place of an
/// old one takes its ending; a further one takes that of the line before it, and `usual` where there is none.
/// A lone `\r` of `new` stays one.
pub(super) fn adopt(old: &str, new: &str, usual: &'static str) -> String {
    let old_lines: Vec<&str> = lines(old).collect();
    let new_lines: Vec<&str> = lines(new).collect();
    // The diff sees the lines as they would be with `\n`: all that counts is content, and whether they end.
    let old_plain: Vec<String> = old_lines.iter().map(|it| plain(it)).collect();
    let new_plain: Vec<String> = new_lines.iter().map(|it| plain(it)).collect();
    let all = changes(
        old_plain.iter().map(String::as_str),
        new_plain.iter().map(String::as_str),
    );

    let mut out = String::with_capacity(new.len());
    let mut at = 0;
    let mut ending = usual;
    for Change { old, new } in all {
        for line in &old_lines[at..old.start] {
            ending = inheritable(line, usual).unwrap_or(ending);
            push(&mut out, line);
        }
        at = old.end;
        let mut replaced = old_lines[old].iter();
        for line in &new_lines[new] {
            if let Some(old_line) = replaced.next() {
                ending = inheritable(old_line, usual).unwrap_or(ending);
            }
            match split_ending(line) {
                (_, "" | "\r") => push(&mut out, line),
                (content, _) => {
                    push(&mut out, content);
                    push(&mut out, ending);
                }
            }
        }
    }
    for line in &old_lines[at..] {
        push(&mut out, line);
    }
    out
}

/// The ending a new line takes from this old one.
pub(super) fn inheritable(line: &str, usual: &str) -> Option<&'static str> {
    match split_ending(line).1 {
        "\n" => Some("\n"),
        "\r\n" => Some("\r\n"),
        "\r" if usual == "\r" => Some("\r"),
        _ => None,
    }
}

/// Appends and never lets a lone `\r` and a `\n`, which end two lines, run together and end one.
fn push(out: &mut String, part: &str) {
    if out.ends_with('\r') && part.starts_with('\n') {
        out.push('\r');
    }
    out.push_str(part);
}

/// The line with `\n` for whatever ending it has.
fn plain(line: &str) -> String {
    let (content, ending) = split_ending(line);
    match ending {
        "" => content.to_owned(),
        _ => format!("{content}\n"),
    }
}
