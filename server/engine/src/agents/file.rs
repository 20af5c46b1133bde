//! A file that describes a kind of subagent: front matter, then what the subagent is told (spec 21.4).
//!
//! ```text
//! ---
//! name: reviewer
//! description: Looks at a change before it is committed.
//! tools: Read, Grep, Edit
//! ---
//! You review changes.
//! ```
//!
//! Names of tools may be ours or those of Claude Code, whose files these are too.

use super::kinds::{AgentTool, Kind, ceiling_of};
use crate::front_matter;
use protocol::config::Isolation;
use protocol::session::Mode;
use std::collections::BTreeSet;

/// Where a file lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// It came with the project.
    Project,
    Person,
}

/// A kind and the file it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct KindFile {
    /// For people.
    pub path: String,
    pub scope: Scope,
    pub kind: Kind,
}

/// The most bytes of a name.
const MAX_NAME: usize = 64;

/// Reads a file. `path` is for people, `stem` its name without `.md`. The error is one sentence for the person.
pub fn read_kind(path: &str, stem: &str, scope: Scope, text: &str) -> Result<KindFile, String> {
    let wrong = |what: String| format!("{path} is left out: {what}.");
    let (fields, body) = front_matter::read(text);
    // Without front matter, or with one that is not closed, all of it is body.
    if body.len() == text.trim_start_matches('\u{feff}').len() {
        return Err(wrong(
            "it does not begin with front matter between two lines `---`".to_owned(),
        ));
    }
    let name = fields.text("name").unwrap_or_else(|| stem.to_owned());
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | ':');
    if name.len() > MAX_NAME || !name.chars().all(is_plain) {
        return Err(wrong(format!(
            "{name:?} is no name; use at most {MAX_NAME} letters, digits, `-`, `_`, `.` and `:`"
        )));
    }
    let tools = match fields.list("tools") {
        None => AgentTool::ALL.into(),
        Some(names) => tools_of(&names),
    };
    if tools.is_empty() {
        return Err(wrong(format!(
            "it grants no tool that a subagent can have; those are {}",
            AgentTool::names()
        )));
    }
    let ceiling = match fields.text("safety") {
        None => ceiling_of(&tools),
        Some(id) => Mode::from_id(&id).ok_or_else(|| {
            let ids = Mode::ALL.map(Mode::id).join(", ");
            wrong(format!("there is no mode {id:?}; modes are {ids}"))
        })?,
    };
    let isolation = match fields.text("isolation").as_deref() {
        None | Some("shared") => Isolation::Shared,
        Some("worktree") => Isolation::Worktree,
        Some(other) => {
            return Err(wrong(format!(
                "there is no isolation {other:?}; it is shared or worktree"
            )));
        }
    };
    let kind = Kind {
        description: fields.text("description").unwrap_or_default(),
        tools,
        ceiling,
        preamble: body.trim().to_owned(),
        // Work costs money and sends the project somewhere: a file of the project does not say where.
        model: fields
            .text("model")
            .filter(|it| scope == Scope::Person && it.contains('/')),
        isolation,
        name,
    };
    let path = path.to_owned();
    Ok(KindFile { path, scope, kind })
}

/// What these names grant. Claude Code's own tools for looking around are commands here; who is given them with tools that
/// write is given no shell for it.
fn tools_of(names: &[String]) -> BTreeSet<AgentTool> {
    use AgentTool as T;
    let mut tools = BTreeSet::new();
    let mut looks_around = false;
    for name in names {
        // `Bash(git:*)` narrows what it grants; that is the mode's business here.
        let name = name
            .split_once('(')
            .map_or(name.as_str(), |(it, _)| it)
            .trim();
        match name {
            "*" => tools.extend(T::ALL),
            "Read" | "NotebookRead" => drop(tools.insert(T::ReadFile)),
            "Glob" | "Grep" | "LS" => {
                looks_around = true;
                tools.insert(T::ReadFile);
            }
            "Write" => tools.extend([T::WriteFile, T::CreateDirectory]),
            "Edit" | "MultiEdit" | "NotebookEdit" => tools.extend([T::EditFile, T::ApplyPatch]),
            "Bash" => drop(tools.insert(T::ExecuteCommand)),
            "WebFetch" => drop(tools.insert(T::WebFetch)),
            "WebSearch" => drop(tools.insert(T::WebSearch)),
            // Others it names we do not have, or no subagent has them.
            other => tools.extend(T::of_tool(other)),
        }
    }
    if looks_around && ceiling_of(&tools) == Mode::ReadOnly {
        tools.insert(T::ExecuteCommand);
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::super::kinds::Kinds;
    use super::*;
    use protocol::config::Agents;

    fn read(text: &str) -> Result<Kind, String> {
        read_kind("a/b.md", "b", Scope::Person, text).map(|it| it.kind)
    }

    fn granted(tools: &str) -> (Vec<&'static str>, Mode) {
        let kind = read(&format!("---\nname: x\ntools: {tools}\n---\n")).unwrap();
        (
            kind.tools.iter().map(|it| it.name()).collect(),
            kind.ceiling,
        )
    }

    #[test]
    fn a_file_has_front_matter_and_what_the_agent_is_told() {
        let kind = read("---\nname: reviewer\ndescription: \"Looks: at changes.\"\nmodel: p/m\n---\n\nYou review.\n").unwrap();
        assert_eq!(kind.name, "reviewer");
        assert_eq!(kind.description, "Looks: at changes.");
        assert_eq!(kind.preamble, "You review.");
        assert_eq!(kind.model.as_deref(), Some("p/m"));
        assert_eq!(kind.tools.len(), AgentTool::ALL.len());
        assert_eq!(kind.ceiling, Mode::FullAccess);
        let long = read("---\ndescription: >-\n  Looks at\n  changes.\nname: x\n---\n").unwrap();
        assert_eq!(
            (long.name.as_str(), long.description.as_str()),
            ("x", "Looks at changes.")
        );
        // Without a name it is the file's.
        assert_eq!(read("---\ndescription: x\n---\n").unwrap().name, "b");
    }

    #[test]
    fn tool_names_of_claude_code_are_ours() {
        assert_eq!(
            granted("Read, Edit"),
            (
                vec!["read_file", "edit_file", "apply_patch"],
                Mode::FullAccess
            )
        );
        let all =
            granted("[Write, \"Bash(git:*)\", WebFetch, WebSearch, mcp__x__y, TodoWrite, Task]");
        let names = vec![
            "write_file",
            "create_directory",
            "execute_command",
            "web_search",
            "web_fetch",
            "mcp",
        ];
        assert_eq!(all, (names, Mode::FullAccess));
        assert_eq!(
            granted("\n- read_file\n- Bash"),
            (vec!["read_file", "execute_command"], Mode::ReadOnly)
        );
    }

    #[test]
    fn what_has_no_tool_to_write_is_read_only_and_looks_around_with_commands() {
        assert_eq!(
            granted("Read, Grep, Glob"),
            (vec!["read_file", "execute_command"], Mode::ReadOnly)
        );
        // Who may write is given no shell only for looking around.
        assert_eq!(
            granted("Grep, Write"),
            (
                vec!["read_file", "write_file", "create_directory"],
                Mode::FullAccess
            )
        );
        let said = read("---\ntools: Read, Bash\nsafety: auto\n---\n").unwrap();
        assert_eq!(said.ceiling, Mode::Auto);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        for (text, part) in [
            ("name: x\n", "front matter"),
            ("---\nname: x\n", "front matter"),
            ("---\nname: a b\n---\n", "is no name"),
            ("---\ntools: Task\n---\n", "grants no tool"),
            (
                "---\nsafety: loose\n---\n",
                "modes are read_only, ask, auto, full_access",
            ),
            ("---\nisolation: vm\n---\n", "shared or worktree"),
        ] {
            let error = read(text).unwrap_err();
            assert!(
                error.starts_with("a/b.md is left out: ") && error.contains(part),
                "{error}"
            );
        }
    }

    #[test]
    fn a_projects_file_neither_redefines_what_is_built_in_nor_names_a_model() {
        let text = "---\nname: explore\ntools: Write\n---\n";
        let own = read_kind("p", "p", Scope::Project, text).unwrap();
        let mine = read_kind("m", "m", Scope::Person, text).unwrap();
        let kinds = |file: KindFile| Kinds::new(&Agents::default(), vec![file]);
        let (all, problems) = kinds(own);
        assert!(!all.find(Some("explore")).unwrap().grants("write_file"));
        assert!(
            problems[0].contains("cannot define the agent type explore"),
            "{problems:?}"
        );
        let (all, problems) = kinds(mine);
        assert!(all.find(Some("explore")).unwrap().grants("write_file") && problems.is_empty());
        let text = "---\nname: x\nmodel: p/m\n---\n";
        let file = read_kind("p", "p", Scope::Project, text).unwrap();
        assert_eq!(file.kind.model, None);
    }
}
