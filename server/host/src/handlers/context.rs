//! The window of a session: what fills it, and when older history gives way to a summary.

use super::models::kept_or_not;
use crate::config_edit::{self, EditError};
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::layers::{project_file, user_file};
use crate::lsp::Error;
use crate::main_loop::Host;
use crate::session_host::Waiter;
use engine::context::autocompact::{self, Place, Wish};
use engine::session::Input;
use protocol::acp;
use protocol::context::{ContextParams, ContextReport};
use std::path::Path;

/// The options that `/autocompact` sets.
const ENABLED: &[&str] = &["compaction", "auto_enabled"];
const PERCENT: &[&str] = &["compaction", "auto_threshold_percent"];
const TOKENS: &[&str] = &["compaction", "auto_threshold_tokens"];

impl Host {
    /// `/compact`: the session does it and answers the prompt when it is done.
    pub(super) fn compact_for(&mut self, session: &SessionKey, asker: Asker, focus: &str) {
        // A command is always a prompt.
        let Asker::Prompt { id, reply, text } = asker else {
            return;
        };
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        let prompt = open.next_prompt();
        open.waiting.insert(prompt, Waiter::Request { id, reply });
        let focus = Some(focus.trim()).filter(|it| !it.is_empty());
        let compact = Input::Compact {
            prompt,
            text,
            focus: focus.map(str::to_owned),
        };
        self.step(session, compact);
    }

    /// `/autocompact`
    pub(super) fn autocompact_for(&mut self, session: SessionKey, asker: Asker, rest: &str) {
        let said = match autocompact::read(rest) {
            Ok((wish, place)) => self.autocompact(&session, wish, place),
            Err(why) => Err(why),
        };
        let number = self.begin(session, asker);
        self.end(number, said);
    }

    fn autocompact(
        &mut self,
        session: &SessionKey,
        wish: Wish,
        place: Place,
    ) -> Result<String, String> {
        let open = self.sessions.get(session).ok_or("The session is closed.")?;
        let file = match place {
            Place::Person => user_file(&self.folders.config),
            Place::Project => project_file(open.workspace.root()),
        };
        let kept = match wish {
            Wish::Show => Ok(()),
            _ => self.after_writing(written(&file, wish)),
        };
        self.configure(session);
        let open = self
            .sessions
            .get_mut(session)
            .ok_or("The session is closed.")?;
        if wish != Wish::Show {
            open.session.resume_compacting();
        }
        let (threshold, native) = open.session.threshold();
        let percent = open.session.threshold_percent();
        let shown = autocompact::shown(&open.config.compaction, percent, threshold, native);
        Ok(format!("{shown}{}", kept_or_not(kept)))
    }

    /// `undine/context`
    pub(crate) fn session_context(
        &mut self,
        params: &ContextParams,
    ) -> Result<ContextReport, Error> {
        let key = self.known(&acp::SessionId::new(params.session_id.clone()))?;
        Ok(self.context_report(&key).unwrap_or_default())
    }

    /// `/context`
    pub(super) fn context_for(&mut self, session: SessionKey, asker: Asker) {
        let report = self.context_report(&session);
        let said = report.map(|it| it.text).ok_or("The session is closed.");
        let number = self.begin(session, asker);
        self.end(number, said.map_err(str::to_owned));
    }

    fn context_report(&self, session: &SessionKey) -> Option<ContextReport> {
        let open = self.sessions.get(session)?;
        let told = &open.told;
        let (threshold, _) = open.session.threshold();
        let mut report = ContextReport {
            used: open.session.filled(),
            size: open.session.window().unwrap_or(0),
            reserve: open.session.reserve(),
            threshold,
            parts: open.session.parts(&told.files, &told.further),
            text: String::new(),
        };
        report.text = engine::context::fill::text(&report);
        Some(report)
    }
}

fn written(file: &Path, wish: Wish) -> Result<(), EditError> {
    match wish {
        Wish::Show => Ok(()),
        Wish::On => config_edit::set(file, ENABLED, true),
        Wish::Off => config_edit::set(file, ENABLED, false),
        Wish::Reset => [ENABLED, PERCENT, TOKENS]
            .into_iter()
            .try_for_each(|it| config_edit::unset(file, it)),
        Wish::Percent(n) => {
            let all = [(ENABLED, true.into()), (PERCENT, i64::from(n).into())];
            config_edit::set_all(file, all)
        }
        Wish::Tokens(n) => {
            let n = i64::try_from(n).unwrap_or(i64::MAX);
            config_edit::set_all(file, [(ENABLED, true.into()), (TOKENS, n.into())])
        }
    }
}
