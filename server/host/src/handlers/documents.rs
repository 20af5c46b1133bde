//! Document sync, and what tasks ask of the editor's documents.

use super::annotations;
use crate::asking::Pending;
use crate::documents::Content;
use crate::event::{Event, Whose};
use crate::main_loop::{Host, TextWaiter};
use crate::regular;
use crate::reviews::Late;
use crate::surfaces::Surface;
use crate::unsaved::has_disk;
use engine::text::{FileText, Form};
use protocol::document::SaveDocumentParams;
use protocol::lsp;
use protocol::methods::{self, Request};
use ropey::Rope;
use serde_json::json;
use std::path::Path;
use tokio::sync::oneshot;

/// How many edits that did not come in time are remembered: each holds two texts.
const MOST_LATE: usize = 4;

impl Host {
    fn document_limit(&self) -> usize {
        usize::try_from(self.limits.document_bytes).unwrap_or(usize::MAX)
    }

    pub(crate) fn did_open(&mut self, params: lsp::DidOpenTextDocumentParams, repaired: bool) {
        let limit = self.document_limit();
        let path = self.documents.opened(params.text_document, repaired, limit);
        if let Some(path) = path {
            self.compare_with_disk(&path);
            self.recall(&path);
            self.follow_document(&path);
            // The editor's own name and version of it count from now on.
            self.surfaces_changed([path.as_path()]);
            self.document_moved(&path, limit);
        }
    }

    /// Finds out whether a document that was just opened is what the disk has: whatever either is later, this tells
    /// whose news it is.
    fn compare_with_disk(&self, path: &Path) {
        let Some(document) = self.documents.get(path) else {
            return;
        };
        let Content::Text(rope) = &document.content else {
            return;
        };
        let (uri, rope, path) = (document.uri.clone(), rope.clone(), path.to_path_buf());
        let (inbox, limit) = (self.inbox.clone(), self.limits.document_bytes);
        self.runtime.spawn(async move {
            let text = rope.clone();
            let looking =
                tokio::task::spawn_blocking(move || has_disk(&path, &text.to_string(), limit));
            // What could not be compared is looked at again when it matters.
            if looking.await.unwrap_or(false) {
                let _ = inbox.send(Event::Compared(uri, rope)).await;
            }
        });
    }

    /// The disk was found to have the text of a document.
    pub(crate) fn compared(&mut self, uri: &lsp::Uri, text: Rope) {
        self.documents.agreed(uri, text);
        if let Some(path) = self.documents.path(uri).map(Path::to_path_buf) {
            self.look_for_saved(&path);
        }
    }

    pub(crate) fn did_change(&mut self, params: lsp::DidChangeTextDocumentParams, repaired: bool) {
        let limit = self.document_limit();
        let encoding = self.client.encoding;
        let changed = self.documents.changed(params, encoding, repaired, limit);
        if let Some(changed) = changed {
            let is_expected = self.expects_text(&changed.path);
            if let Some(document) = self.documents.get(&changed.path) {
                self.reviews.changed(&changed, document, is_expected);
            }
            self.look_for_saved(&changed.path);
            self.document_moved(&changed.path, limit);
        }
    }

    pub(crate) fn did_save(&mut self, params: lsp::DidSaveTextDocumentParams) {
        let uri = &params.text_document.uri;
        self.documents.saved(uri);
        if let Some(path) = self.documents.path(uri).map(Path::to_path_buf) {
            self.look_for_saved(&path);
            // What the person typed beside the agent's changes is accepted too.
            self.base_changed(&path);
        }
        self.look_for_commits();
        if !self.documents.is_tainted(uri) {
            return;
        }
        // What is on disk now is what the editor shows; half a character cannot be saved.
        let limit = self.limits.document_bytes;
        let read = |it: &Path| regular::read_capped(it, limit).ok().flatten();
        if let Some(bytes) = self.documents.path(uri).and_then(read)
            && let FileText { text, form } = FileText::decode(bytes)
            && form != Form::Bytes
        {
            let path = self.documents.path(uri).map(Path::to_path_buf);
            self.documents.restored(uri, &text);
            if let Some(path) = path {
                self.follow_document(&path);
            }
        }
    }

    pub(crate) fn did_close(&mut self, params: lsp::DidCloseTextDocumentParams) {
        let Some(path) = self.documents.closed(&params.text_document.uri) else {
            return;
        };
        self.look_for_saved(&path);
        self.text_waiters
            .retain(|it| it.path != path || !it.reply.is_closed());
        if self.documents.get(&path).is_some() {
            self.follow_document(&path);
        } else if self.reviews.get(&path).is_some() {
            self.follow_disk(&path);
        }
        self.surfaces_changed([path.as_path()]);
    }

    /// Brings a file's review to its document's text.
    pub(super) fn follow_document(&mut self, path: &Path) {
        if let Some(document) = self.documents.get(path) {
            self.reviews.document(path, document);
        }
    }

    /// Whether an edit of ours is on its way to this document.
    pub(crate) fn expects_text(&self, path: &Path) -> bool {
        let mut waiters = self.text_waiters.iter();
        waiters.any(|it| it.path == path && !it.reply.is_closed())
    }

    /// Answers tasks that wait for this text, and says so once when it is too large.
    fn document_moved(&mut self, path: &Path, limit: usize) {
        let Some(document) = self.documents.get(path) else {
            return;
        };
        let rope = match &document.content {
            Content::Text(rope) => rope.clone(),
            Content::Tainted(_) => return,
            Content::TooLarge => {
                let text = format!(
                    "{} is larger than {} MB, so Undine leaves it alone while it is open; close it, or raise document_bytes under [limits].",
                    path.display(),
                    limit / 1_000_000
                );
                return self.warn_once(text);
            }
        };
        let is_met = |it: &mut TextWaiter| it.path == path && rope == it.text.as_str();
        let met: Vec<TextWaiter> = self.text_waiters.extract_if(.., is_met).collect();
        let (late, met): (Vec<TextWaiter>, Vec<TextWaiter>) =
            met.into_iter().partition(|it| it.reply.is_closed());
        if met.is_empty()
            && let Some(late) = late.into_iter().next_back()
            && let Whose::Agent(author) = late.by
        {
            let late = Late {
                path: late.path,
                old: late.old,
                text: late.text,
                author,
            };
            self.reviews.landed(&late, document);
        }
        for waiter in met {
            self.reviews.reached(path, &waiter.by, document);
            // Its task may have given up this moment.
            let _ = waiter.reply.send(());
        }
        let is_passed = |it: &mut TextWaiter| {
            let waits = it.path == path && !it.reply.is_closed();
            waits && self.reviews.passed(path, &it.text, &it.by, document)
        };
        let passed: Vec<TextWaiter> = self.text_waiters.extract_if(.., is_passed).collect();
        for waiter in passed {
            let _ = waiter.reply.send(());
        }
    }

    pub(crate) fn wait_for_text(&mut self, waiter: TextWaiter) {
        self.forget_late(MOST_LATE);
        self.text_waiters.push(waiter);
    }

    /// Of the edits that did not come, only the agent's latest may still do.
    fn forget_late(&mut self, most: usize) {
        let is_late = |it: &TextWaiter| it.reply.is_closed();
        let is_agents = |it: &TextWaiter| matches!(it.by, Whose::Agent(_));
        self.text_waiters.retain(|it| !is_late(it) || is_agents(it));
        let n_late = self.text_waiters.iter().filter(|it| is_late(it)).count();
        let mut n_over = n_late.saturating_sub(most);
        self.text_waiters.retain(|it| {
            let goes = n_over > 0 && is_late(it);
            n_over -= usize::from(goes);
            !goes
        });
    }

    pub(crate) fn ask_apply_edit(
        &mut self,
        mut edit: lsp::WorkspaceEdit,
        label: String,
        reply: oneshot::Sender<Result<lsp::ApplyWorkspaceEditResult, String>>,
    ) {
        if !self.client.apply_edit {
            // Its task may have given up this moment.
            let _ = reply.send(Err("it does not take edits".to_owned()));
            return;
        }
        for change in edit.document_changes.iter_mut().flatten() {
            if let lsp::DocumentChange::TextDocumentEdit(it) = change {
                let version = &mut it.text_document.version;
                *version = version.map(|it| self.client.edit_version(it));
            }
        }
        let by = self.text_waiters.iter().rev().find(|waiter| {
            let uri = self.documents.get(&waiter.path).map(|it| &it.uri);
            uri.is_some_and(|it| annotations::changes(&edit, it))
        });
        let edit = match by {
            Some(waiter) if Surface::Annotations.serves(&self.client) => {
                annotations::annotated(edit, &label, &annotations::named(&waiter.by))
            }
            Some(_) | None => edit,
        };
        let id = self.asking.open(Pending::ApplyEdit(reply));
        self.out.request(
            id,
            "workspace/applyEdit",
            &json!({"label": label, "edit": edit}),
        );
    }

    pub(crate) fn ask_seen(
        &mut self,
        method: &'static str,
        params: &serde_json::Value,
        reply: oneshot::Sender<Option<serde_json::Value>>,
    ) {
        if !self.client.takes(method) {
            // Its task may have given up this moment.
            let _ = reply.send(None);
            return;
        }
        let id = self.asking.open(Pending::Seen(reply));
        self.out.request(id, method, params);
    }

    pub(crate) fn ask_save(&mut self, uri: lsp::Uri, reply: oneshot::Sender<bool>) {
        let method = methods::SaveDocument::METHOD;
        if !self.client.takes(method) {
            // Its task may have given up this moment.
            let _ = reply.send(false);
            return;
        }
        let id = self.asking.open(Pending::Save(reply));
        self.out.request(id, method, &SaveDocumentParams { uri });
    }
}
