//! A turn: from a prompt over the model's answers to the end.

use super::call::Stop;
use super::compacting::{Compacting, Tightness};
use super::effect::{Effect, PromptEnd, Update};
use super::ending::{Next, Spent};
use super::failing::Failing;
use super::{Calls, Session, ending, goals};
use crate::context::{self, Answer, Asked, Entry, Held, Said};
use crate::policy;
use crate::provider::{Image, ModelError, ModelEvent, StopReason, ToolCall, ToolResult, Usage};
use crate::redact::settled;
use protocol::record::{EndReason, NativeRecord, Purpose, Record};
use protocol::session::{CallId, Mode, PromptId, SideId, StreamId, TurnId};
use protocol::tool::{Outcome, Picture};
use serde_json::Value;

/// A running turn.
#[derive(Debug)]
pub(super) struct Turn {
    pub id: TurnId,
    /// The prompts it took, answered when it ends.
    pub prompts: Vec<PromptId>,
    /// The stream that is live, if the model is not silent.
    pub stream: Option<StreamId>,
    /// The number of the answer that streams or streamed last.
    pub answer: u64,
    /// How often the model was asked.
    pub answers: u32,
    /// Whether the last answer called tools, so that the model must be asked again.
    pub called: bool,
    /// Why the last answer ended.
    pub stop: StopReason,
    /// What was said since the last record.
    pub text: String,
    pub thought: String,
    /// The provider's own items of this answer.
    pub raw: Option<Value>,
    pub calls: Calls,
    /// What went wrong with the answer at hand so far.
    pub failing: Failing,
    /// The summary that it waits for.
    pub compacting: Option<Compacting>,
    pub tightness: Tightness,
    /// How often the reply at hand was cut and gone on with.
    pub continued: u32,
    /// The answer before was empty, and this one is asked for in its place.
    pub is_second: bool,
    /// The model has said or called something since it was asked or the goal was looked at.
    pub has_spoken: bool,
    /// A call was made since the goal was looked at.
    pub has_called: bool,
    /// The check of the goal that the end waits for.
    pub checking: Option<SideId>,
    /// Tokens of its answers.
    pub tokens: Usage,
}

/// A prompt that no turn has taken yet.
#[derive(Debug)]
pub(super) struct Queued {
    pub prompt: PromptId,
    pub text: String,
    pub pictures: Vec<Image>,
    /// Whether it came while a turn ran. It is shown when it is taken, so that it has its place.
    pub waited: bool,
}

impl Session {
    pub(super) fn prompt(
        &mut self,
        prompt: PromptId,
        text: String,
        pictures: Vec<Image>,
        out: &mut Vec<Effect>,
    ) {
        let waited = self.turn.is_some();
        let sent = Queued {
            prompt,
            text,
            pictures,
            waited,
        };
        if !waited {
            return self.begin(vec![sent], out);
        }
        self.queue.push_back(sent);
        if self.queue.len() > self.settings.queued_prompts
            && let Some(oldest) = self.queue.pop_front()
        {
            let end = PromptEnd::Dropped {
                limit: self.settings.queued_prompts,
            };
            out.push(Effect::Answer {
                prompts: vec![oldest.prompt],
                end,
            });
        }
    }

    fn begin(&mut self, prompts: Vec<Queued>, out: &mut Vec<Effect>) {
        self.open_turn();
        self.take_in(prompts, out);
        self.ask_model(out);
    }

    /// Opens a turn in which the model has not been asked yet, or never is.
    pub(super) fn open_turn(&mut self) -> TurnId {
        let id = self.next_turn();
        self.turn = Some(Turn {
            id,
            prompts: Vec::new(),
            stream: None,
            answer: 0,
            answers: 0,
            called: false,
            stop: StopReason::EndTurn,
            text: String::new(),
            thought: String::new(),
            raw: None,
            calls: Calls::new(),
            failing: Failing::default(),
            compacting: None,
            tightness: Tightness::default(),
            continued: 0,
            is_second: false,
            has_spoken: false,
            has_called: false,
            checking: None,
            tokens: Usage::default(),
        });
        id
    }

    /// Makes prompts part of the running turn.
    fn take_in(&mut self, prompts: impl IntoIterator<Item = Queued>, out: &mut Vec<Effect>) {
        let mut prompts = prompts.into_iter().peekable();
        if prompts.peek().is_some() {
            self.wake_goal(out);
            self.tell();
        }
        let Some(turn) = &mut self.turn else { return };
        for Queued {
            prompt,
            text,
            pictures,
            waited,
        } in prompts
        {
            turn.prompts.push(prompt);
            let named: Vec<Picture> = pictures.iter().map(|it| it.picture.clone()).collect();
            out.push(Effect::Append(Record::User {
                turn: turn.id,
                text: text.clone(),
                pictures: named.clone(),
            }));
            if waited {
                out.push(Effect::Show(Update::User(text.clone())));
                let shown = named.into_iter().map(Update::UserPicture);
                out.extend(shown.map(Effect::Show));
            }
            let pictures = pictures.into_iter().map(Held::seen).collect();
            self.history.push(Entry::User(Said { text, pictures }));
        }
        context::forget_old_pictures(&mut self.history);
    }

    /// Asks for an answer after which the turn would have ended, but for the goal.
    pub(super) fn ask_anew(&mut self, out: &mut Vec<Effect>) {
        if let Some(turn) = &mut self.turn {
            turn.answers = 0;
            turn.continued = 0;
            turn.is_second = false;
            turn.has_spoken = false;
        }
        self.ask_model(out);
    }

    /// Asks for the next answer.
    fn ask_model(&mut self, out: &mut Vec<Effect>) {
        if let Some(turn) = &mut self.turn {
            turn.answers += 1;
            turn.failing = Failing::default();
        }
        self.remind_of_checklist(out);
        if !self.compacts_first(out) {
            self.ask(out);
        }
    }

    /// Asks for an answer, for the first time or once more.
    pub(super) fn ask(&mut self, out: &mut Vec<Effect>) {
        self.tell();
        let request = Box::new(self.request());
        let (stream, answer) = (self.next_stream(), self.next_answer());
        let Some(turn) = &mut self.turn else { return };
        turn.stream = Some(stream);
        turn.answer = answer;
        turn.called = false;
        self.history.push(Entry::Answer(Answer::new(
            answer,
            &self.settings.model_id(),
        )));
        out.push(Effect::AskModel { stream, request });
    }

    pub(super) fn model(&mut self, stream: StreamId, event: ModelEvent, out: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        if turn.stream != Some(stream) {
            return;
        }
        self.begins_with(&event, out);
        let Some(turn) = &mut self.turn else { return };
        match event {
            ModelEvent::Text(text) => {
                turn.has_spoken |= !text.trim().is_empty();
                turn.text.push_str(&text);
                out.push(Effect::Show(Update::Text(text)));
                self.flush_much(out);
            }
            ModelEvent::Thought(text) => {
                turn.thought.push_str(&text);
                out.push(Effect::Show(Update::Thought(text)));
                self.flush_much(out);
            }
            ModelEvent::Call(call) => self.called(call, out),
            ModelEvent::Usage(usage) => {
                let by = match self.history.last() {
                    Some(Entry::Answer(answer)) => answer.by.clone(),
                    Some(Entry::User(_) | Entry::Told(_) | Entry::Summary(_)) | None => {
                        self.settings.model_id()
                    }
                };
                ending::add(&mut turn.tokens, &usage);
                // The log counts it for what it has of the answer by then.
                self.flush(false, out);
                self.used(&by, Purpose::Answer, usage, out);
            }
            ModelEvent::Raw(raw) => turn.raw = Some(raw),
            ModelEvent::Ended(stop) => {
                turn.stream = None;
                turn.stop = stop;
                self.flush(false, out);
                self.fitted();
                self.advance(out);
            }
            ModelEvent::Failed(error) => {
                turn.stream = None;
                self.flush(true, out);
                self.failed(error, out);
            }
        }
    }

    fn called(&mut self, call: ToolCall, out: &mut Vec<Effect>) {
        self.flush(false, out);
        let id = self.next_call();
        let Some(turn) = &mut self.turn else { return };
        turn.called = true;
        turn.has_called = true;
        turn.has_spoken = true;
        out.push(Effect::Append(Record::Call {
            answer: turn.answer,
            call: id,
            id: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            native: call.native.as_ref().map(|it| NativeRecord {
                tool: it.tool.name().to_owned(),
                input: it.input.clone(),
            }),
        }));
        if let Some(Entry::Answer(answer)) = self.history.last_mut() {
            answer.calls.push(Asked::new(id, call.clone()));
        }
        self.open_call(id, call, out);
    }

    /// Records a long answer piece by piece, so that a server that is killed loses little of it.
    fn flush_much(&mut self, out: &mut Vec<Effect>) {
        /// Bytes that a death may cost.
        const PIECE: usize = 2 * 1024;
        let Some(turn) = &mut self.turn else { return };
        if turn.text.len() + turn.thought.len() < PIECE {
            return;
        }
        // Each record is redacted by itself: what may belong together in a secret stays together.
        let (n_text, n_thought) = (settled(&turn.text), settled(&turn.thought));
        if n_text + n_thought == 0 {
            return;
        }
        let text = turn.text.split_off(n_text);
        let thought = turn.thought.split_off(n_thought);
        self.flush(false, out);
        if let Some(turn) = &mut self.turn {
            turn.text = text;
            turn.thought = thought;
        }
    }

    /// Records what was said since the last record.
    pub(super) fn flush(&mut self, cut: bool, out: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        // The log knows an answer's model by the one that was named last before it.
        let model = self.settings.model_id();
        let is_its = matches!(self.history.last(), Some(Entry::Answer(it)) if it.by == model);
        let raw = turn.raw.take().filter(|_| is_its);
        if turn.text.is_empty() && turn.thought.is_empty() && raw.is_none() {
            return;
        }
        let text = std::mem::take(&mut turn.text);
        let thought = std::mem::take(&mut turn.thought);
        if let Some(Entry::Answer(answer)) = self.history.last_mut() {
            answer.say(&text, &thought, raw.as_ref());
        }
        out.push(Effect::Append(Record::Assistant {
            answer: turn.answer,
            text,
            thought,
            raw,
            cut,
        }));
    }

    /// Puts a result beside its call in the history.
    pub(super) fn remember_result(
        &mut self,
        id: CallId,
        text: String,
        pictures: Vec<Held>,
        outcome: Outcome,
    ) {
        let is_block = outcome == Outcome::Error && policy::is_for_read_only(&text);
        let Some(Entry::Answer(answer)) = self.history.last_mut() else {
            return;
        };
        // By our id: a provider may give one id to two calls.
        if let Some(asked) = answer.calls.iter_mut().find(|it| it.id == id) {
            asked.result = Some(ToolResult {
                id: asked.call.id.clone(),
                text,
                is_error: outcome != Outcome::Success,
                images: Vec::new(),
            });
            asked.pictures = pictures;
            self.has_blocked |= is_block && self.mode == Mode::ReadOnly;
            context::forget_old_pictures(&mut self.history);
        }
    }

    /// Goes on when the model is silent and every call has its result.
    pub(super) fn advance(&mut self, out: &mut Vec<Effect>) {
        let Some(turn) = &self.turn else { return };
        let is_busy = turn.stream.is_some() || !turn.calls.is_empty() || turn.checking.is_some();
        if is_busy || turn.failing.waits() || turn.compacting.is_some() {
            return;
        }
        let mut next = self.next(turn);
        // What stopped because the window was full goes on behind a summary.
        if next != Next::Ask && self.goes_on_in_new_window(out) {
            next = Next::Ask;
        }
        if let Next::End { empty } = next {
            return self.rest(empty, out);
        }
        let Some(turn) = &self.turn else { return };
        let limit = self.settings.turn_answers;
        if turn.answers >= limit {
            self.pause_goal(goals::FAILED, out);
            let message = format!("the model was asked {limit} times in one turn");
            return self.end(
                EndReason::Failed { message },
                PromptEnd::TooManyAnswers(limit),
                out,
            );
        }
        self.prepare(next, out);
        // A reply that is gone on with is not to be led elsewhere.
        if next == Next::Ask {
            self.take_in_queued(out);
        }
        self.ask_model(out);
    }

    /// What waits becomes part of the running turn.
    pub(super) fn take_in_queued(&mut self, out: &mut Vec<Effect>) {
        let queued: Vec<Queued> = self.queue.drain(..).collect();
        self.take_in(queued, out);
    }

    /// The provider failed: open calls are closed, the turn ends with the error.
    pub(super) fn fail(&mut self, error: ModelError, out: &mut Vec<Effect>) {
        self.close_calls(Stop::ByFault, out);
        self.pause_goal(goals::FAILED, out);
        let reason = EndReason::Failed {
            message: error.message.clone(),
        };
        self.end(reason, PromptEnd::Failed(error), out);
    }

    pub(super) fn cancel(&mut self, out: &mut Vec<Effect>) {
        let waiting: Vec<PromptId> = self.queue.drain(..).map(|it| it.prompt).collect();
        if let Some(turn) = &mut self.turn {
            if let Some(stream) = turn.stream.take() {
                out.push(Effect::StopModel(stream));
            }
            self.stop_waiting(out);
            self.stop_compacting(out);
            self.flush(true, out);
            self.close_calls(Stop::ByPerson, out);
            self.stop_check(out);
            self.pause_goal(goals::CANCELLED, out);
            self.end(EndReason::Cancelled, PromptEnd::Cancelled, out);
        }
        if !waiting.is_empty() {
            out.push(Effect::Answer {
                prompts: waiting,
                end: PromptEnd::Cancelled,
            });
        }
    }

    /// Withdraws one prompt: a waiting one leaves the queue, a running one ends its turn; what
    /// waits goes on in a turn of its own.
    pub(super) fn cancel_prompt(&mut self, prompt: PromptId, out: &mut Vec<Effect>) {
        let withdrawn = Effect::Answer {
            prompts: vec![prompt],
            end: PromptEnd::Withdrawn,
        };
        if let Some(at) = self.queue.iter().position(|it| it.prompt == prompt) {
            self.queue.remove(at);
            out.push(withdrawn);
            return;
        }
        let Some(turn) = &mut self.turn else { return };
        if !turn.prompts.contains(&prompt) {
            return;
        }
        turn.prompts.retain(|it| *it != prompt);
        let waiting = std::mem::take(&mut self.queue);
        self.cancel(out);
        out.push(withdrawn);
        if !waiting.is_empty() {
            self.begin(waiting.into(), out);
        }
    }

    pub(super) fn end(&mut self, reason: EndReason, end: PromptEnd, out: &mut Vec<Effect>) {
        self.hide_retry(out);
        let Some(turn) = self.turn.take() else { return };
        self.last_run = Spent {
            tokens: turn.tokens,
            interrupted: matches!(reason, EndReason::Cancelled | EndReason::Failed { .. }),
        };
        out.push(Effect::Append(Record::Ended {
            turn: turn.id,
            reason,
        }));
        if !turn.prompts.is_empty() {
            out.push(Effect::Answer {
                prompts: turn.prompts,
                end,
            });
        }
        self.forget_wish();
        if !self.queue.is_empty() {
            let waiting: Vec<Queued> = self.queue.drain(..).collect();
            self.begin(waiting, out);
        }
    }
}
