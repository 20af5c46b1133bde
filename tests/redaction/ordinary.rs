//! Source code is most of what is shown: nothing in it is taken for a secret that is none.

use crate::tidy::{files, root};
use engine::redact::{Stream, redact, redact_json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Files of ours that hold made-up secrets, because they are about them.
const ABOUT_SECRETS: &[&str] = &[
    "server/engine/src/provider/anthropic/tests/request.rs",
    "server/engine/src/provider/anthropic/tests/stream.rs",
    "server/engine/src/provider/chat_completions/tests.rs",
    "server/engine/src/provider/failure/tests.rs",
    "server/engine/src/provider/http.rs",
    "server/engine/src/redact.rs",
    "server/engine/src/redact/assign.rs",
    "server/engine/src/redact/tests.rs",
    "server/engine/src/redact/tests/laws.rs",
    "server/host/src/process/environment.rs",
    "server/engine/src/session/classifier/tests.rs",
    "server/engine/src/trace/tests.rs",
    "tests/traces.rs",
    "tests/anthropic/native.rs",
    "tests/classifier.rs",
    "tests/config/command_line.rs",
    "tests/permissions/files.rs",
    "tests/redaction.rs",
    "tests/redaction/ordinary.rs",
    "tests/redaction/providers.rs",
    "tests/widening/hidden.rs",
    "tests/shell_policy/questions.rs",
];

#[test]
fn nothing_in_our_own_files_is_taken_for_a_secret() {
    let mut changed = BTreeSet::new();
    let mut n_bytes = 0;
    for name in files() {
        let Ok(text) = std::fs::read_to_string(root().join(&name)) else {
            continue;
        };
        n_bytes += text.len();
        let masked = redact(&text);
        if ABOUT_SECRETS.contains(&name.as_str()) {
            continue;
        }
        for (line, masked) in text.lines().zip(masked.lines()) {
            if line != masked {
                changed.insert(format!("{name}: {line}\n    -> {masked}"));
            }
        }
        let mut stream = Stream::default();
        let mut streamed = String::new();
        for piece in text.split_inclusive(' ') {
            streamed += &stream.push(piece);
        }
        streamed += &stream.end();
        assert_eq!(streamed, masked, "{name} in pieces");
    }
    assert!(n_bytes > 1_000_000, "only {n_bytes} bytes were looked at");
    let changed: Vec<String> = changed.into_iter().collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// As the tools' own schemas and the protocol's examples.
#[test]
fn ordinary_json_stays_as_it_is() {
    let mut value = serde_json::json!({
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "max_tokens": 100, "token_count": 42},
        "key": "value", "nextPageToken": "abc123def456", "command": "cargo test --locked", "path": "src/token.rs",
        "patch": "-let token = next();\n+let token = peek();\n",
    });
    let before = value.clone();
    redact_json(&mut value);
    assert_eq!(value, before);
}

/// Texts that are made to be slow. A rule that looks at each place's whole rest takes minutes here.
#[test]
fn no_text_takes_more_than_its_length() {
    for bit in [
        "token=",
        "password: ",
        "\"password\": \"",
        "eyJ.",
        "sk-",
        "://",
        "a://b:",
        "\\",
        "password=\"\\\"",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "-----END RSA PRIVATE KEY-----\n",
        "Authorization: ",
        "Bearer ",
        "x-",
        "--password ",
        "=",
        ":",
        "\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA",
        "token=a=",
        "password: a ",
        "AIza",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA\n-----END PRIVATE KEY-----\n",
        "--------------------",
        "b'",
    ] {
        let text = bit.repeat((512 << 10) / bit.len());
        let begun = Instant::now();
        redact(&text);
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{bit:?} took {:?}",
            begun.elapsed()
        );
    }
}
