//! Subagents as the person handles them: `/agents`, and moving them to the background.

use super::key_of;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::lsp::{Error, code, error};
use crate::main_loop::Host;
use crate::show;
use engine::agents::{Entry, State, detached};
use engine::session::Input;
use protocol::acp;
use protocol::agent::{Agent, AgentList, AgentState, DetachAgentParams};
use protocol::session::AgentId;

impl Host {
    pub(crate) fn detach_agent(&mut self, params: &DetachAgentParams) -> Result<AgentList, Error> {
        let parent = self.known(&acp::SessionId::new(params.session_id.clone()))?;
        let wanted = params.tool_call_id.as_deref();
        let children = self.sessions.values_mut();
        let children = children.filter_map(|it| it.child.as_deref_mut());
        let mut moved = Vec::new();
        for child in children.filter(|it| it.parent == parent) {
            if wanted.is_some_and(|it| *it != *show::call_id(child.call).0) {
                continue;
            }
            if let Some(reply) = child.reply.take() {
                // Its call may have been cancelled this moment.
                let _ = reply.send(Ok(detached(child.id)));
                moved.push(child.id);
            }
        }
        if moved.is_empty() {
            let text = "No call of this session waits for an agent.";
            return Err(error(code::REQUEST_FAILED, text));
        }
        if let Some(open) = self.sessions.get_mut(&parent) {
            moved.into_iter().for_each(|it| open.roster.detach(it));
        }
        Ok(self.agent_list(&parent))
    }

    /// `/agents`
    pub(in crate::handlers) fn agents_for(
        &mut self,
        session: SessionKey,
        asker: Asker,
        rest: &str,
    ) {
        let said = match rest.split_once(char::is_whitespace).unwrap_or((rest, "")) {
            ("", _) => Ok(self.agents_said(&session)),
            ("kill", id) => {
                let id = id.trim();
                let number = id.parse().ok().map(AgentId);
                match AgentId::parse(id).or(number) {
                    Some(id) => self.kill_for_person(&session, id),
                    None => Err(format!("{id:?} is no agent's id; `/agents` lists them.")),
                }
            }
            (other, _) => Err(format!(
                "`/agents` lists the agents that work here, and `/agents kill <id>` ends one; it knows no {other}."
            )),
        };
        let number = self.begin(session, asker);
        self.end(number, said);
    }

    /// Ends one; the model is told of one whose report it still expects.
    fn kill_for_person(&mut self, session: &SessionKey, id: AgentId) -> Result<String, String> {
        let entry = self.sessions.get(session).and_then(|it| it.roster.get(id));
        let is_expected = entry.is_some_and(|it| it.background);
        let said = self.kill_agent(session, id)?;
        if is_expected {
            let told = format!("The person has ended {id}. {said}");
            self.step(session, Input::Tell(told));
        }
        Ok(said)
    }

    fn agents_said(&self, session: &SessionKey) -> String {
        let lines: Vec<String> = self.agent_list(session).agents.iter().map(line).collect();
        match lines.is_empty() {
            true => "No agents work for this session, and none can be gone on with.".to_owned(),
            false => format!(
                "{}\n\nAt most {} work at once; `/agents kill <id>` ends one.",
                lines.join("\n"),
                self.most_at_once(session)
            ),
        }
    }

    fn agent_list(&self, session: &SessionKey) -> AgentList {
        let open = self.sessions.get(session);
        let agents = open.into_iter().flat_map(|it| it.roster.list());
        AgentList {
            session_id: session.to_string(),
            agents: agents
                .filter(|(id, _)| self.sessions.contains_key(&key_of(session, *id)))
                .map(|(id, it)| wire(id, it))
                .collect(),
        }
    }
}

fn wire(id: AgentId, entry: &Entry) -> Agent {
    Agent {
        id: id.to_string(),
        label: entry.label.clone(),
        kind: entry.kind.clone(),
        state: match entry.state {
            State::Waiting(_) => AgentState::Waiting,
            State::Running => AgentState::Running,
            State::Ended(_) => AgentState::Ended,
        },
        background: entry.background,
    }
}

fn line(agent: &Agent) -> String {
    let state = match (agent.state, agent.background) {
        (AgentState::Waiting, _) => "waits",
        (AgentState::Running, true) => "works in the background",
        (AgentState::Running, false) => "works",
        (AgentState::Ended, _) => "has ended and can be gone on with",
    };
    format!("- `{}` {} ({}): {state}", agent.id, agent.label, agent.kind)
}
