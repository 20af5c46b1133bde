//! The records of a session, condensed: the fewest that fold into the same session, however long the log is.
//!
//! A snapshot is such a list and nothing else, so that no state of a session is ever written in a form of its own. What older records
//! have summed up to (counters, tokens, what is still to be told) stands in one record, [`Record::Carried`]; everything else is an
//! ordinary record. `fold(condense(r) + s) == fold(r + s)`, whatever comes behind.

#[cfg(test)]
pub(super) mod laws;

use super::fold::Fold;
use super::{Counters, Last, Session, Settings, Untold};
use crate::context::budget::Measured;
use crate::context::{Answer, Asked, Entry, Held, Said};
use crate::usage::{Tally, of_tokens, to_tokens};
use protocol::record::{Carried, Filled, Kept, NativeRecord, OpenCall, Record, Trigger};
use protocol::session::{CallId, TurnId};
use protocol::tool::Outcome;

/// Condenses records.
pub fn condense<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Record> {
    let mut fold = Fold::new(Settings::default());
    records.into_iter().for_each(|it| fold.take(it));
    fold.into_records()
}

impl Fold {
    /// What a snapshot says of the past.
    pub(super) fn carry(&mut self, carried: &Carried) {
        let session = &mut self.session;
        // What the history ends with was told before.
        session.tell();
        let untold = carried.untold.iter().cloned();
        session.untold = untold
            .map(|(answer, text)| Untold { answer, text })
            .collect();
        session.next.call = carried.calls;
        session.next.turn = carried.turns;
        session.next.answer = carried.answers;
        session.next.compaction = carried.compactions;
        session.has_blocked = carried.blocked;
        session.replayed.clone_from(&carried.replayed);
        session.tally = Tally::default();
        carried
            .used
            .iter()
            .for_each(|it| session.tally.take_used(it));
        session.last = carried.last.as_ref().map(|it| match it {
            Filled::Counted(tokens) => Last::Counted(of_tokens(tokens)),
            Filled::Estimated(history) => Last::Estimated(*history),
        });
        let measured = carried.measured;
        session.measured = measured.map(|(answer, tokens)| Measured { answer, tokens });
        self.turn = carried.turn;
        let open = carried.open.iter().cloned();
        self.open = open.map(|it| (it.call, it.edit)).collect();
    }

    /// The records that fold into this again.
    pub fn into_records(self) -> Vec<Record> {
        let Self {
            session,
            open,
            said_by,
            turn,
            started,
            forked,
            title,
            reasoning,
        } = self;
        // All that a session holds is named here, so that what is new to it is not forgotten.
        let Session {
            mode,
            settings: _,
            rules,
            history,
            turn: _,
            queue: _,
            untold,
            has_blocked,
            replayed,
            tally,
            last,
            measured,
            checklist,
            // How long a list was left alone, what time it is and what summaries have come to ends with the process.
            stale: _,
            now: _,
            compaction: _,
            goal,
            style,
            // What was said beside the conversation, and how far a goal is, ends with the process.
            idle_turns: _,
            asides: _,
            sides: _,
            last_run: _,
            next:
                Counters {
                    call,
                    stream: _,
                    turn: next_turn,
                    answer,
                    timer: _,
                    compaction,
                    side: _,
                },
        } = session;
        let first_by = history.iter().find_map(|it| match it {
            Entry::Answer(it) => Some(it.by.clone()),
            Entry::User(_) | Entry::Told(_) | Entry::Summary(_) => None,
        });
        let mut records = Records {
            by: first_by.unwrap_or_else(|| said_by.clone()),
            list: Vec::with_capacity(history.len() + 8),
        };
        match started {
            Some((session, cwd)) => records.list.push(Record::Started {
                session,
                cwd,
                mode,
                model: records.by.clone(),
            }),
            // A log that does not say where it began.
            None => records.list.push(Record::Mode { mode }),
        }
        let forked = forked.map(|(session, message)| Record::Forked { session, message });
        records.list.extend(forked);
        records
            .list
            .extend(title.map(|title| Record::Title { title }));
        history
            .into_iter()
            .for_each(|it| records.entry(it, compaction));
        records.by(&said_by);
        let mut list = records.list;
        let rules = rules.into_iter().map(Some);
        list.extend(rules.map(|rule| Record::Remembered { rule }));
        if !checklist.is_empty() {
            list.push(Record::Checklist { tasks: checklist });
        }
        if goal.is_some() {
            list.push(Record::Goal { goal });
        }
        if style.is_some() {
            list.push(Record::Style { style });
        }
        let reasoning = reasoning.into_iter();
        list.extend(reasoning.map(|(model, level)| Record::Reasoning { model, level }));
        let open = open.into_iter();
        list.push(Record::Carried(Box::new(Carried {
            calls: call,
            turns: next_turn,
            answers: answer,
            compactions: compaction,
            turn,
            blocked: has_blocked,
            untold: untold.into_iter().map(|it| (it.answer, it.text)).collect(),
            open: open.map(|(call, edit)| OpenCall { call, edit }).collect(),
            replayed,
            used: tally.used().collect(),
            last: last.as_ref().map(|it| match it {
                Last::Counted(tokens) => Filled::Counted(to_tokens(tokens)),
                Last::Estimated(history) => Filled::Estimated(*history),
            }),
            measured: measured.map(|it| (it.answer, it.tokens)),
        })));
        list
    }
}

/// A history on its way back into records.
struct Records {
    list: Vec<Record>,
    /// The model that gives the next answer.
    by: String,
}

impl Records {
    fn by(&mut self, model: &str) {
        if self.by != model {
            model.clone_into(&mut self.by);
            let model = self.by.clone();
            self.list.push(Record::Model { model });
        }
    }

    fn entry(&mut self, entry: Entry, compactions: u64) {
        match entry {
            Entry::Summary(summary) => self.list.push(Record::Compacted {
                id: compactions,
                trigger: Trigger::Person,
                summary,
                kept: Kept::Nothing,
            }),
            // The entry that follows takes it in, or what is carried does.
            Entry::Told(text) => self.list.push(Record::Told { answer: 0, text }),
            Entry::User(Said { text, pictures }) => self.list.push(Record::User {
                turn: TurnId(0),
                text,
                pictures: pictures.into_iter().map(|it| it.picture).collect(),
            }),
            Entry::Answer(Answer {
                number,
                text,
                thought,
                calls,
                by,
                raw,
            }) => {
                self.by(&by);
                self.list.push(Record::Assistant {
                    answer: number,
                    text,
                    thought,
                    raw,
                    cut: false,
                });
                let mut results = Vec::new();
                for asked in calls {
                    let Asked {
                        id,
                        call,
                        result,
                        pictures,
                    } = asked;
                    self.list.push(Record::Call {
                        answer: number,
                        call: id,
                        id: call.id,
                        tool: call.name,
                        arguments: call.arguments,
                        native: call.native.map(|it| NativeRecord {
                            tool: it.tool.name().to_owned(),
                            input: it.input,
                        }),
                    });
                    results.extend(result.map(|it| (id, it.text, it.is_error, pictures)));
                }
                let results = results.into_iter();
                self.list
                    .extend(results.map(|(call, text, is_error, pictures)| {
                        result(call, text, is_error, pictures)
                    }));
            }
        }
    }
}

/// A result as the model knows it.
fn result(call: CallId, text: String, is_error: bool, pictures: Vec<Held>) -> Record {
    Record::Result {
        call,
        outcome: match is_error {
            true => Outcome::Error,
            false => Outcome::Success,
        },
        text,
        shown: None,
        title: None,
        duration_ms: None,
        exit_code: None,
        pictures: pictures.into_iter().map(|it| it.picture).collect(),
        fuzzy: false,
    }
}
