//! The list of models, from what providers, the catalogue and the configuration say.

use super::{Models, Probe};
use crate::endpoint;
use engine::models::{Listed, Model, configured, find};
use engine::redact::redact;
use engine::usage::Rates;
use protocol::config::Config;
use protocol::models::{ListedModel, ModelAlias, ModelList, ModelPrice, ModelProvider};
use std::collections::BTreeMap;

/// What can be chosen.
pub fn list(models: &mut Models, config: &Config, probes: &[Probe]) -> ModelList {
    let current = endpoint::reach(config).ok();
    let current = current.map(|it| format!("{}/{}", it.provider, it.model));
    let aliases = config.model_aliases.keys().map(|name| ModelAlias {
        name: name.clone(),
        model: find(config, name).ok().map(|it| it.to_string()),
    });
    ModelList {
        current,
        aliases: aliases.collect(),
        providers: probes
            .iter()
            .map(|it| provider(models, config, it))
            .collect(),
    }
}

fn provider(models: &mut Models, config: &Config, probe: &Probe) -> ModelProvider {
    let name = probe.provider.as_str();
    let problem = match &probe.models {
        Some(Err(why)) => Some(redact(why).into_owned()),
        Some(Ok(_)) | None => None,
    };
    ModelProvider {
        name: name.to_owned(),
        key: probe.key.clone(),
        hint: probe.hint.clone(),
        problem,
        models: of_provider(models, config, name),
    }
}

/// A provider's models by id: those that it has listed, or else the catalogue's; and those that are configured.
pub fn of_provider(models: &mut Models, config: &Config, provider: &str) -> Vec<ListedModel> {
    let catalogue = models.catalogue();
    let mut all: BTreeMap<String, (Listed, bool)> = BTreeMap::new();
    let named = |id: &str| Listed {
        id: id.to_owned(),
        ..Listed::default()
    };
    match models.listed(provider) {
        Some(listed) => {
            all.extend(listed.iter().map(|it| (it.id.clone(), (it.clone(), true))));
        }
        None => {
            let known = endpoint::catalogued(provider).into_iter();
            let known = known.flat_map(|it| catalogue.models(it));
            all.extend(known.map(|(id, _)| (id.to_owned(), (named(id), false))));
        }
    }
    let default = config.providers.get(provider);
    let default = default.and_then(|it| it.default_model.clone());
    let current = configured(config).ok().flatten();
    let current = current.filter(|it| it.provider == provider && !it.name.is_empty());
    let aliased = config.model_aliases.keys().filter_map(|alias| {
        let model = find(config, alias).ok()?;
        (model.provider == provider && !model.name.is_empty()).then_some(model.name)
    });
    for id in default
        .into_iter()
        .chain(current.map(|it| it.name))
        .chain(aliased)
    {
        all.entry(id.clone()).or_insert_with(|| (named(&id), false));
    }
    all.into_values()
        .map(|(listed, live)| one(models, config, provider, listed, live))
        .collect()
}

fn one(
    models: &mut Models,
    config: &Config,
    provider: &str,
    listed: Listed,
    live: bool,
) -> ListedModel {
    let id = format!("{provider}/{}", listed.id);
    let known = models.known(provider, &listed.id);
    let rates = models.rates(config, &id);
    let Model {
        name,
        window,
        output,
        reasoning,
        ..
    } = known.unwrap_or_default();
    let mut of_it = config.clone();
    of_it.default_model.provider = provider.to_owned();
    of_it.default_model.name.clone_from(&listed.id);
    ListedModel {
        name: name.or(listed.name),
        window: models.window(&of_it).or(window).or(listed.window),
        output: output.or(listed.output),
        reasoning: reasoning.or(listed.reasoning),
        price: rates.map(|Rates { base, .. }| ModelPrice {
            input: base.input,
            output: base.output,
            cache_read: base.cache_read,
            cache_write: base.cache_write,
        }),
        live,
        id,
    }
}
