//! A session as Markdown, for a person to read. Its log has no secrets in it; what is not in the log yet may.

use engine::redact::redact_string;
use engine::session::{CallChange, CallContent, CallStatus, Update};
use engine::text::visible;
use protocol::session::CallId;
use protocol::tool::Outcome;
use std::collections::HashMap;

/// Lines of a call's result that are shown.
const MOST_LINES: usize = 60;

pub(in crate::handlers) fn markdown(updates: &[Update]) -> String {
    let mut text = String::new();
    let mut speaker = "";
    let mut tools: HashMap<CallId, &str> = HashMap::new();
    for update in updates {
        let (by, part) = match update {
            Update::User(it) => ("You", it.trim_end().to_owned()),
            Update::UserPicture(it) => ("You", it.to_string()),
            Update::Text(it) => ("Undine", it.trim_matches('\n').trim_end().to_owned()),
            Update::Thought(it) => ("Undine", quoted(it)),
            Update::Call { call, tool, .. } => {
                tools.insert(*call, tool);
                continue;
            }
            Update::CallChanged(call, change) => {
                let tool = tools.get(call).copied().unwrap_or("a tool");
                match called(tool, change) {
                    Some(part) => ("Undine", part),
                    None => continue,
                }
            }
            Update::Notice(it) => ("Undine", format!("*{it}*")),
            Update::Mode(_) | Update::Usage(_) | Update::Checklist(_) | Update::Retrying(_) => {
                continue;
            }
        };
        if by != speaker {
            text.push_str(&format!("## {by}\n\n"));
            speaker = by;
        }
        text.push_str(&part);
        text.push_str("\n\n");
    }
    redact_string(&mut text);
    text
}

fn quoted(thought: &str) -> String {
    let lines: Vec<String> = thought
        .trim_end()
        .lines()
        .map(|it| format!("> {it}"))
        .collect();
    lines.join("\n")
}

/// A call that has ended.
fn called(tool: &str, change: &CallChange) -> Option<String> {
    let outcome = match change.status? {
        CallStatus::Waiting | CallStatus::Running => return None,
        CallStatus::Done(Outcome::Success) => "",
        CallStatus::Done(Outcome::Error) => " (failed)",
        CallStatus::Done(Outcome::Cancelled) => " (cancelled)",
    };
    let title = change.title.as_deref().unwrap_or(tool);
    let title = visible(title.lines().next().unwrap_or_default());
    let mut part = format!("- `{}`{outcome}", title.replace('`', "'"));
    for it in &change.content {
        match it {
            CallContent::Text(it) if !it.trim().is_empty() => {
                part.push_str("\n\n");
                part.push_str(&fenced(it));
            }
            // The text beside a picture says what it is.
            CallContent::Text(_) | CallContent::Image(_) | CallContent::Preview(_) => {}
        }
    }
    Some(part)
}

/// A block that its own content can't end.
fn fenced(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let mut lines = text.trim_end().lines();
    let shown: Vec<&str> = lines.by_ref().take(MOST_LINES).collect();
    let more = match lines.count() {
        0 => String::new(),
        n => format!("\n... {n} more lines"),
    };
    format!("{fence}text\n{}{more}\n{fence}", visible(&shown.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_transcript_has_who_said_what_and_what_was_done() {
        let done = |outcome, title: &str, text: &str| CallChange {
            status: Some(CallStatus::Done(outcome)),
            title: Some(title.to_owned()),
            content: vec![CallContent::Text(text.to_owned())],
            ..CallChange::default()
        };
        let call = |n| Update::Call {
            call: CallId(n),
            tool: "run_command".to_owned(),
            arguments: serde_json::Value::Null,
        };
        let updates = [
            Update::User("tidy up\nplease\n".to_owned()),
            Update::Thought("first\nthen".to_owned()),
            Update::Text("I look.".to_owned()),
            call(1),
            call(2),
            Update::CallChanged(CallId(1), done(Outcome::Success, "Run `ls`", "a\n```\nb\n")),
            Update::CallChanged(CallId(2), done(Outcome::Error, "Run rm", "")),
            Update::User("thanks".to_owned()),
        ];
        expect![[r#"
            ## You

            tidy up
            please

            ## Undine

            > first
            > then

            I look.

            - `Run 'ls'`

            ````text
            a
            ```
            b
            ````

            - `Run rm` (failed)

            ## You

            thanks

        "#]]
        .assert_eq(&markdown(&updates));
    }
}
