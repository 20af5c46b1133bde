//! Where a provider's key may be, and what a person is told where it is missing, cannot be stored or is refused.

use crate::keyring::Trouble;
use engine::provider::Secret;
use std::fmt;
use std::time::Duration;

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
}
