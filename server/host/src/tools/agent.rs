//! Has work done by a subagent, and waits for its report (spec 9).
//!
//! The subagent is a session of its own, which the loop opens and lets work; here is only the call that waits for it.

use super::Tool;
use crate::plan::{Done, Plan, Run, World};
use engine::agents::{Task, Wish};
use engine::session::Preview;
use protocol::acp::ToolKind;
use protocol::config::Isolation;
use protocol::tool::Access;
use schemars::JsonSchema;
use serde::Deserialize;

pub struct Agent;

/// Have a task done by a subagent, which works by itself and answers with a report. It sees nothing of this conversation: write all
/// that it needs into the prompt, and what its report should say. Several calls in one message work at the same time. Use it for
/// work that can be described in full and would fill your own window, not for single steps.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// spawn: starts one, or goes on with that of agent_id. kill: ends that of agent_id.
    #[serde(default)]
    action: Action,
    /// The task, whole. Needed by spawn.
    #[serde(default)]
    prompt: String,
    /// The task in a few words, for the person.
    #[serde(default)]
    description: Option<String>,
    /// One of the types below; general if missing.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// Another model, as provider/model. Only when the person asked for it.
    #[serde(default)]
    model: Option<String>,
    /// worktree: works in a checkout of its own, whose changes come back as one change.
    #[serde(default)]
    isolation: Option<Isolate>,
    /// An agent of this session that has ended, as agent-3: it goes on with what it knows.
    #[serde(default)]
    agent_id: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    #[default]
    Spawn,
    Kill,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Isolate {
    Shared,
    Worktree,
}

impl Tool for Agent {
    const NAME: &'static str = "agent";
    const KIND: ToolKind = ToolKind::Other;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let agent = input.agent_id.as_deref();
        match input.action {
            Action::Kill => {
                let wish = Wish::kill(agent)?;
                let title = format!("End {}", agent.unwrap_or_default());
                Ok(Plan::build(title).then(move |run| ask(wish, run)))
            }
            Action::Spawn => {
                let mut task = Task::new(&input.prompt, input.description.as_deref(), agent)?;
                let named = |it: Option<String>| it.filter(|it| !it.trim().is_empty());
                task.model = named(input.model);
                task.isolation = input.isolation.map(|it| match it {
                    Isolate::Shared => Isolation::Shared,
                    Isolate::Worktree => Isolation::Worktree,
                });
                task.kind = named(input.kind);
                // One that goes on has its kind already.
                if task.agent.is_none() {
                    let kind = world.kinds.find(task.kind.as_deref())?;
                    task.kind = Some(kind.name.clone());
                }
                Ok(plan(task))
            }
        }
    }
}

fn plan(task: Task) -> Plan {
    let who = match (&task.agent, &task.kind) {
        (Some(id), _) => id.to_string(),
        (None, Some(kind)) => kind.clone(),
        (None, None) => "agent".to_owned(),
    };
    let about = match task.label.as_str() {
        "" => task.prompt.trim(),
        label => label,
    };
    let model = task
        .model
        .as_ref()
        .map(|it| format!(" with {it}"))
        .unwrap_or_default();
    let place = match task.isolation {
        Some(Isolation::Worktree) => " in a checkout of its own",
        Some(Isolation::Shared) | None => "",
    };
    // All of it, whoever judges or decides (spec 9.4).
    let all = format!("{who}{model}{place}\n{}", task.prompt);
    Plan::build(format!("Agent {who}{model}{place}: {about}"))
        .access(Access::Agent {
            task: task.prompt.clone(),
        })
        .preview(Preview::Text(task.prompt.clone()))
        .shown(all)
        .then(move |run| ask(Wish::Spawn(task), run))
}

async fn ask(wish: Wish, run: Run) -> Result<Done, String> {
    let call = run.output.call;
    tokio::select! {
        answer = run.world.editor.agent(run.world.session.clone(), call, wish) => match answer {
            Ok(answer) => answer.map(Done::text),
            // The agent was ended with the turn.
            Err(_) => Ok(Done::Cancelled),
        },
        () = run.token.cancelled() => Ok(Done::Cancelled),
    }
}
