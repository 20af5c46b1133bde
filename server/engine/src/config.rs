//! Layers of configuration into one, each value with its origin.
//!
//! Tables merge, scalars and arrays replace (spec 20.1). A layer that can come with a repository sets only what the
//! option's declaration admits (`x-repository` in `protocol::config`; spec 20.2). What is unknown or bad is left
//! out and named; nothing here fails.

mod merge;
mod names;
mod shape;

use crate::models;
use merge::Merge;
use protocol::config::Config;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Where a value came from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    UserFile,
    /// A table of `[profiles]` in the user's file.
    Profile,
    ProjectFile,
    Editor,
    /// `-c`.
    Setting,
    /// A flag of its own.
    Flag,
}

impl Origin {
    /// Its name for programs.
    pub fn id(self) -> &'static str {
        match self {
            Self::UserFile => "user_file",
            Self::Profile => "profile",
            Self::ProjectFile => "project_file",
            Self::Editor => "editor",
            Self::Setting => "setting",
            Self::Flag => "flag",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UserFile => "the user's config.toml",
            Self::Profile => "the chosen profile",
            Self::ProjectFile => "the project's .undine/config.toml",
            Self::Editor => "the editor's settings",
            Self::Setting | Self::Flag => "the command line",
        })
    }
}

/// One layer: an object as `config.toml` has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    pub origin: Origin,
    pub value: Value,
    /// Whether the person alone can have written it.
    pub trusted: bool,
    /// The file that it was read from.
    pub path: Option<PathBuf>,
}

impl Layer {
    /// A layer of no file, which counts as the person's own unless it can come with a repository.
    pub fn new(origin: Origin, value: Value) -> Self {
        let trusted = match origin {
            Origin::UserFile | Origin::Profile | Origin::Setting | Origin::Flag => true,
            Origin::ProjectFile | Origin::Editor => false,
        };
        Self {
            origin,
            value,
            trusted,
            path: None,
        }
    }

    /// The profile of this name in the user's file.
    ///
    /// # Errors
    /// One sentence that names those that there are.
    pub fn profile(&self, name: &str) -> Result<Self, String> {
        let profiles = self.value.get(PROFILES).and_then(Value::as_object);
        match profiles.and_then(|it| it.get(name)) {
            Some(value) => Ok(Self {
                path: self.path.clone(),
                ..Self::new(Origin::Profile, value.clone())
            }),
            None => Err(no_profile(
                name,
                profiles.into_iter().flat_map(|it| it.keys()),
            )),
        }
    }
}

/// That there is no profile of this name.
pub fn no_profile<'a>(name: &str, all: impl Iterator<Item = &'a String>) -> String {
    let all: Vec<&str> = all.map(String::as_str).collect();
    match all.is_empty() {
        true => format!("There is no profile {name}; the user's config.toml has none."),
        false => format!(
            "There is no profile {name}; the user's config.toml has {}.",
            all.join(", ")
        ),
    }
}

/// The table of the user's file that holds profiles.
const PROFILES: &str = "profiles";

/// Something in a layer that was left out, for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub origin: Origin,
    /// One sentence.
    pub text: String,
}

/// An option that there was once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its dotted key.
    pub key: &'static str,
    /// The release that no longer has it.
    pub release: &'static str,
    /// What to do now, as in "set X": no capital, no dot.
    pub instead: Option<&'static str>,
}

/// All options that there were once. `undine clean-config` takes these out of the user's file.
pub const REMOVED: &[Removed] = &[];

#[derive(Clone, Debug, Default)]
pub struct Resolved {
    pub config: Config,
    /// The origin of each value that is not a default, by dotted key.
    pub origins: BTreeMap<String, Origin>,
    /// The files behind origins.
    pub paths: BTreeMap<Origin, PathBuf>,
    pub problems: Vec<Problem>,
}

impl Resolved {
    /// The options that this layer decides, by dotted key.
    pub fn decided_by(&self, origin: Origin) -> impl Iterator<Item = &str> {
        let all = self.origins.iter().filter(move |(_, it)| **it == origin);
        all.map(|(key, _)| key.as_str())
    }
}

/// Merges layers, weakest first.
pub fn resolve(layers: &[Layer]) -> Resolved {
    resolve_with(layers, REMOVED)
}

/// As [`resolve`], with these options as those that there were once.
pub fn resolve_with(layers: &[Layer], removed: &[Removed]) -> Resolved {
    let mut merge = Merge::new(removed);
    for layer in layers {
        merge.layer(layer);
    }
    let mut resolved = merge.resolved;
    keep_classifier(&mut resolved.config, layers);
    resolved
}

/// A repository may choose the model that works in it, never the one that judges its work (spec 19.8): without one of its
/// own the classifier of mode `auto` is the model that the person's layers name, and where they name none, nobody. A name
/// that the person has given is read with their aliases, not with the repository's.
fn keep_classifier(config: &mut Config, layers: &[Layer]) {
    let names_models = |it: &Layer| {
        ["default_model", "model_aliases"]
            .iter()
            .any(|key| it.value.get(key).is_some())
    };
    if !layers.iter().any(|it| !it.trusted && names_models(it)) {
        return;
    }
    let own: Vec<Layer> = layers.iter().filter(|it| it.trusted).cloned().collect();
    let own = resolve(&own).config;
    if let Some(judge) = &config.safety.auto_classifier_model {
        // One that leads nowhere stays as it is written, without an alias that could lead it elsewhere.
        match models::find(&own, judge) {
            Ok(judge) => config.safety.auto_classifier_model = Some(judge.to_string()),
            Err(_) => drop(config.model_aliases.remove(judge.trim())),
        }
        return;
    }
    let of = |config: &Config| models::configured(config).ok().flatten();
    let (mine, theirs) = (of(&own), of(config));
    if mine != theirs {
        let judge = mine.unwrap_or_default().to_string();
        config.safety.auto_classifier_model = Some(judge);
    }
}

#[cfg(test)]
mod tests;
