//! What stood in the place of the agent's changes, as inlay hints.

use super::shown_hunks::{before, line_end};
use crate::lsp::Error;
use crate::main_loop::Host;
use crate::surfaces::Surface;
use engine::text::visible;
use protocol::lsp;
use serde_json::{Value, json};

impl Host {
    /// `textDocument/inlayHint`
    pub(crate) fn inlay_hints(&mut self, params: lsp::InlayHintParams) -> Result<Value, Error> {
        let encoding = self.client.encoding;
        let path = self.documents.path(&params.text_document.uri);
        let Some(review) = path.and_then(|it| self.reviews.get(it)) else {
            return Ok(json!([]));
        };
        let ledger = &mut review.ledger;
        if !Surface::Hints.serves(&self.client) {
            return Ok(json!([]));
        }
        let wanted = params.range.start.line..=params.range.end.line;
        let mut hints = Vec::new();
        for hunk in ledger.hunks() {
            // Where lines are gone, the line above the gap says so.
            let line = match hunk.lines.is_empty() {
                true => hunk.lines.start.saturating_sub(1),
                false => hunk.lines.start,
            };
            if !wanted.contains(&line) {
                continue;
            }
            let position = line_end(ledger.live(), line, encoding);
            let mut hint =
                json!({"position": position, "label": before(&hunk), "paddingLeft": true});
            if !hunk.base_text.is_empty() {
                hint["tooltip"] = json!(tooltip(&hunk.base_text));
            }
            hints.push(hint);
        }
        Ok(Value::Array(hints))
    }
}

/// Bytes of the lines before in a tooltip.
const MOST: usize = 4_000;

fn tooltip(base: &str) -> String {
    if base.len() <= MOST {
        return visible(base).into_owned();
    }
    let end = (0..=MOST).rev().find(|it| base.is_char_boundary(*it));
    format!("{}\n...", visible(&base[..end.unwrap_or(0)]))
}
