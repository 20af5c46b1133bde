//! Runs a command in a shell: in the foreground, where its end is waited for, or in the background (spec 5).

mod foreground;
mod links;
mod page;
mod startup;

use super::Tool;
use crate::plan::{Done, Plan, Run, World};
use crate::process::background::NO_TIMEOUT;
use crate::process::{Command, Limits, Streams, environment};
use crate::scratchpad;
use crate::unsaved;
use crate::workspace::FilePath;
use engine::policy::{Hold, shell};
use engine::session::{Preview, named};
use protocol::acp::ToolKind;
use protocol::tool::{Access, Place};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct ExecuteCommand;

/// How long a command in the background that is asked to end may take (spec 6.5). A server may have much to put away.
const BACKGROUND_GRACE: Duration = Duration::from_millis(400);

/// Run a shell command in the project and get its output. Nobody can type anything: it has no input. For servers and
/// whatever else goes on, use mode background, and then background_process.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The command line, for `sh -c`.
    #[serde(default)]
    #[schemars(required)]
    command: Option<String>,
    /// Folder to run in, relative to the project; the project itself if missing.
    #[serde(default)]
    working_dir: Option<String>,
    /// wait: for its end. background: only until it is ready, then it goes on.
    #[serde(default)]
    mode: Mode,
    /// Seconds it may take, when it is waited for.
    #[serde(default)]
    timeout: Option<f64>,
    /// In the background: seconds to wait until it is ready, 1 to 30.
    #[serde(default = "default_startup")]
    startup_timeout_secs: f64,
    /// In the background: plain text in its output that says it is ready.
    #[serde(default)]
    ready_pattern: Option<String>,
    /// In the background: web address (http or https) that the person's browser shows once it is ready.
    #[serde(default)]
    open_url: Option<String>,
    /// Some models know a shell that keeps its state.
    #[serde(default)]
    #[schemars(skip)]
    restart: bool,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Mode {
    #[default]
    Wait,
    Background,
}

/// Spec 5.1.
fn default_startup() -> f64 {
    5.0
}

impl Tool for ExecuteCommand {
    const NAME: &'static str = "execute_command";
    const KIND: ToolKind = ToolKind::Execute;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        if input.restart {
            let text = "Every command has a fresh shell already; there is nothing to restart.";
            return Ok(Plan::build("Restart the shell".to_owned())
                .then(async move |_| Ok(Done::text(text))));
        }
        let line = input.command.unwrap_or_default();
        if line.trim().is_empty() {
            return Err("The command is empty.".to_owned());
        }
        let folder = world
            .workspace
            .resolve(input.working_dir.as_deref().unwrap_or("."))?;
        let most = world.limits.command_max_secs as f64;
        let default = world.limits.command_default_secs as f64;
        let timeout = input.timeout.unwrap_or(default).clamp(0.0, most);
        let startup = Duration::from_secs_f64(input.startup_timeout_secs.clamp(1.0, 30.0));
        let pattern = input.ready_pattern.filter(|it| !it.is_empty());
        let page = input.open_url.filter(|it| !it.trim().is_empty());
        let page = page
            .map(|it| page::of(&it, input.mode, &world))
            .transpose()?;
        let title = match (input.mode, &page) {
            (Mode::Wait, _) => format!("Run {line}"),
            (Mode::Background, None) => format!("Run in the background: {line}"),
            // The page first: of a long line only the start is shown.
            (Mode::Background, Some(page)) => {
                format!("Open {page} and run in the background: {line}")
            }
        };
        let mark = match input.mode {
            Mode::Wait => "",
            Mode::Background => "\nbackground",
        };
        let opened = page.as_deref().unwrap_or_default();
        let shown = format!("{line}\n{}{mark}\n{opened}", folder.real.display());
        let (mut reading, names) = shell::read_named(&line, &world.surroundings(&folder));
        links::follow(&mut reading, &names, &world.workspace);
        if page.is_some() {
            shell::opens_page(&mut reading);
        }
        let plan = Plan::build(title)
            .access(Access::Run {
                command: line.clone(),
                cwd: folder.real.clone(),
                place: folder.place,
                reading,
            })
            .preview(Preview::Command {
                line: line.clone(),
                cwd: folder.real.clone(),
            })
            .unsaved(unsaved::in_session(&world).await)
            .shown(shown);
        Ok(match input.mode {
            Mode::Wait => plan.then(async move |run: Run| {
                if !run.world.workspace.still(&folder) {
                    return Ok(Done::Moved);
                }
                let unseen = unseen(&run.world).await;
                let command = in_foreground(line, &folder, &run.world, run.hold);
                let done = foreground::run(command, Duration::from_secs_f64(timeout), run).await;
                with_unseen(done, unseen)
            }),
            Mode::Background => plan.then(async move |run: Run| {
                if !run.world.workspace.still(&folder) {
                    return Ok(Done::Moved);
                }
                let unseen = unseen(&run.world).await;
                let command = in_background(line, &folder, &run.world, run.hold);
                let done = startup::run(command, startup, pattern, page, run).await;
                with_unseen(done, unseen)
            }),
        })
    }
}

/// Its time is counted by who waits for it, because it may be moved to the background while it runs.
fn in_foreground(line: String, folder: &FilePath, world: &World, hold: Hold) -> Command {
    let grace = Duration::from_millis(world.limits.kill_grace_ms);
    let streams = match world.exec.pty {
        true => Streams::Terminal,
        false => Streams::Pipe,
    };
    command(line, folder, world, hold, grace, streams)
}

fn in_background(line: String, folder: &FilePath, world: &World, hold: Hold) -> Command {
    command(line, folder, world, hold, BACKGROUND_GRACE, Streams::Pipe)
}

fn command(
    line: String,
    folder: &FilePath,
    world: &World,
    hold: Hold,
    grace: Duration,
    streams: Streams,
) -> Command {
    let also_secret: Vec<&str> = world.key_variables.iter().map(String::as_str).collect();
    let mut environment = environment::scrubbed(std::env::vars_os(), &also_secret);
    // Ours may run in another's session.
    environment.retain(|(name, _)| name != scratchpad::VARIABLE);
    if hold == Hold::ByRating {
        let is_ours = |it: &Path| world.workspace.classify(resolved(it)).place != Place::External;
        environment::without_programs_of(&mut environment, is_ours);
    }
    if let Some(path) = world.workspace.scratchpad() {
        environment.push((scratchpad::VARIABLE.into(), path.into()));
    }
    Command {
        line,
        folder: folder.real.clone(),
        environment,
        streams,
        sandbox: world.sandbox(folder, hold),
        limits: Limits {
            timeout: NO_TIMEOUT,
            grace,
            n_output: usize::try_from(world.limits.command_output_bytes).unwrap_or(usize::MAX),
        },
    }
}

/// A folder through its links; one that is not there is what it is called.
fn resolved(folder: &Path) -> PathBuf {
    folder
        .canonicalize()
        .unwrap_or_else(|_| folder.to_path_buf())
}

/// What is said of documents that a command did not see as they are, if there are any when it starts.
async fn unseen(world: &World) -> Option<String> {
    let names = unsaved::in_session(world).await.into_iter();
    let names: Vec<String> = names.map(|it| it.shown).collect();
    (!names.is_empty()).then(|| {
        format!(
            "[The editor has unsaved edits that the command did not see: {}]",
            named(&names)
        )
    })
}

/// Says it at the end of a result, whatever that is.
fn with_unseen(done: Result<Done, String>, unseen: Option<String>) -> Result<Done, String> {
    match done {
        Ok(Done::Success {
            text,
            shown,
            exit_code,
            saw,
            fuzzy,
            images,
            lines,
        }) => Ok(Done::Success {
            shown: shown.map(|it| with_footer(it, unseen.clone())),
            text: with_footer(text, unseen),
            exit_code,
            saw,
            fuzzy,
            images,
            lines,
        }),
        Ok(done @ (Done::Cancelled | Done::Moved)) => Ok(done),
        Err(text) => Err(with_footer(text, unseen)),
    }
}

/// Adds a line of ours to an output.
fn with_footer(mut text: String, footer: Option<String>) -> String {
    let Some(footer) = footer else { return text };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &footer
}
