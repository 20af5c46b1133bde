//! Runs a command in a shell, in the foreground.

use super::Tool;
use crate::plan::{Done, Plan, Run, World};
use crate::process::{self, Command, End, Streams, environment};
use crate::workspace::FilePath;
use engine::session::Preview;
use protocol::acp::ToolKind;
use protocol::tool::Access;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

pub struct ExecuteCommand;

/// Bytes of a running command's output that are shown. Each time whole, because what is shown of a call
/// replaces what was shown before (ACP, `tool_call_update`).
const SHOWN: usize = 8 * 1024;

/// A command may say a line a thousand times a second; nobody reads that.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

/// Run a shell command in the project and get its output. Nobody can type anything: it has no input.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The command line, for `sh -c`.
    command: String,
    /// Folder to run in, relative to the project; the project itself if missing.
    #[serde(default)]
    working_dir: Option<String>,
    /// Seconds it may take.
    #[serde(default)]
    timeout: Option<f64>,
}

impl Tool for ExecuteCommand {
    const NAME: &'static str = "execute_command";
    const KIND: ToolKind = ToolKind::Execute;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let folder = world
            .workspace
            .resolve(input.working_dir.as_deref().unwrap_or("."))?;
        if input.command.trim().is_empty() {
            return Err("The command is empty.".to_owned());
        }
        let most = world.limits.command_max_secs as f64;
        let default = world.limits.command_default_secs as f64;
        let timeout = input.timeout.unwrap_or(default).clamp(0.0, most);
        let line = input.command;
        let title = format!("Run {line}");
        let shown = format!("{line}\n{}", folder.real.display());
        Ok(Plan::build(title)
            .access(Access::Run {
                command: line.clone(),
                cwd: folder.real.clone(),
                place: folder.place,
            })
            .preview(Preview::Command {
                line: line.clone(),
                cwd: folder.real.clone(),
            })
            .shown(shown)
            .then(move |run| execute(line, folder, Duration::from_secs_f64(timeout), run)))
    }
}

async fn execute(
    line: String,
    folder: FilePath,
    timeout: Duration,
    run: Run,
) -> Result<Done, String> {
    let Run {
        world,
        token,
        output,
        accepted: _,
    } = run;
    if !world.workspace.still(&folder) {
        return Ok(Done::Moved);
    }
    let limits = process::Limits {
        timeout,
        grace: Duration::from_millis(world.limits.kill_grace_ms),
        n_output: usize::try_from(world.limits.command_output_bytes).unwrap_or(usize::MAX),
    };
    let also_secret: Vec<&str> = world.key_variables.iter().map(String::as_str).collect();
    let environment = environment::scrubbed(std::env::vars_os(), &also_secret);
    let command = Command {
        line,
        folder: folder.real,
        environment,
        streams: if world.exec.pty {
            Streams::Terminal
        } else {
            Streams::Pipe
        },
        limits,
    };
    // Said from a task of its own, because the command's pipe must be read whatever the loop does.
    let (heard, mut said) = watch::channel(String::new());
    let saying = tokio::spawn(async move {
        while said.changed().await.is_ok() {
            let text = process::clean::clean(&said.borrow_and_update());
            output.say(text).await;
            sleep(SHOWN_EVERY).await;
        }
    });
    let outcome = process::run(command, world.children.place(), token, move |text| {
        heard.send_modify(|it| keep_last(it, text));
    })
    .await
    .map_err(|error| format!("{error}."))?;
    // The result holds the rest.
    saying.abort();
    let text = outcome.output.text;
    let (code, footer) = match outcome.end {
        End::Exited(0) => (0, None),
        End::Exited(code) => (code, Some(format!("[exit code {code}]"))),
        End::Signalled(signal) => (-1, Some(format!("[ended by signal {signal}]"))),
        End::Cancelled => return Ok(Done::Cancelled),
        End::TimedOut => {
            let why = format!(
                "The command ran longer than {} seconds and was ended with all it had started. \
                 Give a longer timeout, or do it in smaller steps.",
                timeout.as_secs_f64()
            );
            return Err(with_footer(text, Some(why)));
        }
    };
    let text = if text.is_empty() {
        "[no output]".to_owned()
    } else {
        text
    };
    let text = with_footer(text, footer);
    Ok(Done::Success {
        text,
        shown: None,
        exit_code: Some(code),
        saw: Vec::new(),
        fuzzy: false,
        images: Vec::new(),
    })
}

/// Adds a piece and keeps the last of the text, from the beginning of a line where there is one.
fn keep_last(text: &mut String, piece: &str) {
    text.push_str(piece);
    if text.len() <= SHOWN {
        return;
    }
    let cut = text.ceil_char_boundary(text.len() - SHOWN);
    let line = text[cut..].find('\n').map(|at| cut + at + 1);
    text.drain(..line.filter(|it| *it < text.len()).unwrap_or(cut));
}

fn with_footer(mut text: String, footer: Option<String>) -> String {
    let Some(footer) = footer else { return text };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &footer
}

#[cfg(test)]
mod tests {
    use super::{SHOWN, keep_last};

    #[test]
    fn the_last_lines_are_kept_whole_and_a_long_line_from_a_character_on() {
        let mut text = String::new();
        for n in 0..10_000 {
            keep_last(&mut text, &format!("{n} \u{1F600}\n"));
        }
        assert!(text.len() > SHOWN - 20 && text.len() <= SHOWN);
        let last: Vec<String> = (10_000 - text.lines().count()..10_000)
            .map(|n| format!("{n} \u{1F600}"))
            .collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), last);

        let mut text = String::new();
        keep_last(&mut text, "short\n");
        keep_last(&mut text, &"\u{1F600}".repeat(SHOWN));
        assert_eq!(text, "\u{1F600}".repeat(SHOWN / 4));
        let mut text = "x".repeat(SHOWN);
        keep_last(&mut text, "\n");
        assert_eq!(text, "x".repeat(SHOWN - 1) + "\n");
    }
}
