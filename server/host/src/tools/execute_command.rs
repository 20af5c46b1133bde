//! Runs a command in a shell, in the foreground.

use super::Tool;
use crate::plan::{Done, Plan, Run, World};
use crate::process::{self, Command, End, environment};
use crate::workspace::FilePath;
use engine::session::Preview;
use protocol::acp::ToolKind;
use protocol::tool::Access;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::mpsc;

pub struct ExecuteCommand;

/// Run a shell command in the project and get its output. It has no terminal and no input.
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
        Ok(Plan::build(title, ToolKind::Execute)
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
        limits,
    };
    // Said from a task of its own, because the command's pipe must be read whatever the loop does.
    // What is shown is bounded like what is kept.
    let (heard, mut said) = mpsc::unbounded_channel::<String>();
    let saying = tokio::spawn(async move {
        while let Some(mut text) = said.recv().await {
            while let Ok(more) = said.try_recv() {
                text.push_str(&more);
            }
            output.say(process::clean::clean(&text)).await;
        }
    });
    let mut room = world.limits.command_output_bytes;
    let outcome = process::run(command, world.children.place(), token, move |text| {
        let len = text.len() as u64;
        if len <= room {
            room -= len;
            // The receiver lives as long as this closure.
            let _ = heard.send(text.to_owned());
        }
    })
    .await
    .map_err(|error| format!("{error}."))?;
    // All that was said stands before the result.
    let _ = saying.await;
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
    })
}

fn with_footer(mut text: String, footer: Option<String>) -> String {
    let Some(footer) = footer else { return text };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &footer
}
