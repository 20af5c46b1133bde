//! Side questions: `undine/btw` and `/btw`. Nothing of them is recorded.

use super::lifecycle::UPDATE;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::lsp::{Error, Id, Reply, cancelled, code, error};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::session_host::{AsideAsker, AsideWaiter};
use crate::show;
use engine::redact::{Stream, redact};
use engine::session::{Answered, Input};
use protocol::acp;
use protocol::btw::{BtwChunk, BtwParams, BtwResult, ClearBtwParams, ClearBtwResult};
use protocol::methods::{self, Notification};

/// What is said of a question without words.
const EMPTY: &str = "There is no question; write one behind /btw.";

impl Host {
    /// `undine/btw`
    pub(crate) fn btw(&mut self, params: BtwParams, id: Id, reply: Reply) {
        let key = match self.known(&acp::SessionId::new(params.session_id)) {
            Ok(key) => key,
            Err(error) => return reply.send::<methods::Btw>(Err(error)),
        };
        if params.question.trim().is_empty() {
            return reply.send::<methods::Btw>(Err(invalid("The question is empty; write one.")));
        }
        let token = params.token;
        self.ask_aside(
            &key,
            params.question,
            AsideAsker::Request { id, reply, token },
        );
    }

    /// `undine/btw/clear`
    pub(crate) fn clear_btw(&mut self, params: ClearBtwParams) -> Result<ClearBtwResult, Error> {
        let key = self.known(&acp::SessionId::new(params.session_id))?;
        if let Some(open) = self.sessions.get_mut(&key) {
            open.session.forget_asides();
        }
        Ok(ClearBtwResult {})
    }

    /// `/btw`
    pub(super) fn btw_for(&mut self, session: SessionKey, asker: Asker, question: &str) {
        match asker {
            Asker::Prompt { id, reply, .. } if !question.is_empty() => {
                self.ask_aside(
                    &session,
                    question.to_owned(),
                    AsideAsker::Prompt { id, reply },
                );
            }
            asker @ (Asker::Prompt { .. } | Asker::Request(_) | Asker::Command) => {
                let number = self.begin(session, asker);
                self.end(number, Err(EMPTY.to_owned()));
            }
        }
    }

    fn ask_aside(&mut self, session: &SessionKey, question: String, asker: AsideAsker) {
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        let ticket = open.next_ticket();
        let stream = Stream::default();
        open.asides.insert(ticket, AsideWaiter { asker, stream });
        self.step(session, Input::AskAside { ticket, question });
    }

    /// A piece of an answer.
    pub(crate) fn aside_piece(&mut self, session: &SessionKey, ticket: u64, text: &str) {
        let open = self.sessions.get_mut(session);
        let Some(waiter) = open.and_then(|it| it.asides.get_mut(&ticket)) else {
            return;
        };
        let shown = waiter.stream.push(text);
        self.show_piece(session, ticket, shown);
    }

    fn show_piece(&self, session: &SessionKey, ticket: u64, text: String) {
        let open = self.sessions.get(session);
        let waiter = open.and_then(|it| it.asides.get(&ticket));
        if let Some(AsideWaiter {
            asker: AsideAsker::Request {
                token: Some(token), ..
            },
            ..
        }) = waiter
            && !text.is_empty()
            && self.client.takes(methods::BtwChunk::METHOD)
        {
            let params = BtwChunk {
                session_id: session.to_string(),
                token: token.clone(),
                text,
            };
            self.out.notify(methods::BtwChunk::METHOD, &params);
        }
    }

    pub(crate) fn answer_aside(
        &mut self,
        session: &SessionKey,
        ticket: u64,
        answered: Result<Answered, String>,
    ) {
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        let rest = open.asides.get_mut(&ticket).map(|it| it.stream.end());
        self.show_piece(session, ticket, rest.unwrap_or_default());
        let open = self.sessions.get_mut(session);
        let Some(waiter) = open.and_then(|it| it.asides.remove(&ticket)) else {
            return;
        };
        let answered = answered.map(|it| Answered {
            text: redact(&it.text).into_owned(),
            ..it
        });
        let answered = answered.map_err(|it| redact(&it).into_owned());
        match waiter.asker {
            AsideAsker::Request { reply, .. } => reply.send::<methods::Btw>(match answered {
                Ok(Answered { text, called }) => Ok(BtwResult { text, called }),
                Err(why) => Err(error(code::REQUEST_FAILED, why)),
            }),
            AsideAsker::Prompt { reply, .. } => {
                let text = match answered {
                    Ok(Answered { text, called }) if called.is_empty() => text,
                    Ok(Answered { text, called }) => {
                        format!(
                            "{text}\n\n(It called {}; nothing was run.)",
                            called.join(", ")
                        )
                    }
                    Err(why) => why,
                };
                if self.client.takes(UPDATE) {
                    self.out.notify(UPDATE, &show::aside(session, text));
                }
                let end = acp::PromptResponse::new(acp::StopReason::EndTurn);
                reply.send::<methods::Prompt>(Ok(end));
            }
        }
    }

    /// `$/cancelRequest` on a side question.
    pub(super) fn withdraw_aside(&mut self, request: &Id) {
        let found = self.sessions.iter().find_map(|(key, open)| {
            let mut asides = open.asides.iter();
            let (ticket, _) = asides.find(|(_, it)| it.asker.id() == request)?;
            Some((key.clone(), *ticket))
        });
        let Some((key, ticket)) = found else { return };
        self.step(&key, Input::DropAside(ticket));
        let open = self.sessions.get_mut(&key);
        match open
            .and_then(|it| it.asides.remove(&ticket))
            .map(|it| it.asker)
        {
            Some(AsideAsker::Request { reply, .. }) => {
                reply.send::<methods::Btw>(Err(cancelled()));
            }
            Some(AsideAsker::Prompt { reply, .. }) => {
                reply.send::<methods::Prompt>(Err(cancelled()));
            }
            None => {}
        }
    }
}
