//! What is known of models here: the catalogue on the disk, what providers list, windows and prices.
//!
//! The catalogue is fetched at most once in `limits.catalog_hours`, only for a provider that it knows, and never where
//! `safety.network` says no or `pricing.catalog_url` is empty. Without it the families in the engine count.

mod ask;
mod fetch;
mod list;

pub use ask::{Probe, Source, Stored, ask, sources};
pub use fetch::Fetch;
pub use list::{list, of_provider};

use crate::endpoint;
use crate::ollama;
use crate::regular;
use crate::store::learned::ModelKey;
use engine::models::{self, Catalogue, Listed, Model, ModelName};
use engine::provider::Wire;
use engine::usage::Rates;
use protocol::config::{Config, Network, Reasoning};
use protocol::record::Record;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use url::Url;

/// The most bytes of the catalogue as it is kept.
const MAX_KEPT: u64 = 32 << 20;

/// What this process knows of models.
#[derive(Debug, Default)]
pub struct Models {
    /// Where the catalogue is kept.
    file: PathBuf,
    catalogue: Arc<Catalogue>,
    /// The file was looked for.
    is_read: bool,
    /// When the catalogue was last asked for, whatever became of it.
    tried: Option<Instant>,
    /// What providers have listed, by their names here.
    lists: BTreeMap<String, Vec<Listed>>,
    /// Tokens with which Ollama has loaded models.
    loaded: HashMap<ModelKey, u64>,
    /// Whose keys are in the keyring; none before it was asked.
    pub stored: Option<Stored>,
}

impl Models {
    /// Nothing is read before it is needed.
    pub fn new(data: &Path) -> Self {
        Self {
            file: data.join("catalogue.json"),
            ..Self::default()
        }
    }

    /// The catalogue as it is on the disk; empty without one.
    pub fn catalogue(&mut self) -> Arc<Catalogue> {
        if !self.is_read {
            self.is_read = true;
            match read(&self.file) {
                Ok(Some(catalogue)) => self.catalogue = Arc::new(catalogue),
                Ok(None) => {}
                Err(why) => tracing::info!(why, "the catalogue of models on the disk is not used"),
            }
        }
        self.catalogue.clone()
    }

    /// The catalogue that was fetched.
    pub fn set_catalogue(&mut self, catalogue: Catalogue) {
        self.is_read = true;
        self.catalogue = Arc::new(catalogue);
    }

    /// Whether the catalogue is to be fetched for one of these providers now; and then not again for a while.
    pub fn due<'a>(
        &mut self,
        config: &Config,
        mut providers: impl Iterator<Item = &'a str>,
    ) -> Option<Fetch> {
        let url = config.pricing.catalog_url.trim();
        let hours = config.limits.catalog_hours;
        let patience = Duration::from_secs(hours.saturating_mul(3600));
        if url.is_empty()
            || config.safety.network == Network::Deny
            || !providers.any(|it| endpoint::catalogued(it).is_some())
            || self.tried.is_some_and(|it| it.elapsed() < patience)
        {
            return None;
        }
        if !Url::parse(url).is_ok_and(|it| endpoint::is_private(&it)) {
            tracing::warn!(
                "pricing.catalog_url must begin with https, or with http on this machine; it is not used"
            );
            return None;
        }
        let written = self.file.metadata().and_then(|it| it.modified());
        let age = written.map(|it| SystemTime::now().duration_since(it).unwrap_or_default());
        if age.is_ok_and(|it| it < patience) {
            return None;
        }
        self.tried = Some(Instant::now());
        Some(Fetch::new(url, &self.file, &config.limits))
    }

    /// Takes in what providers have listed.
    pub fn take(&mut self, probes: &[Probe]) {
        for it in probes {
            if let Some(Ok(models)) = &it.models {
                self.lists.insert(it.provider.clone(), models.clone());
            }
        }
    }

    /// A model is loaded with so many tokens now.
    pub fn take_window(&mut self, model: ModelKey, tokens: u64) {
        self.loaded.insert(model, tokens);
    }

    /// What a provider has listed.
    pub fn listed(&self, provider: &str) -> Option<&[Listed]> {
        self.lists.get(provider).map(Vec::as_slice)
    }

    /// What the catalogue knows of a model.
    pub fn known(&mut self, provider: &str, model: &str) -> Option<Model> {
        let catalogue = self.catalogue();
        let found = catalogue.find(endpoint::catalogued(provider)?, model)?;
        Some(found.clone())
    }

    /// Tokens that the configured model can read, where they are known.
    pub fn window(&mut self, config: &Config) -> Option<u64> {
        let reached = endpoint::reach(config).ok()?;
        let (provider, model) = (reached.provider.as_str(), reached.model.as_str());
        let own = config.providers.get(provider);
        let configured = own.and_then(|it| it.context_window);
        if reached.wire == Wire::Ollama {
            // What it is loaded with, whatever it could read.
            let wanted = ollama::num_ctx(config, provider, model);
            let loaded = self.loaded.get(&reached.model_key());
            return Some(loaded.map_or(wanted, |it| wanted.min(*it)));
        }
        let known = self.known(provider, model).or_else(|| {
            let listed = self.lists.get(provider)?;
            let listed = listed.iter().find(|it| it.id == model)?;
            Some(Model {
                window: Some(listed.window?),
                ..Model::default()
            })
        });
        models::window(known.as_ref(), configured, model)
    }

    /// What a model (provider/model) costs: the person's own price, then nothing on a machine of their own, then the
    /// catalogue's.
    pub fn rates(&mut self, config: &Config, model: &str) -> Option<Rates> {
        if let Some(own) = models::own(config, &config.pricing.models, model) {
            return Some(own.clone().into());
        }
        let (provider, name) = model.split_once('/')?;
        match endpoint::is_free(config, provider) {
            true => Some(Rates::free()),
            false => self.known(provider, name)?.rates,
        }
    }
}

fn read(file: &Path) -> Result<Option<Catalogue>, String> {
    match regular::read_capped(file, MAX_KEPT) {
        Ok(Some(bytes)) => Catalogue::parse(&bytes).map(Some),
        Ok(None) => Err("it is too large".to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// What the person has chosen in a session; it counts over the configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    pub model: Option<ModelName>,
    /// By provider/model; without a level it thinks as configured.
    pub reasoning: BTreeMap<String, Option<Reasoning>>,
    /// How the agent writes.
    pub style: Option<String>,
}

impl Choice {
    /// What a log says. The model is that which answered last, whoever named it (spec 13.5).
    pub fn of(records: &[Record]) -> Self {
        let mut choice = Self::default();
        for record in records {
            if let Record::Started { model, .. } | Record::Model { model } = record {
                choice.model = model.split_once('/').and_then(|(provider, name)| {
                    (!provider.is_empty() && !name.is_empty()).then(|| ModelName {
                        provider: provider.to_owned(),
                        name: name.to_owned(),
                    })
                });
            }
            if let Record::Style { style } = record {
                choice.style.clone_from(style);
            }
            if let Record::Reasoning { model, level } = record {
                choice.reasoning.insert(model.clone(), *level);
            }
        }
        choice
    }

    /// A configuration with the choice in it.
    pub fn over(&self, mut config: Config) -> Config {
        if let Some(model) = &self.model {
            config.default_model.provider.clone_from(&model.provider);
            config.default_model.name.clone_from(&model.name);
        }
        if let Some(style) = &self.style {
            config.output.style.clone_from(style);
        }
        for (model, level) in &self.reasoning {
            if let Some(level) = level {
                config.reasoning_per_model.insert(model.clone(), *level);
            }
        }
        config
    }
}
