//! A `config.toml` to begin with: every option with its documentation and its default, none of them set.

use serde_json::Value;
use std::fmt::Write;

/// The schema's file, beside `config.toml`.
pub(super) const SCHEMA_FILE: &str = "config.schema.json";

/// The characters of a line of documentation.
const WIDTH: usize = 100;

/// The file's text, from the options' schema.
pub(super) fn config_toml(schema: &Value) -> String {
    let mut out = format!(
        "#:schema ./{SCHEMA_FILE}\n\
         # Undine's options. A line counts without its `#`; what is not set is as shown.\n\
         # `undine config` shows what counts, and why.\n"
    );
    let sections = schema["properties"].as_object().into_iter().flatten();
    for (name, section) in sections {
        let section = &deref(schema, section);
        let doc = schema["properties"][name]["description"]
            .as_str()
            .unwrap_or_default();
        out.push('\n');
        comment(&mut out, doc);
        if section["properties"].is_object() {
            line(&mut out, &format!("[{name}]"));
            options(&mut out, schema, section);
        } else if name == "profiles" {
            line(&mut out, "# [profiles.careful.safety]");
            line(&mut out, "# mode = \"read_only\"");
        } else if section["type"] == "array" {
            // An example, which stays one when the line before it counts.
            let mut rows = String::new();
            let each = deref(schema, &section["items"]);
            line(&mut rows, &format!("[[{name}]]"));
            options(&mut rows, schema, &each);
            rows.lines().for_each(|it| match it.starts_with("##") {
                true => line(&mut out, it),
                false => line(&mut out, &format!("# # {}", it.trim_start_matches("# "))),
            });
        } else {
            let each = deref(schema, &section["additionalProperties"]);
            if each["properties"].is_object() {
                line(&mut out, &format!("# [{name}.NAME]"));
                options(&mut out, schema, &each);
            } else {
                line(&mut out, &format!("[{name}]"));
                let choices = choices(schema, &section["additionalProperties"]);
                if !choices.is_empty() {
                    comment(&mut out, &format!("One of {}.", choices.join(", ")));
                }
                line(&mut out, "# \"NAME\" = … (not set)");
            }
        }
    }
    out
}

fn options(out: &mut String, root: &Value, section: &Value) {
    let all = section["properties"].as_object().into_iter().flatten();
    for (name, option) in all {
        comment(out, option["description"].as_str().unwrap_or_default());
        let choices = choices(root, option);
        if !choices.is_empty() {
            comment(out, &format!("One of {}.", choices.join(", ")));
        }
        let value = match option.get("default") {
            None | Some(Value::Null) => "… (not set)".to_owned(),
            // What JSON writes of texts, numbers, truth values and empty arrays is TOML too.
            Some(Value::Object(_)) => "{}".to_owned(),
            Some(value) => value.to_string(),
        };
        line(out, &format!("# {name} = {value}"));
    }
}

fn choices(root: &Value, option: &Value) -> Vec<String> {
    let option = match option["anyOf"].as_array() {
        Some(either) => &either[0],
        None => option,
    };
    let option = deref(root, option);
    let all = option["oneOf"].as_array().into_iter().flatten();
    let names = all.filter_map(|it| it["const"].as_str());
    names.map(|it| format!("\"{it}\"")).collect()
}

/// What a schema refers to, if it refers to something.
fn deref(root: &Value, schema: &Value) -> Value {
    let target = schema["$ref"].as_str().filter(|it| *it != "#");
    let target = target.and_then(|it| root.pointer(it.trim_start_matches('#')));
    target.unwrap_or(schema).clone()
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// A comment in lines that can be read.
fn comment(out: &mut String, text: &str) {
    let mut row = String::from("##");
    for word in text.split_whitespace() {
        if row.len() + 1 + word.len() > WIDTH && row.len() > 2 {
            line(out, &row);
            row = String::from("##");
        }
        row.push(' ');
        row.push_str(word);
    }
    if row.len() > 2 {
        line(out, &row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::config::{Layer, Origin, resolve};
    use protocol::config::{Config, schema};

    /// Each option's line without its `#`, and the headers of tables.
    fn switched_on(text: &str) -> String {
        let lines = text.lines().filter(|it| !it.starts_with("##"));
        let on = lines.map(|it| it.strip_prefix("# ").unwrap_or(it));
        let set = on.filter(|it| (it.contains(" = ") && !it.contains('…')) || it.starts_with('['));
        set.map(|it| it.to_owned() + "\n").collect()
    }

    #[test]
    fn it_says_nothing_until_a_line_is_switched_on() {
        let value = toml::from_str(&config_toml(&schema())).unwrap();
        let resolved = resolve(&[Layer::new(Origin::UserFile, value)]);
        assert_eq!(resolved.problems, []);
        assert_eq!(resolved.origins.len(), 0);
    }

    #[test]
    fn each_line_that_is_switched_on_is_the_default() {
        let text = config_toml(&schema());
        let value: Value = toml::from_str(&switched_on(&text)).unwrap();
        let mut layer = Layer::new(Origin::UserFile, value);
        layer.value.as_object_mut().unwrap().remove("providers");
        let resolved = resolve(&[layer]);
        assert_eq!(resolved.problems, []);
        assert_eq!(resolved.config, Config::default());
        assert!(resolved.origins.len() > 30, "{}", resolved.origins.len());
        for key in ["auto_classifier_model", "rules", "extra_headers", "kind"] {
            assert!(text.contains(&format!("\n# {key} = ")), "{key}");
        }
    }
}
