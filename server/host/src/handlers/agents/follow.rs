//! What a subagent has of its parent, and its parent of it: mode and folders, answers, tokens, what the person sees.

use super::at_once;
use crate::event::{Event, SessionKey};
use crate::main_loop::{Host, TaskKey};
use crate::session_host::Child;
use crate::show;
use engine::session::{Input, Update};
use engine::usage;
use protocol::acp;
use protocol::record::{Purpose, Record};
use protocol::session::{CallId, Mode};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two reports of what one does (spec 9.10).
const PAUSE: Duration = Duration::from_millis(500);

impl Host {
    /// Gives the subagents of a session its mode and its folders as they are now.
    pub(crate) fn agents_follow(&mut self, parent: &SessionKey) {
        let Some(open) = self.sessions.get(parent) else {
            return;
        };
        let (mode, workspace) = (open.session.mode(), open.workspace.clone());
        let children: Vec<(SessionKey, Mode)> = self
            .sessions
            .iter()
            .filter_map(|(key, it)| {
                let child = it.child.as_ref().filter(|it| it.parent == *parent)?;
                Some((key.clone(), child.kind.mode(mode)))
            })
            .collect();
        for (key, mode) in children {
            let is_elsewhere = |it: &Child| it.checkout.is_some();
            if let Some(open) = self.sessions.get_mut(&key)
                && !open.child.as_deref().is_some_and(is_elsewhere)
                && open.workspace != workspace
            {
                open.workspace = Arc::clone(&workspace);
                self.configure(&key);
            }
            self.step(&key, Input::SetMode(mode));
        }
    }

    /// What the person has allowed a subagent for the session is allowed in the session.
    pub(crate) fn pass_answers_on(&mut self, session: &SessionKey) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let Some(parent) = open.child.as_ref().map(|it| it.parent.clone()) else {
            return;
        };
        let has = self.sessions.get(&parent).map(|it| it.session.remembered());
        let has = has.unwrap_or_default();
        let given = open.session.remembered().iter();
        let news: Vec<_> = given.filter(|it| !has.contains(it)).cloned().collect();
        for rule in news {
            self.due.push_back((parent.clone(), Input::Remember(rule)));
        }
    }

    /// What an answer of a subagent took, its parent has used (BUG-88): once for each record of it.
    pub(crate) fn pass_usage_on(&mut self, session: &SessionKey, record: &Record) {
        let Some((model, _, tokens)) = usage::of_record(record) else {
            return;
        };
        let Some(child) = self.child_mut(session) else {
            return;
        };
        child.progress.used(&tokens);
        let (parent, model) = (child.parent.clone(), model.to_owned());
        self.due.push_back((
            parent,
            Input::Spent {
                model,
                purpose: Purpose::Subagent,
                tokens,
            },
        ));
        self.show_agent_soon(session);
    }

    /// The call that a question is shown for: one of a subagent's is shown in the session of the person's that it works for.
    pub(crate) fn shown_call(&self, key: &(SessionKey, CallId)) -> (SessionKey, acp::ToolCallId) {
        let (session, call) = key;
        let child = self.sessions.get(session).and_then(|it| it.child.as_ref());
        match child {
            None => (session.clone(), show::call_id(*call)),
            Some(child) => {
                let id = acp::ToolCallId::new(format!("{}.{call}", child.id));
                (child.parent.clone(), id)
            }
        }
    }

    /// What the person knows a subagent by; none for a session of their own.
    pub(crate) fn label_of(&self, session: &SessionKey) -> Option<String> {
        let child = self.sessions.get(session)?.child.as_ref()?;
        Some(child.label.clone())
    }

    /// Takes in what would be shown of a session of the person's.
    pub(crate) fn agent_does(&mut self, session: &SessionKey, update: &Update) {
        if let Some(child) = self.child_mut(session)
            && child.progress.take(update)
        {
            self.show_agent_soon(session);
        }
    }

    /// Shows what a subagent does, at once or when enough time has gone since the last report.
    fn show_agent_soon(&mut self, session: &SessionKey) {
        let Some(child) = self.child_mut(session) else {
            return;
        };
        if child.is_due || child.reply.is_none() {
            return;
        }
        let since = child.shown.map(|it| it.elapsed());
        let Some(left) = since.and_then(|it| PAUSE.checked_sub(it)) else {
            return self.show_agent(session);
        };
        child.is_due = true;
        let (inbox, key) = (self.inbox.clone(), session.clone());
        let task = TaskKey::AgentProgress(session.clone());
        self.tasks.spawn(task, |token| async move {
            tokio::select! {
                () = token.cancelled() => {}
                () = tokio::time::sleep(left) => {
                    // A loop that is gone shows nothing.
                    let _ = inbox.send(Event::AgentProgress(key)).await;
                }
            }
        });
    }

    /// Shows what a subagent does, on the call that waits for it.
    pub(crate) fn show_agent(&mut self, session: &SessionKey) {
        let Some(child) = self.child_mut(session) else {
            return;
        };
        child.is_due = false;
        if child.reply.is_none() {
            return;
        }
        child.shown = Some(Instant::now());
        let text = child.progress.text(&child.label);
        let shown = (child.parent.clone(), Input::Output(child.call, text));
        self.due.push_back(shown);
    }

    /// The most that work at once for a session.
    pub(super) fn most_at_once(&self, parent: &SessionKey) -> usize {
        let open = self.sessions.get(parent);
        open.map_or(1, |it| at_once(&it.config.limits))
    }
}
