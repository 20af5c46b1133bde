//! `undine checkpoints` and `undine restore`: the checkpoints of the project in this folder, without an editor.
//!
//! A document that is open in an editor is not known here: its file is changed on the disk, as by any program, and
//! the editor says so.

use crate::documents::Snapshot;
use crate::event::{Ask, Editor, Event};
use crate::handlers::{checkpoint_line, wire_checkpoint};
use crate::layers::{CommandLine, Layers};
use crate::memory::Memory;
use crate::plan::{FileOperations, World};
use crate::process::Children;
use crate::process::background::Jobs;
use crate::process::launcher::Launcher;
use crate::restore::{self, Planned};
use crate::store::Folders;
use crate::store::answers::Answers;
use crate::store::checkpoints::Checkpoints;
use crate::store::journal::Journals;
use crate::workspace::Workspace;
use anyhow::{Context, anyhow};
use engine::text::Encoding;
use protocol::review::Author;
use protocol::session::{CallId, TurnId};
use std::io::{BufRead, IsTerminal, Write, stderr, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Lists the checkpoints, newest first.
pub(super) fn list(command_line: CommandLine, as_json: bool) -> anyhow::Result<ExitCode> {
    run(command_line, async move |world| {
        let all = restore::list(&world).await.map_err(|it| anyhow!(it))?;
        let mut out = stdout().lock();
        if as_json {
            let all: Vec<_> = all.into_iter().map(wire_checkpoint).collect();
            writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
        } else if all.is_empty() {
            writeln!(
                stderr(),
                "There are no checkpoints of a project in this folder."
            )?;
        } else {
            for it in &all {
                writeln!(out, "{}", checkpoint_line(it))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Restores a checkpoint. The person is asked on the terminal; without one only `force` does it (spec 3.4).
pub(super) fn restore(
    command_line: CommandLine,
    id: String,
    force: bool,
) -> anyhow::Result<ExitCode> {
    run(command_line, async move |world| {
        let failed = |text: String| anyhow!(text.trim_end_matches('.').to_owned());
        let planned = restore::plan(&world, &id).await.map_err(failed)?;
        show(&planned)?;
        if planned.changes.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        if !force && !stdin().is_terminal() {
            anyhow::bail!(
                "There is no terminal to ask on, so nothing was restored; --force restores without asking"
            );
        }
        if !force && !asked()? {
            writeln!(stderr(), "Nothing was restored.")?;
            return Ok(ExitCode::FAILURE);
        }
        let id = planned.manifest.id;
        let done = restore::restore(&world, &id).await.map_err(failed)?;
        writeln!(stdout(), "{}", done.said())?;
        Ok(ExitCode::SUCCESS)
    })
}

/// What a restore would do.
fn show(planned: &Planned) -> anyhow::Result<()> {
    let mut out = stderr().lock();
    writeln!(out, "{}", checkpoint_line(&planned.manifest))?;
    for it in &planned.changes {
        let what = match it.new {
            Some(_) => "gets its old content",
            None => "is removed",
        };
        writeln!(out, "  {} {what}", it.file.shown)?;
    }
    for it in &planned.skipped {
        writeln!(out, "  {}", it.said())?;
    }
    if planned.changes.is_empty() {
        writeln!(
            out,
            "The files are as it holds them; there is nothing to restore."
        )?;
    }
    Ok(())
}

/// No is what everything else means.
fn asked() -> anyhow::Result<bool> {
    write!(stderr(), "Restore? [y/N] ")?;
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn run<F>(command_line: CommandLine, work: impl FnOnce(World) -> F) -> anyhow::Result<ExitCode>
where
    F: Future<Output = anyhow::Result<ExitCode>>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = runtime.context("starting the runtime")?;
    let (inbox, events) = mpsc::channel(1);
    runtime.spawn(no_editor(events));
    let world = world(command_line, Editor::new(inbox))?;
    runtime.block_on(work(world))
}

/// The world of the project in this folder.
fn world(command_line: CommandLine, editor: Editor) -> anyhow::Result<World> {
    let folders = Folders::from_environment();
    let cwd = std::env::current_dir().context("finding the current folder")?;
    let protected = [folders.config.clone(), folders.data.clone()];
    let mut workspace = Workspace::new(&[cwd], &protected).map_err(|it| anyhow!(it))?;
    let memory = Memory::of(&folders.data, workspace.root());
    workspace.set_memory(memory.folders());
    let (layers, problem) = Layers::of_person(&folders.config, command_line);
    if let Some(problem) = problem {
        writeln!(stderr(), "{problem}")?;
    }
    let config = layers.resolve(None).config;
    let checkpoints = Checkpoints::new(&folders.data).with_limits(&config.limits);
    let launcher = Launcher::own().context("finding our own program")?;
    Ok(World {
        session: "".into(),
        call: CallId(0),
        author: Author {
            session: String::new(),
            turn: TurnId(0),
            call: CallId(0),
        },
        workspace: Arc::new(workspace),
        documents: Snapshot::default(),
        seen: Arc::default(),
        log: None,
        given: Arc::default(),
        editor,
        encoding: Encoding::Utf8,
        versioned_edits: false,
        file_operations: FileOperations::default(),
        journals: Journals::new(&folders.data),
        limits: Arc::new(config.limits),
        edits: config.edits,
        exec: config.exec,
        network: config.safety.network,
        filesystem: config.safety.filesystem,
        locks: Arc::default(),
        children: Arc::new(Children::new(launcher)),
        jobs: Jobs::new(folders.data.join("processes"), Box::new(|_| {})),
        checkpoints: Arc::new(checkpoints),
        checkpoint_first: false,
        action: None,
        memory: None,
        answers: Answers::new(&folders.config),
        attended: false,
        kinds: Arc::default(),
        agent: None,
        skill_folders: [].into(),
        key_variables: Arc::new([]),
    })
}

/// Stands in for the loop: no document is open, and nobody can be asked.
async fn no_editor(mut events: mpsc::Receiver<Event>) {
    while let Some(event) = events.recv().await {
        if let Event::Editor(Ask::Documents(reply)) = event {
            // Whoever asked may have given up.
            let _ = reply.send(Snapshot::default());
        }
    }
}
