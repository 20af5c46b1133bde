//! Records back into a session, and into what an editor shows.

use super::call::{CANCELLED, CUT_OFF};
use super::compacting::receipt;
use super::effect::{CallChange, CallContent, CallStatus, Effect, Update};
use super::failing::BROKEN_OFF;
use super::{Session, Settings};
use crate::context::{self, Answer, Asked, Entry, Held, Said, Sight};
use crate::provider::{NativeCall, NativeTool, ToolCall};
use crate::usage;
use protocol::approval::OptionId;
use protocol::config::Reasoning;
use protocol::record::{EditedFile, EndReason, NativeRecord, Record, Stands, Trigger};
use protocol::session::{CallId, Mode, TurnId};
use protocol::tool::{Outcome, Picture};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the model is told of a call that the server's death cut off. The log does not say whether it
/// had begun.
const INTERRUPTED: &str = "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on.";

/// Records on their way into a session, one after the other: what is held is what the session holds, however many there were.
pub struct Fold {
    pub(super) session: Session,
    /// Calls without a result, and the files that each was about to change.
    pub(super) open: BTreeMap<CallId, Option<Vec<EditedFile>>>,
    pub(super) said_by: String,
    pub(super) turn: Option<TurnId>,
    /// Where the session began: its id and its folder.
    pub(super) started: Option<(String, PathBuf)>,
    pub(super) forked: Option<(String, u64)>,
    pub(super) title: Option<String>,
    /// How hard models are to think, where the person has chosen it.
    pub(super) reasoning: BTreeMap<String, Option<Reasoning>>,
}

impl Fold {
    pub fn new(settings: Settings) -> Self {
        Self {
            said_by: settings.model_id(),
            session: Session::empty(Mode::default(), settings),
            open: BTreeMap::new(),
            turn: None,
            started: None,
            forked: None,
            title: None,
            reasoning: BTreeMap::new(),
        }
    }

    /// Takes in the next record.
    pub fn take(&mut self, record: &Record) {
        let session = &mut self.session;
        match record {
            Record::Started {
                session: id,
                cwd,
                mode,
                model,
            } => {
                session.mode = *mode;
                self.said_by.clone_from(model);
                if self.started.is_none() {
                    self.started = Some((id.clone(), cwd.clone()));
                }
            }
            Record::Model { model } => self.said_by.clone_from(model),
            Record::Mode { mode } => {
                // What the model was told of it has a record of its own.
                session.enter(*mode);
            }
            Record::User {
                turn: id,
                text,
                pictures,
            } => {
                self.turn = Some(*id);
                session.next.turn = session.next.turn.max(id.0 + 1);
                session.tell();
                session.history.push(Entry::User(Said {
                    text: text.clone(),
                    pictures: pictures.iter().map(Held::past).collect(),
                }));
            }
            Record::Assistant {
                answer,
                text,
                thought,
                raw,
                ..
            } => session
                .answer(*answer, &self.said_by)
                .say(text, thought, raw.as_ref()),
            Record::Compacted {
                id, summary, kept, ..
            } => {
                session.take_summary(*id, *kept, summary.clone());
            }
            Record::Checklist { tasks } => session.checklist.clone_from(tasks),
            Record::Goal { goal } => session.goal.clone_from(goal),
            Record::Style { style } => session.style.clone_from(style),
            Record::Void { answer } => session.void(*answer),
            Record::Unsigned { .. } => drop(session.forget_raw()),
            Record::Call {
                answer,
                call,
                id,
                tool,
                arguments,
                native,
            } => {
                session.next.call = session.next.call.max(call.0 + 1);
                self.open.insert(*call, None);
                let made = ToolCall {
                    id: id.clone(),
                    name: tool.clone(),
                    arguments: arguments.clone(),
                    native: native.as_ref().and_then(native_call),
                };
                let asked = Asked::new(*call, made);
                session.answer(*answer, &self.said_by).calls.push(asked);
            }
            Record::Told { answer, text } => {
                session.next.answer = session.next.answer.max(*answer);
                session.is_to_tell(*answer, text);
            }
            Record::Usage { .. } => {
                if let Some((model, purpose, tokens)) = usage::of_record(record) {
                    session.count(model, purpose, tokens);
                }
            }
            Record::Forked {
                session: id,
                message,
            } => self.forked = Some((id.clone(), *message)),
            Record::Title { title } => self.title = Some(title.clone()),
            Record::Reasoning { model, level } => {
                self.reasoning.insert(model.clone(), *level);
            }
            Record::Command { .. } | Record::Classified { .. } => {}
            Record::Decision { option, rule, .. } => match option {
                // Kept in a file of the person's, who may have taken it out since.
                OptionId::Always => {}
                OptionId::Once | OptionId::Session | OptionId::Save | OptionId::No => {
                    session.rules.extend(rule.clone())
                }
            },
            Record::Remembered { rule } => session.rules.extend(rule.clone()),
            Record::Forgot { rule } => session.rules.retain(|it| it != rule),
            Record::Edit { call, files, .. } => {
                if let Some(edit) = self.open.get_mut(call) {
                    *edit = Some(files.clone());
                }
            }
            Record::Result {
                call,
                outcome,
                text,
                pictures,
                title,
                duration_ms,
                ..
            } => {
                if self.open.remove(call).is_some() {
                    if duration_ms.is_some() {
                        session.note_evidence(*call, title.as_deref(), *outcome);
                    }
                    let held = pictures.iter().map(Held::past);
                    session.remember_result(*call, text.clone(), held.collect(), *outcome);
                }
            }
            Record::Replayed {
                approval,
                turn: id,
                call,
                title,
                outcome,
                text,
                ..
            } => {
                session.next.turn = session.next.turn.max(id.0 + 1);
                session.next.call = session.next.call.max(call.0 + 1);
                session.remember_replay(approval, title, *outcome, text);
            }
            Record::Ended { turn: id, .. } => {
                // One in which nothing was asked has no other record.
                session.next.turn = session.next.turn.max(id.0 + 1);
                self.turn = None;
            }
            Record::Carried(carried) => self.carry(carried),
        }
    }

    /// The session, and the effects that close what its last owner left open, so that the next request to the model is valid. `stands`
    /// looks at the files of an edit that was cut off.
    pub fn end(self, stands: impl Fn(&EditedFile) -> Stands) -> (Session, Vec<Effect>) {
        let Self {
            mut session,
            open,
            said_by,
            turn,
            started,
            ..
        } = self;
        let mut effects = Vec::new();
        let model = session.settings.model_id();
        if said_by != model {
            effects.push(Effect::Append(Record::Model { model }));
        }
        let root = started.as_ref().map(|(_, cwd)| cwd.as_path());
        for (call, edit) in open {
            let text = match edit {
                Some(files) => cut_off_edit(&files, root, &stands),
                None => INTERRUPTED.to_owned(),
            };
            session.remember_result(call, text.clone(), Vec::new(), Outcome::Cancelled);
            effects.push(Effect::Append(Record::Result {
                call,
                outcome: Outcome::Cancelled,
                text,
                shown: None,
                title: None,
                duration_ms: None,
                exit_code: None,
                pictures: Vec::new(),
                fuzzy: false,
            }));
        }
        if let Some(turn) = turn {
            let reason = EndReason::Failed {
                message: "the server stopped".to_owned(),
            };
            effects.push(Effect::Append(Record::Ended { turn, reason }));
        }
        (session, effects)
    }
}

impl Session {
    /// Folds a session's records: [`Fold`].
    pub fn resume(
        records: &[Record],
        settings: Settings,
        stands: impl Fn(&EditedFile) -> Stands,
    ) -> (Self, Vec<Effect>) {
        let mut fold = Fold::new(settings);
        records.iter().for_each(|it| fold.take(it));
        fold.end(stands)
    }

    /// Gives a resumed session the bytes of the pictures that it goes on to send, in base64; `load` finds them, or
    /// does not.
    pub fn load_pictures(&mut self, load: impl Fn(&Picture) -> Option<Arc<str>>) {
        let newest = context::newest_pictures(&mut self.history).take(context::MAX_PICTURES);
        for (_, held) in newest {
            if let Some(data) = load(&held.picture) {
                held.sight = Sight::Seen(data);
            }
        }
    }

    /// The history's entry for an answer, made if it is new. Records of an answer stand together.
    fn answer(&mut self, number: u64, by: &str) -> &mut Answer {
        self.next.answer = self.next.answer.max(number + 1);
        let is_last = matches!(self.history.last(), Some(Entry::Answer(it)) if it.number == number);
        if !is_last {
            self.tell_before(number);
            self.history.push(Entry::Answer(Answer::new(number, by)));
        }
        match self.history.last_mut() {
            Some(Entry::Answer(answer)) => answer,
            Some(Entry::User(_) | Entry::Told(_) | Entry::Summary(_)) | None => {
                unreachable!("an answer was pushed above if it was missing")
            }
        }
    }
}

/// A call of a provider's own tool that the log holds; none if this build does not know the tool.
fn native_call(record: &NativeRecord) -> Option<NativeCall> {
    let tool = NativeTool::from_name(&record.tool)?;
    let input = record.input.clone();
    Some(NativeCall { tool, input })
}

/// What an editor shows of a session that it loads.
pub fn replay(records: &[Record]) -> Vec<Update> {
    let mut updates = Vec::new();
    for record in records {
        match record {
            Record::User { text, pictures, .. } => {
                updates.push(Update::User(text.clone()));
                updates.extend(pictures.iter().cloned().map(Update::UserPicture));
            }
            Record::Command { text, answer } => {
                updates.push(Update::User(text.clone()));
                updates.push(Update::Text(answer.clone()));
            }
            Record::Assistant { text, thought, .. } => {
                if !thought.is_empty() {
                    updates.push(Update::Thought(thought.clone()));
                }
                if !text.is_empty() {
                    updates.push(Update::Text(text.clone()));
                }
            }
            Record::Call {
                call,
                tool,
                arguments,
                ..
            } => updates.push(Update::Call {
                call: *call,
                tool: tool.clone(),
                arguments: serde_json::from_str(arguments).unwrap_or_default(),
            }),
            Record::Result {
                call,
                outcome,
                text,
                shown,
                title,
                duration_ms,
                exit_code,
                pictures,
                fuzzy,
            } => {
                let shown = if text == CANCELLED || text == CUT_OFF {
                    Vec::new()
                } else {
                    vec![CallContent::Text(shown.as_ref().unwrap_or(text).clone())]
                };
                updates.push(Update::CallChanged(
                    *call,
                    CallChange {
                        status: Some(CallStatus::Done(*outcome)),
                        title: title.clone(),
                        content: shown,
                        duration_ms: *duration_ms,
                        exit_code: *exit_code,
                        images: pictures.len(),
                        fuzzy: *fuzzy,
                        ..CallChange::default()
                    },
                ));
            }
            Record::Replayed {
                call,
                tool,
                arguments,
                outcome,
                text,
                shown,
                title,
                duration_ms,
                exit_code,
                ..
            } => {
                updates.push(Update::Call {
                    call: *call,
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                });
                let shown = shown.as_ref().unwrap_or(text).clone();
                updates.push(Update::CallChanged(
                    *call,
                    CallChange {
                        status: Some(CallStatus::Done(*outcome)),
                        title: Some(title.clone()),
                        content: vec![CallContent::Text(shown)],
                        duration_ms: *duration_ms,
                        exit_code: *exit_code,
                        ..CallChange::default()
                    },
                ));
            }
            Record::Checklist { tasks } => updates.push(Update::Checklist(tasks.clone())),
            Record::Void { .. } => updates.push(Update::Text(BROKEN_OFF.to_owned())),
            Record::Compacted { id, trigger, .. } => match trigger {
                // The command's answer says it.
                Trigger::Person => {}
                Trigger::Model | Trigger::Threshold | Trigger::Overflow => {
                    updates.push(Update::Notice(receipt(*id, *trigger)));
                }
            },
            Record::Started { .. }
            | Record::Forked { .. }
            | Record::Title { .. }
            | Record::Goal { .. }
            | Record::Style { .. }
            | Record::Unsigned { .. }
            | Record::Told { .. }
            | Record::Decision { .. }
            | Record::Classified { .. }
            | Record::Remembered { .. }
            | Record::Forgot { .. }
            | Record::Edit { .. }
            | Record::Mode { .. }
            | Record::Model { .. }
            | Record::Reasoning { .. }
            | Record::Usage { .. }
            | Record::Carried(_)
            | Record::Ended { .. } => {}
        }
    }
    updates
}

/// What the model is told of an edit that the server's death cut off: how far it came with each file.
fn cut_off_edit(
    files: &[EditedFile],
    root: Option<&Path>,
    stands: impl Fn(&EditedFile) -> Stands,
) -> String {
    let mut text = "The server stopped while these files were being changed:".to_owned();
    for file in files {
        let name = root.and_then(|it| file.path.strip_prefix(it).ok());
        let name = name.unwrap_or(&file.path).display();
        let state = match (stands(file), &file.before, &file.after) {
            (Stands::AtNew, None, _) => "created",
            (Stands::AtNew, _, None) => "gone, as it was to be",
            (Stands::AtNew, Some(_), Some(_)) => "changed",
            (Stands::AtOld, None, _) => "not created",
            (Stands::AtOld, Some(_), None) => "still there",
            (Stands::AtOld, Some(_), Some(_)) => "not changed",
            (Stands::AtOther, _, _) => "neither as before nor as it was to be; read it",
        };
        text += &format!("\n- {name}: {state}");
    }
    text
}
