//! Older history gives way to a summary (spec 12.3).
//!
//! It happens where the model would be asked next: because it is due there, because the person or the model wished for it, or
//! because the provider said that the conversation is too long. The turn waits for the summary as it waits for an answer.
//! When nothing runs, the person's wish opens a turn in which no model is asked. A conversation that stays too long is
//! cut harder, and at last the largest texts of the request are: it never comes to a dead end.

use super::effect::{Aside, Effect, PromptEnd, SideAnswer, Update};
use super::{Counters, Last, Session};
use crate::context::budget::{self, Measured};
use crate::context::fill;
use crate::context::instructions::Further;
use crate::context::project::InstructionFile;
use crate::context::summary::{self, Room};
use crate::context::tail::{self, Cut, Pressure, Wish};
use crate::context::{self, Entry, forget_old_pictures};
use crate::provider::{ModelError, ModelErrorKind, StopReason};
use crate::redact::redact;
use protocol::context::ContextPart;
use protocol::record::{EndReason, Kept, Purpose, Record, Trigger};
use protocol::session::{PromptId, SideId};

/// How often one answer is asked for anew because the conversation is too long.
const MOST_OVERFLOWS: u32 = 10;
/// What a request is not squeezed below, tokens.
const LEAST_SQUEEZED: u64 = 256;
/// What a question for a summary is not shortened below, tokens.
const LEAST_INPUT: u64 = 500;

/// What the model is told after an answer that the window cut off.
const GO_ON: &str =
    "[Your last answer stopped because the window was full. Go on exactly where it stopped.]";

/// What is known of summaries, as long as the session is open.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Is made before the model is asked next.
    due: Option<Due>,
    /// One that was to be made by itself failed: none is until one succeeds or the person acts.
    is_paused: bool,
    /// Tokens up to which none is made by itself: the last one did not bring enough.
    floor: u64,
}

#[derive(Debug)]
struct Due {
    trigger: Trigger,
    focus: Option<String>,
}

/// A summary that a turn waits for.
#[derive(Debug)]
pub(super) struct Compacting {
    side: SideId,
    trigger: Trigger,
    focus: Option<String>,
    cut: Cut,
    room: Room,
    /// What the question had, tokens.
    asked: u64,
    then: Then,
}

/// What the turn does with the summary.
#[derive(Debug)]
enum Then {
    Ask,
    /// It was about nothing else, and this prompt began it.
    End(String),
    /// It ends as it was about to.
    Close(EndReason, PromptEnd),
}

/// How far a turn has gone against a window that is full.
#[derive(Debug, Default)]
pub(super) struct Tightness {
    /// How often in a row the answer at hand was refused as too long.
    overflows: u32,
    /// How often in a row an answer stopped because the window was full.
    recoveries: u32,
    /// What the largest texts of a request are cut to, tokens in all.
    pub squeezed: Option<u64>,
}

/// Why nothing is summarised, for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nothing {
    TooLittle,
    TooSmall,
}

impl Nothing {
    fn text(self) -> &'static str {
        match self {
            Self::TooLittle => {
                "There is too little history to summarise; all of it stays as it is."
            }
            Self::TooSmall => {
                "The model's window is too small for a summary; the history stays as it is."
            }
        }
    }
}

impl Session {
    /// `/compact`
    pub(super) fn compact(
        &mut self,
        prompt: PromptId,
        text: String,
        focus: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        self.resume_compacting();
        if self.turn.is_some() {
            self.compact_before_next(Trigger::Person, focus);
            let said = "Older history is summarised before the model is asked next.";
            self.command(text, said.to_owned(), out);
            out.push(Effect::Answer {
                prompts: vec![prompt],
                end: PromptEnd::Ended(StopReason::EndTurn),
            });
            return;
        }
        self.open_turn();
        if let Some(turn) = &mut self.turn {
            turn.prompts.push(prompt);
        }
        if let Err(nothing) = self.summarise(Trigger::Person, focus, Then::End(text.clone()), out) {
            self.end_compacting(text, nothing.text().to_owned(), out);
        }
    }

    /// Notes the wish; it is met before the model is asked next.
    pub(super) fn compact_before_next(&mut self, trigger: Trigger, focus: Option<String>) {
        self.compaction.due = Some(Due { trigger, focus });
    }

    /// The person has acted: what failed before is tried again.
    pub fn resume_compacting(&mut self) {
        self.compaction.is_paused = false;
        self.compaction.floor = 0;
    }

    /// Before an answer is asked for. True: a summary is, and the model is asked when it is there.
    pub(super) fn compacts_first(&mut self, out: &mut Vec<Effect>) -> bool {
        let due = self.compaction.due.take();
        let by_itself = || Due {
            trigger: Trigger::Threshold,
            focus: None,
        };
        let Some(due) = due.or_else(|| self.is_too_full().then(by_itself)) else {
            return false;
        };
        let trigger = due.trigger;
        let Err(nothing) = self.summarise(trigger, due.focus, Then::Ask, out) else {
            return true;
        };
        match (trigger, nothing) {
            (Trigger::Overflow, _) => {
                self.squeeze();
            }
            // The next answer may bring enough.
            (Trigger::Threshold, Nothing::TooLittle) => {}
            (Trigger::Threshold, Nothing::TooSmall) => {
                self.compaction.is_paused = true;
                notice(nothing.text().to_owned(), out);
            }
            (Trigger::Person | Trigger::Model, _) => notice(nothing.text().to_owned(), out),
        }
        false
    }

    /// Whether so much fills the window that older history is to go.
    fn is_too_full(&self) -> bool {
        let most = budget::own_threshold(&self.settings);
        let most = most.filter(|_| !self.compaction.is_paused);
        most.is_some_and(|most| self.filled() >= most.max(self.compaction.floor))
    }

    /// Tokens that the next request would have.
    pub fn filled(&self) -> u64 {
        budget::filled(&self.settings, &self.history, self.measured)
    }

    /// What the next request would hold, part by part.
    pub fn parts(&self, files: &[InstructionFile], further: &Further) -> Vec<ContextPart> {
        fill::parts(&self.settings, &self.history, files, further)
    }

    /// What is kept free of the window for the answer.
    pub fn reserve(&self) -> u64 {
        budget::reserve(&self.settings)
    }

    /// From how many tokens on older history is summarised, and whether the provider does it by itself.
    pub fn threshold(&self) -> (Option<u64>, bool) {
        let native = budget::native_threshold(&self.settings);
        (budget::threshold(&self.settings), native.is_some())
    }

    /// The threshold in percent of the window, as it is configured for the model.
    pub fn threshold_percent(&self) -> u64 {
        budget::percent(&self.settings)
    }

    /// The newest answer of which something is recorded.
    pub(super) fn newest_answer(&self) -> Option<u64> {
        self.history.iter().rev().find_map(|it| match it {
            Entry::Answer(it) => it.is_said().then_some(it.number),
            Entry::User(_) | Entry::Told(_) | Entry::Summary(_) => None,
        })
    }

    /// Asks for a summary, if there is something to summarise.
    fn summarise(
        &mut self,
        trigger: Trigger,
        focus: Option<String>,
        then: Then,
        out: &mut Vec<Effect>,
    ) -> Result<(), Nothing> {
        let room = summary::room(&self.settings).ok_or(Nothing::TooSmall)?;
        let options = &self.settings.compaction;
        let window = self.settings.window.unwrap_or(u64::MAX);
        // The tail shall not fill a small window.
        let tokens = options.tail_token_budget.min(window / 4);
        let overflows = self.turn.as_ref().map_or(0, |it| it.tightness.overflows);
        let pressure = match trigger {
            Trigger::Person => Pressure::Calm,
            Trigger::Model | Trigger::Threshold | Trigger::Overflow => Pressure::Room,
        };
        let wish = Wish {
            turns: options.tail_turns,
            tokens: match overflows {
                0 | 1 => tokens,
                _ => tokens / 4,
            },
            pressure,
        };
        let cut = tail::cut(&self.history, wish).ok_or(Nothing::TooLittle)?;
        if trigger == Trigger::Threshold {
            let percent = self
                .settings
                .window
                .map(|it| self.filled() * 100 / it.max(1));
            let how_full = match percent {
                Some(percent) => format!("The window is {percent} % full; "),
                None => String::new(),
            };
            notice(format!("{how_full}older history is being summarised."), out);
        }
        let compacting = Compacting {
            side: self.next_side(),
            trigger,
            focus,
            cut,
            room,
            asked: 0,
            then,
        };
        self.ask_for_summary(compacting, out);
        Ok(())
    }

    fn ask_for_summary(&mut self, mut compacting: Compacting, out: &mut Vec<Effect>) {
        let request = summary::request(
            &self.settings,
            &self.history[..compacting.cut.start],
            compacting.focus.as_deref(),
            compacting.room,
        );
        compacting.asked = budget::of_said(&request).min(compacting.room.input);
        out.push(Effect::AskSide {
            side: compacting.side,
            about: Aside::Summary,
            request: Box::new(request),
        });
        if let Some(turn) = &mut self.turn {
            turn.compacting = Some(compacting);
        }
    }

    pub(super) fn next_side(&mut self) -> SideId {
        SideId(Counters::take(&mut self.next.side))
    }

    /// Whether the turn waits for this answer as its summary.
    pub(super) fn is_summary(&self, side: SideId) -> bool {
        let compacting = self.turn.as_ref().and_then(|it| it.compacting.as_ref());
        compacting.is_some_and(|it| it.side == side)
    }

    /// A summary came, or it did not.
    pub(super) fn summarised(
        &mut self,
        side: SideId,
        answer: Result<SideAnswer, ModelError>,
        out: &mut Vec<Effect>,
    ) {
        let Some(turn) = &mut self.turn else { return };
        let Some(mut compacting) = turn.compacting.take_if(|it| it.side == side) else {
            return;
        };
        if let Ok(SideAnswer {
            model,
            usage: Some(usage),
            ..
        }) = &answer
        {
            self.used(model, Purpose::Compaction, *usage, out);
        }
        match answer {
            Ok(said) if !said.text.trim().is_empty() => self.compacted(compacting, &said.text, out),
            Ok(_) => self.not_compacted(compacting, "the model's summary was empty", out),
            Err(error)
                if error.kind == ModelErrorKind::ContextOverflow
                    && compacting.asked / 2 >= LEAST_INPUT =>
            {
                compacting.side = self.next_side();
                compacting.room.input = compacting.asked / 2;
                self.ask_for_summary(compacting, out);
            }
            Err(error) => {
                let why = error.message.trim_end_matches('.').to_owned();
                self.not_compacted(compacting, &why, out);
            }
        }
    }

    fn compacted(&mut self, compacting: Compacting, said: &str, out: &mut Vec<Effect>) {
        let Compacting {
            trigger, cut, then, ..
        } = compacting;
        let id = self.next.compaction + 1;
        let before = self.filled();
        let n_steps = self.history[..cut.start].iter().map(steps).sum();
        let text = summary::checkpoint(id, trigger, cut.kept, n_steps, &redact(said));
        out.push(Effect::Append(Record::Compacted {
            id,
            trigger,
            summary: text.clone(),
            kept: cut.kept,
        }));
        self.take_summary(id, cut.kept, text);
        self.resume_compacting();
        let after = self.filled();
        if let Some(most) = budget::own_threshold(&self.settings)
            && after >= most / 4 * 3
        {
            // Without a window, as much again as there is.
            let end = self.settings.window.unwrap_or(after.saturating_mul(2));
            self.compaction.floor = after + end.saturating_sub(after) / 2;
        }
        out.push(Effect::Show(Update::Usage(
            self.last_usage().unwrap_or_default(),
        )));
        let receipt = format!(
            "{} About {before} tokens became {after}.",
            receipt(id, trigger)
        );
        match then {
            Then::Ask => {
                notice(receipt, out);
                self.ask_after_summary(out);
            }
            Then::End(text) => self.end_compacting(text, receipt, out),
            Then::Close(reason, end) => {
                notice(receipt, out);
                self.end(reason, end, out);
            }
        }
    }

    /// The history stays as it is.
    fn not_compacted(&mut self, compacting: Compacting, why: &str, out: &mut Vec<Effect>) {
        let failed = format!("Older history was not summarised: {why}. It stays as it is");
        match compacting.then {
            Then::End(text) => return self.end_compacting(text, format!("{failed}."), out),
            Then::Close(reason, end) => {
                notice(format!("{failed}."), out);
                return self.end(reason, end, out);
            }
            Then::Ask => {}
        }
        match compacting.trigger {
            Trigger::Threshold => {
                self.compaction.is_paused = true;
                let text = format!("{failed}, and is not tried again by itself; `/compact` does.");
                notice(text, out);
            }
            Trigger::Person | Trigger::Model => notice(format!("{failed}."), out),
            Trigger::Overflow => {
                notice(
                    format!("{failed}; long texts of it are left out for now."),
                    out,
                );
                self.squeeze();
            }
        }
        self.ask_after_summary(out);
    }

    fn ask_after_summary(&mut self, out: &mut Vec<Effect>) {
        self.take_in_queued(out);
        self.ask(out);
    }

    /// The turn was about the summary alone.
    fn end_compacting(&mut self, text: String, answer: String, out: &mut Vec<Effect>) {
        self.command(text, answer, out);
        let end = PromptEnd::Ended(StopReason::EndTurn);
        self.end(EndReason::Done, end, out);
    }

    /// Ends a turn that has done its work; what the person wished meanwhile is done before.
    pub(super) fn close_turn(&mut self, reason: EndReason, end: PromptEnd, out: &mut Vec<Effect>) {
        let is_due = |it: &mut Due| it.trigger == Trigger::Person;
        // What waits begins with a summary anyway.
        let due = match self.queue.is_empty() {
            true => self.compaction.due.take_if(is_due),
            false => None,
        };
        if let Some(due) = due {
            let then = Then::Close(reason.clone(), end.clone());
            match self.summarise(due.trigger, due.focus, then, out) {
                Ok(()) => return,
                Err(nothing) => notice(nothing.text().to_owned(), out),
            }
        }
        self.end(reason, end, out);
    }

    /// A wish of the model's ends with its turn.
    pub(super) fn forget_wish(&mut self) {
        let is_person = |it: &Due| it.trigger == Trigger::Person && !self.queue.is_empty();
        self.compaction.due = self.compaction.due.take().filter(is_person);
    }

    /// The turn ends while it waits for a summary.
    pub(super) fn stop_compacting(&mut self, out: &mut Vec<Effect>) {
        self.compaction.due = None;
        let Some(turn) = &mut self.turn else { return };
        if let Some(compacting) = turn.compacting.take() {
            out.push(Effect::StopSide(compacting.side));
        }
    }

    /// Puts a summary in its place, as it came or as the log has it.
    pub(super) fn take_summary(&mut self, id: u64, kept: Kept, text: String) {
        self.next.compaction = id;
        context::compact(&mut self.history, kept, text);
        forget_old_pictures(&mut self.history);
        // What was counted is gone. Until the next answer an estimate stands for it.
        self.measured = None::<Measured>;
        let history = self.history.iter().map(budget::of_entry).sum();
        self.last = Some(Last::Estimated(history));
    }

    /// The provider said that the conversation is too long, and no call was made. False: nothing more can be done.
    pub(super) fn makes_room(&mut self, out: &mut Vec<Effect>) -> bool {
        if !self.tightens() {
            return false;
        }
        if !self.compacts_first(out) {
            self.ask(out);
        }
        true
    }

    /// As [`makes_room`](Self::makes_room), once the calls have ended that were made before.
    pub(super) fn makes_room_later(&mut self) -> bool {
        self.tightens()
    }

    fn tightens(&mut self) -> bool {
        let Some(turn) = &mut self.turn else {
            return false;
        };
        let tightness = &mut turn.tightness;
        tightness.overflows += 1;
        let is_at_end = tightness.squeezed.is_some_and(|it| it < LEAST_SQUEEZED);
        if tightness.overflows > MOST_OVERFLOWS || is_at_end {
            return false;
        }
        match tightness.overflows {
            1 | 2 => self.compact_before_next(Trigger::Overflow, None),
            _ => self.squeeze(),
        }
        true
    }

    /// The next request has half of what it has now, of what is not the model's own.
    fn squeeze(&mut self) {
        let now = budget::of_said(&self.request());
        if let Some(turn) = &mut self.turn {
            turn.tightness.squeezed = Some(now / 2);
        }
    }

    /// An answer has come to its end: whatever it was, the conversation was not too long.
    pub(super) fn fitted(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.tightness.overflows = 0;
        }
    }

    /// Whether the answer that has just ended without a call stopped because the window was full, and is gone on with. The
    /// model is then told so, and older history goes first.
    pub(super) fn goes_on_in_new_window(&mut self, out: &mut Vec<Effect>) -> bool {
        let is_full = self.is_window_full();
        let most = self.settings.compaction.max_truncation_recoveries;
        let answers = self.settings.turn_answers;
        let Some(turn) = &mut self.turn else {
            return false;
        };
        if !is_full {
            turn.tightness.recoveries = 0;
            return false;
        }
        if turn.answers >= answers || (most > 0 && turn.tightness.recoveries >= most) {
            return false;
        }
        turn.tightness.recoveries += 1;
        self.tell_next(GO_ON.to_owned(), out);
        self.compact_before_next(Trigger::Overflow, None);
        true
    }

    /// Whether an answer that reached a limit reached that of the window.
    fn is_window_full(&self) -> bool {
        let Some(turn) = &self.turn else { return false };
        match turn.stop {
            StopReason::WindowFull => true,
            StopReason::MaxTokens => {
                let filled = self.last_usage().as_ref().map_or(0, crate::usage::filled);
                let window = self.settings.window;
                // Servers keep a little of it for themselves.
                window.is_some_and(|it| it > 0 && filled >= it - it / 50)
            }
            StopReason::EndTurn
            | StopReason::ToolCalls
            | StopReason::Refusal
            | StopReason::Paused
            | StopReason::Other(_) => false,
        }
    }
}

fn notice(text: String, out: &mut Vec<Effect>) {
    out.push(Effect::Show(Update::Notice(text)));
}

/// Messages that a step of the history is: an answer and its results are one each.
fn steps(entry: &Entry) -> usize {
    match entry {
        Entry::User(_) | Entry::Told(_) | Entry::Summary(_) => 1,
        // One that said nothing is not in the log.
        Entry::Answer(answer) if !answer.is_said() => 0,
        Entry::Answer(answer) => 1 + answer.calls.len(),
    }
}

/// What the person reads of a summary that was made.
pub(super) fn receipt(id: u64, trigger: Trigger) -> String {
    let why = match trigger {
        Trigger::Person => "as you asked",
        Trigger::Model => "as the model asked",
        Trigger::Threshold => "because the window was getting full",
        Trigger::Overflow => "because the conversation was too long for the model",
    };
    let name = summary::name(id);
    format!("Older history was summarised ({name}), {why}; the session's log keeps all of it.")
}
