//! Applies one V4A diff a line, for `v4a.py`: a line of JSON in, a line of JSON out.

#![allow(clippy::print_stdout, reason = "this program answers on stdout")]

use std::io::{BufRead, Write};

use engine::text::patch::{self, FileKind};
use serde_json::{Value, json};

fn main() {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |key: &str| request[key].as_str().unwrap_or_default();
        let answer = match apply(text("text"), text("diff"), text("mode") == "create") {
            Ok(text) => json!({ "text": text }),
            Err(error) => json!({ "error": error }),
        };
        writeln!(out, "{answer}").unwrap();
    }
}

fn apply(text: &str, diff: &str, is_new: bool) -> Result<String, String> {
    let kind = match is_new {
        true => FileKind::Create,
        false => FileKind::Update,
    };
    let file = patch::v4a("file", kind, diff).map_err(|it| format!("unreadable: {it}"))?;
    if is_new {
        return Ok(file.content());
    }
    match patch::place(&file, text) {
        Ok(placed) => Ok(placed.changes.apply(text).unwrap()),
        Err(error) => {
            let why = format!("{:?}", error.failures[0].why);
            let kind = why.split([' ', '{']).next().unwrap_or_default();
            Err(format!("{kind}: {error}"))
        }
    }
}
