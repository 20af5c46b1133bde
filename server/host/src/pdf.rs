//! The text of a PDF, taken out by a process of its own.
//!
//! A PDF can be made so that reading it never ends, takes all memory or crashes. So it is read by our own
//! executable with a hidden first argument, which has little memory and time, and which ends when nobody waits any
//! more: its stdin is a pipe that closes when the server drops it or is gone, in whatever way.

use crate::process::launcher::Launcher;
use crate::regular;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// The hidden first argument. Underscores, so that no subcommand will ever collide with it.
const FLAG: &str = "__pdf_text";

/// The most bytes of a PDF that are read.
pub const MAX_BYTES: u64 = 64 << 20;

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Seconds of computing, for a reader whose server is gone and who did not notice.
const MAX_CPU_SECS: u64 = 30;

/// Bytes of memory, those of the program itself included.
const MAX_MEMORY: u64 = 1 << 30;

/// Takes the text out of a PDF, at most `most` bytes of it. Dropping it ends the reading. The error says why not, in
/// a few words.
pub async fn text(path: &Path, most: u64) -> Result<String, String> {
    let failed = |error: io::Error| format!("reading it was not started: {error}");
    let launcher = Launcher::own().map_err(failed)?;
    let mut reader = tokio::process::Command::new(launcher.program())
        .args([OsStr::new(FLAG), path.as_os_str()])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    // Held until the end: the reader stops when it closes.
    let lifeline = reader.stdin.take();
    let (Some(mut said), Some(mut complained)) = (reader.stdout.take(), reader.stderr.take())
    else {
        return Err("reading it was not started".to_owned());
    };
    let (mut text, mut why) = (Vec::new(), Vec::new());
    let work = async {
        let mut said = (&mut said).take(most);
        let mut complained = (&mut complained).take(1000);
        tokio::try_join!(
            said.read_to_end(&mut text),
            complained.read_to_end(&mut why)
        )?;
        if text.len() as u64 == most {
            return Ok(None);
        }
        reader.wait().await.map(Some)
    };
    let ended = tokio::time::timeout(TIMEOUT, work).await;
    drop(lifeline);
    let is_good = match ended {
        Err(_) => return Err(format!("it takes longer than {} s", TIMEOUT.as_secs())),
        Ok(Err(error)) => return Err(format!("reading it broke off: {error}")),
        // There is more than anybody wants.
        Ok(Ok(None)) => true,
        Ok(Ok(Some(status))) => status.success(),
    };
    let why = String::from_utf8_lossy(&why);
    match (is_good, why.lines().next()) {
        (true, _) => Ok(String::from_utf8_lossy(&text).into_owned()),
        (false, Some(why)) => Err(why.to_owned()),
        (false, None) => Err("it is damaged, or needs more than 1 GiB of memory".to_owned()),
    }
}

/// Becomes the reader if the arguments say so, and then never returns. Before all else in `main`, as the launcher.
pub fn run_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(FLAG)) {
        return;
    }
    let path = arguments.next().unwrap_or_default();
    let code = match read(Path::new(&path)) {
        Ok(()) => 0,
        Err(why) => {
            // Nobody to tell if stderr is closed.
            let _ = writeln!(io::stderr(), "{why}");
            1
        }
    };
    std::process::exit(code)
}

fn read(path: &Path) -> Result<(), String> {
    bound().map_err(|it| format!("its limits cannot be set ({it})"))?;
    std::thread::spawn(|| {
        // Ends when the other end closes; nothing is ever written there.
        let _ = io::stdin().read(&mut [0]);
        std::process::exit(1);
    });
    // What libraries print must not be taken for text.
    let out = nix::unistd::dup(io::stdout()).map_err(|it| it.to_string())?;
    nix::unistd::dup2_stdout(io::stderr()).map_err(|it| it.to_string())?;
    let bytes = regular::read_capped(path, MAX_BYTES).map_err(|it| it.to_string())?;
    let bytes = bytes.ok_or_else(|| format!("it is larger than {MAX_BYTES} bytes"))?;
    std::panic::set_hook(Box::new(|_| {}));
    let text = std::panic::catch_unwind(|| pdf_extract::extract_text_from_mem(&bytes));
    let text = match text {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => return Err(one_line(&error.to_string())),
        Err(_) => return Err("it is damaged".to_owned()),
    };
    let mut out = std::fs::File::from(out);
    out.write_all(text.as_bytes()).map_err(|it| it.to_string())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Memory, time, and no file written.
fn bound() -> nix::Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    setrlimit(Resource::RLIMIT_AS, MAX_MEMORY, MAX_MEMORY)?;
    setrlimit(Resource::RLIMIT_CPU, MAX_CPU_SECS, MAX_CPU_SECS)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)
}
