//! Asks a model beside the conversation: the classifier of mode `auto`, a summary, whether a goal is met.
//!
//! One request, one answer, in a task. What is asked and what the answer means is the engine's business. A part of the
//! request that the model refuses by name is left out, as for the conversation's own answers.

use crate::endpoint;
use crate::event::{Event, SessionKey};
use crate::main_loop::{Host, TaskKey};
use crate::model::{self, Patience, Sink};
use crate::ollama::Wishes;
use crate::perform::roots_of;
use engine::models::{ModelName, find};
use engine::provider::{
    Learned, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Refusal, StopReason,
};
use engine::session::{Aside, Input, SideAnswer, time_for_classifier};
use protocol::config::Config;
use protocol::session::{CallId, SideId, StreamId};
use std::time::Duration;
use tokio::sync::mpsc;

/// The most characters of an answer; one that is longer is none.
const MOST: usize = 400_000;

/// The most requests for one answer: each further one without something that was refused (spec 29).
const MOST_REQUESTS: u32 = 5;

/// A question to a model.
pub(crate) struct Question {
    /// The task that asks it, and is stopped with it.
    pub task: TaskKey,
    /// Names the model.
    pub config: Config,
    /// Its model is filled in.
    pub request: ModelRequest,
    /// How long the whole may take.
    pub most: Duration,
    /// The ticket of a side question, whose answer is told as it streams and whose calls are noted.
    pub live: Option<u64>,
}

impl Host {
    pub(crate) fn ask_classifier(
        &mut self,
        session: &SessionKey,
        call: CallId,
        request: ModelRequest,
    ) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let config = match judging(&open.config) {
            Ok(config) => config,
            Err(why) => {
                let classified = Input::Classified(call, Err(why));
                return self.due.push_back((session.clone(), classified));
            }
        };
        let configured = Duration::from_secs(config.limits.classifier_secs);
        let question = Question {
            task: TaskKey::Call(session.clone(), call),
            most: time_for_classifier(request.reasoning, configured),
            config,
            request,
            live: None,
        };
        let key = session.clone();
        self.ask_beside(session, question, move |answer| {
            Event::Classified(key, call, answer.map_err(|it| it.message))
        });
    }

    pub(crate) fn ask_side(
        &mut self,
        session: &SessionKey,
        side: SideId,
        about: Aside,
        request: ModelRequest,
    ) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let config = match asked_about(about, &open.config) {
            Ok(config) => config,
            Err(why) => {
                let error = ModelError::new(ModelErrorKind::BadRequest, why);
                let answer = Input::Side(side, Err(error));
                return self.due.push_back((session.clone(), answer));
            }
        };
        let question = Question {
            task: TaskKey::Side(session.clone(), side),
            most: Duration::from_secs(config.limits.side_secs),
            config,
            request,
            live: match about {
                Aside::Question(ticket) => Some(ticket),
                Aside::Summary | Aside::Goal => None,
            },
        };
        let key = session.clone();
        self.ask_beside(session, question, move |answer| {
            Event::Side(key, side, answer)
        });
    }

    /// Asks a question; `answered` makes its answer an event.
    pub(crate) fn ask_beside(
        &mut self,
        session: &SessionKey,
        question: Question,
        answered: impl FnOnce(Result<SideAnswer, ModelError>) -> Event + Send + 'static,
    ) {
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let Question {
            task,
            config,
            mut request,
            most,
            live,
        } = question;
        let inbox = self.inbox.clone();
        let reached = match endpoint::reach(&config) {
            Ok(reached) => reached,
            Err(why) => {
                let event = answered(Err(ModelError::new(ModelErrorKind::BadRequest, why)));
                self.tasks.spawn(task, |_| async move {
                    // A loop that is gone needs no answer.
                    let _ = inbox.send(event).await;
                });
                return;
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
        let ollama = self.ollama.clone();
        let key = session.clone();
        let keys = self.keys.clone();
        self.tasks.spawn(task, |token| async move {
            let provider = reached.wire.provider();
            let known = request.learned.clone();
            let asked = async {
                let unauthorized = |it| ModelError::new(ModelErrorKind::Auth, it);
                let with_key = reached.with_key(&keys).await;
                let (endpoint, place) = with_key.map_err(unauthorized)?;
                let origin = reached.key.origin(place.as_ref());
                ollama
                    .prepare(&reached, &endpoint, &wishes, &mut request)
                    .await?;
                for _ in 0..MOST_REQUESTS {
                    let http = provider.request(&endpoint, &request);
                    let (said, mut heard) = mpsc::channel(16);
                    let sink = Sink {
                        session: key.clone(),
                        stream: StreamId(0),
                        inbox: said,
                        traced: false,
                        room: async || {},
                    };
                    let origin = origin.clone();
                    let asking = model::run(provider, http, origin, patience, token.clone(), sink);
                    let live = live.map(|ticket| Live {
                        session: key.clone(),
                        ticket,
                        inbox: inbox.clone(),
                    });
                    match tokio::join!(asking, listen(&model_id, &mut heard, live.as_ref())).1 {
                        Err(NoAnswer::Refused(refusal, error)) => {
                            let level = request.level();
                            if !request.learned.learn(refusal, level) {
                                return Err(error);
                            }
                        }
                        Err(NoAnswer::Other(error)) => return Err(error),
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
                Err(protocol_error(
                    "it refused one part of the request after another.",
                ))
            };
            let timed = tokio::time::timeout(most, asked);
            let answer = timed.await.unwrap_or_else(|_| {
                let text = format!("it took longer than {} seconds.", most.as_secs_f32());
                Err(ModelError::new(ModelErrorKind::Cut, text))
            });
            // A loop that is gone needs no answer.
            let _ = inbox.send(answered(answer)).await;
        });
    }
}

/// Why there is no answer.
enum NoAnswer {
    /// The model does not take a part of the request.
    Refused(Refusal, ModelError),
    Other(ModelError),
}

fn protocol_error(text: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, text)
}

/// Where the pieces of an answer go.
struct Live {
    session: SessionKey,
    ticket: u64,
    inbox: mpsc::Sender<Event>,
}

/// Takes in an answer to its end.
async fn listen(
    model: &str,
    heard: &mut mpsc::Receiver<Event>,
    live: Option<&Live>,
) -> Result<SideAnswer, NoAnswer> {
    let mut said = SideAnswer {
        model: model.to_owned(),
        ..SideAnswer::default()
    };
    let other = |text: &str| NoAnswer::Other(protocol_error(text));
    while let Some(event) = heard.recv().await {
        let Event::Model(_, _, events) = event else {
            continue;
        };
        for event in events {
            match event {
                ModelEvent::Text(text) => {
                    said.text.push_str(&text);
                    if let Some(live) = live {
                        let piece = Event::AsidePiece(live.session.clone(), live.ticket, text);
                        // A loop that is gone shows nothing.
                        let _ = live.inbox.send(piece).await;
                    }
                }
                ModelEvent::Thought(text) => said.thought.push_str(&text),
                ModelEvent::Ended(stop) => {
                    said.cut = matches!(stop, StopReason::MaxTokens | StopReason::WindowFull);
                    return Ok(said);
                }
                ModelEvent::Failed(error) => {
                    return Err(match error.refusal {
                        Some(refusal) => NoAnswer::Refused(refusal, error),
                        None => NoAnswer::Other(error),
                    });
                }
                ModelEvent::Call(call) if live.is_some() => said.called.push(call.name),
                ModelEvent::Call(_) => return Err(other("it called a tool.")),
                ModelEvent::Usage(usage) => said.usage = Some(usage),
                ModelEvent::Raw(_) => {}
            }
        }
        if said.text.len() + said.thought.len() > MOST {
            return Err(other("its answer has no end."));
        }
    }
    Err(other("its answer broke off."))
}

/// The configuration with another model in the place of the session's. The error is for the person.
fn with_model(config: &Config, model: Option<&str>) -> Result<Config, String> {
    let mut config = config.clone();
    if let Some(model) = model {
        let model = match model {
            // The person's own layers name none (engine/src/config.rs).
            "/" => ModelName::default(),
            model => find(&config, model)?,
        };
        config.default_model.provider = model.provider;
        config.default_model.name = model.name;
    }
    Ok(config)
}

/// With the classifier's model.
fn judging(config: &Config) -> Result<Config, String> {
    with_model(config, config.safety.auto_classifier_model.as_deref())
}

/// With the model that is asked about this.
fn asked_about(about: Aside, config: &Config) -> Result<Config, String> {
    match about {
        Aside::Summary | Aside::Question(_) => Ok(config.clone()),
        Aside::Goal => with_model(config, config.goal.model.as_deref()),
    }
}
