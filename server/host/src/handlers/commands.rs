//! Prompts that are commands: the server answers them itself, and no model is asked.

use super::lifecycle::UPDATE;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::lsp::{Id, Reply};
use crate::main_loop::Host;
use crate::show;
use protocol::acp;

/// A prompt that begins with one of [`TABLE`]'s words.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PromptCommand {
    Checkpoint(Vec<String>),
    Checkpoints,
    Restore(Option<String>),
    Approvals(Option<String>),
    Approve(String),
    Deny(String),
    Logs(Option<String>),
    Stop(String),
    AddDir(Vec<String>),
    Permissions,
    Forget(String),
    Model(String),
    Reasoning(String),
    Usage,
}

/// What is announced: name, what it does, what follows it.
const TABLE: [(&str, &str, Option<&str>); 14] = [
    (
        "checkpoint",
        "Makes a checkpoint of files, to be restored later",
        Some("paths of files, in quotes where they hold spaces"),
    ),
    (
        "checkpoints",
        "Lists the checkpoints of this project, newest first",
        None,
    ),
    (
        "restore",
        "Gives files back what they were at a checkpoint",
        Some("a checkpoint's id or its beginning; the newest, if missing"),
    ),
    (
        "approvals",
        "Lists the actions that wait for an approval in this project, or shows one whole",
        Some("an approval's id or its beginning; all, if missing"),
    ),
    (
        "approve",
        "Runs an action that waits for an approval, once",
        Some("an approval's id or its beginning"),
    ),
    (
        "deny",
        "Takes an action off the list of approvals, for good",
        Some("an approval's id or its beginning"),
    ),
    (
        "logs",
        "Lists the processes in the background, or shows the end of one's output",
        Some("a process's id, as bg-1234; all, if missing"),
    ),
    (
        "stop",
        "Ends a process in the background with all it has started",
        Some("a process's id, as bg-1234"),
    ),
    (
        "add-dir",
        "Lets the agent work in a folder beside the project as in the project, as long as the session is open",
        Some("paths of folders, in quotes where they hold spaces; lists them, if missing"),
    ),
    (
        "permissions",
        "Lists what you have answered so that it is not asked again",
        None,
    ),
    (
        "forget",
        "Takes such an answer back: it is asked about again",
        Some("an answer's id or its beginning"),
    ),
    (
        "model",
        "Lets another model answer, from the next answer on, or lists those that there are",
        Some("provider/model or an alias; all, if missing"),
    ),
    (
        "reasoning",
        "Sets how hard the model thinks before it answers, or says how hard it does",
        Some("none, minimal, low, medium, high, xhigh, max, or default for what is configured"),
    ),
    (
        "usage",
        "Shows what this session has used, by model, and what that costs",
        None,
    ),
];

impl PromptCommand {
    /// `None`: a prompt for the model, also one that begins with a slash.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match name {
            "/checkpoint" => Some(Self::Checkpoint(words(rest))),
            "/checkpoints" => Some(Self::Checkpoints),
            "/restore" => Some(Self::Restore(words(rest).into_iter().next())),
            "/approvals" => Some(Self::Approvals(words(rest).into_iter().next())),
            // Without an id there is none that begins so, and the person is told.
            "/approve" => Some(Self::Approve(rest.trim().to_owned())),
            "/add-dir" => Some(Self::AddDir(words(rest))),
            "/deny" => Some(Self::Deny(rest.trim().to_owned())),
            "/permissions" => Some(Self::Permissions),
            "/forget" => Some(Self::Forget(rest.trim().to_owned())),
            "/logs" => Some(Self::Logs(words(rest).into_iter().next())),
            "/model" => Some(Self::Model(rest.trim().to_owned())),
            "/reasoning" => Some(Self::Reasoning(rest.trim().to_owned())),
            "/usage" => Some(Self::Usage),
            "/stop" => Some(Self::Stop(rest.trim().to_owned())),
            _ => None,
        }
    }
}

impl Host {
    pub(super) fn run_command(
        &mut self,
        session: SessionKey,
        command: PromptCommand,
        text: String,
        id: Id,
        reply: Reply,
    ) {
        let asker = Asker::Prompt { id, reply, text };
        match command {
            PromptCommand::Checkpoint(paths) => self.keep_for(session, asker, paths),
            PromptCommand::Checkpoints => self.list_for(session, asker),
            PromptCommand::Restore(id) => self.plan_restore(session, asker, id),
            PromptCommand::Approvals(id) => self.list_approvals(session, asker, id),
            PromptCommand::Approve(id) => self.approve_for(session, asker, &id),
            PromptCommand::Deny(id) => self.deny_for(session, asker, &id),
            PromptCommand::Logs(id) => self.logs_for(session, asker, id),
            PromptCommand::Stop(id) => self.stop_for(session, asker, &id),
            PromptCommand::Permissions => self.permissions_for(session, asker),
            PromptCommand::Forget(id) => self.forget_for(session, asker, &id),
            PromptCommand::Model(name) => self.model_for(session, asker, &name),
            PromptCommand::Reasoning(level) => self.reasoning_for(session, asker, &level),
            PromptCommand::Usage => self.usage_for(session, asker),
            PromptCommand::AddDir(folders) => self.add_folders(session, asker, &folders),
        }
    }

    /// Tells the editor which commands a session knows. After the answer that gave it the session's id.
    pub(crate) fn announce_commands(&mut self, session: &SessionKey) {
        if !self.client.takes(UPDATE) {
            return;
        }
        let commands = TABLE.map(|(name, does, hint)| {
            let hint = hint.map(acp::UnstructuredCommandInput::new);
            acp::AvailableCommand::new(name, does)
                .input(hint.map(acp::AvailableCommandInput::Unstructured))
        });
        let update = acp::AvailableCommandsUpdate::new(commands.to_vec());
        let update = acp::SessionUpdate::AvailableCommandsUpdate(update);
        let params = acp::SessionNotification::new(show::session_id(session), update);
        self.out.notify(UPDATE, &params);
    }
}

/// Words apart at spaces; quotes keep spaces in a word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for it in text.chars() {
        match (quote, it) {
            (Some(open), it) if it == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(it);
                word.get_or_insert_default();
            }
            (None, it) if it.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, it) => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_whole_word_at_the_start() {
        use PromptCommand::*;
        let read = PromptCommand::read;
        let paths =
            |all: &[&str]| Some(Checkpoint(all.iter().map(|it| (*it).to_owned()).collect()));
        assert_eq!(read("/checkpoints"), Some(Checkpoints));
        assert_eq!(
            read(" /checkpoint a.txt \"b c.txt\"'d' \n"),
            paths(&["a.txt", "b c.txtd"])
        );
        assert_eq!(read("/checkpoint"), paths(&[]));
        assert_eq!(
            read("/restore 2026"),
            Some(Restore(Some("2026".to_owned())))
        );
        assert_eq!(read("/restore"), Some(Restore(None)));
        let added = Some(AddDir(vec!["../a b".to_owned()]));
        assert_eq!(read("/add-dir \"../a b\""), added);
        for prompt in [
            "/restored",
            "restore it",
            "/tmp is full",
            "what is /checkpoints",
        ] {
            assert_eq!(read(prompt), None, "{prompt}");
        }
    }
}
