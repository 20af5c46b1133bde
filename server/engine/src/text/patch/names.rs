//! File names in the headers of unified diffs.

/// A name after `--- ` or `+++ `: unquoted, without a time behind it. `None` for `/dev/null`; an error if it is
/// not UTF-8.
pub(super) fn header_name(rest: &str) -> Result<Option<String>, NotUtf8> {
    let name = match quoted(rest)? {
        Some((name, _)) => name,
        None => {
            let name = rest.split('\t').next().unwrap_or_default();
            without_time(name).trim_end().to_owned()
        }
    };
    Ok((name != "/dev/null").then_some(name))
}

/// A name that stands alone on its line, as after `rename from `.
pub(super) fn whole_name(rest: &str) -> Result<String, NotUtf8> {
    Ok(match quoted(rest)? {
        Some((name, _)) => name,
        None => rest.to_owned(),
    })
}

/// The two names of `diff --git a/x b/x`, if it is clear where the first ends.
pub(super) fn git_names(rest: &str) -> Result<Option<(String, String)>, NotUtf8> {
    if let Some((first, rest)) = quoted(rest)? {
        return Ok(Some((first, whole_name(rest.trim_start())?)));
    }
    if let Some(at) = rest.find(" \"")
        && let Some((second, _)) = quoted(&rest[at + 1..])?
    {
        return Ok(Some((rest[..at].to_owned(), second)));
    }
    // A name may hold blanks. Where nothing else tells, both are the same but for their prefix.
    let halves = rest
        .match_indices(' ')
        .map(|(at, _)| (&rest[..at], &rest[at + 1..]))
        .find(|(first, second)| same_but_prefix(first, second));
    let halves = halves.or_else(|| rest.split_once(' ').filter(|(_, it)| !it.contains(' ')));
    Ok(halves.map(|(first, second)| (first.to_owned(), second.to_owned())))
}

fn same_but_prefix(first: &str, second: &str) -> bool {
    let tail = |it: &str| it.split_once('/').map(|(_, tail)| tail.to_owned());
    first == second || has_git_prefixes(first, second) && tail(first) == tail(second)
}

/// Whether both begin with the prefixes that git writes: `a/` and `b/`, or with its mnemonic ones `c/ i/ o/ w/`.
pub(super) fn has_git_prefixes(old: &str, new: &str) -> bool {
    let prefix = |it: &str| match it.as_bytes() {
        [letter, b'/', _, ..] if b"abciow".contains(letter) => Some(*letter),
        _ => None,
    };
    match (prefix(old), prefix(new)) {
        (Some(old), Some(new)) => old != new,
        _ => false,
    }
}

/// The name without the one letter and slash of git.
pub(super) fn without_prefix(name: &str) -> &str {
    name.get(2..).unwrap_or_default()
}

#[derive(Debug)]
pub(super) struct NotUtf8;

/// A name in quotes with C's escapes, as git writes it, and what follows.
fn quoted(text: &str) -> Result<Option<(String, &str)>, NotUtf8> {
    let Some(inner) = text.strip_prefix('"') else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => {
                let name = String::from_utf8(bytes).map_err(|_| NotUtf8)?;
                return Ok(Some((name, &inner[at + 1..])));
            }
            b'\\' => match rest.next().map(|(_, it)| it) {
                Some(digit @ b'0'..=b'3') => {
                    let mut value = digit - b'0';
                    for _ in 0..2 {
                        let Some((_, digit @ b'0'..=b'7')) = rest.next() else {
                            return Ok(None);
                        };
                        value = value * 8 + (digit - b'0');
                    }
                    bytes.push(value);
                }
                Some(b'a') => bytes.push(7),
                Some(b'b') => bytes.push(8),
                Some(b't') => bytes.push(b'\t'),
                Some(b'n') => bytes.push(b'\n'),
                Some(b'v') => bytes.push(11),
                Some(b'f') => bytes.push(12),
                Some(b'r') => bytes.push(b'\r'),
                Some(other @ (b'"' | b'\\')) => bytes.push(other),
                Some(_) | None => return Ok(None),
            },
            _ => bytes.push(byte),
        }
    }
    Ok(None)
}

/// Cuts ` 2026-01-31 12:00…` off, which some tools put after a blank instead of a tab.
fn without_time(name: &str) -> &str {
    let is_time = |it: &str| {
        let shape = b"0000-00-00 00:00";
        it.len() >= shape.len()
            && it.bytes().zip(shape).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                other => byte == *other,
            })
    };
    name.match_indices(' ')
        .find(|(at, _)| is_time(&name[at + 1..]))
        .map_or(name, |(at, _)| &name[..at])
}
