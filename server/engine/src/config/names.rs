//! The known name that a misspelt one was probably meant to be.

/// The candidate that differs least; none if all differ too much to be meant.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a String>,
) -> Option<&'a str> {
    // Longer ones are no slip of the finger, and comparing takes the product of the lengths.
    if name.len() > MAX_BYTES {
        return None;
    }
    let plain = plain(name);
    let most = (plain.len() / 2).clamp(1, 3);
    let found = candidates
        .map(|it| (distance(&plain, &self::plain(it)), it))
        .min_by_key(|(distance, _)| *distance);
    found
        .filter(|(distance, _)| *distance <= most)
        .map(|(_, it)| it.as_str())
}

const MAX_BYTES: usize = 64;

/// Without what people mix up: case, and how words are joined.
fn plain(name: &str) -> Vec<char> {
    let chars = name.chars().filter(|it| *it != '_' && *it != '-');
    chars.flat_map(char::to_lowercase).collect()
}

/// How many characters are to be added, left out, replaced or swapped with the next.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}

#[test]
fn a_slip_is_understood_and_another_word_is_not() {
    let known = ["mode", "network", "filesystem", "external_writes"].map(str::to_owned);
    for (name, meant) in [
        ("mood", Some("mode")),
        ("Mode", Some("mode")),
        ("moed", Some("mode")),
        ("filesytem", Some("filesystem")),
        ("externalWrites", Some("external_writes")),
        ("external-write", Some("external_writes")),
        ("theme", None),
        ("", None),
        (&"x".repeat(10_000), None),
    ] {
        assert_eq!(nearest(name, known.iter()), meant, "{name}");
    }
}
