//! `undine/review/resolve`: keeping at once, reverting as an edit like any other.
//!
//! A revert that means the work of a session with a running turn waits until no call of it runs: the model is not
//! to lose its ground in the middle of a call. What waits is then applied as one set.

use super::commits::Commits;
use crate::apply::{self, Applied, Changes};
use crate::event::{Event, SessionKey, Whose};
use crate::lsp::{Error, code, error};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::plan::World;
use crate::reviews::{Reversal, Scope, Wish};
use crate::session_host::OpenSession;
use crate::workspace::{Workspace, path_of};
use engine::session::Input;
use protocol::hunks::{ResolveReviewParams, ResolveReviewResult, ReviewAction};
use protocol::review::Author;
use protocol::session::{CallId, TurnId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

/// What is under way.
#[derive(Default)]
pub(crate) struct Reviewing {
    /// The editor will be told of what has moved.
    pub is_telling: bool,
    /// What has moved will be saved.
    pub is_saving: bool,
    /// When the repositories were looked at last.
    pub commits: Commits,
    queued: Vec<Queued>,
    running: BTreeMap<u64, Running>,
    next: u64,
    /// What waits for the reviews of earlier servers, in order.
    pub waiting: Vec<Work>,
    /// What waits until the disk knows what the reviews know, in order.
    pub saving: VecDeque<Work>,
}

type Work = Box<dyn FnOnce(&mut Host) + Send>;

struct Queued {
    wish: Wish,
    /// The sessions whose turns it waits for.
    sessions: BTreeSet<String>,
}

struct Running {
    wishes: Vec<Wish>,
    rounds: u64,
    /// The hunks that were to go when it was last planned, and those that were meant and stay.
    hunks: Vec<String>,
    left: Vec<String>,
    /// Nobody, for what was queued.
    done: Option<Resolved>,
    /// Whose work goes.
    sessions: BTreeSet<String>,
    /// What sessions hear when it has ended.
    then: Vec<(SessionKey, Input)>,
}

/// Told once what became of a wish.
pub(crate) type Resolved = Box<dyn FnOnce(&mut Host, Result<ResolveReviewResult, Error>) + Send>;

impl Host {
    /// Keeps or reverts; `done` hears of it when it is done, or queued.
    pub(crate) fn resolve_review(
        &mut self,
        params: ResolveReviewParams,
        done: impl FnOnce(&mut Host, Result<ResolveReviewResult, Error>) + Send + 'static,
    ) {
        let action = params.action;
        let wish = match wish(params) {
            Ok(wish) => wish,
            Err(error) => return done(self, Err(error)),
        };
        self.when_recalled(move |host| host.resolve_wish(action, wish, Box::new(done)));
    }

    fn resolve_wish(&mut self, action: ReviewAction, wish: Wish, done: Resolved) {
        self.look_again();
        match action {
            ReviewAction::Keep => {
                let (settled, remaining) = self.reviews.keep(&wish);
                let result = ResolveReviewResult {
                    settled,
                    remaining,
                    ..ResolveReviewResult::default()
                };
                done(self, Ok(result));
            }
            ReviewAction::Revert => self.revert(wish, done),
        }
    }

    fn revert(&mut self, wish: Wish, done: Resolved) {
        let plan = self.reviews.plan(std::slice::from_ref(&wish));
        let sessions = plan.sessions.into_iter();
        let sessions: BTreeSet<String> = sessions.filter(|it| !self.may_revert(it)).collect();
        if sessions.is_empty() {
            return self.run_revert(Running::new(vec![wish], Some(done)));
        }
        self.reviewing.queued.push(Queued { wish, sessions });
        let result = ResolveReviewResult {
            settled: Vec::new(),
            queued: plan.hunks,
            remaining: plan.left.into_iter().chain(plan.unknown).collect(),
        };
        done(self, Ok(result));
    }

    /// Whether neither the model of this session nor a call of it is at work.
    fn may_revert(&self, session: &str) -> bool {
        let open = self.sessions.get(session);
        open.is_none_or(OpenSession::is_at_boundary)
    }

    /// Runs what was queued for sessions that do nothing now.
    pub(super) fn revert_queued(&mut self) {
        if let Some(running) = self.take_queued(None) {
            self.run_revert(running);
        }
    }

    /// A call has ended: what is queued for its session is reverted before the model is asked again.
    pub(crate) fn revert_before(&mut self, session: &SessionKey) {
        let open = self.sessions.get(session);
        // Another call of it goes on: this is no boundary.
        if open.is_some_and(|it| it.running.is_empty())
            && let Some(running) = self.take_queued(Some(session))
        {
            self.run_revert(running);
        }
    }

    /// Keeps what may have the model asked until no revert of its work is on its way any more. Answers what is not
    /// kept.
    pub(crate) fn after_reverts(&mut self, session: &SessionKey, input: Input) -> Option<Input> {
        let mut at_work = self.reviewing.running.values_mut();
        match at_work.find(|it| it.sessions.contains(&**session)) {
            Some(running) => {
                running.then.push((session.clone(), input));
                None
            }
            None => Some(input),
        }
    }

    /// What was kept for a session, which does not wait any longer: its turn is cancelled.
    pub(crate) fn take_kept(&mut self, session: &SessionKey) -> Vec<Input> {
        let at_work = self.reviewing.running.values_mut();
        let kept = at_work.flat_map(|it| it.then.extract_if(.., |it| it.0 == *session));
        kept.map(|it| it.1).collect()
    }

    /// What is queued and waits for nobody but perhaps this session, as one set.
    fn take_queued(&mut self, but: Option<&str>) -> Option<Running> {
        let queued = std::mem::take(&mut self.reviewing.queued);
        let is_ready = |it: &Queued| {
            let mut sessions = it.sessions.iter();
            sessions.all(|it| but == Some(it.as_str()) || self.may_revert(it))
        };
        let (ready, waiting): (Vec<Queued>, Vec<Queued>) = queued.into_iter().partition(is_ready);
        self.reviewing.queued = waiting;
        let wishes: Vec<Wish> = ready.into_iter().map(|it| it.wish).collect();
        (!wishes.is_empty()).then(|| Running::new(wishes, None))
    }

    /// How many reverts are on their way to files.
    pub(super) fn reverts_at_work(&self) -> usize {
        self.reviewing.running.len()
    }

    fn run_revert(&mut self, mut running: Running) {
        let plan = self.reviews.plan(&running.wishes);
        running.left = plan.left.into_iter().chain(plan.unknown).collect();
        running.hunks = plan.hunks;
        running.sessions = plan.sessions;
        let id = self.reviewing.next;
        self.reviewing.next += 1;
        self.reviewing.running.insert(id, running);
        if plan.files.is_empty() {
            let nothing = Applied::Done {
                unsaved: Vec::new(),
                in_place: Vec::new(),
            };
            return self.reverted(id, Ok(nothing));
        }
        self.reviews.intend(&plan.files);
        let (world, changes) = match self.changes(plan.files) {
            Ok(it) => it,
            Err(text) => return self.reverted(id, Err(text)),
        };
        let inbox = self.inbox.clone();
        self.runtime.spawn(async move {
            // In a task of its own: one that panics must answer too.
            let work = tokio::spawn(async move { apply::apply(&world, &changes).await });
            let end = work.await.unwrap_or_else(|_| {
                Err("Undine failed while it reverted; look at the files before you go on.".into())
            });
            // A loop that is gone needs no result.
            let _ = inbox.send(Event::Reverted(id, end)).await;
        });
    }

    fn changes(&self, files: Vec<Reversal>) -> Result<(World, Changes), String> {
        let protected = [self.folders.config.clone(), self.folders.data.clone()];
        // One that is gone is no reason to leave the others alone.
        let mut roots = self.roots.clone();
        roots.retain(|it| it.is_dir());
        if roots.is_empty() {
            roots.push(PathBuf::from("/"));
        }
        let workspace = Workspace::new(&roots, &protected)?;
        let files: Vec<apply::FileChange> = files
            .into_iter()
            .map(|it| apply::FileChange {
                file: workspace.classify(it.path),
                old: it.old,
                new: it.new,
                to: None,
                exact: it.exact,
            })
            .collect();
        // Planning again would find the same, so this is no text that keeps changing.
        if let Some(elsewhere) = files.iter().find(|it| !workspace.still(&it.file)) {
            return Err(format!(
                "A link stands on the way to {} now, so nothing was reverted. Keep the changes to that file, or take \
                 the link away.",
                elsewhere.file.shown
            ));
        }
        let label = match &files[..] {
            [one] => format!("Revert in {}", one.file.shown),
            many => format!("Revert in {} files", many.len()),
        };
        let changes = Changes {
            label,
            files,
            by: Whose::Review,
        };
        Ok((self.review_world(workspace), changes))
    }

    /// The world as the person's own edits see it.
    fn review_world(&self, workspace: Workspace) -> World {
        let mut config = self.resolve(self.roots.first().map(PathBuf::as_path));
        config.config.limits = self.limits.clone();
        let author = Author {
            session: String::new(),
            turn: TurnId(0),
            call: CallId(0),
        };
        let workspace = Arc::new(workspace);
        self.world_of("review".into(), author, workspace, &config.config)
    }

    /// A revert has ended. One whose texts moved is planned again on what they are now.
    pub(crate) fn reverted(&mut self, id: u64, end: Result<Applied, String>) {
        let Some(running) = self.reviewing.running.remove(&id) else {
            return;
        };
        let end = match end {
            Ok(Applied::Done { .. }) => {
                let still = self.reviews.remaining(&running.hunks);
                let (remaining, settled) =
                    running.hunks.into_iter().partition(|it| still.contains(it));
                let mut remaining: Vec<String> = remaining;
                remaining.extend(running.left);
                Ok(ResolveReviewResult {
                    settled,
                    queued: Vec::new(),
                    remaining,
                })
            }
            Ok(Applied::Moved) if running.rounds < self.limits.edit_rounds => {
                let rounds = running.rounds + 1;
                return self.run_revert(Running { rounds, ..running });
            }
            Ok(Applied::Moved) => Err(
                "Nothing was reverted, because the text kept changing meanwhile; try again."
                    .to_owned(),
            ),
            // Nobody cancels a revert.
            Ok(Applied::Cancelled) => Err("Nothing was reverted; try again.".to_owned()),
            Err(text) => Err(text),
        };
        match (running.done, end) {
            (Some(done), end) => {
                let end = end.map_err(|text| error(code::REQUEST_FAILED, text));
                done(self, end);
            }
            (None, Err(text)) => self.show_error(&text),
            (None, Ok(_)) => {}
        }
        for (session, input) in running.then {
            self.step(&session, input);
        }
    }
}

impl Running {
    fn new(wishes: Vec<Wish>, done: Option<Resolved>) -> Self {
        Self {
            wishes,
            rounds: 0,
            hunks: Vec::new(),
            left: Vec::new(),
            done,
            sessions: BTreeSet::new(),
            then: Vec::new(),
        }
    }
}

fn wish(params: ResolveReviewParams) -> Result<Wish, Error> {
    let ResolveReviewParams {
        action: _,
        hunk_ids,
        uri,
        turn,
        session_id,
    } = params;
    let file = match uri {
        Some(uri) => Some(path_of(&uri).ok_or_else(|| invalid("uri names no file."))?),
        None => None,
    };
    let scope = match (hunk_ids, turn, session_id) {
        (Some(ids), None, None) => Scope::Hunks(ids),
        (Some(_), _, _) => {
            return Err(invalid(
                "hunkIds stand alone or with uri; leave turn and sessionId out.",
            ));
        }
        (None, Some(turn), Some(session)) => Scope::Turn {
            session,
            turn: TurnId(turn),
        },
        (None, Some(_), None) => {
            return Err(invalid(
                "A turn is counted within its session; name that in sessionId.",
            ));
        }
        (None, None, Some(session)) => Scope::Session(session),
        (None, None, None) => Scope::All,
    };
    Ok(Wish { file, scope })
}
