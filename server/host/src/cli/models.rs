//! `undine models`: which can be chosen, and models of Ollama, which have to be there before they answer.

use super::model_list;
use super::settings::here;
use crate::endpoint;
use crate::keys::Keys;
use crate::layers::CommandLine;
use crate::ollama::pull::{Progress, pull};
use crate::ollama::{Known, Wishes};
use crate::run::{Interrupt, say};
use anyhow::{Context, anyhow};
use clap::Subcommand;
use engine::provider::Wire;
use engine::text::visible;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Clone, Debug, Subcommand)]
pub(super) enum Models {
    /// Lists them. The default.
    List,
    /// Downloads a model into Ollama, which may take gigabytes. Ctrl-C ends it; begun again, it goes on.
    Pull {
        /// The model's name at Ollama, for example qwen3:8b.
        name: String,
    },
}

/// Does it: 0 when it is done, else 1.
pub(super) fn run(
    what: Option<Models>,
    as_json: bool,
    command_line: CommandLine,
) -> anyhow::Result<ExitCode> {
    match what {
        None | Some(Models::List) => model_list::list(as_json, command_line),
        Some(Models::Pull { name }) => pull_model(name, command_line),
    }
}

fn pull_model(name: String, command_line: CommandLine) -> anyhow::Result<ExitCode> {
    let (root, resolved) = here(command_line)?;
    let mut config = resolved.config;
    // Another provider may be the one that answers.
    let is_ollama = endpoint::reach(&config).is_ok_and(|it| it.wire == Wire::Ollama);
    if !is_ollama {
        config.default_model.provider = "ollama".to_owned();
    }
    config.default_model.name.clone_from(&name);
    let reached = endpoint::reach(&config).map_err(|why| anyhow!(why))?;
    if reached.wire != Wire::Ollama {
        anyhow::bail!(
            "the provider {} is no Ollama; set kind = \"ollama\" under [providers.{0}]",
            reached.provider
        );
    }
    let wishes = Wishes::of(&config, &reached, vec![root]);
    let connect = Duration::from_secs(config.limits.model_connect_secs);
    let quiet = Duration::from_secs(config.limits.model_quiet_secs);
    Ok(super::block_on(async move {
        let mut interrupt = Interrupt::watch().context("waiting for signals")?;
        let mut bar = Bar::default();
        let pulling = async {
            let (endpoint, _) = reached.with_key(&Keys::from_environment()).await?;
            Known::default().start(&endpoint, &wishes).await?;
            pull(&endpoint, &name, connect, quiet, |it| bar.show(&it)).await
        };
        let pulled = tokio::select! {
            pulled = pulling => pulled,
            () = interrupt.next() => Err(
                "The download was ended; what is there stays, and the command goes on with it.".to_owned(),
            ),
        };
        bar.end();
        match pulled {
            Ok(()) => {
                say(&format!("Ollama has the model {name}."));
                Ok(0)
            }
            Err(why) => {
                say(&format!("undine: {why}"));
                Ok(1)
            }
        }
    }))
}

/// How far it is, in one line of a terminal; elsewhere a line for each thing that is begun.
#[derive(Default)]
struct Bar {
    status: String,
    is_open: bool,
}

impl Bar {
    fn show(&mut self, progress: &Progress) {
        let is_new = self.status != progress.status;
        self.status.clone_from(&progress.status);
        if io::stderr().is_terminal() {
            self.is_open = true;
            // Nobody to tell if stderr is closed.
            let _ = write!(io::stderr(), "\r\x1b[K{}", visible(&line(progress)));
            let _ = io::stderr().flush();
        } else if is_new {
            say(&progress.status);
        }
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = writeln!(io::stderr());
        }
    }
}

fn line(progress: &Progress) -> String {
    const MB: u64 = 1_000_000;
    match progress.bytes {
        None => progress.status.clone(),
        Some((done, all)) => format!(
            "{}  {} %  {} of {} MB",
            progress.status,
            // Of numbers that a server made up, too.
            u128::from(done) * 100 / u128::from(all.max(1)),
            done / MB,
            all / MB
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_it_is() {
        let at = |bytes| {
            line(&Progress {
                status: "pulling 6a07".to_owned(),
                bytes,
            })
        };
        assert_eq!(at(None), "pulling 6a07");
        assert_eq!(
            at(Some((2_350_000_000, 4_700_000_000))),
            "pulling 6a07  50 %  2350 of 4700 MB"
        );
        assert_eq!(
            at(Some((1, u64::MAX))),
            "pulling 6a07  0 %  0 of 18446744073709 MB"
        );
    }
}
