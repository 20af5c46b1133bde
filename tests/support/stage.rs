//! An editor, a model and a workspace, introduced to each other.

use super::editor::{Editor, Pending, Setup, Turn};
use super::model::{Asked, Model};
use super::workspace::Workspace;
use protocol::acp::SessionId;
use protocol::methods::Prompt;
use serde_json::Value;

/// More of a `config.toml`: a model that fails is not asked again, so that the failure is seen.
pub const NO_RETRIES: &str = "[limits]\nmodel_retries = 0\n";

/// Ended in this order: the editor checks that nothing is unread, then the model that nothing was asked.
pub struct Stage {
    pub editor: Editor,
    pub model: Model,
    pub workspace: Workspace,
    setup: Setup,
    /// The model's wire format.
    kind: &'static str,
    config: String,
}

impl Stage {
    /// Our own editor, mode `ask`.
    #[track_caller]
    pub fn new(files: &str) -> Self {
        Self::with(Setup::agent(), files, "")
    }

    /// Another editor, and more of the user's `config.toml`.
    #[track_caller]
    pub fn with(setup: Setup, files: &str, config: &str) -> Self {
        Self::staged("openai-compatible", setup, files, config)
    }

    /// Our own editor, and a model in a wire format, by its name in the configuration.
    #[track_caller]
    pub fn speaking(kind: &'static str, files: &str, config: &str) -> Self {
        Self::staged(kind, Setup::agent(), files, config)
    }

    #[track_caller]
    fn staged(kind: &'static str, setup: Setup, files: &str, config: &str) -> Self {
        let (model, workspace) = (Model::start(), Workspace::new(files));
        workspace.configure(&format!("{}{config}", config_speaking(kind, &model.url())));
        Self {
            editor: Editor::start(&setup, &workspace),
            model,
            workspace,
            setup,
            kind,
            config: config.to_owned(),
        }
    }

    /// Another server for the same project. The one before must be gone.
    #[track_caller]
    pub fn restart(&mut self) {
        self.editor = Editor::start(&self.setup, &self.workspace);
    }

    /// As [`restart`](Self::restart), with more on its command line.
    #[track_caller]
    pub fn restart_with_flags(&mut self, flags: &[&str]) {
        self.setup.arguments = flags.iter().map(|it| (*it).to_owned()).collect();
        self.editor.finish();
        self.restart();
    }

    /// As [`restart`](Self::restart), with another model: what the server before was about to ask the old
    /// one is nobody's business any more.
    #[track_caller]
    pub fn restart_with_another_model(&mut self) {
        let model = Model::start();
        let config = format!(
            "{}{}",
            config_speaking(self.kind, &model.url()),
            self.config
        );
        self.workspace.configure(&config);
        std::mem::replace(&mut self.model, model).abandon();
        self.restart();
    }

    /// Opens a session, sends a prompt and waits until the model is asked.
    #[track_caller]
    pub fn ask(&self, text: &str) -> (SessionId, Pending<Prompt>, Asked) {
        let session = self.editor.new_session();
        let prompt = self.editor.prompt(&session, text);
        let asked = self.model.next();
        assert_eq!(asked.last_prompt(), text);
        (session, prompt, asked)
    }

    /// As [`ask`](Self::ask), and the model answers with one call.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> (SessionId, Pending<Prompt>) {
        let (session, prompt, mut asked) = self.ask("go");
        asked.call(tool, arguments);
        asked.end();
        (session, prompt)
    }

    /// Lets the model end the turn; answers what it was told of its only call.
    #[track_caller]
    pub fn result(&self, prompt: &Pending<Prompt>) -> String {
        let (result, turn) = self.end(prompt);
        assert!(turn.text().ends_with("done"), "{turn:?}");
        result
    }

    /// As [`result`](Self::result), in an editor that is not shown what the model says.
    #[track_caller]
    pub fn result_unshown(&self, prompt: &Pending<Prompt>) -> String {
        let (result, turn) = self.end(prompt);
        assert!(turn.updates.is_empty(), "{turn:?}");
        result
    }

    #[track_caller]
    fn end(&self, prompt: &Pending<Prompt>) -> (String, Turn) {
        let mut asked = self.model.next();
        let result = asked.result();
        asked.say("done");
        asked.end();
        (result, self.editor.end(prompt))
    }
}

/// The user's configuration for a model at this URL.
pub fn config_for(url: &str) -> String {
    config_speaking("openai-compatible", url)
}

/// The same, in another wire format. The vendor's own tools are on offer, as with the vendor itself.
pub fn config_speaking(kind: &str, url: &str) -> String {
    format!(
        "[default_model]\nprovider = \"scripted\"\nname = \"scripted-1\"\n\n\
         [providers.scripted]\nkind = \"{kind}\"\nbase_url = \"{url}\"\nnative_tools = true\n\n"
    )
}
