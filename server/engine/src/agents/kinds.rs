//! The kinds of subagents of a session: two that are built in, those of the person's configuration, and those of files.

use super::file::{KindFile, Scope};
use crate::text::visible_line;
use protocol::config::{AgentType, Agents, Isolation};
use protocol::session::Mode;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// All that a subagent can have, in the session's own mode.
pub const GENERAL: &str = "general";
/// Reads and looks around, and changes nothing.
pub const EXPLORE: &str = "explore";

/// The most kinds that the model is told of (spec 9.2).
const MOST_TOLD: usize = 32;
/// The most characters of a description that the model is told.
const MOST_DESCRIPTION: usize = 400;

/// A tool that a subagent can have (spec 9.3). There is none among them that starts agents or asks the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentTool {
    ReadFile,
    WriteFile,
    EditFile,
    ApplyPatch,
    DeleteFile,
    CreateDirectory,
    ExecuteCommand,
    WebSearch,
    WebFetch,
    /// All tools of MCP servers.
    Mcp,
}

impl AgentTool {
    pub const ALL: [Self; 10] = [
        Self::ReadFile,
        Self::WriteFile,
        Self::EditFile,
        Self::ApplyPatch,
        Self::DeleteFile,
        Self::CreateDirectory,
        Self::ExecuteCommand,
        Self::WebSearch,
        Self::WebFetch,
        Self::Mcp,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::WriteFile => "write_file",
            Self::EditFile => "edit_file",
            Self::ApplyPatch => "apply_patch",
            Self::DeleteFile => "delete_file",
            Self::CreateDirectory => "create_directory",
            Self::ExecuteCommand => "execute_command",
            Self::WebSearch => "web_search",
            Self::WebFetch => "web_fetch",
            Self::Mcp => "mcp",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The one that a tool of the session is; none where no subagent can have it.
    pub fn of_tool(tool: &str) -> Option<Self> {
        match tool.starts_with("mcp__") {
            true => Some(Self::Mcp),
            false => Self::from_name(tool),
        }
    }

    /// Whether it is there to change files.
    pub fn writes(self) -> bool {
        match self {
            Self::WriteFile
            | Self::EditFile
            | Self::ApplyPatch
            | Self::DeleteFile
            | Self::CreateDirectory => true,
            Self::ReadFile
            | Self::ExecuteCommand
            | Self::WebSearch
            | Self::WebFetch
            | Self::Mcp => false,
        }
    }

    /// All names, as a sentence lists them.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

/// A kind of subagent.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    pub name: String,
    /// When it is the right one.
    pub description: String,
    pub tools: BTreeSet<AgentTool>,
    /// The loosest mode it works in.
    pub ceiling: Mode,
    pub preamble: String,
    /// The model that works; the session's when missing.
    pub model: Option<String>,
    pub isolation: Isolation,
}

impl Kind {
    /// Whether it has a tool of the session's.
    pub fn grants(&self, tool: &str) -> bool {
        AgentTool::of_tool(tool).is_some_and(|it| self.tools.contains(&it))
    }

    /// The mode of a subagent while its parent is in this one (spec 9.4).
    pub fn mode(&self, parent: Mode) -> Mode {
        parent.min(self.ceiling)
    }

    fn general() -> Self {
        Self {
            name: GENERAL.to_owned(),
            description:
                "Does a task of any kind by itself, with all tools that a subagent can have."
                    .to_owned(),
            tools: AgentTool::ALL.into(),
            ceiling: Mode::FullAccess,
            preamble: String::new(),
            model: None,
            isolation: Isolation::Shared,
        }
    }

    fn explore() -> Self {
        Self {
            name: EXPLORE.to_owned(),
            description: "Finds things out in the project by reading and by commands that only read; changes nothing, has no web.".to_owned(),
            tools: [AgentTool::ReadFile, AgentTool::ExecuteCommand].into(),
            ceiling: Mode::ReadOnly,
            preamble: "You find things out and change nothing. Name files and lines in your report.".to_owned(),
            model: None,
            isolation: Isolation::Shared,
        }
    }

    /// One of the person's configuration. The error is for the person.
    fn configured(name: &str, it: &AgentType) -> Result<Self, String> {
        let wanted = it.tools.as_deref();
        let tools = match wanted {
            None => AgentTool::ALL.into(),
            Some(names) => names
                .iter()
                .map(|tool| {
                    AgentTool::from_name(tool).ok_or_else(|| {
                        format!(
                            "[agents.types.{name}] grants {tool:?}, which no subagent can have, so there is no such type; tools are {}.",
                            AgentTool::names()
                        )
                    })
                })
                .collect::<Result<BTreeSet<_>, _>>()?,
        };
        let ceiling = it.safety.unwrap_or(ceiling_of(&tools));
        Ok(Self {
            name: name.to_owned(),
            description: it.description.clone(),
            tools,
            ceiling,
            preamble: it.preamble.clone(),
            model: it.model.clone(),
            isolation: it.isolation,
        })
    }
}

/// Where nothing else is said: what has no tool to change files changes none (spec 21.4).
pub(super) fn ceiling_of(tools: &BTreeSet<AgentTool>) -> Mode {
    match tools.iter().any(|it| it.writes()) {
        true => Mode::FullAccess,
        false => Mode::ReadOnly,
    }
}

/// The kinds of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Kinds {
    kinds: BTreeMap<String, Kind>,
}

impl Default for Kinds {
    fn default() -> Self {
        let own = [Kind::general(), Kind::explore()];
        Self {
            kinds: own.map(|it| (it.name.clone(), it)).into(),
        }
    }
}

impl Kinds {
    /// The person's configuration counts over files, and an earlier file over a later one. What is wrong is a sentence each.
    pub fn new(configured: &Agents, files: Vec<KindFile>) -> (Self, Vec<String>) {
        let mut all = Self::default();
        let mut problems = Vec::new();
        let mut taken = BTreeSet::new();
        for (name, it) in &configured.types {
            match Kind::configured(name, it) {
                Ok(kind) => {
                    taken.insert(name.clone());
                    all.kinds.insert(name.clone(), kind);
                }
                Err(problem) => problems.push(problem),
            }
        }
        for KindFile { path, scope, kind } in files {
            let is_built_in = [GENERAL, EXPLORE].contains(&kind.name.as_str());
            if is_built_in && scope == Scope::Project {
                problems.push(format!(
                    "{path} is left out: a project cannot define the agent type {} anew; give it another name.",
                    kind.name
                ));
            } else if taken.insert(kind.name.clone()) {
                all.kinds.insert(kind.name.clone(), kind);
            }
        }
        (all, problems)
    }

    /// The kind of this name; `general` for none. The error is for the model.
    pub fn find(&self, name: Option<&str>) -> Result<&Kind, String> {
        let name = name.unwrap_or(GENERAL);
        self.kinds.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
            format!(
                "There is no agent type {name:?}; types are {}. Nothing was started.",
                names.join(", ")
            )
        })
    }

    /// What the model is told of them, a line each: those that are built in first.
    pub fn told(&self) -> String {
        let is_built_in = |it: &&Kind| [GENERAL, EXPLORE].contains(&it.name.as_str());
        let (own, others): (Vec<&Kind>, Vec<&Kind>) = self.kinds.values().partition(is_built_in);
        let own = own.into_iter().rev();
        let mut text = String::from("Types:");
        for kind in own.chain(others).take(MOST_TOLD) {
            let about = visible_line(&kind.description, MOST_DESCRIPTION);
            // Writing to a string cannot fail.
            let _ = match about.as_str() {
                "" => write!(text, "\n- {}", kind.name),
                about => write!(text, "\n- {}: {about}", kind.name),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn configured(toml: serde_json::Value) -> (Kinds, Vec<String>) {
        let agents: Agents = serde_json::from_value(toml).unwrap();
        Kinds::new(&agents, Vec::new())
    }

    #[test]
    fn two_kinds_are_built_in() {
        let kinds = Kinds::default();
        assert_eq!(kinds.find(None).unwrap().name, GENERAL);
        let general = kinds.find(Some(GENERAL)).unwrap();
        assert!(general.grants("write_file") && general.grants("mcp__github__list"));
        for never in [
            "agent",
            "ask_user_question",
            "background_process",
            "computer",
        ] {
            assert!(!general.grants(never), "{never}");
        }
        let explore = kinds.find(Some(EXPLORE)).unwrap();
        let granted: Vec<&str> = explore.tools.iter().map(|it| it.name()).collect();
        assert_eq!(granted, ["read_file", "execute_command"]);
    }

    #[test]
    fn the_mode_is_the_stricter_of_the_parents_and_the_ceiling() {
        let kinds = Kinds::default();
        for mode in Mode::ALL {
            assert_eq!(kinds.find(None).unwrap().mode(mode), mode);
            let explore = kinds.find(Some(EXPLORE)).unwrap();
            assert_eq!(explore.mode(mode), Mode::ReadOnly);
        }
        let (kinds, _) = configured(serde_json::json!({"types": {"careful": {"safety": "ask"}}}));
        let careful = kinds.find(Some("careful")).unwrap();
        assert_eq!(careful.mode(Mode::FullAccess), Mode::Ask);
        assert_eq!(careful.mode(Mode::ReadOnly), Mode::ReadOnly);
    }

    #[test]
    fn an_unknown_type_is_answered_with_those_that_there_are() {
        expect![[
            r#"There is no agent type "plan"; types are explore, general. Nothing was started."#
        ]]
        .assert_eq(&Kinds::default().find(Some("plan")).unwrap_err());
    }

    #[test]
    fn a_configured_type_counts_over_a_built_in_one_and_a_wrong_one_is_left_out() {
        let (kinds, problems) = configured(serde_json::json!({"types": {
            "explore": {"tools": ["read_file"], "description": "Ours."},
            "wrong": {"tools": ["read_file", "agent"]},
        }}));
        assert!(
            !kinds
                .find(Some("explore"))
                .unwrap()
                .grants("execute_command")
        );
        assert_eq!(kinds.find(Some("explore")).unwrap().ceiling, Mode::ReadOnly);
        assert!(kinds.find(Some("wrong")).is_err());
        expect![[r#"[agents.types.wrong] grants "agent", which no subagent can have, so there is no such type; tools are read_file, write_file, edit_file, apply_patch, delete_file, create_directory, execute_command, web_search, web_fetch, mcp."#]]
            .assert_eq(&problems.join("\n"));
    }

    #[test]
    fn the_model_is_told_of_32_kinds_at_most() {
        let types: serde_json::Map<String, serde_json::Value> = (0..40)
            .map(|it| {
                (
                    format!("t{it:02}"),
                    serde_json::json!({"description": "a\nb"}),
                )
            })
            .collect();
        let (kinds, _) = configured(serde_json::json!({"types": types}));
        let told = kinds.told();
        assert_eq!(told.lines().count(), 33);
        assert!(told.starts_with("Types:\n- general: "), "{told}");
        assert!(kinds.find(Some("t39")).is_ok());
    }
}
