//! Makes visible what a text of the model would otherwise hide from the person who is asked about it.

use std::borrow::Cow;

/// A text in which every character that moves, hides or reorders others is spelled out, as in `\u{202e}`. Line
/// feeds and tabs stay, since they are what they look like.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(hides) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for it in text.chars() {
        match hides(it) {
            true => out.extend(it.escape_default()),
            false => out.push(it),
        }
    }
    Cow::Owned(out)
}

/// The first line of a text made [`visible`], at most `most` characters of it. Three dots say that there is
/// more.
pub fn visible_line(text: &str, most: usize) -> String {
    let line = text.split('\n').next().unwrap_or_default();
    let end = line
        .char_indices()
        .nth(most)
        .map_or(line.len(), |(at, _)| at);
    let shown = visible(&line[..end]);
    match end == text.len() {
        true => shown.into_owned(),
        false => format!("{shown} ..."),
    }
}

/// Controls (Unicode category Cc), and what is invisible or reorders what is around it: UAX #9's marks,
/// embeddings, overrides and isolates, zero-width spaces and joiners of words, line separators, tags. The
/// joiner and the non-joiner of letters stay: emoji and several scripts need them.
fn hides(it: char) -> bool {
    match it {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => {
            true
        }
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        it => it.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_reorders_is_spelled_out_and_nothing_else() {
        let shown = visible("ls\r\u{1b}[2K \u{202e}gnp.\u{200b}\u{9b}\u{e0041}\u{feff}");
        assert_eq!(
            shown,
            r"ls\r\u{1b}[2K \u{202e}gnp.\u{200b}\u{9b}\u{e0041}\u{feff}"
        );
        let plain = "gr\u{fc}n\t\u{1f468}\u{200d}\u{1f469}\n\u{5e9}\u{5dc}\u{5d5}\u{5dd} 'q' \\ ";
        assert_eq!(visible(plain), plain);
    }

    #[test]
    fn a_line_is_cut_at_a_character_and_says_that_there_is_more() {
        assert_eq!(visible_line("short", 9), "short");
        assert_eq!(visible_line("two\nlines", 9), "two ...");
        assert_eq!(visible_line("\nhidden", 9), " ...");
        assert_eq!(
            visible_line(&"\u{e4}".repeat(10), 9),
            format!("{} ...", "\u{e4}".repeat(9))
        );
    }
}
