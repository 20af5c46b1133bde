//! Prompts that are commands: the server answers them itself, and no model is asked.

use super::lifecycle::UPDATE;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::lsp::{Id, Reply};
use crate::main_loop::Host;
use crate::show;
use engine::command_files::words;
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
        name: "agents",
        does: "Lists the agents that work for this session, or ends one",
        hint: Some("kill and an agent's id, as agent-3; all, if missing"),
        run: |host, session, asker, rest| host.agents_for(session, asker, rest),
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
        name: "compact",
        does: "Summarises older history, so that the model has room; the session's log keeps all of it",
        hint: Some("what the summary must keep"),
        run: |host, session, asker, rest| host.compact_for(&session, asker, rest),
    },
    Command {
        name: "autocompact",
        does: "Shows or sets when older history is summarised by itself",
        hint: Some(
            "percent of the window, tokens N, on, off or reset; project behind it for the project's file",
        ),
        run: |host, session, asker, rest| host.autocompact_for(session, asker, rest),
    },
    Command {
        name: "context",
        does: "Shows what fills the model's window, part by part",
        hint: None,
        run: |host, session, asker, _| host.context_for(session, asker),
    },
    Command {
        name: "memory",
        does: "Lists what is kept over sessions",
        hint: None,
        run: |host, session, asker, _| host.memory_for(session, asker),
    },
    Command {
        name: "remember",
        does: "Keeps a fact over sessions, for this project",
        hint: Some("the fact"),
        run: |host, session, asker, rest| host.remember_for(session, asker, rest),
    },
    Command {
        name: "forget",
        does: "Removes what is kept over sessions under a name",
        hint: Some("the name of what is kept"),
        run: |host, session, asker, rest| host.forget_fact_for(session, asker, rest),
    },
    Command {
        name: "consolidate-memory",
        does: "Has the model name facts that are duplicates or outdated, and removes those",
        hint: None,
        run: |host, session, asker, _| host.consolidate_for(session, asker),
    },
    Command {
        name: "todos",
        does: "Shows the checklist, or changes it",
        hint: Some(
            "add and what is to be done, rm or done and a number, or clear; shows it, if missing",
        ),
        run: |host, session, asker, rest| host.todos_for(session, asker, rest),
    },
    Command {
        name: "rename",
        does: "Gives this session a title",
        hint: Some("the title"),
        run: |host, session, asker, rest| host.rename_for(session, asker, rest),
    },
    Command {
        name: "export",
        does: "Writes this session to a file",
        hint: Some("markdown or jsonl; markdown, if missing"),
        run: |host, session, asker, rest| host.export_for(session, asker, rest),
    },
    Command {
        name: "fork",
        does: "Goes on in a new session with all up to a message, and leaves this one as it is",
        hint: Some("a message's number; all messages, if missing"),
        run: |host, session, asker, rest| host.fork_for(session, asker, rest),
    },
    Command {
        name: "rewind",
        does: "Goes back to before one of your messages, in a new session, or lists your messages",
        hint: Some("the message's number; lists them, if missing"),
        run: |host, session, asker, rest| host.rewind_for(session, asker, rest),
    },
    Command {
        name: "sessions",
        does: "Lists the sessions of this project, or those with some words in them",
        hint: Some("words; all sessions, if missing"),
        run: |host, session, asker, rest| host.sessions_for(session, asker, rest),
    },
    Command {
        name: "clear",
        does: "Begins a new session in the place of this one, which stays as it is",
        hint: None,
        run: |host, session, asker, _| host.clear_for(session, asker),
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
    Command {
        name: "init",
        does: "Has the agent write or improve AGENTS.md, which says how to work in this project",
        hint: Some("what else it is to know"),
        run: |host, session, asker, rest| host.init_for(session, asker, rest),
    },
    Command {
        name: "trust",
        does: "Shows this project's own hooks, or lets exactly these run",
        hint: Some("the id that it shows, or off; shows them, if missing"),
        run: |host, session, asker, rest| host.trust_for(session, asker, rest),
    },
    Command {
        name: "help",
        does: "Lists the commands",
        hint: None,
        run: |host, session, asker, _| host.help_for(session, asker),
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
    /// All commands of a session: the built-in ones, which win, then those of files.
    pub(super) fn commands_of(&self, session: &SessionKey) -> Vec<Shown> {
        let built_in = TABLE.iter().map(|it| Shown {
            name: it.name.to_owned(),
            does: it.does.to_owned(),
            hint: it.hint.map(str::to_owned),
        });
        let open = self.sessions.get(session);
        let files = open.map_or(&[][..], |it| &it.told.commands[..]).iter();
        let files = files.filter(|it| !TABLE.iter().any(|own| own.name == it.name));
        let files = files.map(|it| Shown {
            name: it.name.clone(),
            does: it.description.clone(),
            hint: it.hint.clone(),
        });
        built_in.chain(files).collect()
    }

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
        let commands = self.commands_of(session).into_iter().map(|it| {
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

/// A command as it is shown.
pub(super) struct Shown {
    pub name: String,
    pub does: String,
    pub hint: Option<String>,
}

/// The first of them.
fn first(text: &str) -> Option<String> {
    words(text).into_iter().next()
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
    fn the_first_word_may_stand_in_quotes() {
        assert_eq!(first("\"a b\" c"), Some("a b".to_owned()));
        assert_eq!(first(" "), None);
    }
}
