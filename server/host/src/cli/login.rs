//! `undine login` and `undine logout`: providers' keys in the system's keyring.
//!
//! A key is read from the terminal without being shown, or from stdin; no argument and no option takes one, because other
//! programs see those and shells remember them.

use super::settings::{here, print};
use crate::endpoint;
use crate::keys::{self, KeyPlace, Keys};
use crate::layers::CommandLine;
use anyhow::Context;
use protocol::auth::KeySource;
use std::io::{IsTerminal, Read, Write, stderr, stdin};
use std::process::ExitCode;

/// The most that is read of a stdin that does not end.
const MOST: u64 = 64 << 10;

/// Stores a key, or lists where the keys are.
pub(super) fn login(
    provider: Option<String>,
    command_line: CommandLine,
) -> anyhow::Result<ExitCode> {
    let config = here(command_line)?.1.config;
    let keys = Keys::from_environment();
    let Some(provider) = provider else {
        list(&keys, &endpoint::places(&config));
        return Ok(ExitCode::SUCCESS);
    };
    let place = match endpoint::storable_place(&config, &provider) {
        Ok(place) => place,
        Err(why) => return Ok(refuse(&why)),
    };
    // Before the person has typed it in vain.
    if let Some(trouble) = keys.trouble(&place) {
        return Ok(refuse(&place.not_stored(&trouble)));
    }
    let typed = match read_key(&provider)? {
        Some(typed) => typed,
        None => return Ok(refuse("Nothing was stored.")),
    };
    let stored = keys::key_from(&typed).and_then(|key| keys.store(&place, key));
    if let Err(why) = stored {
        return Ok(refuse(&why));
    }
    print(&format!(
        "The key of {provider} is in the system's keyring now, as {} of the service undine.",
        place.account()
    ));
    if let Some(found) = place.in_environment() {
        print(&format!(
            "It does not count as long as {} is set, which comes first.",
            found.place
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes a key.
pub(super) fn logout(provider: &str, command_line: CommandLine) -> anyhow::Result<ExitCode> {
    let config = here(command_line)?.1.config;
    let place = match endpoint::known_place(&config, provider) {
        Ok(place) => place,
        Err(why) => return Ok(refuse(&why)),
    };
    match Keys::from_environment().remove(&place) {
        Ok(true) => print(&format!(
            "The key of {provider} is no longer in the system's keyring."
        )),
        Ok(false) => print(&format!(
            "There was no key of {provider} in the system's keyring."
        )),
        Err(why) => return Ok(refuse(&why)),
    }
    if let Some(found) = place.in_environment() {
        print(&format!("{} still holds one.", capitalized(&found.place)));
    }
    Ok(ExitCode::SUCCESS)
}

fn capitalized(place: &keys::Place) -> String {
    let text = place.to_string();
    text.replacen("the", "The", 1)
}

/// One line a provider: its name, where its key is, and what is to be known of that.
fn list(keys: &Keys, places: &[KeyPlace]) {
    let status = keys.status(places);
    for (it, place) in status.providers.iter().zip(places) {
        let (source, told) = match (it.source, &it.variable) {
            (KeySource::Env, Some(variable)) => ("env", variable.clone()),
            (KeySource::Env, None) => ("env", String::new()),
            (KeySource::Keyring, _) => ("keyring", String::new()),
            (KeySource::None, _) if it.needed => ("none", place.variables.join(" or ")),
            (KeySource::None, _) => ("none", "needs none".to_owned()),
        };
        print(format!("{:12} {source:8} {told}", it.provider).trim_end());
    }
    if let Some(problem) = status.problem {
        say(&problem);
    }
}

fn refuse(why: &str) -> ExitCode {
    say(&format!("undine: {why}"));
    ExitCode::FAILURE
}

fn say(text: &str) {
    // Nobody to tell if stderr is closed.
    let _ = writeln!(stderr(), "{text}");
}

/// What the person gives; none if they thought better of it.
fn read_key(provider: &str) -> anyhow::Result<Option<String>> {
    if stdin().is_terminal() {
        let _ = write!(stderr(), "Key of {provider} (it is not shown): ");
        let typed = unseen().context("reading from the terminal");
        say("");
        return typed;
    }
    let mut text = String::new();
    let read = stdin().take(MOST).read_to_string(&mut text);
    read.context("reading the key from stdin")?;
    Ok(Some(text))
}

/// A line of the terminal that is not shown. Character by character and without signals: a person who breaks it off must
/// get their terminal back as it was.
#[cfg(unix)]
fn unseen() -> anyhow::Result<Option<String>> {
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    struct Restore(Termios);
    impl Drop for Restore {
        fn drop(&mut self) {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(stdin(), OptionalActions::Flush, &self.0);
        }
    }

    let before = tcgetattr(stdin())?;
    let mut silent = before.clone();
    silent.local_modes &=
        !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN);
    let _restore = Restore(before);
    tcsetattr(stdin(), OptionalActions::Flush, &silent)?;
    let mut line = Vec::new();
    for byte in stdin().lock().bytes() {
        match byte? {
            b'\n' | b'\r' => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            // Ctrl-C; Ctrl-D on nothing.
            0x03 => return Ok(None),
            0x04 if line.is_empty() => return Ok(None),
            // Backspace, Ctrl-U.
            0x08 | 0x7f => drop(line.pop()),
            0x15 => line.clear(),
            byte => line.push(byte),
        }
    }
    Ok(None)
}

#[cfg(not(unix))]
fn unseen() -> anyhow::Result<Option<String>> {
    anyhow::bail!("a terminal here would show it; pipe the key into `undine login`")
}
