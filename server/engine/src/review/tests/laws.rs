//! Laws of the ledger under random edits by the person and the agent in one document.

use std::collections::BTreeSet;

use ropey::Rope;

use super::{author, ledger, model::Model, replacement, revert, turn};
use crate::{
    review::{By, HunkId, HunkState, Ledger, ReviewHunk, Which, align::aligned},
    text::{ChangeSet, Edit, Encoding, position},
};

const SEED: u64 = 0x5eed_0077;

const PIECES: [&str; 16] = [
    "a", "b", "  x", "é", "漢", "😀", "e\u{301}", "\n", "\n", "\n", "\r\n", "\r", "a\n", "b\n",
    "}\n", "\n\n",
];

/// Two hands in one document, and the model beside it.
struct Desk {
    random: fastrand::Rng,
    ledger: Ledger,
    /// Only where it is asked: it is slow.
    model: Option<Model>,
    /// What the model was around the latest edits of the agent's and reverts, the oldest first.
    past: Vec<Then>,
    /// The latest texts.
    texts: Vec<String>,
    turn: u64,
    /// Counts the characters that the person types: each is one of its kind.
    n_typed: u32,
    step: usize,
}

struct Then {
    live: Rope,
    model: Model,
    ids: Vec<HunkId>,
}

impl Desk {
    fn new(seed: u64, with_model: bool) -> Desk {
        let text = "a\nb\r\n  x\n}\n\nlast";
        Desk {
            random: fastrand::Rng::with_seed(seed),
            ledger: ledger(text),
            model: with_model.then(|| Model::new(text)),
            past: Vec::new(),
            texts: Vec::new(),
            turn: 1,
            n_typed: 0,
            step: 0,
        }
    }

    fn text(&mut self, max: usize) -> String {
        (0..self.random.usize(..=max))
            .map(|_| PIECES[self.random.usize(..PIECES.len())])
            .collect()
    }

    fn typed(&mut self) -> String {
        let mut text = self.text(2);
        for _ in 0..self.random.usize(..2) {
            self.n_typed = (self.n_typed + 1) % 0x1_0000;
            let mark = char::from_u32(0xf_0000 + self.n_typed).unwrap_or('?');
            let at = text.floor_char_boundary(self.random.usize(..=text.len()));
            text.insert(at, mark);
        }
        text
    }

    /// Often at the border of a line, for there the rules are fine.
    fn range(&mut self, live: &str) -> std::ops::Range<usize> {
        let place = |random: &mut fastrand::Rng| {
            let at = live.floor_char_boundary(random.usize(..=live.len()));
            match random.u8(..3) {
                0 => at,
                _ => live[..at].rfind(['\n', '\r']).map_or(0, |it| it + 1),
            }
        };
        let start = place(&mut self.random);
        match self.random.u8(..4) {
            0 | 1 => start..start,
            2 => {
                let end = live.ceil_char_boundary((start + self.random.usize(..4)).min(live.len()));
                start..end
            }
            _ => {
                let end = place(&mut self.random);
                start.min(end)..start.max(end)
            }
        }
    }

    fn edit(&mut self, by_agent: bool) {
        let live = self.ledger.live().to_string();
        let mut range = self.range(&live);
        // Keeps the document small.
        if live.len() > 300 {
            range.end = live.ceil_char_boundary(live.len().min(range.start + 150));
        }
        let mut text = if by_agent { self.text(4) } else { self.typed() };
        if live.len() > 300 {
            text.clear();
        }
        self.put(range, text, by_agent);
    }

    /// The person takes back what happened last, or more.
    fn undo(&mut self) {
        let Some(text) = self.random.choice(&self.texts).cloned() else {
            return;
        };
        let live = self.ledger.live().to_string();
        let edits = ChangeSet::between(&live, &text).edits();
        if let (Some(first), Some(last)) = (edits.first(), edits.last()) {
            let range = first.range.start..last.range.end;
            let end = text.len() - (live.len() - range.end);
            let text = text[range.start..end].to_owned();
            self.put(range, text, false);
        }
    }

    fn put(&mut self, range: std::ops::Range<usize>, text: String, by_agent: bool) {
        let changes = replacement(&self.ledger, range.clone(), &text);
        let rope = self.ledger.live().clone();
        let own = author(self.turn);
        let by = if by_agent {
            By::Agent(&own)
        } else {
            By::Person
        };
        let before = by_agent.then(|| self.now()).flatten();
        self.ledger.edited(&changes, by).unwrap();
        if let Some(model) = &mut self.model {
            let then = self
                .past
                .iter()
                .rev()
                .find(|it| it.live == *self.ledger.live());
            match then.filter(|_| !by_agent && !changes.is_identity()) {
                Some(then) => model.return_to(&then.model),
                None => {
                    let Edit { range, text } = aligned(&rope, Edit { range, text });
                    model.edit(range, &text, by_agent.then_some(self.turn));
                }
            }
        }
        self.remember(before);
    }

    fn now(&mut self) -> Option<Then> {
        Some(Then {
            live: self.ledger.live().clone(),
            model: self.model.clone()?,
            ids: self.ids(),
        })
    }

    fn ids(&mut self) -> Vec<HunkId> {
        self.ledger.hunks().into_iter().map(|it| it.id).collect()
    }

    /// Remembers both sides of an edit, if it was one.
    fn remember(&mut self, before: Option<Then>) {
        let Some((before, after)) = before.zip(self.now()) else {
            return;
        };
        if before.live.is_instance(&after.live) {
            return;
        }
        for then in [before, after] {
            self.past.retain(|it| !it.live.is_instance(&then.live));
            self.past.push(then);
            if self.past.len() > 64 {
                self.past.remove(0);
            }
        }
    }

    /// What was accepted was so at all times.
    fn keep_in_past(&mut self, ids: &[HunkId]) {
        for then in &mut self.past {
            while let Some(index) = then.ids.iter().position(|it| ids.contains(it)) {
                then.model.settle(index, true);
                then.ids.remove(index);
            }
        }
    }

    fn step(&mut self) {
        self.step += 1;
        self.texts.push(self.ledger.live().to_string());
        if self.texts.len() > 6 {
            self.texts.remove(0);
        }
        match self.random.u8(..100) {
            0..45 => self.edit(false),
            45..80 => self.edit(true),
            80..82 => self.turn += 1,
            82..84 => self.undo(),
            84..88 => self.settle_one(true),
            88..92 => self.settle_one(false),
            92..94 => {
                let ids = self.ids();
                self.keep_in_past(&ids);
                self.ledger.keep(Which::All);
                if let Some(model) = &mut self.model {
                    *model = Model::new(&self.ledger.live().to_string());
                }
            }
            94..96 => {
                let before = self.now();
                revert(&mut self.ledger, Which::All);
                if let Some(model) = &mut self.model {
                    model.revert_all();
                }
                self.remember(before);
            }
            96..98 => {
                let live = self.ledger.live().to_string();
                let record = self.ledger.to_record();
                self.ledger = Ledger::from_record(&record, &live).unwrap();
                // Whose turn it was at the time of writing is not in it.
                self.turn += 1;
                self.past.clear();
            }
            _ => self.agree_on_a_turn(),
        }
    }

    fn settle_one(&mut self, keep: bool) {
        let all = self.ledger.hunks();
        if all.is_empty() {
            return;
        }
        let one = self.random.usize(..all.len());
        let ids = [all[one].id.clone()];
        let before = self.now();
        if keep {
            self.keep_in_past(&ids);
            self.ledger.keep(Which::Hunks(&ids));
        } else {
            revert(&mut self.ledger, Which::Hunks(&ids));
        }
        if let Some(model) = &mut self.model {
            model.settle(one, keep);
        }
        self.remember(before);
    }

    /// A turn that begins now can be taken back exactly, whatever state the document was in. One exception: where
    /// it took an earlier turn's work back itself, nothing is left to review.
    fn agree_on_a_turn(&mut self) {
        let mut ledger = self.ledger.clone();
        let (live, base) = (ledger.live().to_string(), ledger.base());
        let hunks = ledger.hunks();
        self.turn += 1;
        let own = author(self.turn);
        for _ in 0..3 {
            let text = ledger.live().to_string();
            let range = self.range(&text);
            let new = self.text(4);
            let changes = replacement(&ledger, range, &new);
            ledger.edited(&changes, By::Agent(&own)).unwrap();
        }
        let undo = revert(&mut ledger, turn(self.turn));
        assert_eq!(undo.left, [], "step {}", self.step);
        let undone = ledger.live().to_string();
        let hunks: Vec<(&str, &str)> = hunks
            .iter()
            .map(|it| (&*it.live_text, &*it.base_text))
            .collect();
        assert!(
            is_same_but_for(&undone, &live, &self.ledger, &hunks),
            "step {}: {live:?} became {undone:?}",
            self.step
        );
        assert_eq!(ledger.base(), base, "step {}", self.step);
    }

    fn check_model(&mut self) {
        let step = self.step;
        let model = self.model.as_ref().unwrap();
        assert_eq!(*self.ledger.live(), *model.live(), "step {step}");
        assert_eq!(self.ledger.base(), *model.base(), "step {step}");
        let found: Vec<_> = self
            .ledger
            .hunks()
            .into_iter()
            .map(|it| {
                let lines = it.lines.start as usize..it.lines.end as usize;
                (
                    it.base_text,
                    it.live_text,
                    it.state == HunkState::Mixed,
                    lines,
                )
            })
            .collect();
        let expected: Vec<_> = model
            .hunks()
            .into_iter()
            .map(|(it, lines)| {
                (
                    it.layers[0].1.clone(),
                    it.live.clone(),
                    it.is_mixed(),
                    lines,
                )
            })
            .collect();
        assert_eq!(found, expected, "step {step}");
    }
}

/// Whether a text is `live`, perhaps with the accepted lines for some hunks.
fn is_same_but_for(text: &str, live: &str, ledger: &Ledger, hunks: &[(&str, &str)]) -> bool {
    let mut ends = vec![0];
    let mut at = 0;
    let record = ledger.to_record();
    let mut base_at = 0;
    for (own, (new, old)) in record.hunks.iter().zip(hunks) {
        let common = own.base_start as usize - base_at;
        base_at += common + old.len();
        let shared = &live[at..at + common];
        at += common + new.len();
        let mut next = Vec::new();
        for end in ends {
            let rest: &str = &text[end..];
            if let Some(rest) = rest.strip_prefix(shared) {
                let tails = [new, old].map(|it| rest.strip_prefix(it));
                next.extend(tails.into_iter().flatten().map(|it| text.len() - it.len()));
            }
        }
        next.dedup();
        ends = next;
    }
    ends.iter().any(|it| text[*it..] == live[at..])
}

/// What the person typed and is still there.
fn marks(text: &str) -> BTreeSet<char> {
    text.chars().filter(|it| *it >= '\u{f0000}').collect()
}

fn walk(n_steps: usize, check: impl FnMut(&mut Desk)) {
    walk_with(n_steps, false, check);
}

fn walk_with(n_steps: usize, model: bool, mut check: impl FnMut(&mut Desk)) {
    for round in 0..n_steps.div_ceil(500) {
        let mut desk = Desk::new(SEED + round as u64, model);
        for _ in 0..500 {
            desk.step();
            check(&mut desk);
        }
    }
}

#[test]
fn the_ledger_says_what_a_slow_model_says() {
    walk_with(10_000, true, Desk::check_model);
}

#[test]
#[ignore = "the same for longer; for release builds"]
fn the_ledger_says_what_a_slow_model_says_for_100_000_steps() {
    walk_with(100_000, true, Desk::check_model);
}

#[test]
fn no_character_of_the_persons_is_lost_by_anything_wider_than_a_hunk() {
    walk(5_000, |desk| {
        let before = marks(&desk.ledger.live().to_string());
        for which in [
            Which::All,
            Which::Session("s"),
            turn(desk.turn),
            turn(desk.turn - 1),
        ] {
            let mut ledger = desk.ledger.clone();
            revert(&mut ledger, which);
            let after = marks(&ledger.live().to_string());
            let lost: Vec<_> = before.difference(&after).collect();
            assert!(lost.is_empty(), "step {}, {which:?}: {lost:?}", desk.step);
        }
    });
}

#[test]
fn after_keeping_all_there_is_nothing_to_review_and_the_text_is_the_same() {
    walk(5_000, |desk| {
        let mut ledger = desk.ledger.clone();
        ledger.keep(Which::All);
        assert_eq!(ledger.hunks(), []);
        assert_eq!(ledger.base(), *desk.ledger.live(), "step {}", desk.step);
        assert_eq!(ledger.live(), desk.ledger.live(), "step {}", desk.step);
    });
}

#[test]
fn after_reverting_all_only_mixed_hunks_are_left_and_the_base_is_the_same() {
    walk(5_000, |desk| {
        let mut ledger = desk.ledger.clone();
        let base = ledger.base();
        let undo = revert(&mut ledger, Which::All);
        let states: Vec<HunkState> = ledger.hunks().iter().map(|it| it.state).collect();
        assert!(
            states.iter().all(|it| *it == HunkState::Mixed),
            "step {}",
            desk.step
        );
        assert_eq!(
            undo.left.is_empty(),
            states.is_empty(),
            "step {}",
            desk.step
        );
        assert_eq!(ledger.base(), base, "step {}", desk.step);
        if states.is_empty() {
            assert_eq!(*ledger.live(), base, "step {}", desk.step);
        }
    });
}

#[test]
fn reverting_a_hunk_changes_only_that_hunk() {
    walk(5_000, |desk| {
        let mut ledger = desk.ledger.clone();
        let mut before = ledger.hunks();
        if before.is_empty() {
            return;
        }
        let base = ledger.base();
        let live = ledger.live().clone();
        let one = before.remove(desk.random.usize(..before.len()));
        let undo = revert(&mut ledger, Which::Hunks(std::slice::from_ref(&one.id)));
        assert_eq!(undo.hunks, std::slice::from_ref(&one.id));
        let start = live.line_to_byte(one.lines.start as usize);
        let mut expected = live.to_string();
        expected.replace_range(start..start + one.live_text.len(), &one.base_text);
        assert_eq!(*ledger.live(), *expected, "step {}", desk.step);
        assert_eq!(ledger.base(), base, "step {}", desk.step);
        let plain = |it: &ReviewHunk| {
            (
                it.id.clone(),
                it.base_text.clone(),
                it.live_text.clone(),
                it.state,
            )
        };
        let after: Vec<_> = ledger.hunks().iter().map(plain).collect();
        let before: Vec<_> = before.iter().map(plain).collect();
        assert_eq!(after, before, "step {}", desk.step);
    });
}

/// An editor says an undo in ranges of its own: the smallest, whole lines, the whole document, one edit after another.
fn said(random: &mut fastrand::Rng, from: &str, to: &str) -> Vec<ChangeSet> {
    let between = ChangeSet::between(from, to);
    let whole = |from: &str, to: &str, range: std::ops::Range<usize>| {
        let end = to.len() - (from.len() - range.end);
        let text = to[range.start..end].to_owned();
        ChangeSet::of_edits(from.len(), &[Edit { range, text }]).unwrap()
    };
    match random.u8(..4) {
        0 => vec![between],
        1 => vec![whole(from, to, 0..from.len())],
        2 => {
            // From the first line that differs to the last.
            let edits = between.edits();
            let (Some(first), Some(last)) = (edits.first(), edits.last()) else {
                return vec![between];
            };
            let start = from[..first.range.start].rfind('\n').map_or(0, |it| it + 1);
            let rest = &from[last.range.end..];
            let end = rest
                .find('\n')
                .map_or(from.len(), |it| last.range.end + it + 1);
            vec![whole(from, to, start..end)]
        }
        _ => {
            let mut edits = between.edits();
            random.shuffle(&mut edits);
            let mut done: Vec<Edit> = Vec::new();
            let mut len = from.len();
            edits
                .into_iter()
                .map(|Edit { range, text }| {
                    let before = done.iter().filter(|it| it.range.start < range.start);
                    let shift: isize = before
                        .map(|it| it.text.len() as isize - it.range.len() as isize)
                        .sum();
                    let start = range.start.strict_add_signed(shift);
                    let own = Edit {
                        range: start..start + range.len(),
                        text: text.clone(),
                    };
                    let step = ChangeSet::of_edits(len, &[own]).unwrap();
                    len = step.new_len();
                    done.push(Edit { range, text });
                    step
                })
                .collect()
        }
    }
}

#[test]
fn undo_and_redo_of_what_the_agent_did_lead_to_what_was_to_be_reviewed_then() {
    walk(3_000, |desk| {
        let mut ledger = desk.ledger.clone();
        let mut texts = Vec::new();
        for turn in 0..3 {
            let live = ledger.live().to_string();
            let range = desk.range(&live);
            let text = desk.text(4);
            let changes = replacement(&ledger, range, &text);
            let before = ledger.hunks();
            ledger
                .edited(&changes, By::Agent(&author(desk.turn + turn)))
                .unwrap();
            let after = ledger.live().to_string();
            texts.push((live, before, after, ledger.hunks()));
        }
        // Of one text that there was twice, the later counts.
        let mut all: BTreeSet<&str> = texts.iter().map(|it| &*it.0).collect();
        all.extend(texts.iter().map(|it| &*it.2));
        if all.len() < 4 {
            return;
        }
        let mut check = |from: &str, to: &str, hunks: &[ReviewHunk]| {
            for step in said(&mut desk.random, from, to) {
                ledger.edited(&step, By::Person).unwrap();
            }
            assert_eq!(*ledger.live(), *to, "step {}", desk.step);
            assert_eq!(ledger.hunks(), hunks, "step {}: {from:?}", desk.step);
        };
        for (before, hunks, after, _) in texts.iter().rev() {
            check(after, before, hunks);
        }
        for (before, _, after, hunks) in &texts {
            check(before, after, hunks);
        }
    });
}

#[test]
fn undo_of_a_revert_brings_the_same_hunks_back_and_redo_settles_them() {
    walk(3_000, |desk| {
        let mut ledger = desk.ledger.clone();
        let (live, hunks) = (ledger.live().to_string(), ledger.hunks());
        if hunks.is_empty() {
            return;
        }
        let one = hunks[desk.random.usize(..hunks.len())].id.clone();
        revert(&mut ledger, Which::Hunks(&[one]));
        let (reverted, left) = (ledger.live().to_string(), ledger.hunks());
        for (from, to, hunks) in [(&reverted, &live, &hunks), (&live, &reverted, &left)] {
            for step in said(&mut desk.random, from, to) {
                ledger.edited(&step, By::Person).unwrap();
            }
            assert_eq!(*ledger.live(), **to, "step {}", desk.step);
            assert_eq!(ledger.hunks(), *hunks, "step {}", desk.step);
        }
    });
}

#[test]
fn an_edit_said_in_whole_lines_makes_the_same_text() {
    walk(5_000, |desk| {
        let live = desk.ledger.live().clone();
        let range = desk.range(&live.to_string());
        let text = desk.text(4);
        let made = |edit: Edit| {
            let changes = replacement(&desk.ledger, edit.range, &edit.text);
            changes.apply(&live.to_string()).unwrap()
        };
        let edit = Edit { range, text };
        let other = aligned(&live, edit.clone());
        assert_eq!(made(edit), made(other), "step {}", desk.step);
    });
}

#[test]
fn ids_are_unique_and_stay_while_hunks_move() {
    walk(5_000, |desk| {
        let mut ledger = desk.ledger.clone();
        let before = ledger.hunks();
        let ids: BTreeSet<_> = before.iter().map(|it| it.id.clone()).collect();
        assert_eq!(ids.len(), before.len(), "step {}", desk.step);
        ledger
            .edited(&replacement(&ledger, 0..0, "// new\n\n"), By::Person)
            .unwrap();
        let expected: Vec<_> = before
            .into_iter()
            .map(|mut it| {
                it.lines = it.lines.start + 2..it.lines.end + 2;
                it
            })
            .collect();
        // A hunk without lines at the very start stays before what is typed there.
        if expected.first().is_none_or(|it| it.lines != (2..2)) {
            assert_eq!(ledger.hunks(), expected, "step {}", desk.step);
        }
    });
}

#[test]
fn lines_are_those_of_the_editor_in_every_encoding() {
    walk(3_000, |desk| {
        let rope = desk.ledger.live().clone();
        for hunk in desk.ledger.hunks() {
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let start = position::offset(&rope, hunk.lines.start, 0, encoding);
                let end = position::offset(&rope, hunk.lines.end, 0, encoding);
                assert_eq!(
                    rope.byte_slice(start..end).to_string(),
                    hunk.live_text,
                    "step {}, {encoding:?}",
                    desk.step
                );
            }
        }
    });
}

#[test]
fn a_record_gives_the_same_ledger_and_takes_in_what_changed_meanwhile() {
    walk(3_000, |desk| {
        let hunks = desk.ledger.hunks();
        let record = desk.ledger.to_record();
        let live = desk.ledger.live().to_string();
        let mut again = Ledger::from_record(&record, &live).unwrap();
        assert_eq!(again.hunks(), hunks, "step {}", desk.step);
        assert_eq!(again.to_record(), record, "step {}", desk.step);

        let moved = format!("// new\n{live}");
        let mut again = Ledger::from_record(&record, &moved).unwrap();
        assert_eq!(*again.live(), *moved, "step {}", desk.step);
        let before = marks(&moved);
        revert(&mut again, Which::All);
        let after = marks(&again.live().to_string());
        assert!(before.is_subset(&after), "step {}", desk.step);
    });
}

#[test]
fn whole_texts_and_edits_come_to_the_same_text_and_lose_nothing() {
    walk(3_000, |desk| {
        let mut ledger = desk.ledger.clone();
        let new = format!("{}{}", desk.typed(), ledger.live());
        ledger.replaced(&new, By::Person);
        assert_eq!(*ledger.live(), *new, "step {}", desk.step);
        let identity = ChangeSet::identity(new.len());
        let before = ledger.hunks();
        ledger.edited(&identity, By::Person).unwrap();
        assert_eq!(ledger.hunks(), before, "step {}", desk.step);
    });
}
