//! Asks the classifier of mode `auto`: one request to a model, one answer, in a task.
//!
//! What is asked and what the answer means is the engine's business. Whatever goes wrong here is no answer, and then the
//! person is asked.

use crate::endpoint;
use crate::event::{Event, SessionKey};
use crate::main_loop::{Host, TaskKey};
use crate::model::{self, Patience, Sink};
use crate::ollama::Wishes;
use crate::perform::roots_of;
use engine::models::{ModelName, find};
use engine::provider::{Learned, ModelEvent, ModelRequest, Refusal};
use engine::session::{Classified, Input, time_for_classifier};
use protocol::config::Config;
use protocol::session::{CallId, StreamId};
use std::time::Duration;
use tokio::sync::mpsc;

/// The most characters of an answer; one that is longer is none.
const MOST: usize = 100_000;

/// The most requests for one verdict: each further one without something that was refused (spec 29).
const MOST_REQUESTS: u32 = 5;

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
        let wishes = Wishes::of(&config, &reached, roots_of(open));
        request.model = reached.model.clone();
        request.learned = self.learned(&config);
        let model = reached.model_key();
        let model_id = format!("{}/{}", reached.provider, reached.model);
        let limits = &config.limits;
        let patience = Patience {
            connect: Duration::from_secs(limits.model_connect_secs),
            quiet: Duration::from_secs(limits.model_quiet_secs),
        };
        let configured = Duration::from_secs(limits.classifier_secs);
        let most = time_for_classifier(request.reasoning, configured);
        let ollama = self.ollama.clone();
        let (inbox, key) = (self.inbox.clone(), session.clone());
        let keys = self.keys.clone();
        self.tasks
            .spawn(TaskKey::Call(session.clone(), call), |token| async move {
                let provider = reached.wire.provider();
                let known = request.learned.clone();
                let answered = async {
                    let (endpoint, place) = reached.with_key(&keys).await?;
                    let origin = reached.key.origin(place.as_ref());
                    let prepared = ollama.prepare(&reached, &endpoint, &wishes, &mut request);
                    prepared.await.map_err(|it| it.message)?;
                    for _ in 0..MOST_REQUESTS {
                        let http = provider.request(&endpoint, &request);
                        let (said, mut heard) = mpsc::channel(16);
                        let sink = Sink {
                            session: key.clone(),
                            stream: StreamId(0),
                            inbox: said,
                            room: async || {},
                        };
                        let origin = origin.clone();
                        let asking =
                            model::run(provider, http, origin, patience, token.clone(), sink);
                        match tokio::join!(asking, listen(&model_id, &mut heard)).1 {
                            Err(NoAnswer::Refused(refusal, why)) => {
                                let level = request.level();
                                if !request.learned.learn(refusal, level) {
                                    return Err(why);
                                }
                            }
                            Err(NoAnswer::Other(why)) => return Err(why),
                            Ok(said) => {
                                let news = request.learned.beyond(&known);
                                if news != Learned::default() {
                                    // A loop that is gone learns nothing.
                                    let learned = Event::Learned(key.clone(), model, news);
                                    let _ = inbox.send(learned).await;
                                }
                                return Ok(said);
                            }
                        }
                    }
                    Err("it refused one part of the request after another.".to_owned())
                };
                let review = tokio::time::timeout(most, answered)
                    .await
                    .unwrap_or_else(|_| {
                        Err(format!(
                            "it took longer than {} seconds.",
                            most.as_secs_f32()
                        ))
                    });
                // A loop that is gone needs no review.
                let _ = inbox.send(Event::Classified(key, call, review)).await;
            });
    }
}

/// Why there is no answer. The texts are for the person.
enum NoAnswer {
    /// The model does not take a part of the request.
    Refused(Refusal, String),
    Other(String),
}

/// Takes in an answer to its end.
async fn listen(model: &str, heard: &mut mpsc::Receiver<Event>) -> Result<Classified, NoAnswer> {
    let mut said = Classified {
        model: model.to_owned(),
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
                ModelEvent::Failed(error) => {
                    return Err(match error.refusal {
                        Some(refusal) => NoAnswer::Refused(refusal, error.message),
                        None => NoAnswer::Other(error.message),
                    });
                }
                ModelEvent::Call(_) => return Err(NoAnswer::Other("it called a tool.".to_owned())),
                ModelEvent::Usage(usage) => said.usage = Some(usage),
                ModelEvent::Raw(_) => {}
            }
        }
        if said.text.len() + said.thought.len() > MOST {
            return Err(NoAnswer::Other("its answer has no end.".to_owned()));
        }
    }
    Err(NoAnswer::Other("its answer broke off.".to_owned()))
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
