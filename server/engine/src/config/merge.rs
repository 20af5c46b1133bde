//! Puts one layer over what the weaker ones said.

use super::shape::{Admitted, Found, Shape};
use super::{Layer, Origin, PROFILES, Problem, Removed, Resolved};
use protocol::config::Config;
use serde_json::{Map, Value};

pub(super) struct Merge<'a> {
    shape: &'static Shape,
    removed: &'a [Removed],
    value: Value,
    pub resolved: Resolved,
}

impl<'a> Merge<'a> {
    pub fn new(removed: &'a [Removed]) -> Self {
        Self {
            shape: Shape::get(),
            removed,
            // The defaults are always JSON.
            value: serde_json::to_value(Config::default()).unwrap_or_default(),
            resolved: Resolved::default(),
        }
    }

    pub fn layer(&mut self, layer: &Layer) {
        if let Some(path) = &layer.path {
            self.resolved.paths.insert(layer.origin, path.clone());
        }
        match &layer.value {
            Value::Object(table) => self.table(layer, &mut Vec::new(), table),
            // Neovim sends an empty table as an array.
            Value::Null => {}
            Value::Array(items) if items.is_empty() => {}
            Value::Array(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.problem(layer, "is not a table; it is ignored".to_owned());
            }
        }
    }

    fn table(&mut self, layer: &Layer, path: &mut Vec<String>, table: &Map<String, Value>) {
        for (key, value) in table {
            if path.is_empty() && key == PROFILES {
                self.profiles(layer);
                continue;
            }
            path.push(key.clone());
            let is_table = self.shape.find(path).is_some_and(|it| it.is_table());
            match value {
                _ if self.was_removed(layer, path) => {}
                // One without anything says nothing.
                Value::Object(inner) if is_table && inner.is_empty() => {}
                Value::Object(inner) if !inner.is_empty() => self.table(layer, path, inner),
                leaf => self.option(layer, path, leaf),
            }
            path.pop();
        }
    }

    /// Profiles are chosen from the user's file, before layers are merged.
    fn profiles(&mut self, layer: &Layer) {
        if layer.origin != Origin::UserFile {
            let text = "has profiles, which only the user's config.toml can have; they are ignored";
            self.problem(layer, text.to_owned());
        }
    }

    fn option(&mut self, layer: &Layer, path: &[String], value: &Value) {
        let key = path.join(".");
        let Some(found) = self.shape.find(path) else {
            let meant = match self.shape.meant(path) {
                Some(meant) => format!(" (is {meant} meant?)"),
                None => String::new(),
            };
            let text = format!("has the unknown option {key}{meant}; it is ignored");
            return self.problem(layer, text);
        };
        if let Some(text) = self.refused(layer, path, &found, value) {
            return self.problem(layer, text);
        }
        let wanted = found.wanted();
        // A list of values would be read as a table's fields in their order.
        if found.is_table() {
            return self.problem(layer, bad(&key, &wanted));
        }
        if self.take(layer, path, value.clone()) {
            return;
        }
        match value {
            Value::Array(items) => self.items(layer, path, items),
            _ => self.problem(layer, bad(&key, &wanted)),
        }
    }

    /// An array with something bad in it: the rest of it counts.
    fn items(&mut self, layer: &Layer, path: &[String], items: &[Value]) {
        let key = path.join(".");
        let mut good = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match self.read(path, Value::Array(vec![item.clone()])) {
                Some(_) => good.push(item.clone()),
                None => {
                    let text = format!(
                        "has a bad value as number {} of {key}; it is ignored",
                        at + 1
                    );
                    self.problem(layer, text);
                }
            }
        }
        if !good.is_empty() {
            self.take(layer, path, Value::Array(good));
        }
    }

    /// Sets an option; whether its value was good.
    fn take(&mut self, layer: &Layer, path: &[String], value: Value) -> bool {
        let Some((value, config)) = self.read(path, value) else {
            return false;
        };
        self.value = value;
        self.resolved.config = config;
        self.resolved.origins.insert(path.join("."), layer.origin);
        true
    }

    /// What there would be with a value.
    fn read(&self, path: &[String], value: Value) -> Option<(Value, Config)> {
        let mut candidate = self.value.clone();
        set(&mut candidate, path, value);
        let config = serde_json::from_value(candidate.clone()).ok()?;
        Some((candidate, config))
    }

    /// Why a layer may not set an option to this, if it may not.
    fn refused(
        &self,
        layer: &Layer,
        path: &[String],
        found: &Found<'_>,
        value: &Value,
    ) -> Option<String> {
        if layer.trusted {
            return None;
        }
        let key = path.join(".");
        let never = match found.admitted {
            Admitted::Any => return None,
            Admitted::Editor if layer.origin == Origin::Editor => return None,
            Admitted::Editor | Admitted::Person => true,
            Admitted::Stricter => false,
        };
        if never {
            return Some(format!(
                "may not set {key}, because it can come with a repository; set it in the user's config.toml"
            ));
        }
        let now = at(&self.value, path);
        match found.is_as_strict(value, now) {
            true => None,
            false => Some(format!(
                "may only make {key} stricter than {}, because it can come with a repository; set it in the user's config.toml",
                now.as_str().unwrap_or("it is")
            )),
        }
    }

    fn was_removed(&mut self, layer: &Layer, path: &[String]) -> bool {
        let key = path.join(".");
        let Some(removed) = self.removed.iter().find(|it| it.key == key) else {
            return false;
        };
        let instead = match removed.instead {
            Some(instead) => format!("; {instead}"),
            None => String::new(),
        };
        let clean = match layer.origin {
            Origin::UserFile | Origin::Profile => ". `undine clean-config` takes it out",
            Origin::ProjectFile | Origin::Editor | Origin::Setting | Origin::Flag => "",
        };
        let release = removed.release;
        let text = format!("has the option {key}, which release {release} removed{instead}{clean}");
        self.problem(layer, text);
        true
    }

    fn problem(&mut self, layer: &Layer, text: String) {
        let who = capitalised(layer.origin);
        let text = match layer.origin {
            Origin::Editor => plural(&text),
            Origin::UserFile
            | Origin::Profile
            | Origin::ProjectFile
            | Origin::Setting
            | Origin::Flag => text,
        };
        self.resolved.problems.push(Problem {
            origin: layer.origin,
            text: format!("{who} {text}."),
        });
    }
}

/// "The editor's settings" are many.
fn plural(text: &str) -> String {
    match text.split_once(' ') {
        Some(("has", rest)) => format!("have {rest}"),
        Some(("is", rest)) => format!("are {rest}"),
        _ => text.to_owned(),
    }
}

fn bad(key: &str, wanted: &str) -> String {
    format!("has a bad value for {key} ({wanted}); it is ignored")
}

fn capitalised(origin: Origin) -> String {
    let text = origin.to_string();
    let mut chars = text.chars();
    chars
        .next()
        .map(|it| it.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

fn at<'a>(root: &'a Value, path: &[String]) -> &'a Value {
    path.iter().fold(root, |at, key| &at[key.as_str()])
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
