//! The host's side of a model that fails: waits, what the person sees of them, and what models refuse.

use crate::endpoint;
use crate::event::{Event, SessionKey};
use crate::main_loop::{Host, TaskKey};
use crate::store;
use crate::store::learned::{self, ModelKey, Term};
use engine::provider::Learned;
use engine::redact::redact_string;
use engine::session::Retrying;
use protocol::config::Config;
use protocol::methods::{self, Notification};
use protocol::retry::{Retry, RetryParams};
use protocol::session::TimerId;
use std::time::Duration;

impl Host {
    pub(crate) fn wake_after(&mut self, session: &SessionKey, timer: TimerId, ms: u64) {
        let (inbox, key) = (self.inbox.clone(), session.clone());
        self.tasks
            .spawn(TaskKey::Timer(session.clone(), timer), |token| async move {
                tokio::select! {
                    biased;
                    () = token.cancelled() => {}
                    () = tokio::time::sleep(Duration::from_millis(ms)) => {
                        // A loop that is gone wakes nobody.
                        let _ = inbox.send(Event::Woke(key, timer)).await;
                    }
                }
            });
    }

    pub(crate) fn stop_timer(&mut self, session: &SessionKey, timer: TimerId) {
        self.tasks.stop(&TaskKey::Timer(session.clone(), timer));
    }

    pub(crate) fn show_retry(&mut self, session: &SessionKey, retrying: Option<Retrying>) {
        if self.client.takes(methods::Retry::METHOD) {
            let params = RetryParams {
                session_id: session.to_string(),
                retry: retrying.map(retry),
            };
            self.out.notify(methods::Retry::METHOD, &params);
        }
    }

    /// What the configured model does not take, as far as any server knows.
    pub(crate) fn learned(&mut self, config: &Config) -> Learned {
        let Ok(reached) = endpoint::reach(config) else {
            return Learned::default();
        };
        let (learned, fault) = self.learned.of(&reached.model_key(), term(config));
        if let Some(fault) = fault {
            self.warn_once(fault);
        }
        learned
    }

    /// The model that a session asked last has refused something.
    pub(crate) fn learn(&mut self, session: &SessionKey, learned: &Learned) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let config = open.config.clone();
        if let Some(key) = open.asked.clone() {
            self.keep_learned(key, learned.clone(), &config);
        }
    }

    pub(crate) fn keep_learned(&mut self, key: ModelKey, learned: Learned, config: &Config) {
        let term = term(config);
        self.learned.take_in(&key, &learned, term);
        let path = self.learned.path().to_path_buf();
        self.runtime.spawn_blocking(move || {
            // It counts here all the same, and is learned again elsewhere.
            if let Err(why) = learned::keep(&path, &key, &learned, term) {
                tracing::warn!(path = %path.display(), why, "what a model refused was not kept");
            }
        });
    }
}

fn term(config: &Config) -> Term {
    Term {
        now: store::now_ms(),
        days: config.limits.learned_days,
    }
}

fn retry(retrying: Retrying) -> Retry {
    let Retrying {
        mut why,
        attempt,
        of,
        after_ms,
    } = retrying;
    redact_string(&mut why);
    Retry {
        why,
        attempt,
        of,
        after_ms,
    }
}

/// A line for where nothing counts down.
pub(crate) fn in_words(retry: &Retry) -> String {
    let why = retry.why.trim_end_matches('.');
    match retry.after_ms {
        0 => format!("{why}."),
        ms => {
            let (attempt, of) = (retry.attempt, retry.of);
            let seconds = ms.div_ceil(1000);
            format!("{why}. Asking again in {seconds} s ({attempt} of {of}).")
        }
    }
}

/// The same of what the engine says.
pub(crate) fn line(retrying: &Retrying) -> String {
    in_words(&retry(retrying.clone()))
}
