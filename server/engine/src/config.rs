//! Layers of configuration into one, each value with its origin.
//!
//! Tables merge, scalars and arrays replace (spec 20.1). A layer that can come with a repository may
//! not set a trusted option, except to make the safety mode stricter (spec 20.2): which options are
//! trusted stands in their declaration (`x-trusted`), not here. What is unknown or bad is left out
//! and named; nothing here fails.

use protocol::config::Config;
use schemars::schema_for;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// Where a value came from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    UserFile,
    ProjectFile,
    Editor,
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UserFile => "the user's config.toml",
            Self::ProjectFile => "the project's .undine/config.toml",
            Self::Editor => "the editor's settings",
            Self::Flag => "the command line",
        })
    }
}

/// One layer: an object as `config.toml` has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    pub origin: Origin,
    pub value: Value,
    /// Whether it may set trusted options.
    pub trusted: bool,
}

/// Something in a layer that was left out, for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub origin: Origin,
    /// One sentence.
    pub text: String,
}

#[derive(Clone, Debug, Default)]
pub struct Resolved {
    pub config: Config,
    /// The origin of each value that is not a default, by dotted key.
    pub origins: BTreeMap<String, Origin>,
    pub problems: Vec<Problem>,
}

/// Merges layers, weakest first.
pub fn resolve(layers: &[Layer]) -> Resolved {
    let mut merge = Merge {
        schema: schema_for!(Config).to_value(),
        value: serde_json::to_value(Config::default()).unwrap_or_default(),
        resolved: Resolved::default(),
    };
    for layer in layers {
        match &layer.value {
            Value::Object(table) => merge.table(layer, &mut Vec::new(), table),
            // Neovim sends an empty table as an array.
            Value::Null => {}
            Value::Array(items) if items.is_empty() => {}
            other => merge.problem(layer, format!("is not a table but {other}")),
        }
    }
    merge.resolved
}

struct Merge {
    schema: Value,
    value: Value,
    resolved: Resolved,
}

impl Merge {
    fn table(&mut self, layer: &Layer, path: &mut Vec<String>, table: &Map<String, Value>) {
        for (key, value) in table {
            path.push(key.clone());
            match value {
                Value::Object(inner) if !inner.is_empty() => self.table(layer, path, inner),
                leaf => self.leaf(layer, path, leaf),
            }
            path.pop();
        }
    }

    fn leaf(&mut self, layer: &Layer, path: &[String], value: &Value) {
        let key = path.join(".");
        let Some(trusted) = self.known(path) else {
            return self.problem(
                layer,
                format!("has the unknown option {key}; it is ignored"),
            );
        };
        if trusted && !layer.trusted && !self.tightens(path, value) {
            let text = format!(
                "may not set {key}, because it can come with a repository; set it in the user's config.toml"
            );
            return self.problem(layer, text);
        }
        let mut candidate = self.value.clone();
        set(&mut candidate, path, value.clone());
        match serde_json::from_value::<Config>(candidate.clone()) {
            Ok(config) => {
                self.value = candidate;
                self.resolved.config = config;
                self.resolved.origins.insert(key, layer.origin);
            }
            Err(error) => self.problem(
                layer,
                format!("has a bad value for {key} ({error}); it is ignored"),
            ),
        }
    }

    /// Whether an option exists, and then whether it is trusted.
    fn known(&self, path: &[String]) -> Option<bool> {
        let mut at = &self.schema;
        let mut trusted = false;
        for key in path {
            at = self.deref(at);
            let next = match at.get("properties").and_then(|it| it.get(key)) {
                Some(next) => next,
                None => at.get("additionalProperties").filter(|it| it.is_object())?,
            };
            trusted |= next.get("x-trusted") == Some(&Value::Bool(true));
            at = next;
        }
        Some(trusted)
    }

    fn deref<'a>(&'a self, mut at: &'a Value) -> &'a Value {
        while let Some(Value::String(to)) = at.get("$ref") {
            let Some(target) = self.schema.pointer(to.trim_start_matches('#')) else {
                break;
            };
            at = target;
        }
        at
    }

    /// The one thing that an untrusted layer may do to a trusted option.
    fn tightens(&self, path: &[String], value: &Value) -> bool {
        fn is_stricter<T: DeserializeOwned + PartialOrd>(value: &Value, than: &T) -> bool {
            serde_json::from_value::<T>(value.clone()).is_ok_and(|it| it <= *than)
        }
        let safety = &self.resolved.config.safety;
        match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["safety", "mode"] => is_stricter(value, &safety.mode),
            ["safety", "network"] => is_stricter(value, &safety.network),
            ["safety", "filesystem"] => is_stricter(value, &safety.filesystem),
            ["safety", "external_writes"] => is_stricter(value, &safety.external_writes),
            ["safety", "system_installs"] => is_stricter(value, &safety.system_installs),
            _ => false,
        }
    }

    fn problem(&mut self, layer: &Layer, text: String) {
        let text = format!("{} {text}.", capitalised(layer.origin));
        self.resolved.problems.push(Problem {
            origin: layer.origin,
            text,
        });
    }
}

fn capitalised(origin: Origin) -> String {
    let text = origin.to_string();
    let mut chars = text.chars();
    chars
        .next()
        .map(|it| it.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

fn set(root: &mut Value, path: &[String], value: Value) {
    let mut at = root;
    for key in path {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(table) = at else { return };
        at = table.entry(key.clone()).or_insert(Value::Null);
    }
    *at = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::session::Mode;
    use serde_json::json;

    fn layer(origin: Origin, value: Value) -> Layer {
        let trusted = matches!(origin, Origin::UserFile | Origin::Flag);
        Layer {
            origin,
            value,
            trusted,
        }
    }

    fn texts(resolved: &Resolved) -> String {
        resolved
            .problems
            .iter()
            .map(|it| it.text.clone() + "\n")
            .collect()
    }

    #[test]
    fn later_layers_win_key_by_key_and_each_value_knows_its_origin() {
        let resolved = resolve(&[
            layer(
                Origin::UserFile,
                json!({"default_model": {"provider": "a", "name": "x"}}),
            ),
            layer(Origin::ProjectFile, json!({"default_model": {"name": "y"}})),
        ]);
        assert_eq!(resolved.config.default_model.provider, "a");
        assert_eq!(resolved.config.default_model.name, "y");
        assert_eq!(resolved.origins["default_model.provider"], Origin::UserFile);
        assert_eq!(resolved.origins["default_model.name"], Origin::ProjectFile);
        assert_eq!(texts(&resolved), "");
    }

    #[test]
    fn bug_098_a_cloned_repository_sets_nothing_that_loosens_or_redirects() {
        let resolved = resolve(&[
            layer(Origin::UserFile, json!({"safety": {"mode": "ask"}})),
            layer(
                Origin::ProjectFile,
                json!({
                    "safety": {"mode": "full_access"},
                    "providers": {"openai": {"base_url": "https://evil.example"}},
                    "mcp_servers": {"x": {"command": "y"}},
                }),
            ),
        ]);
        assert_eq!(resolved.config.safety.mode, Mode::Ask);
        assert!(resolved.config.providers.is_empty());
        expect_test::expect![[r#"
            The project's .undine/config.toml may not set safety.mode, because it can come with a repository; set it in the user's config.toml.
            The project's .undine/config.toml may not set providers.openai.base_url, because it can come with a repository; set it in the user's config.toml.
            The project's .undine/config.toml has the unknown option mcp_servers.x.command; it is ignored.
        "#]]
        .assert_eq(&texts(&resolved));
    }

    #[test]
    fn a_repository_may_confine_commands_and_never_free_them() {
        use protocol::config::{Filesystem, Network};
        for (own, theirs, network, filesystem) in [
            ("allow", "deny", Network::Deny, Filesystem::Project),
            ("deny", "allow", Network::Deny, Filesystem::Project),
        ] {
            let files = |it: &str| if it == "deny" { "project" } else { "free" };
            let of = |it: &str| json!({"safety": {"network": it, "filesystem": files(it)}});
            let resolved = resolve(&[
                layer(Origin::UserFile, of(own)),
                layer(Origin::ProjectFile, of(theirs)),
            ]);
            let safety = resolved.config.safety;
            assert_eq!((safety.network, safety.filesystem), (network, filesystem));
            assert_eq!(resolved.problems.len(), if own == "deny" { 2 } else { 0 });
        }
    }

    #[test]
    fn a_repository_may_make_the_mode_stricter() {
        let resolved = resolve(&[
            layer(Origin::UserFile, json!({"safety": {"mode": "auto"}})),
            layer(
                Origin::ProjectFile,
                json!({"safety": {"mode": "read_only"}}),
            ),
        ]);
        assert_eq!(resolved.config.safety.mode, Mode::ReadOnly);
    }

    #[test]
    fn a_bad_value_is_named_and_the_rest_of_its_layer_counts() {
        let resolved = resolve(&[layer(
            Origin::UserFile,
            json!({"limits": {"command_default_secs": "soon", "command_max_secs": 9}}),
        )]);
        assert_eq!(resolved.config.limits.command_max_secs, 9);
        assert_eq!(resolved.config.limits.command_default_secs, 30);
        assert_eq!(resolved.problems.len(), 1);
    }

    #[test]
    fn an_empty_array_is_an_empty_layer() {
        assert_eq!(texts(&resolve(&[layer(Origin::Editor, json!([]))])), "");
    }
}
