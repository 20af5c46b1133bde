//! `undine/review/…`: what the agent changed and the person has not judged, as an editor is shown it.

use crate::documents::Content;
use crate::event::{Event, SessionKey, Written};
use crate::lsp::Error;
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::regular;
use crate::reviews::{self, Kept, News, Stamp, wire_id};
use crate::workspace::{path_of, uri_of};
use engine::review::{FileChange, HunkState, ReviewHunk as Hunk};
use engine::text::{FileText, file};
use protocol::hunks::{
    ListReviewParams, ReviewBaseParams, ReviewBaseResult, ReviewFile, ReviewHunk, ReviewList,
    ReviewState, WholeFile,
};
use protocol::lsp;
use protocol::methods::{self, Notification};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long typing may go unsaved.
const SAVE_AFTER: Duration = Duration::from_secs(1);

impl Host {
    /// Files were changed on the disk.
    pub(crate) fn written(&mut self, files: &[Written]) {
        for file in files {
            let old = file.old.clone();
            self.recall_with(&file.path, move || old.map(|it| it.to_string()));
            self.reviews.written(file);
            // The editor has opened it meanwhile; what it shows is what counts.
            if let Some(document) = self.documents.get(&file.path) {
                self.reviews.document(&file.path, document);
            }
        }
    }

    /// Has what an earlier server knew of a file read.
    pub(super) fn recall(&mut self, path: &Path) {
        let limit = self.limits.edit_bytes;
        let document = self.documents.get(path).map(|it| it.content.clone());
        let own = path.to_path_buf();
        self.recall_with(path, move || match document {
            Some(Content::Text(rope)) => Some(rope.to_string()),
            // The disk's is next best; the document's is looked at when it is known.
            Some(Content::Tainted(_) | Content::TooLarge) | None => {
                let bytes = regular::read_capped(&own, limit).ok().flatten();
                bytes.map(|it| FileText::decode(it).text)
            }
        });
    }

    fn recall_with(&mut self, path: &Path, live: impl FnOnce() -> Option<String> + Send + 'static) {
        let Some(recall) = self.reviews.recall(path) else {
            return;
        };
        let inbox = self.inbox.clone();
        self.runtime.spawn(async move {
            let path = recall.path().to_path_buf();
            let reading = tokio::task::spawn_blocking(move || recall.read(live));
            let found = reading.await.unwrap_or_else(|_| {
                Err(
                    "Reading an earlier review was broken off; its changes stand as accepted."
                        .into(),
                )
            });
            let found = found.map(|it| it.map(Box::new));
            // A loop that is gone shows nothing.
            let _ = inbox.send(Event::Recalled(path, found)).await;
        });
    }

    pub(crate) fn recalled(&mut self, path: &Path, found: Result<Option<Box<Kept>>, String>) {
        let found = found.unwrap_or_else(|text| {
            self.warn_once(text);
            None
        });
        if self.reviews.recalled(path, found.map(|it| *it)) {
            self.note_recalled(path);
        }
        self.follow_document(path);
        self.run_recalled();
    }

    pub(crate) fn searched(&mut self, paths: &[PathBuf]) {
        self.reviews.searched();
        for path in paths {
            if self.roots.iter().any(|it| path.starts_with(it)) {
                self.recall(path);
            }
        }
        self.run_recalled();
    }

    /// Does something with all reviews, when those of earlier servers are read.
    pub(crate) fn when_recalled(&mut self, work: impl FnOnce(&mut Self) + Send + 'static) {
        if let Some(search) = self.reviews.search() {
            let inbox = self.inbox.clone();
            self.runtime.spawn(async move {
                let paths = tokio::task::spawn_blocking(search).await;
                // A loop that is gone shows nothing.
                let _ = inbox.send(Event::Searched(paths.unwrap_or_default())).await;
            });
        }
        match self.reviews.is_recalling() {
            true => self.reviewing.waiting.push(Box::new(work)),
            false => work(self),
        }
    }

    /// Does something when all that the reviews know by now is on the disk; also what waits for an earlier server's
    /// record to be read.
    pub(crate) fn when_reviewed(&mut self, work: impl FnOnce(&mut Self) + Send + 'static) {
        if self.reviews.is_behind() {
            let again = Box::new(|host: &mut Self| host.when_reviewed(work));
            return self.reviewing.waiting.push(again);
        }
        self.save_review();
        let Some(saved) = self.reviews.saved() else {
            return work(self);
        };
        self.reviewing.saving.push_back(Box::new(work));
        let inbox = self.inbox.clone();
        self.runtime.spawn(async move {
            // A thread that is gone saves no more.
            let _ = saved.await;
            // A loop that is gone does nothing.
            let _ = inbox.send(Event::Reviewed).await;
        });
    }

    /// All is saved in the order in which it came, so what has waited longest may be done.
    pub(crate) fn run_reviewed(&mut self) {
        if let Some(work) = self.reviewing.saving.pop_front() {
            work(self);
        }
    }

    fn run_recalled(&mut self) {
        while !self.reviews.is_recalling() && !self.reviewing.waiting.is_empty() {
            let work = self.reviewing.waiting.remove(0);
            work(self);
        }
    }

    /// Looks at files that are not open: anybody may have changed them.
    pub(super) fn look_again(&mut self) {
        self.release_holds();
        let is_at_work = self.sessions.values().any(|it| !it.running.is_empty());
        // What a call writes at this moment is not somebody else's; it will be told of it.
        if !is_at_work && self.reverts_at_work() == 0 {
            let closed: Vec<PathBuf> = self.reviews.closed().collect();
            for path in closed {
                self.follow_disk(&path);
            }
        }
        self.look_for_commits();
    }

    /// The disk's text counts for a file that is not open any more.
    pub(super) fn follow_disk(&mut self, path: &Path) {
        let stamp = Stamp::of(path);
        if !self.reviews.is_news(path, stamp) {
            return;
        }
        match regular::read_capped(path, self.limits.edit_bytes) {
            Ok(Some(bytes)) => {
                let text = FileText::decode(bytes).text;
                self.reviews.disk(path, Some(&text));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.reviews.disk(path, None),
            // It has grown beyond what is edited, or cannot be read now; perhaps later.
            Ok(None) | Err(_) => {}
        }
    }

    pub(crate) fn list_review(&mut self, params: ListReviewParams) -> Result<ReviewList, Error> {
        self.look_again();
        let only = params.uri.as_ref().map(path_of);
        let session = params.session_id.as_deref();
        let mut files = Vec::new();
        let paths: Vec<_> = self.reviews.iter().map(|(it, _)| it.to_owned()).collect();
        for path in paths {
            if only.as_ref().is_some_and(|it| it.as_deref() != Some(&path)) {
                continue;
            }
            let Some(file) = self.review_file(&path, session) else {
                continue;
            };
            if file.change.is_some() || !file.hunks.is_empty() {
                files.push(file);
            }
        }
        files.sort_by(|a, b| a.uri.as_ref().cmp(b.uri.as_ref()));
        Ok(ReviewList { files })
    }

    /// A file as an editor is shown it, and only what a session did where one is named. No hunks: nothing is left.
    pub(crate) fn review_file(&mut self, path: &Path, session: Option<&str>) -> Option<ReviewFile> {
        let document = self.documents.get(path);
        let uri = document.map_or_else(|| uri_of(path), |it| it.uri.clone());
        let review = self.reviews.get(path)?;
        let is_meant = |it: &str| session.is_none_or(|session| session == it);
        let hunks = review.ledger.hunks().into_iter();
        let hunks = hunks.filter(|it| it.authors.iter().any(|it| is_meant(&it.session)));
        let hunks = hunks.filter_map(|it| shown(path, it)).collect();
        let change = match review.ledger.file_change() {
            Some(FileChange::Created(it)) => is_meant(&it.session).then_some(WholeFile::Created),
            Some(FileChange::Deleted(it)) => is_meant(&it.session).then_some(WholeFile::Deleted),
            None => None,
        };
        Some(ReviewFile {
            uri,
            version: review.version,
            change,
            hunks,
        })
    }

    pub(crate) fn review_base(
        &mut self,
        params: ReviewBaseParams,
    ) -> Result<ReviewBaseResult, Error> {
        self.look_again();
        let path = path_of(&params.uri).ok_or_else(|| invalid("That is not a file."))?;
        match self.reviews.get(&path) {
            Some(review) if !review.ledger.is_settled() => Ok(ReviewBaseResult {
                text: file::shown(&review.ledger.base().to_string()).into_owned(),
            }),
            Some(_) | None => Err(invalid("The agent has no unreviewed changes in that file.")),
        }
    }

    /// After each event: what was held back for an edit that nobody waits for any more is the person's, and the
    /// editor hears of what has moved, at once where it waits for that, else a little later.
    pub(crate) fn settle_review(&mut self) {
        self.release_holds();
        match self.reviews.is_unsaved() {
            Some(true) => self.save_review(),
            Some(false) if !self.reviewing.is_saving => {
                self.reviewing.is_saving = true;
                self.later(SAVE_AFTER, Event::SaveReview);
            }
            Some(false) | None => {}
        }
        match self.reviews.news() {
            Some(true) => self.tell_review(),
            Some(false) if !self.reviewing.is_telling => {
                self.reviewing.is_telling = true;
                let wait = Duration::from_millis(self.limits.review_changed_ms);
                self.later(wait, Event::TellReview);
            }
            Some(false) | None => {}
        }
        self.revert_queued();
    }

    fn later(&self, wait: Duration, event: Event) {
        let inbox = self.inbox.clone();
        self.runtime.spawn(async move {
            tokio::time::sleep(wait).await;
            // A loop that is gone needs no reminder.
            let _ = inbox.send(event).await;
        });
    }

    pub(crate) fn save_review(&mut self) {
        self.reviewing.is_saving = false;
        self.reviews.limit(self.limits.review_bytes);
        self.reviews.save();
    }

    /// What became of a session's changes, in words for its model.
    pub(crate) fn told(&self, session: &SessionKey, news: &[News]) -> String {
        let workspace = self.sessions.get(session).map(|it| it.workspace.clone());
        let shown = |path: &Path| match &workspace {
            Some(it) => it.classify(path.to_path_buf()).shown,
            None => path.display().to_string(),
        };
        let files: BTreeSet<&Path> = news.iter().map(News::path).collect();
        let is_unsaved = |path: &&Path| {
            let Some(Content::Text(rope)) = self.documents.get(path).map(|it| &it.content) else {
                return false;
            };
            match regular::read_capped(path, self.limits.edit_bytes) {
                Ok(Some(bytes)) => *rope != FileText::decode(bytes).text.as_str(),
                Ok(None) | Err(_) => true,
            }
        };
        let unsaved = files.into_iter().filter(is_unsaved);
        let unsaved: Vec<PathBuf> = unsaved.map(Path::to_path_buf).collect();
        reviews::told(news, shown, &unsaved)
    }

    fn release_holds(&mut self) {
        for path in self.reviews.held() {
            if self.expects_text(&path) {
                continue;
            }
            self.reviews.release(&path);
            if let Some(document) = self.documents.get(&path) {
                self.reviews.document(&path, document);
            }
        }
    }

    /// Tells the editor of the files whose hunks are others, or stand elsewhere.
    pub(crate) fn tell_review(&mut self) {
        self.reviewing.is_telling = false;
        let moved = self.reviews.take_moved();
        if !moved.is_empty() {
            self.show_review(&moved);
        }
        self.reviews.forget_settled();
    }

    /// Every surface that shows unreviewed changes hears of it here.
    fn show_review(&mut self, moved: &[PathBuf]) {
        self.surfaces_changed(moved.iter().map(PathBuf::as_path));
        let method = methods::ReviewChanged::METHOD;
        if !self.client.takes(method) {
            return;
        }
        let mut files: Vec<ReviewFile> = Vec::new();
        for path in moved {
            files.extend(self.review_file(path, None));
        }
        files.sort_by(|a, b| a.uri.as_ref().cmp(b.uri.as_ref()));
        self.out.notify(method, &ReviewList { files });
    }
}

fn shown(path: &Path, hunk: Hunk) -> Option<ReviewHunk> {
    let author = hunk.authors.last()?;
    let line = |line| lsp::Position { line, character: 0 };
    Some(ReviewHunk {
        id: wire_id(path, &hunk.id),
        state: match hunk.state {
            HunkState::Pending => ReviewState::Pending,
            HunkState::Mixed => ReviewState::Mixed,
        },
        range: lsp::Range {
            start: line(hunk.lines.start),
            end: line(hunk.lines.end),
        },
        base_text: file::shown(&hunk.base_text).into_owned(),
        session_id: author.session.clone(),
        turn: author.turn.0,
        tool_call_id: author.call.to_string(),
    })
}
