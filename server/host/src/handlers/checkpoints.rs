//! `undine/checkpoint/…`: what files were, and giving it back to them.
//!
//! Each is an errand: a task waits for the disk, the loop tells whoever asked. A restore is refused while a turn
//! runs in the project, because the turn's model would go on with texts that are no more; cancelling it is one
//! step, and the person sees what was done till then.

use super::lifecycle::UPDATE;
use crate::errand::{Asker, Errand};
use crate::event::{Event, Found, SessionKey};
use crate::lsp::{Answer, Error, Id, Reply, cancelled, code, error};
use crate::main_loop::{Host, TaskKey};
use crate::perform::invalid;
use crate::plan::World;
use crate::restore::{self, Planned, Restored};
use crate::show;
use crate::store::checkpoints::{Entry, Manifest};
use crate::tools;
use crate::workspace::path_of;
use engine::redact::redact;
use engine::session::{CallChange, CallContent, CallStatus, Input};
use engine::text::visible_line;
use protocol::acp::{self, RequestPermissionOutcome};
use protocol::approval::OptionId;
use protocol::checkpoint::{
    Checkpoint, CheckpointFile, CreateCheckpointParams, CreateCheckpointResult,
    ListCheckpointsParams, ListCheckpointsResult, RestoreCheckpointParams, RestoreCheckpointResult,
    SkippedFile,
};
use protocol::lsp::{MessageType, Uri};
use protocol::methods::{self, Request};
use protocol::session::CallId;
use protocol::tool::Outcome;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The argument of `undine.checkpoint.restore`; all of it may be missing.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    /// The newest checkpoint, if missing.
    #[serde(default)]
    id: Option<String>,
    /// A document of the project that is meant; the first folder, if missing.
    #[serde(default)]
    uri: Option<Uri>,
}

const BUSY: &str =
    "A turn is running in this project; cancel it or wait for its end, then restore.";

impl Host {
    pub(crate) fn list_checkpoints(&mut self, params: &ListCheckpointsParams, reply: Reply) {
        match self.open_session(&params.session_id) {
            Ok(session) => self.list_for(session, Asker::Request(reply)),
            Err(error) => reply.send_value(Err(error)),
        }
    }

    pub(crate) fn create_checkpoint(&mut self, params: CreateCheckpointParams, reply: Reply) {
        match self.open_session(&params.session_id) {
            Ok(session) => self.keep_for(session, Asker::Request(reply), params.paths),
            Err(error) => reply.send_value(Err(error)),
        }
    }

    /// The client's own request is the consent: it has asked the person.
    pub(crate) fn restore_checkpoint(&mut self, params: RestoreCheckpointParams, reply: Reply) {
        let session = match self.open_session(&params.session_id) {
            Ok(session) => session,
            Err(error) => return reply.send_value(Err(error)),
        };
        if self.is_busy(&session) {
            return reply.send_value(Err(error(code::REQUEST_FAILED, BUSY)));
        }
        let number = self.begin(session, Asker::Request(reply));
        self.restore_now(number, params.id);
    }

    /// `undine.checkpoint.restore`: the person is asked, and told by messages.
    pub(super) fn restore_by_command(&mut self, wanted: Wanted) -> Result<(), Error> {
        let at = match &wanted.uri {
            Some(uri) => path_of(uri).ok_or_else(|| invalid("That is no file."))?,
            None => self.roots.first().cloned().unwrap_or_default(),
        };
        let session = self.session_for_tasks(&at)?;
        self.plan_restore(session, Asker::Command, wanted.id);
        Ok(())
    }

    pub(super) fn list_for(&mut self, session: SessionKey, asker: Asker) {
        let number = self.begin(session, asker);
        self.work_on(number, async move |world| {
            Found::Listed(restore::list(&world).await)
        });
    }

    pub(super) fn keep_for(&mut self, session: SessionKey, asker: Asker, paths: Vec<String>) {
        let number = self.begin(session, asker);
        self.work_on(number, async move |world| {
            Found::Kept(restore::keep(&world, &paths).await)
        });
    }

    /// Finds out what a restore would do, to ask the person about it. `None`: the newest checkpoint.
    pub(super) fn plan_restore(&mut self, session: SessionKey, asker: Asker, id: Option<String>) {
        let is_busy = self.is_busy(&session);
        let number = self.begin(session, asker);
        if is_busy {
            return self.end(number, Err(BUSY.to_owned()));
        }
        self.work_on(number, async move |world| {
            let id = match id {
                Some(id) => Ok(id),
                None => restore::list(&world).await.and_then(|all| {
                    let newest = all.into_iter().next().map(|it| it.id);
                    newest.ok_or_else(|| "There are no checkpoints in this project.".to_owned())
                }),
            };
            Found::Planned(match id {
                Ok(id) => restore::plan(&world, &id).await,
                Err(error) => Err(error),
            })
        });
    }

    fn restore_now(&mut self, number: u64, id: String) {
        if let Some(errand) = self.errands.get_mut(&number) {
            errand.is_changing = true;
        }
        self.work_on(number, async move |world| {
            Found::Restored(restore::restore(&world, &id).await)
        });
    }

    pub(super) fn open_session(&self, id: &str) -> Result<SessionKey, Error> {
        self.known(&acp::SessionId::new(id.to_owned()))
    }

    /// Whether a turn runs in a session's project.
    fn is_busy(&self, session: &SessionKey) -> bool {
        let root = self.sessions.get(session).map(|it| it.workspace.root());
        let mut others = self.sessions.values();
        others.any(|it| Some(it.workspace.root()) == root && it.session.turn().is_some())
    }

    pub(super) fn begin(&mut self, session: SessionKey, asker: Asker) -> u64 {
        self.next_token += 1;
        let errand = Errand {
            session,
            asker,
            question: None,
            checkpoint: None,
            is_changing: false,
        };
        self.errands.insert(self.next_token, errand);
        self.next_token
    }

    /// Runs an errand's next step in a task.
    pub(super) fn work_on<F>(&mut self, number: u64, work: impl FnOnce(World) -> F)
    where
        F: Future<Output = Found> + Send + 'static,
    {
        let errand = self.errands.get(&number);
        let Some(open) = errand.and_then(|it| self.sessions.get(&it.session)) else {
            return;
        };
        // No call's: what is done is the person's.
        let work = work(self.world(open, CallId(0)));
        let inbox = self.inbox.clone();
        self.tasks.spawn(TaskKey::Errand(number), |_| async move {
            // In a task of its own: one that panics must be answered too.
            let found = tokio::spawn(work).await;
            let found = found.unwrap_or_else(|_| {
                Found::Restored(Err(
                    "Undine ran into a fault of its own; look at the files before you go on."
                        .to_owned(),
                ))
            });
            // A loop that is gone tells nobody.
            let _ = inbox.send(Event::Errand(number, found)).await;
        });
    }

    /// A task has answered.
    pub(crate) fn found(&mut self, number: u64, found: Found) {
        match found {
            Found::Listed(found) => {
                let text = |it: &Vec<Manifest>| listing(it);
                self.answer::<methods::ListCheckpoints, _>(number, found, text, |all| {
                    ListCheckpointsResult {
                        checkpoints: all.into_iter().map(wire).collect(),
                    }
                });
            }
            Found::Kept(found) => {
                let text = made;
                self.answer::<methods::CreateCheckpoint, _>(number, found, text, |it| {
                    CreateCheckpointResult {
                        checkpoint: wire(it),
                    }
                });
            }
            Found::Said(said) => self.end(number, said),
            Found::Memory(found) => self.found_memory(number, found),
            Found::Consolidate(found) => self.ask_to_consolidate(number, found),
            Found::Planned(Ok(planned)) => self.ask_to_restore(number, &planned),
            Found::Planned(Err(text)) => self.end(number, Err(text)),
            Found::Restored(found) => {
                if let (Some(errand), Ok(done)) = (self.errands.get(&number), &found)
                    && let Some(told) = done.told()
                {
                    let session = errand.session.clone();
                    self.step(&session, Input::Tell(told));
                }
                if let Ok(done) = &found
                    && let Some(action) = done.action.clone()
                    && let Some(errand) = self.errands.get(&number)
                    && matches!(errand.asker, Asker::Prompt { .. })
                {
                    let session = errand.session.clone();
                    let (title, said) = (done.title.clone(), done.said());
                    return self.offer_again(number, &session, (title, action), said);
                }
                self.answer::<methods::RestoreCheckpoint, _>(
                    number,
                    found,
                    Restored::said,
                    restored,
                );
            }
        }
    }

    /// Tells whoever asked: by a result to a request, in words to all others.
    pub(super) fn answer<R: Request, T>(
        &mut self,
        number: u64,
        found: Result<T, String>,
        text: impl FnOnce(&T) -> String,
        result: impl FnOnce(T) -> R::Result,
    ) {
        if !matches!(
            self.errands.get(&number),
            Some(Errand {
                asker: Asker::Request(_),
                ..
            })
        ) {
            return self.end(number, found.map(|it| text(&it)));
        }
        let Some(Errand {
            asker: Asker::Request(reply),
            ..
        }) = self.errands.remove(&number)
        else {
            return;
        };
        reply.send::<R>(match found {
            Ok(found) => Ok(result(found)),
            Err(text) => Err(error(code::REQUEST_FAILED, text)),
        });
    }

    /// Ends an errand in words.
    pub(super) fn end(&mut self, number: u64, said: Result<String, String>) {
        self.end_with(number, said, None);
    }

    /// As [`end`](Self::end), with what a front end is told beside the words: the answer's `_meta.undine`.
    pub(super) fn end_with(
        &mut self,
        number: u64,
        said: Result<String, String>,
        beside: Option<Value>,
    ) {
        let Some(errand) = self.errands.remove(&number) else {
            return;
        };
        self.end_call(number, &errand, said.is_ok());
        let without = |text: String| redact(&text).into_owned();
        let said = said.map(without).map_err(without);
        match errand.asker {
            Asker::Request(reply) => reply.send_value(match said {
                Ok(text) => Ok(Value::String(text)),
                Err(text) => Err(error(code::REQUEST_FAILED, text)),
            }),
            Asker::Prompt { reply, text, .. } => {
                let (Ok(answer) | Err(answer)) = said;
                self.step(&errand.session, Input::Command { text, answer });
                let end = acp::PromptResponse::new(acp::StopReason::EndTurn);
                let beside = beside.and_then(show::meta);
                reply.send::<methods::Prompt>(Ok(end.meta(beside)));
            }
            Asker::Command => match said {
                Ok(text) => self.show_message(MessageType::Info, &text),
                Err(text) => self.show_error(&text),
            },
        }
    }

    /// Asks whether a checkpoint shall be restored (spec 3.4).
    fn ask_to_restore(&mut self, number: u64, planned: &Planned) {
        if planned.changes.is_empty() {
            let mut lines = vec![format!(
                "The files are as checkpoint {} holds them; there is nothing to restore.",
                planned.manifest.id
            )];
            lines.extend(planned.skipped.iter().map(restore::Skipped::said));
            return self.end(number, Ok(lines.join("\n")));
        }
        let Some(session) = self.errands.get(&number).map(|it| it.session.clone()) else {
            return;
        };
        let id = self.asking.open(crate::asking::Pending::Errand(number));
        if let Some(errand) = self.errands.get_mut(&number) {
            errand.question = Some(id);
            errand.checkpoint = Some(planned.manifest.id.clone());
        }
        let title = title(&planned.manifest);
        let method = methods::RequestPermission::METHOD;
        if !self.client.takes(method) {
            let names: Vec<String> = planned.changes.iter().map(change_line).collect();
            let skipped = planned.skipped.iter().map(restore::Skipped::said);
            let lines: Vec<String> = names.into_iter().chain(skipped).collect();
            let params = json!({
                "type": MessageType::Info,
                "message": format!("Undine: {title}?\n{}", lines.join("\n")),
                "actions": [{"title": RESTORE}, {"title": NO}],
            });
            return self.out.request(id, "window/showMessageRequest", &params);
        }
        let previews = planned.changes.iter().map(|it| {
            let new = it.new.as_deref().unwrap_or_default();
            CallContent::Preview(tools::preview(&it.file, it.old.as_deref(), new))
        });
        let skipped = planned
            .skipped
            .iter()
            .map(|it| CallContent::Text(it.said()));
        let change = CallChange {
            status: Some(CallStatus::Waiting),
            title: Some(title.clone()),
            kind: Some(acp::ToolKind::Edit),
            content: previews.chain(skipped).collect(),
            ..CallChange::default()
        };
        let call = acp::ToolCall::new(call_id(number), title).kind(acp::ToolKind::Edit);
        self.notify_call(&session, acp::SessionUpdate::ToolCall(call));
        let mut shown = show::call_update(CallId(0), change);
        shown.tool_call_id = call_id(number);
        let options = [(OptionId::Once, RESTORE), (OptionId::No, NO)]
            .map(|(id, name)| acp::PermissionOption::new(id.id(), name, id.kind()));
        let params =
            acp::RequestPermissionRequest::new(show::session_id(&session), shown, options.to_vec())
                .meta(show::meta(json!({"requestId": id})));
        self.out.request(id, method, &params);
    }

    /// What is no yes is a no: the person has only to give the command again.
    pub(crate) fn errand_decided(&mut self, number: u64, answer: Answer) {
        let Some(errand) = self.errands.get_mut(&number) else {
            return;
        };
        errand.question = None;
        let value = answer.result.unwrap_or_default();
        let is_message = value.get("title").and_then(Value::as_str) == Some(RESTORE);
        let outcome =
            serde_json::from_value::<acp::RequestPermissionResponse>(value).map(|it| it.outcome);
        let is_chosen = matches!(outcome, Ok(RequestPermissionOutcome::Selected(it)) if &*it.option_id.0 == OptionId::Once.id());
        let session = errand.session.clone();
        let Some(id) = errand
            .checkpoint
            .clone()
            .filter(|_| is_message || is_chosen)
        else {
            return self.end(number, Err("Nothing was restored.".to_owned()));
        };
        match self.is_busy(&session) {
            true => self.end(number, Err(BUSY.to_owned())),
            false => self.restore_now(number, id),
        }
    }

    /// `$/cancelRequest` on a prompt that is a command.
    pub(crate) fn withdraw_errand(&mut self, request: &Id) {
        let of_prompt =
            |it: &Errand| matches!(&it.asker, Asker::Prompt { id, .. } if id == request);
        self.break_off(of_prompt, || Err(cancelled()));
    }

    /// The person cancels what a session does.
    pub(crate) fn cancel_errands(&mut self, session: &SessionKey) {
        let of_session =
            |it: &Errand| it.session == *session && !matches!(it.asker, Asker::Request(_));
        self.break_off(of_session, || {
            Ok(acp::PromptResponse::new(acp::StopReason::Cancelled))
        });
    }

    /// Ends errands that change nothing yet.
    fn break_off(
        &mut self,
        fits: impl Fn(&Errand) -> bool,
        end: impl Fn() -> Result<acp::PromptResponse, Error>,
    ) {
        let fitting = self
            .errands
            .iter()
            .filter(|(_, it)| !it.is_changing && fits(it));
        let numbers: Vec<u64> = fitting.map(|(number, _)| *number).collect();
        for number in numbers {
            let Some(errand) = self.errands.remove(&number) else {
                continue;
            };
            self.tasks.stop(&TaskKey::Errand(number));
            if let Some(id) = errand.question {
                self.asking.answered(id);
                self.out.notify("$/cancelRequest", &json!({"id": id}));
            }
            self.end_call(number, &errand, false);
            if let Asker::Prompt { reply, .. } = errand.asker {
                reply.send::<methods::Prompt>(end());
            }
        }
    }

    /// Shows that what was asked about has ended.
    fn end_call(&mut self, number: u64, errand: &Errand, is_done: bool) {
        if errand.checkpoint.is_none() || !self.client.takes(methods::RequestPermission::METHOD) {
            return;
        }
        let outcome = if is_done {
            Outcome::Success
        } else {
            Outcome::Cancelled
        };
        let change = CallChange {
            status: Some(CallStatus::Done(outcome)),
            ..CallChange::default()
        };
        let mut update = show::call_update(CallId(0), change);
        update.tool_call_id = call_id(number);
        self.notify_call(&errand.session, acp::SessionUpdate::ToolCallUpdate(update));
    }

    fn notify_call(&mut self, session: &SessionKey, update: acp::SessionUpdate) {
        if self.client.takes(UPDATE) {
            let params = acp::SessionNotification::new(show::session_id(session), update);
            self.out.notify(UPDATE, &params);
        }
    }
}

/// A checkpoint that the person asked for. A name that nothing has is perhaps a slip.
pub(crate) fn made(manifest: &Manifest) -> String {
    let missing = manifest.files.iter().filter(|it| !it.existed);
    let missing: Vec<String> = missing.map(|it| it.path.display().to_string()).collect();
    let mut text = format!("Made checkpoint {} ({}).", manifest.id, manifest.title);
    if !missing.is_empty() {
        text.push_str(&format!(
            " There is no {} yet; restoring this checkpoint would remove what is there by then.",
            missing.join(", no ")
        ));
    }
    text
}

const RESTORE: &str = "Restore";
const NO: &str = "No";

/// Beside the ids of calls.
fn call_id(number: u64) -> acp::ToolCallId {
    acp::ToolCallId::new(format!("restore-{number}"))
}

fn title(manifest: &Manifest) -> String {
    /// A title may hold a file's name.
    const MAX: usize = 200;
    visible_line(
        &format!("Restore checkpoint {} ({})", manifest.id, manifest.title),
        MAX,
    )
}

fn change_line(change: &crate::apply::FileChange) -> String {
    match &change.new {
        Some(_) => format!("{} gets its old content", change.file.shown),
        None => format!("{} is removed", change.file.shown),
    }
}

/// The checkpoints in words, as a list in Markdown.
pub(crate) fn listing(all: &[Manifest]) -> String {
    /// More than that nobody reads in a chat.
    const MOST: usize = 50;
    if all.is_empty() {
        return "There are no checkpoints in this project.".to_owned();
    }
    let mut lines: Vec<String> = all
        .iter()
        .take(MOST)
        .map(|it| format!("- {}", line(it)))
        .collect();
    if all.len() > MOST {
        lines.push(format!("- and {} older ones", all.len() - MOST));
    }
    lines.join("\n")
}

/// One checkpoint in a line.
pub(crate) fn line(manifest: &Manifest) -> String {
    /// Names of files in it.
    const MOST: usize = 5;
    let name = |it: &Entry| it.path.display().to_string();
    let mut names: Vec<String> = manifest.files.iter().take(MOST).map(name).collect();
    if manifest.files.len() > MOST {
        names.push(format!("{} more", manifest.files.len() - MOST));
    }
    let line = format!("{}  {} [{}]", manifest.id, manifest.title, names.join(", "));
    visible_line(&redact(&line), 400)
}

/// A checkpoint as it crosses the wire.
pub(crate) fn wire(manifest: Manifest) -> Checkpoint {
    let (session_id, turn, tool_call_id) = match manifest.author {
        Some(it) => (Some(it.session), Some(it.turn.0), Some(it.call.to_string())),
        None => (None, None, None),
    };
    Checkpoint {
        id: manifest.id,
        time: manifest.time / 1_000_000,
        title: manifest.title,
        session_id,
        turn,
        tool_call_id,
        files: manifest.files.into_iter().map(wire_file).collect(),
    }
}

/// JSON has no bytes; a path that is no text is shown as well as may be.
fn wire_file(entry: Entry) -> CheckpointFile {
    CheckpointFile {
        path: PathBuf::from(entry.path.to_string_lossy().into_owned()),
        existed: entry.existed,
    }
}

fn restored(done: Restored) -> RestoreCheckpointResult {
    let paths = |all: Vec<String>| all.into_iter().map(PathBuf::from).collect();
    let skipped = done.skipped.into_iter().map(|it| SkippedFile {
        path: PathBuf::from(it.path.to_string_lossy().into_owned()),
        reason: it.reason,
    });
    RestoreCheckpointResult {
        undo: done.undo,
        restored: paths(done.restored),
        removed: paths(done.removed),
        skipped: skipped.collect(),
    }
}
