//! Every option, with its documentation, its default and whether a repository may set it.
//!
//! Names are those of `config.toml`. The README's table and the editors' settings are generated
//! from the schema of [`Config`]. Secrets are never options; options name where a secret is.
//!
//! What can come with a repository sets nothing that is not marked `x-repository`, here or on the section (spec
//! 20.2): a new option is the person's alone until somebody admits it. The marks:
//!
//! - `"any"`: the project's file and the editor's settings may set it.
//! - `"editor"`: the editor's settings may; the project's file may not.
//! - `"stricter"`: both may, to what is as strict or stricter. The option is an enum, strictest value first.

mod models;
mod safety;
mod work;

pub use models::{
    DefaultModel, Ollama, Price, Pricing, ProviderConfig, ProviderKind, Reasoning, Tools,
};
pub use safety::{Category, Filesystem, Floor, Network, RuleVerdict, Safety, SafetyRule};
pub use work::{
    AgentType, Agents, Compaction, GoalOptions, Guidance, Hook, HookEvent, Isolation, Memory,
    Output, Trace,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// The model that answers.
    #[schemars(extend("x-repository" = "any"))]
    pub default_model: DefaultModel,
    /// Short names of models: `fast = "ollama/qwen3-coder:14b"`.
    #[schemars(extend("x-repository" = "any"))]
    pub model_aliases: BTreeMap<String, String>,
    /// How hard a model thinks, by provider/model; it counts over `default_model.reasoning`.
    #[schemars(extend("x-repository" = "any"))]
    pub reasoning_per_model: BTreeMap<String, Reasoning>,
    /// Where models are reached, by provider name. Known names need no entry.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Ollama on this machine.
    pub ollama: Ollama,
    /// Tokens of context by Ollama's name of a model; they count over `ollama.num_ctx`.
    #[schemars(extend("x-repository" = "any"))]
    pub ollama_num_ctx_per_model: BTreeMap<String, u64>,
    /// What tokens cost.
    pub pricing: Pricing,
    /// Which tools a model has.
    pub tools: Tools,
    /// How much the agent may do without asking.
    pub safety: Safety,
    /// Folders beside the project.
    pub workspace: Workspace,
    /// How edits reach the editor.
    #[schemars(extend("x-repository" = "editor"))]
    pub edits: Edits,
    /// How commands run.
    pub exec: Exec,
    /// When older history is summarised.
    #[schemars(extend("x-repository" = "any"))]
    pub compaction: Compaction,
    /// What the agent keeps over sessions.
    #[schemars(extend("x-repository" = "any"))]
    pub memory: Memory,
    /// Subagents.
    pub agents: Agents,
    /// Goals.
    pub goal: GoalOptions,
    /// How the agent writes.
    #[schemars(extend("x-repository" = "any"))]
    pub output: Output,
    /// Programs that hear of what the agent does. A project's own stand in its `.undine/hooks.toml`, and count once you trust it.
    pub hooks: Vec<Hook>,
    /// Traces.
    pub trace: Trace,
    /// Time-outs and caps.
    pub limits: Limits,
}

/// Folders beside the project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Workspace {
    /// Folders that every session may work in as in its project: whole paths, or from `~/` on.
    pub additional_dirs: Vec<String>,
}

/// How edits reach the editor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Edits {
    /// Which buffers are saved after an edit.
    pub save: Save,
}

/// Which buffers are saved after an edit, where the editor can save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Save {
    /// Those that had no unsaved work before the edit.
    #[default]
    Clean,
    /// All.
    Always,
    /// None.
    Never,
}

/// How commands run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Exec {
    /// Whether a foreground command has a pseudo-terminal, so that programs write as they do for a person. Else pipes.
    pub pty: bool,
}

impl Default for Exec {
    fn default() -> Self {
        Self { pty: true }
    }
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])* $name:ident = $default:literal,)*) => {
        /// Time-outs and caps, each with its default.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct Limits { $($(#[doc = $doc])* pub $name: u64,)* }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }
    };
}

limits! {
    /// Seconds a command may run when the model names no time-out.
    command_default_secs = 30,
    /// Most seconds a command may run.
    command_max_secs = 300,
    /// Seconds without output after which a running command is shown to be silent; 0 never.
    command_quiet_secs = 10,
    /// Bytes of a command's output that are kept: half from its head, half from its tail.
    command_output_bytes = 262_144,
    /// Milliseconds between asking a process to end and killing it.
    kill_grace_ms = 200,
    /// Bytes of one file that are read for the model.
    read_bytes = 400_000,
    /// Bytes of a file that can be edited.
    edit_bytes = 16_777_216,
    /// Bytes of one message from the editor.
    message_bytes = 268_435_456,
    /// Bytes of one open document; a larger one is left alone, and so is its file.
    document_bytes = 67_108_864,
    /// Requests from the editor that may be open at once.
    requests_in_flight = 512,
    /// Prompts that may wait for one session.
    queued_prompts = 32,
    /// Rounds in which an edit is planned anew because its text moved.
    edit_rounds = 3,
    /// Milliseconds to wait for the editor's own word on an edit: its answer and its `didChange`.
    edit_settle_ms = 5_000,
    /// Milliseconds to wait for the editor to save a document.
    save_ms = 5_000,
    /// Milliseconds between two reports of where unreviewed changes stand while the person types.
    review_changed_ms = 150,
    /// Bytes of all reviews that are kept over a restart; those that were saved longest ago are removed first.
    review_bytes = 268_435_456,
    /// Seconds to wait for a connection to the model.
    model_connect_secs = 10,
    /// Seconds without a byte from the model after which its answer counts as cut.
    model_quiet_secs = 300,
    /// Seconds that Ollama gets to answer after it was started.
    ollama_start_secs = 30,
    /// How often a model is asked again for one answer, after a failure that may pass.
    model_retries = 5,
    /// Milliseconds before the first of these; each further one waits twice as long, up to 8 seconds.
    model_retry_ms = 500,
    /// Most seconds that a provider's own wish to wait is granted.
    model_retry_max_secs = 60,
    /// Days for which what a model has refused is not sent to it again.
    learned_days = 30,
    /// Milliseconds to wait for the system's keyring.
    keyring_ms = 3_000,
    /// Hours after which the catalogue of windows and prices is fetched again.
    catalog_hours = 24,
    /// Seconds a provider gets to list its models, and a server to send the catalogue.
    models_secs = 20,
    /// Seconds the classifier of mode `auto` gets for its verdict; then the person is asked. Half of it where the session's
    /// model thinks at a low level, twice where it thinks at a high one.
    classifier_secs = 60,
    /// Seconds a model gets for what it is asked beside the conversation: a summary, whether a goal is met.
    side_secs = 300,
    /// Milliseconds to wait for another server that writes the answers for always.
    permissions_ms = 1_000,
    /// Milliseconds to wait for another server that writes the memory.
    memory_ms = 5_000,
    /// Model answers in one turn.
    turn_answers = 200,
    /// How often an answer that reached its output cap is gone on with by itself.
    continuations = 4,
    /// Seconds after a cancel at which a call that does not end is given up.
    abandon_secs = 15,
    /// Seconds a hook may take; then the call goes on without it.
    hook_secs = 30,
    /// Subagents that work at once; more wait.
    agents_at_once = 10,
    /// Subagents that have ended and can be gone on with.
    agents_kept = 8,
    /// Milliseconds after an edit in which the editor may find problems in it.
    diagnostics_settle_ms = 1_500,
    /// Problems of an edit that the model is told of.
    diagnostics_most = 20,
    /// Milliseconds the editor and git get for what a prompt mentions.
    mention_ms = 5_000,
    /// Bytes of one thing that a prompt mentions; of more, the beginning and the end.
    mention_bytes = 65_536,
    /// Bytes of all that a prompt mentions.
    mentions_bytes = 262_144,
    /// Seconds that `undine run` works.
    run_secs = 1_200,
    /// Sessions on one page of a list.
    session_page = 100,
    /// Sessions that a search finds, and the newest ones whose prompts a search for a prompt reads.
    search_sessions = 50,
    /// Earlier prompts that a search for one finds.
    search_prompts = 100,
    /// Bytes of an export that are answered; a longer one is written to a file.
    export_bytes = 262_144,
    /// Records of a session after which its snapshot is written anew.
    snapshot_records = 200,
    /// Bytes of a project's checkpoints; the oldest are removed first, and the newest never.
    checkpoint_bytes = 536_870_912,
    /// Days after which a checkpoint is removed.
    checkpoint_days = 30,
    /// Days after which a scratchpad that a server left behind is removed.
    scratchpad_days = 7,
    /// Seconds that making a subagent's checkout, or bringing its changes back, may take.
    worktree_secs = 300,
    /// Days after which a subagent's checkout that was kept or left behind is removed.
    worktree_days = 7,
    /// Milliseconds that running tasks get to end when the server exits.
    exit_ms = 1_000,
}

/// The JSON schema of `config.toml`, for editors that complete and check it. What is misspelt is an error there.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Config).to_value();
    schema["title"] = json!("Undine's config.toml");
    schema["properties"]["profiles"] = json!({
        "description": "Sets of options by name, for `--profile NAME`. They count over the rest of this file.",
        "type": "object",
        "additionalProperties": {"$ref": "#"},
    });
    close(&mut schema);
    schema
}

/// Allows no other names where names are listed.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.get("properties").is_some_and(Value::is_object)
                && !fields.contains_key("additionalProperties")
            {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
