//! What tasks say to the main loop, and what they ask of the editor through it.

use crate::apply::{Applied, Exact};
use crate::documents::Snapshot;
use crate::hooks::Before;
use crate::models::Probe;
use crate::plan::{Plan, WorkEnd};
use crate::restore::{Planned, Restored};
use crate::reviews::Kept;
use crate::store::approvals::Claim;
use crate::store::checkpoints::Manifest;
use crate::store::learned::ModelKey;
use crate::store::pages::Replayed;
use crate::worktree::{Checkout, Landed};
use engine::agents::{Task, Wish};
use engine::memory::Kept as Fact;
use engine::models::Catalogue;
use engine::provider::{Learned, ModelError, ModelEvent};
use engine::session::{NotSaved, SideAnswer};
use engine::text::ChangeSet;
use protocol::acp;
use protocol::auth::ProviderKey;
use protocol::lsp;
use protocol::methods::Request;
use protocol::record::EditedFile;
use protocol::review::Author;
use protocol::session::{CallId, SideId, StreamId, TimerId};
use protocol::tool::Outcome;
use ropey::Rope;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// A session's id, shared.
pub type SessionKey = Arc<str>;

/// What wakes the loop, the editor's own messages aside.
pub enum Event {
    /// In the order of the stream; what one read brought comes in one event.
    Model(SessionKey, StreamId, Vec<ModelEvent>),
    /// What a model's server sent for an answer, before what it means; only where the session's trace is written.
    Bytes(SessionKey, StreamId, Vec<u8>),
    Planned(SessionKey, CallId, Result<Plan, String>),
    /// What hooks made of a call that is about to be planned.
    Hooked(SessionKey, CallId, Before),
    /// What prompts mention has been looked up, for the prompt of this number.
    Mentioned(SessionKey, u64, String),
    /// What the classifier said of a call, or why nothing.
    Classified(SessionKey, CallId, Result<SideAnswer, String>),
    /// What a model said that was asked beside the conversation.
    Side(SessionKey, SideId, Result<SideAnswer, ModelError>),
    /// A call that was cancelled has not ended in all the time it had; its title.
    GivenUp(SessionKey, String),
    /// A piece of the answer to a side question, by its ticket.
    AsidePiece(SessionKey, u64, String),
    Output(SessionKey, CallId, String),
    /// A session's wait is over.
    Woke(SessionKey, TimerId),
    /// The classifier's model refuses something; for the session that asked.
    Learned(SessionKey, ModelKey, Learned),
    /// Whether the documents are saved now that a call waits for.
    Saved(SessionKey, CallId, Result<(), NotSaved>),
    /// The disk had just this text of a document, and so had the editor.
    Compared(lsp::Uri, Rope),
    Finished(SessionKey, CallId, WorkEnd),
    Editor(Ask),
    /// Files were changed on the disk, not through the editor.
    Written(Vec<Written>),
    /// An errand's task has answered, by the errand's number.
    Errand(u64, Found),
    /// A model has named which of these facts can go, for the errand of this number.
    Consolidate(u64, Vec<Fact>, Result<SideAnswer, ModelError>),
    /// The person approves a stored action.
    Approve(Box<Approve>),
    /// Something that the person must hear of, whatever became of the call that met with it.
    Trouble(String),
    /// What became of a revert.
    Reverted(u64, Result<Applied, String>),
    /// The editor may have to hear how reviews have moved.
    TellReview,
    /// What git has of files under review.
    Committed(Vec<Committed>),
    /// Reviews that have moved are to be saved.
    SaveReview,
    /// The files of which earlier servers have left a record.
    Searched(Vec<PathBuf>),
    /// What an earlier server knew of a file. The error is for the person.
    Recalled(PathBuf, Result<Option<Box<Kept>>, String>),
    /// What the reviews knew is on the disk; sent once for each work that waits for it.
    Reviewed,
    /// Something that the person is to hear once.
    Warn(String),
    /// A session's processes in the background are others now.
    Processes(SessionKey),
    /// Providers have listed their models, for the wish of this number.
    Listed(u64, Vec<Probe>),
    /// Where these providers' keys are now.
    KeysAt(Vec<ProviderKey>),
    /// A model is loaded with so many tokens of context.
    Window(ModelKey, u64),
    /// The catalogue of models was fetched.
    Catalogue(Box<Catalogue>),
    /// A checkout for a subagent is there, or is not.
    Checkout(Box<MadeCheckout>),
    /// What a subagent changed in its checkout is in the project, or is not.
    Landed(SessionKey, Box<Checkout>, Result<Landed, String>),
    /// A subagent has worked as long as it may, in the piece of work with this number.
    AgentTime(SessionKey, u64),
    /// What a subagent does is to be shown.
    AgentProgress(SessionKey),
    /// A task has gone that may have asked the person something.
    Abandoned,
    /// A long session was replayed to the editor. The error is for the person.
    Replayed(SessionKey, Result<Replayed, String>),
    /// The process that started us is gone.
    ParentGone,
}

/// What an errand's task found or did. Each error is a sentence for the person.
pub enum Found {
    Listed(Result<Vec<Manifest>, String>),
    Kept(Result<Manifest, String>),
    /// Before the person is asked.
    Planned(Result<Planned, String>),
    Restored(Result<Restored, String>),
    /// What is kept over sessions.
    Memory(Result<Vec<Fact>, String>),
    /// The same, to be consolidated.
    Consolidate(Result<Vec<Fact>, String>),
    /// What the person is told.
    Said(Result<String, String>),
}

/// A checkout that a call waits for, which wants a subagent to work in it. The error is for the model.
pub struct MadeCheckout {
    pub session: SessionKey,
    pub call: CallId,
    pub task: Task,
    pub reply: oneshot::Sender<Result<String, String>>,
    pub made: Result<Box<Checkout>, String>,
}

/// An approval of a stored action, and who waits for what becomes of it.
pub struct Approve {
    pub claim: Claim,
    pub reply: oneshot::Sender<Approved>,
}

/// What became of an approved action. The texts are for the person.
#[derive(Clone, Debug, PartialEq)]
pub enum Approved {
    Ran {
        outcome: Outcome,
        text: String,
    },
    /// Nothing was done, and why.
    Refused(String),
    /// Nothing was done: it would do something else by now, and this is what the next approval is good for.
    Changed {
        preview: String,
    },
}

/// A file's text as it was committed last.
pub struct Committed {
    pub path: PathBuf,
    pub text: String,
    /// Git keeps it with `\n`, whatever the file has.
    pub plain: bool,
}

/// One file that was changed on the disk. Made where the change is, so that the loop need not compare texts.
#[derive(Clone, Debug)]
pub struct Written {
    pub path: PathBuf,
    /// The text before; `None`: there was no file.
    pub old: Option<Rope>,
    /// The text now; `None`: there is no file.
    pub new: Option<Rope>,
    /// What makes the new text of the old one, where there are both.
    pub changes: Option<ChangeSet>,
    /// How the text before lay on the disk, where that is known.
    pub was: Option<Exact>,
    pub by: Whose,
}

impl Written {
    /// Compares both texts.
    pub fn new(path: PathBuf, old: Option<&str>, new: Option<&str>, by: Whose) -> Self {
        Self {
            path,
            old: old.map(Rope::from_str),
            new: new.map(Rope::from_str),
            changes: old.zip(new).map(|(old, new)| ChangeSet::between(old, new)),
            was: None,
            by,
        }
    }
}

/// Whose a change is, for the review of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Whose {
    /// A tool call's.
    Agent(Author),
    /// The person's, who reverts what the agent did.
    Review,
    /// The person's, by any other way: restoring a checkpoint, for instance.
    Person,
}

/// What a task asks of the editor. Each is answered exactly once, or its sender is dropped when the
/// editor is gone.
pub enum Ask {
    /// The open documents as they are now.
    Documents(oneshot::Sender<Snapshot>),
    ApplyEdit {
        edit: Box<lsp::WorkspaceEdit>,
        label: String,
        reply: oneshot::Sender<Result<lsp::ApplyWorkspaceEditResult, String>>,
    },
    /// Answers when the document holds exactly this text, at once or after a `didChange`.
    WaitForText {
        path: PathBuf,
        /// The text before the change.
        old: String,
        text: String,
        /// Whose the change to it is.
        by: Whose,
        reply: oneshot::Sender<()>,
    },
    /// Answers whether the document was saved.
    Save {
        uri: lsp::Uri,
        reply: oneshot::Sender<bool>,
    },
    /// Answers when all that the reviews know by now is on the disk.
    Reviewed(oneshot::Sender<()>),
    /// Writes into a session's log which files a call is about to change. Not answered when the call has
    /// ended meanwhile.
    NoteEdit {
        session: SessionKey,
        call: CallId,
        files: Vec<EditedFile>,
        checkpoint: Option<String>,
        reply: oneshot::Sender<()>,
    },
    /// Puts a form to the person; `None`: nobody can be asked.
    Elicit {
        session: SessionKey,
        request: Box<acp::CreateElicitationRequest>,
        reply: oneshot::Sender<Option<acp::ElicitationAction>>,
    },
    /// Offers choices by a message; `None`: the editor cannot.
    Choose {
        message: String,
        actions: Vec<String>,
        reply: oneshot::Sender<Option<Chosen>>,
    },
    /// Has a subagent work for a call, or ended. Answered with what the call ends with, both for the model; not answered when the
    /// subagent is ended with the call.
    Agent {
        session: SessionKey,
        call: CallId,
        wish: Box<Wish>,
        reply: oneshot::Sender<Result<String, String>>,
    },
    /// Asks the editor something of what the person sees there; `None`: it has no answer, or does not know the method.
    Seen {
        method: &'static str,
        params: serde_json::Value,
        reply: oneshot::Sender<Option<serde_json::Value>>,
    },
    /// Opens a web page outside the editor; answers whether the editor can.
    ShowPage {
        url: String,
        reply: oneshot::Sender<bool>,
    },
}

/// What the person did with a message that offers choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// By its title.
    Action(String),
    Dismissed,
}

/// A task's way to the editor.
#[derive(Clone, Debug)]
pub struct Editor {
    inbox: mpsc::Sender<Event>,
}

/// The editor is gone; whatever was asked of it will not be answered.
#[derive(Debug)]
pub struct Gone;

impl Editor {
    pub fn new(inbox: mpsc::Sender<Event>) -> Self {
        Self { inbox }
    }

    async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> Ask) -> Result<T, Gone> {
        self.begin(ask).await?.await.map_err(|_| Gone)
    }

    async fn begin<T>(
        &self,
        ask: impl FnOnce(oneshot::Sender<T>) -> Ask,
    ) -> Result<oneshot::Receiver<T>, Gone> {
        let (reply, answer) = oneshot::channel();
        self.inbox
            .send(Event::Editor(ask(reply)))
            .await
            .map_err(|_| Gone)?;
        Ok(answer)
    }

    pub async fn documents(&self) -> Result<Snapshot, Gone> {
        self.ask(Ask::Documents).await
    }

    pub async fn apply_edit(
        &self,
        edit: lsp::WorkspaceEdit,
        label: String,
    ) -> Result<Result<lsp::ApplyWorkspaceEditResult, String>, Gone> {
        self.ask(|reply| Ask::ApplyEdit {
            edit: Box::new(edit),
            label,
            reply,
        })
        .await
    }

    /// Begins to wait for the second text instead of the first; the answer comes through the receiver.
    pub async fn text(
        &self,
        path: PathBuf,
        (old, text): (String, String),
        by: Whose,
    ) -> Result<oneshot::Receiver<()>, Gone> {
        self.begin(|reply| Ask::WaitForText {
            path,
            old,
            text,
            by,
            reply,
        })
        .await
    }

    pub async fn save(&self, uri: lsp::Uri) -> Result<bool, Gone> {
        self.ask(|reply| Ask::Save { uri, reply }).await
    }

    /// Answers once it is written; [`Gone`] also when the call has ended.
    pub async fn note_edit(
        &self,
        session: SessionKey,
        call: CallId,
        files: Vec<EditedFile>,
        checkpoint: Option<String>,
    ) -> Result<(), Gone> {
        self.ask(|reply| Ask::NoteEdit {
            session,
            call,
            files,
            checkpoint,
            reply,
        })
        .await
    }

    /// Has a subagent work for a call, and waits for what the call ends with.
    pub async fn agent(
        &self,
        session: SessionKey,
        call: CallId,
        wish: Wish,
    ) -> Result<Result<String, String>, Gone> {
        self.ask(|reply| Ask::Agent {
            session,
            call,
            wish: Box::new(wish),
            reply,
        })
        .await
    }

    /// Asks the editor something of what the person sees there; nothing where it has no answer in time.
    pub async fn seen<R: Request>(
        &self,
        params: R::Params,
        patience: Duration,
    ) -> Option<R::Result> {
        let params = serde_json::to_value(params).ok()?;
        let method = R::METHOD;
        let asking = self.ask(|reply| Ask::Seen {
            method,
            params,
            reply,
        });
        let answer = tokio::time::timeout(patience, asking).await.ok()?.ok()??;
        serde_json::from_value(answer).ok()
    }

    /// Opens a web page for the person; false where the editor cannot.
    pub async fn show_page(&self, url: String) -> Result<bool, Gone> {
        self.ask(|reply| Ask::ShowPage { url, reply }).await
    }

    /// Says that files were changed on the disk.
    pub async fn written(&self, files: Vec<Written>) {
        // A loop that is gone has no reviews to keep.
        let _ = self.inbox.send(Event::Written(files)).await;
    }

    /// Says that the disk was found to have just the text of a document.
    pub async fn agrees(&self, uri: lsp::Uri, text: Rope) {
        // A loop that is gone has no documents.
        let _ = self.inbox.send(Event::Compared(uri, text)).await;
    }

    /// Waits until all that the reviews know by now is on the disk.
    pub async fn reviewed(&self) {
        // A loop that is gone has saved what it could.
        let _ = self.ask(Ask::Reviewed).await;
    }

    /// Says something that the person must hear of.
    pub async fn trouble(&self, text: String) {
        tracing::error!(text, "trouble");
        // A loop that is gone shows nothing any more; the log has it.
        let _ = self.inbox.send(Event::Trouble(text)).await;
    }

    pub async fn elicit(
        &self,
        session: SessionKey,
        request: acp::CreateElicitationRequest,
    ) -> Result<Option<acp::ElicitationAction>, Gone> {
        // Before what it outlives: by the time the loop hears of it, nobody waits for the answer.
        let _end = Abandon(&self.inbox);
        self.ask(|reply| Ask::Elicit {
            session,
            request: Box::new(request),
            reply,
        })
        .await
    }
}

impl Editor {
    /// Offers choices by their titles, in an editor that knows no forms.
    pub async fn choose(
        &self,
        message: String,
        actions: Vec<String>,
    ) -> Result<Option<Chosen>, Gone> {
        let _end = Abandon(&self.inbox);
        self.ask(|reply| Ask::Choose {
            message,
            actions,
            reply,
        })
        .await
    }
}

/// Tells the loop that whoever asked is gone: the turn was cancelled, or the answer is there.
struct Abandon<'a>(&'a mpsc::Sender<Event>);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        let inbox = self.0.clone();
        // Without a runtime the process is ending, and so are its questions.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { inbox.send(Event::Abandoned).await });
        }
    }
}
