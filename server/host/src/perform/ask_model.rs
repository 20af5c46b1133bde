//! Asks the model for an answer, in a task: the key, a server that is to be there first, one HTTP request.

use super::roots_of;
use crate::endpoint;
use crate::event::{Event, SessionKey};
use crate::files;
use crate::main_loop::{Host, TaskKey};
use crate::model::{self, Patience, Sink};
use crate::ollama::Wishes;
use engine::provider::{
    Content, Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Wire,
};
use engine::session::Input;
use protocol::session::StreamId;
use std::time::Duration;

impl Host {
    pub(super) fn ask_model(
        &mut self,
        session: &SessionKey,
        stream: StreamId,
        mut request: ModelRequest,
    ) {
        let Some(open) = self.sessions.get_mut(session) else {
            return;
        };
        let reached = match endpoint::reach(&open.config) {
            Ok(reached) => {
                open.asked = Some(reached.model_key());
                reached
            }
            Err(message) => {
                let file = self.folders.config.join("config.toml");
                let message = format!("{message} Your config.toml is {}.", file.display());
                let error = ModelError::new(ModelErrorKind::BadRequest, message);
                self.due.push_back((
                    session.clone(),
                    Input::Model(stream, ModelEvent::Failed(error)),
                ));
                return;
            }
        };
        let patience = Patience {
            connect: Duration::from_secs(open.config.limits.model_connect_secs),
            quiet: Duration::from_secs(open.config.limits.model_quiet_secs),
        };
        let wishes = Wishes::of(&open.config, &reached, roots_of(open));
        let ollama = self.ollama.clone();
        let out = self.out.clone();
        let keys = self.keys.clone();
        let room = async move || out.room().await;
        let sink = Sink {
            session: session.clone(),
            stream,
            inbox: self.inbox.clone(),
            traced: open.trace.is_some(),
            room,
        };
        self.tasks.spawn(
            TaskKey::Model(session.clone(), stream),
            |token| async move {
                // Not in the loop: with its pictures it can be of many megabytes.
                let n_bytes = pictures_of(&request);
                let found = reached.with_key(&keys).await;
                if let Some(warning) = keys.warning(&reached.key) {
                    // A loop that is gone warns nobody.
                    let _ = sink.inbox.send(Event::Warn(warning)).await;
                }
                let (endpoint, place) = match found {
                    Ok(found) => found,
                    Err(why) => return sink.fail(ModelError::new(ModelErrorKind::Auth, why)).await,
                };
                let prepared = tokio::select! {
                    // The session has closed the turn already.
                    () = token.cancelled() => return,
                    it = ollama.prepare(&reached, &endpoint, &wishes, &mut request) => it,
                };
                if let Err(error) = prepared {
                    return sink.fail(error).await;
                }
                if reached.wire == Wire::Ollama
                    && let Some(tokens) = request.window
                {
                    // Before the answer, whose size is told beside it. A loop that is gone tells nobody.
                    let loaded = Event::Window(reached.model_key(), tokens);
                    let _ = sink.inbox.send(loaded).await;
                }
                let provider = reached.wire.provider();
                let http = files::compute(n_bytes, || provider.request(&endpoint, &request));
                drop(request);
                let origin = reached.key.origin(place.as_ref());
                model::run(provider, http, origin, patience, token, sink).await;
            },
        );
    }
}

fn pictures_of(request: &ModelRequest) -> usize {
    let of_message = |it: &Message| -> usize {
        match it {
            Message::Results(results) => {
                let images = results.iter().flat_map(|it| &it.images);
                images.map(|it| it.data.len()).sum()
            }
            Message::User(content) => {
                let images = content.iter().map(|it| match it {
                    Content::Image(image) => image.data.len(),
                    Content::Text(_) => 0,
                });
                images.sum()
            }
            Message::Assistant { .. } => 0,
        }
    };
    request.messages.iter().map(of_message).sum()
}
