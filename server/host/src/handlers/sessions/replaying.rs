//! Showing the past of a session: all of it, its newest part, or an earlier one. Nothing of a log is held but what is on its way out.

use super::super::lifecycle::UPDATE;
use crate::event::{Event, SessionKey};
use crate::lsp::{Error, Reply, code, error};
use crate::main_loop::Host;
use crate::perform::{invalid, shown};
use crate::show;
use crate::store::pages::{self, Page, Replayed};
use crate::store::{LogError, Pictures};
use engine::session::Update;
use protocol::acp;
use protocol::messages::{MessagesParams, MessagesResult, PastMessage};
use protocol::methods;
use serde_json::json;
use std::path::Path;

/// Bytes of a log that is replayed before anything else is done. A larger one is replayed by a task that waits for the editor to read.
const AT_ONCE: u64 = 4 << 20;

/// The most messages of one answer.
const MOST_MESSAGES: u32 = 1_000;

impl Host {
    pub(crate) fn load_session(&mut self, params: acp::LoadSessionRequest, reply: Reply) {
        let session = params.session_id.0.clone();
        let newest = newest(params.meta.as_ref());
        let opened = newest.and_then(|newest| self.open_logged(params).map(|()| newest));
        let newest = match opened {
            Ok(newest) => newest,
            Err(error) => return reply.send::<methods::LoadSession>(Err(error)),
        };
        if let Some(open) = self.sessions.get_mut(&session) {
            open.session.forget_asides();
        }
        let open = &self.sessions[&session];
        let (log, until) = (open.log.path().to_path_buf(), open.log.end().bytes);
        let can_wait = until > AT_ONCE && open.session.turn().is_none();
        let (out, takes) = (self.out.clone(), self.client.takes(UPDATE));
        let (key, pictures) = (session.clone(), Pictures::beside(&log));
        // To an editor, not to tasks, and never merged.
        let show = move |update: Update| {
            if takes && let Some(params) = shown(&key, &pictures, update) {
                out.notify(UPDATE, &params);
            }
        };
        if !can_wait {
            let replayed = replay(&log, until, newest, show);
            return self.replayed(&session, reply, replayed);
        }
        self.loading.push((session.clone(), reply));
        let (runtime, out, inbox) = (self.runtime.clone(), self.out.clone(), self.inbox.clone());
        self.runtime.spawn_blocking(move || {
            let replayed = replay(&log, until, newest, |update| {
                runtime.block_on(out.room());
                show(update);
            });
            // A loop that is gone answers nobody.
            let _ = inbox.blocking_send(Event::Replayed(session, replayed));
        });
    }

    /// A task has replayed a session.
    pub(crate) fn replayed_by_task(
        &mut self,
        session: &SessionKey,
        replayed: Result<Replayed, String>,
    ) {
        let at = self.loading.iter().position(|(it, _)| it == session);
        if let Some(at) = at {
            let (_, reply) = self.loading.remove(at);
            self.replayed(session, reply, replayed);
        }
    }

    /// All that is recorded was shown.
    fn replayed(&mut self, session: &SessionKey, reply: Reply, replayed: Result<Replayed, String>) {
        let shown = match replayed {
            Ok(shown) => shown,
            Err(why) => {
                let failed = error(code::REQUEST_FAILED, why);
                return reply.send::<methods::LoadSession>(Err(failed));
            }
        };
        self.warn_of_damage(session, &shown.damaged);
        let Some(open) = self.sessions.get(session) else {
            let gone = invalid(format!("The session {session} was closed meanwhile."));
            return reply.send::<methods::LoadSession>(Err(gone));
        };
        let (mode, last) = (open.session.mode(), open.session.last_usage());
        // What streams at this moment is not recorded yet; what comes next goes on from there.
        for update in open.session.unrecorded() {
            self.replay(session, update);
        }
        if let Some(last) = last {
            self.show_usage(session, last);
        }
        let part = shown.part;
        let part =
            part.and_then(|(first, total)| show::meta(json!({"first": first, "total": total})));
        let response = acp::LoadSessionResponse::new()
            .modes(Some(show::modes(mode)))
            .config_options(Some(self.config_options(session)))
            .meta(part);
        reply.send::<methods::LoadSession>(Ok(response));
        self.announce_commands(session);
    }

    /// Shows something of the past: not to tasks, and never merged.
    fn replay(&mut self, session: &SessionKey, update: Update) {
        if self.client.takes(UPDATE)
            && let Some(params) = show::notification(session, update)
        {
            self.out.notify(UPDATE, &params);
        }
    }

    fn warn_of_damage(&mut self, session: &SessionKey, damaged: &[usize]) {
        let Some(first) = damaged.first() else {
            return;
        };
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let path = open.log.path().display().to_string();
        self.warn_once(format!(
            "Line {first} of {path} is damaged ({} in all) and not shown; the session goes on from its snapshot.",
            damaged.len()
        ));
    }

    /// `undine/session/messages`
    pub(crate) fn session_messages(&mut self, params: MessagesParams, reply: Reply) {
        let session = acp::SessionId::new(params.session_id);
        let key = match self.known(&session) {
            Ok(key) => key,
            Err(error) => return reply.send::<methods::SessionMessages>(Err(error)),
        };
        let log = &self.sessions[&key].log;
        let (path, until) = (log.path().to_path_buf(), log.end().bytes);
        let limit = params.limit.clamp(1, MOST_MESSAGES) as usize;
        let before = params.before;
        self.runtime.spawn_blocking(move || {
            let page = match until {
                // Nothing was said yet.
                0 => Ok(Page::default()),
                _ => pages::page(&path, until, before, limit),
            };
            let pictures = Pictures::beside(&path);
            let result = page.map(|it| messages(&key, &pictures, it));
            let failed = |why: LogError| error(code::REQUEST_FAILED, why.to_string());
            reply.send::<methods::SessionMessages>(result.map_err(failed));
        });
    }

    /// The first of the records that a session with a snapshot needs no more is said to be over the cap.
    pub(super) fn warn_of_size(&mut self, session: &SessionKey) {
        if self
            .sessions
            .get(session)
            .is_some_and(|it| it.log.is_large())
        {
            self.warn_once(format!(
                "The log of the session {session} is so long that it was opened from its snapshot; without that it could not be opened any more."
            ));
        }
    }
}

/// How many of the newest messages are wanted; all when missing.
fn newest(meta: Option<&acp::Meta>) -> Result<Option<usize>, Error> {
    let Some(newest) = meta.and_then(|it| it.get("undine")?.get("newest")) else {
        return Ok(None);
    };
    let number = newest.as_u64().and_then(|it| usize::try_from(it).ok());
    let wrong = || {
        invalid(format!(
            "_meta.undine.newest must be a number of messages, but is {newest}."
        ))
    };
    number.map(Some).ok_or_else(wrong)
}

fn replay(
    log: &Path,
    until: u64,
    newest: Option<usize>,
    mut show: impl FnMut(Update),
) -> Result<Replayed, String> {
    if until == 0 {
        // Nothing was said yet, and there may be no log.
        return Ok(Replayed {
            part: newest.map(|_| (0, 0)),
            damaged: Vec::new(),
        });
    }
    let Some(newest) = newest else {
        let damaged = pages::all(log, until, show).map_err(|it| it.to_string())?;
        return Ok(Replayed {
            part: None,
            damaged,
        });
    };
    let page = pages::page(log, until, None, newest).map_err(|it| it.to_string())?;
    page.updates.into_iter().for_each(|(_, it)| show(it));
    Ok(Replayed {
        part: Some((page.first, page.total)),
        damaged: page.damaged,
    })
}

fn messages(session: &SessionKey, pictures: &Pictures, page: Page) -> MessagesResult {
    let mut messages: Vec<PastMessage> = Vec::new();
    for (number, update) in page.updates {
        let Some(shown) = shown(session, pictures, update) else {
            continue;
        };
        let update = shown.update;
        match messages.last_mut() {
            Some(last) if last.number == number => last.updates.push(update),
            Some(_) | None => messages.push(PastMessage {
                number,
                updates: vec![update],
            }),
        }
    }
    MessagesResult {
        messages,
        total: page.total,
    }
}
