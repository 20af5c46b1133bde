//! Rewrites calls of Anthropic's bash, `bash_20250124` (spec 17.1).
//!
//! It promises one shell that lives on, and ours are each a fresh one; so a restart has nothing to do.

use super::{Answer, Rewritten};
use serde_json::{Map, Value, json};

/// The longest foreground time-out of `execute_command`, seconds: the call has no field for one.
const TIMEOUT_SECS: u32 = 300;

/// What a call becomes.
pub(super) fn rewrite(input: &str) -> Rewritten {
    let fields = match serde_json::from_str::<Map<String, Value>>(input) {
        Ok(fields) => fields,
        Err(error) => return refused(&format!("The input is not a JSON object ({error})")),
    };
    let command = fields.get("command").filter(|it| !it.is_null());
    match command.map(|it| it.as_str()) {
        // Every shell is fresh, so this is a restart as well, if one is asked for.
        Some(Some(command)) if !command.trim().is_empty() => Rewritten::Call(
            "execute_command",
            json!({ "command": command, "timeout": TIMEOUT_SECS }),
        ),
        Some(None) => refused("The field command is no text"),
        Some(Some(_)) | None if fields.get("restart") == Some(&Value::Bool(true)) => {
            Rewritten::Answer(Answer {
                text: "There is nothing to restart: each command runs in a fresh shell, in the project's folder."
                    .to_owned(),
                is_error: false,
            })
        }
        Some(Some(_)) | None => refused("The field command is missing"),
    }
}

fn refused(why: &str) -> Rewritten {
    Rewritten::Answer(Answer {
        text: format!("{why}; nothing was run. Supported are command and restart (true)."),
        is_error: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_command_runs_for_the_longest_time_and_a_restart_is_harmless() {
        let inputs = [
            r#"{"command": "make test"}"#,
            r#"{"command": "make test", "restart": true}"#,
            r#"{"restart": true}"#,
            r#"{"command": null, "restart": true}"#,
            r#"{"restart": false}"#,
            r#"{"command": " "}"#,
            r#"{"command": ["ls"]}"#,
            r#"{}"#,
            r#"{"command": "rm"#,
        ];
        let lines: String = inputs
            .iter()
            .map(|it| format!("{:?}\n", rewrite(it)))
            .collect();
        expect![[r#"
            Call("execute_command", Object {"command": String("make test"), "timeout": Number(300)})
            Call("execute_command", Object {"command": String("make test"), "timeout": Number(300)})
            Answer(Answer { text: "There is nothing to restart: each command runs in a fresh shell, in the project's folder.", is_error: false })
            Answer(Answer { text: "There is nothing to restart: each command runs in a fresh shell, in the project's folder.", is_error: false })
            Answer(Answer { text: "The field command is missing; nothing was run. Supported are command and restart (true).", is_error: true })
            Answer(Answer { text: "The field command is missing; nothing was run. Supported are command and restart (true).", is_error: true })
            Answer(Answer { text: "The field command is no text; nothing was run. Supported are command and restart (true).", is_error: true })
            Answer(Answer { text: "The field command is missing; nothing was run. Supported are command and restart (true).", is_error: true })
            Answer(Answer { text: "The input is not a JSON object (EOF while parsing a string at line 1 column 15); nothing was run. Supported are command and restart (true).", is_error: true })
        "#]]
        .assert_eq(&lines);
    }
}
