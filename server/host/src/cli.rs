//! The command line.

mod checkpoints;
mod doctor;
mod login;
mod model_list;
mod models;
mod replay;
mod sessions;
mod settings;
mod template;
mod trust;
mod usage;

use crate::approvals;
use crate::client::Client;
use crate::demo;
use crate::documents::Documents;
use crate::event::Event;
use crate::handlers::{Reviewing, Shown};
use crate::keys::Keys;
use crate::layers::{CommandLine, Layers};
use crate::lsp::{self, FrontEvent, Limits, Out};
use crate::main_loop::{self, Host};
use crate::models::Models;
use crate::process::Children;
use crate::process::background::{Jobs, OnChange};
use crate::process::launcher::Launcher;
use crate::reviews::Reviews;
use crate::run;
use crate::store::Folders;
use crate::store::checkpoints::Checkpoints;
use crate::store::learned::LearnedModels;
use crate::store::permissions::Permissions;
use crate::tasks::Tasks;
use anyhow::Context;
use clap::{Parser, Subcommand};
use engine::config::{Layer, Origin};
use engine::redact::redact;
use protocol::config;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// A coding agent that is a language server.
///
/// An editor starts `undine lsp` and speaks LSP with it over stdio.
#[derive(Debug, Parser)]
#[command(name = "undine", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Sets one option for this run, for example `-c safety.mode=read_only`.
    #[arg(short = 'c', value_name = "KEY=VALUE", global = true)]
    config: Vec<String>,
    /// Options by the name of a table under `[profiles]` in the user's config.toml.
    #[arg(long, value_name = "NAME", global = true)]
    profile: Option<String>,
    /// The model, as provider/name or by an alias.
    #[arg(long, global = true)]
    model: Option<String>,
    /// How much may be done without asking: read_only, ask, auto or full_access.
    #[arg(long, global = true)]
    mode: Option<String>,
    /// Keeps commands from the network.
    #[arg(long, global = true)]
    no_network: bool,
    /// Lets commands write only in the project and the folder for temporary files.
    #[arg(long, global = true)]
    confine_fs: bool,
    /// Both: --no-network and --confine-fs.
    #[arg(long, global = true)]
    sandbox: bool,
    /// A folder beside the project that may be worked in as in the project. May be given several times.
    #[arg(long, value_name = "DIR", global = true)]
    add_dir: Vec<PathBuf>,
    /// Writes the log to this file and not to stderr.
    #[arg(long, value_name = "FILE", global = true)]
    log_file: Option<PathBuf>,
    /// Logs more; twice, everything.
    #[arg(short, action = clap::ArgAction::Count, global = true)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves an editor over stdio. The default when stdin is not a terminal.
    Lsp,
    /// Lists what files were before the agent changed them, for the project in this folder.
    Checkpoints {
        /// As JSON, for programs.
        #[arg(long)]
        json: bool,
    },
    /// Gives files of the project in this folder back what they were at a checkpoint.
    Restore {
        /// The checkpoint's id, or its beginning.
        id: String,
        /// Restores without asking.
        #[arg(long)]
        force: bool,
    },
    /// Runs one task without an editor.
    ///
    /// The answer goes to stdout, what the agent does and what goes wrong to stderr. Nobody is asked anything: an
    /// action that needs an approval is kept, to be approved afterwards by `undine approve`; what cannot be
    /// kept is refused. Ctrl-C ends the task.
    ///
    /// Exits with 0 when the model has ended its answer, with 1 when the task failed or was ended before, with 124 when it
    /// took longer than limits.run_secs, and with 2 for a wrong command line.
    Run {
        /// What stdout gets: the answer as text, one JSON object at the end, or a JSON line for each event.
        #[arg(short, long, value_enum, default_value_t)]
        format: run::Format,
        /// A file with a JSON Schema. The answer is JSON that fits it, and nothing else is written to stdout in the text format.
        #[arg(long, value_name = "FILE")]
        output_schema: Option<PathBuf>,
        /// Goes on with this session of the project.
        #[arg(long, value_name = "ID", conflicts_with = "continue_newest")]
        resume: Option<String>,
        /// Goes on with the newest session of the project that can be read.
        #[arg(long = "continue")]
        continue_newest: bool,
        /// The project's folder; the current one if missing.
        #[arg(short = 'C', long = "directory", value_name = "DIR")]
        directory: Option<PathBuf>,
        /// What is to be done. Read from stdin if missing.
        prompt: Option<String>,
    },
    /// Lists the actions that wait for an approval in this project, or shows one whole.
    Approvals {
        /// Lists those of all projects.
        #[arg(long)]
        all: bool,
        /// Prints them as JSON, with those that were decided.
        #[arg(long)]
        json: bool,
        /// The action to be shown: its id, or its beginning.
        id: Option<String>,
    },
    /// Runs an action that waits for an approval: once, and only if it does what was shown.
    ///
    /// Where a file has changed so that it would do something else, nothing is done and the new change is shown;
    /// approving it again does that one. The mode of today and the places that tools never write count as for any
    /// other call. Exits with 0 when the action was done, else with 1.
    Approve {
        /// The action's id, or its beginning.
        id: String,
    },
    /// Takes an action off the list, for good.
    Deny {
        /// The action's id, or its beginning.
        id: String,
    },
    /// Shows the hooks that the project in this folder brings, or lets exactly these run.
    ///
    /// A hook is a program; what it names in the project is trusted with it. When their file changes, they run no more.
    Trust {
        /// The id that it shows, or off to take it back. Shows them if missing.
        id: Option<String>,
    },
    /// Shows every option as it counts in this folder and which layer decides it, or their JSON schema.
    ///
    /// Values that can carry keys are hidden.
    Config {
        #[command(subcommand)]
        what: Option<settings::Show>,
        /// As JSON, for programs.
        #[arg(long, global = true)]
        json: bool,
    },
    /// Writes a config.toml with every option and its documentation, if you have none.
    Init,
    /// Takes options that no longer exist out of your config.toml, and keeps the file as it was under a number.
    CleanConfig,
    /// Looks for what is wrong: model, key, settings, confinement, files. Starts nothing.
    ///
    /// Exits with 0 when nothing is wrong, else with 1. Keys are never shown, only where they come from.
    Doctor {
        /// Tries whether the model takes a connection, too.
        #[arg(long)]
        online: bool,
        /// As JSON, for programs.
        #[arg(long)]
        json: bool,
    },
    /// Lists the models that can be chosen, by provider, with their windows and prices.
    ///
    /// Providers are asked for theirs where a key is known or none is needed.
    Models {
        #[command(subcommand)]
        what: Option<models::Models>,
        /// As JSON, for programs.
        #[arg(long, global = true)]
        json: bool,
    },
    /// Lists the sessions of the project in this folder, searches, prints, renames or removes them.
    Sessions {
        #[command(subcommand)]
        what: Option<sessions::Sessions>,
        /// As JSON, for programs.
        #[arg(long, global = true)]
        json: bool,
    },
    /// Shows what the sessions of this folder have used, by model, and what that costs.
    Usage {
        /// As JSON, for programs.
        #[arg(long)]
        json: bool,
    },
    /// Stores a provider's key in the system's keyring; without a name, lists where the providers' keys are.
    ///
    /// The key is typed at the terminal, where it is not shown, or read from stdin. A key in the environment counts
    /// before one that is stored. Keys are never shown.
    Login {
        /// The provider's name: a known one, or a table's under `[providers]`.
        provider: Option<String>,
    },
    /// Takes a provider's key out of the system's keyring.
    Logout {
        /// The provider's name.
        provider: String,
    },
    /// Runs a session's trace again, and says whether this build does the same.
    ///
    /// With `record = true` under `[trace]` a trace of each session is written into `traces` in the data folder. Exits
    /// with 0 when all steps agree, with 1 when one differs, which is named.
    Replay {
        /// The trace's file.
        trace: PathBuf,
    },
    /// Shows the agent at work on a sample project: no key, no network, no editor needed.
    ///
    /// The configured model answers, or the one that `--model` names; without one a built-in script does.
    Demo {
        /// Answers every question with yes.
        #[arg(long, short)]
        yes: bool,
        /// Leaves the sample project where it was made.
        #[arg(long)]
        keep: bool,
    },
}

/// Runs the program.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Err(error) = log(&arguments) {
        return complain(&error);
    }
    let flags = match flags(&arguments) {
        Ok(flags) => flags,
        Err(error) => return complain(&error),
    };
    match arguments.command {
        Some(Command::Lsp) => serve(flags),
        Some(Command::Checkpoints { json }) => {
            checkpoints::list(flags.command_line, json).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Restore { id, force }) => {
            checkpoints::restore(flags.command_line, id, force).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Trust { id }) => {
            trust::answer(id.as_deref()).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Config { what, json }) => {
            let what = what.unwrap_or(settings::Show::Show);
            settings::show(what, json, flags.command_line).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Init) => settings::init().unwrap_or_else(|it| complain(&it)),
        Some(Command::CleanConfig) => settings::clean().unwrap_or_else(|it| complain(&it)),
        Some(Command::Doctor { online, json }) => {
            doctor::run(online, json, flags.command_line).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Models { what, json }) => {
            models::run(what, json, flags.command_line).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Sessions { what, json }) => {
            let what = what.unwrap_or(sessions::Sessions::List);
            sessions::run(what, json, flags.command_line).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Usage { json }) => {
            usage::show(json, flags.command_line).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Login { provider }) => {
            login::login(provider, flags.command_line).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Logout { provider }) => {
            login::logout(&provider, flags.command_line).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Replay { trace }) => replay::run(&trace).unwrap_or_else(|it| complain(&it)),
        Some(Command::Demo { yes, keep }) => demo::run(demo::Options {
            model: arguments.model,
            yes,
            keep,
        }),
        Some(Command::Run {
            format,
            output_schema,
            resume,
            continue_newest,
            directory,
            prompt,
        }) => {
            let session = match (resume, continue_newest) {
                (Some(id), _) => run::Begin::Resume(id),
                (None, true) => run::Begin::Continue,
                (None, false) => run::Begin::New,
            };
            let options = run::Options {
                directory,
                prompt,
                format,
                output_schema,
                session,
            };
            run::run(options, flags)
        }
        Some(Command::Approvals { all, json, id }) => {
            approvals::list(&approvals::Options { all, json, id })
        }
        Some(Command::Approve { id }) => approvals::approve(&id, flags),
        Some(Command::Deny { id }) => approvals::deny(&id),
        None if !std::io::stdin().is_terminal() => serve(flags),
        None => {
            use clap::CommandFactory;
            // Nobody to tell if stderr is closed.
            let _ = writeln!(std::io::stderr(), "{}", Arguments::command().render_help());
            ExitCode::from(2)
        }
    }
}

fn complain(error: &anyhow::Error) -> ExitCode {
    // Nobody to tell if stderr is closed.
    let said = format!("undine: {error:#}.");
    let _ = writeln!(std::io::stderr(), "{}", redact(&said));
    ExitCode::from(2)
}

/// A log's line on its way out: what a server, an error or an editor says may hold a key.
struct WithoutSecrets<W>(W);

impl<W: Write> Write for WithoutSecrets<W> {
    /// Each event is written at once, so a secret is never cut.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(redact(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Logs go to stderr or a file; stdout belongs to the protocol.
fn log(arguments: &Arguments) -> anyhow::Result<()> {
    use tracing_subscriber::fmt;
    let level = match arguments.verbose {
        0 => tracing::Level::WARN,
        1 => tracing::Level::INFO,
        _ => tracing::Level::TRACE,
    };
    let builder = fmt().with_max_level(level).with_ansi(false);
    match &arguments.log_file {
        Some(path) => {
            let file = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(path);
            let file = file.with_context(|| format!("opening the log file {}", path.display()))?;
            let file = Arc::new(file);
            builder
                .with_writer(move || WithoutSecrets(file.clone()))
                .init();
        }
        None => builder
            .with_writer(|| WithoutSecrets(std::io::stderr()))
            .init(),
    }
    Ok(())
}

/// What the command line says of every session.
pub(crate) struct Flags {
    /// Its part of the configuration.
    pub command_line: CommandLine,
    /// Folders of `--add-dir`, whole.
    pub added: Vec<PathBuf>,
}

fn flags(arguments: &Arguments) -> anyhow::Result<Flags> {
    let mut table = Map::new();
    for pair in &arguments.config {
        let (key, value) = pair
            .split_once('=')
            .with_context(|| format!("-c {pair} has no value; write KEY=VALUE"))?;
        // A value that is no TOML is a text, so that quotes can be left out.
        let value = toml::from_str::<Value>(&format!("v={value}"))
            .ok()
            .and_then(|it| it.get("v").cloned())
            .unwrap_or_else(|| Value::String(value.to_owned()));
        put(&mut table, key, value);
    }
    let settings = Layer::new(Origin::Setting, Value::Object(table));
    let mut table = Map::new();
    if let Some(model) = &arguments.model {
        // Without a provider it is an alias of the configuration's, which is read later.
        let (provider, name) = model.split_once('/').unwrap_or(("", model));
        anyhow::ensure!(
            !name.is_empty(),
            "--model {model} names no model; write provider/name, or an alias"
        );
        put(
            &mut table,
            "default_model.provider",
            Value::String(provider.to_owned()),
        );
        put(
            &mut table,
            "default_model.name",
            Value::String(name.to_owned()),
        );
    }
    if let Some(mode) = &arguments.mode {
        put(&mut table, "safety.mode", Value::String(mode.clone()));
    }
    if arguments.no_network || arguments.sandbox {
        put(&mut table, "safety.network", Value::from("deny"));
    }
    if arguments.confine_fs || arguments.sandbox {
        put(&mut table, "safety.filesystem", Value::from("project"));
    }
    let command_line = CommandLine {
        profile: arguments.profile.clone(),
        layers: vec![settings, Layer::new(Origin::Flag, Value::Object(table))],
    };
    check(&command_line)?;
    Ok(Flags {
        command_line,
        added: added(&arguments.add_dir)?,
    })
}

/// What is misspelt on the command line may have been meant to hold the agent back, so nothing starts without it.
fn check(command_line: &CommandLine) -> anyhow::Result<()> {
    let problems = engine::config::resolve(&command_line.layers).problems;
    if let Some(problem) = problems.first() {
        let what = problem.text.trim_end_matches("; it is ignored.");
        anyhow::bail!("{what}; nothing was started")
    }
    let folder = Folders::from_environment().config;
    let (layers, problem) = Layers::of_person(&folder, command_line.clone());
    match problem {
        Some(problem) if layers.lacks_profile() => {
            anyhow::bail!("{} Nothing was started", problem)
        }
        Some(_) | None => Ok(()),
    }
}

/// The folders of `--add-dir`, whole. One that is none is found out before anything starts (spec 4.6).
fn added(folders: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let whole = folders.iter().map(|it| {
        let named = || format!("--add-dir {}", it.display());
        let is_folder = it.metadata().with_context(named)?.is_dir();
        anyhow::ensure!(is_folder, "{} is no folder", named());
        std::path::absolute(it).with_context(named)
    });
    whole.collect()
}

fn put(table: &mut Map<String, Value>, key: &str, value: Value) {
    match key.split_once('.') {
        None => drop(table.insert(key.to_owned(), value)),
        Some((first, rest)) => {
            let inner = table
                .entry(first)
                .or_insert_with(|| Value::Object(Map::new()));
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// Serves an editor until it leaves.
fn serve(flags: Flags) -> ExitCode {
    block_on(serve_editor(flags))
}

/// Does the work of a command and ends the process: a reader may still sit in a read.
pub(crate) fn block_on(work: impl Future<Output = anyhow::Result<i32>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // One, because tasks only wait: a second is woken by every word of a model, looks for work, finds
        // none and sleeps again, which doubles the switches of threads that a word costs. What computes or blocks
        // goes through `spawn_blocking` or `files::compute`.
        .worker_threads(1)
        .enable_all()
        .build();
    let code = match runtime
        .context("starting the runtime")
        .and_then(|it| it.block_on(work))
    {
        Ok(code) => code,
        Err(error) => return complain(&error),
    };
    std::process::exit(code)
}

/// Messages that may wait for the loop, from each side.
pub(crate) const ROOM: usize = 256;

async fn serve_editor(flags: Flags) -> anyhow::Result<i32> {
    let runtime = tokio::runtime::Handle::current();
    let out = Out::stdout().context("opening stdout")?;
    let (service, front, front_events) = lsp::service(ROOM, runtime);
    let front_of = Front {
        out: out.clone(),
        events: front_events,
        attended: true,
    };
    with_host(flags, front_of, async |_, limits| {
        let pump = Limits {
            max_message_bytes: usize::try_from(limits.message_bytes).unwrap_or(usize::MAX),
            max_open_requests: usize::try_from(limits.requests_in_flight).unwrap_or(usize::MAX),
        };
        let served = lsp::serve(service, front, out, pump).await;
        served.context("reading stdin")
    })
    .await
}

/// Who is at the other end of the main loop.
pub(crate) struct Front {
    pub out: Out,
    pub events: mpsc::Receiver<FrontEvent>,
    /// Whether a person can be asked.
    pub attended: bool,
}

/// Runs the main loop beside `work`, which talks to it, and then ends every turn and all that was started. `work` gets
/// the way into the loop and the limits of the command line; its number is the exit code.
pub(crate) async fn with_host(
    flags: Flags,
    front: Front,
    work: impl AsyncFnOnce(mpsc::Sender<Event>, config::Limits) -> anyhow::Result<i32>,
) -> anyhow::Result<i32> {
    let runtime = tokio::runtime::Handle::current();
    let Front {
        out,
        events: front_events,
        attended,
    } = front;
    let (inbox, events) = mpsc::channel::<Event>(ROOM);
    let (ended, parent_gone) = oneshot::channel();
    let children = Arc::new(Children::new(
        Launcher::own().context("finding our own program")?,
    ));
    let limits = engine::config::resolve(&flags.command_line.layers)
        .config
        .limits;
    let folders = Folders::from_environment();
    let reviews = Reviews::kept(folders.data.join("review"), inbox.clone());
    let reviews = reviews.context("starting the thread that saves reviews")?;
    let to_loop = inbox.clone();
    let on_change: OnChange = Box::new(move |session| {
        // With many messages waiting it comes later; by then the list may be another, and that one is sent.
        let (to_loop, session) = (to_loop.clone(), session.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { to_loop.send(Event::Processes(session)).await });
        }
    });
    let jobs = Jobs::new(folders.data.join("processes"), on_change);
    let host = Host {
        out: out.clone(),
        inbox: inbox.clone(),
        runtime: runtime.clone(),
        checkpoints: Checkpoints::new(&folders.data),
        permissions: Permissions::new(&folders.config),
        learned: LearnedModels::new(&folders.data),
        models: Models::new(&folders.data),
        keys: Keys::from_environment(),
        folders,
        client: Client::default(),
        layers: Layers::new(flags.command_line),
        limits: limits.clone(),
        roots: Vec::new(),
        added: flags.added,
        documents: Documents::default(),
        reviews,
        shown: Shown::default(),
        reviewing: Reviewing::default(),
        text_waiters: Vec::new(),
        save_waiters: Vec::new(),
        sessions: HashMap::new(),
        task_session: None,
        next_token: 0,
        errands: BTreeMap::new(),
        list_wishes: BTreeMap::new(),
        attended,
        approving: HashMap::new(),
        asking: crate::asking::Asking::default(),
        tasks: Tasks::new(runtime),
        children: children.clone(),
        jobs,
        locks: Arc::default(),
        ollama: Arc::default(),
        loading: Vec::new(),
        due: VecDeque::new(),
        ended: Some(ended),
        said: Vec::new(),
    };
    let ending = CancellationToken::new();
    let main_loop = tokio::spawn(main_loop::run(host, front_events, events, ending.clone()));
    let grace = Duration::from_millis(limits.exit_ms);
    let code = tokio::select! {
        code = work(inbox, limits) => code,
        // Not the sender's end: the loop ends with the reader, whose code counts.
        Ok(()) = parent_gone => Ok(1),
    };
    // Before the commands end: a result that still came in would have its model asked again. The loop
    // ends every turn first, so that each log says how it ended.
    ending.cancel();
    let scratchpads = tokio::time::timeout(grace, main_loop).await;
    // Launchers end what is left even if this takes too long.
    let _ = tokio::time::timeout(grace, children.stop_all()).await;
    // What is large is swept one day.
    let removed = tokio::task::spawn_blocking(move || drop(scratchpads));
    let _ = tokio::time::timeout(grace, removed).await;
    out.flush(grace);
    code
}
