//! `undine/session/fork`, `/fork`, `/rewind` and `/clear`: going on elsewhere, and leaving a session as it is (spec 25).
//!
//! A fork is written and not opened: a front end loads it as any other. A prompt that is one of these commands is answered with
//! the new session in `_meta.undine.session`, and with what the person wrote at that place.

use super::finding::Located;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::handlers::checkpoints::wire;
use crate::lsp::{Error, code, error};
use crate::main_loop::Host;
use crate::store::{self, Log, LogError, Voucher};
use engine::archive::{self, Message, Role};
use engine::text::visible_line;
use protocol::record::Record;
use protocol::sessions::{ForkSessionParams, ForkSessionResult};
use serde_json::{Value, json};
use std::path::Path;

const BUSY: &str = "A turn is running in this session; cancel it or wait for its end.";

impl Host {
    pub(crate) fn fork_session(
        &mut self,
        params: &ForkSessionParams,
    ) -> Result<ForkSessionResult, Error> {
        let found = self.locate(&params.session_id, params.cwd.as_deref())?;
        self.fork_at(&params.session_id, &found, params.message)
    }

    fn fork_at(
        &mut self,
        from: &str,
        found: &Located,
        message: Option<u64>,
    ) -> Result<ForkSessionResult, Error> {
        let failed = |it: LogError| error(code::REQUEST_FAILED, it.to_string());
        let records = recorded(&found.log).map_err(failed)?;
        let folder = self.folders.conversations(&found.root);
        let to = store::new_id(&folder, |it| self.sessions.contains_key(it));
        let fork = archive::fork_at(&records, from, &to, message.unwrap_or(u64::MAX));
        let session_id = match fork.records.is_empty() {
            // A session without a prompt is on no disk, so it is opened.
            true => self.start_session(&found.root, &[])?.to_string(),
            false => {
                let path = folder.join(format!("{to}.jsonl"));
                // What was not written by this Undine is no more so in a copy.
                let voucher = self.folders.vouches(&found.log).then(|| Voucher {
                    path: self.folders.voucher(&path),
                    scratchpad: String::new(),
                });
                write(&path, voucher, fork.records).map_err(|fault| {
                    error(
                        code::REQUEST_FAILED,
                        format!("{} cannot be written ({fault}).", path.display()),
                    )
                })?;
                to
            }
        };
        let left = fork.left_behind.iter();
        let left = left.filter_map(|it| self.checkpoints.get(&found.root, it));
        Ok(ForkSessionResult {
            session_id,
            message: fork.message,
            prompt: fork.prompt,
            checkpoints: left.map(wire).collect(),
        })
    }

    /// `/fork`
    pub(in crate::handlers) fn fork_for(&mut self, session: SessionKey, asker: Asker, rest: &str) {
        let forked = number_of(rest).and_then(|message| self.fork_open(&session, message));
        self.end_forked(session, asker, forked.map(|it| (it, false)));
    }

    /// `/rewind`: to before a message of the person's, which can be written anew.
    pub(in crate::handlers) fn rewind_for(
        &mut self,
        session: SessionKey,
        asker: Asker,
        rest: &str,
    ) {
        let said = match number_of(rest) {
            Ok(None) => self.own_messages(&session),
            Ok(Some(message)) => {
                let forked = self.rewind(&session, message);
                return self.end_forked(session, asker, forked.map(|it| (it, true)));
            }
            Err(text) => Err(text),
        };
        let number = self.begin(session, asker);
        self.end(number, said);
    }

    /// `/clear`
    pub(in crate::handlers) fn clear_for(&mut self, session: SessionKey, asker: Asker) {
        let root = self.idle_root(&session);
        let new = root.and_then(|root| {
            let new = self.start_session(&root, &[]);
            let new = new.map_err(|it| it.message.into_owned())?;
            let text = format!("A new session begins: {new}. The one before stays as it is.");
            Ok((text, json!({"session": {"sessionId": new, "cwd": root}})))
        });
        let number = self.begin(session, asker);
        match new {
            Ok((text, beside)) => self.end_with(number, Ok(text), Some(beside)),
            Err(text) => self.end(number, Err(text)),
        }
    }

    fn idle_root(&self, session: &SessionKey) -> Result<std::path::PathBuf, String> {
        match self.sessions.get(session) {
            Some(open) if open.session.turn().is_none() => Ok(open.workspace.root().to_path_buf()),
            Some(_) | None => Err(BUSY.to_owned()),
        }
    }

    fn fork_open(
        &mut self,
        session: &SessionKey,
        message: Option<u64>,
    ) -> Result<ForkSessionResult, String> {
        let said = |it: Error| it.message.into_owned();
        let found = self.locate(session, None).map_err(said)?;
        self.fork_at(session, &found, message).map_err(said)
    }

    fn rewind(&mut self, session: &SessionKey, message: u64) -> Result<ForkSessionResult, String> {
        self.idle_root(session)?;
        let all = self.messages(session)?;
        let is_it = |it: &&Message| it.number == message && it.role == Role::User;
        if !all.iter().any(|it| is_it(&it)) {
            return Err(format!(
                "Message {message} is none of yours; /rewind alone lists them."
            ));
        }
        self.fork_open(session, Some(message - 1))
    }

    fn messages(&self, session: &SessionKey) -> Result<Vec<Message>, String> {
        let found = self.locate(session, None);
        let found = found.map_err(|it| it.message.into_owned())?;
        let records = recorded(&found.log).map_err(|it| it.to_string())?;
        Ok(archive::messages(records.iter()))
    }

    fn own_messages(&self, session: &SessionKey) -> Result<String, String> {
        let all = self.messages(session)?;
        let own = all.iter().filter(|it| it.role == Role::User);
        let lines: Vec<String> = own
            .map(|it| format!("- {}  {}", it.number, visible_line(it.text.trim(), 100)))
            .collect();
        if lines.is_empty() {
            return Err("You have written nothing in this session yet.".to_owned());
        }
        let text = lines.join("\n");
        Ok(format!(
            "Your messages:\n\n{text}\n\n`/rewind NUMBER` goes back to before one, in a new session."
        ))
    }

    fn end_forked(
        &mut self,
        session: SessionKey,
        asker: Asker,
        forked: Result<(ForkSessionResult, bool), String>,
    ) {
        let cwd = self.sessions.get(&session);
        let cwd = cwd.map(|it| it.workspace.root().to_path_buf());
        let number = self.begin(session, asker);
        match forked {
            Ok((forked, is_rewound)) => {
                let beside = beside(&forked, cwd.as_deref(), is_rewound);
                self.end_with(number, Ok(told(&forked)), Some(beside));
            }
            Err(text) => self.end(number, Err(text)),
        }
    }
}

/// What a front end opens; a rewound one has what is to be written anew.
fn beside(forked: &ForkSessionResult, cwd: Option<&Path>, is_rewound: bool) -> Value {
    let mut session = json!({"sessionId": forked.session_id, "cwd": cwd});
    if let Some(prompt) = forked.prompt.as_ref().filter(|_| is_rewound) {
        session["prompt"] = json!(prompt);
    }
    json!({"session": session, "checkpoints": forked.checkpoints})
}

fn told(forked: &ForkSessionResult) -> String {
    let taken = match forked.message {
        0 => "It begins empty".to_owned(),
        n => format!("It has all up to message {n}"),
    };
    let mut text = format!(
        "The new session is {}. {taken}; the one before stays as it is.",
        forked.session_id
    );
    if !forked.checkpoints.is_empty() {
        text.push_str(
            " Files are as they are now. These checkpoints were made after that message, oldest first:\n\n",
        );
        for it in &forked.checkpoints {
            let names = it.files.iter().map(|it| it.path.display().to_string());
            let names: Vec<String> = names.collect();
            let line = format!("{}  {} [{}]", it.id, it.title, names.join(", "));
            text.push_str(&format!("- {}\n", visible_line(&line, 400)));
        }
        text.push_str(
            "\n`/restore ID`, from the last of them to the first, gives files back what they were at that message.",
        );
    }
    text
}

/// A message's number, if there is one.
fn number_of(text: &str) -> Result<Option<u64>, String> {
    match text.is_empty() {
        true => Ok(None),
        false => text.parse().map(Some).map_err(|_| {
            format!("{text:?} is no message's number; /rewind alone lists your messages.")
        }),
    }
}

/// What is recorded of a session; nothing, where it has no prompt yet.
pub(super) fn recorded(log: &Path) -> Result<Vec<Record>, LogError> {
    match log.exists() {
        true => Ok(store::read(log)?.0),
        false => Ok(Vec::new()),
    }
}

/// Writes a log whole, or leaves none.
fn write(path: &Path, voucher: Option<Voucher>, records: Vec<Record>) -> std::io::Result<()> {
    let mut log = Log::new(path.to_path_buf(), voucher);
    let written = records.into_iter().try_for_each(|it| log.append(it));
    if written.is_err() {
        // It is of no use, and may not even be there.
        let _ = std::fs::remove_file(path);
    }
    written
}
