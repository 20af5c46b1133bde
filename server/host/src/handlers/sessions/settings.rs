//! What a session is opened with, of the configuration and of what is known of its model.

use crate::endpoint;
use crate::main_loop::Host;
use crate::process::sandbox::Kernel;
use crate::session_host::{Child, Told};
use crate::tools::{self, Offered};
use crate::workspace::Workspace;
use engine::agents;
use engine::context::instructions::{self, System};
use engine::context::styles;
use engine::models;
use engine::provider::Wire;
use engine::session::{Retries, Role, Settings};
use protocol::config::Config;
use std::path::Path;

impl Host {
    /// `child`: what a subagent is; none for a session of the person's.
    pub(in crate::handlers) fn settings(
        &mut self,
        session: &str,
        config: &Config,
        workspace: &Workspace,
        told: &Told,
        child: Option<&Child>,
    ) -> Settings {
        let (offered, role) = match child {
            None => (Offered::Session(&told.kinds), Role::Person),
            Some(child) => {
                let wishes = child.wishes.clone();
                (Offered::Agent(&child.kind), Role::Agent { wishes })
            }
        };
        let folders = folders_of(workspace);
        let system = match offered {
            Offered::Session(_) => System::new(&folders, &told.files, &told.further),
            Offered::Agent(kind) => System::for_agent(
                &agents::system_preamble(kind),
                kind.grants("edit_file"),
                &folders,
                &told.files,
                &told.further,
            ),
        };
        let reached = endpoint::reach(config);
        let compacts_itself = matches!(
            &reached,
            Ok(it) if matches!(it.wire, Wire::Messages | Wire::Responses)
        );
        let (provider, model, natives) = match reached {
            Ok(reached) => (reached.provider, reached.model, reached.natives),
            // Said when the model is asked.
            Err(_) => {
                let model = &config.default_model;
                (model.provider.clone(), model.name.clone(), Vec::new())
            }
        };
        let reasoning = models::reasoning(config, &format!("{provider}/{model}"));
        let limits = &config.limits;
        Settings {
            provider,
            model,
            reasoning,
            natives,
            learned: self.learned(config),
            window: self.models.window(config),
            compaction: config.compaction.clone(),
            compacts_itself,
            cache_key: session.to_string(),
            system,
            tools: tools::specs(offered, config),
            max_tokens: Some(config.default_model.max_tokens).filter(|it| *it > 0),
            temperature: config.default_model.temperature,
            queued_prompts: usize::try_from(limits.queued_prompts).unwrap_or(usize::MAX),
            edit_rounds: u32::try_from(limits.edit_rounds).unwrap_or(u32::MAX),
            continuations: u32::try_from(limits.continuations).unwrap_or(u32::MAX),
            goal_turns: config.goal.max_turns,
            guidance: guides(config),
            turn_answers: u32::try_from(limits.turn_answers).unwrap_or(u32::MAX),
            retries: Retries {
                most: u32::try_from(limits.model_retries).unwrap_or(u32::MAX),
                first_ms: limits.model_retry_ms,
                longest_ms: limits.model_retry_max_secs.saturating_mul(1000),
                spread: spread(),
            },
            role,
            attended: self.attended,
            safety: config.safety.clone(),
            standing: self.standing(workspace.root()),
            can_hold: Kernel::look().holds_reading(),
        }
    }
}

/// Whether the session's model is guided step by step.
pub(super) fn guides(config: &Config) -> bool {
    let provider = endpoint::reach(config).map(|it| it.provider);
    let is_local = provider.is_ok_and(|it| endpoint::is_free(config, &it));
    styles::is_guided(config.output.guidance, is_local)
}

/// What is added to a session's own waits, percent.
fn spread() -> u32 {
    const MOST: u32 = 25;
    let mut drawn = [0; 1];
    // Without randomness it comes back with the others.
    let _ = getrandom::getrandom(&mut drawn);
    u32::from(drawn[0]) % (MOST + 1)
}

/// The folders that the model is told of.
fn folders_of(workspace: &Workspace) -> instructions::Folders {
    let shown = |it: &Path| it.display().to_string();
    let mut others = Vec::new();
    for it in workspace.others().map(shown) {
        if !others.contains(&it) {
            others.push(it);
        }
    }
    instructions::Folders {
        project: shown(workspace.root()),
        others,
        scratchpad: workspace.scratchpad().map(shown),
    }
}
