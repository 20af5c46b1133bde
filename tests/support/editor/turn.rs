//! Sessions and turns, as a person who works with them sees them.

use super::connection::{RpcError, outcome};
use super::{Asking, Editor, Pending, is_answer};
use protocol::acp::{self, SessionUpdate, StopReason};
use protocol::methods::{
    Cancel, ListSessions, LoadSession, NewSession, Prompt, RequestPermission, SetMode,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// What a turn showed, up to its answer.
#[derive(Debug)]
pub struct Turn {
    pub end: Result<StopReason, RpcError>,
    pub updates: Vec<SessionUpdate>,
    /// The answer's `_meta.undine`.
    pub beside: Value,
}

impl Turn {
    /// What the model said, joined.
    pub fn text(&self) -> String {
        let said = self.updates.iter().filter_map(|it| match it {
            SessionUpdate::AgentMessageChunk(chunk) => Some(content(&chunk.content)),
            _ => None,
        });
        said.collect()
    }

    /// The last status of each call, by id.
    pub fn calls(&self) -> BTreeMap<String, String> {
        let mut calls = BTreeMap::new();
        for update in &self.updates {
            let update = serde_json::to_value(update).unwrap();
            if let Some(id) = update["toolCallId"].as_str() {
                let status = update["status"].as_str().unwrap_or("pending").to_owned();
                match update["sessionUpdate"].as_str() {
                    Some("tool_call") => drop(calls.insert(id.to_owned(), status)),
                    Some(_) | None if !update["status"].is_null() => {
                        drop(calls.insert(id.to_owned(), status))
                    }
                    Some(_) | None => {}
                }
            }
        }
        calls
    }

    /// Updates of one kind, as JSON.
    pub fn of_kind(&self, kind: &str) -> Vec<Value> {
        let all = self
            .updates
            .iter()
            .map(|it| serde_json::to_value(it).unwrap());
        all.filter(|it| it["sessionUpdate"] == kind).collect()
    }
}

/// All texts that an update of a call carries, joined.
pub fn text_of_call(update: &Value) -> String {
    let parts = update["content"].as_array().into_iter().flatten();
    parts
        .filter_map(|it| it["content"]["text"].as_str())
        .collect()
}

fn content(block: &acp::ContentBlock) -> String {
    match block {
        acp::ContentBlock::Text(text) => text.text.clone(),
        other => panic!("no text: {other:?}"),
    }
}

impl Editor {
    /// Opens a session in the project.
    #[track_caller]
    pub fn new_session(&self) -> acp::SessionId {
        self.ask::<NewSession>(acp::NewSessionRequest::new(self.root.clone()))
            .unwrap()
            .session_id
    }

    /// Opens a session from its log; answers what was replayed.
    #[track_caller]
    pub fn load(&self, session: &acp::SessionId) -> Result<Vec<SessionUpdate>, RpcError> {
        let pending = self.request::<LoadSession>(acp::LoadSessionRequest::new(
            session.clone(),
            self.root.clone(),
        ));
        let (mut state, at) = self
            .connection
            .wait("the answer to session/load", |it| is_answer(it, pending.id));
        outcome(state.unread.remove(at).unwrap())?;
        Ok(updates_before(&mut state.unread, at))
    }

    /// The sessions of the project.
    #[track_caller]
    pub fn sessions(&self) -> Vec<acp::SessionInfo> {
        self.ask::<ListSessions>(acp::ListSessionsRequest::new().cwd(self.root.clone()))
            .unwrap()
            .sessions
    }

    pub fn prompt(&self, session: &acp::SessionId, text: &str) -> Pending<Prompt> {
        self.request::<Prompt>(acp::PromptRequest::new(session.clone(), vec![text.into()]))
    }

    pub fn cancel(&self, session: &acp::SessionId) {
        self.notify::<Cancel>(acp::CancelNotification::new(session.clone()));
    }

    #[track_caller]
    pub fn set_mode(&self, session: &acp::SessionId, mode: &str) {
        self.ask::<SetMode>(acp::SetSessionModeRequest::new(
            session.clone(),
            mode.to_owned(),
        ))
        .unwrap();
        self.take("the update of the mode", |it| {
            it["params"]["update"]["currentModeId"] == mode
        });
    }

    /// Waits for the end of a prompt, and takes all updates that came before it.
    #[track_caller]
    pub fn end(&self, prompt: &Pending<Prompt>) -> Turn {
        let (mut state, at) = self
            .connection
            .wait(&format!("the end of prompt {}", prompt.id), |it| {
                is_answer(it, prompt.id)
            });
        let answer = outcome(state.unread.remove(at).unwrap());
        let updates = updates_before(&mut state.unread, at);
        let beside = answer
            .as_ref()
            .map_or(Value::Null, |it| it["_meta"]["undine"].clone());
        let end = answer.map(|it| {
            serde_json::from_value::<acp::PromptResponse>(it)
                .unwrap()
                .stop_reason
        });
        Turn {
            end,
            updates,
            beside,
        }
    }

    /// Waits for an update that fits, and takes it with all before it.
    #[track_caller]
    pub fn updates_until(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Vec<SessionUpdate> {
        let fits = |it: &Value| it["method"] == "session/update" && fits(&it["params"]["update"]);
        let (mut state, at) = self.connection.wait(what, fits);
        updates_before(&mut state.unread, at + 1)
    }

    /// Waits for text of the model.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        self.updates_until(text, |it| {
            it["sessionUpdate"] == "agent_message_chunk"
                && it["content"]["text"]
                    .as_str()
                    .is_some_and(|it| it.contains(text))
        });
    }

    /// The next question whether a call may run.
    #[track_caller]
    pub fn question(&self) -> Asking<RequestPermission> {
        self.expect::<RequestPermission>()
    }

    /// Answers a question by an option's id.
    pub fn choose(&self, question: &Asking<RequestPermission>, option: &str) {
        let offered = question
            .params
            .options
            .iter()
            .map(|it| it.option_id.to_string());
        assert!(
            offered.into_iter().any(|it| it == option),
            "{option} is not offered: {:?}",
            question.params
        );
        let selected = acp::SelectedPermissionOutcome::new(option.to_owned());
        let outcome = acp::RequestPermissionOutcome::Selected(selected);
        self.reply(question, &acp::RequestPermissionResponse::new(outcome));
    }

    /// Answers a question with no and a reason.
    pub fn deny(&self, question: &Asking<RequestPermission>, note: &str) {
        let outcome =
            json!({"outcome": "selected", "optionId": "no", "_meta": {"undine": {"note": note}}});
        self.raw_reply(&question.id, json!({"outcome": outcome}));
    }
}

/// Takes the updates among the first messages.
fn updates_before(unread: &mut VecDeque<Value>, end: usize) -> Vec<SessionUpdate> {
    let rest = unread.split_off(end);
    let (updates, other) = unread
        .drain(..)
        .partition(|it| it["method"] == "session/update");
    *unread = other;
    unread.extend(rest);
    let updates: VecDeque<Value> = updates;
    updates.into_iter().map(update_of).collect()
}

fn update_of(mut message: Value) -> SessionUpdate {
    let update = message["params"]["update"].take();
    serde_json::from_value(update.clone()).unwrap_or_else(|it| panic!("{it}: {update:#}"))
}
