//! Documents that exist nowhere but here (`workspace/textDocumentContent`, LSP 3.18): the accepted text of a
//! file, the changes of a turn, the transcript of a session; and a turn's changes as a file for editors
//! without them.

mod patch;
mod transcript;

pub(super) use transcript::markdown;

use super::actions::bad_argument;
use crate::asking::Pending;
use crate::documents::Content;
use crate::lsp::{Error, ErrorCode, Reply, code, error};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::store;
use crate::surfaces::Surface;
use crate::workspace::{path_of, uri_of};
use engine::review::{Author, FileChange, ReviewHunk};
use engine::session::{Update, replay};
use engine::text::file;
use protocol::lsp::{self, MessageType};
use protocol::session::TurnId;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The command that shows a turn's changes.
pub(super) const DIFF: &str = "undine.review.diff";

/// The schemes of these documents.
pub(super) const SCHEMES: [&str; 3] = ["undine-base", "undine-turn", "undine-chat"];

/// One such document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Virtual {
    /// `undine-base:///path`: the file's text without the agent's unreviewed changes.
    Base(PathBuf),
    /// `undine-turn:/session/turn.diff`: the unreviewed changes of a turn, as a unified diff over all files.
    Turn { session: String, turn: TurnId },
    /// `undine-chat:/session.md`: what was said, as Markdown.
    Chat(String),
}

/// The argument of [`DIFF`]; what is missing is the latest.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DiffOf {
    session_id: Option<String>,
    turn: Option<u64>,
}

impl Virtual {
    pub(super) fn of(uri: &lsp::Uri) -> Option<Self> {
        let (scheme, rest) = uri.as_ref().split_once(':')?;
        let [base, turn, chat] = SCHEMES;
        if scheme == base {
            let file = lsp::Uri::from(format!("file:{rest}"));
            return path_of(&file).map(Virtual::Base);
        }
        // Some editors write an empty authority into an URI that has none.
        let rest = rest.trim_start_matches('/');
        if scheme == turn {
            let (session, turn) = rest.strip_suffix(".diff")?.split_once('/')?;
            return Some(Virtual::Turn {
                session: session.to_owned(),
                turn: TurnId(turn.parse().ok()?),
            });
        }
        let session = rest.strip_suffix(".md").filter(|_| scheme == chat)?;
        Some(Virtual::Chat(session.to_owned()))
    }

    fn uri(&self) -> lsp::Uri {
        let [base, turn_scheme, chat] = SCHEMES;
        lsp::Uri::from(match self {
            Virtual::Base(path) => {
                let file = uri_of(path);
                let rest = file.as_ref().trim_start_matches("file:");
                format!("{base}:{rest}")
            }
            Virtual::Turn { session, turn } => format!("{turn_scheme}:/{session}/{}.diff", turn.0),
            Virtual::Chat(session) => format!("{chat}:/{session}.md"),
        })
    }
}

impl Host {
    /// `workspace/textDocumentContent`
    pub(crate) fn text_document_content(
        &mut self,
        params: lsp::TextDocumentContentParams,
        reply: Reply,
    ) {
        let Some(document) = Virtual::of(&params.uri) else {
            let text = format!("{} is no document of Undine's.", params.uri.as_ref());
            return reply.send_value(Err(invalid(text)));
        };
        // The editor never says that it has closed one.
        if self.shown.documents.len() >= MOST_DOCUMENTS {
            self.shown.documents.clear();
        }
        self.shown.documents.insert(params.uri);
        match document {
            Virtual::Base(path) => reply.send_value(self.accepted_text(&path).map(content)),
            Virtual::Turn { session, turn } => {
                reply.send_value(Ok(content(self.turn_diff(&session, turn))))
            }
            Virtual::Chat(session) => self.send_transcript(&session, reply),
        }
    }

    fn accepted_text(&mut self, path: &std::path::Path) -> Result<String, Error> {
        if let Some(review) = self.reviews.get(path) {
            return Ok(review.ledger.base().to_string());
        }
        match self.documents.get(path).map(|it| &it.content) {
            // Nothing of the agent's is in it.
            Some(Content::Text(rope)) => Ok(rope.to_string()),
            Some(Content::Tainted(_) | Content::TooLarge) | None => Err(error(
                code::REQUEST_FAILED,
                "The agent has no unreviewed changes in that file; open the file itself.",
            )),
        }
    }

    /// The changes that a turn worked on and nobody has judged, against what the person has accepted.
    fn turn_diff(&mut self, session: &str, turn: TurnId) -> String {
        let is_of = |it: &Author| it.session == session && it.turn == turn;
        let workspace = self.sessions.get(session).map(|it| it.workspace.clone());
        let mut text = String::new();
        for (path, review) in self.reviews.iter() {
            let ledger = &mut review.ledger;
            let hunks = ledger.hunks();
            let of_turn = hunks.iter().filter(|it| it.authors.iter().any(is_of));
            let of_turn: Vec<&ReviewHunk> = of_turn.collect();
            let (created, deleted) = match ledger.file_change() {
                Some(FileChange::Created(it)) => (is_of(it), false),
                Some(FileChange::Deleted(it)) => (false, is_of(it)),
                None => (false, false),
            };
            if of_turn.is_empty() && !created && !deleted {
                continue;
            }
            let shown = match &workspace {
                Some(it) => it.classify(path.to_path_buf()).shown,
                None => path.display().to_string(),
            };
            let shown = shown.trim_start_matches('/');
            let name = |side: &str, is_missing| match is_missing {
                true => "/dev/null".to_owned(),
                false => format!("{side}/{shown}"),
            };
            text.push_str(&format!(
                "--- {}\n+++ {}\n",
                name("a", created),
                name("b", deleted)
            ));
            text.push_str(&file::shown(&patch::hunks(ledger.live(), &of_turn)));
            if text.len() > MOST_DIFF {
                text.push_str("... and more, which is left out here.\n");
                break;
            }
        }
        text
    }

    fn send_transcript(&mut self, session: &str, reply: Reply) {
        let open = self.sessions.get(session);
        let log = match open {
            Some(open) => Some(open.log.path().to_path_buf()),
            None => self.roots.iter().find_map(|root| {
                let root = root.canonicalize().ok()?;
                store::path(&self.folders.conversations(&root), session).ok()
            }),
        };
        let unrecorded = open.map_or_else(Vec::new, |it| it.session.unrecorded());
        let Some(log) = log else {
            return reply.send_value(Err(super::lifecycle::unknown_session(session)));
        };
        self.runtime.spawn_blocking(move || {
            let read = match log.exists() {
                true => store::read(&log).map(|it| it.0),
                // Nothing was said yet.
                false => Ok(Vec::new()),
            };
            reply.send_value(match read {
                Ok(records) => {
                    let updates: Vec<Update> =
                        replay(&records).into_iter().chain(unrecorded).collect();
                    Ok(content(markdown(&updates)))
                }
                Err(fault) => Err(error(ErrorCode::InternalError, fault.to_string())),
            });
        });
    }

    /// `undine.review.diff`: shows a turn's changes as one diff.
    pub(super) fn show_turn_diff(&mut self, argument: Value) -> Result<(), Error> {
        let wanted: DiffOf = match argument {
            Value::Null => DiffOf::default(),
            other => serde_json::from_value(other).map_err(|error| bad_argument(DIFF, error))?,
        };
        let authors = self.reviews.iter().flat_map(|(_, it)| {
            let it = &mut it.ledger;
            let whole = it.file_change().map(|it| match it {
                FileChange::Created(it) | FileChange::Deleted(it) => it.clone(),
            });
            let authors = it.hunks().into_iter().flat_map(|it| it.authors);
            authors.chain(whole).collect::<Vec<Author>>()
        });
        let is_wanted = |it: &Author| {
            wanted
                .session_id
                .as_ref()
                .is_none_or(|id| it.session == *id)
                && wanted.turn.is_none_or(|turn| it.turn.0 == turn)
        };
        // A session's id is the time of its beginning.
        let latest = authors
            .filter(is_wanted)
            .max_by(|a, b| (&a.session, a.turn.0).cmp(&(&b.session, b.turn.0)));
        let Some(Author { session, turn, .. }) = latest else {
            let text = "The agent has no changes there that wait for a review.";
            self.show_message(MessageType::Info, text);
            return Ok(());
        };
        if Surface::VirtualDocuments.serves(&self.client) && self.client.show_document {
            let uri = Virtual::Turn { session, turn }.uri();
            let id = self.asking.open(Pending::Ignored);
            self.out.request(id, SHOW, &show(&uri));
            return Ok(());
        }
        let diff = self.turn_diff(&session, turn);
        // One a session: what was shown before is of no use.
        let path = self
            .folders
            .data
            .join("diffs")
            .join(format!("{session}.diff"));
        let asked = Surface::DiffFile
            .serves(&self.client)
            .then(|| self.asking.open(Pending::Ignored));
        let out = self.out.clone();
        self.runtime.spawn_blocking(move || {
            let folder = path.parent().unwrap_or(&path);
            let written =
                std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, diff));
            let (kind, message) = match (written, asked) {
                (Ok(()), Some(id)) => return out.request(id, SHOW, &show(&uri_of(&path))),
                (Ok(()), None) => {
                    let text = format!("The turn's changes are in {}.", path.display());
                    (MessageType::Info, text)
                }
                (Err(error), _) => {
                    let text = format!("{} cannot be written ({error}).", path.display());
                    (MessageType::Error, text)
                }
            };
            out.notify(
                "window/showMessage",
                &lsp::ShowMessageParams { kind, message },
            );
        });
        Ok(())
    }

    /// Has a web page opened outside the editor; false where the editor cannot.
    pub(crate) fn show_page(&mut self, url: &str) -> bool {
        if self.client.show_document {
            let id = self.asking.open(Pending::Ignored);
            let params = json!({"uri": url, "external": true});
            self.out.request(id, SHOW, &params);
        }
        self.client.show_document
    }
}

/// Virtual documents that are kept up to date.
const MOST_DOCUMENTS: usize = 200;

/// Bytes of a turn's diff, about.
const MOST_DIFF: usize = 4 << 20;

const SHOW: &str = "window/showDocument";

fn show(uri: &lsp::Uri) -> Value {
    json!({"uri": uri, "takeFocus": true})
}

fn content(text: String) -> Value {
    json!({"text": text})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_document_is_named_and_found_again() {
        let turn = Virtual::Turn {
            session: "20260101_000000_000".to_owned(),
            turn: TurnId(3),
        };
        let chat = Virtual::Chat("20260101_000000_000".to_owned());
        let base = Virtual::Base(PathBuf::from("/tmp/a b/\u{fc}.rs"));
        let names = [&turn, &chat, &base].map(|it| it.uri().as_ref().to_owned());
        assert_eq!(
            names,
            [
                "undine-turn:/20260101_000000_000/3.diff",
                "undine-chat:/20260101_000000_000.md",
                "undine-base:///tmp/a%20b/%C3%BC.rs",
            ]
        );
        for it in [turn, chat, base] {
            assert_eq!(Virtual::of(&it.uri()), Some(it));
        }
    }

    #[test]
    fn what_is_no_virtual_document_is_none() {
        for it in [
            "file:///a",
            "undine-turn:/x",
            "undine-turn:/s/x.diff",
            "undine-chat:/s",
            "other:/s.md",
            "",
        ] {
            assert_eq!(Virtual::of(&lsp::Uri::from(it.to_owned())), None, "{it}");
        }
    }
}
