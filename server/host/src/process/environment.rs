//! Decides what a command sees of our environment: no secrets, and nothing that waits for a person.
//!
//! Pure: variables in, variables out. Spec 5.3.

use std::ffi::OsString;

/// Names of providers' keys that no part in [`SECRET_PARTS`] catches.
const SECRET_NAMES: &[&str] = &[
    "ANTHROPIC_KEY",
    "AZURE_OPENAI_KEY",
    "CLAUDE_KEY",
    "COHERE_KEY",
    "DEEPSEEK_KEY",
    "GEMINI_KEY",
    "GROQ_KEY",
    "KUBECONFIG",
    "MISTRAL_KEY",
    "OPENAI_KEY",
    "OPENROUTER_KEY",
    "SSH_AUTH_SOCK",
    "XAI_KEY",
];

/// Whoever has one of these in a name holds something worth stealing.
const SECRET_PARTS: &[&str] = &[
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "TOKEN",
    "WEBHOOK",
    "DATABASE_URL",
    "CONNECTION_STRING",
];

const SECRET_ENDING: &str = "_DSN";

/// How values begin that are keys, whatever their name (spec 27).
const SECRET_VALUES: &[&str] = &[
    "sk-",
    "sk_live_",
    "rk_live_",
    "AKIA",
    "ASIA",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxs-",
    "AIza",
    "gsk_",
    "eyJ",
];

/// A shorter one is a word that begins alike.
const SECRET_VALUE_LEN: usize = 20;

/// Without these a network is out of reach, though they may hold a password.
const PROXY_ENDING: &str = "_PROXY";

/// These ask for colours whatever `NO_COLOR` says.
const COLOUR_NAMES: &[&str] = &["FORCE_COLOR", "CLICOLOR_FORCE"];

/// Set for every command: no pager, no colour, no editor and no prompt that nobody could answer.
const ADDED: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Empty, not absent: git then looks neither at core.askPass nor at SSH_ASKPASS.
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GCM_INTERACTIVE", "never"),
    // A commit without a message fails at once instead of opening an editor.
    ("GIT_EDITOR", "true"),
];

/// The environment for a command, from ours: in order, what remains of it and then what is added.
///
/// `also_secret` are further exact names, such as those the configuration reads keys from.
pub fn scrubbed(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    also_secret: &[&str],
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<(OsString, OsString)> = variables
        .into_iter()
        .filter(|(name, value)| {
            // What is not Unicode is judged by what of it is.
            let name = name.to_string_lossy();
            !is_secret(&name)
                && !is_secret_value(&name, &value.to_string_lossy())
                && !also_secret.iter().any(|it| it.eq_ignore_ascii_case(&name))
                && !COLOUR_NAMES.contains(&&*name)
                && !ADDED.iter().any(|(added, _)| *added == name)
        })
        .collect();
    kept.extend(
        ADDED
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value))),
    );
    kept
}

/// Looks for programs in no folder that is named by a part of a way only, nor in one that `is_ours`: for a command that
/// runs unasked because of the names of its programs, and that nothing holds.
pub fn without_programs_of(
    environment: &mut [(OsString, OsString)],
    is_ours: impl Fn(&std::path::Path) -> bool,
) {
    for (name, value) in environment {
        if name == "PATH" {
            let folders: Vec<_> = std::env::split_paths(value)
                .filter(|it| it.is_absolute() && !is_ours(it))
                .collect();
            // What was split can be joined.
            *value = std::env::join_paths(folders).unwrap_or_default();
        }
    }
}

/// Whether a variable's name says that its value is a secret. Upper and lower case count alike:
/// npm writes its token's name in lower case.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.contains(&name.as_str())
        || SECRET_PARTS.iter().any(|part| name.contains(part))
        || name.ends_with(SECRET_ENDING)
}

/// Whether a value says by itself that it is a secret: a key as providers make them, a private key, an address with
/// a password in it.
fn is_secret_value(name: &str, value: &str) -> bool {
    let is_key = |it: char| it.is_ascii_alphanumeric() || "_-.".contains(it);
    let trimmed = value.trim();
    let is_token = trimmed.len() >= SECRET_VALUE_LEN
        && SECRET_VALUES.iter().any(|it| trimmed.starts_with(it))
        && trimmed.chars().all(is_key);
    let is_private_key = value.contains("-----BEGIN") && value.contains("PRIVATE KEY");
    let is_proxy = name.to_ascii_uppercase().ends_with(PROXY_ENDING);
    is_token || is_private_key || (!is_proxy && has_password(value))
}

/// Whether `user:password@` stands in an address in this text.
fn has_password(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let end = rest.find(['/', '?', '#', ' ']).unwrap_or(rest.len());
        let user = rest[..end].rsplit_once('@').map(|(user, _)| user);
        user.and_then(|it| it.split_once(':'))
            .is_some_and(|(_, password)| !password.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{ADDED, SECRET_NAMES, SECRET_PARTS, is_secret, scrubbed, without_programs_of};
    use std::ffi::OsString;

    fn run(variables: &[(&str, &str)]) -> Vec<(String, String)> {
        scrubbed(
            variables
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
            &["MY_LLM"],
        )
        .into_iter()
        .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
        .collect()
    }

    #[test]
    fn bug_039_secrets_go_and_the_toolchain_stays() {
        let variables = run(&[
            ("PATH", "/usr/bin"),
            ("HOME", "/home/me"),
            ("CARGO_HOME", "/c"),
            ("ANTHROPIC_API_KEY", "s"),
            ("OPENAI_KEY", "s"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("GH_TOKEN", "s"),
            ("npm_config_//host/:_authToken", "s"),
            ("PGPASSWORD", "s"),
            ("SENTRY_DSN", "s"),
            ("SENTRY_DSN_HELP", "kept: the ending only counts at the end"),
            ("KUBECONFIG", "s"),
            ("SSH_AUTH_SOCK", "s"),
            ("my_llm", "s"),
            ("KEYBOARD", "us"),
            ("PAGER", "less"),
            ("TERM", "xterm-256color"),
            ("FORCE_COLOR", "3"),
        ]);
        let lines: String = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect();
        expect![[r#"
            PATH=/usr/bin
            HOME=/home/me
            CARGO_HOME=/c
            SENTRY_DSN_HELP=kept: the ending only counts at the end
            KEYBOARD=us
            PAGER=cat
            GIT_PAGER=cat
            MANPAGER=cat
            SYSTEMD_PAGER=cat
            TERM=dumb
            NO_COLOR=1
            GIT_TERMINAL_PROMPT=0
            GIT_ASKPASS=
            SSH_ASKPASS_REQUIRE=never
            GCM_INTERACTIVE=never
            GIT_EDITOR=true
        "#]]
        .assert_eq(&lines);
    }

    #[test]
    fn bug_039_a_value_that_is_a_key_goes_whatever_its_name() {
        let aws = format!("AKIA{}", "IOSFODNN7EXAMPLE");
        let github = format!("ghp_{}", "0123456789abcdefghij0123456789abcdef");
        let is_kept = |name: &str, value: &str| run(&[(name, value)]).len() > ADDED.len();
        for (name, value) in [
            ("MY_THING", "sk-0123456789abcdef0123"),
            ("ACCOUNT", aws.as_str()),
            ("CI_USER", github.as_str()),
            ("SESSION", "eyJhbGciOi.eyJzdWIiOi.SflKxwRJ"),
            ("PEM", "-----BEGIN RSA PRIVATE KEY-----\nMII"),
            ("CACHE", "redis://:hunter2@cache:6379/0"),
            ("PIP_INDEX_URL", "https://me:hunter2@example.com/simple"),
            ("MIRRORS", "https://a.example,https://b:c@d.example"),
        ] {
            assert!(!is_kept(name, value), "{name}");
        }
        for (name, value) in [
            ("PATH", "/usr/bin:/home/me@work/bin"),
            ("https_proxy", "http://me:hunter2@proxy:3128"),
            ("ORIGIN", "ssh://git@example.com:22/a:b@c"),
            ("PLACE", "sk-short"),
            ("TEXT", "sk-0123456789 is how keys begin, they say"),
            ("URL", "https://example.com/a@b:c"),
        ] {
            assert!(is_kept(name, value), "{name}");
        }
    }

    #[test]
    fn programs_of_the_project_are_not_looked_for_where_nothing_holds_them() {
        let mut variables = vec![
            (
                OsString::from("PATH"),
                OsString::from(".:/p/bin:/usr/bin::sub:/p:/px"),
            ),
            ("MANPATH".into(), "/p/man".into()),
        ];
        without_programs_of(&mut variables, |it| it.starts_with("/p"));
        assert_eq!(variables[0].1, "/usr/bin:/px");
        assert_eq!(variables[1].1, "/p/man");
    }

    #[test]
    fn no_name_around_a_secret_part_gets_through() {
        let seed = 0x5c12b;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..5_000 {
            let mut around = || -> String {
                (0..random.usize(0..5))
                    .map(|_| {
                        if random.bool() {
                            random.alphanumeric()
                        } else {
                            '_'
                        }
                    })
                    .collect()
            };
            let (before, after) = (around(), around());
            let part = random.choice(SECRET_PARTS).unwrap();
            let part = if random.bool() {
                part.to_ascii_lowercase()
            } else {
                (*part).to_owned()
            };
            let name = format!("{before}{part}{after}");
            assert_eq!(
                run(&[(&name, "s")]).len(),
                ADDED.len(),
                "seed {seed:#x}, round {round}: {name}"
            );
        }
    }

    #[test]
    fn scrubbing_twice_changes_nothing() {
        let once = scrubbed(std::env::vars_os(), &[]);
        assert_eq!(scrubbed(once.clone(), &[]), once);
    }

    #[test]
    fn what_is_added_is_no_secret_and_a_listed_name_is_not_caught_already() {
        assert_eq!(ADDED.iter().filter(|(name, _)| is_secret(name)).count(), 0);
        let caught: Vec<_> = SECRET_NAMES
            .iter()
            .filter(|name| SECRET_PARTS.iter().any(|part| name.contains(part)))
            .collect();
        assert_eq!(caught, Vec::<&&str>::new());
    }
}
