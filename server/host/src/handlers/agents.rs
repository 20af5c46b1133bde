//! Subagents: opening their sessions, letting them work, and handing their reports over (spec 9).
//!
//! A subagent is a session with a parent. Its key is the parent's with a number behind it, so that it is ended and found with it;
//! its log lies in the data folder, where no list of sessions looks.

mod checkout;
mod follow;
mod people;

use crate::endpoint;
use crate::event::{Event, SessionKey};
use crate::main_loop::{Host, TaskKey};
use crate::session_host::{Child, OpenSession, Waiter};
use crate::store::Log;
use crate::worktree::Checkout;
use engine::agents::{
    Ended, Kind, Progress, Roster, Start, State, Task, Wish, is_over, killed, notice, report,
    reported_later, waits,
};
use engine::models::find;
use engine::provider::StopReason;
use engine::session::{Input, PromptEnd, Session, Update};
use protocol::config::Limits;
use protocol::session::{AgentId, CallId, TurnId};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

type Reply = oneshot::Sender<Result<String, String>>;

/// Seconds that one may work where nothing is configured (spec 9.6).
const DEFAULT_SECS: u64 = 1_200;

impl Host {
    /// A call wants one to work, or to end.
    pub(crate) fn ask_agent(
        &mut self,
        parent: &SessionKey,
        call: CallId,
        wish: Wish,
        reply: Reply,
    ) {
        let Some(open) = self.sessions.get(parent) else {
            return;
        };
        // The turn was cancelled meanwhile.
        if !open.running.contains(&call) {
            return;
        }
        let asked = match wish {
            Wish::Kill(id) => {
                // Its task may have given up this moment.
                let _ = reply.send(self.kill_agent(parent, id));
                return;
            }
            Wish::Spawn(task) => match task.agent {
                Some(id) => self.go_on_with(parent, call, id, task),
                None if self.is_for_checkout(parent, &task) => {
                    return self.make_checkout(parent, call, task, reply);
                }
                None => self.open_agent(parent, call, task, None),
            },
        };
        self.answer_asked(parent, asked, reply);
    }

    fn answer_asked(
        &mut self,
        parent: &SessionKey,
        asked: Result<(SessionKey, Start), String>,
        reply: Reply,
    ) {
        match asked {
            Ok((child, start)) => {
                if let Some(it) = self.child_mut(&child) {
                    it.reply = Some(reply);
                }
                self.begin_or_wait(parent, &child, start);
            }
            // Its task may have given up this moment.
            Err(why) => drop(reply.send(Err(why))),
        }
    }

    /// A new one. The error is for the model.
    fn open_agent(
        &mut self,
        parent: &SessionKey,
        call: CallId,
        task: Task,
        checkout: Option<Box<Checkout>>,
    ) -> Result<(SessionKey, Start), String> {
        let open = self.sessions.get(parent).ok_or("The session is closed.")?;
        let kind = Arc::new(open.told.kinds.find(task.kind.as_deref())?.clone());
        let mut choice = open.choice.clone();
        let mut config = open.config.clone();
        if let Some(model) = task.model.as_deref().or(kind.model.as_deref()) {
            let model =
                find(&config, model).map_err(|why| format!("{why} Nothing was started."))?;
            choice.model = Some(model);
            config = Arc::new(choice.over(config.as_ref().clone()));
            endpoint::reach(&config).map_err(|why| format!("{why} Nothing was started."))?;
        }
        let workspace = match &checkout {
            None => open.workspace.clone(),
            Some(checkout) => Arc::new(self.workspace_in(checkout, &open.workspace)?),
        };
        let mode = kind.mode(open.session.mode());
        let child = Child {
            parent: parent.clone(),
            id: self.next_agent(parent),
            label: label(&task, &kind),
            kind,
            call,
            turn: open.session.turn().unwrap_or(TurnId(0)),
            reply: None,
            task: Some(task.prompt),
            wishes: open.session.wishes(),
            work: 0,
            report: None,
            checkout,
            is_named: false,
            timed_out: None,
            progress: Progress::default(),
            shown: None,
            is_due: false,
        };
        let key = key_of(parent, child.id);
        let root = workspace.root().to_path_buf();
        let told = self.look_at_files(&workspace, &config);
        let settings = self.settings(&key, &config, &workspace, &told, Some(&child));
        let (session, effects) = Session::new(key.to_string(), root.clone(), mode, settings);
        let log = Log::new(self.folders.agent_log(&root, &key), None);
        let mut opened = OpenSession::new(key.clone(), session, log, workspace, None, config);
        let (id, at_once) = (child.id, at_once(&opened.config.limits));
        let (label, kind) = (child.label.clone(), child.kind.name.clone());
        opened.choice = choice;
        opened.told = told;
        opened.child = Some(Box::new(child));
        self.sessions.insert(key.clone(), opened);
        self.perform(&key, effects);
        let start = self
            .roster(parent)
            .map_or(Start::Waits, |it| it.admit(id, &label, &kind, at_once));
        Ok((key, start))
    }

    /// One that has ended, with another task. The error is for the model.
    fn go_on_with(
        &mut self,
        parent: &SessionKey,
        call: CallId,
        id: AgentId,
        task: Task,
    ) -> Result<(SessionKey, Start), String> {
        let key = key_of(parent, id);
        let open = self.sessions.get(parent).ok_or("The session is closed.")?;
        open.roster.can_go_on(id)?;
        let (turn, wishes) = (
            open.session.turn().unwrap_or(TurnId(0)),
            open.session.wishes(),
        );
        let own = self.sessions.get(&key).ok_or("The agent is gone.")?;
        let (config, has) = (
            own.config.clone(),
            own.child.as_ref().map(|it| it.kind.name.clone()),
        );
        if let (Some(wanted), Some(has)) = (&task.kind, &has)
            && wanted != has
        {
            return Err(format!(
                "{id} is of the type {has} and stays so; leave type away, or start a new one. Nothing was started."
            ));
        }
        let model = match &task.model {
            None => None,
            Some(name) => {
                let model =
                    find(&config, name).map_err(|why| format!("{why} Nothing was started."))?;
                let mut choice = own.choice.clone();
                choice.model = Some(model.clone());
                endpoint::reach(&choice.over(config.as_ref().clone()))
                    .map_err(|why| format!("{why} Nothing was started."))?;
                Some(model)
            }
        };
        let at_once = at_once(&config.limits);
        if let Some(own) = self.sessions.get_mut(&key) {
            own.choice.model = model.or(own.choice.model.take());
            if let Some(child) = &mut own.child {
                child.call = call;
                child.turn = turn;
                child.wishes = wishes;
                child.task = Some(task.prompt);
                if !task.label.is_empty() {
                    child.label.clone_from(&task.label);
                }
            }
        }
        // What files tell it, the person's words and the model are as of now.
        self.configure(&key);
        let start = self
            .roster(parent)
            .map_or(Start::Waits, |it| it.go_on(id, &task.label, at_once));
        Ok((key, start))
    }

    fn begin_or_wait(&mut self, parent: &SessionKey, child: &SessionKey, start: Start) {
        match start {
            Start::Now => self.begin_agent(child),
            Start::Waits => {
                let open = self.sessions.get(child);
                let call = open.and_then(|it| Some(it.child.as_ref()?.call));
                let most = open.map_or(1, |it| at_once(&it.config.limits));
                if let Some(call) = call {
                    self.due
                        .push_back((parent.clone(), Input::Output(call, waits(most))));
                }
            }
        }
    }

    /// Lets one work, as long as it may.
    fn begin_agent(&mut self, key: &SessionKey) {
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        let secs = match open.config.agents.timeout_secs {
            0 => DEFAULT_SECS,
            secs => secs,
        };
        let prompt = open.next_prompt();
        let Some(child) = &mut open.child else {
            return;
        };
        let Some(text) = child.task.take() else {
            return;
        };
        child.work += 1;
        child.timed_out = None;
        child.progress = Progress::default();
        child.is_due = false;
        let work = child.work;
        open.waiting.insert(prompt, Waiter::Parent);
        let (inbox, session) = (self.inbox.clone(), key.clone());
        self.tasks
            .spawn(TaskKey::AgentTime(key.clone()), |token| async move {
                tokio::select! {
                    () = token.cancelled() => {}
                    () = tokio::time::sleep(Duration::from_secs(secs)) => {
                        // A loop that is gone has ended it.
                        let _ = inbox.send(Event::AgentTime(session, work)).await;
                    }
                }
            });
        self.step(
            key,
            Input::Prompt {
                prompt,
                text,
                pictures: Vec::new(),
            },
        );
    }

    /// One has worked as long as it may.
    pub(crate) fn agent_timed_out(&mut self, key: &SessionKey, work: u64) {
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        let secs = open.config.agents.timeout_secs;
        let is_at_work = open.session.turn().is_some();
        match &mut open.child {
            Some(child) if child.work == work && is_at_work => {
                child.timed_out = Some(if secs == 0 { DEFAULT_SECS } else { secs });
            }
            Some(_) | None => return,
        }
        self.step(key, Input::Cancel);
    }

    /// The turn of one has ended.
    pub(crate) fn agent_ended(&mut self, key: &SessionKey, end: &PromptEnd) {
        self.tasks.stop(&TaskKey::AgentTime(key.clone()));
        self.tasks.stop(&TaskKey::AgentProgress(key.clone()));
        self.end_commands_of(key);
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        let said = open.session.last_said().to_owned();
        let most = at_once(&open.config.limits);
        let Some(child) = &mut open.child else {
            return;
        };
        let (parent, id) = (child.parent.clone(), child.id);
        let checkout = child.checkout.take();
        let ended = match (ended(end), child.timed_out.take()) {
            (_, Some(secs)) => Some(Ended::TimedOut(secs)),
            (ended, None) => ended,
        };
        match ended {
            Some(ended) => {
                let result = report(id, &ended, &said);
                match checkout {
                    None => self.hand_over(key, result),
                    Some(checkout) => self.bring_back(key, checkout, result),
                }
            }
            // Nobody waits for it any more, or hears by other ways.
            None => {
                if let Some(child) = self.child_mut(key) {
                    child.checkout = checkout;
                }
                self.forget_agent(&parent, id);
                self.begin_next(&parent, most);
            }
        }
    }

    /// Gives the report to who waits for it. What has ended is kept, if it is among the newest.
    fn hand_over(&mut self, key: &SessionKey, result: Result<String, String>) {
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        let (kept, most) = (kept(&open.config.limits), at_once(&open.config.limits));
        let Some(child) = &mut open.child else {
            return;
        };
        let (parent, id, label) = (child.parent.clone(), child.id, child.label.clone());
        match child.reply.take() {
            // The call may have been cancelled this moment.
            Some(reply) => drop(reply.send(result)),
            None => self.report_later(&parent, id, &label, &result),
        }
        let gone = self.roster(&parent).map(|it| it.ended(id, kept));
        for id in gone.unwrap_or_default() {
            self.close_agent(&key_of(&parent, id));
        }
        self.begin_next(&parent, most);
    }

    fn report_later(
        &mut self,
        parent: &SessionKey,
        id: AgentId,
        label: &str,
        result: &Result<String, String>,
    ) {
        let told = Input::Tell(reported_later(id, label, result));
        self.due.push_back((parent.clone(), told));
        self.show_update(parent, Update::Notice(notice(id, label, result)));
    }

    fn begin_next(&mut self, parent: &SessionKey, at_once: usize) {
        while let Some(next) = self.roster(parent).and_then(|it| it.next(at_once)) {
            self.begin_agent(&key_of(parent, next));
        }
    }

    /// Ends the subagent of a call that is over: nobody waits for its report.
    pub(crate) fn end_agents_of(&mut self, parent: &SessionKey, call: CallId) {
        let waits_for = |it: &OpenSession| {
            let child = it.child.as_ref();
            child.is_some_and(|it| it.parent == *parent && it.call == call && it.reply.is_some())
        };
        let found = self.sessions.iter().filter(|(_, it)| waits_for(it));
        let keys: Vec<SessionKey> = found.map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.stop_agent(&key);
        }
    }

    /// Ends all subagents of a session that is let go, with what they have left in the background.
    pub(crate) fn end_all_agents(&mut self, parent: &SessionKey) {
        let is_its = |it: &OpenSession| it.child.as_ref().is_some_and(|it| it.parent == *parent);
        let found = self.sessions.iter().filter(|(_, it)| is_its(it));
        let keys: Vec<SessionKey> = found.map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.stop_agent(&key);
            self.end_commands_of(&key);
            self.close_agent(&key);
        }
    }

    /// Ends one, whether it works or waits, and forgets it.
    fn stop_agent(&mut self, key: &SessionKey) {
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        let most = at_once(&open.config.limits);
        let Some(child) = &mut open.child else {
            return;
        };
        child.reply = None;
        let (parent, id) = (child.parent.clone(), child.id);
        // Its end forgets it.
        self.step(key, Input::Cancel);
        if self.sessions.contains_key(key) {
            self.forget_agent(&parent, id);
            self.begin_next(&parent, most);
        }
    }

    /// Ends one by its id, or drops one that has ended. Both texts are for the model or the person.
    fn kill_agent(&mut self, parent: &SessionKey, id: AgentId) -> Result<String, String> {
        let key = key_of(parent, id);
        let entry = self.sessions.get(parent).and_then(|it| it.roster.get(id));
        let Some(entry) = entry else {
            return Err(format!("There is no {id}; nothing was done."));
        };
        match entry.state {
            State::Ended(_) => {
                self.forget_agent(parent, id);
                Ok(is_over(id))
            }
            State::Waiting(_) | State::Running => {
                let reply = self.child_mut(&key).and_then(|it| it.reply.take());
                self.stop_agent(&key);
                if let Some(reply) = reply {
                    // Its call may have been cancelled this moment.
                    let _ = reply.send(Err(killed(id)));
                }
                Ok(killed(id))
            }
        }
    }

    fn forget_agent(&mut self, parent: &SessionKey, id: AgentId) {
        if let Some(it) = self.roster(parent) {
            it.remove(id);
        }
        self.close_agent(&key_of(parent, id));
    }

    fn close_agent(&mut self, key: &SessionKey) {
        self.tasks.stop(&TaskKey::AgentTime(key.clone()));
        self.tasks.stop(&TaskKey::AgentProgress(key.clone()));
        self.tasks.stop(&TaskKey::Landing(key.clone()));
        let gone = self.sessions.remove(key);
        let child = gone.and_then(|it| it.child);
        // One that was named stays on the disk.
        let child = child.filter(|it| !it.is_named);
        self.remove_checkout(child.and_then(|it| it.checkout));
    }

    /// Commands that one has left in the background.
    fn end_commands_of(&mut self, key: &SessionKey) {
        for job in self.jobs.list(key) {
            self.runtime.spawn(async move { job.stop().await });
        }
    }

    /// The number of the next subagent: none that has a log from an earlier server.
    fn next_agent(&self, parent: &SessionKey) -> AgentId {
        let root = self
            .sessions
            .get(parent)
            .map(|it| it.workspace.root().to_path_buf());
        let root = root.unwrap_or_default();
        let is_free = |id: &AgentId| {
            let key = key_of(parent, *id);
            !self.sessions.contains_key(&key) && !self.folders.agent_log(&root, &key).exists()
        };
        (1..).map(AgentId).find(is_free).unwrap_or(AgentId(0))
    }

    fn roster(&mut self, parent: &SessionKey) -> Option<&mut Roster> {
        self.sessions.get_mut(parent).map(|it| &mut it.roster)
    }

    fn child_mut(&mut self, key: &SessionKey) -> Option<&mut Child> {
        self.sessions.get_mut(key)?.child.as_deref_mut()
    }
}

fn key_of(parent: &SessionKey, id: AgentId) -> SessionKey {
    format!("{parent}.{}", id.0).into()
}

fn label(task: &Task, kind: &Kind) -> String {
    match task.label.as_str() {
        "" => kind.name.clone(),
        label => label.to_owned(),
    }
}

fn at_once(limits: &Limits) -> usize {
    usize::try_from(limits.agents_at_once).unwrap_or(usize::MAX)
}

fn kept(limits: &Limits) -> usize {
    usize::try_from(limits.agents_kept).unwrap_or(usize::MAX)
}

/// How a piece of work ended; none: it was cancelled.
fn ended(end: &PromptEnd) -> Option<Ended> {
    Some(match end {
        PromptEnd::Ended(StopReason::MaxTokens | StopReason::WindowFull) => Ended::Cut,
        PromptEnd::Ended(StopReason::Refusal) => Ended::Refused,
        PromptEnd::Ended(
            StopReason::EndTurn | StopReason::ToolCalls | StopReason::Paused | StopReason::Other(_),
        ) => Ended::Done,
        PromptEnd::Failed(error) => Ended::Failed(error.message.clone()),
        PromptEnd::TooManyAnswers(n) => Ended::TooManyAnswers(*n),
        PromptEnd::Cancelled | PromptEnd::Withdrawn | PromptEnd::Dropped { .. } => return None,
    })
}
