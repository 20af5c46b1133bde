//! What the model is told of files: how to work in the project, how to write, which skills there are, what was kept.

use super::settings::guides;
use crate::agent_files;
use crate::hooks::{FILE, ProjectHooks};
use crate::instructions;
use crate::main_loop::Host;
use crate::session_host::Told;
use crate::store::trust::Trust;
use crate::workspace::Workspace;
use engine::agents::Kinds;
use engine::context::instructions::Further;
use engine::context::styles;
use engine::skills;
use protocol::config::{Config, Hook};
use std::path::Path;
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
        let also = agent_files::find(workspace.root(), &self.folders.config);
        for problem in also.problems {
            self.warn_once(problem);
        }
        let (kinds, wrong) = Kinds::new(&config.agents, also.kinds);
        for problem in wrong {
            self.warn_once(problem);
        }
        let mut hooks = config.hooks.clone();
        hooks.extend(self.trusted_hooks(workspace.root()));
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
            kinds: Arc::new(kinds),
            files: found.files,
            further: Further {
                style,
                guidance,
                skills: skills::index(&also.skills),
                memory: self.memory_index(workspace, config),
            },
            skill_folders: also.skill_folders.into(),
            commands: also.commands,
            hooks: hooks.into(),
        }
    }

    /// The project's hooks, if the person has trusted exactly these. Of others they are told once.
    fn trusted_hooks(&mut self, root: &Path) -> Vec<Hook> {
        match ProjectHooks::find(root, &Trust::new(&self.folders.config)) {
            ProjectHooks::None => Vec::new(),
            ProjectHooks::Unreadable(why) => {
                self.warn_once(why);
                Vec::new()
            }
            ProjectHooks::Found(found) if found.is_trusted => found.hooks,
            ProjectHooks::Found(found) => {
                self.warn_once(format!(
                    "The hooks in {FILE} of {} do not run, because you have not trusted them as they are. `/trust` in a \
                     session or `undine trust` in that folder shows them ({}).",
                    root.display(),
                    found.id
                ));
                Vec::new()
            }
        }
    }
}
