//! Where a provider's key is found: the environment, then the system's keyring (spec 20.3).
//!
//! A key is looked for at the moment it is needed and lives in a `Secret`. What the keyring gave is remembered for as
//! long as the process lives, or until the provider refuses it; that it gave nothing is asked again, so that a key
//! which is stored now counts for the next request.

use crate::keyring::{Keyring, SWITCH, Trouble};
use engine::provider::Secret;
use engine::redact;
use protocol::auth::{AuthStatus, KeySource, ProviderKey};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Where a provider's key may be, and whether one is needed. Holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPlace {
    /// The provider's name here.
    pub provider: String,
    /// Environment variables, in the order in which they count.
    pub variables: Vec<String>,
    /// The person named the variable: this and no other place counts.
    pub is_named: bool,
    pub need: Need,
    /// How long the keyring is waited for.
    pub patience: Duration,
}

/// Whether a provider wants a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Without one there is no use in asking.
    Needed,
    /// One is sent if there is one.
    Optional,
}

/// A key and where it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub key: Secret,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The environment variable of this name.
    Variable(String),
    Keyring,
}

/// For people.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Variable(name) => write!(f, "the environment variable {name}"),
            Place::Keyring => f.write_str("the system's keyring"),
        }
    }
}

impl KeyPlace {
    /// The key, if an environment variable holds it.
    pub fn in_environment(&self) -> Option<Found> {
        self.variables.iter().find_map(|variable| {
            let key = std::env::var(variable).ok()?;
            let key = key.trim();
            (!key.is_empty()).then(|| Found {
                key: Secret::new(key),
                place: Place::Variable(variable.clone()),
            })
        })
    }

    /// Whether a key in the keyring would be the one that counts.
    pub fn takes_keyring(&self) -> bool {
        !self.is_named && self.in_environment().is_none()
    }

    /// The keyring's account for it.
    pub fn account(&self) -> String {
        format!("provider:{}", self.provider)
    }

    /// What is said where the key is missing: one sentence for the person. `trouble` is the keyring's.
    pub fn missing(&self, trouble: Option<&Trouble>) -> String {
        let provider = &self.provider;
        let variables = self.variables.join(" or ");
        let set = format!("set the environment variable {variables} and start the editor anew");
        match trouble {
            _ if self.is_named => format!("The key of {provider} is missing; {set}."),
            None => format!(
                "The key of {provider} is missing; run `undine login {provider}`, or {set}."
            ),
            Some(trouble) => format!("The key of {provider} is missing, and {trouble}; {set}."),
        }
    }

    /// What is said where a key cannot be stored: one sentence for the person.
    pub fn not_stored(&self, trouble: &Trouble) -> String {
        let instead = match self.variables.first() {
            Some(variable) => format!("set the environment variable {variable} instead"),
            None => format!(
                "name an environment variable by api_key_env under [providers.{}] and set it instead",
                self.provider
            ),
        };
        format!("The key was not stored, because {trouble}; {instead}.")
    }

    /// What is said besides where the provider refuses the key that was found here; empty without one.
    pub fn origin(&self, place: Option<&Place>) -> String {
        match place {
            None => String::new(),
            Some(place @ Place::Variable(_)) => format!("it was taken from {place}"),
            Some(place @ Place::Keyring) => format!(
                "it was taken from {place}, where `undine login {}` replaces it",
                self.provider
            ),
        }
    }
}

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
            // Two lines make no header, and typographic quotes were never given by a provider.
            let key = found.key.expose().as_bytes();
            if !key.iter().all(|it| it.is_ascii_graphic() || *it == b' ') {
                return Err(format!(
                    "The key of {} in {} holds a line end or another character that no key has; put the key alone there, in one line.",
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

    /// The same, for people and editors.
    pub fn status(&self, places: &[KeyPlace]) -> AuthStatus {
        let (sources, trouble) = self.sources(places);
        let providers = places
            .iter()
            .zip(sources)
            .map(|(place, source)| ProviderKey {
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
            });
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
    if !key.bytes().all(|it| it.is_ascii_graphic()) {
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

    fn place(is_named: bool, variables: &[&str]) -> KeyPlace {
        KeyPlace {
            provider: "x".to_owned(),
            variables: variables.iter().map(|it| (*it).to_owned()).collect(),
            is_named,
            need: Need::Needed,
            patience: Duration::from_secs(3),
        }
    }

    #[test]
    fn a_missing_key_is_said_with_what_to_do() {
        let own = place(false, &["UNDINE_NO_SUCH_KEY", "UNDINE_NO_KEY"]);
        let named = place(true, &["UNDINE_NO_SUCH_KEY"]);
        assert_eq!(own.in_environment(), None);
        let unusable = Trouble::Unusable("no bus".to_owned());
        let said = [
            named.missing(None),
            own.missing(None),
            own.missing(Some(&Trouble::Off)),
            own.missing(Some(&Trouble::Mute)),
            own.missing(Some(&unusable)),
        ];
        expect_test::expect![[r#"
            The key of x is missing; set the environment variable UNDINE_NO_SUCH_KEY and start the editor anew.
            The key of x is missing; run `undine login x`, or set the environment variable UNDINE_NO_SUCH_KEY or UNDINE_NO_KEY and start the editor anew.
            The key of x is missing, and UNDINE_NO_KEYRING switches the system's keyring off; set the environment variable UNDINE_NO_SUCH_KEY or UNDINE_NO_KEY and start the editor anew.
            The key of x is missing, and the system's keyring does not answer; set the environment variable UNDINE_NO_SUCH_KEY or UNDINE_NO_KEY and start the editor anew.
            The key of x is missing, and the system's keyring cannot be used (no bus); set the environment variable UNDINE_NO_SUCH_KEY or UNDINE_NO_KEY and start the editor anew."#]]
        .assert_eq(&said.join("\n"));
    }

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
