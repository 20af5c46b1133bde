//! Where a provider's key is found: the environment, then the system's keyring (spec 20.3).
//!
//! A key is looked for at the moment it is needed and lives in a `Secret`. What the keyring gave is remembered for as
//! long as the process lives, or until the provider refuses it; that it gave nothing is asked again, so that a key
//! which is stored now counts for the next request.

mod place;

pub use place::{Found, KeyPlace, Need, Place};

use crate::keyring::{Keyring, SWITCH, Trouble};
use engine::provider::Secret;
use engine::redact;
use protocol::auth::{AuthStatus, KeySource, ProviderKey};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The keys of the process.
#[derive(Debug)]
pub struct Keys {
    keyring: Keyring,
    /// What the keyring said of providers; `None`: a provider that needs no key has none there. Locked and not owned by
    /// the loop, because many tasks look and none may wait for another's visit to the keyring; it is never held
    /// across one.
    known: Mutex<HashMap<String, Option<Secret>>>,
    has_warned: AtomicBool,
}

impl Keys {
    pub fn from_environment() -> Arc<Keys> {
        Arc::new(Keys {
            keyring: Keyring::from_environment(),
            known: Mutex::default(),
            has_warned: AtomicBool::new(false),
        })
    }

    /// The key, which is hidden from now on in all that is shown and kept. The error says how to give one, in one sentence
    /// for the person.
    pub async fn find(self: &Arc<Keys>, place: &KeyPlace) -> Result<Option<Found>, String> {
        let found = self.look(place).await?;
        if let Some(found) = &found {
            redact::learn(found.key.expose());
            // Two lines, or typographic quotes around it: it would not even make a header.
            if !is_one_word(found.key.expose()) {
                return Err(format!(
                    "The key of {} in {} holds a blank or another character that no key has; put the key alone there, in one line.",
                    place.provider, found.place
                ));
            }
        }
        Ok(found)
    }

    async fn look(self: &Arc<Keys>, place: &KeyPlace) -> Result<Option<Found>, String> {
        if let Some(found) = place.in_environment() {
            return Ok(Some(found));
        }
        let known = self.known().get(&place.provider).cloned();
        let in_keyring = match known {
            _ if place.is_named => Ok(None),
            Some(known) => Ok(known),
            None => self.visit(place).await,
        };
        match (in_keyring, place.need) {
            (Ok(Some(key)), _) => Ok(Some(Found {
                key,
                place: Place::Keyring,
            })),
            (Ok(None) | Err(_), Need::Optional) => Ok(None),
            (Ok(None), Need::Needed) => Err(place.missing(None)),
            (Err(trouble), Need::Needed) => Err(place.missing(Some(&trouble))),
        }
    }

    async fn visit(self: &Arc<Keys>, place: &KeyPlace) -> Result<Option<Secret>, Trouble> {
        let (keys, account, most) = (self.clone(), place.account(), place.patience);
        let (tell, told) = oneshot::channel();
        aside(move || {
            // Whoever asked may have been cancelled.
            let _ = tell.send(keys.keyring.get(account, most));
        });
        let failed = Err(Trouble::Unusable("its client failed".to_owned()));
        let found = told.await.unwrap_or(failed)?;
        // What a person has put there by other programs may have a line's end.
        let found = found
            .map(|it| Secret::new(it.expose().trim()))
            .filter(|it| !it.expose().is_empty());
        if found.is_some() || place.need == Need::Optional {
            self.known().insert(place.provider.clone(), found.clone());
        }
        Ok(found)
    }

    /// Forgets what the keyring said of a provider: it is asked again.
    pub fn forget(&self, provider: &str) {
        self.known().remove(provider);
    }

    /// The one warning of the process, once: that the keyring does not answer.
    pub fn warning(&self, place: &KeyPlace) -> Option<String> {
        let is_first = self.keyring.is_mute() && !self.has_warned.swap(true, Ordering::AcqRel);
        is_first.then(|| {
            format!(
                "The system's keyring did not answer within {} ms and is not asked again before it does; set keys in the environment, or {SWITCH}=1 to do without it.",
                place.patience.as_millis()
            )
        })
    }

    /// Whether there is any use in storing a key, as far as is known without a look.
    pub fn can_store(&self) -> bool {
        !self.keyring.is_useless()
    }

    /// Stores a key in the keyring. The error is one sentence for the person.
    pub fn store(&self, place: &KeyPlace, key: Secret) -> Result<(), String> {
        let stored = self
            .keyring
            .set(place.account(), key.clone(), place.patience);
        stored.map_err(|trouble| place.not_stored(&trouble))?;
        self.known().insert(place.provider.clone(), Some(key));
        Ok(())
    }

    /// Takes a key out of the keyring; false if there was none. The error is one sentence for the person.
    pub fn remove(&self, place: &KeyPlace) -> Result<bool, String> {
        // First, so that it is not used any more whatever the keyring says.
        self.forget(&place.provider);
        let removed = self.keyring.remove(place.account(), place.patience);
        removed.map_err(|trouble| {
            format!(
                "The key of {} was not removed, because {trouble}; remove it with your system's own program for keys.",
                place.provider
            )
        })
    }

    /// Where the key of each place is, without reading it, and the keyring's trouble.
    pub fn sources(&self, places: &[KeyPlace]) -> (Vec<Option<Place>>, Option<Trouble>) {
        let mut sources: Vec<Option<Place>> = places
            .iter()
            .map(|it| it.in_environment().map(|it| it.place))
            .collect();
        let open: Vec<usize> = (0..places.len())
            .filter(|at| sources[*at].is_none() && !places[*at].is_named)
            .collect();
        let Some(first) = open.first() else {
            return (sources, None);
        };
        let accounts = open.iter().map(|at| places[*at].account()).collect();
        match self.keyring.holds(accounts, places[*first].patience) {
            Ok(held) => {
                for (at, is_held) in open.into_iter().zip(held) {
                    sources[at] = is_held.then_some(Place::Keyring);
                }
                (sources, None)
            }
            Err(trouble) => (sources, Some(trouble)),
        }
    }

    /// The same, waited for by a task.
    pub async fn sources_of(
        self: &Arc<Keys>,
        places: Vec<KeyPlace>,
    ) -> (Vec<Option<Place>>, Option<Trouble>) {
        let in_environment = |it: &KeyPlace| it.in_environment().map(|it| it.place);
        let otherwise = places.iter().map(in_environment).collect();
        let keys = self.clone();
        let (tell, told) = oneshot::channel();
        aside(move || {
            // Whoever asked may have been cancelled.
            let _ = tell.send(keys.sources(&places));
        });
        let failed = Trouble::Unusable("its client failed".to_owned());
        told.await.unwrap_or((otherwise, Some(failed)))
    }

    /// What people and editors are told of a key: where `sources` found it, and the keyring's trouble.
    pub fn described(
        &self,
        place: &KeyPlace,
        source: Option<Place>,
        trouble: Option<&Trouble>,
    ) -> ProviderKey {
        ProviderKey {
            provider: place.provider.clone(),
            source: match &source {
                Some(Place::Variable(_)) => KeySource::Env,
                Some(Place::Keyring) => KeySource::Keyring,
                None => KeySource::None,
            },
            storable: place.takes_keyring() && trouble.is_none() && self.can_store(),
            needed: place.need == Need::Needed,
            variable: match source {
                Some(Place::Variable(name)) => Some(name),
                Some(Place::Keyring) | None => None,
            },
        }
    }

    /// Where the keys are, for people and editors.
    pub fn status(&self, places: &[KeyPlace]) -> AuthStatus {
        let (sources, trouble) = self.sources(places);
        let providers = places
            .iter()
            .zip(sources)
            .map(|(place, source)| self.described(place, source, trouble.as_ref()));
        AuthStatus {
            providers: providers.collect(),
            problem: trouble.map(|it| format!("No key comes from the keyring, because {it}.")),
        }
    }

    /// The same, of one place.
    pub fn status_of(&self, place: KeyPlace) -> ProviderKey {
        let mut status = self.status(std::slice::from_ref(&place));
        status.providers.remove(0)
    }

    /// Why nothing can be stored, found out by a look.
    pub fn trouble(&self, place: &KeyPlace) -> Option<Trouble> {
        let looked = self.keyring.holds(vec![place.account()], place.patience);
        looked.err()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Option<Secret>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does work that waits for the keyring in a thread of its own: the runtime would wait for one of its threads at its end.
pub fn aside(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name("keys".to_owned());
    if let Err(error) = thread.spawn(work) {
        // What the work would have answered counts as a failure where it is waited for.
        tracing::warn!(%error, "no thread for the keyring");
    }
}

/// The longest key that is stored, bytes. Windows takes no longer one.
const MOST: usize = 2500;

/// Whether a key is of characters that keys have and headers take.
fn is_one_word(key: &str) -> bool {
    key.bytes().all(|it| it.is_ascii_graphic())
}

/// What a person has typed or pasted, as a key. The error is one sentence for the person.
pub fn key_from(text: &str) -> Result<Secret, String> {
    let key = text.trim();
    if key.is_empty() {
        return Err("The key is empty; give the one that the provider has shown you.".to_owned());
    }
    if key.len() > MOST {
        return Err(format!(
            "The key is longer than {MOST} characters; give the key alone."
        ));
    }
    if !is_one_word(key) {
        return Err(
            "The key holds a blank or another character that no key has; give the key alone, in one line."
                .to_owned(),
        );
    }
    Ok(Secret::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_line_of_what_can_be_typed() {
        let said = |text: &str| key_from(text).map(|it| it.expose().to_owned());
        assert_eq!(said("  sk-1\r\n").as_deref(), Ok("sk-1"));
        for wrong in [
            "",
            " \n",
            "a b",
            "a\nb",
            "a\u{7}b",
            "schlüssel",
            &"x".repeat(2501),
        ] {
            assert!(said(wrong).is_err(), "{wrong:?}");
        }
    }
}
