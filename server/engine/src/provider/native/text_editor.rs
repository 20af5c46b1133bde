//! Rewrites calls of Anthropic's text editor, `text_editor_20250728` (spec 17.1).
//!
//! Its four commands become reading, writing and editing with our tools, which judge paths, folders and texts as they
//! always do. What it has not got, or what lacks a field, runs nothing: the answer says what there is.

use super::{Answer, Rewritten};
use serde_json::{Map, Value, json};

/// What is said of a call that cannot be done.
const SUPPORTED: &str = "Supported are view (path, and view_range of two line numbers for a part), create (path, file_text), \
     str_replace (path, old_str, and new_str unless the text is to be deleted) and insert (path, insert_line, insert_text)";

/// What a call becomes.
pub(super) fn rewrite(input: &str) -> Rewritten {
    match serde_json::from_str::<Map<String, Value>>(input) {
        Ok(fields) => command(&fields).unwrap_or_else(refused),
        Err(error) => refused(format!("The input is not a JSON object ({error})")),
    }
}

/// The call of ours, or what is wrong with this one.
fn command(fields: &Map<String, Value>) -> Result<Rewritten, String> {
    let command = text(fields, "command")?;
    let call = match command {
        "view" => {
            let mut arguments = json!({ "path": text(fields, "path")?, "line_numbers": true });
            if let Some(range) = view_range(fields)? {
                arguments["view_range"] = range;
            }
            Rewritten::Call("read_file", arguments)
        }
        "create" => Rewritten::Call(
            "write_file",
            json!({ "path": text(fields, "path")?, "content": text(fields, "file_text")? }),
        ),
        "str_replace" => {
            let new = match given(fields, "new_str") {
                None => "",
                Some(_) => text(fields, "new_str")?,
            };
            Rewritten::Call(
                "edit_file",
                json!({
                    "path": text(fields, "path")?,
                    "target_content": text(fields, "old_str")?,
                    "replacement_content": new,
                }),
            )
        }
        "insert" => {
            // Older descriptions of the tool call it new_str.
            let new = match given(fields, "insert_text") {
                None if given(fields, "new_str").is_some() => text(fields, "new_str")?,
                None | Some(_) => text(fields, "insert_text")?,
            };
            let line = given(fields, "insert_line").and_then(Value::as_u64);
            let line = line.filter(|it| u32::try_from(*it).is_ok());
            let line = line.ok_or("insert needs insert_line, a line number from 0 on")?;
            Rewritten::Call(
                "edit_file",
                json!({
                    "path": text(fields, "path")?,
                    "insert_line": line,
                    "replacement_content": new,
                }),
            )
        }
        other => return Err(format!("There is no command {other}")),
    };
    Ok(call)
}

/// A field that is there; models write null for one that is not.
fn given<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|it| !it.is_null())
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let found = given(fields, name).and_then(Value::as_str);
    found.ok_or_else(|| format!("The field {name} is missing or is no text"))
}

/// The lines to view, as `read_file` takes them.
fn view_range(fields: &Map<String, Value>) -> Result<Option<Value>, String> {
    let Some(range) = given(fields, "view_range") else {
        return Ok(None);
    };
    let is_pair = matches!(range.as_array().map(Vec::as_slice), Some([from, to]) if from.is_i64() && to.is_i64());
    match is_pair {
        true => Ok(Some(range.clone())),
        false => Err("view_range is not two line numbers, of which the last may be -1".to_owned()),
    }
}

fn refused(why: String) -> Rewritten {
    Rewritten::Answer(Answer {
        text: format!("{why}; nothing was done. {SUPPORTED}."),
        is_error: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(inputs: &[Value], expected: Expect) {
        let lines = inputs
            .iter()
            .map(|it| match rewrite(&it.to_string()) {
                Rewritten::Call(name, arguments) => format!("{name} {arguments}\n"),
                Rewritten::Answer(Answer { text, is_error }) => {
                    let why = text.split(';').next().unwrap_or_default();
                    format!("error {is_error}: {why}\n")
                }
            })
            .collect::<String>();
        expected.assert_eq(&lines);
    }

    #[test]
    fn each_command_becomes_a_call_of_ours() {
        check(
            &[
                json!({"command": "view", "path": "a.txt"}),
                json!({"command": "view", "path": "a.txt", "view_range": [2, -1]}),
                json!({"command": "view", "path": "a.txt", "view_range": null}),
                json!({"command": "create", "path": "a.txt", "file_text": "one\n"}),
                json!({"command": "str_replace", "path": "a.txt", "old_str": "one", "new_str": "1"}),
                json!({"command": "str_replace", "path": "a.txt", "old_str": "one"}),
                json!({"command": "insert", "path": "a.txt", "insert_line": 0, "insert_text": "top"}),
                json!({"command": "insert", "path": "a.txt", "insert_line": 3, "new_str": "old spelling"}),
            ],
            expect![[r#"
                read_file {"path":"a.txt","line_numbers":true}
                read_file {"path":"a.txt","line_numbers":true,"view_range":[2,-1]}
                read_file {"path":"a.txt","line_numbers":true}
                write_file {"path":"a.txt","content":"one\n"}
                edit_file {"path":"a.txt","target_content":"one","replacement_content":"1"}
                edit_file {"path":"a.txt","target_content":"one","replacement_content":""}
                edit_file {"path":"a.txt","insert_line":0,"replacement_content":"top"}
                edit_file {"path":"a.txt","insert_line":3,"replacement_content":"old spelling"}
            "#]],
        );
    }

    #[test]
    fn what_is_unknown_or_lacks_a_field_runs_nothing() {
        check(
            &[
                json!({"command": "undo_edit", "path": "a.txt"}),
                json!({"path": "a.txt"}),
                json!({"command": "view"}),
                json!({"command": "view", "path": "a.txt", "view_range": [1]}),
                json!({"command": "view", "path": "a.txt", "view_range": "1-2"}),
                json!({"command": "create", "path": "a.txt"}),
                json!({"command": "str_replace", "path": "a.txt", "new_str": "1"}),
                json!({"command": "str_replace", "path": "a.txt", "old_str": "1", "new_str": 2}),
                json!({"command": "insert", "path": "a.txt", "insert_text": "x"}),
                json!({"command": "insert", "path": "a.txt", "insert_line": -1, "insert_text": "x"}),
                json!({"command": "insert", "path": "a.txt", "insert_line": 1}),
                json!(["view"]),
            ],
            expect![[r#"
                error true: There is no command undo_edit
                error true: The field command is missing or is no text
                error true: The field path is missing or is no text
                error true: view_range is not two line numbers, of which the last may be -1
                error true: view_range is not two line numbers, of which the last may be -1
                error true: The field file_text is missing or is no text
                error true: The field old_str is missing or is no text
                error true: The field new_str is missing or is no text
                error true: insert needs insert_line, a line number from 0 on
                error true: insert needs insert_line, a line number from 0 on
                error true: The field insert_text is missing or is no text
                error true: The input is not a JSON object (invalid type: sequence, expected a map at line 1 column 0)
            "#]],
        );
        let Rewritten::Answer(Answer { text, .. }) = rewrite(r#"{"command":"#) else {
            panic!("it was made a call")
        };
        expect!["The input is not a JSON object (EOF while parsing a value at line 1 column 11); nothing was done. Supported are view (path, and view_range of two line numbers for a part), create (path, file_text), str_replace (path, old_str, and new_str unless the text is to be deleted) and insert (path, insert_line, insert_text)."].assert_eq(&text);
    }
}
