//! What the person's text is without the agent, counted line by line by what each of the two did.

use super::{author, ledger, replacement, revert};
use crate::review::{By, HunkState, Ledger, Which};

const SEED: u64 = 0x5eed_0078;

/// Every line is one of its kind, so it can be followed without any diff.
struct Page {
    random: fastrand::Rng,
    ledger: Ledger,
    live: Vec<u32>,
    /// What the person would have if the agent had never been.
    persons: Vec<u32>,
    n_lines: u32,
    turn: u64,
}

fn line(id: u32) -> String {
    let ending = ["\n", "\r\n"][id as usize % 2];
    format!("{}é{id}{ending}", "  ".repeat(id as usize % 3))
}

fn text(ids: &[u32]) -> String {
    ids.iter().map(|it| line(*it)).collect()
}

impl Page {
    fn new(seed: u64) -> Page {
        let ids: Vec<u32> = (0..20).collect();
        Page {
            random: fastrand::Rng::with_seed(seed),
            ledger: ledger(&text(&ids)),
            live: ids.clone(),
            persons: ids,
            n_lines: 20,
            turn: 0,
        }
    }

    fn new_lines(&mut self, n: usize) -> Vec<u32> {
        let first = self.n_lines;
        self.n_lines += n as u32;
        (first..self.n_lines).collect()
    }

    fn replace(&mut self, range: std::ops::Range<usize>, new: &[u32], by_agent: bool) {
        let start = text(&self.live[..range.start]).len();
        let end = start + text(&self.live[range.clone()]).len();
        let changes = replacement(&self.ledger, start..end, &text(new));
        let own = author(self.turn);
        let by = if by_agent {
            By::Agent(&own)
        } else {
            By::Person
        };
        self.ledger.edited(&changes, by).unwrap();
        self.live.splice(range, new.iter().copied());
    }

    fn agent(&mut self) {
        let start = self.random.usize(..=self.live.len());
        let end = (start + self.random.usize(..4)).min(self.live.len());
        let max = if self.live.len() > 40 { 1 } else { 5 };
        let n_new = self.random.usize(..max);
        let new = self.new_lines(n_new);
        self.replace(start..end, &new, true);
    }

    /// Somewhere with a line of the person's own on both sides, and nothing of the agent's between.
    fn person(&mut self) {
        let n_old = self.random.usize(..3);
        let places: Vec<(usize, usize)> = (0..self.live.len())
            .filter_map(|at| {
                let around = self.live.get(at..at + n_old + 2)?;
                let mut all = self.persons.windows(n_old + 2);
                Some((at + 1, all.position(|it| it == around)? + 1))
            })
            .collect();
        if places.is_empty() {
            return;
        }
        let (live, persons) = places[self.random.usize(..places.len())];
        let n_new = self.random.usize(..3);
        let new = self.new_lines(n_new);
        self.replace(live..live + n_old, &new, false);
        self.persons.splice(persons..persons + n_old, new);
    }
}

#[test]
fn reverting_all_gives_the_text_as_if_the_agent_had_never_been() {
    for round in 0..50 {
        let mut page = Page::new(SEED + round);
        for step in 0..100 {
            match page.random.u8(..20) {
                0 => page.turn += 1,
                1 => {
                    page.ledger.keep(Which::All);
                    page.persons = page.live.clone();
                }
                2 => {
                    revert(&mut page.ledger, Which::All);
                    page.live = page.persons.clone();
                }
                3..10 => page.agent(),
                _ => page.person(),
            }
            let place = format!("round {round}, step {step}");
            assert_eq!(*page.ledger.live(), *text(&page.live), "{place}");
            assert_eq!(page.ledger.base(), *text(&page.persons), "{place}");
            let mut all = page.ledger.hunks();
            all.retain(|it| it.state == HunkState::Mixed);
            assert_eq!(all, [], "{place}");
            let mut ledger = page.ledger.clone();
            let undo = revert(&mut ledger, Which::All);
            assert_eq!(undo.left, [], "{place}");
            assert_eq!(*ledger.live(), *text(&page.persons), "{place}");
            assert!(ledger.is_settled(), "{place}");
        }
    }
}
