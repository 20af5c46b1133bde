//! Asks the classifier of mode `auto`: one request to a model, one answer, in a task.
//!
//! What is asked and what the answer means is the engine's business. Whatever goes wrong here is no answer, and then the
//! person is asked.

use crate::endpoint;
use crate::event::{Event, SessionKey};
use crate::main_loop::{Host, TaskKey};
use crate::model::{self, Patience, Sink};
use engine::models::{ModelName, find};
use engine::provider::{ModelError, ModelErrorKind, ModelEvent, ModelRequest};
use engine::session::{Classified, Input};
use protocol::config::Config;
use protocol::session::{CallId, StreamId};
use std::time::Duration;
use tokio::sync::mpsc;

/// The most characters of an answer; one that is longer is none.
const MOST: usize = 100_000;

impl Host {
    pub(crate) fn ask_classifier(
        &mut self,
        session: &SessionKey,
        call: CallId,
        mut request: ModelRequest,
    ) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let reached = judging(&open.config).and_then(|it| Ok((endpoint::reach(&it)?, it)));
        let (reached, config) = match reached {
            Ok(reached) => reached,
            Err(why) => {
                let classified = Input::Classified(call, Err(why));
                return self.due.push_back((session.clone(), classified));
            }
        };
        request.model = reached.model.clone();
        let model = format!("{}/{}", reached.provider, reached.model);
        let limits = &config.limits;
        let patience = Patience {
            connect: Duration::from_secs(limits.model_connect_secs),
            quiet: Duration::from_secs(limits.model_quiet_secs),
        };
        let most = Duration::from_secs(limits.classifier_secs);
        let (inbox, key) = (self.inbox.clone(), session.clone());
        self.tasks
            .spawn(TaskKey::Call(session.clone(), call), |token| async move {
                let (said, mut heard) = mpsc::channel(16);
                let sink = Sink {
                    session: key.clone(),
                    stream: StreamId(0),
                    inbox: said,
                    room: async || {},
                };
                let provider = reached.wire.provider();
                let asking = async {
                    match reached.with_key().await {
                        Ok(endpoint) => {
                            let http = provider.request(&endpoint, &request);
                            model::run(provider, http, patience, token, sink).await;
                        }
                        Err(why) => sink.fail(ModelError::new(ModelErrorKind::Auth, why)).await,
                    }
                };
                let listening = listen(model, &mut heard);
                let answered = async { tokio::join!(asking, listening).1 };
                let review = tokio::time::timeout(most, answered)
                    .await
                    .unwrap_or_else(|_| {
                        Err(format!("it took longer than {} seconds.", most.as_secs()))
                    });
                // A loop that is gone needs no review.
                let _ = inbox.send(Event::Classified(key, call, review)).await;
            });
    }
}

/// Takes in an answer to its end.
async fn listen(model: String, heard: &mut mpsc::Receiver<Event>) -> Result<Classified, String> {
    let mut said = Classified {
        model,
        ..Classified::default()
    };
    while let Some(event) = heard.recv().await {
        let Event::Model(_, _, events) = event else {
            continue;
        };
        for event in events {
            match event {
                ModelEvent::Text(text) => said.text.push_str(&text),
                ModelEvent::Thought(text) => said.thought.push_str(&text),
                ModelEvent::Ended(_) => return Ok(said),
                ModelEvent::Failed(error) => return Err(error.message),
                ModelEvent::Call(_) => return Err("it called a tool.".to_owned()),
                ModelEvent::Usage(usage) => said.usage = Some(usage),
                ModelEvent::Raw(_) => {}
            }
        }
        if said.text.len() + said.thought.len() > MOST {
            return Err("its answer has no end.".to_owned());
        }
    }
    Err("its answer broke off.".to_owned())
}

/// The configuration with the classifier's model in the place of the session's. The error is for the person.
fn judging(config: &Config) -> Result<Config, String> {
    let mut config = config.clone();
    if let Some(model) = &config.safety.auto_classifier_model {
        let model = match model.as_str() {
            // The person's own layers name none (engine/src/config.rs).
            "/" => ModelName::default(),
            model => find(&config, model)?,
        };
        config.default_model.provider = model.provider;
        config.default_model.name = model.name;
    }
    Ok(config)
}
