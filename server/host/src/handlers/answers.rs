//! Permissions and forms: asking the person, and what the editor answers.

use crate::asking::{CallKey, Choice, Message, Pending};
use crate::event::{Chosen, SessionKey};
use crate::lsp::Answer;
use crate::main_loop::Host;
use crate::plan::Accepted;
use crate::show;
use engine::redact::{redact, redact_string};
use engine::session::{CallChange, CallContent, CallStatus, Decision, Input, Question};
use engine::text::{visible, visible_line};
use protocol::acp::{self, ElicitationAction, RequestPermissionOutcome};
use protocol::approval::{ApprovalOption, OptionId};
use protocol::document::SaveDocumentResult;
use protocol::hunks::ProposedHunk;
use protocol::lsp::{self, MessageType};
use protocol::methods::{self, Request};
use protocol::session::CallId;
use serde_json::{Value, json};
use tokio::sync::oneshot;

impl Host {
    pub(crate) fn ask_person(
        &mut self,
        session: &SessionKey,
        call: CallId,
        mut question: Question,
    ) {
        if let Some(label) = self.label_of(session) {
            question.title = format!("[{label}] {}", question.title);
        }
        let key = (session.clone(), call);
        let method = methods::RequestPermission::METHOD;
        let mut hunks = Vec::new();
        if let Some(open) = self.sessions.get_mut(session) {
            // It is another question now; what was said to the last is no answer to it.
            open.accepted.remove(&call);
            hunks.extend(open.plans.get(&call).map(|it| it.hunks().to_vec()));
        }
        let hunks = hunks.concat();
        if self.client.takes(method) {
            let id = self.asking.open(Pending::Permission(key.clone()));
            let shown = self.shown_call(&key);
            let params = permission_request(&shown, &question, id, &hunks);
            self.asking.questions.insert(key, question);
            self.out.request(id, method, &params);
        } else {
            self.asking.questions.insert(key.clone(), question);
            self.questions_changed(&self.files_of_question(&key));
            self.asking.enqueue_message(key);
            self.show_next_question();
        }
    }

    /// The question is moot: the editor takes it away.
    pub(crate) fn stop_asking(&mut self, session: &SessionKey, call: CallId) {
        let key = (session.clone(), call);
        let files = self.files_of_question(&key);
        if let Some(id) = self.asking.close_question(&key) {
            self.out.notify("$/cancelRequest", &json!({"id": id}));
            self.show_next_question();
        }
        self.questions_changed(&files);
    }

    /// Shows the next question by `window/showMessageRequest`, one at a time.
    fn show_next_question(&mut self) {
        let Some((id, next)) = self.asking.next_message() else {
            return;
        };
        let key = match next {
            Message::Permission(key) => key,
            Message::Choice { message, actions } => {
                let title = |it: &String| json!({"title": it});
                let actions: Vec<Value> = actions.iter().map(title).collect();
                let params =
                    json!({"type": MessageType::Info, "message": message, "actions": actions});
                return self.out.request(id, "window/showMessageRequest", &params);
            }
        };
        let Some(question) = self.asking.questions.get(&key) else {
            return;
        };
        let mut options = in_order(&question.options);
        if self.client.first_choice_is_default {
            options.sort_by_key(|it| it.id != OptionId::No);
        }
        let title = |it: &ApprovalOption| json!({"title": it.label});
        let actions: Vec<Value> = options.into_iter().map(title).collect();
        let params =
            json!({"type": MessageType::Info, "message": message(question), "actions": actions});
        self.out.request(id, "window/showMessageRequest", &params);
    }

    pub(crate) fn ask_elicit(
        &mut self,
        mut request: acp::CreateElicitationRequest,
        reply: oneshot::Sender<Option<ElicitationAction>>,
    ) {
        let method = methods::CreateElicitation::METHOD;
        if !self.client.takes(method) {
            // Its task may have given up this moment.
            let _ = reply.send(None);
            return;
        }
        // The answers that it offers stay: they come back, and are the model's.
        redact_string(&mut request.message);
        let id = self.asking.open(Pending::Elicit(reply));
        let request = request.meta(show::meta(json!({"requestId": id})));
        self.out.request(id, method, &request);
    }

    /// Offers choices in an editor that knows no forms.
    pub(crate) fn ask_choice(&mut self, choice: Choice) {
        self.asking.enqueue_choice(choice);
        self.show_next_question();
    }

    /// Takes questions away whose turn has ended.
    pub(crate) fn drop_abandoned(&mut self) {
        for id in self.asking.abandoned() {
            self.out.notify("$/cancelRequest", &json!({"id": id}));
        }
        self.show_next_question();
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
            // Its task may have given up this moment.
            Pending::Seen(reply) => drop(reply.send(answer.result.ok())),
            Pending::Elicit(reply) => {
                let response = answer.result.ok().and_then(|it| {
                    serde_json::from_value::<acp::CreateElicitationResponse>(it).ok()
                });
                let _ = reply.send(response.map(|it| it.action));
            }
            Pending::Choice(reply) => {
                let chosen = answer.result.ok().map(|it| match it["title"].as_str() {
                    Some(title) => Chosen::Action(title.to_owned()),
                    None => Chosen::Dismissed,
                });
                // Its task may have given up this moment.
                let _ = reply.send(chosen);
                self.show_next_question();
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
        let Some((option, said)) = response.and_then(selected) else {
            // What is no yes is a no: an error, a "cancelled".
            let (option, note) = (OptionId::No, None);
            return self.decide(key, Decision { option, note });
        };
        let note = said["note"].as_str().map(str::to_owned);
        let option = match self.accept(&key, &said["acceptedHunks"], &note) {
            true => option,
            false => OptionId::No,
        };
        self.decide(key, Decision { option, note });
    }

    /// Notes which of a call's hunks the person wants; false: none.
    fn accept(&mut self, (session, call): &CallKey, ids: &Value, note: &Option<String>) -> bool {
        if ids.is_null() {
            return true;
        }
        // Where an empty table is written as `{}`, that is none of them; what nobody can read means none either.
        let ids = ids.as_array().map_or(&[][..], Vec::as_slice);
        let Some(open) = self.sessions.get_mut(session) else {
            return false;
        };
        let offered = open.plans.get(call).map_or(&[][..], |it| it.hunks());
        if offered.is_empty() {
            return true;
        }
        let is_meant = |id: &str| ids.iter().any(|it| it.as_str() == Some(id));
        let hunks: Vec<String> = offered
            .iter()
            .filter(|it| is_meant(&it.id))
            .map(|it| it.id.clone())
            .collect();
        let is_any = !hunks.is_empty();
        if hunks.len() < offered.len() {
            let note = note.clone();
            open.accepted.insert(*call, Accepted { hunks, note });
        }
        is_any
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
        let files = self.files_of_question(&key);
        if let Some(id) = self.asking.close_question(&key) {
            self.out.notify("$/cancelRequest", &json!({"id": id}));
        }
        self.questions_changed(&files);
        let (session, call) = key;
        self.step(&session, Input::Decided(call, decision));
        self.pass_answers_on(&session);
        self.show_next_question();
    }
}

/// The option that was chosen, and what was said with it in `_meta.undine`: of the outcome, where that has some,
/// else of the answer. An option that does not exist is a no.
fn selected(response: acp::RequestPermissionResponse) -> Option<(OptionId, Value)> {
    let RequestPermissionOutcome::Selected(chosen) = response.outcome else {
        return None;
    };
    let said = |meta: Option<acp::Meta>| meta?.get("undine").cloned();
    let said = said(chosen.meta).or_else(|| said(response.meta));
    let option = OptionId::from_id(&chosen.option_id.0).unwrap_or(OptionId::No);
    Some((option, said.unwrap_or_default()))
}

/// The answers as they are shown: 1 is yes, 2 is yes for the session, 3 is no (spec 19.7), wherever they are numbered.
/// What is for always stands behind, so that nobody who means No gives it.
pub(super) fn in_order(options: &[ApprovalOption]) -> Vec<&ApprovalOption> {
    let mut options: Vec<_> = options.iter().collect();
    options.sort_by_key(|it| it.id == OptionId::Always);
    options
}

/// The id rides in `_meta` too: not every editor tells its handlers the id that a `$/cancelRequest`
/// will name.
fn permission_request(
    (session, call): &(SessionKey, acp::ToolCallId),
    question: &Question,
    id: i64,
    hunks: &[ProposedHunk],
) -> acp::RequestPermissionRequest {
    let previews = question.preview.iter().cloned();
    let mut content: Vec<CallContent> = previews.map(CallContent::Preview).collect();
    content.extend(question.note.clone().map(CallContent::Text));
    let change = CallChange {
        status: Some(CallStatus::Waiting),
        title: Some(question.title.clone()),
        kind: Some(question.kind),
        content,
        ..CallChange::default()
    };
    let options = in_order(&question.options)
        .into_iter()
        .map(|it| acp::PermissionOption::new(it.id.id(), it.label.clone(), it.id.kind()))
        .collect();
    let id_of_call = call.clone();
    let mut call = show::call_update(CallId(0), change);
    call.tool_call_id = id_of_call;
    if !hunks.is_empty() {
        call = call.meta(show::meta(json!({"hunks": hunks})));
    }
    let mut meta = json!({"requestId": id});
    if let Some(reason) = reason(question) {
        meta["reason"] = json!(reason);
    }
    acp::RequestPermissionRequest::new(show::session_id(session), call, options)
        .meta(show::meta(meta))
}

/// The most characters of a reason: a classifier's model or a rule may say anything.
const MAX_REASON: usize = 500;

/// Why the person is asked: one line without secrets.
fn reason(question: &Question) -> Option<String> {
    let reason = question.reason.as_deref()?;
    Some(visible_line(&redact(reason), MAX_REASON))
}

/// The most lines of a change in a message box.
const MAX_LINES: usize = 40;

/// A question as plain text, for a message box.
fn message(question: &Question) -> String {
    let mut title = format!("Undine: {}?", question.title);
    if let Some(reason) = reason(question) {
        title.push_str(&format!("\n{reason}"));
    }
    if let Some(note) = &question.note {
        title.push_str(&format!("\n{note}"));
    }
    visible(&title).into_owned() + &show::plain(&question.preview, 1, MAX_LINES)
}
