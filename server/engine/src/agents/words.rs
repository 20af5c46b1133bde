//! What is said of subagents: to them, to the model that started them, to the person.

use super::kinds::{AgentTool, EXPLORE, Kind};
use protocol::session::AgentId;

/// How the work of a subagent ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself. What it said last is its report.
    Done,
    /// Its last message reached the most that it may write.
    Cut,
    /// The model refused.
    Refused,
    /// The provider failed, in a sentence.
    Failed(String),
    /// It was asked this often and came to no end.
    TooManyAnswers(u32),
    /// It worked as many seconds as it may.
    TimedOut(u64),
}

/// The result of the call that waits: the report, or why there is none. Behind both stands how to go on.
pub fn report(id: AgentId, ended: &Ended, said: &str) -> Result<String, String> {
    let said = said.trim();
    let went_wrong = |what: String| {
        let last = match said {
            "" => "It had said nothing.".to_owned(),
            said => format!("It said last:\n{said}"),
        };
        Err(format!("{what} {last}{}", trailer(id)))
    };
    match ended {
        Ended::Done if said.is_empty() => Err(format!(
            "{id} ended without a report. What it did, it did; look at the present state, or ask it.{}",
            trailer(id)
        )),
        Ended::Done => Ok(format!("{said}{}", trailer(id))),
        Ended::Cut if said.is_empty() => went_wrong(format!("{id} reached its output cap.")),
        Ended::Cut => Ok(format!(
            "{said}\n[The report reached its output cap and is cut here.]{}",
            trailer(id)
        )),
        Ended::Refused => went_wrong(format!("The model of {id} refused to go on.")),
        Ended::Failed(why) => went_wrong(format!("{id} failed: {why}")),
        Ended::TooManyAnswers(n) => went_wrong(format!(
            "{id} was stopped: its model was asked {n} times and came to no end."
        )),
        Ended::TimedOut(secs) => went_wrong(format!(
            "{id} was stopped: it had worked for {secs} seconds, as long as it may. What it did so far, it did."
        )),
    }
}

fn trailer(id: AgentId) -> String {
    format!(
        "\n\n[agent_id: {id}. It keeps what it knows: call agent with this agent_id to go on with it.]"
    )
}

/// The result of a call whose subagent goes on in the background.
pub fn detached(id: AgentId) -> String {
    format!(
        "{id} works on in the background, because the person moved it there. Its report comes as a message of its own; go on \
         with what does not need it. The action kill with this agent_id ends it."
    )
}

/// What the model is told when one in the background has ended.
pub fn reported_later(id: AgentId, label: &str, result: &Result<String, String>) -> String {
    let (Ok(text) | Err(text)) = result;
    format!("[{id} ({label}), which worked in the background, has ended.]\n{text}")
}

/// What the person is told then.
pub fn notice(id: AgentId, label: &str, result: &Result<String, String>) -> String {
    let how = match result {
        Ok(_) => "has reported",
        Err(_) => "has failed",
    };
    format!("{id} ({label}) {how}; the agent reads it with your next message, or at its next step.")
}

/// One was ended by its call or by the person. For the model and the person.
pub fn killed(id: AgentId) -> String {
    format!(
        "{id} was ended before it reported. What it did so far, it did; it cannot be gone on with."
    )
}

/// What is told of one that had ended when it was to be.
pub fn is_over(id: AgentId) -> String {
    format!("{id} had ended already; it is forgotten now.")
}

/// What the person sees of one that waits.
pub fn waits(at_once: usize) -> String {
    format!("Waits: {at_once} agents are at work, and no more may be at once.")
}

/// The answer to a call of a tool that a subagent does not have (spec 0.5).
pub fn absent(tool: &str, kind: &Kind) -> String {
    let names: Vec<&str> = kind.tools.iter().map(|it| it.name()).collect();
    let names = names.join(", ");
    let why = match AgentTool::of_tool(tool) {
        Some(_) => format!("agents of the type {} have no {tool}", kind.name),
        None => format!("no agent has {tool}"),
    };
    format!(
        "Not done: {why}. You have {names}. Do not make up what it would have shown: go on without it, and say in your report what \
         you could not find out and that {tool} was missing, so that whoever started you does it or starts an agent that has it."
    )
}

/// What a subagent is told instead of what the person's agent is (spec 9.5).
pub fn system_preamble(kind: &Kind) -> String {
    let mut text = format!(
        "You are a subagent of Undine, a coding agent inside the user's editor, of the type {}. Another agent has given you the task \
         below; you see nothing of its conversation, and it sees nothing of your work but your last message: that is your report. Put \
         into it all that is needed, and nothing you do not know. Nobody answers questions: decide yourself, and say what you assumed. \
         Commands in the background end with you.",
        kind.name
    );
    let has_web = [AgentTool::WebSearch, AgentTool::WebFetch]
        .iter()
        .any(|it| kind.tools.contains(it));
    if !has_web {
        text.push_str(
            " You have no tool for the web: what you cannot check here, say so in your report instead of citing it.",
        );
    }
    if kind.name == EXPLORE && !kind.tools.iter().any(|it| it.writes()) {
        text.push_str(" You cannot change files.");
    }
    let own = kind.preamble.trim();
    if !own.is_empty() {
        text.push_str("\n\n");
        text.push_str(own);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::kinds::Kinds;
    use super::*;
    use expect_test::expect;

    const ID: AgentId = AgentId(3);

    #[test]
    fn a_report_has_the_agents_id_behind_it() {
        expect![[r#"
            It is in a.rs.

            [agent_id: agent-3. It keeps what it knows: call agent with this agent_id to go on with it.]"#]]
        .assert_eq(&report(ID, &Ended::Done, "It is in a.rs.\n").unwrap());
        let cut = report(ID, &Ended::Cut, "It is").unwrap();
        assert!(
            cut.starts_with("It is\n[The report reached its output cap"),
            "{cut}"
        );
    }

    #[test]
    fn without_a_report_the_call_is_an_error_that_names_the_agent() {
        let all = [
            (Ended::Done, ""),
            (Ended::Cut, " \n"),
            (Ended::Refused, "No."),
            (Ended::Failed("the server said 500.".into()), ""),
            (Ended::TooManyAnswers(200), "Still at it."),
            (Ended::TimedOut(1200), "Half of it"),
        ];
        for (ended, said) in all {
            let text = report(ID, &ended, said).unwrap_err();
            assert!(text.contains("[agent_id: agent-3."), "{text}");
            assert!(text.contains(said.trim()), "{text}");
        }
    }

    #[test]
    fn bug_086_an_absent_tool_is_answered_with_the_reason_and_the_way_back() {
        let kinds = Kinds::default();
        let explore = kinds.find(Some(EXPLORE)).unwrap();
        expect!["Not done: agents of the type explore have no web_search. You have read_file, execute_command. Do not make up what it would have shown: go on without it, and say in your report what you could not find out and that web_search was missing, so that whoever started you does it or starts an agent that has it."]
            .assert_eq(&absent("web_search", explore));
        assert!(absent("agent", explore).starts_with("Not done: no agent has agent."));
        assert!(system_preamble(explore).contains("You have no tool for the web"));
        assert!(!system_preamble(kinds.find(None).unwrap()).contains("no tool for the web"));
    }
}
