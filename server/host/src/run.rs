//! `undine run`: one task without an editor.
//!
//! The real server with this program in the editor's place: no document is open, and nobody can be asked. What it
//! writes for other programs, and sessions that go on, are not here yet.

mod console;
mod page;

pub(crate) use console::{Console, Heard, Interrupt};

use crate::cli::{self, Flags};
use crate::store::Folders;
use crate::store::approvals::{Approvals, State};
use anyhow::Context;
use engine::redact::redact;
use engine::text::visible;
use page::Page;
use protocol::acp;
use protocol::methods::{self, ClientRequest, Notification};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What `undine run` is told by its command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The project's folder; the current one if missing.
    pub directory: Option<PathBuf>,
    /// Read from stdin if missing.
    pub prompt: Option<String>,
}

/// Runs the task: 0 when the model has ended its answer, else 1.
pub fn run(options: Options, flags: Flags) -> ExitCode {
    let prepared = prompt(options.prompt).and_then(|prompt| {
        let folder = options.directory.unwrap_or_else(|| PathBuf::from("."));
        let resolved = folder.canonicalize();
        let folder =
            resolved.with_context(|| format!("opening the folder {}", folder.display()))?;
        Ok((prompt, folder))
    });
    match prepared {
        Ok((prompt, folder)) => cli::block_on(task(prompt, folder, flags)),
        Err(error) => {
            say(&format!("undine: {error:#}."));
            ExitCode::FAILURE
        }
    }
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

async fn task(prompt: String, folder: PathBuf, flags: Flags) -> anyhow::Result<i32> {
    let (mut console, front) = Console::open().context("opening a pipe")?;
    let mut interrupt = Interrupt::watch().context("waiting for signals")?;
    cli::with_host(flags, front, async |_, _| {
        let ended = turn(&mut console, &mut interrupt, &folder, prompt).await;
        Ok(match ended {
            Ok(()) => 0,
            Err(why) => {
                say(&format!("undine: {why}"));
                1
            }
        })
    })
    .await
}

/// One turn in a new session, as it is shown. The error is a sentence for the person.
async fn turn(
    console: &mut Console,
    interrupt: &mut Interrupt,
    folder: &Path,
    prompt: String,
) -> Result<(), String> {
    let mut page = Page::default();
    console
        .introduce(folder, &[methods::Update::METHOD, methods::Retry::METHOD])
        .await?;
    let params = acp::NewSessionRequest::new(folder);
    let opened = console.request(ClientRequest::NewSession(params)).await;
    let session: acp::NewSessionResponse = loop {
        match console.next().await? {
            Heard::Answer(id, answer) if id == opened => break read(answer?)?,
            other => page.show(other)?,
        }
    };
    let session = session.session_id;
    let block = acp::ContentBlock::Text(acp::TextContent::new(prompt));
    let params = acp::PromptRequest::new(session.clone(), vec![block]);
    let asked = console.request(ClientRequest::Prompt(params)).await;
    let mut cancelled = false;
    let answer = loop {
        tokio::select! {
            heard = console.next() => match heard? {
                Heard::Answer(id, answer) if id == asked => break answer,
                other => page.show(other)?,
            },
            () = interrupt.next() => match cancelled {
                // The second time: what is left is ended with the process.
                true => return Err("The task was broken off.".to_owned()),
                false => {
                    cancelled = true;
                    console.cancel(&session).await;
                }
            },
        }
    };
    page.end()?;
    tell_what_waits(&session.0);
    let ended: acp::PromptResponse = read(answer?)?;
    match ended.stop_reason {
        acp::StopReason::EndTurn => Ok(()),
        acp::StopReason::Cancelled => Err("The task was cancelled.".to_owned()),
        acp::StopReason::MaxTokens => {
            Err("The model's answer reached its largest size and was cut.".to_owned())
        }
        acp::StopReason::Refusal => Err("The model refused to answer.".to_owned()),
        acp::StopReason::MaxTurnRequests => Err(
            "The task was stopped: the model was asked as often as limits.turn_answers allows."
                .to_owned(),
        ),
        other => Err(format!("The task was stopped ({other:?}).")),
    }
}

/// Reads an answer of our own loop.
fn read<T: serde::de::DeserializeOwned>(answer: serde_json::Value) -> Result<T, String> {
    serde_json::from_value(answer)
        .map_err(|error| format!("The server's answer cannot be read ({error})."))
}

/// Names the actions of a session that wait for an approval.
fn tell_what_waits(session: &str) {
    let waiting: Vec<_> = Approvals::new(&Folders::from_environment().data)
        .list()
        .into_iter()
        .filter(|it| it.session == session && it.state == State::Pending)
        .collect();
    if waiting.is_empty() {
        return;
    }
    say("Waiting for your approval:");
    for it in waiting {
        say(&format!("  {}  (undine approve {})", it.offer.title, it.id));
    }
}
