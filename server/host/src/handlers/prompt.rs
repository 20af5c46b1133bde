//! Prompts and their cancelling.

use super::commands::Command;
use crate::endpoint;
use crate::errand::Asker;
use crate::event::{Event, SessionKey};
use crate::lsp::{Id, Reply};
use crate::main_loop::Host;
use crate::mentions::look_up;
use crate::perform::invalid;
use crate::session_host::{OpenSession, Said, Unsent, Waiter};
use crate::store::Pictures;
use engine::hooks::Happened;
use engine::mentions::{self, Mention};
use engine::session::Input;
use protocol::acp::{self, ContentBlock};
use protocol::lsp;
use protocol::methods;
use protocol::session::CallId;

impl Host {
    pub(crate) fn prompt(&mut self, params: acp::PromptRequest, id: Id, reply: Reply) {
        let key = match self.known(&params.session_id) {
            Ok(key) => key,
            Err(error) => return reply.send::<methods::Prompt>(Err(error)),
        };
        let Said { text, pictures } = match Said::read(&params.prompt) {
            Ok(said) => said,
            Err(why) => return reply.send::<methods::Prompt>(Err(invalid(why))),
        };
        if text.trim().is_empty() && pictures.is_empty() {
            let error = invalid("The prompt is empty; write what to do.");
            return reply.send::<methods::Prompt>(Err(error));
        }
        if let Some(command) = Command::read(&text) {
            return self.run_command(key, command, &text, id, reply);
        }
        let mut mentions = mentions_of(&params.prompt);
        let text = match self.read_file_command(&key, text) {
            Ok(Line::Plain(text)) => text,
            Ok(Line::Command { prompt, rest }) => {
                // What the file names is not read.
                mentions = mentions::find(&rest);
                prompt
            }
            Err((text, usage)) => {
                let number = self.begin(key, Asker::Prompt { id, reply, text });
                return self.end(number, Err(usage));
            }
        };
        self.look_again_for_a_model(&key);
        self.send_with_mentions(&key, Said { text, pictures }, mentions, id, reply);
    }

    /// Sends a prompt when what it mentions has been looked up, and not before those that came first.
    fn send_with_mentions(
        &mut self,
        key: &SessionKey,
        said: Said,
        mentions: Vec<Mention>,
        id: Id,
        reply: Reply,
    ) {
        self.next_token += 1;
        let number = self.next_token;
        let Some(open) = self.sessions.get(key) else {
            return;
        };
        if mentions.is_empty() && open.unsent.is_empty() {
            return self.send_said(key, said, Waiter::Request { id, reply });
        }
        let mentioned = match mentions.is_empty() {
            true => Some(String::new()),
            false => {
                // No call's: what is looked up is the person's wish.
                let (world, key) = (self.world(open, CallId(0)), key.clone());
                let inbox = self.inbox.clone();
                self.runtime.spawn(async move {
                    let looking = tokio::spawn(async move { look_up(&world, mentions).await });
                    // One that panics stands for nothing; the prompt is sent all the same.
                    let text = looking.await.unwrap_or_default();
                    let _ = inbox.send(Event::Mentioned(key, number, text)).await;
                });
                None
            }
        };
        if let Some(open) = self.sessions.get_mut(key) {
            open.unsent.push_back(Unsent {
                number,
                id,
                reply,
                said,
                mentioned,
            });
        }
    }

    /// What a prompt mentions is looked up: it is sent, and those behind it that wait for nothing else.
    pub(crate) fn mentioned(&mut self, key: &SessionKey, number: u64, text: String) {
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        // One that was cancelled meanwhile is not there.
        if let Some(it) = open.unsent.iter_mut().find(|it| it.number == number) {
            it.mentioned = Some(text);
        }
        self.send_ready(key);
    }

    fn send_ready(&mut self, key: &SessionKey) {
        loop {
            let open = self.sessions.get_mut(key);
            let next = open.and_then(|it| it.unsent.pop_front_if(|it| it.mentioned.is_some()));
            let Some(Unsent {
                id,
                reply,
                mut said,
                mentioned,
                ..
            }) = next
            else {
                return;
            };
            said.text.push_str(&mentioned.unwrap_or_default());
            self.send_said(key, said, Waiter::Request { id, reply });
        }
    }

    /// What is to be sent for a line: a file's prompt, where its first word names one, else the line as it was written.
    /// The error is the line and how its command is used.
    fn read_file_command(
        &mut self,
        key: &SessionKey,
        text: String,
    ) -> Result<Line, (String, String)> {
        if !text.starts_with('/') {
            return Ok(Line::Plain(text));
        }
        self.reread_instructions(key);
        match self.prompt_of_file(key, &text) {
            Some(Ok(prompt)) => {
                let rest = text
                    .split_once(char::is_whitespace)
                    .map_or("", |(_, it)| it);
                let rest = rest.to_owned();
                Ok(Line::Command { prompt, rest })
            }
            Some(Err(usage)) => Err((text, usage)),
            None => Ok(Line::Plain(text)),
        }
    }

    /// A person who was told how to configure a model has perhaps done so by now.
    pub(super) fn look_again_for_a_model(&mut self, key: &SessionKey) {
        let has_none = |it: &OpenSession| endpoint::reach(&it.config).is_err();
        if self.sessions.get(key).is_some_and(has_none) {
            if let Some(problem) = self.read_user_file() {
                self.warn_once(problem);
            }
            self.configure(key);
        }
    }

    pub(crate) fn send_prompt(&mut self, key: &SessionKey, text: String, waiter: Waiter) {
        let said = Said {
            text,
            pictures: Vec::new(),
        };
        self.send_said(key, said, waiter);
    }

    fn send_said(&mut self, key: &SessionKey, said: Said, waiter: Waiter) {
        let Said { text, pictures } = said;
        self.reread_instructions(key);
        self.tell_hooks(key, &Happened::Prompt { text: &text });
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        let prompt = open.next_prompt();
        open.waiting.insert(prompt, waiter);
        // Before the log names them, and in order with what else is said.
        let beside = Pictures::beside(open.log.path());
        for image in &pictures {
            if let Err(error) = beside.save(image) {
                tracing::warn!(%error, "a picture was not kept");
            }
        }
        let said = Input::Prompt {
            prompt,
            text,
            pictures,
        };
        self.step(key, said);
    }

    pub(crate) fn cancel(&mut self, params: acp::CancelNotification) {
        // A notification has nobody to tell that there is no such session.
        if let Ok(key) = self.known(&params.session_id) {
            self.cancel_session(&key);
        }
    }

    /// Answers prompts that are not sent yet; those behind them go on.
    fn cancel_unsent(&mut self, key: &SessionKey, is_it: impl Fn(&Unsent) -> bool) {
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        let unsent = std::mem::take(&mut open.unsent);
        let (gone, left): (Vec<_>, Vec<_>) = unsent.into_iter().partition(|it| is_it(it));
        open.unsent = left.into();
        for it in gone {
            let end = acp::PromptResponse::new(acp::StopReason::Cancelled);
            it.reply.send::<methods::Prompt>(Ok(end));
        }
        self.send_ready(key);
    }

    pub(crate) fn cancel_session(&mut self, key: &SessionKey) {
        self.cancel_errands(key);
        self.cancel_unsent(key, |_| true);
        self.step(key, Input::Cancel);
    }

    /// `$/cancelRequest` on a prompt.
    pub(crate) fn cancel_request(&mut self, id: &Id) {
        self.withdraw_errand(id);
        self.withdraw_aside(id);
        for key in self.sessions.keys().cloned().collect::<Vec<_>>() {
            self.cancel_unsent(&key, |it| it.id == *id);
        }
        let found = self
            .sessions
            .iter()
            .find_map(|(key, open)| Some((key.clone(), open.prompt_of(id)?)));
        if let Some((key, prompt)) = found {
            self.step(&key, Input::CancelPrompt(prompt));
        }
    }

    pub(crate) fn cancel_progress(&mut self, params: lsp::WorkDoneProgressCancelParams) {
        let lsp::ProgressToken::String(token) = params.token else {
            return;
        };
        let found = self
            .sessions
            .iter()
            .find_map(|(key, open)| Some((key.clone(), open.prompt_of_token(&token)?)));
        if let Some((key, _)) = found {
            self.cancel_session(&key);
        }
    }
}

/// A line that a person has sent.
enum Line {
    Plain(String),
    Command {
        prompt: String,
        /// What they wrote behind the command's name.
        rest: String,
    },
}

/// What a person mentions: in what they wrote, not in what is embedded.
fn mentions_of(blocks: &[ContentBlock]) -> Vec<Mention> {
    let mut texts = Vec::new();
    for block in blocks {
        if let ContentBlock::Text(it) = block {
            texts.push(it.text.as_str());
        }
    }
    mentions::find(&texts.join("\n"))
}
