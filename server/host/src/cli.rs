//! The command line.

mod checkpoints;

use crate::client::Client;
use crate::demo;
use crate::documents::Documents;
use crate::event::Event;
use crate::handlers::Reviewing;
use crate::lsp::{self, Limits, Out};
use crate::main_loop::{self, Host, Layers};
use crate::process::Children;
use crate::process::launcher::Launcher;
use crate::reviews::Reviews;
use crate::store::Folders;
use crate::store::checkpoints::Checkpoints;
use crate::tasks::Tasks;
use anyhow::Context;
use clap::{Parser, Subcommand};
use engine::config::{Layer, Origin};
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
    /// The model, as provider/name.
    #[arg(long, global = true)]
    model: Option<String>,
    /// How much may be done without asking: read_only, ask, auto or full_access.
    #[arg(long, global = true)]
    mode: Option<String>,
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
        /// Does not ask.
        #[arg(long)]
        force: bool,
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
            checkpoints::list(flags, json).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Restore { id, force }) => {
            checkpoints::restore(flags, id, force).unwrap_or_else(|it| complain(&it))
        }
        Some(Command::Demo { yes, keep }) => demo::run(demo::Options {
            model: arguments.model,
            yes,
            keep,
        }),
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
    let _ = writeln!(std::io::stderr(), "undine: {error:#}.");
    ExitCode::from(2)
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
            builder.with_writer(Arc::new(file)).init();
        }
        None => builder.with_writer(std::io::stderr).init(),
    }
    Ok(())
}

/// The command line's layer of the configuration.
fn flags(arguments: &Arguments) -> anyhow::Result<Layer> {
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
    if let Some(model) = &arguments.model {
        let (provider, name) = model
            .split_once('/')
            .with_context(|| format!("--model {model} names no provider; write provider/name"))?;
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
    Ok(Layer {
        origin: Origin::Flag,
        value: Value::Object(table),
        trusted: true,
    })
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

/// Serves an editor until it leaves, and ends the process: the reader may still sit in a read.
fn serve(flags: Layer) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // One, because tasks only wait: a second is woken by every word of a model, looks for work, finds
        // none and sleeps again, which doubles the switches of threads that a word costs. What computes or blocks
        // goes through `spawn_blocking` or `files::compute`.
        .worker_threads(1)
        .enable_all()
        .build();
    let code = match runtime
        .context("starting the runtime")
        .and_then(|it| it.block_on(serve_editor(flags)))
    {
        Ok(code) => code,
        Err(error) => return complain(&error),
    };
    std::process::exit(code)
}

/// Messages that may wait for the loop, from each side.
const ROOM: usize = 256;

async fn serve_editor(flags: Layer) -> anyhow::Result<i32> {
    let runtime = tokio::runtime::Handle::current();
    let out = Out::stdout().context("opening stdout")?;
    let (service, front, front_events) = lsp::service(ROOM, runtime.clone());
    let (inbox, events) = mpsc::channel::<Event>(ROOM);
    let (ended, parent_gone) = oneshot::channel();
    let children = Arc::new(Children::new(
        Launcher::own().context("finding our own program")?,
    ));
    let limits = engine::config::resolve(std::slice::from_ref(&flags))
        .config
        .limits;
    let folders = Folders::from_environment();
    let reviews = Reviews::kept(folders.data.join("review"), inbox.clone());
    let reviews = reviews.context("starting the thread that saves reviews")?;
    let host = Host {
        out: out.clone(),
        inbox,
        runtime: runtime.clone(),
        checkpoints: Checkpoints::new(&folders.data),
        folders,
        client: Client::default(),
        layers: Layers {
            flags: Some(flags),
            ..Layers::default()
        },
        limits: limits.clone(),
        roots: Vec::new(),
        documents: Documents::default(),
        reviews,
        reviewing: Reviewing::default(),
        text_waiters: Vec::new(),
        sessions: HashMap::new(),
        task_session: None,
        next_token: 0,
        errands: BTreeMap::new(),
        asking: crate::asking::Asking::default(),
        tasks: Tasks::new(runtime),
        children: children.clone(),
        locks: Arc::default(),
        due: VecDeque::new(),
        ended: Some(ended),
        said: Vec::new(),
    };
    let ending = CancellationToken::new();
    let main_loop = tokio::spawn(main_loop::run(host, front_events, events, ending.clone()));
    let pump = Limits {
        max_message_bytes: usize::try_from(limits.message_bytes).unwrap_or(usize::MAX),
        max_open_requests: usize::try_from(limits.requests_in_flight).unwrap_or(usize::MAX),
    };
    let code = tokio::select! {
        code = lsp::serve(service, front, out.clone(), pump) => code.context("reading stdin")?,
        // Not the sender's end: the loop ends with the reader, whose code counts.
        Ok(()) = parent_gone => 1,
    };
    // Before the commands end: a result that still came in would have its model asked again. The loop
    // ends every turn first, so that each log says how it ended.
    ending.cancel();
    let grace = Duration::from_millis(limits.exit_ms);
    let _ = tokio::time::timeout(grace, main_loop).await;
    // Launchers end what is left even if this takes too long.
    let _ = tokio::time::timeout(grace, children.stop_all()).await;
    out.flush(grace);
    Ok(code)
}
