//! `undine demo`: the real server at work on a sample project, with a headless editor and nothing to set up.
//!
//! The server is this program started as `undine lsp`; the model is the configured one, or a script behind the real
//! wire when there is none. Whether the demonstration succeeded, the sample's own test decides at the end.

mod choice;
mod editor;
mod rehearsal;
mod sample;
mod screen;

use choice::Choice;
use editor::{Buffer, Editor, Heard, Server};
use protocol::acp;
use rehearsal::Rehearsal;
use sample::{Outcome, Sample};
use screen::{Colours, Screen, Status};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use tempfile::TempDir;

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

/// For tests: `no` refuses whatever is asked, when no person is.
const ANSWER: &str = "UNDINE_DEMO_ANSWER";

/// For tests: milliseconds between two pieces of the rehearsal model's text.
const PAUSE: &str = "UNDINE_DEMO_PAUSE_MS";

/// About the speed at which a hosted model writes.
const NATURAL_PAUSE: Duration = Duration::from_millis(15);

/// Longest silence in a turn. A local model may have to be loaded and then reads the prompt without a word.
const QUIET: Duration = Duration::from_secs(300);

/// Runs the demonstration: 0 when the sample's test passes at its end, else 1.
pub fn run(options: Options) -> ExitCode {
    match show(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            // Nobody to tell if stderr is closed.
            let _ = writeln!(io::stderr(), "undine demo: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the test passes at the end. The error is one sentence for the person.
fn show(options: Options) -> Result<bool, String> {
    let start = Instant::now();
    let choice = Choice::make(options.model.clone(), &crate::store::Folders::from_environment());
    let folder = tempfile::Builder::new()
        .prefix("undine-demo-")
        .tempdir()
        .map_err(|error| format!("A temporary folder cannot be made ({error}); set TMPDIR to a folder that can be written."))?;
    let sample = Sample::create(folder.path().join("shop")).map_err(|error| format!("The sample project cannot be made ({error})."))?;
    let mut screen = Screen::new(Colours::wanted());
    let opened = Sample::buffer();
    let before = tested(&sample)?;
    introduce(&mut screen, &choice, &sample, &before)?;

    let rehearsal = match choice {
        Choice::Rehearsal => {
            Some(Rehearsal::start(pause()).map_err(|error| format!("The rehearsal model cannot be started ({error})."))?)
        }
        Choice::Configured(_) | Choice::Ollama(_) => None,
    };
    let server = start_server(&choice, rehearsal.as_ref(), folder.path(), &sample, options.model.is_some())?;
    let buffer = Buffer::open(sample.file(), &opened);
    // The test reads the disk, so what the agent changes must get there although the person's line was not saved.
    let mut editor = Editor::open(server, &sample.folder, buffer, json!({"edits": {"save": "always"}}))?;
    let session = editor.new_session(&sample.folder)?;
    let prompt = editor.prompt(&session, sample::PROMPT)?;
    screen.heading("You")?;
    screen.line(sample::PROMPT)?;
    screen.heading("Undine")?;
    let mut turn = Turn { screen, person: Person::of(&options), calls: HashMap::new() };
    let said = turn.follow(&mut editor, prompt);
    let Turn { mut screen, .. } = turn;
    screen.end_text()?;
    let said = said?;
    let text = editor.buffer.text();
    editor.close()?;

    let after = tested(&sample)?;
    let ending = Ending { opened: &opened, text: &text, saved: fs::read_to_string(sample.file()).is_ok_and(|it| it == text) };
    summarize(&mut screen, &ending, (&before, &after), start.elapsed())?;
    leave(&mut screen, folder, options.keep)?;
    if let Err(why) = said {
        return Err(format!("The turn ended with an error: {why}"));
    }
    Ok(after.passed)
}

fn tested(sample: &Sample) -> Result<Outcome, String> {
    sample.test().map_err(|error| format!("The sample's test cannot be run ({error}); the demonstration needs `sh`."))
}

fn pause() -> Duration {
    let given = env::var(PAUSE).ok().and_then(|it| it.parse().ok());
    given.map_or(NATURAL_PAUSE, Duration::from_millis)
}

fn introduce(screen: &mut Screen, choice: &Choice, sample: &Sample, before: &Outcome) -> Result<(), String> {
    screen.line(&choice.sentence())?;
    screen.line(&format!("Project: {}", sample.folder.display()))?;
    screen.line(&format!("Editor: {} is open, with a line that was typed and not saved:", sample::FILE))?;
    let disk = fs::read_to_string(sample.file()).map_err(|error| format!("The sample cannot be read ({error})."))?;
    screen.diff(&disk, &Sample::buffer())?;
    screen.line(&format!("Test: {}", before.verdict))
}

/// Starts the real server. The rehearsal model and Ollama get a configuration of their own, so that the person's stays
/// out of it; the data folder is the demonstration's own in any case.
fn start_server(
    choice: &Choice,
    rehearsal: Option<&Rehearsal>,
    folder: &Path,
    sample: &Sample,
    on_command_line: bool,
) -> Result<Server, String> {
    let fail = |error: io::Error| format!("The server cannot be started ({error}).");
    let mut command = Command::new(env::current_exe().map_err(fail)?);
    command.arg("lsp").current_dir(&sample.folder).env("UNDINE_DATA_DIR", folder.join("data"));
    let own = match (choice, rehearsal) {
        (Choice::Rehearsal, Some(rehearsal)) => Some(("rehearsal", rehearsal::MODEL, rehearsal.base_url())),
        (Choice::Ollama(name), _) => Some(("ollama", name.as_str(), format!("http://{}/v1", choice::OLLAMA))),
        (Choice::Configured(model), _) => {
            if on_command_line {
                command.args(["--model", model]);
            }
            None
        }
        (Choice::Rehearsal, None) => None,
    };
    if let Some((provider, name, base_url)) = own {
        let config = folder.join("config");
        let text = toml::to_string(&json!({
            "default_model": {"provider": provider, "name": name},
            "providers": {provider: {"kind": "openai-compatible", "base_url": base_url}},
        }))
        .map_err(|error| format!("The server's configuration cannot be written ({error})."))?;
        fs::create_dir(&config).and_then(|()| fs::write(config.join("config.toml"), text)).map_err(fail)?;
        command.env("UNDINE_CONFIG_DIR", config);
        // A proxy is not asked for what is on this machine.
        for variable in ["NO_PROXY", "no_proxy"] {
            command.env(variable, without_proxy(env::var_os(variable)));
        }
    }
    Server::start(&mut command).map_err(fail)
}

fn without_proxy(hosts: Option<OsString>) -> OsString {
    let mut hosts = hosts.filter(|it| !it.is_empty()).map(|it| { let mut it = it; it.push(","); it }).unwrap_or_default();
    hosts.push("127.0.0.1");
    hosts
}

/// Who answers questions.
enum Person {
    AtTerminal,
    /// Nobody; the answer, and why it is given.
    Absent { allows: bool, why: &'static str },
}

impl Person {
    fn of(options: &Options) -> Self {
        let refuses = env::var_os(ANSWER).is_some_and(|it| it == "no");
        let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        match (refuses, options.yes, at_terminal) {
            (true, _, _) => Self::Absent { allows: false, why: "answered by UNDINE_DEMO_ANSWER" },
            (false, true, _) => Self::Absent { allows: true, why: "answered by --yes" },
            (false, false, true) => Self::AtTerminal,
            (false, false, false) => Self::Absent { allows: true, why: "answered by itself: this is no terminal" },
        }
    }
}

/// One turn as it is shown.
struct Turn {
    screen: Screen,
    person: Person,
    calls: HashMap<acp::ToolCallId, Call>,
}

/// What is known of a call.
#[derive(Default)]
struct Call {
    title: String,
    kind: acp::ToolKind,
    diff: Option<acp::Diff>,
    is_diff_shown: bool,
}

impl Turn {
    /// Shows the turn until its prompt is answered; then how. The outer error is the demonstration's own.
    fn follow(&mut self, editor: &mut Editor, prompt: u64) -> Result<Result<(), String>, String> {
        loop {
            match editor.next(QUIET)? {
                Heard::Update(update) => self.update(*update)?,
                Heard::Question { id, request } => {
                    let option = self.ask(*request)?;
                    editor.answer(&id, &option)?;
                }
                Heard::Form(question) => {
                    self.screen.line(&format!("  A question that this editor does not answer: {question}"))?;
                }
                Heard::Message(text) => self.screen.line(&format!("  {text}"))?,
                Heard::Answered(id, answer) if id == prompt => return Ok(answer.and_then(stopped)),
                Heard::Answered(_, _) => {}
            }
        }
    }

    fn update(&mut self, update: acp::SessionUpdate) -> Result<(), String> {
        match update {
            acp::SessionUpdate::AgentMessageChunk(chunk) => match chunk.content {
                acp::ContentBlock::Text(text) => self.screen.text(&text.text),
                _ => Ok(()),
            },
            acp::SessionUpdate::ToolCall(call) => {
                let known = Call { title: call.title, kind: call.kind, ..Call::default() };
                self.calls.insert(call.tool_call_id, known);
                Ok(())
            }
            acp::SessionUpdate::ToolCallUpdate(update) => self.changed(update),
            // Thoughts, plans and what else there is have no place on this page.
            _ => Ok(()),
        }
    }

    fn changed(&mut self, update: acp::ToolCallUpdate) -> Result<(), String> {
        let acp::ToolCallUpdate { tool_call_id, fields, meta, .. } = update;
        let call = self.calls.entry(tool_call_id).or_default();
        call.take_in(&fields);
        let ended = match fields.status {
            Some(acp::ToolCallStatus::Completed) => Status::Done,
            Some(acp::ToolCallStatus::Failed) => Status::Failed,
            Some(_) | None => return Ok(()),
        };
        let own = meta.and_then(|mut it| it.remove("undine")).unwrap_or_default();
        let status = match own["exitCode"].as_i64() {
            Some(code) => Status::Exited(code),
            None => ended,
        };
        // A change that nobody was asked about is shown when it is made.
        if let Some(diff) = call.diff.take().filter(|_| ended == Status::Done && !call.is_diff_shown) {
            self.screen.diff(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text)?;
        }
        let took = own["durationMs"].as_u64().map(Duration::from_millis);
        self.screen.call(status, &call.title, took)?;
        if ended == Status::Failed || call.kind == acp::ToolKind::Execute {
            self.screen.output(&text(fields.content.unwrap_or_default()))?;
        }
        Ok(())
    }

    /// Shows what is asked about and gets an answer.
    fn ask(&mut self, request: acp::RequestPermissionRequest) -> Result<acp::PermissionOption, String> {
        let acp::RequestPermissionRequest { tool_call, options, .. } = request;
        let call = self.calls.entry(tool_call.tool_call_id).or_default();
        call.take_in(&tool_call.fields);
        self.screen.line(&format!("  {}  {}", self.screen.colours.bold("asks  "), call.title))?;
        if let Some(diff) = &call.diff {
            self.screen.diff(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text)?;
            call.is_diff_shown = true;
        }
        let names: Vec<&str> = options.iter().map(|it| it.name.as_str()).collect();
        let chosen = match self.person {
            Person::AtTerminal => match self.screen.ask(&names)? {
                Some(number) => options.get(number),
                None => first(&options, false),
            },
            Person::Absent { allows, why } => {
                self.screen.offer(&names)?;
                let chosen = first(&options, allows);
                let name = chosen.map(|it| it.name.as_str()).unwrap_or_default();
                self.screen.line(&self.screen.colours.dim(&format!("  {name} ({why})")))?;
                chosen
            }
        };
        chosen.cloned().ok_or_else(|| "The server asked a question that has no such answer.".to_owned())
    }
}

impl Call {
    fn take_in(&mut self, fields: &acp::ToolCallUpdateFields) {
        if let Some(title) = &fields.title {
            self.title.clone_from(title);
        }
        if let Some(kind) = fields.kind {
            self.kind = kind;
        }
        let diff = fields.content.iter().flatten().find_map(|it| match it {
            acp::ToolCallContent::Diff(diff) => Some(diff.clone()),
            _ => None,
        });
        if diff.is_some() {
            self.diff = diff;
        }
    }
}

/// The first option that allows, or the first that does not.
fn first(options: &[acp::PermissionOption], allows: bool) -> Option<&acp::PermissionOption> {
    use acp::PermissionOptionKind::{AllowAlways, AllowOnce};
    options.iter().find(|it| matches!(it.kind, AllowOnce | AllowAlways) == allows)
}

fn text(content: Vec<acp::ToolCallContent>) -> String {
    let texts = content.into_iter().filter_map(|it| match it {
        acp::ToolCallContent::Content(acp::Content { content: acp::ContentBlock::Text(text), .. }) => Some(text.text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A turn that did not end by itself is an error.
fn stopped(answer: Value) -> Result<(), String> {
    match answer["stopReason"].as_str() {
        Some("end_turn") => Ok(()),
        Some(reason) => Err(format!("it was stopped ({reason}).")),
        None => Err("its answer has no reason.".to_owned()),
    }
}

/// What became of the file.
struct Ending<'a> {
    opened: &'a str,
    text: &'a str,
    /// Whether the disk holds the same text.
    saved: bool,
}

fn summarize(screen: &mut Screen, ending: &Ending<'_>, (before, after): (&Outcome, &Outcome), took: Duration) -> Result<(), String> {
    let Ending { opened, text, saved } = *ending;
    let counts = engine::text::unified(opened, text, sample::FILE, sample::FILE, 0, 0);
    let place = if saved { "saved" } else { "not saved" };
    let typed = match text.lines().any(|it| it == sample::TYPED) {
        true => "the line you had typed is still there",
        false => "the line you had typed is gone",
    };
    let verdict = match after.passed {
        true => screen.colours.green(&after.verdict),
        false => screen.colours.red(&after.verdict),
    };
    screen.heading("Summary")?;
    screen.line(&format!("  changed  {}: +{} -{} lines, {place}; {typed}", sample::FILE, counts.added, counts.removed))?;
    screen.line(&format!("  test     before: {}; now: {verdict}", before.verdict))?;
    screen.line(&format!("  time     {:.1} s", took.as_secs_f64()))
}

fn leave(screen: &mut Screen, folder: TempDir, keep: bool) -> Result<(), String> {
    if keep {
        return screen.line(&format!("  folder   {}", folder.keep().display()));
    }
    let path = folder.path().to_owned();
    match folder.close() {
        Ok(()) => screen.line(&format!("  folder   {} (removed; --keep leaves it)", path.display())),
        Err(error) => screen.line(&format!("  folder   {} (could not be removed: {error})", path.display())),
    }
}
