//! What is a secret and what is not, by examples, and the laws that hold for every text.

mod laws;
mod speed;

use super::*;
use serde_json::json;

/// Texts with what stands in them that must not be seen.
const SECRETS: &[(&str, &str)] = &[
    // Names.
    ("password=hunter2", "hunter2"),
    ("DB_PASSWORD=correcthorse", "correcthorse"),
    ("export OPENAI_API_KEY=abcd1234efgh", "abcd1234efgh"),
    ("MYSQL_PWD=12345678 mysql", "12345678"),
    ("client_secret = \"s3cr3t-value\"", "s3cr3t-value"),
    ("let api_key = \"0123456789abcdef\";", "0123456789abcdef"),
    (
        "const API_KEY: &str = \"0123456789abcdef\";",
        "0123456789abcdef",
    ),
    (
        "const apiKey: string = '0123456789abcdef';",
        "0123456789abcdef",
    ),
    ("password: hunter2", "hunter2"),
    ("  password: correcthorse\n  user: me", "correcthorse"),
    ("- password: \"correct horse 9\"", "correct horse 9"),
    ("\"password\": \"hunter2\",", "hunter2"),
    (
        "{\"access_token\":\"abc123def456ghi789\"}",
        "abc123def456ghi789",
    ),
    ("{\\\"apiKey\\\":\\\"abc123def\\\"}", "abc123def"),
    ("\"password\": 12345678", "12345678"),
    ("password = hunter2\nuser = me", "hunter2"),
    (
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "wJalrXUtnFEMI",
    ),
    ("X-Api-Key: abcdefgh", "abcdefgh"),
    ("curl -H 'X-Auth-Token: abcd' https://e.test", "abcd"),
    ("login user=bob password=hunter2 ok", "hunter2"),
    ("Server=db;User=sa;Password=hunter;Trusted=no", "hunter"),
    ("mysql --password hunter2 -u root", "hunter2"),
    ("tool --api-key=abc123def", "abc123def"),
    ("tool --token \"abc def\"", "abc def"),
    ("tool --client-secret 'abc'", "abc"),
    ("SECRET_FOR_PROD=a1b2c3d4e5f6g7h8", "a1b2c3d4e5f6g7h8"),
    ("password := \"hunter2\"", "hunter2"),
    ("token='abcdef123456'", "abcdef123456"),
    ("connect(password=b'hunter2')", "hunter2"),
    ("PASSWORD=\"with \\\"quotes\\\" 1\" x", "quotes"),
    // Headers.
    ("Authorization: Bearer hunter", "hunter"),
    ("curl -H \"Authorization: Bearer sk-abc\" x", "sk-abc"),
    ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("Proxy-Authorization: opaque-123", "opaque-123"),
    ("\"Authorization\": \"token abcdef\"", "abcdef"),
    (
        "Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=fe5f80",
        "fe5f80",
    ),
    ("it said Bearer abc123def456 to me", "abc123def456"),
    ("Basic YWxhZGRpbjpvcGVuc2VzYW1l", "YWxhZGRpbjpvcGVuc2VzYW1l"),
    // Looks.
    (
        "key sk-abcdefghijklmnopqrstuvwx",
        "sk-abcdefghijklmnopqrstuvwx",
    ),
    ("sk-proj-Ab12_cd34-EF", "Ab12_cd34"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("(ASIAIOSFODNN7EXAMPLE)", "ASIAIOSFODNN7EXAMPLE"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdef"),
    ("gho_abcdefghijklmnopqrstuvwxyz0123456789", "gho_abcdef"),
    ("github_pat_11ABCDEFG0_abcdefghijklmnop", "github_pat_11"),
    ("xoxb-123456789012-abcdef", "xoxb-1234"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIzaSy"),
    ("gsk_abcdefghijklmnopqrstuvwxyz", "gsk_abc"),
    ("sk_live_abcdefghij0123", "sk_live_abc"),
    ("glpat-abcdefghij0123456789", "glpat-abc"),
    (
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN",
        "eyJzdWIiOiIxMjM0In0",
    ),
    // URLs.
    ("postgres://me:hunter2@db.test/x", "hunter2"),
    ("git clone https://me:pw@github.test/x.git", ":pw@"),
    (
        "https://b.test/o?X-Amz-Signature=abcdef0123456789&x=1",
        "abcdef0123456789",
    ),
    ("https://b.test/o?sv=1&sig=a%2Fbcdefghi%3D", "bcdefghi"),
    ("https://g.test/v1?key=abc123def456", "abc123def456"),
    ("https://b.test/o?access_token=abc123def456", "abc123def456"),
];

/// Texts that stay as they are.
const ORDINARY: &[&str] = &[
    "token_count = 42",
    "max_tokens = 4096",
    "\"prompt_tokens\": 1234, \"key\": \"abc123def456\"",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "at file.rs:855:13",
    "let token = next_token();",
    "let token = lexer.next().unwrap();",
    "let mut token = first;",
    "token: CancellationToken,",
    "password: String,",
    "password: Option<String>",
    "pub struct User { name: String, password: String }",
    "fn login(user: &str, password: &str) -> Token {",
    "connect(host, password=password, token=tok)",
    "def f(a, token=None, password: str = \"\"):",
    "self.token = token",
    "this.password = form.password;",
    "if token == \"abc123def456\" {",
    "token => panic!(),",
    "api_key = os.environ[\"OPENAI_API_KEY\"]",
    "api_key_env = \"OPENAI_API_KEY\"",
    "apiKey: process.env.OPENAI_API_KEY,",
    "password: ${DB_PASSWORD}",
    "PASSWORD=$1",
    "PASSWORD=\"$DB_PASSWORD\"",
    "PASSWORD=\"${DB_PASSWORD}\"",
    "password = \"<your password>\"",
    "password: {{ vault_password }}",
    "Authorization: Bearer ${TOKEN}",
    "Authorization: Bearer $TOKEN",
    "format!(\"Bearer {token}\")",
    "headers: { Authorization: auth }",
    "authorization: Option<HeaderValue>,",
    "Authorization: Basic and Bearer are supported",
    "the bearer of this letter, basic understanding",
    "Basic authentication and Bearer authentication",
    "WWW-Authenticate: Bearer realm=\"x\"",
    "--password-stdin",
    "use --token to set it, or --password <PASSWORD>",
    "--api-key KEY",
    "The password: the thing that you type.",
    "Password: ",
    "label: \"Enter your password\"",
    "password: \"Enter your password\"",
    "PWD=/home/me OLDPWD=/tmp",
    "SSH_PRIVATE_KEY=/home/me/.ssh/id_rsa",
    "task-force-sk-abc desk-lamp-with-a-long-name-12345678",
    ".sk-fading-circle .sk-circle12:before",
    "sk-learn and scikit",
    "https://example.com:8080/path?x=1#y",
    "ssh://git@example.com/repo.git",
    "postgres://{user}:{password}@{host}/db",
    "http://$USER:$PASS@host/",
    "http://[::1]:80/",
    "std::token::Token",
    "\"token\": \"t1\"",
    "token: Token::Comma,",
    "Some(token) => token.kind,",
    "const BEGIN: &str = \"-----BEGIN PRIVATE KEY-----\";",
    "grep -r 'BEGIN RSA PRIVATE KEY' .",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUdGVzdHRlc3R0ZXN0dGVzdHRlc3Q=\n-----END CERTIFICATE-----",
    "eyJhbGciOiJIUzI1NiJ9",
    "password=***",
    "curl -H \"Authorization: Bearer ***\"",
];

#[test]
fn secrets_of_every_kind_are_masked() {
    let mut seen = Vec::new();
    for (text, secret) in SECRETS {
        let got = redact(text);
        if got.contains(secret) || !got.contains(MASK) {
            seen.push(format!("{text}\n    -> {got}"));
        }
    }
    assert!(seen.is_empty(), "{}", seen.join("\n"));
}

#[test]
fn ordinary_text_stays_and_is_borrowed() {
    let mut changed = Vec::new();
    for text in ORDINARY {
        if let Cow::Owned(got) = redact(text) {
            changed.push(format!("{text}\n    -> {got}"));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[test]
fn only_the_secret_is_masked() {
    for (text, masked) in [
        (
            "curl -H \"Authorization: Bearer sk-abc\" https://e.test",
            "curl -H \"Authorization: Bearer ***\" https://e.test",
        ),
        ("a password=hunter2, b", "a password=***, b"),
        (
            "{\"password\":\"hunter2\",\"a\":1}",
            "{\"password\":\"***\",\"a\":1}",
        ),
        ("postgres://me:hunter2@db/x", "postgres://me:***@db/x"),
        ("?a=1&sig=abcdef01&b=2", "?a=1&sig=***&b=2"),
        ("mysql --password hunter2 -u x", "mysql --password *** -u x"),
        (
            "const KEY: i32 = 1; const API_KEY: &str = \"abcd\";",
            "const KEY: i32 = 1; const API_KEY: &str = \"***\";",
        ),
        ("x ghp_abcdefghijklmnopqrstuvwxyz0123456789.", "x ***."),
    ] {
        assert_eq!(redact(text), masked);
    }
}

/// Lines that look like a key's.
fn key_lines(n: usize) -> String {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    format!("{line}\n").repeat(n) + "AgMBAAE=\n"
}

#[test]
fn a_private_key_is_masked_however_it_is_cut() {
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----",
        key_lines(5)
    );
    assert_eq!(
        redact(&format!("a\n{key}\nb")),
        "a\n-----BEGIN RSA PRIVATE KEY-----\n***\n-----END RSA PRIVATE KEY-----\nb"
    );
    // Unterminated, and what follows is no part of it.
    let cut = &key[..200];
    assert_eq!(
        redact(&format!("{cut}\n[... 900 bytes left out]")),
        "-----BEGIN RSA PRIVATE KEY-----\n***\n[... 900 bytes left out]"
    );
    // Without its beginning.
    let cut = &key[60..];
    assert_eq!(redact(cut), "***\n-----END RSA PRIVATE KEY-----");
    // As a text of JSON, and as it is read with numbers or in a change.
    let escaped = serde_json::to_string(&key).unwrap();
    assert!(!redact(&escaped).contains("MIIE"), "{}", redact(&escaped));
    for mark in ["   12\t", "+", "> ", "  12| ", "\""] {
        let marked: String = key.lines().map(|it| format!("{mark}{it}\n")).collect();
        let got = redact(&marked);
        assert!(!got.contains("MIIE") && !got.contains("AgMBAAE"), "{got}");
    }
}

#[test]
fn json_is_masked_by_name_whatever_the_type() {
    let mut value = json!({
        "password": "x", "pin_secret": 12, "api_key": true, "credentials": {"user": "a"}, "auth_token": ["a"],
        "max_tokens": 5, "prompt_tokens": 6, "token_count": 7, "key": "abc", "secret": null, "token": "",
        "text": "run with password=hunter2", "list": [{"apiKey": "y"}],
    });
    redact_json(&mut value);
    assert_eq!(
        value,
        json!({
            "password": "***", "pin_secret": "***", "api_key": "***", "credentials": "***", "auth_token": "***",
            "max_tokens": 5, "prompt_tokens": 6, "token_count": 7, "key": "abc", "secret": null, "token": "",
            "text": "run with password=***", "list": [{"apiKey": "***"}],
        })
    );
    let once = value.clone();
    redact_json(&mut value);
    assert_eq!(value, once);
}

#[test]
fn a_part_is_masked_as_the_whole_would_be() {
    let text = "password=hunter2hunter2 x";
    assert_eq!(redact_part(text, 0..12), "password=***");
    assert_eq!(redact_part(text, 12..text.len()), "*** x");
    assert_eq!(redact_part(text, 23..text.len()), " x");
}

#[test]
fn a_stream_holds_back_only_what_may_be_a_secret() {
    let mut stream = Stream::default();
    assert_eq!(stream.push("Hello wor"), "Hello wor");
    assert_eq!(stream.push("ld, set pass"), "ld, set pass");
    assert_eq!(stream.push("word=hun"), "word=");
    assert_eq!(stream.push("ter2"), "");
    assert!(stream.is_holding());
    assert_eq!(stream.push(" and go"), "*** and go");
    assert_eq!(stream.push(" sk-abcdefgh"), " ");
    assert_eq!(stream.push("ijklmnop"), "");
    assert_eq!(stream.end(), "***");
    assert_eq!(stream.push("again"), "again");
}

#[test]
fn for_a_decision_a_secret_stays_in_which_a_shell_sees_more_than_a_word() {
    for text in [
        "PASSWORD=\"x1$(touch pwned)\" make",
        "PASSWORD=\"x1`touch pwned`\" make",
        "PASSWORD=\"correct horse 9\" make",
        "curl https://me:x;touch${IFS}pwned@host/",
    ] {
        assert_ne!(redact(text), text);
        assert_eq!(redact_inert(text), text);
    }
    for (text, secret) in SECRETS.iter().filter(|it| is_inert(it.1)).take(20) {
        assert_eq!(redact_inert(text), redact(text), "{secret}");
    }
}
