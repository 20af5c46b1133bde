//! The system's keyring, which never holds anybody up: each visit has a thread of its own and a time limit.
//!
//! A Secret Service may not be there, may ask the person for a password, or may never answer. A visit that takes too long
//! is left alone, and until it ends nothing else is tried, so that no turn waits a second time. Nothing is opened
//! before the first visit.

use engine::provider::Secret;
use keyring_core::{CredentialStore, Entry, Error};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// The name under which the keyring keeps what is ours.
const SERVICE: &str = "undine";

/// Switches the keyring off where it is set to anything but nothing and `0`.
pub const SWITCH: &str = "UNDINE_NO_KEYRING";

/// How long a service that has answered may take to store or remove: it may be asking the person for a password.
const ASKING: Duration = Duration::from_secs(60);

/// Why there is nothing to be had from the keyring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// [`SWITCH`] is set.
    Off,
    /// It did not answer in time, now or at an earlier visit that still waits.
    Mute,
    /// There is none, or it refuses; in its own words.
    Unusable(String),
}

/// As the end of a sentence that began with what is missing.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Off => write!(f, "{SWITCH} switches the system's keyring off"),
            Trouble::Mute => f.write_str("the system's keyring does not answer"),
            Trouble::Unusable(why) => write!(f, "the system's keyring cannot be used ({why})"),
        }
    }
}

/// The way to the keyring. Visits block, for as long as they are given at most; to store or to remove, [`ASKING`] longer.
#[derive(Debug)]
pub struct Keyring {
    is_off: bool,
    /// Visits that have not ended.
    open: Arc<AtomicUsize>,
    /// One of them was left alone.
    is_mute: AtomicBool,
    /// The last one found that it cannot be used.
    is_unusable: AtomicBool,
}

impl Keyring {
    /// As the environment says.
    pub fn from_environment() -> Keyring {
        let is_off = std::env::var_os(SWITCH).is_some_and(|it| !it.is_empty() && it != "0");
        Keyring {
            is_off,
            open: Arc::default(),
            is_mute: AtomicBool::new(false),
            is_unusable: AtomicBool::new(false),
        }
    }

    /// Whether nothing can be had, as far as is known without a visit.
    pub fn is_useless(&self) -> bool {
        self.is_off || self.is_mute() || self.is_unusable.load(Ordering::Acquire)
    }

    /// Whether it was left alone and has not ended since.
    pub fn is_mute(&self) -> bool {
        self.is_mute.load(Ordering::Acquire) && self.open.load(Ordering::Acquire) > 0
    }

    /// What an account holds.
    pub fn get(&self, account: String, most: Duration) -> Result<Option<Secret>, Trouble> {
        self.visit(most, most, move |store| {
            match entry(store, &account)?.get_password() {
                Ok(text) => Ok(Some(Secret::new(text))),
                Err(Error::NoEntry) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Which of these accounts hold something. What they hold is not read.
    pub fn holds(&self, accounts: Vec<String>, most: Duration) -> Result<Vec<bool>, Trouble> {
        self.visit(most, most, move |store| {
            let holds = |account: &String| match entry(store, account)?.get_credential() {
                Ok(_) | Err(Error::Ambiguous(_)) => Ok(true),
                Err(Error::NoEntry) => Ok(false),
                Err(error) => Err(error),
            };
            accounts.iter().map(holds).collect()
        })
    }

    pub fn set(&self, account: String, secret: Secret, most: Duration) -> Result<(), Trouble> {
        self.visit(most, ASKING, move |store| {
            entry(store, &account)?.set_password(secret.expose())
        })
    }

    /// Empties an account; false if it was empty.
    pub fn remove(&self, account: String, most: Duration) -> Result<bool, Trouble> {
        self.visit(most, ASKING, move |store| {
            match entry(store, &account)?.delete_credential() {
                Ok(()) => Ok(true),
                Err(Error::NoEntry) => Ok(false),
                Err(error) => Err(error),
            }
        })
    }

    /// `most` until the service has answered at all, then `then`.
    fn visit<T: Send + 'static>(
        &self,
        most: Duration,
        then: Duration,
        work: impl FnOnce(&CredentialStore) -> keyring_core::Result<T> + Send + 'static,
    ) -> Result<T, Trouble> {
        if self.is_off {
            return Err(Trouble::Off);
        }
        if self.is_mute() {
            return Err(Trouble::Mute);
        }
        // It may have answered after all: the person has typed the password.
        self.is_mute.store(false, Ordering::Release);
        let (tell, end) = mpsc::channel();
        let open = Open::one_more(&self.open);
        // A thread and not a task: one that never ends must not hold up the runtime's end.
        let thread = std::thread::Builder::new().name("keyring".to_owned());
        let started = thread.spawn(move || {
            let _open = open;
            // Whoever asked may have gone on.
            let found = store().and_then(|store| {
                let _ = tell.send(Step::Opened);
                work(store.as_ref())
            });
            let _ = tell.send(Step::Done(
                found.map_err(|it| Trouble::Unusable(words(&it))),
            ));
        });
        if let Err(error) = started {
            return Err(Trouble::Unusable(error.to_string()));
        }
        let step = match end.recv_timeout(most) {
            Ok(Step::Opened) => end.recv_timeout(then),
            step => step,
        };
        match step {
            Ok(Step::Done(found)) => {
                let is_unusable = matches!(found, Err(Trouble::Unusable(_)));
                self.is_unusable.store(is_unusable, Ordering::Release);
                found
            }
            Ok(Step::Opened) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                Err(Trouble::Unusable("its client failed".to_owned()))
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                self.is_mute.store(true, Ordering::Release);
                Err(Trouble::Mute)
            }
        }
    }
}

/// How far a visit has come.
enum Step<T> {
    Opened,
    Done(Result<T, Trouble>),
}

/// Counts a visit for as long as it lives, even if it panics.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn one_more(count: &Arc<AtomicUsize>) -> Open {
        count.fetch_add(1, Ordering::AcqRel);
        Open(count.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Opened anew for each visit: a service that comes later is found, and one that has gone is not missed.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn store() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(zbus_secret_service_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn store() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn store() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(windows_native_keyring_store::Store::new()?)
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "freebsd",
    target_os = "macos",
    windows
)))]
fn store() -> keyring_core::Result<Arc<CredentialStore>> {
    Err(Error::NoDefaultStore)
}

fn entry(store: &CredentialStore, account: &str) -> keyring_core::Result<Entry> {
    store.build(SERVICE, account, None)
}

/// What is told of an error. Those that carry what was stored are told without it.
fn words(error: &Error) -> String {
    let text = match error {
        Error::PlatformFailure(why) | Error::NoStorageAccess(why) => why.to_string(),
        Error::NoDefaultStore => "this system has none that is known here".to_owned(),
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "what it holds is no text".to_owned(),
        Error::Ambiguous(_) => "it holds several keys for this; remove all but one".to_owned(),
        other => other.to_string(),
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn keyring() -> Keyring {
        Keyring {
            is_off: false,
            open: Arc::default(),
            is_mute: AtomicBool::new(false),
            is_unusable: AtomicBool::new(false),
        }
    }

    /// A visit to nothing that ends when it is told to.
    fn visit(keyring: &Keyring, most: Duration, end: mpsc::Receiver<()>) -> Result<(), Trouble> {
        let (done, ended) = mpsc::channel();
        let open = Open::one_more(&keyring.open);
        std::thread::spawn(move || {
            let _open = open;
            let _ = end.recv();
            let _ = done.send(());
        });
        ended.recv_timeout(most).map_err(|_| {
            keyring.is_mute.store(true, Ordering::Release);
            Trouble::Mute
        })
    }

    #[test]
    fn after_a_visit_that_does_not_end_nobody_waits_and_after_its_end_all_is_well() {
        let keyring = keyring();
        let (tell, end) = mpsc::channel();
        let short = Duration::from_millis(1);
        assert_eq!(visit(&keyring, short, end), Err(Trouble::Mute));
        let started = Instant::now();
        let long = Duration::from_secs(60);
        assert_eq!(keyring.get("x".to_owned(), long), Err(Trouble::Mute));
        assert!(started.elapsed() < Duration::from_secs(5));
        tell.send(()).unwrap();
        while keyring.open.load(Ordering::Acquire) > 0 {
            std::thread::yield_now();
        }
        let found = keyring.visit(long, long, |_| Ok(()));
        assert_ne!(found, Err(Trouble::Mute));
    }

    #[test]
    fn no_error_tells_what_was_stored() {
        let held = b"canary".to_vec();
        let texts = [
            words(&Error::BadEncoding(held.clone())),
            words(&Error::BadDataFormat(held, "canary".into())),
        ];
        assert!(texts.iter().all(|it| !it.contains("canary")), "{texts:?}");
    }
}
