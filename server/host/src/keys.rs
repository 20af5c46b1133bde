//! Where a provider's key is found: the environment (spec 20.3).
//!
//! A key is looked for at the moment it is needed and lives in a `Secret`.

use engine::provider::Secret;

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
    /// For people: the variable `X_API_KEY`.
    pub place: String,
}

impl KeyPlace {
    /// The key. The error says how to give one, in one sentence for the person.
    pub async fn find(&self) -> Result<Option<Found>, String> {
        if let Some(found) = self.in_environment() {
            return Ok(Some(found));
        }
        match self.need {
            Need::Optional => Ok(None),
            Need::Needed => Err(self.missing()),
        }
    }

    /// The key, if an environment variable holds it.
    pub fn in_environment(&self) -> Option<Found> {
        self.variables.iter().find_map(|variable| {
            let key = std::env::var(variable).ok()?;
            let key = key.trim();
            (!key.is_empty()).then(|| Found {
                key: Secret::new(key),
                place: format!("the environment variable {variable}"),
            })
        })
    }

    /// What is said where the key is missing: one sentence for the person.
    pub fn missing(&self) -> String {
        format!(
            "The key of {} is missing; set the environment variable {} and start the editor anew.",
            self.provider,
            self.variables.join(" or ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_key_is_said_with_what_to_do() {
        let place = KeyPlace {
            provider: "x".to_owned(),
            variables: vec!["UNDINE_NO_SUCH_KEY".to_owned()],
            is_named: true,
            need: Need::Needed,
        };
        assert_eq!(
            place.missing(),
            "The key of x is missing; set the environment variable UNDINE_NO_SUCH_KEY and start the editor anew."
        );
        assert_eq!(place.in_environment(), None);
    }
}
