//! Keep and Revert above each of the agent's changes, where the editor shows code lenses.

use super::review_actions::{KEEP, REVERT};
use super::shown_hunks::{is_mixed, line_start};
use crate::lsp::Error;
use crate::main_loop::Host;
use crate::reviews::wire_id;
use crate::surfaces::Surface;
use protocol::lsp;
use serde_json::{Value, json};

impl Host {
    /// `textDocument/codeLens`. Every lens has a code action of the same meaning.
    pub(crate) fn code_lenses(&mut self, params: lsp::CodeLensParams) -> Result<Value, Error> {
        let encoding = self.client.encoding;
        let path = self.documents.path(&params.text_document.uri);
        let Some((path, review)) = path.and_then(|it| Some((it, self.reviews.get(it)?))) else {
            return Ok(json!([]));
        };
        let ledger = &mut review.ledger;
        if !Surface::Lenses.serves(&self.client) {
            return Ok(json!([]));
        }
        let mut lenses = Vec::new();
        for hunk in ledger.hunks() {
            let start = line_start(ledger.live(), hunk.lines.start, encoding);
            let range = lsp::Range { start, end: start };
            let revert = match is_mixed(&hunk) {
                true => "Revert, and your own edits in it",
                false => "Revert",
            };
            for (title, command) in [("Keep", KEEP), (revert, REVERT)] {
                let arguments = json!([{"hunkIds": [wire_id(path, &hunk.id)]}]);
                let command = json!({"title": title, "command": command, "arguments": arguments});
                lenses.push(json!({"range": range, "command": command}));
            }
        }
        Ok(Value::Array(lenses))
    }
}
