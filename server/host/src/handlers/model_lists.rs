//! Listing the models that can be chosen, and taking in what is heard of them: lists, the catalogue, what is loaded.

use crate::endpoint;
use crate::errand::{ListAsker, ListWish};
use crate::event::{Event, SessionKey};
use crate::lsp::Reply;
use crate::main_loop::Host;
use crate::models::{self, Probe};
use crate::store::learned::ModelKey;
use engine::config::Resolved;
use engine::models::find;
use protocol::acp;
use protocol::config::Config;
use protocol::methods;
use protocol::models::{ListModelsParams, ModelList};

/// The most models that a session's option offers; `undine/models` has them all.
const MOST_OFFERED: usize = 300;

/// The most models of a provider that `/model` writes down.
const MOST_SAID: usize = 30;

impl Host {
    /// The models that are offered: the one that answers, aliases, and those of providers that can be used.
    pub(super) fn offered(
        &mut self,
        config: &Config,
        current: &str,
    ) -> Vec<acp::SessionConfigSelectOption> {
        let mut offered = vec![acp::SessionConfigSelectOption::new(
            current.to_owned(),
            match current {
                "" => "None is configured".to_owned(),
                current => current.to_owned(),
            },
        )];
        for name in config.model_aliases.keys() {
            let model = find(config, name).ok();
            offered.extend(model.map(|it| {
                acp::SessionConfigSelectOption::new(name.clone(), name.clone())
                    .description(it.to_string())
            }));
        }
        let stored = self.models.stored.clone().unwrap_or_default();
        for source in models::sources(config) {
            if !source.is_usable(&stored) {
                continue;
            }
            for it in models::of_provider(&mut self.models, config, &source.provider) {
                if it.id != current && offered.len() < MOST_OFFERED {
                    let name = it.name.unwrap_or_else(|| it.id.clone());
                    let option = acp::SessionConfigSelectOption::new(it.id.clone(), name);
                    offered.push(option.description(it.id));
                }
            }
        }
        offered
    }

    /// `undine/models`
    pub(crate) fn list_models(&mut self, params: &ListModelsParams, reply: Reply) {
        let session = match &params.session_id {
            None => None,
            Some(id) => match self.known(&acp::SessionId::new(id.clone())) {
                Ok(key) => Some(key),
                Err(error) => return reply.send::<methods::ListModels>(Err(error)),
            },
        };
        self.list_by(session, params.refresh, ListAsker::Request(reply));
    }

    pub(super) fn list_for_errand(&mut self, session: SessionKey, number: u64) {
        self.list_by(Some(session), false, ListAsker::Errand(number));
    }

    fn list_by(&mut self, session: Option<SessionKey>, refresh: bool, asker: ListAsker) {
        let config = self.config_of(session.as_ref());
        let mut sources = models::sources(&config);
        for it in &mut sources {
            it.is_known = !refresh && self.models.listed(&it.provider).is_some();
        }
        let stored = self.models.stored.clone().unwrap_or_default();
        let usable = sources.iter().filter(|it| it.is_usable(&stored));
        let usable: Vec<String> = usable.map(|it| it.provider.clone()).collect();
        let fetch = self.models.due(&config, usable.iter().map(String::as_str));
        self.next_token += 1;
        let number = self.next_token;
        self.list_wishes.insert(number, ListWish { session, asker });
        let (inbox, limits) = (self.inbox.clone(), config.limits.clone());
        let keys = self.keys.clone();
        self.runtime.spawn(async move {
            let fetching = async {
                if let Some(fetch) = fetch {
                    fetched(fetch.run().await, &inbox).await;
                }
            };
            let (probes, ()) = tokio::join!(models::ask(sources, &keys, &limits), fetching);
            // A loop that is gone answers nobody.
            let _ = inbox.send(Event::Listed(number, probes)).await;
        });
    }

    /// Providers have listed their models.
    pub(crate) fn listed(&mut self, number: u64, probes: &[Probe]) {
        self.models.take(probes);
        self.note_keys(probes.iter().map(|it| &it.key));
        let Some(wish) = self.list_wishes.remove(&number) else {
            return;
        };
        let config = self.config_of(wish.session.as_ref());
        let list = models::list(&mut self.models, &config, probes);
        match wish.asker {
            ListAsker::Request(reply) => reply.send::<methods::ListModels>(Ok(list)),
            ListAsker::Errand(number) => self.end(number, Ok(said(&list))),
        }
    }

    /// The configuration of a session, or of the editor's first folder.
    fn config_of(&self, session: Option<&SessionKey>) -> Config {
        match session.and_then(|it| self.sessions.get(it)) {
            Some(open) => Config::clone(&open.config),
            None => {
                self.resolve(self.roots.first().map(|it| it.as_path()))
                    .config
            }
        }
    }

    /// Has the keyring asked whose keys it holds; and the catalogue of windows and prices fetched, if it is due and the
    /// configured model may be in it.
    pub(super) fn know_models(&mut self, resolved: &Resolved) {
        let config = &resolved.config;
        self.look_for_keys(config);
        let Ok(reached) = endpoint::reach(config) else {
            return;
        };
        let provider = [reached.provider.as_str()];
        if let Some(fetch) = self.models.due(config, provider.into_iter()) {
            let inbox = self.inbox.clone();
            self.runtime
                .spawn(async move { fetched(fetch.run().await, &inbox).await });
        }
    }

    /// The catalogue is another now: windows and prices may be.
    pub(crate) fn catalogued(&mut self, catalogue: engine::models::Catalogue) {
        self.models.set_catalogue(catalogue);
        let keys: Vec<SessionKey> = self.sessions.keys().cloned().collect();
        for key in keys {
            self.configure(&key);
        }
    }

    /// A model on the person's own machine is loaded now, perhaps with less than was asked for.
    pub(crate) fn loaded(&mut self, model: ModelKey, tokens: u64) {
        let concerned = self.sessions.iter().filter(|(_, it)| {
            it.asked.as_ref() == Some(&model) && it.session.window() != Some(tokens)
        });
        let concerned: Vec<SessionKey> = concerned.map(|(key, _)| key.clone()).collect();
        self.models.take_window(model, tokens);
        for key in concerned {
            self.configure(&key);
        }
    }
}

async fn fetched(
    catalogue: Result<engine::models::Catalogue, String>,
    inbox: &tokio::sync::mpsc::Sender<Event>,
) {
    match catalogue {
        // A loop that is gone needs none.
        Ok(it) => drop(inbox.send(Event::Catalogue(Box::new(it))).await),
        Err(why) => tracing::info!(why, "the catalogue of models was not fetched"),
    }
}

/// The list for a person, as `/model` answers it.
fn said(list: &ModelList) -> String {
    let mut lines = vec![match &list.current {
        Some(current) => format!("{current} answers. `/model NAME` chooses another."),
        None => "No model is configured. `/model NAME` chooses one.".to_owned(),
    }];
    for alias in &list.aliases {
        let model = alias.model.as_deref().unwrap_or("nothing that there is");
        lines.push(format!("- {} is {model}", alias.name));
    }
    let mut unusable = Vec::new();
    for provider in &list.providers {
        if let Some(problem) = &provider.problem {
            lines.push(format!("- {problem}"));
        }
        if provider.key.is_missing() {
            unusable.push(provider.name.as_str());
            continue;
        }
        let shown = provider.models.iter().take(MOST_SAID);
        lines.extend(shown.map(|it| format!("- {}", it.id)));
        let more = provider.models.len().saturating_sub(MOST_SAID);
        if more > 0 {
            lines.push(format!(
                "- and {more} more of {}; `undine models` has them all",
                provider.name
            ));
        }
    }
    if !unusable.is_empty() {
        lines.push(format!("\nWithout a key: {}.", unusable.join(", ")));
    }
    lines.join("\n")
}
