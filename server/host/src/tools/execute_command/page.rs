//! A web page that the person's browser is to show once a command in the background is ready (spec 5.8).

use super::Mode;
use crate::plan::World;
use protocol::config::Network;
use url::Url;

/// The longest address, in bytes.
const MOST: usize = 2_048;

/// An address that may be opened, written plainly.
///
/// # Errors
/// For the model, if it may not. Nothing was run then.
pub(super) fn of(url: &str, mode: Mode, world: &World) -> Result<String, String> {
    match mode {
        Mode::Wait => {
            return Err(
                "open_url goes with mode background; nothing was run. Leave it out to wait for the command."
                    .to_owned(),
            );
        }
        Mode::Background => {}
    }
    match world.network {
        Network::Allow => checked(url),
        Network::Deny => Err(
            "open_url is not available: the person allows no network (safety.network). Nothing was run; leave it out."
                .to_owned(),
        ),
    }
}

fn checked(url: &str) -> Result<String, String> {
    let bad = || {
        format!(
            "open_url takes an address that begins with http:// or https://, and not {:?}. Nothing was run.",
            url.chars().take(200).collect::<String>()
        )
    };
    let parsed = Url::parse(url.trim()).map_err(|_| bad())?;
    let is_web = ["http", "https"].contains(&parsed.scheme()) && parsed.has_host();
    // A name before the host is there to look like one.
    let is_plain = parsed.username().is_empty() && parsed.password().is_none();
    match is_web && is_plain && parsed.as_str().len() <= MOST {
        true => Ok(parsed.into()),
        false => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn only_web_addresses_are_opened() {
        for (url, plain) in [
            (" http://localhost:3000 ", "http://localhost:3000/"),
            ("HTTPS://Example.com/a b", "https://example.com/a%20b"),
        ] {
            assert_eq!(checked(url).as_deref(), Ok(plain));
        }
        let long = format!("http://a/{}", "x".repeat(3_000));
        for url in [
            "file:///etc/passwd",
            "vscode://settings",
            "javascript:alert(1)",
            "localhost:3000",
            "http://",
            "http://bank.example@evil.example/",
            "/tmp/x",
            &long,
        ] {
            let told = checked(url).unwrap_err();
            assert!(told.ends_with("Nothing was run."), "{told}");
        }
    }
}
