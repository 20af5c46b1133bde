//! Tools that are about the session itself: it answers them at once, and nothing is planned, asked or run.

use super::Session;
use super::effect::Effect;
use super::role::Role;
use protocol::checklist::{TaskCreate, TaskList, TaskUpdate};
use protocol::compaction::CompactContext;
use protocol::record::Trigger;
use protocol::tool::Outcome;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The answer to a call.
#[derive(Debug)]
pub(super) struct Answered {
    pub outcome: Outcome,
    /// For the model.
    pub text: String,
    /// The call in one line, for the person.
    pub title: String,
}

impl Session {
    /// What one of these tools answers; none for any other tool.
    pub(super) fn own_tool(
        &mut self,
        tool: &str,
        arguments: &Value,
        out: &mut Vec<Effect>,
    ) -> Option<Answered> {
        match self.settings.role {
            Role::Person => {}
            // It has none of them, and is told so.
            Role::Agent { .. } => return None,
        }
        let answered = match tool {
            CompactContext::NAME => read(tool, arguments).map(|it| self.wish_to_compact(it)),
            TaskCreate::NAME => Ok(self.create_tasks(arguments, out)),
            TaskUpdate::NAME => Ok(self.update_tasks(arguments, out)),
            TaskList::NAME => Ok(self.list_tasks(arguments, out)),
            _ => return None,
        };
        Some(answered.unwrap_or_else(|text| Answered {
            outcome: Outcome::Error,
            text,
            title: tool.to_owned(),
        }))
    }

    /// Only the wish is noted: it is done before the model is asked again (spec 12.2).
    fn wish_to_compact(&mut self, wish: CompactContext) -> Answered {
        self.compact_before_next(Trigger::Model, wish.focus);
        Answered {
            outcome: Outcome::Success,
            text: "Noted: older history is summarised before your next step.".to_owned(),
            title: "Summarise older history".to_owned(),
        }
    }
}

/// A call's arguments. The error is for the model.
pub(super) fn read<T: DeserializeOwned>(tool: &str, arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments)
        .map_err(|error| format!("Bad arguments for {tool}: {error}. Nothing was done."))
}
