//! A project's hooks and the person's trust in them; and running hooks (spec 21.5).
//!
//! A hook runs as a command does: with its whole tree under a launcher, without keys in its environment, and no longer
//! than its time. What an answer means is the engine's business.

use crate::process::environment::scrubbed;
use crate::process::{Children, Command, End, Limits, Streams, run};
use crate::regular;
use crate::store::trust::Trust;
use engine::hooks::{Answer, Ended, Happened};
use engine::redact::redact;
use engine::text::visible;
use protocol::config::Hook;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The most bytes of a project's file, and of what a hook writes to its stderr that are read.
const MOST: u64 = 64 * 1024;

/// The most bytes of a hook's answer.
const MOST_ANSWER: usize = 1024 * 1024;

/// A project's own hooks.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectHooks {
    None,
    /// What is wrong with its file, a sentence.
    Unreadable(String),
    Found(Found),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub hooks: Vec<Hook>,
    /// Stands for exactly this content.
    pub id: String,
    pub is_trusted: bool,
    content: Vec<u8>,
}

/// Where a project's hooks stand.
pub const FILE: &str = ".undine/hooks.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    hooks: Vec<Hook>,
}

impl ProjectHooks {
    /// Those of a project, as they are now. What is judged and what would run are the same bytes.
    pub fn find(root: &Path, trust: &Trust) -> Self {
        let unreadable = |why: String| Self::Unreadable(format!("{FILE} is not used: {why}."));
        let content = match regular::read_capped(&root.join(FILE), MOST) {
            Ok(Some(content)) => content,
            Ok(None) => return unreadable(format!("it is larger than {MOST} bytes")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::None,
            Err(error) => return unreadable(error.to_string()),
        };
        let file = String::from_utf8(content.clone()).map_err(|it| it.to_string());
        let file =
            file.and_then(|it| toml::from_str::<File>(&it).map_err(|it| it.message().to_owned()));
        match file {
            Ok(File { hooks }) if hooks.is_empty() => Self::None,
            Ok(File { hooks }) => Self::Found(Found {
                hooks,
                id: Trust::id(&content)[..ID].to_owned(),
                is_trusted: trust.has(root, &content),
                content,
            }),
            Err(why) => unreadable(why),
        }
    }

    /// Answers `/trust` and `undine trust`: shows the hooks, or trusts those with this id, or none any more.
    pub fn answer(root: &Path, trust: &Trust, wish: &str) -> Result<String, String> {
        let failed =
            |error: io::Error| format!("That cannot be kept ({error}); nothing has changed.");
        let found = match Self::find(root, trust) {
            Self::None => {
                return Ok(format!(
                    "This project has no hooks; they would stand in {FILE}."
                ));
            }
            Self::Unreadable(why) => return Err(why),
            Self::Found(found) => found,
        };
        let id = &found.id;
        match wish.trim() {
            "" => Ok(found.list()),
            "off" => {
                trust.remove(root).map_err(failed)?;
                Ok("The project's hooks do not run any more.".to_owned())
            }
            wish if wish == id => {
                trust.add(root, &found.content).map_err(failed)?;
                Ok(
                    "The project's hooks run from now on, as long as their file stays as it is."
                        .to_owned(),
                )
            }
            wish => Err(format!(
                "The project's hooks have the id {id}, not {wish}; look at them before you trust them."
            )),
        }
    }
}

/// Digits of an id that the person writes.
const ID: usize = 12;

impl Found {
    fn list(&self) -> String {
        let lines = self.hooks.iter().map(|it| {
            let tool = it
                .tool
                .as_deref()
                .map(|it| format!(", {it}"))
                .unwrap_or_default();
            let event = serde_json::to_value(it.event).unwrap_or_default();
            let line = it.command.replace('\n', "\\n");
            format!(
                "- {}{}: `{}`",
                event.as_str().unwrap_or_default(),
                visible(&tool),
                visible(&redact(&line))
            )
        });
        let lines: Vec<String> = lines.collect();
        let id = &self.id;
        let end = match self.is_trusted {
            true => "You have trusted them; they run. `/trust off` takes that back.".to_owned(),
            false => format!(
                "They do not run. `/trust {id}` lets exactly these run in this project, and the files that they name with them."
            ),
        };
        format!(
            "Hooks of this project, in {FILE}:\n{}\n\n{end}",
            lines.join("\n")
        )
    }
}

/// What hooks need to run.
#[derive(Clone)]
pub struct Runner {
    pub hooks: Arc<[Hook]>,
    pub session: String,
    /// The project's folder, where they run.
    pub root: PathBuf,
    pub children: Arc<Children>,
    pub key_variables: Arc<[String]>,
    pub secs: u64,
    pub grace: Duration,
}

/// What hooks made of a call.
#[derive(Debug, Default)]
pub struct Before {
    /// Why it is refused, for the model.
    pub denied: Option<String>,
    /// The arguments, if they are others now.
    pub rewritten: Option<Value>,
    /// For the model.
    pub context: Vec<String>,
    /// For the person.
    pub warnings: Vec<String>,
}

impl Runner {
    /// Lets hooks look at a call, one after the other: each sees what those before it made of the arguments. The first that
    /// refuses ends it.
    pub async fn before(&self, tool: &str, arguments: &Value, token: &CancellationToken) -> Before {
        let mut before = Before::default();
        let mut input = arguments.clone();
        for hook in self.hooks.iter() {
            let happened = Happened::BeforeToolUse {
                tool,
                input: &input,
            };
            if !happened.is_for(hook) {
                continue;
            }
            let (ended, out, errors) = self.run(hook, &self.told(&happened), token).await;
            if token.is_cancelled() {
                break;
            }
            let (answer, warning) = Answer::read(&ended, &out, &errors);
            before
                .warnings
                .extend(warning.map(|why| warning_of(hook, &why)));
            match answer {
                Answer::Deny(reason) => {
                    before.denied = Some(engine::hooks::refusal(&reason));
                    return before;
                }
                Answer::Go {
                    input: other,
                    context,
                } => {
                    before.context.extend(context);
                    if let Some(other) = other {
                        input = Value::Object(other);
                    }
                }
            }
        }
        if input != *arguments {
            before.rewritten = Some(input);
        }
        before
    }

    /// Whether any hook hears of this.
    pub fn hears(&self, happened: &Happened<'_>) -> bool {
        self.hooks.iter().any(|it| happened.is_for(it))
    }

    /// Tells hooks what has happened; what they say counts for nothing. Answers what the person is to be warned of. None
    /// where no hook hears of it.
    pub fn telling(
        &self,
        happened: &Happened<'_>,
    ) -> Option<impl Future<Output = Vec<String>> + Send + use<>> {
        let hooks: Vec<Hook> = self
            .hooks
            .iter()
            .filter(|it| happened.is_for(it))
            .cloned()
            .collect();
        let told = self.told(happened);
        let runner = self.clone();
        (!hooks.is_empty()).then_some(async move {
            let mut warnings = Vec::new();
            let token = CancellationToken::new();
            for hook in &hooks {
                let (ended, _, errors) = runner.run(hook, &told, &token).await;
                let (_, warning) = Answer::read(&ended, "", &errors);
                warnings.extend(warning.map(|why| warning_of(hook, &why)));
            }
            warnings
        })
    }

    fn told(&self, happened: &Happened<'_>) -> String {
        happened
            .told(&self.session, &self.root.display().to_string())
            .to_string()
    }

    /// How it ended, and what it wrote.
    async fn run(
        &self,
        hook: &Hook,
        told: &str,
        token: &CancellationToken,
    ) -> (Ended, String, String) {
        // A command of ours has nothing to read and one stream to write to, so files stand for the others.
        let files = tempfile::tempdir().and_then(|folder| {
            let (input, errors) = (folder.path().join("input"), folder.path().join("errors"));
            fs::write(&input, told)?;
            fs::write(&errors, "")?;
            Ok((folder, input, errors))
        });
        let (folder, input, errors) = match files {
            Ok(files) => files,
            Err(error) => {
                return (
                    Ended::Failed(format!("was not started ({error})")),
                    String::new(),
                    String::new(),
                );
            }
        };
        let also_secret: Vec<&str> = self.key_variables.iter().map(String::as_str).collect();
        let mut environment = scrubbed(std::env::vars_os(), &also_secret);
        environment.push((INPUT.into(), input.into()));
        environment.push((ERRORS.into(), errors.clone().into()));
        let command = Command {
            line: format!(
                "exec <\"${INPUT}\" 2>\"${ERRORS}\"\nunset {INPUT} {ERRORS}\n{}",
                hook.command
            ),
            folder: self.root.clone(),
            environment,
            streams: Streams::Pipe,
            sandbox: None,
            limits: Limits {
                timeout: Duration::from_secs(self.secs),
                grace: self.grace,
                n_output: MOST_ANSWER,
            },
        };
        let ran = run(command, self.children.place(), token.clone(), |_| {}).await;
        let said = regular::read_capped(&errors, MOST)
            .ok()
            .flatten()
            .unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        // Not before the command has ended: it reads from there.
        drop(folder);
        match ran {
            Ok(outcome) => {
                let ended = match outcome.end {
                    End::Exited(_) if outcome.output.is_truncated() => {
                        Ended::Failed(format!("said more than {MOST_ANSWER} bytes"))
                    }
                    End::Exited(code) => Ended::Exited(code),
                    End::Signalled(signal) => {
                        Ended::Failed(format!("was ended by signal {signal}"))
                    }
                    End::TimedOut => Ended::TimedOut(self.secs),
                    End::Cancelled => Ended::Failed("was cancelled".to_owned()),
                };
                (ended, outcome.output.text, said)
            }
            Err(error) => (
                Ended::Failed(format!("was not started ({error})")),
                String::new(),
                said,
            ),
        }
    }
}

const INPUT: &str = "UNDINE_HOOK_INPUT";
const ERRORS: &str = "UNDINE_HOOK_ERRORS";

fn warning_of(hook: &Hook, why: &str) -> String {
    let line = engine::text::visible_line(&redact(&hook.command), 100);
    format!("The hook `{line}` {why}; the agent went on without it.")
}
