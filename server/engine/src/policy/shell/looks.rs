//! Text that looks like other text: letters of other scripts, blanks that are none, marks that turn the line around.

/// Whether marks are in a line that nobody sees, or that show it in another order: it is not what it looks like.
pub fn hides(line: &str) -> bool {
    line.chars().any(|it| match it {
        '\n' | '\t' => false,
        _ if it.is_control() || it.is_whitespace() && it != ' ' => true,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{ffff}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    })
}

/// Whether a person may read another line than the shell does. Such a line is never a read.
pub fn may_deceive(line: &str) -> bool {
    line.chars().any(|it| match it {
        '\n' | '\t' => false,
        ' '..='~' => false,
        // Letters with accents, Chinese, Japanese and Korean look like themselves.
        '\u{c0}'..='\u{24f}' => matches!(
            it,
            '\u{d7}' | '\u{f7}' | '\u{131}' | '\u{17f}' | '\u{1c0}'..='\u{1c3}' | '\u{237}'
        ),
        '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => matches!(
            it,
            '\u{30ce}' | '\u{4e36}' | '\u{4e3f}' | '\u{30fb}' | '\u{4e00}'
        ),
        _ => true,
    })
}
