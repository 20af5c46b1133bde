//! Which sessions there are: lists, words in them, earlier prompts; and where one lies that is named.

use super::Listing;
use crate::errand::Asker;
use crate::event::{Found, SessionKey};
use crate::lsp::{Error, Reply, code, error};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::show;
use crate::store::{self, LogError};
use engine::archive::Words;
use engine::text::visible_line;
use protocol::acp;
use protocol::methods;
use protocol::sessions::{
    EarlierPrompt, FoundSession, SearchPromptsParams, SearchPromptsResult, SearchSessionsParams,
    SearchSessionsResult,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A session that is named.
pub(super) struct Located {
    /// Its project's folder, resolved.
    pub root: PathBuf,
    /// It may not be there yet, if the session is open.
    pub log: PathBuf,
}

impl Host {
    /// Finds a session that may not be open: in a folder, or in the editor's folders and those of open sessions.
    pub(super) fn locate(&self, id: &str, cwd: Option<&Path>) -> Result<Located, Error> {
        if let Some(open) = self.sessions.get(id) {
            return Ok(Located {
                root: open.workspace.root().to_path_buf(),
                log: open.log.path().to_path_buf(),
            });
        }
        let open = self.sessions.values();
        let mut places: Vec<PathBuf> = match cwd {
            Some(cwd) => vec![cwd.to_path_buf()],
            None => self.roots.clone(),
        };
        if cwd.is_none() {
            places.extend(open.map(|it| it.workspace.root().to_path_buf()));
        }
        let mut found = places.into_iter().filter_map(|it| {
            let root = it.canonicalize().ok()?;
            let log = store::path(&self.folders.conversations(&root), id).ok()?;
            Some(Located { root, log })
        });
        let missing = || invalid(LogError::Missing(id.to_owned()).to_string());
        found.next().ok_or_else(missing)
    }

    pub(crate) fn list_sessions(
        &mut self,
        params: acp::ListSessionsRequest,
    ) -> Result<acp::ListSessionsResponse, Error> {
        let Some(cwd) = params.cwd.or_else(|| self.roots.first().cloned()) else {
            return Ok(acp::ListSessionsResponse::new(Vec::new()));
        };
        let (workspace, resolved) = self.place(&cwd)?;
        let folder = self.folders.conversations(workspace.root());
        let most = usize::try_from(resolved.config.limits.session_page).unwrap_or(usize::MAX);
        let page = store::page(store::list(&folder), params.cursor.as_deref(), most);
        let (page, next) = page.ok_or_else(|| {
            invalid("That cursor is none of a list of sessions; list from the beginning.")
        })?;
        let sessions = page.into_iter().map(|it| {
            let forked = it.forked.and_then(|(session, message)| {
                show::meta(json!({"forkedFrom": {"sessionId": session, "message": message}}))
            });
            acp::SessionInfo::new(acp::SessionId::new(it.id), workspace.root())
                .title(Some(it.title))
                .updated_at(time(it.updated))
                .meta(forked)
        });
        Ok(acp::ListSessionsResponse::new(sessions.collect()).next_cursor(next))
    }

    pub(crate) fn search_sessions(&mut self, params: SearchSessionsParams, reply: Reply) {
        let listing = match self.sessions_at(params.cwd.as_deref()) {
            Ok(listing) => listing,
            Err(error) => return reply.send_value(Err(error)),
        };
        self.runtime.spawn_blocking(move || {
            let words = Words::new(&params.query);
            let found = store::search(&listing.folder, &words, listing.most);
            let sessions = found.into_iter().map(|(session, hit)| FoundSession {
                session_id: session.id,
                cwd: listing.root.clone(),
                title: session.title,
                updated_at: time(session.updated),
                message: hit.message,
                excerpt: hit.excerpt,
            });
            let sessions = sessions.collect();
            reply.send::<methods::SearchSessions>(Ok(SearchSessionsResult { sessions }));
        });
    }

    pub(crate) fn search_prompts(&mut self, params: SearchPromptsParams, reply: Reply) {
        let listing = match self.sessions_at(params.cwd.as_deref()) {
            Ok(listing) => listing,
            Err(error) => return reply.send_value(Err(error)),
        };
        let most = usize::try_from(self.limits.search_prompts).unwrap_or(usize::MAX);
        self.runtime.spawn_blocking(move || {
            let first = params.session_id.as_deref();
            let most = (listing.most, most);
            let words = Words::new(&params.words);
            let found = store::prompts(&listing.folder, first, &words, most);
            let prompts = found
                .into_iter()
                .map(|(session_id, text)| EarlierPrompt { text, session_id });
            let prompts = prompts.collect();
            reply.send::<methods::SearchPrompts>(Ok(SearchPromptsResult { prompts }));
        });
    }

    /// `/sessions`: those of the project, or those that have the words.
    pub(in crate::handlers) fn sessions_for(
        &mut self,
        session: SessionKey,
        asker: Asker,
        rest: &str,
    ) {
        let root = self.sessions.get(&session);
        let root = root.map(|it| it.workspace.root().to_path_buf());
        let listing = self.sessions_at(root.as_deref());
        let number = self.begin(session, asker);
        let listing = match listing {
            Ok(listing) => listing,
            Err(error) => return self.end(number, Err(error.message.into_owned())),
        };
        let words = rest.to_owned();
        self.work_on(number, async move |_| {
            let said = tokio::task::spawn_blocking(move || told(&listing, &words)).await;
            Found::Said(said.map_err(|_| "The sessions cannot be read.".to_owned()))
        });
    }

    /// Where the sessions of a folder are; without one, of the editor's first.
    fn sessions_at(&mut self, cwd: Option<&Path>) -> Result<Listing, Error> {
        let cwd = cwd.map(Path::to_path_buf);
        let Some(cwd) = cwd.or_else(|| self.roots.first().cloned()) else {
            let text = "Name the folder whose sessions are meant; the editor has none open.";
            return Err(error(code::REQUEST_FAILED, text));
        };
        let (workspace, resolved) = self.place(&cwd)?;
        let most = resolved.config.limits.search_sessions;
        Ok(Listing {
            root: workspace.root().to_path_buf(),
            folder: self.folders.conversations(workspace.root()),
            most: usize::try_from(most).unwrap_or(usize::MAX),
        })
    }
}

/// A list in Markdown, for a chat.
fn told(listing: &Listing, words: &str) -> String {
    let line = |id: &str, title: &str, updated| {
        let time = time(updated).unwrap_or_default();
        format!("- `{id}`  {time}  {}", visible_line(title, 80))
    };
    let lines: Vec<String> = match words.is_empty() {
        true => {
            let all = store::list(&listing.folder).into_iter().take(listing.most);
            all.map(|it| line(&it.id, &it.title, it.updated)).collect()
        }
        false => store::search(&listing.folder, &Words::new(words), listing.most)
            .into_iter()
            .map(|(it, hit)| {
                let line = line(&it.id, &it.title, it.updated);
                format!("{line}\n  {}", visible_line(&hit.excerpt, 200))
            })
            .collect(),
    };
    match (lines.is_empty(), words.is_empty()) {
        (false, _) => lines.join("\n"),
        (true, true) => "There are no sessions in this project yet.".to_owned(),
        (true, false) => format!("No session of this project has all of these words: {words}"),
    }
}

/// As in ISO 8601, to the second.
pub(crate) fn time(at: SystemTime) -> Option<String> {
    let at = jiff::Timestamp::try_from(at).ok()?;
    Some(at.to_string())
}
