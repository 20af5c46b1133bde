//! What of a session is kept on the disk.
//!
//! A log is read by people and by the model of a resumed session; nothing in it is executed. So all of its texts are
//! redacted. Hashes and paths stay: by them it is found out how far an edit came.

use super::{redact, redact_json, redact_string, redact_strings};
use protocol::approval::Rule;
use protocol::checklist::Task;
use protocol::record::{EndReason, Record};
use serde_json::Value;
use std::borrow::Cow;

/// Redacts a fact before it is written.
pub fn redact_record(record: &mut Record) {
    match record {
        Record::User { text, .. } | Record::Told { text, .. } => redact_string(text),
        Record::Title { title } => redact_string(title),
        Record::Compacted { summary, .. } => redact_string(summary),
        Record::Checklist { tasks } => tasks.iter_mut().for_each(redact_task),
        Record::Goal { goal } => {
            if let Some(goal) = goal {
                redact_string(&mut goal.condition);
                redact_option(&mut goal.paused);
            }
        }
        Record::Assistant {
            text, thought, raw, ..
        } => {
            redact_string(text);
            redact_string(thought);
            if let Some(raw) = raw {
                redact_strings(raw);
            }
        }
        Record::Call {
            arguments, native, ..
        } => {
            redact_arguments(arguments);
            if let Some(native) = native {
                redact_arguments(&mut native.input);
            }
        }
        Record::Decision { note, rule, .. } => {
            redact_option(note);
            redact_rule(rule);
        }
        Record::Remembered { rule } => redact_rule(rule),
        Record::Result {
            text, shown, title, ..
        } => {
            redact_string(text);
            redact_option(shown);
            redact_option(title);
        }
        Record::Command { text, answer } => {
            redact_string(text);
            redact_string(answer);
        }
        Record::Replayed {
            arguments,
            text,
            shown,
            title,
            ..
        } => {
            redact_json(arguments);
            redact_string(text);
            redact_option(shown);
            redact_string(title);
        }
        Record::Ended { reason, .. } => match reason {
            EndReason::Failed { message } => redact_string(message),
            EndReason::Done | EndReason::MaxTokens | EndReason::Refusal | EndReason::Cancelled => {}
        },
        Record::Classified { reason, .. } => redact_option(reason),
        // What it forgets was masked, and so not kept, if it holds a secret.
        Record::Forgot { rule } => {
            if let Rule::Run { command, .. } = rule {
                redact_string(command);
            }
        }
        Record::Started { .. }
        | Record::Forked { .. }
        | Record::Style { .. }
        | Record::Void { .. }
        | Record::Unsigned { .. }
        | Record::Edit { .. }
        | Record::Mode { .. }
        | Record::Model { .. }
        | Record::Reasoning { .. }
        | Record::Usage { .. }
        // Made of records that were redacted.
        | Record::Carried(_) => {}
    }
}

/// A rule that allowed a masked command would allow another than was asked for: it is asked for again.
fn redact_rule(rule: &mut Option<Rule>) {
    if rule.as_ref().is_some_and(holds_secret) {
        *rule = None;
    }
}

/// Whether a rule cannot be written down.
pub fn holds_secret(rule: &Rule) -> bool {
    match rule {
        Rule::Run { command, .. } => matches!(redact(command), Cow::Owned(_)),
        Rule::EditProject | Rule::ExternalFolder { .. } => false,
    }
}

fn redact_task(task: &mut Task) {
    for text in [
        &mut task.subject,
        &mut task.active_form,
        &mut task.description,
    ] {
        redact_string(text);
    }
    for it in &mut task.evidence {
        redact_string(&mut it.target);
    }
}

fn redact_option(text: &mut Option<String>) {
    if let Some(text) = text {
        redact_string(text);
    }
}

/// Arguments as the model wrote them: JSON stays JSON, and without a secret every byte stays. What is no JSON is a
/// text.
fn redact_arguments(arguments: &mut String) {
    let Ok(old) = serde_json::from_str::<Value>(arguments) else {
        return redact_string(arguments);
    };
    let mut new = old.clone();
    redact_json(&mut new);
    if new != old {
        *arguments = new.to_string();
    }
}
