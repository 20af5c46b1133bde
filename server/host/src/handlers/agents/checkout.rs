//! Subagents with a checkout of their own (spec 9.8): it is made before they work, and what they changed is brought into the
//! project once they have reported. Both wait for git, in tasks.

use super::Reply;
use crate::event::{Event, MadeCheckout, SessionKey};
use crate::main_loop::{Host, TaskKey};
use crate::plan::World;
use crate::session_host::Child;
use crate::workspace::{AddedBy, Workspace};
use crate::worktree::{Checkout, Landed};
use engine::agents::Task;
use protocol::config::Isolation;
use protocol::review::Author;
use protocol::session::CallId;
use std::path::Path;

impl Host {
    /// Whether a new one is to have a checkout of its own.
    pub(super) fn is_for_checkout(&self, parent: &SessionKey, task: &Task) -> bool {
        let open = self.sessions.get(parent);
        let kind = open.and_then(|it| it.told.kinds.find(task.kind.as_deref()).ok());
        let isolation = task.isolation.or(kind.map(|it| it.isolation));
        isolation == Some(Isolation::Worktree)
    }

    /// Has a checkout made for one. Where there can be none, nothing is started: never does it work in the project instead.
    pub(super) fn make_checkout(
        &mut self,
        parent: &SessionKey,
        call: CallId,
        task: Task,
        reply: Reply,
    ) {
        let Some(open) = self.sessions.get(parent) else {
            return;
        };
        let root = open.workspace.root().to_path_buf();
        let secs = open.config.limits.worktree_secs;
        let (folders, documents) = (self.folders.clone(), self.documents.snapshot());
        let (inbox, session) = (self.inbox.clone(), parent.clone());
        let key = TaskKey::Checkout(parent.clone(), call);
        self.tasks.spawn(key, |token| async move {
            let made = tokio::select! {
                // Nobody waits for it any more; what is not whole goes with it.
                () = token.cancelled() => return,
                made = Checkout::create(&folders, &root, &documents, secs) => made.map(Box::new),
            };
            let made = MadeCheckout {
                session,
                call,
                task,
                reply,
                made,
            };
            // A loop that is gone needs no checkout.
            let _ = inbox.send(Event::Checkout(Box::new(made))).await;
        });
    }

    pub(crate) fn agent_has_checkout(&mut self, made: MadeCheckout) {
        let MadeCheckout {
            session,
            call,
            task,
            reply,
            made,
        } = made;
        let open = self.sessions.get(&session);
        let is_wanted = open.is_some_and(|it| it.running.contains(&call));
        let checkout = match made {
            Ok(checkout) if is_wanted => checkout,
            // The turn was cancelled meanwhile.
            Ok(checkout) => return self.remove_checkout(Some(checkout)),
            // Its task may have given up this moment.
            Err(why) => return drop(reply.send(Err(why))),
        };
        let asked = self.open_agent(&session, call, task, Some(checkout));
        self.answer_asked(&session, asked, reply);
    }

    /// The folders of one that works in a checkout: that in the place of the project, and what its session has beside it.
    pub(super) fn workspace_in(
        &self,
        checkout: &Checkout,
        of_parent: &Workspace,
    ) -> Result<Workspace, String> {
        let own = [self.folders.config.clone(), self.folders.data.clone()];
        let mut workspace = Workspace::new(&[checkout.root()], &own)?;
        for folder in of_parent.others() {
            workspace.add(folder, AddedBy::Session)?;
        }
        if let Some(folder) = of_parent.scratchpad() {
            workspace.set_scratchpad(folder);
        }
        Ok(workspace)
    }

    /// Brings what one changed into the project, if it has reported; then hands its report over.
    pub(super) fn bring_back(
        &mut self,
        key: &SessionKey,
        mut checkout: Box<Checkout>,
        result: Result<String, String>,
    ) {
        let work = self.world_for(key);
        let (said, (world, label)) = match (result, work) {
            (Ok(said), Some(work)) => (said, work),
            (Ok(why) | Err(why), _) => {
                let text = format!("{why}\n{}", checkout.kept());
                if let Some(child) = self.child_mut(key) {
                    child.checkout = Some(checkout);
                    child.is_named = true;
                }
                return self.hand_over(key, Err(text));
            }
        };
        if let Some(child) = self.child_mut(key) {
            child.report = Some(said);
        }
        let inbox = self.inbox.clone();
        let session = key.clone();
        self.tasks
            .spawn(TaskKey::Landing(key.clone()), |token| async move {
                let landed = checkout.land(&world, &label, &token).await;
                // A loop that is gone leaves it on the disk.
                let _ = inbox.send(Event::Landed(session, checkout, landed)).await;
            });
    }

    pub(crate) fn agent_landed(
        &mut self,
        key: &SessionKey,
        checkout: Box<Checkout>,
        landed: Result<Landed, String>,
    ) {
        let Some(child) = self.child_mut(key) else {
            return self.remove_checkout(Some(checkout));
        };
        child.checkout = Some(checkout);
        let said = child.report.take().unwrap_or_default();
        // What could not be brought back stays where it is.
        child.is_named = landed.is_err();
        let result = match landed {
            Ok(landed) => Ok(format!("{said}\n\n{}", landed.told())),
            // Its work is not in the project, whatever it says of it.
            Err(why) => Err(format!("{why}\n\nThe agent had reported:\n{said}")),
        };
        // The model is told of a change when its review is on the disk.
        let key = key.clone();
        self.when_reviewed(move |host| host.hand_over(&key, result));
    }

    /// The project as one's session sees it, for the call that it works for.
    fn world_for(&self, key: &SessionKey) -> Option<(World, String)> {
        let child = self.sessions.get(key)?.child.as_ref()?;
        let parent = self.sessions.get(&child.parent)?;
        let author = Author {
            session: child.parent.to_string(),
            turn: child.turn,
            call: child.call,
        };
        let workspace = parent.workspace.clone();
        let world = self.world_of(child.parent.clone(), author, workspace, &parent.config);
        Some((world, format!("Changes of {} ({})", child.id, child.label)))
    }

    /// Whether one works for this call, which may have ended meanwhile.
    pub(crate) fn has_agent_for(&self, session: &SessionKey, call: CallId) -> bool {
        let is_it = |it: &Child| it.parent == *session && it.call == call;
        let mut children = self.sessions.values().filter_map(|it| it.child.as_deref());
        children.any(is_it)
    }

    /// Whether a file lies where subagents work that have checkouts of their own.
    pub(crate) fn is_in_checkout(&self, path: &Path) -> bool {
        let folder = self.folders.worktrees();
        folder.canonicalize().is_ok_and(|it| path.starts_with(it))
    }

    pub(super) fn remove_checkout(&self, checkout: Option<Box<Checkout>>) {
        if let Some(checkout) = checkout {
            self.runtime.spawn_blocking(move || checkout.remove());
        }
    }
}
