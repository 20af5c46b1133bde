//! The person's side of the memory (spec 8.8): `undine/memory/…`, `/memory`, `/remember`, `/forget`, `/consolidate-memory`.
//!
//! Each is an errand. Consolidating asks a model which facts can go; they go only when a checkpoint holds them.

use crate::aside::Question;
use crate::errand::Asker;
use crate::event::{Event, Found, SessionKey};
use crate::lsp::Reply;
use crate::main_loop::{Host, TaskKey};
use crate::memory::{self, Memory};
use crate::plan::World;
use crate::restore;
use crate::workspace::Workspace;
use engine::memory::{Kept, Outdated, Text, Wish, plan, request};
use engine::provider::ModelError;
use engine::session::{Input, SideAnswer};
use protocol::config::Config;
use protocol::memory::{
    AddMemoryParams, ListMemoryParams, MemoryList, MemoryScope, RemoveMemoryParams,
};
use protocol::methods;
use protocol::record::Purpose;
use std::time::Duration;

const OFF: &str =
    "The memory is switched off; `[memory] enabled` in the configuration switches it on.";

impl Host {
    /// What of it stands in every request. What cannot be read is told to the person.
    pub(super) fn memory_index(&mut self, workspace: &Workspace, config: &Config) -> String {
        if !config.memory.enabled {
            return String::new();
        }
        let found = Memory::of(&self.folders.data, workspace.root()).read();
        for problem in found.problems {
            self.warn_once(problem);
        }
        let most = usize::try_from(config.memory.index_cap_bytes).unwrap_or(usize::MAX);
        engine::memory::index(&found.kept, most)
    }

    pub(crate) fn list_memory(&mut self, params: &ListMemoryParams, reply: Reply) {
        self.keep_memory(&params.session_id, reply, None);
    }

    pub(crate) fn add_memory(&mut self, params: AddMemoryParams, reply: Reply) {
        let wish = Wish::Remember {
            name: params.name,
            scope: params.scope.unwrap_or(MemoryScope::Private),
            text: Text {
                content: params.content,
                description: params.description,
                tags: params.tags,
            },
        };
        self.keep_memory(&params.session_id, reply, Some(wish));
    }

    pub(crate) fn remove_memory(&mut self, params: RemoveMemoryParams, reply: Reply) {
        let wish = Wish::Forget {
            id: params.name,
            scope: params.scope,
        };
        self.keep_memory(&params.session_id, reply, Some(wish));
    }

    /// Does what is wished and answers what is kept then.
    fn keep_memory(&mut self, session: &str, reply: Reply, wish: Option<Wish>) {
        let session = match self.open_session(session) {
            Ok(session) => session,
            Err(error) => return reply.send_value(Err(error)),
        };
        let number = self.begin(session, Asker::Request(reply));
        self.work_on(number, async move |world| {
            Found::Memory(
                with_memory(&world, move |memory, patience| {
                    if let Some(wish) = wish {
                        memory.act(&wish, patience)?;
                    }
                    Ok(memory.read().kept)
                })
                .await,
            )
        });
    }

    /// `/memory`
    pub(super) fn memory_for(&mut self, session: SessionKey, asker: Asker) {
        let number = self.begin(session, asker);
        self.work_on(number, async move |world| {
            Found::Memory(with_memory(&world, |memory, _| Ok(memory.read().kept)).await)
        });
    }

    /// `/remember`
    pub(super) fn remember_for(&mut self, session: SessionKey, asker: Asker, fact: &str) {
        let number = self.begin(session, asker);
        if fact.is_empty() {
            let said = "`/remember` needs the fact behind it, as in `/remember The tests need a database`.";
            return self.end(number, Err(said.to_owned()));
        }
        let wish = Wish::Remember {
            name: None,
            scope: MemoryScope::Private,
            text: Text {
                content: fact.to_owned(),
                ..Text::default()
            },
        };
        self.act_on_memory(number, wish);
    }

    /// `/forget`
    pub(super) fn forget_fact_for(&mut self, session: SessionKey, asker: Asker, name: &str) {
        let number = self.begin(session, asker);
        if name.is_empty() {
            let said = "`/forget` needs the name of what is to be forgotten; `/memory` lists them.";
            return self.end(number, Err(said.to_owned()));
        }
        let id = name.trim_matches('"').to_owned();
        self.act_on_memory(number, Wish::Forget { id, scope: None });
    }

    fn act_on_memory(&mut self, number: u64, wish: Wish) {
        self.work_on(number, async move |world| {
            let act = move |memory: &Memory, patience| memory.act(&wish, patience);
            Found::Said(with_memory(&world, act).await)
        });
    }

    /// `/consolidate-memory`
    pub(super) fn consolidate_for(&mut self, session: SessionKey, asker: Asker) {
        let number = self.begin(session, asker);
        self.work_on(number, async move |world| {
            Found::Consolidate(with_memory(&world, |memory, _| Ok(memory.read().kept)).await)
        });
    }

    /// What is kept was found for whoever asked.
    pub(super) fn found_memory(&mut self, number: u64, found: Result<Vec<Kept>, String>) {
        let session = self.errands.get(&number).map(|it| it.session.to_string());
        let text = |it: &Vec<Kept>| listing(it);
        self.answer::<methods::ListMemory, _>(number, found, text, |kept| MemoryList {
            session_id: session.unwrap_or_default(),
            facts: kept.iter().map(memory::wire).collect(),
        });
    }

    /// Asks the session's model which facts can go.
    pub(super) fn ask_to_consolidate(&mut self, number: u64, found: Result<Vec<Kept>, String>) {
        let kept = match found {
            Ok(kept) => kept,
            Err(text) => return self.end(number, Err(text)),
        };
        let Some(request) = request(&kept) else {
            let said = "There are fewer than two facts; nothing was changed.";
            return self.end(number, Ok(said.to_owned()));
        };
        let Some(session) = self.errands.get(&number).map(|it| it.session.clone()) else {
            return;
        };
        let Some(open) = self.sessions.get(&session) else {
            return;
        };
        let config = Config::clone(&open.config);
        let question = Question {
            live: None,
            task: TaskKey::Errand(number),
            most: Duration::from_secs(config.limits.side_secs),
            config,
            request,
        };
        self.ask_beside(&session, question, move |answer| {
            Event::Consolidate(number, kept, answer)
        });
    }

    /// The model has named what can go.
    pub(crate) fn consolidate(
        &mut self,
        number: u64,
        kept: Vec<Kept>,
        answer: Result<SideAnswer, ModelError>,
    ) {
        let Some(session) = self.errands.get(&number).map(|it| it.session.clone()) else {
            return;
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                let said = format!(
                    "Nothing was changed, because the model gave no answer: {}",
                    error.message
                );
                return self.end(number, Err(said));
            }
        };
        if let Some(tokens) = answer.usage {
            let model = answer.model.clone();
            self.step(
                &session,
                Input::Spent {
                    model,
                    purpose: Purpose::Other,
                    tokens,
                },
            );
        }
        let planned = match answer.cut {
            true => None,
            false => plan(&answer.text, kept.len()),
        };
        match planned {
            None => self.end(
                number,
                Err(
                    "Nothing was changed, because the model's answer cannot be read; try again."
                        .to_owned(),
                ),
            ),
            Some(outdated) if outdated.is_empty() => {
                let said = "None of the facts is a duplicate or outdated; nothing was changed.";
                self.end(number, Ok(said.to_owned()));
            }
            Some(outdated) => {
                if let Some(errand) = self.errands.get_mut(&number) {
                    errand.is_changing = true;
                }
                self.work_on(number, async move |world| {
                    Found::Said(prune(world, kept, outdated).await)
                });
            }
        }
    }
}

/// Removes facts once a checkpoint holds them (BUG-23). The text and the error are for the person.
async fn prune(world: World, kept: Vec<Kept>, outdated: Vec<Outdated>) -> Result<String, String> {
    let named: Vec<(Kept, String)> = outdated
        .into_iter()
        .filter_map(|it| Some((kept.get(it.at)?.clone(), it.reason)))
        .collect();
    let paths: Vec<String> = named
        .iter()
        .map(|(it, _)| it.path.display().to_string())
        .collect();
    let title = "Consolidate memory".to_owned();
    let checkpoint = restore::keep_as(&world, Some(title), &paths).await?.id;
    let going: Vec<Kept> = named.iter().map(|(it, _)| it.clone()).collect();
    let remove = move |memory: &Memory, patience| memory.remove(&going, patience);
    let n_removed = with_memory(&world, remove).await?;
    let mut lines = vec![match n_removed == named.len() {
        true => format!("Removed {n_removed} of {} facts:", kept.len()),
        false => format!(
            "Removed {n_removed} of {} facts; of these, those that were changed meanwhile are still there:",
            kept.len()
        ),
    }];
    lines.extend(named.iter().map(|(it, reason)| {
        let why = if reason.is_empty() {
            "not needed any more"
        } else {
            reason
        };
        format!("- {} ({}): {why}", it.fact.name, it.scope.id())
    }));
    lines.push(format!("`/restore {checkpoint}` brings them back."));
    Ok(lines.join("\n"))
}

/// Works on the memory off the loop. The error is for whoever asked.
async fn with_memory<T: Send + 'static>(
    world: &World,
    work: impl FnOnce(&Memory, Duration) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let memory = world.memory.clone().ok_or(OFF)?;
    let patience = Duration::from_millis(world.limits.memory_ms);
    let working = tokio::task::spawn_blocking(move || work(&memory, patience));
    working
        .await
        .map_err(|_| "The memory could not be used; look at what it holds.".to_owned())?
}

fn listing(kept: &[Kept]) -> String {
    if kept.is_empty() {
        return "Nothing is kept yet. `/remember <fact>` keeps one for this project.".to_owned();
    }
    let lines: Vec<String> = kept
        .iter()
        .map(|it| {
            let fact = &it.fact;
            format!(
                "- {} ({}): {} ({})",
                fact.name,
                it.scope.id(),
                fact.description,
                it.shown
            )
        })
        .collect();
    format!(
        "Kept over sessions:\n{}\n\n`/forget <name>` removes one. The files may be edited by hand.",
        lines.join("\n")
    )
}
