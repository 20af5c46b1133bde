//! What a model may call, one file each.
//!
//! A tool reads its arguments and plans; the policy judges the plan; the plan's work runs. To add a
//! tool: one file, one line in `tools!`.

mod agent;
mod apply_patch;
mod ask_user_question;
mod background_process;
mod change;
mod context_archive;
mod create_directory;
mod delete_file;
mod edit_file;
mod execute_command;
mod lines;
mod memory;
mod read_file;
mod write_file;

pub(crate) use change::preview;

use crate::plan::{Plan, World};
use engine::agents::{self, Kind, Kinds};
use engine::provider::ToolSpec;
use futures_util::future::BoxFuture;
use protocol::acp::ToolKind;
use protocol::checklist::{TaskCreate, TaskList, TaskUpdate};
use protocol::compaction::CompactContext;
use protocol::config::Config;
use protocol::memory::MemoryCall;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One tool.
pub trait Tool {
    const NAME: &'static str;
    /// What an editor may show it as.
    const KIND: ToolKind;
    /// The arguments. Its documentation is the tool's description, its fields' are theirs.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// What the call would do; nothing has happened yet. The error is for the model.
    fn plan(input: Self::Input, world: World) -> impl Future<Output = Result<Plan, String>> + Send;
}

/// A tool in the table.
struct Entry {
    name: &'static str,
    kind: ToolKind,
    schema: fn() -> Value,
    plan: fn(Value, World) -> BoxFuture<'static, Result<Plan, String>>,
}

macro_rules! tools {
    ($($tool:ty,)*) => {
        const TOOLS: &[Entry] = &[$(Entry {
            name: <$tool>::NAME,
            kind: <$tool>::KIND,
            schema: || schemars::schema_for!(<$tool as Tool>::Input).to_value(),
            plan: |arguments, world| Box::pin(plan_with::<$tool>(arguments, world)),
        }),*];
    };
}

tools! {
    read_file::ReadFile,
    write_file::WriteFile,
    edit_file::EditFile,
    apply_patch::ApplyPatch,
    delete_file::DeleteFile,
    create_directory::CreateDirectory,
    execute_command::ExecuteCommand,
    background_process::BackgroundProcess,
    memory::Memory,
    ask_user_question::AskUserQuestion,
    context_archive::ContextArchive,
    agent::Agent,
}

/// A tool that the session answers by itself (engine/src/session/own_tools.rs).
struct Own {
    name: &'static str,
    schema: fn() -> Value,
}

const OWN: &[Own] = &[
    Own {
        name: TaskCreate::NAME,
        schema: || schemars::schema_for!(TaskCreate).to_value(),
    },
    Own {
        name: TaskUpdate::NAME,
        schema: || schemars::schema_for!(TaskUpdate).to_value(),
    },
    Own {
        name: TaskList::NAME,
        schema: || schemars::schema_for!(TaskList).to_value(),
    },
    Own {
        name: CompactContext::NAME,
        schema: || schemars::schema_for!(CompactContext).to_value(),
    },
];

/// Who is offered tools.
#[derive(Clone, Copy, Debug)]
pub enum Offered<'a> {
    /// The person's agent, which can start these kinds of subagents.
    Session(&'a Kinds),
    Agent(&'a Kind),
}

/// What a model is told of the tools that it has.
pub fn specs(offered: Offered<'_>, config: &Config) -> Vec<ToolSpec> {
    let mut specs = all_specs();
    specs.retain(|it| config.memory.enabled || it.name != MemoryCall::NAME);
    match offered {
        Offered::Session(kinds) => {
            if let Some(it) = specs.iter_mut().find(|it| it.name == agent::Agent::NAME) {
                it.description.push_str("\n\n");
                it.description.push_str(&kinds.told());
            }
        }
        Offered::Agent(kind) => specs.retain(|it| kind.grants(&it.name)),
    }
    specs
}

fn all_specs() -> Vec<ToolSpec> {
    let planned = TOOLS.iter().map(|it| (it.name, it.schema));
    let own = OWN.iter().map(|it| (it.name, it.schema));
    planned
        .chain(own)
        .map(|(name, schema)| {
            let mut parameters = schema();
            let description = match parameters.get("description") {
                Some(Value::String(text)) => text.clone(),
                Some(_) | None => String::new(),
            };
            if let Value::Object(table) = &mut parameters {
                for key in ["$schema", "title", "description"] {
                    table.remove(key);
                }
            }
            ToolSpec {
                name: name.to_owned(),
                description,
                parameters,
            }
        })
        .collect()
}

/// A tool's kind, before it has planned anything; a model may name one that does not exist.
pub fn kind(tool: &str) -> ToolKind {
    let found = TOOLS.iter().find(|it| it.name == tool);
    let own = OWN.iter().any(|it| it.name == tool);
    match found {
        Some(it) => it.kind,
        None if own => ToolKind::Think,
        None => ToolKind::Other,
    }
}

/// Plans a call by its tool's name. The error is for the model.
pub async fn plan(tool: String, arguments: Value, world: World) -> Result<Plan, String> {
    if let Some(kind) = world.agent.as_deref().filter(|it| !it.grants(&tool)) {
        return Err(agents::absent(&tool, kind));
    }
    match TOOLS.iter().find(|it| it.name == tool) {
        Some(it) => (it.plan)(arguments, world).await,
        None => {
            let own = OWN.iter().map(|it| it.name);
            let names: Vec<&str> = TOOLS.iter().map(|it| it.name).chain(own).collect();
            Err(format!(
                "There is no tool {tool}. There are: {}.",
                names.join(", ")
            ))
        }
    }
}

async fn plan_with<T: Tool>(arguments: Value, world: World) -> Result<Plan, String> {
    let input = serde_json::from_value::<T::Input>(arguments)
        .map_err(|error| format!("Bad arguments for {}: {error}. Nothing was done.", T::NAME))?;
    T::plan(input, world).await.map(|it| it.of_kind(T::KIND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bug_003_every_advertised_tool_is_callable() {
        for spec in specs(Offered::Session(&Kinds::default()), &Config::default()) {
            assert!(
                !spec.description.is_empty(),
                "{} has no description",
                spec.name
            );
            let planned = TOOLS.iter().map(|it| it.name);
            let mut names = planned.chain(OWN.iter().map(|it| it.name));
            assert!(names.any(|it| it == spec.name));
            assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
        }
    }

    #[test]
    fn bug_086_a_subagent_is_offered_only_what_its_kind_grants() {
        let kinds = Kinds::default();
        let names = |kind: &str| {
            let specs = specs(
                Offered::Agent(kinds.find(Some(kind)).unwrap()),
                &Config::default(),
            );
            specs.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        assert_eq!(names("explore"), ["read_file", "execute_command"]);
        let general = names("general");
        assert!(general.iter().any(|it| it == "write_file"));
        for never in [
            "agent",
            "ask_user_question",
            "background_process",
            "compact_context",
        ] {
            assert!(!general.iter().any(|it| it == never), "{never}");
        }
        let all = specs(Offered::Session(&kinds), &Config::default());
        let agent = all.iter().find(|it| it.name == "agent").unwrap();
        assert!(
            agent.description.contains("\n- explore: "),
            "{}",
            agent.description
        );
    }

    #[test]
    fn hidden_arguments_are_not_told_to_the_model() {
        let specs = specs(Offered::Session(&Kinds::default()), &Config::default());
        let of = |name: &str| &specs.iter().find(|it| it.name == name).unwrap().parameters;
        let names = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(
            names(&of("read_file")["properties"]),
            ["path", "paths", "view_range"]
        );
        assert_eq!(of("read_file").get("required"), None);
        assert_eq!(
            names(&of("edit_file")["properties"]),
            [
                "path",
                "target_content",
                "replacement_content",
                "allow_multiple"
            ]
        );
        let required = serde_json::json!(["path", "target_content", "replacement_content"]);
        assert_eq!(of("edit_file")["required"], required);
    }
}
