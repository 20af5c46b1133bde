//! Side questions of the person's (spec 24): answered beside the conversation, and never a part of it.
//!
//! The model sees what the conversation is so far and the newest of what was asked beside it. Nothing is recorded, and what
//! runs is not disturbed.

use super::effect::{Aside, Effect, SideAnswer};
use super::{Counters, Session};
use crate::context::{self, Entry};
use crate::provider::{ModelError, ModelRequest};
use protocol::session::SideId;

/// Answered questions that the next one is asked with: the newest.
const MOST: usize = 20;

/// What stands before a question.
const ASIDE: &str = "[A side question, beside the work. Answer it now from what you know of the conversation, briefly. Call no tools: none is run. \
The work goes on by itself; do not go on with it here.]";

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    question: String,
    answer: String,
}

/// What became of a side question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub text: String,
    /// Tools that the model called in vain.
    pub called: Vec<String>,
}

impl Session {
    pub(super) fn ask_aside(&mut self, ticket: u64, question: String, out: &mut Vec<Effect>) {
        let side = SideId(Counters::take(&mut self.next.side));
        let request = Box::new(self.side_request(&question));
        self.sides.insert(side, (ticket, question));
        out.push(Effect::AskSide {
            side,
            about: Aside::Question(ticket),
            request,
        });
    }

    /// Nobody waits for the answer any more.
    pub(super) fn drop_aside(&mut self, ticket: u64, out: &mut Vec<Effect>) {
        let gone = self.sides.extract_if(.., |_, (it, _)| *it == ticket);
        out.extend(gone.map(|(side, _)| Effect::StopSide(side)));
    }

    /// The person is done with what was asked beside this conversation.
    pub fn forget_asides(&mut self) {
        self.asides.clear();
    }

    /// Takes an answer in, if it is to one of these questions.
    pub(super) fn aside_answered(
        &mut self,
        side: SideId,
        answer: Result<SideAnswer, ModelError>,
        out: &mut Vec<Effect>,
    ) {
        let Some((ticket, question)) = self.sides.remove(&side) else {
            return;
        };
        let answered = match answer {
            Ok(answer) => {
                if let Some(usage) = answer.usage {
                    let purpose = Aside::Question(ticket).purpose();
                    self.used(&answer.model, purpose, usage, out);
                }
                let text = answer.text.trim().to_owned();
                let called = answer.called;
                match (text.is_empty(), called.is_empty()) {
                    (false, _) => Ok(Answered { text, called }),
                    (true, false) => Err(format!(
                        "The model wanted to call {} instead of answering; a side question has no tools. Ask in the conversation.",
                        called.join(", ")
                    )),
                    (true, true) => {
                        Err("The model gave an empty answer; ask again in other words.".to_owned())
                    }
                }
            }
            Err(error) => Err(error.message),
        };
        if let Ok(Answered { text, .. }) = &answered {
            let answer = text.clone();
            self.asides.push_back(Exchange { question, answer });
            if self.asides.len() > MOST {
                self.asides.pop_front();
            }
        }
        out.push(Effect::AnswerAside { ticket, answered });
    }

    /// The conversation as the main turn sends it, then what was asked beside it. The tools are named, because what they
    /// did is in the conversation and providers look them up; none is run.
    fn side_request(&self, question: &str) -> ModelRequest {
        let mut history = self.history.clone();
        // An answer that still streams, or whose calls still run, is known as far as it is done.
        if let Some(Entry::Answer(answer)) = history.last_mut() {
            answer.calls.retain(|it| it.result.is_some());
            if answer.calls.is_empty() && answer.text.is_empty() {
                history.pop();
            }
        }
        for Exchange { question, answer } in &self.asides {
            history.push(Entry::Told(asked(question)));
            let mut entry = context::Answer::new(u64::MAX, "");
            entry.text.clone_from(answer);
            history.push(Entry::Answer(entry));
        }
        history.push(Entry::Told(asked(question)));
        context::build(&self.settings, &history)
    }
}

fn asked(question: &str) -> String {
    format!("{ASIDE}\n\n{question}")
}
