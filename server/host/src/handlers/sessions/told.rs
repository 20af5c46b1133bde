//! What the model is told of files: how to work in the project, how to write, which skills there are, what was kept.

use super::settings::guides;
use crate::instructions;
use crate::main_loop::Host;
use crate::session_host::Told;
use crate::workspace::Workspace;
use engine::context::instructions::Further;
use engine::context::styles;
use protocol::config::Config;

impl Host {
    /// As the files are now; what cannot be read of them is told to the person.
    pub(super) fn look_at_files(&mut self, workspace: &Workspace, config: &Config) -> Told {
        let found = instructions::find(workspace.root());
        for problem in found.problems {
            self.warn_once(problem);
        }
        let styles = self.styles(workspace.root());
        let (style, warning) = styles::choose(&styles, &config.output.style);
        if let Some(warning) = warning {
            self.warn_once(warning);
        }
        let guidance = match guides(config) {
            true => styles::GUIDANCE.to_owned(),
            false => String::new(),
        };
        Told {
            files: found.files,
            further: Further {
                style,
                guidance,
                skills: String::new(),
                memory: String::new(),
            },
        }
    }
}
