//! Text that looks like other text: letters of other scripts, blanks that are none, marks that turn the line around.

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
