//! Commands that are prompts, and what there is to say of commands and hooks (spec 21.3, 21.5, 21.7).

use crate::errand::Asker;
use crate::event::SessionKey;
use crate::hooks::ProjectHooks;
use crate::main_loop::Host;
use crate::session_host::Waiter;
use crate::store::trust::Trust;
use engine::command_files::init_prompt;

impl Host {
    /// The prompt that a line stands for whose first word names a command of a file; none for any other line. The error
    /// is for the person.
    pub(super) fn prompt_of_file(
        &self,
        session: &SessionKey,
        text: &str,
    ) -> Option<Result<String, String>> {
        let line = text.strip_prefix('/')?;
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let commands = &self.sessions.get(session)?.told.commands;
        let command = commands.iter().find(|it| it.name == name)?;
        Some(command.expand(rest))
    }

    /// `/init`
    pub(super) fn init_for(&mut self, session: SessionKey, asker: Asker, rest: &str) {
        match asker {
            Asker::Prompt { id, reply, .. } => {
                self.look_again_for_a_model(&session);
                self.send_prompt(&session, init_prompt(rest), Waiter::Request { id, reply });
            }
            // Only a prompt can be answered by a turn.
            asker @ (Asker::Request(_) | Asker::Command) => {
                let number = self.begin(session, asker);
                self.end(number, Err("`/init` is for a session's prompt.".to_owned()));
            }
        }
    }

    /// `/help`
    pub(super) fn help_for(&mut self, session: SessionKey, asker: Asker) {
        let lines = self.commands_of(&session).into_iter().map(|it| {
            let hint = it.hint.map(|it| format!(" ({it})")).unwrap_or_default();
            format!("- `/{}`{hint}: {}", it.name, it.does)
        });
        let lines: Vec<String> = lines.collect();
        let number = self.begin(session, asker);
        self.end(number, Ok(lines.join("\n")));
    }

    /// `/trust`
    pub(super) fn trust_for(&mut self, session: SessionKey, asker: Asker, rest: &str) {
        let Some(open) = self.sessions.get(&session) else {
            return;
        };
        let root = open.workspace.root().to_path_buf();
        let said = ProjectHooks::answer(&root, &Trust::new(&self.folders.config), rest);
        self.reread_instructions(&session);
        let number = self.begin(session, asker);
        self.end(number, said);
    }
}
