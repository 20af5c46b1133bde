//! `undine run`: one task without an editor.
//!
//! The real server with this program in the editor's place: no document is open, and nobody can be asked.

mod console;
mod page;
mod report;
mod shape;
mod task;

pub(crate) use console::{Console, Heard, Interrupt};

use crate::cli::{self, Flags};
use anyhow::Context;
use engine::redact::redact;
use engine::text::visible;
use shape::Shape;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What `undine run` is told by its command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The project's folder; the current one if missing.
    pub directory: Option<PathBuf>,
    /// Read from stdin if missing.
    pub prompt: Option<String>,
    pub format: Format,
    /// A file with a JSON Schema that the answer must fit.
    pub output_schema: Option<PathBuf>,
    pub session: Begin,
}

/// What stdout gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// The answer.
    #[default]
    Text,
    /// One JSON object at the end.
    Json,
    /// A JSON line for each event.
    Ndjson,
}

/// The session of the task.
#[derive(Clone, Debug, PartialEq)]
pub enum Begin {
    New,
    Resume(String),
    /// The newest of the project that can be read.
    Continue,
}

/// Runs the task.
pub fn run(options: Options, flags: Flags) -> ExitCode {
    let prepared = prepare(options);
    match prepared {
        Ok(asked) => cli::block_on(work(asked, flags)),
        Err(error) => {
            say(&format!("undine: {error:#}."));
            ExitCode::FAILURE
        }
    }
}

/// A task that is ready to be run.
struct Asked {
    prompt: String,
    folder: PathBuf,
    shape: Option<Shape>,
    format: Format,
    session: Begin,
}

fn prepare(options: Options) -> anyhow::Result<Asked> {
    let shape = options.output_schema.map(|it| Shape::read(&it));
    let shape = shape.transpose()?;
    let prompt = prompt(options.prompt)?;
    let folder = options.directory.unwrap_or_else(|| PathBuf::from("."));
    let resolved = folder.canonicalize();
    let folder = resolved.with_context(|| format!("opening the folder {}", folder.display()))?;
    Ok(Asked {
        prompt,
        folder,
        shape,
        format: options.format,
        session: options.session,
    })
}

/// Says a line to the person.
pub(crate) fn say(line: &str) {
    // Nobody to tell if stderr is closed.
    let _ = writeln!(io::stderr(), "{}", visible(&redact(line)));
}

fn prompt(given: Option<String>) -> anyhow::Result<String> {
    if let Some(prompt) = given {
        return Ok(prompt);
    }
    if io::stdin().is_terminal() {
        anyhow::bail!(
            "there is nothing to do; write it behind `undine run`, or send it to its stdin"
        );
    }
    let mut prompt = String::new();
    let read = io::stdin().read_to_string(&mut prompt);
    read.context("reading what is to be done from stdin")?;
    Ok(prompt)
}

async fn work(asked: Asked, flags: Flags) -> anyhow::Result<i32> {
    let (console, front) = Console::open().context("opening a pipe")?;
    let interrupt = Interrupt::watch().context("waiting for signals")?;
    cli::with_host(flags, front, async |_, limits| {
        let most = Duration::from_secs(limits.run_secs);
        Ok(task::run(console, interrupt, asked, most).await)
    })
    .await
}
