//! `undine doctor`: what a person would ask first when something does not work.
//!
//! It looks and starts nothing (BUG-107), speaks with the network only when asked to, and shows of a key where it comes
//! from, never what it is.

use super::settings::{here, is_file, origin_of, print};
use crate::endpoint;
use crate::instructions;
use crate::keys::{Keys, Need};
use crate::layers::{CommandLine, project_file, user_file};
use crate::models::Models;
use crate::process::sandbox::{self, Files, Kernel, Sandbox};
use crate::scratchpad::Scratchpad;
use crate::store::Folders;
use crate::workspace;
use engine::config::{Origin, Resolved};
use engine::models::reasoning;
use engine::provider::without_secrets;
use engine::text::visible;
use engine::usage::{Rates, dollars};
use protocol::auth::KeySource;
use protocol::config::{Config, Filesystem, Network};
use serde::Serialize;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use url::Url;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    /// Nothing is wrong, but a person may wonder.
    Note,
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    topic: &'static str,
    state: State,
    /// One sentence.
    text: String,
}

#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    findings: Vec<Finding>,
}

impl Report {
    fn add(&mut self, topic: &'static str, state: State, text: impl Into<String>) {
        let text = text.into();
        self.findings.push(Finding { topic, state, text });
    }
}

/// Looks and reports: 0 if nothing is wrong, else 1.
pub(super) fn run(
    online: bool,
    as_json: bool,
    command_line: CommandLine,
) -> anyhow::Result<ExitCode> {
    let (root, resolved) = here(command_line)?;
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION"),
        findings: Vec::new(),
    };
    let keys = Keys::from_environment();
    model(&mut report, &resolved, &keys, online);
    key_sources(&mut report, &resolved.config, &keys);
    settings(&mut report, &resolved, &root);
    confinement(&mut report, &resolved, &root);
    files(&mut report, &resolved, &root);
    if as_json {
        print(&serde_json::to_string_pretty(&report)?);
    } else {
        print(&format!("Undine {}", report.version));
        for it in &report.findings {
            let state = match it.state {
                State::Ok => "ok",
                State::Note => "note",
                State::Problem => "problem",
            };
            print(&format!("{state:8} {:13} {}", it.topic, visible(&it.text)));
        }
    }
    let is_well = report.findings.iter().all(|it| it.state != State::Problem);
    Ok(match is_well {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Where the keys of all providers are: env, keyring or none (spec 28).
fn key_sources(report: &mut Report, config: &Config, keys: &Keys) {
    let status = keys.status(&endpoint::places(config));
    let of = |source| {
        let names = status.providers.iter().filter(|it| it.source == source);
        let names: Vec<&str> = names.map(|it| it.provider.as_str()).collect();
        match names.is_empty() {
            true => "nobody".to_owned(),
            false => names.join(", "),
        }
    };
    let text = format!(
        "env: {}; keyring: {}; none: all others.",
        of(KeySource::Env),
        of(KeySource::Keyring)
    );
    report.add("keys", State::Ok, text);
    if let Some(problem) = &status.problem {
        report.add("keyring", State::Note, problem.clone());
    }
}

fn model(report: &mut Report, resolved: &Resolved, keys: &Keys, online: bool) {
    let config = &resolved.config;
    let reached = match endpoint::reach(config) {
        Ok(reached) => reached,
        Err(why) => return report.add("model", State::Problem, why),
    };
    let url = &reached.endpoint.base_url;
    let (provider, name) = (&reached.provider, &reached.model);
    let from = origin_of(resolved, "default_model.provider");
    let shown = without_secrets(url);
    let text = format!("{provider}/{name} at {shown}, from {from}.");
    report.add("model", State::Ok, text);
    known(report, resolved, &format!("{provider}/{name}"));
    let (sources, trouble) = keys.sources(std::slice::from_ref(&reached.key));
    match sources.into_iter().next().flatten() {
        Some(place) => report.add("key", State::Ok, format!("It is taken from {place}.")),
        None if reached.key.need == Need::Optional => {
            report.add("key", State::Ok, "None is sent.".to_owned())
        }
        None => report.add("key", State::Problem, reached.key.missing(trouble.as_ref())),
    }
    if !online {
        let text = "Whether the model answers was not tried; `undine doctor --online` does.";
        return report.add("connection", State::Note, text);
    }
    let patience = Duration::from_secs(config.limits.model_connect_secs);
    match connect(url, patience) {
        Ok(()) => report.add(
            "connection",
            State::Ok,
            format!("{shown} takes connections."),
        ),
        Err(why) => {
            let text = format!(
                "{shown} takes no connection ({why}); see that it runs, or correct base_url."
            );
            report.add("connection", State::Problem, text);
        }
    }
}

/// What is known of the model without asking anybody.
fn known(report: &mut Report, resolved: &Resolved, model: &str) {
    let config = &resolved.config;
    let text = match reasoning(config, model) {
        Some(level) => format!("It is asked to reason: {}.", level.id()),
        None => "It reasons in its provider's own way.".to_owned(),
    };
    report.add("reasoning", State::Ok, text);
    let mut models = Models::new(&Folders::from_environment().data);
    match models.window(config) {
        Some(window) => report.add("window", State::Ok, format!("It reads {window} tokens.")),
        None => {
            let text = "How much it reads is not known; set context_window under its provider in config.toml.";
            report.add("window", State::Note, text);
        }
    }
    match models.rates(config, model) {
        Some(rates) if rates == Rates::free() => {
            report.add("price", State::Ok, "It costs nothing.")
        }
        Some(rates) => {
            let [read, written] = [rates.base.input, rates.base.output].map(dollars);
            let text = format!("A million tokens cost {read} to read and {written} to write.");
            report.add("price", State::Ok, text);
        }
        None => {
            let text = "What it costs is not known; set it under [pricing.models] in config.toml.";
            report.add("price", State::Note, text);
        }
    }
}

/// Opens a connection and closes it. Nothing is sent.
fn connect(url: &str, patience: Duration) -> Result<(), String> {
    let url = Url::parse(url).map_err(|it| it.to_string())?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or(443);
    let addresses = (host, port)
        .to_socket_addrs()
        .map_err(|it| it.to_string())?;
    let mut why = "it has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(_) => return Ok(()),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

fn settings(report: &mut Report, resolved: &Resolved, root: &Path) {
    let safety = &resolved.config.safety;
    let from = origin_of(resolved, "safety.mode");
    let text = format!("New sessions begin in {}, from {from}.", safety.mode.id());
    report.add("mode", State::Ok, text);
    let own = user_file(&Folders::from_environment().config);
    match is_file(&own) {
        true => report.add("config", State::Ok, format!("Yours is {}.", own.display())),
        false => {
            let text = format!(
                "You have none at {}; `undine init` writes one.",
                own.display()
            );
            report.add("config", State::Note, text);
        }
    }
    let theirs = project_file(root);
    if is_file(&theirs) {
        let decided: Vec<&str> = resolved.decided_by(Origin::ProjectFile).collect();
        let decided = match decided.is_empty() {
            true => "nothing".to_owned(),
            false => decided.join(", "),
        };
        let text = format!(
            "The project's is {}; it decides {decided}.",
            theirs.display()
        );
        report.add("config", State::Note, text);
    }
    for it in &resolved.problems {
        report.add("config", State::Problem, it.text.clone());
    }
}

fn confinement(report: &mut Report, resolved: &Resolved, root: &Path) {
    let safety = &resolved.config.safety;
    let kernel = Kernel::look();
    let mut can = sandbox::describe(kernel);
    if let Kernel::Linux { landlock, seccomp } = kernel {
        let filters = if seccomp { "can" } else { "cannot" };
        can.push_str(&format!(
            " The kernel has Landlock version {landlock} (0: none) and {filters} filter system calls."
        ));
    }
    let files = match safety.filesystem {
        Filesystem::Open => Files::Free,
        Filesystem::Project => Files::Below(vec![root.to_path_buf()]),
    };
    let network = safety.network == Network::Allow;
    if network && files == Files::Free {
        report.add("sandbox", State::Ok, can);
        let text = "Commands run as you do; `--sandbox` confines them.";
        return report.add("sandbox", State::Note, text);
    }
    let sandbox = Sandbox {
        network,
        files,
        protected: Vec::new(),
    };
    match sandbox.judge(kernel) {
        Ok(()) => {
            report.add("sandbox", State::Ok, can);
            let text = format!("Commands are confined: {}.", sandbox.words());
            report.add("sandbox", State::Ok, text);
        }
        Err(missing) => {
            report.add("sandbox", State::Note, can);
            let text = format!("No command runs, because they are to be confined, and {missing}.");
            report.add("sandbox", State::Problem, text);
        }
    }
}

fn files(report: &mut Report, resolved: &Resolved, root: &Path) {
    let found = instructions::find(root);
    for it in &found.files {
        let text = format!(
            "{} is told to the model ({} bytes).",
            it.path,
            it.text.len()
        );
        report.add("instructions", State::Ok, text);
    }
    for problem in found.problems.iter().cloned() {
        report.add("instructions", State::Problem, problem);
    }
    if found == instructions::Instructions::default() {
        let text = "There are none: no AGENTS.md, CLAUDE.md or UNDINE.md speaks for this folder.";
        report.add("instructions", State::Note, text);
    }
    let temporary = std::env::temp_dir();
    match Scratchpad::make(&temporary) {
        // Removed at once.
        Ok(_) => {
            let text = format!("Sessions get theirs in {}.", temporary.display());
            report.add("scratchpad", State::Ok, text);
        }
        Err(error) => {
            let text = format!(
                "None can be made in {} ({error}); make room there, or set TMPDIR.",
                temporary.display()
            );
            report.add("scratchpad", State::Problem, text);
        }
    }
    for folder in &resolved.config.workspace.additional_dirs {
        let whole = match folder.strip_prefix("~/") {
            Some(rest) => workspace::home().map(|it| it.join(rest)),
            None => Some(folder.into()),
        };
        match whole.is_some_and(|it| it.is_absolute() && it.is_dir()) {
            true => report.add(
                "folders",
                State::Ok,
                format!("{folder} counts like the project."),
            ),
            false => {
                let text = format!(
                    "{folder} in workspace.additional_dirs is no folder; correct it or take it out."
                );
                report.add("folders", State::Problem, text);
            }
        }
    }
    let folders = Folders::from_environment();
    let sessions = folders.conversations(root);
    let text = format!("Sessions are kept in {}.", sessions.display());
    report.add("sessions", State::Ok, text);
}
