//! Opening, loading, listing and setting up sessions.

mod closing;
mod finding;
mod forking;
mod naming;
mod replaying;
mod settings;
mod told;

pub(crate) use finding::time as session_time;
pub(crate) use naming::{exported, rename};

use super::lifecycle::unknown_session;
use crate::endpoint;
use crate::event::SessionKey;
use crate::lsp::{Error, code, error};
use crate::main_loop::Host;
use crate::memory::Memory;
use crate::model;
use crate::models::Choice;
use crate::perform::invalid;
use crate::scratchpad::Scratchpad;
use crate::session_host::{OpenSession, Told};
use crate::show;
use crate::store::{self, Log, Pictures, Voucher};
use crate::trace::Trace;
use crate::workspace::{AddedBy, Workspace};
use engine::config::{Origin, Resolved};
use engine::session::{Effect, Input, Session};
use engine::trace::{Act, Standing};
use protocol::acp;
use protocol::config::Config;
use protocol::record::{EditedFile, Record};
use protocol::session::Mode;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where the sessions of a folder are.
struct Listing {
    /// Resolved.
    root: PathBuf,
    folder: PathBuf,
    /// The most that are looked at or told.
    most: usize,
}

impl Host {
    pub(crate) fn new_session(
        &mut self,
        params: acp::NewSessionRequest,
    ) -> Result<acp::NewSessionResponse, Error> {
        let key = self.start_session(&params.cwd, &params.additional_directories)?;
        let mode = self.sessions[&key].session.mode();
        Ok(acp::NewSessionResponse::new(show::session_id(&key))
            .modes(Some(show::modes(mode)))
            .config_options(Some(self.config_options(&key))))
    }

    /// A new session in a folder.
    pub(crate) fn start_session(
        &mut self,
        cwd: &Path,
        also: &[PathBuf],
    ) -> Result<SessionKey, Error> {
        let (mut workspace, resolved) = self.place(cwd)?;
        let added = self.add_all(&mut workspace, also, &resolved.config);
        added.map_err(invalid)?;
        let scratchpad = self.scratchpad(&mut workspace, None);
        let folder = self.folders.conversations(workspace.root());
        let id = store::new_id(&folder, |id| self.sessions.contains_key(id));
        let key: SessionKey = id.as_str().into();
        let path = folder.join(format!("{id}.jsonl"));
        let voucher = Voucher {
            path: self.folders.voucher(&path),
            scratchpad: scratchpad
                .as_ref()
                .map(Scratchpad::name)
                .unwrap_or_default(),
        };
        let log = Log::new(path, Some(voucher));
        let told = self.look_at_files(&workspace, &resolved.config);
        self.know_models(&resolved);
        let settings = self.settings(&key, &resolved.config, &workspace, &told, None);
        let mode = resolved.config.safety.mode;
        let cwd = workspace.root().to_path_buf();
        let is_traced = resolved.config.trace.record;
        let act = is_traced.then(|| Act::New {
            id: id.clone(),
            cwd: cwd.clone(),
            mode,
            settings: Box::new(settings.clone()),
        });
        let (session, effects) = Session::new(id, cwd, mode, settings);
        self.open(key.clone(), session, log, workspace, resolved, scratchpad);
        self.begin_trace(&key, act, &effects);
        self.keep_told(&key, told);
        self.perform(&key, effects);
        Ok(key)
    }

    /// The folders of a session in `cwd`, and the configuration for it.
    fn place(&mut self, cwd: &Path) -> Result<(Workspace, Resolved), Error> {
        if !cwd.is_absolute() {
            return Err(invalid(format!(
                "cwd must be an absolute path, but is {}.",
                cwd.display()
            )));
        }
        let own = [self.folders.config.clone(), self.folders.data.clone()];
        let workspace = Workspace::new(&[cwd.to_path_buf()], &own);
        let mut workspace = workspace.map_err(invalid)?;
        workspace.set_others(&self.others_than(workspace.root()));
        let memory = Memory::of(&self.folders.data, workspace.root());
        workspace.set_memory(memory.folders());
        self.report_cut_off(workspace.root());
        let resolved = self.resolve(Some(workspace.root()));
        self.report(&resolved);
        Ok((workspace, resolved))
    }

    /// The editor's other folders, for a session in one of them (spec 4.7). A session elsewhere is not about them.
    pub(super) fn others_than(&self, root: &Path) -> Vec<PathBuf> {
        let is_it = |it: &PathBuf| it.canonicalize().is_ok_and(|it| it == root);
        match self.roots.iter().any(is_it) {
            true => self.roots.iter().filter(|it| !is_it(it)).cloned().collect(),
            false => Vec::new(),
        }
    }

    /// Adds the folders that the request, the command line and the configuration name. The error names one that is
    /// none, and is for the person.
    fn add_all(
        &self,
        workspace: &mut Workspace,
        also: &[PathBuf],
        config: &Config,
    ) -> Result<(), String> {
        for folder in also.iter().chain(&self.added) {
            workspace.add(folder, AddedBy::Session)?;
        }
        add_configured(workspace, config)
    }

    /// Makes a session's scratchpad, by the name that it had `before` if it can. Without one it works all the same.
    fn scratchpad(
        &mut self,
        workspace: &mut Workspace,
        before: Option<&str>,
    ) -> Option<Scratchpad> {
        let temporary = std::env::temp_dir();
        let again = before.and_then(|it| Scratchpad::again(&temporary, it).ok());
        match again.map_or_else(|| Scratchpad::make(&temporary), Ok) {
            Ok(scratchpad) => {
                workspace.set_scratchpad(scratchpad.path());
                Some(scratchpad)
            }
            Err(error) => {
                self.warn_once(format!(
                    "The agent has no scratchpad, because none can be made in {} ({error}).",
                    temporary.display()
                ));
                None
            }
        }
    }

    fn open(
        &mut self,
        key: SessionKey,
        session: Session,
        log: Log,
        workspace: Workspace,
        resolved: Resolved,
        scratchpad: Option<Scratchpad>,
    ) {
        let connect = Duration::from_secs(resolved.config.limits.model_connect_secs);
        if let Ok(reached) = endpoint::reach(&resolved.config) {
            let url = reached.endpoint.base_url;
            self.runtime
                .spawn_blocking(move || model::warm_up(connect, &url));
        }
        let open = OpenSession::new(
            key.clone(),
            session,
            log,
            Arc::new(workspace),
            scratchpad,
            Arc::new(resolved.config),
        );
        self.sessions.insert(key, open);
    }

    /// Begins the trace of a session that was opened by this act, if one is wanted.
    fn begin_trace(&mut self, key: &SessionKey, act: Option<Act>, effects: &[Effect]) {
        let Some((act, open)) = act.zip(self.sessions.get_mut(key)) else {
            return;
        };
        match Trace::begin(&self.folders.data, key, store::now_ms()) {
            Ok(mut trace) => {
                trace.record(act, effects);
                open.trace = Some(trace);
            }
            Err(error) => self.warn_once(format!(
                "The session {key} has no trace, because none can be written in {} ({error}).",
                self.folders.data.join("traces").display()
            )),
        }
    }

    /// As [`load_session`](Self::load_session), for an editor that shows the session already.
    pub(crate) fn resume_session(
        &mut self,
        params: acp::ResumeSessionRequest,
    ) -> Result<acp::ResumeSessionResponse, Error> {
        let key: SessionKey = params.session_id.0.clone();
        let load = acp::LoadSessionRequest::new(params.session_id, params.cwd)
            .additional_directories(params.additional_directories);
        self.open_logged(load)?;
        let mode = self.sessions[&key].session.mode();
        Ok(acp::ResumeSessionResponse::new()
            .modes(Some(show::modes(mode)))
            .config_options(Some(self.config_options(&key))))
    }

    /// Opens a session from its log, if it is not open. Nothing of it is shown.
    pub(super) fn open_logged(&mut self, params: acp::LoadSessionRequest) -> Result<(), Error> {
        let (mut workspace, mut resolved) = self.place(&params.cwd)?;
        let added = self.add_all(
            &mut workspace,
            &params.additional_directories,
            &resolved.config,
        );
        added.map_err(invalid)?;
        let folder = self.folders.conversations(workspace.root());
        let key: SessionKey = params.session_id.0.clone();
        let failed = |it: store::LogError| error(code::REQUEST_FAILED, it.to_string());
        // A subagent's is nobody's to open.
        let is_child = |it: &OpenSession| it.child.is_some();
        if self.sessions.get(&key).is_some_and(is_child) {
            return Err(failed(store::LogError::Missing(key.to_string())));
        }
        if let Some(open) = self.sessions.get(&key)
            && open.workspace.root() == workspace.root()
        {
            // One without a prompt has no log yet.
            return Ok(());
        }
        let path = store::path(&folder, &key).map_err(failed)?;
        if !self.sessions.contains_key(&key) {
            let is_ours = self.folders.vouches(&path);
            let before = self.folders.scratchpad_of(&path);
            let snapshot = self.folders.snapshot(&path);
            let (log, records) = Log::open(path, Some(&snapshot)).map_err(failed)?;
            let records = match is_ours {
                true => records,
                false => {
                    let kept = records.into_iter();
                    kept.filter_map(Record::without_answers).collect()
                }
            };
            let scratchpad = self.scratchpad(&mut workspace, before.as_deref());
            let told = self.look_at_files(&workspace, &resolved.config);
            let choice = match is_ours {
                true => self.choice_of(&records, &resolved),
                // Whoever wrote it does not choose for the person.
                false => Choice::default(),
            };
            resolved.config = choice.over(resolved.config);
            self.know_models(&resolved);
            let settings = self.settings(&key, &resolved.config, &workspace, &told, None);
            let traced = resolved.config.trace.record.then(|| settings.clone());
            let stood = RefCell::new(Vec::new());
            let stands = |it: &EditedFile| {
                let stands = self.stands(it);
                stood.borrow_mut().push(Standing::from(stands));
                stands
            };
            let (mut session, repairs) = Session::resume(&records, settings, stands);
            let act = traced.map(|settings| Act::Resume {
                records,
                settings: Box::new(settings),
                stands: stood.into_inner(),
            });
            if !is_ours {
                session.doubt_prompts();
            }
            let pictures = Pictures::beside(log.path());
            session.load_pictures(|it| pictures.load(it));
            let configured = resolved.config.safety.mode;
            let mode = session.mode();
            self.open(key.clone(), session, log, workspace, resolved, scratchpad);
            self.begin_trace(&key, act, &repairs);
            self.keep_told(&key, told);
            if let Some(open) = self.sessions.get_mut(&key) {
                open.choice = choice;
                if let (false, Some(trace)) = (is_ours, &mut open.trace) {
                    trace.record(Act::Doubt, &[]);
                }
            }
            self.perform(&key, repairs);
            if !is_ours {
                self.warn_once(format!(
                    "The session {key} was not written by this Undine, so what was allowed in it does not count."
                ));
                if mode > configured {
                    self.step(&key, Input::SetMode(configured));
                }
            }
            self.warn_of_size(&key);
        }
        Ok(())
    }

    pub(crate) fn set_mode(
        &mut self,
        params: acp::SetSessionModeRequest,
    ) -> Result<acp::SetSessionModeResponse, Error> {
        let key = self.known(&params.session_id)?;
        let mode = Mode::from_id(&params.mode_id.0).ok_or_else(|| {
            let ids: Vec<&str> = Mode::ALL.iter().map(|it| it.id()).collect();
            invalid(format!(
                "There is no mode {}; choose one of {}.",
                params.mode_id,
                ids.join(", ")
            ))
        })?;
        self.step(&key, Input::SetMode(mode));
        Ok(acp::SetSessionModeResponse::new())
    }

    /// The key of an open session. Its subagents are nobody's to speak to.
    pub(crate) fn known(&self, id: &acp::SessionId) -> Result<SessionKey, Error> {
        self.sessions
            .get_key_value(&id.0)
            .filter(|(_, it)| it.child.is_none())
            .map(|(key, _)| key.clone())
            .ok_or_else(|| unknown_session(&id.0))
    }

    /// What the person had chosen in a session that is opened again. What the command line says now counts over it, and a
    /// model that cannot be reached any more is not chosen.
    fn choice_of(&mut self, records: &[Record], resolved: &Resolved) -> Choice {
        let mut choice = Choice::of(records);
        let said_now = ["default_model.provider", "default_model.name"]
            .iter()
            .any(|key| {
                matches!(
                    resolved.origins.get(*key),
                    Some(Origin::Setting | Origin::Flag)
                )
            });
        if said_now {
            choice.model = None;
        }
        if let Some(model) = &choice.model
            && let Err(why) = endpoint::reach(&choice.over(resolved.config.clone()))
        {
            // Without a model to put in its place, that is what the person is told when it is asked.
            if endpoint::reach(&resolved.config).is_ok() {
                self.warn_once(format!(
                    "{model}, which answered in this session, cannot be asked any more: {why}"
                ));
            }
            choice.model = None;
        }
        choice
    }

    fn keep_told(&mut self, key: &SessionKey, told: Told) {
        if let Some(open) = self.sessions.get_mut(key) {
            open.told = told;
        }
    }

    /// Before a prompt: what the project's files say may have changed.
    pub(super) fn reread_instructions(&mut self, key: &SessionKey) {
        let Some(open) = self.sessions.get(key) else {
            return;
        };
        let (workspace, config) = (open.workspace.clone(), open.config.clone());
        let told = self.look_at_files(&workspace, &config);
        let before = self.sessions.get(key).map(|it| &it.told);
        if before.is_some_and(|it| *it != told) {
            let are_others = before.is_some_and(|it| it.commands != told.commands);
            self.configure(key);
            if are_others {
                self.announce_commands(key);
            }
        }
    }

    /// Gives a session the configuration as it is now. Its mode stays what the person set.
    pub(crate) fn configure(&mut self, key: &SessionKey) {
        let Some(open) = self.sessions.get(key) else {
            return;
        };
        let mut workspace = Workspace::clone(&open.workspace);
        let choice = open.choice.clone();
        let mut resolved = self.resolve(Some(workspace.root()));
        self.report(&resolved);
        resolved.config = choice.over(resolved.config);
        self.know_models(&resolved);
        workspace.forget_configured();
        if let Err(text) = add_configured(&mut workspace, &resolved.config) {
            self.warn_once(text);
        }
        workspace.set_others(&self.others_than(workspace.root()));
        let told = self.look_at_files(&workspace, &resolved.config);
        // Its own role goes with it.
        let child = self.sessions.get_mut(key).and_then(|it| it.child.take());
        let settings = self.settings(key, &resolved.config, &workspace, &told, child.as_deref());
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        open.child = child;
        open.workspace = Arc::new(workspace);
        let effects = open.configure(settings);
        open.told = told;
        open.config = Arc::new(resolved.config);
        self.perform(key, effects);
        self.agents_follow(key);
    }
}

/// Adds the folders that the configuration names, up to one that is none.
fn add_configured(workspace: &mut Workspace, config: &Config) -> Result<(), String> {
    for folder in &config.workspace.additional_dirs {
        let path = Path::new(folder);
        // A relative one would be another in every project.
        if !path.is_absolute() && !path.starts_with("~") {
            return Err(format!(
                "{folder} in workspace.additional_dirs is no whole path; write one, or one from `~/` on."
            ));
        }
        let added = workspace.add(path, AddedBy::Configuration);
        added.map_err(|text| format!("{text} It stands in workspace.additional_dirs."))?;
    }
    Ok(())
}
