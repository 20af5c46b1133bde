//! Hooks: programs that hear of what the agent does, and may refuse or change a call before it is judged (spec 21.5).
//!
//! Pure: which hooks hear of what, what they are told, and what their answers mean. They are run by the host. An answer
//! that cannot be used lets the call go on as it was, with a warning: it is still judged as any other.

use crate::text::visible_line;
use protocol::config::{Hook, HookEvent};
use serde_json::{Map, Value, json};

/// The most characters of a reason or a context that the model is told.
const MOST: usize = 8 * 1024;

/// What happened, as a hook is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened<'a> {
    BeforeToolUse {
        tool: &'a str,
        input: &'a Value,
    },
    AfterToolUse {
        tool: &'a str,
        input: &'a Value,
        is_error: bool,
        text: &'a str,
    },
    Prompt {
        text: &'a str,
    },
    TurnEnd {
        reason: &'a str,
    },
}

impl Happened<'_> {
    fn event(&self) -> (HookEvent, &'static str) {
        match self {
            Self::BeforeToolUse { .. } => (HookEvent::BeforeToolUse, "before_tool_use"),
            Self::AfterToolUse { .. } => (HookEvent::AfterToolUse, "after_tool_use"),
            Self::Prompt { .. } => (HookEvent::Prompt, "prompt"),
            Self::TurnEnd { .. } => (HookEvent::TurnEnd, "turn_end"),
        }
    }

    /// Whether a hook hears of it.
    pub fn is_for(&self, hook: &Hook) -> bool {
        let tool = match self {
            Self::BeforeToolUse { tool, .. } | Self::AfterToolUse { tool, .. } => Some(*tool),
            Self::Prompt { .. } | Self::TurnEnd { .. } => None,
        };
        let fits = match (tool, &hook.tool) {
            (Some(tool), Some(pattern)) => fits(pattern, tool),
            (Some(_) | None, _) => true,
        };
        hook.event == self.event().0 && fits && !hook.command.trim().is_empty()
    }

    /// What comes on its stdin.
    pub fn told(&self, session: &str, folder: &str) -> Value {
        let mut told =
            json!({"hook_event_name": self.event().1, "session_id": session, "cwd": folder});
        let more = match self {
            Self::BeforeToolUse { tool, input } => json!({"tool_name": tool, "tool_input": input}),
            Self::AfterToolUse {
                tool,
                input,
                is_error,
                text,
            } => json!({
                "tool_name": tool,
                "tool_input": input,
                "tool_response": {"is_error": is_error, "text": text},
            }),
            Self::Prompt { text } => json!({"prompt": text}),
            Self::TurnEnd { reason } => json!({"stop_reason": reason}),
        };
        if let (Value::Object(told), Value::Object(more)) = (&mut told, more) {
            told.extend(more);
        }
        told
    }
}

/// How a hook's program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Exited(i32),
    /// Its time was over, after so many seconds.
    TimedOut(u64),
    /// It was killed, or did not start; why, as the end of a sentence.
    Failed(String),
}

/// What a hook says of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The call is refused; why, for the model.
    Deny(String),
    Go {
        /// Other arguments for the call.
        input: Option<Map<String, Value>>,
        /// For the model, beside the call's result.
        context: Option<String>,
    },
}

impl Answer {
    const NOTHING: Self = Self::Go {
        input: None,
        context: None,
    };

    /// What the end of a hook means, and what the person is to be warned of. `out` and `errors` are what it wrote.
    pub fn read(ended: &Ended, out: &str, errors: &str) -> (Self, Option<String>) {
        let why = match ended {
            Ended::Exited(0) => return Self::of_output(out),
            Ended::Exited(2) => {
                let reason = match errors.trim() {
                    "" => "it gave no reason",
                    said => said,
                };
                return (Self::Deny(cut(reason)), None);
            }
            Ended::Exited(code) => {
                let said = visible_line(errors.trim(), 200);
                let said = if said.is_empty() {
                    said
                } else {
                    format!(": {said}")
                };
                format!("ended with exit code {code}{said}")
            }
            Ended::TimedOut(secs) => format!("took longer than {secs} s and was ended"),
            Ended::Failed(why) => why.clone(),
        };
        (Self::NOTHING, Some(why))
    }

    fn of_output(out: &str) -> (Self, Option<String>) {
        let out = out.trim();
        if out.is_empty() {
            return (Self::NOTHING, None);
        }
        let Ok(Value::Object(all)) = serde_json::from_str::<Value>(out) else {
            let why = "said something that is no JSON object";
            return (Self::NOTHING, Some(why.to_owned()));
        };
        // As other agents' hooks write it, one level further in.
        let inner = all.get("hookSpecificOutput").and_then(Value::as_object);
        let value = |key: &str| inner.and_then(|it| it.get(key)).or_else(|| all.get(key));
        let text = |key: &str| value(key).and_then(Value::as_str);
        let decision = text("permissionDecision").or_else(|| text("decision"));
        if matches!(decision, Some("deny" | "block")) {
            let reason = text("permissionDecisionReason").or_else(|| text("reason"));
            return (Self::Deny(cut(reason.unwrap_or("it gave no reason"))), None);
        }
        let context = text("additionalContext")
            .map(str::trim)
            .filter(|it| !it.is_empty());
        let context = context.map(cut);
        match value("updatedInput") {
            None | Some(Value::Null) => (
                Self::Go {
                    input: None,
                    context,
                },
                None,
            ),
            Some(Value::Object(input)) => {
                let input = Some(input.clone());
                (Self::Go { input, context }, None)
            }
            Some(_) => {
                let why = "gave an updatedInput that is no JSON object";
                (
                    Self::Go {
                        input: None,
                        context,
                    },
                    Some(why.to_owned()),
                )
            }
        }
    }
}

/// What the model is told of a call that a hook refused.
pub fn refusal(reason: &str) -> String {
    format!("Refused by a hook of the person's; nothing was done: {reason}")
}

/// Whether a name fits a pattern, in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

fn cut(text: &str) -> String {
    let text = text.trim();
    let end = text.floor_char_boundary(MOST);
    match end == text.len() {
        true => text.to_owned(),
        false => format!("{} [cut]", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: i32, out: &str, errors: &str) -> (Answer, Option<String>) {
        Answer::read(&Ended::Exited(code), out, errors)
    }

    fn go(input: Value, context: Option<&str>) -> Answer {
        Answer::Go {
            input: input.as_object().cloned(),
            context: context.map(str::to_owned),
        }
    }

    #[test]
    fn a_hook_denies_by_its_exit_code_or_by_its_answer() {
        let deny = |it: &str| (Answer::Deny(it.to_owned()), None);
        assert_eq!(read(2, "{}", "not here\n"), deny("not here"));
        assert_eq!(read(2, "", ""), deny("it gave no reason"));
        assert_eq!(
            read(0, r#"{"decision": "deny", "reason": "no"}"#, ""),
            deny("no")
        );
        let nested = r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}"#;
        assert_eq!(read(0, nested, ""), deny("no"));
    }

    #[test]
    fn a_hook_changes_the_arguments_and_tells_the_model() {
        let said = r#"{"updatedInput": {"command": "ls"}, "additionalContext": " so \n"}"#;
        assert_eq!(
            read(0, said, ""),
            (go(json!({"command": "ls"}), Some("so")), None)
        );
        assert_eq!(read(0, " \n", "words"), (Answer::NOTHING, None));
        // It loosens nothing.
        assert_eq!(
            read(0, r#"{"decision": "allow"}"#, ""),
            (Answer::NOTHING, None)
        );
    }

    #[test]
    fn what_cannot_be_used_lets_the_call_go_on_with_a_warning() {
        for (code, out) in [
            (1, ""),
            (127, "{}"),
            (0, "hello"),
            (0, "[1]"),
            (0, r#"{"updatedInput": "ls"}"#),
        ] {
            let (answer, warning) = read(code, out, "");
            assert_eq!(answer, Answer::NOTHING, "{code} {out}");
            assert!(warning.is_some(), "{code} {out}");
        }
        let (answer, warning) = Answer::read(&Ended::TimedOut(30), r#"{"decision": "deny"}"#, "");
        assert_eq!(answer, Answer::NOTHING);
        assert_eq!(
            warning.as_deref(),
            Some("took longer than 30 s and was ended")
        );
    }

    #[test]
    fn a_hook_hears_of_the_tools_that_its_pattern_fits() {
        for (pattern, name, expected) in [
            ("*", "edit_file", true),
            ("edit_file", "edit_file", true),
            ("edit", "edit_file", false),
            ("*_file", "edit_file", true),
            ("e*t*f*e", "edit_file", true),
            ("*x*", "edit_file", false),
            ("a*a", "a", false),
            ("", "edit_file", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
