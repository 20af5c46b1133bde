//! What the model is told of files: how to work in the project, how to write, which skills there are, what was kept.

use crate::agent_files;
use crate::instructions;
use crate::main_loop::Host;
use crate::session_host::Told;
use crate::workspace::Workspace;
use engine::agents::Kinds;
use engine::context::instructions::Further;
use protocol::config::Config;
use std::sync::Arc;

impl Host {
    /// As the files are now; what cannot be read of them is told to the person.
    pub(in crate::handlers) fn look_at_files(
        &mut self,
        workspace: &Workspace,
        config: &Config,
    ) -> Told {
        let found = instructions::find(workspace.root());
        for problem in found.problems {
            self.warn_once(problem);
        }
        let (files_of_kinds, problems) = agent_files::find(workspace.root(), &self.folders.config);
        let (kinds, wrong) = Kinds::new(&config.agents, files_of_kinds);
        for problem in problems.into_iter().chain(wrong) {
            self.warn_once(problem);
        }
        Told {
            kinds: Arc::new(kinds),
            files: found.files,
            further: Further {
                style: String::new(),
                guidance: String::new(),
                skills: String::new(),
                memory: self.memory_index(workspace, config),
            },
        }
    }
}
