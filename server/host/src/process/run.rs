//! One command from its start to the end of its tree, seen from the server.

use std::ffi::OsStr;
use std::io;
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::time::{Instant, MissedTickBehavior, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::process::capture::{Capture, Decoder};
use crate::process::children::Place;
use crate::process::control::Control;
use crate::process::launcher::{Launcher, Report, Terms, end_below};
use crate::process::output::{Ends, Output};
use crate::process::{Command, End, Outcome, RunError, Streams};

/// On top of the grace, how long the launcher may take to end a tree. It gives up by itself a little
/// sooner; this is for one that is stuck or stopped.
const LAUNCHER_WAIT: Duration = Duration::from_millis(1500);

/// How often the end of input is typed on a terminal, for the next program that waits for some.
const INPUT_ENDS_EVERY: Duration = Duration::from_secs(1);

/// How long to read on when all is over but somebody still holds the pipe: a process which could not
/// be killed, or one that was handed the descriptor.
const DRAIN_WAIT: Duration = Duration::from_millis(200);

/// Runs a command in the foreground and returns when it and all it started are gone.
///
/// What the command leaves running (`server &`) is ended with it: a foreground command owns its tree.
/// There is nothing for it to read; stdout and stderr are one stream.
///
/// `on_output` gets the text as it arrives, decoded but with its escape sequences, and without bound:
/// who shows it, bounds it. It must not block. The result's text is bounded and clean. [`follow`] is the same
/// for whoever keeps the output himself.
///
/// Dropping the future ends the command too, but without waiting for it.
///
/// # Errors
/// If the command did not run at all. A command that fails, is killed or is cancelled is an
/// [`Outcome`].
pub async fn run(
    command: Command,
    place: Place,
    token: CancellationToken,
    mut on_output: impl FnMut(&str) + Send,
) -> Result<Outcome, RunError> {
    let mut capture = Capture::new(command.limits.n_output);
    let mut decoder = Decoder::default();
    let ended = follow(command, place, token, |heard| match heard {
        Heard::Started(_) => {}
        Heard::Output(chunk) => {
            capture.push(chunk);
            decoder.push(chunk, &mut on_output);
        }
    })
    .await;
    decoder.finish(&mut on_output);
    let (end, duration) = ended?;
    Ok(Outcome {
        output: capture.finish(),
        end,
        duration,
    })
}

/// What a command does while it runs.
#[derive(Debug)]
pub enum Heard<'a> {
    /// It has begun; the number of its own process.
    Started(i32),
    /// Bytes that it wrote.
    Output(&'a [u8]),
}

/// As [`run`], and keeps nothing: `on_heard` gets all the bytes.
///
/// # Errors
/// If the command did not run at all.
pub async fn follow(
    command: Command,
    place: Place,
    token: CancellationToken,
    mut on_heard: impl FnMut(Heard<'_>) + Send,
) -> Result<(End, Duration), RunError> {
    let mut run = Running::default();
    if token.is_cancelled() || place.is_stopping() {
        return Ok((End::Cancelled, Duration::ZERO));
    }
    if !command.folder.is_dir() {
        return Err(RunError::NoFolder(command.folder));
    }
    let (mut control, channel) = Control::open().map_err(RunError::NotStarted)?;
    let (mut output, ends) = Output::open(command.streams).map_err(RunError::NotStarted)?;
    let started = Instant::now();
    let mut launcher =
        start(place.launcher(), &command, channel, ends).map_err(RunError::NotStarted)?;

    let mut is_channel_open = true;
    let mut is_output_open = true;
    let mut buffer = vec![0; 32 * 1024];
    let mut input = tokio::time::interval(INPUT_ENDS_EVERY);
    input.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let alarm = match run.end {
            None => started + command.limits.timeout,
            Some((_, at)) => at + command.limits.grace + LAUNCHER_WAIT,
        };
        let is_running = run.end.is_none();
        let news = tokio::select! {
            // In this order: output without end must not keep a cancel waiting.
            biased;
            () = token.cancelled(), if is_running => News::Stop(End::Cancelled),
            () = place.stopping(), if is_running => News::Stop(End::Cancelled),
            () = sleep_until(alarm) => if is_running { News::Stop(End::TimedOut) } else { News::Stuck },
            report = control.report(), if is_channel_open => News::Report(report),
            _ = launcher.wait() => break,
            _ = input.tick() => News::Input,
            n_read = output.read(&mut buffer), if is_output_open => News::Output(n_read.unwrap_or(0)),
        };
        match news {
            News::Stop(end) => {
                control.stop();
                // A command can stop its launcher; a stopped launcher would not listen.
                if let Some(pid) = launcher.id() {
                    let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGCONT);
                }
                run.over(end);
            }
            News::Stuck => {
                // Something stops it, again and again. Whoever left the shell's group must be ended while it lives.
                if let Some(pid) = launcher.id() {
                    let pid = Pid::from_raw(pid.cast_signed());
                    let _ = kill(pid, Signal::SIGSTOP);
                    end_below(pid).await;
                }
                // Its end takes the shell along.
                let _ = launcher.start_kill();
                let _ = timeout(DRAIN_WAIT, launcher.wait()).await;
                break;
            }
            News::Report(None) => is_channel_open = false,
            News::Report(Some(report)) => {
                if let Report::Started(pid) = report {
                    on_heard(Heard::Started(pid));
                }
                run.hear(report)?;
            }
            News::Input => output.end_input(),
            News::Output(0) => is_output_open = false,
            News::Output(n_read) => on_heard(Heard::Output(&buffer[..n_read])),
        }
    }

    // The launcher is gone. What it last said may be unread yet.
    while is_channel_open {
        match timeout(DRAIN_WAIT, control.report()).await {
            Ok(Some(report)) => run.hear(report)?,
            Ok(None) | Err(_) => is_channel_open = false,
        }
    }
    if let Some(shell) = run.shell {
        // It did not say how the command ended: the command, or somebody else, killed the launcher.
        // The shell died with it; the rest of the group is ended here.
        let _ = killpg(shell, Signal::SIGKILL);
        run.over(End::Signalled(Signal::SIGKILL as i32));
    }
    let drain = async {
        // After the end of the stream it says so once more.
        while let Ok(n_read @ 1..) = output.read(&mut buffer).await {
            on_heard(Heard::Output(&buffer[..n_read]));
        }
    };
    let _ = timeout(DRAIN_WAIT, drain).await;

    match run.end {
        Some((end, at)) => Ok((end, at - started)),
        None => Err(RunError::NotStarted(io::Error::other(
            "its launcher ended before it began",
        ))),
    }
}

/// What one turn of the loop is about.
enum News {
    Stop(End),
    /// The launcher takes longer over ending the tree than it should.
    Stuck,
    Report(Option<Report>),
    /// Whoever waits for input is to be told again that there is none.
    Input,
    Output(usize),
}

/// What is known of the command so far.
#[derive(Default)]
struct Running {
    /// The shell's process and group, while nobody has waited for it: its number is its own.
    shell: Option<Pid>,
    end: Option<(End, Instant)>,
}

impl Running {
    fn hear(&mut self, report: Report) -> Result<(), RunError> {
        match report {
            Report::Started(pid) => self.shell = Some(Pid::from_raw(pid)),
            Report::Exited(code) => {
                self.shell = None;
                self.over(End::Exited(code));
            }
            Report::Signalled(signal) => {
                self.shell = None;
                self.over(End::Signalled(signal));
            }
            Report::NotStarted(error) => {
                return Err(RunError::NotStarted(io::Error::from_raw_os_error(error)));
            }
        }
        Ok(())
    }

    /// What happened first counts: an exit that follows our stop is the stop's doing.
    fn over(&mut self, end: End) {
        self.end.get_or_insert((end, Instant::now()));
    }
}

fn start(
    launcher: &Launcher,
    command: &Command,
    channel: std::process::Stdio,
    ends: Ends,
) -> io::Result<tokio::process::Child> {
    let shell = ["/bin/sh", "-c", &command.line].map(OsStr::new);
    let terms = Terms {
        grace: u64::try_from(command.limits.grace.as_millis()).unwrap_or(u64::MAX),
        terminal: ends.streams == Streams::Terminal,
        sandbox: command.sandbox.clone(),
    };
    tokio::process::Command::new(launcher.program())
        // The name in process lists; the program's own path may be one below /proc.
        .arg0("undine")
        .args(Launcher::arguments(&terms, &shell))
        .current_dir(&command.folder)
        .env_clear()
        .envs(
            command
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .stdin(channel)
        .stdout(ends.stdout)
        .stderr(ends.stderr)
        .spawn()
    // The command, and with it our copies of the ends, is dropped here.
}
