//! Permissions and forms: asking the person, and what the editor answers.

use crate::asking::{CallKey, Pending};
use crate::event::SessionKey;
use crate::lsp::Answer;
use crate::main_loop::Host;
use crate::show;
use engine::session::{CallChange, CallContent, CallStatus, Decision, Input, Question};
use engine::text::visible;
use protocol::acp::{self, ElicitationAction, RequestPermissionOutcome};
use protocol::approval::OptionId;
use protocol::document::SaveDocumentResult;
use protocol::lsp::{self, MessageType};
use protocol::methods::{self, Request};
use protocol::session::CallId;
use serde_json::{Value, json};
use tokio::sync::oneshot;

impl Host {
    pub(crate) fn ask_person(&mut self, session: &SessionKey, call: CallId, question: Question) {
        let key = (session.clone(), call);
        let method = methods::RequestPermission::METHOD;
        if self.client.takes(method) {
            let id = self.asking.open(Pending::Permission(key.clone()));
            let params = permission_request(&key, &question, id);
            self.asking.questions.insert(key, question);
            self.out.request(id, method, &params);
        } else {
            self.asking.questions.insert(key.clone(), question);
            self.asking.enqueue_message(key);
            self.show_next_question();
        }
    }

    /// The question is moot: the editor takes it away.
    pub(crate) fn stop_asking(&mut self, session: &SessionKey, call: CallId) {
        if let Some(id) = self.asking.close_question(&(session.clone(), call)) {
            self.out.notify("$/cancelRequest", &json!({"id": id}));
            self.show_next_question();
        }
    }

    /// Shows the next question by `window/showMessageRequest`, one at a time.
    fn show_next_question(&mut self) {
        let Some((id, key)) = self.asking.next_message() else {
            return;
        };
        let Some(question) = self.asking.questions.get(&key) else {
            return;
        };
        let actions: Vec<Value> = question
            .options
            .iter()
            .map(|it| json!({"title": it.label}))
            .collect();
        let params =
            json!({"type": MessageType::Info, "message": message(question), "actions": actions});
        self.out.request(id, "window/showMessageRequest", &params);
    }

    pub(crate) fn ask_elicit(
        &mut self,
        request: acp::CreateElicitationRequest,
        reply: oneshot::Sender<Option<ElicitationAction>>,
    ) {
        let method = methods::CreateElicitation::METHOD;
        if !self.client.takes(method) {
            // Its task may have given up this moment.
            let _ = reply.send(None);
            return;
        }
        let id = self.asking.open(Pending::Elicit(reply));
        let request = request.meta(show::meta(json!({"requestId": id})));
        self.out.request(id, method, &request);
    }

    /// Takes questions away whose turn has ended.
    pub(crate) fn drop_abandoned(&mut self) {
        for id in self.asking.abandoned() {
            self.out.notify("$/cancelRequest", &json!({"id": id}));
        }
    }

    /// An answer of the editor. One that nobody waits for any more is dropped.
    pub(crate) fn answered(&mut self, answer: Answer) {
        let Some(pending) = self.asking.answered(answer.id) else {
            return;
        };
        match pending {
            Pending::Permission(key) => self.permission_answered(key, answer),
            Pending::Message(key) => self.message_answered(key, answer),
            Pending::ApplyEdit(reply) => {
                let result = match answer.result {
                    Ok(value) => serde_json::from_value::<lsp::ApplyWorkspaceEditResult>(value)
                        .map_err(|_| "it gave no answer that can be read".to_owned()),
                    Err(error) => Err(error.message.into_owned()),
                };
                // Its task may have given up this moment.
                let _ = reply.send(result);
            }
            Pending::Save(reply) => {
                let saved = answer
                    .result
                    .ok()
                    .and_then(|it| serde_json::from_value::<SaveDocumentResult>(it).ok());
                let _ = reply.send(saved.is_some_and(|it| it.saved));
            }
            Pending::Elicit(reply) => {
                let response = answer.result.ok().and_then(|it| {
                    serde_json::from_value::<acp::CreateElicitationResponse>(it).ok()
                });
                let _ = reply.send(response.map(|it| it.action));
            }
            Pending::Errand(number) => self.errand_decided(number, answer),
            Pending::Ignored => {}
        }
    }

    fn permission_answered(&mut self, key: CallKey, answer: Answer) {
        let response = answer
            .result
            .ok()
            .and_then(|it| serde_json::from_value::<acp::RequestPermissionResponse>(it).ok());
        // What is no yes is a no: an error, a "cancelled", an option that was not offered.
        let (option, note) = match response.map(|it| it.outcome) {
            Some(RequestPermissionOutcome::Selected(it)) => {
                let note = it
                    .meta
                    .as_ref()
                    .and_then(|it| it.get("undine")?.get("note")?.as_str().map(str::to_owned));
                (
                    OptionId::from_id(&it.option_id.0).unwrap_or(OptionId::No),
                    note,
                )
            }
            Some(_) | None => (OptionId::No, None),
        };
        self.decide(key, Decision { option, note });
    }

    fn message_answered(&mut self, key: CallKey, answer: Answer) {
        let chosen = answer.result.ok().and_then(|it| {
            let title = it.get("title")?.as_str()?.to_owned();
            let question = self.asking.questions.get(&key)?;
            // The editor sends back the action we gave it; it is compared, not read.
            question
                .options
                .iter()
                .find(|it| it.label == title)
                .map(|it| it.id)
        });
        match chosen {
            Some(option) => self.decide(key, Decision { option, note: None }),
            // A closed toast is no answer: it stays open, and can be given by a code action.
            None if self.asking.questions.contains_key(&key) => {
                let title = self
                    .asking
                    .questions
                    .get(&key)
                    .map(|it| it.title.clone())
                    .unwrap_or_default();
                self.show_message(
                    MessageType::Info,
                    &format!("Undine still waits for your answer: {title}. Give it by a code action, or cancel the task."),
                );
            }
            None => {}
        }
        self.show_next_question();
    }

    /// Passes a decision on; the question is closed.
    pub(crate) fn decide(&mut self, key: CallKey, decision: Decision) {
        if let Some(id) = self.asking.close_question(&key) {
            self.out.notify("$/cancelRequest", &json!({"id": id}));
        }
        let (session, call) = key;
        self.step(&session, Input::Decided(call, decision));
        self.show_next_question();
    }
}

/// The id rides in `_meta` too: not every editor tells its handlers the id that a `$/cancelRequest`
/// will name.
fn permission_request(
    key: &CallKey,
    question: &Question,
    id: i64,
) -> acp::RequestPermissionRequest {
    let change = CallChange {
        status: Some(CallStatus::Waiting),
        title: Some(question.title.clone()),
        kind: Some(question.kind),
        content: question
            .preview
            .iter()
            .cloned()
            .map(CallContent::Preview)
            .collect(),
        ..CallChange::default()
    };
    let options = question
        .options
        .iter()
        .map(|it| acp::PermissionOption::new(it.id.id(), it.label.clone(), it.id.kind()))
        .collect();
    acp::RequestPermissionRequest::new(
        show::session_id(&key.0),
        show::call_update(key.1, change),
        options,
    )
    .meta(show::meta(json!({"requestId": id})))
}

/// The most lines of a change in a message box.
const MAX_LINES: usize = 40;

/// A question as plain text, for a message box.
fn message(question: &Question) -> String {
    let title = format!("Undine: {}?", question.title);
    visible(&title).into_owned() + &show::plain(&question.preview, 1, MAX_LINES)
}
