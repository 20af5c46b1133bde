//! `undine/permission/…`: what the person has answered so that it is not asked again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Lists what is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListRulesParams {
    pub session_id: String,
}

/// The answers that count in a session: its own, then those that were given for always.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleList {
    pub session_id: String,
    /// Where the answers for always are kept, also when there is none yet.
    pub file: PathBuf,
    pub rules: Vec<RememberedRule>,
}

/// A remembered answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RememberedRule {
    /// Stands for exactly this answer.
    pub id: String,
    /// What it allows, in one line.
    pub text: String,
    pub scope: RuleScope,
    /// Whether an answer for always counts in every project; else only in this session's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everywhere: bool,
}

/// How long an answer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleScope {
    Session,
    Always,
}

/// Takes an answer back. What runs by it goes on; it is asked about again at the next call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForgetRuleParams {
    pub session_id: String,
    /// The answer's id, or a beginning that no other has.
    pub id: String,
}
