//! `undine models list`: which models can be chosen in this folder.

use super::settings::{here, print};
use crate::endpoint;
use crate::keys::Keys;
use crate::layers::CommandLine;
use crate::models::{self, Models, Stored};
use crate::store::Folders;
use engine::text::visible;
use engine::usage::dollars;
use protocol::auth::{KeySource, ProviderKey};
use protocol::models::{ListedModel, ModelList};
use std::process::ExitCode;

/// Lists them: 0, also where a provider does not answer.
pub(super) fn list(as_json: bool, command_line: CommandLine) -> anyhow::Result<ExitCode> {
    let (_, resolved) = here(command_line)?;
    let config = resolved.config;
    let mut known = Models::new(&Folders::from_environment().data);
    let sources = models::sources(&config);
    let keys = Keys::from_environment();
    let mut stored = Stored::default();
    stored.take(&keys.status(&endpoint::places(&config)).providers);
    let usable = sources.iter().filter(|it| it.is_usable(&stored));
    let fetch = known.due(&config, usable.map(|it| it.provider.as_str()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (probes, fetched) = runtime.block_on(async {
        let fetching = async {
            match fetch {
                Some(fetch) => Some(fetch.run().await),
                None => None,
            }
        };
        tokio::join!(models::ask(sources, &keys, &config.limits), fetching)
    });
    match fetched {
        Some(Ok(catalogue)) => known.set_catalogue(catalogue),
        Some(Err(why)) => tracing::warn!(why, "the catalogue of models was not fetched"),
        None => {}
    }
    known.take(&probes);
    let list = models::list(&mut known, &config, &probes);
    match as_json {
        true => print(&serde_json::to_string_pretty(&list)?),
        false => print(&visible(&text(&list))),
    }
    Ok(ExitCode::SUCCESS)
}

fn text(list: &ModelList) -> String {
    let mut lines = vec![match &list.current {
        Some(current) => format!("{current} answers."),
        None => "No model is configured.".to_owned(),
    }];
    for it in &list.aliases {
        let model = it.model.as_deref().unwrap_or("nothing that there is");
        lines.push(format!("{} is {model}.", it.name));
    }
    for provider in &list.providers {
        lines.push(format!("\n{} ({})", provider.name, key(&provider.key)));
        lines.extend(provider.problem.iter().map(|it| format!("  {it}")));
        lines.extend(provider.models.iter().map(|it| format!("  {}", line(it))));
    }
    lines.join("\n")
}

fn key(key: &ProviderKey) -> String {
    match (key.source, &key.variable) {
        (KeySource::Env, Some(variable)) => format!("key from the environment variable {variable}"),
        (KeySource::Env, None) => "key from the environment".to_owned(),
        (KeySource::Keyring, _) => "key from the system's keyring".to_owned(),
        (KeySource::None, _) if key.needed => "no key".to_owned(),
        (KeySource::None, _) => "no key needed".to_owned(),
    }
}

fn line(model: &ListedModel) -> String {
    let mut parts = vec![model.id.clone()];
    parts.extend(model.window.map(|it| format!("reads {it} tokens")));
    if let Some(price) = &model.price {
        parts.push(match (price.input, price.output) {
            (0.0, 0.0) => "free".to_owned(),
            (input, output) => format!(
                "{} read, {} written a million",
                dollars(input),
                dollars(output)
            ),
        });
    }
    parts.join(", ")
}
