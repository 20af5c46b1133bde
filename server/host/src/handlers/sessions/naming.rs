//! `undine/session/rename` and `undine/session/export`: a session's title, and all of it as a text.

use super::forking::recorded;
use crate::errand::Asker;
use crate::event::{Found, SessionKey};
use crate::handlers::lifecycle::UPDATE;
use crate::handlers::virtual_documents::markdown;
use crate::lsp::{Error, Reply, code, error};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::show;
use crate::store::{self, Folders, Log, LogError};
use engine::archive;
use engine::session::{Effect, replay};
use protocol::acp;
use protocol::methods;
use protocol::record::Record;
use protocol::sessions::{
    ExportFormat, ExportSessionParams, ExportSessionResult, RenameSessionParams,
    RenameSessionResult,
};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

impl Host {
    pub(crate) fn rename_session(
        &mut self,
        params: &RenameSessionParams,
    ) -> Result<RenameSessionResult, Error> {
        let empty = || invalid("The title is empty; write one.");
        let title = archive::title(&params.title).ok_or_else(empty)?;
        let key: SessionKey = params.session_id.as_str().into();
        if self.sessions.contains_key(&key) {
            self.retitle(&key, title.clone());
        } else {
            let found = self.locate(&key, params.cwd.as_deref())?;
            rename(&self.folders, found.log, title.clone())
                .map_err(|it| error(code::REQUEST_FAILED, it.to_string()))?;
        }
        Ok(RenameSessionResult { title })
    }

    /// `/rename`
    pub(in crate::handlers) fn rename_for(
        &mut self,
        session: SessionKey,
        asker: Asker,
        rest: &str,
    ) {
        let said = match archive::title(rest) {
            Some(title) => {
                self.retitle(&session, title.clone());
                Ok(format!("This session is called: {title}"))
            }
            None => Err("Write the new title behind it: /rename TITLE".to_owned()),
        };
        let number = self.begin(session, asker);
        self.end(number, said);
    }

    /// Gives an open session a title, and tells the editor.
    fn retitle(&mut self, key: &SessionKey, title: String) {
        let record = Record::Title {
            title: title.clone(),
        };
        self.perform(key, vec![Effect::Append(record)]);
        if self.client.takes(UPDATE) {
            let update = acp::SessionInfoUpdate::new().title(title);
            let update = acp::SessionUpdate::SessionInfoUpdate(update);
            let params = acp::SessionNotification::new(show::session_id(key), update);
            self.out.notify(UPDATE, &params);
        }
    }

    pub(crate) fn export_session(&mut self, params: ExportSessionParams, reply: Reply) {
        let found = match self.locate(&params.session_id, params.cwd.as_deref()) {
            Ok(found) => found,
            Err(error) => return reply.send_value(Err(error)),
        };
        let most = usize::try_from(self.limits.export_bytes).unwrap_or(usize::MAX);
        let data = self.folders.data.clone();
        self.runtime.spawn_blocking(move || {
            let text = exported(&found.log, params.format);
            let result = text.and_then(|text| match text.len() <= most {
                true => Ok(ExportSessionResult {
                    text: Some(text),
                    path: None,
                }),
                false => written(&data, &params.session_id, params.format, &text).map(|path| {
                    ExportSessionResult {
                        text: None,
                        path: Some(path),
                    }
                }),
            });
            let result = result.map_err(|it| error(code::REQUEST_FAILED, it));
            reply.send::<methods::ExportSession>(result);
        });
    }

    /// `/export`: to a file always.
    pub(in crate::handlers) fn export_for(
        &mut self,
        session: SessionKey,
        asker: Asker,
        rest: &str,
    ) {
        let format = match rest {
            "" | "markdown" => Ok(ExportFormat::Markdown),
            "jsonl" => Ok(ExportFormat::Jsonl),
            other => Err(format!(
                "There is no export as {other:?}; write markdown or jsonl."
            )),
        };
        let found = self.locate(&session, None);
        let found = found.map_err(|it| it.message.into_owned());
        let data = self.folders.data.clone();
        let number = self.begin(session.clone(), asker);
        let (format, found) = match format.and_then(|it| Ok((it, found?))) {
            Ok(both) => both,
            Err(text) => return self.end(number, Err(text)),
        };
        self.work_on(number, async move |_| {
            let work = move || {
                let text = exported(&found.log, format)?;
                let path = written(&data, &session, format, &text)?;
                Ok(format!("This session is written to {}.", path.display()))
            };
            let said = tokio::task::spawn_blocking(work).await;
            Found::Said(said.unwrap_or_else(|_| Err("The export was broken off.".to_owned())))
        });
    }
}

/// Gives a session a title that is not open here.
///
/// # Errors
/// Where another process has it open, or its log cannot be read or written.
pub(crate) fn rename(folders: &Folders, log: PathBuf, title: String) -> Result<(), LogError> {
    let path = log.clone();
    let (mut log, _) = Log::open(log, Some(&folders.snapshot(&path)))?;
    let record = Record::Title { title };
    log.append(record)
        .map_err(|error| LogError::Io { path, error })
}

/// A session as a text. The error is a sentence for the person.
pub(crate) fn exported(log: &Path, format: ExportFormat) -> Result<String, String> {
    let records = recorded(log).map_err(|it| it.to_string())?;
    match format {
        ExportFormat::Jsonl => {
            // What stands in the file, but for a last line that is torn.
            let mut bytes = match log.exists() {
                true => fs::read(log).map_err(|it| it.to_string())?,
                false => Vec::new(),
            };
            let whole = bytes.iter().rposition(|it| *it == b'\n');
            bytes.truncate(whole.map_or(0, |it| it + 1));
            String::from_utf8(bytes).map_err(|it| it.to_string())
        }
        ExportFormat::Markdown => Ok(as_markdown(&records)),
    }
}

fn as_markdown(records: &[Record]) -> String {
    let (mut title, mut first) = (None, None);
    for record in records {
        if let Record::Title { title: given } = record {
            title = Some(given.clone());
        } else if let Record::User { text, .. } = record {
            first.get_or_insert_with(|| store::title_of(text));
        }
    }
    let title = title.or(first);
    let heading = title.map(|it| format!("# {it}\n\n")).unwrap_or_default();
    let body = markdown(&replay(records));
    format!("{heading}{}\n", body.trim_end())
}

/// Writes an export to a file that only its owner can read. One that was written before is replaced.
fn written(data: &Path, id: &str, format: ExportFormat, text: &str) -> Result<PathBuf, String> {
    let folder = data.join("exports");
    let ending = match format {
        ExportFormat::Markdown => "md",
        ExportFormat::Jsonl => "jsonl",
    };
    let path = folder.join(format!("{id}.{ending}"));
    let write = || -> io::Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&path)?.write_all(text.as_bytes())
    };
    match write() {
        Ok(()) => Ok(path),
        Err(error) => Err(format!("{} cannot be written ({error}).", path.display())),
    }
}
