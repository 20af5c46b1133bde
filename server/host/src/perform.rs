//! From effect to deed.

mod ask_model;
mod hooks;
mod keeping;

use crate::endpoint;
use crate::event::{Editor, Event, SessionKey};
use crate::handlers::failing;
use crate::lsp::{Chunk, ChunkKind, Error, ErrorCode, Reply, cancelled, code, error};
use crate::main_loop::{Host, TaskKey};
use crate::memory::Memory;
use crate::plan::{Done, Output, Plan, Run, WorkEnd, World};
use crate::problems;
use crate::session_host::{OpenSession, TaskView, Waiter, Working};
use crate::show;
use crate::store::Pictures;
use crate::store::answers::Answers;
use crate::store::checkpoints::Action;
use crate::store::journal::Journals;
use crate::tools;
use crate::workspace::Workspace;
use engine::hooks::Happened;
use engine::policy::Hold;
use engine::provider::{Image, ModelErrorKind, StopReason};
use engine::redact::redact;
use engine::session::{Effect, Input, PromptEnd, Update};
use protocol::acp;
use protocol::config::Config;
use protocol::lsp::MessageType;
use protocol::methods::{self, Notification, Request};
use protocol::record::{EditedFile, Record};
use protocol::review::Author;
use protocol::session::{CallId, PromptId, TurnId};
use protocol::summary::Summary;
use protocol::tool::Picture;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

impl Host {
    /// Does what a session asks for, in order.
    pub(crate) fn perform(&mut self, session: &SessionKey, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Append(record) => self.append(session, record),
                Effect::Show(update) => self.show_streaming(session, update),
                Effect::AskModel { stream, request } => self.ask_model(session, stream, *request),
                Effect::StopModel(stream) => {
                    self.tasks.stop(&TaskKey::Model(session.clone(), stream))
                }
                Effect::WakeAfter { timer, ms } => self.wake_after(session, timer, ms),
                Effect::StopTimer(timer) => self.stop_timer(session, timer),
                Effect::Learned(learned) => self.learn(session, &learned),
                Effect::PlanCall {
                    call,
                    tool,
                    arguments,
                } => self.plan_call(session, call, tool, arguments),
                Effect::AskPerson { call, question } => self.ask_person(session, call, *question),
                Effect::QueueApproval { call, action } => {
                    self.queue_approval(session, call, *action)
                }
                Effect::EndReplay { approval, end } => self.end_replay(session, &approval, end),
                Effect::SaveFirst(call) => self.save_first(session, call),
                Effect::StopAsking(call) => self.stop_asking(session, call),
                Effect::RunCall { call, hold } => self.run_call(session, call, hold),
                Effect::AskClassifier { call, request } => {
                    self.ask_classifier(session, call, *request)
                }
                Effect::StopClassifier(call) => {
                    self.tasks.stop(&TaskKey::Call(session.clone(), call))
                }
                Effect::AskSide {
                    side,
                    about,
                    request,
                } => self.ask_side(session, side, about, *request),
                Effect::AnswerAside { ticket, answered } => {
                    self.answer_aside(session, ticket, answered)
                }
                Effect::StopSide(side) => self.tasks.stop(&TaskKey::Side(session.clone(), side)),
                Effect::KeepRule(rule) => self.keep_rule(session, &rule),
                Effect::StopCall(call) => {
                    self.tasks.stop(&TaskKey::Call(session.clone(), call));
                    self.forget_plan(session, call);
                    self.watch_end(session, call);
                    self.forget_run(session, call);
                    self.end_agents_of(session, call);
                }
                Effect::Answer { prompts, end } => {
                    self.end_streaming(session);
                    self.answer_prompts(session, prompts, &end);
                }
            }
        }
    }

    /// Shows something of a session that it did not ask to be shown.
    pub(crate) fn show_update(&mut self, session: &SessionKey, update: Update) {
        self.show_streaming(session, update);
    }

    /// Shows an update. Of text that streams, what may be a part of a secret waits for the rest.
    fn show_streaming(&mut self, session: &SessionKey, update: Update) {
        if matches!(update, Update::Call { .. } | Update::User(_)) {
            self.end_streaming(session);
        }
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        for update in open.streaming.take(update) {
            self.show(session, update);
        }
    }

    /// The text that streamed is over: shows what of it was held back.
    fn end_streaming(&mut self, session: &SessionKey) {
        let open = self.sessions.get_mut(session);
        if let Some(update) = open.and_then(|it| it.streaming.end()) {
            self.show(session, update);
        }
    }

    /// Writes down which files a call is about to change, and answers; not for a call that has ended: it is
    /// not to change anything any more.
    pub(crate) fn note_edit(
        &mut self,
        session: &SessionKey,
        call: CallId,
        files: Vec<EditedFile>,
        checkpoint: Option<String>,
        reply: oneshot::Sender<()>,
    ) {
        let is_open = self
            .sessions
            .get(session)
            .is_some_and(|it| it.session.open_calls().any(|it| it == call));
        if is_open || self.has_agent_for(session, call) {
            let edit = Record::Edit {
                call,
                files,
                checkpoint,
            };
            self.append(session, edit);
            // Its task may have given up this moment.
            let _ = reply.send(());
        }
    }

    /// Writes ahead. A disk that is full does not end the turn; the person is told once.
    fn append(&mut self, session: &SessionKey, record: Record) {
        self.transcript_changed(session);
        let is_end = matches!(record, Record::Ended { .. });
        let hides_results = matches!(record, Record::Compacted { .. });
        if let Record::Ended { reason, .. } = &record {
            self.end_streaming(session);
            let reason = serde_json::to_value(reason).unwrap_or_default();
            let reason = reason.as_str().unwrap_or("other");
            self.tell_hooks(session, &Happened::TurnEnd { reason });
        }
        if let Record::Usage { .. } = record {
            self.pass_usage_on(session, &record);
        }
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        if is_end || hides_results {
            open.given = Arc::default();
        }
        if let Record::User { turn, .. } = &record {
            open.run.begins(*turn);
        }
        let appended = open.log.append(record);
        let every = open.config.limits.snapshot_records;
        let snapshot = (is_end && appended.is_ok() && open.log.wants_snapshot(every))
            .then(|| (open.log.path().to_path_buf(), open.log.end().bytes));
        let conflict = open.log.take_conflict();
        match appended {
            Ok(()) if is_end => {
                if let Some(file) = open.log.syncable() {
                    self.runtime.spawn_blocking(move || {
                        if let Err(error) = file.sync_data() {
                            tracing::warn!(%error, "the session's log was not synced");
                        }
                    });
                }
            }
            Ok(()) => {}
            Err(error) if open.log_failed => {
                tracing::warn!(%error, "the session's log was not written")
            }
            Err(error) => {
                open.log_failed = true;
                let text = format!(
                    "This session cannot be saved to {} ({error}); it goes on, but will be gone when the editor closes.",
                    open.log.path().display()
                );
                self.show_error(&text);
            }
        }
        if let Some((log, until)) = snapshot {
            self.write_snapshot(log, until);
        }
        if let Some(old) = conflict {
            self.say_conflict(session, &old);
        }
    }

    fn show(&mut self, session: &SessionKey, update: Update) {
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        if open.child.is_some() {
            return self.agent_does(session, &update);
        }
        for waiter in open.waiting.values_mut() {
            if let Waiter::Task(view) = waiter
                && let Some(message) = view.take(&update)
                && let Some(token) = &view.token
            {
                let value = json!({"kind": "report", "cancellable": true, "message": message});
                self.out
                    .notify("$/progress", &json!({"token": token, "value": value}));
            }
        }
        if let Update::Retrying(retrying) = update {
            return self.show_retry(session, retrying);
        }
        if !self.client.takes(methods::Update::METHOD) {
            return;
        }
        match update {
            Update::Text(text) => self.out.chunk(Chunk {
                session,
                kind: ChunkKind::Agent,
                text: &text,
            }),
            Update::Thought(text) => self.out.chunk(Chunk {
                session,
                kind: ChunkKind::Thought,
                text: &text,
            }),
            Update::Usage(last) => self.show_usage(session, last),
            Update::UserPicture(picture) => self.show_picture(session, picture),
            update @ (Update::User(_)
            | Update::Call { .. }
            | Update::CallChanged(..)
            | Update::Mode(_)
            | Update::Checklist(_)
            | Update::Notice(_)
            | Update::Retrying(_)) => {
                if let Some(params) = show::notification(session, update) {
                    self.out.notify(methods::Update::METHOD, &params);
                }
            }
        }
    }

    /// A picture of the person's, read back from beside the log; one that is gone is told by a line.
    pub(crate) fn show_picture(&mut self, session: &SessionKey, picture: Picture) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let pictures = Pictures::beside(open.log.path());
        if let Some(params) = shown(session, &pictures, Update::UserPicture(picture)) {
            self.out.notify(methods::Update::METHOD, &params);
        }
    }

    /// The world as a session's tools see it now.
    pub(crate) fn world(&self, open: &OpenSession, call: CallId) -> World {
        let author = match &open.child {
            None => Author {
                session: open.key.to_string(),
                // A call is planned and run in a turn.
                turn: open.session.turn().unwrap_or(TurnId(0)),
                call,
            },
            // What it changes is the work of the call that it works for, and is reviewed there.
            Some(child) => Author {
                session: child.parent.to_string(),
                turn: child.turn,
                call: child.call,
            },
        };
        let workspace = open.workspace.clone();
        World {
            call,
            seen: open.seen.clone(),
            given: open.given.clone(),
            kinds: open.told.kinds.clone(),
            agent: open.child.as_ref().map(|it| it.kind.clone()),
            log: Some(open.log.path().into()),
            skill_folders: open.told.skill_folders.clone(),
            ..self.world_of(open.key.clone(), author, workspace, &open.config)
        }
    }

    /// The world as it is now, of which nothing was read yet.
    pub(crate) fn world_of(
        &self,
        session: SessionKey,
        author: Author,
        workspace: Arc<Workspace>,
        config: &Config,
    ) -> World {
        let memory = config.memory.enabled;
        let root = &workspace.root().to_path_buf();
        World {
            call: author.call,
            author,
            session,
            workspace,
            seen: Arc::default(),
            given: Arc::default(),
            log: None,
            documents: self.documents.snapshot(),
            editor: Editor::new(self.inbox.clone()),
            encoding: self.client.encoding,
            versioned_edits: self.client.document_changes,
            file_operations: self.client.file_operations,
            limits: Arc::new(self.client.limits(&config.limits)),
            edits: config.edits.clone(),
            exec: config.exec.clone(),
            network: config.safety.network,
            filesystem: config.safety.filesystem,
            locks: self.locks.clone(),
            children: self.children.clone(),
            jobs: self.jobs.clone(),
            journals: Journals::new(&self.folders.data),
            checkpoints: Arc::new(self.checkpoints.with_limits(&config.limits)),
            checkpoint_first: config.safety.checkpoint_on_mutation,
            action: None,
            memory: memory.then(|| Memory::of(&self.folders.data, root)),
            answers: Answers::new(&self.folders.config),
            attended: self.attended,
            kinds: Arc::default(),
            agent: None,
            skill_folders: [].into(),
            key_variables: endpoint::key_variables(config).into(),
        }
    }

    fn plan_call(&mut self, session: &SessionKey, call: CallId, tool: String, arguments: Value) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let mut world = self.world(open, call);
        let hooks = self.hooks(open);
        let (inbox, key) = (self.inbox.clone(), session.clone());
        self.tasks.spawn(TaskKey::Call(session.clone(), call), |token| async move {
            let happened = Happened::BeforeToolUse { tool: &tool, input: &arguments };
            let arguments = match hooks.hears(&happened) {
                false => arguments,
                true => {
                    let mut before = hooks.before(&tool, &arguments, &token).await;
                    if token.is_cancelled() {
                        return;
                    }
                    let (denied, rewritten) = (before.denied.take(), before.rewritten.clone());
                    // A loop that is gone needs neither word nor plan.
                    let _ = inbox.send(Event::Hooked(key.clone(), call, before)).await;
                    if let Some(reason) = denied {
                        let _ = inbox.send(Event::Planned(key, call, Err(reason))).await;
                        return;
                    }
                    // Hooks take their time, and the person types on.
                    if let Ok(documents) = world.editor.documents().await {
                        world.documents = documents;
                    }
                    rewritten.unwrap_or(arguments)
                }
            };
            let action = Arc::new(Action {
                tool: tool.clone(),
                arguments: arguments.clone(),
            });
            // In a task of its own: a tool that panics must answer too.
            let planning = tokio::spawn(tools::plan(tool, arguments, world));
            let abort = planning.abort_handle();
            let plan = tokio::select! {
                biased;
                () = token.cancelled() => return abort.abort(),
                plan = planning => plan.unwrap_or_else(|_| Err("The tool failed while it read its arguments; nothing was done.".to_owned())),
            };
            let plan = plan.map(|it| it.of_action(action));
            // A loop that is gone needs no plan.
            let _ = inbox.send(Event::Planned(key, call, plan)).await;
        });
    }

    pub(crate) fn planned(
        &mut self,
        session: &SessionKey,
        call: CallId,
        plan: Result<Plan, String>,
    ) {
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        let planned = match plan {
            Ok(plan) => {
                let planned = plan.planned();
                open.plans.insert(call, plan);
                Ok(planned)
            }
            Err(text) => Err(text),
        };
        self.step(session, Input::Planned(call, planned));
    }

    fn forget_plan(&mut self, session: &SessionKey, call: CallId) {
        if let Some(open) = self.sessions.get_mut(session) {
            open.plans.remove(&call);
        }
    }

    fn forget_run(&mut self, session: &SessionKey, call: CallId) {
        if let Some(open) = self.sessions.get_mut(session) {
            open.running.remove(&call);
            open.working.remove(&call);
        }
    }

    /// The turn has gone on without a call that was cancelled. Should its work not end in time, the person is told (spec 0.4).
    fn watch_end(&mut self, session: &SessionKey, call: CallId) {
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        let Some(Working { title, ended }) = open.working.remove(&call) else {
            return;
        };
        let patience = Duration::from_secs(open.config.limits.abandon_secs);
        let (inbox, key) = (self.inbox.clone(), session.clone());
        self.runtime.spawn(async move {
            if tokio::time::timeout(patience, ended).await.is_err() {
                // A loop that is gone tells nobody.
                let _ = inbox.send(Event::GivenUp(key, title)).await;
            }
        });
    }

    pub(crate) fn given_up(&mut self, session: &SessionKey, title: &str) {
        let text = format!(
            "{title} was cancelled and has not ended; it was given up, and may still be doing something."
        );
        self.show(session, Update::Notice(text));
    }

    fn run_call(&mut self, session: &SessionKey, call: CallId, hold: Hold) {
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        let Some(plan) = open.plans.remove(&call) else {
            return;
        };
        open.running.insert(call);
        let (working, ended) = oneshot::channel::<()>();
        let title = plan.planned().title;
        open.working.insert(call, Working { title, ended });
        let accepted = open.accepted.get(&call).cloned();
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let action = plan.action();
        let (runner, hooked) = (self.hooks(open), action.clone());
        let tool = action.as_deref().map_or("", |it| it.tool.as_str());
        let world = World {
            checkpoint_first: open.session.wants_checkpoint(tool, plan.accesses()),
            action,
            ..self.world(open, call)
        };
        let inbox = self.inbox.clone();
        let key = session.clone();
        let pictures = Pictures::beside(open.log.path());
        let accesses = match self.client.takes(methods::Diagnostics::METHOD) {
            true => plan.accesses().to_vec(),
            false => Vec::new(),
        };
        self.tasks
            .spawn(TaskKey::Call(session.clone(), call), |token| async move {
                let started = Instant::now();
                let output = Output {
                    session: key.clone(),
                    call,
                    inbox: inbox.clone(),
                };
                let (stopped, looking) = (token.clone(), world.clone());
                let before = problems::before(&looking, &accesses).await;
                // In a task of its own: a tool that panics must answer too. On a stop it has the token,
                // and is aborted only with this task.
                let run = plan.run(Run {
                    world,
                    token,
                    output,
                    accepted,
                    hold,
                });
                let mut work = AbortOnDrop(tokio::spawn(async move {
                    let _working = working;
                    run.await
                }));
                let mut done = (&mut work.0).await.unwrap_or_else(|_| {
                    Err(
                        "The tool failed while it ran; look at the present state before you go on."
                            .to_owned(),
                    )
                });
                if !before.is_empty() && matches!(done, Ok(Done::Success { .. })) {
                    tokio::select! {
                        biased;
                        () = stopped.cancelled() => {}
                        told = problems::after(&looking, before) => problems::with(&told, &mut done),
                    }
                }
                // Before the log names them.
                if let Ok(Done::Success { images, .. }) = &done
                    && !images.is_empty()
                {
                    save_pictures(pictures, images.clone()).await;
                }
                let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                if let Some(action) = &hooked {
                    hooks::tell_of_end(&runner, action, &done, &inbox);
                }
                // A loop that is gone needs no result.
                let _ = inbox
                    .send(Event::Finished(key, call, WorkEnd { done, duration_ms }))
                    .await;
            });
    }

    /// The model is told of an edit when its review is on the disk: whatever becomes of this server then, the person
    /// is shown what the model knows that it did.
    pub(crate) fn finished(&mut self, session: &SessionKey, call: CallId, end: WorkEnd) {
        let session = session.clone();
        self.when_reviewed(move |host| host.finished_and_kept(&session, call, end));
    }

    fn finished_and_kept(&mut self, session: &SessionKey, call: CallId, end: WorkEnd) {
        let lines = end.lines();
        let (finished, saw) = end.into_finished();
        if let Some(open) = self.sessions.get_mut(session) {
            open.run.changed(lines);
        }
        if let Some(open) = self.sessions.get_mut(session)
            && !saw.is_empty()
        {
            Arc::make_mut(&mut open.seen).extend(saw);
        }
        self.forget_run(session, call);
        // One whose call ended without it, whatever the reason.
        self.end_agents_of(session, call);
        self.revert_before(session);
        self.step(session, Input::Finished(call, finished));
    }

    fn answer_prompts(&mut self, session: &SessionKey, prompts: Vec<PromptId>, end: &PromptEnd) {
        let login = self.login_for(session, end);
        let summary = self.sessions.get(session).map(OpenSession::summary);
        for prompt in prompts {
            let Some(open) = self.sessions.get_mut(session) else {
                return;
            };
            match open.waiting.remove(&prompt) {
                Some(Waiter::Request { reply, .. }) => {
                    answer_request(reply, end, login.as_deref(), summary.as_ref())
                }
                Some(Waiter::Task(view)) => self.end_task(view, end),
                Some(Waiter::Parent) => self.agent_ended(session, end),
                None => {}
            }
        }
    }

    /// The provider whose key the person can store now to be served, if that is why a prompt failed. What the keyring said
    /// of it before is forgotten: the person may have stored another one meanwhile.
    fn login_for(&self, session: &SessionKey, end: &PromptEnd) -> Option<String> {
        let PromptEnd::Failed(error) = end else {
            return None;
        };
        if error.kind != ModelErrorKind::Auth {
            return None;
        }
        let config = &self.sessions.get(session)?.config;
        let place = endpoint::key_place(config, &config.default_model.provider);
        self.keys.forget(&place.provider);
        (place.takes_keyring() && self.keys.can_store()).then_some(place.provider)
    }

    /// A task's end, for an editor without a chat: the answer as a message.
    fn end_task(&mut self, view: TaskView, end: &PromptEnd) {
        let text = match outcome(end) {
            Ok(acp::StopReason::Cancelled) => "Cancelled.".to_owned(),
            Ok(_) => view.answer.trim().to_owned(),
            Err(error) => redact(&error.message).into_owned(),
        };
        if let Some(token) = &view.token {
            let value = json!({"kind": "end", "message": first_line(&text)});
            self.out
                .notify("$/progress", &json!({"token": token, "value": value}));
        }
        let kind = match outcome(end) {
            Ok(_) => MessageType::Info,
            Err(_) => MessageType::Error,
        };
        self.show_message(kind, &format!("{}: {text}", view.title));
    }
}

/// What an editor is shown of a session, a picture with its bytes while they are there.
pub(crate) fn shown(
    session: &SessionKey,
    pictures: &Pictures,
    update: Update,
) -> Option<acp::SessionNotification> {
    let Update::UserPicture(picture) = update else {
        return show::notification(session, update);
    };
    match pictures.load(&picture) {
        Some(data) => Some(show::user_picture(session, &Image { picture, data })),
        None => show::notification(session, Update::UserPicture(picture)),
    }
}

/// The folders that a session works in.
pub(crate) fn roots_of(open: &OpenSession) -> Vec<PathBuf> {
    let workspace = &open.workspace;
    let others = workspace.others().map(Path::to_path_buf);
    others.chain([workspace.root().to_path_buf()]).collect()
}

/// A picture that cannot be kept is shown to the model all the same; only a resumed session goes without.
async fn save_pictures(pictures: Pictures, images: Vec<Image>) {
    let saving = tokio::task::spawn_blocking(move || {
        for image in &images {
            if let Err(error) = pictures.save(image) {
                tracing::warn!(%error, "a picture was not kept");
            }
        }
    });
    // A panic has been reported already.
    let _ = saving.await;
}

struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl TaskView {
    /// Takes an update in; answers what a progress line should say now, if that is something new.
    fn take(&mut self, update: &Update) -> Option<String> {
        match update {
            Update::Text(text) => {
                self.answer.push_str(text);
                // A line is news when it is whole.
                if !text.contains('\n') {
                    return None;
                }
                self.answer
                    .trim_end()
                    .lines()
                    .next_back()
                    .map(str::to_owned)
            }
            Update::CallChanged(_, change) => change.title.clone(),
            // An empty message takes the one before away.
            Update::Retrying(retrying) => {
                Some(retrying.as_ref().map(failing::line).unwrap_or_default())
            }
            Update::User(_)
            | Update::UserPicture(_)
            | Update::Thought(_)
            | Update::Call { .. }
            | Update::Mode(_)
            | Update::Checklist(_)
            | Update::Notice(_)
            | Update::Usage(_) => None,
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// `login`: the provider whose key would help.
fn answer_request(reply: Reply, end: &PromptEnd, login: Option<&str>, summary: Option<&Summary>) {
    let has_run = match end {
        PromptEnd::Ended(_)
        | PromptEnd::Cancelled
        | PromptEnd::Failed(_)
        | PromptEnd::TooManyAnswers(_) => true,
        PromptEnd::Withdrawn | PromptEnd::Dropped { .. } => false,
    };
    let summary = summary.filter(|_| has_run);
    let outcome = outcome(end).map(|stop| {
        let meta = summary.and_then(|it| show::meta(json!({"summary": it})));
        acp::PromptResponse::new(stop).meta(meta)
    });
    reply.send::<methods::Prompt>(outcome.map_err(|mut error| {
        if let (Some(provider), Some(Value::Object(data))) = (login, &mut error.data) {
            data.insert("provider".to_owned(), json!(provider));
        }
        // A model that was not even reached has taken nothing.
        let spent = summary.filter(|it| it.input + it.output + it.added + it.removed > 0);
        if let (Some(summary), Some(Value::Object(data))) = (spent, &mut error.data) {
            data.insert("summary".to_owned(), json!(summary));
        }
        error
    }));
}

/// How a prompt ended, in ACP's words or as an error with `data: {kind, hint}`.
fn outcome(end: &PromptEnd) -> Result<acp::StopReason, Error> {
    Ok(match end {
        PromptEnd::Ended(StopReason::MaxTokens | StopReason::WindowFull) => {
            acp::StopReason::MaxTokens
        }
        PromptEnd::Ended(StopReason::Refusal) => acp::StopReason::Refusal,
        PromptEnd::Ended(
            StopReason::EndTurn | StopReason::ToolCalls | StopReason::Paused | StopReason::Other(_),
        ) => acp::StopReason::EndTurn,
        PromptEnd::Cancelled => acp::StopReason::Cancelled,
        PromptEnd::TooManyAnswers(_) => acp::StopReason::MaxTurnRequests,
        PromptEnd::Withdrawn => return Err(cancelled()),
        PromptEnd::Dropped { limit } => {
            let text = format!(
                "More than {limit} prompts were waiting, so this one was dropped; send it again later."
            );
            return Err(failure("queueFull", text, None));
        }
        PromptEnd::Failed(error) => {
            return Err(failure(
                kind_name(error.kind),
                error.message.clone(),
                error.retry_after_ms,
            ));
        }
    })
}

fn failure(kind: &str, message: String, retry_after_ms: Option<u64>) -> Error {
    let mut failure = error(code::REQUEST_FAILED, message);
    let mut data = json!({"kind": kind});
    if let Some(ms) = retry_after_ms {
        data["retryAfterMs"] = json!(ms);
    }
    failure.data = Some(data);
    failure
}

fn kind_name(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Unreachable => "unreachable",
        ModelErrorKind::Auth => "auth",
        ModelErrorKind::Quota => "quota",
        ModelErrorKind::RateLimit => "rateLimit",
        ModelErrorKind::Overloaded => "overloaded",
        ModelErrorKind::ContextOverflow => "contextOverflow",
        ModelErrorKind::BadRequest => "badRequest",
        ModelErrorKind::Pictures => "pictures",
        ModelErrorKind::Signature => "signature",
        ModelErrorKind::Cut => "cut",
        ModelErrorKind::Limit => "limit",
        ModelErrorKind::Protocol => "protocol",
        ModelErrorKind::Cancelled => "cancelled",
    }
}

/// An error of a request's params.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    error(ErrorCode::InvalidParams, message)
}
