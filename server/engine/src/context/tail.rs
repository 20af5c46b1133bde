//! What of a history stays as it is when the rest is summarised (spec 12.3).
//!
//! A call and its result are one step of the history, so no cut goes between them. What the person wrote and the model
//! has not answered always stays.

use super::budget::of_entry;
use super::{Entry, start_of};
use protocol::record::Kept;

/// What is wished of the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The person's newest messages that stay, with what followed them.
    pub turns: u32,
    /// The most tokens of it.
    pub tokens: u64,
    pub pressure: Pressure,
}

/// How much must go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressure {
    /// Only what there is beside the tail.
    Calm,
    /// Something, and if it is the tail.
    Room,
}

/// Where a history is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// What stays, as the log says it.
    pub kept: Kept,
    /// The first step of the history that stays.
    pub start: usize,
}

/// The cut that keeps most of what is wished. None: there is too little to summarise.
pub fn cut(history: &[Entry], wish: Wish) -> Option<Cut> {
    let unanswered = unanswered(history);
    let least = unanswered.max(wish.turns.min(1));
    let most = wish.turns.max(unanswered);
    let by_prompts = (least..=most).rev().find_map(|n| {
        let cut = at(history, Kept::Prompts(n));
        // What was asked and not answered has no choice.
        let fits = n == unanswered || tokens(&history[cut.start..]) <= wish.tokens;
        (fits && is_worth_it(history, cut)).then_some(cut)
    });
    if by_prompts.is_some() || unanswered > 0 {
        return by_prompts;
    }
    if wish.pressure == Pressure::Calm && tokens(history) <= wish.tokens {
        return None;
    }
    by_answer(history, wish.tokens).or_else(|| {
        let cut = at(history, Kept::Nothing);
        is_worth_it(history, cut).then_some(cut)
    })
}

fn at(history: &[Entry], kept: Kept) -> Cut {
    let start = start_of(history, kept);
    Cut { kept, start }
}

/// The first answer from which on all fits.
fn by_answer(history: &[Entry], most: u64) -> Option<Cut> {
    let answers = history.iter().filter_map(|it| match it {
        // One that said nothing is not in the log.
        Entry::Answer(it) if !it.text.is_empty() || !it.calls.is_empty() => Some(it.number),
        Entry::Answer(_) | Entry::User(_) | Entry::Told(_) | Entry::Summary(_) => None,
    });
    let mut cuts = answers.map(|it| at(history, Kept::Answer(it)));
    cuts.find(|cut| is_worth_it(history, *cut) && tokens(&history[cut.start..]) <= most)
}

/// What the person wrote behind the last answer.
fn unanswered(history: &[Entry]) -> u32 {
    let newest = history.iter().rev();
    let newest = newest.take_while(|it| !matches!(it, Entry::Answer(it) if it.is_said()));
    let prompts = newest.filter(|it| matches!(it, Entry::User(_)));
    u32::try_from(prompts.count()).unwrap_or(u32::MAX)
}

/// Whether there is an answer among what goes.
fn is_worth_it(history: &[Entry], cut: Cut) -> bool {
    history[..cut.start]
        .iter()
        .any(|it| matches!(it, Entry::Answer(it) if !it.text.is_empty() || !it.calls.is_empty()))
}

fn tokens(entries: &[Entry]) -> u64 {
    entries.iter().map(of_entry).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Answer;

    /// `u` a message of the person's, `a` an answer, `t` something told, `s` a summary; a capital is long.
    fn history(steps: &str) -> Vec<Entry> {
        let long = |it: char| match it.is_uppercase() {
            true => "x".repeat(4_000),
            false => "x".to_owned(),
        };
        let steps = steps.chars().enumerate();
        let entry = |(at, it): (usize, char)| match it.to_ascii_lowercase() {
            'u' => Entry::User(long(it).into()),
            't' => Entry::Told(long(it)),
            's' => Entry::Summary(long(it)),
            _ => Entry::Answer(Answer {
                text: long(it),
                ..Answer::new(at as u64, "p/m")
            }),
        };
        steps.map(entry).collect()
    }

    /// Where it is cut: a bar in the steps, or nothing.
    #[track_caller]
    fn holds(pressure: Pressure, cases: &[(&str, &str)]) {
        for (steps, expect) in cases {
            let wish = Wish {
                turns: 2,
                tokens: 500,
                pressure,
            };
            let shown = match cut(&history(steps), wish) {
                None => String::new(),
                Some(cut) => format!("{}|{}", &steps[..cut.start], &steps[cut.start..]),
            };
            assert_eq!(shown, *expect, "{steps}");
        }
    }

    #[test]
    fn the_person_s_newest_messages_stay_as_far_as_they_fit() {
        holds(
            Pressure::Calm,
            &[
                ("", ""),
                ("u", ""),
                ("ua", ""),
                ("uaua", "ua|ua"),
                ("uauaua", "ua|uaua"),
                ("suauaua", "sua|uaua"),
                ("sua", ""),
                ("uauAua", "uauA|ua"),
                ("uatuaua", "ua|tuaua"),
                // What is not answered stays, however long.
                ("uaU", "ua|U"),
                ("uaUuu", "ua|Uuu"),
                ("U", ""),
            ],
        );
    }

    #[test]
    fn bug_066_one_prompt_and_a_very_long_run_is_cut_at_an_answer() {
        holds(
            Pressure::Calm,
            &[
                ("uAAaaa", "uAA|aaa"),
                ("uaAaA", "uaAaA|"),
                ("suAaa", "suA|aa"),
                ("uauAAaa", "uauAA|aa"),
            ],
        );
    }

    #[test]
    fn where_room_is_needed_the_tail_goes_too() {
        holds(
            Pressure::Room,
            &[
                ("ua", "ua|"),
                ("uA", "uA|"),
                ("uaa", "ua|a"),
                ("uau", "ua|u"),
                ("su", ""),
                ("u", ""),
                ("suA", "suA|"),
            ],
        );
    }
}
