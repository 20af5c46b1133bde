//! What the model is told of files: how to work in the project, how to write, which skills there are, what was kept.

use crate::instructions;
use crate::main_loop::Host;
use crate::session_host::Told;
use crate::workspace::Workspace;
use engine::context::instructions::Further;
use protocol::config::Config;

impl Host {
    /// As the files are now; what cannot be read of them is told to the person.
    pub(super) fn look_at_files(&mut self, workspace: &Workspace, config: &Config) -> Told {
        let found = instructions::find(workspace.root());
        for problem in found.problems {
            self.warn_once(problem);
        }
        Told {
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
