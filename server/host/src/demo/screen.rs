//! What a person sees of the demonstration: plain lines, with colours only on a terminal.
//!
//! Writes to stdout and nowhere else. Text that comes from a model or a command is stripped of control characters, so
//! that it cannot command the terminal.

mod diff;

pub use diff::diff;

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// Lines of a command's output that are shown.
const MOST_OUTPUT: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    On,
    Off,
}

impl Colours {
    /// As stdout and the environment want them (<https://no-color.org>).
    pub fn wanted() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
        match io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb {
            true => Self::On,
            false => Self::Off,
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::On => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::Off => text.to_owned(),
        }
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }
}

/// The page that is written from top to bottom. Errors are a sentence.
pub struct Screen {
    pub colours: Colours,
    /// Whether the line that is being written has begun.
    in_line: bool,
    /// Whether a heading was written last, below which no empty line is due.
    below_heading: bool,
    /// Blanks and line ends of a streamed text that wait for something to follow them.
    waiting: String,
}

impl Screen {
    pub fn new(colours: Colours) -> Self {
        Self {
            colours,
            in_line: false,
            below_heading: false,
            waiting: String::new(),
        }
    }

    /// A line of its own. What others wrote goes through [`plain`] before.
    pub fn line(&mut self, text: &str) -> Result<(), String> {
        self.end_text()?;
        self.below_heading = false;
        write(&format!("{text}\n"))
    }

    /// A line of its own, after an empty one.
    pub fn heading(&mut self, text: &str) -> Result<(), String> {
        self.end_text()?;
        self.below_heading = true;
        write(&format!("\n{}\n", self.colours.bold(text)))
    }

    /// The next piece of a streamed text. Blanks at its end are not written before something follows them.
    pub fn text(&mut self, piece: &str) -> Result<(), String> {
        self.waiting.push_str(&plain(piece));
        let ready = self.waiting.trim_end().len();
        if ready == 0 {
            return Ok(());
        }
        let rest = self.waiting.split_off(ready);
        let ready = std::mem::replace(&mut self.waiting, rest);
        let ready = if self.in_line {
            ready.as_str()
        } else {
            ready.trim_start()
        };
        let margin = if self.in_line || std::mem::take(&mut self.below_heading) {
            ""
        } else {
            "\n"
        };
        self.in_line = true;
        write(&format!("{margin}{ready}"))
    }

    /// Ends a streamed text, so that something else can stand below it.
    pub fn end_text(&mut self) -> Result<(), String> {
        self.waiting.clear();
        match std::mem::take(&mut self.in_line) {
            true => write("\n"),
            false => Ok(()),
        }
    }

    /// A call that is asked about.
    pub fn question(&mut self, title: &str) -> Result<(), String> {
        self.line(&format!(
            "  {}  {}",
            self.colours.bold("asks  "),
            plain(title)
        ))
    }

    /// What somebody else has to say.
    pub fn note(&mut self, text: &str) -> Result<(), String> {
        self.line(&format!("  {}", plain(text)))
    }

    /// A call that has ended.
    pub fn call(
        &mut self,
        status: Status,
        title: &str,
        took: Option<Duration>,
    ) -> Result<(), String> {
        let word = match status {
            Status::Done => self.colours.green("done  "),
            Status::Exited(0) => self.colours.green("exit 0"),
            Status::Exited(code) => self.colours.red(&format!("exit {code}")),
            Status::Failed => self.colours.red("failed"),
        };
        let took = took
            .map(|it| self.colours.dim(&format!("  {} ms", it.as_millis())))
            .unwrap_or_default();
        self.line(&format!("  {word}  {}{took}", plain(title)))
    }

    /// A command's output, or why a call failed; the last lines of it.
    pub fn output(&mut self, text: &str) -> Result<(), String> {
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let n_above = lines.len().saturating_sub(MOST_OUTPUT);
        if n_above > 0 {
            self.block(&format!("({n_above} more lines above)"))?;
        }
        self.block(&lines[n_above..].join("\n"))
    }

    /// Lines that belong to the call above them, all of them.
    pub fn block(&mut self, text: &str) -> Result<(), String> {
        text.trim_end()
            .lines()
            .try_for_each(|it| self.line(&format!("          {}", plain(it))))
    }

    pub fn diff(&mut self, old: &str, new: &str) -> Result<(), String> {
        let text = diff(old, new, self.colours);
        text.lines()
            .try_for_each(|it| self.line(&format!("    {it}")))
    }

    /// Asks a question and waits for the number of one of its answers; counted from 0. `None` when nobody answers.
    pub fn ask(&mut self, answers: &[&str]) -> Result<Option<usize>, String> {
        loop {
            self.offer(answers)?;
            forget_typed();
            write("  Your answer: ")?;
            let mut line = String::new();
            let n_read = io::stdin()
                .read_line(&mut line)
                .map_err(|error| format!("stdin cannot be read ({error})."))?;
            if n_read == 0 {
                write("\n")?;
                return Ok(None);
            }
            match line.trim().parse::<usize>() {
                Ok(number) if (1..=answers.len()).contains(&number) => return Ok(Some(number - 1)),
                Ok(_) | Err(_) => self.line(&format!(
                    "  Please type a number from 1 to {}.",
                    answers.len()
                ))?,
            }
        }
    }

    /// The answers that can be given, without waiting for one.
    pub fn offer(&mut self, answers: &[&str]) -> Result<(), String> {
        let listed = answers
            .iter()
            .zip(1..)
            .map(|(it, number)| format!("{number} {}", plain(it)));
        self.line(&format!("  {}", listed.collect::<Vec<_>>().join("   ")))
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Done,
    /// It ran a command, which ended with this code.
    Exited(i64),
    Failed,
}

/// Written and flushed at once: this is read while it is written.
fn write(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| format!("stdout cannot be written to ({error})."))
}

/// Drops what was typed before the question stood there: an answer is for what a person has seen.
fn forget_typed() {
    // SAFETY: takes two integers. On anything but a terminal it does nothing and says so, which is fine here.
    unsafe { libc::tcflush(libc::STDIN_FILENO, libc::TCIFLUSH) };
}

/// A text without control characters, line ends and tabs aside. What others wrote goes through it.
pub fn plain(text: &str) -> String {
    text.chars()
        .filter(|it| !it.is_control() || matches!(it, '\t' | '\n'))
        .filter(|it| *it != '\r')
        .collect()
}
