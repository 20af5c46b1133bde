//! What a model is told of a command's output, in pieces.

use crate::process::background::{Job, Piece};
use crate::process::clean::clean;
use protocol::process::ProcessState;

/// The most that one reading gives (spec 6.3).
pub const READ_BYTES: usize = 32 * 1024;

/// Lines of a command's beginning that are told (spec 5.8).
const STARTUP_LINES: usize = 40;

/// The end of an output, in lines.
pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let kept = &lines[lines.len().saturating_sub(STARTUP_LINES)..];
    match lines.len() - kept.len() {
        0 => kept.join("\n"),
        n_left_out => format!("[{n_left_out} lines before]\n{}", kept.join("\n")),
    }
}

/// A piece of output as plain text, and what of it is missing.
pub fn piece_text(piece: &Piece) -> String {
    let text = clean(&String::from_utf8_lossy(&piece.bytes));
    match piece.n_skipped {
        0 => text,
        n_skipped => {
            format!("[{n_skipped} bytes before are left out here; the log has them]\n{text}")
        }
    }
}

/// A job in a few lines: its state, its command, its log (spec 6.2).
pub fn status(job: &Job) -> String {
    let progress = job.progress();
    let state = match progress.state() {
        ProcessState::Running => "running",
        ProcessState::Exited => "exited (exit code not recorded)",
        ProcessState::Stopped => "exited (it was stopped; exit code not recorded)",
        ProcessState::Killed => "exited (a signal killed it; exit code not recorded)",
    };
    let mut lines = vec![
        format!(
            "{} (pid {}): {state}, started {} s ago",
            job.id(),
            progress.pid.unwrap_or(0),
            job.age().as_secs()
        ),
        format!("command: {}", job.line),
    ];
    lines.extend(job.log().map(|it| format!("log: {}", it.display())));
    lines.extend(
        job.trouble()
            .map(|it| format!("Output is missing from the log ({it}).")),
    );
    lines.join("\n")
}

/// The first web address in a text.
pub fn first_url(text: &str) -> Option<&str> {
    let starts = ["http://", "https://"].iter();
    let start = starts.filter_map(|it| text.find(it)).min()?;
    let rest = &text[start..];
    let is_end = |it: char| it.is_whitespace() || it.is_control() || "\"'<>`|\\^{}".contains(it);
    let url = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    Some(url.trim_end_matches(['.', ',', ';', ':', ')', ']', '!', '?']))
}

#[cfg(test)]
mod tests {
    use super::{first_url, last_lines};

    #[test]
    fn the_first_address_is_found_without_what_stands_around_it() {
        for (text, url) in [
            (
                "ready (see http://localhost:3000/a?b=c). https://x.y",
                Some("http://localhost:3000/a?b=c"),
            ),
            ("at \"https://[::1]:8080/\"", Some("https://[::1]:8080/")),
            ("no address", None),
        ] {
            assert_eq!(first_url(text), url, "{text}");
        }
    }

    #[test]
    fn the_last_forty_lines_are_told() {
        assert_eq!(last_lines("a\nb\n"), "a\nb");
        let many: Vec<String> = (0..50).map(|it| it.to_string()).collect();
        let told = last_lines(&many.join("\n"));
        assert!(told.starts_with("[10 lines before]\n10\n") && told.ends_with("\n49"));
    }
}
