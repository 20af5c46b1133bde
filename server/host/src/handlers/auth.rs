//! `undine/auth/…`: where providers' keys are, storing one, removing one. Values come in and never go out.

use crate::endpoint;
use crate::keys::{self, KeyPlace, Keys};
use crate::lsp::{Error, Reply, code, error};
use crate::main_loop::Host;
use crate::perform::invalid;
use protocol::auth::{AuthStatusParams, ClearKeyParams, ClearKeyResult, SetKeyParams};
use protocol::config::Config;
use protocol::methods::{self, Request};

impl Host {
    pub(crate) fn auth_status(&mut self, params: AuthStatusParams, reply: Reply) {
        let config = self.config_for_keys();
        let places = match params.provider {
            Some(provider) => endpoint::known_place(&config, &provider).map(|it| vec![it]),
            None => {
                let names = endpoint::providers(&config);
                Ok(names
                    .iter()
                    .map(|it| endpoint::key_place(&config, it))
                    .collect())
            }
        };
        self.with_keys::<methods::AuthStatus, _>(reply, places, |keys, places| {
            Ok(keys.status(&places))
        });
    }

    pub(crate) fn set_key(&mut self, params: SetKeyParams, reply: Reply) {
        let config = self.config_for_keys();
        let wanted = endpoint::storable_place(&config, &params.provider)
            .and_then(|place| Ok((place, keys::key_from(&params.api_key.0)?)));
        self.with_keys::<methods::SetKey, _>(reply, wanted, |keys, (place, key)| {
            keys.store(&place, key)?;
            Ok(keys.status_of(place))
        });
    }

    pub(crate) fn clear_key(&mut self, params: ClearKeyParams, reply: Reply) {
        let place = endpoint::known_place(&self.config_for_keys(), &params.provider);
        self.with_keys::<methods::ClearKey, KeyPlace>(reply, place, |keys, place| {
            let removed = keys.remove(&place)?;
            Ok(ClearKeyResult {
                removed,
                now: keys.status_of(place),
            })
        });
    }

    /// The configuration, with what the person has added to their file since it was read.
    fn config_for_keys(&mut self) -> Config {
        if let Some(problem) = self.read_user_file() {
            self.warn_once(problem);
        }
        self.resolve(None).config
    }

    /// Answers a request by work that waits for the keyring, off the loop. `wanted` is what the params mean.
    fn with_keys<R: Request, T: Send + 'static>(
        &self,
        reply: Reply,
        wanted: Result<T, String>,
        work: impl FnOnce(&Keys, T) -> Result<R::Result, String> + Send + 'static,
    ) {
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(why) => return reply.send_value(Err(invalid(why))),
        };
        let keys = self.keys.clone();
        keys::aside(move || {
            let done: Result<_, Error> =
                work(&keys, wanted).map_err(|why| error(code::REQUEST_FAILED, why));
            reply.send::<R>(done);
        });
    }
}
