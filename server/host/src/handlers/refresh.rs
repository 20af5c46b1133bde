//! Tells the editor that what it shows of the agent's changes is out of date.

use super::diagnostics::{Published, places};
use super::virtual_documents::Virtual;
use crate::asking::{CallKey, Pending};
use crate::main_loop::Host;
use crate::surfaces::Surface;
use protocol::lsp;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What the editor shows by our word.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub published: HashMap<PathBuf, Published>,
    /// Ids of the hunks that were shown last, for files that have any.
    hunks: HashMap<PathBuf, Vec<String>>,
    /// Virtual documents that the editor has asked for.
    pub documents: HashSet<lsp::Uri>,
}

impl Host {
    /// The hunks of files are others, or stand elsewhere. Costs nothing for a file that has none and had
    /// none.
    pub(crate) fn surfaces_changed<'a>(&mut self, paths: impl IntoIterator<Item = &'a Path>) {
        let mut is_other = false;
        for path in paths {
            let hunks = self.reviews.get(path).map(|review| {
                let ledger = &mut review.ledger;
                let mut ids: Vec<String> = ledger.hunks().into_iter().map(|it| it.id.0).collect();
                ids.extend(ledger.file_change().map(|it| format!("{it:?}")));
                ids
            });
            let hunks = hunks.filter(|it| !it.is_empty());
            if hunks.is_none()
                && !self.shown.hunks.contains_key(path)
                && !self.shown.published.contains_key(path)
            {
                continue;
            }
            if Surface::PublishedDiagnostics.serves(&self.client) {
                self.publish_diagnostics(path);
            }
            if self.shown.hunks.get(path) == hunks.as_ref() {
                continue;
            }
            match hunks {
                Some(hunks) => self.shown.hunks.insert(path.to_path_buf(), hunks),
                None => self.shown.hunks.remove(path),
            };
            is_other = true;
            self.base_changed(path);
        }
        // An editor asks again by itself when it has changed a text; not when something was kept.
        if is_other {
            let lenses = Surface::Lenses.serves(&self.client) && self.client.code_lens_refresh;
            let hints = Surface::Hints.serves(&self.client) && self.client.inlay_hint_refresh;
            self.refresh(lenses, "workspace/codeLens/refresh");
            self.refresh(hints, "workspace/inlayHint/refresh");
            self.refresh_diagnostics();
            self.documents_changed(|it| match it {
                Virtual::Turn { .. } => true,
                Virtual::Base(_) | Virtual::Chat(_) => false,
            });
        }
    }

    /// A file's accepted text is another.
    pub(crate) fn base_changed(&mut self, path: &Path) {
        self.documents_changed(|it| match it {
            Virtual::Base(of) => of == path,
            Virtual::Turn { .. } | Virtual::Chat(_) => false,
        });
    }

    /// Something was added to a session's transcript.
    pub(crate) fn transcript_changed(&mut self, session: &str) {
        self.documents_changed(|it| match it {
            Virtual::Chat(of) => of == session,
            Virtual::Base(_) | Virtual::Turn { .. } => false,
        });
    }

    /// A question was asked, or is closed and was about these files.
    pub(crate) fn questions_changed(&mut self, paths: &[PathBuf]) {
        if paths.is_empty() {
            return;
        }
        if Surface::PublishedDiagnostics.serves(&self.client) {
            paths.iter().for_each(|it| self.publish_diagnostics(it));
        }
        self.refresh_diagnostics();
    }

    /// The files that an open question is about.
    pub(crate) fn files_of_question(&self, call: &CallKey) -> Vec<PathBuf> {
        let question = self.asking.questions.get(call);
        let places = question.into_iter().flat_map(places);
        places.map(|(path, _)| path.to_path_buf()).collect()
    }

    fn refresh_diagnostics(&mut self) {
        let pulled = Surface::PulledDiagnostics.serves(&self.client);
        self.refresh(pulled, "workspace/diagnostic/refresh");
    }

    fn refresh(&mut self, is_served: bool, method: &str) {
        if is_served {
            let id = self.asking.open(Pending::Ignored);
            self.out.request_bare(id, method);
        }
    }

    fn documents_changed(&mut self, is_meant: impl Fn(&Virtual) -> bool) {
        let documents = self.shown.documents.iter();
        let meant = documents.filter(|it| Virtual::of(it).is_some_and(|it| is_meant(&it)));
        let meant: Vec<lsp::Uri> = meant.cloned().collect();
        for uri in meant {
            let id = self.asking.open(Pending::Ignored);
            let method = "workspace/textDocumentContent/refresh";
            self.out.request(id, method, &json!({"uri": uri}));
        }
    }
}
