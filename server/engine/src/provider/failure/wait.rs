//! How long a provider asks us to wait.

/// Milliseconds, from what is said most exactly: `retry-after-ms`; `retry-after` in seconds (RFC 9110 section 10.2.3; the
/// form with a date is passed over, because there is no clock here); `try again in …` of the message; and for a rate limit
/// the time after which what is used up is there again (`x-ratelimit-reset-requests` and `-tokens`, as in `6m0s`).
pub(super) fn retry_after_ms(
    status: u16,
    headers: &[(String, String)],
    message: &str,
) -> Option<u64> {
    let number = |name, unit: f64| milliseconds(header(headers, name)?.trim().parse().ok()?, unit);
    let asked = number("retry-after-ms", 1.0).or_else(|| number("retry-after", 1000.0));
    match status {
        429 => asked
            .or_else(|| in_words(message))
            .or_else(|| reset(headers)),
        _ => asked,
    }
}

fn in_words(message: &str) -> Option<u64> {
    let (_, behind) = message.split_once("try again in ")?;
    let word = behind.split_whitespace().next()?;
    duration(word.trim_end_matches(['.', ',', ';']))
}

/// The longest of those whose budget is used up, or of all if none says that it is.
fn reset(headers: &[(String, String)]) -> Option<u64> {
    let of = |kind: &str| {
        let after = duration(header(headers, &format!("x-ratelimit-reset-{kind}"))?.trim())?;
        let left = header(headers, &format!("x-ratelimit-remaining-{kind}"));
        Some((left.is_some_and(|it| it.trim() == "0"), after))
    };
    let found = ["requests", "tokens"].into_iter().filter_map(of);
    found.max().map(|(_, after)| after)
}

/// A duration as Go prints it: `1s`, `6m0s`, `1h2m3.5s`, `150ms`.
fn duration(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut sum = 0_u64;
    while !rest.is_empty() {
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let (number, behind) = rest.split_at(end);
        let end = behind
            .find(|it: char| it.is_ascii_digit())
            .unwrap_or(behind.len());
        let (unit, next) = behind.split_at(end);
        let unit = match unit {
            "ms" => 1.0,
            "s" => 1000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => 86_400_000.0,
            _ => return None,
        };
        sum = sum.saturating_add(milliseconds(number.parse().ok()?, unit)?);
        rest = next;
    }
    (!text.is_empty()).then_some(sum)
}

/// The cast saturates, and the filter keeps NaN and negative numbers out.
fn milliseconds(value: f64, unit: f64) -> Option<u64> {
    Some(value)
        .filter(|it| *it >= 0.0)
        .map(|it| (it * unit).ceil() as u64)
}

pub fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(it, _)| it.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}
