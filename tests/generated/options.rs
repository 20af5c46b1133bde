//! Every option of the configuration: the table in `README.md` and the settings of VS Code.

use protocol::config::Config;
use serde_json::{Map, Value, json};

/// What may come with a repository and set an option: its mark `x-repository`, in the words of a table.
fn may(mark: &str) -> &'static str {
    match mark {
        "any" => "yes",
        "editor" => "the editor's settings",
        "stricter" => "only stricter",
        "" => "no",
        other => panic!("x-repository = {other} is no mark"),
    }
}

/// One option, by its dotted key; `NAME` stands for a key that the person chooses.
struct Setting {
    key: String,
    schema: Value,
    default: Value,
    /// Its mark `x-repository`, or its section's; empty if there is none.
    mark: String,
    doc: String,
}

/// The README's table.
pub fn table() -> String {
    let mut out = String::from(
        "| option | type | default | a repository may set it | |\n|---|---|---|---|---|\n",
    );
    for option in options() {
        let default = match &option.default {
            Value::Null => String::new(),
            value => format!("`{value}`"),
        };
        out.push_str(&format!(
            "| `{}` | {} | {default} | {} | {} |\n",
            option.key,
            type_of(&option.schema),
            may(&option.mark),
            option.doc
        ));
    }
    out
}

/// `package.json` with the settings and the list of those that need a trusted folder brought up to
/// date. Settings under `undine.server.` belong to the extension itself and stay as they stand.
pub fn package_json(old: &str) -> String {
    let mut package: Value = serde_json::from_str(old).expect("package.json is JSON");
    let properties = package
        .pointer_mut("/contributes/configuration/properties")
        .and_then(Value::as_object_mut);
    let properties = properties.expect("package.json has contributes.configuration.properties");
    properties.retain(|key, _| key.starts_with("undine.server."));
    for (key, setting) in settings() {
        properties.insert(key, setting);
    }
    let restricted: Vec<Value> = properties
        .iter()
        .filter(|(_, setting)| setting["scope"] == "machine")
        .map(|(key, _)| Value::String(key.clone()))
        .collect();
    package["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] =
        Value::Array(restricted);
    serde_json::to_string_pretty(&package).unwrap() + "\n"
}

/// All options, in the order of their declaration.
fn options() -> Vec<Setting> {
    let schema = schemars::schema_for!(Config).to_value();
    let mut options = Vec::new();
    walk(&inlined(&schema, &schema), "", "", &mut options);
    options
}

fn walk(schema: &Value, prefix: &str, mark: &str, out: &mut Vec<Setting>) {
    for (name, option) in schema["properties"].as_object().into_iter().flatten() {
        let key = format!("{prefix}{name}");
        let mark = option["x-repository"].as_str().unwrap_or(mark);
        let entries = &option["additionalProperties"];
        if option["properties"].is_object() {
            walk(option, &format!("{key}."), mark, out);
        } else if entries["properties"].is_object() {
            walk(entries, &format!("{key}.NAME."), mark, out);
        } else {
            out.push(Setting {
                key,
                default: option["default"].clone(),
                mark: mark.to_owned(),
                // A row is one line.
                doc: option["description"]
                    .as_str()
                    .unwrap_or_default()
                    .replace('\n', " "),
                schema: option.clone(),
            });
        }
    }
}

/// A setting for each option; a table with keys of the person's choosing is one setting.
fn settings() -> Vec<(String, Value)> {
    let mut settings: Vec<(String, Value)> = Vec::new();
    let schema = schemars::schema_for!(Config).to_value();
    let schema = inlined(&schema, &schema);
    for option in options() {
        let (key, found) = match option.key.split_once(".NAME.") {
            Some((map, _)) => (
                map.to_owned(),
                schema.pointer(&format!("/properties/{}", map.replace('.', "/properties/"))),
            ),
            None => (option.key.clone(), Some(&option.schema)),
        };
        let key = format!("undine.{key}");
        if settings.iter().any(|(it, _)| *it == key) {
            continue;
        }
        let mut setting = setting(found.expect("the option was found there"));
        // The extension vouches for what it sends, so what a workspace must not set is the machine's.
        if matches!(option.mark.as_str(), "" | "stricter") {
            setting["scope"] = json!("machine");
        }
        settings.push((key, setting));
    }
    settings
}

/// What VS Code's settings editor understands of an option's schema.
fn setting(schema: &Value) -> Value {
    let mut out = Map::new();
    if let Some(doc) = schema["description"].as_str() {
        out.insert("markdownDescription".to_owned(), json!(doc));
    }
    let choices = |key: &str| -> Vec<Value> {
        schema["oneOf"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| it.get(key).cloned())
            .collect()
    };
    if choices("const").is_empty() {
        for key in ["type", "minimum", "items", "additionalProperties"] {
            if let Some(value) = schema.get(key) {
                out.insert(
                    key.to_owned(),
                    if key == "additionalProperties" || key == "items" {
                        entry(value)
                    } else {
                        value.clone()
                    },
                );
            }
        }
    } else {
        out.insert("type".to_owned(), json!("string"));
        out.insert("enum".to_owned(), Value::Array(choices("const")));
        out.insert(
            "enumDescriptions".to_owned(),
            Value::Array(choices("description")),
        );
    }
    if let Some(default) = schema.get("default") {
        out.insert("default".to_owned(), default.clone());
    }
    Value::Object(out)
}

/// The schema of one entry of a table. Typos in its keys are named by the editor already.
fn entry(schema: &Value) -> Value {
    let Some(properties) = schema["properties"].as_object() else {
        return schema.clone();
    };
    let properties: Map<String, Value> = properties
        .iter()
        .map(|(key, schema)| {
            let mut schema = schema.clone();
            if let Value::Object(fields) = &mut schema {
                fields.remove("default");
                fields.remove("format");
            }
            (key.clone(), schema)
        })
        .collect();
    let mut entry =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if let Some(required) = schema.get("required") {
        entry["required"] = required.clone();
    }
    entry
}

/// A schema with what it refers to in place of the references; what stands beside one wins.
fn inlined(root: &Value, schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let target = fields
                .get("$ref")
                .and_then(Value::as_str)
                .map(|it| it.trim_start_matches('#'));
            let mut out = match target
                .and_then(|it| root.pointer(it))
                .map(|it| inlined(root, it))
            {
                Some(Value::Object(target)) => target,
                _ => Map::new(),
            };
            for (key, value) in fields {
                if key != "$ref" && key != "$defs" {
                    out.insert(key.clone(), inlined(root, value));
                }
            }
            Value::Object(out)
        }
        Value::Array(items) => Value::Array(items.iter().map(|it| inlined(root, it)).collect()),
        other => other.clone(),
    }
}

fn type_of(schema: &Value) -> String {
    if let Some(choices) = schema["oneOf"].as_array() {
        let names: Vec<String> = choices
            .iter()
            .map(|it| format!("`{}`", it["const"].as_str().unwrap_or_default()))
            .collect();
        return names.join(", ");
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        return type_of(&choices[0]);
    }
    let name = match &schema["type"] {
        Value::Array(names) => names[0].clone(),
        name => name.clone(),
    };
    match name.as_str() {
        Some("object") => "table".to_owned(),
        Some(name) => name.to_owned(),
        None => "any".to_owned(),
    }
}
