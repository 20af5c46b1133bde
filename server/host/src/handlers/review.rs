//! `undine/review/…`: what the person says about the agent's changes.

use crate::event::Written;
use crate::lsp::Error;
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::workspace::{path_of, uri_of};
use engine::review::{FileChange, HunkState};
use protocol::hunks::{
    ListReviewParams, ResolveReviewParams, ResolveReviewResult, ReviewBaseParams, ReviewBaseResult,
    ReviewFile, ReviewHunk, ReviewList, ReviewState, WholeFile,
};
use protocol::lsp;

impl Host {
    /// Files were changed on the disk.
    pub(crate) fn written(&mut self, _: Vec<Written>) {}

    pub(crate) fn list_review(&mut self, params: ListReviewParams) -> Result<ReviewList, Error> {
        let only = params.uri.as_ref().and_then(path_of);
        let mut files = Vec::new();
        for (path, ledger) in self.reviews.iter() {
            if params.uri.is_some() && only.as_deref() != Some(path) {
                continue;
            }
            let document = self.documents.get(path);
            let hunks = ledger.hunks().into_iter().filter_map(|it| {
                let author = it.authors.last()?;
                let line = |line| lsp::Position { line, character: 0 };
                Some(ReviewHunk {
                    id: it.id.0,
                    state: match it.state {
                        HunkState::Pending => ReviewState::Pending,
                        HunkState::Mixed => ReviewState::Mixed,
                    },
                    range: lsp::Range {
                        start: line(it.lines.start),
                        end: line(it.lines.end),
                    },
                    base_text: it.base_text,
                    session_id: author.session.clone(),
                    turn: author.turn.0,
                    tool_call_id: author.call.to_string(),
                })
            });
            let hunks: Vec<ReviewHunk> = hunks.collect();
            files.push(ReviewFile {
                uri: document.map_or_else(|| uri_of(path), |it| it.uri.clone()),
                version: document.map(|it| it.version),
                change: ledger.file_change().map(|it| match it {
                    FileChange::Created(_) => WholeFile::Created,
                    FileChange::Deleted(_) => WholeFile::Deleted,
                }),
                hunks,
            });
        }
        Ok(ReviewList { files })
    }

    pub(crate) fn resolve_review(
        &mut self,
        _: ResolveReviewParams,
    ) -> Result<ResolveReviewResult, Error> {
        Err(invalid("Reviewing is not served yet."))
    }

    pub(crate) fn review_base(
        &mut self,
        params: ReviewBaseParams,
    ) -> Result<ReviewBaseResult, Error> {
        let path = path_of(&params.uri).ok_or_else(|| invalid("That is not a file."))?;
        match self.reviews.get(&path) {
            Some(ledger) => Ok(ReviewBaseResult {
                text: ledger.base().to_string(),
            }),
            None => Err(invalid("The agent has no unreviewed changes in that file.")),
        }
    }
}
