//! *Save and run*: a command waits until the documents are saved that it would not see as they are.
//!
//! An editor that saves when it is asked does so. In another one the person saves by hand, and what is waited for is
//! its `didSave`, for as long as they let it. A document that is closed or taken back to what is saved is settled
//! too. The files are never written from here.

use crate::asking::CallKey;
use crate::event::{Event, SessionKey};
use crate::main_loop::{Host, TaskKey};
use crate::plan::{Output, World};
use crate::unsaved::{Unsaved, is_unsaved};
use engine::session::{NotSaved, named};
use protocol::lsp::MessageType;
use protocol::methods::{self, Notification, Request};
use protocol::session::CallId;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// A task that hears when a document is settled.
pub struct SaveWaiter {
    path: PathBuf,
    /// With room for one word of each document.
    news: mpsc::Sender<PathBuf>,
}

impl Host {
    /// Has the documents saved that a call's plan has named.
    pub(crate) fn save_first(&mut self, session: &SessionKey, call: CallId) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let Some(plan) = open.plans.get(&call) else {
            return;
        };
        let (files, world) = (plan.unsaved().to_vec(), self.world(open, call));
        let can_save = self.client.takes(methods::SaveDocument::METHOD);
        if !can_save && !self.client.takes(methods::Update::METHOD) {
            self.show_message(MessageType::Info, &format!("Undine: {}", plea(&files)));
        }
        let (news, heard) = mpsc::channel(files.len().max(1));
        for file in &files {
            let path = file.path.clone();
            self.save_waiters.push(SaveWaiter {
                path,
                news: news.clone(),
            });
        }
        for file in &files {
            self.look_for_saved(&file.path);
        }
        let (key, inbox) = ((session.clone(), call), self.inbox.clone());
        self.tasks
            .spawn(TaskKey::Call(session.clone(), call), |token| async move {
                let saving = async {
                    match can_save {
                        true => have_saved(&world, files, heard).await,
                        false => wait_for_person(&key, &inbox, files, heard).await,
                    }
                };
                let end = tokio::select! {
                    biased;
                    () = token.cancelled() => return,
                    end = saving => end,
                };
                let (session, call) = key.clone();
                // A loop that is gone runs nothing.
                let _ = inbox.send(Event::Saved(session, call, end)).await;
            });
    }

    /// Tells whoever waits for it that a document is saved, closed, or what it was.
    pub(super) fn look_for_saved(&mut self, path: &Path) {
        if self.save_waiters.is_empty() {
            return;
        }
        self.save_waiters.retain(|it| !it.news.is_closed());
        let document = self.documents.get(path);
        if document.is_some_and(|it| it.has_unsaved() != Some(false)) {
            return;
        }
        let settled = self.save_waiters.extract_if(.., |it| it.path == path);
        for waiter in settled {
            // There is room; its task may have given up this moment.
            let _ = waiter.news.try_send(waiter.path);
        }
    }
}

/// Waits for the person.
async fn wait_for_person(
    (session, call): &CallKey,
    inbox: &mpsc::Sender<Event>,
    mut files: Vec<Unsaved>,
    mut heard: mpsc::Receiver<PathBuf>,
) -> Result<(), NotSaved> {
    let output = Output {
        session: session.clone(),
        call: *call,
        inbox: inbox.clone(),
    };
    while !files.is_empty() {
        output.say(plea(&files)).await;
        match heard.recv().await {
            Some(path) => files.retain(|it| it.path != path),
            // All have been heard of.
            None => break,
        }
    }
    Ok(())
}

/// Lets the editor save one after the other.
async fn have_saved(
    world: &World,
    files: Vec<Unsaved>,
    mut heard: mpsc::Receiver<PathBuf>,
) -> Result<(), NotSaved> {
    let mut left = Vec::new();
    for file in files {
        let until = Instant::now() + Duration::from_millis(world.limits.save_ms);
        if is_settled(world, &file).await {
            continue;
        }
        let said = tokio::time::timeout_at(until, world.editor.save(file.uri.clone())).await;
        let mut is_saved = is_settled(world, &file).await;
        // What a formatter made of it may come after the word that it is saved.
        while !is_saved && matches!(said, Ok(Ok(true))) {
            let news = tokio::time::timeout_at(until, heard.recv()).await;
            is_saved = is_settled(world, &file).await;
            if !matches!(news, Ok(Some(_))) {
                break;
            }
        }
        if !is_saved {
            left.push(file.shown);
        }
    }
    match left.is_empty() {
        true => Ok(()),
        false => Err(NotSaved {
            why: format!(
                "Nothing has run: the editor has not saved {}.",
                named(&left)
            ),
            left,
        }),
    }
}

/// Whether a document is saved, or not open any more.
async fn is_settled(world: &World, file: &Unsaved) -> bool {
    let Ok(documents) = world.editor.documents().await else {
        return false;
    };
    let Some(document) = documents.get(&file.path).cloned() else {
        return true;
    };
    let (path, limit) = (file.path.clone(), world.limits.document_bytes);
    let looking = tokio::task::spawn_blocking(move || !is_unsaved(&path, &document, limit));
    // A panic has been reported already.
    looking.await.unwrap_or(false)
}

/// What the person is asked to do.
fn plea(files: &[Unsaved]) -> String {
    let names: Vec<String> = files.iter().map(|it| it.shown.clone()).collect();
    format!("Save {}, then the command runs.", named(&names))
}
