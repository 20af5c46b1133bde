//! Starts `ollama serve` where nothing listens: on this machine only, in a process group of its own and as nobody's child
//! of ours, because it serves other programs too and stays when we go.

use super::Wishes;
use crate::endpoint::is_local;
use crate::model;
use crate::process::environment;
use engine::provider::Endpoint;
use engine::provider::ollama;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// How often a server that starts is asked whether it answers.
const LOOK: Duration = Duration::from_millis(50);

/// Sees that a server answers at a local endpoint. The error is one sentence for the person.
pub(super) async fn start(
    starting: &Mutex<()>,
    endpoint: &Endpoint,
    wishes: &Wishes,
) -> Result<(), String> {
    let Ok(url) = Url::parse(&endpoint.base_url) else {
        return Ok(());
    };
    let is_plain = url.scheme() == "http";
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Ok(());
    };
    // Brackets are a URL's, and `OLLAMA_HOST`'s.
    let address = (host.trim_matches(['[', ']']), port);
    if !is_plain || !is_local(&url) || !is_refused(address, wishes.connect).await {
        return Ok(());
    }
    let _one = starting.lock().await;
    if !is_refused(address, wishes.connect).await {
        return Ok(());
    }
    let mut environment: Vec<(OsString, OsString)> = environment(wishes);
    let program = program(&environment).ok_or_else(|| {
        format!("Nothing listens at {host}:{port}, and there is no program `ollama` to start; install Ollama, or correct base_url.")
    })?;
    environment.push(("OLLAMA_HOST".into(), format!("{host}:{port}").into()));
    let mut server = serve(&program, environment)
        .map_err(|error| format!("{} cannot be started ({error}).", program.display()))?;
    tracing::info!(program = %program.display(), "Ollama was started");
    wait(&mut server, endpoint, wishes).await
}

/// Whether nobody listens there. An address that does not answer in time is not ours to say.
async fn is_refused(address: (&str, u16), patience: Duration) -> bool {
    let connected = timeout(patience, TcpStream::connect(address)).await;
    matches!(connected, Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused)
}

/// What it sees of our environment: no keys, and no program of the project's.
fn environment(wishes: &Wishes) -> Vec<(OsString, OsString)> {
    let also_secret: Vec<&str> = wishes.key_variables.iter().map(String::as_str).collect();
    let mut environment = environment::scrubbed(std::env::vars_os(), &also_secret);
    let roots: Vec<PathBuf> = wishes.roots.iter().map(|it| real(it)).collect();
    let is_ours = |it: &Path| {
        let it = real(it);
        roots.iter().any(|root| it.starts_with(root))
    };
    environment::without_programs_of(&mut environment, is_ours);
    environment
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn program(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let (_, folders) = environment.iter().find(|(name, _)| name == "PATH")?;
    let name = format!("ollama{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(folders)
        .map(|it| it.join(&name))
        .find(|it| it.is_file())
}

fn serve(program: &Path, environment: Vec<(OsString, OsString)>) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command
        .arg("serve")
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // A Ctrl-C in our terminal is not for it.
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(windows)]
    command.creation_flags(NEW_GROUP);
    // It is not to keep the project's folder in use.
    if let Some(home) = std::env::home_dir().filter(|it| it.is_dir()) {
        command.current_dir(home);
    }
    command.spawn()
}

/// `CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW`.
#[cfg(windows)]
const NEW_GROUP: u32 = 0x0000_0200 | 0x0800_0000;

/// Waits until it answers, or has ended without an answer.
async fn wait(server: &mut Child, endpoint: &Endpoint, wishes: &Wishes) -> Result<(), String> {
    let until = Instant::now() + wishes.start_for;
    loop {
        // Before it is asked: one that was started elsewhere at the same time may have been faster, and ours ended by it.
        let ended = server.try_wait().ok().flatten();
        if answers(endpoint, wishes).await {
            return Ok(());
        }
        if let Some(status) = ended {
            return Err(format!(
                "Ollama was started and ended at once ({status}); run `ollama serve` in a terminal to see why."
            ));
        }
        if Instant::now() >= until {
            return Err(format!(
                "Ollama was started and does not answer after {} seconds (limits.ollama_start_secs); run `ollama serve` in a terminal to see why.",
                wishes.start_for.as_secs()
            ));
        }
        sleep(LOOK).await;
    }
}

async fn answers(endpoint: &Endpoint, wishes: &Wishes) -> bool {
    let url = ollama::url(endpoint, "/api/version");
    let Ok(client) = model::client_for(&url, wishes.connect) else {
        return false;
    };
    let asked = timeout(wishes.connect, client.get(&url).send()).await;
    matches!(asked, Ok(Ok(response)) if response.status().is_success())
}
