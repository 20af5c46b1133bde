//! Asks providers which models they have, all at once. One that fails or is slow holds up no other.

use super::fetch::{Patience, get};
use crate::endpoint;
use crate::keyring::Trouble;
use crate::keys::{KeyPlace, Keys, Need, Place};
use engine::models::{Listed, configured, list_of, list_request};
use engine::provider::{Endpoint, Wire};
use futures_util::future::join_all;
use protocol::auth::{KeySource, ProviderKey};
use protocol::config::{Config, Limits};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most bytes of a list.
const MAX_LIST: usize = 16 << 20;

/// Local servers that are looked for without being configured: nobody else has their ports.
const LOOKED_FOR: [&str; 2] = ["ollama", "lmstudio"];

/// A provider that may be asked.
#[derive(Clone, Debug)]
pub struct Source {
    pub provider: String,
    /// Why it cannot be reached, for the person.
    address: Result<(Wire, Endpoint), String>,
    key: KeyPlace,
    /// The person uses it: it is asked also without a key, if it needs none.
    is_wanted: bool,
    /// It is asked although nobody has named it, and says nothing where it is not there.
    is_looked_for: bool,
    /// It has answered already and need not be asked.
    pub is_known: bool,
}

impl Source {
    /// Whether its models can be used: there is a key, in the environment or, as far as that was asked, in the keyring; or it
    /// needs none.
    pub fn is_usable(&self, stored: &Stored) -> bool {
        self.key.in_environment().is_some()
            || !self.key.is_named && stored.has(&self.provider)
            || self.is_wanted && self.key.need == Need::Optional
    }
}

/// The providers whose keys are in the keyring, as it said last. Empty before it was asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored(BTreeSet<String>);

impl Stored {
    fn has(&self, provider: &str) -> bool {
        self.0.contains(provider)
    }

    /// Takes in where keys are; whether that is news.
    pub fn take<'a>(&mut self, keys: impl IntoIterator<Item = &'a ProviderKey>) -> bool {
        let mut is_news = false;
        for key in keys {
            is_news |= match key.source {
                KeySource::Keyring => self.0.insert(key.provider.clone()),
                KeySource::Env | KeySource::None => self.0.remove(&key.provider),
            };
        }
        is_news
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Probe {
    pub provider: String,
    pub key: ProviderKey,
    /// What to do where the key is missing, for the person.
    pub hint: Option<String>,
    /// None: it was not asked. The error is a sentence for the person.
    pub models: Option<Result<Vec<Listed>, String>>,
}

/// All providers: the one that answers, those that the person has configured, those that are known.
pub fn sources(config: &Config) -> Vec<Source> {
    let current = configured(config).ok().flatten().map(|it| it.provider);
    let own = config.providers.keys().cloned();
    let mut names: Vec<String> = current.clone().into_iter().chain(own).collect();
    names.extend(endpoint::known().map(str::to_owned));
    let mut sources: Vec<Source> = Vec::new();
    for provider in names {
        if sources.iter().any(|it| it.provider == provider) {
            continue;
        }
        let is_wanted =
            current.as_ref() == Some(&provider) || config.providers.contains_key(&provider);
        sources.push(Source {
            address: endpoint::address(config, &provider),
            key: endpoint::key_place(config, &provider),
            is_wanted,
            is_looked_for: LOOKED_FOR.contains(&provider.as_str()),
            is_known: false,
            provider,
        });
    }
    sources
}

/// Asks them all.
pub async fn ask(sources: Vec<Source>, keys: &Arc<Keys>, limits: &Limits) -> Vec<Probe> {
    let patience = Patience::new(limits);
    let places = sources.iter().map(|it| it.key.clone()).collect();
    let (places, trouble) = keys.sources_of(places).await;
    let probes = sources.into_iter().zip(places);
    let probes =
        probes.map(|(source, place)| probe(source, place, trouble.as_ref(), keys, patience));
    join_all(probes).await
}

async fn probe(
    source: Source,
    place: Option<Place>,
    trouble: Option<&Trouble>,
    keys: &Arc<Keys>,
    patience: Patience,
) -> Probe {
    // One that the keyring gave before its trouble is still known.
    let found = match place.is_some() || trouble.is_some() {
        true => keys.find(&source.key).await,
        false if source.key.need == Need::Needed => Err(source.key.missing(None)),
        false => Ok(None),
    };
    let (found, hint) = match found {
        Ok(found) => (found, None),
        Err(hint) => (None, Some(hint)),
    };
    let place = found.as_ref().map(|it| it.place.clone());
    let key = keys.described(&source.key, place, trouble);
    let is_asked = !source.is_known
        && match key.source {
            KeySource::Env | KeySource::Keyring => true,
            KeySource::None => !key.needed && (source.is_wanted || source.is_looked_for),
        };
    let models = match source.address {
        Ok((wire, endpoint)) if is_asked => {
            let endpoint = Endpoint {
                key: found.map(|it| it.key),
                ..endpoint
            };
            let listed = listed(&source.provider, wire, &endpoint, patience).await;
            // A local server that nobody has named need not run.
            Some(listed)
                .filter(|it| it.is_ok() || source.is_wanted || key.source != KeySource::None)
        }
        // Of one that nobody uses it does not matter.
        Err(why) if source.is_wanted => Some(Err(why)),
        Ok(_) | Err(_) => None,
    };
    Probe {
        provider: source.provider,
        key,
        hint,
        models,
    }
}

async fn listed(
    provider: &str,
    wire: Wire,
    endpoint: &Endpoint,
    patience: Patience,
) -> Result<Vec<Listed>, String> {
    let request = list_request(wire, endpoint);
    let got = get(&request, patience, MAX_LIST)
        .await
        .map_err(|why| format!("{provider} did not list its models: {why}."))?;
    if !(200..300).contains(&got.status) {
        let body = request.hide(&String::from_utf8_lossy(&got.body));
        let error = wire
            .provider()
            .error(got.status, &got.headers, body.as_bytes());
        return Err(format!(
            "{provider} did not list its models: {}",
            request.hide(&error.message)
        ));
    }
    list_of(wire, &got.body).map_err(|why| {
        format!("{provider} did not list its models: {why}; see that base_url is right.")
    })
}
