//! The task itself: a session is opened, the prompt is sent, what comes is shown, and how it ended is said.

use super::page::Page;
use super::report::{self, Ended, Report, Waiting, tell_what_waits};
use super::shape::once_more;
use super::{Asked, Begin, Console, Format, Heard, Interrupt, say};
use crate::store::Folders;
use crate::store::approvals::{Approvals, State};
use protocol::acp;
use protocol::hunks::{ListReviewParams, ReviewList};
use protocol::methods::{self, ClientRequest, Notification};
use protocol::usage::UsageParams;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// What `timeout(1)` answers too.
const TIMED_OUT: i32 = 124;

/// Does it; answers the exit code.
pub async fn run(console: Console, interrupt: Interrupt, asked: Asked, most: Duration) -> i32 {
    let began = Instant::now();
    let mut task = Task {
        console,
        interrupt,
        page: match (asked.format, &asked.shape) {
            (Format::Text, None) => Page::default(),
            // Stdout is for a program, or for the value alone.
            (Format::Text, Some(_)) | (Format::Json | Format::Ndjson, _) => Page::silent(),
        },
        report: Report {
            is_stream: asked.format == Format::Ndjson,
        },
        answer: String::new(),
        until: tokio::time::Instant::now() + most,
        most,
    };
    let mut ended = Ended::default();
    let outcome = task.work(&asked, &mut ended).await;
    let code = match &outcome {
        Ok(()) => 0,
        Err(why) => {
            say(&format!("undine: {}", why.text()));
            ended.error = Some(why.text().to_owned());
            match why {
                Why::TimedOut(_) => TIMED_OUT,
                Why::Failed(_) | Why::Stopped(_) => 1,
            }
        }
    };
    if let Err(why) = &outcome {
        match why {
            Why::TimedOut(_) => "timed_out".clone_into(&mut ended.stop_reason),
            Why::Failed(_) => "failed".clone_into(&mut ended.stop_reason),
            // ACP's reason stands there.
            Why::Stopped(_) => {}
        }
    }
    ended.text = std::mem::take(&mut task.answer);
    ended.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    ended.waiting = waiting(ended.session_id.as_deref());
    tell_what_waits(&ended.waiting);
    let written = match (asked.format, &ended.output) {
        (Format::Json | Format::Ndjson, _) => task.report.end(&ended),
        (Format::Text, Some(value)) => report::print(value),
        (Format::Text, None) => Ok(()),
    };
    match written {
        Ok(()) => code,
        Err(why) => {
            say(&format!("undine: {why}"));
            1
        }
    }
}

/// Why the task did not end as it should. The texts are sentences for the person.
enum Why {
    Failed(String),
    /// The turn ended by itself or by the person, with a reason of its own.
    Stopped(String),
    TimedOut(String),
}

impl Why {
    fn text(&self) -> &str {
        match self {
            Self::Failed(it) | Self::Stopped(it) | Self::TimedOut(it) => it,
        }
    }
}

impl From<String> for Why {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

struct Task {
    console: Console,
    interrupt: Interrupt,
    page: Page,
    report: Report,
    /// What the model has said since its last call.
    answer: String,
    until: tokio::time::Instant,
    most: Duration,
}

impl Task {
    async fn work(&mut self, asked: &Asked, ended: &mut Ended) -> Result<(), Why> {
        let methods = [methods::Update::METHOD, methods::Retry::METHOD];
        self.console.introduce(&asked.folder, &methods).await?;
        let session = self.open(&asked.folder, &asked.session).await?;
        ended.session_id = Some(session.0.to_string());
        self.report.started(&session.0)?;
        let outcome = self.turns(asked, &session, ended).await;
        self.page.end()?;
        if outcome.is_ok() || !matches!(outcome, Err(Why::Failed(_))) {
            self.ask_what_came_of_it(&session, ended).await?;
        }
        outcome
    }

    /// The turn, and where the answer does not fit what it is to be, another one.
    async fn turns(
        &mut self,
        asked: &Asked,
        session: &acp::SessionId,
        ended: &mut Ended,
    ) -> Result<(), Why> {
        let Some(shape) = &asked.shape else {
            return self.turn(session, asked.prompt.clone(), ended).await;
        };
        self.turn(session, shape.asked(&asked.prompt), ended)
            .await?;
        let fault = match shape.fits(&self.answer) {
            Ok(value) => {
                ended.output = Some(value);
                return Ok(());
            }
            Err(fault) => fault,
        };
        self.turn(session, once_more(&fault), ended).await?;
        match shape.fits(&self.answer) {
            Ok(value) => {
                ended.output = Some(value);
                Ok(())
            }
            Err(fault) => Err(Why::Failed(format!(
                "The model's answer does not fit the schema: {fault}."
            ))),
        }
    }

    async fn open(&mut self, folder: &Path, session: &Begin) -> Result<acp::SessionId, Why> {
        match session {
            Begin::New => {
                let params = acp::NewSessionRequest::new(folder);
                let opened: acp::NewSessionResponse =
                    self.ask(ClientRequest::NewSession(params)).await?;
                Ok(opened.session_id)
            }
            Begin::Resume(id) => {
                let id = acp::SessionId::new(id.clone());
                self.load(folder, &id).await?;
                Ok(id)
            }
            Begin::Continue => {
                let params = acp::ListSessionsRequest::new().cwd(folder.to_path_buf());
                let list: acp::ListSessionsResponse =
                    self.ask(ClientRequest::ListSessions(params)).await?;
                let mut first = None;
                for it in list.sessions {
                    match self.load(folder, &it.session_id).await {
                        Ok(()) => return Ok(it.session_id),
                        Err(why) => {
                            say(&format!("undine: {why} It is left out."));
                            first.get_or_insert(why);
                        }
                    }
                }
                Err(Why::Failed(first.unwrap_or_else(|| {
                    "This project has no session to go on with; leave --continue out.".to_owned()
                })))
            }
        }
    }

    /// Opens a session that there is. What it replays is not shown.
    async fn load(&mut self, folder: &Path, id: &acp::SessionId) -> Result<(), String> {
        let params = acp::LoadSessionRequest::new(id.clone(), folder);
        let _: acp::LoadSessionResponse = self.ask(ClientRequest::LoadSession(params)).await?;
        Ok(())
    }

    /// Asks for something that takes no time.
    async fn ask<T: DeserializeOwned>(&mut self, request: ClientRequest) -> Result<T, String> {
        let id = self.console.request(request).await;
        loop {
            match self.console.next().await? {
                Heard::Answer(answered, answer) if answered == id => return read(answer?),
                Heard::Update(_) | Heard::Answer(..) => {}
                other @ (Heard::Retry(_) | Heard::Message(_)) => self.show(other)?,
            }
        }
    }

    fn show(&mut self, heard: Heard) -> Result<(), String> {
        self.report.show(&heard)?;
        if let Heard::Update(update) = &heard {
            match &**update {
                acp::SessionUpdate::AgentMessageChunk(chunk) if !is_notice(chunk) => {
                    if let acp::ContentBlock::Text(it) = &chunk.content {
                        self.answer.push_str(&it.text);
                    }
                }
                // What is said next is another answer.
                acp::SessionUpdate::ToolCall(_) => self.answer.clear(),
                _ => {}
            }
        }
        self.page.show(heard)
    }

    async fn turn(
        &mut self,
        session: &acp::SessionId,
        prompt: String,
        ended: &mut Ended,
    ) -> Result<(), Why> {
        self.answer.clear();
        let block = acp::ContentBlock::Text(acp::TextContent::new(prompt));
        let params = acp::PromptRequest::new(session.clone(), vec![block]);
        let asked = self.console.request(ClientRequest::Prompt(params)).await;
        let (mut cancelled, mut timed_out) = (false, false);
        let answer = loop {
            tokio::select! {
                heard = self.console.next() => match heard? {
                    Heard::Answer(id, answer) if id == asked => break answer,
                    other => self.show(other)?,
                },
                () = self.interrupt.next() => match cancelled {
                    // The second time: what is left is ended with the process.
                    true => return Err(Why::Failed("The task was broken off.".to_owned())),
                    false => {
                        cancelled = true;
                        self.console.cancel(session).await;
                    }
                },
                () = tokio::time::sleep_until(self.until), if !timed_out => {
                    timed_out = true;
                    self.console.cancel(session).await;
                }
            }
        };
        if timed_out {
            let secs = self.most.as_secs();
            return Err(Why::TimedOut(format!(
                "The task was ended because it took longer than {secs} seconds (limits.run_secs)."
            )));
        }
        let answered: acp::PromptResponse = read(answer?)?;
        let reason = serde_json::to_value(answered.stop_reason).unwrap_or_default();
        ended.stop_reason = reason.as_str().unwrap_or_default().to_owned();
        let stopped = |text: &str| Err(Why::Stopped(text.to_owned()));
        match answered.stop_reason {
            acp::StopReason::EndTurn => Ok(()),
            acp::StopReason::Cancelled => stopped("The task was cancelled."),
            acp::StopReason::MaxTokens => {
                stopped("The model's answer reached its largest size and was cut.")
            }
            acp::StopReason::Refusal => stopped("The model refused to answer."),
            acp::StopReason::MaxTurnRequests => stopped(
                "The task was stopped: the model was asked as often as limits.turn_answers allows.",
            ),
            other => stopped(&format!("The task was stopped ({other:?}).")),
        }
    }

    async fn ask_what_came_of_it(
        &mut self,
        session: &acp::SessionId,
        ended: &mut Ended,
    ) -> Result<(), String> {
        let session_id = session.0.to_string();
        let params = UsageParams {
            session_id: session_id.clone(),
        };
        ended.usage = Some(self.ask(ClientRequest::SessionUsage(params)).await?);
        let params = ListReviewParams {
            session_id: Some(session_id),
            ..ListReviewParams::default()
        };
        let list: ReviewList = self.ask(ClientRequest::ListReview(params)).await?;
        let files = list.files.into_iter().map(|it| it.uri);
        ended.changed_files = files.map(|it| it.to_string()).collect();
        Ok(())
    }
}

/// A line of Undine's own, which is no part of an answer.
fn is_notice(chunk: &acp::ContentChunk) -> bool {
    let own = chunk.meta.as_ref().and_then(|it| it.get("undine"));
    own.is_some_and(|it| it["notice"] == Value::Bool(true))
}

/// Reads an answer of our own loop.
fn read<T: DeserializeOwned>(answer: Value) -> Result<T, String> {
    serde_json::from_value(answer)
        .map_err(|error| format!("The server's answer cannot be read ({error})."))
}

/// The actions of a session that wait for an approval.
fn waiting(session: Option<&str>) -> Vec<Waiting> {
    let Some(session) = session else {
        return Vec::new();
    };
    let all = Approvals::new(&Folders::from_environment().data).list();
    let own = all.into_iter();
    own.filter(|it| it.session == session && it.state == State::Pending)
        .map(|it| Waiting {
            id: it.id,
            title: it.offer.title,
        })
        .collect()
}
