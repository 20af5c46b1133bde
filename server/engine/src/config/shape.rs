//! The options' schema, asked for one option at a time.

use super::names::nearest;
use protocol::config::Config;
use schemars::schema_for;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Who may set an option, by the mark `x-repository` on it or on its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    /// The person, where nobody else can have written it.
    Person,
    /// The editor's settings too.
    Editor,
    /// The project's file and the editor's settings too, to what is as strict or stricter.
    Stricter,
    /// Everybody.
    Any,
}

/// An option, or a table of them.
pub(super) struct Found<'a> {
    shape: &'a Shape,
    schema: &'a Value,
    pub admitted: Admitted,
}

impl Found<'_> {
    /// Whether it holds others.
    pub fn is_table(&self) -> bool {
        self.schema["properties"].is_object() || self.schema["additionalProperties"].is_object()
    }

    /// Its values, where it is one of few: in the order of their declaration.
    fn choices(&self) -> Vec<&str> {
        let schema = match self.schema["anyOf"].as_array() {
            // The other one says that it can be missing.
            Some(either) => self.shape.deref(&either[0]),
            None => self.schema,
        };
        let all = schema["oneOf"].as_array().into_iter().flatten();
        all.filter_map(|it| it["const"].as_str()).collect()
    }

    /// Whether the first value is as strict as the second or stricter. Strictest is declared first.
    pub fn is_as_strict(&self, value: &Value, than: &Value) -> bool {
        let choices = self.choices();
        let place = |it: &Value| {
            choices
                .iter()
                .position(|choice| it.as_str() == Some(choice))
        };
        matches!((place(value), place(than)), (Some(value), Some(than)) if value <= than)
    }

    /// What a value must be, in a few words. What it was is not repeated: it may be a secret in the wrong place.
    pub fn wanted(&self) -> String {
        let choices = self.choices();
        if !choices.is_empty() {
            return format!("it must be one of {}", choices.join(", "));
        }
        let kind = match &self.schema["type"] {
            Value::Array(kinds) => kinds[0].as_str(),
            kind => kind.as_str(),
        };
        let what = match kind {
            Some("integer") => "a whole number that is not negative",
            Some("number") => "a number",
            Some("boolean") => "true or false",
            Some("string") => "a text",
            Some("array") => "an array",
            Some("object") => "a table",
            _ => "something else",
        };
        format!("it must be {what}")
    }
}

/// The schema of all options.
pub(super) struct Shape {
    root: Value,
}

impl Shape {
    /// Made once: it takes longer than all the rest of a merge, and a start merges three times.
    pub fn get() -> &'static Self {
        static SHAPE: LazyLock<Shape> = LazyLock::new(|| Shape {
            root: schema_for!(Config).to_value(),
        });
        &SHAPE
    }

    /// The option at a path, if there is one.
    pub fn find(&self, path: &[String]) -> Option<Found<'_>> {
        let mut found = Found {
            shape: self,
            schema: &self.root,
            admitted: Admitted::Person,
        };
        for key in path {
            let next = match properties(found.schema).and_then(|it| it.get(key)) {
                Some(next) => next,
                None => found
                    .schema
                    .get("additionalProperties")
                    .filter(|it| it.is_object())?,
            };
            found.admitted = match next["x-repository"].as_str() {
                Some("any") => Admitted::Any,
                Some("stricter") => Admitted::Stricter,
                Some("editor") => Admitted::Editor,
                // An unknown mark admits nobody.
                Some(_) => Admitted::Person,
                None => found.admitted,
            };
            found.schema = self.deref(next);
        }
        Some(found)
    }

    fn deref<'a>(&'a self, mut at: &'a Value) -> &'a Value {
        while let Some(Value::String(to)) = at.get("$ref") {
            let Some(target) = self.root.pointer(to.trim_start_matches('#')) else {
                break;
            };
            at = target;
        }
        at
    }

    /// The key that an unknown one was probably meant to be.
    pub fn meant(&self, path: &[String]) -> Option<String> {
        let mut meant: Vec<String> = Vec::new();
        for key in path {
            let table = self.find(&meant)?;
            let mut with = meant.clone();
            with.push(key.clone());
            let exact = self.find(&with).is_some();
            let name = match properties(table.schema) {
                _ if exact => Some(key.as_str()),
                Some(known) => nearest(key, known.keys()),
                None => None,
            };
            match name {
                Some(name) => meant.push(name.to_owned()),
                None => return self.elsewhere(path.last()?),
            }
        }
        Some(meant.join("."))
    }

    /// An option of this name in any section.
    fn elsewhere(&self, name: &String) -> Option<String> {
        let sections = properties(&self.root)?;
        sections.iter().find_map(|(section, schema)| {
            let known = properties(self.deref(schema))?;
            known
                .contains_key(name)
                .then(|| format!("{section}.{name}"))
        })
    }
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every option with its path, `NAME` for a name of the person's choosing.
    fn all(shape: &Shape) -> Vec<Vec<String>> {
        let mut tables = vec![Vec::new()];
        let mut options = Vec::new();
        while let Some(path) = tables.pop() {
            let found = shape.find(&path).unwrap();
            let known = properties(found.schema)
                .into_iter()
                .flat_map(|it| it.keys());
            let names: Vec<String> = match properties(found.schema) {
                Some(_) => known.cloned().collect(),
                None => vec!["NAME".to_owned()],
            };
            for name in names {
                let path = [&path[..], &[name]].concat();
                match shape.find(&path).unwrap().is_table() {
                    true => tables.push(path),
                    false => options.push(path),
                }
            }
        }
        options
    }

    #[test]
    fn what_a_repository_may_set_is_exactly_what_was_admitted() {
        let shape = Shape::get();
        let mut admitted: Vec<String> = all(shape)
            .into_iter()
            .map(|it| (shape.find(&it).unwrap().admitted, it.join(".")))
            .filter(|(admitted, _)| *admitted != Admitted::Person)
            .map(|(admitted, key)| format!("{key}: {admitted:?}"))
            .collect();
        admitted.sort();
        expect_test::expect![[r#"
            compaction.auto_enabled: Any
            compaction.auto_threshold_percent: Any
            compaction.auto_threshold_tokens: Any
            compaction.max_truncation_recoveries: Any
            compaction.provider_native: Any
            compaction.summary_max_tokens: Any
            compaction.tail_token_budget: Any
            compaction.tail_turns: Any
            compaction.threshold_percent_per_model.NAME: Any
            default_model.max_tokens: Any
            default_model.name: Any
            default_model.provider: Any
            default_model.reasoning: Any
            default_model.temperature: Any
            edits.save: Editor
            memory.enabled: Any
            memory.index_cap_bytes: Any
            model_aliases.NAME: Any
            ollama.num_ctx: Any
            ollama.num_gpu: Any
            ollama.num_thread: Any
            ollama_num_ctx_per_model.NAME: Any
            output.guidance: Any
            output.style: Any
            reasoning_per_model.NAME: Any
            safety.external_writes: Stricter
            safety.filesystem: Stricter
            safety.mode: Stricter
            safety.network: Stricter
            safety.system_installs: Stricter"#]]
        .assert_eq(&admitted.join("\n"));
    }

    #[test]
    fn what_may_only_become_stricter_is_one_of_few_and_its_strictest_comes_first() {
        let shape = Shape::get();
        for path in all(shape) {
            let found = shape.find(&path).unwrap();
            if found.admitted != Admitted::Stricter {
                continue;
            }
            let choices = found.choices();
            assert!(choices.len() > 1, "{path:?}");
            let strict = ["read_only", "deny", "project"];
            assert!(
                strict.contains(&choices[0]),
                "{path:?} begins with {}",
                choices[0]
            );
        }
    }
}
