//! A session's ids and its safety mode.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! counter_id {
    ($(#[$meta:meta])* $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl $name {
            /// Reads an id back from the text that `Display` gave it.
            pub fn parse(text: &str) -> Option<Self> {
                text.strip_prefix($prefix)?.parse().ok().map(Self)
            }
        }
    };
}

counter_id!(
    /// One tool call of a session, counted from 0 over its whole life. On the wire: `call-7`.
    CallId,
    "call-"
);
counter_id!(
    /// One model stream of a session, counted from 0 since it was opened.
    StreamId,
    "stream-"
);
counter_id!(
    /// One wait of a session, counted from 0 since it was opened.
    TimerId,
    "timer-"
);
counter_id!(
    /// One question to a model beside the conversation, counted from 0 since the session was opened.
    SideId,
    "side-"
);
counter_id!(
    /// One prompt of a session, counted from 0 since it was opened.
    PromptId,
    "prompt-"
);
counter_id!(
    /// One turn of a session, counted from 0 over its whole life.
    TurnId,
    "turn-"
);

counter_id!(
    /// One subagent of a session, counted from 1 over its whole life. For the model: `agent-3`.
    AgentId,
    "agent-"
);

/// How much a session may do without asking (spec 19.1). Stricter modes compare smaller.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Reads the project; changes nothing. Commands run where they can be held to reading, or are plain reads.
    ReadOnly,
    /// Asks before every change and every command.
    #[default]
    Ask,
    /// Applies project edits at once; a classifier judges commands and anything outside the project, and asks when it
    /// is not sure.
    Auto,
    /// Does everything at once, but for what a floor or a rule of the person's names.
    FullAccess,
}

impl Mode {
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Ask, Self::Auto, Self::FullAccess];

    /// The mode's id on the wire and in the configuration.
    pub fn id(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::FullAccess => "full_access",
        }
    }

    /// What the mode does, in one sentence for a person.
    pub fn description(self) -> &'static str {
        match self {
            Self::ReadOnly => "Reads the project and changes nothing; commands can only read.",
            Self::Ask => "Asks before every change and every command.",
            Self::Auto => {
                "Applies project edits at once; has commands and outside access judged, and asks in doubt."
            }
            Self::FullAccess => {
                "Does everything at once; only installs for the whole machine are judged."
            }
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.id() == id)
    }
}
