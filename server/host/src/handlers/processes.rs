//! `undine/process/…`, `/logs` and `/stop`: commands in the background, as the person sees them.

use crate::errand::Asker;
use crate::event::{Found, SessionKey};
use crate::lsp::{Error, Reply, code, error};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::process::background::Job;
use crate::process::clean::clean;
use engine::redact::{self, redact, redact_part};
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

/// Bytes before them that are looked at for the beginning of a secret; a private key has some 3,000.
const SEEN_BEFORE: u64 = 8 * 1024;

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
        let read = read(&job, params.from).map_err(|text| error(code::REQUEST_FAILED, text))?;
        Ok(ReadProcessResult {
            process: wire(&job),
            output: read.text,
            skipped: read.n_skipped,
            end: read.end,
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
        // Those of a subagent are its own and end with it.
        let is_child = self
            .sessions
            .get(session)
            .is_some_and(|it| it.child.is_some());
        if !is_child && self.client.takes(methods::ProcessesChanged::METHOD) {
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
                    let text = read(&job, 0)?.text;
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

/// A part of a job's output, as the person sees it.
struct Read {
    text: String,
    n_skipped: u64,
    /// The place to go on at.
    end: u64,
}

/// The newest output from a place on, without secrets: also without one that began before the place. A line that
/// goes on and may become one is left for the next reading.
fn read(job: &Job, from: u64) -> Result<Read, String> {
    let failed = |fault| format!("The output of {} cannot be read ({fault}).", job.id());
    let is_over = job.is_over();
    let mut piece = job.newest(from, READ_BYTES).map_err(failed)?;
    let begin = from + piece.n_skipped;
    let n_before = begin.min(SEEN_BEFORE);
    let before = match n_before {
        0 => Vec::new(),
        _ => {
            let most = piece.bytes.len() + SEEN_BEFORE as usize;
            let mut both = job.newest(begin - n_before, most).map_err(failed)?;
            // Older output may have gone, and newer may have come.
            let n_came = usize::try_from(both.end - piece.end).unwrap_or(usize::MAX);
            let n_new = n_came.saturating_add(piece.bytes.len());
            both.bytes.truncate(both.bytes.len().saturating_sub(n_new));
            both.bytes
        }
    };
    let before = clean(&String::from_utf8_lossy(&before));
    let mut whole = before.clone() + &clean(&String::from_utf8_lossy(&piece.bytes));
    if !is_over
        && !redact::is_decided(&whole)
        && let Some(line) = piece.bytes.iter().rposition(|it| *it == b'\n')
    {
        piece.end -= (piece.bytes.len() - line - 1) as u64;
        piece.bytes.truncate(line + 1);
        whole = before.clone() + &clean(&String::from_utf8_lossy(&piece.bytes));
    }
    Ok(Read {
        text: redact_part(&whole, before.len()..whole.len()).into_owned(),
        n_skipped: piece.n_skipped,
        end: piece.end,
    })
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
        redact(&job.line).replace('`', "'"),
        log.display()
    )
}

fn wire(job: &Job) -> Process {
    let progress = job.progress();
    Process {
        id: job.id(),
        pid: progress.pid.unwrap_or(0).unsigned_abs(),
        command: redact(&job.line).into_owned(),
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
