//! Options of long work: what fills the window, what is kept over sessions, who works beside the agent.

use crate::session::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// When older history is summarised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Compaction {
    /// Whether it happens by itself.
    pub auto_enabled: bool,
    /// How full the window may be, percent; 1 to 100.
    pub auto_threshold_percent: u32,
    /// How many tokens may fill it, also where the window is not known; at least 50,000. Whatever comes first counts.
    pub auto_threshold_tokens: Option<u64>,
    /// The percentage by provider/model; it counts over `auto_threshold_percent`.
    pub threshold_percent_per_model: BTreeMap<String, u32>,
    /// Whether a provider that can summarise by itself does so at the threshold.
    pub provider_native: bool,
    /// How many of the person's newest messages stay as they are, with what followed them.
    pub tail_turns: u32,
    /// The most tokens that stay as they are.
    pub tail_token_budget: u64,
    /// The most tokens of a summary; a quarter of the window where that is less.
    pub summary_max_tokens: u32,
    /// How often in a row an answer that stopped because the window was full is gone on with; 0: without end.
    pub max_truncation_recoveries: u32,
}

impl Default for Compaction {
    fn default() -> Self {
        Self {
            auto_enabled: true,
            auto_threshold_percent: 85,
            auto_threshold_tokens: None,
            threshold_percent_per_model: BTreeMap::new(),
            provider_native: true,
            tail_turns: 2,
            tail_token_budget: 8_000,
            summary_max_tokens: 8_000,
            max_truncation_recoveries: 3,
        }
    }
}

/// What the agent keeps over sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Memory {
    /// Whether there is a memory.
    pub enabled: bool,
    /// Bytes of its index, which every request has.
    pub index_cap_bytes: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            enabled: true,
            index_cap_bytes: 8_000,
        }
    }
}

/// Subagents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Agents {
    /// Seconds that a subagent may work; 0 for 20 minutes.
    pub timeout_secs: u64,
    /// Kinds of subagents by name, beside `general` and `explore`.
    pub types: BTreeMap<String, AgentType>,
}

/// A kind of subagent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AgentType {
    /// When it is the right one, for the model that chooses.
    pub description: String,
    /// The tools it has; all that a subagent can have when missing.
    pub tools: Option<Vec<String>>,
    /// The loosest mode it works in; the session's own counts where that is stricter.
    pub safety: Option<Mode>,
    /// What it is told before its task.
    pub preamble: String,
    /// The model that works; the session's when missing.
    pub model: Option<String>,
    /// Where it works.
    pub isolation: Isolation,
}

/// Where a subagent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In the project, as the session does.
    #[default]
    Shared,
    /// In a checkout of its own, whose changes come back as one change set.
    Worktree,
}

/// Goals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GoalOptions {
    /// The model that says whether a goal is met; the session's when missing.
    pub model: Option<String>,
    /// Turns towards a goal without a message of the person's; 0: without end.
    pub max_turns: u32,
}

impl Default for GoalOptions {
    fn default() -> Self {
        Self {
            model: None,
            max_turns: 50,
        }
    }
}

/// How the agent writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Output {
    /// The style: `default`, `proactive`, `concise`, `explanatory`, `learning`, or the name of a file of the person's or the project's.
    pub style: String,
    /// Whether the model is guided step by step, as small models need it.
    pub guidance: Guidance,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            style: "default".to_owned(),
            guidance: Guidance::Auto,
        }
    }
}

/// Whether the model is guided step by step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Guidance {
    /// Models on one's own machine are.
    #[default]
    Auto,
    /// Every model is.
    On,
    /// No model is.
    Off,
}

/// Traces, by which a fault can be looked at afterwards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Trace {
    /// Whether all that happens to a session is written into a file of its own, for `undine replay`.
    pub record: bool,
}

/// A program of the person's that hears of what the agent does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Hook {
    /// What it hears of.
    pub event: HookEvent,
    /// The tools it hears of, with `*` for any characters; all when missing.
    pub tool: Option<String>,
    /// The command line. What happened comes as JSON on its stdin.
    pub command: String,
}

/// What a hook hears of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookEvent {
    /// A call is about to be judged. The hook can refuse it, change its arguments, or tell the model something.
    #[default]
    BeforeToolUse,
    /// A call has ended.
    AfterToolUse,
    /// The person sent a prompt.
    Prompt,
    /// A turn ended.
    TurnEnd,
}
