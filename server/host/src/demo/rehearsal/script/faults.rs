//! The two kinds of faults that the rehearsal model knows, and their repair.
//!
//! Both are seen by comparing a paragraph's code with what its comments say.

/// A line at fault.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// Counted from 0.
    pub line: usize,
    /// The line repaired, with its own ending.
    pub repaired: String,
    /// What is wrong, for a person.
    pub why: String,
}

/// The faults of a text, in the order of its lines.
pub(super) fn faults(text: &str) -> Vec<Fault> {
    let mut found = Vec::new();
    // What the comments of the present paragraph say.
    let mut says = String::new();
    for (line, code) in text.split_inclusive('\n').enumerate() {
        let trimmed = code.trim();
        if trimmed.is_empty() {
            says.clear();
        } else if trimmed.starts_with('#') {
            says.push_str(&trimmed.to_lowercase());
            says.push('\n');
        } else if let Some((repaired, why)) = percent(code, &says).or_else(|| limit(code, &says)) {
            found.push(Fault {
                line,
                repaired,
                why,
            });
        }
    }
    found
}

/// The piece of the text from the first fault to the last, and the same piece repaired.
pub(super) fn repaired(text: &str, faults: &[Fault]) -> Option<(String, String)> {
    let (first, last) = (faults.first()?.line, faults.last()?.line);
    let lines = text
        .split_inclusive('\n')
        .enumerate()
        .skip(first)
        .take(last - first + 1);
    let (mut target, mut replacement) = (String::new(), String::new());
    for (at, line) in lines {
        target.push_str(line);
        replacement.push_str(
            faults
                .iter()
                .find(|it| it.line == at)
                .map_or(line, |it| &it.repaired),
        );
    }
    Some((target, replacement))
}

/// A percentage that is divided by 10.
fn percent(code: &str, says: &str) -> Option<(String, String)> {
    let at = code.find("/ 10")? + "/ 10".len();
    let is_ten = !code[at..].starts_with(|it: char| it.is_ascii_digit());
    if !(is_ten && says.contains("percent")) {
        return None;
    }
    let repaired = format!("{}0{}", &code[..at], &code[at..]);
    Some((
        repaired,
        "a percentage is divided by 10, but percent means hundredths.".to_owned(),
    ))
}

/// A limit that the comment includes and the comparison leaves out.
fn limit(code: &str, says: &str) -> Option<(String, String)> {
    const INCLUSIVE: [&str; 3] = [" or more", " or above", "at least "];
    let word = INCLUSIVE.into_iter().find(|it| says.contains(it))?;
    if !code.contains(" -gt ") {
        return None;
    }
    let why = format!(
        "the comment says \"{}\", but -gt leaves the limit itself out.",
        word.trim()
    );
    Some((code.replacen(" -gt ", " -ge ", 1), why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample::Sample;
    use expect_test::expect;

    #[test]
    fn the_faults_of_the_buffer_are_found_and_each_repair_changes_its_line_alone() {
        let text = Sample::buffer();
        let found = faults(&text);
        let told: String = found
            .iter()
            .map(|it| format!("{}: {}\n   {}", it.line, it.why, it.repaired))
            .collect();
        expect![[r#"
            6: a percentage is divided by 10, but percent means hundredths.
                   echo $((cents - cents * percent / 100))
            13: the comment says "or more", but -gt leaves the limit itself out.
                   if [ "$1" -ge 5000 ]; then
        "#]]
        .assert_eq(&told);
        let (target, replacement) = repaired(&text, &found).unwrap();
        assert_eq!(text.matches(&target).count(), 1);
        assert_eq!(target.lines().count(), replacement.lines().count());
        assert_eq!(faults(&text.replace(&target, &replacement)), []);
    }

    #[test]
    fn what_no_comment_says_is_no_fault() {
        assert_eq!(faults("# tenths\nx / 10\n"), []);
        assert_eq!(faults("# percent\n\nx / 10\n"), []);
        assert_eq!(faults("# percent\nx / 100\n"), []);
        assert_eq!(faults("# more than that\n[ $1 -gt 3 ]\n"), []);
        assert_eq!(repaired("x\n", &[]), None);
    }
}
