//! Looks after commands in the background (spec 6). Only those of its own session, and never by a number that is not
//! one of theirs; so it needs no approval.

use super::Tool;
use super::lines::{READ_BYTES, piece_text, status};
use crate::plan::{Done, Plan, Run, World};
use crate::process::background::Job;
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

pub struct BackgroundProcess;

/// Look after commands that run in the background: those that execute_command started with mode background, and those
/// that the person moved there.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// list: all of them. read: the output since the last reading. wait: the same, once it has exited, said the
    /// pattern or time is up. stop: ends it with all it has started.
    action: Action,
    /// Which one, as bg-1234. Needed by all but list.
    #[serde(default)]
    id: Option<Id>,
    /// Plain text that ends the waiting when it appears in new output.
    #[serde(default)]
    pattern: Option<String>,
    /// Seconds that wait takes at most.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 3600))]
    timeout_secs: f64,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    List,
    Read,
    Wait,
    Stop,
}

/// Models write ids as they see them, or only the number in it.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Id {
    Text(String),
    #[schemars(skip)]
    Number(i64),
}

/// Spec 6.1.
fn default_timeout() -> f64 {
    300.0
}

impl Tool for BackgroundProcess {
    const NAME: &'static str = "background_process";
    const KIND: ToolKind = ToolKind::Other;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let Input {
            action,
            id,
            pattern,
            timeout_secs,
        } = input;
        let id = id.map(|it| match it {
            Id::Text(text) => text,
            Id::Number(number) => number.to_string(),
        });
        let find = |what: &str| {
            let id = id.as_deref().ok_or(format!(
                "Bad arguments for background_process: {what} needs an id; list tells them. Nothing was done."
            ))?;
            let job = world.jobs.find(&world.session, id);
            job.ok_or_else(|| {
                format!("There is no background process {id} in this session; list tells which there are.")
            })
        };
        Ok(match action {
            Action::List => Plan::build("List background processes".to_owned())
                .then(async |run: Run| Ok(Done::text(list(&run.world)))),
            Action::Read => {
                let job = find("read")?;
                Plan::build(format!("Read the output of {}", job.id()))
                    .then(async move |_| told(&job, None))
            }
            Action::Wait => {
                let job = find("wait")?;
                if pattern.as_ref().is_some_and(String::is_empty) {
                    return Err(
                        "The pattern is empty; leave it out to wait for the end.".to_owned()
                    );
                }
                let time = Duration::from_secs_f64(timeout_secs.clamp(1.0, 3600.0));
                let most = time.as_secs_f64();
                Plan::build(format!("Wait for {}, {most} s at most", job.id()))
                    .then(async move |run| wait(&job, pattern, time, run).await)
            }
            Action::Stop => {
                let job = find("stop")?;
                Plan::build(format!("Stop {}", job.id())).then(async move |_| {
                    let headline = if job.is_over() {
                        "It had exited already."
                    } else {
                        job.stop().await;
                        "Stopped, with all it had started."
                    };
                    told(&job, Some(headline.to_owned()))
                })
            }
        })
    }
}

fn list(world: &World) -> String {
    let all = world.jobs.list(&world.session);
    if all.is_empty() {
        return "This session has no background processes.".to_owned();
    }
    let lines: Vec<String> = all.iter().map(|it| status(it)).collect();
    lines.join("\n\n")
}

async fn wait(
    job: &Arc<Job>,
    pattern: Option<String>,
    time: Duration,
    run: Run,
) -> Result<Done, String> {
    let headline = {
        let happens = async {
            match &pattern {
                Some(pattern) => match job.wait_for(pattern, job.read_to()).await {
                    true => format!("The pattern {pattern:?} appeared."),
                    false => format!("It exited, and the pattern {pattern:?} did not appear."),
                },
                None => {
                    // The sender is in the job.
                    let _ = job.watch().wait_for(|it| it.over.is_some()).await;
                    "It exited.".to_owned()
                }
            }
        };
        tokio::select! {
            biased;
            () = run.token.cancelled() => return Ok(Done::Cancelled),
            headline = happens => headline,
            () = tokio::time::sleep(time) => format!("Nothing of the kind within {} s.", time.as_secs_f64()),
        }
    };
    told(job, Some(headline))
}

/// Headline, status and what is new.
fn told(job: &Job, headline: Option<String>) -> Result<Done, String> {
    let piece = job
        .read_on(READ_BYTES)
        .map_err(|error| format!("The output of {} cannot be read ({error}).", job.id()))?;
    let text = piece_text(&piece);
    let mut parts: Vec<String> = headline.into_iter().collect();
    parts.push(status(job));
    parts.push(match text.is_empty() {
        true => "(no new output)".to_owned(),
        false => text,
    });
    Ok(Done::text(parts.join("\n")))
}
