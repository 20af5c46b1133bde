//! What follows when the model is silent and no call is open: the next answer, or the turn's end.
//!
//! A reply that reached its output cap is gone on with, an empty one is asked for once more (spec 25), and a goal is looked
//! at before the turn ends (`goals.rs`).

use super::effect::{Effect, PromptEnd, Update};
use super::turn::Turn;
use super::{Session, goals};
use crate::context::{Answer, Entry};
use crate::provider::{StopReason, Usage, stands_alone};
use protocol::record::EndReason;

/// What the model is told when its reply was cut and is to go on.
const GO_ON: &str = "[Your reply reached its output cap and was cut off. Go on exactly where it stopped; repeat nothing and say nothing about the cut.]";

/// What the person reads when the model says nothing, also when it is asked again.
const SAYS_NOTHING: &str = "The model answered twice with nothing. Write what to do in other words, or choose another model with /model.";

/// And when all that it may write went into its thoughts.
const ONLY_THOUGHT: &str = "The model reached its output cap while it was still thinking, twice. Raise default_model.max_tokens, or let it think less with /reasoning.";

/// What a run has used, whatever it was made of: turns towards a goal are one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The sum over its answers.
    pub tokens: Usage,
    /// The person ended it, or it failed.
    pub interrupted: bool,
}

/// What follows an answer whose calls all have results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The next answer.
    Ask,
    /// The rest of a reply that was cut.
    GoOn,
    /// The same answer once more, because it was empty.
    Again,
    /// Nothing; `empty`: the person is told that the model says nothing.
    End { empty: bool },
}

impl Session {
    /// What follows the last answer.
    pub(super) fn next(&self, turn: &Turn) -> Next {
        if turn.called {
            return Next::Ask;
        }
        let Some(Entry::Answer(answer)) = self.history.last() else {
            // It was never asked.
            return Next::End { empty: false };
        };
        let says = !answer.text.trim().is_empty();
        match turn.stop {
            // A pause in which nothing was said would be followed by the same request for ever.
            StopReason::Paused if !answer.text.is_empty() => Next::Ask,
            StopReason::Paused | StopReason::Refusal | StopReason::WindowFull => {
                Next::End { empty: false }
            }
            StopReason::MaxTokens if says && turn.continued < self.settings.continuations => {
                Next::GoOn
            }
            // Behind the work of tools, saying nothing is an end; up to the cap, it never is.
            StopReason::EndTurn | StopReason::ToolCalls | StopReason::Other(_)
                if turn.has_spoken =>
            {
                Next::End { empty: false }
            }
            StopReason::EndTurn
            | StopReason::ToolCalls
            | StopReason::MaxTokens
            | StopReason::Other(_) => match (is_empty(answer), turn.is_second) {
                (false, _) => Next::End { empty: false },
                (true, false) => Next::Again,
                (true, true) => Next::End { empty: true },
            },
        }
    }

    /// Makes ready for the next answer, where it is of a kind of its own.
    pub(super) fn prepare(&mut self, next: Next, out: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else { return };
        match next {
            Next::Ask => {
                turn.continued = 0;
                turn.is_second = false;
            }
            Next::GoOn => {
                turn.continued += 1;
                self.tell_next(GO_ON.to_owned(), out);
            }
            Next::Again => {
                turn.is_second = true;
                self.take_back(out);
            }
            Next::End { .. } => {}
        }
    }

    /// The model has nothing more to do: ends the turn, if no goal wants it to go on.
    pub(super) fn rest(&mut self, is_empty: bool, out: &mut Vec<Effect>) {
        let Some(turn) = &self.turn else { return };
        let stop = turn.stop.clone();
        if is_empty {
            let hint = match stop {
                StopReason::MaxTokens => ONLY_THOUGHT,
                StopReason::EndTurn
                | StopReason::ToolCalls
                | StopReason::Paused
                | StopReason::Refusal
                | StopReason::WindowFull
                | StopReason::Other(_) => SAYS_NOTHING,
            };
            out.push(Effect::Show(Update::Notice(hint.to_owned())));
        }
        let reason = match stop {
            StopReason::EndTurn
            | StopReason::ToolCalls
            | StopReason::Paused
            | StopReason::Other(_) => EndReason::Done,
            StopReason::MaxTokens | StopReason::WindowFull => EndReason::MaxTokens,
            StopReason::Refusal => EndReason::Refusal,
        };
        match &reason {
            EndReason::Done if !is_empty => {
                if self.checks_goal(out) {
                    return;
                }
            }
            EndReason::Done | EndReason::MaxTokens => self.pause_goal(goals::CUT, out),
            EndReason::Refusal => self.pause_goal(goals::REFUSED, out),
            EndReason::Cancelled | EndReason::Failed { .. } => {}
        }
        self.close_turn(reason, PromptEnd::Ended(stop), out);
    }

    /// What the run used that ended last.
    pub fn last_run(&self) -> Spent {
        self.last_run
    }
}

/// Whether an answer without calls says nothing. What a provider has done by itself is something.
fn is_empty(answer: &Answer) -> bool {
    let is_own_work = answer.raw.as_ref().is_some_and(stands_alone);
    answer.text.trim().is_empty() && !is_own_work
}

/// Adds the tokens of one answer.
pub(super) fn add(sum: &mut Usage, one: &Usage) {
    let Usage {
        input,
        cached,
        cache_write,
        output,
        reasoning,
    } = one;
    sum.input = sum.input.saturating_add(*input);
    sum.cached = sum.cached.saturating_add(*cached);
    sum.cache_write = sum.cache_write.saturating_add(*cache_write);
    sum.output = sum.output.saturating_add(*output);
    sum.reasoning = sum.reasoning.saturating_add(*reasoning);
}

impl Spent {
    /// One line for the person: `12 s, 3.4k tokens, +12 -3 lines`.
    pub fn line(&self, ms: u64, (added, removed): (u64, u64)) -> String {
        let Usage {
            input,
            cached,
            cache_write,
            output,
            reasoning,
        } = self.tokens;
        let tokens = [input, cached, cache_write, output, reasoning];
        let tokens = tokens.into_iter().fold(0, u64::saturating_add);
        let mut line = format!("{}, {} tokens", time(ms), short(tokens));
        if added + removed > 0 {
            line.push_str(&format!(", +{added} -{removed} lines"));
        }
        if self.interrupted {
            line.push_str(", interrupted");
        }
        line
    }
}

fn time(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        10_000..60_000 => format!("{} s", ms / 1000),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

fn short(n: u64) -> String {
    match n {
        0..1000 => n.to_string(),
        1000..1_000_000 => format!("{}.{}k", n / 1000, n % 1000 / 100),
        _ => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_in_one_line() {
        let mut spent = Spent {
            tokens: Usage {
                input: 1200,
                cached: 2000,
                output: 245,
                ..Usage::default()
            },
            interrupted: false,
        };
        assert_eq!(spent.line(1250, (0, 0)), "1.2 s, 3.4k tokens");
        assert_eq!(
            spent.line(61_000, (12, 3)),
            "1 min 1 s, 3.4k tokens, +12 -3 lines"
        );
        spent.interrupted = true;
        spent.tokens = Usage::default();
        assert_eq!(
            spent.line(12_000, (0, 1)),
            "12 s, 0 tokens, +0 -1 lines, interrupted"
        );
    }
}
