//! `undine/auth/…`: where providers' keys are, storing one, removing one. Values come in and never go out.

use crate::endpoint;
use crate::event::{Event, SessionKey};
use crate::keys::{self, KeyPlace, Keys};
use crate::lsp::{Error, Reply, code, error};
use crate::main_loop::Host;
use crate::models::Stored;
use crate::perform::invalid;
use engine::provider::Secret;
use protocol::auth::{AuthStatusParams, ClearKeyParams, ClearKeyResult, ProviderKey, SetKeyParams};
use protocol::config::Config;
use protocol::methods::{self, Request};
use std::slice;
use tokio::sync::mpsc;

impl Host {
    pub(crate) fn auth_status(&mut self, params: AuthStatusParams, reply: Reply) {
        let config = self.config_for_keys();
        let places = match params.provider {
            Some(provider) => endpoint::known_place(&config, &provider).map(|it| vec![it]),
            None => Ok(endpoint::places(&config)),
        };
        let work = |keys: &Keys, places: Vec<KeyPlace>| Ok(keys.status(&places));
        self.with_keys::<methods::AuthStatus, _>(reply, places, work, |it| &it.providers);
    }

    pub(crate) fn set_key(&mut self, params: SetKeyParams, reply: Reply) {
        let config = self.config_for_keys();
        let wanted = endpoint::storable_place(&config, &params.provider)
            .and_then(|place| Ok((place, keys::key_from(&params.api_key.0)?)));
        let work = |keys: &Keys, (place, key): (KeyPlace, Secret)| {
            keys.store(&place, key)?;
            Ok(keys.status_of(place))
        };
        self.with_keys::<methods::SetKey, _>(reply, wanted, work, slice::from_ref);
    }

    pub(crate) fn clear_key(&mut self, params: ClearKeyParams, reply: Reply) {
        let place = endpoint::known_place(&self.config_for_keys(), &params.provider);
        let work = |keys: &Keys, place: KeyPlace| {
            let removed = keys.remove(&place)?;
            Ok(ClearKeyResult {
                removed,
                now: keys.status_of(place),
            })
        };
        self.with_keys::<methods::ClearKey, _>(reply, place, work, |it| slice::from_ref(&it.now));
    }

    /// Has the keyring asked whose keys it holds, once, so that their models are on offer. Nobody waits for it.
    pub(super) fn look_for_keys(&mut self, config: &Config) {
        if self.models.stored.is_some() {
            return;
        }
        self.models.stored = Some(Stored::default());
        let places = endpoint::places(config);
        let (keys, inbox) = (self.keys.clone(), self.inbox.clone());
        keys::aside(move || tell(&inbox, keys.status(&places).providers));
    }

    /// Where keys are now. What sessions offer may be more or less for it.
    pub(crate) fn note_keys<'a>(&mut self, keys: impl IntoIterator<Item = &'a ProviderKey>) {
        let stored = self.models.stored.get_or_insert_default();
        if !stored.take(keys) {
            return;
        }
        let sessions: Vec<SessionKey> = self.sessions.keys().cloned().collect();
        for session in sessions {
            self.tell_options(&session);
        }
    }

    /// The configuration, with what the person has added to their file since it was read.
    fn config_for_keys(&mut self) -> Config {
        if let Some(problem) = self.read_user_file() {
            self.warn_once(problem);
        }
        self.resolve(None).config
    }

    /// Answers a request by work that waits for the keyring, off the loop. `wanted` is what the params mean; `found`, where the
    /// answer says keys are.
    fn with_keys<R: Request, T: Send + 'static>(
        &self,
        reply: Reply,
        wanted: Result<T, String>,
        work: impl FnOnce(&Keys, T) -> Result<R::Result, String> + Send + 'static,
        found: fn(&R::Result) -> &[ProviderKey],
    ) {
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(why) => return reply.send_value(Err(invalid(why))),
        };
        let (keys, inbox) = (self.keys.clone(), self.inbox.clone());
        keys::aside(move || {
            let done: Result<_, Error> =
                work(&keys, wanted).map_err(|why| error(code::REQUEST_FAILED, why));
            if let Ok(done) = &done {
                tell(&inbox, found(done).to_vec());
            }
            reply.send::<R>(done);
        });
    }
}

/// Tells the loop where keys are. One that is gone needs not know.
fn tell(inbox: &mpsc::Sender<Event>, keys: Vec<ProviderKey>) {
    let _ = inbox.blocking_send(Event::KeysAt(keys));
}
