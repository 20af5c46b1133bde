//! What a call of `agent` asks for.

use crate::text::visible_line;
use protocol::config::Isolation;
use protocol::session::AgentId;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    Spawn(Task),
    /// Ends one, or drops one that has ended.
    Kill(AgentId),
}

/// Work for a subagent.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub prompt: String,
    /// What it is called; may be empty.
    pub label: String,
    /// The kind's name; the one that is there for everything if missing.
    pub kind: Option<String>,
    /// Instead of the kind's or the session's.
    pub model: Option<String>,
    /// Instead of the kind's.
    pub isolation: Option<Isolation>,
    /// The one that is gone on with, instead of a new one.
    pub agent: Option<AgentId>,
}

/// The most characters of a label.
const MAX_LABEL: usize = 60;

impl Wish {
    /// Wants one to be ended. The error is for the model.
    pub fn kill(agent: Option<&str>) -> Result<Self, String> {
        let agent = agent.map(str::trim).filter(|it| !it.is_empty());
        let agent = agent
            .ok_or("Bad arguments for agent: kill needs agent_id, as agent-3. Nothing was done.")?;
        id(agent).map(Self::Kill)
    }
}

impl Task {
    /// Checks the words; which kinds there are is another matter. The error is for the model.
    pub fn new(prompt: &str, label: Option<&str>, agent: Option<&str>) -> Result<Self, String> {
        if prompt.trim().is_empty() {
            return Err(
                "Bad arguments for agent: prompt is empty. The agent sees nothing of this conversation; write all that it \
                 needs. Nothing was started."
                    .to_owned(),
            );
        }
        let agent = agent.map(str::trim).filter(|it| !it.is_empty());
        Ok(Self {
            prompt: prompt.to_owned(),
            label: visible_line(label.unwrap_or_default().trim(), MAX_LABEL),
            kind: None,
            model: None,
            isolation: None,
            agent: agent.map(id).transpose()?,
        })
    }
}

fn id(text: &str) -> Result<AgentId, String> {
    // Models leave the prefix away.
    let number = text.parse().ok().map(AgentId);
    AgentId::parse(text).or(number).ok_or_else(|| {
        format!("Bad arguments for agent: {text:?} is no agent_id; one is written as agent-3. Nothing was done.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_says_something() {
        for empty in ["", " \n"] {
            assert!(
                Task::new(empty, None, None)
                    .unwrap_err()
                    .contains("prompt is empty")
            );
        }
        let task = Task::new("look\n", Some(" Look\nup "), Some("7")).unwrap();
        assert_eq!(task.label, "Look ...");
        assert_eq!(task.agent, Some(AgentId(7)));
    }

    #[test]
    fn an_id_is_one() {
        assert_eq!(Wish::kill(Some(" agent-3 ")), Ok(Wish::Kill(AgentId(3))));
        assert!(
            Wish::kill(Some("bg-3"))
                .unwrap_err()
                .contains("is no agent_id")
        );
        assert!(
            Wish::kill(Some(" "))
                .unwrap_err()
                .contains("kill needs agent_id")
        );
    }
}
