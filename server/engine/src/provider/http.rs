//! An HTTP request as data, and the care that no key gets into a log.

use std::fmt;

/// Where a model is served and how to get in.
#[derive(Clone, PartialEq)]
pub struct Endpoint {
    /// With or without a slash at its end; a query (`?api-version=…`) stays at the end of every URL made from it.
    pub base_url: String,
    pub key: Option<Secret>,
    /// Sent with every request; one of these replaces a header of ours that has the same name.
    pub extra_headers: Vec<(String, String)>,
}

impl Endpoint {
    /// `base_url` with `path` (which begins with a slash) put to its path.
    pub fn url(&self, path: &str) -> String {
        match self.base_url.split_once('?') {
            None => format!("{}{path}", self.base_url.trim_end_matches('/')),
            Some((base, query)) => format!("{}{path}?{query}", base.trim_end_matches('/')),
        }
    }

    /// As [`url`](Self::url), below a version of the API, unless the base URL ends in one already.
    pub fn url_below(&self, version: &str, path: &str) -> String {
        let base = self.base_url.split('?').next().unwrap_or_default();
        let last = base.trim_end_matches('/').rsplit('/').next();
        let is_version = |it: &str| {
            let digits = it.strip_prefix('v').unwrap_or_default();
            digits.starts_with(|it: char| it.is_ascii_digit())
        };
        match last.is_some_and(is_version) {
            true => self.url(path),
            false => self.url(&format!("{version}{path}")),
        }
    }

    /// `own` headers and the extra ones; where the names are equal but for case, the extra one stays.
    pub fn headers(&self, own: Vec<(String, String)>) -> Vec<(String, String)> {
        let is_extra = |name: &str| {
            self.extra_headers
                .iter()
                .any(|(extra, _)| extra.eq_ignore_ascii_case(name))
        };
        let mut headers = own;
        headers.retain(|(name, _)| !is_extra(name));
        headers.extend(self.extra_headers.iter().cloned());
        headers
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_url", &without_secrets(&self.base_url))
            .field("key", &self.key)
            .field("extra_headers", &Headers(&self.extra_headers))
            .finish()
    }
}

/// One HTTP request, ready to be sent. `Debug` shows neither header values nor the body.
#[derive(Clone, PartialEq)]
pub struct HttpRequest {
    pub method: &'static str,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Shorter header values are words like any other, and no secret.
const MIN_SECRET: usize = 8;

impl HttpRequest {
    /// A text with the values of this request's headers taken out, and each word of one: any may be a key,
    /// whatever it is called and looks like, and some servers say in an error what they were sent. Beside the
    /// redactor, which cannot know a key that looks like a word.
    pub fn hide(&self, text: &str) -> String {
        let mut secrets: Vec<&str> = self
            .headers
            .iter()
            .filter(|(name, _)| !is_public(name))
            .flat_map(|(_, value)| value.split_whitespace().chain([value.as_str()]))
            .filter(|it| it.len() >= MIN_SECRET)
            .collect();
        // One may be a part of another.
        secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
        let mut text = text.to_owned();
        for secret in secrets {
            text = text.replace(secret, "***");
        }
        text
    }
}

/// Headers of ours that hold no secret.
fn is_public(name: &str) -> bool {
    [
        "accept",
        "content-type",
        "user-agent",
        // What a refusal names is learned from.
        "anthropic-version",
        "anthropic-beta",
    ]
    .iter()
    .any(|it| it.eq_ignore_ascii_case(name))
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &without_secrets(&self.url))
            .field("headers", &Headers(&self.headers))
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Header names with their values hidden: any of them may carry a key, whatever it is called.
struct Headers<'a>(&'a [(String, String)]);

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.0.iter().map(|(name, _)| (name, "***")))
            .finish()
    }
}

/// A URL without its query and its `user:password@`, both of which may hold a key. Stricter than the redactor: the
/// URL is one that we send to, and a key in it may have any name.
pub fn without_secrets(url: &str) -> String {
    let (path, hidden) = match url.split_once('?') {
        None => (url, ""),
        Some((path, _)) => (path, "?***"),
    };
    let Some((scheme, rest)) = path.split_once("://") else {
        return format!("{path}{hidden}");
    };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        None => format!("{path}{hidden}"),
        Some(at) => format!("{scheme}://***{}{hidden}", &rest[at..]),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn printing_a_request_or_an_endpoint_never_shows_a_key() {
        let endpoint = Endpoint {
            base_url: "https://me:hunter2@models.test/v1/?key=hunter2".to_owned(),
            key: Some(Secret::new("hunter2")),
            extra_headers: vec![("X-Gateway".to_owned(), "hunter2".to_owned())],
        };
        let request = HttpRequest {
            method: "POST",
            url: endpoint.url("/chat/completions"),
            headers: endpoint.headers(vec![(
                "authorization".to_owned(),
                "Bearer hunter2".to_owned(),
            )]),
            body: b"hunter2".to_vec(),
        };
        expect![[r#"
            Endpoint { base_url: "https://***@models.test/v1/?***", key: Some(***), extra_headers: {"X-Gateway": "***"} }
            HttpRequest { method: "POST", url: "https://***@models.test/v1/chat/completions?***", headers: {"authorization": "***", "X-Gateway": "***"}, body: 7 bytes }
            ***
        "#]]
        .assert_eq(&format!("{endpoint:?}\n{request:?}\n{}\n", Secret::new("hunter2")));
    }

    #[test]
    fn what_was_sent_in_a_header_is_taken_out_of_what_comes_back() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let request = HttpRequest {
            method: "POST",
            url: String::new(),
            headers: vec![
                pair("authorization", "Bearer plain-office-key"),
                pair("X-Gateway", "plain-office-key-2"),
                pair("X-Team", "blue"),
                pair("content-type", "application/json"),
            ],
            body: Vec::new(),
        };
        let said =
            "no plain-office-key, plain-office-key-2 of blue in application/json of the Bearer";
        assert_eq!(
            request.hide(said),
            "no ***, *** of blue in application/json of the Bearer"
        );
    }

    /// What a provider does not take of it is learned from the error that names it.
    #[test]
    fn the_version_and_the_betas_of_a_request_are_no_secrets() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let request = HttpRequest {
            method: "POST",
            url: String::new(),
            headers: vec![
                pair("anthropic-version", "2026-10-21"),
                pair("Anthropic-Beta", "one-2026-08-18"),
            ],
            body: Vec::new(),
        };
        let said = "no `one-2026-08-18` in 2026-10-21";
        assert_eq!(request.hide(said), said);
    }

    #[test]
    fn a_url_takes_the_path_before_the_query_and_after_one_slash() {
        let url = |base_url: &str| {
            Endpoint {
                base_url: base_url.to_owned(),
                key: None,
                extra_headers: Vec::new(),
            }
            .url("/models")
        };
        assert_eq!(url("http://localhost:1/v1"), "http://localhost:1/v1/models");
        assert_eq!(
            url("http://localhost:1/v1//"),
            "http://localhost:1/v1/models"
        );
        assert_eq!(
            url("http://localhost:1/v1/?a=b"),
            "http://localhost:1/v1/models?a=b"
        );
    }

    #[test]
    fn a_version_stands_once_in_a_url() {
        let url = |base_url: &str| {
            Endpoint {
                base_url: base_url.to_owned(),
                key: None,
                extra_headers: Vec::new(),
            }
            .url_below("/v1", "/messages")
        };
        assert_eq!(url("https://a.test"), "https://a.test/v1/messages");
        assert_eq!(
            url("https://a.test/v1/?b=c"),
            "https://a.test/v1/messages?b=c"
        );
        assert_eq!(
            url("https://a.test/vendor"),
            "https://a.test/vendor/v1/messages"
        );
    }

    #[test]
    fn an_extra_header_replaces_ours_whatever_its_case() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let endpoint = Endpoint {
            base_url: String::new(),
            key: None,
            extra_headers: vec![pair("Authorization", "Basic x")],
        };
        assert_eq!(
            endpoint.headers(vec![
                pair("authorization", "Bearer y"),
                pair("accept", "*/*")
            ]),
            vec![pair("accept", "*/*"), pair("Authorization", "Basic x")]
        );
    }
}
