//! `undine/context`: what fills the window of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of which session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextParams {
    pub session_id: String,
}

/// What the next request would hold, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextReport {
    /// All of it: as the provider counted it last, with an estimate of what came since, or an estimate of all.
    pub used: u64,
    /// The window; 0 where it is not known.
    pub size: u64,
    /// What is kept free of it for the answer.
    pub reserve: u64,
    /// From where on older history is summarised; missing where it is not by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<u64>,
    /// What it consists of, in the order of the request; each an estimate.
    pub parts: Vec<ContextPart>,
    /// The same for a person, in lines.
    pub text: String,
}

/// One part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextPart {
    pub part: Part,
    /// An estimate.
    pub tokens: u64,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// What every session is told.
    System,
    /// What files of the project say.
    Instructions,
    Skills,
    Memory,
    /// What the model is told of its tools.
    Tools,
    /// What stands in the place of older history.
    Summary,
    /// What the person wrote.
    User,
    /// What the model was told beside it.
    Told,
    /// What the model said, with its calls.
    Answers,
    /// What calls gave.
    Results,
    Pictures,
}

impl Part {
    /// All of them, in the order of a request.
    pub const ALL: [Self; 11] = [
        Self::System,
        Self::Instructions,
        Self::Skills,
        Self::Memory,
        Self::Tools,
        Self::Summary,
        Self::User,
        Self::Told,
        Self::Answers,
        Self::Results,
        Self::Pictures,
    ];

    /// For a person.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system prompt",
            Self::Instructions => "project instructions",
            Self::Skills => "skills",
            Self::Memory => "memory",
            Self::Tools => "tools",
            Self::Summary => "summary of older history",
            Self::User => "your messages",
            Self::Told => "told beside them",
            Self::Answers => "answers",
            Self::Results => "results of calls",
            Self::Pictures => "pictures",
        }
    }
}
