//! `undine approvals`, `undine approve` and `undine deny`: what waits for the person after a run without one.

use crate::cli::{self, Flags};
use crate::event::{Approve, Approved, Event};
use crate::handlers::{approval_line, denied, whole_approval};
use crate::run::{Console, Heard, Interrupt, say};
use crate::store::Folders;
use crate::store::approvals::{Approval, ApprovalError, Approvals, Claim};
use anyhow::Context;
use engine::redact::{redact_inert, redact_json};
use engine::text::visible;
use protocol::tool::Outcome;
use std::env;
use std::io::{self, Write};
use std::process::ExitCode;
use tokio::sync::{mpsc, oneshot};

/// What `undine approvals` is told by its command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Those of all projects.
    pub all: bool,
    /// As JSON, with those that were decided.
    pub json: bool,
    /// One of them, by the beginning of its id.
    pub id: Option<String>,
}

fn queue() -> Approvals {
    Approvals::new(&Folders::from_environment().data)
}

fn complain(error: &ApprovalError) -> ExitCode {
    say(&format!("undine: {error}"));
    ExitCode::FAILURE
}

/// Prints to stdout.
fn print(text: &str) {
    // Nobody to tell if it is closed.
    let _ = writeln!(io::stdout(), "{}", redact_inert(text));
}

pub fn list(options: &Options) -> ExitCode {
    if let Some(id) = &options.id {
        return match queue().find(id) {
            Ok(approval) if options.json => print_json(&approval),
            Ok(approval) => {
                print(&whole_approval(&approval));
                ExitCode::SUCCESS
            }
            Err(error) => complain(&error),
        };
    }
    let here = env::current_dir().unwrap_or_default();
    // A folder of the project counts as the project.
    let is_here = |it: &Approval| options.all || here.starts_with(&it.project);
    let listed: Vec<Approval> = queue().list().into_iter().filter(is_here).collect();
    if options.json {
        return print_json(&listed);
    }
    let waiting: Vec<Approval> = listed.into_iter().filter(Approval::waits).collect();
    if waiting.is_empty() {
        print("Nothing waits for an approval.");
    }
    for it in &waiting {
        let place = match options.all {
            true => format!("  in {}", it.project.display()),
            false => String::new(),
        };
        print(&(approval_line(it) + &visible(&place)));
    }
    ExitCode::SUCCESS
}

/// Without secrets; the stored action has them still.
fn print_json(value: &impl serde::Serialize) -> ExitCode {
    let value = serde_json::to_value(value).map(|mut it| {
        redact_json(&mut it);
        it
    });
    match value.and_then(|it| serde_json::to_string_pretty(&it)) {
        Ok(text) => {
            print(&text);
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(&format!("undine: The list is no JSON ({error})."));
            ExitCode::FAILURE
        }
    }
}

/// Denies an action, for good.
pub fn deny(id: &str) -> ExitCode {
    let claimed = queue().find(id).and_then(|it| queue().claim(&it.id));
    let mut claim = match claimed {
        Ok(claim) => claim,
        Err(error) => return complain(&error),
    };
    match denied(&mut claim) {
        Ok(said) => {
            say(&said);
            ExitCode::SUCCESS
        }
        Err(why) => {
            say(&format!("undine: {why}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs an action once: 0 when it was done.
pub fn approve(id: &str, flags: Flags) -> ExitCode {
    let claimed = queue().find(id).and_then(|it| queue().claim(&it.id));
    match claimed {
        Ok(claim) => cli::block_on(run(claim, flags)),
        Err(error) => complain(&error),
    }
}

async fn run(claim: Claim, flags: Flags) -> anyhow::Result<i32> {
    let (mut console, front) = Console::open().context("opening a pipe")?;
    let mut interrupt = Interrupt::watch().context("waiting for signals")?;
    cli::with_host(flags, front, async |inbox, _| {
        let id = claim.approval().id.clone();
        say(&claim.approval().offer.title);
        let ended = tokio::select! {
            ended = in_loop(&mut console, claim, inbox) => ended,
            // The loop ends what runs, and notes how far it came.
            () = interrupt.next() => Err("The action was broken off.".to_owned()),
        };
        Ok(match ended {
            Ok(approved) => tell(&id, approved),
            Err(why) => {
                say(&format!("undine: {why}"));
                1
            }
        })
    })
    .await
}

async fn in_loop(
    console: &mut Console,
    claim: Claim,
    inbox: mpsc::Sender<Event>,
) -> Result<Approved, String> {
    console.introduce(&claim.approval().project, &[]).await?;
    let (reply, answer) = oneshot::channel();
    let over = |_| "The server has ended; its log says why.".to_owned();
    let approve = Box::new(Approve { claim, reply });
    let sent = inbox.send(Event::Approve(approve)).await;
    sent.map_err(|_| over(()))?;
    tokio::pin!(answer);
    loop {
        tokio::select! {
            answer = &mut answer => return answer.map_err(|_| over(())),
            heard = console.next() => if let Heard::Message(text) = heard? {
                say(&format!("undine: {text}"));
            },
        }
    }
}

/// Says what became of it; answers the exit code.
fn tell(id: &str, approved: Approved) -> i32 {
    match approved {
        Approved::Ran {
            outcome: Outcome::Success,
            text,
        } => {
            print(&visible(&text));
            0
        }
        Approved::Ran { text, .. } => {
            say(&format!("undine: It ended with an error: {text}"));
            1
        }
        Approved::Refused(why) => {
            say(&format!("undine: Nothing was done. {why}"));
            1
        }
        Approved::Changed { preview } => {
            print(&visible(&preview));
            say(&format!(
                "undine: Nothing was done: the files have changed, and it would do this by now. `undine approve {id}` again does it."
            ));
            1
        }
    }
}
