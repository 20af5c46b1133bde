//! Prompts and their cancelling.

use super::commands::Command;
use crate::endpoint;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::lsp::{Id, Reply};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::session_host::{OpenSession, Waiter};
use engine::hooks::Happened;
use engine::session::Input;
use protocol::acp::{self, ContentBlock};
use protocol::lsp;
use protocol::methods;

impl Host {
    pub(crate) fn prompt(&mut self, params: acp::PromptRequest, id: Id, reply: Reply) {
        let key = match self.known(&params.session_id) {
            Ok(key) => key,
            Err(error) => return reply.send::<methods::Prompt>(Err(error)),
        };
        let text = text_of(&params.prompt);
        if text.trim().is_empty() {
            let error = invalid("The prompt is empty; write what to do.");
            return reply.send::<methods::Prompt>(Err(error));
        }
        if let Some(command) = Command::read(&text) {
            return self.run_command(key, command, &text, id, reply);
        }
        let text = match self.read_file_command(&key, text) {
            Ok(text) => text,
            Err((text, usage)) => {
                let number = self.begin(key, Asker::Prompt { id, reply, text });
                return self.end(number, Err(usage));
            }
        };
        self.look_again_for_a_model(&key);
        self.send_prompt(&key, text, Waiter::Request { id, reply });
    }

    /// The prompt to be sent for a line: a file's, where its first word names one, else the line as it was written. The
    /// error is the line and how its command is used.
    fn read_file_command(
        &mut self,
        key: &SessionKey,
        text: String,
    ) -> Result<String, (String, String)> {
        if !text.starts_with('/') {
            return Ok(text);
        }
        self.reread_instructions(key);
        match self.prompt_of_file(key, &text) {
            Some(Ok(prompt)) => Ok(prompt),
            Some(Err(usage)) => Err((text, usage)),
            None => Ok(text),
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
        self.reread_instructions(key);
        self.tell_hooks(key, &Happened::Prompt { text: &text });
        let Some(open) = self.sessions.get_mut(key) else {
            return;
        };
        let prompt = open.next_prompt();
        open.waiting.insert(prompt, waiter);
        self.step(key, Input::Prompt { prompt, text });
    }

    pub(crate) fn cancel(&mut self, params: acp::CancelNotification) {
        // A notification has nobody to tell that there is no such session.
        if let Ok(key) = self.known(&params.session_id) {
            self.cancel_session(&key);
        }
    }

    pub(crate) fn cancel_session(&mut self, key: &SessionKey) {
        self.cancel_errands(key);
        self.step(key, Input::Cancel);
    }

    /// `$/cancelRequest` on a prompt.
    pub(crate) fn cancel_request(&mut self, id: &Id) {
        self.withdraw_errand(id);
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

/// Backticks that end no sooner than the text does, which may hold some of its own.
fn fence(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// A prompt's blocks as one text. Embedded files are quoted; links are named, for the model to read.
fn text_of(blocks: &[ContentBlock]) -> String {
    let mut parts = Vec::new();
    for block in blocks {
        match block {
            ContentBlock::Text(it) => parts.push(it.text.clone()),
            ContentBlock::ResourceLink(it) => parts.push(format!("See {}", it.uri)),
            ContentBlock::Resource(it) => match &it.resource {
                acp::EmbeddedResourceResource::TextResourceContents(it) => {
                    let fence = fence(&it.text);
                    parts.push(format!("{}:\n{fence}\n{}\n{fence}", it.uri, it.text));
                }
                other => {
                    tracing::warn!(?other, "an embedded resource that is not text was left out")
                }
            },
            other => tracing::warn!(?other, "a block of the prompt was left out"),
        }
    }
    parts.join("\n\n")
}
