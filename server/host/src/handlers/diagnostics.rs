//! The agent's unreviewed changes and open questions as information diagnostics, pulled or published.

use super::review_actions::SOURCE;
use super::shown_hunks::{content_range, counts, is_mixed};
use crate::documents::Content;
use crate::lsp::Error;
use crate::main_loop::Host;
use crate::surfaces::Surface;
use crate::workspace::uri_of;
use engine::review::FileChange;
use engine::session::{Preview, Question};
use engine::text::visible_line;
use protocol::lsp::{self, DiagnosticSeverity};
use protocol::methods::{Request, RequestPermission};
use ropey::Rope;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// What was last published of a file.
#[derive(Debug)]
pub(crate) struct Published {
    uri: lsp::Uri,
    items: Vec<Value>,
}

impl Host {
    /// `textDocument/diagnostic`
    pub(crate) fn document_diagnostics(
        &mut self,
        params: lsp::DocumentDiagnosticParams,
    ) -> Result<Value, Error> {
        let path = self.documents.path(&params.text_document.uri);
        let items = match path.map(ToOwned::to_owned) {
            Some(path) if Surface::PulledDiagnostics.serves(&self.client) => {
                self.diagnostics_of(&path)
            }
            Some(_) | None => Vec::new(),
        };
        let id = result_id(&items);
        if params.previous_result_id.as_ref() == Some(&id) {
            return Ok(json!({"kind": "unchanged", "resultId": id}));
        }
        Ok(json!({"kind": "full", "resultId": id, "items": items}))
    }

    /// Publishes what a file's diagnostics are now, unless the editor has them. Nothing about a file of
    /// which there was nothing to say and is nothing.
    pub(super) fn publish_diagnostics(&mut self, path: &Path) {
        let items = self.diagnostics_of(path);
        let document = self.documents.get(path);
        let version = document.map(|it| it.version);
        let uri = document.map_or_else(|| uri_of(path), |it| it.uri.clone());
        let old = self.shown.published.remove(path);
        if let Some(old) = &old
            && old.uri != uri
        {
            let params = json!({"uri": old.uri, "diagnostics": []});
            self.out.notify(PUBLISH, &params);
        }
        let old = old.filter(|it| it.uri == uri).map(|it| it.items);
        if old.as_ref().is_some_and(|it| *it != items) || old.is_none() && !items.is_empty() {
            let mut params = json!({"uri": uri, "diagnostics": items});
            if let Some(version) = version {
                params["version"] = json!(version);
            }
            self.out.notify(PUBLISH, &params);
        }
        if !items.is_empty() {
            let published = Published { uri, items };
            self.shown.published.insert(path.to_path_buf(), published);
        }
    }

    fn diagnostics_of(&mut self, path: &Path) -> Vec<Value> {
        let mut items = self.question_diagnostics(path);
        if Surface::Plugin.serves(&self.client) {
            return items;
        }
        let Some(review) = self.reviews.get(path) else {
            return items;
        };
        let ledger = &mut review.ledger;
        let hunks = ledger.hunks();
        let whole = match ledger.file_change() {
            Some(FileChange::Created(_)) => Some("Agent created this file"),
            Some(FileChange::Deleted(_)) => Some("Agent deleted this file"),
            None => None,
        };
        for hunk in &hunks {
            let what = match (whole, is_mixed(hunk)) {
                (Some(whole), _) => whole,
                (None, true) => "Agent change with your edits in it",
                (None, false) => "Agent change",
            };
            let message = format!("{what}: {} (keep or revert by code action)", counts(hunk));
            let range = content_range(ledger.live(), &hunk.lines, self.client.encoding);
            items.push(diagnostic(range, "review", message));
        }
        if let (Some(whole), true) = (whole, hunks.is_empty()) {
            let range = content_range(ledger.live(), &(0..0), self.client.encoding);
            let message = format!("{whole} (keep or revert by code action)");
            items.push(diagnostic(range, "review", message));
        }
        items
    }

    /// Questions about changes to this file which the person can answer by code action.
    fn question_diagnostics(&self, path: &Path) -> Vec<Value> {
        if self.client.takes(RequestPermission::METHOD) {
            return Vec::new();
        }
        let questions = self.asking.questions.values();
        let places = questions.flat_map(|it| places(it).map(move |place| (it, place)));
        let here = places.filter(|(_, (file, _))| *file == path);
        here.map(|(question, (_, line))| {
            let lines = line..line + 1;
            let range = match self.documents.get(path).map(|it| &it.content) {
                Some(Content::Text(rope)) => content_range(rope, &lines, self.client.encoding),
                Some(Content::Tainted(_) | Content::TooLarge) | None => {
                    content_range(&Rope::new(), &lines, self.client.encoding)
                }
            };
            let title = visible_line(&question.title, MOST_TITLE);
            let message = format!("Undine asks: {title}? (answer by code action)");
            diagnostic(range, "permission", message)
        })
        .collect()
    }
}

const PUBLISH: &str = "textDocument/publishDiagnostics";

/// Characters of a question's title.
const MOST_TITLE: usize = 200;

fn diagnostic(range: lsp::Range, code: &str, message: String) -> Value {
    json!({
        "range": range,
        "severity": DiagnosticSeverity::Information,
        "source": SOURCE,
        "code": code,
        "message": message,
    })
}

/// Names what was answered; the same again is "unchanged".
fn result_id(items: &[Value]) -> String {
    let mut hash = DefaultHasher::new();
    for item in items {
        item.to_string().hash(&mut hash);
    }
    format!("{:016x}", hash.finish())
}

/// The files that a question is about, each with the first line that would change.
pub(super) fn places(question: &Question) -> impl Iterator<Item = (&Path, u32)> {
    question.preview.iter().filter_map(|it| match it {
        Preview::Diff { path, old, new } => {
            let old = old.as_deref().unwrap_or_default().lines();
            let line = old.zip(new.lines()).take_while(|(a, b)| a == b).count();
            Some((path.as_path(), u32::try_from(line).unwrap_or(u32::MAX - 1)))
        }
        Preview::Hunks { path, .. } => Some((path.as_path(), 0)),
        Preview::Command { .. } | Preview::Text(_) => None,
    })
}
