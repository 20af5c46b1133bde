//! Prompts and their cancelling.

use super::commands::Command;
use crate::endpoint;
use crate::event::SessionKey;
use crate::lsp::{Id, Reply};
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::session_host::{OpenSession, Waiter};
use crate::store::Pictures;
use crate::store::pictures::{MAX_PICTURE, kind_of};
use base64::{Engine, engine::general_purpose::STANDARD};
use engine::provider::Image;
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
        let said = match Said::read(&params.prompt) {
            Ok(said) => said,
            Err(why) => return reply.send::<methods::Prompt>(Err(invalid(why))),
        };
        if said.text.trim().is_empty() && said.pictures.is_empty() {
            let error = invalid("The prompt is empty; write what to do.");
            return reply.send::<methods::Prompt>(Err(error));
        }
        if let Some(command) = Command::read(&said.text) {
            let text = said.text.clone();
            return self.run_command(key, command, &text, id, reply);
        }
        self.look_again_for_a_model(&key);
        self.send_said(&key, said, Waiter::Request { id, reply });
    }

    /// A person who was told how to configure a model has perhaps done so by now.
    fn look_again_for_a_model(&mut self, key: &SessionKey) {
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

    pub(crate) fn cancel_session(&mut self, key: &SessionKey) {
        self.cancel_errands(key);
        self.step(key, Input::Cancel);
    }

    /// `$/cancelRequest` on a prompt.
    pub(crate) fn cancel_request(&mut self, id: &Id) {
        self.withdraw_errand(id);
        self.withdraw_aside(id);
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

/// What a prompt's blocks say.
struct Said {
    /// Embedded files are quoted in it; links are named, for the model to read.
    text: String,
    pictures: Vec<Image>,
}

impl Said {
    /// The error is for the person.
    fn read(blocks: &[ContentBlock]) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut pictures = Vec::new();
        for block in blocks {
            match block {
                ContentBlock::Text(it) => parts.push(it.text.clone()),
                ContentBlock::Image(it) => {
                    let name = it.uri.as_deref().and_then(|it| it.rsplit('/').next());
                    pictures.push(picture(name.unwrap_or_default(), &it.data)?);
                }
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
        let text = parts.join("\n\n");
        Ok(Self { text, pictures })
    }
}

/// A picture of the person's. Its first bytes tell what it is, whatever the editor says (spec 18.1).
fn picture(name: &str, data: &str) -> Result<Image, String> {
    let bytes = STANDARD
        .decode(data)
        .map_err(|_| "The picture is not base64; attach it again.".to_owned())?;
    let n_bytes = bytes.len() as u64;
    if n_bytes > MAX_PICTURE {
        return Err(format!(
            "The picture has {n_bytes} bytes, and a model looks at no more than {MAX_PICTURE}; make it smaller."
        ));
    }
    let kind = kind_of(&bytes).ok_or(
        "The picture is none that models look at; attach a PNG, JPEG, GIF or WebP picture.",
    )?;
    Ok(Pictures::image(name.to_owned(), kind, &bytes))
}
