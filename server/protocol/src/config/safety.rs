//! The options of `[safety]`: the mode, the floors, the person's own rules and what confines commands.

use crate::session::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much the agent may do without asking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Safety {
    /// The mode of new sessions.
    #[schemars(extend("x-repository" = "stricter"))]
    pub mode: Mode,
    /// Whether files are put into a checkpoint before a tool changes them.
    pub checkpoint_on_mutation: bool,
    /// Whether commands may use the network.
    #[schemars(extend("x-repository" = "stricter"))]
    pub network: Network,
    /// What commands may write.
    #[schemars(extend("x-repository" = "stricter"))]
    pub filesystem: Filesystem,
    /// The least that is done about calls of MCP tools that do not say that they only read.
    #[schemars(extend("x-repository" = "stricter"))]
    pub external_writes: Floor,
    /// The least that is done about commands that install for the whole machine.
    #[schemars(extend("x-repository" = "stricter"))]
    pub system_installs: Floor,
    /// The model that judges in mode `auto`, as provider/name; the session's own when missing.
    pub auto_classifier_model: Option<String>,
    /// Rules of the person's own. The first that matches counts, before mode and floors.
    pub rules: Vec<SafetyRule>,
}

impl Default for Safety {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            checkpoint_on_mutation: true,
            network: Network::default(),
            filesystem: Filesystem::default(),
            external_writes: Floor::default(),
            system_installs: Floor::default(),
            auto_classifier_model: None,
            rules: Vec::new(),
        }
    }
}

/// Whether commands may use the network. What is stricter compares smaller.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// No command may. Where the system cannot see to that, no command runs.
    Deny,
    /// They may.
    #[default]
    Allow,
}

/// What commands may write. What is stricter compares smaller.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Filesystem {
    /// The project, the folder they run in and the one for temporary files. Where the system cannot see to that, no
    /// command runs.
    Project,
    /// What the person may.
    #[default]
    Open,
}

/// The least that is done about one kind of action, whatever the mode (spec 19.3). It makes a decision stricter and
/// never looser. What is stricter compares smaller.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Floor {
    /// Refused.
    Deny,
    /// The person is asked.
    Ask,
    /// The classifier is asked, in `full_access` too.
    #[default]
    Auto,
    /// The mode alone decides.
    Allow,
}

/// One rule of the person's own (spec 19.4). All fields given must match; a rule with none of the first three never
/// does. A misspelt field makes the whole rule void: without it the rule would match more than was meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SafetyRule {
    /// The kind of action.
    pub category: Option<Category>,
    /// The tool's name.
    pub tool: Option<String>,
    /// What the command, the path or the summary is compared with. To allow, it must be the name of the only program;
    /// to ask or deny, it may stand anywhere.
    pub pattern: Option<String>,
    /// What is done.
    pub verdict: RuleVerdict,
    /// Why, in words that the person and the model are shown.
    pub reason: Option<String>,
    /// Whether files are put into a checkpoint first; `safety.checkpoint_on_mutation` when missing.
    pub checkpoint: Option<bool>,
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleVerdict {
    /// Runs without a question.
    Allow,
    /// The person is asked.
    Ask,
    /// Refused.
    Deny,
}

/// A kind of action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Reads files.
    Read,
    /// Changes files.
    Edit,
    /// Runs commands.
    Shell,
    /// Fetches or searches the web.
    Web,
    /// Calls a tool of an MCP server.
    Mcp,
    /// Starts another agent.
    Agent,
    /// Changes the agent's memory.
    Memory,
    /// Uses screen, mouse or keyboard.
    Computer,
}
