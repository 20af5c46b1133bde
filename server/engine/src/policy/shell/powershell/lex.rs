//! PowerShell's words: commands, their arguments, and where one command ends.

/// One command with its arguments. Blocks, brackets and substitutions part commands, so that what is in them is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub words: Vec<Word>,
    /// Files that it is redirected to.
    pub targets: Vec<Word>,
    /// What parts it from the next one.
    pub end: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// It was written in quotes: no option and no mark.
    pub is_quoted: bool,
    /// A variable is in it.
    pub has_variable: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub segments: Vec<Segment>,
    /// Only commands and pipes: no variable, block, bracket, call or expression.
    pub is_flat: bool,
    /// All quotes are closed.
    pub is_whole: bool,
}

/// Takes a line apart. It never fails; what is strange makes the line not flat.
pub fn lex(line: &str) -> Line {
    let mut out = Line {
        segments: Vec::new(),
        is_flat: true,
        is_whole: true,
    };
    let chars: Vec<char> = line.chars().collect();
    let mut segment = Segment::default();
    let mut word: Option<Word> = None;
    let mut is_target = false;
    let mut at = 0;
    macro_rules! end_word {
        () => {
            if let Some(word) = word.take() {
                match std::mem::take(&mut is_target) {
                    true => segment.targets.push(word),
                    false => segment.words.push(word),
                }
            }
        };
    }
    macro_rules! end_segment {
        ($mark:expr) => {
            end_word!();
            is_target = false;
            segment.end = $mark.to_owned();
            if !segment.words.is_empty() || !segment.targets.is_empty() {
                out.segments.push(std::mem::take(&mut segment));
            } else {
                segment = Segment::default();
            }
        };
    }
    while let Some(&it) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        at += 1;
        match it {
            ' ' | '\t' | '\r' => {
                end_word!();
            }
            '\n' | ';' => {
                end_segment!(";");
            }
            '#' if word.is_none() => {
                while chars.get(at).is_some_and(|it| *it != '\n') {
                    at += 1;
                }
            }
            '<' if next == Some('#') => {
                let rest: String = chars[at..].iter().collect();
                match rest.find("#>") {
                    Some(length) => at += rest[..length].chars().count() + 2,
                    None => {
                        out.is_whole = false;
                        at = chars.len();
                    }
                }
                out.is_flat = false;
                end_word!();
            }
            '@' if matches!(next, Some('\'' | '"')) && word.is_none() => {
                let end = if next == Some('\'') { "\n'@" } else { "\n\"@" };
                let rest: String = chars[at + 1..].iter().collect();
                let length = rest.find(end);
                let body = &rest[..length.unwrap_or(rest.len())];
                out.is_whole &= length.is_some();
                out.is_flat = false;
                word = Some(Word {
                    text: body.trim_start_matches('\n').to_owned(),
                    is_quoted: true,
                    has_variable: body.contains('$'),
                });
                at += 1 + body.chars().count() + length.map_or(0, |_| end.len());
            }
            // PowerShell takes the quotes of other scripts for quotes, too.
            '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => {
                let open = word.get_or_insert_default();
                open.is_quoted = true;
                loop {
                    match chars.get(at) {
                        None => {
                            out.is_whole = false;
                            break;
                        }
                        Some('\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}') => {
                            at += 1;
                            if chars.get(at) == Some(&'\'') {
                                open.text.push('\'');
                                at += 1;
                                continue;
                            }
                            break;
                        }
                        Some(it) => {
                            open.text.push(*it);
                            at += 1;
                        }
                    }
                }
            }
            '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' => {
                let open = word.get_or_insert_default();
                open.is_quoted = true;
                loop {
                    match chars.get(at) {
                        None => {
                            out.is_whole = false;
                            break;
                        }
                        Some('"' | '\u{201c}' | '\u{201d}' | '\u{201e}') => {
                            at += 1;
                            if chars.get(at) == Some(&'"') {
                                open.text.push('"');
                                at += 1;
                                continue;
                            }
                            break;
                        }
                        Some('`') => {
                            open.text.extend(chars.get(at + 1));
                            at += 2;
                        }
                        Some(it) => {
                            if *it == '$' {
                                open.has_variable = true;
                                out.is_flat = false;
                            }
                            open.text.push(*it);
                            at += 1;
                        }
                    }
                }
            }
            '`' => match next {
                Some('\n') => {
                    end_word!();
                    at += 1;
                }
                Some(it) => {
                    word.get_or_insert_default().text.push(it);
                    at += 1;
                }
                None => out.is_flat = false,
            },
            '|' | '&' if next == Some(it) => {
                at += 1;
                end_segment!(format!("{it}{it}"));
            }
            '|' => {
                end_segment!("|");
            }
            '&' => {
                out.is_flat = false;
                end_segment!("&");
            }
            '>' => {
                // `2>` and `*>`: the number is no argument.
                let is_stream = word.as_ref().is_some_and(|it| {
                    !it.is_quoted
                        && matches!(it.text.as_str(), "1" | "2" | "3" | "4" | "5" | "6" | "*")
                });
                if is_stream {
                    word = None;
                }
                end_word!();
                if chars.get(at) == Some(&'>') {
                    at += 1;
                }
                if chars.get(at) == Some(&'&')
                    && chars.get(at + 1).is_some_and(char::is_ascii_digit)
                {
                    at += 2;
                } else {
                    is_target = true;
                }
            }
            '(' | ')' | '{' | '}' | ',' => {
                if it != ',' {
                    out.is_flat = false;
                    end_segment!(it.to_string());
                } else {
                    end_word!();
                }
            }
            '$' | '@' | '[' | ']' | '=' | '<' | '%' | '?' | '!' | '+' | '~' => {
                let is_null = it == '$' && {
                    let rest: String = chars[at..].iter().take(4).collect();
                    rest.eq_ignore_ascii_case("null")
                        && !chars
                            .get(at + 4)
                            .is_some_and(|it| it.is_alphanumeric() || *it == ':' || *it == '.')
                };
                let open = word.get_or_insert_default();
                open.text.push(it);
                if !is_null && !matches!(it, '~' | '=' | '+') {
                    out.is_flat = false;
                    open.has_variable |= it == '$';
                }
                out.is_flat &= it != '=' || open.text.starts_with('-');
            }
            it => word.get_or_insert_default().text.push(it),
        }
    }
    end_segment!("");
    let _ = (segment, is_target);
    out
}

/// What base64 text holds, read as UTF-16 with the small end first: `-EncodedCommand`.
pub fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut n_bits) = (0u32, 0);
    for it in text.bytes().filter(|it| *it != b'=') {
        let value = match it {
            b'A'..=b'Z' => it - b'A',
            b'a'..=b'z' => it - b'a' + 26,
            b'0'..=b'9' => it - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 & 0xff_ffff | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
        }
    }
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|it| u16::from_le_bytes([it[0], it[1]]))
        .collect();
    Some(String::from_utf16_lossy(&units))
}
