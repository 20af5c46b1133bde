//! Whose conversation a session is: the person's, or that of an agent which works for another one.

use crate::context::Entry;
use serde::{Deserialize, Serialize};

/// Whose conversation it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Role {
    #[default]
    Person,
    /// Its prompts were written by another session's model, which the person wrote these words to.
    Agent { wishes: Vec<String> },
}

/// What the person wrote: the classifier of mode `auto` goes by nothing else.
pub(super) fn wishes<'a>(role: &'a Role, history: &'a [Entry]) -> Vec<&'a str> {
    match role {
        Role::Person => prompts(history).collect(),
        Role::Agent { wishes } => wishes.iter().map(String::as_str).collect(),
    }
}

/// What was said before a call, as the classifier reads it. To an agent, its task is another model's word.
pub(super) fn said(role: &Role, history: &[Entry], said: &str) -> String {
    match role {
        Role::Person => said.to_owned(),
        Role::Agent { .. } => {
            let task = prompts(history).last().unwrap_or_default();
            format!("(It works for another agent, which gave it this task:)\n{task}\n\n{said}")
        }
    }
}

fn prompts(history: &[Entry]) -> impl Iterator<Item = &str> {
    history.iter().filter_map(|it| match it {
        Entry::User(said) => Some(said.text.as_str()),
        Entry::Told(_) | Entry::Summary(_) | Entry::Answer(_) => None,
    })
}
