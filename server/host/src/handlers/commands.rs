//! Prompts that are commands: the server answers them itself, and no model is asked.

use super::lifecycle::UPDATE;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::lsp::{Id, Reply};
use crate::main_loop::Host;
use crate::show;
use protocol::acp;

/// A command: its name, what it does, what follows it, and how it is done.
pub(super) struct Command {
    name: &'static str,
    does: &'static str,
    hint: Option<&'static str>,
    run: fn(&mut Host, SessionKey, Asker, &str),
}

/// All of them, as they are announced. A command is one row.
const TABLE: &[Command] = &[
    Command {
        name: "checkpoint",
        does: "Makes a checkpoint of files, to be restored later",
        hint: Some("paths of files, in quotes where they hold spaces"),
        run: |host, session, asker, rest| host.keep_for(session, asker, words(rest)),
    },
    Command {
        name: "checkpoints",
        does: "Lists the checkpoints of this project, newest first",
        hint: None,
        run: |host, session, asker, _| host.list_for(session, asker),
    },
    Command {
        name: "restore",
        does: "Gives files back what they were at a checkpoint",
        hint: Some("a checkpoint's id or its beginning; the newest, if missing"),
        run: |host, session, asker, rest| host.plan_restore(session, asker, first(rest)),
    },
    Command {
        name: "approvals",
        does: "Lists the actions that wait for an approval in this project, or shows one whole",
        hint: Some("an approval's id or its beginning; all, if missing"),
        run: |host, session, asker, rest| host.list_approvals(session, asker, first(rest)),
    },
    Command {
        name: "approve",
        does: "Runs an action that waits for an approval, once",
        hint: Some("an approval's id or its beginning"),
        run: |host, session, asker, rest| host.approve_for(session, asker, rest),
    },
    Command {
        name: "deny",
        does: "Takes an action off the list of approvals, for good",
        hint: Some("an approval's id or its beginning"),
        run: |host, session, asker, rest| host.deny_for(session, asker, rest),
    },
    Command {
        name: "logs",
        does: "Lists the processes in the background, or shows the end of one's output",
        hint: Some("a process's id, as bg-1234; all, if missing"),
        run: |host, session, asker, rest| host.logs_for(session, asker, first(rest)),
    },
    Command {
        name: "stop",
        does: "Ends a process in the background with all it has started",
        hint: Some("a process's id, as bg-1234"),
        run: |host, session, asker, rest| host.stop_for(session, asker, rest),
    },
    Command {
        name: "add-dir",
        does: "Lets the agent work in a folder beside the project as in the project, as long as the session is open",
        hint: Some("paths of folders, in quotes where they hold spaces; lists them, if missing"),
        run: |host, session, asker, rest| host.add_folders(session, asker, &words(rest)),
    },
    Command {
        name: "permissions",
        does: "Lists what you have answered so that it is not asked again, or takes such an answer back",
        hint: Some("forget and an answer's id or its beginning; all, if missing"),
        run: |host, session, asker, rest| host.permissions_for(session, asker, rest),
    },
    Command {
        name: "model",
        does: "Lets another model answer, from the next answer on, or lists those that there are",
        hint: Some("provider/model or an alias; all, if missing"),
        run: |host, session, asker, rest| host.model_for(session, asker, rest),
    },
    Command {
        name: "reasoning",
        does: "Sets how hard the model thinks before it answers, or says how hard it does",
        hint: Some(
            "none, minimal, low, medium, high, xhigh, max, or default for what is configured",
        ),
        run: |host, session, asker, rest| host.reasoning_for(session, asker, rest),
    },
    Command {
        name: "output-style",
        does: "Chooses how the agent writes, from your next message on, or lists the styles there are",
        hint: Some("a style's name, and --project to set it for the project; all, if missing"),
        run: |host, session, asker, rest| host.style_for(session, asker, rest),
    },
    Command {
        name: "goal",
        does: "Sets what must hold before the agent stops by itself, shows it, or removes it",
        hint: Some("a condition, or clear; shows the goal, if missing"),
        run: |host, session, asker, rest| host.goal_for(session, asker, rest),
    },
    Command {
        name: "btw",
        does: "Asks something beside the conversation, also while the agent works; nothing of it is kept",
        hint: Some("a question"),
        run: |host, session, asker, rest| host.btw_for(session, asker, rest),
    },
    Command {
        name: "usage",
        does: "Shows what this session has used, by model, and what that costs",
        hint: None,
        run: |host, session, asker, _| host.usage_for(session, asker),
    },
];

impl Command {
    /// The command of a prompt, and what follows it. `None`: a prompt for the model, also one that begins with a slash.
    pub(super) fn read(text: &str) -> Option<(&'static Self, &str)> {
        let line = text.strip_prefix('/')?;
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let command = TABLE.iter().find(|it| it.name == name)?;
        Some((command, rest.trim()))
    }
}

impl Host {
    /// Does what a prompt's command says; `rest` follows it in `text`.
    pub(super) fn run_command(
        &mut self,
        session: SessionKey,
        (command, rest): (&'static Command, &str),
        text: &str,
        id: Id,
        reply: Reply,
    ) {
        let text = text.to_owned();
        (command.run)(self, session, Asker::Prompt { id, reply, text }, rest);
    }

    /// Tells the editor which commands a session knows. After the answer that gave it the session's id.
    pub(crate) fn announce_commands(&mut self, session: &SessionKey) {
        if !self.client.takes(UPDATE) {
            return;
        }
        let commands = TABLE.iter().map(|it| {
            let hint = it.hint.map(acp::UnstructuredCommandInput::new);
            acp::AvailableCommand::new(it.name, it.does)
                .input(hint.map(acp::AvailableCommandInput::Unstructured))
        });
        let update = acp::AvailableCommandsUpdate::new(commands.collect());
        let update = acp::SessionUpdate::AvailableCommandsUpdate(update);
        let params = acp::SessionNotification::new(show::session_id(session), update);
        self.out.notify(UPDATE, &params);
    }
}

/// The first of them.
fn first(text: &str) -> Option<String> {
    words(text).into_iter().next()
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
        let read = |text| Command::read(text).map(|(it, rest)| (it.name, rest));
        assert_eq!(read("/checkpoints"), Some(("checkpoints", "")));
        assert_eq!(read("/restore 2026 \n"), Some(("restore", "2026")));
        assert_eq!(read("/restore\n2026"), Some(("restore", "2026")));
        for prompt in [
            "/restored",
            "restore it",
            "/tmp is full",
            "//checkpoints",
            " /checkpoints",
            "what is /checkpoints",
        ] {
            assert_eq!(read(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn quotes_keep_spaces_in_a_word() {
        assert_eq!(words("a.txt \"b c.txt\"'d' \n"), ["a.txt", "b c.txtd"]);
        assert_eq!(words("\"../a b\""), ["../a b"]);
        assert_eq!(first(" "), None);
    }
}
