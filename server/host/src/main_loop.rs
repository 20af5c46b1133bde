//! The loop that owns everything.
//!
//! One event at a time, from the editor or from a task; `handle` never awaits. A fault in one event
//! is logged and answered, and the loop goes on.

use crate::asking::{Asking, Choice};
use crate::client::Client;
use crate::documents::Documents;
use crate::errand::{Errand, ListWish};
use crate::event::{Ask, Event, SessionKey, Whose};
use crate::handlers::{Approving, Reviewing, SaveWaiter, Shown};
use crate::keys::Keys;
use crate::layers::Layers;
use crate::lsp::{FrontEvent, Incoming, Notice, Out, Reply};
use crate::models::Models;
use crate::ollama;
use crate::plan::Locks;
use crate::process::Children;
use crate::process::background::Jobs;
use crate::reviews::Reviews;
use crate::scratchpad::Scratchpad;
use crate::session_host::OpenSession;
use crate::store::checkpoints::Checkpoints;
use crate::store::learned::LearnedModels;
use crate::store::permissions::Permissions;
use crate::store::{Folders, now_ms};
use crate::tasks::Tasks;
use crate::trace::Trace;
use engine::provider::ModelEvent;
use engine::session::Input;
use protocol::config::Limits;
use protocol::methods::{self, ClientNotification, ClientRequest, LspNotification, LspRequest};
use protocol::session::{CallId, SideId, StreamId, TimerId};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The owner of everything that lasts.
pub struct Host {
    pub(crate) out: Out,
    pub(crate) inbox: mpsc::Sender<Event>,
    pub(crate) runtime: Handle,
    pub(crate) folders: Folders,
    pub(crate) client: Client,
    /// Layers of configuration that are the same for every session, weakest first, the project's
    /// aside.
    pub(crate) layers: Layers,
    /// Limits that hold for the editor as a whole.
    pub(crate) limits: Limits,
    pub(crate) roots: Vec<PathBuf>,
    /// Folders of the command line that every session may work in.
    pub(crate) added: Vec<PathBuf>,
    pub(crate) documents: Documents,
    pub(crate) reviews: Reviews,
    pub(crate) reviewing: Reviewing,
    /// What the editor shows of them by our word.
    pub(crate) shown: Shown,
    /// Tasks that wait for a text.
    pub(crate) text_waiters: Vec<TextWaiter>,
    /// Tasks that wait for documents to be saved.
    pub(crate) save_waiters: Vec<SaveWaiter>,
    pub(crate) sessions: HashMap<SessionKey, OpenSession>,
    /// The session of tasks that code actions start.
    pub(crate) task_session: Option<SessionKey>,
    pub(crate) next_token: u64,
    pub(crate) errands: BTreeMap<u64, Errand>,
    /// Who waits for a list of models.
    pub(crate) list_wishes: BTreeMap<u64, ListWish>,
    /// What is known of models.
    pub(crate) models: Models,
    /// Somebody can be asked.
    pub(crate) attended: bool,
    /// Who waits for a session to be replayed by a task.
    pub(crate) loading: Vec<(SessionKey, Reply)>,
    /// Stored actions that run, by the ids of their approvals.
    pub(crate) approving: HashMap<String, Approving>,
    pub(crate) asking: Asking,
    pub(crate) tasks: Tasks<TaskKey>,
    pub(crate) children: Arc<Children>,
    pub(crate) jobs: Jobs,
    pub(crate) locks: Arc<Locks>,
    pub(crate) ollama: Arc<ollama::Known>,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) permissions: Permissions,
    /// What models have refused.
    pub(crate) learned: LearnedModels,
    pub(crate) keys: Arc<Keys>,
    /// What sessions are to be told, in order, after the effects at hand.
    pub(crate) due: VecDeque<(SessionKey, Input)>,
    /// Told once when the parent is gone.
    pub(crate) ended: Option<oneshot::Sender<()>>,
    pub(crate) said: Vec<String>,
}

/// A task that waits until a document holds a text. One that has given up leaves word what it waited for: some
/// editors apply an edit long after.
pub struct TextWaiter {
    pub path: PathBuf,
    /// The text before.
    pub old: String,
    pub text: String,
    /// Whose the change to it is.
    pub by: Whose,
    pub reply: oneshot::Sender<()>,
}

/// What a task works on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TaskKey {
    Model(SessionKey, StreamId),
    Call(SessionKey, CallId),
    Side(SessionKey, SideId),
    Timer(SessionKey, TimerId),
    Errand(u64),
    /// A subagent's time.
    AgentTime(SessionKey),
    /// What it does is to be shown.
    AgentProgress(SessionKey),
    /// Its checkout is made, for a call; its changes are brought back.
    Checkout(SessionKey, CallId),
    Landing(SessionKey),
}

/// Runs until the editor's inbox is closed or the process is to end; then ends every turn, so that its
/// log says how it ended and no model is asked any more. Answers the scratchpads, which are to be removed when
/// nothing runs in them any more.
pub async fn run(
    mut host: Host,
    mut front: mpsc::Receiver<FrontEvent>,
    mut events: mpsc::Receiver<Event>,
    ending: CancellationToken,
) -> Vec<Scratchpad> {
    loop {
        // Fair between the two inboxes: neither a typing person nor a fast model may starve the other.
        tokio::select! {
            event = front.recv() => match event {
                Some(event) => host.guarded(|it| it.front(event)),
                None => break,
            },
            event = events.recv() => match event {
                Some(event) => host.guarded(|it| it.event(event)),
                None => break,
            },
            () = ending.cancelled() => break,
        }
    }
    host.guarded(Host::cancel_all);
    let patience = Duration::from_millis(host.limits.exit_ms);
    tokio::task::block_in_place(|| {
        host.reviews.close(patience);
        host.write_snapshots(patience);
    });
    let sessions = host.sessions.drain();
    sessions.filter_map(|(_, it)| it.scratchpad).collect()
}

impl Host {
    /// A fault must not take the other sessions down. What it left half done is the session's own
    /// log's business: effects are written ahead.
    fn guarded(&mut self, work: impl FnOnce(&mut Self)) {
        let done = catch_unwind(AssertUnwindSafe(|| {
            work(self);
            self.settle();
            self.settle_review();
        }));
        if done.is_err() {
            self.due.clear();
            tracing::error!("a fault in the main loop; the event was dropped");
            self.show_error("Undine ran into a fault of its own and went on; its log says more.");
        }
    }

    /// Tells sessions what is due, until nothing is.
    fn settle(&mut self) {
        while let Some((session, input)) = self.due.pop_front() {
            self.step(&session, input);
        }
    }

    /// Lets a session take something in, and does what it asks for. What may have the model asked waits for
    /// reverts that are on their way; a cancel waits for nothing.
    pub(crate) fn step(&mut self, session: &SessionKey, input: Input) {
        if matches!(input, Input::Cancel | Input::CancelPrompt(_)) {
            for kept in self.take_kept(session) {
                self.step_now(session, kept);
            }
        } else if asks_model(&input) {
            let Some(input) = self.after_reverts(session, input) else {
                return;
            };
            return self.step_now(session, input);
        }
        self.step_now(session, input);
    }

    fn step_now(&mut self, session: &SessionKey, input: Input) {
        if !self.sessions.contains_key(session) {
            return;
        }
        if is_judged(&input) {
            self.refresh_standing(session);
        }
        let told = match asks_model(&input) {
            true => {
                self.look_for_commits();
                self.reviews.take_news(session)
            }
            false => Vec::new(),
        };
        let told = (!told.is_empty()).then(|| self.told(session, &told));
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        open.session.set_now(now_ms());
        let mut effects = Vec::new();
        if let Some(text) = told {
            effects = open.step(Input::Tell(text));
        }
        let is_mode = matches!(input, Input::SetMode(_));
        effects.extend(open.step(input));
        self.perform(session, effects);
        if is_mode {
            self.agents_follow(session);
        }
        // A plan holds whole files; that of a call which was denied or cancelled will not run.
        if let Some(open) = self.sessions.get_mut(session)
            && !(open.plans.is_empty() && open.accepted.is_empty())
        {
            let open_calls: HashSet<CallId> = open.session.open_calls().collect();
            open.plans.retain(|call, _| open_calls.contains(call));
            open.accepted.retain(|call, _| open_calls.contains(call));
        }
    }

    /// Where what happens to a session is written, if it is.
    fn trace_of(&mut self, session: &SessionKey) -> Option<&mut Trace> {
        self.sessions.get_mut(session)?.trace.as_mut()
    }

    fn front(&mut self, event: FrontEvent) {
        match event {
            FrontEvent::Request { id, request, reply } => match request {
                Incoming::Initialize(params) => self.initialize(*params, reply),
                Incoming::Shutdown => self.shutdown(reply),
                Incoming::Agent(request) => match request {
                    ClientRequest::NewSession(params) => {
                        let opened = self.new_session(params);
                        let session = opened.as_ref().ok().map(|it| it.session_id.0.clone());
                        reply.send::<methods::NewSession>(opened);
                        session
                            .into_iter()
                            .for_each(|it| self.announce_commands(&it));
                    }
                    ClientRequest::LoadSession(params) => self.load_session(params, reply),
                    ClientRequest::SessionMessages(params) => self.session_messages(params, reply),
                    ClientRequest::ResumeSession(params) => {
                        let session = params.session_id.0.clone();
                        let resumed = self.resume_session(params);
                        let is_open = resumed.is_ok();
                        reply.send::<methods::ResumeSession>(resumed);
                        if is_open {
                            self.announce_commands(&session);
                        }
                    }
                    ClientRequest::CloseSession(params) => self.close_session(&params, reply),
                    ClientRequest::DeleteSession(params) => self.delete_session(&params, reply),
                    ClientRequest::ForkSession(params) => {
                        reply.send::<methods::ForkSession>(self.fork_session(&params))
                    }
                    ClientRequest::RenameSession(params) => {
                        reply.send::<methods::RenameSession>(self.rename_session(&params))
                    }
                    ClientRequest::ExportSession(params) => self.export_session(params, reply),
                    ClientRequest::SearchSessions(params) => self.search_sessions(params, reply),
                    ClientRequest::SearchPrompts(params) => self.search_prompts(params, reply),
                    ClientRequest::ListSessions(params) => {
                        reply.send::<methods::ListSessions>(self.list_sessions(params))
                    }
                    ClientRequest::Prompt(params) => self.prompt(params, id, reply),
                    ClientRequest::SetMode(params) => {
                        reply.send::<methods::SetMode>(self.set_mode(params))
                    }
                    ClientRequest::SetConfigOption(params) => {
                        reply.send::<methods::SetConfigOption>(self.set_config_option(&params))
                    }
                    ClientRequest::ListModels(params) => self.list_models(&params, reply),
                    ClientRequest::SessionContext(params) => {
                        reply.send::<methods::SessionContext>(self.session_context(&params))
                    }
                    ClientRequest::SessionUsage(params) => {
                        reply.send::<methods::SessionUsage>(self.session_usage(&params))
                    }
                    ClientRequest::Btw(params) => self.btw(params, id, reply),
                    ClientRequest::ClearBtw(params) => {
                        reply.send::<methods::ClearBtw>(self.clear_btw(params))
                    }
                    ClientRequest::ListReview(params) => self.when_recalled(move |host| {
                        reply.send::<methods::ListReview>(host.list_review(params));
                    }),
                    ClientRequest::ResolveReview(params) => {
                        self.resolve_review(params, move |_, end| {
                            reply.send::<methods::ResolveReview>(end);
                        })
                    }
                    ClientRequest::ReviewBase(params) => self.when_recalled(move |host| {
                        reply.send::<methods::ReviewBase>(host.review_base(params));
                    }),
                    ClientRequest::ListCheckpoints(params) => self.list_checkpoints(&params, reply),
                    ClientRequest::CreateCheckpoint(params) => {
                        self.create_checkpoint(params, reply)
                    }
                    ClientRequest::RestoreCheckpoint(params) => {
                        self.restore_checkpoint(params, reply)
                    }
                    ClientRequest::ListRules(params) => {
                        reply.send::<methods::ListRules>(self.list_rules(&params))
                    }
                    ClientRequest::ForgetRule(params) => {
                        reply.send::<methods::ForgetRule>(self.forget_rule(&params))
                    }
                    ClientRequest::ListMemory(params) => self.list_memory(&params, reply),
                    ClientRequest::AddMemory(params) => self.add_memory(params, reply),
                    ClientRequest::RemoveMemory(params) => self.remove_memory(params, reply),
                    ClientRequest::ListProcesses(params) => {
                        reply.send::<methods::ListProcesses>(self.list_processes(&params))
                    }
                    ClientRequest::ReadProcess(params) => {
                        reply.send::<methods::ReadProcess>(self.read_process(&params))
                    }
                    ClientRequest::StopProcess(params) => self.stop_process(&params, reply),
                    ClientRequest::DetachProcess(params) => {
                        reply.send::<methods::DetachProcess>(self.detach_process(&params))
                    }
                    ClientRequest::DetachAgent(params) => {
                        reply.send::<methods::DetachAgent>(self.detach_agent(&params))
                    }
                    ClientRequest::AuthStatus(params) => self.auth_status(params, reply),
                    ClientRequest::SetKey(params) => self.set_key(params, reply),
                    ClientRequest::ClearKey(params) => self.clear_key(params, reply),
                },
                Incoming::Lsp(request) => match request {
                    LspRequest::CodeAction(params) => reply.send_value(self.code_actions(params)),
                    LspRequest::CodeActionResolve(action) => {
                        reply.send_value(self.resolved(action))
                    }
                    LspRequest::ExecuteCommand(params) => self.execute_command(params, reply),
                    LspRequest::CodeLens(params) => reply.send_value(self.code_lenses(params)),
                    LspRequest::InlayHint(params) => reply.send_value(self.inlay_hints(params)),
                    LspRequest::Diagnostic(params) => {
                        reply.send_value(self.document_diagnostics(params))
                    }
                    LspRequest::TextDocumentContent(params) => {
                        self.text_document_content(params, reply)
                    }
                },
            },
            FrontEvent::Notice(notice) => match notice {
                Notice::Initialized => self.initialized(),
                Notice::Agent(ClientNotification::Cancel(params)) => self.cancel(params),
                Notice::Lsp { notice, repaired } => match notice {
                    LspNotification::DidOpen(params) => self.did_open(params, repaired),
                    LspNotification::DidChange(params) => self.did_change(params, repaired),
                    LspNotification::DidSave(params) => self.did_save(params),
                    LspNotification::DidClose(params) => self.did_close(params),
                    LspNotification::DidChangeConfiguration(params) => {
                        self.did_change_configuration(params)
                    }
                    LspNotification::DidChangeWorkspaceFolders(params) => {
                        self.did_change_folders(params)
                    }
                    LspNotification::CancelProgress(params) => self.cancel_progress(params),
                    LspNotification::SetTrace(_) => {}
                },
            },
            FrontEvent::Answer(answer) => self.answered(answer),
            FrontEvent::Cancel(id) => self.cancel_request(&id),
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Model(session, stream, events) => {
                for event in events {
                    self.step(&session, Input::Model(stream, event));
                }
            }
            Event::Bytes(session, stream, bytes) => {
                if let Some(trace) = self.trace_of(&session) {
                    trace.took(stream, bytes);
                }
            }
            Event::Planned(session, call, plan) => self.planned(&session, call, plan),
            Event::Mentioned(session, number, text) => self.mentioned(&session, number, text),
            Event::Hooked(session, call, before) => self.hooked(&session, call, before),
            Event::Classified(session, call, review) => {
                self.step(&session, Input::Classified(call, review));
            }
            Event::Side(session, side, answer) => self.step(&session, Input::Side(side, answer)),
            Event::GivenUp(session, title) => self.given_up(&session, &title),
            Event::AsidePiece(session, ticket, text) => {
                self.aside_piece(&session, ticket, &text);
            }
            Event::Woke(session, timer) => self.step(&session, Input::Woke(timer)),
            Event::Learned(session, key, learned) => {
                if let Some(config) = self.sessions.get(&session).map(|it| it.config.clone()) {
                    self.keep_learned(key, learned, &config);
                }
            }
            Event::Saved(session, call, end) => self.step(&session, Input::Saved(call, end)),
            Event::Compared(uri, text) => self.compared(&uri, text),
            Event::Output(session, call, text) => self.step(&session, Input::Output(call, text)),
            Event::Finished(session, call, end) => self.finished(&session, call, end),
            Event::Editor(ask) => self.ask(ask),
            Event::Errand(number, found) => self.found(number, found),
            Event::Consolidate(number, kept, answer) => self.consolidate(number, kept, answer),
            Event::Approve(approve) => self.approve(*approve),
            Event::Trouble(text) => self.show_error(&text),
            Event::Written(mut files) => {
                // What is changed there is reviewed once it is in the project.
                files.retain(|it| !self.is_in_checkout(&it.path));
                self.written(&files)
            }
            Event::Reverted(id, end) => self.reverted(id, end),
            Event::TellReview => self.tell_review(),
            Event::Committed(texts) => {
                for it in texts {
                    self.reviews.committed(&it.path, &it.text, it.plain);
                }
            }
            Event::SaveReview => self.save_review(),
            Event::Searched(paths) => self.searched(&paths),
            Event::Recalled(path, found) => self.recalled(&path, found),
            Event::Reviewed => self.run_reviewed(),
            Event::Warn(text) => self.warn_once(text),
            Event::Listed(number, probes) => self.listed(number, &probes),
            Event::Window(model, tokens) => self.loaded(model, tokens),
            Event::KeysAt(keys) => self.note_keys(&keys),
            Event::Catalogue(catalogue) => self.catalogued(*catalogue),
            Event::Processes(session) => self.processes_changed(&session),
            Event::Checkout(made) => self.agent_has_checkout(*made),
            Event::Landed(session, checkout, landed) => {
                self.agent_landed(&session, checkout, landed)
            }
            Event::AgentTime(session, work) => self.agent_timed_out(&session, work),
            Event::AgentProgress(session) => self.show_agent(&session),
            Event::Abandoned => self.drop_abandoned(),
            Event::Replayed(session, replayed) => self.replayed_by_task(&session, replayed),
            Event::ParentGone => {
                if let Some(ended) = self.ended.take() {
                    // The receiver ends the process; if it is gone, the process is ending.
                    let _ = ended.send(());
                }
            }
        }
    }

    fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Documents(reply) => drop(reply.send(self.documents.snapshot())),
            Ask::ApplyEdit { edit, label, reply } => self.ask_apply_edit(*edit, label, reply),
            Ask::WaitForText {
                path,
                old,
                text,
                by,
                reply,
            } => self.wait_for_text(TextWaiter {
                path,
                old,
                text,
                by,
                reply,
            }),
            Ask::Seen {
                method,
                params,
                reply,
            } => self.ask_seen(method, &params, reply),
            Ask::Save { uri, reply } => self.ask_save(uri, reply),
            Ask::Reviewed(reply) => self.when_reviewed(move |_| {
                // Who asked may be gone.
                let _ = reply.send(());
            }),
            Ask::NoteEdit {
                session,
                call,
                files,
                checkpoint,
                reply,
            } => self.note_edit(&session, call, files, checkpoint, reply),
            Ask::Elicit { request, reply, .. } => self.ask_elicit(*request, reply),
            Ask::Choose {
                message,
                actions,
                reply,
            } => self.ask_choice(Choice {
                message,
                actions,
                reply,
            }),
            Ask::Agent {
                session,
                call,
                wish,
                reply,
            } => self.ask_agent(&session, call, *wish, reply),
            Ask::ShowPage { url, reply } => drop(reply.send(self.show_page(&url))),
        }
    }
}

/// Whether calls are judged because of this, by answers that the person may have changed by hand.
fn is_judged(input: &Input) -> bool {
    matches!(
        input,
        Input::Planned(..) | Input::Decided(..) | Input::SetMode(_)
    )
}

/// Whether the model may be asked because of this. What it is to know of the person's verdicts is said before.
fn asks_model(input: &Input) -> bool {
    match input {
        Input::Prompt { .. }
        | Input::CancelPrompt(_)
        | Input::SetMode(_)
        | Input::Planned(..)
        | Input::Decided(..)
        | Input::Saved(..)
        | Input::Classified(..)
        | Input::Finished(..)
        | Input::Queued(..)
        | Input::Side(..)
        | Input::Goal(_)
        | Input::Woke(_)
        | Input::Model(_, ModelEvent::Ended(_)) => true,
        Input::Cancel
        | Input::AskAside { .. }
        | Input::DropAside(_)
        | Input::Style(_)
        | Input::Command { .. }
        | Input::Spent { .. }
        | Input::Tell(_)
        | Input::EditChecklist(_)
        | Input::Rewritten(..)
        | Input::Reasoning { .. }
        | Input::Remember(_)
        | Input::Forget(_)
        | Input::Replay(_)
        | Input::Compact { .. }
        | Input::Output(..)
        | Input::Model(
            _,
            ModelEvent::Text(_)
            | ModelEvent::Thought(_)
            | ModelEvent::Call(_)
            | ModelEvent::Usage(_)
            | ModelEvent::Raw(_)
            | ModelEvent::Failed(_),
        ) => false,
    }
}
