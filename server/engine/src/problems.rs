//! Problems that an editor finds: as a list, and as what an edit has changed of them.
//!
//! Pure. Lines move with every edit, so a problem is known again by what it says.

use crate::text::visible_line;
use protocol::seen::Problem;

/// The most characters of one problem.
const MOST: usize = 300;

/// Problems of a file, the worst first, at most so many.
pub fn list(name: &str, problems: &[Problem], most: usize) -> String {
    let mut sorted: Vec<&Problem> = problems.iter().collect();
    sorted.sort_by_key(|it| (it.severity, it.line));
    let lines: Vec<String> = sorted.iter().take(most).map(|it| line(name, it)).collect();
    let left_out = sorted.len().saturating_sub(most);
    let more = match left_out {
        0 => String::new(),
        _ => format!("\n[{left_out} more]"),
    };
    format!("{}{more}", lines.join("\n"))
}

/// What an edit has brought and what it has mended, errors and warnings only; none where that is nothing.
pub fn delta(name: &str, before: &[Problem], after: &[Problem], most: usize) -> Option<String> {
    let counts = |it: &&Problem| it.severity <= 2;
    let minus = |from: &[Problem], taken: &[Problem]| {
        let mut taken: Vec<&Problem> = taken.iter().collect();
        let left = from.iter().filter(counts).filter(|it| {
            let same = taken.iter().position(|other| is_same(it, other));
            same.map(|at| taken.swap_remove(at)).is_none()
        });
        left.cloned().collect::<Vec<_>>()
    };
    let (new, fixed) = (minus(after, before), minus(before, after));
    if new.is_empty() && fixed.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    if !new.is_empty() {
        parts.push(format!(
            "New problems after this edit, as the editor finds them:\n{}",
            list(name, &new, most)
        ));
    }
    if !fixed.is_empty() {
        let said: Vec<String> = fixed.iter().take(most).map(said).collect();
        parts.push(format!("No longer found in {name}: {}", said.join("; ")));
    }
    Some(format!("[{}]", parts.join("\n")))
}

fn is_same(one: &Problem, other: &Problem) -> bool {
    one.message == other.message && one.severity == other.severity && one.source == other.source
}

fn line(name: &str, problem: &Problem) -> String {
    let kind = match problem.severity {
        1 => "error",
        2 => "warning",
        3 => "information",
        _ => "hint",
    };
    format!("{name}:{}: {kind}: {}", problem.line, said(problem))
}

fn said(problem: &Problem) -> String {
    let message = problem.message.replace(['\n', '\r'], " ");
    let source = problem
        .source
        .as_deref()
        .map(|it| format!(" ({it})"))
        .unwrap_or_default();
    visible_line(&format!("{message}{source}"), MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: u32, severity: u8, message: &str) -> Problem {
        Problem {
            line,
            severity,
            message: message.to_owned(),
            source: None,
        }
    }

    #[test]
    fn only_what_an_edit_changed_is_told_wherever_it_stands_now() {
        let before = [problem(3, 1, "old"), problem(4, 1, "mended")];
        let after = [
            problem(9, 1, "old"),
            problem(10, 1, "brought"),
            problem(1, 4, "a hint"),
        ];
        let told = delta("a.rs", &before, &after, 20).unwrap();
        assert_eq!(
            told,
            "[New problems after this edit, as the editor finds them:\na.rs:10: error: brought\nNo longer found in a.rs: mended]"
        );
        assert_eq!(delta("a.rs", &before, &before, 20), None);
    }

    #[test]
    fn one_more_of_the_same_is_new() {
        let one = problem(1, 2, "unused");
        let told = delta(
            "a",
            std::slice::from_ref(&one),
            &[one.clone(), problem(5, 2, "unused")],
            20,
        );
        assert!(told.unwrap().contains("a:5: warning: unused"));
    }

    #[test]
    fn the_worst_come_first_and_the_rest_is_counted() {
        let all = [problem(1, 2, "w"), problem(2, 1, "e"), problem(3, 3, "i")];
        assert_eq!(
            list("a", &all, 2),
            "a:2: error: e\na:1: warning: w\n[1 more]"
        );
    }
}
