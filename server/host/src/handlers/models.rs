//! Choosing the model of a session and how hard it thinks.
//!
//! A choice counts in its session from the next answer on, also when the session is loaded again. It is remembered in the
//! person's `config.toml`: the model is the default of new sessions then, and a level of reasoning belongs to its model.

use super::lifecycle::UPDATE;
use crate::config_edit::{self, EditError};
use crate::endpoint;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::layers::user_file;
use crate::lsp::Error;
use crate::main_loop::Host;
use crate::perform::invalid;
use crate::session_host::OpenSession;
use crate::show;
use engine::models::{ModelName, find};
use engine::session::Input;
use protocol::acp;
use protocol::config::{Config, Reasoning};

/// The ids of the options of a session.
const MODEL: &str = "model";
const REASONING: &str = "reasoning";
const STYLE: &str = "output_style";

/// The value of the second for what is configured, or else the provider's own way.
const AS_CONFIGURED: &str = "default";

impl Host {
    pub(crate) fn set_config_option(
        &mut self,
        params: &acp::SetSessionConfigOptionRequest,
    ) -> Result<acp::SetSessionConfigOptionResponse, Error> {
        let key = self.known(&params.session_id)?;
        let value = params.value.as_value_id().map(|it| it.0.clone());
        let value = value.ok_or_else(|| invalid("The value must be one of the option's ids."))?;
        let chosen = match &*params.config_id.0 {
            MODEL => self.choose_model(&key, &value),
            REASONING => self.choose_reasoning(&key, &value),
            STYLE => self.choose_style(&key, &value, false),
            other => Err(format!(
                "There is no option {other:?}; choose one of {MODEL}, {REASONING}, {STYLE}."
            )),
        };
        chosen.map_err(invalid)?;
        let options = self.config_options(&key);
        Ok(acp::SetSessionConfigOptionResponse::new(options))
    }

    /// `/model`
    pub(super) fn model_for(&mut self, session: SessionKey, asker: Asker, name: &str) {
        let number = self.begin(session.clone(), asker);
        match name.trim() {
            "" => self.list_for_errand(session, number),
            name => {
                let said = self.choose_model(&session, name);
                self.end(number, said);
            }
        }
    }

    /// `/reasoning`
    pub(super) fn reasoning_for(&mut self, session: SessionKey, asker: Asker, level: &str) {
        let said = match level.trim() {
            "" => self.reasoning_said(&session),
            level => self.choose_reasoning(&session, level),
        };
        let number = self.begin(session, asker);
        self.end(number, said);
    }

    fn reasoning_said(&self, session: &SessionKey) -> Result<String, String> {
        let open = self.sessions.get(session).ok_or("The session is closed.")?;
        let level = open.session.reasoning();
        let level = level.map_or("its provider's own way", |it| it.id());
        Ok(format!(
            "{} reasons: {level}. `/reasoning LEVEL` changes it; levels are {}.",
            open.session.model_id(),
            levels()
        ))
    }

    /// Lets another model answer in a session, and makes it the default. Both texts are for the person.
    fn choose_model(&mut self, key: &SessionKey, name: &str) -> Result<String, String> {
        let open = self.sessions.get(key).ok_or("The session is closed.")?;
        let model = find(&open.config, name)?;
        let mut config = Config::clone(&open.config);
        config.default_model.provider.clone_from(&model.provider);
        config.default_model.name.clone_from(&model.name);
        let reached = endpoint::reach(&config)?;
        let model = ModelName {
            provider: reached.provider,
            name: reached.model,
        };
        let kept = self.write_default(&model);
        if let Some(open) = self.sessions.get_mut(key) {
            open.choice.model = Some(model.clone());
        }
        self.configure(key);
        self.tell_options(key);
        Ok(format!("{model} answers from now on.{}", kept_or_not(kept)))
    }

    /// Lets a session's model think so hard, and remembers it for that model. Both texts are for the person.
    fn choose_reasoning(&mut self, key: &SessionKey, level: &str) -> Result<String, String> {
        let level = match level {
            AS_CONFIGURED => None,
            level => Some(Reasoning::from_id(level).ok_or_else(|| {
                format!("There is no level {level:?}; choose one of {}.", levels())
            })?),
        };
        let open = self.sessions.get(key).ok_or("The session is closed.")?;
        let model = open.session.model_id();
        let file = user_file(&self.folders.config);
        let option = ["reasoning_per_model", model.as_str()];
        let kept = match level {
            Some(level) => config_edit::set(&file, &option, level.id()),
            None => config_edit::unset(&file, &option),
        };
        let kept = self.after_writing(kept);
        if let Some(open) = self.sessions.get_mut(key) {
            open.choice.reasoning.insert(model.clone(), level);
        }
        self.configure(key);
        let chosen = Input::Reasoning {
            model: model.clone(),
            level,
        };
        self.step(key, chosen);
        self.tell_options(key);
        let level = level.map_or("as configured, or else in its provider's own way", |it| {
            it.id()
        });
        Ok(format!(
            "{model} reasons from now on: {level}.{}",
            kept_or_not(kept)
        ))
    }

    fn write_default(&mut self, model: &ModelName) -> Result<(), String> {
        let file = user_file(&self.folders.config);
        let now = &self.resolve(None).config.default_model;
        if (&now.provider, &now.name) == (&model.provider, &model.name) {
            return Ok(());
        }
        let all: [(&[&str], toml_edit::Value); 2] = [
            (
                &["default_model", "provider"],
                model.provider.as_str().into(),
            ),
            (&["default_model", "name"], model.name.as_str().into()),
        ];
        self.after_writing(config_edit::set_all(&file, all))
    }

    /// What was written counts from now on. The error is for the person.
    pub(super) fn after_writing(&mut self, written: Result<(), EditError>) -> Result<(), String> {
        written.map_err(|it| it.to_string())?;
        match self.read_user_file() {
            Some(problem) => Err(problem),
            None => Ok(()),
        }
    }

    /// Tells the editor what a session's options are now.
    pub(super) fn tell_options(&mut self, session: &SessionKey) {
        let is_child = |it: &OpenSession| it.child.is_some();
        if !self.client.takes(UPDATE) || self.sessions.get(session).is_some_and(is_child) {
            return;
        }
        let options = self.config_options(session);
        let update = acp::ConfigOptionUpdate::new(options);
        let update = acp::SessionUpdate::ConfigOptionUpdate(update);
        let params = acp::SessionNotification::new(show::session_id(session), update);
        self.out.notify(UPDATE, &params);
    }

    /// The options of a session: its model, and how hard that thinks.
    pub(super) fn config_options(&mut self, session: &SessionKey) -> Vec<acp::SessionConfigOption> {
        let Some(open) = self.sessions.get(session) else {
            return Vec::new();
        };
        let config = open.config.clone();
        let current = open.session.model_id();
        let level = open.choice.reasoning.get(&current).copied().flatten();
        let level = level.or_else(|| open.session.reasoning());
        let known = current
            .split_once('/')
            .and_then(|(provider, name)| self.models.known(provider, name));
        let mut offered = known.map(|it| it.levels).unwrap_or_default();
        if offered.is_empty() {
            offered = Reasoning::ALL.to_vec();
        }
        offered.extend(level);
        offered.sort();
        offered.dedup();
        let mut levels = vec![
            acp::SessionConfigSelectOption::new(AS_CONFIGURED, "As configured").description(
                "As it is configured for all models, or else the provider's own way".to_owned(),
            ),
        ];
        levels.extend(
            offered
                .into_iter()
                .map(|it| acp::SessionConfigSelectOption::new(it.id(), it.id())),
        );
        let chosen = level.map_or(AS_CONFIGURED, |it| it.id());
        let models = self.offered(&config, &current);
        let root = self.sessions.get(session).map(|it| it.workspace.clone());
        let styles = root.map(|it| self.styles(it.root())).unwrap_or_default();
        let style = config.output.style.clone();
        let mut offered: Vec<acp::SessionConfigSelectOption> = styles
            .iter()
            .map(|it| {
                let option = acp::SessionConfigSelectOption::new(it.name.clone(), it.name.clone());
                option.description(it.description.clone())
            })
            .collect();
        if styles.iter().all(|it| it.name != style) {
            offered.push(acp::SessionConfigSelectOption::new(
                style.clone(),
                style.clone(),
            ));
        }
        vec![
            acp::SessionConfigOption::select(MODEL, "Model", current, models)
                .description("The model that answers, from the next answer on".to_owned())
                .category(acp::SessionConfigOptionCategory::Model),
            acp::SessionConfigOption::select(REASONING, "Reasoning", chosen, levels)
                .description("How hard it thinks before it answers".to_owned())
                .category(acp::SessionConfigOptionCategory::ThoughtLevel),
            acp::SessionConfigOption::select(STYLE, "Output style", style, offered)
                .description("How the agent writes, from your next message on".to_owned()),
        ]
    }
}

fn levels() -> String {
    let ids = Reasoning::ALL.map(|it| it.id());
    format!("{AS_CONFIGURED}, {}", ids.join(", "))
}

/// What is said of what was chosen where it could not be written down.
pub(super) fn kept_or_not(kept: Result<(), String>) -> String {
    match kept {
        Ok(()) => String::new(),
        Err(why) => format!(" It is not remembered: {why}"),
    }
}
