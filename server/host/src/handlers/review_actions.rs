//! Code actions that keep or revert the agent's changes, for any editor (kind `undine.review`).
//!
//! A revert carries the edit itself wherever the editor can take one: it is then the editor that applies
//! it, at the version it was made for, and undoes it; the ledger knows the accepted lines when they come
//! back. Whatever is no plain edit of the document at hand is a command.

use super::actions::bad_argument;
use super::annotations::{annotated, named};
use super::shown_hunks::{is_mixed, line_range};
use crate::documents::Content;
use crate::event::Whose;
use crate::lsp::{Error, Reply, code, error};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::reviews::wire_id;
use crate::surfaces::Surface;
use engine::review::{Author, Ledger, ReviewHunk};
use engine::text::Encoding;
use engine::text::file::has_bytes;
use protocol::hunks::{ResolveReviewParams, ResolveReviewResult, ReviewAction};
use protocol::lsp::{self, MessageType};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;

/// The kind of these actions.
pub(super) const KIND: &str = "undine.review";
/// Their commands, and those of the lenses. The argument is that of `undine/review/resolve`, without its
/// `action`.
pub(super) const KEEP: &str = "undine.review.keep";
pub(super) const REVERT: &str = "undine.review.revert";
/// The source of our diagnostics.
pub(super) const SOURCE: &str = "undine";

/// One thing to choose.
#[derive(Debug, PartialEq)]
struct Choice {
    title: String,
    action: ReviewAction,
    /// The command's argument.
    target: Value,
    /// Ids of the hunks that an edit of this one document reverts; none if it takes more than that.
    edit: Option<Vec<String>>,
}

/// What the editor gives back with an action that it wants resolved.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Unresolved {
    uri: lsp::Uri,
    version: i32,
    hunk_ids: Vec<String>,
}

impl Host {
    /// The review's actions for a place. `is_named`: the editor asked for this kind, so what is about
    /// the file as a whole is offered wherever the place is.
    pub(super) fn review_actions(
        &mut self,
        uri: &lsp::Uri,
        range: &lsp::Range,
        diagnostics: &[lsp::Diagnostic],
        is_named: bool,
    ) -> Vec<Value> {
        let Some(path) = self.documents.path(uri).map(ToOwned::to_owned) else {
            return Vec::new();
        };
        let Some(ledger) = self.reviews.get(&path).map(|it| &mut it.ledger) else {
            return Vec::new();
        };
        let hunks = ledger.hunks();
        let picked = picked(&hunks, selected_lines(range));
        let is_whole = ledger.file_change().is_some();
        if picked.is_empty() && !(is_named && (is_whole || !hunks.is_empty())) {
            return Vec::new();
        }
        let turn = picked.last().and_then(|it| it.authors.last());
        let is_turn_here = turn.is_some_and(|turn| {
            self.reviews.iter().all(|(other, review)| {
                let mut authors = review.ledger.hunks().into_iter().flat_map(|it| it.authors);
                other == path || !authors.any(|it| is_same_turn(&it, turn))
            })
        });
        let mut choices = choices(uri, &path, &hunks, &picked, is_turn_here);
        let document = self.documents.document(uri);
        let content = document.map(|it| &it.content);
        let is_known = match (content, self.reviews.get(&path)) {
            (Some(Content::Text(rope)), Some(review)) => rope == review.ledger.live(),
            (Some(Content::Text(_) | Content::Tainted(_) | Content::TooLarge) | None, _) => false,
        };
        // To revert what is new as a whole may be to delete the file.
        if is_whole || !is_known || !Surface::EditsInActions.serves(&self.client) {
            choices.iter_mut().for_each(|it| it.edit = None);
        }
        let version = document.map_or(0, |it| it.version);
        let own: Vec<lsp::Diagnostic> = diagnostics
            .iter()
            .filter(|it| it.source.as_deref() == Some(SOURCE))
            .cloned()
            .collect();
        choices
            .into_iter()
            .filter_map(|it| self.review_action(it, uri, version, own.clone()))
            .collect()
    }

    fn review_action(
        &mut self,
        choice: Choice,
        uri: &lsp::Uri,
        version: i32,
        diagnostics: Vec<lsp::Diagnostic>,
    ) -> Option<Value> {
        let Choice {
            title,
            action,
            target,
            edit,
        } = choice;
        let command = command(action);
        let mut action = self.action(KIND, &title, command, target, diagnostics);
        let Some(hunk_ids) = edit else {
            return Some(action);
        };
        let data = Unresolved {
            uri: uri.clone(),
            version,
            hunk_ids,
        };
        // With both, an editor would do both.
        action.as_object_mut()?.remove("command");
        if Surface::ResolvedEdits.serves(&self.client) {
            action["data"] = json!(data);
        } else {
            action["edit"] = json!(self.edit_of(&data)?);
        }
        Some(action)
    }

    /// The edit of an action that the person has chosen, for the text that it was made for and no other.
    pub(super) fn revert_edit(&mut self, data: Value) -> Result<lsp::WorkspaceEdit, Error> {
        let data: Unresolved = serde_json::from_value(data)
            .map_err(|error| invalid(format!("The data of this action is not ours ({error}).")))?;
        self.edit_of(&data).ok_or_else(|| {
            let text =
                "The text has changed meanwhile, so nothing was done; ask for the actions again.";
            error(code::CONTENT_MODIFIED, text)
        })
    }

    fn edit_of(&mut self, wanted: &Unresolved) -> Option<lsp::WorkspaceEdit> {
        let document = self.documents.document(&wanted.uri)?;
        let path = self.documents.path(&wanted.uri)?;
        let ledger = &mut self.reviews.get(path)?.ledger;
        let is_text = matches!(&document.content, Content::Text(rope) if rope == ledger.live());
        if !is_text || document.version != wanted.version {
            return None;
        }
        let edits = edits(ledger, path, &wanted.hunk_ids, self.client.encoding)?;
        let edit = lsp::TextDocumentEdit {
            text_document: lsp::OptionalVersionedTextDocumentIdentifier {
                text_document_identifier: lsp::TextDocumentIdentifier {
                    uri: wanted.uri.clone(),
                },
                version: Some(self.client.edit_version(wanted.version)),
            },
            edits: edits.into_iter().map(lsp::Edit::TextEdit).collect(),
        };
        let edit = lsp::WorkspaceEdit {
            document_changes: Some(vec![lsp::DocumentChange::TextDocumentEdit(edit)]),
            ..lsp::WorkspaceEdit::default()
        };
        let is_annotated = self.client.annotations && self.client.action_annotations;
        Some(match is_annotated {
            true => annotated(edit, "Undine: Revert", &named(&Whose::Review)),
            false => edit,
        })
    }

    /// `undine.review.keep` and `undine.review.revert`; answered when it is done, with what
    /// `undine/review/resolve` answers.
    pub(super) fn review_command(
        &mut self,
        action: ReviewAction,
        mut argument: Value,
        reply: Reply,
    ) {
        if argument.is_null() {
            argument = json!({});
        }
        if let Some(fields) = argument.as_object_mut() {
            fields.insert("action".to_owned(), json!(action));
        }
        let params: ResolveReviewParams = match serde_json::from_value(argument) {
            Ok(params) => params,
            Err(error) => return reply.send_value(Err(bad_argument(command(action), error))),
        };
        self.resolve_review(params, move |host, end| {
            // An editor shows nobody what a command answers.
            if let Ok(result) = &end
                && let Some(text) = told(action, result)
            {
                host.show_message(MessageType::Info, text);
            }
            reply.send_value(end.map(|it| json!(it)));
        });
    }
}

fn command(action: ReviewAction) -> &'static str {
    match action {
        ReviewAction::Keep => KEEP,
        ReviewAction::Revert => REVERT,
    }
}

/// What a person must hear of a wish that was not done, or not at once.
fn told(action: ReviewAction, result: &ResolveReviewResult) -> Option<&'static str> {
    let is_empty = (
        result.settled.is_empty(),
        result.queued.is_empty(),
        result.remaining.is_empty(),
    );
    match (is_empty, action) {
        ((false, true, true), _) => None,
        ((_, false, _), _) => Some("Undine reverts that as soon as the work that runs lets it."),
        ((true, true, true), _) => Some("There is nothing to review there any more."),
        ((_, true, false), ReviewAction::Keep) => Some(
            "Some changes stay to be reviewed: they are others by now, or stand on other work that is not reviewed.",
        ),
        ((_, true, false), ReviewAction::Revert) => Some(
            "Some changes stay as they are: they are others by now, or your own edits are in them; revert those one by one.",
        ),
    }
}

/// What can be chosen where some hunks of a file are picked.
fn choices(
    uri: &lsp::Uri,
    path: &Path,
    hunks: &[ReviewHunk],
    picked: &[&ReviewHunk],
    is_turn_here: bool,
) -> Vec<Choice> {
    let ids = |hunks: &[&ReviewHunk]| -> Vec<String> {
        hunks.iter().map(|it| wire_id(path, &it.id)).collect()
    };
    let choice = |action, title: String, target: &Value, edit| Choice {
        title,
        action,
        target: target.clone(),
        edit,
    };
    let (keep, revert) = (ReviewAction::Keep, ReviewAction::Revert);
    let mut choices = Vec::new();
    if !picked.is_empty() {
        let what = match picked.len() {
            1 => "this change".to_owned(),
            n => format!("these {n} changes"),
        };
        let besides = match (picked.iter().any(|it| is_mixed(it)), picked.len()) {
            (false, _) => "",
            (true, 1) => ", and your own edits in it",
            (true, _) => ", and your own edits in them",
        };
        let target = json!({"hunkIds": ids(picked)});
        choices.push(choice(keep, format!("Keep {what}"), &target, None));
        let title = format!("Revert {what}{besides}");
        choices.push(choice(revert, title, &target, Some(ids(picked))));
    }
    let target = json!({"uri": uri});
    let title = "Keep all changes in this file".to_owned();
    choices.push(choice(keep, title, &target, None));
    let clean: Vec<&ReviewHunk> = hunks.iter().filter(|it| !is_mixed(it)).collect();
    // Nothing wider than a wish for the very hunk reverts what the person wrote.
    if !clean.is_empty() || hunks.is_empty() {
        let but = match clean.len() < hunks.len() {
            true => " but those you edited too",
            false => "",
        };
        let title = format!("Revert all changes in this file{but}");
        choices.push(choice(revert, title, &target, Some(ids(&clean))));
    }
    if let Some(turn) = picked.last().and_then(|it| it.authors.last()) {
        let target = json!({"sessionId": turn.session, "turn": turn.turn.0});
        let of_turn = |it: &&ReviewHunk| it.authors.iter().any(|it| is_same_turn(it, turn));
        let of_turn: Vec<&ReviewHunk> = hunks.iter().filter(of_turn).collect();
        // Where other turns have worked on the same lines, the ledger knows what was theirs.
        let only =
            |it: &&ReviewHunk| !is_mixed(it) && it.authors.iter().all(|it| is_same_turn(it, turn));
        let edit = (is_turn_here && of_turn.iter().all(only)).then(|| ids(&of_turn));
        let title = "Revert the whole turn".to_owned();
        choices.push(choice(revert, title, &target, edit));
    }
    let title = "Keep everything".to_owned();
    choices.push(choice(keep, title, &json!({}), None));
    choices
}

fn is_same_turn(a: &Author, b: &Author) -> bool {
    (&a.session, a.turn) == (&b.session, b.turn)
}

/// The lines of a selection. One that ends at a line's start does not hold that line.
fn selected_lines(range: &lsp::Range) -> Range<u32> {
    let (start, end) = (range.start, range.end);
    match end.character == 0 && end.line > start.line {
        true => start.line..end.line,
        false => start.line..end.line.saturating_add(1),
    }
}

/// The hunks that a selection touches. Where lines are gone, the lines around the gap stand for them.
fn picked(hunks: &[ReviewHunk], lines: Range<u32>) -> Vec<&ReviewHunk> {
    let touches = |it: &&ReviewHunk| {
        let hunk = match it.lines.is_empty() {
            true => it.lines.start.saturating_sub(1)..it.lines.end.saturating_add(1),
            false => it.lines.clone(),
        };
        hunk.start < lines.end && lines.start < hunk.end
    };
    hunks.iter().filter(touches).collect()
}

/// The edits that put the accepted lines of hunks back; none when one of them is not there any more.
fn edits(
    ledger: &mut Ledger,
    path: &Path,
    ids: &[String],
    encoding: Encoding,
) -> Option<Vec<lsp::TextEdit>> {
    let mut hunks = ledger.hunks();
    hunks.retain(|it| ids.contains(&wire_id(path, &it.id)));
    // Bytes that are no text come back on the disk only.
    if hunks.len() != ids.len() || hunks.iter().any(|it| has_bytes(&it.base_text)) {
        return None;
    }
    let live = ledger.live();
    let edit = |it: ReviewHunk| lsp::TextEdit {
        range: line_range(live, &it.lines, encoding),
        new_text: it.base_text,
    };
    Some(hunks.into_iter().map(edit).collect())
}

#[cfg(test)]
mod tests;
