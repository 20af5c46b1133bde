//! Runs one request to a model: bytes out, bytes in, events to the loop.
//!
//! What is sent and what the bytes mean is the provider's business, in the engine.

use crate::event::{Event, SessionKey};
use engine::provider::{
    HttpRequest, ModelError, ModelErrorKind, ModelEvent, Provider, without_secrets,
};
use futures_util::StreamExt;
use protocol::session::StreamId;
use rustls::CertificateError;
use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The most bytes of an error's body that are read (spec 0.6).
const MAX_ERROR_BODY: usize = 64 << 10;

/// Where a stream's events go.
pub struct Sink<R> {
    pub session: SessionKey,
    pub stream: StreamId,
    pub inbox: mpsc::Sender<Event>,
    /// The bytes go to the loop as well, for the session's trace.
    pub traced: bool,
    /// Waits while the editor is behind, so that the model is slowed down and nothing piles up.
    pub room: R,
}

/// Where the key of a request was, for people: said where the provider refuses it. Empty: none was sent.
pub type KeyOrigin = String;

impl<R: AsyncFn()> Sink<R> {
    /// There is no answer.
    pub async fn fail(&self, error: ModelError) {
        self.send(vec![ModelEvent::Failed(error)]).await;
    }

    async fn send(&self, events: Vec<ModelEvent>) {
        if !events.is_empty() {
            // A loop that is gone needs no events.
            let _ = self
                .inbox
                .send(Event::Model(self.session.clone(), self.stream, events))
                .await;
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub connect: Duration,
    /// Without a byte.
    pub quiet: Duration,
}

/// Asks, and reports until the answer's end. Dropping it closes the connection.
pub async fn run<R: AsyncFn()>(
    provider: &'static dyn Provider,
    mut request: HttpRequest,
    key: KeyOrigin,
    patience: Patience,
    token: CancellationToken,
    sink: Sink<R>,
) {
    // It grows with the conversation and is sent once: never copied.
    let body = std::mem::take(&mut request.body);
    let hidden = request.clone();
    let asked = ask(provider, request, body, &key, patience, &sink);
    tokio::select! {
        biased;
        // The session has closed the turn already; nobody waits for a word.
        () = token.cancelled() => {}
        asked = asked => if let Err(mut error) = asked {
            error.message = hidden.hide(&error.message);
            say_origin(&mut error, &key);
            sink.send(vec![ModelEvent::Failed(error)]).await;
        },
    }
}

async fn ask<R: AsyncFn()>(
    provider: &'static dyn Provider,
    request: HttpRequest,
    body: Vec<u8>,
    key: &KeyOrigin,
    patience: Patience,
    sink: &Sink<R>,
) -> Result<(), ModelError> {
    let client = client(patience.connect, route(&request.url))?;
    let address = without_secrets(&request.url);
    let method = request.method.parse().unwrap_or(reqwest::Method::POST);
    let mut sending = client.request(method, &request.url).body(body);
    for (name, value) in &request.headers {
        sending = sending.header(name, value);
    }
    let response = tokio::time::timeout(patience.quiet, sending.send())
        .await
        .map_err(|_| quiet(patience))?
        .map_err(|error| unreachable(&address, &error))?;
    let status = response.status().as_u16();
    if response.status().is_redirection() {
        return Err(redirected(&address, &request, response.headers()));
    }
    if !response.status().is_success() {
        let headers: Vec<(String, String)> = response
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
            .collect();
        let body = error_body(response, patience).await;
        // Before it is quoted: a quotation may end within a key.
        let body = request.hide(&String::from_utf8_lossy(&body));
        return Err(provider.error(status, &headers, body.as_bytes()));
    }
    if let Some(what) = no_stream(response.headers()) {
        let message = format!(
            "The server at {address} answered with {what} and not with a model's stream; check that base_url is right."
        );
        return Err(ModelError::new(ModelErrorKind::Protocol, message));
    }
    let mut decoder = provider.decoder();
    let mut bytes = response.bytes_stream();
    loop {
        (sink.room)().await;
        let next = tokio::time::timeout(patience.quiet, bytes.next())
            .await
            .map_err(|_| quiet(patience))?;
        let mut events = Vec::new();
        let at_end = match next {
            Some(Ok(bytes)) => {
                if sink.traced {
                    let bytes = Event::Bytes(sink.session.clone(), sink.stream, bytes.to_vec());
                    // A loop that is gone writes nothing.
                    let _ = sink.inbox.send(bytes).await;
                }
                decoder.feed(&bytes, &mut events);
                false
            }
            // A broken connection is a stream that ended: the decoder knows whether that was too early.
            Some(Err(error)) => {
                tracing::info!(error = %chain(&error.without_url()), "the model's connection broke");
                true
            }
            None => true,
        };
        if at_end {
            decoder.end(&mut events);
        }
        if let Some(ModelEvent::Failed(error)) = events.last_mut() {
            error.message = request.hide(&error.message);
            say_origin(error, key);
        }
        let is_last = at_end
            || matches!(
                events.last(),
                Some(ModelEvent::Ended(_) | ModelEvent::Failed(_))
            );
        sink.send(events).await;
        if is_last {
            return Ok(());
        }
    }
}

/// A key must not follow to another place, so nobody does. Asking again would lead there again.
fn redirected(
    address: &str,
    request: &HttpRequest,
    headers: &reqwest::header::HeaderMap,
) -> ModelError {
    let place = headers.get(reqwest::header::LOCATION);
    let place = place.and_then(|it| it.to_str().ok()).map(without_secrets);
    let to = match place.map(|it| request.hide(&it)) {
        Some(place) => format!("to {place}"),
        None => "elsewhere".to_owned(),
    };
    let message = format!(
        "The server at {address} redirects {to}, where nothing was sent; set base_url to the address that is meant."
    );
    ModelError::new(ModelErrorKind::BadRequest, message)
}

/// A person has to know which key was refused.
fn say_origin(error: &mut ModelError, key: &KeyOrigin) {
    if error.kind == ModelErrorKind::Auth && !key.is_empty() {
        let said = error.message.trim_end_matches('.');
        error.message = format!("{said}; {key}.");
    }
}

/// What an answer says of itself, if it is nothing that the decoder could read.
fn no_stream(headers: &reqwest::header::HeaderMap) -> Option<&'static str> {
    let says = |name, what: &str| {
        let value = headers.get(name).and_then(|it| it.to_str().ok());
        value.is_some_and(|it| it.trim().to_ascii_lowercase().starts_with(what))
    };
    let packed = reqwest::header::CONTENT_ENCODING;
    if says(reqwest::header::CONTENT_TYPE, "text/html") {
        Some("a web page")
    } else if headers.contains_key(&packed) && !says(packed, "identity") {
        // None was asked for.
        Some("compressed data")
    } else {
        None
    }
}

/// As much of an error's body as comes in time, however slowly.
async fn error_body(response: reqwest::Response, patience: Patience) -> Vec<u8> {
    let mut body = Vec::new();
    let mut bytes = response.bytes_stream();
    let reading = async {
        while body.len() < MAX_ERROR_BODY
            && let Some(Ok(more)) = bytes.next().await
        {
            body.extend_from_slice(&more);
        }
    };
    // What has come by then is enough.
    let _ = tokio::time::timeout(patience.connect, reading).await;
    body.truncate(MAX_ERROR_BODY);
    body
}

/// Whether a request may go through a proxy that the environment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Direct,
    AsTheSystemSays,
}

/// Plain `http` is for this machine only: a proxy would be shown the key and the code, and would look for
/// the server on a machine of its own.
fn route(url: &str) -> Route {
    match url.starts_with("http:") {
        true => Route::Direct,
        false => Route::AsTheSystemSays,
    }
}

/// One client a route for the process: it keeps connections open between turns. Made at first use, because
/// reading the system's certificates takes longer than the rest of the start together.
fn client(connect: Duration, route: Route) -> Result<&'static reqwest::Client, ModelError> {
    static DIRECT: OnceLock<reqwest::Client> = OnceLock::new();
    static AS_THE_SYSTEM_SAYS: OnceLock<reqwest::Client> = OnceLock::new();
    let (place, builder) = match route {
        // Nothing is encrypted there, so no certificate is read, and none need be there.
        Route::Direct => (
            &DIRECT,
            reqwest::Client::builder().no_proxy().tls_certs_only([]),
        ),
        Route::AsTheSystemSays => (&AS_THE_SYSTEM_SAYS, reqwest::Client::builder()),
    };
    if let Some(client) = place.get() {
        return Ok(client);
    }
    // A second provider is refused, which is as good as one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let made = builder
        .connect_timeout(connect)
        .user_agent(concat!("undine/", env!("CARGO_PKG_VERSION")))
        .tcp_nodelay(true)
        // A key must not follow a redirect to another place.
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| {
            let message = format!(
                "No encrypted connection can be made here ({}); see that the system has its certificates (on Linux the package ca-certificates), or that the environment variable SSL_CERT_FILE names a file that holds some.",
                root(&error)
            );
            ModelError {
                // They do not come by themselves.
                is_final: true,
                ..ModelError::new(ModelErrorKind::Unreachable, message)
            }
        })?;
    Ok(place.get_or_init(|| made))
}

/// The client of a URL.
pub fn client_for(url: &str, connect: Duration) -> Result<&'static reqwest::Client, ModelError> {
    client(connect, route(url))
}

/// Makes the client of a URL ready before it is needed.
pub fn warm_up(connect: Duration, url: &str) {
    if let Err(error) = client(connect, route(url)) {
        tracing::warn!(error = %error.message);
    }
}

/// The error of a server that cannot be reached at a URL.
pub fn unreachable_at(url: &str, error: &reqwest::Error) -> ModelError {
    unreachable(&without_secrets(url), error)
}

fn unreachable(address: &str, error: &reqwest::Error) -> ModelError {
    // It was not even written, and never will be.
    if error.is_builder() {
        let message = format!(
            "The request to {address} cannot be written ({}); check base_url, and that the key and the headers in extra_headers hold no line ends.",
            root(error)
        );
        return ModelError::new(ModelErrorKind::BadRequest, message);
    }
    if let Some(fault) = certificate_fault(error) {
        let message = format!(
            "The certificate of the model's server at {address} {}.",
            words(fault)
        );
        return ModelError {
            // It would be the same certificate.
            is_final: true,
            ..ModelError::new(ModelErrorKind::Unreachable, message)
        };
    }
    let message = format!(
        "The model's server at {address} cannot be reached ({}); check that it runs and that base_url is right.",
        root(error)
    );
    ModelError::new(ModelErrorKind::Unreachable, message)
}

/// What is wrong with the server's certificate, if that is why there is no connection.
fn certificate_fault(error: &reqwest::Error) -> Option<&CertificateError> {
    let mut at: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = at {
        if let Some(rustls::Error::InvalidCertificate(fault)) = cause.downcast_ref() {
            return Some(fault);
        }
        // An error of input and output names as its source what its inner error names, and not that one.
        let inner = cause.downcast_ref::<std::io::Error>();
        at = match inner.and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    None
}

/// What is wrong with a certificate and what to do.
fn words(fault: &CertificateError) -> String {
    match fault {
        CertificateError::UnknownIssuer => {
            let where_to = match cfg!(any(windows, target_os = "macos")) {
                true => "add its authority's certificate to the system's trusted ones",
                false => {
                    "add its authority's certificate to the system's trusted ones, or name a file of all to be trusted in the environment variable SSL_CERT_FILE, and start the editor anew"
                }
            };
            format!("comes from an authority that is not trusted here; if you trust it, {where_to}")
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "has expired; have it renewed, or set this machine's clock".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet; set this machine's clock".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "is for another host; check that base_url has the right name".to_owned()
        }
        other => format!("cannot be trusted ({other}); check that base_url is right"),
    }
}

fn quiet(patience: Patience) -> ModelError {
    let message = format!(
        "The model said nothing for {} seconds; send the prompt again.",
        patience.quiet.as_secs()
    );
    ModelError::new(ModelErrorKind::Cut, message)
}

/// The innermost cause, which is the one that says something.
pub(crate) fn root(error: &dyn Error) -> String {
    let mut at = error;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut at = error.source();
    while let Some(source) = at {
        text.push_str(": ");
        text.push_str(&source.to_string());
        at = source.source();
    }
    text
}
