//! `undine/process/…`, `/logs` and `/stop`: commands in the background, as the person sees them.

use crate::errand::Asker;
use crate::event::{Found, SessionKey};
use crate::lsp::{Error, Reply, code, error};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::process::background::Job;
use crate::process::clean::clean;
use protocol::acp;
use protocol::methods::{self, Notification};
use protocol::process::{
    DetachProcessParams, ListProcessesParams, Process, ProcessList, ProcessState,
    ReadProcessParams, ReadProcessResult, StopProcessParams, StopProcessResult,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of output that one reading gives.
const READ_BYTES: usize = 32 * 1024;

impl Host {
    pub(crate) fn list_processes(
        &self,
        params: &ListProcessesParams,
    ) -> Result<ProcessList, Error> {
        let session = self.session_named(&params.session_id)?;
        Ok(self.process_list(&session))
    }

    pub(crate) fn read_process(
        &self,
        params: &ReadProcessParams,
    ) -> Result<ReadProcessResult, Error> {
        let job = self.job(&params.session_id, &params.id)?;
        let piece = job.newest(params.from, READ_BYTES).map_err(|fault| {
            let text = format!("The output of {} cannot be read ({fault}).", job.id());
            error(code::REQUEST_FAILED, text)
        })?;
        Ok(ReadProcessResult {
            process: wire(&job),
            output: clean(&String::from_utf8_lossy(&piece.bytes)),
            skipped: piece.n_skipped,
            end: piece.end,
        })
    }

    pub(crate) fn stop_process(&self, params: &StopProcessParams, reply: Reply) {
        match self.job(&params.session_id, &params.id) {
            Ok(job) => drop(self.runtime.spawn(async move {
                job.stop().await;
                let process = wire(&job);
                reply.send::<methods::StopProcess>(Ok(StopProcessResult { process }));
            })),
            Err(error) => reply.send_value(Err(error)),
        }
    }

    pub(crate) fn detach_process(
        &self,
        params: &DetachProcessParams,
    ) -> Result<ProcessList, Error> {
        let session = self.session_named(&params.session_id)?;
        let mut n_moved = 0;
        for job in self.jobs.foreground(&session) {
            let wanted = params.tool_call_id.as_ref();
            if wanted.is_some_and(|it| *it != job.call) {
                continue;
            }
            match self.jobs.detach(&job) {
                Ok(is_moved) => n_moved += usize::from(is_moved),
                Err(fault) => {
                    let text = format!(
                        "The command stays in the foreground: there can be no log for it ({fault})."
                    );
                    return Err(error(code::REQUEST_FAILED, text));
                }
            }
        }
        if n_moved == 0 {
            let text = "No command of this session is running in the foreground.";
            return Err(error(code::REQUEST_FAILED, text));
        }
        Ok(self.process_list(&session))
    }

    /// Tells the editor which processes a session has now.
    pub(crate) fn processes_changed(&mut self, session: &SessionKey) {
        if self.client.takes(methods::ProcessesChanged::METHOD) {
            let list = self.process_list(session);
            self.out.notify(methods::ProcessesChanged::METHOD, &list);
        }
    }

    /// `/logs`
    pub(super) fn logs_for(&mut self, session: SessionKey, asker: Asker, id: Option<String>) {
        let said = match id {
            None => Ok(self.listing(&session)),
            Some(id) => self
                .jobs
                .find(&session, &id)
                .ok_or_else(|| none(&id))
                .and_then(|job| {
                    let piece = job.newest(0, READ_BYTES);
                    let piece = piece.map_err(|fault| {
                        format!("The output of {} cannot be read ({fault}).", job.id())
                    })?;
                    let text = clean(&String::from_utf8_lossy(&piece.bytes));
                    Ok(format!("{}\n\n```text\n{text}\n```", line(&job)))
                }),
        };
        let number = self.begin(session, asker);
        self.end(number, said);
    }

    /// `/stop`
    pub(super) fn stop_for(&mut self, session: SessionKey, asker: Asker, id: &str) {
        let found = self.jobs.find(&session, id).ok_or_else(|| none(id));
        let number = self.begin(session, asker);
        match found {
            Ok(job) if job.is_over() => {
                self.end(number, Ok(format!("{} had exited already.", job.id())))
            }
            Ok(job) => self.work_on(number, async move |_| {
                job.stop().await;
                Found::Said(Ok(format!(
                    "{} and all it had started was stopped.",
                    job.id()
                )))
            }),
            Err(text) => self.end(number, Err(text)),
        }
    }

    fn listing(&self, session: &SessionKey) -> String {
        let lines: Vec<String> = self
            .jobs
            .list(session)
            .iter()
            .map(|it| format!("- {}", line(it)))
            .collect();
        match lines.is_empty() {
            true => "This session has no processes in the background.".to_owned(),
            false => lines.join("\n"),
        }
    }

    fn process_list(&self, session: &SessionKey) -> ProcessList {
        ProcessList {
            session_id: session.to_string(),
            processes: self.jobs.list(session).iter().map(|it| wire(it)).collect(),
        }
    }

    fn session_named(&self, id: &str) -> Result<SessionKey, Error> {
        self.known(&acp::SessionId::new(id.to_owned()))
    }

    fn job(&self, session: &str, id: &str) -> Result<Arc<Job>, Error> {
        let session = self.session_named(session)?;
        self.jobs
            .find(&session, id)
            .ok_or_else(|| invalid(none(id)))
    }
}

fn none(id: &str) -> String {
    format!(
        "There is no process {id:?} in the background of this session; `/logs` lists those it has."
    )
}

fn line(job: &Job) -> String {
    let state = match job.progress().state() {
        ProcessState::Running => "running",
        ProcessState::Exited => "exited",
        ProcessState::Stopped => "stopped",
        ProcessState::Killed => "killed",
    };
    let log = job.log().unwrap_or_default();
    format!(
        "`{}` {state}, started {} s ago: `{}` (log: {})",
        job.id(),
        job.age().as_secs(),
        job.line.replace('`', "'"),
        log.display()
    )
}

fn wire(job: &Job) -> Process {
    let progress = job.progress();
    Process {
        id: job.id(),
        pid: progress.pid.unwrap_or(0).unsigned_abs(),
        command: job.line.clone(),
        // JSON has no bytes; a path that is no text is shown as well as may be.
        cwd: PathBuf::from(job.folder.to_string_lossy().into_owned()),
        state: progress.state(),
        time: job.time,
        bytes: progress.n_bytes,
        log: job
            .log()
            .map(|it| PathBuf::from(it.to_string_lossy().into_owned())),
        tool_call_id: job.call.clone(),
    }
}
