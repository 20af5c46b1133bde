//! The law of condensing, held against the records of random lives.

use super::condense;
use crate::archive;
use crate::numbers::{Mark, Numbers};
use crate::session::{Fold, Settings, laws};
use fastrand::Rng;
use protocol::checklist::Task;
use protocol::config::Reasoning;
use protocol::goal::Goal;
use protocol::record::{Kept, Purpose, Record, Stands, Trigger};
use protocol::session::Mode;

/// What records fold into, and what is done about what they leave open, as text.
fn folded<'a>(records: impl IntoIterator<Item = &'a Record>, settings: Settings) -> String {
    let mut fold = Fold::new(settings);
    records.into_iter().for_each(|it| fold.take(it));
    let rest = (fold.forked.clone(), fold.title.clone());
    let rest = (rest, fold.reasoning.clone(), fold.started.clone());
    format!("{:#?}", (rest, fold.end(|_| Stands::AtOther)))
}

/// Holds the law for the records of a life. What no driver brings about yet is put between them.
pub(in crate::session) fn hold(records: &[Record], rng: &mut Rng) {
    // Both ways of counting messages come to the same.
    let mut numbers = Numbers::default();
    for record in records {
        numbers.take(Mark::of(record));
    }
    let n_messages = archive::messages(records.iter()).len() as u64;
    assert_eq!(numbers.count(), n_messages);
    let records = sprinkled(records, rng);
    let whole = folded(&records, laws::settings());
    for _ in 0..3 {
        let cut = rng.usize(0..=records.len());
        let (before, after) = records.split_at(cut);
        let condensed = condense(before);
        assert_eq!(
            folded(condensed.iter().chain(after), laws::settings()),
            whole
        );
        assert_eq!(
            condense(&condensed),
            condensed,
            "condensed twice is another"
        );
        // As a file has it.
        let text = serde_json::to_string(&condensed).unwrap();
        assert_eq!(
            serde_json::from_str::<Vec<Record>>(&text).unwrap(),
            condensed
        );
        // A log that others may have written.
        let harmless = |it: &[Record]| -> Vec<Record> {
            let it = it.iter().cloned();
            it.filter_map(Record::without_answers).collect()
        };
        assert_eq!(
            folded(&condense(&harmless(before)), laws::settings()),
            folded(&harmless(&condensed), laws::settings())
        );
    }
}

fn sprinkled(records: &[Record], rng: &mut Rng) -> Vec<Record> {
    let mut out = Vec::new();
    let (mut open, mut answers, mut compactions) = (0, 0, 0);
    for record in records {
        // Behind the record of the beginning.
        if !out.is_empty() && rng.u8(0..6) == 0 {
            let n_open = open;
            out.extend(sprinkle(rng, n_open, answers, &mut compactions));
        }
        match record {
            Record::Call { .. } => open += 1,
            Record::Result { .. } => open -= 1,
            Record::Assistant { answer, .. } => answers = *answer,
            _ => {}
        }
        out.push(record.clone());
    }
    out
}

fn sprinkle(rng: &mut Rng, open: i32, answers: u64, compactions: &mut u64) -> Option<Record> {
    Some(match rng.u8(0..9) {
        // A session summarises only when all calls have ended.
        0..=2 if open == 0 => {
            *compactions += 1;
            Record::Compacted {
                id: *compactions,
                trigger: Trigger::Threshold,
                summary: format!("summary {compactions}"),
                kept: match rng.u8(0..3) {
                    0 => Kept::Nothing,
                    1 => Kept::Prompts(rng.u32(0..4)),
                    _ => Kept::Answer(answers.saturating_sub(rng.u64(0..3))),
                },
            }
        }
        0..=2 => return None,
        3 => Record::Checklist {
            tasks: (0..rng.usize(0..3)).map(|_| task()).collect(),
        },
        4 => Record::Goal {
            goal: rng.bool().then(|| Goal {
                condition: "green".to_owned(),
                turns: 2,
                paused: None,
            }),
        },
        5 => Record::Style {
            style: rng.bool().then(|| "concise".to_owned()),
        },
        6 => Record::Usage {
            model: format!("p/{}", rng.u8(0..2)),
            purpose: [Purpose::Answer, Purpose::Compaction][rng.usize(0..2)],
            input: rng.u64(0..400_000),
            cached: 0,
            cache_write: 0,
            output: rng.u64(0..9_000),
            reasoning: 0,
        },
        7 => match rng.u8(0..3) {
            0 => Record::Title {
                title: "title".to_owned(),
            },
            1 => Record::Forked {
                session: "other".to_owned(),
                message: 3,
            },
            _ => Record::Reasoning {
                model: "p/m".to_owned(),
                level: rng.bool().then_some(Reasoning::Max),
            },
        },
        _ => Record::Mode {
            mode: Mode::ALL[rng.usize(0..4)],
        },
    })
}

fn task() -> Task {
    let task = serde_json::json!({"id": 1, "subject": "s", "active_form": "a", "description": "d", "status": "pending"});
    serde_json::from_value(task).unwrap()
}
