//! A command whose end is waited for, unless the person moves it to the background meanwhile.

use super::super::lines::status;
use super::with_footer;
use crate::plan::{Done, Lines, Run};
use crate::process::background::{Foreground, Job};
use crate::process::clean::clean;
use crate::process::launcher::{CANNOT_CONFINE, NOT_CONFINED};
use crate::process::sandbox::Files;
use crate::process::{Command, End, Sandbox};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Bytes of a running command's output that are shown. Each time whole, because what is shown of a call
/// replaces what was shown before (ACP, `tool_call_update`).
const SHOWN: usize = 8 * 1024;

/// A command may say a line a thousand times a second; nobody reads that.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

pub(super) async fn run(command: Command, timeout: Duration, run: Run) -> Result<Done, String> {
    let Run {
        world,
        token,
        output,
        accepted: _,
        hold: _,
    } = run;
    let sandbox = command.sandbox.clone();
    let call = output.call.to_string();
    let owner = world.session.clone();
    let running = world
        .jobs
        .start(owner, call, command, world.children.place());
    let job = running.job.clone();
    let mut watch = job.watch();
    let deadline = Instant::now() + timeout;
    let patience = Duration::from_secs(world.limits.command_quiet_secs);
    let mut quiet = Quiet::since(Instant::now(), patience);
    let mut next_show = Instant::now();
    let mut n_shown = 0;
    let over = loop {
        let progress = watch.borrow_and_update().clone();
        if let Some(over) = progress.over {
            break over;
        }
        if progress.is_background {
            return Ok(moved(running));
        }
        let is_unshown = progress.n_bytes != n_shown;
        if progress.n_bytes != quiet.n_bytes {
            quiet = Quiet {
                n_bytes: progress.n_bytes,
                ..Quiet::since(Instant::now(), patience)
            };
        }
        tokio::select! {
            biased;
            () = token.cancelled() => {
                job.stop().await;
                return Ok(Done::Cancelled);
            }
            () = sleep_until(deadline) => {
                job.stop().await;
                let over = job.progress().over.unwrap_or(Ok((End::Cancelled, timeout)));
                break over.map(|(end, time)| match end {
                    End::Cancelled => (End::TimedOut, time),
                    End::Exited(_) | End::Signalled(_) | End::TimedOut => (end, time),
                });
            }
            () = sleep_until(next_show), if is_unshown => {
                output.say(shown(&job)).await;
                n_shown = progress.n_bytes;
                next_show = Instant::now() + SHOWN_EVERY;
            }
            () = sleep_until(quiet.at), if !quiet.is_told => {
                let secs = patience.as_secs();
                let notice = format!("[no output for {secs} s; it still runs]");
                output.say(with_footer(shown(&job), Some(notice))).await;
                quiet.is_told = true;
                n_shown = progress.n_bytes;
            }
            // The sender is in the job.
            _ = watch.changed() => {}
        }
    };
    let (end, _) = over.map_err(|error| format!("{error}."))?;
    let text = job.take_captured().text;
    let (code, footer) = match end {
        End::Exited(0) => (0, None),
        End::Exited(code) => (code, Some(format!("[exit code {code}]"))),
        End::Signalled(signal) => (-1, Some(format!("[ended by signal {signal}]"))),
        End::Cancelled => return Ok(Done::Cancelled),
        End::TimedOut => return Err(with_footer(text, Some(timed_out(timeout, &quiet)))),
    };
    let why = sandbox.as_ref().and_then(|it| denied(it, end, &text));
    let footer = match (why, code) {
        (None, _) => footer,
        // Not the line as a whole; a part of it may have been refused all the same.
        (Some(why), 0) => Some(why),
        (Some(why), _) => return Err(with_footer(with_footer(text, footer), Some(why))),
    };
    let text = if text.is_empty() {
        "[no output]".to_owned()
    } else {
        text
    };
    Ok(Done::Success {
        text: with_footer(text, footer),
        shown: None,
        exit_code: Some(code),
        saw: Vec::new(),
        fuzzy: false,
        images: Vec::new(),
        lines: Lines::default(),
    })
}

/// What is said of a confined command that failed, or of which a part did, where its sandbox was or may have been why
/// (spec 7.4).
fn denied(sandbox: &Sandbox, end: End, text: &str) -> Option<String> {
    /// As a shell tells that a child was ended by a signal.
    const BY_SIGNAL: i32 = 128;
    /// What the C library says when the system forbids something.
    const WORDS: [&str; 3] = [
        "Permission denied",
        "Operation not permitted",
        "Read-only file system",
    ];
    let words = sandbox.words();
    let ended = match end {
        End::Exited(CANNOT_CONFINE) if text.contains(NOT_CONFINED) => {
            return Some(match sandbox.files {
                Files::Free | Files::Below(_) => {
                    "[Nothing was run. The person can change safety.network and safety.filesystem.]"
                        .to_owned()
                }
                Files::Nothing => "[Nothing was run.]".to_owned(),
            });
        }
        End::Exited(code) => code - BY_SIGNAL,
        End::Signalled(signal) => signal,
        End::TimedOut | End::Cancelled => return None,
    };
    if ended == libc::SIGSYS {
        let text = format!(
            "[The sandbox ended it when it reached for the network. The sandbox means: {words}.]"
        );
        return Some(text);
    }
    // As programs write it, behind what they were at: a text that is about such words is no refusal.
    let is_told = |line: &str| {
        WORDS
            .iter()
            .any(|it| line.contains(&format!(": {it}")) || line.contains(&format!("] {it}")))
    };
    let is_likely = match end {
        End::Exited(0) => text.lines().any(is_told),
        _ => WORDS.iter().any(|it| text.contains(it)),
    };
    let is_likely = is_likely || text.contains("Bad system call");
    is_likely.then(|| format!("[Perhaps the sandbox is why. It means: {words}.]"))
}

/// A time in which nothing is said.
struct Quiet {
    begin: Instant,
    /// When the person is told of it.
    at: Instant,
    n_bytes: u64,
    is_told: bool,
}

impl Quiet {
    /// No patience at all: it is never told.
    fn since(begin: Instant, patience: Duration) -> Self {
        Self {
            begin,
            at: begin + patience,
            n_bytes: 0,
            is_told: patience.is_zero(),
        }
    }
}

fn timed_out(timeout: Duration, quiet: &Quiet) -> String {
    let silence = match quiet.begin.elapsed().as_secs() {
        secs @ 5.. => format!(
            " For the last {secs} seconds it said nothing: it may have waited for input or for another program."
        ),
        _ => String::new(),
    };
    format!(
        "The command ran longer than {} seconds and was ended with all it had started.{silence} \
         Give a longer timeout, or run what goes on in mode background.",
        timeout.as_secs_f64()
    )
}

fn moved(running: Foreground) -> Done {
    let job = running.let_go();
    Done::text(format!(
        "The person moved the command to the background, where it goes on. background_process reads its output, also \
         what it has said so far.\n{}",
        status(&job)
    ))
}

/// The last of what it has said, from the beginning of a line where there is one.
fn shown(job: &Job) -> String {
    let n_bytes = job.progress().n_bytes;
    let last = job.last(SHOWN);
    let is_cut = n_bytes > last.len() as u64;
    clean(&String::from_utf8_lossy(match is_cut {
        true => from_a_line(&last),
        false => &last,
    }))
}

/// Without the rest of a line that begins before; of a single line, without the rest of a character.
fn from_a_line(bytes: &[u8]) -> &[u8] {
    let line = bytes.iter().position(|it| *it == b'\n').map(|it| it + 1);
    let char = || bytes.iter().position(|it| it & 0xc0 != 0x80);
    let begin = line.filter(|it| *it < bytes.len()).or_else(char);
    &bytes[begin.unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    use super::from_a_line;

    #[test]
    fn what_is_cut_is_shown_from_a_line_on_or_else_from_a_character_on() {
        for (text, shown) in [
            ("lf\nline\nlast", "line\nlast"),
            ("long line\n", "long line\n"),
            ("long", "long"),
            ("", ""),
        ] {
            assert_eq!(from_a_line(text.as_bytes()), shown.as_bytes());
        }
        assert_eq!(from_a_line(&"\u{1F600}x".as_bytes()[1..]), b"x");
    }
}
