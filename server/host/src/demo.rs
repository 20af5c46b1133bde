//! `undine demo`: the real server at work on a sample project, with a headless editor and nothing to set up.
//!
//! The server is this program started as `undine lsp`; the model is the configured one, or a script behind the real
//! wire when there is none. Whether the demonstration succeeded, the sample's own test decides at the end.

mod choice;
mod editor;
mod interrupt;
mod rehearsal;
mod sample;
mod screen;
mod turn;

use crate::store::Folders;
use choice::Choice;
use editor::{Buffer, Editor, Server};
use interrupt::{Interrupt, interruptible};
use rehearsal::Rehearsal;
use sample::{Outcome, Sample};
use screen::{Colours, Screen};
use serde_json::json;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use turn::{Person, Turn};

/// The command line of the demonstration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// `provider/name`; `rehearsal` for the script. The configured model if missing.
    pub model: Option<String>,
    /// Answer every question with yes.
    pub yes: bool,
    /// Leave the sample project in its temporary folder.
    pub keep: bool,
}

/// For tests: milliseconds between two pieces of the rehearsal model's text.
const PAUSE: &str = "UNDINE_DEMO_PAUSE_MS";

/// About the speed at which a hosted model writes.
const NATURAL_PAUSE: Duration = Duration::from_millis(15);

/// Longest silence in a turn. A local model may have to be loaded and then reads the prompt without a word.
const QUIET: Duration = Duration::from_secs(300);

/// The script is never silent for longer than a command of the sample runs.
const QUIET_REHEARSAL: Duration = Duration::from_secs(60);

/// Runs the demonstration: 0 when the sample's test passes at its end, else 1.
pub fn run(options: Options) -> ExitCode {
    match staged(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            // Nobody to tell if stderr is closed.
            let _ = writeln!(io::stderr(), "undine demo: {}", screen::plain(&why));
            ExitCode::FAILURE
        }
    }
}

/// Whether the test passes at the end. The error is one sentence for the person.
fn staged(options: &Options) -> Result<bool, String> {
    let folder = tempfile::Builder::new().prefix("undine-demo-").tempdir().map_err(|error| {
        format!("A temporary folder cannot be made ({error}); set TMPDIR to a folder that can be written.")
    })?;
    let to_remove = (!options.keep).then(|| folder.path().to_owned());
    let interrupt = Interrupt::watch(to_remove)
        .map_err(|error| format!("Signals cannot be waited for ({error})."))?;
    let shown = show(options, folder, &interrupt);
    interrupt.give_way();
    shown
}

fn show(options: &Options, folder: TempDir, interrupt: &Interrupt) -> Result<bool, String> {
    let start = Instant::now();
    let choice = Choice::make(options.model.as_deref(), &Folders::from_environment());
    let sample = Sample::create(folder.path().join("shop"))
        .map_err(|error| format!("The sample project cannot be made ({error})."))?;
    let before = tested(&sample)?;
    let mut screen = Screen::new(Colours::wanted());
    introduce(&mut screen, &choice, &sample, &before)?;

    let rehearsal = match choice {
        Choice::Rehearsal => Some(
            Rehearsal::start(pause())
                .map_err(|error| format!("The rehearsal model cannot be started ({error})."))?,
        ),
        Choice::Configured(_) | Choice::Ollama(_) => None,
    };
    let mut command = server(&choice, rehearsal.as_ref(), folder.path(), options)?;
    // What it makes of temporary files goes with the demonstration, also when that is broken off.
    command
        .env("TMPDIR", folder.path())
        .current_dir(&sample.folder);
    let server = Server::start(interruptible(&mut command)).map_err(no_server)?;
    interrupt.ends(Some(server.id()));
    let opened = Sample::buffer();
    let buffer = Buffer::open(sample.file(), &opened);
    // The test reads the disk, so what the agent changes must get there although the person's line was not saved.
    let settings = json!({"edits": {"save": "always"}});
    let mut editor = Editor::open(server, &sample.folder, buffer, settings)?;
    let session = editor.new_session(&sample.folder)?;
    let prompt = editor.prompt(&session, sample::PROMPT)?;
    screen.heading("You")?;
    screen.line(sample::PROMPT)?;
    screen.heading("Undine")?;
    let patience = if rehearsal.is_some() {
        QUIET_REHEARSAL
    } else {
        QUIET
    };
    let mut turn = Turn::new(screen, Person::of(options), patience);
    let followed = turn.follow(&mut editor, prompt);
    let mut screen = turn.screen;
    screen.end_text()?;
    let ended = followed?;
    let text = editor.buffer.text();
    editor.close()?;
    interrupt.ends(None);

    let after = tested(&sample)?;
    let saved = fs::read_to_string(sample.file()).is_ok_and(|it| it == text);
    let ending = Ending {
        opened: &opened,
        text: &text,
        saved,
    };
    summarize(&mut screen, &ending, (&before, &after), start.elapsed())?;
    leave(&mut screen, folder, options.keep)?;
    match ended {
        Ok(()) => Ok(after.passed),
        Err(why) => Err(format!("The turn ended with an error: {why}")),
    }
}

fn tested(sample: &Sample) -> Result<Outcome, String> {
    sample.test().map_err(|error| {
        format!("The sample's test cannot be run ({error}); the demonstration needs `sh`.")
    })
}

fn pause() -> Duration {
    let given = env::var(PAUSE).ok().and_then(|it| it.parse().ok());
    given.map_or(NATURAL_PAUSE, Duration::from_millis)
}

fn introduce(
    screen: &mut Screen,
    choice: &Choice,
    sample: &Sample,
    before: &Outcome,
) -> Result<(), String> {
    screen.line(&choice.sentence())?;
    screen.line(&format!("Project: {}", sample.folder.display()))?;
    screen.line(&format!(
        "Editor: {} is open, with a line that was typed and not saved:",
        sample::FILE
    ))?;
    let disk = fs::read_to_string(sample.file())
        .map_err(|error| format!("The sample cannot be read ({error})."))?;
    screen.diff(&disk, &Sample::buffer())?;
    screen.line(&format!("Test: {}", before.verdict))
}

/// The command that starts the real server. The rehearsal model and Ollama get a configuration of their own, so that the
/// person's stays out of it; the data folder is the demonstration's own in any case.
fn server(
    choice: &Choice,
    rehearsal: Option<&Rehearsal>,
    folder: &Path,
    options: &Options,
) -> Result<Command, String> {
    let mut command = Command::new(env::current_exe().map_err(no_server)?);
    command
        .arg("lsp")
        .env("UNDINE_DATA_DIR", folder.join("data"));
    let (provider, name, base_url) = match (choice, rehearsal) {
        (Choice::Configured(_), _) => {
            command.args(options.model.iter().flat_map(|it| ["--model", it]));
            return Ok(command);
        }
        (Choice::Ollama(name), _) => (
            "ollama",
            name.as_str(),
            format!("http://{}/v1", choice::OLLAMA),
        ),
        (Choice::Rehearsal, Some(it)) => ("rehearsal", rehearsal::MODEL, it.base_url()),
        (Choice::Rehearsal, None) => return Err("The rehearsal model does not run.".to_owned()),
    };
    let text = toml::to_string(&json!({
        "default_model": {"provider": provider, "name": name},
        "providers": {provider: {"kind": "openai-compatible", "base_url": base_url}},
    }))
    .map_err(|error| format!("The server's configuration cannot be written ({error})."))?;
    let config = folder.join("config");
    fs::create_dir(&config)
        .and_then(|()| fs::write(config.join("config.toml"), text))
        .map_err(no_server)?;
    command.env("UNDINE_CONFIG_DIR", config);
    // A proxy is not asked for what is on this machine.
    for variable in ["NO_PROXY", "no_proxy"] {
        command.env(variable, without_proxy(env::var_os(variable)));
    }
    Ok(command)
}

fn no_server(error: io::Error) -> String {
    format!("The server cannot be started ({error}).")
}

fn without_proxy(hosts: Option<OsString>) -> OsString {
    let mut all = hosts.unwrap_or_default();
    if !all.is_empty() {
        all.push(",");
    }
    all.push("127.0.0.1");
    all
}

/// What became of the file.
struct Ending<'a> {
    opened: &'a str,
    text: &'a str,
    /// Whether the disk holds the same text.
    saved: bool,
}

fn summarize(
    screen: &mut Screen,
    ending: &Ending<'_>,
    (before, after): (&Outcome, &Outcome),
    took: Duration,
) -> Result<(), String> {
    let Ending {
        opened,
        text,
        saved,
    } = *ending;
    let counts = engine::text::unified(opened, text, sample::FILE, sample::FILE, 0, 0);
    let what = match (opened == text, saved) {
        (true, _) => "nothing".to_owned(),
        (false, true) => format!(
            "{}: +{} -{} lines, saved",
            sample::FILE,
            counts.added,
            counts.removed
        ),
        (false, false) => format!(
            "{}: +{} -{} lines, not saved",
            sample::FILE,
            counts.added,
            counts.removed
        ),
    };
    let typed = match text.lines().any(|it| it == sample::TYPED) {
        true => "the line you had typed is still there",
        false => "the line you had typed is gone",
    };
    let verdict = match after.passed {
        true => screen.colours.green(&after.verdict),
        false => screen.colours.red(&after.verdict),
    };
    screen.heading("Summary")?;
    screen.line(&format!("  changed  {what}; {typed}"))?;
    screen.line(&format!(
        "  test     before: {}; now: {verdict}",
        before.verdict
    ))?;
    screen.line(&format!("  time     {:.1} s", took.as_secs_f64()))
}

fn leave(screen: &mut Screen, folder: TempDir, keep: bool) -> Result<(), String> {
    if keep {
        return screen.line(&format!("  folder   {}", folder.keep().display()));
    }
    let path = folder.path().to_owned();
    match folder.close() {
        Ok(()) => screen.line(&format!(
            "  folder   {} (removed; --keep leaves it)",
            path.display()
        )),
        Err(error) => screen.line(&format!(
            "  folder   {} (could not be removed: {error})",
            path.display()
        )),
    }
}
