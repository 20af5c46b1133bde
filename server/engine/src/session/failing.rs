//! A model that fails: what it refused is left out, what passes is waited for, and the rest ends the turn.
//!
//! All of it is about one answer, in which no call was made yet: a call that was made is at work, so such an answer is
//! never asked for twice. What was said of an answer that is asked for again stays before the person's eyes and leaves
//! the history.

use super::effect::{CallChange, CallContent, Effect, Retrying, Update};
use super::{Session, turn::Turn};
use crate::context::{self, Entry, Sight};
use crate::provider::{Learned, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Refusal};
use protocol::config::Reasoning;
use protocol::record::Record;
use protocol::session::{CallId, TimerId};

/// How often one answer is asked for again at once, because the model refused a part of the request (spec 29).
const MOST_STEPS: u32 = 4;

/// The longest wait that no provider asked for, milliseconds, before what is added to it.
const LONGEST_OWN_MS: u64 = 8_000;

/// What the person reads behind a piece of an answer that does not count.
pub(super) const BROKEN_OFF: &str = "\n\n(The answer broke off here and is asked for again.)\n\n";

/// What went wrong with one answer so far.
#[derive(Debug, Default)]
pub(super) struct Failing {
    /// Waits so far.
    retries: u32,
    /// Parts of the request that were refused so far.
    steps: u32,
    /// What the model does not take, should it answer now, and which model that is.
    news: Learned,
    news_of: String,
    /// The level of reasoning that was asked for last.
    level: Option<Reasoning>,
    /// What is waited for.
    timer: Option<TimerId>,
    /// The person is shown that the model is asked again.
    is_shown: bool,
}

impl Failing {
    pub fn waits(&self) -> bool {
        self.timer.is_some()
    }
}

impl Session {
    /// The request for the next answer, without what the model has refused of it.
    pub(super) fn request(&mut self) -> ModelRequest {
        let model = self.settings.model_id();
        let Some(turn) = &mut self.turn else {
            return context::build(&self.settings, &self.history);
        };
        let squeezed = turn.tightness.squeezed;
        let failing = &mut turn.failing;
        if failing.news_of != model {
            failing.news = Learned::default();
            failing.news_of = model;
        }
        let mut request = if failing.news == Learned::default() {
            context::build(&self.settings, &self.history)
        } else {
            let mut settings = self.settings.clone();
            settings.learned.extend(&failing.news);
            context::build(&settings, &self.history)
        };
        failing.level = request.level();
        if let Some(tokens) = squeezed {
            context::squeeze(&mut request, tokens);
        }
        request
    }

    /// An answer that begins proves that it was right to leave out what was refused.
    pub(super) fn begins_with(&mut self, event: &ModelEvent, out: &mut Vec<Effect>) {
        match event {
            ModelEvent::Text(_)
            | ModelEvent::Thought(_)
            | ModelEvent::Call(_)
            | ModelEvent::Ended(_) => {}
            // These may come with a failure.
            ModelEvent::Usage(_) | ModelEvent::Raw(_) | ModelEvent::Failed(_) => return,
        }
        self.hide_retry(out);
        let Some(turn) = &mut self.turn else { return };
        let news = std::mem::take(&mut turn.failing.news);
        if news == Learned::default() {
            return;
        }
        if turn.failing.news_of == self.settings.model_id() {
            self.settings.learned.extend(&news);
        }
        out.push(Effect::Learned(news));
    }

    /// There is no complete answer: asks again if that may help.
    pub(super) fn failed(&mut self, error: ModelError, out: &mut Vec<Effect>) {
        let Some(Entry::Answer(answer)) = self.history.last() else {
            return self.fail(error, out);
        };
        let is_too_long = error.kind == ModelErrorKind::ContextOverflow;
        if !answer.calls.is_empty() {
            return match is_too_long && self.makes_room_later() {
                true => self.advance(out),
                false => self.fail(error, out),
            };
        }
        let is_silent = answer.text.is_empty();
        let has_begun = !is_silent || !answer.thought.is_empty() || answer.raw.is_some();
        let is_asked_at_once = is_silent
            && (self.goes_on_without_pictures(&error, out)
                || self.goes_on_without_what_it_refused(&error, out)
                || self.goes_on_unsigned(&error, out));
        if is_asked_at_once {
            self.take_back(out);
            return self.ask(out);
        }
        if is_too_long {
            self.take_back(out);
            if !self.makes_room(out) {
                self.fail(error, out);
            }
            return;
        }
        match self.wait_after(&error, has_begun) {
            Some(ms) => {
                self.take_back(out);
                self.wait(&error, ms, out);
            }
            None => self.fail(self.with_tries(error), out),
        }
    }

    /// The answer at hand is asked for anew: what was said of it does not count.
    pub(super) fn take_back(&mut self, out: &mut Vec<Effect>) {
        let Some(Entry::Answer(answer)) = self.history.last() else {
            return;
        };
        let number = answer.number;
        let has_text = !answer.text.is_empty();
        let is_recorded = has_text || !answer.thought.is_empty() || answer.raw.is_some();
        self.void(number);
        if is_recorded {
            out.push(Effect::Append(Record::Void { answer: number }));
        }
        if has_text {
            out.push(Effect::Show(Update::Text(BROKEN_OFF.to_owned())));
        }
    }

    /// Takes an answer out of the history, if it is the last one and has no calls.
    pub(super) fn void(&mut self, number: u64) {
        let is_it = matches!(self.history.last(), Some(Entry::Answer(it)) if it.number == number && it.calls.is_empty());
        if is_it {
            self.history.pop();
        }
    }

    /// Whether the provider refused a request for its pictures and can be asked without them. The model finds a
    /// line in the place of each, and the person is told at the calls that gave them. The session would be stuck
    /// otherwise: every further request has the same pictures.
    fn goes_on_without_pictures(&mut self, error: &ModelError, out: &mut Vec<Effect>) -> bool {
        if error.kind != ModelErrorKind::Pictures {
            return false;
        }
        let mut refused: Vec<Option<CallId>> = Vec::new();
        for (call, held) in context::newest_pictures(&mut self.history) {
            if let Sight::Seen(_) = held.sight {
                held.sight = Sight::Refused;
                refused.push(call);
            }
        }
        refused.dedup();
        for call in &refused {
            let Some(call) = call else {
                let text = format!("The model was not shown your picture: {}.", error.message);
                out.push(Effect::Show(Update::Notice(text)));
                continue;
            };
            let text = format!("The model was not shown this: {}.", error.message);
            let change = CallChange {
                content: vec![CallContent::Text(text)],
                ..CallChange::default()
            };
            out.push(Effect::Show(Update::CallChanged(*call, change)));
        }
        !refused.is_empty()
    }

    /// Whether the provider has named a part of the request that it does not take, and nobody knew of that.
    fn goes_on_without_what_it_refused(
        &mut self,
        error: &ModelError,
        out: &mut Vec<Effect>,
    ) -> bool {
        let Some(turn) = &mut self.turn else {
            return false;
        };
        let failing = &mut turn.failing;
        let Some(refusal) = error.refusal.filter(|_| failing.steps < MOST_STEPS) else {
            return false;
        };
        let mut known = self.settings.learned.clone();
        known.extend(&failing.news);
        if !known.learn(refusal, failing.level) {
            return false;
        }
        failing.news = known.beyond(&self.settings.learned);
        failing.steps += 1;
        let retrying = Retrying {
            why: without(&self.settings.model_id(), refusal, failing, &known),
            attempt: failing.steps,
            of: MOST_STEPS,
            after_ms: 0,
        };
        show(turn, retrying, out);
        true
    }

    /// Whether the provider refused its own items of earlier answers and can be asked without them. They are not sent
    /// again: it would refuse them with every request, and the session would be stuck.
    fn goes_on_unsigned(&mut self, error: &ModelError, out: &mut Vec<Effect>) -> bool {
        if error.kind != ModelErrorKind::Signature || !self.forget_raw() {
            return false;
        }
        let Some(turn) = &mut self.turn else {
            return false;
        };
        let answer = turn.answer;
        out.push(Effect::Append(Record::Unsigned { answer }));
        let retrying = Retrying {
            why: "The provider refused what it had signed itself in earlier answers; it is asked again without that.".to_owned(),
            attempt: 1,
            of: 1,
            after_ms: 0,
        };
        show(turn, retrying, out);
        true
    }

    /// Forgets the provider's own items; answers whether there were any.
    pub(super) fn forget_raw(&mut self) -> bool {
        let mut had_some = false;
        for entry in &mut self.history {
            if let Entry::Answer(answer) = entry {
                had_some |= answer.raw.take().is_some();
            }
        }
        had_some
    }

    /// How long to wait before the model is asked again, if that may help.
    fn wait_after(&self, error: &ModelError, has_begun: bool) -> Option<u64> {
        let turn = self.turn.as_ref()?;
        let (retries, n_before) = (self.settings.retries, turn.failing.retries);
        let may_pass = match error.kind {
            ModelErrorKind::Unreachable
            | ModelErrorKind::RateLimit
            | ModelErrorKind::Overloaded
            | ModelErrorKind::Cut => true,
            // An answer that is wrong from its first byte on would be so again.
            ModelErrorKind::Protocol => has_begun,
            ModelErrorKind::Auth
            | ModelErrorKind::Quota
            | ModelErrorKind::ContextOverflow
            | ModelErrorKind::BadRequest
            | ModelErrorKind::Pictures
            | ModelErrorKind::Signature
            | ModelErrorKind::Limit
            | ModelErrorKind::Cancelled => false,
        };
        if !may_pass || error.is_final || n_before >= retries.most {
            return None;
        }
        Some(match error.retry_after_ms {
            Some(asked) => asked.min(retries.longest_ms),
            None => {
                let doubled = 1_u64.checked_shl(n_before).unwrap_or(u64::MAX);
                let own = retries.first_ms.saturating_mul(doubled).min(LONGEST_OWN_MS);
                own + own * u64::from(retries.spread) / 100
            }
        })
    }

    fn wait(&mut self, error: &ModelError, ms: u64, out: &mut Vec<Effect>) {
        let timer = self.next_timer();
        let Some(turn) = &mut self.turn else { return };
        turn.failing.retries += 1;
        turn.failing.timer = Some(timer);
        out.push(Effect::WakeAfter { timer, ms });
        let retrying = Retrying {
            why: error.message.clone(),
            attempt: turn.failing.retries,
            of: self.settings.retries.most,
            after_ms: ms,
        };
        show(turn, retrying, out);
    }

    /// A wait is over.
    pub(super) fn woke(&mut self, timer: TimerId, out: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        if turn.failing.timer != Some(timer) {
            return;
        }
        turn.failing.timer = None;
        self.hide_retry(out);
        self.ask(out);
    }

    /// The turn ends while it waits.
    pub(super) fn stop_waiting(&mut self, out: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        if let Some(timer) = turn.failing.timer.take() {
            out.push(Effect::StopTimer(timer));
        }
    }

    /// The person need not be shown any more that the model is asked again.
    pub(super) fn hide_retry(&mut self, out: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        if std::mem::take(&mut turn.failing.is_shown) {
            out.push(Effect::Show(Update::Retrying(None)));
        }
    }

    /// The error, with how often the model was asked in vain.
    fn with_tries(&self, mut error: ModelError) -> ModelError {
        let n_waits = self.turn.as_ref().map_or(0, |it| it.failing.retries);
        if n_waits > 0 {
            let (text, end) = match error.message.strip_suffix('.') {
                Some(text) => (text, "."),
                None => (error.message.as_str(), ""),
            };
            error.message = format!("{text} (tried {} times){end}", n_waits + 1);
        }
        error
    }
}

fn show(turn: &mut Turn, retrying: Retrying, out: &mut Vec<Effect>) {
    turn.failing.is_shown = true;
    out.push(Effect::Show(Update::Retrying(Some(retrying))));
}

/// What is left out, in a sentence for the person.
fn without(model: &str, refusal: Refusal, failing: &Failing, known: &Learned) -> String {
    match refusal {
        Refusal::Drop(feature) => {
            let name = feature.name().replace('_', " ");
            format!("{model} does not take {name}; it is asked again without.")
        }
        Refusal::Level { .. } => {
            let sent = failing.level;
            let next = sent.and_then(|it| known.reasoning(it));
            let name = |it: Option<Reasoning>| it.map_or("no level", |it| it.id());
            format!(
                "{model} does not take the reasoning level {}; it is asked again with {}.",
                name(sent),
                name(next)
            )
        }
        Refusal::MaxTokens(most) => format!(
            "{model} writes at most {most} tokens in an answer; it is asked again within that."
        ),
    }
}
