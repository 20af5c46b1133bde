//! Decides which of its possible places each hunk is meant for, or that it is in doubt.

use std::ops::Range;

use super::Why;

/// A hunk and where it fits.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    /// First lines, from 0, in order, at least one.
    pub(super) places: Vec<usize>,
    /// The lines it changes, counted from its first; empty for an insertion.
    pub(super) core: Range<usize>,
    /// The line it states, from 0.
    pub(super) stated: Option<usize>,
    pub(super) is_trusted: bool,
    /// The one place that its heading speaks for.
    pub(super) hinted: Option<usize>,
}

/// One place for each, or why there is none, with the number of the hunk.
///
/// Hunks come in the order of the file, which alone often leaves only one way to place them all. What is still
/// open goes by the stated line: shifted as far as the hunks around are, and only if the next best place is
/// clearly further away.
pub(super) fn choose(choices: &[Choice]) -> Result<Vec<usize>, Vec<(usize, Why)>> {
    let latest = latest(choices);
    let is_ordered = latest.is_some() && earliest_fits(choices);
    let mut chosen: Vec<usize> = Vec::new();
    let mut failures = Vec::new();
    for (at, choice) in choices.iter().enumerate() {
        let before = at.checked_sub(1).map(|it| (&choices[it], chosen[it]));
        let left: Vec<usize> = choice
            .places
            .iter()
            .copied()
            .filter(|place| {
                !is_ordered
                    || before.is_none_or(|(other, there)| follows(other, there, choice, *place))
                        && latest.as_ref().is_none_or(|it| *place <= it[at])
            })
            .collect();
        match pick(choices, &chosen, at, &left) {
            Some(place) => chosen.push(place),
            None => {
                let lines = left.iter().map(|it| it + 1).collect();
                failures.push((at, Why::Ambiguous { lines }));
                // So that the others can be judged.
                chosen.push(left.first().copied().unwrap_or(choice.places[0]));
            }
        }
    }
    match failures.is_empty() {
        true => Ok(chosen),
        false => Err(failures),
    }
}

/// Whether a hunk may stand at `there` after one that stands at `here`. Their context may be shared.
fn follows(first: &Choice, here: usize, second: &Choice, there: usize) -> bool {
    let end = here + first.core.end;
    let start = there + second.core.start;
    let both_insert = first.core.is_empty() && second.core.is_empty();
    here <= there && (end < start || end == start && !both_insert)
}

/// The last place of each if all stand in order.
fn latest(choices: &[Choice]) -> Option<Vec<usize>> {
    let mut latest = vec![0; choices.len()];
    for (at, choice) in choices.iter().enumerate().rev() {
        let fits = |place: &&usize| match choices.get(at + 1) {
            Some(next) => follows(choice, **place, next, latest[at + 1]),
            None => true,
        };
        latest[at] = *choice.places.iter().rev().find(fits)?;
    }
    Some(latest)
}

/// Whether they can all stand in order.
fn earliest_fits(choices: &[Choice]) -> bool {
    let mut before: Option<(&Choice, usize)> = None;
    choices.iter().all(|choice| {
        let place = choice.places.iter().find(|place| {
            before.is_none_or(|(other, there)| follows(other, there, choice, **place))
        });
        before = place.map(|it| (choice, *it));
        place.is_some()
    })
}

fn pick(choices: &[Choice], chosen: &[usize], at: usize, left: &[usize]) -> Option<usize> {
    if let [place] = left {
        return Some(*place);
    }
    let choice = &choices[at];
    // A heading says nothing against a number that can be trusted.
    let is_nearest = |place: usize| match choice.stated.filter(|_| choice.is_trusted) {
        Some(stated) => left.iter().min_by_key(|it| it.abs_diff(stated)) == Some(&place),
        None => left.contains(&place),
    };
    by_number(choices, chosen, at, left).or(choice.hinted.filter(|it| is_nearest(*it)))
}

/// The place that the stated line speaks for, clearly.
fn by_number(choices: &[Choice], chosen: &[usize], at: usize, left: &[usize]) -> Option<usize> {
    let choice = &choices[at];
    let stated = choice.stated?;
    let shift = |other: &Choice, place: usize| Some(place as isize - other.stated? as isize);
    let before = choices[..at]
        .iter()
        .zip(chosen)
        .rev()
        .find_map(|(other, place)| shift(other, *place));
    let after = choices[at + 1..]
        .iter()
        .filter(|it| it.places.len() == 1)
        .find_map(|other| shift(other, other.places[0]));
    let shifts = match (before, after) {
        (None, None) => vec![0],
        _ => [before, after].into_iter().flatten().collect(),
    };
    let mut picks = shifts
        .into_iter()
        .map(|shift| nearest(left, stated as isize + shift, choice.is_trusted));
    let first = picks.next()??;
    picks.all(|it| it == Some(first)).then_some(first)
}

/// The place nearest to `wanted`, if the next one is clearly further away. At the very line a number whose
/// counts are right is believed; one whose counts are wrong was guessed, and needs a wide margin.
fn nearest(places: &[usize], wanted: isize, is_trusted: bool) -> Option<usize> {
    let mut by_distance: Vec<(usize, usize)> = places
        .iter()
        .map(|it| (wanted.abs_diff(*it as isize), *it))
        .collect();
    by_distance.sort_unstable();
    let (near, place) = *by_distance.first()?;
    let Some((next, _)) = by_distance.get(1) else {
        return Some(place);
    };
    let is_clear = match is_trusted {
        true => near == 0 && *next > 0 || *next >= 3 * near + 2,
        false => *next >= 4 * near + 10,
    };
    is_clear.then_some(place)
}
