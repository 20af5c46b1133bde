//! `/add-dir`: folders that the person lets a session work in as in its project (spec 4.6).

use crate::errand::Asker;
use crate::event::SessionKey;
use crate::main_loop::Host;
use crate::workspace::{AddedBy, Workspace};
use std::path::Path;
use std::sync::Arc;

impl Host {
    /// Adds folders, all or none; without any, lists what there is beside the project.
    pub(super) fn add_folders(&mut self, session: SessionKey, asker: Asker, named: &[String]) {
        let number = self.begin(session.clone(), asker);
        let said = match named {
            [] => Ok(self.list_folders(&session)),
            named => self.add_named(&session, named),
        };
        self.end(number, said);
    }

    fn list_folders(&self, session: &SessionKey) -> String {
        let open = self.sessions.get(session);
        let others = open.into_iter().flat_map(|it| it.workspace.others());
        let mut lines: Vec<String> = Vec::new();
        for it in others {
            let line = format!("- {}", it.display());
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        match lines.is_empty() {
            true => "There is no folder beside the project; `/add-dir <path>` adds one.".to_owned(),
            false => lines.join("\n"),
        }
    }

    fn add_named(&mut self, session: &SessionKey, named: &[String]) -> Result<String, String> {
        let Some(open) = self.sessions.get_mut(session) else {
            return Err("The session is closed.".to_owned());
        };
        let mut workspace = Workspace::clone(&open.workspace);
        let mut lines = Vec::new();
        for it in named {
            let real = workspace.add(Path::new(it), AddedBy::Session)?;
            lines.push(format!(
                "The agent may work in {} as in the project, as long as this session is open.",
                real.display()
            ));
        }
        open.workspace = Arc::new(workspace);
        // The model is told of it.
        self.configure(session);
        Ok(lines.join("\n"))
    }
}
